# SPDX-License-Identifier: Apache-2.0
"""
Whether a placement keeps the rules of `planning.memory.problem`. Shares no code with the allocator.

The allocator goes from lives to distances to addresses; this goes from addresses that two buffers share to
whether they ever meet, so that a mistake in one does not hide in the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.planning.memory.problem import Buffer, Problem, Region


@dataclass(frozen=True)
class Fault:
    """
    One broken rule: which, of which buffers, in words; `event` and the first `tile` of the class where it
    shows.
    """

    rule: str
    """alignment, range, region, tail, alias, pin, overlap, element, executable, choice or size."""
    buffers: tuple[str, ...]
    text: str
    event: int | None = None
    tile: int | None = None

    def __str__(self) -> str:
        where = "" if self.event is None else f" (event {self.event}, tile {self.tile})"
        return f"{self.text}{where}"


def check(problem: Problem, addresses: Sequence[int | None], choices: Sequence[int] = ()) -> list[Fault]:
    """All broken rules, each pair of buffers once; empty if the placement is legal."""
    faults: list[Fault] = []
    if len(addresses) != len(problem.buffers):
        return [Fault("choice", (), f"{len(addresses)} addresses for {len(problem.buffers)} buffers")]
    absent = _absent(problem, choices, faults)
    placed: list[tuple[Buffer, int]] = []
    for buffer, address in zip(problem.buffers, addresses, strict=True):
        if buffer.name in absent:
            if address is not None:
                faults.append(
                    Fault("choice", (buffer.name,), f"{buffer.name} belongs to an option that was not taken")
                )
        elif address is None:
            faults.append(Fault("choice", (buffer.name,), f"{buffer.name} has no address"))
        else:
            placed.append((buffer, address))
    where = {buffer.name: address for buffer, address in placed}
    for buffer, address in placed:
        faults += _alone(problem, buffer, address, where)
    faults += _sweep(problem, placed)
    return faults


def pinned_faults(problem: Problem) -> list[Fault]:
    """What the pins alone break, whatever is done with the other buffers; empty if nothing."""
    pins = [(b, b.at) for b in problem.buffers if b.at >= 0]
    if not pins or problem.alternatives:
        return []
    where = {b.name: at for b, at in pins}
    return [f for b, at in pins for f in _alone(problem, b, at, where)] + _sweep(problem, pins)


def _absent(problem: Problem, choices: Sequence[int], faults: list[Fault]) -> set[str]:
    if len(choices) != len(problem.alternatives):
        faults.append(
            Fault(
                "choice", (), f"{len(choices)} options are taken of {len(problem.alternatives)} alternatives"
            )
        )
        return set()
    absent: set[str] = set()
    for alternative, taken in zip(problem.alternatives, choices, strict=True):
        if not 0 <= taken < len(alternative.options):
            faults.append(Fault("choice", (), f"{alternative.name} has no option {taken}"))
            continue
        for option in alternative.options:
            absent |= set(option.buffers) - set(alternative.options[taken].buffers)
    return absent


def _alone(problem: Problem, b: Buffer, at: int, where: dict[str, int]) -> list[Fault]:
    """Rules about one buffer and its address."""
    faults: list[Fault] = []
    name = (b.name,)
    size = 0 if b.count < 1 else (b.count - 1) * b.stride + b.nbytes
    for member in range(min(b.count, 2)):
        if (at + member * b.stride) % b.alignment:
            text = f"{b.name} at {at + member * b.stride:#x} is not a multiple of {b.alignment}"
            faults.append(Fault("alignment", name, text))
            break
    if b.count > 1 and b.stride < b.nbytes:
        faults.append(Fault("size", name, f"{b.name}: members of {b.nbytes} bytes are {b.stride} apart"))
    if b.alias and where.get(b.alias) is not None and at != where[b.alias] + b.offset:
        faults.append(
            Fault("alias", (b.name, b.alias), f"{b.name} does not lie {b.offset} bytes into {b.alias}")
        )
    if b.at >= 0 and at != b.at:
        faults.append(Fault("pin", name, f"{b.name} at {at:#x} was pinned to {b.at:#x}"))
    if not size:
        return faults
    home = next((r for r in problem.ranges if r[0] <= at < r[1]), None)
    if home is None or at + size + b.guard > home[1]:
        text = f"{b.name} at {at:#x} to {at + size + b.guard:#x} leaves the available ranges"
        faults.append(Fault("range", name, text))
        return faults
    region = _region(problem, at)
    if region is None:
        faults.append(Fault("region", name, f"{b.name} at {at:#x} is in no region"))
        return faults
    if b.memory == "executable" and not region.executable:
        faults.append(
            Fault(
                "executable", name, f"{b.name} at {at:#x} is in {region.name} memory, which is not executable"
            )
        )
    elif b.memory not in ("any", "executable", region.name):
        faults.append(
            Fault("region", name, f"{b.name} at {at:#x} is in {region.name} memory, not {b.memory}")
        )
    if b.kind == "code" and not region.executable:
        faults.append(
            Fault("executable", name, f"{b.name} is code in {region.name} memory, which is not executable")
        )
    if at + size + b.tail > region.end:
        faults.append(
            Fault("tail", name, f"{b.name} is read {b.tail} bytes past its end, beyond {region.name} memory")
        )
    return faults


def _region(problem: Problem, at: int) -> Region | None:
    for region in problem.regions:
        if region.start <= at < region.end:
            return region
    return None


def _sweep(problem: Problem, placed: Sequence[tuple[Buffer, int]]) -> list[Fault]:
    """
    Rules about what is live together: from bytes and elements that two buffers share to whether they ever
    meet.
    """
    faults: list[Fault] = []
    allowed = {frozenset(pair) for pair in problem.together}
    apart = {frozenset(pair) for pair in problem.separate}
    held = [(b, at, at + (b.count - 1) * b.stride + b.nbytes) for b, at in placed if b.count > 0 and b.nbytes]
    held.sort(key=lambda h: (h[1], h[0].name))
    starts = np.array([at for _, at, _ in held], np.int64)
    ends = np.array([end + b.guard for b, _, end in held], np.int64)
    for i, j in _sharing(starts, ends):
        a, b = held[i][0], held[j][0]
        meeting = _meeting(problem, a, b)
        if meeting and frozenset((a.name, b.name)) not in allowed:
            text = f"{a.name} and {b.name} overlap at {held[j][1]:#x}"
            faults.append(Fault("overlap", (a.name, b.name), text, *meeting))
    elements = [_touched(problem, at, end + b.tail) for b, at, end in held]
    starts = np.array([e.start for e in elements], np.int64)
    ends = np.array([e.stop for e in elements], np.int64)
    for i, j in _sharing(starts, ends):
        a, b = held[i][0], held[j][0]
        pair = frozenset((a.name, b.name))
        rule = _element_rule(a, b, pair in apart)
        if rule is None or pair in allowed or not (meeting := _meeting(problem, a, b)):
            continue
        element = max(elements[i].start, elements[j].start)
        faults.append(Fault(rule[0], (a.name, b.name), rule[1].format(element=element), *meeting))
    return faults


def _sharing(starts: np.ndarray, ends: np.ndarray) -> list[tuple[int, int]]:
    """Pairs i < j of intervals that share a point."""
    common = (starts[:, None] < ends) & (starts < ends[:, None])
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(common, 1))]


def _meeting(problem: Problem, a: Buffer, b: Buffer) -> tuple[int, int] | None:
    """The first event and tile at which both hold something, unless they are aliases of each other."""
    if (a.alias or a.name) == (b.alias or b.name):
        return None
    event = max(a.first, b.first)
    if event > min(a.last, b.last):
        return None
    for number, tiles in enumerate(problem.classes):
        if all(not x.classes or number in x.classes for x in (a, b)):
            return event, tiles.tile
    return None


def _element_rule(a: Buffer, b: Buffer, apart: bool) -> tuple[str, str] | None:
    """Which rule says that two buffers may not share a memory element, and how to put it."""
    if apart:
        return "element", f"{a.name} and {b.name} share memory element {{element}}"
    if a.exclusive or b.exclusive:
        owner, other = (a, b) if a.exclusive else (b, a)
        return "element", f"{other.name} lies in memory element {{element}}, which {owner.name} has to itself"
    if {a.kind, b.kind} == {"code", "tensor"}:
        return (
            "executable",
            f"{a.name} and {b.name} share memory element {{element}}, and one of them is code",
        )
    return None


def _touched(problem: Problem, start: int, end: int) -> range:
    """Numbers of the elements, counted over all regions, that bytes start to end lie in."""
    base = 0
    first = last = -1
    for region in problem.regions:
        elements = -(-(region.end - region.start) // region.element_bytes)
        if region.start <= start < region.end:
            first = base + (start - region.start) // region.element_bytes
        if region.start < end <= region.end:
            last = base + (end - 1 - region.start) // region.element_bytes
        base += elements
    return range(first, last + 1) if 0 <= first <= last else range(0)
