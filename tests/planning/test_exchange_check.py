# SPDX-License-Identifier: Apache-2.0
"""The independent checker finds what it should and nothing else."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from tilewright.backends import rows as r
from tilewright.machine import load
from tilewright.planning.exchange import ExchangeError, Messages, schedule
from tilewright.planning.exchange.check import check, require

_SPEC = spec_from_file_location(
    "exchange_messages", Path(__file__).parents[1] / "cases" / "exchange_messages.py"
)
assert _SPEC is not None and _SPEC.loader is not None
cases = module_from_spec(_SPEC)
_SPEC.loader.exec_module(cases)

MACHINE = load("t4")
PLACE = cases.addresses(MACHINE)
WANTED = cases.messages((0, 0, 0, 1, 2, 0, 400), (0, 0, 0, 2, 2, 0, 400), (3, 1, 8, 1, 2, 400, 40))


def encoded() -> np.ndarray:
    return r.encode(schedule(WANTED, MACHINE), PLACE, MACHINE).words.copy()


def rules(words: np.ndarray, wanted: Messages = WANTED, **more) -> list[str]:
    return [finding.rule for finding in check(words, wanted, PLACE, MACHINE, **more)]


def test_good_rows_have_no_findings():
    assert rules(encoded(), row_address=MACHINE.sram_base) == []


@pytest.mark.parametrize("seed", range(12))
def test_random_schedules_have_no_findings(seed):
    machine = load("t16")
    wanted = cases.random_messages(machine, seed)
    place = cases.addresses(machine)
    words = r.encode(schedule(wanted, machine), place, machine).words
    assert check(words, wanted, place, machine, row_address=machine.sram_base) == []


def test_a_flipped_bit_is_found_nearly_always():
    # Some flips are harmless (the last delay, one of two directions); tests/sim/test_fabric.py holds that the
    # model agrees about which.
    words = encoded()
    lengths = schedule(WANTED, MACHINE).row_words
    random = np.random.default_rng(0)
    found = 0
    for _ in range(150):
        tile = int(random.integers(3))
        broken = words.copy()
        broken[tile, random.integers(lengths[tile])] ^= np.uint32(1 << int(random.integers(32)))
        found += bool(rules(broken))
    assert found >= 125


def test_missing_surplus_and_wrong_words():
    extra = Messages.concatenate([WANTED, cases.messages((0, 0, 0, 3, 2, 0, 4))])
    assert rules(encoded(), extra) == ["missing"]
    less = Messages(*(getattr(WANTED, name)[:2] for name in Messages.__dataclass_fields__))
    assert rules(encoded(), less) == ["surplus"]
    moved = cases.messages((0, 0, 4, 1, 2, 0, 400), (0, 0, 0, 2, 2, 0, 400), (3, 1, 8, 1, 2, 400, 40))
    assert rules(encoded(), moved) == ["wrong word"]


def test_a_late_send_is_silence():
    words = encoded()
    lengths = schedule(WANTED, MACHINE).row_words
    late = np.zeros((4, words.shape[1] + 2), np.uint32)
    late[:, : words.shape[1]] = words
    late[0, 2 : 2 + lengths[0]] = words[0, : lengths[0]]
    late[0, :2] = r.DELAY  # two words, so that what follows stays aligned
    assert rules(late)[0] == "silence"


def test_rows_in_an_element_of_the_phase():
    assert "row element" in rules(encoded(), row_address=PLACE[0] + 0x2000)


def test_sends_of_undefined_words():
    written = np.zeros((4, MACHINE.sram_bytes // 4), bool)
    assert rules(encoded(), written=written)[0] == "undefined"
    written[:, (PLACE[0] - MACHINE.sram_base) // 4 :] = True
    assert rules(encoded(), written=written) == []


def test_element_conflicts():
    wanted = cases.messages((0, 0, 0, 0, 0, 0x1000, 2000), (1, 0, 0, 0, 0, 0x2000, 2000))
    words = r.encode(schedule(wanted, MACHINE), PLACE, MACHINE).words
    assert "element" in rules(words, wanted)


def test_two_writers_and_forwarding():
    wanted = cases.messages((0, 0, 0, 1, 2, 0, 40), (2, 0, 0, 1, 2, 20, 40))
    words = r.encode(schedule(wanted, MACHINE), PLACE, MACHINE).words
    assert "two writers" in rules(words, wanted)


def test_require_raises_with_every_finding():
    with pytest.raises(ExchangeError, match="phase up do not do what they should: missing"):
        require(
            encoded(),
            Messages.concatenate([WANTED, cases.messages((0, 0, 0, 3, 2, 0, 4))]),
            PLACE,
            MACHINE,
            phase="up",
        )
