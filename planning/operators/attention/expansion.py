# SPDX-License-Identifier: Apache-2.0
"""The stages of an attention: scores, probabilities, outputs, and the reduction of key parts."""

from __future__ import annotations

import dataclasses

import numpy as np

from tilewright.machine import Machine
from tilewright.machine.kernels.matrix_unit import product
from tilewright.planning.layout import Axis, Layout, View
from tilewright.planning.operators.attention.places import (
    layouts,
    mask_place,
    mask_source,
    shape_targets,
    tile_digits,
)
from tilewright.planning.operators.attention.shape import AttentionRecord, Shape, blocks, canonical, used_grid
from tilewright.planning.operators.base import Operator
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.grids import replicas, splits
from tilewright.planning.operators.rowwise import empty_rows
from tilewright.planning.operators.targets import Target
from tilewright.planning.stages import Stages, Value

SCORES = {"b": 0, "m": 1, "n": 2}

_LEFT = {"b": 0, "m": 1, "k": 2}

_RIGHT = {"b": 0, "n": 1, "k": 2}

PART_ROWS = {"b": 1, "m": 2}
"""Storage axes of operands: rows of one key part have the part in front."""

PART_BLOCK = {"b": 1, "m": 2, "n": 3}

_ROWS = {"b": 0, "m": 1}

Operand = tuple[str, dict[str, int]]
"""A buffer, and its storage axis for each kernel axis."""


