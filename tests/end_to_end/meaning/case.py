# SPDX-License-Identifier: Apache-2.0
"""A small program whose right values are written down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.machine.dtypes import is_integer, numpy_dtype

INF, NAN = math.inf, math.nan
E4, E5 = "f8E4M3FNUZ", "f8E5M2FNUZ"


@dataclass(frozen=True)
class Case:
    """
    One operation (or several, `;` between them) on %a, %b, ..: `types` are those of the operands, behind
    `->` that of the result; `expected` holds its elements in row-major order.
    """

    name: str
    body: str
    types: str
    inputs: tuple[Sequence[float], ...]
    expected: Sequence[float]
    tolerance: float = 0.0
    machine: str = "t4"

    @property
    def text(self) -> str:
        operands, _, result = self.types.partition(" -> ")
        types = [f"tensor<{entry}>" for entry in operands.split()]
        names = [f"%{letter}" for letter, _ in zip("abcdefg", types, strict=False)]
        arguments = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, types, strict=True))
        lines = [line.strip() for line in self.body.split(";")]
        if not lines[-1].startswith("%r"):
            lines = [f"%r = tile_tensor.{lines[0]} : ({', '.join(types)}) -> tensor<{result}>"]
        body = "\n  ".join(lines)
        return (
            f"func.func @main({arguments}) -> tensor<{result}> {{\n  {body}\n"
            f"  func.return %r : tensor<{result}>\n}}"
        )

    def values(self) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        for number, (entry, values) in enumerate(
            zip(self.types.partition(" -> ")[0].split(), self.inputs, strict=True)
        ):
            *shape, dtype = entry.split("x")
            kind = numpy_dtype(dtype) if is_integer(dtype) else np.float32
            found[f"arg{number}"] = np.array(values, kind).reshape([int(n) for n in shape])
        return found

    def wrong(self, output: np.ndarray) -> str | None:
        """What is wrong with an output, or None; zeros differ by their sign."""
        expected = np.array(self.expected, np.float64)
        got = np.asarray(output).astype(np.float64).reshape(-1)
        with np.errstate(invalid="ignore"):
            same = (expected == got) & (np.signbit(expected) == np.signbit(got))
            near = np.abs(expected - got) <= self.tolerance * np.abs(expected) if self.tolerance else False
        good = same | near | (np.isnan(expected) & np.isnan(got))
        return None if good.all() else f"{self.name}: found {got.tolist()}, expected {expected.tolist()}"
