# SPDX-License-Identifier: Apache-2.0
"""
Stores the f32 values of a program in f16, as mixed precision has it.

Products accumulate in f32, norms and softmax keep their statistics in f32 (that is their definition). Sums
stay f32, and so does what is computed from nothing but such sums: statistics that are written out. A constant
with finite numbers beyond f16 stays f32. Casts between f32 and f16 that say nothing any more are left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, f16, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.hlo.values import array_of, dense_of
from tilewright.dialects.tile_repeat import MemberOp, PackOp, RepeatOp, SequenceType, YieldOp
from tilewright.instrumentation import remark
from tilewright.passes.hlo.rewriting import blocks_of
from tilewright.passes.ir.programs import ProgramPass

_LARGEST = float(np.finfo(np.float16).max)
_SUMS = ("sum", "mean", "prod")


@dataclass(frozen=True)
class TileStoreF16Pass(ProgramPass):
    """Store f32 values in f16."""

    name = "tile-store-f16"

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.walk() if isinstance(o, FuncOp)]:
            store_f16(function)


def store_f16(function: FuncOp) -> Counter[str]:
    """Rewrite one function; how many values of each kind stay f32."""
    kept: Counter[str] = Counter()
    stored = 0
    for argument in function.args:
        stored += _narrow(argument)
    for block in _outer_first(function):
        for op in list(block.ops):
            if isinstance(op, RepeatOp):
                for argument in op.body_block.args:
                    stored += _narrow(argument)
                for result in op.results:
                    stored += _narrow(result)
                continue
            reason = _stays(op)
            if reason is not None:
                kept[reason] += 1
                continue
            for result in op.results:
                stored += _narrow(result)
            if isinstance(op, tt.ConstantOp) and op.result.type != op.value.type:
                array = array_of(op.value)
                op.value = dense_of(array.astype(np.float16), f16)
    for block in blocks_of(function):
        _meet_types(block)
        _remove_casts(block)
    function.update_function_type()
    if stored:
        remark("conversion", f"f16: {stored} values of f32 are stored in f16", function)
    for reason, count in kept.items():
        remark("conversion", f"f16: {count} values stay f32: {reason}", function)
    return kept


def _outer_first(function: FuncOp) -> list[Block]:
    return list(reversed(list(blocks_of(function))))


def _is_f32(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and value.type.element_type == f32


def _narrowed(type_: Attribute) -> Attribute:
    if isinstance(type_, SequenceType):
        return SequenceType(type_.count, _narrowed(type_.element))
    if isinstance(type_, TensorType) and type_.element_type == f32:
        return TensorType(f16, type_.get_shape())
    return type_


def _narrow(value: SSAValue) -> int:
    narrowed = _narrowed(value.type)
    if narrowed == value.type:
        return 0
    value._type = narrowed  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
    return 1


def _stays(op: Operation) -> str | None:
    """Why the result of an operation stays f32."""
    if not op.results or not _is_f32(op.results[0]):
        return None
    if isinstance(op, tt.ReduceOp) and op.kind.data.value in _SUMS:
        return "sums"
    if isinstance(op, tt.ConstantOp):
        array = array_of(op.value)
        finite = np.abs(array[np.isfinite(array)])
        return "constants beyond f16" if finite.size and float(finite.max()) > _LARGEST else None
    if isinstance(op, tt.MatmulOp | tt.AttentionOp | MemberOp | PackOp) or not isinstance(
        op, tt.TensorOperation
    ):
        return None
    sources = [v for v in op.operands if isinstance(v.type, TensorType) and tt.is_float(v.type.element_type)]
    computed = [v for v in sources if not isinstance(v.owner, tt.ConstantOp)]
    if computed and all(_is_f32(v) and isinstance(v.owner, Operation) for v in computed):
        return "computed from sums"
    return None


def _meet_types(block: Block) -> None:
    """Operations that want operands of one type get them: the wider one where they differ."""
    for op in list(block.ops):
        if isinstance(op, tt.MatmulOp | tt.AttentionOp):
            operands = list(op.operands)[: 2 if isinstance(op, tt.MatmulOp) else 3]
            if (
                len(
                    {str(v.type.element_type) for v in operands if isinstance(v.type, TensorType)}
                    & {"f16", "f32"}
                )
                == 2
            ):
                _cast_operands(op, range(len(operands)), f16)
        elif isinstance(op, tt.MovementOperation | tt.GatherOp) and op.results:
            element = cast("TensorType[Attribute]", op.results[0].type).element_type
            places = [0] if isinstance(op, tt.GatherOp) else range(len(op.operands))
            _cast_operands(op, places, element)
        elif isinstance(op, getattr(tt, "SelectOp", ())):
            element = cast("TensorType[Attribute]", op.results[0].type).element_type
            _cast_operands(op, (1, 2), element)
        elif isinstance(op, getattr(tt, "CompareOp", ())):
            kinds = {str(cast("TensorType[Attribute]", v.type).element_type) for v in op.operands}
            if kinds == {"f16", "f32"}:
                _cast_operands(op, (0, 1), f32)
        elif isinstance(op, YieldOp):
            repeat = op.parent_op()
            if isinstance(repeat, RepeatOp):
                for number, value in enumerate(op.carried):
                    wanted = repeat.carried[number].type
                    if value.type != wanted and isinstance(wanted, TensorType):
                        _cast_operands(op, (number,), wanted.element_type)
                for number, value in enumerate(op.collected):
                    wanted = cast("SequenceType", repeat.collected_results[number].type).element
                    if value.type != wanted and isinstance(wanted, TensorType):
                        _cast_operands(op, (len(op.carried) + number,), wanted.element_type)
        elif isinstance(op, RepeatOp):
            for number, value in enumerate((*op.carried, *op.invariant)):
                wanted = op.body_block.args[number].type
                if value.type != wanted and isinstance(wanted, TensorType):
                    _cast_operands(op, (number,), wanted.element_type)
        elif op.name == "func.return":
            for number, value in enumerate(op.operands):
                if _is_f32(value) and not isinstance(value, BlockArgument):
                    _cast_operands(op, (number,), f16)


def _cast_operands(op: Operation, places: Any, element: Attribute) -> None:
    for place in places:
        value = op.operands[place]
        if not isinstance(value.type, TensorType) or value.type.element_type == element:
            continue
        if not tt.is_float(value.type.element_type) or not tt.is_float(element):
            continue
        made = tt.CastOp(value, element)
        made.location = op.location
        block = op.parent
        assert block is not None
        block.insert_op_before(made, op)
        op.operands[place] = made.result


def _remove_casts(block: Block) -> None:
    for op in list(block.ops):
        if isinstance(op, tt.CastOp) and op.operand.type == op.result.type and not op.scale.value.data:
            op.result.replace_all_uses_with(op.operand)
            Rewriter.erase_op(op)
