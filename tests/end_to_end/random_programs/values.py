# SPDX-License-Identifier: Apache-2.0
"""
Values of random programs: their shapes, element types and numbers, the special ones of every type among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.machine.dtypes import float_format

EXTENTS = (1, 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 31, 32, 33, 48)
WIDE_FLOATS = ("f16", "f32", "bf16")
FP8 = ("f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3FN", "f8E5M2")
FLOATS = ("f16", "f16", "f32", "f32", "bf16", *FP8)
TYPES = (*WIDE_FLOATS, *FP8)
INTEGERS = ("i8", "i32")
ELEMENTS = (*FLOATS, *INTEGERS, *INTEGERS, "i1")
LIMIT = 1500  # elements of a value
SCALES = ("0.125", "0.3", "1.0", "-0.5", "3.0")  # of scores

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Value:
    """A tensor of the program: its name in the text (with %), shape and element type."""

    name: str
    shape: Shape
    dtype: str
    counts: Shape = ()  # of nested sequences, outermost first

    @property
    def type(self) -> str:
        text = tensor(self.shape, self.dtype)
        for count in reversed(self.counts):
            text = f"!tile_repeat.sequence<{count} x {text}>"
        return text


KINDS = ("none",) * 9 + ("small",) * 3 + ("large",) * 4 + ("beyond",) * 2 + ("infinite", "nan")
"""Of special values, as often as they are wanted: an infinity or a NaN hides what else a program computes."""


def special_values(dtype: str) -> dict[str, tuple[float, ...]]:
    """The special values of a float type, by kind; of both signs."""
    fmt = float_format(dtype)
    least, normal, largest = 2.0**fmt.quantum_log2, 2.0**fmt.emin, fmt.max_value
    single = min(largest * 2, float_format("f32").max_value)
    kinds = {
        "none": (),
        "small": (0.0, least, normal, 3 * least, 1.5 * normal),
        "large": (largest, largest / 2, 0.9375 * largest, largest**0.5),
        "beyond": (single, largest),
        "infinite": (np.inf, largest),
        "nan": (np.nan,),
    }
    return {kind: tuple(sign * v for v in values for sign in (1.0, -1.0)) for kind, values in kinds.items()}


def tensor(shape: Sequence[int], dtype: str) -> str:
    return "tensor<" + "".join(f"{n}x" for n in shape) + f"{dtype}>"


def literal(x: np.generic) -> str:
    if x.dtype.kind == "b":
        return "true" if x else "false"
    if x.dtype.kind == "i":
        return str(int(x))
    if np.isfinite(x) and x.dtype == np.float32:
        return f"{float(x):.8e}"
    return f"0x{int(x.view(f'u{x.dtype.itemsize}')):0{2 * x.dtype.itemsize}X}"


def nested(data: np.ndarray) -> str:
    if data.ndim == 0:
        return literal(data[()])
    return "[" + ", ".join(nested(x) for x in data) + "]"


def array(values: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, values)) + "]"


@dataclass(frozen=True)
class Program:
    """Text and values of one program."""

    text: str
    inputs: dict[str, np.ndarray]
    parameters: dict[str, np.ndarray]
