# SPDX-License-Identifier: Apache-2.0
"""
The walk of a planned program: values at its border, blocks and repeats, one named value after another.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.backends.host import quantise
from tilewright.dialects.entry import Argument, read_entry
from tilewright.dialects.tile_repeat import MemberOp, PackOp, RepeatOp, SequenceType
from tilewright.machine.dtypes import numpy_dtype
from tilewright.passes.ir.tensors import VALUE_NAME, dtype_of, value_name
from tilewright.sim.oracle.operations import Array, OracleError, evaluate_operation

Value = Array | tuple["Value", ...]
"""A tensor, or the members of a sequence."""

Tap = Callable[[str, tuple[int, ...], Array], None]
"""
Called with the name of a value, the iteration of each enclosing repeat (outermost first), and the value.
"""

Named = tuple[str, tuple[int, ...], Array]


class Oracle:
    """
    The evaluation of one planned module; it keeps a copy, so that lowering may go on with the original.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.module = module.clone()
        self.entry = read_entry(self.module)

    def run(
        self,
        inputs: Mapping[str, Array],
        parameters: Mapping[str, Array] | None = None,
        tap: Tap | None = None,
    ) -> dict[str, Array]:
        """
        The outputs by name, in their own types; those that are sequences with a leading axis of members.

        `inputs` and `parameters` hold logical values in any numeric type, as for the machine's host. Raises
        `OracleError`.
        """
        steps = self.steps(inputs, parameters)
        while True:
            try:
                name, iteration, array = next(steps)
            except StopIteration as end:
                return cast("dict[str, Array]", end.value)
            if tap is not None:
                tap(name, iteration, array)

    def steps(
        self, inputs: Mapping[str, Array], parameters: Mapping[str, Array] | None = None
    ) -> Generator[Named, None, dict[str, Array]]:
        """
        Every named value in program order, one at a time (none is kept that is not used later); returns the
        outputs.
        """
        values: dict[SSAValue, Value] = {}
        for argument in self.entry.arguments:
            source = inputs if argument.kind == "input" else parameters or {}
            values[argument.value] = _load(argument, source)
        yield from _block(self.entry.func.body.block, values, ())
        return {
            name: _stack(values[operand], operand.type)
            for name, operand in zip(self.entry.outputs, self.entry.return_op.operands, strict=True)
        }


def _load(argument: Argument, source: Mapping[str, Array]) -> Value:
    members = iter(argument.names)

    def find(name: str) -> Array:
        try:
            return np.asarray(source[name])
        except KeyError:
            raise OracleError(
                f"no value for the {argument.kind} {name!r}", location=argument.location
            ) from None

    def stored(array: Array, type_: Attribute) -> Array:
        tensor = cast("TensorType[Attribute]", type_)
        if array.shape != tensor.get_shape():
            raise OracleError(
                f"{argument.name!r} has shape {array.shape}, the program wants {tensor.get_shape()}"
            )
        return quantise(array, dtype_of(tensor.element_type), argument.scale).reshape(array.shape)

    def build(type_: Attribute) -> Value:
        if isinstance(type_, SequenceType):
            return tuple(build(type_.element) for _ in range(type_.count.data))
        return stored(find(next(members)), type_)

    def unstack(array: Array, type_: Attribute) -> Value:
        if isinstance(type_, SequenceType):
            return tuple(unstack(member, type_.element) for member in array)
        return stored(array, type_)

    if argument.kind == "input" and isinstance(argument.type, SequenceType):
        return unstack(find(argument.name), argument.type)
    return build(argument.type)


def _stack(value: Value, type_: Attribute) -> Array:
    if not isinstance(value, tuple):
        return value
    sequence = cast("SequenceType", type_)
    if value:
        return np.stack([_stack(member, sequence.element) for member in value])
    shape = sequence.tensor.get_shape()
    return np.empty((*sequence.counts, *shape), numpy_dtype(dtype_of(sequence.tensor.element_type)))


def _block(block: Block, values: dict[SSAValue, Value], iteration: tuple[int, ...]) -> Iterator[Named]:
    last_use = _last_uses(block)
    for op in block.ops:
        if op is block.last_op:
            return
        match op:
            case RepeatOp():
                yield from _repeat(op, values, iteration)
            case PackOp():
                values[op.result] = tuple(values[v] for v in op.members)
            case MemberOp():
                values[op.results[0]] = cast("tuple[Value, ...]", values[op.sequence])[op.index.value.data]
            case _:
                array = evaluate_operation(op, [cast("Array", values[v]) for v in op.operands])
                values[op.results[0]] = array
                if VALUE_NAME in op.attributes:
                    yield value_name(op), iteration, array
        for value in last_use.get(op, ()):
            values.pop(value, None)


def _last_uses(block: Block) -> dict[Operation, list[SSAValue]]:
    """Results of a block by the operation of the block that uses them last: dead values need no memory."""
    order = {op: i for i, op in enumerate(block.ops)}
    found: dict[Operation, list[SSAValue]] = {}
    for op in block.ops:
        for result in op.results:
            users = [use.operation for use in result.uses if use.operation in order]
            if users and (last := max(users, key=order.__getitem__)) is not block.last_op:
                found.setdefault(last, []).append(result)
    return found


def _repeat(op: RepeatOp, values: dict[SSAValue, Value], iteration: tuple[int, ...]) -> Iterator[Named]:
    state = [values[v] for v in op.carried]
    for argument, value in zip(op.invariant_args, op.invariant, strict=True):
        values[argument] = values[value]
    sequences = [cast("tuple[Value, ...]", values[v]) for v in op.iterated]
    collected: list[list[Value]] = [[] for _ in op.collected_results]
    for number in range(op.iterations):
        for argument, value in zip(op.carried_args, state, strict=True):
            values[argument] = value
        for argument, members in zip(op.iterated_args, sequences, strict=True):
            values[argument] = members[number]
        yield from _block(op.body_block, values, (*iteration, number))
        state = [values[v] for v in op.yield_op.carried]
        for members, value in zip(collected, op.yield_op.collected, strict=True):
            members.append(values[value])
    for result, value in zip(op.carried_results, state, strict=True):
        values[result] = value
    for result, members in zip(op.collected_results, collected, strict=True):
        values[result] = tuple(members)
