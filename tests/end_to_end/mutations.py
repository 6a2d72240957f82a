# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - a line a mutation
"""Each rule of docs/spec/tensor.md and numerics.md broken in the model, or in a pass."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tilewright.machine import dtypes
from tilewright.machine.numerics import operations as numerics
from tilewright.machine.numerics import pointwise, rounding
from tilewright.passes import tile_fuse_epilogues
from tilewright.planning.operators import movement, windows
from tilewright.planning.operators.attention import shape as attention
from tilewright.planning.operators.matmul import shape as matmul
from tilewright.sim import kernels


@dataclass(frozen=True)
class Mutation:
    """`change(true function, *its arguments)` in the place of a function: of a module's, or of a table's."""

    owner: Any
    name: str
    change: Callable[..., Any]

    def apply(self, patch: pytest.MonkeyPatch, calls: Counter[str]) -> None:
        """Breaks the rule and counts, under the name of the function, how often what is broken is called."""
        table = isinstance(self.owner, dict)
        true = self.owner[self.name] if table else getattr(self.owner, self.name)

        def broken(*a: Any, **k: Any) -> Any:
            calls[self.name] += 1
            return self.change(true, *a, **k)

        (patch.setitem if table else patch.setattr)(self.owner, self.name, broken)


def with_argument(owner: Any, name: str, keyword: str, value: Any) -> Mutation:
    """A function that is given another value of one argument, which it must have."""
    signature = inspect.signature(getattr(owner, name))
    assert keyword in signature.parameters

    def change(true: Callable[..., Any], *a: Any, **k: Any) -> Any:
        given = signature.bind(*a, **k)
        given.arguments[keyword] = value
        return true(*given.args, **given.kwargs)

    return Mutation(owner, name, change)


def scaled(true: Callable[..., Any], *a: Any) -> Any:
    """A result that is off by 2^-20: less than half a place of f16, eight of f32."""
    return true(*a) * (1 + 2.0**-20)


def f16(x: np.ndarray) -> np.ndarray:
    return np.asarray(x).astype(np.float16).astype(np.float64)


def flushed(true: Callable[..., Any], x: Any, mantissa: int, emin: int) -> Any:
    grid = true(x, mantissa, emin)
    return np.where(np.abs(grid) < 2.0**emin, 0.0, grid)


def ties_away(true: Callable[..., Any], x: Any, mantissa: int, emin: int) -> Any:
    return true(np.asarray(x) * (1 + 2.0**-50), mantissa, emin)


def clipped(true: Callable[..., Any], *a: Any) -> Any:
    return np.clip(true(*a), -(2**31), 2**31 - 1) if a[0].dtype == np.int64 else true(*a)


def unlike(true: Callable[..., Any], x: Any, dtype: str, *a: Any, **k: Any) -> Any:
    """f16 and bf16 that saturate."""
    out = true(x, dtype, *a, **k)
    if dtype not in ("f16", "bf16"):
        return out
    largest = dtypes.float_format(dtype).max_value
    return np.where(np.isinf(out) & np.isfinite(np.asarray(x)), np.copysign(largest, out), out).astype(
        out.dtype
    )


def narrow_kernel(
    true: Callable[..., Any], operator: Any, a: str, b: str, accumulate: str | None, **k: Any
) -> Any:
    return true(operator, a, b, "f16" if a == "f16" and accumulate is None else accumulate, **k)


def any_fusable(true: Callable[..., Any], gelu: Any) -> Any:
    """A sum and its gelu, fused whatever their types are."""
    add = gelu.operand.owner
    if (
        getattr(add, "name", "") != "tile_tensor.add"
        or not add.result.has_one_use()
        or gelu.approximate.data != "tanh"
    ):
        return None
    shape = add.result.type.get_shape()
    for x, bias in ((add.lhs, add.rhs), (add.rhs, add.lhs)):
        if len(shape) > 1 and x.type.get_shape() == shape and bias.type.get_shape() == shape[-1:]:
            return x, bias
    return None


def integer_division(by_zero: int = -1, floor: bool = False, lowest: int | None = None) -> Callable[..., Any]:
    def divide(true: Callable[..., Any], x: Any, y: Any) -> Any:
        out = np.where(y == 0, by_zero, true(x, y))
        if floor:
            out = np.where(y == 0, by_zero, x // np.where(y == 0, 1, y))
        return out

    return divide


def no_shift(true: Callable[..., Any], x: Any, extreme: Any, scale: float) -> Any:
    """The row's maximum is not subtracted."""
    _, masked = true(x, extreme, scale)
    return np.where(masked[..., None], 0.0, np.exp(x * scale)), masked


