# SPDX-License-Identifier: Apache-2.0
"""
Random small programs with values, the same for the same seed: every operation and attribute, awkward shapes,
every element type and its special values.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from .edges import edge
from .movement import boxes
from .operations import OPERATIONS
from .repeats import repeat
from .siblings import siblings
from .values import Program, Value
from .writer import Writer, finish

__all__ = ["OPERATIONS", "Program", "program", "repeated"]


def program(seed: int, first: Callable[[Writer], Value] | None = None) -> Program:
    """A program of one to six operations; `first` fixes which comes first."""
    w = Writer(random.Random(seed), turn=seed // len(OPERATIONS))
    results = [first(w)] if first is not None else []
    for _ in range(w.rng.randint(1, 4)):
        results.append(w.rng.choice(OPERATIONS)(w))
    outputs = [results[-1], *w.rng.sample(results[:-1], min(len(results) - 1, w.rng.randint(0, 2)))]
    outputs += siblings(w, seed)
    if seed % 3 == 0:
        outputs += boxes(w, seed)
    if seed % 3 == 1:
        outputs += edge(w, seed)
    return finish(w, outputs)


def repeated(seed: int) -> Program:
    """A program with one or two repeats."""
    w = Writer(random.Random(seed))
    results: list[Value] = []
    for _ in range(w.rng.choice((1, 1, 2))):
        for _ in range(w.rng.randint(0, 1)):
            results.append(w.rng.choice(OPERATIONS)(w))
        results.append(repeat(w))
    if w.rng.random() < 0.5:
        results.append(w.rng.choice(OPERATIONS)(w))
    return finish(w, [results[-1], *w.rng.sample(results[:-1], min(len(results) - 1, 1)), *w.collected])
