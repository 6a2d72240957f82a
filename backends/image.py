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
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

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
from tilewright.planning.dtypes import name_of, numpy_dtype

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


class _Encoder:
    def __init__(self, program: Program | None) -> None:
        self.program = program
        self.words: list[int] = []
        self.debug: list[Debug] = []
        self.taps: list[Tap] = []
        self.scalars: list[str] = list(SCALARS)
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
        return table.address, table.words.shape[1]

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
        self.words += [self.code.get(call.kernel, 0), extents, packed]
        for name, value in call.scalars:
            if name not in self.scalars:
                self.scalars.append(name)
            integer = isinstance(value, int | np.integer)
            low, high = struct.unpack("<II", struct.pack("<q" if integer else "<d", value))
            self.words += [self.scalars.index(name) | (not integer) << 16, low, high]
        for operand in (*call.ins, *call.outs):
            self._operand(operand)

    def _operand(self, operand: Operand) -> None:
        if operand.dtype not in DTYPES:
            raise ProgramError(f"element type '{operand.dtype}' has no number in the image format")
        self.words.append(_u32(operand.address, "operand address"))
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
            self.words += [_u32(patch.delta_words, "address step"), patch.shift]
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


# ------------------------------------------------------------------------------------------------ decoding


@dataclass(frozen=True)
class DecodedOperand:
    """An operand as the words say: see `program.Operand`."""

    address: int
    dtype: str
    axes: tuple[tuple[tuple[int, int], ...], ...]
    steps: tuple[int, ...]


@dataclass(frozen=True)
class DecodedCall:
    """A kernel call: code address, address and number of columns of the extents table, scalars, operands."""

    word: int
    code: int
    extents: int
    extent_axes: int
    scalars: tuple[tuple[str, int | float], ...]
    ins: tuple[DecodedOperand, ...]
    outs: tuple[DecodedOperand, ...]


@dataclass(frozen=True)
class DecodedExchange:
    """An exchange phase: row address and words per tile."""

    word: int
    rows: int
    width: int


@dataclass(frozen=True)
class DecodedPatch:
    """See `program.Patch`: addresses and widths instead of names."""

    rows: int
    width: int
    positions: int
    count: int
    delta_words: int
    shift: int


@dataclass(frozen=True)
class DecodedRepeat:
    """A repeat with its body."""

    word: int
    count: int
    patches: tuple[DecodedPatch, ...]
    body: tuple[Decoded, ...]


@dataclass(frozen=True)
class DecodedTap:
    """Tap number `number` of the manifest."""

    word: int
    number: int


Decoded: TypeAlias = "DecodedCall | DecodedExchange | DecodedRepeat | DecodedTap"


