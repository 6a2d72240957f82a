# SPDX-License-Identifier: Apache-2.0
"""
The allocation problem as data: what lives in a tile's memory, when, and which ranges there are.

A *buffer* is live from event `first` to event `last`, both included, and has one address on every tile that
holds it. A sequence is one buffer of `count` members, `stride` bytes apart. Which tiles hold it is said per
*class* of tiles with equal buffer sets: two buffers that no class holds together may share bytes at any time.

The rules of a placement:

- a buffer, its members and its guard lie inside one available range, its tail inside the region of that
  range;
- addresses are multiples of the alignment; `memory` names a region, or "executable", or "any";
- two buffers that are live at one event on one tile share no byte;
- those in `separate` share no memory element while both are live there (the bytes of a tail count here);
- an `exclusive` buffer shares no element with anything that is live with it;
- no element holds a tensor and code (which includes tables that are executed) at one time;
- an alias lies `offset` bytes into the buffer it names and may overlap it;
- a pinned buffer lies where it is pinned;
- of each group of alternatives one option is chosen; buffers of the others are not placed.

No machine number is here: a problem brings its regions along and can be solved from its file alone.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from tilewright import limits
from tilewright.diagnostics import TileError
from tilewright.json_text import read_json, unknown_key
from tilewright.machine import Machine
from tilewright.suggestions import near

PROBLEM_FORMAT = "tilewright-allocation-problem"
SOLUTION_FORMAT = "tilewright-allocation"
VERSION = 1

KINDS = ("tensor", "code", "data")
"""
What a buffer holds: "code" is fetched (kernels, supervisor, exchange rows), "data" is read and shares with
all.
"""


class ProblemError(TileError):
    """A problem that contradicts itself, or a file that holds none."""


@dataclass(frozen=True)
class Region:
    """A part of a tile's memory, `end` exclusive; elements count from `start`."""

    name: str
    start: int
    end: int
    element_bytes: int
    executable: bool = False


@dataclass(frozen=True)
class TileClass:
    """`tiles` tiles with the same buffers; `tile` is the first of them."""

    tile: int = 0
    tiles: int = 1


@dataclass(frozen=True)
class Buffer:
    """
    One request. `nbytes` is the size of one member, the largest over tiles; `classes` are the indices of the
    classes that hold it, empty for all. `at` pins the address (-1: free). `source`, `layout` and `reason`
    (why it is alive) are for people.
    """

    name: str
    nbytes: int
    first: int
    last: int
    count: int = 1
    stride: int = 0
    alignment: int = 8
    memory: str = "any"
    prefer: str = "any"
    tail: int = 0
    guard: int = 0
    kind: str = "tensor"
    exclusive: bool = False
    classes: tuple[int, ...] = ()
    alias: str = ""
    offset: int = 0
    at: int = -1
    category: str = "staging"
    source: str = ""
    layout: str = ""
    reason: str = ""

    @property
    def extent(self) -> int:
        """Bytes from the first byte of the first member to the last of the last one."""
        return self.stride * (self.count - 1) + self.nbytes if self.count > 0 else 0

    def live_at(self, event: int) -> bool:
        return self.first <= event <= self.last

    def meets(self, other: Buffer) -> bool:
        """Live at a common event, on a common class of tiles."""
        if self.first > other.last or other.first > self.last:
            return False
        return not self.classes or not other.classes or not set(self.classes).isdisjoint(other.classes)


@dataclass(frozen=True)
class Option:
    """One choice of an alternative: the buffers that exist if it is taken."""

    name: str
    buffers: tuple[str, ...]


