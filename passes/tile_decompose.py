# SPDX-License-Identifier: Apache-2.0
"""
Writes operations that no kernel computes as others that kernels do.

A convolution whose channels mix becomes one product: what lies under each window, side by side, times the
weights. Windows that do not overlap are a view; others are slices of the padded operand, one for each element
of a window. Groups of channels are a batch of products, several output channels for each of many groups one
convolution of repeated channels. A one-hot tensor is a comparison with the numbers of its last axis; the
largest elements are the first of an order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, StringAttr, TensorType, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.reference import value_names
from tilewright.dialects.tile_tensor import (
    ArgsortOp,
    BroadcastOp,
    CastOp,
    CompareOp,
    ConcatOp,
    ConstantOp,
    ConvolutionOp,
    MatmulOp,
    OneHotOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    SortOp,
    TensorOperation,
    TopKIndicesOp,
    TopKOp,
    TransposeOp,
    element_of,
    shape_of,
)
from tilewright.instrumentation import remark
from tilewright.passes.ir.programs import ProgramPass
from tilewright.passes.ir.tensors import VALUE_NAME


@dataclass(frozen=True)
class TileDecomposePass(ProgramPass):
    """Write convolutions as products, and what else has no kernel."""

    name = "tile-decompose"

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.walk() if isinstance(o, FuncOp)]:
            decompose(function)


def decompose(function: FuncOp) -> None:
    """Decompose in one function; every value keeps the name that it has in the program as given."""
    names = value_names(function)
    for op in list(function.walk()):
        rule = _RULES.get(type(op))
        if rule is None or not isinstance(op, TensorOperation):
            continue
        writer = _Writer(op, names[op.result])
        result = rule(op, writer)
        if result is None:
            continue
        remark("conversion", f"`{writer.name}` is written as {len(writer.made)} operations", op)
        for made in writer.made:
            if isinstance(made.result, SSAValue):
                names.setdefault(made.result, f"{writer.name}.{made.name.partition('.')[2]}")
        names[_named(writer.made, result)] = writer.name
        op.result.replace_all_uses_with(result)
        op.detach()
        op.erase()
    _keep(function, names)


def _keep(function: FuncOp, names: dict[SSAValue, str]) -> None:
    for value, name in value_names(function).items():
        if name != names[value] and isinstance(value.owner, Operation):
            value.owner.attributes[VALUE_NAME] = StringAttr(names[value])


def _named(made: list[TensorOperation], result: SSAValue) -> SSAValue:
    """The value that takes the name: the last one that is computed, if only its shape changes after it."""
    value = result
    while isinstance(value.owner, ReshapeOp) and value.owner in made:
        value = value.owner.operand
    return value


class _Writer:
    """Writes operations in front of one."""

    def __init__(self, op: TensorOperation, name: str) -> None:
        self.op = op
        self.name = name
        self.made: list[TensorOperation] = []

    def __call__(self, op: TensorOperation) -> SSAValue:
        op.location = self.op.location
        Rewriter.insert_op(op, InsertPoint.before(self.op))
        self.made.append(op)
        return op.result

    def reshape(self, value: SSAValue, *shape: int) -> SSAValue:
        return value if shape_of(value) == shape else self(ReshapeOp(value, shape))

    def transpose(self, value: SSAValue, *permutation: int) -> SSAValue:
        return self(TransposeOp(value, permutation))


def convolution(op: ConvolutionOp, write: _Writer) -> SSAValue | None:
    """None for a convolution of each channel by itself, which has a kernel."""
    if op.depthwise and len(shape_of(op.operand)) < 5:
        return None
    shape, weights = shape_of(op.operand), shape_of(op.weights)
    groups, outputs = op.groups.value.data, weights[-1]
    window = op.window(weights[:-2])
    batch, result = shape[0], shape_of(op.result)
    rank, channels = len(window.size), shape[-1]
    if not math.prod(result) or not math.prod(shape) or not math.prod(weights):
        return None
    if groups == channels and rank < 3 and weights[-2] == 1:  # several outputs of each channel
        times = outputs // groups
        wide = write(BroadcastOp(op.operand, [*shape, times], range(len(shape))))
        operand = write.reshape(wide, *shape[:-1], outputs)
        clauses = {name: getattr(window, name) for name in ("strides", "low", "high", "dilation")}
        return write(
            ConvolutionOp(
                operand,
                op.weights,
                groups=outputs,
                element_type=element_of(op.result),
                saturate=bool(op.saturate.value.data),
                **clauses,
            )
        )
    taps = math.prod(window.size)
    rows = batch * math.prod(result[1:-1])
    patches = write.reshape(_patches(op, write), rows, taps, groups, channels // groups)
    matrix = write.reshape(op.weights, taps, channels // groups, groups, outputs // groups)
    depth = taps * channels // groups
    if groups == 1:
        left, right = write.reshape(patches, rows, depth), write.reshape(matrix, depth, outputs)
    else:
        left = write.reshape(write.transpose(patches, 2, 0, 1, 3), groups, rows, depth)
        right = write.reshape(write.transpose(matrix, 2, 0, 1, 3), groups, depth, outputs // groups)
    total = write(MatmulOp(left, right, element_of(op.result), saturate=bool(op.saturate.value.data)))
    if groups > 1:
        total = write.transpose(total, 1, 0, 2)
    return write(ReshapeOp(total, result))


def _patches(op: ConvolutionOp, write: _Writer) -> SSAValue:
    """What lies under each window, taps before channels: [n, s'.., taps * c]."""
    shape, result = shape_of(op.operand), shape_of(op.result)
    window = op.window(shape_of(op.weights)[:-2])
    rank, channels = len(window.size), shape[-1]
    operand: SSAValue = op.operand
    if any(window.low) or any(window.high):
        operand = write(PadOp(operand, [0, *window.low, 0], [0, *window.high, 0]))
        shape = shape_of(operand)
    apart = all(d == 1 for d in window.dilation) and window.size == window.strides
    if apart:  # windows lie side by side
        used = [n * k for n, k in zip(result[1:-1], window.size, strict=True)]
        if tuple(used) != shape[1:-1]:
            operand = write(SliceOp(operand, [0] * len(shape), [shape[0], *used, channels]))
        parts = [extent for pair in zip(result[1:-1], window.size, strict=True) for extent in pair]
        cut = write.reshape(operand, shape[0], *parts, channels)
        outer, inner = range(1, 2 * rank, 2), range(2, 2 * rank + 1, 2)
        if all(n == 1 for n in window.size):
            return cut
        return write.transpose(cut, 0, *outer, *inner, 2 * rank + 1)
    sizes = [shape[0], *result[1:-1], channels]
    strides = None if all(n == 1 for n in window.strides) else [1, *window.strides, 1]
    pieces = [
        write(
            SliceOp(
                operand, [0, *(t * d for t, d in zip(tap, window.dilation, strict=True)), 0], sizes, strides
            )
        )
        for tap in product(*(range(n) for n in window.size))
    ]
    return pieces[0] if len(pieces) == 1 else write(ConcatOp(pieces, len(shape) - 1))


def one_hot(op: OneHotOp, write: _Writer) -> SSAValue:
    shape = shape_of(op.result)
    numbers = np.arange(shape[-1], dtype=np.int32)
    contents = DenseIntOrFPElementsAttr.from_list(TensorType(i32, [shape[-1]]), numbers.tolist())
    constant = write(ConstantOp(contents))
    found = write(CompareOp("eq", write(ReshapeOp(op.indices, (*shape[:-1], 1))), constant))
    return (
        found if element_of(found) == element_of(op.result) else write(CastOp(found, element_of(op.result)))
    )


def top(op: TopKOp | TopKIndicesOp, write: _Writer) -> SSAValue:
    """The first of a falling order."""
    shape = shape_of(op.operand)
    axis = None if op.axis is None else op.axis.value.data
    ordered = ArgsortOp if isinstance(op, TopKIndicesOp) else SortOp
    whole = write(ordered(op.operand, axis=axis, descending=True))
    return write(SliceOp(whole, [0] * len(shape), shape_of(op.result)))


_RULES: dict[type[Operation], Callable[..., SSAValue | None]] = {
    ConvolutionOp: convolution,
    OneHotOp: one_hot,
    TopKOp: top,
    TopKIndicesOp: top,
}