def other_shift(true: Callable[..., Any], x: Any, scale: float, *a: Any, **k: Any) -> Any:
    """For a negative scale the maximum of x instead of that of scale * x."""
    if scale >= 0:
        return true(x, scale, *a, **k)
    wide = numerics.decode(x)
    p = np.exp(scale * (wide - wide.max(axis=-1, keepdims=True)))
    return numerics.round_to(p / p.sum(axis=-1, keepdims=True).astype(np.float32), *a[:1])


def f16_statistics(true: Callable[..., Any], x: Any) -> Any:
    return tuple(f16(part).astype(np.float32) for part in true(x))


def n_minus_one(true: Callable[..., Any], x: Any) -> Any:
    mean, variance = true(x)
    count = x.shape[-1]
    return mean, (variance * (count / max(count - 1, 1))).astype(np.float32)


def f16_total(true: Callable[..., Any], kind: str, x: Any, dtype: str, *a: Any, **k: Any) -> Any:
    """Sums through f16."""
    if kind != "sum" or x.dtype.kind == "i":
        return true(kind, x, dtype, *a, **k)
    return numerics.round_to(f16(true(kind, x, "f32", *a[:1])), dtype, True)


def off_by_one(
    true: Callable[..., Any], kind: str, x: Any, dtype: str, count: Any = None, *a: Any, **k: Any
) -> Any:
    return true(kind, x, dtype, None if count is None else max(count - 1, 1), *a, **k)


def without_nan(true: Callable[..., Any], x: Any) -> Any:
    return true(np.where(np.isnan(x), -np.inf, x))


def empty_rows(change: Mapping[str, str]) -> Callable[..., Any]:
    return lambda true, scalars, default: change.get(true(scalars, default), true(scalars, default))


def other_rounding(
    true: Callable[..., Any], x: Any, name: str, saturate: bool, truncate: bool = False
) -> Any:
    return true(x, name, saturate, not truncate)


def nan_is_lowest(true: Callable[..., Any], x: Any, name: str, *a: Any, **k: Any) -> Any:
    return true(np.where(np.isnan(x), -np.inf, x), name, *a, **k)


def low_bits(true: Callable[..., Any], x: Any, name: str, saturate: bool, *a: Any, **k: Any) -> Any:
    return true(x, name, not saturate, *a, **k)


def cast_without_scale(
    true: Callable[..., Any], x: Any, dtype: str, scale: int = 0, *a: Any, **k: Any
) -> Any:
    return true(x, dtype, 0, *a, **k)


def wrong_sign_of_zero(true: Callable[..., Any], *a: Any) -> Any:
    out = true(*a)
    return np.where(out == 0, -out, out) if out.dtype.kind == "f" else out


def positive_zero(true: Callable[..., Any], *a: Any) -> Any:
    return true(*a) + 0.0 if a[0].dtype.kind == "f" else true(*a)


def other_kernel(name: str, other: str) -> Mutation:
    """One kernel's semantics in the place of another's."""
    return Mutation(kernels.SEMANTICS, name, lambda true, *a: kernels.SEMANTICS[other](*a))


