# SPDX-License-Identifier: Apache-2.0
"""The padding of panels, against the places of every element."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.planning.exchange.geometry import element_places
from tilewright.planning.layout import Axis, Layout, Split, View
from tilewright.planning.layout.padding import PadRegion, pad_region, panel_padding

TILES = 4


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Two or three storage axes, some in panels, split along up to two of them, in any order of digits."""
    axes: list[Axis] = []
    stride = 1
    for _ in range(draw(st.integers(1, 3))):
        extent = draw(st.integers(1, 11))
        panels = draw(st.sampled_from(((), (2,), (4,), (8,))))
        grain = panels[0] if panels else 1
        block = extent
        if stride < TILES and draw(st.booleans()):
            block = -(-extent // 2 // grain) * grain or grain
        splits = (Split(block, stride),) if block < extent else ()
        if -(-extent // block) * stride > TILES:
            splits = ()
        stride *= -(-extent // block) if splits else 1
        axes.append(Axis(extent, splits, panels))
    outer = draw(st.permutations([(i, 0) for i in range(len(axes))]))
    inner = draw(st.permutations([(i, 1) for i, axis in enumerate(axes) if axis.panels]))
    return Layout(tuple(axes), (*outer, *inner), tiles=TILES)


def words(region: PadRegion, tile: int) -> set[int]:
    """The bytes of the words that a kernel writes that walks the region."""
    found: set[int] = set()
    for index in product(*(range(int(extent)) for extent in region.extents[tile])):
        word = 0
        for at, digits in zip(index, region.axes, strict=True):
            sizes = [size for size, _ in digits]
            for i, (size, stride) in enumerate(digits):
                inner = int(np.prod(sizes[i + 1 :])) if i + 1 < len(sizes) else 1
                word += ((at // inner) % size if size else at // inner) * stride
        found |= set(range(region.offset + 4 * word, region.offset + 4 * word + 4))
    return found


def padded_bytes(layout: Layout, size: int) -> list[set[int]]:
    """Bytes of whole panels that hold no element, by tile."""
    held: list[set[int]] = [set() for _ in range(TILES)]
    tile, offset = element_places(layout, View.identity(layout.shape))
    for t, o in zip(tile.ravel().tolist(), offset.ravel().tolist(), strict=True):
        held[t] |= set(range(o * size, (o + 1) * size))
    return held


@given(layouts(), st.sampled_from((1, 2, 4)))
@settings(deadline=None)
def test_a_region_is_the_words_behind_an_axis(layout: Layout, size: int) -> None:
    """It stays in the shard, and what it shares with elements is less than the word that it begins in."""
    held = padded_bytes(layout, size)
    shard = layout.shard_bytes(size)
    for axis in panel_padding(layout):
        region = pad_region(layout, axis, size, TILES)
        if region is None:
            continue
        local = layout.local_extents(axis, TILES)
        panel = layout.axes[axis].panels[0]
        for tile in range(TILES):
            active = bool((region.extents[tile] > 0).all())
            assert active == bool(layout.owners(TILES)[tile] and local[tile] % panel)
            if not active:
                continue
            covered = words(region, tile)
            assert min(covered) >= 0 and max(covered) < shard
            # What is written of valid data shares its word with padding: the data comes later.
            for byte in covered & held[tile]:
                word = set(range(byte - byte % 4, byte - byte % 4 + 4))
                assert not word <= held[tile]


@given(layouts(), st.sampled_from((1, 2, 4)))
@settings(deadline=None)
def test_regions_and_elements_fill_the_panels(layout: Layout, size: int) -> None:
    """Where every padded axis has a region, no byte of a whole panel is left undefined."""
    axes = panel_padding(layout)
    regions = [pad_region(layout, axis, size, TILES) for axis in axes]
    if not axes or any(region is None for region in regions):
        return
    held = padded_bytes(layout, size)
    for tile in np.flatnonzero(layout.owners(TILES)).tolist():
        extents = [
            -(-int(layout.local_extents(i, TILES)[tile]) // (axis.panels[0] if axis.panels else 1))
            * (axis.panels[0] if axis.panels else 1)
            for i, axis in enumerate(layout.axes)
        ]
        every = offsets(layout, extents, size)
        covered = set().union(*(words(r, tile) for r in regions if r is not None and r.extents[tile].all()))
        assert every <= covered | held[tile]


def offsets(layout: Layout, extents: list[int], size: int) -> set[int]:
    """Bytes of the elements of a shard of whole panels."""
    found: set[int] = set()
    for index in product(*map(range, extents)):
        at = 0
        for i, (n, axis) in enumerate(zip(index, layout.axes, strict=True)):
            digits = (n // axis.panels[0], n % axis.panels[0]) if axis.panels else (n,)
            at += sum(d * stride for d, (_, stride) in zip(digits, layout.strides(i), strict=True))
        found |= set(range(at * size, (at + 1) * size))
    return found


@given(layouts())
@settings(deadline=None)
def test_padding_is_found_along_the_axes_that_have_it(layout: Layout) -> None:
    """By where elements lie: some tile's part of the axis is no whole number of panels."""
    index = np.indices(layout.shape).reshape(len(layout.shape), -1)
    tile, _ = (a.ravel() for a in element_places(layout, View.identity(layout.shape)))
    expected = tuple(
        i
        for i, axis in enumerate(layout.axes)
        if axis.panels and any(len(np.unique(index[i, tile == t])) % axis.panels[0] for t in np.unique(tile))
    )
    assert panel_padding(layout) == expected


def test_two_lengths_have_no_region() -> None:
    """17 columns in blocks of 8 end inside a panel of 8 on the third tile alone; 13 in blocks of 6 on all."""
    one = Layout((Axis(17, (Split(8, 1),), (8,)),), ((0, 0), (0, 1)), tiles=TILES)
    region = pad_region(one, 0, 2, TILES)
    assert region is not None and region.extents[:, 0].tolist() == [
        0,
        0,
        4,
        0,
    ]  # from the word of element 16 on
    assert region.offset == 0
    two = Layout((Axis(13, (Split(6, 1),), (4,)),), ((0, 0), (0, 1)), tiles=TILES)
    assert panel_padding(two) == (0,) and pad_region(two, 0, 2, TILES) is None
