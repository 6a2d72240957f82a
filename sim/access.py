# SPDX-License-Identifier: Apache-2.0
"""
How a kernel operand lies in memory, compiled for numpy.

An operand is a list of axes, each a list of digits (size, stride). For given extents it falls apart into
*boxes*: sub-ranges of the axes on which every digit runs over its full size, so that a box is one strided
view and no index table is needed. The *footprint* is the set of words it touches, with a mask of bytes for
each, relative to the word that holds its first byte. Everything here depends only on digits, extents, element
size and the address modulo 4, so it is compiled once and reused for every tile of a group and every iteration
of a repeat.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
import numpy.typing as npt

from tilewright.sim.memory import FULL

Digits = tuple[tuple[int, int], ...]
Tiles = slice | npt.NDArray[np.int64]

_UINT = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def is_broadcast(axis: Digits) -> bool:
    """Whether the axis has no storage: one element stands for all of its indices."""
    return all(stride == 0 for _, stride in axis)


@dataclass(frozen=True)
class _Run:
    """
    Indices start..start+count of one axis: dims (sizes), strides (elements) and the offset of the first.
    """

    start: int
    count: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


def _runs(digits: Digits, extent: int, start: int = 0, offset: int = 0) -> list[_Run]:
    """The axis cut where an outer digit is not complete."""
    if extent <= 0:
        return []
    inner = prod(size for size, _ in digits[1:])
    whole, rest = divmod(extent, inner)
    stride = digits[0][1]
    found: list[_Run] = []
    if whole:
        dims = (whole, *(size for size, _ in digits[1:]))
        found.append(_Run(start, whole * inner, dims, tuple(s for _, s in digits), offset))
    if rest:
        found += _runs(digits[1:], rest, start + whole * inner, offset + whole * stride)
    return found


def offsets(digits: Digits, extent: int) -> npt.NDArray[np.int64]:
    """Element offset of every index of the axis, (extent,)."""
    rest = np.arange(extent, dtype=np.int64)
    total = np.zeros(extent, np.int64)
    for position, (size, stride) in reversed(list(enumerate(digits))):
        if position == 0:
            total += rest * stride
        else:
            rest, digit = np.divmod(rest, size)
            total += digit * stride
    return total


@dataclass(frozen=True)
class Box:
    """
    One strided part of an operand: `index` are the slices of the gathered array, `parts` its dims per axis.
    """

    index: tuple[slice, ...]
    dims: tuple[int, ...]
    strides: tuple[int, ...]  # elements
    offset: int  # elements
    shape: tuple[int, ...]  # of the part in the gathered array: the product of its dims per axis


@dataclass(frozen=True, eq=False)
class Access:
    """
    A compiled operand.

    `shape`: gathered shape per tile (1 where broadcast). `low`, `high`: first byte and the byte after the
    last, relative to the address. `contiguous`: the elements in order are one run from the address on.
    `words`: word numbers relative to the word of the address, ascending; `masks` their byte masks; None for
    both where all words low..high are full. `duplicates`: two indices lie on the same bytes.
    """

    shape: tuple[int, ...]
    itemsize: int
    boxes: tuple[Box, ...]
    low: int
    high: int
    contiguous: bool
    words: npt.NDArray[np.int64] | None
    masks: npt.NDArray[np.uint8] | None
    duplicates: bool

    @property
    def elements(self) -> int:
        """Elements per tile."""
        return prod(self.shape)

    def touched(self) -> npt.NDArray[np.int64]:
        """Word numbers relative to the word of the address, ascending."""
        if self.words is not None:
            return self.words
        return np.arange(self.low // 4, self.high // 4, dtype=np.int64)


@lru_cache(maxsize=8192)
def reach(axes: tuple[Digits, ...], extents: tuple[int, ...], itemsize: int) -> tuple[int, int, int]:
    """
    (low, high, elements) of an operand: first byte and byte after the last, relative to the address, and how
    many elements it has. Arithmetic on digits, so it may be asked before anything is expanded. No extent is
    0.
    """
    low = high = 0
    count = 1
    for axis, extent in zip(axes, extents, strict=True):
        if not is_broadcast(axis):
            ends = [_ends(run) for run in _runs(axis, extent)]
            low += min(first for first, _ in ends)
            high += max(last for _, last in ends)
            count *= extent
    return low * itemsize, (high + 1) * itemsize, count


@lru_cache(maxsize=8192)
def compile_access(axes: tuple[Digits, ...], extents: tuple[int, ...], itemsize: int, phase: int) -> Access:
    """
    The access of an operand with the given extents (one per axis) whose address is `phase` modulo 4. No
    extent is 0.
    """
    extents = tuple(1 if is_broadcast(axis) else extent for axis, extent in zip(axes, extents, strict=True))
    runs = [_runs(axis, extent) for axis, extent in zip(axes, extents, strict=True)]
    boxes: list[Box] = []
    for parts in itertools.product(*runs):
        boxes.append(
            Box(
                tuple(slice(part.start, part.start + part.count) for part in parts),
                tuple(size for part in parts for size in part.dims),
                tuple(stride for part in parts for stride in part.strides),
                sum(part.offset for part in parts),
                tuple(part.count for part in parts),
            )
        )
    low = sum(min(_ends(run)[0] for run in axis) for axis in runs) * itemsize
    high = (sum(max(_ends(run)[1] for run in axis) for axis in runs) + 1) * itemsize
    count = prod(extents)
    contiguous = len(boxes) == 1 and boxes[0].offset == 0 and _dense(boxes[0].dims, boxes[0].strides)
    if contiguous and phase == 0 and high % 4 == 0:
        return Access(extents, itemsize, tuple(boxes), 0, high, True, None, None, False)
    covered, duplicates = _covered(axes, extents, itemsize, phase, low, high, count)
    base = (low + phase) // 4  # word of the first covered byte, relative to the word of the address
    masks = (covered.reshape(-1, 4) * np.array([1, 2, 4, 8], np.uint8)).sum(axis=1, dtype=np.uint8)
    words = np.flatnonzero(masks)
    masks = masks[words]
    if (
        phase == 0
        and low % 4 == 0
        and high % 4 == 0
        and len(words) == (high - low) // 4
        and (masks == FULL).all()
    ):
        return Access(extents, itemsize, tuple(boxes), low, high, contiguous, None, None, duplicates)
    return Access(extents, itemsize, tuple(boxes), low, high, contiguous, words + base, masks, duplicates)


def _ends(run: _Run) -> tuple[int, int]:
    """Smallest and largest element offset of a run."""
    ends = [(size - 1) * stride for size, stride in zip(run.dims, run.strides, strict=True)]
    return run.offset + sum(min(0, end) for end in ends), run.offset + sum(max(0, end) for end in ends)


def _dense(dims: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    expected = 1
    for size, stride in zip(reversed(dims), reversed(strides), strict=True):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


def _covered(
    axes: tuple[Digits, ...],
    extents: tuple[int, ...],
    itemsize: int,
    phase: int,
    low: int,
    high: int,
    count: int,
) -> tuple[npt.NDArray[np.uint8], bool]:
    """
    A byte map from the word that holds the first covered byte to the one that holds the last, and whether
    bytes repeat.
    """
    total = np.zeros((), np.int64)
    for axis, extent in zip(axes, extents, strict=True):
        total = total[..., None] + offsets(axis, extent)
    first = (low + phase) // 4 * 4
    last = -(-(high + phase) // 4) * 4
    covered = np.zeros(last - first, np.uint8)
    start = total.reshape(-1) * itemsize + phase - first
    for byte in range(itemsize):
        covered[start + byte] = 1
    return covered, int(covered.sum(dtype=np.int64)) != count * itemsize


def _view(memory: np.ndarray, box: Box, itemsize: int, at: int) -> np.ndarray:
    """All tiles' elements of a box: (tiles, *dims), a view. `at`: byte offset of the operand in a tile."""
    items = memory.view(_UINT[itemsize])
    start = at // itemsize + box.offset
    return np.lib.stride_tricks.as_strided(
        items[:, start:],
        (items.shape[0], *box.dims),
        (items.strides[0], *(stride * itemsize for stride in box.strides)),
    )


