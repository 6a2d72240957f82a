# SPDX-License-Identifier: Apache-2.0
"""
The machine description: one frozen value read from TOML, seen by every level.

Nothing outside `tilewright.machine` holds a machine number. The file format is in docs/spec/machine-file.md;
every number in the shipped files carries a comment with its source.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import re
import tomllib
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.diagnostics import TileError
from tilewright.machine import topology as fabric
from tilewright.suggestions import near

if typing.TYPE_CHECKING:
    from tilewright.machine.family import Family

FORMAT = "tilewright-machine"
VERSION = 2
DROPPED = {
    "machine.store_granule": 4,
    "machine.exchange.word_bytes": 4,
    "machine.exchange.bytes_per_cycle": 4,
    "machine.exchange.paired_bytes_per_cycle": 8,
    "machine.exchange.host_source": 0x600,
}
"""Fields of version 1 that had no effect, and the one value that said what was so."""
LIMITS = {
    "send_words_max": 64,
    "sendoff_max": 4096,
    "delay_max": 1 << 19,
    "control_delay_max": 128,
    "select_delay_max": 4096,
    "message_max_words": 1 << 18,
}
"""Most that the count of each exchange instruction can say (docs/spec/rows.md)."""
LARGEST = 1 << 40
"""No number of a machine file is larger."""
ADDRESS_END = 1 << 20
"""First address beyond the 18 bits of a word address in an exchange instruction."""
SOURCES = 1 << 13
"""Source numbers that the 13 bits of a selection can name."""
ELEMENT_GRAIN = 64
"""Memory elements are whole numbers of as many bytes: accesses are traced to elements in such steps."""
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


MEMORY_CLASSES = ("standard", "interleaved")
"""Names of regions: what layouts and kernels ask for."""
_FOLDER = Path(__file__).parent
_DIGEST_DIGITS = 16


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
    paired_min_items: int  # shortest message worth pairing
    cap_bytes: int  # policy: encoded rows of one tile


@dataclass(frozen=True, eq=False)
class Machine:
    """
    A machine of `tiles` tiles of `sram_bytes` at `sram_base`, its memory, fabric and fixed costs.

    A machine is what it contains: two are equal, and hash alike, when their `digest` is the same. `name` and
    the sentences of sources are labels, `path` is where it was read.
    """

    name: str
    tiles: int
    clock_hz: int
    workers: int
    sram_base: int
    sram_bytes: int
    fetch_guard_bytes: int
    regions: tuple[Region, ...]
    reservations: tuple[Reservation, ...]
    topology: Topology
    exchange: Exchange
    path: str = ""

    @property
    def family(self) -> Family:
        """Kernels, matrix unit and kind of fabric: one family today; another is a class of its own."""
        from tilewright.machine.family import MK2

        return MK2

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 (hexadecimal) of everything that has an effect: all fields but labels and sources."""
        return hashlib.sha256(json.dumps(self.content(), sort_keys=True).encode()).hexdigest()

    def content(self) -> dict[str, Any]:
        """All fields but labels and sources, as plain data: what the digest is made of."""
        table = dataclasses.asdict(self)
        if self.family.name != "mk2":  # files say nothing of the only family they can describe
            table["family"] = self.family.name
        for label in ("name", "path"):
            del table[label]
        for reservation in table["reservations"]:
            del reservation["source"]
        return table

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Machine) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def differences(self, other: Machine) -> list[str]:
        """The fields in which two machines differ, as "workers: 6, 4"; [] for equal ones."""
        mine, theirs = _flat(self.content()), _flat(other.content())
        return [
            f"{key}: {mine.get(key, 'none')}, {theirs.get(key, 'none')}"
            for key in dict.fromkeys((*mine, *theirs))
            if mine.get(key) != theirs.get(key)
        ]

    @property
    def reference(self) -> str:
        """
        What names this machine in a compiled program: its name if a machine of that name and content comes
        with the package, else the path of its file and the beginning of its digest.
        """
        if self.name in names() and self == _shipped(self.name):
            return self.name
        return f"{self.path}@{self.digest[:_DIGEST_DIGITS]}"

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

    def places(self, tile: np.ndarray | int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Physical row, physical column and lane of logical tiles, int64 each."""
        physical = self.physical(tile)
        row, position = np.divmod(physical, fabric.POSITIONS)
        return row, position // fabric.LANES, position % fabric.LANES

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
        words = np.atleast_1d(np.asarray(words, dtype=np.int64))
        return self.family.kernel("patch_rows").cycles(self, words[:, None], ("u32",), {})


def _flat(data: Any, where: str = "") -> dict[str, Any]:
    """Every number and text of nested tables by its dotted name."""
    if isinstance(data, dict):
        items = [(f"{where}.{key}" if where else str(key), value) for key, value in data.items()]
    elif isinstance(data, (list, tuple)) and data and isinstance(data[0], dict):
        items = [(f"{where}[{i}]", value) for i, value in enumerate(data)]
    else:
        return {where: list(data) if isinstance(data, tuple) else data}
    return {name: leaf for key, value in items for name, leaf in _flat(value, key).items()}


# Reading


def _fail(path: Path, message: str, hint: str | None = None, at: str = "") -> typing.NoReturn:
    """Raise MachineError; `at` is the dotted name of the field, whose line is looked up."""
    line = _line_of(path, at)
    raise MachineError(message, location=f"{path}:{line}" if line else str(path), hint=hint)


def _line_of(path: Path, at: str) -> int:
    """The line that writes the field of that dotted name, else that of its table; 0 if there is neither."""
    names = at.removeprefix("machine").removeprefix(".").split(".")
    key = re.sub(r"\[\d+\]$", "", names[-1])
    element = re.fullmatch(r"(\w+)\[(\d+)\]", names[0])
    table, index = (element[1], int(element[2])) if element else (names[0] if len(names) > 1 else "", 0)
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if at else []
    except (OSError, UnicodeDecodeError):
        return 0
    current, seen, best = "", {"": 1}, 0
    for number, line in enumerate(lines, 1):
        header = re.match(r"\s*\[\[?\s*(\w+)", line)
        if header:
            current = header[1]
            seen[current] = seen.get(current, 0) + 1
        if current != table or seen.get(table, 0) != index + 1:
            continue
        if re.match(rf"\s*{re.escape(key)}\s*=", line):
            return number
        if header:
            best = number
    return best


def _too_large(value: Any) -> bool:
    return isinstance(value, int) and value > LARGEST


def _value(path: Path, where: str, kind: Any, value: Any) -> Any:
    """`value` checked against an annotation of the dataclasses above."""
    origin = typing.get_origin(kind)
    if origin is tuple:
        element = typing.get_args(kind)[0]
        if not isinstance(value, list):
            _fail(path, f"{where} must be an array, not {type(value).__name__}", at=where)
        return tuple(_value(path, f"{where}[{i}]", element, v) for i, v in enumerate(value))
    if dataclasses.is_dataclass(kind):
        return _record(path, where, typing.cast(type, kind), value)
    if kind is bool:
        good = isinstance(value, bool)
    elif kind is int:
        good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST
    else:
        good = isinstance(value, kind)
    if not good:
        wanted = {
            int: "an integer from 0 to 2^40" if _too_large(value) else "a non-negative integer",
            bool: "true or false",
            str: "a string",
        }[kind]
        _fail(path, f"{where} must be {wanted}, not {value!r}", at=where)
    return value


def _record(
    path: Path, where: str, kind: type, table: Any, extra: typing.Mapping[str, Any] | None = None
) -> Any:
    """A dataclass from a TOML table; every field named, none left over."""
    if not isinstance(table, dict):
        _fail(path, f"{where} must be a table, not {type(table).__name__}", at=where)
    annotations = typing.get_type_hints(kind)
    given: dict[str, Any] = dict(extra or {})
    fields = [f for f in dataclasses.fields(kind) if f.name not in given]
    known = [f.name for f in fields]
    for name in table:
        if name not in known:
            hint = near(name, known, limit=1) or f"its fields are {', '.join(known)}"
            _fail(path, f"unknown field {name!r} in {where}", hint, f"{where}.{name}")
    for f in fields:
        if f.name not in table:
            _fail(path, f"{where} has no {f.name!r}", at=f"{where}.{f.name}")
        given[f.name] = _value(path, f"{where}.{f.name}", annotations[f.name], table[f.name])
    return kind(**given)


def _within(path: Path, where: str, value: int, low: int, high: int | None = None) -> None:
    """Refuse a number outside of low .. high (inclusive)."""
    if value < low or (high is not None and value > high):
        wanted = f"at least {low:,}" if high is None else f"from {low:,} to {high:,}"
        _fail(path, f"{where} must be {wanted}, not {value:,}", at=where)


def _check(path: Path, machine: Machine) -> None:
    """The consistency that later levels rely on."""
    for name in ("tiles", "clock_hz", "workers"):
        _within(path, f"machine.{name}", getattr(machine, name), 1)
    topology = machine.topology
    if machine.tiles % 2:
        _fail(path, "tiles must be even: two tiles share an exchange bus", at="machine.tiles")
    if topology.rows * len(topology.columns) * fabric.LANES != machine.tiles:
        _fail(
            path,
            f"{topology.rows} rows x {len(topology.columns)} columns x {fabric.LANES} lanes"
            f" are not {machine.tiles} tiles",
            at="machine.tiles",
        )
    if len(dict.fromkeys(topology.columns)) != len(topology.columns) or any(
        c >= fabric.COLUMNS for c in topology.columns
    ):
        _fail(
            path,
            f"topology.columns must be distinct and below {fabric.COLUMNS}",
            at="machine.topology.columns",
        )
    _within(path, "machine.topology.rows", topology.rows, 1, SOURCES // fabric.POSITIONS)
    _check_memory(path, machine)
    exchange = machine.exchange
    for name, most in LIMITS.items():
        _within(path, f"machine.exchange.{name}", getattr(exchange, name), 1, most)
    for name, most in (
        ("phase_overhead", 1 << 32),
        ("lead_in", 1 << 16),
        ("select_lead", 1 << 16),
        ("select_lead_per_row", 1 << 12),
    ):
        _within(path, f"machine.exchange.{name}", getattr(exchange, name), 0, most)
    _within(path, "machine.exchange.paired_min_items", exchange.paired_min_items, 1)
    _within(path, "machine.exchange.neutral_source", exchange.neutral_source, 0, SOURCES - 1)
    if machine.logical(exchange.neutral_source) >= 0:
        _fail(
            path,
            f"machine.exchange.neutral_source {exchange.neutral_source:#x} is the physical id of tile"
            f" {int(machine.logical(exchange.neutral_source))}",
            "give a number that no tile has",
            "machine.exchange.neutral_source",
        )


def _check_memory(path: Path, machine: Machine) -> None:
    """Regions and reservations."""
    if not machine.regions:
        _fail(path, "the machine has no memory region")
    cursor = machine.sram_base
    for i, region in enumerate(machine.regions):
        where = f"machine.regions[{i}]"
        if region.start != cursor:
            _fail(
                path,
                f"region {region.name!r} starts at {region.start:#x}, expected {cursor:#x}",
                at=f"{where}.start",
            )
        if region.end <= region.start or not region.element_bytes:
            _fail(path, f"region {region.name!r} is empty", at=f"{where}.end")
        if region.bytes % region.element_bytes:
            _fail(
                path, f"region {region.name!r} is not a whole number of elements", at=f"{where}.element_bytes"
            )
        if region.element_bytes % ELEMENT_GRAIN or region.start % ELEMENT_GRAIN:
            _fail(
                path,
                f"region {region.name!r}: start and elements must be multiples of {ELEMENT_GRAIN} bytes",
                at=f"{where}.element_bytes",
            )
        _within(path, f"{where}.interleave", region.interleave, 1, 2)
        if region.load_bytes not in (4, 8, 16, 32, 64, 128):
            _fail(
                path,
                f"{where}.load_bytes must be a power of two from 4 to 128, not {region.load_bytes}",
                at=f"{where}.load_bytes",
            )
        if [r.name for r in machine.regions].count(region.name) > 1:
            _fail(path, f"two regions are called {region.name!r}", at=f"{where}.name")
        if region.name not in MEMORY_CLASSES:
            _fail(
                path,
                f"region {region.name!r} is no class of memory",
                f"a region is {' or '.join(MEMORY_CLASSES)}",
                f"{where}.name",
            )
        cursor = region.end
    if cursor != machine.sram_end:
        _fail(
            path,
            f"the regions end at {cursor:#x}, the memory at {machine.sram_end:#x}",
            at="machine.sram_bytes",
        )
    if machine.sram_end > ADDRESS_END:
        _fail(
            path,
            f"the memory ends at {machine.sram_end:#x}; exchange instructions reach {ADDRESS_END:#x}",
            at="machine.sram_bytes",
        )
    if not any(region.executable for region in machine.regions):
        _fail(path, "no region is executable: code has no place", at="machine.regions[0].executable")
    end = machine.sram_base
    for i, taken in sorted(enumerate(machine.reservations), key=lambda item: item[1].start):
        where = f"machine.reservations[{i}]"
        if taken.category not in CATEGORIES:
            _fail(
                path,
                f"reservation {taken.name!r}: {taken.category!r} is no memory category",
                ", ".join(CATEGORIES),
                f"{where}.category",
            )
        if not machine.sram_base <= taken.start < taken.end <= machine.sram_end:
            _fail(path, f"reservation {taken.name!r} is not inside the memory", at=f"{where}.start")
        if taken.start < end:
            _fail(path, f"reservation {taken.name!r} overlaps another one", at=f"{where}.start")
        end = taken.end


def _without_dropped(path: Path, table: dict[str, Any]) -> None:
    """Take the fields that version 2 no longer has from a table of version 1, and add what it did without."""
    if isinstance(table.get("exchange"), dict):
        table["exchange"].setdefault("lead_in", 0)
    for where, value in DROPPED.items():
        *tables, key = where.removeprefix("machine.").split(".")
        holder: Any = table
        for name in tables:
            holder = holder.get(name) if isinstance(holder, dict) else None
        if not isinstance(holder, dict) or key not in holder:
            continue
        if holder.pop(key) != value:
            _fail(
                path,
                f"{where} is not {value:#x}" if value > 64 else f"{where} is not {value}",
                f"it is the only value that version 1 knew, and never had an effect; version {VERSION} has no"
                " such field",
                where,
            )


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
    if version == 1:
        _without_dropped(path, table)
    machine = _record(path, "machine", Machine, table, {"path": str(path)})
    _check(path, machine)
    return machine


def agree(first: str, second: str) -> Machine:
    """
    The machine that two names, paths or references stand for, loaded from the first of them. MachineError if
    they differ in content, with the fields.
    """
    machine = load(first)
    if first == second:
        return machine
    source, digest = split_reference(second)
    if digest is not None and machine.digest.startswith(digest):
        return machine  # its file may have moved since
    other = load(second)
    if other != machine:
        fields = machine.differences(other)
        more = f" and {len(fields) - 4} more" if len(fields) > 4 else ""
        raise MachineError(
            f"{first} and {source} are different machines",
            notes=(f"they differ in {'; '.join(fields[:4])}{more}",),
        )
    return machine


def split_reference(text: str) -> tuple[str, str | None]:
    """Name or path, and the beginning of the digest where the reference has one."""
    found = re.fullmatch(rf"(.+)@([0-9a-f]{{{_DIGEST_DIGITS}}})", text)
    return (found[1], found[2]) if found else (text, None)


def names() -> tuple[str, ...]:
    """Names of the machines that come with the package."""
    return tuple(sorted(p.stem for p in _FOLDER.glob("*.toml")))


@functools.cache
def _shipped(name: str) -> Machine:
    return read(_FOLDER / f"{name}.toml")


def load(name_or_path: str | Path) -> Machine:
    """
    The machine of that name (c600, t4, t16, t64), or the one in a TOML file.

    Anything with a path separator or ending in `.toml` is a path; "@" and the beginning of a digest behind
    it say what the file has to contain (`Machine.reference`). Raises MachineError.
    """
    text, digest = split_reference(str(name_or_path))
    if digest is not None:
        machine = load(text)
        if not machine.digest.startswith(digest):
            raise MachineError(
                "the machine file is not the one that the program was compiled for",
                location=machine.path,
                notes=(f"the program names digest {digest}, the file has {machine.digest[:_DIGEST_DIGITS]}",),
                hint="compile again, or give the file as it was with --machine",
            )
        return machine
    if text in names():
        return _shipped(text)
    if isinstance(name_or_path, Path) or text.endswith(".toml") or "/" in text:
        return read(Path(text))
    raise MachineError(
        f"unknown machine {text!r}",
        hint=f"known machines are {', '.join(names())}; or give the path of a TOML file",
    )
