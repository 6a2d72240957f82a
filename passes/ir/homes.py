# SPDX-License-Identifier: Apache-2.0
"""
Parameters and their homes in the IR: which values show one home, who reads them, and how to write another
home.

A home is the encoding of a parameter's argument and of every value that is the same storage: results of
`tile_layout.home`, members of a sequence, and the arguments through which repeats pass it inside (invariant,
or the current member of an iterated sequence).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.entry import argument_attributes, read_entry
from tilewright.dialects.tile_layout import HomeOp, MaterializeOp
from tilewright.dialects.tile_repeat import MemberOp, RepeatOp, SequenceType
from tilewright.instrumentation import remark
from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.passes.ir.tensors import (
    choice_of,
    dtype_of,
    operator_of,
    placement,
    tensor_of,
    value_of,
    with_encoding,
)
from tilewright.planning.exchange.copies import refusal
from tilewright.planning.homes import HomeError, StorageGroup
from tilewright.planning.layout import Layout, View
from tilewright.planning.operators import is_planned
from tilewright.planning.operators import matmul as matmul_plan

PINNED_ATTRIBUTE = "tile_layout.pinned"
"""On an argument: its layout is its home and stays."""


@dataclass
class Home:
    """
    One parameter (or sequence of parameters) that has a layout.

    values: every SSA value that is this storage, the argument first. uses: the reads of them. pinned: why it
    may not move.
    """

    name: str
    argument: BlockArgument
    layout: Layout
    view: View
    members: int
    pinned: str | None = None
    values: list[SSAValue] = field(default_factory=list[SSAValue])
    uses: list[Use] = field(default_factory=list[Use])

    @property
    def dtype(self) -> str:
        return dtype_of(tensor_of(self.argument).element_type)

    @property
    def group(self) -> StorageGroup:
        """The home as planning sees it."""
        return StorageGroup(self.name, self.layout, itemsize(self.dtype), self.members, self.pinned)

    def place(self, layout: Layout, view: View) -> None:
        """Write another home into the IR; readers must not depend on it (see `materialise`)."""
        if self.pinned is not None:
            raise HomeError(
                f"{self.name}: its home is pinned ({self.pinned})", location=self.argument.location
            )
        for i, value in enumerate(self.values):
            self.values[i] = Rewriter.replace_value_with_new_type(
                value, with_encoding(value.type, layout, view)
            )
        argument = self.values[0]
        assert isinstance(argument, BlockArgument)
        self.argument, self.layout, self.view = argument, layout, view
        self.uses = _reads(self.values)


def find_homes(module: ModuleOp) -> list[Home]:
    """The placed parameters of the entry function, in order. Raises `HomeError` for a pin without a home."""
    entry = read_entry(module)
    homes: list[Home] = []
    for argument in entry.parameters:
        value = argument.value
        pinned = PINNED_ATTRIBUTE in argument_attributes(entry.func.arg_attrs, value.index)
        where = placement(value)
        if where is None:
            if pinned:
                raise HomeError(
                    f"parameter {argument.name!r} is pinned but has no layout",
                    location=argument.location,
                    hint="write the home as the encoding of its type, or drop the pin",
                )
            continue
        members = math.prod(value.type.counts) if isinstance(value.type, SequenceType) else 1
        home = Home(argument.name, value, *where, members, "an attribute pins it" if pinned else None)
        _follow(home)
        homes.append(home)
    return homes


def _follow(home: Home) -> None:
    home.values = [home.argument]
    for value in home.values:  # grows
        for use in value.uses:
            op = use.operation
            match op:
                case RepeatOp():
                    argument = op.body_block.args[use.index]
                    if use.index >= len(op.carried) and argument not in home.values:
                        home.values.append(argument)
                case HomeOp():
                    home.values.append(op.result)
                    if op.pinned is not None and home.pinned is None:
                        home.pinned = "tile_layout.home pins it"
                case MemberOp():
                    home.values.append(op.result)
                case _:
                    pass
    home.uses = _reads(home.values)
    for value in home.values:
        if placement(value) != (home.layout, home.view):
            home.pinned = home.pinned or "it is placed in two ways"
    for use in home.uses:
        op = use.operation
        if isinstance(op.operands[use.index].type, SequenceType) and not isinstance(op, RepeatOp):
            home.pinned = home.pinned or f"{op.name} takes the whole sequence"
        elif not op.name.startswith(("tile_tensor.", "tile_layout.", "tile_repeat.", "func.")):
            home.pinned = home.pinned or f"{op.name} reads it"


def _reads(values: Sequence[SSAValue]) -> list[Use]:
    """Uses that are not just another name of the home, in program order within a value."""
    found: list[Use] = []
    for value in values:
        uses = [u for u in value.uses if not isinstance(u.operation, (HomeOp, MemberOp))]
        found += [
            u for u in uses if not (isinstance(u.operation, RepeatOp) and u.index >= len(u.operation.carried))
        ]
    return found


def materialise(home: Home) -> list[MaterializeOp]:
    """
    Put a `tile_layout.materialize` to the present layout between the home and its readers, once per block
    that reads it.

    Returns what was added. Afterwards the home may be placed elsewhere and no reader sees it.
    """
    added: list[MaterializeOp] = []
    for value in list(home.values):
        uses = [u for u in _reads([value]) if not isinstance(u.operation, MaterializeOp)]
        if not uses:
            continue
        block = value.block if isinstance(value, BlockArgument) else value.owner.parent_block()  # type: ignore[union-attr]
        assert block is not None
        readers = [_within(u.operation, block) for u in uses]
        first = next(op for op in block.ops if op in readers)
        op = MaterializeOp(value, value.type)
        op.location = first.location
        op.result.name_hint = value.name_hint
        Rewriter.insert_op(op, InsertPoint.before(first))
        for use in uses:
            use.operation.operands[use.index] = op.result
        added.append(op)
    home.uses = _reads(home.values)
    return added


def move(home: Home, layout: Layout) -> list[MaterializeOp]:
    """
    Another home for a parameter; its readers keep seeing the layout that they were planned with. Returns the
    operations that were added for them.
    """
    remark("home", f"`{home.name}` moves from {home.layout} to {layout}", home.argument.location)
    added = materialise(home)
    home.place(layout, home.view)
    return added


@contextmanager
def moved(homes: Sequence[Home], layouts: Sequence[Layout | None]) -> Iterator[None]:
    """The program with some homes elsewhere; it is as it was when the block is left."""
    undo: list[tuple[Home, Layout, list[MaterializeOp]]] = []
    try:
        for home, layout in zip(homes, layouts, strict=True):
            if layout is not None:
                old = home.layout
                undo.append((home, old, move(home, layout)))
        yield
    finally:
        for home, old, added in reversed(undo):
            home.place(old, home.view)
            for op in added:
                op.result.replace_all_uses_with(op.operands[0])
                op.detach()
                op.erase()
            home.uses = _reads(home.values)


def _within(op: Operation, block: object) -> Operation:
    """The operation of `block` that holds `op`."""
    while op.parent_block() is not block:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


def wanted(op: Operation, index: int, machine: Machine) -> tuple[Layout, View, str] | None:
    """
    Where a planned tensor operation wants an operand and in which element type; None if it has no wish or no
    plan.
    """
    if not op.name.startswith("tile_tensor.") or not is_planned(op.name.partition(".")[2]):
        return None
    operator = operator_of(op)
    choice = choice_of(op, operator)
    if choice is None:
        return None
    target = choice.targets(operator, tuple(value_of(v) for v in op.operands), machine)[index]
    if target is None:
        return None
    dtype = dtype_of(tensor_of(op.operands[index]).element_type)
    if op.name == "tile_tensor.matmul" and index < 2:
        dtype = matmul_plan.canonical(operator).operand_dtype[index]
    return (*target, dtype)


def unencodable(home: Home, layout: Layout, view: View, machine: Machine) -> str | None:
    """Why some reader cannot have the parameter from this home (P5), None if all can."""
    for use in home.uses:
        op = use.operation
        if isinstance(op, MaterializeOp):
            where = placement(op.result)
            assert where is not None
            wish = (*where, home.dtype)
        else:
            wish = wanted(op, use.index, machine)
        if wish is not None:
            reason = refusal(home.name, layout, view, *wish)
            if reason is not None:
                return reason
    return None


def read_in_place(home: Home, machine: Machine) -> bool:
    """
    Whether some reader takes the parameter from its home as it is: moving it would cost a buffer and an
    exchange.
    """
    for use in home.uses:
        if isinstance(use.operation, MaterializeOp):
            continue
        wish = wanted(use.operation, use.index, machine)
        if wish is not None and wish[:2] == (home.layout, home.view):
            return True
    return False


def movable(home: Home, machine: Machine) -> StorageGroup:
    """The storage group of a home, with the reason why choosing leaves it where it is, if there is one."""
    group = home.group
    if group.pinned is not None:
        return group
    if not home.uses:
        return dataclasses.replace(group, pinned="nobody reads it")
    return dataclasses.replace(group, pinned="it is read in place") if read_in_place(home, machine) else group


def check_pinned(homes: Sequence[Home], machine: Machine) -> None:
    """Refuse pinned homes that no reader's copy kernel can encode."""
    for home in homes:
        if home.pinned is not None:
            reason = unencodable(home, home.layout, home.view, machine)
            if reason is not None:
                raise HomeError(
                    f"a pinned home cannot be materialised: {reason}",
                    location=home.argument.location,
                    hint="store it in the consumer's panel order, or drop the pin",
                )
