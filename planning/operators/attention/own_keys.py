# SPDX-License-Identifier: Apache-2.0
"""
Attention on the same score grid (`score_grid`), with the softmax of every tile's own keys.

A tile takes maximum, exponentials and sum of its block in one call and does not wait for the maxima of
others. Its output is of its own scale: the owners of the result weigh every part by exp(scale * (its maximum
- the row's)), add up, and divide by the sum of the sums weighed likewise, in one call.

In f16 sums a part needs room for the sum of its values: its largest probability is 1, as a row's is.

Queries and keys of 8 bits may lie in groups of columns that are completed to whole panels (`cast_panels`):
passes of the first product then take the columns of a group each, and what moves is whole panels.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels.matrix_unit import COLUMNS
from tilewright.planning.layout import Axis, View
from tilewright.planning.layout.padding import pad_region
from tilewright.planning.operators.attention.expansion import PART_ROWS, SCORES, Expansion
from tilewright.planning.operators.attention.grids import ranked_grids
from tilewright.planning.operators.attention.places import grid_of_keys, layouts, shape_targets
from tilewright.planning.operators.attention.score_grid import CANDIDATES, check_record
from tilewright.planning.operators.attention.shape import AttentionRecord, Shape, canonical, features
from tilewright.planning.operators.base import Operator, Surroundings, round_up
from tilewright.planning.operators.cast_panels import lanes, narrowed, stored_group, widened
from tilewright.planning.operators.movement import fill_word
from tilewright.planning.operators.rowwise import empty_rows
from tilewright.planning.operators.strategy import Strategy
from tilewright.planning.operators.targets import Target
from tilewright.planning.stages import Stages, Value


@dataclass(frozen=True)
class OwnKeysRecord(AttentionRecord):
    """
    Parts of the batch (heads), of the queries and of the keys; `group`: columns of queries and keys that fill
    panels by themselves (0: those of a head); `ones`: the second product takes the sums as well, by rows of
    ones where the columns of values leave room in their last panel.
    """

    group: int = 0
    ones: bool = False


SERVES = frozenset(("mask", "boolean_mask", "mask_after_scale", "shared_heads", "causal", "window"))
"""Features of attention that this strategy has."""


def applies(operator: Operator) -> bool:
    """Whether nothing is asked for that this strategy does not have."""
    return features(operator) <= SERVES


def common_group(operator: Operator, operands: tuple[Value | None, ...]) -> int:
    """The group of columns in which both queries and keys lie completed to panels; 0 if they do not."""
    shape = canonical(operator)
    if shape.score_kernel != "gemm.f8" or not shape.depth:
        return 0
    found = {0 if x is None else stored_group(x, shape.depth) for x in operands[:2]}
    return found.pop() if len(found) == 1 else 0


def stored_shape(operator: Operator, record: OwnKeysRecord) -> Shape:
    """The attention that is computed: with the lanes of groups as columns."""
    shape = canonical(operator)
    if not record.group:
        return shape
    if record.group < 0 or shape.depth % record.group or shape.score_kernel != "gemm.f8":
        raise operator.error(
            f"groups of {record.group} columns are for 8-bit heads that they divide; there are {shape.depth}",
            hint="use group 0",
        )
    return dataclasses.replace(shape, depth=shape.depth // record.group * lanes(record.group))


def default_record(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> OwnKeysRecord:
    return next(candidates(operator, operands, machine, near))


def candidates(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> Iterator[OwnKeysRecord]:
    """The cheapest score grids by the closed form; that of keys which stay where they are first."""
    group = common_group(operator, operands)
    shape = stored_shape(operator, OwnKeysRecord(group=group))
    room = shape.stored_values % COLUMNS != 0 and not shape.dtype.startswith("i")
    still = grid_of_keys(shape, operands[1], machine) if not group else None
    ranked = ranked_grids(shape, machine, own_keys=kernel_name(room))[:CANDIDATES]
    for grid in dict.fromkeys(((still,) if still is not None else ()) + ranked):
        yield OwnKeysRecord(grid, group, room and has_room(shape, OwnKeysRecord(grid, group), machine))


def kernel_name(ones: bool) -> str:
    """The kernel of a tile's own keys."""
    return "softmax.raise" if ones else "softmax.part"


def has_room(shape: Shape, record: OwnKeysRecord, machine: Machine) -> bool:
    """Whether the padding behind the columns of the values can be written by itself: for rows of ones."""
    values = layouts(shape, record.grid, machine).v
    return (
        shape.stored_values % COLUMNS != 0
        and pad_region(values, 1, itemsize(shape.dtype), machine.tiles) is not None
    )


def operand_targets(
    operator: Operator, record: OwnKeysRecord, operands: tuple[Value | None, ...], machine: Machine
) -> tuple[Target | None, ...]:
    """Where queries, keys and values are wanted; a mask is taken as it is."""
    check_record(operator, record, machine)
    q, k, *rest = shape_targets(stored_shape(operator, record), record, machine)
    if record.group and q is not None and k is not None:
        q, k = ((layout, narrowed(view, record.group)) for layout, view in (q, k))
    return (q, k, *rest)


