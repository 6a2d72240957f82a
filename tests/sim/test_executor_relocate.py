# SPDX-License-Identifier: Apache-2.0
"""A relocated delivery equals the decoded one, and what is not a plain shift of sources is decoded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.backends.rows import SEND_FIELD, decode, encode
from tilewright.machine import load
from tilewright.planning.exchange.messages import Messages
from tilewright.planning.exchange.schedule import schedule
from tilewright.sim import fabric
from tilewright.sim.fabric.moving import read_sources
from tilewright.sim.relocate import Relocation

MACHINE = load("t16")
ROWS = MACHINE.regions[0].start
FIXED, MOVING, TARGET = ROWS + 0x8000, ROWS + 0x10000, 0x80400
"""Sources that stay, sources that move with the iteration, destinations: each in elements of its own."""


@st.composite
def phases(draw) -> np.ndarray:
    """Rows of a random phase from two buffers, and the positions of the second one's addresses."""
    count = draw(st.integers(1, 12))
    number = st.integers(0, MACHINE.tiles - 1)
    offset, size = st.integers(0, 64), st.integers(1, 40)
    rows = [
        (draw(number), draw(st.integers(0, 1)), 4 * draw(offset), draw(number), 4 * draw(size))
        for _ in range(count)
    ]
    source, buffer, offset, target, size = (np.array(column) for column in zip(*rows, strict=True))
    place = np.cumsum(size) - size  # every message has a place of its own
    return Messages(source, buffer, offset, target, np.full(count, 2), place, size)


def decoded(words: np.ndarray) -> fabric.Delivery:
    delivery = fabric.deliver(words, MACHINE, address=ROWS)
    fabric.move(delivery, np.zeros((MACHINE.tiles, MACHINE.sram_bytes), np.uint8))
    return delivery


@settings(max_examples=40, deadline=None)
@given(phases(), st.integers(1, 300))
def test_a_relocated_delivery_is_the_decoded_one(messages: Messages, step: int) -> None:
    rows = encode(schedule(messages, MACHINE), [FIXED, MOVING, TARGET], MACHINE)
    positions = rows.positions(1)
    tile, entry = np.nonzero(positions != 0xFFFFFFFF)

    def iteration(number: int) -> np.ndarray:
        words = rows.words.copy()
        words[tile, positions[tile, entry]] += np.uint32((number * step) << SEND_FIELD)
        return words

    known = Relocation(iteration(0), decoded(iteration(0)), ROWS, MACHINE)
    known.learn(iteration(1), decoded(iteration(1)))
    for number in (2, 5):
        found, expected = known.deliver(iteration(number)), decoded(iteration(number))
        if found is None:
            assert not len(tile) or len(expected.nwords) != len(known.base.nwords)
            continue
        for name in ("src_tile", "src_address", "dst_tile", "dst_address", "nwords", "end_cycle", "landed"):
            assert np.array_equal(getattr(found, name), getattr(expected, name))
        for (size, read), (other_size, wanted) in zip(
            read_sources(found), read_sources(expected), strict=True
        ):
            assert size == other_size and np.array_equal(np.unique(read), wanted)
            assert (np.diff(read) >= 0).all()
        memory = np.random.default_rng(0).integers(0, 256, (MACHINE.tiles, MACHINE.sram_bytes), np.uint8)
        other = memory.copy()
        fabric.move(found, memory)
        fabric.move(expected, other)
        assert np.array_equal(memory, other)


@pytest.fixture(scope="module")
def plain() -> tuple[np.ndarray, Relocation]:
    one = np.array
    messages = Messages(one([3]), one([0]), one([0]), one([5]), one([1]), one([0]), one([64]))
    words = encode(schedule(messages, MACHINE), [MOVING, TARGET], MACHINE).words
    return words, Relocation(words, decoded(words), ROWS, MACHINE)


def moved(words: np.ndarray, bytes_: int) -> np.ndarray:
    out = words.copy()
    events = decode(words)
    send = np.flatnonzero(events.absolute)[0]
    at = events.tile[send], events.word[send]
    out[at] = (int(words[at]) + (bytes_ // 4 << SEND_FIELD)) & 0xFFFFFFFF
    return out


def test_a_source_that_comes_near_what_the_phase_writes_is_decoded(plain) -> None:
    words, known = plain
    known.learn(moved(words, 1024), decoded(moved(words, 1024)))
    assert known.deliver(moved(words, 2048)) is not None
    assert known.deliver(moved(words, ROWS - MOVING)) is None  # the element that holds the rows
    assert known.deliver(moved(words, 1024 * 4096)) is None  # beyond the memory
    other = moved(words, 2048)
    other[0, 0] ^= 1
    assert known.deliver(other) is None
    assert known.deliver(moved(words, 1500)) is None  # not a whole number of steps
