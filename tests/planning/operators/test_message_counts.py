# SPDX-License-Identifier: Apache-2.0
"""In how few pieces operators move what they move: counts by hand, and where the pieces go."""

from __future__ import annotations

import numpy as np
import pytest
from operator_cases import T4, T16, check, flat, moved, operator

from tilewright.machine import Machine, load
from tilewright.machine.dtypes import itemsize
from tilewright.planning.exchange.messages import Messages, gather_sends
from tilewright.planning.operators import Operator, read_choice
from tilewright.planning.operators.blocks import block_layout
from tilewright.planning.operators.matmul.choice import choose_share
from tilewright.planning.operators.matmul.records import MatmulRecord, shape_of
from tilewright.planning.stages import Buffer, ExchangeStage, PlanError, Stages, Value, cached_transfers

T64 = load("t64")


def pieces(stages: Stages, machine: Machine, reason: str) -> tuple[int, int, int]:
    """Messages of the phases of a name, their words, and the most words that one tile receives."""
    found = [s for s in stages.stages if isinstance(s, ExchangeStage) and reason in s.reason]
    assert found
    count = words = most = 0
    for stage in found:
        parts: list[Messages] = []
        for number, move in enumerate(stage.moves):
            source, target = stages.buffer(move.src), stages.buffer(move.dst)
            t = cached_transfers(
                source.layout, move.src_view, target.layout, move.dst_view, itemsize(source.dtype)
            )
            where = np.full(len(t), number, np.int64)
            parts.append(Messages(t.src_tile, where, t.src_byte, t.dst_tile, where, t.dst_byte, t.nbytes))
        sends = gather_sends(Messages.concatenate(parts), machine.tiles, machine.message_max_words)
        received = np.bincount(sends.dst_tile, sends.words[sends.owner], machine.tiles)
        count, words, most = count + len(sends), words + int(received.sum()), max(most, int(received.max()))
    return count, words, most


def expanded(op: Operator, record: dict[str, object], machine: Machine) -> Stages:
    operands = tuple(flat(tensor, machine) for tensor in op.operand_types)
    choice = read_choice(op, record)
    stages = choice.expand(op, operands, machine)
    check(op, operands, stages, machine)
    return stages


def matmul(m: int, n: int, k: int) -> Operator:
    return operator("matmul", (((m, k), "f16"), ((k, n), "f16")), ((m, n), "f16"), accumulate="f16")


def test_few_rows_of_many_parts_are_owned_by_rows() -> None:
    """
    16 rows of 32 columns in 24 parts: 16 owners of a row of 16 columns each, not 8 of two columns, which
    would take 16 pieces of a word from each part.
    """
    stages = expanded(matmul(16, 32, 384), {"grid": [1, 1, 2, 24]}, T64)
    assert pieces(stages, T64, "partials") == (2 * 24 * 16, 2 * 24 * 16 * 8, 24 * 8)
    layout = stages.buffer(stages.results[0][0]).layout
    assert max(layout.local_extents(1, T64.tiles)) == 1
    assert max(layout.local_extents(2, T64.tiles)) == 16


def test_a_vector_is_owned_by_columns() -> None:
    """One row has no rows to share: 4 owners of 4 columns."""
    stages = expanded(matmul(1, 32, 128), {"grid": [1, 1, 2, 4]}, T16)
    assert pieces(stages, T16, "partials") == (2 * 4 * 4, 2 * 4 * 4 * 2, 4 * 2)


@pytest.mark.parametrize(("parts", "count", "columns"), [(3, 4 * 4 * 3, 48), (1, 4 * (4 * 2 + 16), 42)])
def test_a_short_last_block_sends_its_last_panel_whole(parts: int, count: int, columns: int) -> None:
    """
    42 columns in three blocks of a panel: the last has 10, whose rows of 20 bytes would be pieces of their
    own. Alone on its tiles a block is the longest there is: then no word is sent that nobody wants.
    """
    stages = expanded(matmul(16, 42, 256), {"grid": [1, 1, parts, 4]}, T16)
    owned = 4  # rows
    received = 4 * owned * (16 if parts == 3 else 42) // 2
    assert pieces(stages, T16, "partials") == (count, 4 * 16 * columns // 2, received)


def test_groups_that_are_completed_to_panels_need_no_common_owner() -> None:
    """48 columns are two groups of 24, but one and a half panels."""
    op = matmul(60, 96, 128)
    shape = shape_of(op, MatmulRecord())
    assert choose_share(shape, (1, 1, 2, 4)) == 2
    assert choose_share(shape, (1, 1, 2, 4), 24) == 1
    assert choose_share(shape, (1, 1, 2, 4), 32) == 2


def padded(rows: int, more: int, columns: int) -> Operator:
    shape, result = (1, rows, columns), (1, rows + more, columns)
    return operator("pad", ((shape, "f16"),), (result, "f16"), low=(0, 0, 0), high=(0, more, 0), value=3.0)


def in_blocks(op: Operator, machine: Machine) -> Value:
    (shape, dtype), *_ = op.operand_types
    place = block_layout(shape[1:], machine)
    assert place is not None
    view = place[1].reshape(shape)
    assert view is not None
    return Value(Buffer(place[0], dtype, "activations"), view)


def test_a_pad_of_rows_in_blocks_stays_in_blocks() -> None:
    """Blocks of 2 rows and 96 columns (6 panels) of 14 and of 16 rows begin at the same rows."""
    op = padded(14, 2, 192)
    value = in_blocks(op, T16)
    choice = read_choice(op, {"strategy": "blocks"})
    stages = choice.expand(op, (value,), T16)
    check(op, (value,), stages, T16)
    assert pieces(stages, T16, "pad") == (7 * 2, 14 * 192 // 2, 2 * 96 // 2)
    values = np.arange(14.0 * 192).reshape(1, 14, 192) + 10.0
    expected = np.pad(values, ((0, 0), (0, 2), (0, 0)), constant_values=3.0)
    assert np.array_equal(moved(op, stages, (values,)), expected)
    flat_stages = read_choice(op, {"strategy": "flat"}).expand(op, (value,), T16)
    assert pieces(flat_stages, T16, "pad")[0] == 14 * 192 // 16


def test_rows_without_whole_panels_have_no_blocks() -> None:
    op = padded(14, 2, 40)
    with pytest.raises(PlanError, match=r"a result of shape .* has no blocks of whole panels"):
        read_choice(op, {"strategy": "blocks"}).expand(op, (flat(op.operand_types[0], T4),), T4)
