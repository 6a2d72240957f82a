# SPDX-License-Identifier: Apache-2.0
"""
The choice among homes: what the storage groups of a program weigh on every tile, and how rotating them, the
largest first, balances the loads.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tilewright.planning.homes.forms import linear, panel_form, panel_grid
from tilewright.planning.layout import Axis, Layout

Distribution = Literal["auto", "linear", "grid"]
Objective = Literal["addresses", "load"]


@dataclass(frozen=True)
class StorageGroup:
    """
    One persistent allocation: a parameter or all members of a sequence of them, which share one layout.

    pinned: why the home may not move, None for an automatic one. Buffers derived from parameters
    (conversions, casts) are no storage groups: they are allocated where they are used.
    """

    name: str
    layout: Layout
    size: int  # bytes of an element
    members: int = 1
    pinned: str | None = None

    def load(self, tiles: int) -> np.ndarray:
        """
        Resident bytes on every tile, int64 (tiles,): those of one member by the layout's own accounting,
        times the members.
        """
        return self.layout.shard_bytes_per_tile(self.size, tiles) * self.members

    @property
    def address_bytes(self) -> int:
        """Bytes of the common address range: the largest shard of all members."""
        return self.layout.shard_bytes(self.size) * self.members


def total_load(groups: Sequence[StorageGroup], tiles: int) -> np.ndarray:
    """Resident bytes of all groups on every tile, int64 (tiles,)."""
    total = np.zeros(tiles, np.int64)
    for group in groups:
        total += group.load(tiles)
    return total


@dataclass(frozen=True)
class HomePlan:
    """Groups before and after the choice (same order), and how many rotations were compared."""

    before: tuple[StorageGroup, ...]
    after: tuple[StorageGroup, ...]
    trials: int

    @property
    def moved(self) -> tuple[bool, ...]:
        return tuple(a.layout != b.layout for a, b in zip(self.before, self.after, strict=True))


def select_homes(
    groups: Sequence[StorageGroup],
    tiles: int,
    *,
    distribution: Distribution = "auto",
    objective: Objective = "addresses",
    rotations: int = 512,
) -> HomePlan:
    """
    Homes of the automatic groups, largest first, each by a bounded search over even rotations (`rotations` of
    them at most).

    A group keeps its panels and element order; its panels are dealt to all tiles as a linear sequence of
    chunks (laid end to end behind the previous one, by rotation or strictly so) or as a rotated grid. With
    objective "addresses" chunks are as small as whole panels allow, which is what counts while a buffer has
    one address on all tiles; with "load" wider chunks on fewer tiles are tried as well and only the fullest
    tile counts. Pinned groups and groups with copies stay.
    """
    order = sorted(range(len(groups)), key=lambda i: (-groups[i].layout.panel_count * _weight(groups[i]), i))
    best: tuple[tuple[int, int, int], tuple[StorageGroup, ...]] | None = None
    trials = 0
    strict = (False, True) if distribution != "grid" else (False,)
    found: list[tuple[StorageGroup, ...]] = []
    for level, laid in itertools.product(_levels(groups, tiles, objective), strict):
        placed, count = _assign(groups, order, tiles, distribution, level, 0 if laid else rotations)
        found.append(placed)
        trials += count
    if objective == "load" and distribution == "auto":
        found.append(tuple(groups))  # one group after another may end with more than there was
    for placed in found:
        load = total_load(placed, tiles)
        addresses = sum(g.address_bytes for g in placed)
        first = (
            (addresses, int(load.max(initial=0)))
            if objective == "addresses"
            else (int(load.max(initial=0)), addresses)
        )
        score = (*first, int((load * load).sum()))
        if best is None or score < best[0]:
            best = score, placed
    assert best is not None
    return HomePlan(tuple(groups), best[1], trials)


def _weight(group: StorageGroup) -> int:
    return group.layout.panel_elements * group.size * group.members


def movable(group: StorageGroup) -> bool:
    """Whether the choice is ours: not pinned, and one copy."""
    return group.pinned is None and group.layout.replica_tiles.size == 1 and 0 not in group.layout.shape


def _levels(groups: Sequence[StorageGroup], tiles: int, objective: Objective) -> tuple[int, ...]:
    """
    Heights (bytes a tile) to which chunks are widened: none, and fractions of what the largest group needs
    anyway.
    """
    if objective == "addresses":
        return (0,)
    heights = [linear(sequence_of(g), tiles).shard_bytes(g.size) * g.members for g in groups if movable(g)]
    top = max(heights, default=0)
    return (0, *(top // n for n in (4, 3, 2, 1)), 2 * top) if top else (0,)


def sequence_of(group: StorageGroup) -> Layout:
    """The panel sequence of a home, without its distribution."""
    layout = group.layout
    outer = {a: layout.axes[a].levels for a in range(len(layout.axes))}
    first = tuple(d for d in layout.order if d[1] == 0)
    if layout.chunk is not None or all(outer[a] > 1 or layout.axes[a].extent <= 1 for a in outer):
        axes = tuple(Axis(axis.extent, (), axis.panels) for axis in layout.axes)
        return Layout(
            axes, (*first, *(d for d in layout.order if d[1] > 0)), (), 0, layout.tiles, layout.memory
        )
    return panel_form(layout, group.size, members=group.members)


def _assign(
    groups: Sequence[StorageGroup],
    order: Sequence[int],
    tiles: int,
    distribution: Distribution,
    level: int,
    rotations: int,
) -> tuple[tuple[StorageGroup, ...], int]:
    """
    The movable groups placed one after another, in `order`, each where it adds least to the loads so far; and
    how many rotations were compared. Chunks are laid behind those of the group before, or rotated.
    """
    placed = list(groups)
    load = total_load([g for g in groups if not movable(g)], tiles)
    shifts = _shifts(tiles, rotations)
    end = trials = 0  # the tile behind the last chunk that was laid
    for i in order:
        if not movable(groups[i]):
            continue
        tried: list[_Placement] = []
        for layout in _distributions(groups[i], tiles, distribution, level):
            laid = layout.chunk is not None or not shifts.size
            candidate = dataclasses.replace(groups[i], layout=layout)
            tried.append(_rotated(candidate, load, np.concatenate([[end], shifts]) if laid else shifts))
        # With no height to fill, small address ranges come first; the earlier distribution wins a tie.
        best = min(tried, key=lambda place: (0 if level else place.shard_bytes, place.top, place.energy))
        trials += sum(place.trials for place in tried)
        placed[i] = best.group
        load = load + best.group.load(tiles)
        if best.group.layout.chunk is not None:  # even, so that pairs stay together
            end = (best.group.layout.base + best.owners + 1) // 2 * 2 % tiles
    return tuple(placed), trials


@dataclass(frozen=True)
class _Placement:
    """
    A group at its best rotation: bytes of the fullest tile with it (`top`), what it adds to the sum of
    squares (`energy`, half of it), the tiles that hold some of it, and how many rotations were compared.
    """

    group: StorageGroup
    top: int
    energy: int
    owners: int
    trials: int

    @property
    def shard_bytes(self) -> int:
        return self.group.layout.shard_bytes(self.group.size)


def _rotated(group: StorageGroup, load: np.ndarray, rotations: np.ndarray) -> _Placement:
    """The rotation with the least fullest tile, then the most even loads, on top of `load` (tiles,)."""
    tiles = len(load)
    own = group.load(tiles)
    windows = np.lib.stride_tricks.sliding_window_view(np.concatenate([own, own]), tiles)
    turned = windows[(tiles - rotations) % tiles]  # (rotations, tiles)
    top = (turned + load).max(axis=1)
    energy = turned @ load  # of the sum of squares, what depends on the rotation
    at = int(np.lexsort((np.arange(rotations.size), energy, top))[0])
    return _Placement(
        dataclasses.replace(group, layout=group.layout.rotate(int(rotations[at]))),
        int(top[at]),
        int(energy[at]),
        int(np.count_nonzero(own)),
        int(rotations.size),
    )


def _shifts(tiles: int, rotations: int) -> np.ndarray:
    """At most `rotations` even rotations (pairs of tiles share a fabric port); none for 0."""
    if not rotations:
        return np.zeros(0, np.int64)
    step = 2 * max(1, -(-tiles // (2 * rotations))) if tiles % 2 == 0 else max(1, -(-tiles // rotations))
    return np.arange(0, tiles, step)


def _distributions(group: StorageGroup, tiles: int, distribution: Distribution, level: int) -> list[Layout]:
    """Ways to deal the panels of a group, chunks or parts as high as `level` bytes a tile if possible."""
    form = sequence_of(group)
    result: list[Layout] = []
    if distribution in ("auto", "linear"):
        panel = form.panel_elements * group.size * group.members
        even = -(-form.panel_count // tiles)
        result.append(linear(form, tiles, chunk=max(even, min(level // max(panel, 1), form.panel_count))))
    if distribution in ("auto", "grid"):
        owners = None
        if level:
            panel = form.panel_elements * group.size * group.members
            owners = min(tiles, max(1, -(-form.panel_count * panel // level)))
        result.append(panel_grid(form, tiles, owners))
    if not level:  # the provisional distribution, rotated: kept where dealing its panels again is no better
        result.append(dataclasses.replace(group.layout, base=0, tiles=tiles))
    return result


# -- what planning places before anybody chooses
# ---------------------------------------------------------------------------------


def longest_prefix(size: int, fits: Callable[[int], bool]) -> int:
    """
    By bisection, a number of moves with which the program fits; 0 of them do, all `size` are known not to.
    """
    kept, limit = 0, size
    while limit - kept > 1:
        middle = (kept + limit) // 2
        if fits(middle):
            kept = middle
        else:
            limit = middle
    return kept