class _Decoder:
    def __init__(self, words: npt.NDArray[np.uint32], scalar_names: Sequence[str]) -> None:
        self.words: list[int] = words.tolist()
        self.scalar_names = scalar_names

    def _some(self, first: int, count: int) -> list[int]:
        """`count` words from `first` on; IndexError where the program ends before."""
        if first + count > len(self.words):
            raise IndexError
        return self.words[first : first + count]

    def _fail(self, word: int, text: str) -> ImageError:
        return ImageError(f"supervisor word {word}: {text}")

    def body(self, start: int, end: int | None) -> tuple[list[Decoded], int]:
        """Instructions from word `start` up to `end`, or up to the end instruction when `end` is None."""
        found: list[Decoded] = []
        at = start
        while end is None or at < end:
            if at >= len(self.words):
                raise self._fail(at, "the program runs past its end")
            opcode, length = self.words[at] >> 24, self.words[at] & 0xFFFFFF
            stop = at + length
            if not length or stop > (len(self.words) if end is None else end):
                raise self._fail(at, f"an instruction of {length} words does not fit here")
            try:
                if opcode == OP_END and end is None:
                    return found, stop
                elif opcode == OP_CALL:
                    found.append(self._call(at, stop))
                elif opcode == OP_EXCHANGE:
                    found.append(DecodedExchange(at, self.words[at + 1], self.words[at + 2]))
                elif opcode == OP_REPEAT:
                    found.append(self._repeat(at, stop))
                elif opcode == OP_TAP:
                    found.append(DecodedTap(at, self.words[at + 1]))
                else:
                    raise self._fail(at, f"unknown opcode {opcode:#04x}")
            except IndexError:
                raise self._fail(at, "the instruction is cut off") from None
            at = stop
        return found, at

    def _call(self, at: int, stop: int) -> DecodedCall:
        code, extents, packed = self._some(at + 1, 3)
        ins, outs, axes, scalars = packed & 0xFF, packed >> 8 & 0xFF, packed >> 16 & 0xFF, packed >> 24
        cursor = at + 4
        values: list[tuple[str, int | float]] = []
        for _ in range(scalars):
            head, low, high = self._some(cursor, 3)
            number = head & 0xFFFF
            if number >= len(self.scalar_names):
                raise self._fail(cursor, f"scalar number {number} has no name")
            raw = struct.pack("<II", low, high)
            value: int | float = struct.unpack("<d" if head >> 16 & 1 else "<q", raw)[0]
            values.append((self.scalar_names[number], value))
            cursor += 3
        operands: list[DecodedOperand] = []
        for _ in range(ins + outs):
            operand, cursor = self._operand(cursor)
            operands.append(operand)
        if cursor != stop:
            raise self._fail(at, f"the call's operands take {cursor - at} words, its length says {stop - at}")
        return DecodedCall(
            at, code, extents, axes, tuple(values), tuple(operands[:ins]), tuple(operands[ins:])
        )

    def _operand(self, cursor: int) -> tuple[DecodedOperand, int]:
        address, head = self.words[cursor], self.words[cursor + 1]
        dtype, axes, steps = head & 0xFF, head >> 8 & 0xFF, head >> 16
        if dtype >= len(DTYPES):
            raise self._fail(cursor + 1, f"unknown element type {dtype}")
        cursor += 2
        digits: list[tuple[tuple[int, int], ...]] = []
        for _ in range(axes):
            count = self.words[cursor]
            flat = [_signed(value) for value in self._some(cursor + 1, 2 * count)]
            digits.append(tuple(zip(flat[::2], flat[1::2], strict=True)))
            cursor += 1 + 2 * count
        values = tuple(_signed(value) for value in self._some(cursor, steps))
        return DecodedOperand(address, DTYPES[dtype], tuple(digits), values), cursor + steps

    def _repeat(self, at: int, stop: int) -> DecodedRepeat:
        count, length, patches = self._some(at + 1, 3)
        cursor = at + 4
        decoded: list[DecodedPatch] = []
        for _ in range(patches):
            rows, width, positions, entries, delta, shift = self._some(cursor, 6)
            decoded.append(DecodedPatch(rows, width, positions, entries, _signed(delta), shift))
            cursor += 6
        if cursor + length != stop:
            raise self._fail(at, f"a body of {length} words does not end where the repeat ends")
        body, _ = self.body(cursor, stop)
        return DecodedRepeat(at, count, tuple(decoded), tuple(body))


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def decode_supervisor(
    words: npt.NDArray[np.uint32], scalar_names: Sequence[str] = SCALARS
) -> tuple[Decoded, ...]:
    """The instructions that the words say; ImageError names the word that cannot be read."""
    body, _ = _Decoder(words, scalar_names).body(0, None)
    return tuple(body)


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
        except (OSError, ValueError) as error:
            raise ImageError(f"cannot read the image '{path}': {error}") from error
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
            raise ImageError(f"'{path}' is not a program image")
        if manifest.get("version", 0) > VERSION:
            raise ImageError(
                f"'{path}' has version {manifest['version']}, this tilewright reads up to {VERSION}"
            )
        reference = manifest["data"]
        if Path(reference["file"]).name != reference["file"]:
            raise ImageError(f"'{path}' refers to a file outside its folder: '{reference['file']}'")
        try:
            blob = (path.parent / reference["file"]).read_bytes()
        except OSError as error:
            raise ImageError(f"cannot read the image's words: {error}") from error
        if _sha256(blob) != reference["sha256"]:
            raise ImageError(f"'{reference['file']}' does not match the sha256 in '{path.name}'")

        def get(record: Mapping[str, Any], dtype: Any) -> np.ndarray:
            raw = blob[record["offset"] : record["offset"] + record["nbytes"]]
            return np.frombuffer(raw, dtype).reshape(record["shape"])

        return Image(
            machine=manifest["machine"],
            name=manifest["name"],
            supervisor=(manifest["supervisor"]["address"], manifest["supervisor"]["words"]),
            segments=tuple(
                Segment(s["name"], s["address"], get(s, np.uint32), s["category"])
                for s in manifest["segments"]
            ),
            code=tuple(Code(**item) for item in manifest["code"]),
            bindings=tuple(
                Binding(**{**item, "tensors": tuple(item["tensors"]), "shape": tuple(item["shape"])})
                for item in manifest["bindings"]
            ),
            placed=tuple(Placed(**item) for item in manifest["placed"]),
            debug=tuple(Debug(**item) for item in manifest["debug"]),
            taps=tuple(Tap(**item) for item in manifest["taps"]),
            scalar_names=tuple(manifest["scalar_names"]),
            constants=tuple(
                Constant(c["name"], get(c, numpy_dtype(c["dtype"]))) for c in manifest["constants"]
            ),
        )


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
