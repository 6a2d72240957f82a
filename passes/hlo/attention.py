# SPDX-License-Identifier: Apache-2.0
"""
Raises attention: the product with the values of a softmax of scaled and masked products of queries and keys.

The axes are read off the two products, whatever their order: shared axes are batch, what the softmax runs
over are the keys, all others are rows of queries. A mask may be added or selected by; the scale is a number.
A scale that is a tensor, a softmax over another axis, or products that do not share their axes stay as they
are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.hlo.operations import HloOperation
from tilewright.dialects.hlo.shapes import free_axes
from tilewright.dialects.hlo.values import dense_of, is_floating
from tilewright.instrumentation import remark
from tilewright.passes.hlo.fold import known
from tilewright.passes.hlo.heads import share_heads, unrepeated
from tilewright.passes.hlo.matching import number_of, pairs, peel
from tilewright.passes.hlo.raising import source_of
from tilewright.passes.hlo.rewriting import Emitter, blocks_of, element_of, owner, shape_of

HIDDEN = -1e30
"""A number that, added to a score, leaves nothing of it in a row where another score is seen."""

HIDING = -1e4
"""
A number that, put in place of a score, hides it: its exponential is zero beside any score that is not hidden.
"""


@dataclass
class _Scores:
    """Scores as `scale * product + masks`."""

    product: HloOperation
    permutation: list[int]
    """Axis i of the scores is axis `permutation[i]` of the product."""
    scale: float
    masks: list[_Mask] = field(default_factory=list["_Mask"])


@dataclass
class _Mask:
    """A mask over the axes of the scores; `hides`: where a value selects, and not what is added."""

    value: SSAValue
    factor: float
    hides: bool = False
    where: bool = True
    """With `hides`: the truth value of a score that is seen."""
    empty: str = "nan"


def raise_attention(function: FuncOp) -> bool:
    """Raise attention in a function; whether any was found."""
    changed = False
    for block in blocks_of(function):
        for op in list(block.ops):
            if isinstance(op, HloOperation) and op.kind == "dot_general" and op.parent is block:
                changed |= _attention(op)
            elif isinstance(op, tt.AttentionOp):
                changed |= share_heads(op) | _causal_flags(op)
    return changed


def _scores(value: SSAValue, factor: float) -> _Scores | None:
    """What a value is, if it is scores times `factor`."""
    value = peel(value)
    made = owner(value, "dot_general", "multiply", "divide", "add", "select", "transpose")
    if made is None:
        return None
    if made.kind == "dot_general":
        return _Scores(made, list(range(len(shape_of(value)))), factor)
    if made.kind == "transpose":
        inner = _scores(made.operands[0], factor)
        if inner is None or inner.masks:
            return None
        inner.permutation = [inner.permutation[axis] for axis in made.get("permutation")]
        return inner
    if made.kind in ("multiply", "divide"):
        for x, number in pairs(made):
            found = number_of(number)
            if found is not None and found != 0 and math.isfinite(found):
                return _scores(x, factor * found if made.kind == "multiply" else factor / found)
        return None
    if made.kind == "add":
        for x, mask in pairs(made):
            inner = _scores(x, factor)
            if inner is not None:
                inner.masks.append(_Mask(mask, factor))
                return inner
        return None
    predicate, on_true, on_false = made.operands
    for x, other, seen in ((on_true, on_false, True), (on_false, on_true, False)):
        number = number_of(other)
        if number is None or not number <= HIDING or shape_of(predicate) != shape_of(value) or factor <= 0:
            continue
        inner = _scores(x, factor)
        if inner is not None:
            empty = "nan" if number == -math.inf else "uniform"
            inner.masks.append(_Mask(predicate, factor, True, seen, empty))
            return inner
    return None


def _scaled(emit: Emitter, value: SSAValue) -> tuple[SSAValue, float]:
    """A value as another times a number, which may stand behind views of it."""
    views: list[HloOperation] = []
    inner = value
    while (view := owner(inner, "reshape", "transpose", "broadcast_in_dim")) is not None:
        views.append(view)
        inner = view.operands[0]
    made = owner(inner, "multiply", "divide")
    if made is None:
        return value, 1.0
    for x, number in pairs(made):
        found = number_of(number)
        if found is None or found <= 0 or not math.isfinite(found):
            continue
        for view in reversed(views):
            attributes = {name: view.get(name) for name in view.attributes}
            x = emit.op(view.kind, [x], shape=shape_of(view.results[0]), **attributes)
        return x, found if made.kind == "multiply" else 1.0 / found
    return value, 1.0


def _attention(op: HloOperation) -> bool:
    for side in (0, 1):
        softmax = peel(op.operands[side]).owner
        if not isinstance(softmax, tt.SoftmaxOp) or not is_floating(element_of(op.results[0])):
            continue
        names = ("lhs", "rhs") if side == 0 else ("rhs", "lhs")
        batch_p, contract_p = op.get(f"{names[0]}_batching"), op.get(f"{names[0]}_contracting")
        batch_v, contract_v = op.get(f"{names[1]}_batching"), op.get(f"{names[1]}_contracting")
        rank = len(shape_of(softmax.result))
        scores = _scores(softmax.operand, softmax.scale.value.data)
        if contract_p != [rank - 1] or scores is None:
            continue
        plan = _arrange(scores, batch_p, batch_v, contract_v, op.operands[1 - side])
        if plan is None or not math.isfinite(scores.scale):
            continue
        if len(plan.rows) > 1 and plan.batch:
            _queries_last(plan, scores)
        _emit(op, side, softmax, scores, plan, batch_p)
        return True
    return False


def _numbers(mask: _Mask) -> np.ndarray | None:
    """What a constant mask adds to the scaled scores."""
    array = known(mask.value)
    if array is None:
        return None
    if mask.hides:
        return np.where(array == mask.where, 0.0, -np.inf)
    return np.asarray(array, np.float64) * mask.factor


@dataclass
class _Plan:
    """
    Axes of queries, keys and values in the order of the operation; `rows` and `batch` are axes of the scores.
    """

    query: SSAValue
    key: SSAValue
    value: SSAValue
    query_order: list[int]
    key_order: list[int]
    value_order: list[int]
    batch: list[int]
    rows: list[int]


def _arrange(
    scores: _Scores, batch_p: list[int], batch_v: list[int], contract_v: list[int], value: SSAValue
) -> _Plan | None:
    product = scores.product
    lb, rb = product.get("lhs_batching"), product.get("rhs_batching")
    lc, rc = product.get("lhs_contracting"), product.get("rhs_contracting")
    lf = free_axes(len(shape_of(product.operands[0])), lb, lc)
    rf = free_axes(len(shape_of(product.operands[1])), rb, rc)
    n = len(lb)
    # axes of the product by place: batch, free of the left, free of the right
    keys = scores.permutation[-1]
    left_is_key = n <= keys < n + len(lf)
    if keys < n or len(lf if left_is_key else rf) != 1 or len(lc) != 1:
        return None
    side = 0 if left_is_key else 1
    key, query = product.operands[side], product.operands[1 - side]
    key_batch, query_batch = (lb, rb) if side == 0 else (rb, lb)
    key_free, query_free = (lf, rf) if side == 0 else (rf, lf)
    key_depth, query_depth = (lc, rc) if side == 0 else (rc, lc)
    first_row = n + (len(lf) if side == 0 else 0)
    place = {axis: i for i, axis in enumerate(scores.permutation)}
    batch = [place[axis] for axis in range(n)]
    rows = [place[first_row + i] for i in range(len(query_free))]
    # rows in the order of the scores, so that a mask over them has one form
    order = sorted(range(len(rows)), key=lambda i: rows[i])
    rows = [rows[i] for i in order]
    query_free = [query_free[i] for i in order]
    if sorted(batch_p) != sorted(batch) or len(contract_v) != 1:
        return None
    value_free = free_axes(len(shape_of(value)), batch_v, contract_v)
    if len(value_free) != 1:
        return None
    value_batch = [batch_v[batch_p.index(axis)] for axis in batch]
    return _Plan(
        query,
        key,
        value,
        [*query_batch, *query_free, *query_depth],
        [*key_batch, *key_free, *key_depth],
        [*value_batch, *contract_v, *value_free],
        batch,
        rows,
    )


def _queries_last(plan: _Plan, scores: _Scores) -> None:
    """
    Of several axes of rows one is that of the queries: the one over which the mask differs; the others are
    heads.
    """
    arrays = [a for mask in scores.masks if (a := _numbers(mask)) is not None]
    array = np.sum(arrays, axis=0) if arrays else None
    last = plan.rows[0]
    for axis in plan.rows:
        if array is not None and not (array == array.take([0], axis)).all():
            last = axis
    order = sorted(range(len(plan.rows)), key=lambda i: plan.rows[i] == last)
    first = len(plan.batch)
    free = plan.query_order[first:-1]
    plan.rows = [plan.rows[i] for i in order]
    plan.query_order[first:-1] = [free[i] for i in order]


def _emit(
    op: HloOperation, side: int, softmax: tt.SoftmaxOp, scores: _Scores, plan: _Plan, batch_p: list[int]
) -> None:
    emit = Emitter(op)
    query, by_query = _scaled(emit, plan.query)
    key, by_key = _scaled(emit, plan.key)
    scale = scores.scale * by_query * by_key
    key, value = source_of(key), source_of(plan.value)
    q = emit.op("transpose", [source_of(query)], permutation=plan.query_order)
    shared_heads = unrepeated(emit, key, value, plan.key_order, plan.value_order) if plan.batch else None
    if shared_heads is not None:
        k, v = shared_heads
    else:
        k = emit.op("transpose", [key], permutation=plan.key_order)
        v = emit.op("transpose", [value], permutation=plan.value_order)
    shape = shape_of(softmax.result)
    extents = [shape[axis] for axis in plan.batch]
    rows = [shape[axis] for axis in plan.rows]
    tk = shape[-1]
    # the heads that share keys and values, if the operation knows such
    shared = len(rows) > 1 and len(extents) > 0
    lead = [*extents[:-1], extents[-1] * prod(rows[:-1])] if shared else extents
    inner = rows[-1] if shared else prod(rows)
    q = emit.op("reshape", [q], shape=[*lead, inner, shape_of(q)[-1]])
    types = {str(element_of(x)) for x in (q, k, v)}
    if len(types) > 1:
        q, k, v = (emit.op("convert", [x], element=f32) for x in (q, k, v))
    arguments: dict[str, Any] = {}
    mask: SSAValue | None = None
    empty = str(softmax.empty_rows.data.value)
    if scores.masks:
        mask, flag = _mask(emit, scores.masks, plan, shape, shared)
        arguments |= flag
        hidden = next((one.empty for one in scores.masks if one.hides), "nan")
        empty = (
            hidden if hidden != "nan" else empty
        )  # of scores that are all -inf the softmax says what they give
    if tt.is_float8(element_of(q)):
        arguments["accumulate"] = f32
    composite = tt.AttentionOp(
        q,
        k,
        v,
        mask,
        scale=scale,
        empty_rows=empty,
        element_type=element_of(op.results[0]),
        **arguments,
        saturate=not tt.is_float8(element_of(op.results[0])),
    )
    value = emit.add(composite)
    width = shape_of(value)[-1]
    value = emit.op("reshape", [value], shape=[*extents, *rows, width])
    # axes of the product with the values: batch as it lists them, the free ones of the left, of the right
    places = {axis: i for i, axis in enumerate((*plan.batch, *plan.rows))}
    free = [axis for axis in range(len(shape) - 1) if axis not in batch_p]
    wide = len(places)
    rest = [*(places[axis] for axis in free), wide] if side == 0 else [wide, *(places[axis] for axis in free)]
    value = emit.op("transpose", [value], permutation=[*(places[axis] for axis in batch_p), *rest])
    remark("fusion", f"raised to attention over {tk} keys", op)
    emit.replace(value)


def _mask(
    emit: Emitter, masks: Sequence[_Mask], plan: _Plan, shape: Sequence[int], shared: bool
) -> tuple[SSAValue | None, dict[str, Any]]:
    """The mask over [batch.., rows, keys] as it is added to the scores, and the clauses that say where."""
    order = [*plan.batch, *plan.rows, len(shape) - 1]
    arrays = [_numbers(mask) for mask in masks]
    if all(array is not None for array in arrays):
        numbers = np.transpose(sum(np.asarray(array) for array in arrays), order)
        if (flags := _causal(numbers)) is not None:
            return None, flags
        return emit.op("constant", value=_compact(numbers, plan, shared)), _after(True)
    value = None
    for mask in masks:
        if not mask.hides:
            term = mask.value
            if mask.factor != 1.0:
                term = emit.op("multiply", [term, emit.splat(mask.factor, element_of(term), shape_of(term))])
            if len(masks) > 1:
                term = emit.op("convert", [term], element=f32)
            value = term if value is None else emit.op("add", [value, term])
    for mask in masks:
        if mask.hides:
            hidden = emit.splat(-math.inf, f32, shape)
            seen = emit.splat(0.0, f32, shape) if value is None else value
            value = emit.op("select", [mask.value, *((seen, hidden) if mask.where else (hidden, seen))])
    assert value is not None
    value = _transposed(emit, value, order)
    extents = [shape[axis] for axis in order]
    n = len(plan.batch)
    if len(plan.rows) != 1:
        rows = extents[n:-1]
        merged = (
            [*extents[: n - 1], extents[n - 1] * prod(rows[:-1]), rows[-1], extents[-1]]
            if shared
            else [*extents[:n], prod(rows), extents[-1]]
        )
        value = emit.op("reshape", [value], shape=merged)
    return _unspread(emit, value), _after(True)


def _transposed(emit: Emitter, value: SSAValue, order: list[int]) -> SSAValue:
    """A mask in another order of axes; where it is broadcast it stays so."""
    made = owner(value, "broadcast_in_dim")
    if made is None:
        return emit.op("transpose", [value], permutation=order)
    shape, dimensions = shape_of(value), [order.index(axis) for axis in made.get("dimensions")]
    extents = [shape[axis] for axis in order]
    return emit.op("broadcast_in_dim", [made.operands[0]], shape=extents, dimensions=dimensions)


def _unspread(emit: Emitter, value: SSAValue) -> SSAValue:
    """A mask without the repetition along axes that it is broadcast over, keys apart."""
    made = owner(value, "broadcast_in_dim")
    if made is None:
        return value
    source, dimensions = made.operands[0], made.get("dimensions")
    shape = list(shape_of(value))
    extents = [1] * len(shape)
    for i, axis in enumerate(dimensions):
        extents[axis] = shape_of(source)[i]
    extents[-1] = shape[-1]
    if dimensions != sorted(dimensions):
        return value
    return emit.op("broadcast_in_dim", [source], shape=extents, dimensions=dimensions)


def _after(masked: bool) -> dict[str, Any]:
    return {"mask_place": "after_scale"} if masked else {}


def _causal(numbers: np.ndarray) -> dict[str, Any] | None:
    """
    The flags of a mask that hides all keys behind the query, and those a window or more before it; of numbers
    at most `HIDDEN`.
    """
    numbers = np.where(numbers <= HIDDEN, -np.inf, numbers)
    *_, tq, tk = numbers.shape
    flat = numbers.reshape(-1, tq, tk)
    one = flat[0]
    if not (flat == flat[:1]).all() or tk < 2 or not (one == 0).any(-1).all() or not (one != 0).any():
        return None
    offset = int(np.flatnonzero(one[0] == 0)[-1])
    away = np.arange(tq)[:, None] + offset - np.arange(tk)
    widest = int(away[(one == 0)].max()) + 1
    for window in (None, widest):
        seen = (away >= 0) & (True if window is None else away < window)
        if np.array_equal(one, np.where(seen, 0.0, -np.inf)):
            return {"causal": True, "query_offset": offset, "window": window}
    return None


def _causal_flags(op: tt.AttentionOp) -> bool:
    """A constant mask of a whole attention that is causal, or a window, becomes its flag."""
    array, scale = None if op.mask is None else known(op.mask), op.scale.value.data
    if array is None or op.causal is not None or op.window is not None or scale <= 0:
        return False
    if array.ndim < 2 or array.shape[-2] != shape_of(op.query)[-2]:
        return False
    if array.dtype == np.bool_:
        numbers = np.where(array, 0.0, -np.inf)
    else:
        before = op.mask_place.data is tt.MaskPlace.BEFORE_SCALE
        numbers = np.asarray(array, np.float64) * (scale if before else 1.0)
    flags = _causal(numbers)
    if flags is None:
        return False
    made = tt.AttentionOp(
        op.query,
        op.key,
        op.value,
        scale=scale,
        accumulate=op.accumulate,
        empty_rows=str(op.empty_rows.data),
        element_type=element_of(op.result),
        saturate=bool(op.saturate.value.data),
        **flags,
    )
    emit = Emitter(op)
    value = emit.add(made)
    remark("conversion", "a constant mask is a flag of the attention", op)
    emit.replace(value)
    return True


def _compact(numbers: np.ndarray, plan: _Plan, shared: bool) -> Any:
    """A constant mask with axes of 1 where it is the same throughout."""
    n = len(plan.batch)
    batch, rows, tk = numbers.shape[:n], numbers.shape[n:-1], numbers.shape[-1]
    if len(rows) > 1:
        shape = (
            (*batch[:-1], batch[-1] * prod(rows[:-1]), rows[-1], tk) if shared else (*batch, prod(rows), tk)
        )
        numbers = numbers.reshape(shape)
    for axis in range(numbers.ndim - 1):
        first = numbers.take([0], axis)
        if np.array_equal(np.broadcast_to(first, numbers.shape), numbers, equal_nan=True):
            numbers = first
    return dense_of(np.clip(numbers, -np.inf, 3.0e38).astype(np.float32))
