# SPDX-License-Identifier: Apache-2.0
"""
Chooses a plan for every tensor operation and writes it down: a `plan` attribute on each operation, a
layout as encoding of each value, a home for each parameter.

Operations are visited in order; each takes its record from its own `plan` attribute, from the plan file, or
else its planner's default. Views stay views where they can be expressed. Parameters, constants and inputs are
placed by their first consumer: the compact form of what it wants, parameters (`homes=ready`) just as it wants
them. What has a layout keeps it. Foreign operations are left alone.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tilewright import settings
from tilewright.diagnostics import TileError
from tilewright.dialects.entry import PARAMETER_ATTRIBUTE, argument_attributes, entry_function
from tilewright.dialects.tile_layout import HomeOp
from tilewright.dialects.tile_repeat import MemberOp, PackOp, RepeatOp, SequenceType
from tilewright.machine import Machine
from tilewright.passes.tensor_ir import (
    MACHINE,
    PLAN,
    VALUE_NAME,
    dtype_of,
    machine_name,
    machine_of,
    operator_of,
    placement,
    record_attr,
    record_of,
    tensor_of,
    value_of,
    with_encoding,
)
from tilewright.planning.homes import home_layout
from tilewright.planning.layout import View
from tilewright.planning.operators import PLANNERS, VIEWS, Planner, matmul
from tilewright.planning.operators.base import Operator, Target, flat_layout
from tilewright.planning.operators.rowwise import block_layout
from tilewright.planning.plan_file import PlanFile
from tilewright.planning.stages import Value


@dataclass(frozen=True)
class TilePlanLayoutsPass(ModulePass):
    """Choose plans and layouts."""

    name = "tile-plan-layouts"
    machine: str | None = None
    plan: str | None = None
    homes: Literal["compact", "ready"] = "compact"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op, self.machine)
        path = self.plan or settings.current().plan_path
        plan = PlanFile.read(path) if path is not None else PlanFile()
        plan.check_machine(machine.name)
        op.attributes[MACHINE] = StringAttr(machine_name(op, self.machine))
        function = entry_function(op)
        planner = _LayoutPlanner(machine, plan, self.homes == "ready")
        block = function.body.block
        planner.given_homes(block)
        planner.plan_block(block, "")
        for value in list(block.args):
            planner.settle(value)
        function.update_function_type()
        plan.check_used(planner.names)


class _LayoutPlanner:
    """One walk over the program; `names` are the operators seen, as a plan file calls them."""

    def __init__(self, machine: Machine, plan: PlanFile, ready: bool = False) -> None:
        self.machine = machine
        self.plan = plan
        self.ready = ready
        self.names: list[str] = []

    def plan_block(self, block: Block, prefix: str) -> None:
        for op in list(block.ops):
            try:
                if isinstance(op, RepeatOp):
                    self.plan_repeat(op, prefix)
                elif isinstance(op, (PackOp, MemberOp)):
                    self.plan_sequence_op(op)
                elif op.name.startswith("tile_tensor."):
                    self.plan_op(op, prefix)
                elif op.name in ("tile_layout.convert", "func.return"):
                    for i in range(len(op.operands)):
                        self.settle(op.operands[i])
            except TileError as error:
                if error.location is None:
                    error.location = op.location
                raise

    def given_homes(self, block: Block) -> None:
        """What a `tile_layout.home` of the program says is where its operand is."""
        for op in block.walk():
            where = placement(op.results[0]) if isinstance(op, HomeOp) else None
            if where is not None:
                for value in home_chain(op.operands[0]):
                    if placement(value) not in (None, where):
                        raise TileError(
                            "the operand of a home has another layout already", location=op.location
                        )
                    self.encode(value, *where)

    def name_of(self, op: Operation, prefix: str) -> str:
        """A unique, readable name: the result's name in the text, or the operator's."""
        base = prefix + (op.results[0].name_hint or op.name.partition(".")[2])
        name, n = base, 1
        while name in self.names:
            n += 1
            name = f"{base}_{n}"
        self.names.append(name)
        op.attributes[VALUE_NAME] = StringAttr(name)
        return name

    def plan_op(self, op: Operation, prefix: str) -> None:
        kind = op.name.partition(".")[2]
        if kind == "constant":
            return  # placed by its consumer
        name = self.name_of(op, prefix)
        if kind in VIEWS:
            self.plan_view(op, kind)
            return
        planner = PLANNERS.get(kind)
        if planner is None:
            raise TileError(f"{op.name} has no planner yet", location=op.location)
        extra = {}
        if kind == "matmul":
            extra = {
                "prefer_swap": _feeds_attention_values(op),
                "tile_range": sibling_tiles(op, self.machine),
            }
        operator = operator_of(op, **extra)
        record = record_of(op, planner.record)
        if record is None:
            record = self.plan.record(name, planner.record, op.location)
        values = tuple(value_of(v) for v in op.operands)
        if record is None:
            record = planner.default_record(operator, values, self.machine)
        targets = planner.operand_targets(operator, record, values, self.machine)
        for i, target in enumerate(targets):
            if value_of(op.operands[i]) is None:  # placing one replaces it, also where it is used twice
                self.place_home(op.operands[i], target)
        self.place_results(op, planner, operator, record)

    def place_results(self, op: Operation, planner: Planner, operator: Operator, record: object) -> None:
        values = tuple(value_of(v) for v in op.operands)
        placed = tuple(v for v in values if v is not None)
        assert len(placed) == len(values)
        stages = planner.expand(operator, record, placed, self.machine)
        op.attributes[PLAN] = record_attr(record)  # type: ignore[arg-type]
        for result, (name, view) in zip(list(op.results), stages.results, strict=True):
            self.encode(result, stages.buffer(name).layout, view)

    def plan_view(self, op: Operation, kind: str) -> None:
        operand = op.operands[0]
        value = value_of(operand)
        if value is None:
            shape, dtype = tensor_of(operand).get_shape(), dtype_of(tensor_of(operand).element_type)
            self.place_home(operand, flat_layout(shape, dtype, self.machine))
            value = value_of(op.operands[0])
            assert value is not None
        operator = operator_of(op)
        view = apply_view(operator, value.view)
        if (
            view is None
        ):  # not expressible on this layout: the lowering makes the operand a row-major sequence first
            layout, flat = flat_layout(value.shape, value.dtype, self.machine)
            view = apply_view(operator, flat)
            assert view is not None
            self.encode(op.results[0], layout, view)
            return
        self.encode(op.results[0], value.layout, view)

    def plan_repeat(self, op: RepeatOp, prefix: str) -> None:
        block = op.body_block
        carried, invariant = len(op.carried_args), len(op.invariant_args)
        for i in range(carried):
            if isinstance(op.operands[i].type, SequenceType):
                raise TileError(
                    "a carried value that is a sequence has no plan",
                    location=op.location,
                    hint="carry its members",
                )
            self.settle(op.operands[i])
            value = value_of(op.operands[i])
            assert value is not None
            layout, view = _carriable(value, self.machine)
            self.encode(block.args[i], layout, view)
        for i in range(carried, carried + invariant):
            self.settle(op.operands[i])
            value = value_of(op.operands[i])
            assert value is not None
            self.encode(block.args[i], value.layout, value.view)
        for i in range(carried + invariant, len(block.args)):
            value = value_of(op.operands[i])
            if value is not None:
                self.encode(block.args[i], value.layout, value.view)
        self.plan_block(block, f"{prefix}{op.repeat_name.data}.")
        for argument in list(block.args):
            self.settle(argument)
        yield_op = op.yield_op
        for i, result in enumerate(list(op.results)):
            source = block.args[i] if i < carried else yield_op.operands[i]
            self.settle(source)
            value = value_of(block.args[i] if i < carried else op.yield_op.operands[i])
            assert value is not None
            self.encode(result, value.layout, value.view)

    def plan_sequence_op(self, op: Operation) -> None:
        for i in range(len(op.operands)):
            self.settle(op.operands[i])
        if not op.operands:
            self.settle(op.results[0])
            return
        value = value_of(op.operands[0])
        assert value is not None
        self.encode(op.results[0], value.layout, value.view)

    # -- placing

    def encode(self, value: SSAValue, layout: object, view: View) -> None:
        Rewriter.replace_value_with_new_type(value, with_encoding(value.type, layout, view))  # type: ignore[arg-type]

    def settle(self, value: SSAValue) -> None:
        """Place a value that nobody has placed: a row-major sequence over the tiles."""
        if not _is_tensor(value) or value_of(value) is not None:
            return
        tensor = tensor_of(value)
        self.place_home(value, flat_layout(tensor.get_shape(), dtype_of(tensor.element_type), self.machine))

    def place_home(self, value: SSAValue, target: Target | None) -> None:
        """
        Place an argument or constant in the compact form of `target`, through the arguments of enclosing
        repeats.
        """
        tensor = tensor_of(value)
        dtype = dtype_of(tensor.element_type)
        if target is None:
            target = flat_layout(tensor.get_shape(), dtype, self.machine)
        layout, view = target
        chain = home_chain(value)
        members = 1
        for v in chain:
            if isinstance(v.type, SequenceType):
                members = max(members, math.prod(v.type.counts))
        home = layout if self.ready and _is_parameter(chain[-1]) else home_layout(layout, dtype, members)
        for v in chain:
            if value_of(v) is None:
                self.encode(v, home, view)


def home_chain(value: SSAValue) -> list[SSAValue]:
    """The value and what it is outside of the repeats that pass it in, the outermost last."""
    chain = [value]
    while isinstance(chain[-1], BlockArgument) and isinstance(
        parent := chain[-1].block.parent_op(), RepeatOp
    ):
        chain.append(parent.operands[chain[-1].index])
    return chain


def _is_parameter(value: SSAValue) -> bool:
    function = value.block.parent_op() if isinstance(value, BlockArgument) else None
    return (
        isinstance(function, FuncOp)
        and isinstance(value, BlockArgument)
        and PARAMETER_ATTRIBUTE in argument_attributes(function.arg_attrs, value.index)
    )


def _is_tensor(value: SSAValue) -> bool:
    return isinstance(value.type, (SequenceType, TensorType))


def apply_view(operator: Operator, view: View) -> View | None:
    """The view of a view operator's result, or None where it cannot be expressed."""
    attrs = operator.attributes
    match operator.name:
        case "transpose":
            return view.transpose(attrs["permutation"])
        case "reshape":
            return view.reshape(operator.result_shape)
        case "slice":
            return view.slice(attrs["offsets"], attrs["sizes"])
        case "broadcast":
            return view.broadcast(operator.result_shape, attrs["dimensions"])
    raise AssertionError(operator.name)


