# SPDX-License-Identifier: Apache-2.0
"""
Whether a placement keeps the rules of `planning.memory.problem`. Shares no code with the allocator.

The allocator compiles distances between pairs; this sweeps over addresses, event by event and class by class, so that a mistake in
one does not hide in the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.planning.memory.problem import Buffer, Problem, Region


@dataclass(frozen=True)
class Fault:
    """One broken rule: which, of which buffers, in words; `event` and the first `tile` of the class where it shows."""

    rule: str  # alignment | range | region | tail | alias | overlap | element | executable | choice | size
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
                faults.append(Fault("choice", (buffer.name,), f"{buffer.name} belongs to an option that was not taken"))
        elif address is None:
            faults.append(Fault("choice", (buffer.name,), f"{buffer.name} has no address"))
        else:
            placed.append((buffer, address))
    where = {buffer.name: address for buffer, address in placed}
    for buffer, address in placed:
        faults += _alone(problem, buffer, address, where)
    faults += _sweep(problem, placed)
    return faults


def _absent(problem: Problem, choices: Sequence[int], faults: list[Fault]) -> set[str]:
    if len(choices) != len(problem.alternatives):
        faults.append(
            Fault("choice", (), f"{len(choices)} options are taken of {len(problem.alternatives)} alternatives")
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
        faults.append(Fault("alias", (b.name, b.alias), f"{b.name} does not lie {b.offset} bytes into {b.alias}"))
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
        faults.append(Fault("executable", name, f"{b.name} at {at:#x} is in {region.name} memory, which is not executable"))
    elif b.memory not in ("any", "executable", region.name):
        faults.append(Fault("region", name, f"{b.name} at {at:#x} is in {region.name} memory, not {b.memory}"))
    if b.kind == "code" and not region.executable:
        faults.append(Fault("executable", name, f"{b.name} is code in {region.name} memory, which is not executable"))
    if at + size + b.tail > region.end:
        faults.append(Fault("tail", name, f"{b.name} is read {b.tail} bytes past its end, beyond {region.name} memory"))
    return faults


def _region(problem: Problem, at: int) -> Region | None:
    for region in problem.regions:
        if region.start <= at < region.end:
            return region
    return None


def _sweep(problem: Problem, placed: Sequence[tuple[Buffer, int]]) -> list[Fault]:
    """Rules about what is live together."""
    faults: list[Fault] = []
    seen: set[tuple[str, str, str]] = set()
    allowed = {frozenset(pair) for pair in problem.together}
    apart = {frozenset(pair) for pair in problem.separate}
    spans = [(at, at + (b.count - 1) * b.stride + b.nbytes, b) for b, at in placed if b.count > 0 and b.nbytes]
    spans.sort(key=lambda s: (s[0], s[2].name))
    touched = {b.name: _touched(problem, at, end + b.tail) for at, end, b in spans}
    for number, tile_class in enumerate(problem.classes):
        here = [s for s in spans if not s[2].classes or number in s[2].classes]
        for event in sorted({s[2].first for s in here}):
            live = [s for s in here if s[2].first <= event <= s[2].last]

            def report(rule: str, a: Buffer, b: Buffer, text: str, event: int = event, tile: int = tile_class.tile) -> None:
                key = (rule, a.name, b.name)
                if key not in seen:
                    seen.add(key)
                    faults.append(Fault(rule, (a.name, b.name), text, event, tile))

            open_: list[tuple[int, int, Buffer]] = []
            for at, end, b in live:
                open_ = [o for o in open_ if o[1] + o[2].guard > at]
                for _, _, other in open_:
                    if (other.alias or other.name) == (b.alias or b.name) or frozenset((b.name, other.name)) in allowed:
                        continue
                    report("overlap", other, b, f"{other.name} and {b.name} overlap at {at:#x}")
                open_.append((at, end, b))
            holders: dict[int, list[Buffer]] = {}
            for _, _, b in live:
                for element in touched[b.name]:
                    holders.setdefault(element, []).append(b)
            for element, held in holders.items():
                _element(element, held, apart, allowed, report)
    return faults


def _element(element, held, apart, allowed, report) -> None:  # type: ignore[no-untyped-def]
    """Faults of the buffers that touch one element at one time."""
    if len(held) < 2:
        return
    special = [b for b in held if b.exclusive or b.kind == "code"]
    pairs = [(a, b) for a in special for b in held if a is not b]
    if apart:
        pairs += [(a, b) for i, a in enumerate(held) for b in held[i + 1 :] if frozenset((a.name, b.name)) in apart]
    for a, b in pairs:
        if (a.alias or a.name) == (b.alias or b.name) or frozenset((a.name, b.name)) in allowed:
            continue
        first, second = (a, b) if a.name < b.name else (b, a)
        if frozenset((a.name, b.name)) in apart:
            report("element", first, second, f"{first.name} and {second.name} share memory element {element}")
        elif a.exclusive or b.exclusive:
            owner = a if a.exclusive else b
            other = b if a.exclusive else a
            report("element", first, second, f"{other.name} lies in memory element {element}, which {owner.name} has to itself")
        elif {a.kind, b.kind} == {"code", "tensor"}:
            report("executable", first, second, f"{first.name} and {second.name} share memory element {element}, one is code")


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
