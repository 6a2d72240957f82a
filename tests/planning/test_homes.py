# SPDX-License-Identifier: Apache-2.0
"""Homes without IR: forms, distributions, loads, the choice of rotations, what copy kernels can encode."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.machine import load
from tilewright.planning import homes
from tilewright.planning.exchange.copies import choose_move, refusal
from tilewright.planning.exchange.geometry import element_places, transfers
from tilewright.planning.homes import StorageGroup
from tilewright.planning.homes.forms import SMALLEST_SHARD_BYTES, VECTOR_BUDGET_BYTES
from tilewright.planning.homes.report import HomeReport
from tilewright.planning.layout import Axis, Layout, Split, View, row_major
from tilewright.planning.operators.matmul import Shape, layouts

TILES = 1472
IDEAL = 279_260  # bytes of the 27 layers' FP8 matrices, divided evenly over 1472 tiles
WEIGHTS = {  # (columns, contraction), whether the product streams the weight's rows, grid
    "q": (1152, 1152, False, (1, 9, 18, 9)),
    "k": (1152, 1152, False, (1, 9, 18, 9)),
    "v": (1152, 1152, True, (1, 7, 23, 9)),
    "projection": (1152, 1152, False, (1, 9, 18, 9)),
    "up": (4304, 1152, False, (1, 4, 90, 4)),
    "down": (1152, 4304, False, (1, 3, 18, 27)),
}


def compute_layout(name: str) -> Layout:
    n, k, swap, grid = WEIGHTS[name]
    m, n = (n, 729) if swap else (729, n)
    shape = Shape((), m, n, k, "gemm.f8", ("f8E4M3FNUZ",) * 2, 0, "f16")
    where = layouts(shape, grid, load("c600"))
    return where.a if swap else where.w


def encoder(*, whole: bool = False, members: int = 27) -> list[StorageGroup]:
    return [
        StorageGroup(
            name, homes.linear(homes.panel_form(compute_layout(name), 1, whole=whole), TILES), 1, members
        )
        for name in WEIGHTS
    ]


# -- forms ---------------------------------------------------------------------------------------------------


def gemm_layout(
    n: int, k: int, blocks: tuple[int, int], replicas: int, tiles: int, *, left: bool = False
) -> Layout:
    """The order of the matrix unit's weights (AMP), or of its streamed operand (block-major)."""
    parts = -(-k // blocks[1])
    axes = (
        Axis(n, (Split(blocks[0], parts),), () if left else (16,)),
        Axis(k, (Split(blocks[1], 1),), (32,)),
    )
    order = ((1, 0), (0, 0), (1, 1)) if left else ((0, 0), (1, 0), (0, 1), (1, 1))
    copies = ((replicas, parts * -(-n // blocks[0])),) if replicas > 1 else ()
    return Layout(axes, order, copies, 0, tiles)


def test_a_panel_keeps_the_element_order_of_its_consumer() -> None:
    amp = homes.panel_form(gemm_layout(96, 128, (48, 64), 3, 16), 1)
    assert str(amp) == "[96|16, 128|32] a0.b0.a1.b1 %16"
    streamed = homes.panel_form(gemm_layout(96, 128, (48, 64), 3, 16, left=True), 1)
    assert str(streamed) == "[96|16, 128|32] b0.a0.a1.b1 %16"
    assert amp.panel_elements == streamed.panel_elements == 512


def test_whole_exchange_panels_are_square() -> None:
    for left in (False, True):
        form = homes.panel_form(gemm_layout(96, 128, (48, 64), 3, 16, left=left), 1, whole=True)
        assert form.panel_elements == 1024
        assert [axis.panels[0] for axis in form.axes] == [32, 32]
    f16 = Layout(
        (Axis(96, (), (16,)), Axis(64, (), (16,))), ((0, 0), (1, 0), (0, 1), (1, 1)), ((4, 1),), 0, 16
    )
    assert homes.panel_form(f16, 2) == homes.panel_form(f16, 2, whole=True)  # 16 x 16 is whole already


@pytest.mark.parametrize(("members", "shard"), [(1, 256), (8, 256), (27, 64), (64, 32), (1000, 32)])
def test_shards_of_small_vectors_shrink_with_the_members(members: int, shard: int) -> None:
    vector = Layout((Axis(1152),), ((0, 0),), ((1440, 1),), 0, TILES)
    form = homes.panel_form(vector, 2, members=members)
    assert form.panel_elements * 2 == shard
    if members * shard > VECTOR_BUDGET_BYTES:
        assert shard == SMALLEST_SHARD_BYTES


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_panels_are_whole_words_and_hold_every_element_once(data: st.DataObject) -> None:
    rank = data.draw(st.integers(1, 3))
    size = data.draw(st.sampled_from((1, 2, 4)))
    axes = tuple(
        Axis(data.draw(st.integers(1, 70)), (), data.draw(st.sampled_from(((), (), (4,), (16, 8)))))
        for _ in range(rank)
    )
    outer = data.draw(st.permutations([(a, 0) for a in range(rank)]))
    inner = data.draw(st.permutations([(a, 1) for a in range(rank) if axes[a].levels > 1]))
    last = [(a, 2) for a in range(rank) if axes[a].levels > 2]
    compute = Layout(axes, (*outer, *inner, *last))
    form = homes.panel_form(
        compute, size, whole=data.draw(st.booleans()), members=data.draw(st.integers(1, 40))
    )
    if any(not axis.panels for axis in axes):
        assert form.panel_elements * size % 4 == 0
    tiles = data.draw(st.integers(1, 9))
    for home in (homes.linear(form, tiles), homes.panel_grid(form, tiles)):
        tile, offset = element_places(home, View.identity(home.shape))
        assert int(tile.max()) < tiles
        assert np.unique(tile * home.shard_elements + offset).size == math.prod(home.shape)
        assert home.replica_tiles.size == 1


# -- distributions -------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 9), st.integers(1, 12), st.integers(1, 30))
def test_a_panel_grid_has_the_smallest_largest_shard_then_the_least_padding(
    n: int, k: int, tiles: int
) -> None:
    form = homes.panel_form(gemm_layout(16 * n, 32 * k, (16 * n, 32 * k), 1, tiles), 1)
    home = homes.panel_grid(form, tiles)
    options = [
        (a * b, a * b * -(-n // a) * -(-k // b))
        for a, b in itertools.product(range(1, n + 1), range(1, k + 1))
        if -(-n // a) * -(-k // b) <= tiles
    ]
    held = home.shard_bytes_per_tile(1, tiles)
    assert (held.max() // 512, int(home.owners(tiles).sum()) * held.max() // 512) == min(options)


def test_a_sequence_is_as_long_as_whole_panels_allow() -> None:
    form = homes.panel_form(compute_layout("up"), 1)
    home = homes.linear(form, TILES)
    assert form.panel_count == 269 * 36
    assert home.chunk == 7
    assert int(home.shard_bytes_per_tile(1, TILES).sum()) == 269 * 36 * 512


def brute_spans(home: Layout, want: Layout) -> list[int]:
    """Bytes of the runs of FP8 elements that stay together on both sides, element by element."""
    view = View.identity(home.shape)
    src, dst = element_places(home, view), element_places(want, view)
    places = sorted(zip(*(a.ravel().tolist() for a in (*src, *dst)), strict=True))
    runs: list[int] = []
    last: tuple[int, ...] | None = None
    for place in places:
        follows = last is not None and place == (last[0], last[1] + 1, last[2], last[3] + 1)
        if follows:
            runs[-1] += 1
        else:
            runs.append(1)
        last = place
    return runs


@pytest.mark.parametrize("left", [False, True], ids=["AMP", "block-major"])
@pytest.mark.parametrize("whole", [False, True], ids=["fine", "whole"])
def test_complete_grids_move_in_spans_of_512_bytes(left: bool, whole: bool) -> None:
    want = gemm_layout(96, 128, (32, 64), 1, 16, left=left)
    form = homes.panel_form(gemm_layout(96, 128, (32, 64), 2, 16, left=left), 1, whole=whole)
    for home in (homes.linear(form, 16, base=3), homes.panel_grid(form, 16).rotate(5)):
        runs = brute_spans(home, want)
        assert sum(runs) == 96 * 128
        assert min(runs) >= 512
        assert (
            int(transfers(home, View.identity(home.shape), want, View.identity(want.shape), 1).nbytes.min())
            >= 512
        )


@pytest.mark.parametrize("left", [False, True], ids=["AMP", "block-major"])
def test_either_orientation_reads_the_other_ones_panels(left: bool) -> None:
    """One physical order of a panel serves as weights and as streamed operand."""
    want = gemm_layout(96, 128, (32, 64), 1, 16, left=not left)
    form = homes.panel_form(gemm_layout(96, 128, (32, 64), 2, 16, left=left), 1)
    assert min(brute_spans(homes.linear(form, 16), want)) >= 512


# -- loads and the choice ------------------------------------------------------------------------------------


def test_a_load_is_the_resolved_bytes_of_an_owner_times_the_members() -> None:
    form = homes.panel_form(compute_layout("down"), 1)
    group = StorageGroup("down", homes.linear(form, TILES, base=1400), 1, 27)
    held = group.load(TILES)
    panels = np.bincount((1400 + np.arange(form.panel_count) // 7) % TILES, minlength=TILES)
    assert np.array_equal(held, panels * 512 * 27)


def test_the_encoder_in_micro_panels() -> None:
    for distribution, objective, limit in (
        ("linear", "addresses", 1.10),
        ("grid", "addresses", 1.10),
        ("linear", "load", 1.05),
    ):
        plan = homes.select_homes(encoder(), TILES, distribution=distribution, objective=objective)  # type: ignore[arg-type]
        held = homes.total_load(plan.after, TILES)
        assert held.max() <= 1.10 * IDEAL
        assert held.max() <= limit * held.mean()
        assert all(g.layout.replica_tiles.size == 1 for g in plan.after)
        if objective == "addresses":
            assert sum(g.address_bytes for g in plan.after) <= 1.10 * IDEAL


def test_the_encoder_in_whole_exchange_panels() -> None:
    for distribution in ("linear", "grid"):
        plan = homes.select_homes(encoder(whole=True), TILES, distribution=distribution)  # type: ignore[arg-type]
        assert homes.total_load(plan.after, TILES).max() <= 1.25 * IDEAL


def test_rotation_balances_what_is_concentrated() -> None:
    form = homes.panel_form(gemm_layout(64, 32, (64, 32), 1, 16), 1)  # 4 panels
    groups = [StorageGroup(f"w{i}", homes.linear(form, 16, owners=4), 1, 3) for i in range(4)]
    before, plan = homes.total_load(groups, 16), homes.select_homes(groups, 16)
    after = homes.total_load(plan.after, 16)
    assert before.max() == 4 * 512 * 3
    assert after.max() == after.min() == 512 * 3


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_the_choice_keeps_pins_bytes_and_order_and_balances(data: st.DataObject) -> None:
    tiles = data.draw(st.sampled_from((4, 16, 30)))
    groups: list[StorageGroup] = []
    for i in range(data.draw(st.integers(1, 8))):
        n, k = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
        form = homes.panel_form(gemm_layout(16 * n, 32 * k, (16 * n, 32 * k), 1, tiles), 1)
        home = homes.linear(
            form, tiles, owners=data.draw(st.integers(1, tiles)), base=data.draw(st.integers(0, tiles - 1))
        )
        pinned = "test" if data.draw(st.booleans()) else None
        groups.append(StorageGroup(f"g{i}", home, 1, data.draw(st.integers(1, 9)), pinned))
    objective = data.draw(st.sampled_from(("addresses", "load")))
    plan = homes.select_homes(
        groups, tiles, objective=objective, rotations=data.draw(st.sampled_from((1, 3, 512)))
    )
    for old, new in zip(groups, plan.after, strict=True):
        assert (old.name, old.members, old.pinned, old.size) == (new.name, new.members, new.pinned, new.size)
        if old.pinned:
            assert new == old
        assert new.load(tiles).sum() >= math.prod(old.layout.shape) * old.members
        assert [axis.panels for axis in new.layout.axes] == [axis.panels for axis in old.layout.axes]
        assert new.layout.order == old.layout.order
    before, after = homes.total_load(groups, tiles), homes.total_load(plan.after, tiles)
    if objective == "addresses":
        assert sum(g.address_bytes for g in plan.after) <= sum(g.address_bytes for g in groups)
    elif not any(g.pinned for g in groups):
        assert after.max() <= before.max()


def test_homes_that_are_even_are_not_made_worse() -> None:
    """Without rotations, one group after another would put three panels on the first tile."""
    form = homes.panel_form(gemm_layout(16, 32, (16, 32), 1, 4), 1)
    groups = [
        StorageGroup(f"g{i}", homes.linear(form, 4, owners=1, base=base), 1, members)
        for i, (base, members) in enumerate(((1, 2), (0, 1), (0, 1)))
    ]
    before = homes.total_load(groups, 4)
    assert before.tolist() == [1024, 1024, 0, 0]
    plan = homes.select_homes(groups, 4, objective="load", rotations=1)
    assert homes.total_load(plan.after, 4).max() <= 1024


def test_the_choice_is_bounded() -> None:
    few = homes.select_homes(encoder(), TILES, rotations=8)
    many = homes.select_homes(encoder(), TILES, rotations=512)
    assert few.trials < 200 < many.trials < 7000


def test_a_report_adds_up() -> None:
    groups = encoder()
    plan = homes.select_homes(groups, TILES)
    report = HomeReport.of(load("c600"), groups, plan.after, ["a note"])
    data = report.to_json()
    total = np.zeros(TILES, np.int64)
    for group in data["parameters"]:
        for first, count, held in group["after"]["runs"]:
            total[first : first + count] += held
        assert group["copies"] == 1
    assert total.max() == data["after"]["max"]
    assert data["after"]["max"] <= data["before"]["max"]
    assert "a note" in report.table()
    assert "down" in report.table()


# -- candidates and encodability -----------------------------------------------------------------------------


def forms(compute: Layout, dtype: str, tiles: int, members: int = 1) -> dict[str, homes.Candidate]:
    found = homes.candidates(compute, View.identity(compute.shape), dtype, members, tiles)
    return {c.form: c for c in found}


def test_compact_storage_is_offered_for_replicated_vectors_and_concentrated_weights() -> None:
    vector = Layout((Axis(1024),), ((0, 0),), ((16, 1),), 0, 16)
    assert forms(vector, "f16", 16)["fine"].spread_bytes == 256
    weight = gemm_layout(64, 128, (64, 128), 1, 16)
    offered = forms(weight, "f8E4M3FNUZ", 16)
    assert offered["fine"].spread_bytes == 512
    assert offered["ready"].spread_bytes == 64 * 128
    even = gemm_layout(64, 128, (16, 32), 1, 16)
    assert list(forms(even, "f8E4M3FNUZ", 16)) == ["ready"]


def test_raw_row_major_fp8_homes_are_refused() -> None:
    want = gemm_layout(64, 128, (32, 64), 4, 16)
    home, view = homes.row_major_home((128, 64), 1, 16)
    into = View.identity((64, 128)).transpose((1, 0))
    assert into is not None
    reason = refusal("weight", home, view, want, into, "f8E4M3FNUZ")
    assert reason is not None
    assert reason.startswith("weight: spans of 1 byte of f8E4M3FNUZ")
    assert str(home) in reason
    assert "a0.b0.a1.b1" in reason
    assert refusal("weight", home, view, want, into, "f16") is None
    native = homes.linear(homes.panel_form(want, 1), 16)
    assert (
        refusal("weight", native, View.identity((64, 128)), want, View.identity((64, 128)), "f8E4M3FNUZ")
        is None
    )


def test_the_selector_says_how_bytes_move() -> None:
    want = gemm_layout(64, 128, (32, 64), 4, 16)
    native = homes.linear(homes.panel_form(want, 1), 16)
    same = View.identity((64, 128))
    assert choose_move([(native, same, same)], want, "f8E4M3FNUZ").kind == "words"
    flat, view = homes.row_major_home((128, 64), 2, 16)
    into = same.transpose((1, 0))
    assert into is not None
    choice = choose_move([(flat, view, into)], want, "f16")
    assert (choice.kind, choice.grain, choice.span) == ("unpack", 2, 2)
    whole = row_major((64, 128))
    rotated = Layout(whole.axes, ((1, 0), (0, 0)))
    assert choose_move([(whole, same, same)], rotated, "f32").kind == "local"
