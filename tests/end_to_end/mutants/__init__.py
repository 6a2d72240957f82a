# SPDX-License-Identifier: Apache-2.0
"""
Machine programs with one thing changed, by kind, and what becomes of them: a refusal, a departure that
`--compare` reports, or the same outputs and cycles, and then why the changed bytes mean nothing.

A kind is a function from a base program and a random generator to a `Mutant`; `KINDS` lists them.
"""

from __future__ import annotations

import random

from mutants import bindings, images, operands, rows, steps, supervisor, tables, texts
from mutants.bases import BASES, Base, Mutant, Outcome, base, judge
from mutants.choosing import KINDS

CHANGES = (rows, supervisor, tables, operands, steps, bindings, texts, images)
"""The modules whose functions stand in `KINDS`."""


def mutants(kind: str, count: int, seed: int = 0) -> list[tuple[Base, Mutant]]:
    """`count` mutants of a kind, over all base programs that have what it changes."""
    r = random.Random(f"{kind} {seed}")
    found: list[tuple[Base, Mutant]] = []
    for number in range(8 * count):
        one = base(BASES[number % len(BASES)])
        mutant = KINDS[kind](one, r)
        if mutant is not None:
            found.append((one, mutant))
        if len(found) == count:
            break
    return found


__all__ = ["BASES", "CHANGES", "KINDS", "Base", "Mutant", "Outcome", "base", "judge", "mutants"]
