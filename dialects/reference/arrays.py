# SPDX-License-Identifier: Apache-2.0
"""What the semantics of several families have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Operation

from tilewright.dialects import tile_tensor as tt
from tilewright.machine.dtypes import numpy_dtype

Array = NDArray[Any]
Table = Mapping[type[Operation], Callable[..., Array]]
"""Operations and what they mean: (operation, its operands) -> its value."""


def constant_array(attribute: DenseIntOrFPElementsAttr) -> Array:
    """The elements of a dense attribute in its shape and element type."""
    dtype = numpy_dtype(str(attribute.get_element_type()))
    raw = attribute.data.data
    elements = np.frombuffer(raw, np.uint8) != 0 if dtype == np.bool_ else np.frombuffer(raw, dtype)
    shape = attribute.get_shape()
    splat = elements.size == 1 and len(shape) > 0
    return np.broadcast_to(elements, shape) if splat else elements.reshape(shape)


def saturates(op: tt.TensorOperation) -> bool:
    """Whether an 8-bit float result is held to its largest value."""
    return not isinstance(op, tt.RoundingOperation) or bool(op.saturate.value.data)


def wide(array: Array) -> Array:
    return array if array.dtype.kind in "ib" else array.astype(np.float64)


def finite(x: Array, finite: Array) -> Array:
    """The largest f64 in the place of infinities that are overflows: whose operands were `finite`."""
    return np.where(np.isinf(x) & finite, np.copysign(np.finfo(np.float64).max, x), x)


def highest_of(x: Array, axes: tuple[int, ...], keep: bool, initial: float | None) -> Array:
    """The maximum; +0 is above -0."""
    if initial is not None:
        return x.max(axis=axes, keepdims=keep, initial=initial)
    highest = x.max(axis=axes, keepdims=keep)
    if x.dtype.kind == "i":
        return highest
    positive = ((x == 0) & ~np.signbit(x)).any(axis=axes, keepdims=keep)
    return np.where(highest == 0, np.where(positive, 0.0, -0.0), highest)


def axis_of(op: Any) -> int:
    """The axis that an operation on rows names, or the last."""
    return -1 if op.axis is None else op.axis.value.data


def along(function: Callable[..., Array]) -> Callable[..., Array]:
    """An operation on rows, along the axis that it names."""

    def run(op: Any, x: Array, *vectors: Array) -> Array:
        axis = axis_of(op)
        return np.moveaxis(function(op, np.moveaxis(x, axis, -1), *vectors), -1, axis)

    return run
