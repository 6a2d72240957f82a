# SPDX-License-Identifier: Apache-2.0
"""
What the operations of the middle form give, in numpy: for folding constants and for the values of a program
as given.

Every operation computes in f64 (integers in their own type, wrapping) and rounds once to its element type,
nearest even, without saturation: StableHLO's semantics where it defines them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects import builtin
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    f16,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, SSAValue

from tilewright.diagnostics import TileError
from tilewright.dialects import reference
from tilewright.dialects.hlo import shapes
from tilewright.dialects.hlo.operations import HloOperation, tensor_of
from tilewright.dialects.tile_tensor import TensorOperation
from tilewright.machine.dtypes import DTYPES, numpy_dtype
from tilewright.machine.numerics.rounding import decode, round_to

Array = np.ndarray


class NoValue(TileError):
    """An operation whose value numpy is not asked for."""


_NAMED: Mapping[str, Attribute] = {
    "f64": f64,
    "f32": f32,
    "f16": f16,
    "bf16": builtin.bf16,
    "f8E4M3FNUZ": builtin.Float8E4M3FNUZType(),
    "f8E5M2FNUZ": builtin.Float8E5M2FNUZType(),
    "f8E4M3FN": builtin.Float8E4M3FNType(),
    "f8E5M2": builtin.Float8E5M2Type(),
    "i1": i1,
    "i8": i8,
    "i16": IntegerType(16),
    "i32": i32,
    "i64": i64,
    "ui8": IntegerType(8, Signedness.UNSIGNED),
    "ui16": IntegerType(16, Signedness.UNSIGNED),
    "ui32": IntegerType(32, Signedness.UNSIGNED),
    "ui64": IntegerType(64, Signedness.UNSIGNED),
}
_WIDTHS = {"i16": np.int16, "i64": np.int64, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32}
_WIDTHS |= {"ui64": np.uint64, "f64": np.float64}


def element_type(name: str) -> Attribute:
    """The element type of an MLIR name. Raises `KeyError`."""
    return _NAMED[name]


def dtype_of(element: Attribute) -> np.dtype[Any]:
    """The numpy type of an element type of the middle form. Raises `NoValue`."""
    name = str(element)
    if name in DTYPES:
        return numpy_dtype(name)
    if name in _WIDTHS:
        return np.dtype(_WIDTHS[name])
    raise NoValue(f"elements of {name} have no numpy type")


def element_of_dtype(dtype: np.dtype[Any]) -> Attribute:
    """The element type of a numpy type. Raises `NoValue`."""
    for element in _NAMED.values():
        if dtype_of(element) == dtype:
            return element
    raise NoValue(f"numpy's {dtype} is no element type")


def is_floating(element: Attribute) -> bool:
    """f64 to f8."""
    return not isinstance(element, IntegerType)


def array_of(attribute: DenseIntOrFPElementsAttr) -> Array:
    """The elements of a constant, in its shape; a view of its bytes where that is possible."""
    element = attribute.get_element_type()
    if element == i1:
        flat = np.frombuffer(attribute.data.data, np.uint8) != 0
    else:
        flat = np.frombuffer(attribute.data.data, dtype_of(element))
    shape = attribute.get_shape()
    if flat.size == 1 and math.prod(shape) != 1:
        return np.broadcast_to(flat.reshape(()), shape)
    return flat.reshape(shape)


def dense_of(array: Array, element: Attribute | None = None) -> DenseIntOrFPElementsAttr:
    """A constant that holds an array; the bytes are copied, no text is made."""
    element = element or element_of_dtype(array.dtype)
    data = np.ascontiguousarray(array).reshape(-1)
    raw = (data.astype(np.uint8) * np.uint8(255)).tobytes() if element == i1 else data.tobytes()
    return DenseIntOrFPElementsAttr(TensorType(cast(Any, element), list(array.shape)), BytesAttr(raw))


def _wide(x: Array) -> Array:
    if x.dtype.kind in "biu":
        return x
    return x if x.dtype == np.float64 else np.asarray(decode(x))


def rounded(x: Array, element: Attribute) -> Array:
    """f64 or integer values in an element type: one rounding, no saturation, integers wrap."""
    dtype = dtype_of(element)
    x = np.asarray(x)
    if dtype == np.bool_:
        return x != 0
    if dtype.kind in "iu":
        return x.astype(dtype)
    if dtype == np.float64:
        return x.astype(np.float64)
    return round_to(x.astype(np.float64), str(element))


def convert(x: Array, element: Attribute) -> Array:
    """StableHLO's convert: floats to integers toward zero, to the nearest end where out of range."""
    dtype = dtype_of(element)
    if dtype == np.bool_:
        return np.asarray(_wide(x) != 0)
    if dtype.kind in "iu" and x.dtype.kind not in "biu":
        info, wide = (
            np.iinfo(dtype),
            np.trunc(np.nan_to_num(_wide(x), nan=0.0, posinf=2.0**63, neginf=-(2.0**63))),
        )
        low, high = wide <= info.min, wide >= info.max
        inner = np.where(low | high, 0.0, wide).astype(dtype)
        return np.where(low, dtype.type(info.min), np.where(high, dtype.type(info.max), inner)).astype(dtype)
    return rounded(_wide(x), element)


