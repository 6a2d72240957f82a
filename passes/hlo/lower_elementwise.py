# SPDX-License-Identifier: Apache-2.0
"""Lowering of operations on each element by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.hlo.values import is_floating
from tilewright.instrumentation import remark
from tilewright.passes.hlo.one_operation import NoLowering, OneOperation, Rule
from tilewright.passes.hlo.rewriting import element_of, shape_of

_UNARY: Mapping[str, type[Operation]] = {
    "abs": tt.AbsOp,
    "negate": tt.NegOp,
    "exponential": tt.ExpOp,
    "log": tt.LogOp,
    "sqrt": tt.SqrtOp,
    "rsqrt": tt.RsqrtOp,
    "tanh": tt.TanhOp,
    "erf": tt.ErfOp,
    "logistic": tt.SigmoidOp,
    "sine": tt.SinOp,
    "cosine": tt.CosOp,
    "log_plus_one": tt.Log1pOp,
    "exponential_minus_one": tt.Expm1Op,
    "floor": tt.FloorOp,
    "ceil": tt.CeilOp,
    "round_nearest_even": tt.RoundOp,
    "sign": tt.SignOp,
    "is_finite": tt.IsFiniteOp,
    "not": tt.NotOp,
}
_BINARY: Mapping[str, type[Operation]] = {
    "add": tt.AddOp,
    "subtract": tt.SubOp,
    "multiply": tt.MulOp,
    "divide": tt.DivOp,
    "maximum": tt.MaximumOp,
    "minimum": tt.MinimumOp,
    "power": tt.PowOp,
    "atan2": tt.Atan2Op,
    "remainder": tt.RemainderOp,
    "and": tt.AndOp,
    "or": tt.OrOp,
    "xor": tt.XorOp,
    "shift_left": tt.ShiftLeftOp,
    "shift_right_arithmetic": tt.ShiftRightArithmeticOp,
    "shift_right_logical": tt.ShiftRightLogicalOp,
}
_COMMUTATIVE = frozenset(("add", "multiply", "maximum", "minimum", "and", "or", "xor"))
_OF_BOOLEANS = {"add": "or", "multiply": "and", "maximum": "or", "minimum": "and"}


def _rounding(kind: type[Operation], lower: OneOperation) -> dict[str, Any]:
    return lower.saturation if issubclass(kind, tt.RoundingOperation) else {}


def _unary(lower: OneOperation) -> SSAValue:
    made: Any = _UNARY[lower.op.kind]
    result = lower.add(made(lower.small(lower.op.operands[0]), **_rounding(made, lower)))
    return result if shape_of(result) == lower.shape else lower.widened(result, lower.shape)


def _binary(lower: OneOperation) -> SSAValue:
    kind = lower.op.kind
    if lower.element == i1:
        kind = _OF_BOOLEANS.get(kind, kind)
    a, b = lower.op.operands
    if kind == "multiply" and a is b and is_floating(lower.element):
        return lower.add(tt.SquareOp(a, **lower.saturation))
    made: Any = _BINARY[kind]
    x, y = lower.operands()
    if kind in _COMMUTATIVE and shape_of(x) != lower.shape and shape_of(y) == lower.shape:
        x, y = y, x  # what is repeated stands behind, as a bias does
    return lower.add(made(x, y, **_rounding(made, lower)))


def _erfc(lower: OneOperation) -> SSAValue:
    remark("missed", "erfc is computed as 1 - erf: absolutely, not relatively exact", lower.op)
    erf = lower.add(tt.ErfOp(lower.small(lower.op.operands[0])))
    one = lower.constant(np.ones([1] if shape_of(erf) else []), lower.element)
    result = lower.add(tt.SubOp(one, erf))
    return result if shape_of(result) == lower.shape else lower.widened(result, lower.shape)


def _clamp(lower: OneOperation) -> SSAValue:
    low, x, high = (lower.small(v) for v in lower.op.operands)
    inner = lower.add(tt.MaximumOp(x, low))
    result = lower.add(tt.MinimumOp(inner, high))
    return result if shape_of(result) == lower.shape else lower.widened(result, lower.shape)


def _compare(lower: OneOperation) -> SSAValue:
    if lower.op.get("order") == "total" and is_floating(element_of(lower.op.operands[0])):
        raise NoLowering("there is no total order of floats")
    return lower.add(tt.CompareOp(lower.op.get("direction").lower(), *lower.operands()))


def _select(lower: OneOperation) -> SSAValue:
    return lower.add(tt.SelectOp(*lower.operands()))


def _convert(lower: OneOperation) -> SSAValue:
    operand = lower.op.operands[0]
    source = element_of(operand)
    value = lower.small(operand)
    if source == i1 or lower.element == i1:
        result = _convert_boolean(lower, value, source)
    elif is_floating(source) and not is_floating(lower.element):
        result = lower.add(tt.CastOp(value, lower.element, rounding="truncate"))
    else:
        narrow = not is_floating(source) and not is_floating(lower.element)
        arguments: dict[str, Any] = {"saturate": False} if narrow else lower.saturation
        result = value if source == lower.element else lower.add(tt.CastOp(value, lower.element, **arguments))
    return result if shape_of(result) == lower.shape else lower.widened(result, lower.shape)


def _convert_boolean(lower: OneOperation, value: SSAValue, source: Attribute) -> SSAValue:
    rank1 = [1] if shape_of(value) else []
    if source == i1:
        one, zero = (lower.constant(np.full(rank1, n), lower.element) for n in (1, 0))
        return lower.add(tt.SelectOp(value, one, zero))
    return lower.add(tt.CompareOp("ne", value, lower.constant(np.zeros(rank1), source)))


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_UNARY, _unary),
    **dict.fromkeys(_BINARY, _binary),
    "erfc": _erfc,
    "clamp": _clamp,
    "compare": _compare,
    "select": _select,
    "convert": _convert,
}