def other_scalars(kernel: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Mutation:
    """A kernel that is told something else."""

    def broken(true: Callable[..., Any], ins: Any, outs: Any, scalars: Any, extents: Any) -> Any:
        return true(ins, outs, change(dict(scalars)), extents)

    return Mutation(kernels.SEMANTICS, kernel, broken)


def clamps_8(true: Callable[..., Any], x: Any, y: Any) -> Any:
    """i8 alone: what lies beyond is clamped."""
    out, small = true(x, y), (np.abs(x) <= 128).all() and (np.abs(y) <= 128).all()
    return np.clip(out, -128, 127) if small else out


def zero_sums(true: Callable[..., Any], kind: str, x: Any, *a: Any, **k: Any) -> Any:
    out = true(kind, x, *a, **k)
    return out + out.dtype.type(0) if kind == "sum" and out.dtype.kind == "f" else out


def infinity_is_beyond(true: Callable[..., Any], x: Any, dtype: str, *a: Any, **k: Any) -> Any:
    """An infinity that is there saturates in formats without one."""
    largest = np.finfo(np.float64).max
    return true(np.clip(x, -largest, largest) if dtype.endswith("FNUZ") else x, dtype, *a, **k)


def swapped(true: Callable[..., Any], ins: Any, *a: Any) -> Any:
    """The other operand is selected."""
    return true([ins[0], ins[2], ins[1]], *a)


def sees_more(name: str, change: Callable[[int], int]) -> Mutation:
    """Another key is seen: `before`, `after` or `rows` of the kernels that know where a query stands."""
    return Mutation(
        kernels,
        "_seen",
        lambda true, s, q, k, scalars, hidden: true(
            s, q, k, {**scalars, name: change(int(scalars[name]))}, hidden
        ),
    )


def last_of_several(true: Callable[..., Any], kind: str, x: Any) -> Any:
    return (x.shape[-1] - 1 - true(kind, x[..., ::-1])).astype(np.int32)


def turned_around(true: Callable[..., Any], x: Any, descending: bool) -> Any:
    """A falling order is a rising one from its end: what is equal changes places."""
    return np.ascontiguousarray(true(x, False)[..., ::-1]) if descending else true(x, descending)


def nan_sorts_low(true: Callable[..., Any], x: Any, descending: bool) -> Any:
    return true(np.where(np.isnan(x), -np.inf, x) if x.dtype.kind == "f" else x, descending)


def clamped_rows(true: Callable[..., Any], base: Any, places: Any, *a: Any) -> Any:
    return true(base, np.clip(places, 0, len(base) - 1), *a)


def scaled_mask(true: Callable[..., Any], x: Any, y: Any, scale: float, *a: Any) -> Any:
    return true(x, (y * scale).astype(y.dtype), scale, *a)


def truth_of(change: Callable[[np.ndarray], np.ndarray], kinds: str) -> Callable[..., Any]:
    """Another truth of numbers of these kinds (of numpy)."""

    def broken(true: Callable[..., Any], x: Any, dtype: str, *a: Any, **k: Any) -> Any:
        return change(x) if dtype == "i1" and x.dtype.kind in kinds else true(x, dtype, *a, **k)

    return broken


def less(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Scalars of which one, where it is given, is one less."""
    return lambda scalars: {**scalars, **({name: int(scalars[name]) - 1} if name in scalars else {})}


def close_together(true: Callable[..., Any], x: Any, scalars: Mapping[str, Any], *a: Any) -> Any:
    return true(x, {k: v for k, v in scalars.items() if not k.startswith("dilation")}, *a)


def wrapped_box(true: Callable[..., Any], ins: Any, outs: Any, scalars: Any, extents: Any) -> Any:
    """A start index beyond the last one counts from the first again."""
    x, start = ins
    return true([x, start % max(extents[0] - extents[1] + 1, 1)], outs, scalars, extents)


def without_last(true: Callable[..., Any], parts: Any, *a: Any, **k: Any) -> Any:
    return true(parts[: max(len(parts) - 1, 1)], *a, **k)


def modulo(true: Callable[..., Any], x: Any, distance: Any, bits: int) -> Any:
    return true(x, distance % bits, bits)


FP8 = r"f8E\w+>( |$)"
_PRODUCT, _ATTENTION = r"\.matmul", r"\.attention"

MUTATIONS: dict[str, tuple[str, Mutation]] = {
    # saturation
    "pointwise results do not saturate": (FP8, with_argument(numerics, "pointwise", "saturate", False)),
    "pointwise results always saturate": ("saturate = false", with_argument(numerics, "pointwise", "saturate", True)),
    "casts do not saturate": (r"\.cast.*f8E", with_argument(numerics, "cast_array", "saturate", False)),
    "reductions do not saturate": (r"\.reduce.*f8E", with_argument(numerics, "reduce_rows", "saturate", False)),
    "layer_norm does not saturate": (r"\.layer_norm.*f8E", with_argument(numerics, "layer_norm_rows", "saturate", False)),
    "rms_norm does not saturate": (r"\.rms_norm.*f8E", with_argument(numerics, "rms_norm_rows", "saturate", False)),
    "bias_gelu does not saturate": (r"gelu.*f8E", with_argument(numerics, "bias_gelu_rows", "saturate", False)),
    "infinities saturate": (r"FNUZ>( |$)", Mutation(numerics, "round_to", infinity_is_beyond)),
    "f16 and bf16 saturate": (r"f16", Mutation(numerics, "round_to", unlike)),
    # rounding
    "subnormals are flushed": (r"f8E", Mutation(rounding, "round_to_grid", flushed)),
    "ties are rounded away from zero": (r"f8E", Mutation(rounding, "round_to_grid", ties_away)),
    # casts
    "casts truncate where they round and round where they truncate": (r"\.cast.*-> tensor<.*i", Mutation(rounding, "_to_integer", other_rounding)),
    "NaN becomes the lowest integer": (r"\.cast.*-> tensor<.*i", Mutation(rounding, "_to_integer", nan_is_lowest)),
    "integers keep their low bits": (r"\.cast.*-> tensor<.*i", Mutation(rounding, "_to_integer", low_bits)),
    "casts have no scale": (r"\.cast.* scale", Mutation(numerics, "cast_array", cast_without_scale)),
    # integers
    "integer division by zero is 0": (r"\.div.*i(8|32)>", Mutation(pointwise.INTEGERS, "div", integer_division(0))),
    "integer division rounds down": (r"\.div.*i(8|32)>", Mutation(pointwise.INTEGERS, "div", integer_division(floor=True))),
    "the lowest integer divided by -1 is the highest": (r"\.div.*i32>", Mutation(pointwise.INTEGERS, "div", lambda true, x, y: np.where((x == -(2**31)) & (y == -1), 2**31 - 1, true(x, y)))),
    **{
        f"integer {name} does not wrap": (rf"\.{name}.*i32>", Mutation(pointwise.INTEGERS, name, clipped))
        for name in ("add", "mul", "square")
    },
    "sums of i8 are clamped": (r"\.(add|sub).*xi8>$", Mutation(pointwise.INTEGERS, "add", clamps_8)),
    # zeros and NaN
    "the larger of two zeros is the negative one": (r"\.maximum", Mutation(pointwise.FLOATS, "max", wrong_sign_of_zero)),
    "zeros are not negated": (r"\.neg", Mutation(pointwise.FLOATS, "neg", positive_zero)),
    "maximum of NaN and a number is the number": (r"\.m(ax|in)imum", Mutation(pointwise.FLOATS, "max", lambda true, x, y: np.fmax(x, y))),
    "a sum of negative zeros is +0": (r"reduce sum", Mutation(numerics, "reduce_rows", zero_sums)),
    "exponentials overflow f64": (r"\.exp .*f8E", Mutation(pointwise.FLOATS, "exp", lambda true, x: np.exp(x))),
    "relu of NaN is 0": (r"\.relu", Mutation(pointwise.FLOATS, "relu", lambda true, x: np.where(np.isnan(x), 0.0, true(x)))),
    "maxima ignore NaN": (r"reduce m(ax|in)", Mutation(numerics, "_max_rows", without_nan)),
    # functions
    **{
        f"{name} is off in its last places": (rf"\.{name.split('_')[0]} ", Mutation(pointwise.FLOATS, name, scaled))
        for name, facts in pointwise.FUNCTIONS.items()
        if facts.operands == 1 and facts.floats and facts.gives == "any" and name not in ("neg", "abs", "relu")
    },
    **{
        f"{name} is off in its last places": (rf"\.{name}", Mutation(pointwise.FLOATS, name, scaled))
        for name in ("add", "sub", "mul", "div")
    },
    "gelu is always the tanh form": (r"\.gelu", Mutation(pointwise.FLOATS, "gelu_erf", lambda true, x: pointwise.FLOATS["gelu_tanh"](x))),
    # products
    "f16 is added up in f16": (_PRODUCT + r".*<\S*f16>, ", Mutation(matmul, "choose_kernel", narrow_kernel)),
    "attention in f16 adds up in f16": (_ATTENTION + r".*<\S*f16>, ", Mutation(attention, "choose_kernel", narrow_kernel)),
    "products have no scale": (_PRODUCT + ".* scale", with_argument(kernels.numerics, "gemm", "scale", 0)),
    # rows
    "sums go through f16": (r"reduce (sum|mean)", Mutation(numerics, "reduce_rows", f16_total)),
    "a mean divides by one less": (r"reduce mean", Mutation(numerics, "reduce_rows", off_by_one)),
    "softmax does not subtract the maximum": (r"\.softmax|\.attention", Mutation(numerics, "_exponentials", no_shift)),
    "softmax subtracts the maximum for a negative scale": (r"\.softmax.*scale -", Mutation(numerics, "softmax_rows", other_shift)),
    "rows that are masked whole give NaN": (r"empty_rows|attention", Mutation(kernels, "_empty_rows", empty_rows({"zero": "nan"}))),
    "rows that are masked whole give 0": (r"empty_rows|softmax", Mutation(kernels, "_empty_rows", empty_rows({"uniform": "zero", "nan": "zero"}))),
    "attention subtracts the maximum for a negative scale": (r"\.attention.*scale -", other_kernel("reduce.min", "reduce.max")),
    "statistics of layer_norm are f16": (r"\.layer_norm", Mutation(numerics, "norm_statistics", f16_statistics)),
    "variance over n - 1": (r"\.layer_norm", Mutation(numerics, "norm_statistics", n_minus_one)),
    "1 / sqrt of norms is f16": (r"_norm", Mutation(numerics, "_inverse_root", lambda true, *a: f16(true(*a)))),
    "norms have no epsilon": (r"_norm", Mutation(numerics, "_inverse_root", lambda true, x, epsilon: true(x, 0.0))),
    # movement
    "gather wraps around": (r"\.gather", Mutation(np, "clip", lambda true, x, low, high, *a, **k: np.mod(x, high + 1) if low == 0 and np.ndim(x) == 3 else true(x, low, high, *a, **k))),
    "indices out of range give zeros": (r"\.gather", other_scalars("gather_rows", lambda s: {k: v for k, v in s.items() if k != "rows"})),
    "indices out of range are clamped": (r"\.gather.*out_of_range zero", other_scalars("gather_rows", lambda s: {"rows": 2, **s})),
    "pads with 0": (r"\.pad.*value", Mutation(movement, "fill_word", lambda true, value, dtype: true(0, dtype))),
    # what saturates or is told not to
    "running sums do not saturate": (r"\.cumsum.*f8E\w+>( |$)", with_argument(numerics, "cumsum_rows", "saturate", False)),
    "sums by index do not saturate": (r"\.scatter_add.*f8E\w+>( |$)", with_argument(numerics, "scatter_add_rows", "saturate", False)),
    "partials do not saturate": (r"\.matmul.*f8E\w+>( |$)", with_argument(numerics, "reduce_partials", "saturate", False)),
    "attention does not saturate": (r"\.attention.*f8E\w+>( |$)", with_argument(numerics, "softmax_merge", "saturate", False)),
    "reductions always saturate": (r"reduce .*saturate = false", with_argument(numerics, "reduce_rows", "saturate", True)),
    "norms always saturate": (r"_norm.*saturate = false", with_argument(numerics, "layer_norm_rows", "saturate", True)),
    "bias_gelu always saturates": (r"bias_gelu.*saturate = false", with_argument(numerics, "bias_gelu_rows", "saturate", True)),
    "running sums always saturate": (r"\.cumsum.*saturate = false", with_argument(numerics, "cumsum_rows", "saturate", True)),
    # selection, bits, whole numbers
    "the other operand is selected": (r"\.select", Mutation(kernels.SEMANTICS, "pointwise.select", swapped)),
    "equal is less or equal": (r"compare le", other_kernel("pointwise.le", "pointwise.lt")),
    "NaN is finite": (r"\.is_finite", Mutation(pointwise.FLOATS, "is_finite", lambda true, x: ~np.isinf(x))),
    **{
        f"{name} takes its distance modulo the bits": (rf"\.{name}", Mutation(pointwise.INTEGERS, name, modulo))
        for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical")
    },
    "a remainder has the sign of the divisor": (r"\.remainder", Mutation(pointwise.FLOATS, "remainder", lambda true, x, y: np.mod(x, y))),
    "an integer remainder by zero is zero": (r"\.remainder.*i(8|32)>", Mutation(pointwise.INTEGERS, "remainder", lambda true, x, y: np.where(y == 0, 0, true(x, y)))),
    "negative powers of integers are taken without their sign": (r"\.pow.*i(8|32)>", Mutation(pointwise.INTEGERS, "pow", lambda true, x, y, *a: true(x, np.abs(y), *a))),
    "halves are rounded away from zero": (r"\.round ", Mutation(pointwise.FLOATS, "round", lambda true, x: np.copysign(np.floor(np.abs(x) + 0.5), x))),
    "the sign of a zero is +0": (r"\.sign ", Mutation(pointwise.FLOATS, "sign", positive_zero)),
    "any is all": (r"reduce any", other_kernel("reduce.max", "reduce.min")),
    # order
    "argmax finds the last of several": (r"\.argm(ax|in)", Mutation(numerics, "extreme_index_rows", last_of_several)),
    "a falling order turns what is equal around": (r"(sort|top_k).*", Mutation(numerics, "sort_rows", turned_around)),
    "NaN is below everything": (r"(sort|top_k).*", Mutation(numerics, "sort_rows", nan_sorts_low)),
    "an index outside adds to the nearest row": (r"\.scatter_add", Mutation(numerics, "scatter_add_rows", clamped_rows)),
    # which keys a query sees
    "a causal query sees the next key": (r"causal", sees_more("after", lambda n: n + 1)),
    "a window is one wider": (r" window ", sees_more("before", lambda n: n + 1)),
    "a mask behind the scale is scaled": (r"after_scale", Mutation(numerics, "scaled_add", scaled_mask)),
    "norms have no scale": (r"layer_norm.* scale", with_argument(numerics, "norm_apply", "scale", 0)),
    # windows
    "a mean of windows divides by one less": (r"reduce_window mean", other_scalars("window.sum", less("count"))),
    "elements of a window lie side by side": (r"(reduce_window|\.convolution).*dilation \[[^\]]*[2-9].*(:|groups)", Mutation(kernels, "_taps", close_together)),
    "a maximum of windows pads with 0": (r"reduce_window m(ax|in).*(low|high)", Mutation(windows, "around", lambda true, operator: 0.0)),
    "a convolution turns its weights around": (r"\.convolution.*groups", Mutation(numerics, "window_products", lambda true, taps, *a, **k: true(taps[..., ::-1], *a, **k))),
    "products of windows do not saturate": (r"\.convolution.*groups.*f8E\w+>( |$)", with_argument(numerics, "window_products", "saturate", False)),
    # boxes
    "a box that is read is drawn to the other side": (r"\.dynamic_slice", Mutation(kernels.SEMANTICS, "read_window", wrapped_box)),
    "a box that is replaced is drawn in by one more": (r"\.dynamic_update_slice", other_scalars("update_window", less("rows"))),
    # truth, marks, addends
    "numbers below 0 are false": (r"\.cast.*-> tensor<.*i1>", Mutation(rounding, "_to_integer", lambda true, x, name, *a, **k: x > 0 if name == "i1" else true(x, name, *a, **k))),
    "an even integer is false": (r"\.cast.*i(8|32)>.*-> tensor<.*i1>", Mutation(numerics, "cast_array", truth_of(lambda x: (x & 1) != 0, "i"))),
    "one_hot marks all up to the index": (r"\.one_hot", other_kernel("pointwise.eq", "pointwise.ge")),
    "the last addend is left out": (r"\.matmul.* plus ", Mutation(numerics, "reduce_partials", without_last)),
    # passes
    "a sum is fused whatever its type": (r"approximate tanh", Mutation(tile_fuse_epilogues, "fusable", any_fusable)),
}  # fmt: skip
