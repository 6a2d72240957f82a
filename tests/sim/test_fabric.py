# SPDX-License-Identifier: Apache-2.0
"""The fabric of the machine model: rows in, bytes moved, one refusal per illegal row."""

from __future__ import annotations

import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from tilewright.backends import rows as r
from tilewright.machine import load
from tilewright.planning.exchange import schedule
from tilewright.planning.exchange.check import check
from tilewright.sim.fabric import Delivery, deliver, mark_written, move, require_written
from tilewright.sim.illegal import IllegalProgram

_SPEC = spec_from_file_location(
    "exchange_messages", Path(__file__).parents[1] / "cases" / "exchange_messages.py"
)
assert _SPEC is not None and _SPEC.loader is not None
cases = module_from_spec(_SPEC)
_SPEC.loader.exec_module(cases)

MACHINE = load("t4")
BASE = MACHINE.sram_base
PLACE = cases.addresses(MACHINE)
NEUTRAL = 0x640


# Words by hand


def delay(events: int) -> int:
    return r.DELAY | events - 1


def pointer(events: int, address: int) -> int:
    return r.DELAYPIC | events - 1 << 19 | address >> 2


def select(events: int, source: int) -> int:
    return r.DELAYXPIC | events - 1 << 14 | source


def send(words: int, address: int, control: int = 3) -> int:
    return r.SEND | words - 1 << 21 | address >> 2 << 3 | control


def sendoff(words: int, delta: int = 0, control: int = 3) -> int:
    count = words - 1
    return r.SENDOFF | (count & 63) << 21 | count >> 6 << 14 | delta >> 2 << 3 | control


def sendpicp(words: int, address: int, source: int, point: int, control: int = 3) -> tuple[int, int]:
    return r.SENDPICP | words - 1 << 21 | address >> 2 << 3 | control, source << 18 | point >> 2


def rows(*each: list[int], end: bool = True) -> np.ndarray:
    """Rows of the first tiles; the others return at once."""
    table = [*each, *([[]] * (MACHINE.tiles - len(each)))]
    table = [[*row, r.RETURN] if end else row for row in table]
    width = max(len(row) for row in table)
    return np.array([row + [0] * (width - len(row)) for row in table], np.uint32)


def number(tile: int) -> int:
    return int(MACHINE.physical(tile))


def way(source: int, tile: int) -> int:
    return int(MACHINE.latency(source, tile))


LEAD = int(MACHINE.select_lead(1))
START = 100  # cycle at which tile 0 sends in the rows below
LAND = START + way(0, 1)


def listener(first: int, words: int, source: int = 0, address: int = PLACE[2], tail: int = 200) -> list[int]:
    """A row of tile 1 that hears `words` words landing from cycle `first` on."""
    on, off = first - LEAD, first + words - LEAD
    return [pointer(1, address), select(on, number(source)), select(off - on, NEUTRAL), delay(tail)]


GOOD = ([delay(START), send(10, PLACE[0])], listener(LAND, 10))


def refusal(words: np.ndarray, **more) -> IllegalProgram:
    with pytest.raises(IllegalProgram) as caught:
        deliver(words, MACHINE, phase="test", **more)
    assert caught.value.phase == "test"
    return caught.value


# What is delivered


def test_one_message_by_hand():
    made = deliver(rows(*GOOD), MACHINE, address=BASE)
    assert made.nwords.tolist() == [10]
    assert (made.src_tile.tolist(), made.src_address.tolist()) == ([0], [PLACE[0]])
    assert (made.dst_tile.tolist(), made.dst_address.tolist()) == ([1], [PLACE[2]])
    assert (made.sent.tolist(), made.landed.tolist()) == ([START], [LAND])
    assert made.end_cycle.tolist()[:1] == [START + 10]
    assert made.cycles == int(made.end_cycle.max())
    assert made.sent_items.tolist() == [10, 0, 0, 0]


def test_a_part_of_a_stream_can_be_heard():
    made = deliver(rows(GOOD[0], listener(LAND + 3, 4)), MACHINE)
    assert made.src_address.tolist() == [PLACE[0] + 12]
    assert made.nwords.tolist() == [4]