def expand(
    operator: Operator, record: OwnKeysRecord, operands: tuple[Value, ...], machine: Machine
) -> Stages:
    """Scores and probabilities of every block by its own keys; parts are merged by their weights."""
    check_record(operator, record, machine)
    return _Expansion(operator, record, operands, machine).stages()


class _Expansion(Expansion):
    """The stages of one attention, in the order in which a tile goes through them."""

    def __init__(
        self, operator: Operator, record: OwnKeysRecord, operands: tuple[Value, ...], machine: Machine
    ) -> None:
        super().__init__(operator, record, operands, machine, stored_shape(operator, record))
        self.group = record.group
        self.ones = record.ones
        stored = self.shape.stored_values
        self.columns = round_up(stored, COLUMNS) if record.ones else stored
        if record.ones:
            if not has_room(self.shape, record, machine):
                raise operator.error(
                    f"{self.shape.value_depth} columns of values leave no room for rows of ones",
                    hint="use ones = false",
                )
            wide = Axis(self.columns, (), (COLUMNS,))
            self.where = dataclasses.replace(
                self.where,
                **{
                    name: dataclasses.replace(layout, axes=(*layout.axes[:-1], wide))
                    for name, layout in (("partial", self.where.partial), ("arrived", self.where.arrived))
                },
            )
        self.zero_lanes = bool(operator.attributes.get("zero_lanes", False)) and record.group == common_group(
            operator, operands
        )

    @property
    def finite_lanes(self) -> set[str]:
        """Lanes of groups come along only where they are zeros, and are elements then."""
        return super().finite_lanes - ({"q", "k"} if self.group else set[str]())

    def source(self, number: int, target: Target) -> tuple[str, View, Target]:
        """With groups whose lanes are zeros, the lanes come along as columns."""
        name, view, (layout, wanted) = super().source(number, target)
        if not self.group or number > 1:
            return name, view, (layout, wanted)
        if self.zero_lanes:
            return name, widened(view, self.group), (layout, wanted)
        return name, view, (layout, narrowed(wanted, self.group))

    def pad_words(self) -> dict[str, dict[int, int]]:
        """Rows of ones behind the columns of the values."""
        return {"v": {1: fill_word(1.0, self.shape.dtype)}} if self.ones else {}

    def stages(self) -> Stages:
        q, k, v, mask = self.operands()
        scores, scale = self.scores(q, k, mask)
        p, statistics = self.part(scores, scale)
        self.merge(self.outputs(p, v), statistics, scale)
        return self.finish()

    def part(self, scores: str, scale: float) -> tuple[str, list[str]]:
        """
        exp(s - the block's maximum) as the left operand of the second product; those maxima and, unless rows
        of ones give them, the sums.
        """
        builder = self.builder
        p = self.probability_buffer()
        statistics = [
            builder.add_buffer(name, self.where.sums, "f32", "partials")
            for name in (("maxima",) if self.ones else ("maxima", "sums"))
        ]
        name = kernel_name(self.ones)
        builder.compute(
            name.replace("softmax", "band") if self.band_operands else name,
            "bmnij" if self.band_operands else "bmn",
            [(scores, SCORES), *self.band_operands],
            [(p, SCORES), *((name, PART_ROWS) for name in statistics)],
            "exp(s - the part's max)",
            scale=scale,
            **self.band_scalars(),
            **empty_rows(self.operator, "zero"),
        )
        return p, statistics

    def merge(self, outputs: str, statistics: list[str], scale: float) -> None:
        """The result, by its owners: outputs of all key parts weighed by their maxima, over their sums."""
        builder, shape, where = self.builder, self.shape, self.where
        names = [outputs, *statistics]
        if self.parts > 1:
            names = [
                builder.add_buffer(f"arrived_{name}", layout, builder.get(name).dtype, "partials")
                for name, layout in zip(
                    names, (where.arrived, *[where.arrived_sums] * len(statistics)), strict=True
                )
            ]
            rows = View.identity((self.parts, shape.b, shape.queries))
            each = View.identity((self.parts, shape.b, shape.queries, self.columns))
            views = (each, *[rows] * len(statistics))
            builder.gather_each(
                [
                    ([(source, view, view)], name)
                    for source, view, name in zip((outputs, *statistics), views, names, strict=True)
                ],
                "outputs, maxima and sums of the key parts",
            )
        builder.add_buffer("result", where.result, shape.result_dtype, "activations")
        column = "c" if self.ones else "n"
        builder.compute(
            "softmax.merge_columns" if self.ones else "softmax.merge",
            "pbmnc" if self.ones else "pbmn",
            [
                (names[0], {"p": 0, "b": 1, "m": 2, column: 3}),
                *((name, {"p": 0, **PART_ROWS}) for name in names[1:]),
            ],
            [("result", SCORES)],
            f"merge {self.parts} parts of the keys" if self.parts > 1 else "divide by the sums",
            scale=scale,
            **(empty_rows(self.operator, "zero") if self.ones else {}),
            **self.operator.saturation,
        )


OWN_KEYS = Strategy(
    "own_keys",
    ("attention",),
    OwnKeysRecord,
    default=default_record,
    candidates=candidates,
    targets=operand_targets,
    expand=expand,
    applies=applies,
)
