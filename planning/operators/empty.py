# SPDX-License-Identifier: Apache-2.0
"""
Operators with a tensor of no elements: nothing to compute, or a result that does not depend on the operands.

Sums of products over nothing are 0, reductions over nothing give their neutral element (the mean NaN), and
padding around nothing is all padding. Such an operator has no choices: its record is the default one, its
result a row-major sequence.
"""

from __future__ import annotations

import math

from tilewright.machine import Machine
from tilewright.machine.dtypes import float_format, is_fp8, is_integer
from tilewright.planning.operators.base import Operator
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.movement import fill_word
from tilewright.planning.operators.targets import flat_layout
from tilewright.planning.operators.windows import around
from tilewright.planning.stages import Stages, Value


def is_empty(operator: Operator) -> bool:
    """Whether there is nothing to compute with; an empty operand of a concatenation or update is left out."""
    sizes = [math.prod(shape) for shape, _ in operator.operand_types]
    if math.prod(operator.result_shape) == 0:
        return True
    return operator.name not in ("concat", "dynamic_update_slice", "scatter_add") and 0 in sizes


def value_of_nothing(operator: Operator) -> float | int:
    """Every element of the result when an operand has no elements and the result has."""
    if operator.name == "reduce_window":
        return around(operator)
    if operator.name == "pad":
        return operator.attributes.get("value", 0.0)
    if operator.name != "reduce":
        return 0.0
    kind, integer = operator.attributes["kind"], is_integer(operator.result_dtype)
    bits = {"i8": 8, "i32": 32}.get(operator.operand_types[0][1], 0)
    lowest, highest = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1) if integer else (-math.inf, math.inf)
    if is_fp8(operator.result_dtype) and operator.attributes.get("saturate", True):
        highest = float_format(operator.result_dtype).max_value
        lowest = -highest
    extremes = {"max": lowest, "min": highest, "mean": math.nan}
    return extremes.get(kind, 1.0 if kind in ("prod", "all") else 0.0)


def expand(operator: Operator, operands: tuple[Value, ...], machine: Machine) -> Stages:
    builder = Builder(operator, operands, machine)
    layout, view = flat_layout(operator.result_shape, operator.result_dtype, machine)
    result = builder.add_buffer("result", layout, operator.result_dtype, "activations")
    if math.prod(operator.result_shape):
        builder.fill(
            result,
            f"{operator.name} of nothing",
            fill_word(value_of_nothing(operator), operator.result_dtype),
        )
    return builder.finish((result, view))
