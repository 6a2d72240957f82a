# SPDX-License-Identifier: Apache-2.0
"""Operations on single elements: of one operand and of two, casts, choices."""

from __future__ import annotations

import math

import numpy as np

from tilewright.machine.dtypes import is_integer
from tilewright.machine.numerics import pointwise

from .values import ELEMENTS, FLOATS, INTEGERS, LIMIT, Value
from .writer import Writer


def operations_of(operands: int) -> dict[str, tuple[str, ...]]:
    """The operations on so many single elements that each kind of elements has."""
    found = {name: pointwise.functions_of(name)[0] for name in pointwise.OPERATIONS if name != "compare"}
    return {
        kind: tuple(n for n, facts in found.items() if facts.operands == operands and kind in facts.kinds)
        for kind in ("floats", "integers", "booleans")
    }


def kind_of(dtype: str) -> str:
    return "booleans" if dtype == "i1" else "integers" if is_integer(dtype) else "floats"


SINGLE, PAIRS = operations_of(1), operations_of(2)
FUNCTIONS = SINGLE["floats"]
EXACT = ("and", "or", "xor", "not", "shift_left", "shift_right_arithmetic", "shift_right_logical")
"""What rounds nothing."""
DIRECTIONS = ("eq", "ne", "lt", "le", "gt", "ge")


def binary(w: Writer) -> Value:
    rng = w.rng
    x = w.some(lambda v: True, lambda: (w.shape(0, 5), w.element(ELEMENTS)))
    shape = list(x.shape)
    kind = rng.random()
    if kind < 0.3:  # the other operand is broadcast
        other = [1 if rng.random() < 0.5 else n for n in shape][rng.randint(0, len(shape)) :]
        y, full = w.get(tuple(other), x.dtype), tuple(shape)
    elif kind < 0.45 and math.prod(shape) * 5 < LIMIT and len(shape) < 5:  # both are
        other = [n if n > 1 else rng.choice((1, 3)) for n in shape]
        full = (rng.choice((1, 2, 3)), *other)
        y = w.get(
            (
                full[0],
                *(n if rng.random() < 0.7 or have == 1 else 1 for n, have in zip(other, shape, strict=True)),
            ),
            x.dtype,
        )
        full = np.broadcast_shapes(x.shape, y.shape)
    else:
        y, full = w.get(x.shape, x.dtype), x.shape
    operands = [x, y] if rng.random() < 0.7 else [y, x]
    dtype = x.dtype
    if not is_integer(dtype) and rng.random() < 0.3:
        dtype = rng.choice(FLOATS)
    if rng.random() < 0.2:
        return w.op(f"compare {rng.choice(DIRECTIONS)}", operands, "", tuple(full), "i1")
    if rng.random() < 0.1:
        return w.op("select", [w.get(y.shape, "i1"), *operands], "", tuple(full), x.dtype)
    name = rng.choice(PAIRS[kind_of(x.dtype)])
    dtype = x.dtype if name in EXACT else dtype
    return w.op(name, operands, "", tuple(full), dtype, "" if name in EXACT else w.saturation(dtype))


def unary(w: Writer) -> Value:
    rng = w.rng
    x = w.some(lambda v: True, lambda: (w.shape(0, 5), w.element(ELEMENTS)))
    if is_integer(x.dtype):
        return w.op(rng.choice(SINGLE[kind_of(x.dtype)]), [x], "", x.shape, x.dtype)
    name = rng.choice(FUNCTIONS)
    if name == "is_finite":
        return w.op(name, [x], "", x.shape, "i1")
    dtype = rng.choice(FLOATS) if rng.random() < 0.4 else x.dtype
    clause = f"approximate {rng.choice(('tanh', 'none'))}" if name == "gelu" else ""
    return w.op(name, [x], clause, x.shape, dtype, w.saturation(dtype))


def cast(w: Writer) -> Value:
    x = w.some(lambda v: True, lambda: (w.shape(0, 4), w.element(ELEMENTS)))
    return cast_to(w, x, w.rng.choice((*ELEMENTS, *INTEGERS)))


def cast_to(w: Writer, x: Value, dtype: str) -> Value:
    rng = w.rng
    clauses = ""
    if "i1" in (dtype, x.dtype):
        return w.op("cast", [x], "", x.shape, dtype)
    if not (is_integer(dtype) and is_integer(x.dtype)) and rng.random() < 0.4:
        clauses = f"scale {rng.randint(-3, 3)}"
    if is_integer(dtype) and not is_integer(x.dtype) and rng.random() < 0.5:
        clauses += " rounding truncate"
    attributes = "saturate = false" if is_integer(dtype) and rng.random() < 0.4 else w.saturation(dtype)
    return w.op("cast", [x], clauses.strip(), x.shape, dtype, attributes)
