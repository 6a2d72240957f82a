# SPDX-License-Identifier: Apache-2.0
"""
Text to bytes: compile a program for a small machine, run it under a poison, compare every value with the
oracle's and with the reference's of the program as given.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from tilewright.backends.image import Image, to_image
from tilewright.diagnostics import TileError
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.tile_asm import module_to_program
from tilewright.machine import Machine, load
from tilewright.passes.ir.support import RowsTooLong
from tilewright.passes.ir.tensors import PLAN, choice_attr, choice_of, operator_of
from tilewright.passes.pipeline import passes
from tilewright.passes.tile_plan_layouts import TilePlanLayoutsPass
from tilewright.planning.memory.explain import AllocationError
from tilewright.planning.operators import (
    Choice,
    attention,
    favourite,
    gather,
    is_planned,
    matmul,
    strategies,
)
from tilewright.planning.operators.base import Record
from tilewright.planning.operators.pointwise import PointwiseRecord
from tilewright.planning.operators.rowwise import RowRecord
from tilewright.planning.search.search import Effort
from tilewright.planning.stages import PlanError
from tilewright.sim.as_given import compare_run
from tilewright.sim.executor import Executor
from tilewright.sim.oracle import Oracle, departure

POISONS = (float("nan"), float("inf"), -42.0, 0.0, 7.0)
"""What memory that nobody has written may hold; no result may depend on it."""

PLANNING = [step.name for step in passes()].index(TilePlanLayoutsPass.name)
"""
Where in the compilation plans are chosen: what comes before may change the operations that are to be planned.
"""

Arrays = Mapping[str, np.ndarray]

__all__ = ["POISONS", "Compiled", "TileError", "check", "compile_module", "compile_text", "plan", "too_big"]


@dataclass(frozen=True)
class Compiled:
    """One program for one machine."""

    machine: Machine
    image: Image
    oracle: Oracle
    given: ModuleOp

    @property
    def dtypes(self) -> dict[str, str]:
        """The element type of each output (the host reads floats back as f32)."""
        return {(b.tensors or (b.name,))[0]: b.dtype for b in self.image.bindings if b.kind == "output"}


def too_big(error: TileError) -> bool:
    """Whether a program was refused because it does not fit the memory of its machine."""
    return isinstance(error, AllocationError | RowsTooLong) or any(
        text in error.message for text in ("not fit", "have no place", "short")
    )


def compile_text(
    text: str, machine_name: str, rng: random.Random | None = None, search: Effort = "off"
) -> Compiled:
    """
    The program for a machine; with `rng`, under plans that it forces; what those leave is searched as
    `search` says.
    """
    return compile_module(parse_module(text, ctx=(ctx := context())), ctx, machine_name, rng, search)


def compile_module(
    module: ModuleOp,
    ctx: Context,
    machine_name: str,
    rng: random.Random | None = None,
    search: Effort = "off",
) -> Compiled:
    """As `compile_text`; the module is consumed."""
    machine, given = load(machine_name), module.clone()
    module.attributes["tile.machine"] = StringAttr(machine_name)
    plan(module, ctx, machine, rng, search)
    module.verify()
    oracle = Oracle(module)
    for step in passes()[PLANNING + 1 :]:
        step.apply(ctx, module)
        module.verify()
    return Compiled(machine, to_image(module_to_program(module)), oracle, given)


def plan(
    module: ModuleOp,
    ctx: Context,
    machine: Machine,
    rng: random.Random | None,
    search: Effort = "off",
) -> None:
    """
    Choose layouts, with random records on the operations if there is an `rng`. A leader that cannot lead is
    let go.
    """
    for step in passes()[:PLANNING]:
        step.apply(ctx, module)
    if rng is not None:
        for op in module.walk():
            if (record := random_record(op, machine, rng)) is not None:
                twins = [s for s in strategies(operator_of(op)) if s.record is type(record)]
                strategy = rng.choice(twins)  # some do the same work with their operands elsewhere
                op.attributes[PLAN] = choice_attr(Choice(strategy, record))
    while True:
        trial = module.clone()
        try:
            TilePlanLayoutsPass(search="off").apply(ctx, trial)
            break
        except PlanError as error:
            if "cannot give the result its layout" not in error.message:
                raise
        for op in module.walk():
            choice = choice_of(op)
            if choice is not None and isinstance(choice.record, PointwiseRecord):
                del op.attributes[PLAN]
    TilePlanLayoutsPass(search=search).apply(ctx, module)


def divisors(extent: int) -> list[int]:
    """The numbers that divide an extent."""
    return [n for n in range(1, extent + 1) if extent % n == 0]


def random_record(op: Operation, machine: Machine, rng: random.Random) -> Record | None:
    """A legal record for the operation, or None to leave the choice to the planner."""
    if not op.name.startswith("tile_tensor.") or not is_planned(op.name.partition(".")[2]):
        return None
    if rng.random() < 0.2:
        return None
    operator = operator_of(op)
    planner = favourite(operator)
    parts = (1, 1, 1, 2, 2, 3, 4, 5, 7, machine.tiles)
    if planner.record is matmul.MatmulRecord:
        swap = rng.random() < 0.4
        shape = matmul.swapped(matmul.canonical(operator), swap)
        for _ in range(50):
            grid = tuple(rng.choice(parts) for _ in range(4))
            if np.prod(matmul.used_grid(shape, grid)) <= machine.tiles:
                record = matmul.MatmulRecord(grid, swap, rng.choice((1, 1, 2, 3)))
                if not swap and sum(grid) % 2:
                    record = matmul.MatmulRecord(grid, target=matmul.BLOCKS)
                elif not swap and not shape.batch and sum(grid) % 3:
                    group, inner = (rng.choice([0, 1, *divisors(n)]) for n in (shape.n, shape.k))
                    record = matmul.MatmulRecord(grid, group=group, inner=inner)
                try:
                    matmul.check_record(operator, record, machine)
                except PlanError:
                    record = matmul.MatmulRecord(grid, swap)
                return record
        return None
    if issubclass(planner.record, attention.AttentionRecord):
        kind = rng.choice(tuple(s.record for s in strategies(operator)))
        assert issubclass(kind, attention.AttentionRecord)
        shape = attention.canonical(operator)
        for _ in range(50):
            grid = tuple(rng.choice(parts) for _ in range(3))
            if np.prod(attention.used_grid(shape, grid)) <= machine.tiles:
                return kind(grid)
        return None
    if planner.record is gather.GatherRecord:
        for _ in range(50):
            grid = tuple(rng.choice(parts) for _ in range(2))
            if np.prod(gather.used_grid(gather.canonical(operator), grid)) <= machine.tiles:
                return gather.GatherRecord(grid)
        return None
    if planner.record is RowRecord:
        if operator.name == "layer_norm" and rng.random() < 0.5:
            return None  # the default splits rows of several panels
        return RowRecord(rng.randint(0, machine.tiles))
    if planner.record is PointwiseRecord:
        return PointwiseRecord(rng.randint(-1, len(op.operands) - 1))
    return None


def check(
    compiled: Compiled, inputs: Arrays, parameters: Arrays, poisons: Sequence[float]
) -> dict[str, np.ndarray]:
    """
    Run under each poison: the first with every value compared with the oracle and with the reference of the
    program as given, all with the outputs; returns the outputs.
    """
    expected: dict[str, np.ndarray] = compiled.oracle.run(inputs, parameters)
    for number, poison in enumerate(poisons):
        executor = Executor(compiled.image, compiled.machine, poison)
        executor.load(parameters)
        if number == 0:
            found = compare_run(executor, compiled.oracle, compiled.given, inputs, parameters)
            assert found.planned.found is None, f"poison {poison}: {found.planned.found}"
            assert not found.given.departures, f"poison {poison}: reference: {found.given.departures[0]}"
            result = found.result
        else:
            result = executor.run(inputs)
        assert sorted(result.outputs) == sorted(expected)
        for name, array in expected.items():
            departs = departure(name, (), array, result.outputs[name])
            assert departs is None, f"poison {poison}: {departs}"
    gc.collect(0)
    return expected
