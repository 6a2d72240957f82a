# SPDX-License-Identifier: Apache-2.0
"""8-byte items: rows by hand, random phases through everything, one refusal per illegal row."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from tilewright.backends import rows as r
from tilewright.machine import load
from tilewright.planning.exchange import ExchangeError, Messages, schedule
from tilewright.planning.exchange.check import check
from tilewright.sim.fabric import deliver, move
from tilewright.sim.illegal import IllegalProgram

_SPEC = spec_from_file_location(
    "exchange_messages", Path(__file__).parents[1] / "cases" / "exchange_messages.py"
)
assert _SPEC is not None and _SPEC.loader is not None
cases = module_from_spec(_SPEC)
_SPEC.loader.exec_module(cases)

MACHINE = load("t16")
PLACE = cases.addresses(MACHINE)
START, NEUTRAL = 200, 0x640 | r.PAIR_SOURCE


def number(source: int, tile: int) -> int:
    """What a tile selects to hear 8-byte items of another."""
    return int(MACHINE.physical(source)) ^ (int(MACHINE.physical(tile)) & 2) | r.PAIR_SOURCE


def landing(source: int, tile: int) -> int:
    """Cycle at which the first of the items sent from START on lands."""
    return START + int(max(MACHINE.latency(source, tile), MACHINE.latency(source, MACHINE.partner(tile))))


def sender(items: int = 64, address: int = PLACE[0], control: int = 7) -> list[int]:
    return [r.DELAY | START - 1, r.SEND | items - 1 << 21 | address >> 3 << 3 | control]


def listener(
    tile: int, source: int = 0, items: int = 64, *, address: int = PLACE[2], late: int = 0
) -> list[int]:
    on = landing(source, tile) + late - int(MACHINE.select_lead(tile))
    row = [r.DELAYPIC | address >> 2, r.DELAYXPIC | on - 1 << 14 | number(source, tile)]
    return [*row, r.DELAYXPIC | items - 1 << 14 | NEUTRAL, r.DELAY | 200]


def rows(table: dict[int, list[int]]) -> np.ndarray:
    words = [[*table.get(tile, []), r.RETURN] for tile in range(MACHINE.tiles)]
    width = max(map(len, words))
    return np.array([row + [0] * (width - len(row)) for row in words], np.uint32)


def refusal(table: dict[int, list[int]]) -> IllegalProgram:
    with pytest.raises(IllegalProgram) as caught:
        deliver(rows(table), MACHINE)
    return caught.value


GOOD = {0: sender(), 2: listener(2), 3: listener(3)}


def wide(*spans: tuple[int, ...]) -> Messages:
    return cases.messages(*spans)


def pair_message(nbytes: int, *, source: int = 0, offset: int = 0, to: tuple[int, ...] = (4, 5)) -> Messages:
    return wide(*((source, 0, offset, tile, 2, 0, nbytes) for tile in to))


# What is delivered


def test_one_message_by_hand():
    made = deliver(rows(GOOD), MACHINE, address=MACHINE.sram_base)
    assert made.dst_tile.tolist() == [2, 3] and made.nwords.tolist() == [128, 128]
    assert made.src_address.tolist() == [PLACE[0]] * 2 and made.dst_address.tolist() == [PLACE[2]] * 2
    assert made.landed.tolist() == [landing(0, 2)] * 2 and made.rate.tolist() == [2, 2]
    assert made.sent_items[0] == 64
    wanted = wide((0, 0, 0, 2, 2, 0, 512), (0, 0, 0, 3, 2, 0, 512))
    assert check(rows(GOOD), wanted, PLACE, MACHINE) == []


def test_the_partner_of_a_sender_receives_meanwhile():
    later = [r.DELAY | START - 1, r.SEND | 63 << 21 | PLACE[0] >> 2 << 3 | 3]
    on = START + int(MACHINE.latency(6, 1)) - int(MACHINE.select_lead(1))
    ear = [r.DELAYPIC | PLACE[2] >> 2, r.DELAYXPIC | on - 1 << 14 | int(MACHINE.physical(6))]
    ear += [r.DELAYXPIC | 63 << 14 | 0x640, r.DELAY | 200]
    made = deliver(rows({**GOOD, 1: ear, 6: later}), MACHINE)
    assert made.dst_tile.tolist() == [1, 2, 3] and made.nwords.tolist() == [64, 128, 128]


def random_pairs(seed: int, tiles: int) -> Messages:
    """Multicasts to pairs, some of them incomplete, odd or in odd places."""
    random = np.random.default_rng(seed)
    spans: list[tuple[int, ...]] = []
    fill = np.zeros((2, tiles), int)
    for _ in range(int(random.integers(1, 10))):
        source, buffer, to = int(random.integers(tiles)), int(random.integers(2)), int(random.integers(2))
        offset = 4 * int(random.integers(200)) // 8 * 8 + 4 * int(random.random() < 0.2)
        pairs = random.choice(tiles // 2, int(random.integers(1, tiles // 2 + 1)), replace=False)
        heard = sorted(t for p in pairs.tolist() for t in (2 * p, 2 * p + 1) if random.random() < 0.95)
        for _ in range(int(random.integers(1, 5)) if heard else 0):
            size = 8 * int(random.integers(10, 90)) + 4 * int(random.random() < 0.1)
            low = int(max(fill[to, tile] for tile in heard))
            low = -(-low // 8) * 8 if random.random() < 0.9 else low
            for tile in heard:
                spans.append((source, buffer, offset, tile, 2 + to, low, size))
                fill[to, tile] = low + size + 8 * int(random.random() < 0.5)
            offset += size + 8 * int(random.random() < 0.2)
    return wide(*spans)


@pytest.mark.parametrize("name", ["t4", "t16", "t64"])
def test_random_phases_arrive_byte_by_byte(name):
    machine = load(name)
    place = cases.addresses(machine)
    memory = np.random.default_rng(0).integers(0, 256, (machine.tiles, machine.sram_bytes), np.uint8)
    shares = []
    for seed in range(15):
        wanted = random_pairs(seed, machine.tiles)
        if not len(wanted) or int((wanted.dst_offset + wanted.nbytes).max()) > 0x8000:
            continue
        horizon = schedule(wanted, machine, paired=False).horizon
        for mode in (True, None):
            made = schedule(wanted, machine, paired=mode)
            words = r.encode(made, place, machine).words
            assert check(words, wanted, place, machine, row_address=machine.sram_base) == []
            delivery = deliver(words, machine, address=machine.sram_base)
            assert (delivery.end_cycle == made.end).all()
            moved = memory.copy()
            move(delivery, moved)
            assert (moved == cases.expected(machine, wanted, memory)).all()
        assert made.horizon <= horizon  # chosen where it pays
        shares.append(made.paired_share)
    assert max(shares) > 0.5 and len(shares) > 8


def test_damaged_rows_of_pairs_are_judged_alike():
    wanted = Messages.concatenate(
        [pair_message(1024, to=(4, 5, 6, 7)), wide((9, 1, 8, 4, 2, 1024, 40), (0, 1, 0, 1, 3, 0, 64))]
    )
    made = schedule(wanted, MACHINE, paired=True)
    words = r.encode(made, PLACE, MACHINE).words
    memory = np.random.default_rng(0).integers(0, 256, (MACHINE.tiles, MACHINE.sram_bytes), np.uint8)
    want = cases.expected(MACHINE, wanted, memory)
    random = np.random.default_rng(2)
    for _ in range(200):
        tile = int(random.choice(np.flatnonzero(made.row_words > 1)))
        broken = words.copy()
        broken[tile, random.integers(made.row_words[tile])] ^= np.uint32(1 << int(random.integers(32)))
        judged = not check(broken, wanted, PLACE, MACHINE, row_address=MACHINE.sram_base)
        moved = memory.copy()
        try:
            move(deliver(broken, MACHINE, address=MACHINE.sram_base), moved)
            good = bool((moved == want).all())
        except IllegalProgram:
            good = False
        assert good == judged


# Where it is chosen


@pytest.mark.parametrize(
    ("wanted", "share"),
    [
        (pair_message(512), 1.0),
        (pair_message(504), 0.0),  # 63 items
        (pair_message(512, offset=4), 0.0),  # not at a multiple of 8
        (pair_message(512, to=(4, 6)), 0.0),  # not a pair
        (pair_message(512, to=(4, 5, 6)), 2 / 3),  # one tile without its partner gets words
        (pair_message(512, to=(0, 1, 4, 5)), 1 / 2),  # the sender's own pair gets words
        (pair_message(516), 0.0),  # no whole number of items
    ],
)
def test_where_items_have_eight_bytes(wanted, share):
    made = schedule(wanted, MACHINE, paired=True)
    assert made.paired_share == pytest.approx(share)


def test_short_messages_of_one_stream_are_long_enough_together():
    parts = [(0, 0, 160 * i, tile, 2, 320 * i, 160) for i in range(4) for tile in (4, 5)]
    assert schedule(wide(*parts), MACHINE, paired=True).paired_share == 1
    assert schedule(wide(*parts[:4]), MACHINE, paired=True).paired_share == 0


def test_it_is_not_chosen_where_it_loses():
    # Both tiles of each pair of senders send all the time: their buses cannot be lent.
    ring = [(s, 0, 0, t, 2, 512 * (s % 4), 512) for s in range(8) for t in (8 + s // 2 * 2, 9 + s // 2 * 2)]
    words, wide_only = (schedule(wide(*ring), MACHINE, paired=p) for p in (False, True))
    made = schedule(wide(*ring), MACHINE)
    assert made.horizon == min(words.horizon, wide_only.horizon)


def test_buffers_lie_at_multiples_of_eight():
    made = schedule(pair_message(512), MACHINE)
    with pytest.raises(ExchangeError, match=r"buffer 0 at .* cannot be exchanged in 8-byte items"):
        r.encode(made, [PLACE[0] + 4, *PLACE[1:]], MACHINE)


def test_moving_a_buffer_by_its_named_words():
    wanted = Messages.concatenate([pair_message(1024), wide((0, 0, 2048, 7, 3, 0, 40))])
    made = schedule(wanted, MACHINE)
    here, there = (r.encode(made, [PLACE[0] + d, *PLACE[1:]], MACHINE) for d in (0, 0x400))
    words = here.words.copy()
    for what, size in (("restarts", 4), ("paired_restarts", 8)):
        table = here.positions(0, what)
        assert table.shape[1]
        tile, column = np.nonzero(table != 0xFFFFFFFF)
        words[tile, table[tile, column]] += np.uint32(0x400 // size << r.SEND_FIELD)
    assert (words == there.words).all()


# Refusals


def test_refuses_half_a_pair():
    error = refusal({0: sender(), 2: listener(2)})
    assert (error.rule, error.tile, error.cycle) == ("half a pair", 2, landing(0, 2))
    error = refusal({0: sender(70), 2: listener(2), 3: listener(3, late=1)})
    assert error.rule == "half a pair"


def test_refuses_a_sender_whose_bus_is_lent():
    error = refusal({**GOOD, 1: [r.DELAY | START + 9, r.SEND | PLACE[1] >> 2 << 3 | 3]})
    assert (error.rule, error.tile, error.cycle) == ("bus in use", 1, START + 10)
    deliver(rows({**GOOD, 1: [r.DELAY | START + 63, r.SEND | PLACE[1] >> 2 << 3 | 3]}), MACHINE)


def test_refuses_the_wrong_size_of_items():
    words = sender(control=3, address=2 * PLACE[0])  # the field counts words then
    error = refusal({**GOOD, 0: words})
    assert (error.rule, error.cycle) == ("item size", landing(0, 2))
    word = [w & ~r.PAIR_SOURCE for w in listener(2)]
    word[1] ^= 2 if number(0, 2) ^ r.PAIR_SOURCE != int(MACHINE.physical(0)) else 0
    assert refusal({0: sender(70), 2: word}).rule in ("item size", "listening to silence")


def test_refuses_the_own_pair():
    error = refusal({0: sender(), 0 + 1: listener(1)})
    assert (error.rule, error.tile) == ("own pair", 1)


def test_refuses_misaligned_items():
    error = refusal({0: sender(), 2: listener(2, address=PLACE[2] + 4), 3: listener(3)})
    assert (error.rule, error.tile, error.address) == ("misaligned item", 2, PLACE[2] + 4)
    first = [r.DELAY | START - 3, r.SEND | PLACE[0] >> 2 << 3 | 3, r.SENDOFF | 63 << 21 | 7]
    assert refusal({**GOOD, 0: first}).rule == "misaligned item"


@pytest.mark.parametrize(
    ("table", "rule"),
    [
        ({0: sender(), 2: listener(2)}, "pair"),
        ({**GOOD, 1: [r.DELAY | START + 9, r.SEND | PLACE[1] >> 2 << 3 | 3]}, "bus"),
        ({**GOOD, 0: sender(control=3, address=2 * PLACE[0])}, "item"),
        ({0: sender(), 1: listener(1)}, "own pair"),
        ({0: sender(), 2: listener(2, address=PLACE[2] + 4), 3: listener(3)}, "item"),
    ],
)
def test_the_checker_finds_the_same(table, rule):
    wanted = wide((0, 0, 0, 2, 2, 0, 512), (0, 0, 0, 3, 2, 0, 512))
    assert rule in [finding.rule for finding in check(rows(table), wanted, PLACE, MACHINE)]
