# SPDX-License-Identifier: Apache-2.0
"""The evaluation of programs."""

from __future__ import annotations

from collections.abc import Generator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, SSAValue

from tilewright.diagnostics import TileError
from tilewright.dialects import tile_repeat
from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.entry import Argument, read_entry
from tilewright.dialects.nearest import convert, nearest
from tilewright.dialects.reference import elementwise, movement, ordering, products, rows, windows
from tilewright.dialects.reference.arrays import Array, Table, constant_array, saturates, wide
from tilewright.dialects.reference.names import value_names
from tilewright.dialects.tensor.shapes import show
from tilewright.dialects.tile_tensor import element_of, is_float
from tilewright.machine.dtypes import numpy_dtype

Value = Array | tuple["Value", ...]
"""A tensor, or the members of a sequence."""

_MOVES: Table = {**movement.MOVES, **ordering.MOVES}
"""Of operations that do not compute: no rounding."""
_SEMANTICS: Table = {
    **elementwise.SEMANTICS,
    **products.SEMANTICS,
    **rows.SEMANTICS,
    **windows.SEMANTICS,
    **ordering.SEMANTICS,
}
"""Of operations that compute: operands as f64 or integers -> f64 or integers."""


class EvaluationError(TileError):
    """An operation without a reference semantics, or values that do not fit the program."""


@dataclass(frozen=True)
class Step:
    """
    One operation's evaluation: `exact` is the value before its rounding to `result` (f64 or integers; of a
    movement the result itself).

    `name` is that of `value_names` (None for a constant), `iteration` that of each enclosing repeat,
    outermost first, and `path` has both: `layers[3].scores`.
    """

    op: tt.TensorOperation
    name: str | None
    iteration: tuple[int, ...]
    path: str
    operands: tuple[Array, ...]
    exact: Array
    result: Array


Steps = Generator[Step, Array | None, dict[str, Array]]


def evaluate(
    module: ModuleOp,
    inputs: Mapping[str, Array],
    parameters: Mapping[str, Array] | None = None,
    *,
    round_activations: bool = True,
    keep: MutableMapping[str, Array] | None = None,
) -> dict[str, Array]:
    """
    The outputs of the program by name; those that are sequences with a leading axis of members.

    `inputs` and `parameters` hold logical values in any numeric type: they are rounded to the type of their
    argument, parameters after the multiplication by 2^-scale. `keep` is filled with every intermediate
    tensor, named as by `value_names`, inside a repeat as `layers[3].name`. Raises `EvaluationError` and
    `ProgramError`.
    """
    run = steps(module, inputs, parameters, round_activations=round_activations)
    while True:
        try:
            step = next(run)
        except StopIteration as end:
            return cast("dict[str, Array]", end.value)
        if keep is not None and step.name is not None:
            keep[step.path] = step.result


def steps(
    module: ModuleOp,
    inputs: Mapping[str, Array],
    parameters: Mapping[str, Array] | None = None,
    *,
    round_activations: bool = True,
) -> Steps:
    """
    The evaluation of `evaluate`, operation by operation in program order; returns the outputs. What is sent
    in answer to a step takes the place of its result.
    """
    entry = read_entry(module)
    evaluation = _Evaluation(round_activations, value_names(entry.func))
    for argument in entry.arguments:
        source = inputs if argument.kind == "input" else parameters or {}
        evaluation.values[argument.value] = evaluation.load(argument, source)
    returned = yield from evaluation.run(entry.func.body.block)
    return {
        name: _stack(value, operand.type)
        for name, value, operand in zip(entry.outputs, returned, entry.return_op.operands, strict=True)
    }


def step_of(op: tt.TensorOperation, operands: Sequence[Array]) -> Step:
    """One operation by itself, for operands in its element types. Raises `EvaluationError`."""
    return _Evaluation(True, {}).step(op, operands)


def compute(op: tt.TensorOperation, operands: Sequence[Array]) -> Array:
    """One operation's rounded result, for operands in its element types. Raises `EvaluationError`."""
    return step_of(op, operands).result


def _stack(value: Value, type_: Attribute) -> Array:
    if not isinstance(value, tuple):
        return value
    element = cast("tile_repeat.SequenceType", type_).element
    members = [_stack(member, element) for member in value]
    if members:
        return np.stack(members)
    inner = cast("tile_repeat.SequenceType", type_)
    return np.empty((*inner.counts, *inner.tensor.get_shape()), np.float32)


