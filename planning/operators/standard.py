# SPDX-License-Identifier: Apache-2.0
"""
Products whose right operands may lie in standard memory: the same work, weights loaded at half the rate.

The matrix unit loads its panels from interleaved memory at full rate, so that is where strategies want them.
Where the interleaved region is full and the standard one is not, the same strategy with the panels anywhere
is another candidate: its expansion is the same but for the memory of those buffers and what their loads cost.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from tilewright.machine import Machine
from tilewright.machine.kernels.matrix_unit import WEIGHT_MEMORY, is_product
from tilewright.planning.operators.base import Operator, Surroundings
from tilewright.planning.operators.builder import ARRIVED
from tilewright.planning.operators.strategy import Operands, Strategy
from tilewright.planning.operators.targets import Target
from tilewright.planning.stages import ComputeStage, Stage, Stages, Value

SUFFIX = ".standard"
"""What the name of a strategy gets for its twin with weights anywhere."""


def with_weights_anywhere(strategy: Strategy) -> Strategy:
    """The strategy with the right operands of its products in any memory."""

    def candidates(
        operator: Operator, operands: Operands, machine: Machine, near: Surroundings
    ) -> Iterable[Any]:
        return strategy.candidates(operator, operands, machine, near) if near.scarce else ()

    def targets(
        operator: Operator, record: Any, operands: Operands, machine: Machine
    ) -> tuple[Target | None, ...]:
        wanted = strategy.targets(operator, record, operands, machine)
        return tuple(
            (dataclasses.replace(target[0], memory="any"), target[1])
            if target is not None and target[0].memory == WEIGHT_MEMORY
            else target
            for target in wanted
        )

    def suits(operator: Operator, operands: Operands, machine: Machine, near: Surroundings) -> bool:
        return crowds_results(machine)

    def expand(operator: Operator, record: Any, operands: tuple[Value, ...], machine: Machine) -> Stages:
        return _anywhere(strategy.expand(operator, record, operands, machine))

    return dataclasses.replace(
        strategy,
        name=f"{strategy.name}{SUFFIX}",
        candidates=candidates,
        targets=targets,
        expand=expand,
        suits=suits,
    )


def crowds_results(machine: Machine) -> bool:
    """
    Whether panels have no element of their own beside results: the unit leaves those in the same memory, and
    what arrives may not share an element with what is sent in the same phase.
    """
    return any(region.name == WEIGHT_MEMORY and region.elements < 2 for region in machine.regions)


def _anywhere(stages: Stages) -> Stages:
    """
    The stages with the right operands of products anywhere, what is copied into them too, and their loads at
    the price of it.
    """
    moved: set[str] = set()
    found: list[Stage] = []
    for stage in stages.stages:
        if isinstance(stage, ComputeStage) and is_product(stage.kernel):
            moved.add(stage.ins[1].buffer)
            scalars = tuple(sorted({**dict(stage.scalars), "weights_standard": 1}.items()))
            found.append(dataclasses.replace(stage, scalars=scalars))
        else:
            found.append(stage)
    buffers = {
        name: dataclasses.replace(buffer, layout=dataclasses.replace(buffer.layout, memory="any"))
        if name.removesuffix(ARRIVED) in moved
        else buffer
        for name, buffer in stages.buffers.items()
    }
    return dataclasses.replace(stages, buffers=buffers, stages=tuple(found))
