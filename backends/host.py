# SPDX-License-Identifier: Apache-2.0
"""
The host's side of bindings: logical numpy arrays to shards of bytes on tiles, and back.

Everything goes through the tables of the layout: the flat position of an element (tile number * shard +
offset) is a sum of one table per storage axis, so packing is one conversion of the element type and one
indexed store.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tilewright.diagnostics import TileError
from tilewright.machine.dtypes import UnknownDtype, is_integer, itemsize, numpy_dtype
from tilewright.machine.numerics.operations import cast_array
from tilewright.planning.layout import Layout
from tilewright.planning.layout.view import View

_UINT = {1: np.uint8, 2: np.uint16, 4: np.uint32}


class HostError(TileError):
    """An array that does not fit its binding."""


@dataclass(frozen=True, eq=False)
class Packing:
    """
    Where a value's elements go. `positions` (logical shape) flat element positions over nominal shards of
    `shard` elements; `contiguous` when they are 0, 1, 2, ...; `rows` (nominal shards, replicas) are the tiles
    that get each shard, `held` the nominal shards that hold an element (strides leave gaps, which belong to
    copies of others); `nbytes` (tiles,) whole words of each tile's shard, 0 where it holds nothing.
    """

    positions: npt.NDArray[np.int32]
    contiguous: bool
    shard: int
    rows: npt.NDArray[np.int64]
    held: npt.NDArray[np.int64]
    nbytes: npt.NDArray[np.int64]


@lru_cache(maxsize=64)
def packing(layout: Layout, view: View, size: int, tiles: int) -> Packing:
    """The packing of a value with elements of `size` bytes; remembered, since layers share their layouts."""
    view.check_inside(layout.shape)
    if 0 in view.shape:
        none = np.zeros(0, np.int64)
        return Packing(
            np.zeros(view.shape, np.int32), False, 1, none.reshape(0, 1), none, np.zeros(tiles, np.int64)
        )
    shard = -(-layout.shard_elements * size // 4) * 4 // size
    chunk = layout.chunk_elements
    total: np.ndarray = np.zeros((), np.int64)
    for axis in range(len(layout.axes)):
        tile, offset = layout.sum_tables(axis)
        total = total + (tile * shard + offset)[_storage_index(view, axis)]
    total = np.broadcast_to(total, view.shape)
    if chunk is not None and chunk != shard:
        part, inner = np.divmod(total, chunk)
        total = part * shard + inner
    if total.size and int(total.max()) >= 2**31:
        raise HostError(f"layout '{layout}' spreads over more than 2^31 elements")
    nominal = int(total.max()) // shard + 1 if total.size else 0
    rows = np.arange(nominal, dtype=np.int64)[:, None] + layout.replica_tiles + layout.base
    if layout.tiles:
        rows %= layout.tiles
    nbytes = -(-layout.shard_bytes_per_tile(size, tiles) // 4) * 4
    positions = np.ascontiguousarray(total, dtype=np.int32)
    flat = positions.reshape(-1)
    contiguous = bool(flat.size) and bool((flat == np.arange(flat.size, dtype=np.int32)).all())
    held = (
        np.flatnonzero(np.bincount(flat // shard, minlength=nominal)) if total.size else np.zeros(0, np.int64)
    )
    return Packing(positions, contiguous, shard, rows, held, nbytes)


def _storage_index(view: View, axis: int) -> np.ndarray:
    """Index on a storage axis of every logical element, broadcastable to the logical shape."""
    index: np.ndarray = np.full((1,) * view.rank, view.offsets[axis], np.int64)
    for dim, (extent, digits) in enumerate(zip(view.shape, view.digits, strict=True)):
        rest = np.arange(extent, dtype=np.int64)
        part = np.zeros(extent, np.int64)
        for size, target, stride in reversed(digits):
            if target == axis:
                part += (rest % size) * stride
            rest //= max(size, 1)
        if part.any():
            index = index + part.reshape((-1,) + (1,) * (view.rank - dim - 1))
    return index


def quantise(array: np.ndarray, dtype: str, scale: int = 0) -> np.ndarray:
    """Logical values to stored elements: value * 2^-scale, one rounding, saturating."""
    target = numpy_dtype(dtype)
    if array.dtype == target and not scale:
        return np.ascontiguousarray(array)
    if array.dtype.kind in "iub" and array.dtype not in (np.int8, np.int32, np.uint32, np.bool_):
        # Integers as numpy makes them by default; what is stored has at most 32 bits.
        if is_integer(dtype) and array.size:
            limits = np.iinfo(np.uint32 if dtype == "u32" else np.int32)
            if int(array.min()) < limits.min or int(array.max()) > limits.max:
                raise HostError(f"values of {array.dtype} do not fit {dtype}")
        array = array.astype((np.uint32 if dtype == "u32" else np.int32) if is_integer(dtype) else np.float64)
    try:
        return np.ascontiguousarray(cast_array(array, dtype, scale, True))
    except UnknownDtype as error:
        raise HostError(f"values of type {array.dtype} cannot be stored as {dtype}") from error


def pack(
    array: np.ndarray, layout: Layout, view: View, dtype: str, scale: int, tiles: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """
    Shards of a logical array: (bytes (tiles, shard bytes), size of each tile's shard (tiles,)).

    Shards are whole words; what holds no element is zero. Replicas get the same bytes.
    """
    if tuple(array.shape) != view.shape:
        raise HostError(f"an array of shape {tuple(array.shape)} is given for a value of shape {view.shape}")
    size = itemsize(dtype)
    plan = packing(layout, view, size, tiles)
    stored = quantise(array, dtype, scale).view(_UINT[size]).reshape(-1)
    shards = np.zeros((len(plan.rows), plan.shard), _UINT[size])
    if plan.contiguous:
        shards.reshape(-1)[: stored.size] = stored
    else:
        shards.reshape(-1)[plan.positions.reshape(-1)] = stored
    out = np.zeros((tiles, plan.shard), _UINT[size])
    for replica in range(plan.rows.shape[1]):
        out[plan.rows[plan.held, replica]] = shards[plan.held]
    return out.view(np.uint8), plan.nbytes


def unpack(
    shards: npt.NDArray[np.uint8],
    layout: Layout,
    view: View,
    dtype: str,
    scale: int = 0,
    *,
    raw: bool = False,
) -> np.ndarray:
    """
    The logical array of shards (tiles, shard bytes), read from the first replica.

    Values are stored * 2^scale: float types come back as f32 (which holds all of them exactly, up to the
    scale), integers as they are. With `raw` the stored elements come back in their own type and the scale is
    not applied.
    """
    size = itemsize(dtype)
    plan = packing(layout, view, size, shards.shape[0])
    if not plan.positions.size:
        stored = np.zeros(view.shape, numpy_dtype(dtype))
    else:
        items = np.ascontiguousarray(shards).view(_UINT[size])
        parts = items[plan.rows[:, 0]][:, : plan.shard]
        stored = np.ascontiguousarray(parts).reshape(-1)[plan.positions].view(numpy_dtype(dtype))
    if raw or stored.dtype.kind in "iub":
        return stored
    values = stored.astype(np.float32)
    return np.ldexp(values, scale) if scale else values


def shard_bytes(layout: Layout, view: View, dtype: str, tiles: int) -> int:
    """Bytes of the row that `pack` makes for a tile."""
    size = itemsize(dtype)
    return packing(layout, view, size, tiles).shard * size
