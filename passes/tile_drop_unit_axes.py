# SPDX-License-Identifier: Apache-2.0
"""
Computes on rows and columns what has leading axes of 1 in front of them.

Models carry a batch of one through every value, and products are of matrices. Between the two stand reshapes,
which part sums, norms and activations from the products that they belong to. An operation on each element, a
norm, a softmax, a concatenation or a slice whose result is [1, .., 1, rows, columns] becomes one on [rows,
columns] between two reshapes, and reshapes that meet are one or none. Every value stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.tensor.base import element_of, ints_attribute, shape_of
from tilewright.dialects.tensor.elementwise import ExactBinaryOperation, ExactUnaryOperation
from tilewright.dialects.tile_tensor import BinaryOperation, TensorOperation, UnaryOperation
from tilewright.passes.hlo.rewriting import blocks_of, replace
from tilewright.passes.hlo.views import tidy_views
from tilewright.passes.ir.programs import ProgramPass

_BY_ELEMENT = (
    UnaryOperation,
    BinaryOperation,
    ExactUnaryOperation,
    ExactBinaryOperation,
    tt.CompareOp,
    tt.SelectOp,
    tt.CastOp,
)
_BY_ROW = (tt.SoftmaxOp, tt.LayerNormOp, tt.RmsNormOp)
KEPT = 2
"""Axes that stay: the rows and columns of a product."""


@dataclass(frozen=True)
class TileDropUnitAxesPass(ProgramPass):
    """Compute without leading axes of 1."""

    name = "tile-drop-unit-axes"

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.walk() if isinstance(o, FuncOp)]:
            drop_unit_axes(function)


def drop_unit_axes(function: FuncOp) -> None:
    """Rewrite one function, the bodies of its repeats as well, where reshapes do not become more."""
    for block in blocks_of(function):
        found: dict[Operation, dict[str, Attribute]] = {}
        for op in block.ops:
            if isinstance(op, TensorOperation) and (properties := _properties(op)) is not None:
                found[op] = properties
        chosen = {op for group in _connected(found) if _gain(group) >= 0 for op in group}
        narrow: dict[SSAValue, SSAValue] = {}
        for op, properties in found.items():
            if op in chosen:
                _drop(op, properties, narrow)
        tidy_views(block)
        _reshape_once(block)


def _reshape_once(block: Block) -> None:
    """
    Equal reshapes of one argument are one, before everything else: a first layer then reads its operand as
    the others do, and layers that share an argument stay alike.
    """
    made: dict[tuple[SSAValue, Attribute], tt.ReshapeOp] = {}
    for op in list(block.ops):
        if isinstance(op, tt.ReshapeOp) and op.operand in block.args:
            first = made.setdefault((op.operand, op.result.type), op)
            if first is not op:
                if first is not block.first_op:
                    first.detach()
                    Rewriter.insert_op(first, InsertPoint.at_start(block))
                replace(op, first.result)


def _connected(found: Mapping[Operation, object]) -> list[dict[Operation, None]]:
    """Operations that hand values to each other, each group in order."""
    leader: dict[Any, Operation] = {op: op for op in found}

    def first(op: Operation) -> Operation:
        while leader[op] is not op:
            op = leader[op]
        return op

    for op in found:
        for value in op.operands:
            if value.owner in leader:
                leader[first(op)] = first(leader[value.owner])
    groups: dict[Operation, dict[Operation, None]] = {}
    for op in found:
        groups.setdefault(first(op), {})[op] = None
    return list(groups.values())


def _gain(group: dict[Operation, None]) -> int:
    """How many reshapes fewer there are when a group is computed on rows and columns."""
    gain = 0
    outside = {value: None for op in group for value in op.operands if value.owner not in group}
    for value in outside:
        if len(shape_of(value)) <= KEPT:
            continue
        view = value.owner
        if not isinstance(view, tt.ReshapeOp):
            gain -= 1
        elif all(use.operation in group for use in value.uses):
            gain += shape_of(view.operand) == shape_of(value)[-KEPT:]
    for op in group:
        readers = [use.operation for use in op.results[0].uses if use.operation not in group]
        views = [reader for reader in readers if isinstance(reader, tt.ReshapeOp)]
        gain += sum(shape_of(view.result) == shape_of(op.results[0])[-KEPT:] for view in views)
        gain -= len(views) < len(readers)
    return gain


def _drop(op: Operation, properties: dict[str, Attribute], narrow: dict[SSAValue, SSAValue]) -> None:
    """`narrow`: values without their leading axes, each made once, where it is read first."""
    result, shape = op.results[0], shape_of(op.results[0])
    for value in op.operands:
        if len(shape_of(value)) > KEPT and value not in narrow:
            view = tt.ReshapeOp(value, shape_of(value)[-KEPT:])
            view.location = op.location
            Rewriter.insert_op(view, InsertPoint.before(op))
            narrow[value] = view.result
    inner = type(op).create(
        operands=[narrow.get(value, value) for value in op.operands],
        result_types=[TensorType(element_of(result), shape[-KEPT:])],
        properties=properties,
        attributes=dict(op.attributes),
    )
    wide = tt.ReshapeOp(inner.results[0], shape)
    narrow[wide.result] = inner.results[0]
    inner.results[0].name_hint = result.name_hint
    for made in (inner, wide):
        made.location = op.location
        Rewriter.insert_op(made, InsertPoint.before(op))
    replace(op, wide.result)


def _properties(op: TensorOperation) -> dict[str, Attribute] | None:
    """The properties of an operation on its rows and columns alone; None where it is none of these."""
    shape = shape_of(op.result)
    lead = len(shape) - KEPT
    if lead < 1 or any(extent != 1 for extent in shape[:lead]) or "plan" in op.attributes:
        return None
    properties: dict[str, Any] = dict(op.properties)
    if isinstance(op, _BY_ELEMENT):
        return properties
    if isinstance(op, (*_BY_ROW, tt.ConcatOp)):
        axis = properties.get("axis")
        if axis is None:
            return properties
        if axis.value.data < lead:
            return None
        properties["axis"] = IntegerAttr(axis.value.data - lead, i64)
        return properties
    if isinstance(op, tt.SliceOp) and all(extent == 1 for extent in shape_of(op.operand)[:lead]):
        for name in ("offsets", "sizes", "strides"):
            if properties.get(name) is not None:
                properties[name] = ints_attribute(list(properties[name].get_values())[lead:])
        return properties
    return None
