# SPDX-License-Identifier: Apache-2.0
"""
The machine description: one frozen value read from TOML, seen by every level.

Nothing outside `tilewright.machine` holds a machine number. The file format is in docs/spec/machine-file.md;
every number in the shipped files carries a comment with its source.
"""

from __future__ import annotations

import dataclasses
import functools
import tomllib
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.diagnostics import TileError
from tilewright.machine import topology as fabric

FORMAT = "tilewright-machine"
VERSION = 1
CATEGORIES: tuple[str, ...] = (
    "parameters",
    "activations",
    "staging",
    "partials",
    "rows",
    "patch tables",
    "code",
    "host",
    "profile",
    "stacks",
    "padding",
    "free",
    "unusable",
)
"""Memory categories, in the order of reports. Every byte of every tile is in exactly one."""


class MachineError(TileError):
    """A machine file that cannot be found, read or believed."""


@dataclass(frozen=True)
class Region:
    """
    A part of tile memory with one structure. Addresses in bytes, `end` exclusive.

    An element is what can be accessed once a cycle: `element_bytes` of consecutive addresses, in a region of
    interleave 1; with interleave 2, a unit of conflict is two banks that address bit 3 tells apart, and
    `element_bytes` is the size of that unit (both banks). `load_bytes` is the widest load, in bytes a cycle.
    """

    name: str
    start: int
    end: int
    element_bytes: int
    interleave: int
    executable: bool
    load_bytes: int

    @property
    def bytes(self) -> int:
        return self.end - self.start

    @property
    def elements(self) -> int:
        return -(-self.bytes // self.element_bytes)


@dataclass(frozen=True)
class Reservation:
    """A range of every tile that the program may not use. Addresses in bytes, `end` exclusive."""

    name: str
    start: int
    end: int
    category: str
    source: str

    @property
    def bytes(self) -> int:
        return self.end - self.start


@dataclass(frozen=True)
class Topology:
    """Physical grid: `rows` by `columns` (the physical columns that exist) by 4 lanes."""

    rows: int
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Exchange:
    """Rates, limits and fixed costs of the exchange fabric. Times in cycles."""

    phase_overhead: int  # entry, barrier and exit of one exchange phase
    lead_in: int  # from the start of a phase to the first source selection of its schedule
    select_lead: int  # a source selection is effective for words landing this much later,
    select_lead_per_row: int  # plus this for each physical row of the receiver
    send_words_max: int  # items of one send
    sendoff_max: int  # items of one sendoff
    message_max_words: int  # longest contiguous message
    delay_max: int  # events of one delay
    control_delay_max: int  # events of one delaypic
    select_delay_max: int  # events of one delayxpic
    neutral_source: int  # the source number that is nobody
    host_source: int  # the source number of the host
    bytes_per_cycle: int  # received, and sent, by one tile in word mode
    paired_bytes_per_cycle: int  # in paired mode
    paired_min_items: int  # shortest message worth pairing
    word_bytes: int  # granule of addresses and sizes
    cap_bytes: int  # policy: encoded rows of one tile


@dataclass(frozen=True)
class Machine:
    """A machine of `tiles` tiles of `sram_bytes` at `sram_base`, its memory, fabric and fixed costs."""

    name: str
    tiles: int
    clock_hz: int
    workers: int
    sram_base: int
    sram_bytes: int
    store_granule: int
    fetch_guard_bytes: int
    regions: tuple[Region, ...]
    reservations: tuple[Reservation, ...]
    topology: Topology
    exchange: Exchange
    path: str = field(default="", compare=False)

    # The parts that most readers want, under the names they use.
    @property
    def phase_overhead(self) -> int:
        return self.exchange.phase_overhead

    @property
    def send_words_max(self) -> int:
        return self.exchange.send_words_max

    @property
    def sendoff_max(self) -> int:
        return self.exchange.sendoff_max

    @property
    def message_max_words(self) -> int:
        return self.exchange.message_max_words

    @property
    def exchange_cap_bytes(self) -> int:
        return self.exchange.cap_bytes

    @property
    def neutral_source(self) -> int:
        return self.exchange.neutral_source

    @property
    def sram_end(self) -> int:
        return self.sram_base + self.sram_bytes

    # Memory

    @functools.cached_property
    def _element_bases(self) -> tuple[int, ...]:
        bases, total = [], 0
        for region in self.regions:
            bases.append(total)
            total += region.elements
        return (*bases, total)

    @property
    def elements(self) -> int:
        """Number of memory elements of a tile; `element_index` counts below it."""
        return self._element_bases[-1]

    def element_index(self, address: np.ndarray | int) -> np.ndarray:
        """Memory element of each byte address, int64, distinct over all regions; -1 outside of SRAM."""
        address = np.asarray(address, dtype=np.int64)
        index = np.full(address.shape, -1, dtype=np.int64)
        for base, region in zip(self._element_bases, self.regions, strict=False):
            inside = (address >= region.start) & (address < region.end)
            index = np.where(inside, base + (address - region.start) // region.element_bytes, index)
        return index

    def element_range(self, index: int) -> tuple[int, int]:
        """Start and end address (exclusive) of the memory element number `index`."""
        for base, region in zip(self._element_bases, self.regions, strict=False):
            if base <= index < base + region.elements:
                start = region.start + (index - base) * region.element_bytes
                return start, min(start + region.element_bytes, region.end)
        raise IndexError(f"{self.name} has {self.elements} memory elements, not {index}")

    def region(self, name: str) -> Region:
        """The region of that name; KeyError if there is none."""
        for region in self.regions:
            if region.name == name:
                return region
        raise KeyError(name)

    def load_bytes(self, memory: str) -> int:
        """Bytes that one load brings from memory of a class; from the fastest where the machine has none."""
        known = {region.name: region.load_bytes for region in self.regions}
        return known.get(memory, max(known.values()))

    def region_of(self, address: int) -> Region | None:
        """The region that holds a byte address, or None."""
        return next((r for r in self.regions if r.start <= address < r.end), None)

    def reserved_bytes(self) -> int:
        """Bytes of every tile under a reservation."""
        return sum(r.bytes for r in self.reservations)

    def available(self, region: str | None = None) -> tuple[tuple[int, int], ...]:
        """Ranges (start, end) outside of every reservation, ascending, cut at region borders."""
        ranges: list[tuple[int, int]] = []
        for part in self.regions:
            if region is not None and part.name != region:
                continue
            cursor = part.start
            for taken in sorted(self.reservations, key=lambda r: r.start):
                start, end = max(taken.start, part.start), min(taken.end, part.end)
                if start >= end:
                    continue
                if cursor < start:
                    ranges.append((cursor, start))
                cursor = max(cursor, end)
            if cursor < part.end:
                ranges.append((cursor, part.end))
        return tuple(ranges)

    # Fabric

    @functools.cached_property
    def _physical(self) -> np.ndarray:
        table = fabric.logical_grid(self.tiles, self.topology.rows, self.topology.columns)
        table.flags.writeable = False
        return table

    @functools.cached_property
    def _logical(self) -> np.ndarray:
        table = np.full(fabric.POSITIONS * self.topology.rows, -1, dtype=np.int64)
        table[self._physical] = np.arange(self.tiles)
        table.flags.writeable = False
        return table

    def physical(self, tile: np.ndarray | int) -> np.ndarray:
        """Physical ids (what a source selection names) of logical tiles, int64."""
        return self._physical[np.asarray(tile, dtype=np.int64)]

    def logical(self, physical: np.ndarray | int) -> np.ndarray:
        """Logical tiles of physical ids, int64; -1 where no tile has that id."""
        physical = np.asarray(physical, dtype=np.int64)
        inside = (physical >= 0) & (physical < len(self._logical))
        return np.where(inside, self._logical[np.where(inside, physical, 0)], -1)

    def partner(self, tile: np.ndarray | int) -> np.ndarray:
        """The logical tiles that share an exchange bus with the given ones (physical id XOR 2), int64."""
        return self.logical(self.physical(tile) ^ 2)

    def latency(self, src: np.ndarray | int, dst: np.ndarray | int) -> np.ndarray:
        """
        Cycles from a send event on `src` to the first word written on `dst` (logical ids), int64.

        Positional only: the fabric has no congestion. Source: see `tilewright.machine.topology`.
        """
        return fabric.latency(self.physical(src), self.physical(dst))

    def select_lead(self, tile: np.ndarray | int) -> np.ndarray:
        """Cycles from a source selection on `tile` to the first landing word it holds for, int64."""
        row = self.physical(tile) // fabric.POSITIONS
        return self.exchange.select_lead + self.exchange.select_lead_per_row * row

    # Fixed costs

    def patch_cycles(self, words: np.ndarray | int) -> np.ndarray:
        """Cycles to patch `words` words of a row between two iterations of a repeat, int64."""
        from tilewright.machine.kernels import kernel

        words = np.atleast_1d(np.asarray(words, dtype=np.int64))
        return kernel("patch_rows").cycles(self, words[:, None], ("u32",), {})


# Reading


def _fail(path: Path, message: str, hint: str | None = None) -> typing.NoReturn:
    raise MachineError(message, location=str(path), hint=hint)


def _value(path: Path, where: str, kind: Any, value: Any) -> Any:
    """`value` checked against an annotation of the dataclasses above."""
    origin = typing.get_origin(kind)
    if origin is tuple:
        element = typing.get_args(kind)[0]
        if not isinstance(value, list):
            _fail(path, f"{where} must be an array, not {type(value).__name__}")
        return tuple(_value(path, f"{where}[{i}]", element, v) for i, v in enumerate(value))
    if dataclasses.is_dataclass(kind):
        return _record(path, where, typing.cast(type, kind), value)
    if kind is bool:
        good = isinstance(value, bool)
    elif kind is int:
        good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    else:
        good = isinstance(value, kind)
    if not good:
        wanted = {int: "a non-negative integer", bool: "true or false", str: "a string"}[kind]
        _fail(path, f"{where} must be {wanted}, not {value!r}")
    return value


def _record(
    path: Path, where: str, kind: type, table: Any, extra: typing.Mapping[str, Any] | None = None
) -> Any:
    """A dataclass from a TOML table; every field named, none left over."""
    if not isinstance(table, dict):
        _fail(path, f"{where} must be a table, not {type(table).__name__}")
    annotations = typing.get_type_hints(kind)
    given: dict[str, Any] = dict(extra or {})
    fields = [f for f in dataclasses.fields(kind) if f.name not in given]
    known = [f.name for f in fields]
    for name in table:
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, known, 1)
            _fail(path, f"unknown field {name!r} in {where}", f"did you mean {near[0]!r}?" if near else None)
    for f in fields:
        if f.name not in table:
            _fail(path, f"{where} has no {f.name!r}")
        given[f.name] = _value(path, f"{where}.{f.name}", annotations[f.name], table[f.name])
    return kind(**given)


def _check(path: Path, machine: Machine) -> None:
    """The consistency that later levels rely on."""
    if not 0 < machine.tiles:
        _fail(path, "tiles must be at least 1")
    topology = machine.topology
    if machine.tiles % 2:
        _fail(path, "tiles must be even: two tiles share an exchange bus")
    if topology.rows * len(topology.columns) * fabric.LANES != machine.tiles:
        _fail(
            path,
            f"{topology.rows} rows x {len(topology.columns)} columns x {fabric.LANES} lanes"
            f" are not {machine.tiles} tiles",
        )
    if len(dict.fromkeys(topology.columns)) != len(topology.columns) or any(
        c >= fabric.COLUMNS for c in topology.columns
    ):
        _fail(path, f"topology.columns must be distinct and below {fabric.COLUMNS}")
    if not machine.regions:
        _fail(path, "the machine has no memory region")
    cursor = machine.sram_base
    for region in machine.regions:
        if region.start != cursor:
            _fail(path, f"region {region.name!r} starts at {region.start:#x}, expected {cursor:#x}")
        if region.end <= region.start or not region.element_bytes or not region.interleave:
            _fail(path, f"region {region.name!r} is empty")
        if region.bytes % region.element_bytes:
            _fail(path, f"region {region.name!r} is not a whole number of elements")
        cursor = region.end
    if cursor != machine.sram_end:
        _fail(path, f"the regions end at {cursor:#x}, the memory at {machine.sram_end:#x}")
    end = machine.sram_base
    for taken in sorted(machine.reservations, key=lambda r: r.start):
        if taken.category not in CATEGORIES:
            _fail(
                path,
                f"reservation {taken.name!r}: {taken.category!r} is no memory category",
                ", ".join(CATEGORIES),
            )
        if not machine.sram_base <= taken.start < taken.end <= machine.sram_end:
            _fail(path, f"reservation {taken.name!r} is not inside the memory")
        if taken.start < end:
            _fail(path, f"reservation {taken.name!r} overlaps another one")
        end = taken.end


def read(path: Path) -> Machine:
    """A machine from a TOML file; MachineError says what is wrong with it and where."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        _fail(path, f"cannot read machine file: {error}")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        _fail(path, f"not a TOML file: {error}")
    if table.pop("format", None) != FORMAT:
        _fail(path, f'no machine file: expected format = "{FORMAT}"')
    version = table.pop("version", None)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        _fail(path, f"version must be a positive integer, not {version!r}")
    if version > VERSION:
        _fail(path, f"machine file has version {version}; this reader knows {FORMAT} up to version {VERSION}")
    machine = _record(path, "machine", Machine, table, {"path": str(path)})
    _check(path, machine)
    return machine


def names() -> tuple[str, ...]:
    """Names of the machines that come with the package."""
    return tuple(sorted(p.stem for p in Path(__file__).parent.glob("*.toml")))


@functools.cache
def _shipped(name: str) -> Machine:
    return read(Path(__file__).parent / f"{name}.toml")


def load(name_or_path: str | Path) -> Machine:
    """
    The machine of that name (c600, t4, t16, t64), or the one in a TOML file.

    Anything with a path separator or ending in `.toml` is a path. Raises MachineError.
    """
    text = str(name_or_path)
    if text in names():
        return _shipped(text)
    if isinstance(name_or_path, Path) or text.endswith(".toml") or "/" in text:
        return read(Path(text))
    raise MachineError(
        f"unknown machine {text!r}",
        hint=f"known machines are {', '.join(names())}; or give the path of a TOML file",
    )
