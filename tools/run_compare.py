# SPDX-License-Identifier: Apache-2.0
"""
What `tile-run --compare=each` does: both comparisons of every run, the steps it took, and what it says of
them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tilewright.backends.program import Call, Exchange, Program, Repeat
from tilewright.sim.as_given import compare_run
from tilewright.sim.executor import Executor
from tilewright.sim.oracle import Departure, Oracle
from tilewright.sim.results import RunResult, Step

SHOWN = 10
"""Departures from the reference that are printed, a line each; the others are counted."""


def other_steps(program: Program, steps: Sequence[Step]) -> list[str]:
    """
    Where a run's steps are not those of the program, a line for each name: kernel calls, exchange phases, and
    the patches of repeats. A step that is done twice may leave every value right; it costs cycles.
    """
    wanted: Counter[str] = Counter()
    for instruction, enclosing in program.instructions():
        times = prod(repeat.count for repeat in enclosing)
        match instruction:
            case Call():
                wanted[instruction.kernel] += times
            case Exchange():
                wanted[instruction.name or instruction.rows] += times
            case Repeat() if instruction.patches and instruction.count > 1:
                wanted[f"{instruction.name}: patch rows"] += times * instruction.count
            case _:
                pass
    found = Counter(step.name for step in steps if step.category != "sync")
    return [
        f"'{name}' is executed {found[name]} times, the program has it {wanted[name]} times"
        for name in sorted(wanted.keys() | found.keys())
        if found[name] != wanted[name]
    ]


@dataclass
class Compared:
    """
    Runs beside the oracle of the plan and the reference of the program as given (`module`, which must be a
    copy that nothing lowers), and their steps beside those of the compiled `program`, once it is known.
    """

    oracle: Oracle
    module: ModuleOp
    program: Program | None = None
    runs: int = 0
    planned: list[tuple[int, Departure]] = field(default_factory=list[tuple[int, Departure]])
    given: list[tuple[int, Departure]] = field(default_factory=list[tuple[int, Departure]])
    planned_values: int = 0
    given_values: int = 0
    free: int = 0
    unseen: set[str] = field(default_factory=set[str])
    steps: int = 0
    other_steps: list[str] = field(default_factory=list[str])

    def run(
        self, executor: Executor, inputs: Mapping[str, np.ndarray], parameters: Mapping[str, np.ndarray]
    ) -> RunResult:
        """One more run."""
        found = compare_run(executor, self.oracle, self.module, inputs, parameters)
        self.runs += 1
        if found.planned.found is not None:
            self.planned.append((self.runs, found.planned.found))
        self.given += [(self.runs, departure) for departure in found.given.departures]
        self.planned_values += found.planned.compared
        self.given_values += found.given.compared
        self.free += found.given.free
        self.unseen |= found.given.unseen
        if self.program is not None:
            self.steps = len(found.result.steps)
            self.other_steps += other_steps(self.program, found.result.steps)
        return found.result

    def report(self) -> bool:
        """Print both verdicts, departures on standard error; whether nothing departs."""
        runs = f" in {self.runs} runs" if self.runs > 1 else ""
        print(
            f"oracle of the plan: {self.planned_values:,} values{runs}, bit for bit: "
            + ("nothing departs" if not self.planned else "the first that departs ends the comparison")
        )
        print(
            f"reference of the program as given: {self.given_values:,} values{runs}, within their bounds: "
            + ("nothing departs" if not self.given else f"{len(self.given)} depart")
        )
        if self.unseen:
            print(f"  not seen by themselves (fused, or of no use): {', '.join(sorted(self.unseen))}")
        if self.free:
            print(f"  {self.free:,} elements have no bound: a sum in their type may overflow on the way")
        if self.program is not None:
            what = "those of the program" if not self.other_steps else "not those of the program"
            print(f"{self.steps:,} steps a run: {what}")
        for line in self.other_steps[:SHOWN]:
            print(f"steps: {line}", file=sys.stderr)
        for title, departures in (("the oracle of the plan", self.planned), ("the reference", self.given)):
            for run, departure in departures[:SHOWN]:
                print(f"{title}{f', run {run}' if self.runs > 1 else ''}: {departure}", file=sys.stderr)
            if len(departures) > SHOWN:
                print(f"{title}: {len(departures) - SHOWN} more values depart", file=sys.stderr)
        return not self.planned and not self.given and not self.other_steps
