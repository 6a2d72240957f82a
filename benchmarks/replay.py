# SPDX-License-Identifier: Apache-2.0
"""
The F16 MLP that others ran on a C600, [729, 1152] x [1152, 4304], gelu, x [4304, 1152], under its three
published plans on the machine model: with the kernels of today, and with the formulas that the same source
gave for the kernels of that date, beside the cycles of the hardware.

    python benchmarks/replay.py [--plans 1 2 3]

Prints a table in Markdown by part. Published are totals, the formulas, and the length of one exchange phase;
what the parts took on the hardware is not: "left" is what the total leaves for the exchange when the other
parts take what is published. Takes about a minute; the table is in docs/spec/cycles.md.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tilewright import settings
from tilewright.backends.image import to_image
from tilewright.machine import Machine, kernels, load
from tilewright.machine.kernels.formulas import Scalars, Terms
from tilewright.machine.kernels.measurements import FILE
from tilewright.machine.kernels.registry import substituted
from tilewright.passes.ir.exchange import read_figures
from tilewright.sim.executor import Executor
from tilewright.sim.results import RunResult
from tilewright.tools.driver.main import load_module, make_context
from tilewright.tools.run_compile import Clock, compile_module

TOKENS, WIDTH, HIDDEN = 729, 1152, 4304
PROGRAM = f"""
builtin.module {{
  func.func @main(%x: tensor<{TOKENS}x{WIDTH}xf16> {{tile_tensor.input = "x"}},
      %w_up: tensor<{WIDTH}x{HIDDEN}xf16> {{tile_tensor.parameter = "w_up"}},
      %w_down: tensor<{HIDDEN}x{WIDTH}xf16> {{tile_tensor.parameter = "w_down"}})
      -> tensor<{TOKENS}x{WIDTH}xf16> {{
    %up = tile_tensor.matmul %x, %w_up accumulate f16
      : (tensor<{TOKENS}x{WIDTH}xf16>, tensor<{WIDTH}x{HIDDEN}xf16>) -> tensor<{TOKENS}x{HIDDEN}xf16>
    %hidden = tile_tensor.gelu %up approximate tanh
      : (tensor<{TOKENS}x{HIDDEN}xf16>) -> tensor<{TOKENS}x{HIDDEN}xf16>
    %down = tile_tensor.matmul %hidden, %w_down accumulate f16
      : (tensor<{TOKENS}x{HIDDEN}xf16>, tensor<{HIDDEN}x{WIDTH}xf16>) -> tensor<{TOKENS}x{WIDTH}xf16>
    func.return %down : tensor<{TOKENS}x{WIDTH}xf16>
  }}
}}
"""
PARTS: tuple[str, ...] = ("products", "gelu", "reductions", "copies", "exchange", "sync")


@dataclass(frozen=True)
class Published:
    """A plan as published: grids m x n x k of both products, cycles of the hardware, what else is known."""

    up: tuple[int, int, int]
    down: tuple[int, int, int]
    cycles: int
    gelu_to_down: int | None
    standard_down: bool


def _grid(parts: Sequence[int]) -> tuple[int, int, int]:
    m, n, k = parts
    return m, n, k


def published() -> list[Published]:
    """The three plans of `machine/kernels/measurements.json`, in its order."""
    entries = json.loads(FILE.read_text("utf-8"))["model_cycles"]
    found: list[Published] = []
    for entry in entries:
        if entry.get("use") == "replay":
            grids = entry.get("grids") or dict(zip(("up", "down"), (found[0].up, found[0].down), strict=True))
            found.append(
                Published(
                    _grid(grids["up"]),
                    _grid(grids["down"]),
                    entry["cycles"],
                    entry.get("gelu_to_down_exchange_scheduled"),
                    "standard memory" in entry["model"],
                )
            )
    return found


def _gelu_then(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    n = extents.prod(axis=1)
    return [("set-up", np.full(n.shape, 300)), ("inner loop", 558 * -(-n // 96))]


def _reduce_then(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    p, n = extents[:, 0], extents[:, 1:].prod(axis=1)
    return [("set-up", np.full(n.shape, 282)), ("rounds", 6 * -(-n // 48) * (9 + 6 * (p - 1)))]


THEN = {
    "pointwise.gelu_tanh": _gelu_then,
    "reduce_partials": _reduce_then,
    "reduce_partials.wide": _reduce_then,
}
"""
The formulas of that date, where they differ: `kernels_of_that_date` of the file. It had no reduction that
loads 16 bytes at once.
"""


@contextmanager
def kernels_of_that_date() -> Iterator[None]:
    """The registry with the formulas of that date."""
    with substituted(THEN):
        yield


def by_part(result: RunResult) -> dict[str, int]:
    """Cycles of a run by part, in the order of `PARTS`; they sum to the total."""
    found = dict.fromkeys(PARTS, 0)
    for step in result.steps:
        if step.category == "compute":
            kinds = {"gemm": "products", "pointwise": "gelu", "reduce_partials": "reductions"}
            part = kinds[step.name.partition(".")[0]]
        else:
            part = "copies" if step.category == "copy" else step.category
        found[part] += step.cycles
    return found


@dataclass(frozen=True)
class Replay:
    """Cycles by part with the kernels of today and of that date; cycles of the exchange from gelu to down."""

    today: dict[str, int]
    then: dict[str, int]
    gelu_to_down: int


def replay(plan: Published, words: bool = False) -> Replay:
    """One plan on the machine model; `words`: exchange in words alone."""
    machine, context = load("c600"), make_context()
    with tempfile.TemporaryDirectory() as folder:
        program_file, plan_file = Path(folder, "mlp.mlir"), Path(folder, "plan.json")
        program_file.write_text(PROGRAM, "utf-8")
        grids = (("up", plan.up), ("down", plan.down))
        records: dict[str, Any] = {
            name: {"grid": [1, *grid], "swap": False, "share": 1, "base": 0} for name, grid in grids
        }
        records["hidden"] = {"leader": 0}
        plan_file.write_text(
            json.dumps({"format": "tilewright-plan", "version": 1, "machine": "c600", "operators": records})
        )
        module = load_module(program_file, context)
        with settings.use(settings.Settings(exchange_items="words" if words else None)):
            program = compile_module(module, context, "c600", plan_file, Clock())
    (phase,) = (figures for figures in read_figures(module) if figures.reason == "down: matmul operands")
    random = np.random.default_rng(0)
    values = {
        name: (scale * random.standard_normal(shape)).astype(np.float16)
        for name, shape, scale in (
            ("x", (TOKENS, WIDTH), 1.0),
            ("w_up", (WIDTH, HIDDEN), WIDTH**-0.5),
            ("w_down", (HIDDEN, WIDTH), HIDDEN**-0.5),
        )
    }
    executor = Executor(to_image(program), machine)
    executor.load(values)
    today = by_part(executor.run(values))
    with kernels_of_that_date():
        then = by_part(executor.run(values))
    return Replay(today, then, phase.scheduled)


def product_cycles(grid: tuple[int, int, int], rows: int, columns: int, inner: int, standard: bool) -> int:
    """Cycles of the product on the largest part of a grid."""
    m, n, k = (-(-size // parts) for size, parts in zip((rows, columns, inner), grid, strict=True))
    types, scalars = ("f16",) * 3, {"weights_standard": int(standard)}
    return int(kernels.kernel("gemm.f16.f16").cycles(load("c600"), (1, m, n, k), types, scalars)[0])


def in_standard_memory(plan: Published, found: Replay) -> Replay:
    """
    The same as if the weights of the down product lay in standard memory, where the allocator of today does
    not put them: the product pays for loading them.
    """
    shape = (plan.down, TOKENS, WIDTH, HIDDEN)
    more = product_cycles(*shape, True) - product_cycles(*shape, False)
    today, then = ({**cycles, "products": cycles["products"] + more} for cycles in (found.today, found.then))
    return Replay(today, then, found.gelu_to_down)


def implied(plan: Published, then: Mapping[str, int]) -> int:
    """What the hardware's total leaves for the exchange when the other parts take what is published."""
    return plan.cycles - sum(cycles for part, cycles in then.items() if part != "exchange")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--plans", type=int, nargs="+", default=[1, 2, 3], metavar="N", help="of 1, 2, 3")
    parser.add_argument("--words", action="store_true", help="exchange in words alone")
    options = parser.parse_args()
    plans = published()
    known: dict[tuple[tuple[int, int, int], tuple[int, int, int]], Replay] = {}
    print("| plan | kernels | " + " | ".join(PARTS) + " | total | gelu to down |")
    print("|---|---|" + "---|" * (len(PARTS) + 2))
    for number in options.plans:
        plan = plans[number - 1]
        grids = (plan.up, plan.down)
        if grids not in known:
            known[grids] = replay(plan, options.words)
        found = in_standard_memory(plan, known[grids]) if plan.standard_down else known[grids]
        for kernels_of, cycles in (("today", found.today), ("that date", found.then)):
            figures = [f"{cycles[part]:,}" for part in PARTS]
            total = f"{sum(cycles.values()):,}"
            print(f"| {number} | {kernels_of} | {' | '.join(figures)} | {total} | {found.gelu_to_down:,} |")
        left = f"({implied(plan, found.then):,} left)"
        blank = [left if part == "exchange" else "" for part in PARTS]
        phase = "" if plan.gelu_to_down is None else f"{plan.gelu_to_down:,}"
        print(f"| {number} | hardware | {' | '.join(blank)} | {plan.cycles:,} | {phase} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
