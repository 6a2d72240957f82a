# SPDX-License-Identifier: Apache-2.0
"""Operations of StableHLO whose bodies say what they compute: reductions, windows, orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import Block, SSAValue

from tilewright.dialects.hlo.operations import HloOperation
from tilewright.dialects.hlo.values import dtype_of, evaluate, is_floating, lowest
from tilewright.passes.hlo.rewriting import Emitter, element_of, owner, shape_of, splat_of
from tilewright.passes.hlo.stablehlo_source import Handler, Source, Unsupported, finish

_KINDS = {"add": "sum", "multiply": "product", "maximum": "max", "minimum": "min", "and": "and", "or": "or"}


def _simple_body(block: Block) -> str | None:
    """The name of the one operation of both arguments that a reducer is."""
    ops = list(block.ops)
    if len(ops) != 2 or len(block.args) != 2:
        return None
    op, end = ops
    if (
        not isinstance(op, HloOperation)
        or set(op.operands) != set(block.args)
        or list(end.operands) != [op.results[0]]
    ):
        return None
    return _KINDS.get(op.kind)


def _reduce(source: Source, emit: Emitter) -> None:
    op = source.op
    axes = source.ints("dimensions")
    block = op.regions[0].block
    count = len(op.operands) // 2
    if count == 2:
        finish(op, _arg_reduce(source, emit, block, axes))
        return
    kind = _simple_body(block)
    if count != 1 or kind is None:
        raise Unsupported("its body is none of add, multiply, maximum, minimum, and, or")
    operand, initial = op.operands
    value = emit.op("reduce", [operand], kind=kind, dimensions=axes)
    finish(op, [_with_initial(emit, value, initial, kind)])


def _with_initial(emit: Emitter, value: SSAValue, initial: SSAValue, kind: str) -> SSAValue:
    """The initial value is left out where it is neutral."""
    number, element = splat_of(initial), element_of(value)
    neutral = lowest(element, kind)
    if number is not None and (number == neutral or (kind == "sum" and number == 0)):
        return value
    if len(shape_of(value)):
        initial = emit.op("broadcast_in_dim", [initial], shape=shape_of(value), dimensions=[])
    name = {target: name for name, target in _KINDS.items()}[kind]
    return emit.op(name, [value, initial])


def _arg_reduce(source: Source, emit: Emitter, block: Block, axes: list[int]) -> list[SSAValue]:
    """A reduction of values beside their positions: argmax or argmin, if that is what its body computes."""
    x, places = source.op.operands[:2]
    made = owner(places, "iota")
    if made is None and (cast_ := owner(places, "broadcast_in_dim")) is not None:
        made = owner(cast_.operands[0], "iota")
        if made is not None and cast_.get("dimensions")[made.get("dimension")] not in axes:
            made = None
    elif made is not None and made.get("dimension") not in axes:
        made = None
    if made is None or len(axes) != 1:
        raise Unsupported("it reduces pairs, and the second of them is no position along one axis")
    for kind in ("max", "min"):
        if _chooses(block, kind):
            value = emit.op("reduce", [x], kind=kind, dimensions=axes)
            place = emit.op("arg_reduce", [x], element=element_of(places), kind=kind, dimension=axes[0])
            return [value, place]
    raise Unsupported("its body is none of argmax and argmin")


def _chooses(block: Block, kind: str) -> bool:
    """
    Whether a reducer of (a, place of a, b, place of b) keeps the larger (or smaller) value, the first place
    among equals, and NaN before all: by its values on all pairs of samples, the places in both orders.
    """
    element = element_of(block.args[0])
    numbers_ = [-2.0, -1.0, 0.0, 1.0, 3.0] + ([np.nan, np.inf, -np.inf] if is_floating(element) else [])
    if len(block.args) != 4:
        return False
    value_type, place_type = (
        dtype_of(element),
        dtype_of(element_of(block.args[1])),
    )
    a, b, order = (v.ravel() for v in np.meshgrid(numbers_, numbers_, [0, 1]))
    for left, right, swapped in zip(a, b, order, strict=True):
        i, j = (1, 0) if swapped else (0, 1)
        arguments = [
            np.asarray(v, t)
            for v, t in ((left, value_type), (i, place_type), (right, value_type), (j, place_type))
        ]
        try:
            value, place = _run_reducer(block, arguments)
        except (KeyError, TypeError, ValueError):
            return False
        if swapped and np.isnan([left, right]).any():
            continue  # the left one always comes first
        better = left > right if kind == "max" else left < right
        worse = right > left if kind == "max" else right < left
        if np.isnan(left) or np.isnan(right):
            first = np.isnan(left) and (not np.isnan(right) or i < j)
        else:
            first = better or (not worse and i < j)
        expected = left if first else right
        if int(place) != (i if first else j) or not (
            value == expected or (np.isnan(value) and np.isnan(expected))
        ):
            return False
    return True


def _run_reducer(block: Block, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    values: dict[SSAValue, np.ndarray] = dict(zip(block.args, arguments, strict=True))
    for op in block.ops:
        if isinstance(op, HloOperation) and op.kind != "return":
            values[op.results[0]] = evaluate(op, [values[v] for v in op.operands])
        else:
            return [values[v] for v in op.operands]
    raise ValueError("no return")


def _reduce_window(source: Source, emit: Emitter) -> None:
    op = source.op
    kind = _simple_body(op.regions[0].block)
    if len(op.operands) != 2 or kind is None:
        raise Unsupported("its body is none of add, multiply, maximum, minimum")
    operand, initial = op.operands
    shape = shape_of(operand)
    n = len(shape)
    window = source.ints("window_dimensions")
    strides = source.ints("window_strides", default=[1] * n)
    dilation = source.ints("window_dilations", default=[1] * n)
    padding = source.ints("padding", default=[0] * 2 * n)
    if any(d != 1 for d in source.ints("base_dilations", default=[1] * n)):
        raise Unsupported("its operand is dilated")
    number = splat_of(initial)
    neutral = number is not None and number == lowest(element_of(operand), kind)
    wide = [axis for axis in range(n) if window[axis] != 1]
    plain = all(v == 1 for v in (*strides, *dilation))
    if neutral and plain and len(wide) == 1 and window[wide[0]] == shape[wide[0]]:
        axis, others = wide[0], [padding[2 * i + j] for i in range(n) for j in (0, 1) if i != wide[0]]
        reach, ends = shape[axis] - 1, (padding[2 * axis], padding[2 * axis + 1])
        if not any(others) and ends in ((reach, 0), (0, reach)) and kind in ("sum", "product", "max", "min"):
            value = emit.op(
                "cumulative",
                [operand],
                kind=kind,
                dimension=axis,
                reverse=True if ends[0] == 0 and reach else None,
            )
            finish(op, [value])
            return
    if not neutral:
        raise Unsupported("its initial value is not the neutral one")
    value = emit.op(
        "reduce_window",
        [operand],
        kind=kind,
        window=window,
        strides=strides,
        dilation=dilation,
        padding=padding,
    )
    finish(op, [value])


def _top_k(source: Source, emit: Emitter) -> None:
    op = source.op
    count = source.integer("k")
    x = op.operands[0]
    values = emit.op("top_k", [x], element=element_of(x), count=count)
    places = emit.op("top_k", [x], element=element_of(op.results[1]), count=count, places=True)
    finish(op, [values, places])


def _sort(source: Source, emit: Emitter) -> None:
    """One operand in order, or beside it the positions along the axis."""
    op = source.op
    axis = source.integer("dimension")
    rank = len(shape_of(op.operands[0]))
    axis = axis + rank if axis < 0 else axis
    if len(op.operands) > 2 or (len(op.operands) == 2 and _position(op.operands[1]) != axis):
        raise Unsupported("it sorts several values together, and the second of them is no position")
    for descending in (False, True):
        if _orders(op.regions[0].block, descending):
            x = op.operands[0]
            arguments = {"dimension": axis, "descending": descending}
            made = [emit.op("sort", [x], element=element_of(x), **arguments)]
            if len(op.operands) == 2:
                made.append(
                    emit.op("sort", [x], element=element_of(op.operands[1]), places=True, **arguments)
                )
            finish(op, made)
            return
    raise Unsupported("its comparator is no plain order")


def _position(value: SSAValue) -> int | None:
    """The axis along which a value counts."""
    made = owner(value, "iota")
    if made is not None:
        return made.get("dimension")
    made = owner(value, "broadcast_in_dim")
    inner = None if made is None else owner(made.operands[0], "iota")
    return None if made is None or inner is None else made.get("dimensions")[inner.get("dimension")]


def _orders(block: Block, descending: bool) -> bool:
    """Whether a comparator says `a < b` (or `a > b`) with NaN above everything, by its values on samples."""
    element = element_of(block.args[0])
    numbers_ = [-2.0, -1.0, 0.0, 1.0, 3.0] + ([np.nan, np.inf, -np.inf] if is_floating(element) else [])
    kinds = [dtype_of(element_of(a)) for a in block.args]
    for a in numbers_:
        for b in numbers_:
            arguments = [np.asarray(v, t) for v, t in zip((a, b, 0, 1), kinds, strict=False)]
            try:
                (found,) = _run_reducer(block, arguments)
            except (KeyError, TypeError, ValueError):
                return False
            left, right = (b, a) if descending else (a, b)
            wanted = left < right or (np.isnan(right) and not np.isnan(left))
            if bool(found) != wanted:
                return False
    return True


HANDLERS: Mapping[str, Handler] = {
    "reduce": _reduce,
    "reduce_window": _reduce_window,
    "top_k": _top_k,
    "sort": _sort,
}
