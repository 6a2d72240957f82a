# SPDX-License-Identifier: Apache-2.0
"""
`tile-alloc PROBLEM`: solves one allocation problem, checks the placement, and explains when there is
none.

Exit status: 0 it fits; 1 it does not, or a given placement is illegal; 2 unknown flags.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tilewright.tools.driver import progress
from tilewright.tools.driver.arguments import ToolParser
from tilewright.tools.driver.main import run_tool


def _parser() -> ToolParser:
    parser = ToolParser("tile-alloc", __doc__)
    parser.add_argument(
        "problem", type=Path, metavar="PROBLEM", help="allocation problem (docs/spec/allocation-problem.md)"
    )
    parser.add_argument(
        "--json", type=Path, metavar="OUT", help="write the placement, or the diagnosis, to OUT"
    )
    parser.add_argument(
        "--check", type=Path, metavar="SOLUTION", help="check this placement instead of making one"
    )
    parser.add_argument(
        "--nodes", type=int, metavar="N", help="bound of the search: buffers placed before giving up"
    )
    parser.add_argument("--map", action="store_true", help="print every buffer with its address")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says; returns the exit status."""
    from tilewright.diagnostics import TileError
    from tilewright.json_text import read_json
    from tilewright.planning.memory.check import check
    from tilewright.planning.memory.explain import AllocationError, solve, spare
    from tilewright.planning.memory.problem import Problem, ProblemError, Solution, dumps

    options = _parser().parse_args(arguments)
    problem = Problem.read(options.problem)
    if options.nodes is not None and options.nodes < 1:
        raise TileError(f"--nodes is at least 1, not {options.nodes}")
    if options.check is not None:
        try:
            data = read_json(options.check.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ProblemError(f"{options.check} is not JSON: {error}") from error
        solution = Solution.from_json(data, problem, str(options.check))
    else:
        try:
            with progress.shown(options), progress.step("search"):
                solution = solve(problem, options.nodes)
        except AllocationError as error:
            if options.json is not None:
                found = {"format": "tilewright-allocation", "version": 1, "problem": problem.name}
                text = dumps({**found, "fits": False, "diagnosis": error.diagnosis.to_json()})
                options.json.write_text(text, encoding="utf-8")
            raise
    faults = check(problem, solution.addresses, solution.choices)
    if options.json is not None and options.check is None:
        options.json.write_text(dumps({**solution.to_json(problem), "fits": True}), encoding="utf-8")
    if faults:
        raise TileError(f"the placement is illegal: {faults[0]}", notes=[str(f) for f in faults[1:20]])
    if options.map:
        held = [(a, b) for b, a in zip(problem.buffers, solution.addresses, strict=True) if a is not None]
        for address, b in sorted(held, key=lambda h: (h[0], h[1].first, h[1].name)):
            print(f"{address:#8x} {b.extent:>9} bytes  events {b.first} to {b.last}  {b.name}")
    if options.quiet:
        return 0
    for alternative, choice in zip(problem.alternatives, solution.choices, strict=True):
        print(f"{alternative.name}: {alternative.options[choice].name}")
    if options.check is not None:
        print(f"{problem.name or options.problem}: the placement is legal")
        return 0
    count = sum(a is not None for a in solution.addresses)
    chosen = problem.choose(solution.choices) if problem.alternatives else problem
    print(
        f"{problem.name or options.problem}: {count} buffers fit; {solution.used} bytes used, lower bound"
        f" {solution.lower_bound} (ratio {solution.quality:.4f}), {spare(chosen)} to spare at the fullest"
        " event;"
        f" {solution.packing} after {solution.nodes} nodes"
    )
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script."""
    return run_tool("tile-alloc", run, argv)


if __name__ == "__main__":
    sys.exit(main())
