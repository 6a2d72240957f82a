# SPDX-License-Identifier: Apache-2.0
"""
The `tile_asm` dialect: what the machine runs. The textual form of `tilewright.backends.program.Program`.

    tile_asm.program "layers" machine "t4" supervisor 0x71000 {
      tile_asm.code "gemm.f16.f16" at 0x70000 size 1536
      tile_asm.table "extents" arguments at 0x72000 <[4, 4] shared, "010000000a000000...">
      tile_asm.binding "x" input at 0x79000 f16 layout "[40/10@1, 32|16] b0.a.b1" view "[40a, 32b]"
          shape [40, 32]
      tile_asm.placed "x" activations at 0x79000 size 640 live 0 3
      tile_asm.repeat "layers" count 3 patches [rows "rows" at "positions" by 256 field 3] {
        tile_asm.exchange "weights" rows "rows" from "model.mlir:6"
        tile_asm.call "gemm.f16.f16" (0x79000 f16 [0:0, 0:16, 0:160 16:1], ...) -> (...)
            scalars {scale = -2} extents "extents"
        tile_asm.tap "state" in "x"
      }
    }

Declarations come first, then the instructions in the order of execution. Addresses are SRAM byte addresses,
equal on all tiles; an axis of an operand is its digits `size:stride`, outermost first. Words that differ per
tile are in tables, which print as hexadecimal text, or as a reference to a sidecar file when one is in force
(`tilewright.backends.sidecar`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Dialect, Operation, Region
from xdsl.irdl import irdl_op_definition, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator
from xdsl.utils.exceptions import VerifyException

from tilewright.backends.program import DEEPEST, Program, ProgramError
from tilewright.dialects.asm.attributes import (
    OperandAttr,
    PatchAttr,
    ScalarsAttr,
    WordsAttr,
    integer,
    parse_int,
    print_quoted,
    print_text,
)
from tilewright.dialects.asm.declarations import (
    DECLARATIONS,
    BindingOp,
    CodeOp,
    ConstantOp,
    PlacedOp,
    ProgramPart,
    TableOp,
)
from tilewright.dialects.asm.instructions import (
    INSTRUCTIONS,
    check_only,
    from_instruction,
    instructions,
    with_block,
)


@irdl_op_definition
class ProgramOp(ProgramPart):
    """A placed program: declarations, then instructions."""

    name = "tile_asm.program"
    sym = prop_def(StringAttr)
    machine = prop_def(StringAttr)
    supervisor = prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), NoTerminator())

    def __init__(self, name: str, machine: str, supervisor: int, body: Sequence[Operation] = ()) -> None:
        super().__init__(
            properties={
                "sym": StringAttr(name),
                "machine": StringAttr(machine),
                "supervisor": integer(supervisor),
            },
            regions=[Region(Block(list(body)))],
        )

    def verify_(self) -> None:
        check_only(
            self.body.block, (*DECLARATIONS, *INSTRUCTIONS), "a program holds declarations and instructions"
        )
        try:
            program = _program(self)
        except ProgramError as error:
            raise VerifyException(error.message) from error
        for instruction, enclosing in program.instructions():
            absent = program.missing_reference(instruction)
            if absent is not None:
                raise VerifyException(absent)
            if len(enclosing) > DEEPEST:
                raise VerifyException(f"repeats are nested deeper than {DEEPEST}")

    @classmethod
    def parse(cls, parser: Parser) -> ProgramOp:
        name = parser.parse_str_literal()
        parser.parse_keyword("machine")
        machine = parser.parse_str_literal()
        parser.parse_keyword("supervisor")
        op = cls(name, machine, parse_int(parser, 0, 2**32 - 1))
        op.detach_region(0)
        op.add_region(with_block(parser.parse_region()))
        op.take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        print_quoted(printer, self.sym.data)
        print_quoted(printer, self.machine.data, " machine ")
        print_text(printer, f" supervisor {self.supervisor.value.data:#x} ")
        printer.print_region(self.body, print_empty_block=False)
        self.print_rest(printer)


def _program(op: ProgramOp) -> Program:
    ops = list(op.body.block.ops)
    return Program(
        machine=op.machine.data,
        name=op.sym.data,
        code=tuple(one.value for one in ops if isinstance(one, CodeOp)),
        supervisor_address=op.supervisor.value.data,
        tables=tuple(one.value for one in ops if isinstance(one, TableOp)),
        bindings=tuple(one.value for one in ops if isinstance(one, BindingOp)),
        placed=tuple(one.value for one in ops if isinstance(one, PlacedOp)),
        body=instructions(op.body.block),
        constants=tuple(one.value for one in ops if isinstance(one, ConstantOp)),
    )


def program_to_module(program: Program) -> ModuleOp:
    """A module that holds the program in textual form; `module_to_program` is the inverse."""
    body: list[Operation] = [
        *(CodeOp(code) for code in program.code),
        *(TableOp(table) for table in program.tables),
        *(ConstantOp(constant) for constant in program.constants),
        *(BindingOp(binding) for binding in program.bindings),
        *(PlacedOp(placed) for placed in program.placed),
        *(from_instruction(instruction) for instruction in program.body),
    ]
    op = ProgramOp(program.name, program.machine, program.supervisor_address, body)
    return ModuleOp([op], {"tile.machine": StringAttr(program.machine)})


def module_to_program(module: ModuleOp) -> Program:
    """The one `tile_asm.program` of a module; ProgramError when there is none or more."""
    found = [op for op in module.walk() if isinstance(op, ProgramOp)]
    if len(found) != 1:
        raise ProgramError(
            f"the module has {len(found)} tile_asm.program operations, expected 1",
            hint="lower the program with tile-lower-to-asm" if not found else None,
        )
    return _program(found[0])


TileAsm = Dialect(
    "tile_asm",
    [*DECLARATIONS, *INSTRUCTIONS, ProgramOp],
    [WordsAttr, OperandAttr, ScalarsAttr, PatchAttr],
)