def gather(memory: npt.NDArray[np.uint8], tiles: Tiles, at: int, access: Access) -> np.ndarray:
    """
    The operand on some tiles, (tiles, *shape) as unsigned integers of the element size; contiguous, a copy.
    """
    count = _count(tiles, memory.shape[0])
    if access.contiguous:
        items = memory.view(_UINT[access.itemsize])
        start = at // access.itemsize
        return np.ascontiguousarray(items[tiles, start : start + access.elements]).reshape(
            count, *access.shape
        )
    out = np.empty((count, *access.shape), _UINT[access.itemsize])
    if len(access.boxes) == 1:
        box = access.boxes[0]
        out.reshape(count, *box.dims)[...] = _view(memory, box, access.itemsize, at)[tiles]
        return out
    for box in access.boxes:
        part = _view(memory, box, access.itemsize, at)[tiles]
        out[(slice(None), *box.index)] = part.reshape(count, *box.shape)
    return out


def scatter(memory: npt.NDArray[np.uint8], tiles: Tiles, at: int, access: Access, values: np.ndarray) -> None:
    """Write the operand on some tiles: `values` (tiles, *shape) as unsigned integers of the element size."""
    count = _count(tiles, memory.shape[0])
    if access.contiguous:
        items = memory.view(_UINT[access.itemsize])
        start = at // access.itemsize
        items[tiles, start : start + access.elements] = values.reshape(count, access.elements)
        return
    for box in access.boxes:
        part = values[(slice(None), *box.index)].reshape(count, *box.dims)
        _view(memory, box, access.itemsize, at)[tiles] = part


def _count(tiles: Tiles, total: int) -> int:
    return len(range(*tiles.indices(total))) if isinstance(tiles, slice) else len(tiles)


def as_tiles(numbers: npt.NDArray[np.int64]) -> Tiles:
    """A slice when the tiles are evenly spaced, which spares numpy a copy."""
    if len(numbers) == 1:
        return slice(int(numbers[0]), int(numbers[0]) + 1)
    steps = np.diff(numbers)
    if len(steps) and (steps == steps[0]).all() and steps[0] > 0:
        return slice(int(numbers[0]), int(numbers[-1]) + 1, int(steps[0]))
    return numbers


def tile_of(tiles: Tiles, row: int) -> int:
    """The tile at a position of a selection."""
    if isinstance(tiles, slice):
        return (tiles.start or 0) + row * (tiles.step or 1)
    return int(tiles[row])


def tile_numbers(tiles: Tiles, total: int) -> npt.NDArray[np.int64]:
    """The tiles of a selection among `total`, (tiles,)."""
    return np.arange(*tiles.indices(total)) if isinstance(tiles, slice) else tiles


def cross(
    tiles: Tiles, columns: npt.NDArray[np.int64], total: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Index arrays of some words on some tiles, broadcast to (tiles, words)."""
    return tile_numbers(tiles, total)[:, None], columns[None, :]
