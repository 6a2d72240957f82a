# SPDX-License-Identifier: Apache-2.0
"""What planning thinks a phase takes, against its schedule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.machine import Machine, load
from tilewright.planning.exchange import Messages, schedule
from tilewright.planning.exchange.estimate import estimate, estimated_row_bytes
from tilewright.planning.exchange.geometry import transfers
from tilewright.planning.layout import Axis, Layout, Split, View

MACHINES = {name: load(name) for name in ("t4", "t16", "t64")}


@st.composite
def phases(draw: st.DrawFn) -> tuple[Messages, Machine]:
    """A matrix of f32 from blocks of rows to blocks of columns, or to copies of parts of it."""
    machine = MACHINES[draw(st.sampled_from(sorted(MACHINES)))]
    rows, columns = draw(st.integers(1, 48)), draw(st.integers(1, 48))

    def place(parts: int, copies: int) -> Layout:
        by_rows = draw(st.booleans())
        extent = rows if by_rows else columns
        block = -(-extent // parts)
        used = -(-extent // block)
        cut = Axis(extent, (Split(block, 1),) if block < extent else ())
        axes = (cut, Axis(columns)) if by_rows else (Axis(rows), cut)
        order = draw(st.sampled_from((((0, 0), (1, 0)), ((1, 0), (0, 0)))))
        return Layout(axes, order, ((copies, used),) if copies > 1 else (), tiles=machine.tiles)

    source = place(draw(st.integers(1, machine.tiles)), 1)
    copies = draw(st.integers(1, machine.tiles))
    target = place(draw(st.integers(1, machine.tiles // copies)), copies)
    view = View.identity((rows, columns))
    found = transfers(source, view, target, view, 4)
    zero = np.zeros(len(found), np.int64)
    return Messages(
        found.src_tile, zero, found.src_byte, found.dst_tile, zero + 1, found.dst_byte, found.nbytes
    ), machine


@given(phases(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_an_estimate_is_near_the_schedule(case: tuple[Messages, Machine], paired: bool) -> None:
    messages, machine = case
    made = schedule(messages, machine, paired=None if paired else False)
    found = estimate(messages, machine, paired=paired)
    # Mostly within a fifth; short phases of many small messages wait for each other longer.
    assert abs(found.cycles - made.horizon) <= 0.4 * made.horizon + 60
    assert found.cycles >= found.bound and 0 <= found.paired <= 1
    assert paired or found.paired == 0


@given(phases())
@settings(max_examples=60, deadline=None)
def test_the_bound_is_what_the_busiest_tile_sends_or_receives(case: tuple[Messages, Machine]) -> None:
    """By counting: words that a tile receives; distinct words that it sends, each once to any number."""
    messages, machine = case
    received = [0] * machine.tiles
    sent: list[set[int]] = [set() for _ in range(machine.tiles)]
    for source, at, target, size in zip(
        messages.src_tile.tolist(),
        messages.src_offset.tolist(),
        messages.dst_tile.tolist(),
        messages.nbytes.tolist(),
        strict=True,
    ):
        received[target] += size // 4
        sent[source] |= set(range(at, at + size, 4))
    found = estimate(messages, machine, paired=False)
    assert found.bound >= max(max(received), max(map(len, sent)))
    assert schedule(messages, machine, paired=False).horizon >= max(received)


@given(phases())
@settings(max_examples=60, deadline=None)
def test_bytes_of_rows_are_within_a_factor_of_what_is_encoded(case: tuple[Messages, Machine]) -> None:
    """A factor of two and a bit at worst, for phases of single words from several sources."""
    messages, machine = case
    encoded = 4 * schedule(messages, machine, paired=False).row_words
    estimated = estimated_row_bytes(messages, machine)
    assert estimated.shape == (machine.tiles,)
    assert (
        (estimated > 0) == (np.isin(np.arange(machine.tiles), [messages.src_tile, messages.dst_tile]))
    ).all()
    fullest = encoded.max(initial=0)
    assert fullest / 2.5 - 64 <= estimated.max(initial=0) <= 2.5 * fullest + 64


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
def test_nothing_takes_nothing(machine: Machine) -> None:
    nothing = Messages(*[np.zeros(0, np.int64)] * 7)
    assert estimate(nothing, machine).cycles == 0
    assert not estimated_row_bytes(nothing, machine).any()


@given(phases())
@settings(max_examples=40, deadline=None)
def test_the_order_of_messages_does_not_matter(case: tuple[Messages, Machine]) -> None:
    messages, machine = case
    order = np.argsort((messages.dst_offset * 7919 + messages.src_tile * 104729) % 1009, kind="stable")
    columns = ("src_tile", "src_buffer", "src_offset", "dst_tile", "dst_buffer", "dst_offset", "nbytes")
    mixed = Messages(*(getattr(messages, name)[order] for name in columns))
    assert estimate(mixed, machine) == estimate(messages, machine)
    assert np.array_equal(estimated_row_bytes(mixed, machine), estimated_row_bytes(messages, machine))
