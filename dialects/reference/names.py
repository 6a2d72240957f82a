# SPDX-License-Identifier: Apache-2.0
"""The names of the values of a program."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import tile_repeat
from tilewright.dialects import tile_tensor as tt

VALUE_NAME = "tile.value"
"""Discardable attribute with the name of an operation's result."""


def value_names(function: Operation) -> dict[SSAValue, str]:
    """
    A unique name for the result of every tensor operation below `function` but constants.

    It is the one that a pass has kept; else the value's name in the text, or that of its operation, behind
    the names of the enclosing repeats: `layers.scores`; the next value of that name is `layers.scores_2`.
    Plan files use the same names.
    """
    names: dict[SSAValue, str] = {}
    taken: set[str] = set()

    def name_block(block: Block, prefix: str) -> None:
        for op in block.ops:
            if isinstance(op, tile_repeat.RepeatOp):
                name_block(op.body_block, f"{prefix}{op.repeat_name.data}.")
            elif isinstance(op, tt.TensorOperation) and not isinstance(op, tt.ConstantOp):
                kept = op.attributes.get(VALUE_NAME)
                base = prefix + (op.result.name_hint or op.name.rpartition(".")[2])
                base = name = kept.data if isinstance(kept, StringAttr) else base
                number = 1
                while name in taken:
                    number += 1
                    name = f"{base}_{number}"
                taken.add(name)
                names[op.result] = name

    for region in function.regions:
        for block in region.blocks:
            name_block(block, "")
    return names
