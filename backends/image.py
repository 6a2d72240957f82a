# SPDX-License-Identifier: Apache-2.0
"""
The program image: what a loader puts into SRAM, and the manifest that the host needs.

The supervisor program is encoded in 32-bit words that are the same on every tile; docs/spec/image.md
describes them. The image also holds the tables (one row of words per tile) and, for the host only, the
manifest: bindings, code ranges, and names for reports. Nothing in the manifest steers execution: the executor
decodes everything it does from SRAM.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from tilewright.backends.program import (
    Binding,
    Call,
    Code,
    Constant,
    Exchange,
    Instruction,
    Operand,
    Placed,
    Program,
    ProgramError,
    Repeat,
    Tap,
)
from tilewright.machine.dtypes import name_of, numpy_dtype

FORMAT = "tilewright.image"
VERSION = 1

OP_END, OP_CALL, OP_EXCHANGE, OP_REPEAT, OP_TAP = 0x00, 0x01, 0x02, 0x03, 0x04

DTYPES = ("f32", "f16", "bf16", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3FN", "f8E5M2", "i8", "i32", "u32", "i1")
"""Element types by their number in an operand word. Append only: the number is part of the format."""
SCALARS = (
    "scale",
    "saturate",
    "epsilon",
    "reduced",
    "value",
    "weights_standard",
    "run_bytes",
    "count",
    "split",
    "truncate",
    "rows",
    "empty_rows",
)
"""
Scalar names by number; a program may use further ones, which the image lists in `scalar_names`. Append only.
"""


class ImageError(ProgramError):
    """An image file or supervisor program that cannot be read."""


# ------------------------------------------------------------------------------------------------ the words


@dataclass(frozen=True)
class Debug:
    """
    What a supervisor word is for: word index, kind ("call", "exchange", "repeat", "tap"), name, provenance.
    """

    word: int
    kind: str
    name: str
    provenance: str


@dataclass(frozen=True)
class Supervisor:
    """The encoded supervisor program: words (n,), names of words, taps by number, further scalar names."""

    words: npt.NDArray[np.uint32]
    debug: tuple[Debug, ...]
    taps: tuple[Tap, ...]
    scalar_names: tuple[str, ...]


def _u32(value: int, what: str) -> int:
    value = int(value)
    if not -(2**31) <= value < 2**32:
        raise ProgramError(f"{what} {value} does not fit 32 bits")
    return value & 0xFFFFFFFF


def _address(value: int, what: str) -> int:
    if not 0 <= value < 2**32:
        raise ProgramError(f"{what} is placed at {value:#x}, which is no address")
    return int(value)


class _Encoder:
    def __init__(self, program: Program | None) -> None:
        self.program = program
        self.words: list[int] = []
        self.debug: list[Debug] = []
        self.taps: list[Tap] = []
        self.scalars: dict[str, int] = {name: number for number, name in enumerate(SCALARS)}
        self.code = {code.kernel: code.address for code in program.code} if program else {}

    def body(self, body: Sequence[Instruction]) -> None:
        for instruction in body:
            start = len(self.words)
            self.words.append(0)
            match instruction:
                case Call():
                    self._call(instruction, start)
                    opcode = OP_CALL
                case Exchange():
                    address, width = self._table(instruction.rows)
                    self.words += [address, width]
                    self._name(
                        start, "exchange", instruction.name or instruction.rows, instruction.provenance
                    )
                    opcode = OP_EXCHANGE
                case Repeat():
                    self._repeat(instruction, start)
                    opcode = OP_REPEAT
                case Tap():
                    self.words.append(len(self.taps))
                    self.taps.append(instruction)
                    self._name(start, "tap", instruction.value, "")
                    opcode = OP_TAP
            length = len(self.words) - start
            if length >= 1 << 24:
                raise ProgramError(f"an instruction of {length} supervisor words exceeds the format's 2^24")
            self.words[start] = opcode << 24 | length

    def _name(self, word: int, kind: str, name: str, provenance: str) -> None:
        self.debug.append(Debug(word, kind, name, provenance))

    def _table(self, name: str) -> tuple[int, int]:
        if self.program is None:
            return 0, 0
        table = self.program.table(name)
        return _address(table.address, f"table '{name}'"), table.words.shape[1]

    def _call(self, call: Call, start: int) -> None:
        self._name(start, "call", call.kernel, call.provenance)
        extents, axes = self._table(call.extents)
        if self.program is not None and call.kernel not in self.code:
            raise ProgramError(
                f"kernel '{call.kernel}' is called but has no code", location=call.provenance or None
            )
        counts = (len(call.ins), len(call.outs), axes, len(call.scalars))
        if max(counts) > 0xFF:
            raise ProgramError(f"call of '{call.kernel}' has more than 255 operands, axes or scalars")
        packed = counts[0] | counts[1] << 8 | counts[2] << 16 | counts[3] << 24
        code = _address(self.code.get(call.kernel, 0), f"code of '{call.kernel}'")
        self.words += [code, extents, packed]
        for name, value in call.scalars:
            number = self.scalars.setdefault(name, len(self.scalars))
            if len(self.scalars) > 1 << 16:
                raise ProgramError(f"a program has at most 65,536 scalar names, '{name}' is one more")
            integer = isinstance(value, int | np.integer)
            if integer and not -(2**63) <= value < 2**63:
                raise ProgramError(f"scalar '{name}' {value} does not fit 64 bits")
            low, high = struct.unpack("<II", struct.pack("<q" if integer else "<d", value))
            self.words += [number | (not integer) << 16, low, high]
        for operand in (*call.ins, *call.outs):
            self._operand(operand)

    def _operand(self, operand: Operand) -> None:
        if operand.dtype not in DTYPES:
            raise ProgramError(f"element type '{operand.dtype}' has no number in the image format")
        if len(operand.axes) > 0xFF or len(operand.steps) > 0xFFFF:
            raise ProgramError(f"an operand has {len(operand.axes)} axes and {len(operand.steps)} steps")
        self.words.append(_address(operand.address, "an operand"))
        self.words.append(DTYPES.index(operand.dtype) | len(operand.axes) << 8 | len(operand.steps) << 16)
        for axis in operand.axes:
            self.words.append(len(axis))
            for size, stride in axis:
                self.words += [_u32(size, "digit size"), _u32(stride, "digit stride")]
        self.words += [_u32(step, "address step") for step in operand.steps]

    def _repeat(self, repeat: Repeat, start: int) -> None:
        self._name(start, "repeat", repeat.name, "")
        self.words += [_u32(repeat.count, "repeat count"), 0, len(repeat.patches)]
        for patch in repeat.patches:
            rows, width = self._table(patch.rows)
            positions, count = self._table(patch.positions)
            self.words += [rows, width, positions, count]
            self.words += [_u32(patch.delta_words, "address step"), _u32(patch.shift, "patched field")]
        body = len(self.words)
        self.body(repeat.body)
        self.words[start + 2] = len(self.words) - body


def encode_supervisor(program: Program) -> Supervisor:
    """The supervisor words of a program."""
    encoder = _Encoder(program)
    encoder.body(program.body)
    encoder.words.append(OP_END << 24 | 1)
    return Supervisor(
        np.array(encoder.words, np.uint32), tuple(encoder.debug), tuple(encoder.taps), tuple(encoder.scalars)
    )


def supervisor_bytes(body: Sequence[Instruction]) -> int:
    """
    Bytes of the supervisor program of `body`: independent of every address, so it can be reserved before
    allocation.
    """
    encoder = _Encoder(None)
    encoder.body(body)
    return 4 * (len(encoder.words) + 1)


# ------------------------------------------------------------------------------------------------ the image


@dataclass(frozen=True, eq=False)
class Segment:
    """Words to place at `address`: (tiles, n), or (1, n) where all tiles get the same."""

    name: str
    address: int
    words: npt.NDArray[np.uint32]
    category: str

    @property
    def nbytes(self) -> int:
        """Bytes on each tile."""
        return self.words.shape[1] * 4


@dataclass(frozen=True, eq=False)
class Image:
    """A loadable program. `supervisor` is (address, words)."""

    machine: str
    name: str
    supervisor: tuple[int, int]
    segments: tuple[Segment, ...]
    code: tuple[Code, ...]
    bindings: tuple[Binding, ...]
    placed: tuple[Placed, ...]
    debug: tuple[Debug, ...]
    taps: tuple[Tap, ...]
    scalar_names: tuple[str, ...]
    constants: tuple[Constant, ...]

    def binding(self, name: str) -> Binding:
        """The binding `name`."""
        for binding in self.bindings:
            if binding.name == name:
                return binding
        raise ImageError(f"no binding is named '{name}'")

    def save(self, path: Path | str) -> None:
        """Write the manifest (JSON) to `path` and the words beside it to `path`.data."""
        path = Path(path)
        blob = bytearray()

        def put(array: np.ndarray) -> dict[str, Any]:
            raw = np.ascontiguousarray(array).tobytes()
            at = len(blob)
            blob.extend(raw)
            return {"offset": at, "nbytes": len(raw), "shape": list(array.shape)}

        manifest: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "machine": self.machine,
            "name": self.name,
            "supervisor": {"address": self.supervisor[0], "words": self.supervisor[1]},
            "segments": [
                {"name": s.name, "address": s.address, "category": s.category, **put(s.words)}
                for s in self.segments
            ],
            "code": [dataclasses.asdict(item) for item in self.code],
            "bindings": [dataclasses.asdict(item) for item in self.bindings],
            "placed": [dataclasses.asdict(item) for item in self.placed],
            "debug": [dataclasses.asdict(item) for item in self.debug],
            "taps": [dataclasses.asdict(item) for item in self.taps],
            "scalar_names": list(self.scalar_names),
            "constants": [
                {"name": c.name, "dtype": name_of(c.data.dtype), **put(c.data)} for c in self.constants
            ],
        }
        manifest["data"] = {"file": path.name + ".data", "nbytes": len(blob), "sha256": _sha256(blob)}
        Path(str(path) + ".data").write_bytes(blob)
        path.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")

    @staticmethod
    def load(path: Path | str) -> Image:
        """Read what `save` wrote; ImageError when the file is newer, damaged or not an image."""
        path = Path(path)
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise ImageError(f"cannot read the image '{path}': {error}") from error
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
            raise ImageError(f"'{path}' is not a program image")
        version = manifest.get("version")
        if type(version) is not int or version < 1:
            raise ImageError(f"'{path}' has version {version!r}, expected a positive integer")
        if version > VERSION:
            raise ImageError(f"'{path}' has version {version}, this tilewright reads up to {VERSION}")
        return _Manifest(path, manifest).image()


class _Manifest:
    """Reads an image from its manifest; every field is there and of its type, or ImageError names it."""

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = manifest
        reference = self._record("data", manifest.get("data"), {"file": str, "nbytes": int, "sha256": str})
        name = reference["file"]
        if Path(name).name != name or name in ("", ".", ".."):
            raise ImageError(f"'{path}' refers to a file outside its folder: '{name}'")
        try:
            self.blob = (path.parent / name).read_bytes()
        except OSError as error:
            raise ImageError(f"cannot read the image's words: {error}") from error
        if _sha256(self.blob) != reference["sha256"]:
            raise ImageError(f"'{name}' does not match the sha256 in '{path.name}'")

    def image(self) -> Image:
        """The whole image."""
        supervisor = self._record(
            "supervisor", self.manifest.get("supervisor"), {"address": int, "words": int}
        )
        names = self._value("scalar_names", self.manifest.get("scalar_names"), tuple[str, ...])
        place = {"offset": int, "nbytes": int, "shape": tuple[int, ...]}
        segments = self._records("segments", {"name": str, "address": int, "category": str, **place})
        constants = self._records("constants", {"name": str, "dtype": str, **place})
        for constant in constants:
            if constant["dtype"] not in DTYPES:
                raise self._damaged(f"constants: unknown element type '{constant['dtype']}'")
        return Image(
            machine=self._value("machine", self.manifest.get("machine"), str),
            name=self._value("name", self.manifest.get("name"), str),
            supervisor=(supervisor["address"], supervisor["words"]),
            segments=tuple(
                Segment(s["name"], s["address"], self._bytes(s, np.dtype(np.uint32)), s["category"])
                for s in segments
            ),
            code=self._all("code", Code),
            bindings=self._all("bindings", Binding),
            placed=self._all("placed", Placed),
            debug=self._all("debug", Debug),
            taps=self._all("taps", Tap),
            scalar_names=names,
            constants=tuple(Constant(c["name"], self._bytes(c, numpy_dtype(c["dtype"]))) for c in constants),
        )

    def _damaged(self, text: str) -> ImageError:
        return ImageError(f"'{self.path}' is damaged: {text}")

    def _all(self, field: str, kind: Any) -> tuple[Any, ...]:
        """A list of dataclass values."""
        return tuple(kind(**record) for record in self._records(field, get_type_hints(kind)))

    def _records(self, field: str, kinds: Mapping[str, Any]) -> list[dict[str, Any]]:
        entries = self.manifest.get(field)
        if not isinstance(entries, list):
            raise self._damaged(f"'{field}' is no list")
        return [self._record(f"{field}[{i}]", entry, kinds) for i, entry in enumerate(entries)]

    def _record(self, where: str, entry: Any, kinds: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(entry, dict) or sorted(entry) != sorted(kinds):
            raise self._damaged(f"'{where}' has not the fields {', '.join(kinds)}")
        return {name: self._value(f"{where}.{name}", entry[name], kind) for name, kind in kinds.items()}

    def _value(self, where: str, value: Any, kind: Any) -> Any:
        if kind == tuple[int, ...] or kind == tuple[str, ...]:
            inner = get_args(kind)[0]
            if isinstance(value, list):
                return tuple(self._value(where, item, inner) for item in value)
        elif kind is int:
            if type(value) is int and abs(value) < 2**63:
                return value
        elif isinstance(value, str) and (kind is str or value in get_args(kind)):
            return value
        raise self._damaged(f"'{where}' is {value!r}")

    def _bytes(self, record: Mapping[str, Any], dtype: np.dtype) -> np.ndarray:
        shape, start, nbytes = record["shape"], record["offset"], record["nbytes"]
        if min((0, start, *shape)) < 0 or math.prod(shape) * dtype.itemsize != nbytes:
            raise self._damaged(f"'{record['name']}' has {nbytes} bytes at {start} for shape {list(shape)}")
        if start + nbytes > len(self.blob):
            raise self._damaged(f"'{record['name']}' ends behind the {len(self.blob)} bytes of words")
        return np.frombuffer(self.blob[start : start + nbytes], dtype).reshape(shape)


def _sha256(raw: bytes | bytearray) -> str:
    return hashlib.sha256(raw).hexdigest()


def to_image(program: Program) -> Image:
    """Encode a program; ProgramError when it contradicts itself."""
    supervisor = encode_supervisor(program)
    segments = [
        Segment("supervisor", program.supervisor_address, supervisor.words[None, :], "code"),
        *(Segment(t.name, t.address, _shared(t.words), t.category) for t in program.tables),
    ]
    for segment in segments:
        _address(segment.address, f"'{segment.name}'")
        if segment.address % 4:
            raise ProgramError(
                f"'{segment.name}' is placed at {segment.address:#x}, which is not a word address"
            )
    _refuse_overlaps(program, segments)
    return Image(
        machine=program.machine,
        name=program.name,
        supervisor=(program.supervisor_address, len(supervisor.words)),
        segments=tuple(segments),
        code=program.code,
        bindings=program.bindings,
        placed=program.placed,
        debug=supervisor.debug,
        taps=supervisor.taps,
        scalar_names=supervisor.scalar_names,
        constants=program.constants,
    )


def _shared(words: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """One row where all tiles hold the same words."""
    if len(words) > 1 and (words == words[0]).all():
        return words[:1]
    return words


def _refuse_overlaps(program: Program, segments: Sequence[Segment]) -> None:
    """Code, supervisor program and tables live for the whole run, so no two may share a byte."""
    ranges = [(s.address, s.address + s.nbytes, s.name) for s in segments if s.nbytes]
    ranges += [(c.address, c.address + c.nbytes, f"code of {c.kernel}") for c in program.code if c.nbytes]
    ranges.sort()
    for (_, end, first), (start, _, second) in pairwise(ranges):
        if start < end:
            raise ProgramError(f"'{second}' at {start:#x} overlaps '{first}', which ends at {end:#x}")
