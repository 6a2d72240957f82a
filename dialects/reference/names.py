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
                names[op.result] = unique_name(kept.data if isinstance(kept, StringAttr) else base, taken)

    for region in function.regions:
        for block in region.blocks:
            name_block(block, "")
    return names


def argument_names(function: Operation) -> dict[SSAValue, str]:
    """
    A unique name for every argument of every repeat below `function`, made as those of `value_names`; an
    argument without a name in the text is called `layers.arg0`. Numbers behind names do not outlive the text
    (`%s_1` and `%s_2` are both read as `s`), so the second of a name is `layers.s_2`, whatever it was.
    """
    names: dict[SSAValue, str] = {}
    taken: set[str] = set()

    def name_block(block: Block, prefix: str) -> None:
        for op in block.ops:
            if isinstance(op, tile_repeat.RepeatOp):
                label = f"{prefix}{op.repeat_name.data}."
                for argument in op.body_block.args:
                    base = label + (argument.name_hint or f"arg{argument.index}")
                    names[argument] = unique_name(base, taken)
                name_block(op.body_block, label)

    for region in function.regions:
        for block in region.blocks:
            name_block(block, "")
    return names


def unique_name(base: str, taken: set[str]) -> str:
    """The name, with a number behind it if it is taken; now it is."""
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    taken.add(name)
    return name