def test_a_pointer_moves_while_words_land():
    on = LAND - LEAD
    row = [pointer(1, PLACE[2]), select(on, number(0)), select(10, NEUTRAL)]
    row += [pointer(LAND + 4 - (on + 11) + 1, PLACE[3]), delay(100)]
    made = deliver(rows(GOOD[0], row), MACHINE)
    assert made.nwords.tolist() == [4, 6]
    assert made.dst_address.tolist() == [PLACE[2], PLACE[3]]
    assert made.src_address.tolist() == [PLACE[0], PLACE[0] + 16]


def test_continued_streams():
    first = [
        delay(START),
        send(2, PLACE[0]),
        sendoff(3),
        sendoff(1, delta=8),
        r.SENDPIC | 3 << 21 | r.PIC_POINTER | PLACE[3] >> 2,
    ]
    made = deliver(rows(first, listener(LAND, 10)), MACHINE)
    assert made.nwords.tolist() == [5, 5]
    assert made.src_address.tolist() == [PLACE[0], PLACE[0] + 20 + 8]


def test_a_directionless_send_puts_nothing_on_the_fabric():
    made = deliver(
        rows([delay(START), send(10, 0, control=0), *sendpicp(3, 0, NEUTRAL, 0, control=0)][:2]), MACHINE
    )
    assert made.nwords.tolist() == [] and made.sent_items.sum() == 0


def test_a_restated_selection_changes_nothing():
    on = LAND - LEAD
    row = [pointer(1, PLACE[2]), select(on, number(0)), select(5, number(0)), select(5, NEUTRAL), delay(100)]
    made = deliver(rows(GOOD[0], row), MACHINE)
    assert made.nwords.tolist() == [10]


def test_a_tile_hears_itself():
    first = LAND - way(0, 1) + way(0, 0)
    lead = int(MACHINE.select_lead(0))
    on, off = first - lead, first + 10 - lead
    row = [pointer(1, PLACE[2]), select(on, number(0)), select(off - on, NEUTRAL)]
    row += [delay(START - off - 1), send(10, PLACE[0]), delay(100)]
    made = deliver(rows(row), MACHINE)
    assert (made.src_tile.tolist(), made.dst_tile.tolist(), made.nwords.tolist()) == ([0], [0], [10])


@pytest.mark.parametrize("name", ["t4", "t16", "t64"])
@pytest.mark.parametrize("longest", [4, 90])
def test_random_messages_arrive_byte_by_byte(name, longest):
    machine = load(name)
    memory = np.random.default_rng(0).integers(0, 256, (machine.tiles, machine.sram_bytes), np.uint8)
    place = cases.addresses(machine)
    for seed in range(12):
        wanted = cases.random_messages(machine, seed, longest=longest)
        made = schedule(wanted, machine)
        words = r.encode(made, place, machine).words
        delivery = deliver(words, machine, address=machine.sram_base)
        assert (delivery.end_cycle == made.end).all()
        assert check(words, wanted, place, machine, row_address=machine.sram_base) == []
        moved = memory.copy()
        move(delivery, moved)
        assert (moved == cases.expected(machine, wanted, memory)).all()


def test_the_model_and_the_checker_agree_about_damaged_rows():
    wanted = cases.messages((0, 0, 0, 1, 2, 0, 400), (0, 0, 0, 2, 2, 0, 400), (3, 1, 8, 1, 2, 400, 40))
    made = schedule(wanted, MACHINE)
    words = r.encode(made, PLACE, MACHINE).words
    memory = np.random.default_rng(0).integers(0, 256, (4, MACHINE.sram_bytes), np.uint8)
    want = cases.expected(MACHINE, wanted, memory)
    random = np.random.default_rng(1)
    harmless = 0
    for _ in range(300):
        tile = int(random.integers(4))
        broken = words.copy()
        broken[tile, random.integers(made.row_words[tile])] ^= np.uint32(1 << int(random.integers(32)))
        judged = not check(broken, wanted, PLACE, MACHINE, row_address=BASE)
        moved = memory.copy()
        try:
            move(deliver(broken, MACHINE, address=BASE), moved)
            good = bool((moved == want).all())
        except IllegalProgram:
            good = False
        assert good == judged
        harmless += good
    assert 0 < harmless < 60


