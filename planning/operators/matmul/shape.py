# SPDX-License-Identifier: Apache-2.0
"""
One matrix multiplication in the machine's terms: its axes, its kernel, and the blocks that a grid cuts it in.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels.matrix_unit import COLUMNS, product
from tilewright.planning.layout import View
from tilewright.planning.operators.base import Operator, ceil_div, round_up

FNUZ = ("f8E4M3FNUZ", "f8E5M2FNUZ")

OCP = {"f8E4M3FN": "f8E4M3FNUZ", "f8E5M2": "f8E5M2FNUZ"}

PANEL_WORD = 4
"""8-bit elements of a word: their panels are as wide as two of the unit's."""


@dataclass(frozen=True)
class Shape:
    """
    One matmul in the machine's terms: b batches of m rows x n columns x k, after the swap.

    A leading axis that only one operand has counts as rows (of the left one) or columns (of the right one):
    the other operand is the same for all of it, and is held once. `leading` says for every leading axis of
    the result which of (b, m, n) it belongs to; all are batch axes where it is empty.
    """

    batch: tuple[int, ...]  # extents of the leading axes of the result
    m: int
    n: int
    k: int
    kernel: str
    operand_dtype: tuple[str, str]  # as the kernel reads them (left, right before the swap)
    scale: int
    result_dtype: str
    leading: tuple[int, ...] = ()
    word: int = 0  # elements that rows are completed to
    shared: bool = False  # the streamed operand is one for all batches
    lanes: bool = False  # lanes of zeros complete the contraction to whole words of the narrowest type
    filled: bool = False  # the contraction is completed to whole panels
    group: int = 0  # columns that stay together, each group completed to words: n counts the lanes
    inner: int = 0  # the same of the contraction and k

    @property
    def b(self) -> int:
        return self.outer(0)

    def outer(self, kind: int) -> int:
        """Elements of the leading axes that belong to b (0), m (1) or n (2)."""
        kinds = self.leading or (0,) * len(self.batch)
        return math.prod(n for n, own in zip(self.batch, kinds, strict=True) if own == kind)

    def view(self, *last: tuple[int, int, int]) -> View:
        """
        (leading axes, two last axes) onto three storage axes; each last axis is (extent, storage axis, b 0,
        m 1, n 2 or k 3). A leading axis that belongs to none of them has extent 1.
        """
        at = {0: 0, **{kind: axis for _, axis, kind in last}}
        stride = {0: 1, **{kind: extent for extent, _, kind in last}}
        shape: list[int] = []
        digits: list[tuple[tuple[int, int, int], ...]] = []
        kinds = self.leading or (0,) * len(self.batch)
        for extent, kind in zip(reversed(self.batch), reversed(kinds), strict=True):
            here = extent if kind in at else 1
            shape.append(here)
            digits.append(((here, at.get(kind, -1), stride.get(kind, 0)),))
            stride[kind] = stride.get(kind, 0) * extent
        shape.reverse()
        digits.reverse()
        return View(
            (*shape, *(extent for extent, _, _ in last)),
            (*digits, *(((extent, axis, 1),) for extent, axis, _ in last)),
            (0, 0, 0),
        )

    @property
    def left(self) -> View:
        """The left operand [.., m, k] onto (b, m, k)."""
        return grouped(self.view((self.m // self.outer(1), 1, 1), (self.k, 2, 3)), -1, self.inner)

    @property
    def right(self) -> View:
        """The right operand [.., n, k] onto (b, n, k)."""
        view = self.view((self.n // self.outer(2), 1, 2), (self.k, 2, 3))
        return grouped(grouped(view, -1, self.inner), -2, self.group)

    @property
    def product(self) -> View:
        """The result [.., m, n] onto (b, m, n)."""
        view = self.view((self.m // self.outer(1), 1, 1), (self.n // self.outer(2), 2, 2))
        return grouped(view, -1, self.group)

    @property
    def inputs(self) -> int:
        return product(self.kernel).inputs

    @property
    def partial(self) -> str:
        return product(self.kernel).partial


def lanes(group: int) -> int:
    """The storage of a group: words of 8-bit elements."""
    return round_up(group, PANEL_WORD)


def grouped(view: View, axis: int, group: int) -> View:
    """The view of the elements alone, along an axis of a view that has the lanes of groups as elements."""
    return view.grouped(axis, group, lanes(group)) if group else view


def choose_kernel(
    operator: Operator, a: str, b: str, accumulate: str | None
) -> tuple[str, tuple[str, str], int]:
    """
    The matrix kernel for two element types, the types it reads, and the exponent that a reinterpretation
    adds.

    OCP FP8 values are twice the FNUZ value of the same code, so they are converted exactly with scale +1
    each.
    """
    exponent = sum(1 for t in (a, b) if t in OCP)
    fa, fb = OCP.get(a, a), OCP.get(b, b)
    if fa in FNUZ and fb in FNUZ:
        if accumulate == "f32":  # the unit accumulates FP8 in f16 only: widen exactly to f16 operands
            return "gemm.f16.f32", ("f16", "f16"), 0
        return "gemm.f8", (fa, fb), exponent
    if a == b == "f16":
        return ("gemm.f16.f16" if accumulate == "f16" else "gemm.f16.f32"), (a, b), 0
    if {a, b} <= {"f16", *FNUZ, *OCP}:
        return "gemm.f16.f32" if accumulate != "f16" else "gemm.f16.f16", ("f16", "f16"), 0
    if a == b == "f32":
        return "gemm.f32", (a, b), 0
    if a == b == "bf16":
        return "gemm.bf16", (a, b), 0
    if a == b == "i8":
        return "gemm.i8", (a, b), 0
    raise operator.error(
        f"no matrix kernel multiplies {a} by {b}", hint="cast the operands to one of f8, f16, f32, bf16 or i8"
    )


def cast_exponent(source: str, dtype: str) -> int:
    """The scale of the cast of an operand to the kernel's type: OCP FP8 becomes FNUZ at half its value."""
    return 1 if source in OCP and dtype in FNUZ else 0


def accumulation(operator: Operator) -> str | None:
    """The type of the running sum as the operator defines it: FP8 products with an f32 result add in f32."""
    accumulate = operator.attributes.get("accumulate")
    if accumulate is None and operator.result_dtype == "f32":
        return "f32"
    return accumulate


def canonical(operator: Operator) -> Shape:
    """The unswapped shape of a matmul operator."""
    (sa, da), (sb, db) = operator.operand_types[:2]
    attrs = operator.attributes
    m, k = (sa[-1], sa[-2]) if attrs.get("transpose_a") else (sa[-2], sa[-1])
    n = sb[-2] if attrs.get("transpose_b") else sb[-1]
    name, dtypes, exponent = choose_kernel(operator, da, db, accumulation(operator))
    scale = int(attrs.get("scale", 0)) + exponent
    batch, kinds = _leading(sa[:-2], sb[:-2])
    shape = Shape(batch, m, n, k, name, dtypes, scale, operator.result_dtype, kinds)
    return dataclasses.replace(shape, m=m * shape.outer(1), n=n * shape.outer(2))


def _leading(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The leading axes of a product, and which of b, m and n each belongs to (empty: all to b)."""
    rank = max(len(left), len(right))
    left, right = (1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right
    kinds = tuple(0 if a == b else 1 if b == 1 else 2 for a, b in zip(left, right, strict=True))
    batch = tuple(b if a == 1 else a for a, b in zip(left, right, strict=True))
    return batch, kinds if any(kinds) else ()


def swapped(shape: Shape, swap: bool) -> Shape:
    """The product with its operands in each other's roles, if `swap`."""
    if not swap:
        return shape
    a, b = shape.operand_dtype
    return dataclasses.replace(
        shape,
        m=shape.n,
        n=shape.m,
        operand_dtype=(b, a),
        leading=tuple((0, 2, 1)[kind] for kind in shape.leading),
    )


def blocks(shape: Shape, grid: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Batch, row, column and contraction block of a tile: columns and contraction in whole panels."""
    bp, mp, np_, kp = grid
    return (
        ceil_div(shape.b, bp),
        ceil_div(shape.m, mp),
        round_up(ceil_div(shape.n, np_), COLUMNS),
        round_up(ceil_div(shape.k, kp), shape.inputs),
    )


def used_grid(shape: Shape, grid: tuple[int, ...]) -> tuple[int, int, int, int]:
    """The grid without parts that own nothing."""
    bb, mb, nb, kb = blocks(shape, grid)
    return ceil_div(shape.b, bb), ceil_div(shape.m, mb), ceil_div(shape.n, nb), ceil_div(shape.k, kb)


def word_elements(shape: Shape) -> int:
    """Elements of the narrower of the product's types in a word, and what its readers complete rows to."""
    return max(1, shape.word, 4 // min(itemsize(shape.partial), itemsize(shape.result_dtype)))


def unbatched(view: View, shape: Shape) -> View:
    """A view (batch, n, rest) of batches that are parts of the rows, as (rows, rest)."""
    if not shape.shared:
        return view
    rows = view.reshape((shape.b * shape.n, view.shape[-1]))
    assert rows is not None
    return rows
