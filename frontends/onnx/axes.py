# SPDX-License-Identifier: Apache-2.0
"""ONNX's operators along axes: reductions, running sums, orders, pools."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from tilewright.frontends.onnx.emit import axis_of, element_of, shape_of
from tilewright.frontends.onnx.node import Node, Rule, Unsupported


def _axes(node: Node) -> list[int] | None:
    """The axes of a reduction; None where it does nothing."""
    rank = len(node.shape(0))
    found = node.ints(1, "axes")
    if not found:
        return None if node.get("noop_with_empty_axes", 0) else list(range(rank))
    return [axis_of(axis, rank) for axis in found]


def _reduce(node: Node) -> SSAValue:
    x, axes, keep = node.value(0), _axes(node), bool(node.get("keepdims", 1))
    chosen = axes if axes is not None else []
    if not prod(shape_of(x)):
        raise Unsupported("it reduces nothing")
    match node.kind.removeprefix("Reduce"):
        case "Sum":
            return node.reduce(x, "sum", chosen, keep)
        case "Mean":
            return node.mean(x, chosen, keep)
        case "Max":
            return node.reduce(x, "max", chosen, keep)
        case "Min":
            return node.reduce(x, "min", chosen, keep)
        case "Prod":
            return node.reduce(x, "product", chosen, keep)
        case "L1":
            return node.reduce(node.op("abs", x), "sum", chosen, keep)
        case "L2":
            total = node.reduce(node.op("multiply", x, x), "sum", chosen, keep)
            if node.floating(total):
                return node.op("sqrt", total)
            return node.convert(node.op("sqrt", node.convert(total, f32)), element_of(total))
        case "SumSquare":
            return node.reduce(node.op("multiply", x, x), "sum", chosen, keep)
        case "LogSum":
            return node.op("log", node.reduce(x, "sum", chosen, keep))
        case _:  # LogSumExp
            most = node.reduce(x, "max", chosen)
            held = node.op(  # infinities are not subtracted from themselves
                "select", node.op("is_finite", most), most, node.number(0, most)
            )
            shifted = node.op("exponential", node.binary("subtract", x, held))
            total = node.op("log", node.reduce(shifted, "sum", chosen))
            whole = node.op("add", total, held)
            return (
                whole
                if keep
                else node.reshape(whole, [n for i, n in enumerate(shape_of(x)) if i not in chosen])
            )


def _arg(node: Node) -> SSAValue:
    x = node.value(0)
    shape = shape_of(x)
    axis = axis_of(node.get("axis", 0), len(shape))
    last = node.get("select_last_index", 0)
    if last:
        x = node.op("reverse", x, dimensions=[axis])
    kind = "max" if node.kind == "ArgMax" else "min"
    found = node.op("arg_reduce", x, element=i64, kind=kind, dimension=axis)
    if last:
        found = node.op("subtract", node.number(shape[axis] - 1, found), found)
    keep = node.get("keepdims", 1)
    return node.reshape(found, [1 if i == axis else n for i, n in enumerate(shape)]) if keep else found


def _cumsum(node: Node) -> SSAValue:
    x = node.value(0)
    given = node.ints(1, "axis") or [0]
    axis = axis_of(given[0], len(shape_of(x)))
    backwards = bool(node.get("reverse", 0))
    total = node.op("cumulative", x, kind="sum", dimension=axis, reverse=backwards or None)
    return node.op("subtract", total, x) if node.get("exclusive", 0) else total


def _top_k(node: Node) -> list[SSAValue]:
    x = node.value(0)
    rank = len(shape_of(x))
    axis = axis_of(node.get("axis", -1), rank)
    count = node.ints(1, "count")
    assert count is not None
    order = [*(i for i in range(rank) if i != axis), axis]
    back = [order.index(i) for i in range(rank)]
    moved = node.transpose(x, order)
    least = not node.get("largest", 1)
    if least:
        if not node.floating(x):
            raise Unsupported("it takes the least of integers")
        moved = node.op("negate", moved)
    values = node.op("top_k", moved, element=element_of(x), count=count[0])
    places = node.op("top_k", moved, element=i64, count=count[0], places=True)
    if least:
        values = node.op("negate", values)
    return [node.transpose(values, back), node.transpose(places, back)]


# -------------------------------------------------------------------------------------------------- pools


def padding_of(
    node: Node, shape: tuple[int, ...], window: list[int]
) -> tuple[list[int], list[int], list[int]]:
    """Strides, dilations and padding (low, high by axis) of windows over the axes `shape`."""
    n = len(shape)
    strides = [int(v) for v in node.get("strides", [1] * n)]
    dilation = [int(v) for v in node.get("dilations", [1] * n)]
    auto, pads = node.get("auto_pad", "NOTSET"), [int(v) for v in node.get("pads", [0] * 2 * n)]
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        padding: list[int] = []
        for i in range(n):
            reach = (window[i] - 1) * dilation[i] + 1
            total = max((-(-shape[i] // strides[i]) - 1) * strides[i] + reach - shape[i], 0)
            small, large = total // 2, total - total // 2
            padding += [small, large] if auto == "SAME_UPPER" else [large, small]
        return strides, dilation, padding
    if auto == "VALID":
        pads = [0] * 2 * n
    return strides, dilation, [v for i in range(n) for v in (pads[i], pads[i + n])]


def _pool(node: Node) -> Any:
    x = node.value(0)
    shape = shape_of(x)
    window = [int(v) for v in node.get("kernel_shape")]
    strides, dilation, padding = padding_of(node, shape[2:], window)
    if node.kind == "MaxPool" and node.wanted(1):
        raise Unsupported("its second output, the places of the maxima, is read")
    extra = [0] * len(window)
    if node.get("ceil_mode", 0):
        for i, n in enumerate(shape[2:]):
            low, high = padding[2 * i : 2 * i + 2]
            reach = (window[i] - 1) * dilation[i] + 1
            count = -(-(n + low + high - reach) // strides[i]) + 1
            if (count - 1) * strides[i] >= n + low:  # a window that begins behind the operand is left out
                count -= 1
            extra[i] = max((count - 1) * strides[i] + reach - (n + low + high), 0)
    attributes: dict[str, Any] = {
        "window": [1, 1, *window],
        "strides": [1, 1, *strides],
        "dilation": [1, 1, *dilation],
        "padding": [0, 0, 0, 0, *(p + (extra[i // 2] if i % 2 else 0) for i, p in enumerate(padding))],
    }
    if node.kind == "MaxPool":
        return node.op("reduce_window", x, kind="max", **attributes)
    total = node.op("reduce_window", x, kind="sum", **attributes)
    if node.get("count_include_pad", 0) and not any(extra):
        return node.with_number("divide", total, prod(window))
    counts = np.ones((1, 1), np.float64)
    for i, n in enumerate(shape[2:]):  # how many places of each window lie inside, axis by axis
        low, high = padding[2 * i : 2 * i + 2]
        inside = (-low, n + high) if node.get("count_include_pad", 0) else (0, n)
        starts = np.arange(shape_of(total)[2 + i]) * strides[i] - low
        places = starts[:, None] + np.arange(window[i]) * dilation[i]
        counts = np.multiply.outer(counts, ((places >= inside[0]) & (places < inside[1])).sum(1))
    if (counts == counts.reshape(-1)[0]).all():
        return node.with_number("divide", total, counts.reshape(-1)[0])
    return node.binary("divide", total, node.build.constant(counts, element_of(x)))


def _global_pool(node: Node) -> SSAValue:
    x = node.value(0)
    axes = list(range(2, len(shape_of(x))))
    return node.mean(x, axes) if node.kind == "GlobalAveragePool" else node.reduce(x, "max", axes)


_REDUCTIONS = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp")

RULES: Mapping[str, Rule] = {
    **{f"Reduce{kind}": _reduce for kind in _REDUCTIONS},
    **dict.fromkeys(("ArgMax", "ArgMin"), _arg),
    **dict.fromkeys(("AveragePool", "MaxPool"), _pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool"), _global_pool),
    "CumSum": _cumsum,
    "TopK": _top_k,
}
