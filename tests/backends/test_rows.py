# SPDX-License-Identifier: Apache-2.0
"""Exchange rows as words: bit layouts, which instructions are chosen, alignment, relocation."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from tilewright.backends import rows as r
from tilewright.machine import load
from tilewright.planning.exchange import ExchangeError, Messages, schedule

_SPEC = spec_from_file_location(
    "exchange_messages", Path(__file__).parents[1] / "cases" / "exchange_messages.py"
)
assert _SPEC is not None and _SPEC.loader is not None
cases = module_from_spec(_SPEC)
_SPEC.loader.exec_module(cases)

MACHINE = load("t4")
PLACE = cases.addresses(MACHINE)


def decoded(*words: int) -> r.Events:
    return r.decode(np.array([words], np.uint32))


def names(words: np.ndarray, tile: int) -> list[str]:
    events = r.decode(words)
    return [r.NAMES[k] for k in events.kind[events.tile == tile].tolist()]


# The public rows of the reference (osmarks/ipu-stack, docs/EXCHANGE_INSTRUCTION_REFERENCE.md), read back


def test_a_published_receiver_row_decodes():
    row = (
        0x64000082, 0x40A00032, 0xF6600000, 0x03014048, 0xF6600000, 0x03095000,
        0xF6600000, 0x04016000, 0xF7200000, 0x19017000, r.RETURN,
    )  # fmt: skip
    events = decoded(*row)
    assert [r.NAMES[k] for k in events.kind] == ["delayxpic", "delay", *["sendpicp"] * 4, "return"]
    assert events.events.tolist() == [1, 51, 52, 52, 52, 58, 0]
    assert events.select.tolist() == [130, -1, 192, 194, 256, 0x640, -1]
    assert events.point.tolist() == [-1, -1, 0x14048 << 2, 0x15000 << 2, 0x16000 << 2, 0x17000 << 2, -1]
    assert events.control.tolist()[2:6] == [52, 104, 156, 208]
    assert (events.direction == 0).all()
    assert events.ends.tolist() == [266] and events.length.tolist() == [11]


def test_a_published_full_duplex_word_decodes():
    events = decoded(0xF54A0109, 0x19015000, r.RETURN)
    assert events.events[0] == 43 and events.items[0] == 43
    assert events.address[0] == 0x14021 << 2 and events.absolute[0]
    assert events.direction[0] == 1
    assert events.select[0] == 0x640 and events.point[0] == 0x15000 << 2


@pytest.mark.parametrize(
    ("word", "kind", "events"),
    [
        (0x40A7FFFF, "delay", 1 << 19),
        (0x63F80001, "delaypic", 128),
        (0x67FFC001, "delayxpic", 4096),
        (0x7FE00003, "send", 64),
        (0x77EFC003, "sendoff", 4096),
        (0x77F00001, "sendpic", 64),
        (0x43A00000, "return", 0),
        (0x00000000, "bad", 0),
        (0x40B00000, "bad", 0),
        (0x68000000, "bad", 0),
        (0x80000000, "bad", 0),
    ],
)
def test_opcodes(word, kind, events):
    made = decoded(word, r.RETURN)
    assert r.NAMES[made.kind[0]] == kind
    assert made.events[0] == events


def test_fields_of_a_send():
    made = decoded(0x78000000 | 9 << 21 | 0x20000 << 3 | 2, r.RETURN)
    assert made.events[0] == 10
    assert made.address[0] == 0x80000
    assert made.direction[0] == 2


def test_an_inline_word_is_data_whatever_it_looks_like():
    made = decoded(r.SENDPICP, r.RETURN, r.SENDPICP, 0xF0000000, r.RETURN)
    assert [r.NAMES[k] for k in made.kind] == ["sendpicp", "sendpicp", "return"]
    assert made.word.tolist() == [0, 2, 4]


def test_selector_bits_stay_visible():
    made = decoded(
        r.DELAYPIC | 1 << 18 | 5,
        r.DELAYXPIC | 1 << 13 | 5,
        r.SENDPIC | 3 << 18,
        r.SENDPIC | 1 << 18,
        r.RETURN,
    )
    assert (made.point[[0, 2]] > 0xFFFFF).all()
    assert (made.select[[1, 3]] > 0x1FFF).all()


# Choice of instructions


def test_one_message_takes_a_send_on_one_side_and_two_selections_and_a_pointer_on_the_other():
    made = schedule(cases.messages((0, 0, 0, 1, 2, 0, 40)), MACHINE)
    words = r.encode(made, PLACE, MACHINE).words
    # The send waits until a selection at cycle 0 can hold.
    assert names(words, 0) == ["delay", "send", "return"]
    # Select at once, pointer, back to neutral, last words land.
    assert names(words, 1)[0] == "delayxpic"
    assert sorted(names(words, 1)[:-1]) == ["delay", "delaypic", "delayxpic", "delayxpic"]
    assert names(words, 2) == ["return"]
    assert made.summary.controls.tolist() == [0, 3, 0, 0]


def test_long_sends_continue_with_sendoff():
    made = schedule(cases.messages((0, 0, 0, 1, 2, 0, 4 * 5000)), MACHINE)
    words = r.encode(made, PLACE, MACHINE).words
    # Cut to two messages of 2500 words that abut and continue: one stream, one selection, one pointer.
    events = r.decode(words)
    mine = events.tile == 0
    assert [r.NAMES[k] for k in events.kind[mine]] == ["delay", "send", "sendoff", "sendoff", "return"]
    assert events.items[mine].tolist() == [0, 64, 4096, 840, 0]
    assert made.summary.controls.tolist() == [0, 3, 0, 0]


def test_a_continuing_address_needs_no_pointer_and_a_continuing_source_no_selection():
    spans = [(0, 0, 0, 1, 2, 0, 400), (0, 0, 800, 1, 2, 400, 400), (2, 0, 0, 1, 2, 800, 400)]
    made = schedule(cases.messages(*spans), MACHINE)
    words = r.encode(made, PLACE, MACHINE).words
    events = r.decode(words)
    mine = events.tile == 1
    assert (events.point[mine] >= 0).sum() == 1
    source = events.select[mine][events.select[mine] >= 0].tolist()
    assert source[-1] == 0x640 and 0x640 not in source[:-1]
    other = [(0, 0, 0, 1, 2, 0, 400), (0, 0, 800, 1, 2, 400, 400)]
    assert schedule(cases.messages(*other), MACHINE).summary.controls.tolist() == [0, 3, 0, 0]


@pytest.mark.parametrize("seed", range(10))
def test_sendpicp_is_aligned_and_lengths_are_those_of_the_schedule(seed):
    machine = load("t16")
    # Short messages everywhere: many controls at one cycle, many instructions of one event.
    wanted = cases.random_messages(machine, seed, count=120, longest=4)
    made = schedule(wanted, machine)
    encoded = r.encode(made, cases.addresses(machine), machine)
    events = r.decode(encoded.words)
    wide = events.kind == r.K_SENDPICP
    assert wide.any()
    assert (events.word[wide] % 2 == 0).all()
    assert (events.length == made.row_words).all()
    assert (encoded.lengths == made.row_words).all()
    assert (events.ends == made.end).all()
    assert encoded.words.shape[1] % 2 == 0


def test_lengths_do_not_depend_on_addresses():
    machine = load("t16")
    made = schedule(cases.random_messages(machine, 1), machine)
    here = r.encode(made, cases.addresses(machine), machine)
    there = r.encode(made, [a + 0x400 for a in cases.addresses(machine)], machine)
    assert (here.lengths == there.lengths).all()
    assert (here.words != there.words).any()


# Relocation


def test_moving_a_buffer_by_its_named_words_is_encoding_at_the_new_address():
    machine = load("t16")
    made = schedule(cases.random_messages(machine, 2), machine)
    place = cases.addresses(machine)
    here = r.encode(made, place, machine)
    for buffer in range(4):
        moved = list(place)
        moved[buffer] += 0x100
        there = r.encode(made, moved, machine)
        patched = here.words.copy()
        for pointers, bit in ((False, r.SEND_FIELD), (True, r.POINTER_FIELD)):
            table = here.positions(buffer, "pointers" if pointers else "restarts")
            tile, column = np.nonzero(table != 0xFFFFFFFF)
            patched[tile, table[tile, column]] += np.uint32(0x40 << bit)
        assert (patched == there.words).all()


def test_restarts_name_absolute_addresses():
    made = schedule(cases.messages((0, 1, 8, 1, 2, 0, 400)), MACHINE)
    encoded = r.encode(made, PLACE, MACHINE)
    tile, word, buffer = encoded.restarts
    assert (tile.tolist(), buffer.tolist()) == ([0], [1])
    assert encoded.words[0, word[0]] >> 3 & 0x3FFFF == (PLACE[1] + 8) >> 2
    tile, word, buffer = encoded.pointers
    assert (tile.tolist(), buffer.tolist()) == ([1], [2])
    assert encoded.words[1, word[0]] & 0x3FFFF == PLACE[2] >> 2


# Errors


@pytest.mark.parametrize("place", [[0x70002, 0, 0x80000], [0x70000, 0, 0x100000], [0x70000, 0, -8]])
def test_addresses_that_do_not_fit_are_refused(place):
    made = schedule(cases.messages((0, 0, 0, 1, 2, 0, 40)), MACHINE)
    with pytest.raises(ExchangeError, match="18-bit word address"):
        r.encode(made, place, MACHINE)


def test_a_buffer_without_an_address_is_refused():
    made = schedule(cases.messages((0, 0, 0, 1, 2, 0, 40)), MACHINE)
    with pytest.raises(ExchangeError, match="buffer 2 has no address; 2 were given"):
        r.encode(made, PLACE[:2], MACHINE)


def test_an_empty_phase_is_returns():
    empty = Messages(*([np.empty(0, np.int64)] * 7))
    encoded = r.encode(schedule(empty, MACHINE), [], MACHINE)
    assert encoded.words.tolist() == [[r.RETURN, 0]] * 4
