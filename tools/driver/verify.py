# SPDX-License-Identifier: Apache-2.0
"""Verification that names the op at fault, and the SSA dominance check that xDSL leaves out."""

from __future__ import annotations

from xdsl.dialects.builtin import FileLineColLoc, ModuleOp, UnregisteredOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import IsolatedFromAbove, NoTerminator
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.known_attributes import attribute_fault
from tilewright.tools.driver.errors import InvalidIR


def verify_module(module: ModuleOp) -> None:
    """
    Raise `InvalidIR` at the first op, in order of nesting, that does not verify or uses a value before its
    definition.

    xDSL's own `module.verify()` does not say which op failed except by printing the whole module.
    """
    for op in module.walk(region_first=True):
        try:
            _check_terminators(op)
            _check_attribute_names(op)
            op.verify(verify_nested_ops=False)
        except InvalidIR:
            raise
        except (VerifyException, ValueError) as error:
            raise InvalidIR(f"`{op_name(op)}` does not verify: {reason(error)}", location=op) from error
    check_dominance(module)


def reason(error: BaseException) -> str:
    """The error's own sentence, without the prefix that xDSL adds on the way up."""
    return str(error).removeprefix("Operation does not verify: ").rstrip()


def op_name(op: Operation) -> str:
    """`dialect.name`, for unregistered ops as well."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def _check_terminators(op: Operation) -> None:
    if op.has_trait(NoTerminator):
        return
    for region in op.regions:
        if (block := region.first_block) is not None and block is region.last_block and block.is_empty:
            raise VerifyException("its single-block region has no terminator")


def _check_attribute_names(op: Operation) -> None:
    """What would be kept and mean nothing: misspelt names of ours, `op {x = 1}` where x is a property."""
    fault = attribute_fault(op)
    if fault is not None:
        raise VerifyException(fault)
    if not op.attributes or not isinstance(op, IRDLOperation):
        return
    definition = op.get_irdl_definition()
    for name in op.attributes:
        if name in definition.properties:
            raise VerifyException(
                f"attribute `{name}` has the name of a property, which it does not set; write it in the"
                " operation's own syntax"
            )


def check_dominance(module: ModuleOp) -> None:
    """Every operand is defined before its use: above it in its block, in a dominating block, or around it."""
    for region in module.regions:
        _check_region(region, set())


def _check_region(region: Region, outside: set[SSAValue]) -> None:
    blocks = tuple(region.blocks)
    if len(blocks) < 2:
        for block in blocks:
            _check_block(block, outside)
        return
    from xdsl.irdl.dominance import DominanceInfo

    dominance = DominanceInfo(region)
    for block in blocks:
        if not dominance.dominates(blocks[0], block):
            continue  # unreachable: order means nothing there
        inherited = [
            value
            for other in blocks
            if other is not block and dominance.strictly_dominates(other, block)
            for value in _values(other)
            if value not in outside
        ]
        outside.update(inherited)
        _check_block(block, outside)
        outside.difference_update(inherited)


def _values(block: Block) -> list[SSAValue]:
    return [*block.args, *(result for op in block.ops for result in op.results)]


def _check_block(block: Block, visible: set[SSAValue]) -> None:
    """Extends `visible` with the block's values while inside and takes them out again."""
    added: list[SSAValue] = list(block.args)
    visible.update(added)
    for op in block.ops:
        for index, operand in enumerate(op.operands):
            if operand not in visible:
                raise InvalidIR(
                    f"operand {index} of `{op_name(op)}` ({_name(operand)}) is not defined before its use",
                    location=op,
                    notes=_where(operand),
                )
        for region in op.regions:
            _check_region(region, set() if op.has_trait(IsolatedFromAbove) else visible)
        visible.update(op.results)
        added.extend(op.results)
    visible.difference_update(added)


def _name(value: SSAValue) -> str:
    return f"%{value.name_hint}" if value.name_hint else "unnamed value"


def _where(value: SSAValue) -> tuple[str, ...]:
    owner = value.owner
    if isinstance(owner, Operation):
        place = owner.location
        at = (
            f" at {place.filename.data}:{place.line.data}:{place.column.data}"
            if isinstance(place, FileLineColLoc)
            else ""
        )
        return (f"it is a result of `{op_name(owner)}`{at}",)
    return ("it is an argument of a block that does not enclose the use",)