# Refusals, one row each


def test_refuses_a_bad_opcode():
    error = refusal(rows([delay(7), 0x12345678]), address=BASE)
    assert (error.rule, error.tile, error.cycle, error.address) == ("bad opcode", 0, 7, BASE + 4)
    assert "0x12345678" in str(error) and "tile 0, phase test, cycle 7" in str(error)


def test_refuses_a_row_without_return():
    error = refusal(rows([delay(3)], [delay(1)], [delay(1)], [delay(1)], end=False))
    assert (error.rule, error.tile) == ("missing return", 0)


def test_refuses_a_return_that_is_data():
    error = refusal(
        rows([], [r.SENDPICP, r.RETURN], end=False)
        | np.array([[r.RETURN, 0], [0, 0], [r.RETURN, 0], [r.RETURN, 0]], np.uint32)
    )
    assert (error.rule, error.tile) == ("missing return", 1)


def test_refuses_a_misaligned_sendpicp():
    error = refusal(rows([], [delay(5), *sendpicp(1, 0, NEUTRAL, 0, control=0)]), address=BASE)
    assert (error.rule, error.tile, error.cycle, error.address) == ("misaligned sendpicp", 1, 5, BASE + 4)


def test_refuses_an_aligned_sendpicp_in_a_misaligned_row():
    words = rows([], [*sendpicp(1, 0, NEUTRAL, 0, control=0)])
    deliver(words, MACHINE, address=BASE + 8)
    assert refusal(words, address=BASE + 4).rule == "misaligned sendpicp"
    assert refusal(words, address=BASE + 2).rule == "misaligned row"


def test_refuses_unknown_selectors():
    error = refusal(rows([delay(2), pointer(1, PLACE[2]) | 1 << 18]))
    assert (error.rule, error.tile, error.cycle) == ("unknown selector", 0, 2)


def test_refuses_a_continuation_of_nothing():
    error = refusal(rows([delay(START), sendoff(10)]))
    assert (error.rule, error.tile, error.cycle) == ("send without a stream", 0, START)
    lost = [send(2, PLACE[0]), delay(1), *sendpicp(4, 0, NEUTRAL, 0, control=0), sendoff(2)]
    assert refusal(rows(lost)).rule == "send without a stream"


def test_refuses_to_listen_to_silence():
    early = refusal(rows(GOOD[0], listener(LAND - 1, 10)))
    assert (early.rule, early.tile, early.cycle) == ("listening to silence", 1, LAND - 1)
    late = refusal(rows(GOOD[0], listener(LAND, 11)))
    assert (late.rule, late.tile, late.cycle) == ("listening to silence", 1, LAND + 10)
    other = refusal(rows(GOOD[0], listener(LAND, 10, source=2)))
    assert (other.rule, other.cycle) == ("listening to silence", LAND)


def test_refuses_a_source_that_is_no_tile():
    row = [pointer(1, PLACE[2]), select(9, 0x600), select(10, NEUTRAL), delay(100)]
    error = refusal(rows(GOOD[0], row))
    assert (error.rule, error.tile, error.cycle) == ("listening to silence", 1, 9 + LEAD)
    assert "0x600" in str(error)


def test_refuses_a_gap_in_what_is_heard():
    gap = [delay(START), send(4, PLACE[0]), delay(1), send(6, PLACE[0])]
    error = refusal(rows(gap, listener(LAND, 11)))
    assert (error.rule, error.cycle) == ("listening to silence", LAND + 4)


def test_refuses_to_return_while_listening():
    row = [pointer(1, PLACE[2]), select(LAND - LEAD, number(0)), delay(200)]
    assert refusal(rows(GOOD[0], row)).rule == "never neutral"


