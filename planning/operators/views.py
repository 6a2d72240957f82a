# SPDX-License-Identifier: Apache-2.0
"""Operators that only change the view of their operand, where it can be expressed."""

from __future__ import annotations

from tilewright.planning.layout import View
from tilewright.planning.operators.base import Operator


def apply_view(operator: Operator, view: View) -> View | None:
    """The view of a view operator's result, or None where it cannot be expressed."""
    attrs = operator.attributes
    match operator.name:
        case "transpose":
            return view.transpose(attrs["permutation"])
        case "reshape":
            return view.reshape(operator.result_shape)
        case "slice":
            return view.slice(attrs["offsets"], attrs["sizes"], attrs.get("strides"))
        case "broadcast":
            return view.broadcast(operator.result_shape, attrs["dimensions"])
    raise AssertionError(operator.name)
