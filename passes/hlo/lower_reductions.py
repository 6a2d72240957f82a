# SPDX-License-Identifier: Apache-2.0
"""Lowering of operations along axes: reductions, running sums, orders, windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import i1, i32
from xdsl.ir import SSAValue

from tilewright.dialects import tile_tensor as tt
from tilewright.passes.hlo.one_operation import NoLowering, OneOperation, Rule

_WINDOW_AXES = 2
"""Axes that one operation moves windows over."""


def _reduce(lower: OneOperation) -> SSAValue:
    kind, axes = lower.op.get("kind"), sorted(lower.op.get("dimensions"))
    words = {"product": "prod", "and": "all", "or": "any"}
    if lower.element == i1:
        words |= {"sum": "any", "max": "any", "product": "all", "min": "all"}
    name = str(words.get(kind, kind))
    if name in ("any", "all") and lower.element != i1:
        name = ""
    if not name:
        raise NoLowering(f"there is no reduction `{kind}` of {lower.element}")
    return lower.add(tt.ReduceOp(lower.op.operands[0], name, axes, **lower.saturation))


def _arg_reduce(lower: OneOperation) -> SSAValue:
    made = tt.ArgmaxOp if lower.op.get("kind") == "max" else tt.ArgminOp
    value = lower.add(made(lower.op.operands[0], axis=lower.op.get("dimension")))
    return value if lower.element == i32 else lower.add(tt.CastOp(value, lower.element))


def _cumulative(lower: OneOperation) -> SSAValue:
    if lower.op.get("kind") != "sum":
        raise NoLowering(f"there is no running {lower.op.get('kind')}")
    x, axis = lower.op.operands[0], lower.op.get("dimension")
    backwards = np.arange(lower.shape[axis])[::-1].astype(np.int32)
    flip = lower.op.get("reverse", False)
    if flip:
        x = lower.add(tt.GatherOp(x, lower.constant(backwards, i32), axis))
    x = lower.add(tt.CumsumOp(x, axis=axis, **lower.saturation))
    return lower.add(tt.GatherOp(x, lower.constant(backwards, i32), axis)) if flip else x


def _sort(lower: OneOperation) -> SSAValue:
    made = tt.ArgsortOp if lower.op.get("places", False) else tt.SortOp
    return lower.add(
        made(lower.op.operands[0], axis=lower.op.get("dimension"), descending=lower.op.get("descending"))
    )


def _top_k(lower: OneOperation) -> SSAValue:
    made = tt.TopKIndicesOp if lower.op.get("places", False) else tt.TopKOp
    return lower.add(made(lower.op.operands[0], lower.op.get("count")))


def _reduce_window(lower: OneOperation) -> SSAValue:
    kind, padding = lower.op.get("kind"), lower.op.get("padding")
    if kind not in ("sum", "max", "min") or min(padding, default=0) < 0:
        raise NoLowering(f"there is no kernel for a window's {kind}")
    window, strides, dilation = (lower.op.get(n) for n in ("window", "strides", "dilation"))
    low, high = padding[0::2], padding[1::2]
    moving = [i for i, extent in enumerate(window) if (extent, strides[i], low[i], high[i]) != (1, 1, 0, 0)]
    value = lower.op.operands[0]
    for first in range(0, max(len(moving), 1), _WINDOW_AXES):  # the kernel has two axes: the others follow
        now = moving[first : first + _WINDOW_AXES]

        def of(entries: Sequence[int], plain: int, axes: Sequence[int] = now) -> list[int]:
            return [n if i in axes else plain for i, n in enumerate(entries)]

        value = lower.add(
            tt.ReduceWindowOp(
                value,
                kind,
                of(window, 1),
                strides=of(strides, 1),
                low=of(low, 0),
                high=of(high, 0),
                dilation=of(dilation, 1),
                **lower.saturation,
            )
        )
    return value


RULES: Mapping[str, Rule] = {
    "reduce": _reduce,
    "arg_reduce": _arg_reduce,
    "cumulative": _cumulative,
    "sort": _sort,
    "top_k": _top_k,
    "reduce_window": _reduce_window,
}