def test_refuses_to_return_before_the_last_word_lands():
    enough = LEAD  # the selection of nobody takes this long
    deliver(rows(GOOD[0], listener(LAND, 10, tail=enough)), MACHINE)
    error = refusal(rows(GOOD[0], listener(LAND, 10, tail=enough - 3)))
    assert (error.rule, error.tile, error.cycle) == ("return too early", 1, LAND + 7 + 1)


def test_refuses_a_receive_without_a_pointer():
    error = refusal(rows(GOOD[0], listener(LAND, 10)[1:]))
    assert error.rule == "listening to silence"  # the row is one event shorter
    error = refusal(rows(GOOD[0], [delay(1), *listener(LAND, 10)[1:]]))
    assert (error.rule, error.tile, error.cycle) == ("receive without a pointer", 1, LAND)


def test_refuses_a_pointer_of_another_tile_as_its_own():
    other = [pointer(1, PLACE[2])]
    row = [delay(1), *listener(LAND, 10)[1:]]
    assert (
        refusal(rows([pointer(1, PLACE[2]), delay(START - 1), send(10, PLACE[0])], row, other)).rule
        == "receive without a pointer"
    )


def test_refuses_addresses_outside_of_sram():
    end = MACHINE.sram_base + MACHINE.sram_bytes
    error = refusal(rows([delay(START), send(10, end - 20)], GOOD[1]))
    assert (error.rule, error.tile, error.cycle, error.address) == ("address out of range", 0, START + 5, end)
    error = refusal(rows([delay(START), send(10, BASE - 4)], GOOD[1]))
    assert (error.cycle, error.address) == (START, BASE - 4)
    error = refusal(rows(GOOD[0], listener(LAND, 10, address=end - 8)))
    assert (error.rule, error.tile, error.cycle, error.address) == ("address out of range", 1, LAND + 2, end)


def test_refuses_rows_in_an_element_that_is_read_or_written():
    error = refusal(rows(*GOOD), address=PLACE[0] + 0x1000)
    assert (error.rule, error.tile, error.cycle, error.address) == ("row element in use", 0, START, PLACE[0])
    error = refusal(rows(*GOOD), address=PLACE[2] + 0x1000)
    assert (error.rule, error.tile, error.cycle) == ("row element in use", 1, LAND)


def both_ways(read: int, write: int, begin: int) -> np.ndarray:
    """Tile 0 sends to tile 1, which sends from `read` at cycle `begin` to nobody."""
    row = listener(LAND, 10, address=write, tail=begin - (LAND + 10 - LEAD) - 1)
    return rows(GOOD[0], [*row, send(10, read)])


def test_refuses_to_read_and_write_an_element_at_once():
    write = PLACE[2]
    error = refusal(both_ways(write + 0x100, write, LAND + 9))
    assert (error.rule, error.tile, error.cycle, error.address) == (
        "element conflict",
        1,
        LAND + 9,
        write + 36,
    )
    deliver(both_ways(write + 0x100, write, LAND + 10), MACHINE)  # one cycle later
    deliver(both_ways(PLACE[3], write, LAND + 5), MACHINE)  # another element


def test_elements_are_followed_word_by_word():
    edge = MACHINE.region("interleaved").start + 0x8000
    # Five words land before the border of two elements, five after it; the send starts with the second half.
    assert refusal(both_ways(edge + 0x100, edge - 20, LAND + 9)).rule == "element conflict"
    deliver(both_ways(edge - 0x100, edge - 20, LAND + 9), MACHINE)


def test_refuses_two_writers_of_a_word():
    on = LAND - LEAD
    row = [pointer(1, PLACE[2]), select(on, number(0)), select(10, NEUTRAL)]
    row += [pointer(LAND + 4 - (on + 11) + 1, PLACE[2] + 8), delay(100)]
    error = refusal(rows(GOOD[0], row))
    assert (error.rule, error.tile, error.address) == ("two writers", 1, PLACE[2] + 8)


def test_refuses_to_forward_in_one_phase():
    error = refusal(both_ways(PLACE[2] + 16, PLACE[2], LAND + 40))
    assert (error.rule, error.tile, error.cycle, error.address) == (
        "send after receive",
        1,
        LAND + 40,
        PLACE[2] + 16,
    )


