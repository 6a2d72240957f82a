# SPDX-License-Identifier: Apache-2.0
"""
Raises what models spell out to the operations that the machine has: softmax, layer and rms norms, gelu, silu.

Each pattern is matched in the normal form and checks its exact conditions; what is almost a pattern stays as
it is and is computed as it is written. Attention is raised from softmax in `attention`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.hlo.operations import HloOperation
from tilewright.dialects.hlo.values import dense_of, is_floating
from tilewright.instrumentation import remark
from tilewright.passes.hlo.matching import (
    binary,
    close,
    factors,
    is_number,
    mean_of,
    number_of,
    pairs,
    peel,
    polynomial,
    rows,
    same,
    square_of,
    tolerance,
    vector,
)
from tilewright.passes.hlo.normal import widens
from tilewright.passes.hlo.rewriting import Emitter, blocks_of, element_of, owner, shape_of


def raise_rows(function: FuncOp) -> bool:
    """Raise norms, softmax and activations in a function; whether any was found."""
    changed = False
    for block in blocks_of(function):
        for op in reversed(list(block.ops)):
            if isinstance(op, HloOperation) and op.parent is block and op.results:
                changed |= any(rule(op) for rule in _RULES)
    return changed


def _float8(value: SSAValue) -> bool:
    return tt.is_float8(element_of(value))


def source_of(value: SSAValue) -> SSAValue:
    """The value before a conversion that keeps it exactly: an operation takes that as well."""
    made = owner(value, "convert")
    if made is not None and widens(element_of(made.operands[0]), element_of(value)):
        return made.operands[0]
    return value


def finish(op: HloOperation, composite: Operation, what: str) -> None:
    """Put a composite in place of the last operation of a pattern."""
    emit = Emitter(op)
    value = emit.add(composite)
    remark("fusion", f"raised to {what}", op)
    emit.replace(value)


# ---------------------------------------------------------------------------------------------------- softmax


def _softmax(op: HloOperation) -> bool:
    if op.kind not in ("divide", "multiply") or not is_floating(element_of(op.results[0])):
        return False
    shape = shape_of(op.results[0])
    for numerator, divisor in pairs(op):
        spread = binary(divisor, "broadcast_in_dim")
        exponential = binary(numerator, "exponential")
        if spread is None or exponential is None or not shape:
            continue
        total = spread.operands[0]
        if op.kind == "multiply":
            inverse = binary(total, "divide")
            if inverse is None or not is_number(inverse.operands[0], 1.0):
                continue
            total = inverse.operands[1]
        summed = binary(total, "reduce")
        if (
            summed is None
            or summed.get("kind") != "sum"
            or not same(summed.operands[0], exponential.results[0])
        ):
            continue
        axes = summed.get("dimensions")
        others = [axis for axis in range(len(shape)) if axis not in axes]
        if (
            len(axes) != 1
            or spread.get("dimensions") != others
            or shape_of(total) != tuple(shape[a] for a in others)
        ):
            continue
        shifted = binary(exponential.operands[0], "subtract")
        if shifted is None:
            continue
        x, most = shifted.operands
        top = binary(most, "broadcast_in_dim")
        if top is None or top.get("dimensions") != others:
            continue
        largest = binary(top.operands[0], "reduce")
        if (
            largest is None
            or largest.get("kind") != "max"
            or largest.get("dimensions") != axes
            or not same(largest.operands[0], x)
        ):
            continue
        _finish_softmax(op, x, axes[0])
        return True
    return False


def _finish_softmax(op: HloOperation, x: SSAValue, axis: int) -> None:
    emit = Emitter(op)
    last = len(shape_of(x)) - 1
    scale = 1.0
    made = owner(x, "multiply", "divide")
    if made is not None and len(list(x.uses)) <= 2:
        for value, number in pairs(made):
            found = number_of(number)
            if found is not None and math.isfinite(found) and found != 0:
                scale, x = (found if made.kind == "multiply" else 1.0 / found), value
                break
    x = source_of(x)
    order = [a for a in range(last + 1) if a != axis] + [axis]
    if axis != last:
        x = emit.op("transpose", [x], permutation=order)
    composite = tt.SoftmaxOp(
        x, scale=scale, empty_rows="nan", element_type=element_of(op.results[0]), **saturation(op.results[0])
    )
    value = emit.add(composite)
    if axis != last:
        value = emit.op("transpose", [value], permutation=[order.index(a) for a in range(last + 1)])
    remark("fusion", "raised to softmax", op)
    emit.replace(value)


def _empty_rows(op: HloOperation) -> bool:
    """Zero in place of what is not a number in a softmax that nothing else reads: its empty rows are zero."""
    if op.kind != "select":
        return False
    predicate, on_true, on_false = op.operands
    negated = owner(predicate, "not")
    test = owner(predicate if negated is None else negated.operands[0], "compare")
    if test is None or test.operands[0] is not test.operands[1] or "order" in test.attributes:
        return False
    if test.get("direction") not in ("NE", "EQ"):
        return False
    nan_is_true = (test.get("direction") == "NE") == (negated is None)
    zero, p = (on_true, on_false) if nan_is_true else (on_false, on_true)
    number, softmax = number_of(zero), peel(p).owner
    if number is None or number != 0 or math.copysign(1.0, number) < 0 or test.operands[0] is not p:
        return False
    if not isinstance(softmax, tt.SoftmaxOp) or softmax.empty_rows.data != tt.EmptyRows.NAN:
        return False
    readers = [use.operation for value in {p, softmax.result} for use in value.uses]
    if any(reader not in (test, op, p.owner) for reader in readers):
        return False
    if any(len(list(value.uses)) != 1 for value in (predicate, test.results[0])):
        return False
    softmax.properties["empty_rows"] = tt.EmptyRowsAttr(tt.EmptyRows.ZERO)
    remark("conversion", "rows that see no key are zero", op)
    Emitter(op).replace(p)
    return True


def saturation(value: SSAValue) -> dict[str, bool]:
    """StableHLO does not saturate."""
    return {"saturate": False} if _float8(value) else {}


# ------------------------------------------------------------------------------------------------------ norms


@dataclass
class _Norm:
    x: SSAValue
    epsilon: float
    centred: bool


def _statistics(value: SSAValue) -> _Norm | None:
    """What is normalised, where a value is variance (or mean square) plus epsilon."""
    made = binary(value, "add")
    if made is None:
        return None
    for spread, small in pairs(made):
        epsilon = number_of(small)
        if epsilon is None or not 0 <= epsilon < math.inf:
            continue
        squared = mean_of(spread)
        if squared is not None and (inner := square_of(squared)) is not None:
            centre = binary(inner, "subtract")
            if centre is not None:
                x, m = centre.operands
                mean = rows(m, len(shape_of(x)))
                of = None if mean is None else mean_of(mean)
                if of is not None and same(of, x):
                    return _Norm(x, epsilon, True)
            return _Norm(inner, epsilon, False)
        found = _fast_variance(spread)
        if found is not None:
            return _Norm(found, epsilon, True)
    return None


def _fast_variance(value: SSAValue) -> SSAValue | None:
    """x, where a value is `max(0, mean(x^2) - mean(x)^2)`, or that without the maximum."""
    made = binary(value, "maximum")
    if made is not None:
        for inner, zero in pairs(made):
            if is_number(zero, 0.0):
                return _fast_variance(inner)
        return None
    made = binary(value, "subtract")
    if made is None:
        return None
    squares = mean_of(made.operands[0])
    x = None if squares is None else square_of(squares)
    mean = square_of(made.operands[1])
    of = None if mean is None else mean_of(mean)
    return x if x is not None and of is not None and same(of, x) else None


def _root(value: SSAValue, inverse: bool) -> SSAValue | None:
    """v, where a value is `1 / sqrt(v)`, or `sqrt(v)`."""
    if not inverse:
        made = binary(value, "sqrt")
        return None if made is None else made.operands[0]
    made = binary(value, "rsqrt")
    if made is not None:
        return made.operands[0]
    made = binary(value, "divide")
    if made is not None and is_number(made.operands[0], 1.0):
        return _root(made.operands[1], False)
    return None


def _scaled_root(value: SSAValue) -> tuple[SSAValue, SSAValue | None] | None:
    """v and gamma, where a value is `1 / sqrt(v)` by row, times gamma if there is one."""
    rank = len(shape_of(value))
    by_row = rows(value, rank)
    if by_row is not None:
        v = _root(by_row, True)
        return None if v is None else (v, None)
    made = binary(value, "multiply")
    if made is None:
        return None
    for a, b in pairs(made):
        by_row, gamma = rows(a, rank), vector(b)
        v = None if by_row is None else _root(by_row, True)
        if v is not None and gamma is not None:
            return v, gamma
    return None


def _norm(op: HloOperation) -> bool:
    if op.kind not in ("multiply", "divide"):
        return False
    for numerator, scaled in pairs(op):
        gamma: SSAValue | None = None
        if op.kind == "divide":
            by_row = rows(scaled, len(shape_of(scaled)))
            v = None if by_row is None else _root(by_row, False)
        else:
            found = _scaled_root(scaled)
            v, gamma = found if found is not None else (None, None)
        norm = None if v is None else _statistics(v)
        if norm is None or not shape_of(norm.x):
            continue
        if norm.centred:
            centre = binary(numerator, "subtract")
            if centre is None or not same(centre.operands[0], norm.x):
                continue
            mean = rows(centre.operands[1], len(shape_of(norm.x)))
            of = None if mean is None else mean_of(mean)
            if of is None or not same(of, norm.x):
                continue
        elif not same(numerator, norm.x):
            continue
        _finish_norm(op, norm, gamma)
        return True
    return False


def _only_user(value: SSAValue) -> HloOperation | None:
    uses = list(value.uses)
    if len(uses) == 1 and isinstance(uses[0].operation, HloOperation):
        return uses[0].operation
    return None


def _finish_norm(op: HloOperation, norm: _Norm, gamma: SSAValue | None) -> None:
    """Take in gamma, beta and conversions as far as only they read what is before them."""
    last, beta = op, None
    while True:
        user = _only_user(last.results[0])
        if user is None:
            break
        if user.kind == "convert" and is_floating(element_of(user.results[0])):
            ahead = _only_user(user.results[0])
            affine = ahead is not None and ahead.kind in ("multiply", "add")
            if not affine and not widens(element_of(user.results[0]), element_of(last.results[0])):
                break
        elif user.kind == "multiply" and gamma is None and beta is None:
            other = user.operands[1] if user.operands[0] is last.results[0] else user.operands[0]
            gamma = vector(other) if shape_of(user.results[0]) == shape_of(norm.x) else None
            if gamma is None:
                break
        elif user.kind == "add" and norm.centred and beta is None:
            other = user.operands[1] if user.operands[0] is last.results[0] else user.operands[0]
            beta = vector(other)
            if beta is None:
                break
        else:
            break
        last = user
    emit = Emitter(last)
    width = shape_of(norm.x)[-1]
    element = element_of(last.results[0])
    x = source_of(peel(norm.x))

    def along(value: SSAValue | None, number: float) -> SSAValue:
        if value is None:
            return emit.op("constant", value=dense_of(np.full(width, number, np.float32)))
        number_ = number_of(value)
        if number_ is not None:
            return emit.op("constant", value=dense_of(np.full(width, number_, np.float32)))
        return source_of(value)

    scale = along(gamma, 1.0)
    if norm.centred:
        composite: Operation = tt.LayerNormOp(
            x,
            scale,
            along(beta, 0.0),
            epsilon=norm.epsilon,
            element_type=element,
            **saturation(last.results[0]),
        )
    else:
        composite = tt.RmsNormOp(
            x, scale, epsilon=norm.epsilon, element_type=element, **saturation(last.results[0])
        )
    finish(last, composite, "layer_norm" if norm.centred else "rms_norm")


# ------------------------------------------------------------------------------------------------ activations


def _half_of(value: SSAValue, kind: str) -> tuple[float, SSAValue] | None:
    """a and u, where a value is `a (1 + f(u))`."""
    made = binary(value, "add")
    if made is None:
        return None
    for one, term in pairs(made):
        number = number_of(one)
        if number is None:
            continue
        scale, others = factors(term)
        if len(others) == 1 and (inner := binary(others[0], kind)) is not None:
            if abs(scale - number) <= 1e-6 * abs(number):
                return number, inner.operands[0]
    return None


def _gelu(op: HloOperation) -> bool:
    if op.kind not in ("multiply", "divide") or not is_floating(element_of(op.results[0])):
        return False
    scale, others = factors(op.results[0])
    if len(others) != 2:
        return False
    element = element_of(op.results[0])
    for x, other in (others, others[::-1]):
        slack = 4 * max(tolerance(element), tolerance(element_of(other)), 2.0**-22)
        complement = binary(other, "erfc")
        if complement is not None:
            wanted = {1: -math.sqrt(0.5)}
            if close(polynomial(complement.operands[0], x), wanted, slack) and abs(scale - 0.5) <= slack:
                finish(op, tt.GeluOp(x, "none", op.results[0].type, **saturation(x)), "gelu")  # pyright: ignore
                return True
            continue
        for kind, wanted in (
            ("erf", {1: math.sqrt(0.5)}),
            ("tanh", {1: math.sqrt(2 / math.pi), 3: 0.044715 * math.sqrt(2 / math.pi)}),
        ):
            found = _half_of(other, kind)
            if found is None:
                continue
            number, u = found
            if close(polynomial(u, x), wanted, slack) and abs(scale * number - 0.5) <= slack:
                form = "none" if kind == "erf" else "tanh"
                finish(op, tt.GeluOp(x, form, op.results[0].type, **saturation(x)), "gelu")  # pyright: ignore
                return True
    return False


def _logistic(op: HloOperation) -> bool:
    """`a / (1 + exp(-x))` is a times the logistic function of x."""
    if op.kind != "divide" or not is_floating(element_of(op.results[0])):
        return False
    made = binary(op.operands[1], "add")
    if made is None:
        return False
    for one, term in pairs(made):
        exponential = binary(term, "exponential")
        if not is_number(one, 1.0) or exponential is None:
            continue
        inner = binary(exponential.operands[0], "negate")
        if inner is None or element_of(inner.operands[0]) != element_of(op.results[0]):
            continue
        emit = Emitter(op)
        value = emit.op("logistic", [inner.operands[0]])
        if not is_number(op.operands[0], 1.0):
            value = emit.op("multiply", [op.operands[0], value])
        emit.replace(value)
        return True
    return False


def _silu(op: HloOperation) -> bool:
    made: Callable[..., Operation] | None = getattr(tt, "SiluOp", None)
    if op.kind != "multiply" or made is None or not is_floating(element_of(op.results[0])):
        return False
    for x, gate in pairs(op):
        inner = owner(gate, "logistic")
        if inner is not None and inner.operands[0] is x:
            finish(op, made(x, op.results[0].type, **saturation(x)), "silu")
            return True
    return False


_RULES: tuple[Callable[[HloOperation], bool], ...] = (
    _logistic,
    _softmax,
    _empty_rows,
    _norm,
    _gelu,
    _silu,
)