def _each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    def apply(x: Array) -> Array:
        flat = [function(float(v)) for v in np.ravel(x)]
        return np.array(flat, np.float64).reshape(np.shape(x))

    return apply


def _away(x: Array) -> Array:
    return np.copysign(np.floor(np.abs(x) + 0.5), x) if x.dtype.kind == "f" else x


_UNARY: Mapping[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "negate": np.negative,
    "sign": np.sign,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "log": np.log,
    "log_plus_one": np.log1p,
    "logistic": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "cbrt": np.cbrt,
    "tanh": np.tanh,
    "sine": np.sin,
    "cosine": np.cos,
    "tan": np.tan,
    "floor": np.floor,
    "ceil": np.ceil,
    "round_nearest_even": np.rint,
    "round_nearest_afz": _away,
    "erf": _each(math.erf),
    "erfc": _each(math.erfc),
    "not": lambda x: ~x,
    "is_finite": np.isfinite,
}


def _divide(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return a / b
    if a.dtype.kind == "u":
        return np.where(b == 0, np.iinfo(a.dtype).max, a // np.where(b == 0, 1, b))
    safe = np.where((b == 0) | (b == -1), 1, b)
    quotient = np.sign(a) * np.sign(safe) * (np.abs(a) // np.abs(safe))
    return np.where(b == 0, -1, np.where(b == -1, -a, quotient))


def _remainder(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.fmod(a, b)
    return np.where(b == 0, a, np.fmod(a, np.where(b == 0, 1, b)))


def _power(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.power(a, b)
    flat = [
        pow(int(x), int(y)) if y >= 0 else (int(x) ** (int(y) % 2) if x in (1, -1) else 0)
        for x, y in zip(np.ravel(a), np.ravel(b), strict=True)
    ]
    bits = a.dtype.itemsize * 8
    return np.array([v % (1 << bits) for v in flat], np.uint64).astype(a.dtype).reshape(a.shape)


def _extreme(function: Any, a: Array, b: Array, zero: str) -> Array:
    found = function(a, b)
    if a.dtype.kind == "f":
        minus = np.signbit(a) | np.signbit(b) if zero == "-" else np.signbit(a) & np.signbit(b)
        found = np.where((a == 0) & (b == 0), np.where(minus, -0.0, 0.0), found)
    return found


def _shift(function: Any, a: Array, b: Array, arithmetic: bool = False) -> Array:
    bits = a.dtype.itemsize * 8
    wild = (b < 0) | (b >= bits)
    out = function(a, np.where(wild, 0, b).astype(a.dtype))
    return np.where(wild, np.where(a < 0, -1, 0) if arithmetic else 0, out)


def _logical_right(a: Array, b: Array) -> Array:
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    return np.right_shift(a.view(unsigned), b.view(unsigned)).view(a.dtype)


_BINARY: Mapping[str, Callable[[Array, Array], Array]] = {
    "add": lambda a, b: a | b if a.dtype == np.bool_ else a + b,
    "subtract": np.subtract,
    "multiply": lambda a, b: a & b if a.dtype == np.bool_ else a * b,
    "divide": _divide,
    "remainder": _remainder,
    "maximum": lambda a, b: _extreme(np.maximum, a, b, "+"),
    "minimum": lambda a, b: _extreme(np.minimum, a, b, "-"),
    "power": _power,
    "atan2": np.arctan2,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shift_left": lambda a, b: _shift(np.left_shift, a, b),
    "shift_right_logical": lambda a, b: _shift(_logical_right, a, b),
    "shift_right_arithmetic": lambda a, b: _shift(np.right_shift, a, b, True),
}
_COMPARE: Mapping[str, Callable[[Array, Array], Array]] = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}


def lowest(element: Attribute, kind: str) -> Any:
    """The neutral element of a reduction `kind`, in f64 or as an integer."""
    dtype = dtype_of(element)
    if kind in ("sum", "or"):
        return 0
    if kind in ("product",):
        return 1
    if kind == "and":
        return True if dtype == np.bool_ else -1
    if dtype == np.bool_:
        return kind == "min"
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if kind == "max" else np.iinfo(dtype).max
    return -np.inf if kind == "max" else np.inf


def _reduce(kind: str, x: Array, axes: tuple[int, ...], element: Attribute) -> Array:
    boolean = x.dtype == np.bool_
    match kind:
        case "sum" if not boolean:
            return np.sum(x, axis=axes, dtype=x.dtype)
        case "product" if not boolean:
            return np.prod(x, axis=axes, dtype=x.dtype)
        case "sum" | "or" | "max" if boolean:
            return np.any(x, axis=axes)
        case "product" | "and" | "min" if boolean:
            return np.all(x, axis=axes)
        case "max":
            return np.max(x, axis=axes, initial=lowest(element, kind))
        case "min":
            return np.min(x, axis=axes, initial=lowest(element, kind))
        case "and":
            return np.bitwise_and.reduce(x, axis=axes)
        case _:
            return np.bitwise_or.reduce(x, axis=axes)


def _pad(x: Array, value: Array, low: Sequence[int], high: Sequence[int], interior: Sequence[int]) -> Array:
    shape = shapes.pad([x.shape, ()], {"low": low, "high": high, "interior": interior})
    result = np.full(shape, value.reshape(()), x.dtype)
    into: list[slice] = []
    out_of: list[slice] = []
    for n, a, step, extent in zip(x.shape, low, (i + 1 for i in interior), shape, strict=True):
        places = [a + i * step for i in range(n)]
        inside = [i for i, place in enumerate(places) if 0 <= place < extent]
        if not inside:
            return result
        first, last = inside[0], inside[-1]
        out_of.append(slice(first, last + 1))
        into.append(slice(places[first], places[last] + 1, step))
    result[tuple(into)] = x[tuple(out_of)]
    return result


def dot_general(a: Array, b: Array, attributes: Mapping[str, Any]) -> Array:
    """The product in the operands' own (wide) type."""
    letters = iter("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    left, right = [""] * a.ndim, [""] * b.ndim
    batch: list[str] = []
    for i, j in zip(attributes["lhs_batching"], attributes["rhs_batching"], strict=True):
        left[i] = right[j] = next(letters)
        batch.append(left[i])
    for i, j in zip(attributes["lhs_contracting"], attributes["rhs_contracting"], strict=True):
        left[i] = right[j] = next(letters)
    result = list(batch)
    for names in (left, right):
        for axis, name in enumerate(names):
            if not name:
                names[axis] = next(letters)
                result.append(names[axis])
    if a.dtype.kind in "iu":
        a, b = a.astype(np.int64), b.astype(np.int64)
    return np.einsum(f"{''.join(left)},{''.join(right)}->{''.join(result)}", a, b, optimize=True)


def _windows(
    x: Array, window: Sequence[int], strides: Sequence[int], dilation: Sequence[int], counts: Sequence[int]
) -> Array:
    """A view (counts.., window..) of the last axes of x: one entry per window and place in it."""
    lead = x.ndim - len(window)
    steps = x.strides[lead:]
    shape = (*x.shape[:lead], *counts, *window)
    strides_ = (
        *x.strides[:lead],
        *(s * n for s, n in zip(steps, strides, strict=True)),
        *(s * n for s, n in zip(steps, dilation, strict=True)),
    )
    return np.lib.stride_tricks.as_strided(x, shape, strides_)


def convolution(x: Array, w: Array, attributes: Mapping[str, Any]) -> Array:
    """StableHLO's convolution in the operands' wide type."""
    at_in, at_kernel, at_out = (attributes[f"{n}_layout"] for n in ("input", "kernel", "output"))
    groups, batch_groups = attributes["feature_groups"], attributes["batch_groups"]
    spatial = x.ndim - 2
    shape = shapes.convolution([x.shape, w.shape], attributes)
    x, w = np.transpose(x, at_in), np.transpose(w, at_kernel)
    padding = attributes["padding"]
    x = _pad(
        x,
        np.zeros((), x.dtype),
        [0, 0, *padding[0::2]],
        [0, 0, *padding[1::2]],
        [0, 0, *(d - 1 for d in attributes["input_dilation"])],
    )
    counts = [shape[at_out[2 + i]] for i in range(spatial)]
    view = _windows(
        np.ascontiguousarray(x), w.shape[2:], attributes["strides"], attributes["kernel_dilation"], counts
    )
    n, out = view.shape[0], w.shape[0]
    places = "abcdefg"[:spatial]
    inner = "tuvwxyz"[:spatial]
    if batch_groups > 1:
        parts = [
            np.einsum(f"ni{places}{inner},oi{inner}->no{places}", v, k, optimize=True)
            for v, k in zip(np.split(view, batch_groups, 0), np.split(w, batch_groups, 0), strict=True)
        ]
        result = np.concatenate(parts, 1)
    else:
        view = view.reshape(n, groups, -1, *view.shape[2:])
        kernel = w.reshape(groups, out // groups, *w.shape[1:])
        result = np.einsum(f"ngi{places}{inner},goi{inner}->ngo{places}", view, kernel, optimize=True)
        result = result.reshape(n, out, *counts)
    back = np.empty(x.ndim, int)
    back[list(at_out)] = np.arange(x.ndim)
    return np.transpose(result, back)


def _reduce_window(x: Array, op: HloOperation, element: Attribute) -> Array:
    kind, padding = op.get("kind"), op.get("padding")
    x = _pad(x, np.asarray(lowest(element, kind), x.dtype), padding[0::2], padding[1::2], [0] * x.ndim)
    counts = tensor_of(op.results[0]).get_shape()
    view = _windows(np.ascontiguousarray(x), op.get("window"), op.get("strides"), op.get("dilation"), counts)
    return _reduce(kind, view, tuple(range(x.ndim, 2 * x.ndim)), element)


def _take(op: HloOperation, table: Array, indices: Array) -> Array:
    axis, rule = op.get("axis"), op.get("out_of_range")
    extent = table.shape[axis]
    if rule == "clamp":
        return np.take(table, np.clip(indices, 0, extent - 1), axis=axis)
    wild = (indices < 0) | (indices >= extent)
    found = np.take(table, np.where(wild, 0, indices), axis=axis)
    mask = wild.reshape((1,) * axis + wild.shape + (1,) * (table.ndim - axis - 1))
    return np.where(mask, table.dtype.type(0 if rule == "zero" else np.nan), found).astype(table.dtype)


def _starts(x: Array, sizes: Sequence[int], starts: Sequence[Array]) -> tuple[slice, ...]:
    return tuple(
        slice(at, at + size)
        for size, at in (
            (size, min(max(int(start.reshape(())), 0), extent - size))
            for extent, size, start in zip(x.shape, sizes, starts, strict=True)
        )
    )


def _ranks(x: Array) -> Array:
    """Integers in the total order of floats: -NaN, -inf, .., -0, +0, .., inf, NaN."""
    bits = np.ascontiguousarray(x, np.float64).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits - 1, bits).reshape(np.shape(x))


def _sorted(op: HloOperation, x: Array) -> Array:
    """Stable; NaN is above everything."""
    axis = op.get("dimension", x.ndim - 1)
    descending = op.kind == "top_k" or op.get("descending")
    if descending:  # stable as well: backwards, ascending, backwards
        places = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
    else:
        places = np.argsort(x, axis=axis, kind="stable")
    if op.kind == "top_k":
        places = places[..., : op.get("count")]
    return places if op.get("places", False) else np.take_along_axis(x, places, axis)


def _cumulative(op: HloOperation, x: Array) -> Array:
    functions = {
        "sum": np.cumsum,
        "product": np.cumprod,
        "max": np.maximum.accumulate,
        "min": np.minimum.accumulate,
    }
    axis = op.get("dimension")
    if op.get("reverse", False):
        x = np.flip(x, axis)
    out = functions[op.get("kind")](x, axis=axis)
    return np.flip(out, axis) if op.get("reverse", False) else out


def evaluate(op: HloOperation, operands: Sequence[Array]) -> Array:
    """The result of an operation without regions, in its own element type. Raises `NoValue`."""
    kind, result = op.kind, tensor_of(op.results[0])
    element, shape = cast("Attribute", result.element_type), result.get_shape()
    with np.errstate(all="ignore"):
        moved = _moved(op, kind, operands, shape)
        if moved is not None:
            return moved
        wide = [_wide(x) for x in operands]
        if kind == "convert":
            return convert(operands[0], element)
        if kind == "clamp":
            low, x, high = (np.broadcast_to(v, shape) for v in wide)
            return rounded(np.minimum(np.maximum(x, low), high), element)
        value = _computed(op, kind, wide, element)
        return rounded(value, element)


def _computed(op: HloOperation, kind: str, wide: list[Array], element: Attribute) -> Array:
    if kind in _UNARY:
        return np.asarray(_UNARY[kind](wide[0]))
    if kind in _BINARY:
        return np.asarray(_BINARY[kind](wide[0], wide[1]))
    match kind:
        case "compare":
            if op.get("order") == "total" and wide[0].dtype.kind == "f":
                wide = [_ranks(x) for x in wide]
            return _COMPARE[op.get("direction")](wide[0], wide[1])
        case "reduce":
            return np.asarray(_reduce(op.get("kind"), wide[0], tuple(op.get("dimensions")), element))
        case "arg_reduce":
            find = np.argmax if op.get("kind") == "max" else np.argmin
            return np.asarray(find(wide[0], axis=op.get("dimension")))
        case "sort" | "top_k":
            return _sorted(op, wide[0])
        case "cumulative":
            return _cumulative(op, wide[0])
        case "reduce_window":
            return _reduce_window(wide[0], op, element)
        case "dot_general":
            return dot_general(wide[0], wide[1], {n: op.get(n) for n in op.attributes})
        case "convolution":
            return convolution(wide[0], wide[1], {n: op.get(n) for n in op.attributes})
        case _:
            raise NoValue(f"{op.name} has no value in numpy", location=op.location)


def _moved(op: HloOperation, kind: str, operands: Sequence[Array], shape: tuple[int, ...]) -> Array | None:
    """The result of an operation that computes nothing; None for the others."""
    match kind:
        case "constant":
            return array_of(cast("DenseIntOrFPElementsAttr", op.attributes["value"]))
        case "iota":
            axis = op.get("dimension")
            places = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
            return np.broadcast_to(
                convert(places, cast("Attribute", tensor_of(op.results[0]).element_type)), shape
            )
        case "broadcast_in_dim":
            extents = [1] * len(shape)
            order = sorted(range(operands[0].ndim), key=lambda i: op.get("dimensions")[i])
            for i, axis in enumerate(op.get("dimensions")):
                extents[axis] = operands[0].shape[i]
            return np.broadcast_to(np.transpose(operands[0], order).reshape(extents), shape)
        case "reshape":
            return operands[0].reshape(shape)
        case "transpose":
            return np.transpose(operands[0], op.get("permutation"))
        case "slice":
            box = zip(op.get("start"), op.get("limit"), op.get("strides"), strict=True)
            return operands[0][tuple(slice(a, b, s) for a, b, s in box)]
        case "concatenate":
            return np.concatenate(operands, op.get("dimension"))
        case "pad":
            return _pad(operands[0], operands[1], op.get("low"), op.get("high"), op.get("interior"))
        case "reverse":
            return np.flip(operands[0], op.get("dimensions"))
        case "select":
            return np.where(operands[0], operands[1], operands[2])
        case "take":
            return _take(op, operands[0], operands[1])
        case "dynamic_slice":
            return operands[0][_starts(operands[0], shape, operands[1:])]
        case "dynamic_update_slice":
            result = np.array(operands[0])
            result[_starts(result, operands[1].shape, operands[2:])] = operands[1]
            return result
        case _:
            return None


def evaluate_function(function: FuncOp, arguments: Sequence[Array]) -> list[Array]:
    """
    The results of a function of the middle form (calls and whiles included), for arguments in the element
    types of the function. Raises `TileError` at an operation without a value.
    """
    module = function.parent_op()
    functions = (
        {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
        if isinstance(module, ModuleOp)
        else {}
    )
    return _run(function.body.block, arguments, functions, {})


def _run(
    block: Block, arguments: Sequence[Array], functions: Mapping[str, FuncOp], outer: Mapping[SSAValue, Array]
) -> list[Array]:
    values: dict[SSAValue, Array] = dict(outer)
    values.update(zip(block.args, arguments, strict=True))
    for op in block.ops:
        operands = [values[operand] for operand in op.operands]
        match op:
            case ReturnOp():
                return operands
            case CallOp():
                callee = functions[op.callee.root_reference.data]
                found = _run(callee.body.block, operands, functions, {})
            case HloOperation() if op.kind == "return":
                return operands
            case HloOperation() if op.kind == "while":
                state = operands
                while _run(op.regions[0].block, state, functions, values)[0]:
                    state = _run(op.regions[1].block, state, functions, values)
                found = state
            case HloOperation():
                found = [evaluate(op, operands)]
            case TensorOperation():
                found = [reference.compute(op, operands)]
            case _:
                raise NoValue(f"{op.name} has no value in numpy", location=op.location)
        values.update(zip(op.results, found, strict=True))
    return []


__all__ = ["array_of", "convert", "dense_of", "dtype_of", "element_type", "evaluate", "evaluate_function"]
