# SPDX-License-Identifier: Apache-2.0
"""
What a decimal literal becomes in a float type: rounded once, to nearest even, as MLIR does.

What lies beyond the largest value is infinite, in a type without infinities NaN (`dense<-1.0e9> :
tensor<f16>` is minus infinity). xDSL 0.75 raises an OverflowError there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import AnyFloat

if TYPE_CHECKING:
    from tilewright.machine.dtypes import FloatFormat


def round_literal(value: float, type_: AnyFloat) -> float:
    """The value of the literal `value` in `type_`: exact for the float types that a program may have."""
    try:
        value = float(value)
    except OverflowError:  # an integer beyond f64
        value = math.inf if value > 0 else -math.inf
    from tilewright.machine.dtypes import DTYPES  # numpy, which a tool does without until it meets a float

    found = DTYPES.get(str(type_))
    if found is None or found.format is None:
        return value
    return round_to_format(value, found.format)


def round_to_format(value: float, form: FloatFormat) -> float:
    """`value` (an f64) to the nearest value of a format, ties to even."""
    if math.isnan(value) or value == 0:
        return value if form.negative_zero or value != 0 else 0.0
    rounded = value
    if abs(value) <= 2 * form.max_value:  # beyond, rounding changes nothing and may leave f64
        exponent = max(math.frexp(value)[1] - 1, form.emin) - form.mantissa_bits
        # scaled by a power of two (exact: the result has at most mantissa_bits + 1 bits before the point)
        rounded = math.ldexp(round(math.ldexp(value, -exponent)), exponent)
        rounded = math.copysign(rounded, value) if form.negative_zero or rounded else 0.0
    if abs(rounded) > form.max_value:
        return math.copysign(math.inf, value) if form.has_inf else math.nan
    return rounded


def float_of_bits(text: str, type_: Any) -> float:
    """The float whose bits a hexadecimal literal gives. ValueError where it has more bits than the type."""
    bits = int(text, 16)
    if bits.bit_length() > type_.bitwidth:
        raise ValueError(f"{text} has more bits than {type_}: {type_.bitwidth}")
    return type_.unpack(bits.to_bytes(type_.compile_time_size, "little"), 1)[0]
