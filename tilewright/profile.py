# SPDX-License-Identifier: Apache-2.0
"""
A profile: what one compilation placed and one run executed, as `tile-run --profile FILE` writes it.

    profile = tilewright.Profile("run.profile")
    profile.cycles, profile.steps[3].operator, profile.first[3]   # numpy arrays over tiles
    profile.memory(profile.peak().instruction)                    # bytes by category and tile

The file is a NumPy archive (.npz) whose member `header` holds JSON; docs/spec/profile.md describes it.
Nothing in it is executed or unpickled. Cycles are those of the machine model, addresses and sizes are bytes.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from tilewright.diagnostics import TileError

FORMAT = "tilewright-profile"
VERSION = 1

Ints = npt.NDArray[np.int64]


class ProfileError(TileError):
    """A profile that cannot be read or written."""


@dataclass(frozen=True)
class Region:
    """
    A part of every tile's memory, `end` exclusive; elements are `element_bytes` long and count from `start`.
    """

    name: str
    start: int
    end: int
    element_bytes: int


@dataclass(frozen=True)
class Reservation:
    """A range that no program may use, `end` exclusive, and its memory category."""

    name: str
    start: int
    end: int
    category: str


@dataclass(frozen=True)
class MachineFacts:
    """The machine that was compiled for."""

    name: str
    digest: str
    tiles: int
    clock_hz: int
    sram_base: int
    sram_bytes: int
    rows: int
    columns: tuple[int, ...]
    """Physical columns that exist; each has 4 lanes a row."""
    regions: tuple[Region, ...]
    reservations: tuple[Reservation, ...]


@dataclass(frozen=True)
class Step:
    """
    One step of a segment: a kernel call, an exchange phase or its overhead.

    `category` is compute, exchange, copy or sync; `name` the kernel, or what the exchange is for; `operator`
    the tensor operator that it belongs to, `source` where that stands; `instruction` the number of the
    machine instruction. `tiles` take part. `extents` are the largest of each axis over tiles, `operands` what
    a kernel reads and writes.
    """

    segment: int
    name: str
    category: str
    operator: str
    reason: str
    source: str
    instruction: int
    tiles: int
    extents: tuple[int, ...] = ()
    operands: tuple[str, ...] = ()


@dataclass(frozen=True)
class Segment:
    """Steps between two barriers: executed `count` times, inside of `repeats`, outermost first."""

    count: int
    first_step: int
    steps: int
    repeats: tuple[str, ...] = ()


@dataclass(frozen=True)
class Repeat:
    """
    A counted loop of the program. Cycles of its first iteration, mean of the others (None without others).
    """

    name: str
    count: int
    first: int
    per_iteration: float | None = None


@dataclass(frozen=True)
class Instruction:
    """A machine instruction: call, exchange, repeat or tap, its name, its operator, the repeats around it."""

    kind: str
    name: str
    operator: str
    repeats: tuple[str, ...] = ()


@dataclass(frozen=True)
class Buffer:
    """
    A range of bytes on the tiles of some classes (`Profile.held`). Needed from instruction `first` to `last`;
    -1 is loading. `address` is None where no place was found. A sequence has `count` members. `reason`: why
    it is alive.
    """

    name: str
    address: int | None
    nbytes: int
    category: str
    first: int
    last: int
    layout: str = ""
    source: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Binding:
    """
    A value of the host: parameter, input, output or constant. A sequence has `count` members `stride` bytes
    apart, a tensor name for each. `home` is its place in `Profile.homes`.
    """

    name: str
    kind: str
    address: int
    dtype: str
    shape: tuple[int, ...]
    layout: str
    view: str
    tensors: tuple[str, ...]
    count: int
    stride: int
    home: int


@dataclass(frozen=True, kw_only=True)
class OperatorCycles:
    """
    Cycles of an operator in one run on the critical path, summed over iterations.

    `reduction` is the part of the kernels that add up partial results; `assumed` of `total` rests on assumed
    kernels. `compute_bound` and `exchange_bound` are the cycles of the work spread evenly over all tiles:
    inner loops only, and every operand byte received once, 4 bytes a cycle; None for steps that no operator
    of the program accounts for.
    """

    compute: int = 0
    reduction: int = 0
    copy: int = 0
    exchange: int = 0
    sync: int = 0
    assumed: int = 0
    compute_bound: float | None = None
    exchange_bound: float | None = None

    @property
    def total(self) -> int:
        return self.compute + self.reduction + self.copy + self.exchange + self.sync

    @property
    def gap(self) -> float | None:
        """
        Cycles above the larger of the two bounds; None where there is none, and for an operator that takes no
        cycles of its own because another's kernels do its work. Below zero where the plan has a cheaper form
        for it than the operator alone, as a result that is stored in FP8 by the kernel before its cast.
        """
        if self.compute_bound is None or self.exchange_bound is None or self.total == 0:
            return None
        return self.total - max(self.compute_bound, self.exchange_bound)

    def cycles(self) -> dict[str, Any]:
        """The figures by name, as result.json has them."""
        return {entry.name: getattr(self, entry.name) for entry in fields(OperatorCycles)}


@dataclass(frozen=True)
class Operator(OperatorCycles):
    """
    A tensor operator in program order: operands by name, result, where it stands, the repeats around it, its
    plan record as JSON, and its cycles.
    """

    name: str
    kind: str
    source: str
    operands: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    layout: str
    view: str
    repeats: tuple[str, ...]
    plan: str


@dataclass(frozen=True)
class Move:
    """
    What an exchange phase brings from one buffer to another: their names, and layout and view of the value
    (or the part of one) in each.
    """

    source: str
    source_layout: str
    source_view: str
    target: str
    target_layout: str
    target_view: str
    dtype: str


@dataclass(frozen=True)
class Phase:
    """
    An exchange phase in program order: messages (a multicast is one), bytes of the longest row, and cycles
    without the machine's overhead: the bound, the schedule, the estimate. `paired`: share of bytes in 8-byte
    items, in thousandths. `executions`: how often it runs. Bytes are in `Profile.sent`, `received` and
    `between`.
    """

    name: str
    operator: str
    instruction: int
    executions: int
    messages: int
    row_bytes: int
    bound: int
    scheduled: int
    estimated: int
    paired: int
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True)
class SourceLine:
    """A line of the program as it was given; locations `file:line:column` name it."""

    file: str
    line: int
    text: str


@dataclass(frozen=True)
class Failure:
    """Why a compilation ended: its message, further lines, what to do."""

    message: str
    notes: tuple[str, ...] = ()
    hint: str = ""


@dataclass(frozen=True)
class Header:
    """Everything in a profile that is no array."""

    program: str
    precision: str | None
    machine: MachineFacts
    categories: tuple[str, ...]
    evidence: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    segments: tuple[Segment, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    instructions: tuple[Instruction, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    bindings: tuple[Binding, ...] = ()
    operators: tuple[Operator, ...] = ()
    phases: tuple[Phase, ...] = ()
    plan: Mapping[str, Any] = field(default_factory=dict[str, Any])
    result: Mapping[str, Any] = field(default_factory=dict[str, Any])
    failure: Failure | None = None
    source: tuple[SourceLine, ...] = ()


ARRAYS: dict[str, tuple[str, tuple[str | int, ...]]] = {
    "first": ("int32", ("steps", "tiles")),
    "later": ("int64", ("steps", "tiles")),
    "attributed": ("int64", ("steps", "evidence")),
    "executed_segment": ("int32", ("executions",)),
    "executed_start": ("int64", ("executions",)),
    "executed_cycles": ("int64", ("executions",)),
    "places": ("int32", ("tiles", 3)),
    "tile_class": ("int32", ("tiles",)),
    "held": ("bool", ("buffers", "classes")),
    "row_bytes": ("int64", ("tiles",)),
    "homes": ("int64", ("bindings", "tiles")),
    "tile_group": ("int32", ("tiles",)),
    "sent": ("int64", ("phases", "tiles")),
    "received": ("int64", ("phases", "tiles")),
    "between": ("int64", ("phases", "groups", "groups")),
}
"""Arrays of the file: element type and axes. Axes of one name have one length."""


@dataclass(frozen=True)
class Peak:
    """Most bytes in use: at an instruction, on a tile (the first of the fullest)."""

    instruction: int
    tile: int
    nbytes: int


class Profile:
    """
    A profile, read from a file. What is no array is in `header` and its fields, which are attributes here
    too. Arrays:

    - `first` (steps, tiles): cycles of each step in the first execution of its segment; `later` (steps,
      tiles): their sum over the other executions; `attributed` (steps, evidence): cycles on the critical
      path, over all executions.
    - `executed_segment`, `executed_start`, `executed_cycles` (executions,): every execution of a segment in
      order, the cycle at which it began, and cycles until its barrier.
    - `places` (tiles, 3): physical row, column and lane of each tile.
    - `tile_class` (tiles,), `held` (buffers, classes): which tiles hold the same buffers, and which these
      are.
    - `row_bytes` (tiles,): bytes of exchange rows in use, of those that are reserved.
    - `homes` (bindings, tiles): bytes of each binding, all members together.
    - `tile_group` (tiles,), `sent`, `received` (phases, tiles), `between` (phases, groups, groups): bytes
      that each phase moves in one execution, by tile and from group to group of tiles.

    Raises ProfileError for what is no profile, one cut short, or one of a newer version.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        header, arrays = _read(Path(path))
        self._take(header, arrays)

    def _take(self, header: Header, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self.header = header
        self.program, self.precision, self.machine = header.program, header.precision, header.machine
        self.categories, self.evidence = header.categories, header.evidence
        self.steps, self.segments, self.repeats = header.steps, header.segments, header.repeats
        self.instructions, self.buffers, self.bindings = header.instructions, header.buffers, header.bindings
        self.operators, self.phases = header.operators, header.phases
        self.plan, self.result, self.failure = header.plan, header.result, header.failure
        self.source = header.source
        self.arrays = dict(arrays)
        self.first, self.later, self.attributed = arrays["first"], arrays["later"], arrays["attributed"]
        self.executed_segment = arrays["executed_segment"]
        self.executed_start, self.executed_cycles = arrays["executed_start"], arrays["executed_cycles"]
        self.places, self.tile_class, self.held = arrays["places"], arrays["tile_class"], arrays["held"]
        self.row_bytes, self.homes, self.tile_group = (
            arrays["row_bytes"],
            arrays["homes"],
            arrays["tile_group"],
        )
        self.sent, self.received, self.between = arrays["sent"], arrays["received"], arrays["between"]

    @staticmethod
    def of(header: Header, arrays: Mapping[str, npt.NDArray[Any]]) -> Profile:
        """A profile from its parts; arrays that are not given are empty. Raises ProfileError."""
        profile = Profile.__new__(Profile)
        profile._take(header, _complete(header, arrays))
        return profile

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the profile as it is read. Raises ProfileError where the file cannot be written."""
        text = json.dumps({"format": FORMAT, "version": VERSION, **asdict(self.header)}, allow_nan=False)
        try:
            with Path(path).open("wb") as file:
                np.savez_compressed(
                    file,
                    allow_pickle=False,
                    header=np.frombuffer(text.encode("utf-8"), np.uint8),
                    **self.arrays,
                )
        except OSError as error:
            raise ProfileError(
                f"cannot write the profile: {error.strerror or error}", location=os.fspath(path)
            ) from None

    # -- cycles

    @property
    def ran(self) -> bool:
        """Whether there was a run; without one there is memory only."""
        return self.failure is None

    @property
    def cycles(self) -> int:
        """Cycles of the run."""
        return int(self.executed_cycles.sum())

    @property
    def step_cycles(self) -> Ints:
        """Cycles of each step on the critical path, over all executions (steps,); they sum to `cycles`."""
        return self.attributed.sum(axis=1, dtype=np.int64)

    def cycles_by_category(self) -> dict[str, int]:
        """`cycles` by the category of the steps."""
        return _sums((step.category for step in self.steps), self.step_cycles)

    def cycles_by_evidence(self) -> dict[str, int]:
        """`cycles` by what they rest on."""
        totals = self.attributed.sum(axis=0)
        return {name: int(total) for name, total in zip(self.evidence, totals, strict=True)}

    def busy(self) -> Ints:
        """Cycles in which each tile does something (tiles,); the others it waits."""
        return (self.first.astype(np.int64) + self.later).sum(axis=0, dtype=np.int64)

    def waiting(self) -> Ints:
        """Cycles in which each tile waits at barriers (tiles,), barrier by barrier."""
        busy = np.zeros((len(self.segments), self.machine.tiles), np.int64)
        for number, segment in enumerate(self.segments):
            part = slice(segment.first_step, segment.first_step + segment.steps)
            busy[number] = self.first[part].sum(axis=0) + self.later[part].sum(axis=0)
        length = np.bincount(
            self.executed_segment, weights=self.executed_cycles, minlength=len(self.segments)
        ).astype(np.int64)
        return (length[:, None] - busy).sum(axis=0)

    def spans(self, step: int) -> tuple[Ints, Ints]:
        """
        Cycles at which a step begins and ends on every tile, the first time that it is executed, (tiles,)
        each.
        """
        segment = self.segments[self.steps[step].segment]
        occurrence = int(np.argmax(self.executed_segment == self.steps[step].segment))
        before = self.first[segment.first_step : step].sum(axis=0, dtype=np.int64)
        start = int(self.executed_start[occurrence]) + before
        return start, start + self.first[step]

    # -- memory

    def live(self, instruction: int) -> npt.NDArray[np.bool_]:
        """Which buffers are needed at an instruction (-1: after loading), (buffers,)."""
        return np.array([b.first <= instruction <= b.last for b in self.buffers], np.bool_)

    def memory(self, instruction: int) -> dict[str, Ints]:
        """
        Bytes of every category on every tile at an instruction (-1: after loading), (tiles,) each. They sum
        to the memory of a tile, except where a compilation failed: "free" is negative where bytes are short.
        """
        classes = self.held.shape[1]
        sizes = np.array([b.nbytes for b in self.buffers], np.int64) * self.live(instruction)
        result: dict[str, Ints] = {}
        for name in self.categories:
            of = np.array([b.category == name for b in self.buffers], np.bool_)
            total = (sizes * of) @ self.held.astype(np.int64) if len(of) else np.zeros(classes, np.int64)
            reserved = sum(r.end - r.start for r in self.machine.reservations if r.category == name)
            result[name] = total[self.tile_class] + reserved
        result["padding"] = result["padding"] + result["rows"] - self.row_bytes
        result["rows"] = self.row_bytes.astype(np.int64)
        used = np.sum([result[name] for name in self.categories if name != "free"], axis=0)
        result["free"] = self.machine.sram_bytes - used
        return result

    def used(self) -> Ints:
        """
        Bytes in use, reservations included and unusable ones not, (instructions + 1, classes); row 0 is
        loading.
        """
        count = max((b.last for b in self.buffers), default=-1)
        count = max(count, len(self.instructions))
        change = np.zeros((count + 3, self.held.shape[1]), np.int64)
        for buffer, held in zip(self.buffers, self.held, strict=True):
            change[buffer.first + 1] += buffer.nbytes * held
            change[buffer.last + 2] -= buffer.nbytes * held
        base = sum(r.end - r.start for r in self.machine.reservations if r.category != "unusable")
        return np.cumsum(change, axis=0)[: max(len(self.instructions), count) + 1] + base

    def peak(self) -> Peak:
        """The fullest tile and when."""
        used = self.used()
        row, column = np.unravel_index(int(used.argmax()), used.shape)
        tile = int(np.flatnonzero(self.tile_class == column)[0])
        return Peak(int(row) - 1, tile, int(used[row, column]))


def _sums(keys: Any, values: Ints) -> dict[str, int]:
    found: dict[str, int] = {}
    for key, value in zip(keys, values.tolist(), strict=True):
        found[key] = found.get(key, 0) + value
    return found


# -------------------------------------------------------------------------------------------- files


_DAMAGE = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    TypeError,
    SyntaxError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What numpy and zipfile raise at archives that are none, or damaged."""


def _complete(header: Header, given: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """All arrays with the lengths that the header says. Raises ProfileError."""
    lengths: dict[str, int] = {
        "steps": len(header.steps),
        "tiles": header.machine.tiles,
        "evidence": len(header.evidence),
        "buffers": len(header.buffers),
        "bindings": len(header.bindings),
        "phases": len(header.phases),
    }
    found: dict[str, npt.NDArray[Any]] = {}
    for name, (dtype, axes) in ARRAYS.items():
        array = given.get(name)
        if array is None:
            shape = tuple(a if isinstance(a, int) else lengths.get(a, 0) for a in axes)
            array = np.zeros(shape, dtype)
        if array.dtype.kind not in "biu" or array.ndim != len(axes):
            raise ProfileError(f"array '{name}' is {array.dtype} with {array.ndim} axes, not {dtype} {axes}")
        for length, axis in zip(array.shape, axes, strict=True):
            wanted = axis if isinstance(axis, int) else lengths.setdefault(axis, length)
            if length != wanted:
                raise ProfileError(f"array '{name}' has {length} {axis}, not {wanted}")
        found[name] = np.ascontiguousarray(array, dtype)
    for name, most in (
        ("tile_class", found["held"].shape[1]),
        ("tile_group", found["between"].shape[1] or header.machine.tiles),
        ("executed_segment", len(header.segments)),
    ):
        values = found[name]
        if values.size and (int(values.min()) < 0 or int(values.max()) >= max(most, 1)):
            raise ProfileError(f"array '{name}' has a number that names nothing: {int(values.max())}")
    steps = 0
    for number, segment in enumerate(header.segments):
        if segment.first_step != steps or segment.steps < 1:
            raise ProfileError(f"segment {number} does not follow the one before it")
        steps += segment.steps
    if steps != len(header.steps) or any(
        not 0 <= step.segment < len(header.segments) for step in header.steps
    ):
        raise ProfileError(f"the segments have {steps} steps, the profile {len(header.steps)}")
    if any(b.first < -1 or b.last < b.first for b in header.buffers):
        raise ProfileError("a buffer ends before it begins")
    return found


def _read(path: Path) -> tuple[Header, dict[str, npt.NDArray[Any]]]:
    name = os.fspath(path)
    try:
        with np.load(path, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile) or "header" not in archive.files:
                raise ProfileError(
                    "this is no profile", location=name, hint="tile-run --profile FILE writes one"
                )
            header = _header(archive["header"].tobytes())
            arrays: dict[str, npt.NDArray[Any]] = {
                key: archive[key] for key in ARRAYS if key in archive.files
            }
        return header, _complete(header, arrays)
    except ProfileError as error:
        raise ProfileError(error.message, location=name, notes=error.notes, hint=error.hint) from None
    except FileNotFoundError:
        raise ProfileError("cannot read the profile: no such file", location=name) from None
    except _DAMAGE as error:
        raise ProfileError(
            "this is no profile, or it is damaged or cut short",
            location=name,
            notes=(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}",),
            hint="tile-run --profile FILE writes one",
        ) from None


def _header(raw: bytes) -> Header:
    data: Any = json.loads(raw.decode("utf-8"))
    if not isinstance(data, dict) or cast("dict[str, Any]", data).get("format") != FORMAT:
        raise ProfileError(f'a profile has "format": "{FORMAT}"')
    version: Any = cast("dict[str, Any]", data).get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ProfileError(f"the profile has version {version!r}")
    if version > VERSION:
        raise ProfileError(
            f"the profile has version {version}; this program reads up to {VERSION}",
            hint="use a newer tilewright",
        )
    return _record(Header, data, "header")


T = TypeVar("T")


def _record(kind: type[T], data: Any, where: str) -> T:
    """A dataclass from JSON; fields that it does not have are left out, as later versions may add some."""
    if not isinstance(data, dict):
        raise ProfileError(f"{where}: an object is expected")
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for entry in fields(kind):  # type: ignore[arg-type]
        if entry.name in data:
            values[entry.name] = _value(hints[entry.name], data[entry.name], f"{where}.{entry.name}")
        elif entry.default is MISSING and entry.default_factory is MISSING:
            raise ProfileError(f"{where}.{entry.name} is missing")
    return kind(**values)


def _value(hint: Any, value: Any, where: str) -> Any:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        if value is None:
            return None
        (hint,) = (a for a in get_args(hint) if a is not NoneType)
        return _value(hint, value, where)
    if origin is tuple:
        if not isinstance(value, list):
            raise ProfileError(f"{where}: a list is expected")
        entries = cast("list[Any]", value)
        return tuple(_value(get_args(hint)[0], entry, f"{where}[{i}]") for i, entry in enumerate(entries))
    if isinstance(hint, type) and hasattr(hint, "__dataclass_fields__"):
        return _record(cast("type[Any]", hint), value, where)
    wanted: Any = {float: (int, float)}.get(hint, dict if origin is not None else hint)
    if not isinstance(value, wanted) or (isinstance(value, bool) and hint is not bool):
        raise ProfileError(f"{where} is {value!r:.40}")
    return cast("Any", value)


__all__ = [
    "ARRAYS",
    "FORMAT",
    "VERSION",
    "Binding",
    "Buffer",
    "Failure",
    "Header",
    "Instruction",
    "MachineFacts",
    "Move",
    "Operator",
    "OperatorCycles",
    "Peak",
    "Phase",
    "Profile",
    "ProfileError",
    "Region",
    "Repeat",
    "Reservation",
    "Segment",
    "SourceLine",
    "Step",
]