@dataclass
class _Evaluation:
    """The values of one run."""

    round_activations: bool
    names: Mapping[SSAValue, str]

    def __post_init__(self) -> None:
        self.values: dict[SSAValue, Value] = {}
        self.path = self.prefix = ""  # of the enclosing repeats, with and without iterations
        self.iteration: tuple[int, ...] = ()

    # Values at the border

    def load(self, argument: Argument, source: Mapping[str, Array]) -> Value:
        members = iter(argument.names)

        def build(type_: Attribute) -> Value:
            if isinstance(type_, tile_repeat.SequenceType):
                return tuple(build(type_.element) for _ in range(type_.count.data))
            return self._load_tensor(argument, next(members), cast("TensorType[Attribute]", type_), source)

        if argument.kind == "input" and isinstance(argument.type, tile_repeat.SequenceType):
            whole = self._find(argument, argument.name, source)
            return self._unstack(argument, np.asarray(whole), argument.type)
        return build(argument.type)

    def _find(self, argument: Argument, name: str, source: Mapping[str, Array]) -> Array:
        try:
            return np.asarray(source[name])
        except KeyError:
            raise EvaluationError(
                f"no value for the {argument.kind} {name!r}",
                location=argument.location,
                notes=(f"there are: {', '.join(source) or 'none'}",),
            ) from None

    def _load_tensor(
        self, argument: Argument, name: str, type_: TensorType[Attribute], source: Mapping[str, Array]
    ) -> Array:
        return self._convert(argument, name, self._find(argument, name, source), type_)

    def _convert(self, argument: Argument, name: str, array: Array, type_: TensorType[Attribute]) -> Array:
        if array.shape != type_.get_shape():
            raise EvaluationError(
                f"the {argument.kind} {name!r} has shape {show(array.shape)}, "
                f"the program expects {show(type_.get_shape())}",
                location=argument.location,
            )
        return self.stored(convert(array, str(type_.element_type), argument.scale))

    def _unstack(self, argument: Argument, array: Array, type_: Attribute) -> Value:
        if isinstance(type_, tile_repeat.SequenceType):
            if array.ndim == 0 or array.shape[0] != type_.count.data:
                raise EvaluationError(
                    f"the input {argument.name!r} has shape {show(array.shape)}, "
                    f"the program expects {type_.count.data} members",
                    location=argument.location,
                )
            return tuple(self._unstack(argument, member, type_.element) for member in array)
        return self._convert(argument, argument.name, array, cast("TensorType[Attribute]", type_))

    def stored(self, array: Array) -> Array:
        """A value as an operation finds it: in its own type, or in f32 if activations are not rounded."""
        return array if self.round_activations or array.dtype.kind in "ib" else array.astype(np.float32)

    # Running

    def run(self, block: Block) -> Generator[Step, Array | None, tuple[Value, ...]]:
        """Runs a block; the values its terminator returns."""
        for op in block.ops:
            match op:
                case ReturnOp() | tile_repeat.YieldOp():
                    return self.operands(op.operands)
                case tile_repeat.RepeatOp():
                    yield from self._repeat(op)
                case tile_repeat.PackOp():
                    self.values[op.result] = self.operands(op.members)
                case tile_repeat.MemberOp():
                    members = cast("tuple[Value, ...]", self.values[op.sequence])
                    self.values[op.result] = members[op.index.value.data]
                case tt.TensorOperation():
                    step = self.step(op, cast("tuple[Array, ...]", self.operands(op.operands)))
                    sent = yield step
                    self.values[op.result] = step.result if sent is None else sent
                case _:
                    raise EvaluationError(f"{op.name} has no reference semantics", location=op.location)
        return ()

    def operands(self, values: Sequence[SSAValue]) -> tuple[Value, ...]:
        return tuple(self.values[value] for value in values)

    def _repeat(self, op: tile_repeat.RepeatOp) -> Generator[Step, Array | None, None]:
        state = self.operands(op.carried)
        for argument, value in zip(op.invariant_args, self.operands(op.invariant), strict=True):
            self.values[argument] = value
        sequences = cast("tuple[tuple[Value, ...], ...]", self.operands(op.iterated))
        collected: list[list[Value]] = [[] for _ in op.collected_results]
        outer = self.path, self.prefix, self.iteration
        self.prefix += f"{op.repeat_name.data}."
        for iteration in range(op.iterations):
            self.path = f"{outer[0]}{op.repeat_name.data}[{iteration}]."
            self.iteration = (*outer[2], iteration)
            for argument, value in zip(op.carried_args, state, strict=True):
                self.values[argument] = value
            for argument, members in zip(op.iterated_args, sequences, strict=True):
                self.values[argument] = members[iteration]
            yielded = yield from self.run(op.body_block)
            state = yielded[: len(state)]
            for members, value in zip(collected, yielded[len(state) :], strict=True):
                members.append(value)
        self.path, self.prefix, self.iteration = outer
        for result, value in zip(op.carried_results, state, strict=True):
            self.values[result] = value
        for result, members in zip(op.collected_results, collected, strict=True):
            self.values[result] = tuple(members)

    def step(self, op: tt.TensorOperation, operands: Sequence[Array]) -> Step:
        exact, result = self._compute(op, operands)
        name = self.names.get(op.result)
        path = self.path + ("" if name is None else name.removeprefix(self.prefix))
        return Step(op, name, self.iteration, path, tuple(operands), exact, result)

    def _compute(self, op: tt.TensorOperation, operands: Sequence[Array]) -> tuple[Array, Array]:
        """An operation's value before and after its rounding."""
        if isinstance(op, tt.ConstantOp):
            constant = self.stored(constant_array(op.value))
            return constant, constant
        if (move := _MOVES.get(type(op))) is not None:
            moved = move(op, *operands)
            return moved, moved
        if isinstance(op, tt.CastOp):
            element = element_of(op.result)
            target = str(element) if self.round_activations or not is_float(element) else "f32"
            truncate = op.rounding.data == tt.Rounding.TRUNCATE
            result = convert(operands[0], target, op.scale.value.data, saturates(op), truncate)
            return result, result
        semantics = _SEMANTICS.get(type(op))
        if semantics is None:
            raise EvaluationError(f"{op.name} has no reference semantics", location=op.location)
        with np.errstate(all="ignore"):
            value = np.asarray(semantics(op, *(wide(operand) for operand in operands)))
        return value, self._rounded(op, value)

    def _rounded(self, op: tt.TensorOperation, value: Array) -> Array:
        element = element_of(op.result)
        if not is_float(element):
            return value.astype(numpy_dtype(str(element)))  # wraps
        if not self.round_activations:
            with np.errstate(all="ignore"):
                return value.astype(np.float32)
        return nearest(value, str(element), saturates(op))
