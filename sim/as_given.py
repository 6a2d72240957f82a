# SPDX-License-Identifier: Apache-2.0
"""
A run of the machine beside the reference of the program as it was given, before any pass.

The oracle (`tilewright.sim.oracle`) reads the planned program and shares its arithmetic with the machine
model: what a pass or that arithmetic gets wrong, it gets wrong as well. Here the unplanned program is
evaluated by `tilewright.dialects.reference`, each operation on the operands that the machine had, and the
machine's result must lie within the operation's bounds (`tilewright.dialects.bounds`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilewright.dialects import reference
from tilewright.dialects.bounds import (
    Bounds,
    Slack,
    bounds,
    either,
    of_cast,
    slack_of,
    takes_unrounded,
)
from tilewright.dialects.entry import read_entry
from tilewright.dialects.tensor.base import element_of, is_float
from tilewright.dialects.tile_tensor import (
    AddOp,
    CastOp,
    GeluOp,
    LayerNormOp,
    MatmulOp,
    MovementOperation,
    ReshapeOp,
    TransposeOp,
)
from tilewright.sim.executor import Executor
from tilewright.sim.oracle import AsPlanned, Departure, Oracle, first_departure
from tilewright.sim.results import RunResult, Tapped

Array = NDArray[Any]


class AsGiven:
    """
    One run, compared value by value as the machine completes them.

    `module` is not changed and must not be while this is in use; `observed` names the values that the machine
    will show. `departures` has the first element of each value that departs, `compared` counts values and
    `elements` their elements, of which `free` may be anything; `unseen` names values that the machine never
    shows (a sum that a fused operation contains, what nobody uses).
    """

    def __init__(
        self,
        module: ModuleOp,
        inputs: Mapping[str, Array],
        parameters: Mapping[str, Array] | None,
        observed: Collection[str],
    ) -> None:
        self.departures: list[Departure] = []
        self.compared = self.elements = self.free = 0
        self.unseen: set[str] = set()
        self._observed = observed
        self._ahead: dict[tuple[str, tuple[int, ...]], tuple[Array, Any]] = {}
        self._slack: dict[SSAValue, Slack] = {}
        self._loose: dict[SSAValue, Bounds] = {}
        self._entry = read_entry(module)
        self._returned = set(self._entry.return_op.operands)
        self._steps = reference.steps(module, inputs, parameters)
        self._outputs: dict[str, Array] | None = None
        self._step: reference.Step | None = None
        self._advance(None)

    def tap(self, value: str, iteration: tuple[int, ...], data: Array, binding: Any = None) -> None:
        """A value that the machine has completed."""
        self._ahead[value, iteration] = data, binding
        self._follow()

    def finish(self, outputs: Mapping[str, Array]) -> None:
        """The end of the run: compares the outputs as the host read them."""
        while self._step is not None:  # what is observed in general, but not here: nobody needed it
            self._pass(self._step)
            self._follow()
        assert self._outputs is not None
        returned = dict(zip(self._entry.outputs, self._entry.return_op.operands, strict=True))
        for name, expected in self._outputs.items():
            limits = self._loose.get(returned[name])
            if limits is None:
                exactly = np.asarray(expected).astype(np.float64)
                nothing = np.zeros(exactly.shape, bool)
                limits = Bounds(exactly, exactly, nothing, nothing)
            self._judge(name, (), limits, np.asarray(expected), np.asarray(outputs[name]), None)

    def _advance(self, answer: Array | None) -> None:
        try:
            self._step = next(self._steps) if answer is None else self._steps.send(answer)
        except StopIteration as end:
            self._step, self._outputs = None, end.value

    def _follow(self) -> None:
        """Goes on with the reference as far as the machine has come."""
        while (step := self._step) is not None:
            if step.name is None or step.name not in self._observed:
                self._pass(step)
                continue
            seen = self._ahead.pop((step.name, step.iteration), None)
            if seen is None:
                return
            data, binding = seen
            if data.shape != step.result.shape and data.size == step.result.size:
                # A decomposed operation computes its elements in order under another shape.
                data, binding = data.reshape(step.result.shape), None
            self._judge(step.name, step.iteration, self._bounds(step), step.result, data, binding)
            self._advance(data.astype(step.result.dtype).reshape(step.result.shape))

    def _pass(self, step: reference.Step) -> None:
        """A value that the machine does not show: the reference's own is used."""
        result = step.op.result
        self._loose.pop(result, None)
        self._slack.pop(result, None)
        if isinstance(step.op, MovementOperation):
            # Exact, unless what is moved is not.
            if any(operand in self._loose for operand in step.op.operands):
                self._loose[result] = self._moved(step)
        elif step.name is not None:
            if result not in self._returned:
                self.unseen.add(step.name)
            self._loose[result] = self._bounds(step)
            if isinstance(step.op, AddOp | MatmulOp | LayerNormOp) and is_float(element_of(result)):
                self._slack[result] = slack_of(step, self._given(step))
        self._advance(None)

    def _bounds(self, step: reference.Step) -> Bounds:
        """Of one step; one on a sum that was not shown may have taken it before its rounding."""
        loose = [operand for operand in step.op.operands if operand in self._loose]
        if not loose:
            return bounds(step)
        slack = self._given(step)
        if isinstance(step.op, CastOp) and is_float(element_of(step.op.result)):
            # The call before may have cast what it rounded; a norm casts what it did not round.
            rounded = of_cast(step.op, self._loose[loose[0]])
            if slack is None:
                return rounded
            norm = isinstance(loose[0].owner, LayerNormOp)
            return bounds(step, slack) if norm else either(bounds(step, slack), rounded)
        if slack is None:
            return _anything(step.result)
        return bounds(step, slack)

    def _moved(self, step: reference.Step) -> Bounds:
        """The bounds of what is moved, moved likewise, if the operation only orders its elements anew."""
        before = self._loose.get(step.op.operands[0])
        if before is None or not isinstance(step.op, ReshapeOp | TransposeOp):
            return _anything(step.result)
        if isinstance(step.op, ReshapeOp):
            shape = step.result.shape
            return Bounds(*(np.asarray(part).reshape(shape) for part in _parts(before)))
        order = step.op.permutation.get_values()
        return Bounds(*(np.asarray(part).transpose(order) for part in _parts(before)))

    def _given(self, step: reference.Step) -> Slack | None:
        """How far the one operand of a step that was not shown may lie from the reference's."""
        loose = [operand for operand in step.op.operands if operand in self._loose]
        fused = isinstance(step.op, GeluOp | AddOp | CastOp) and len(loose) == 1
        slack = self._slack.get(loose[0]) if fused else None
        if slack is None or takes_unrounded(step.op, loose[0]):
            return slack
        return Slack(np.zeros_like(slack.wide), np.zeros_like(slack.free), np.zeros_like(slack.size))

    def _judge(
        self,
        value: str,
        iteration: tuple[int, ...],
        limits: Bounds,
        expected: Array,
        found: Array,
        binding: Any,
    ) -> None:
        self.compared += 1
        self.elements += found.size
        self.free += int(np.count_nonzero(limits.free))
        if found.shape != expected.shape:
            self.departures.append(
                Departure(
                    value,
                    iteration,
                    (),
                    f"shape {expected.shape}",
                    f"shape {found.shape}",
                    found.size,
                    found.size,
                )
            )
            return

        def wanted(index: tuple[int, ...]) -> str:
            low, high = limits.low[index], limits.high[index]
            exact = low == high or np.isnan(low)
            return str(expected[index]) if exact else f"{expected[index]} ({low} to {high})"

        wrong = limits.departing(found)
        departed = first_departure(value, iteration, wrong, wanted, found, binding)
        if departed is not None:
            self.departures.append(departed)


