# SPDX-License-Identifier: Apache-2.0
"""
The machine description: one frozen value, seen by every level; `machine.files` reads it from TOML.

Nothing outside `tilewright.machine` holds a machine number. The file format is in docs/spec/machine-file.md;
every number in the shipped files carries a comment with its source.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import typing
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilewright.diagnostics import TileError
from tilewright.machine import topology as fabric

if typing.TYPE_CHECKING:
    from tilewright.machine.family import Family

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
DIGEST_DIGITS = 16
"""Hexadecimal digits of a digest in a reference."""


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
        from tilewright.machine import files  # it makes machines

        if self.name in files.names() and self == files.load(self.name):
            return self.name
        return f"{self.path}@{self.digest[:DIGEST_DIGITS]}"

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
