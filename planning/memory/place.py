# SPDX-License-Identifier: Apache-2.0
"""
The allocator: several packings, then a search over orders that is bounded by nodes.

A *packing* places the units of a problem (a buffer with its aliases) one after another, each at the lowest
address that its neighbours leave, in its preferred region if there is room. What two units may not share is
compiled into distances once: unit v may not start within (a - apart[v, u], a + apart[u, v]) of a unit u at
address a, or within the elements that u touches. Many orders are packed at once, as rows of arrays; nothing
depends on tiles or addresses one by one.

The search keeps a set of placements. Until everything has a place, each step moves a unit that found none (or
one of those in its way) to an earlier turn and packs again. Then each step takes a few units out and puts
them back in another order, which may use fewer bytes. A result is kept unless it is worse. A node is one unit
placed once, so results are the same on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tilewright.planning.memory.bounds import lower_bound, memories, payloads
from tilewright.planning.memory.problem import Buffer, Problem, Solution, combinations

Ints = npt.NDArray[np.int64]

NODES = 400_000
"""Units placed before giving up."""
ROUNDS = 50
"""Steps of the search for each unit, at most: few units have few orders."""
CHAINS = 16
"""Orders that are improved side by side."""
GOOD = 1.01
"""Used bytes over the lower bound at which nothing more is tried."""
POLISH = 0.1
"""Share of the nodes that may go into a better packing once everything has a place."""
REPLACE = 50
"""Steps after which the worse half of the placements is replaced by the best one."""
TAKEN = (2, 3, 4, 6, 8, 12, 16)
"""How many units a step of the search takes out and puts back."""
CELLS = 4096
"""Cells of the map that says which part of the memory is used at some time."""
CHOICES = 64
"""Combinations of alternatives that are tried."""

_FAR = np.int64(1) << 40


class Unplaced(Exception):
    """No packing found; `solution` is the best one, with None for what has no place."""

    def __init__(self, solution: Solution, problem: Problem) -> None:
        super().__init__(f"{sum(a is None for a in solution.addresses)} buffers have no place")
        self.solution = solution
        self.problem = problem


def allocate(problem: Problem, nodes: int = NODES, polish: float = POLISH) -> Solution:
    """
    Addresses of all buffers. The options of alternatives are tried in order of preference with an equal part
    of the nodes each; `polish` is the share of the nodes that may go into a better packing once everything
    has a place. Raises `Unplaced` with the nearest attempt.
    """
    choices = combinations(problem, CHOICES)
    best: Unplaced | None = None
    spent = 0
    for choice in choices:
        chosen = problem.choose(choice) if problem.alternatives else problem
        solution, complete = _solve(chosen, max(1, nodes // len(choices)), polish)
        spent += solution.nodes
        by_name = {b.name: a for b, a in zip(chosen.buffers, solution.addresses, strict=True)}
        full = Solution(
            tuple(by_name.get(b.name) for b in problem.buffers),
            choice,
            solution.used,
            solution.lower_bound,
            spent,
            solution.packing,
        )
        if complete:
            return full
        if best is None or _missing(solution, chosen) < _missing(best.solution, best.problem):
            best = Unplaced(solution, chosen)
    assert best is not None
    raise best


def used_bytes(problem: Problem, addresses: Sequence[int | None]) -> int:
    """Bytes that some buffer holds at some time, on the class of tiles where they are most."""
    spans = sorted(
        (
            (a, a + b.extent + b.guard, b)
            for b, a in zip(problem.buffers, addresses, strict=True)
            if a is not None
        ),
        key=lambda s: s[0],
    )
    if not spans:
        return 0
    start = np.array([s[0] for s in spans], np.int64)[:, None]
    end = np.zeros((len(spans), len(problem.classes)), np.int64)  # (buffers, classes); 0 where it is not
    for i, (_, high, b) in enumerate(spans):
        end[i, list(b.classes) if b.classes else slice(None)] = high
    reach = np.concatenate([np.zeros_like(end[:1]), np.maximum.accumulate(end, axis=0)[:-1]])
    return int(np.maximum(0, end - np.maximum(start, reach)).sum(axis=0).max(initial=0))


def _missing(solution: Solution, problem: Problem) -> int:
    return sum(b.extent for b, a in zip(problem.buffers, solution.addresses, strict=True) if a is None)


# -- the problem as distances


@dataclass(frozen=True, eq=False)
class _Model:
    """
    Units and what keeps them apart. `apart[u, v]`: bytes from the start of u to that of v at least, where v
    lies above u, or -FAR; `elements[u, v]`: whether they may share no element; `low`, `touch` (units,): first
    and last touched byte from a unit's start.
    """

    problem: Problem
    members: tuple[tuple[int, ...], ...]
    apart: Ints
    elements: npt.NDArray[np.bool_]
    low: Ints
    touch: Ints
    size: Ints
    life: Ints
    first: Ints
    alignment: Ints
    narrow: npt.NDArray[np.bool_]
    fixed_low: Ints  # (units, barriers): addresses between which a unit may not start, ascending
    fixed_high: Ints
    pins: Ints  # (units,): pinned address, or -1
    prefer: Ints  # (units,): address of the preferred region, where the search for a place begins

    def __len__(self) -> int:
        return len(self.members)

    @cached_property
    def neighbours(self) -> npt.NDArray[np.bool_]:
        return (self.apart > -_FAR) | self.elements

    @cached_property
    def separates(self) -> bool:
        return bool(self.elements.any())

    @cached_property
    def ranges(self) -> Ints:
        return np.array(sorted(self.problem.ranges), np.int64).reshape(-1, 2)

    def element_starts(self) -> list[int]:
        """Start of every element, or of what of it is in a range."""
        found: dict[int, None] = {}
        for start, end in self.ranges.tolist():
            region = self.problem.region_of(start)
            while region is not None and start < end:
                found[start] = None
                start = (
                    region.start + ((start - region.start) // region.element_bytes + 1) * region.element_bytes
                )
        return list(found)

    def floors(self, address: Ints) -> Ints:
        """Start of the element of each address."""
        result = address.copy()
        for region in self.problem.regions:
            inside = (address >= region.start) & (address < region.end)
            element = region.element_bytes
            result = np.where(inside, region.start + (address - region.start) // element * element, result)
        return result

    def ceilings(self, address: Ints) -> Ints:
        """End of the element that holds the byte before each address."""
        result = address.copy()
        for region in self.problem.regions:
            inside = (address > region.start) & (address <= region.end)
            element = region.element_bytes
            end = np.minimum(region.start + -(-(address - region.start) // element) * element, region.end)
            result = np.where(inside, end, result)
        return result


def _model(problem: Problem) -> _Model:
    buffers = problem.buffers
    n = len(buffers)
    root = [problem.index[b.alias] if b.alias else i for i, b in enumerate(buffers)]
    roots = [i for i in range(n) if root[i] == i]
    unit_of_root = {r: u for u, r in enumerate(roots)}
    unit = np.array([unit_of_root[r] for r in root], np.int64)
    members = tuple(tuple(i for i in range(n) if root[i] == r) for r in roots)
    m = len(roots)

    offset = np.array([b.offset if b.alias else 0 for b in buffers], np.int64)
    reach = np.array([b.extent + b.guard if b.extent else 0 for b in buffers], np.int64)
    touch = np.array([b.extent + b.tail if b.extent else 0 for b in buffers], np.int64)
    first = np.array([b.first for b in buffers], np.int64)
    last = np.array([b.last for b in buffers], np.int64)
    held = np.zeros((n, len(problem.classes)), np.bool_)
    for i, b in enumerate(buffers):
        held[i, list(b.classes) if b.classes else slice(None)] = True
    meet = (first[:, None] <= last) & (last[:, None] >= first)
    meet &= (held.astype(np.float32) @ held.T.astype(np.float32)) > 0
    meet &= (reach[:, None] > 0) & (reach > 0) & (unit[:, None] != unit)
    share = np.zeros((n, n), np.bool_)
    for a, b in problem.together:
        i, j = problem.index[a], problem.index[b]
        share[i, j] = share[j, i] = True
    bytes_apart = meet & ~share
    elements = np.zeros((n, n), np.bool_)
    for a, b in problem.separate:
        i, j = problem.index[a], problem.index[b]
        elements[i, j] = elements[j, i] = True
    code = np.array([b.kind == "code" for b in buffers], np.bool_)
    tensor = np.array([b.kind == "tensor" for b in buffers], np.bool_)
    elements |= (code[:, None] & tensor) | (tensor[:, None] & code)
    exclusive = np.array([b.exclusive for b in buffers], np.bool_)
    elements |= exclusive[:, None] | exclusive
    elements &= bytes_apart

    unit_apart = np.full((m, m), -_FAR, np.int64)
    i, j = np.nonzero(bytes_apart)
    np.maximum.at(unit_apart, (unit[i], unit[j]), offset[i] + reach[i] - offset[j])
    unit_elements = np.zeros((m, m), np.bool_)
    i, j = np.nonzero(elements)
    unit_elements[unit[i], unit[j]] = True

    def per_unit(values: Ints, how: np.ufunc, start: int) -> Ints:
        result = np.full(m, start, np.int64)
        how.at(result, unit, values)
        return result

    size = per_unit(offset + reach, np.maximum, 0)
    low = per_unit(offset, np.minimum, int(_FAR))
    fixed = [_barriers(problem, [buffers[i] for i in group]) for group in members]
    width = max((len(f) for f in fixed), default=1)
    fixed_low = np.full((m, width), -_FAR, np.int64)
    fixed_high = np.full((m, width), -_FAR, np.int64)
    for u, barriers in enumerate(fixed):
        for k, (a, b) in enumerate(barriers):
            fixed_low[u, k], fixed_high[u, k] = a, b
    prefer = np.zeros(m, np.int64)
    for u, group in enumerate(members):
        region = next((r for r in problem.regions if r.name == buffers[group[0]].prefer), None)
        if region is not None:
            prefer[u] = region.start
    area = per_unit((last - first + 1) * np.maximum(reach, 1), np.maximum, 0)
    return _Model(
        problem,
        members,
        unit_apart,
        unit_elements,
        low,
        per_unit(offset + touch, np.maximum, 0),
        size,
        area,
        per_unit(first, np.minimum, int(_FAR)),
        np.array([_alignment(buffers, group) for group in members], np.int64).reshape(m, 2),
        np.array([any(_narrow(problem, buffers[i]) for i in group) for group in members], np.bool_),
        fixed_low,
        fixed_high,
        np.array([_pin(buffers, group) for group in members], np.int64),
        prefer,
    )


def _narrow(problem: Problem, b: Buffer) -> bool:
    return b.at >= 0 or b.kind == "code" or b.exclusive or len(problem.ranges_for(b)) < len(problem.ranges)


def _alignment(buffers: Sequence[Buffer], group: Sequence[int]) -> tuple[int, int]:
    """
    Modulus and remainder of a unit's address: that of its first buffer; aliases are checked where they lie.
    """
    modulus, rest = 1, 0
    for i in group:
        b = buffers[i]
        if b.alignment % modulus == 0 and b.alignment > modulus:
            modulus, rest = b.alignment, -(b.offset if b.alias else 0) % b.alignment
    return modulus, rest


def _pin(buffers: Sequence[Buffer], group: Sequence[int]) -> int:
    pins = [
        buffers[i].at - (buffers[i].offset if buffers[i].alias else 0) for i in group if buffers[i].at >= 0
    ]
    return pins[0] if pins else -1


def _barriers(problem: Problem, group: Sequence[Buffer]) -> list[tuple[int, int]]:
    """
    Open intervals in which the unit may not start, from its ranges; they include what is below and above all.
    """
    allowed: list[tuple[int, int]] = []
    for start, end in sorted(problem.ranges):
        lo, hi = start, end
        for b in group:
            region = problem.region_of(start)
            if not b.extent:
                continue
            if (start, end) not in problem.ranges_for(b) or region is None:
                hi = lo - 1
                break
            offset = b.offset if b.alias else 0
            lo = max(lo, start - offset)
            hi = min(hi, end - offset - b.extent - b.guard, region.end - offset - b.extent - b.tail)
            if b.at >= 0:
                lo, hi = max(lo, b.at - offset), min(hi, b.at - offset)
        if not any(b.extent for b in group):
            hi = end
        if lo <= hi:
            allowed.append((lo, hi))
    far = int(_FAR)
    edges = [-far, *(x for pair in allowed for x in pair), far]
    return [(edges[i], edges[i + 1]) for i in range(0, len(edges), 2)]


# -- packing


def _pack(model: _Model, orders: Ints, hints: Ints, snug: npt.NDArray[np.bool_], at: Ints) -> Ints:
    """
    Addresses (rows, units) after the units of each row's order have been placed one by one beside those that
    have an address in `at` already (-1: none); -1 where there is no place. A unit goes to its lowest place
    from its hint on, else to its lowest place, and in rows that are `snug` first of all where most bytes are
    used at other times.
    """
    rows, steps = orders.shape
    at = at.copy()
    floors, ceilings = model.floors(at + model.low), model.ceilings(at + model.touch)
    row = np.arange(rows)
    any_snug = bool(snug.any())
    base = int(model.ranges[:, 0].min(initial=0))
    cell = max(8, -(-(int(model.ranges[:, 1].max(initial=0)) - base) // CELLS))
    used = _used_cells(model, at, base, cell)  # (rows, cells): whether anything lies there at some time
    before = np.zeros((rows, CELLS + 2), np.int32)  # used cells before each
    apart_from = np.ascontiguousarray(model.apart.T)  # [v, u]: apart[u, v]
    for step in range(steps):
        u = orders[:, step]
        below, above = model.apart[u], apart_from[u]
        near = (at >= 0) & (above > -_FAR)
        low = np.where(near, at - below, -_FAR)
        high = np.where(near, at + above, -_FAR)
        if model.separates:
            apart = near & model.elements[u]
            low = np.where(apart, floors - model.touch[u][:, None], low)
            high = np.where(apart, ceilings - model.low[u][:, None], high)
        low = np.concatenate([low, model.fixed_low[u]], axis=1)
        high = np.concatenate([high, model.fixed_high[u]], axis=1)
        sort = np.argsort(low, axis=1, kind="stable")
        low = np.take_along_axis(low, sort, axis=1)
        high = np.maximum.accumulate(np.take_along_axis(high, sort, axis=1), axis=1)
        modulus, rest = model.alignment[u, 0][:, None], model.alignment[u, 1][:, None]
        start = -(-(high[:, :-1] - rest) // modulus) * modulus + rest
        good = (start <= low[:, 1:]) & (start >= 0)
        key = start + np.where(start < hints[row, u][:, None], _FAR, 0)
        if any_snug:
            np.cumsum(used, axis=1, out=before[:, 1:])
            low_cell = np.clip((start - base) // cell, 0, CELLS)
            high_cell = np.clip(-(-(start + model.size[u][:, None] - base) // cell), 0, CELLS + 1)
            reuse = np.take_along_axis(before, high_cell, axis=1) - np.take_along_axis(
                before, low_cell, axis=1
            )
            growth = np.where(snug[:, None], high_cell - low_cell - reuse, 0)
            key = key + growth * (2 * _FAR)
        key = np.where(good, key, np.iinfo(np.int64).max)
        pick = np.argmin(key, axis=1)
        found = good[row, pick]
        address = np.where(found, start[row, pick], -1)
        at[row, u] = address
        if any_snug:
            for r in np.flatnonzero(found & snug).tolist():
                first = int(address[r] - base) // cell
                used[r, first : first - (-int(model.size[u[r]]) // cell)] = True
        if model.separates:
            floors[row, u] = model.floors(address + model.low[u])
            ceilings[row, u] = model.ceilings(address + model.touch[u])
    return at


def _used_cells(model: _Model, at: Ints, base: int, cell: int) -> npt.NDArray[np.bool_]:
    edges = np.zeros((len(at), CELLS + 2), np.int32)
    row, unit = np.nonzero(at >= 0)
    first = (at[row, unit] - base) // cell
    np.add.at(edges, (row, first), 1)
    np.add.at(edges, (row, first - (-model.size[unit] // cell)), -1)
    return np.cumsum(edges[:, : CELLS + 1], axis=1) > 0


def _scores(model: _Model, at: Ints) -> Ints:
    """(orders, 2): bytes without a place, then the bytes that are used at some time."""
    placed = at >= 0
    missing = (np.where(placed, 0, np.maximum(model.size, 1))).sum(axis=1)
    start = np.where(placed, at, _FAR)
    sort = np.argsort(start, axis=1)
    start = np.take_along_axis(start, sort, axis=1)
    end = np.take_along_axis(np.where(placed, at + model.size, _FAR), sort, axis=1)
    reach = np.maximum.accumulate(end, axis=1)
    used = end - start
    used[:, 1:] = np.maximum(0, end[:, 1:] - np.maximum(start[:, 1:], reach[:, :-1]))
    return np.stack([missing, used.sum(axis=1)], axis=1)


ORDERS = ("area", "size", "life", "start", "crowd")
"""
The first orders, largest first (start: earliest first); what suits few ranges comes before the rest in each.
"""
PACKINGS = (*ORDERS, *(f"snug {name}" for name in ORDERS), *(f"far {name}" for name in ORDERS))
"""
Each order with the preferred region first; where most bytes are used at other times; with the other region
first.
"""


def _first_orders(model: _Model) -> Ints:
    wide = ~model.narrow
    n = len(model)
    number = np.arange(n)
    life = model.life // np.maximum(model.size, 1)
    crowd = np.where(model.neighbours, model.size, 0).sum(axis=1)
    keys = (-model.life, -model.size, -life, model.first, -crowd)
    second = (-model.size, -model.life, -model.size, -model.size, -model.size)
    return np.stack([np.lexsort((number, b, a, wide)) for a, b in zip(keys, second, strict=True)])


def _solve(problem: Problem, nodes: int, polish: float) -> tuple[Solution, bool]:
    """The best packing of a problem without alternatives, and whether everything has a place."""
    model = _model(problem)
    bound = lower_bound(problem)
    n = len(model)

    def solution(at: Ints, spent: int, packing: str) -> Solution:
        addresses = [None] * len(problem.buffers)
        for u, group in enumerate(model.members):
            for i in group:
                if at[u] >= 0:
                    b = problem.buffers[i]
                    addresses[i] = int(at[u]) + (b.offset if b.alias else 0)  # type: ignore[call-overload]
        return Solution(tuple(addresses), (), used_bytes(problem, addresses), bound, spent, packing)

    if not n:
        return solution(np.zeros(0, np.int64), 0, "none"), True
    orders = np.concatenate([_first_orders(model)] * 3)
    style = np.arange(len(orders)) // len(ORDERS)
    snug = style == 1
    last = max((region.start for region in problem.regions), default=0)
    hints = np.where((style == 2)[:, None], np.where(model.prefer == last, 0, last), model.prefer)
    at = _pack(model, orders, hints, snug, np.repeat(model.pins[None, :], len(orders), axis=0))
    scores = _scores(model, at)
    spent = orders.size
    first = _best(scores)
    if not scores[first, 0]:
        found = solution(at[first], spent, PACKINGS[first])
        if found.quality <= GOOD:
            return found, True
    # Every chain starts from one of the packings, the better ones first.
    ranking = sorted(range(len(scores)), key=lambda i: (*scores[i].tolist(), i))
    source = [ranking[i % len(ranking)] for i in range(CHAINS)]
    names = [PACKINGS[i] for i in source]
    orders, at, scores, snug, hints = orders[source], at[source], scores[source], snug[source], hints[source]
    rng = random.Random(n)
    pinned = np.repeat(model.pins[None, :], CHAINS, axis=0)
    nodes = min(nodes, CHAINS * n * n * ROUNDS)
    best, best_at, label = tuple(scores[0].tolist()), at[0].copy(), names[0]

    def keep_better(trial_at: Ints, step: str) -> npt.NDArray[np.bool_]:
        """Take over the trials that are not worse; returns which."""
        nonlocal best, best_at, label
        trial = _scores(model, trial_at)
        keep = np.array([tuple(t) <= tuple(s) for t, s in zip(trial.tolist(), scores.tolist(), strict=True)])
        at[keep], scores[keep] = trial_at[keep], trial[keep]
        champion = _best(scores)
        if tuple(scores[champion].tolist()) < best:
            best, best_at = tuple(scores[champion].tolist()), at[champion].copy()
            label = f"{names[champion]}, {step}"
        return keep

    lost = np.flatnonzero((at < 0).all(axis=0))
    hopeless = bool(best[0]) and (
        _fit_nowhere(model, lost)
        or any(p.short > 0 for memory in memories(problem) for p in payloads(problem, memory))
    )
    while best[0] and spent < nodes and not hopeless:
        trial = np.stack([_move(model, orders[c], at[c], rng) for c in range(CHAINS)])
        keep = keep_better(_pack(model, trial, hints, snug, pinned), "orders searched")
        orders[keep] = trial[keep]
        spent += trial.size
    search = _Search(model, rng)
    polished, rounds = 0, 0
    while not best[0] and best[1] > GOOD * bound and polished < min(polish * nodes, nodes - spent):
        trial, cost = search.rearrange(at)
        keep_better(trial, "rearranged")
        polished += cost
        rounds += 1
        if rounds % REPLACE == 0:
            # The worse half goes on from the best.
            order = sorted(range(CHAINS), key=lambda c: (*scores[c].tolist(), c))
            at[order[CHAINS // 2 :]], scores[order[CHAINS // 2 :]] = at[order[0]], scores[order[0]]
    return solution(best_at, spent + polished, label), not best[0]


def _fit_nowhere(model: _Model, units: Ints) -> bool:
    """Whether one of the units has no place even with nothing else there but what is pinned."""
    rows, n = len(units), len(model)
    pinned, hints = np.repeat(model.pins[None, :], rows, axis=0), np.zeros((rows, n), np.int64)
    at = _pack(model, units[:, None], hints, np.zeros(rows, np.bool_), pinned)
    return bool((at[np.arange(rows), units] < 0).any())


def _best(scores: Ints) -> int:
    return min(range(len(scores)), key=lambda i: (*scores[i].tolist(), i))


def _move(model: _Model, order: Ints, at: Ints, rng: random.Random) -> Ints:
    """The order with a unit that found no place, or one in its way, moved before one of those in its way."""
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    missing = np.flatnonzero(at < 0)
    u = int(rng.choice(missing.tolist())) if len(missing) else rng.randrange(len(order))
    before = np.flatnonzero(model.neighbours[u] & (position < position[u]))
    if rng.random() < 0.25 and len(before):
        u = int(rng.choice(before.tolist()))
        before = np.flatnonzero(model.neighbours[u] & (position < position[u]))
    to = int(position[rng.choice(before.tolist())]) if len(before) else rng.randrange(len(order))
    return np.insert(np.delete(order, position[u]), min(to, len(order) - 1), u)


class _Search:
    """Takes a few units out of each placement and puts them back in another order."""

    def __init__(self, model: _Model, rng: random.Random) -> None:
        self.model = model
        self.rng = rng
        self.starts = model.element_starts()
        self.near = [np.flatnonzero(row).tolist() for row in model.neighbours]
        self.far = [np.flatnonzero(~row).tolist() for row in model.neighbours]

    def rearrange(self, at: Ints) -> tuple[Ints, int]:
        """Changed placements (rows, units), and the nodes they took."""
        rows, n = at.shape
        count = min(n, self.rng.choice(TAKEN))
        orders = np.zeros((rows, count), np.int64)
        hints = np.repeat(self.model.prefer[None, :], rows, axis=0)
        snug = np.zeros(rows, np.bool_)
        changed = at.copy()
        for r in range(rows):
            order, hint = self._choose(at[r], count)
            orders[r] = order
            hints[r, order[0]] = hint
            snug[r] = self.rng.random() < 0.6
            changed[r, order] = -1
        return _pack(self.model, orders, hints, snug, changed), orders.size

    def _choose(self, at: Ints, count: int) -> tuple[list[int], int]:
        """
        Units to take out, in the order in which they go back, and where the first one's place is sought.
        """
        rng, n = self.rng, len(at)
        first = rng.randrange(n)
        # Where it might go: over a unit that it never meets, to the start of an element, or anywhere.
        where = rng.random()
        if where < 0.4 and self.far[first]:
            hint = int(at[rng.choice(self.far[first])])
        elif where < 0.7:
            hint = rng.choice(self.starts)
        else:
            start, end = rng.choice(self.model.problem.ranges)
            hint = rng.randrange(start, end)
        hint = max(hint, 0)
        end = hint + int(self.model.size[first])
        near = self.near[first]
        blocking = [v for v in near if at[v] >= 0 and at[v] < end and at[v] + self.model.size[v] > hint]
        rng.shuffle(blocking)
        chosen = [first, *blocking[: count - 1]]
        pool = near if near and rng.random() < 0.7 else range(n)
        taken = set(chosen)
        for _ in range(4 * count):
            if len(chosen) >= count:
                break
            v = rng.choice(pool)
            if v not in taken:
                chosen.append(v)
                taken.add(v)
        for v in range(n):
            if len(chosen) >= count:
                break
            if v not in taken:
                chosen.append(v)
        rest = chosen[1:]
        if rng.random() < 0.5:
            rest.sort(key=lambda v: (-int(self.model.size[v]), v))
        else:
            rng.shuffle(rest)
        return [first, *rest], hint
