# SPDX-License-Identifier: Apache-2.0
"""Packing of bindings: every element lies where its layout says, padding is zero, reading back gives it."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.backends.host import pack, packing, unpack
from tilewright.machine.dtypes import itemsize, numpy_dtype
from tilewright.planning.layout import Axis, Layout, LayoutError, Split, linear_home, row_major
from tilewright.planning.layout.view import View

TILES = 64


@st.composite
def layouts(draw) -> Layout:
    rank = draw(st.integers(1, 3))
    axes, stride = [], 1
    for _ in range(rank):
        extent = draw(st.sampled_from([1, 2, 3, 7, 8, 13]))
        splits = ()
        if draw(st.booleans()):
            block = draw(st.integers(1, extent))
            splits = (Split(block, stride),)
            stride *= -(-extent // block)
        axes.append(Axis(extent, splits, draw(st.sampled_from([(), (2,), (4,), (4, 2)]))))
    order = draw(st.permutations([(a, level) for a, axis in enumerate(axes) for level in range(axis.levels)]))
    replicas = draw(st.sampled_from([(), ((2, stride),)]))
    try:
        return Layout(tuple(axes), tuple(order), replicas, draw(st.integers(0, 5)), TILES)
    except LayoutError:
        return Layout(tuple(axes), tuple(order))


@st.composite
def homes(draw) -> Layout:
    shape = draw(st.lists(st.sampled_from([1, 3, 8, 13]), min_size=1, max_size=3))
    panels = [draw(st.sampled_from([(1,), (2,), (4,)])) for _ in shape]
    levels = [(a, level) for level in range(2) for a in range(len(shape))]
    return linear_home(
        shape, panels, levels, tiles=TILES, owners=draw(st.integers(1, 20)), base=draw(st.integers(0, 63))
    )


@settings(max_examples=150, deadline=None)
@given(layouts() | homes(), st.sampled_from(["f32", "f16", "f8E4M3FNUZ", "i8"]), st.data())
def test_every_element_lies_where_the_layout_says(layout: Layout, dtype: str, data) -> None:
    try:
        layout.owners(TILES)
    except LayoutError:
        return
    view = View.identity(layout.shape)
    view = view.transpose(data.draw(st.permutations(range(view.rank))))
    count = int(np.prod(view.shape))
    values = (np.arange(1, count + 1) % 15 + 1).reshape(view.shape).astype(np.float32)
    shards, sizes = pack(values, layout, view, dtype, 0, TILES)
    assert np.array_equal(sizes > 0, layout.owners(TILES))
    assert shards.shape[1] % 4 == 0
    typed = shards.view(numpy_dtype(dtype))
    expected = np.zeros(typed.shape, np.float32)
    index = np.indices(view.shape)
    tile, offset = layout.positions(*view.storage(*index))
    for replica in layout.replica_tiles:
        where = (tile - layout.base + replica + layout.base) % TILES
        expected[where, offset] = values
    assert np.array_equal(typed.astype(np.float32), expected)
    assert (np.asarray(offset + 1) * itemsize(dtype) <= sizes[tile]).all()
    assert np.array_equal(unpack(shards, layout, view, dtype), values)


def test_a_slice_of_a_stored_array() -> None:
    layout = row_major((4, 6))
    view = View.identity((4, 6)).slice((1, 2), (2, 3))
    assert view is not None
    shards, _ = pack(np.arange(6).reshape(2, 3), layout, view, "i32", 0, 2)
    stored = shards[0].view(np.int32).reshape(4, 6)
    assert np.array_equal(stored[1:3, 2:5], [[0, 1, 2], [3, 4, 5]])
    assert stored.sum() == 15
    assert np.array_equal(unpack(shards, layout, view, "i32"), [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize("dtype", ["f8E4M3FNUZ", "f16"])
def test_values_are_stored_with_their_scale(dtype: str) -> None:
    layout, view = row_major((3,)), View.identity((3,))
    values = np.array([0.5, -1.0, 6.0], np.float32)
    shards, _ = pack(values, layout, view, dtype, -3, 2)
    assert np.array_equal(shards[0].view(numpy_dtype(dtype))[:3].astype(np.float32), values * 8)
    assert np.array_equal(unpack(shards, layout, view, dtype, -3), values)


def test_values_beyond_the_type_saturate() -> None:
    layout, view = row_major((2,)), View.identity((2,))
    shards, _ = pack(np.array([1e6, -1e6], np.float32), layout, view, "f8E4M3FNUZ", 0, 2)
    assert unpack(shards, layout, view, "f8E4M3FNUZ").tolist() == [240, -240]


def test_a_large_matrix_is_packed_in_a_fraction_of_a_second() -> None:
    """A budget of 0.3 s for one of the 27 layers, with the room of a busy machine."""
    home = linear_home((4304, 1152), ((16,), (32,)), ((0, 0), (1, 0), (0, 1), (1, 1)), tiles=1472)
    view = View.identity((4304, 1152)).transpose((1, 0))
    values = np.random.default_rng(0).standard_normal((1152, 4304)).astype(np.float32)
    packing(home, view, 1, 1472)  # shared by the layers
    start = time.process_time()
    pack(values, home, view, "f8E4M3FNUZ", -4, 1472)
    assert time.process_time() - start < 0.6
