# SPDX-License-Identifier: Apache-2.0
"""
Every bit of words of real rows, flipped: what changes any received word is refused or found, the rest moves
the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr

from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.tile_asm import module_to_program
from tilewright.frontends.workloads import vit
from tilewright.frontends.workloads.encoder import Mode, Shape
from tilewright.machine import Machine, load
from tilewright.passes.ir.exchange import ExpectedPhase, exchanges, expected_phases
from tilewright.passes.ir.tensors import MACHINE
from tilewright.passes.pipeline import passes
from tilewright.planning.exchange.check import check
from tilewright.sim import fabric
from tilewright.sim.illegal import IllegalProgram


@dataclass
class Counts:
    """Flips that the model refuses, that only the checker finds, and that change no received word."""

    refused: int = 0
    found: int = 0
    harmless: int = 0

    def __str__(self) -> str:
        refused, found = f"{self.refused} refused by the model", f"{self.found} found by the checker"
        return f"{refused}, {found}, {self.harmless} harmless"


@cache
def real_rows(name: str) -> tuple[Machine, list[tuple[np.ndarray, int, ExpectedPhase]]]:
    """Rows, their address and what they should deliver, of all phases of a small encoder."""
    shape = Shape(tokens=9, width=64, heads=2, mlp=128, layers=1, batch=1, patch=16)
    module = parse_module(vit.build(shape, Mode("f8", "f16"), seed=1).program, ctx=(ctx := context()))
    module.attributes[MACHINE] = StringAttr(name)
    *before, last = passes()
    for stage in before:
        stage.apply(ctx, module)
    phases = expected_phases(module)
    last.apply(ctx, module)
    program = module_to_program(module)
    tables = {t.name: t for t in program.tables}
    rows = [tables[exchange.rows] for exchange, _ in exchanges(program.body)]
    return load(name), [(t.words, t.address, p) for t, p in zip(rows, phases, strict=True)]


def words_received(delivery: fabric.Delivery) -> np.ndarray:
    """Every received word as (tile, address, source tile, source address, cycle), in order."""
    n = delivery.nwords
    owner = np.repeat(np.arange(len(n)), n)
    k = np.arange(len(owner)) - np.repeat(np.cumsum(n) - n, n)
    columns = (
        delivery.dst_tile[owner],
        delivery.dst_address[owner] + 4 * k,
        delivery.src_tile[owner],
        delivery.src_address[owner] + 4 * k,
        delivery.landed[owner] + k // delivery.rate[owner],
    )
    table = np.stack(columns, axis=1)
    return table[np.lexsort(table.T[::-1])]


def flip(name: str, words: int, seed: int) -> Counts:
    machine, phases = real_rows(name)
    random = np.random.default_rng(seed)
    counts = Counts()
    weight = np.array([np.count_nonzero(rows) for rows, _, _ in phases], float)
    for _ in range(words):
        rows, address, phase = phases[int(random.choice(len(phases), p=weight / weight.sum()))]
        tile, word = (int(x) for x in np.argwhere(rows)[random.integers(np.count_nonzero(rows))])
        good = fabric.deliver(rows, machine, address=address)
        want = words_received(good)
        memory = random.integers(0, 256, (machine.tiles, machine.sram_bytes), np.uint8)
        after = memory.copy()
        fabric.move(good, after)
        for bit in range(32):
            broken = rows.copy()
            broken[tile, word] ^= np.uint32(1 << bit)
            try:
                delivery = fabric.deliver(broken, machine, address=address)
            except IllegalProgram:
                counts.refused += 1
                continue
            if not np.array_equal(words_received(delivery), want):
                said = check(broken, phase.messages, phase.addresses, machine, row_address=address)
                assert said, f"{phase.reason}: tile {tile}, word {word}, bit {bit}"
                counts.found += 1
                continue
            moved = memory.copy()
            fabric.move(delivery, moved)
            assert np.array_equal(moved, after)
            counts.harmless += 1
    return counts


@pytest.mark.parametrize("name", ["t4", "t16"])
def test_flipped_bits(name: str) -> None:
    counts = flip(name, 12, 0)
    assert counts.refused > counts.found > 0


@pytest.mark.slow
def test_flipped_bits_of_300_words(capsys: pytest.CaptureFixture[str]) -> None:
    total = Counts()
    for name, words in (("t4", 100), ("t16", 150), ("t64", 50)):
        counts = flip(name, words, 1)
        total = Counts(*(getattr(total, f) + getattr(counts, f) for f in ("refused", "found", "harmless")))
    with capsys.disabled():
        print(f"\n9,600 flipped bits: {total}")
    assert total.refused + total.found + total.harmless == 9600
