# SPDX-License-Identifier: Apache-2.0
"""
How well and how fast memory is allocated.

Without options: every recorded problem as the compiler solves it (the first packings) and as `tile-alloc`
polishes it, with the budget of 10 s for all tile classes of the 27-layer SigLIP; and a hundred guillotine
instances of 30 buffers at fill 0.90. `--curve`: found placements by number of buffers and fill, as a table
(docs/memory.md holds one). `--seeds N`: instances of each kind.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tilewright.planning.memory.check import check
from tilewright.planning.memory.instances import guillotine, sampled
from tilewright.planning.memory.place import NODES, Unplaced, allocate
from tilewright.planning.memory.problem import Problem

RECORDED = sorted((Path(__file__).parent.parent / "tests" / "data" / "allocation").glob("*.json"))
BUDGET_SECONDS = 10.0
BUFFERS = (10, 30, 60, 100, 200, 300)
FILLS = (0.80, 0.85, 0.90, 0.95, 1.00)


def solved(problem: Problem, nodes: int) -> bool:
    """Whether a placement is found; the checker looks at it."""
    try:
        solution = allocate(problem, nodes, polish=0)
    except Unplaced:
        return False
    assert not check(problem, solution.addresses, solution.choices)
    return True


def recorded() -> bool:
    """Time and quality of the recorded problems; whether the largest keeps its budget."""
    good = True
    print(f"{'problem':<18} buffers classes   seconds    ratio  polished  seconds")
    for path in RECORDED:
        problem = Problem.read(path)
        start = time.perf_counter()
        first = allocate(problem, polish=0)
        faults = check(problem, first.addresses)
        seconds = time.perf_counter() - start
        assert not faults, faults[0]
        start = time.perf_counter()
        polished = allocate(problem, polish=1)
        assert not check(problem, polished.addresses)
        print(
            f"{path.stem:<18} {len(problem.buffers):>7} {len(problem.classes):>7} {seconds:>9.2f}"
            f" {first.quality:>8.4f} {polished.quality:>9.4f} {time.perf_counter() - start:>8.1f}",
            flush=True,
        )
        good = good and seconds <= BUDGET_SECONDS
    return good


CURVE_HEAD = ["instances", "buffers", *(f"{fill:.2f}" for fill in FILLS)]


def curve(seeds: int, nodes: int) -> Iterator[list[str]]:
    """Share of instances that are placed, by kind, number of buffers and fill: rows under `CURVE_HEAD`."""
    pool = Problem.read(next(p for p in RECORDED if p.stem == "siglip27_c600")).buffers
    for kind in ("guillotine", "sampled"):
        for count in BUFFERS:
            shares: list[str] = []
            for fill in FILLS:
                found = 0
                for seed in range(seeds):
                    made = (
                        guillotine(count, fill, seed)
                        if kind == "guillotine"
                        else sampled(pool, count, fill, seed)
                    )
                    found += solved(made[0], nodes)
                shares.append(f"{100 * found / seeds:.0f} %")
            yield [kind, str(count), *shares]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--curve", action="store_true", help="the table of found placements")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=NODES, help="bound of one search")
    options = parser.parse_args()
    if options.curve:
        print("| " + " | ".join(CURVE_HEAD) + " |")
        print("|---" * len(CURVE_HEAD) + "|")
        for row in curve(options.seeds, options.nodes):
            print("| " + " | ".join(row) + " |", flush=True)
        return 0
    good = recorded()
    start = time.perf_counter()
    found = sum(solved(guillotine(30, 0.9, seed)[0], options.nodes) for seed in range(options.seeds))
    print(
        f"guillotine, 30 buffers, fill 0.90: {found} of {options.seeds}"
        f" in {time.perf_counter() - start:.1f} s"
    )
    return 0 if good and found >= 0.95 * options.seeds else 1


if __name__ == "__main__":
    sys.exit(main())
