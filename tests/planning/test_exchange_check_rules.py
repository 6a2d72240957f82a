# SPDX-License-Identifier: Apache-2.0
"""Every rule of the independent checker of rows: rows by hand that break it and nothing before it."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tilewright.backends import rows as r
from tilewright.planning.exchange import Messages
from tilewright.planning.exchange.check import check


def _case(name: str) -> ModuleType:
    spec = spec_from_file_location(name, Path(__file__).parents[1] / "cases" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


w, cases = _case("row_words"), _case("exchange_messages")
MACHINE, LAND, LEAD, START, NEUTRAL = w.MACHINE, w.LAND, w.LEAD, w.START, w.NEUTRAL
PLACE = cases.addresses(MACHINE)
BASE, END = MACHINE.sram_base, MACHINE.sram_base + MACHINE.sram_bytes
WANTED = cases.messages((0, 0, 0, 1, 2, 0, 40))
TEN = [w.delay(START), w.send(10, PLACE[0])]
HEAR = w.listener(LAND, 10, PLACE[2])
ON = LAND - LEAD


def found(words: np.ndarray, wanted: Messages = WANTED, **more: object) -> str:
    """The first finding, as it is printed."""
    findings = check(words, wanted, PLACE, MACHINE, **more)  # type: ignore[arg-type]
    assert findings
    return str(findings[0])


def test_the_row_by_hand_is_good() -> None:
    assert check(w.rows(TEN, HEAR), WANTED, PLACE, MACHINE) == []


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([w.delay(3), 0x12345678, r.RETURN], "opcode: word 1 of the row is 0x12345678"),
        ([w.delay(3)], "no return: the row runs past its "),
        ([r.SENDPICP], "no return: the row ends inside a sendpicp"),
        ([w.pointer(1, PLACE[2]) | 1 << 18, r.RETURN], "selector: delaypic with selector 1"),
        ([r.SENDPIC | 3 << 18 | 1 << 20, r.RETURN], "selector: sendpic with selector 3"),
        (
            [w.sendpicp(1, 0, NEUTRAL, 0, control=0)[0] | 1 << 27, 0, r.RETURN],
            "selector: sendpicp with a selector bit",
        ),
        (
            [w.delay(1), *w.sendpicp(1, 0, NEUTRAL, 0, control=0), r.RETURN],
            "alignment: sendpicp at word 1 of the row",
        ),
    ],
)
def test_words_that_make_no_row(row: list[int], message: str) -> None:
    rest = [r.RETURN] + [0] * (len(row) - 1)
    assert message in found(np.array([row, rest, rest, rest], np.uint32))


@pytest.mark.parametrize(
    ("sender", "receiver", "message"),
    [
        (
            TEN,
            [w.pointer(1, PLACE[2]), w.select(ON, 0x600), w.select(10, NEUTRAL), w.delay(200)],
            "source: nobody is source 0x600",
        ),
        (
            TEN,
            [w.pointer(1, PLACE[2]), w.select(ON, w.number(0)), w.delay(200)],
            "neutral: the row ends while it listens",
        ),
        (TEN, w.listener(LAND, 11, PLACE[2]), "silence: tile 0 sends nothing that lands then"),
        (TEN, w.listener(LAND, 10, PLACE[2], tail=LEAD - 3), "a word lands after the row has returned"),
        (TEN, [w.delay(1), *HEAR[1:]], "pointer: a word lands before a pointer is set"),
        (TEN, w.listener(LAND, 10, END - 8), "range: receive outside of SRAM"),
        (
            TEN,
            [*w.listener(LAND, 10, PLACE[2]), w.send(1, BASE - 4)],
            "range: send from outside of SRAM",
        ),
        (
            TEN,
            [*w.listener(LAND, 10, PLACE[2], tail=LEAD - 2), w.send(10, PLACE[2] + 0x100)],
            "element: send and receive in one memory element",
        ),
        (
            TEN,
            [*w.listener(LAND, 10, PLACE[2]), w.send(10, PLACE[2] + 16)],
            "forwarding: a received word is sent in the phase",
        ),
        (
            TEN,
            [
                w.pointer(1, PLACE[2]),
                w.select(ON, w.number(0)),
                w.select(10, NEUTRAL),
                w.pointer(LAND + 4 - (ON + 11) + 1, PLACE[2] + 8),
                w.delay(100),
            ],
            "two writers: a word is received twice",
        ),
        (TEN, w.listener(LAND, 8, PLACE[2]), "missing: 2 words are asked for and not received"),
        (
            [w.delay(START), w.send(12, PLACE[0])],
            w.listener(LAND, 12, PLACE[2]),
            "surplus: 2 words are received that nobody asked for",
        ),
        ([w.delay(START), w.send(10, PLACE[0] + 8)], HEAR, "wrong word: comes from tile 0, "),
    ],
)
def test_rows_that_do_something_else(sender: list[int], receiver: list[int], message: str) -> None:
    assert message in found(w.rows(sender, receiver))


# Items of 8 bytes: tiles 0 and 1 are a pair, 2 and 3 the next. One item a cycle, selector 1 of a source.

PAIR = 1 << 13


def paired(address: int, items: int = 10) -> int:
    """A send of 8-byte items."""
    return r.SEND | items - 1 << 21 | address >> 3 << 3 | 7


def hears(tile: int, items: int, address: int, source: int = 0, flag: int = PAIR) -> list[int]:
    """A row of one tile of the pair 2, 3: the items of tile 0 land on both when the later one has them."""
    lead = int(MACHINE.select_lead(tile))
    first = START + max(w.way(source, 2), w.way(source, 3))
    own = w.number(source) ^ (int(MACHINE.physical(tile)) & 2)  # each tile listens to the bus on its side
    return [
        w.pointer(1, address),
        w.select(first - lead, own | flag),
        w.select(items, NEUTRAL),
        w.delay(200),
    ]


EIGHT = [w.delay(START), paired(PLACE[0])]
BOTH = cases.messages((0, 0, 0, 2, 2, 0, 80), (0, 0, 0, 3, 2, 0, 80))


def test_the_rows_of_a_pair_by_hand_are_good() -> None:
    words = w.rows(EIGHT, [], hears(2, 10, PLACE[2]), hears(3, 10, PLACE[2]))
    assert [str(f) for f in check(words, BOTH, PLACE, MACHINE)] == []


@pytest.mark.parametrize(
    ("first", "second", "third", "fourth", "message"),
    [
        (
            EIGHT,
            [w.delay(START), w.send(1, PLACE[1])],
            hears(2, 10, PLACE[2]),
            hears(3, 10, PLACE[2]),
            "bus: tile 0 sends 8-byte items over its partner's bus, which sends too",
        ),
        (
            EIGHT,
            [],
            hears(2, 10, PLACE[2]),
            [],
            "pair: tile 0 sends 8-byte items that only one tile of a pair hears",
        ),
        (
            EIGHT,
            [],
            hears(2, 10, PLACE[2] + 4),
            hears(3, 10, PLACE[2]),
            "item: an 8-byte item is received at an odd word",
        ),
        (
            [w.delay(START), w.send(1, PLACE[0]), r.SENDOFF | 8 << 21 | 7],
            [],
            [],
            [],
            "item: an 8-byte item is sent from an odd word",
        ),
        (
            [w.delay(START), w.send(10, PLACE[0])],
            [],
            hears(2, 10, PLACE[2]),
            hears(3, 10, PLACE[2]),
            "item: tile 0 sends items of 4 bytes, 8 are expected",
        ),
    ],
)
def test_rows_of_8_byte_items(
    first: list[int], second: list[int], third: list[int], fourth: list[int], message: str
) -> None:
    assert message in found(w.rows(first, second, third, fourth), BOTH)


def test_8_byte_items_from_the_own_pair() -> None:
    lead = int(MACHINE.select_lead(1))
    row = [
        w.pointer(1, PLACE[2]),
        w.select(START + 80 - lead, w.number(0) ^ (w.number(1) & 2) | PAIR),
        w.select(1, NEUTRAL),
        w.delay(200),
    ]
    assert "own pair: 8-byte items come from the tile's own pair" in found(w.rows(EIGHT, row))