class Expansion:
    """The stages of one attention, in the order in which a tile goes through them."""

    def __init__(
        self,
        operator: Operator,
        record: AttentionRecord,
        operands: tuple[Value, ...],
        machine: Machine,
        shape: Shape | None = None,
    ) -> None:
        self.operator = operator
        self.record = record
        self.machine = machine
        self.shape = shape or canonical(operator)
        self.where = layouts(self.shape, record.grid, machine)
        self.parts = used_grid(self.shape, record.grid)[2]
        self.builder = Builder(operator, operands, machine)
        self.constants: dict[str, np.ndarray] = {}
        self.band_operands = self.band()

    def band(self) -> list[Operand]:
        """The numbers of each block's first query and first key, if a query does not see all keys."""
        shape, grid = self.shape, self.record.grid
        if shape.band is None:
            return []
        _, qp, np_ = used_grid(shape, grid)
        _, qb, nb = blocks(shape, grid)
        batch, by_query, by_key = tile_digits(shape, grid)
        for name, count, block, own, other in (
            ("first_query", qp, qb, by_query, by_key),
            ("first_key", np_, nb, by_key, by_query),
        ):
            axis = Axis(count, splits(1, own))
            layout = Layout((axis,), ((0, 0),), replicas(*batch, *other), 0, self.machine.tiles)
            self.builder.add_buffer(name, layout, "i32", "parameters")
            self.constants[name] = np.arange(count, dtype=np.int32) * block
        return [("first_query", {"i": 0}), ("first_key", {"j": 0})]

    def band_scalars(self) -> dict[str, int]:
        """What kernels are told of the keys that a query sees."""
        band = self.shape.band
        if band is None:
            return {}
        return {"rows": self.shape.rows, "offset": band.offset, "before": band.before, "after": band.after}

    def stages(self) -> Stages:
        """All stages, to the result."""
        q, k, v, mask = self.operands()
        scores, scale = self.scores(q, k, mask)
        probabilities, sums = self.probabilities(scores, self.extremum(scores, scale), scale)
        outputs = self.outputs(probabilities, v)
        if self.parts == 1:
            self.divide((outputs, PART_BLOCK), (sums, PART_ROWS), self.where.sums)
        else:
            total, row_sum = self.reduced(outputs, sums)
            self.divide((total, SCORES), (row_sum, _ROWS), self.where.result_row)
        return self.finish()

    def finish(self) -> Stages:
        """All that was added; the buffer of the result is called so."""
        shape = self.shape
        return dataclasses.replace(
            self.builder.finish(("result", shape.view(shape.value_depth))), constants=self.constants
        )

    def operands(self) -> tuple[str, str, str, Operand | None]:
        """q, k, v and the mask (if there is one), brought to where the blocks want them in one phase."""
        operator, builder = self.operator, self.builder
        targets = shape_targets(self.shape, self.record, self.machine)[:3]
        sources = [self.source(i, target) for i, target in enumerate(targets) if target is not None]
        mask_axes: dict[str, int] = {}
        if self.shape.mask is not None:
            layout, view, mask_axes, full = mask_place(self.shape, self.record.grid, self.machine)
            source = mask_source(builder.operands[3], full, mask_axes["m"] == -1)
            if source is None:
                raise operator.error(
                    "the mask's layout cannot be broadcast", hint="give it the shape of the scores"
                )
            sources.append(("in3", source, (layout, view)))
        q, k, v, *mask = builder.convert(
            sources,
            ["q", "k", "v", "mask"][: len(sources)],
            "attention operands",
            zero_pad=True,
            finite_lanes=self.finite_lanes,
            pad_words=self.pad_words(),
        )
        return q, k, v, (mask[0], mask_axes) if mask else None

    def pad_words(self) -> dict[str, dict[int, int]]:
        """What the padding of operands repeats instead of zero (`Builder.convert`)."""
        return {}

    @property
    def finite_lanes(self) -> set[str]:
        """
        Operands beside whose elements something may come along (`Builder.convert`): finite numbers meet a
        probability of zero; behind the columns of heads both operands need zeros.
        """
        attributes = self.operator.attributes
        found = {"v"} if attributes.get("finite_lanes", False) else set[str]()
        return found | {"q", "k"} if attributes.get("head_lanes", False) else found

    def source(self, number: int, target: Target) -> tuple[str, View, Target]:
        """What is moved to be operand `number` at `target`."""
        return self.widened(number), self.builder.operands[number].view, target

    def widened(self, number: int) -> str:
        """Operand `number` as the kernels read it: FP8 that is added up in f32 is widened to f16."""
        value, dtype = self.builder.operands[number], self.shape.dtype
        if value.dtype == dtype:
            return f"in{number}"
        wide = self.builder.add_buffer(f"wide{number}", value.layout, dtype)
        self.builder.elementwise("cast", f"in{number}", wide, "operand in the kernel's format", scale=0)
        return wide

    def scores(self, q: str, k: str, mask: Operand | None) -> tuple[str, float]:
        """q k^T of every block, the mask added, and the scale that they do not have yet."""
        builder, shape, layout = self.builder, self.shape, self.where.scores
        dtype = product(shape.score_kernel).partial
        scores = builder.add_buffer("scores", layout, dtype)
        builder.compute(
            shape.score_kernel, "bmnk", [(q, _LEFT), (k, _RIGHT)], [(scores, SCORES)], "q k^T", scale=0
        )
        if mask is None:
            return scores, shape.scale
        masked = builder.add_buffer("masked", dataclasses.replace(layout, memory="any"), dtype)
        after: dict[str, float] = {"scale": shape.scale} if shape.mask_after or shape.boolean_mask else {}
        builder.compute(
            shape.mask_kernel,
            "bmn",
            [(scores, SCORES), mask],
            [(masked, SCORES)],
            {"scaled_add": "scale and add the mask"}.get(shape.mask_kernel, "the mask"),
            **after,
        )
        return masked, 1.0 if shape.mask_after else shape.scale

    def extremum(self, scores: str, scale: float) -> Operand:
        """The maximum of every row over all key parts: of scale * s where scale turns the order around."""
        builder, where = self.builder, self.where
        kernel_name, what = ("reduce.max", "row maxima") if scale >= 0 else ("reduce.min", "row minima")
        maxima = builder.add_buffer("maxima", where.maxima, "f32", "partials")
        if self.band_operands:
            builder.compute(
                kernel_name.replace("reduce", "band"),
                "bmnij",
                [(scores, SCORES), *self.band_operands],
                [(maxima, PART_ROWS)],
                f"{what} of the keys seen",
                **self.band_scalars(),
            )
        else:
            builder.compute(kernel_name, "bmn", [(scores, SCORES)], [(maxima, PART_ROWS)], what, reduced=1)
        if self.parts == 1:
            return maxima, PART_ROWS
        gathered = builder.add_buffer("all_maxima", where.all_maxima, "f32", "partials")
        every = View.identity((self.parts, self.shape.b, self.shape.queries))
        builder.gather_into([(maxima, every, every)], gathered, f"{what} of the key parts")
        row = builder.add_buffer("row_max", where.row, "f32")
        builder.compute(
            kernel_name, "bmp", [(gathered, {**PART_ROWS, "p": 0})], [(row, _ROWS)], what, reduced=1
        )
        return row, _ROWS

    def probabilities(self, scores: str, row: Operand, scale: float) -> tuple[str, str]:
        """exp(s - max) and the sums of its rows."""
        builder = self.builder
        p = self.probability_buffer()
        sums = builder.add_buffer("sums", self.where.sums, "f32", "partials")
        builder.compute(
            "band.exp" if self.band_operands else "softmax.exp",
            "bmnij" if self.band_operands else "bmn",
            [(scores, SCORES), row, *self.band_operands],
            [(p, SCORES), (sums, PART_ROWS)],
            "exp(s - max)",
            scale=scale,
            **self.band_scalars(),
            **empty_rows(self.operator, "zero"),
        )
        return p, sums

    def probability_buffer(self) -> str:
        """
        Where probabilities go: the left operand of the second product, in panels as wide as a pass of its
        kernel, padding zero.
        """
        builder, shape, layout = self.builder, self.shape, self.where.scores
        *outer, keys = layout.axes
        keys = dataclasses.replace(keys, panels=(product(shape.output_kernel).inputs,))
        left = dataclasses.replace(layout, axes=(*outer, keys), memory="any")
        p = builder.add_buffer("p", left, shape.dtype)
        builder.fill_padding(p, "padding keys have probability zero")
        return p

    def outputs(self, probabilities: str, v: str) -> str:
        """p v of every block, not yet divided by the sums."""
        builder, name = self.builder, self.shape.output_kernel
        outputs = builder.add_buffer("outputs", self.where.partial, product(name).partial, "partials")
        builder.compute(
            name, "bmnk", [(probabilities, _LEFT), (v, _RIGHT)], [(outputs, PART_BLOCK)], "p v", scale=0
        )
        return outputs

    def reduced(self, outputs: str, sums: str) -> tuple[str, str]:
        """Outputs and sums of all key parts added up, by the owners of the result."""
        builder, shape, where, parts = self.builder, self.shape, self.where, self.parts
        partial_type = product(shape.output_kernel).partial
        arrived = builder.add_buffer("arrived", where.arrived, partial_type, "partials")
        arrived_sums = builder.add_buffer("arrived_sums", where.arrived_sums, "f32", "partials")
        blocks_ = View.identity((parts, shape.b, shape.queries, shape.stored_values))
        rows = View.identity((parts, shape.b, shape.queries))
        builder.gather_each(
            [([(outputs, blocks_, blocks_)], arrived), ([(sums, rows, rows)], arrived_sums)],
            "outputs and sums of the key parts",
        )
        total = builder.add_buffer("output", where.result, "f32")
        builder.compute(
            "reduce_partials",
            "pbmn",
            [(arrived, {"p": 0, **PART_BLOCK})],
            [(total, SCORES)],
            f"add {parts} partial outputs",
        )
        row_sum = builder.add_buffer("row_sum", where.result_row, "f32")
        builder.compute(
            "reduce_partials",
            "pbm",
            [(arrived_sums, {"p": 0, **PART_ROWS})],
            [(row_sum, _ROWS)],
            f"add {parts} partial sums",
        )
        return total, row_sum

    def divide(self, outputs: Operand, sums: Operand, rows: Layout) -> None:
        """The result: outputs divided by the sums of their rows, which lie as `rows`."""
        builder, shape = self.builder, self.shape
        _, axes = sums
        inverse = builder.add_buffer("inverse", rows, "f32")
        builder.compute("pointwise.reciprocal", "bm", [sums], [(inverse, axes)], "one over the sums")
        builder.add_buffer("result", self.where.result, shape.result_dtype, "activations")
        builder.compute(
            "pointwise.mul",
            "bmn",
            [outputs, (inverse, {**axes, "n": -1})],
            [("result", SCORES)],
            "divide by the sums",
            **self.operator.saturation,
        )