@dataclass(frozen=True)
class Alternative:
    """Exactly one of `options` is taken; the order is the order of preference."""

    name: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Problem:
    """Buffers, pairs of names that need separate elements, ranges (start, end) and what the events are."""

    buffers: tuple[Buffer, ...]
    ranges: tuple[tuple[int, int], ...]
    separate: tuple[tuple[str, str], ...] = ()
    regions: tuple[Region, ...] = ()
    classes: tuple[TileClass, ...] = (TileClass(),)
    alternatives: tuple[Alternative, ...] = ()
    together: tuple[tuple[str, str], ...] = ()
    """
    Pairs that may share bytes although both are live: only used to try what a removed overlap would give.
    """
    events: tuple[tuple[int, str], ...] = ()
    """(event, what happens there), ascending; events without a text take the one before."""
    name: str = ""
    machine: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "regions", self.regions or _one_region(self.ranges))

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of each buffer by name."""
        return {buffer.name: i for i, buffer in enumerate(self.buffers)}

    @property
    def capacity(self) -> int:
        """Bytes of all ranges."""
        return sum(end - start for start, end in self.ranges)

    def buffer(self, name: str) -> Buffer:
        return self.buffers[self.index[name]]

    def region_of(self, address: int) -> Region | None:
        return next((r for r in self.regions if r.start <= address < r.end), None)

    def ranges_for(self, buffer: Buffer) -> tuple[tuple[int, int], ...]:
        """The ranges whose region suits the buffer's memory class."""
        return tuple(r for r in self.ranges if _suits(self.region_of(r[0]), buffer.memory))

    def event_text(self, event: int) -> str:
        text = ""
        for number, label in self.events:
            if number > event:
                break
            text = label
        return text

    def choose(self, choices: Sequence[int]) -> Problem:
        """The problem without alternatives in which these options are taken."""
        gone: set[str] = set()
        kept: set[str] = set()
        for alternative, choice in zip(self.alternatives, choices, strict=True):
            for number, option in enumerate(alternative.options):
                (kept if number == choice else gone).update(option.buffers)
        dropped = gone - kept
        return self.without(dropped)

    def without(self, names: set[str]) -> Problem:
        """The problem without some buffers and without alternatives."""
        return replace(
            self,
            buffers=tuple(b for b in self.buffers if b.name not in names),
            separate=tuple(p for p in self.separate if not names & set(p)),
            together=tuple(p for p in self.together if not names & set(p)),
            alternatives=(),
        )

    def check(self) -> None:
        """Raise ProblemError where the problem contradicts itself."""
        _check(self)

    # -- files

    def to_json(self) -> dict[str, Any]:
        """The problem as JSON data; fields at their default are left out."""
        return {
            "format": PROBLEM_FORMAT,
            "version": VERSION,
            "name": self.name,
            "machine": self.machine,
            "regions": [_sparse(r) for r in self.regions],
            "ranges": [list(r) for r in self.ranges],
            "classes": [[c.tile, c.tiles] for c in self.classes],
            "buffers": [_sparse(b) for b in self.buffers],
            "separate": [list(p) for p in self.separate],
            "together": [list(p) for p in self.together],
            "alternatives": [
                {"name": a.name, "options": [{"name": o.name, "buffers": list(o.buffers)} for o in a.options]}
                for a in self.alternatives
            ],
            "events": [[number, text] for number, text in self.events],
        }

    def write(self, path: Path) -> None:
        path.write_text(dumps(self.to_json()), encoding="utf-8")

    @classmethod
    def from_json(cls, data: object, where: str = "problem") -> Problem:
        """The problem in JSON data; ProblemError says what is wrong with it."""
        table = _header(data, PROBLEM_FORMAT, where, PROBLEM_KEYS)
        try:
            problem = cls(
                buffers=tuple(_buffer(b, where) for b in table["buffers"]),
                ranges=tuple((int(a), int(b)) for a, b in table["ranges"]),
                separate=tuple((str(a), str(b)) for a, b in table.get("separate", ())),
                regions=tuple(_known(Region, r, where) for r in table.get("regions", ())),
                classes=tuple(TileClass(int(a), int(b)) for a, b in table.get("classes", ()))
                or (TileClass(),),
                alternatives=tuple(
                    Alternative(
                        str(a["name"]),
                        tuple(Option(str(o["name"]), tuple(map(str, o["buffers"]))) for o in a["options"]),
                    )
                    for a in table.get("alternatives", ())
                ),
                together=tuple((str(a), str(b)) for a, b in table.get("together", ())),
                events=tuple((int(e), str(text)) for e, text in table.get("events", ())),
                name=str(table.get("name", "")),
                machine=str(table.get("machine", "")),
            )
        except ProblemError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            text = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise ProblemError(f"{where} is not an allocation problem: {text}") from error
        problem.check()
        return problem

    @classmethod
    def read(cls, path: Path) -> Problem:
        """The problem in a file. Raises OSError or ProblemError."""
        try:
            data = read_json(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ProblemError(f"{path} is not JSON: {error}") from error
        return cls.from_json(data, str(path))


@dataclass(frozen=True)
class Solution:
    """
    A placement. `addresses` by buffer, None where an alternative left it out; `choices` the option of each
    alternative. `used` are the bytes that any buffer holds at any time on the fullest class, `lower_bound`
    the largest number live at one event; `packing` says which order found it after how many `nodes` (one
    buffer placed is one node).
    """

    addresses: tuple[int | None, ...]
    choices: tuple[int, ...] = ()
    used: int = 0
    lower_bound: int = 0
    nodes: int = 0
    packing: str = ""

    @property
    def quality(self) -> float:
        """Used bytes over the lower bound; 1 is perfect."""
        return self.used / self.lower_bound if self.lower_bound else 1.0

    def to_json(self, problem: Problem) -> dict[str, Any]:
        return {
            "format": SOLUTION_FORMAT,
            "version": VERSION,
            "problem": problem.name,
            "addresses": {b.name: a for b, a in zip(problem.buffers, self.addresses, strict=True)},
            "choices": {
                a.name: a.options[c].name for a, c in zip(problem.alternatives, self.choices, strict=True)
            },
            "used_bytes": self.used,
            "lower_bound_bytes": self.lower_bound,
            "used_over_lower_bound": round(self.quality, 6),
            "nodes": self.nodes,
            "packing": self.packing,
        }

    @classmethod
    def from_json(cls, data: object, problem: Problem, where: str = "solution") -> Solution:
        table = _header(data, SOLUTION_FORMAT, where, SOLUTION_KEYS)
        names = [option.name for a in problem.alternatives for option in a.options]
        try:
            given = table["addresses"]
            choices = tuple(
                [o.name for o in a.options].index(table["choices"][a.name]) for a in problem.alternatives
            )
            addresses = tuple(
                None if given.get(b.name) is None else int(given[b.name]) for b in problem.buffers
            )
            numbers = [int(table.get(key, 0)) for key in ("used_bytes", "lower_bound_bytes", "nodes")]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ProblemError(
                f"{where} is not an allocation of problem {problem.name!r}: {error}", notes=names[:3]
            ) from error
        for b, address in zip(problem.buffers, addresses, strict=True):
            if address is not None and not 0 <= address <= limits.ADDRESS:
                raise ProblemError(f"{where}: {b.name!r} is at {address}, outside of all memory")
        return cls(addresses, choices, *numbers, packing=str(table.get("packing", "")))


# -- from a machine


def regions_of(machine: Machine) -> tuple[Region, ...]:
    """The machine's regions as a problem states them."""
    return tuple(Region(r.name, r.start, r.end, r.element_bytes, r.executable) for r in machine.regions)


def dumps(data: Mapping[str, Any]) -> str:
    """JSON with one list item a line: short, and a change shows as one line."""
    lines: list[str] = []
    for key, value in data.items():
        if isinstance(value, list) and value:
            items = ",\n".join("  " + json.dumps(item, ensure_ascii=False) for item in value)  # pyright: ignore[reportUnknownVariableType]
            lines.append(f" {json.dumps(key)}: [\n{items}\n ]")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


# -- inside


def _one_region(ranges: Sequence[tuple[int, int]]) -> tuple[Region, ...]:
    """Without regions all ranges are in one, of elements so large that they separate nothing."""
    if not ranges:
        return ()
    start, end = min(a for a, _ in ranges), max(b for _, b in ranges)
    return (Region("standard", start, end, max(1, end - start), True),)


def _suits(region: Region | None, memory: str) -> bool:
    if memory == "any":
        return True
    return region is not None and (region.executable if memory == "executable" else region.name == memory)


PROBLEM_KEYS = (
    *("format", "version", "name", "machine", "regions", "ranges", "classes", "buffers"),
    *("separate", "together", "alternatives", "events"),
)
SOLUTION_KEYS = (
    *("format", "version", "problem", "addresses", "choices", "used_bytes", "lower_bound_bytes"),
    *("used_over_lower_bound", "nodes", "packing", "fits", "diagnosis"),
)


def _header(data: object, kind: str, where: str, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(data, dict) or data.get("format") != kind:
        raise ProblemError(f'{where} has no "format": "{kind}"')
    version = data.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ProblemError(f"{where}: version must be a positive integer, not {version!r}")
    if version > VERSION:
        raise ProblemError(f"{where} has version {version}; this reader knows {kind} up to version {VERSION}")
    fault = unknown_key(data, known, where)
    if fault is not None:
        raise ProblemError(fault[0], hint=fault[1])
    return data


def _sparse(value: Any) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for item in fields(value):
        given = getattr(value, item.name)
        if item.default is MISSING or given != item.default:
            result[item.name] = list(given) if isinstance(given, tuple) else given
    return result


_PLAIN = {"int": int, "bool": bool, "str": str}


def _known(cls: type[Any], data: Any, where: str) -> Any:
    names = {f.name: f for f in fields(cls)}
    unknown = [key for key in data if key not in names]
    if unknown:
        raise ProblemError(
            f"{where}: unknown field {unknown[0]!r}",
            hint=near(unknown[0], names) or "known: " + ", ".join(names),
        )
    for key, value in data.items():
        kind = str(names[key].type)
        several = re.fullmatch(r"tuple\[(\w+), \.\.\.\]", kind)
        wanted = _PLAIN[several[1] if several else kind]
        given = value if several else [value]
        if not isinstance(given, (list, tuple)) or any(type(item) is not wanted for item in given):
            raise ProblemError(f"{where}: {key} of {data.get('name', cls.__name__)!r} cannot be {value!r}")
    return cls(**{key: tuple(v) if isinstance(v, list) else v for key, v in data.items()})


def _buffer(data: Any, where: str) -> Buffer:
    return _known(Buffer, data, where)


def _check(problem: Problem) -> None:
    def fail(text: str) -> None:
        raise ProblemError(text)

    names = problem.index
    if len(names) != len(problem.buffers):
        twice = next(b.name for i, b in enumerate(problem.buffers) if names[b.name] != i)
        fail(f"two buffers are named {twice!r}")
    kinds = ("any", "executable", *(r.name for r in problem.regions))
    for region in problem.regions:
        if not 0 <= region.start < region.end <= limits.ADDRESS or region.element_bytes < 1:
            fail(f"region {region.name!r} is empty, or not below {limits.ADDRESS:#x}, or has no elements")
        if (region.end - region.start) // region.element_bytes > limits.MEMORY_ELEMENTS:
            fail(f"region {region.name!r} has more than {limits.MEMORY_ELEMENTS} memory elements")
    for b in problem.buffers:
        numbers = (b.nbytes, b.count, b.stride, b.alignment, b.tail, b.guard, b.offset, b.at)
        if max(*numbers, b.extent) > limits.ADDRESS:
            fail(f"{b.name!r} has a number beyond {limits.ADDRESS}, the end of all memory")
        if not -limits.EVENTS <= min(b.first, b.last) <= max(b.first, b.last) <= limits.EVENTS:
            fail(f"{b.name!r} is live at an event beyond {limits.EVENTS}")
        if b.at < -1:
            fail(f"{b.name!r} is pinned to the address {b.at}")
        if b.nbytes < 0 or b.tail < 0 or b.guard < 0 or b.offset < 0 or b.count < 0:
            fail(f"{b.name!r} has a negative size")
        if b.first > b.last:
            fail(f"{b.name!r} is live from {b.first} to {b.last}")
        if b.alignment < 1:
            fail(f"{b.name!r} has alignment {b.alignment}")
        if b.count > 1 and (b.stride < b.nbytes or b.stride % b.alignment):
            fail(
                f"{b.name!r}: a stride of {b.stride} for members of {b.nbytes} bytes aligned to {b.alignment}"
            )
        if b.memory not in kinds or b.prefer not in kinds:
            fail(f"{b.name!r}: memory is one of {', '.join(kinds)}")
        if b.kind not in KINDS:
            fail(f"{b.name!r}: kind is one of {', '.join(KINDS)}")
        if any(not 0 <= c < len(problem.classes) for c in b.classes):
            fail(f"{b.name!r} names a class that is not there")
        if b.alias and (b.alias not in names or problem.buffer(b.alias).alias):
            fail(f"{b.name!r} is an alias of {b.alias!r}, which is no buffer of its own")
    for pair in (*problem.separate, *problem.together):
        for name in pair:
            if name not in names:
                fail(f"{name!r} is no buffer")
    owner: dict[str, str] = {}
    for alternative in problem.alternatives:
        if not alternative.options:
            fail(f"alternative {alternative.name!r} has no options")
        for option in alternative.options:
            for name in option.buffers:
                if name not in names:
                    fail(f"option {option.name!r} names {name!r}, which is no buffer")
                if owner.setdefault(name, alternative.name) != alternative.name:
                    fail(f"{name!r} belongs to two alternatives")
    for tiles in problem.classes:
        if not 0 <= tiles.tile <= limits.TILES or not 1 <= tiles.tiles <= limits.TILES:
            fail(f"a class of {tiles.tiles} tiles from tile {tiles.tile}")
    ordered = sorted(problem.ranges)
    for (_, end), (start, _) in pairwise(ordered):
        if start < end:
            fail("two ranges overlap")
    for start, end in ordered:
        region = problem.region_of(start)
        if start >= end or region is None or end > region.end:
            fail(f"range {start:#x} to {end:#x} is not inside one region")
    for b in problem.buffers:
        if b.at >= 0 and not any(start <= b.at <= b.at + b.extent <= end for start, end in ordered):
            fail(f"{b.name!r} of {b.extent} bytes is pinned to {b.at:#x}, which leaves the available memory")


def combinations(problem: Problem, limit: int) -> list[tuple[int, ...]]:
    """Choices of options, the preferred first, at most `limit` of them."""
    sizes = [len(a.options) for a in problem.alternatives]
    total = math.prod(sizes)
    found: list[tuple[int, ...]] = []
    for number in range(min(total, limit)):
        choice: list[int] = []
        for size in reversed(sizes):
            number, digit = divmod(number, size)
            choice.append(digit)
        found.append(tuple(reversed(choice)))
    return found


__all__ = [
    "KINDS",
    "PROBLEM_FORMAT",
    "SOLUTION_FORMAT",
    "VERSION",
    "Alternative",
    "Buffer",
    "Option",
    "Problem",
    "ProblemError",
    "Region",
    "Solution",
    "TileClass",
    "combinations",
    "dumps",
    "regions_of",
]
