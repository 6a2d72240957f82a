# SPDX-License-Identifier: Apache-2.0
"""
What `tile-run` says beyond totals: cycles of every operator beside its bound, and the error of every layer.

Operators are the values of the tensor program, by the names of `value_names` (plan files use them too). Their
work is read from the program before it is compiled, their cycles from the steps of a run, which say what they
come from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects.entry import entry_function
from tilewright.dialects.reference import value_names
from tilewright.dialects.tile_repeat import RepeatOp
from tilewright.dialects.tile_tensor import ConstantOp, TensorOperation
from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels import kernel
from tilewright.machine.numerics.pointwise import OPERATIONS
from tilewright.passes.ir.tensors import operator_of
from tilewright.planning.operators import VIEWS, attention, matmul, pointwise, rowwise, windows
from tilewright.planning.operators.base import Operator
from tilewright.profile import OperatorCycles
from tilewright.tools import result_schema as schema

if TYPE_CHECKING:
    from rich.console import Console

    from tilewright.backends.program import Program
    from tilewright.frontends.program_folder import ProgramFolder
    from tilewright.sim.results import Step, Tapped


# ---------------------------------------------------------------------------------------------- the work


@dataclass(frozen=True)
class Work:
    """
    What an operator must do in one run, over all iterations of its repeats.

    `cycles`: of one tile that did it alone, in the inner loop of the operator's kernels, without any set-up
    or rounding (products: the matrix unit only). `operand_bytes`: of its operands, each once an iteration.
    """

    kind: str
    iterations: int
    cycles: float
    operand_bytes: int


def program_work(module: ModuleOp, machine: Machine) -> dict[str, Work]:
    """
    Work by operator in the order of the program, of a module of tensor operations; {} for a compiled one.
    """
    if any(op.name.startswith("tile_asm.") for op in module.body.block.ops):
        return {}
    function = entry_function(module)
    names = value_names(function)
    work: dict[str, Work] = {}
    for op in function.walk():
        if not isinstance(op, TensorOperation) or isinstance(op, ConstantOp) or op.result not in names:
            continue
        operator = operator_of(op)
        if operator.name in VIEWS:
            continue
        iterations = _iterations(op)
        nbytes = sum(math.prod(shape) * itemsize(dtype) for shape, dtype in operator.operand_types)
        work[names[op.result]] = Work(
            operator.name, iterations, inner_cycles(operator, machine) * iterations, nbytes * iterations
        )
    return work


def _iterations(op: Operation) -> int:
    count, parent = 1, op.parent_op()
    while parent is not None:
        if isinstance(parent, RepeatOp):
            count *= parent.iterations
        parent = parent.parent_op()
    return count


_BY_ROWS = ("layer_norm", "rms_norm", "softmax", "cumsum", "sort", "argsort")
"""Operators whose kernel has their name and the axes rows and columns."""


def inner_cycles(operator: Operator, machine: Machine) -> float:
    """Cycles of one tile in the inner loops of an operator's kernels; 0 for what only moves data."""
    shapes = [shape for shape, _ in operator.operand_types]
    if operator.name == "matmul":
        product = matmul.canonical(operator)
        return product.b * product.m * product.n * product.k / products_per_cycle(product.kernel, machine)
    if operator.name == "attention":
        shape = attention.canonical(operator)
        scores = shape.b * shape.queries * shape.keys
        return scores * (
            shape.depth / products_per_cycle(shape.score_kernel, machine)
            + shape.value_depth / products_per_cycle(shape.output_kernel, machine)
        )
    dtypes = (*(dtype for _, dtype in operator.operand_types), operator.result_dtype)
    if operator.name in OPERATIONS or operator.name == "cast":
        return _loops(machine, pointwise.kernel_name(operator), (math.prod(operator.result_shape),), dtypes)
    if operator.name in ("convolution", "reduce_window"):
        windows_of = windows.canonical(operator)
        scalars = windows.scalars_of(operator, windows_of)
        return _loops(machine, windows.kernel_name(operator), windows.whole(operator), dtypes, scalars)
    if operator.name in (*_BY_ROWS, "argmax", "argmin"):
        columns = shapes[0][rowwise.row_axis(operator)]
        return _loops(machine, operator.name, (math.prod(shapes[0]) // max(columns, 1), columns), dtypes)
    if operator.name == "reduce":
        kind = str(operator.attributes["kind"])
        rows = math.prod(operator.result_shape)
        columns = math.prod(shapes[0]) // max(rows, 1)
        return _loops(machine, f"reduce.{rowwise.reduction(kind)}", (rows, columns), dtypes, {"reduced": 1})
    return 0.0


def products_per_cycle(name: str, machine: Machine) -> float:
    """Multiplications of a matrix kernel in a cycle while rows stream through a panel."""
    rows = 1024
    granule = kernel(name).granule
    terms = dict(kernel(name).itemise(machine, (1, rows, granule[2], granule[3]), ("f16",) * 3))
    return rows * granule[2] * granule[3] / float(terms["rows"][0])


_OUTSIDE = ("set-up", "call", "rounding", "rows")


def _loops(
    machine: Machine,
    name: str,
    extents: tuple[int, ...],
    dtypes: tuple[str, ...],
    scalars: Mapping[str, int] | None = None,
) -> float:
    if 0 in extents:
        return 0.0
    terms = kernel(name).itemise(machine, extents, dtypes, scalars)
    return float(sum(int(cycles[0]) for term, cycles in terms if term not in _OUTSIDE))


# ------------------------------------------------------------------------------------ cycles by operator


@dataclass(frozen=True)
class OperatorFigures(OperatorCycles):
    """The entry of an operator in result.json."""

    name: str
    kind: str
    iterations: int

    def to_json(self) -> dict[str, Any]:
        named = {"name": self.name, "kind": self.kind, "iterations": self.iterations}
        return {**named, **self.cycles(), "total": self.total}


def operator_cycles(
    steps: Iterable[Step], work: Mapping[str, Work], machine: Machine
) -> list[OperatorFigures]:
    """
    One entry an operator, in order of execution; the entries' totals sum to those of the run.

    At the end those that no step names: they cost nothing, or are part of another's kernels.
    """
    found: dict[str, dict[str, int]] = {}
    for step in steps:
        known = work.get(step.operator)
        spent = found.setdefault(step.operator, {})
        category: str = step.category
        if category == "compute" and step.name.startswith("reduce_partials"):
            category = "compute" if known is not None and known.kind == "reduce" else "reduction"
        spent[category] = spent.get(category, 0) + step.cycles
        if step.evidence == "assumed":
            spent["assumed"] = spent.get("assumed", 0) + step.cycles
    found |= {name: {} for name in work if name not in found}
    return [_figures(name, work.get(name), spent, machine) for name, spent in found.items()]


def _figures(name: str, work: Work | None, spent: Mapping[str, int], machine: Machine) -> OperatorFigures:
    if work is None:
        return OperatorFigures(name, "move", 1, **spent)
    bounds = work.cycles / machine.tiles, work.operand_bytes / 4 / machine.tiles
    return OperatorFigures(
        name, work.kind, work.iterations, **spent, compute_bound=bounds[0], exchange_bound=bounds[1]
    )


def print_operators(console: Console, operators: Sequence[OperatorFigures]) -> None:
    """The table, and what stands for what."""
    from rich.table import Table

    table = Table(title="cycles by operator", title_justify="left")
    table.add_column("operator", no_wrap=True)
    columns = ("total", "compute", "reduction", "copy", "exchange", "sync")
    for title in (*columns, "compute bound", "exchange bound", "assumed"):
        table.add_column(title, justify="right", no_wrap=True)

    def bound(value: float | None) -> str:
        return "" if value is None else f"{value:,.0f}"

    for entry in operators:
        assumed = f"{100 * entry.assumed / entry.total:.0f} %" if entry.assumed else ""
        figures = [f"{getattr(entry, column):,}" for column in columns]
        table.add_row(entry.name, *figures, bound(entry.compute_bound), bound(entry.exchange_bound), assumed)
    table.add_section()
    sums = [sum(getattr(entry, column) for entry in operators) for column in columns]
    bounds = [
        sum(getattr(entry, name) or 0.0 for entry in operators)
        for name in ("compute_bound", "exchange_bound")
    ]
    share = f"{100 * sum(entry.assumed for entry in operators) / sums[0]:.1f} %" if sums[0] else ""
    table.add_row("all", *(f"{value:,}" for value in sums), *map(bound, bounds), share)
    console.print(table)


# --------------------------------------------------------------------------------------- error by layer


@dataclass
class LayerErrors:
    """
    Values of repeats compared with expected ones while the program runs: give `tap` and `values` to the
    executor.

    `expected` holds by name of the value a tensor with a leading axis of iterations, behind one of runs if
    there are several.
    """

    expected: Mapping[str, np.ndarray]
    run: int = 0
    found: list[tuple[str, int, schema.Check]] = field(default_factory=list[tuple[str, int, schema.Check]])

    @staticmethod
    def of(folder: ProgramFolder, program: Program) -> LayerErrors:
        """The folder's tensors by layer that the program still has as values."""
        tapped = {tap.value for tap in _taps(program.body)}
        return LayerErrors({name: values for name, values in folder.layers.items() if name in tapped})

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self.expected)

    def tap(self, tapped: Tapped) -> None:
        wanted = self.expected[tapped.value]
        if len(tapped.iteration) != 1 or wanted.ndim not in (tapped.data.ndim + 1, tapped.data.ndim + 2):
            return
        if wanted.ndim == tapped.data.ndim + 2:
            wanted = wanted[self.run]
        (iteration,) = tapped.iteration
        if iteration < len(wanted) and wanted.shape[1:] == tapped.data.shape:
            check = schema.compare(tapped.value, tapped.data, wanted[iteration], None)
            self.found.append((tapped.value, iteration, check))

    def to_json(self) -> list[dict[str, Any]]:
        """The last run's errors."""
        last = {(value, iteration): check for value, iteration, check in self.found}
        return [
            {
                "value": value,
                "iteration": iteration,
                **{name: getattr(check, name) for name in _FIGURES},
            }
            for (value, iteration), check in last.items()
        ]


_FIGURES = ("max_abs_error", "cosine", "min_row_cosine", "mean_row_cosine")


def _taps(body: Sequence[Any]) -> Iterable[Any]:
    from tilewright.backends.program import Repeat, Tap

    for instruction in body:
        if isinstance(instruction, Tap):
            yield instruction
        elif isinstance(instruction, Repeat):
            yield from _taps(instruction.body)


def print_layers(console: Console, layers: Sequence[Mapping[str, Any]]) -> None:
    """One row an iteration."""
    from rich.table import Table

    table = Table(title="error by layer, against FP32", title_justify="left")
    table.add_column("value", no_wrap=True)
    for title in ("iteration", "max abs error", "cosine", "min row cosine", "mean row cosine"):
        table.add_column(title, justify="right")
    for layer in layers:
        figures = ["-" if layer[name] is None else f"{layer[name]:.6f}" for name in _FIGURES]
        table.add_row(str(layer["value"]), str(layer["iteration"]), *figures)
    console.print(table)
