# SPDX-License-Identifier: Apache-2.0
"""
One thing changed in a machine program that is right: a refusal, a departure that `--compare` reports (in a
value, or in the steps of the run), or the same values, and then the same cycles and a reason, or other
cycles. Never another exception, never slow, never large.

Other cycles in the program's own steps are accepted: a kernel that works on more of its buffer than it is
asked for, or a row that waits longer, is a program that the machine executes, and its cycles are right. What
a step should take is in the program and nowhere else.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import mutants
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from peak_memory import peak_bytes

FEW, MANY = 5, 26
"""Mutants of each kind in the fast and in the slow set."""
SECONDS = 8.0
"""Processor time that a mutant may take, compilation of the base programs not counted."""
BYTES = 2 << 30


def judged(kind: str, count: int, seed: int) -> Counter[str]:
    verdicts: Counter[str] = Counter()
    held = peak_bytes(anew=True)
    for one, mutant in mutants.mutants(kind, count, seed):
        start = time.process_time()
        try:
            outcome = mutants.judge(one, mutant)
        except Exception as error:
            error.add_note(f"{kind}, {one.name}: {mutant.what}")
            raise
        taken = time.process_time() - start
        assert taken < SECONDS, f"{taken:.1f} s: {kind}, {one.name}: {mutant.what}"
        verdicts[outcome.verdict] += 1
        if outcome.verdict == "inert":
            verdicts[f"inert: {outcome.detail}"] += 1
    assert peak_bytes() - held < BYTES
    return verdicts


def test_there_are_kinds_enough() -> None:
    assert len(mutants.KINDS) >= 24
    assert MANY * len(mutants.KINDS) >= 1000


def test_base_programs_have_what_is_changed() -> None:
    """Repeats with patches, attention, FP8, items in pairs, integers and constants."""
    from tilewright.backends.program import Repeat
    from tilewright.backends.rows import PAIRED, decode

    programs = {name: mutants.base(name).program for name in mutants.BASES}
    assert any(isinstance(i, Repeat) and i.patches for i, _ in programs["repeats"].instructions())
    kernels = {name: {code.kernel for code in made.code} for name, made in programs.items()}
    assert "gemm.f8" in kernels["fp8"] and kernels["fp8"] & {"softmax.part", "softmax.raise"}
    assert "gather_rows" in kernels["mixed"] and programs["mixed"].constants
    rows = [decode(t.words) for t in programs["pairs"].tables if t.category == "rows"]
    assert any((events.direction & PAIRED).any() for events in rows)


@pytest.mark.parametrize("kind", mutants.KINDS)
def test_mutants(kind: str) -> None:
    verdicts = judged(kind, FEW, 0)
    assert sum(verdicts[name] for name in ("refused", "departed", "other cycles", "inert")) == FEW


@pytest.mark.slow
def test_a_thousand_mutants(capsys: pytest.CaptureFixture[str]) -> None:
    total: Counter[str] = Counter()
    lines: list[str] = []
    for kind in mutants.KINDS:
        verdicts = judged(kind, MANY, 1)
        total += verdicts
        lines.append(f"{kind}: " + ", ".join(f"{n} {name}" for name, n in verdicts.items()))
    count = sum(total[name] for name in ("refused", "departed", "other cycles", "inert"))
    with capsys.disabled():
        print("", *lines, f"{count} mutants: {dict(total)}", sep="\n")
    assert count >= 1000
