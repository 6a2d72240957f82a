# SPDX-License-Identifier: Apache-2.0
"""
Why a problem has no placement: a proof, or what stands in the way; and what would fit, each tried before it
is said.

Proofs first, from the plainest: a buffer larger than the largest range it may lie in; more bytes live at one
event than there are. Where neither holds, one rule after the other is lifted (element separation, memory
class, alignment) until a placement is found: that rule is what the program runs into. What remains is
fragmentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tilewright.diagnostics import TileError
from tilewright.planning.memory.bounds import Payload, live_buffers, lower_bound, memories, payloads
from tilewright.planning.memory.check import pinned_faults
from tilewright.planning.memory.place import Unplaced, allocate
from tilewright.planning.memory.problem import (
    Buffer,
    Problem,
    ProblemError,
    Region,
    Solution,
    combinations,
)

TRIAL_NODES = 60_000
"""Units placed in one trial of a suggestion."""
PIECES = 128
"""Where bytes are free but in pieces, a plan that takes so small a part of the memory less may be placed."""
LARGEST = 10
"""Live buffers that are named."""
TRIALS = 6
"""Removed overlaps that are tried."""


@dataclass(frozen=True)
class Tried:
    """
    A change that was tried, and whether all fits with it; `spare` bytes are then free at the fullest event.
    """

    text: str
    fits: bool
    spare: int

    def __str__(self) -> str:
        if not self.fits:
            return f"tried: {self.text}: it still does not fit" + (
                f" ({-self.spare} bytes short)" if self.spare < 0 else ""
            )
        return f"it fits with {self.spare} bytes to spare if {self.text}"


@dataclass(frozen=True)
class Diagnosis:
    """
    What is wrong: `kind` is capacity, contiguous, region, executable, element, alignment, pin, alternatives
    or fragmentation; `proof` says that no order of allocation can help. `tile` and the number of
    `other_tiles` where it is so, the `event` and its text, bytes live, available and short there, the largest
    live buffers; `hole`: largest free range for the `missing` buffer of an attempt, `unplaced` bytes without
    a place; `tried` changes.
    """

    kind: str
    proof: bool
    text: str
    tile: int
    other_tiles: int
    event: int
    event_text: str
    memory: str
    live: int
    available: int
    largest: tuple[Buffer, ...]
    missing: Buffer | None = None
    hole: int = 0
    unplaced: int = 0
    tried: tuple[Tried, ...] = ()

    @property
    def short(self) -> int:
        return max(0, self.live - self.available)

    @property
    def lacking(self) -> int:
        """By how many bytes another plan should be smaller to be worth placing."""
        return self.short if self.proof else max(64, self.available // PIECES)

    def notes(self) -> tuple[str, ...]:
        """The facts as lines."""
        where = f"event {self.event}" + (f" ({self.event_text})" if self.event_text else "")
        others = f" and {self.other_tiles} others" if self.other_tiles else ""
        kind = "" if self.memory == "any" else f" {self.memory}"
        lines = [
            f"on tile {self.tile}{others} at {where}: {self.live} bytes live,"
            f" {self.available}{kind} bytes available"
        ]
        if self.proof and self.short:
            lines[0] += f", {self.short} short"
        if self.proof:
            lines.append("no order of allocation can help")
        elif self.missing is not None:
            lines.append(
                f"largest hole for '{self.missing.name}' is {self.hole} bytes, {self.missing.extent} needed;"
                f" {self.available - self.live} bytes free there, {self.unplaced} bytes not yet placed"
            )
        for b in self.largest:
            size = f"{b.extent:>9} bytes  {b.category:<12} {b.name}"
            if b.count > 1:
                size += f" ({b.count} x {b.nbytes}, every {b.stride})"
            facts = ", ".join(
                t for t in (b.source and f"at {b.source}", b.layout and f"layout {b.layout}", b.reason) if t
            )
            lines.append(size + (f": {facts}" if facts else ""))
        lines += [str(t) for t in self.tried if not t.fits]
        return tuple(lines)

    def hint(self) -> str | None:
        good = [str(t) for t in self.tried if t.fits]
        return "; ".join(good) if good else None

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "proof": self.proof,
            "text": self.text,
            "tile": self.tile,
            "other_tiles": self.other_tiles,
            "event": self.event,
            "event_text": self.event_text,
            "memory": self.memory,
            "live_bytes": self.live,
            "available_bytes": self.available,
            "short_bytes": self.short,
            "largest": [
                {"name": b.name, "bytes": b.extent, "category": b.category, "reason": b.reason}
                for b in self.largest
            ],
            "missing": self.missing.name if self.missing is not None else None,
            "largest_hole_bytes": self.hole,
            "unplaced_bytes": self.unplaced,
            "tried": [{"change": t.text, "fits": t.fits, "spare_bytes": t.spare} for t in self.tried],
        }


FRAGMENTED = "fragmentation", "the bytes are there, but in pieces (fragmentation)"
"""Kind and text of what is left where nothing else is to blame."""


class AllocationError(TileError):
    """A problem that has no placement, or none that was found; `diagnosis` says which."""

    def __init__(self, diagnosis: Diagnosis, *, location: object | None = None) -> None:
        super().__init__(diagnosis.text, location=location, notes=diagnosis.notes(), hint=diagnosis.hint())
        self.diagnosis = diagnosis


def solve(problem: Problem, nodes: int | None = None) -> Solution:
    """`allocate`, with a diagnosis where it fails. Raises AllocationError, ProblemError where pins clash."""
    refuse_pins(problem)
    try:
        return allocate(problem) if nodes is None else allocate(problem, nodes)
    except Unplaced as failed:
        raise AllocationError(explain(problem, failed)) from None


def refuse_pins(problem: Problem) -> None:
    """ProblemError where what is pinned breaks a rule by itself: no search would end in a placement."""
    faults = pinned_faults(problem)
    if faults:
        raise ProblemError(
            f"what is pinned cannot stay there: {faults[0]}", notes=[str(f) for f in faults[1:5]]
        )


def refusals(problem: Problem) -> list[tuple[Buffer, str]]:
    """
    Buffers that exceed the largest range they may lie in: no plan that holds one can be placed, whatever else
    is there.
    """
    found: list[tuple[Buffer, str]] = []
    for b in problem.buffers:
        largest = _largest_range(problem, b)
        need = b.extent + b.guard
        if need > largest:
            what = (
                f"sequence of {b.count} x {b.nbytes} bytes, {need} in all,"
                if b.count > 1
                else f"{need} bytes"
            )
            kind = "" if b.memory == "any" else f" of {b.memory} memory"
            found.append((b, f"{b.name}: {what} exceed the largest contiguous range{kind}, {largest} bytes"))
    return found


def spare(problem: Problem) -> int:
    """Bytes that are free at the fullest event of the fullest tile; negative where they are short."""
    return min(
        (p.available - p.live for memory in memories(problem) for p in payloads(problem, memory)),
        default=problem.capacity,
    )


def proofs(problem: Problem) -> list[Payload]:
    """Every memory and class of tiles in which more is live at an event than there is, the shortest first."""
    found = [p for memory in memories(problem) for p in payloads(problem, memory) if p.short > 0]
    return sorted(found, key=lambda p: (p.memory != "any", -p.short, p.number))


def explain(
    problem: Problem,
    failed: Unplaced,
    suggestions: Sequence[tuple[str, Problem]] = (),
    *,
    thorough: bool = True,
) -> Diagnosis:
    """
    Why the attempt `failed`. `suggestions` are changed problems with what was changed, in words that follow
    "if"; each is tried. Not `thorough`: nothing is tried.
    """
    if problem.alternatives:
        # The option with the least to place is nearest; the rest is said of it.
        best = min(combinations(problem, 64), key=lambda c: lower_bound(problem.choose(c)))
        names = [a.options[o].name for a, o in zip(problem.alternatives, best, strict=True)]
        inner = explain(problem.choose(best), failed, suggestions, thorough=thorough)
        return replace(
            inner,
            kind="alternatives",
            text=f"no alternative fits; nearest is {', '.join(names)}: {inner.text}",
        )
    refused = refusals(problem)
    short = proofs(problem)
    if refused and not (short and short[0].memory == "any"):
        buffer, text = refused[0]
        number = buffer.classes[0] if buffer.classes else 0
        event = buffer.first
        payload = Payload(
            event, number, buffer.memory, buffer.extent + buffer.guard, _largest_range(problem, buffer)
        )
        return _diagnosis(problem, "contiguous", True, text, payload, (), buffer)
    if short:
        worst = short[0]
        others = [p for p in short if p.memory == worst.memory]
        kind = {"any": "capacity", "executable": "executable"}.get(worst.memory, "region")
        name = "tile memory" if worst.memory == "any" else f"{worst.memory} memory"
        text = f"{name} is {worst.short} bytes short"
        tried = _try(problem, worst, suggestions) if thorough else ()
        return _diagnosis(problem, kind, True, text, worst, tried, None, others)
    missing = _missing(failed)
    fullest = max(
        (p for p in payloads(failed.problem, "any")),
        key=lambda p: p.live,
        default=Payload(0, 0, "any", 0, problem.capacity),
    )
    if missing is not None:
        at = max(range(missing.first, missing.last + 1), key=lambda e: _load(problem, missing, e))
        number = missing.classes[0] if missing.classes else fullest.number
        live = sum(b.extent + b.guard for b in live_buffers(problem, at, number))
        fullest = Payload(at, number, "any", live, problem.capacity)
    kind, why = _binding(problem) if thorough else FRAGMENTED
    subject = f"{missing.name}: {missing.extent} bytes" if missing is not None else "the program"
    text = f"{subject} found no place: {why}"
    tried = _try(problem, fullest, suggestions) if thorough else ()
    result = _diagnosis(problem, kind, False, text, fullest, tried, missing)
    unplaced = sum(
        b.extent for b, a in zip(failed.problem.buffers, failed.solution.addresses, strict=True) if a is None
    )
    return replace(result, hole=_largest_hole(failed, missing), unplaced=unplaced)


def _largest_range(problem: Problem, b: Buffer) -> int:
    usable = [end - -(-start // b.alignment) * b.alignment for start, end in problem.ranges_for(b)]
    return max(usable, default=0)


def _load(problem: Problem, missing: Buffer, event: int) -> int:
    return sum(b.extent for b in problem.buffers if b.live_at(event) and b.meets(missing))


def _diagnosis(
    problem: Problem,
    kind: str,
    proof: bool,
    text: str,
    at: Payload,
    tried: tuple[Tried, ...],
    missing: Buffer | None,
    others: Sequence[Payload] = (),
) -> Diagnosis:
    tiles = sum(problem.classes[p.number].tiles for p in others) or problem.classes[at.number].tiles
    if kind == "contiguous" and missing is not None:
        tiles = sum(
            c.tiles for i, c in enumerate(problem.classes) if not missing.classes or i in missing.classes
        )
    return Diagnosis(
        kind,
        proof,
        text,
        problem.classes[at.number].tile,
        tiles - 1,
        at.event,
        problem.event_text(at.event),
        at.memory,
        at.live,
        at.available,
        tuple(live_buffers(problem, at.event, at.number, at.memory)[:LARGEST]),
        missing,
        tried=tried,
    )


def _missing(failed: Unplaced) -> Buffer | None:
    """The largest buffer that the attempt left without a place."""
    left = [b for b, a in zip(failed.problem.buffers, failed.solution.addresses, strict=True) if a is None]
    return max(left, key=lambda b: (b.extent, b.name), default=None)


def _largest_hole(failed: Unplaced, missing: Buffer | None) -> int:
    """Largest free piece of a range that suits the missing buffer, during its life, in the attempt."""
    if missing is None:
        return 0
    problem = failed.problem
    busy = sorted(
        (a, a + b.extent + b.guard)
        for b, a in zip(problem.buffers, failed.solution.addresses, strict=True)
        if a is not None and b.extent and b.meets(missing)
    )
    best = 0
    for start, end in problem.ranges_for(missing):
        cursor = start
        for low, high in [*busy, (end, end)]:
            if low >= start:
                best = max(best, min(low, end) - cursor)
            cursor = max(cursor, min(high, end))
    return max(best, 0)


def _binding(problem: Problem) -> tuple[str, str]:
    """The rule without which a placement is found."""
    regions = tuple(Region(r.name, r.start, r.end, 1, r.executable) for r in problem.regions)
    lifted = (
        (
            "element",
            "buffers that need separate memory elements leave no room",
            replace(
                problem,
                separate=(),
                regions=regions,
                buffers=tuple(replace(b, exclusive=False) for b in problem.buffers),
            ),
        ),
        (
            "alignment",
            "alignment leaves no room",
            replace(problem, buffers=tuple(replace(b, alignment=1) for b in problem.buffers)),
        ),
        (
            "region",
            "buffers that are bound to one region leave no room",
            replace(
                problem, buffers=tuple(replace(b, memory="any") for b in problem.buffers if b.kind != "code")
            ),
        ),
        (
            "pin",
            "pinned addresses leave no room",
            replace(problem, buffers=tuple(replace(b, at=-1) for b in problem.buffers)),
        ),
    )
    for kind, text, easier in lifted:
        if easier != problem and _fits(easier):
            return kind, text
    return FRAGMENTED


def _fits(problem: Problem) -> bool:
    if any(p.short > 0 for p in payloads(problem, "any")):
        return False
    try:
        allocate(problem, TRIAL_NODES, polish=0)
    except Unplaced:
        return False
    return True


def _try(problem: Problem, at: Payload, suggestions: Sequence[tuple[str, Problem]]) -> tuple[Tried, ...]:
    """
    Changes, each tried: those given, then overlaps of the largest buffers at the event that are not resident.
    """
    tried = [Tried(text, _fits(changed), spare(changed)) for text, changed in suggestions]
    resident = max((b.last for b in problem.buffers), default=0)
    movable = [
        b
        for b in live_buffers(problem, at.event, at.number)
        if not (b.first == 0 and b.last == resident) or len(problem.buffers) < 3
    ][:LARGEST]
    pairs = [(a, b) for i, a in enumerate(movable) for b in movable[i + 1 :]]
    pairs.sort(key=lambda p: -min(p[0].extent, p[1].extent))
    for a, b in pairs[:TRIALS]:
        apart = replace(problem, together=(*problem.together, (a.name, b.name)))
        tried.append(Tried(f"'{a.name}' and '{b.name}' are not live at once", _fits(apart), spare(apart)))
        if tried[-1].fits:
            break
    failed = [t for t in tried if not t.fits]
    return (*(t for t in tried if t.fits), *failed[:3])