@dataclass(frozen=True)
class Comparison:
    """What a run beside both of its judges gave."""

    planned: AsPlanned
    given: AsGiven
    result: RunResult

    @property
    def departs(self) -> bool:
        return self.planned.found is not None or bool(self.given.departures)


def compare_run(
    executor: Executor,
    oracle: Oracle,
    module: ModuleOp,
    inputs: Mapping[str, Array],
    parameters: Mapping[str, Array] | None = None,
) -> Comparison:
    """
    A whole run of the machine beside the oracle of its plan and the reference of `module`, as it was given.

    The executor must hold the same parameters already (`Executor.load`).
    """
    planned = AsPlanned(executor, oracle, inputs, parameters)
    given = AsGiven(module, inputs, parameters, {entry.value for entry in executor.image.taps})

    def tap(tapped: Tapped) -> None:
        planned.tap(tapped)
        given.tap(tapped.value, tapped.iteration, tapped.data, tapped.binding)

    result = executor.run(inputs, tap)
    planned.finish(result.outputs)
    given.finish(result.outputs)
    return Comparison(planned, given, result)


def _parts(limits: Bounds) -> tuple[Array, Array, Array, Array]:
    return limits.low, limits.high, limits.nan, limits.free


def _anything(result: Array) -> Bounds:
    every = np.ones(result.shape, bool)
    return Bounds(np.full(result.shape, -np.inf), np.full(result.shape, np.inf), every, every)
