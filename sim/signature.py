# SPDX-License-Identifier: Apache-2.0
"""
What a call must state for its kernel: operands, axes, element types, scalars. Depends on the supervisor words
alone, so it is looked at once for each call.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from tilewright.machine.dtypes import FP8, is_float, itemsize
from tilewright.machine.kernels import Kernel
from tilewright.machine.numerics.operations import EMPTY_ROWS
from tilewright.machine.numerics.pointwise import FUNCTIONS, Pointwise
from tilewright.sim.supervisor import DecodedCall

_INT32 = 2**31 - 1
INTEGERS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "saturate": (0, 1),
        "scale": (-4096, 4096),
        "reduced": (1, 255),
        "value": (-(2**31), 2**32 - 1),
        "weights_standard": (0, 1),
        "run_bytes": (0, _INT32),
        "count": (1, _INT32),
        "split": (0, 1),
        "truncate": (0, 1),
        "rows": (1, _INT32),
        "empty_rows": (0, len(EMPTY_ROWS) - 1),
        "runs": (0, _INT32),
        "descending": (0, 1),
        **{f"rows{number}": (1, _INT32) for number in (2, 3, 4)},
        "apart": (0, 1),
        "offset": (-(2**30), 2**30),
        "before": (0, 2**30),
        "after": (0, 2**30),
        **{f"{name}_{axis}": (1, _INT32) for name in ("size", "stride", "dilation") for axis in "yx"},
        "group": (1, _INT32),
        "vector": (0, 1),
    }
)
"""Least and largest value of scalars that are integers."""
_FACTORS = (
    "softmax",
    "softmax.exp",
    "softmax.part",
    "softmax.raise",
    "softmax.merge",
    "softmax.merge_columns",
    "band.exp",
    "band.part",
    "band.raise",
    "scaled_add",
    "mask_scores",
)
"""Kernels whose `scale` is a factor and no power of two."""
_BANDS = ("max", "min", "exp", "part", "raise")
_REQUIRED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "fill": ("value",),
        "norm.merge": ("count",),
        "scaled_add": ("scale",),
        "mask_scores": ("scale",),
        "update_window": ("rows",),
        **{
            f"update_window{count}": ("rows", *(f"rows{n}" for n in range(2, count + 1)))
            for count in (2, 3, 4)
        },
        **{f"band.{name}": ("rows", "offset", "before", "after") for name in _BANDS},
        "cast.panels": ("group",),
        **dict.fromkeys(("layer_norm", "rms_norm", "norm.apply", "norm.mix"), ("epsilon",)),
    }
)
_MATRIX: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "gemm.f8": FP8,
        "gemm.f16.f16": ("f16",),
        "gemm.f16.f32": ("f16",),
        "gemm.f32": ("f32",),
        "gemm.bf16": ("bf16",),
        "gemm.i8": ("i8",),
    }
)
_FLOATS = (
    "layer_norm",
    "rms_norm",
    "norm.statistics",
    "norm.merge",
    "norm.apply",
    "norm.mix",
    "bias_gelu",
    *(name for name in _FACTORS if not name.startswith(("band.", "mask_"))),
    "window.products",
    "reduce_partials.onto",
    "reduce_partials.wide_onto",
)
_BAND = tuple(f"band.{name}" for name in _BANDS)
"""Kernels on floats whose last two operands are numbers of queries and keys."""


def call_problem(call: DecodedCall, entry: Kernel) -> tuple[str, str] | None:
    """What is wrong with a call of `entry`, as (rule, sentence), or None."""
    if (len(call.ins), len(call.outs)) != (len(entry.ins), len(entry.outs)):
        return (
            "call of no kernel",
            f"{entry.name} takes {len(entry.ins)} inputs and {len(entry.outs)} outputs, "
            f"the call has {len(call.ins)} and {len(call.outs)}",
        )
    rank = len(entry.axes)
    if call.extent_axes < rank - 1 if "..." in entry.axes else call.extent_axes != rank:
        return "call of no kernel", f"{entry.name} has axes {', '.join(entry.axes)}, not {call.extent_axes}"
    text = _scalar_problem(call, entry)
    if text:
        return "bad scalars", text
    text = _type_problem(entry, [o.dtype for o in call.ins], [o.dtype for o in call.outs])
    return ("bad element types", text) if text else None


def _scalar_problem(call: DecodedCall, entry: Kernel) -> str | None:
    given = dict(call.scalars)
    for name in _REQUIRED.get(entry.name, ()):
        if name not in given:
            return f"{entry.name} needs the scalar '{name}'"
    for name, value in given.items():
        if name not in entry.scalars:
            return f"{entry.name} takes no scalar '{name}'"
        if name == "epsilon" or (name == "scale" and entry.name in _FACTORS):
            if not math.isfinite(value):
                return f"'{name}' of {entry.name} is {value}"
            if name == "epsilon" and value < 0:
                return f"'epsilon' of {entry.name} is negative: {value}"
        elif name in INTEGERS:
            low, high = INTEGERS[name]
            if name == "reduced":
                high = call.extent_axes
            if not isinstance(value, int) or not low <= value <= high:
                return f"'{name}' of {entry.name} is {value}, not an integer from {low} to {high}"
        elif not math.isfinite(value):
            return f"'{name}' of {entry.name} is {value}"
    return None


def _type_problem(entry: Kernel, ins: list[str], outs: list[str]) -> str | None:
    name = entry.name
    function = name.removeprefix("pointwise.")
    if name in _MATRIX:
        wrong = [dtype for dtype in ins if dtype not in _MATRIX[name]]
    elif name in _FLOATS:
        wrong = [dtype for dtype in (*ins, *outs) if not is_float(dtype)]
    elif function in FUNCTIONS and function != name:
        wrong = _pointwise_problem(FUNCTIONS[function], ins, outs[0])
    elif name == "mask_scores":
        wrong = [dtype for dtype in (ins[0], *outs) if not is_float(dtype)]
        wrong += [dtype for dtype in ins[1:] if dtype != "i1"]
    elif name in _BAND:
        wrong = [dtype for dtype in (*ins[:-2], *outs) if not is_float(dtype)]
        wrong += [dtype for dtype in ins[-2:] if dtype != "i32"]
    elif name == "copy":
        wrong = [dtype for dtype in outs if dtype != ins[0]]
    elif name in ("widen", "fill"):
        wrong = [dtype for dtype in outs if dtype != "u32" and (name == "widen" or itemsize(dtype) != 4)]
    elif name == "narrow":
        wrong = [dtype for dtype in ins if itemsize(dtype) != 4]
    elif name in ("argmax", "argmin", "argsort"):
        wrong = [dtype for dtype in outs if dtype != "i32"] + [dtype for dtype in ins if dtype == "i1"]
    elif name == "sort":
        wrong = [dtype for dtype in outs if dtype != ins[0]] + [dtype for dtype in ins if dtype == "i1"]
    elif name in ("cumsum", "scatter_add"):
        wrong = [dtype for dtype in ins[:1] if dtype == "i1"]
        wrong += [dtype for dtype in outs if is_float(dtype) != is_float(ins[0])]
        if name == "scatter_add":
            wrong += [dtype for dtype in ins[1::2] if dtype != "i32"]
            wrong += [dtype for dtype in ins[2:3] if dtype != ins[0]]
    elif name.startswith(("update_window", "read_window")):
        moved = 1 if name == "read_window" else 2
        wrong = [dtype for dtype in (*ins[:moved], *outs) if dtype != ins[0]]
        wrong += [dtype for dtype in ins[moved:] if dtype != "i32"]
    elif name == "gather_rows":
        wrong = [dtype for dtype in ins[1:] if dtype not in ("i32", "u32")]
        wrong += [dtype for dtype in outs if dtype != ins[0]]
    else:
        wrong = []
    return f"{name} does not work on {wrong[0]}" if wrong else None


def _pointwise_problem(function: Pointwise, ins: list[str], result: str) -> list[str]:
    """The element types that a function of single elements does not take or give."""
    if function.stored is not None:
        return [dtype for dtype in ins[:1] if dtype != "i1"] + [dtype for dtype in ins[1:] if dtype != result]
    kinds = ["booleans" if d == "i1" else "floats" if is_float(d) else "integers" for d in ins]
    wrong = [dtype for dtype, kind in zip(ins, kinds, strict=True) if kind not in function.kinds]
    gives_i1 = function.gives == "i1" or kinds[0] == "booleans"
    return wrong + ([result] if (result == "i1") != gives_i1 else [])
