# SPDX-License-Identifier: Apache-2.0
"""
One attention in the machine's terms: its axes, its kernels, what its rows see, and the blocks it is cut in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels.matrix_unit import COLUMNS, product
from tilewright.planning.layout import View
from tilewright.planning.operators.base import Operator, Record, ceil_div, round_up
from tilewright.planning.operators.matmul import choose_kernel
from tilewright.planning.operators.targets import WORD, batch_view


@dataclass(frozen=True)
class AttentionRecord(Record):
    """Parts of the batch (heads), of the queries and of the keys."""

    grid: tuple[int, ...] = (1, 1, 1)


@dataclass(frozen=True)
class Shape:
    """b batches of queries x keys, with depth and value depth; types as the kernels read them."""

    batch: tuple[int, ...]
    queries: int
    keys: int
    depth: int
    value_depth: int
    score_kernel: str
    output_kernel: str
    dtype: str  # of q, k, v and the probabilities as the kernels read them
    scale: float
    result_dtype: str
    mask: tuple[int, ...] | None = None  # its shape, padded to the rank of the scores
    group: int = 1
    """
    Heads of queries that share a head of keys and values. They count as queries of one head: `queries` are
    those of all of them, one head after another.
    """
    band: Band | None = None
    mask_after: bool = False  # the mask is added to scores that have their scale
    boolean_mask: bool = False  # the mask says which keys are seen

    @property
    def b(self) -> int:
        return math.prod(self.batch)

    @property
    def stored_depth(self) -> int:
        """Columns of queries and keys as they are stored: words of 8-bit elements where heads cut words."""
        cut = self.depth * itemsize(self.dtype) % WORD
        return round_up(self.depth, WORD) if cut else self.depth

    @property
    def stored_values(self) -> int:
        """
        Columns of values and of the result as they are stored: words of 8-bit elements, which the result may
        become, with lanes of zeros.
        """
        return round_up(self.value_depth, WORD) if itemsize(self.dtype) < WORD else self.value_depth

    @property
    def mask_kernel(self) -> str:
        """The kernel that takes scores and mask."""
        return "mask_scores" if self.boolean_mask else "scaled_add" if self.mask_after else "pointwise.add"

    @property
    def rows(self) -> int:
        """Queries of one head."""
        return self.queries // self.group

    def view(self, *rest: int) -> View:
        """(.., heads, rows, *rest) onto storage axes (b, queries, rest...)."""
        if self.group == 1:
            return batch_view(self.batch, self.queries, *rest)
        whole = batch_view(self.batch, self.rows, *rest)
        *outer, shared = self.batch
        at = len(outer)
        heads = (*whole.digits[at], (self.group, 1, self.rows))
        shape = (*outer, shared * self.group, *whole.shape[at + 1 :])
        return View(shape, (*whole.digits[:at], heads, *whole.digits[at + 1 :]), whole.offsets)


@dataclass(frozen=True)
class Band:
    """Which keys query i sees: from `i + offset - before` to `i + offset + after`."""

    offset: int
    before: int
    after: int


FEATURES = ("mask", "boolean_mask", "mask_after_scale", "causal", "window", "shared_heads")


def features(operator: Operator) -> frozenset[str]:
    """Those of `FEATURES` that an attention needs: a strategy declines what it does not have."""
    attributes, (q, k) = operator.attributes, (shape for shape, _ in operator.operand_types[:2])
    found = {
        "mask": len(operator.operand_types) > 3,
        "boolean_mask": _is_boolean(operator),
        "mask_after_scale": attributes.get("mask_place", "before_scale") == "after_scale",
        "causal": bool(attributes.get("causal")),
        "window": attributes.get("window") is not None,
        "shared_heads": q[:-2] != k[:-2],
    }
    return frozenset(name for name, needed in found.items() if needed)


_UNBOUNDED = 1 << 30
"""As many keys on one side of a query as make no difference."""


def _band(operator: Operator) -> Band | None:
    causal, window = bool(operator.attributes.get("causal")), operator.attributes.get("window")
    if not causal and window is None:
        return None
    reach = _UNBOUNDED if window is None else int(window) - 1
    return Band(int(operator.attributes.get("query_offset", 0)), reach, 0 if causal else reach)


def canonical(operator: Operator) -> Shape:
    """The shape of an attention operator. Raises PlanError for operands of several types."""
    (q, dq), (k, dk), (v, dv) = operator.operand_types[:3]
    if dk != dq or dv != dq:
        raise operator.error(
            f"q, k and v have element types {dq}, {dk} and {dv}", hint="cast them to one type"
        )
    # Without `accumulate` FP8 adds in f16, everything else in f32: what `choose_kernel` does by itself.
    kernel_name, (dtype, _), _ = choose_kernel(operator, dq, dq, operator.attributes.get("accumulate"))
    if kernel_name == "gemm.f8":
        dtype = dq  # the unit reads OCP codes as they are
    group = math.prod(q[-3:-2]) // max(math.prod(k[-3:-2]), 1)
    return Shape(
        tuple(k[:-2]),
        q[-2] * group,
        k[-2],
        q[-1],
        v[-1],
        kernel_name,
        kernel_name,
        dtype,
        float(operator.attributes.get("scale", 1.0)),
        operator.result_dtype,
        _mask_shape(operator),
        group,
        _band(operator),
        operator.attributes.get("mask_place", "before_scale") == "after_scale" and not _is_boolean(operator),
        _is_boolean(operator),
    )


def _is_boolean(operator: Operator) -> bool:
    return len(operator.operand_types) > 3 and operator.operand_types[3][1] == "i1"


def _mask_shape(operator: Operator) -> tuple[int, ...] | None:
    if len(operator.operand_types) < 4:
        return None
    rank, mask = len(operator.operand_types[0][0]), operator.operand_types[3][0]
    return (1,) * (rank - len(mask)) + tuple(mask)


def blocks(shape: Shape, grid: tuple[int, ...]) -> tuple[int, int, int]:
    """
    Heads, queries and keys of a tile: keys in whole panels of both products, or in one of the first, which is
    half a pass of the second in 8 bits.
    """
    bp, qp, np_ = grid
    keys = round_up(ceil_div(shape.keys, np_), COLUMNS)
    if keys > COLUMNS:
        keys = round_up(keys, product(shape.output_kernel).inputs)
    return ceil_div(shape.b, bp), ceil_div(shape.queries, qp), keys


def used_grid(shape: Shape, grid: tuple[int, ...]) -> tuple[int, int, int]:
    """The grid without parts that own nothing."""
    bb, qb, nb = blocks(shape, grid)
    return ceil_div(shape.b, bb), ceil_div(shape.queries, qb), ceil_div(shape.keys, nb)
