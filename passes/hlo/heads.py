# SPDX-License-Identifier: Apache-2.0
"""
Heads of keys and values that a program repeats for its queries: attention shares them instead.

Exporters write the repetition as broadcasts between transposes and reshapes in any order. What the views do
is evaluated on the numbers of the elements: heads are repeated where those say so, however it is spelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.hlo.operations import HloOperation
from tilewright.passes.hlo.rewriting import Emitter, owner, shape_of

LARGEST = 1 << 24
"""Elements of a value beyond which nothing is evaluated."""

_VIEWS = ("reshape", "transpose", "broadcast_in_dim")


def share_heads(op: tt.AttentionOp) -> bool:
    """Take from an attention the repetition of its keys and values, where both are repeated alike."""
    emit, rank = Emitter(op), len(shape_of(op.key))
    if rank < 3:
        return False
    found = unrepeated(emit, op.key, op.value, range(rank), range(rank))
    if found is None:
        return False
    op.operands[1], op.operands[2] = found
    return True


def unrepeated(
    emit: Emitter, key: SSAValue, value: SSAValue, key_order: Sequence[int], value_order: Sequence[int]
) -> tuple[SSAValue, SSAValue] | None:
    """
    Keys and values [.., heads, keys, width] as they were before heads were repeated, in front of the place of
    `emit`; `key_order` and `value_order` are the permutations that give that order of axes. None where they
    are not repeated, or not alike.
    """
    sources = [_source(key, key_order), _source(value, value_order)]
    if sources[0] is None or sources[1] is None or sources[0][2] != sources[1][2]:
        return None
    shape_k, shape_v = shape_of(key), shape_of(value)
    made: list[SSAValue] = []
    for found, shape, order in zip(sources, (shape_k, shape_v), (key_order, value_order), strict=True):
        assert found is not None
        base, permutation, times = found
        wanted = [shape[axis] for axis in order]
        wanted[-3] //= times
        moved = emit.op("transpose", [base], permutation=permutation)
        made.append(emit.op("reshape", [moved], shape=wanted))
    return made[0], made[1]


def _source(value: SSAValue, order: Sequence[int]) -> tuple[SSAValue, list[int], int] | None:
    """What a value repeats, its permutation to [.., heads, keys, width], how often each head stands there."""
    views: list[HloOperation] = []
    base = value
    while (made := owner(base, *_VIEWS)) is not None:
        views.append(made)
        base = made.operands[0]
        if prod(shape_of(base)) != prod(shape_of(value)):
            break
    shape = [shape_of(value)[axis] for axis in order]
    size = prod(shape_of(base))
    if size == prod(shape) or not 0 < prod(shape) <= LARGEST or len(shape) < 3:
        return None
    times, rest = divmod(prod(shape), size)
    if rest or shape[-3] % times:
        return None
    numbers = np.arange(size, dtype=np.int32).reshape(shape_of(base))
    for view in reversed(views):
        numbers = _viewed(numbers, view)
    numbers = numbers.transpose(order)
    groups = numbers.reshape(*shape[:-3], shape[-3] // times, times, *shape[-2:])
    few = groups[..., 0, :, :]
    if not (groups == few[..., None, :, :]).all():
        return None
    permutation = _permutation(shape_of(base), few)
    return None if permutation is None else (base, permutation, times)


def _viewed(numbers: np.ndarray, view: HloOperation) -> np.ndarray:
    result = shape_of(view.results[0])
    if view.kind == "reshape":
        return numbers.reshape(result)
    if view.kind == "transpose":
        return numbers.transpose(view.get("permutation"))
    dimensions = view.get("dimensions")
    order = sorted(range(len(dimensions)), key=dimensions.__getitem__)
    wide = [1] * len(result)
    for i, axis in enumerate(dimensions):
        wide[axis] = numbers.shape[i]
    return np.broadcast_to(numbers.transpose(order).reshape(wide), result)


def _permutation(shape: Sequence[int], wanted: np.ndarray) -> list[int] | None:
    """The order of axes in which the elements of a shape are numbered as `wanted`, axes of 1 apart."""
    ones = [axis for axis, extent in enumerate(shape) if extent == 1]
    extents = [extent for extent in wanted.shape if extent != 1]
    numbers = np.arange(prod(shape), dtype=np.int32).reshape(tuple(shape))
    for order in permutations([axis for axis, extent in enumerate(shape) if extent != 1]):
        if [shape[axis] for axis in order] == extents:
            if np.array_equal(numbers.transpose([*ones, *order]).reshape(wanted.shape), wanted):
                return [*ones, *order]
    return None
