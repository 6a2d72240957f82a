# SPDX-License-Identifier: Apache-2.0
"""
Placement of buffers in tile memory: the problem as data, a first-fit allocator, and a checker that shares
no code with it.

All tiles use the same addresses. A request is live from event `first` to event `last`; two requests whose
lives overlap may not share a byte, and the pairs in `separate` may not share a memory element while both are
live (a kernel or an exchange accesses both in one cycle). Requests of memory class "standard" or
"interleaved" have to lie in that region; "prefer" only says where to look first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.diagnostics import TileError
from tilewright.machine import Machine


@dataclass(frozen=True)
class Request:
    """`nbytes` for events `first` to `last` (both included)."""

    name: str
    nbytes: int
    first: int
    last: int
    alignment: int = 8
    memory: str = "any"  # any | standard | interleaved
    prefer: str = "any"
    category: str = "staging"


@dataclass(frozen=True)
class Problem:
    """
    Requests, pairs of them (by index) that need separate elements while both are live, and the ranges
    available.
    """

    requests: tuple[Request, ...]
    separate: tuple[tuple[int, int], ...]
    ranges: tuple[tuple[int, int], ...]  # (start, end) bytes, end exclusive


class AllocationError(TileError):
    """Requests that do not fit; `request` is the index of the one that could not be placed."""

    def __init__(
        self, message: str, request: int, event: int, notes: Sequence[str], hint: str | None
    ) -> None:
        super().__init__(message, notes=notes, hint=hint)
        self.request = request
        self.event = event


def allocate(problem: Problem, machine: Machine) -> tuple[int, ...]:
    """Addresses of all requests: first fit, longest-lived and largest first. Raises AllocationError."""
    order = sorted(
        range(len(problem.requests)),
        key=lambda i: (
            problem.requests[i].memory == "any",
            -(problem.requests[i].nbytes * (1 + problem.requests[i].last - problem.requests[i].first)),
            i,
        ),
    )
    attempts = (
        order,
        sorted(order, key=lambda i: (problem.requests[i].memory == "any", -problem.requests[i].nbytes, i)),
    )
    error: AllocationError | None = None
    for attempt in attempts:
        try:
            return _first_fit(problem, machine, attempt)
        except AllocationError as failed:
            error = error or failed
    assert error is not None
    raise error


def _first_fit(problem: Problem, machine: Machine, order: Sequence[int]) -> tuple[int, ...]:
    n = len(problem.requests)
    requests = problem.requests
    first = np.array([r.first for r in requests], np.int64)
    last = np.array([r.last for r in requests], np.int64)
    start = np.full(n, -1, np.int64)
    end = np.full(n, -1, np.int64)
    partners: list[list[int]] = [[] for _ in range(n)]
    for a, b in problem.separate:
        if a != b:
            partners[a].append(b)
            partners[b].append(a)
    for i in order:
        request = requests[i]
        placed = (start >= 0) & (first <= request.last) & (last >= request.first)
        busy = [(int(start[j]), int(end[j])) for j in np.flatnonzero(placed)]
        for j in partners[i]:
            if placed[j] and end[j] > start[j]:
                busy.append(_elements(machine, int(start[j]), int(end[j])))
        address = _lowest(sorted(busy), _ranges(problem, machine, request), request, machine)
        if address is None:
            raise _failure(problem, machine, i, start, end)
        start[i], end[i] = address, address + request.nbytes
    return tuple(int(a) for a in start)


def _elements(machine: Machine, start: int, end: int) -> tuple[int, int]:
    """The byte range of the whole memory elements that a range touches."""
    lo = machine.element_range(int(machine.element_index(start)))[0]
    hi = machine.element_range(int(machine.element_index(end - 1)))[1]
    return lo, hi


def _ranges(problem: Problem, machine: Machine, request: Request) -> list[tuple[int, int]]:
    if request.memory != "any":
        region = machine.region(request.memory)
        return [
            (max(a, region.start), min(b, region.end))
            for a, b in problem.ranges
            if a < region.end and b > region.start
        ]
    ranges = list(problem.ranges)
    if request.prefer != "any":
        region = machine.region(request.prefer)
        ranges.sort(key=lambda r: not region.start <= r[0] < region.end)
    return ranges


def _lowest(
    busy: list[tuple[int, int]], ranges: list[tuple[int, int]], request: Request, machine: Machine
) -> int | None:
    for lo, hi in ranges:
        at = _align(lo, request.alignment)
        for a, b in busy:
            if b <= at or a >= hi:
                continue
            if at + request.nbytes <= a:
                break
            at = max(at, _align(b, request.alignment))
        if at + request.nbytes <= hi:
            return at
    return None


def _align(address: int, alignment: int) -> int:
    return -(-address // alignment) * alignment


def _failure(
    problem: Problem, machine: Machine, index: int, start: np.ndarray, end: np.ndarray
) -> AllocationError:
    """
    Say how much is live at the worst event of the request and whether any order of placement could help.
    """
    request = problem.requests[index]
    available = sum(b - a for a, b in problem.ranges)
    events = range(request.first, request.last + 1)
    points = sorted(
        {r.first for r in problem.requests if request.first <= r.first <= request.last} | {request.first}
    )
    live_at = [(sum(r.nbytes for r in problem.requests if r.first <= e <= r.last), e) for e in points]
    live, event = max(live_at, key=lambda p: (p[0], -p[1]))
    largest = sorted(
        (r for r in problem.requests if r.first <= event <= r.last), key=lambda r: (-r.nbytes, r.name)
    )[:10]
    notes = [
        f"at event {event} (of {events.start} to {events.stop - 1}): {live} bytes live on a tile, "
        f"{available} available",
        *(f"  {r.nbytes:>9} bytes  {r.category:<11} {r.name}" for r in largest),
    ]
    if live > available:
        notes.append(f"short by {live - available} bytes: no order of placement can help")
        hint = "use fewer or smaller resident buffers, a larger grid, or a machine with more memory"
    else:
        holes = [b - a for a, b in problem.ranges]
        notes.append(
            "the bytes would fit; separation, regions or fragmentation prevent it "
            f"(largest range {max(holes, default=0)})"
        )
        hint = None
    return AllocationError(
        f"{request.name}: {request.nbytes} bytes ({request.memory} memory) do not fit on a tile of {machine.name}",
        index,
        event,
        notes,
        hint,
    )


def verify(problem: Problem, addresses: Sequence[int], machine: Machine) -> list[str]:
    """
    What is wrong with a placement, one sentence each; empty if nothing is. Shares no code with the allocator.
    """
    faults: list[str] = []
    requests = problem.requests
    for request, at in zip(requests, addresses, strict=True):
        if at % request.alignment:
            faults.append(f"{request.name} at {at:#x} is not aligned to {request.alignment}")
        if request.nbytes and not any(a <= at and at + request.nbytes <= b for a, b in problem.ranges):
            faults.append(f"{request.name} at {at:#x} leaves the available ranges")
        region = machine.region_of(at)
        if request.memory != "any" and (region is None or region.name != request.memory):
            faults.append(f"{request.name} at {at:#x} is not in {request.memory} memory")
    at = np.array(addresses, np.int64)
    size = np.array([r.nbytes for r in requests], np.int64)
    first = np.array([r.first for r in requests], np.int64)
    last = np.array([r.last for r in requests], np.int64)
    meet = (first[:, None] <= last) & (last[:, None] >= first) & (size[:, None] > 0) & (size > 0)
    clash = meet & (at[:, None] < at + size) & (at < (at + size)[:, None])
    for i, j in np.argwhere(np.triu(clash, 1)):
        faults.append(
            f"{requests[i].name} and {requests[j].name} overlap at {max(addresses[i], addresses[j]):#x}"
        )
    for i, j in problem.separate:
        if i != j and meet[i, j]:
            mine = set(
                machine.element_index(
                    np.array([addresses[i], addresses[i] + requests[i].nbytes - 1])
                ).tolist()
            )
            mine = set(range(min(mine), max(mine) + 1))
            other = machine.element_index(np.array([addresses[j], addresses[j] + requests[j].nbytes - 1]))
            if mine & set(range(int(other.min()), int(other.max()) + 1)):
                faults.append(f"{requests[i].name} and {requests[j].name} share a memory element")
    return faults