def _carriable(value: Value, machine: Machine) -> Target:
    """
    The layout of a carried value: small blocks of rows, else that of its initial value if it fills its
    storage, else a row-major sequence."""
    blocks = block_layout(value.shape, machine)
    if blocks is not None:
        return blocks
    storage = tuple(axis.extent for axis in value.layout.axes)
    if value.layout.chunk is None and not value.layout.replicas and value.view.is_bijection(storage):
        return dataclasses.replace(value.layout, memory="any"), value.view
    return flat_layout(value.shape, value.dtype, machine)


def sibling_tiles(op: Operation, machine: Machine) -> tuple[int, int]:
    """
    First tile and number of tiles of a product: (0, 0) for all, or its range among the products of the same
    left operand in its block.

    Products that read one operand do not depend on each other; on tiles of their own they run side by side,
    each on larger blocks, which exchange and reduce less. Only for products that are large enough to fill
    their share.
    """
    users = [use.operation for use in op.operands[0].uses]
    block = op.parent_block()
    assert block is not None
    siblings = [
        other
        for other in block.ops
        if other in users and other.name == op.name and other.operands[0] is op.operands[0]
    ]
    if len(siblings) < 2 or min(_multiplications(o) for o in siblings) < SIDE_BY_SIDE * machine.tiles:
        return 0, 0
    shapes = []
    for other in siblings:
        swap = _feeds_attention_values(other)
        shapes.append(matmul.swapped(matmul.canonical(operator_of(other)), swap))
    ranges = matmul.side_by_side(shapes, machine)
    return (0, 0) if ranges is None else ranges[siblings.index(op)]


SIDE_BY_SIDE = 1 << 18
"""Multiplications per tile of the machine from which products are worth running side by side."""


def _multiplications(op: Operation) -> int:
    shape = tensor_of(op.results[0]).get_shape()
    a = tensor_of(op.operands[0]).get_shape()
    return math.prod(shape) * a[-1]


def _feeds_attention_values(op: Operation) -> bool:
    """
    Whether a product reaches attention's third operand through casts, additions and views only.

    Its product is then better computed transposed: attention reads V with keys innermost. Rows of several
    batches may not share a word, so the keys of one batch have to fill whole words.
    """
    rows = tensor_of(op.results[0]).get_shape()[-2:]
    seen = [op.results[0]]
    for value in seen:
        for use in value.uses:
            user = use.operation
            kind = user.name.partition(".")[2]
            if kind == "attention":
                keys = tensor_of(user.operands[2]).get_shape()[-2]
                return use.index == 2 and (keys == rows[0] or keys % 16 == 0)
            if kind in ("add", "cast", *VIEWS) and len(seen) < 16:
                seen.append(user.results[0])
    return False
