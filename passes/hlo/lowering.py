# SPDX-License-Identifier: Apache-2.0
"""
The middle form as operations of `tile_tensor`: one lowering for every front end.

Everything that has no lowering is gathered and reported in one error, with the place and the number of each
kind. An 8-bit float result does not saturate, as in the source. i64 becomes i32 where its constants fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    ModuleOp,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.diagnostics import TileError, place_text
from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.hlo.operations import HloOperation
from tilewright.passes.hlo import lower_elementwise, lower_movement, lower_products, lower_reductions
from tilewright.passes.hlo.narrowing import narrow, narrowed
from tilewright.passes.hlo.one_operation import NoLowering, OneOperation, Rule
from tilewright.passes.hlo.rewriting import blocks_of, element_of, middle_functions, replace
from tilewright.passes.hlo.views import tidy_views


def _while(lower: OneOperation) -> SSAValue:
    raise NoLowering("its count is not known, or a value changes in a way that a repeat does not have")


RULES: Mapping[str, Rule] = {
    **lower_elementwise.RULES,
    **lower_movement.RULES,
    **lower_reductions.RULES,
    **lower_products.RULES,
    "while": _while,
}


class UnsupportedModel(TileError):
    """Operations or types of a model that have no meaning on tiles."""


@dataclass
class _Fault:
    what: str
    reason: str
    location: Any
    count: int = 1


@dataclass
class Lowering:
    """Lowers the functions of a module; `faults` are what could not be."""

    faults: dict[tuple[str, str], _Fault] = field(default_factory=dict[tuple[str, str], _Fault])

    def fault(self, what: str, reason: str, op: Any) -> None:
        """Note something that cannot be lowered."""
        key = (what, reason)
        if key in self.faults:
            self.faults[key].count += 1
        else:
            self.faults[key] = _Fault(what, reason, getattr(op, "location", op))

    def run(self, module: ModuleOp, functions: Sequence[FuncOp] | None = None) -> None:
        """Lower some functions, or all that hold the middle form. Raises `UnsupportedModel`."""
        for function in middle_functions(module) if functions is None else functions:
            narrow(function, self.fault)
            for block in blocks_of(function):
                _Block(block, self).run()
            for block in blocks_of(function):
                tidy_views(block)
        if self.faults:
            raise self.error()

    def error(self) -> UnsupportedModel:
        """All faults in one."""
        faults = list(self.faults.values())
        total = sum(fault.count for fault in faults)
        notes: list[str] = []
        for fault in faults:
            times = f"{fault.count} times" if fault.count > 1 else "once"
            place = place_text(fault.location)
            first = f", first at {place}" if place and fault.count > 1 else f", at {place}" if place else ""
            notes.append(f"{fault.what}, {times}{first}" + (f": {fault.reason}" if fault.reason else ""))
        what = "1 operation has" if total == 1 else f"{total} operations have"
        place = next((f.location for f in faults if place_text(f.location)), faults[0].location)
        return UnsupportedModel(f"{what} no meaning on tiles", location=place, notes=notes)


class _Block:
    def __init__(self, block: Block, lowering: Lowering) -> None:
        self.block = block
        self.lowering = lowering

    def run(self) -> None:
        late: list[HloOperation] = []
        for op in list(self.block.ops):
            if not isinstance(op, HloOperation) or op.kind in ("constant", "return"):
                continue
            if op.kind == "broadcast_in_dim":
                late.append(op)
                continue
            self.lower(op)
        for op in reversed(late):
            if op.results[0].uses:
                self.lower(op)
            else:
                Rewriter.erase_op(op)
        for op in list(self.block.ops):
            if isinstance(op, HloOperation) and op.kind == "constant":
                if op.results[0].uses:
                    made = tt.ConstantOp(cast("DenseIntOrFPElementsAttr", op.attributes["value"]))
                    made.location = op.location
                    Rewriter.insert_op(made, InsertPoint.before(op))
                    replace(op, made.result)
                else:
                    Rewriter.erase_op(op)

    def lower(self, op: HloOperation) -> None:
        """Lower one operation, or note why not."""
        try:
            if op.kind == "unsupported":
                raise NoLowering(op.get("reason", ""))
            rule = RULES.get(op.kind)
            if rule is None:
                raise NoLowering("there is no kernel for it")
            replace(op, rule(OneOperation(op)))
        except NoLowering as error:
            what = op.get("source") if op.kind == "unsupported" else op.name.replace("tile_hlo", "stablehlo")
            if op.kind != "unsupported" and any(
                narrowed(element_of(v)) is None
                for v in (*op.operands, *op.results)
                if isinstance(v.type, TensorType)
            ):
                return  # reported by its type
            self.lowering.fault(what, str(error), op)


__all__ = ["Lowering", "UnsupportedModel"]
