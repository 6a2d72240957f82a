# SPDX-License-Identifier: Apache-2.0
"""
What a value is, as far as a pattern asks: means, squares, products with a number, polynomials of another
value.

All look through conversions between float types: a pattern that computes its inner steps in another precision
is raised to an operation that computes them in f32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from tilewright.dialects.hlo.operations import HloOperation
from tilewright.dialects.hlo.values import is_floating, rounded
from tilewright.passes.hlo.rewriting import element_of, owner, shape_of, splat_of

_MANTISSA = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7}


def peel(value: SSAValue) -> SSAValue:
    """The value behind conversions between float types."""
    while (made := owner(value, "convert")) is not None:
        if not is_floating(element_of(made.operands[0])) or not is_floating(element_of(value)):
            break
        value = made.operands[0]
    return value


def number_of(value: SSAValue) -> float | None:
    """The number that stands everywhere."""
    number = splat_of(value)
    return None if number is None else float(number)


def is_number(value: SSAValue, wanted: float, *, slack: float = 0.0) -> bool:
    """
    Whether a value is a number everywhere, as far as its element type can say; `slack` in units of its last
    place.
    """
    number = number_of(value)
    if number is None:
        return False
    near = float(np.asarray(rounded(np.asarray(wanted), element_of(value))).astype(np.float64))
    return number == near or abs(number - wanted) <= slack * tolerance(element_of(value)) * abs(wanted)


def tolerance(element: Any) -> float:
    """One unit in the last place of 1, in a float type."""
    return 2.0 ** -_MANTISSA.get(str(element), 2)


def binary(value: SSAValue, *kinds: str) -> HloOperation | None:
    """The operation of one of `kinds` behind conversions."""
    return owner(peel(value), *kinds)


def pairs(op: HloOperation) -> tuple[tuple[SSAValue, SSAValue], ...]:
    """The two operands in both orders; in their own for an operation whose order matters."""
    a, b = op.operands
    return ((a, b), (b, a)) if op.kind in ("add", "multiply", "maximum", "minimum") else ((a, b),)


def rows(value: SSAValue, rank: int) -> SSAValue | None:
    """The value with one number per row (all axes but the last) that is broadcast along the last axis."""
    made = binary(value, "broadcast_in_dim")
    if made is None or made.get("dimensions") != list(range(rank - 1)):
        return None
    return made.operands[0] if shape_of(made.operands[0]) == shape_of(made.results[0])[:-1] else None


def vector(value: SSAValue) -> SSAValue | None:
    """The vector along the last axis that is broadcast over the others; a value of one axis as it is."""
    shape = shape_of(value)
    made = binary(value, "broadcast_in_dim")
    if len(shape) == 1:
        return value
    if made is None or not shape:
        return None
    source = made.operands[0]
    if made.get("dimensions") == [len(shape) - 1] and shape_of(source) == shape[-1:]:
        return source
    return None


def same(a: SSAValue, b: SSAValue) -> bool:
    """Whether two values are one, conversions apart."""
    return peel(a) is peel(b)


def square_of(value: SSAValue) -> SSAValue | None:
    """x, where a value is x x."""
    made = binary(value, "multiply")
    if made is not None and same(*made.operands):
        return made.operands[0]
    return None


def mean_of(value: SSAValue) -> SSAValue | None:
    """x, where a value is the mean of x over its last axis."""
    made = binary(value, "divide", "multiply")
    if made is None:
        return None
    for total, count in pairs(made):
        summed = binary(total, "reduce")
        if summed is None or summed.get("kind") != "sum":
            continue
        x = summed.operands[0]
        shape = shape_of(x)
        if not shape or summed.get("dimensions") != [len(shape) - 1]:
            continue
        n = float(shape[-1])
        if made.kind == "divide":
            if is_number(count, n):
                return x
        elif is_number(count, 1.0 / n, slack=1.0):
            return x
    return None


def factors(value: SSAValue) -> tuple[float, list[SSAValue]]:
    """A value as a number times others; divisions by numbers and negations included."""
    value = peel(value)
    number = number_of(value)
    if number is not None:
        return number, []
    made = owner(value, "multiply", "divide", "negate")
    if made is None:
        return 1.0, [value]
    if made.kind == "negate":
        scale, others = factors(made.operands[0])
        return -scale, others
    if made.kind == "divide":
        divisor = number_of(made.operands[1])
        if divisor is None or divisor == 0:
            return 1.0, [value]
        scale, others = factors(made.operands[0])
        return scale / divisor, others
    a, left = factors(made.operands[0])
    b, right = factors(made.operands[1])
    return a * b, left + right


Polynomial = dict[int, float]


def polynomial(value: SSAValue, x: SSAValue, depth: int = 12) -> Polynomial | None:
    """Coefficients by power of a value that is a polynomial of x; None where it is none."""
    value = peel(value)
    if value is peel(x):
        return {1: 1.0}
    number = number_of(value)
    if number is not None:
        return {0: number}
    made = owner(value, "add", "subtract", "multiply", "divide", "negate", "power")
    if made is None or depth == 0:
        return None
    parts = [polynomial(operand, x, depth - 1) for operand in made.operands]
    a = parts[0]
    if a is None:
        return None
    if made.kind == "negate":
        return {power: -c for power, c in a.items()}
    b = parts[1]
    if b is None:
        return None
    match made.kind:
        case "add" | "subtract":
            sign = 1.0 if made.kind == "add" else -1.0
            return {p: a.get(p, 0.0) + sign * b.get(p, 0.0) for p in sorted({*a, *b})}
        case "multiply":
            product: Polynomial = {}
            for p, c in a.items():
                for q, d in b.items():
                    product[p + q] = product.get(p + q, 0.0) + c * d
            return product if max(product, default=0) <= 4 else None
        case "divide":
            return {p: c / b[0] for p, c in a.items()} if set(b) == {0} and b[0] else None
        case _:
            exponent = b.get(0)
            if (
                set(b) != {0}
                or exponent is None
                or exponent != int(exponent)
                or not 0 < exponent <= 3
                or len(a) != 1
            ):
                return None
            ((p, c),) = a.items()
            return {p * int(exponent): c ** int(exponent)}


def close(found: Polynomial | None, wanted: Polynomial, slack: float) -> bool:
    """Whether two polynomials have the same coefficients, each within a relative slack."""
    if found is None:
        return False
    return {p for p, c in found.items() if c} == set(wanted) and all(
        abs(found[p] - c) <= slack * abs(c) for p, c in wanted.items()
    )