def test_a_word_may_be_sent_before_it_is_overwritten():
    begin = LAND - LEAD - 20
    row = [
        delay(begin - 1),
        pointer(1, PLACE[2]),
        send(10, PLACE[2] + 16),
        *listener(LAND - begin - 11, 10)[1:],
    ]
    row[3] = select(LAND - LEAD - begin - 9, number(0))
    words = rows(GOOD[0], row, [pointer(1, PLACE[2]), delay(1)])
    lead = int(MACHINE.select_lead(2))
    first = begin + way(1, 2)
    assert first - lead > 0
    words = rows(
        GOOD[0], row, [pointer(1, PLACE[2]), select(first - lead, number(1)), select(10, NEUTRAL), delay(100)]
    )
    delivery = deliver(words, MACHINE)
    assert delivery.ordered
    memory = np.random.default_rng(3).integers(0, 256, (4, MACHINE.sram_bytes), np.uint8)
    before = memory.copy()
    move(delivery, memory)
    a, b = PLACE[0] - BASE, PLACE[2] - BASE
    assert (memory[1, b : b + 40] == before[0, a : a + 40]).all()
    assert (memory[2, b : b + 40] == before[1, b + 16 : b + 56]).all()


# The record of written words


def test_sends_of_unwritten_words_are_refused():
    delivery = deliver(rows(*GOOD), MACHINE)
    written = np.zeros((4, MACHINE.sram_bytes // 4), bool)
    word = (PLACE[0] - BASE) // 4
    written[0, word : word + 7] = True
    with pytest.raises(IllegalProgram) as caught:
        require_written(delivery, written, phase="up")
    error = caught.value
    assert (error.rule, error.tile, error.cycle, error.phase) == (
        "read of unwritten memory",
        0,
        START + 7,
        "up",
    )
    assert error.address == PLACE[0] + 28
    written[0, word : word + 10] = True
    require_written(delivery, written)


def test_received_words_are_marked():
    delivery = deliver(rows(*GOOD), MACHINE)
    written = np.zeros((4, MACHINE.sram_bytes // 4), np.uint8)
    mark_written(delivery, written, 0x0F)
    word = (PLACE[2] - BASE) // 4
    assert (written[1, word : word + 10] == 0x0F).all()
    assert written.sum() == 150


def test_pieces_of_every_length_are_moved():
    random = np.random.default_rng(0)
    words = np.concatenate([np.arange(1, 300), np.full(500, 8)])
    source = random.integers(0, MACHINE.sram_bytes // 4 - 300, len(words)) * 4
    target = (np.cumsum(words) - words) * 4 + 4
    tile = np.arange(len(words)) % 2 + 1
    zero = np.zeros(len(words), np.int64)
    delivery = Delivery(
        zero, source + BASE, tile, target + BASE, words, zero + 1, zero, zero,
        np.zeros(4, np.int64), np.zeros(4, np.int64), False, BASE, MACHINE.sram_bytes,
    )  # fmt: skip
    memory = random.integers(0, 256, (4, MACHINE.sram_bytes), np.uint8)
    want = memory.copy()
    for s, t, d, n in zip(source, tile, target, words, strict=True):
        want[t, d : d + 4 * n] = memory[0, s : s + 4 * n]
    move(delivery, memory)
    assert (memory == want).all()


@pytest.mark.slow
def test_a_large_phase_moves_in_a_moment():
    machine = load("c600")
    pieces = 21_000_000 // 64
    k = np.arange(pieces)
    tile, at = k % machine.tiles, k // machine.tiles * 256
    zero = np.zeros(pieces, np.int64)
    none = np.zeros(machine.tiles, np.int64)
    delivery = Delivery(
        (tile * 7 + 1) % machine.tiles, at + machine.sram_base, tile, at + machine.sram_base + 0x40000,
        zero + 64, zero + 1, zero, zero, none, none, False, machine.sram_base, machine.sram_bytes,
    )  # fmt: skip
    memory = np.zeros((machine.tiles, machine.sram_bytes), np.uint8)
    move(delivery, memory)
    start = time.process_time()
    move(delivery, memory)
    assert time.process_time() - start < 2
