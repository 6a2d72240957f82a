# SPDX-License-Identifier: Apache-2.0
"""What passes and planners say about programs that they cannot do: message, hint, place."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, i32
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilewright.backends.program import Program
from tilewright.diagnostics import TileError
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.tile_tensor import TileTensor
from tilewright.machine import load
from tilewright.passes.ir.exchange import PHASES, check_program, expected_phases, read_figures
from tilewright.passes.ir.homes import HomeError, find_homes
from tilewright.passes.ir.tensors import LoweringError, tensor_of, written_record
from tilewright.passes.tile_allocate_memory import TileAllocateMemoryPass
from tilewright.passes.tile_lower_to_asm import TileLowerToAsmPass
from tilewright.passes.tile_plan_layouts import TilePlanLayoutsPass
from tilewright.planning.exchange import ExchangeError
from tilewright.planning.operators import VIEWS, Operator, Surroundings, favourite, is_planned
from tilewright.planning.stages import PlanError

T4 = load("t4")


def module_of(body: str, arguments: str = "", results: str = "", returned: str = "func.return") -> ModuleOp:
    """A program on t4."""
    arrow = f" -> {results}" if results else ""
    module = parse_module(f"func.func @main({arguments}){arrow} {{\n{body}\n{returned}\n}}")
    module.attributes["tile.machine"] = StringAttr("t4")
    module.verify()
    return module


def refusal(module: ModuleOp, step: ModulePass) -> TileError:
    with pytest.raises(TileError) as caught:
        step.apply(context(), module)
    return caught.value


def planned(body: str, arguments: str, result: str) -> TileError:
    return refusal(module_of(body, arguments, result, f"func.return %y : {result}"), TilePlanLayoutsPass())


# Plans that do not fit the machine


def test_parts_from_a_base_that_leaves_no_room() -> None:
    error = planned(
        "%y = tile_tensor.matmul %x, %w {plan = {grid = array<i64: 1, 2, 1, 2>, base = 1 : i64}}"
        " : (tensor<8x32xf16>, tensor<32x16xf16>) -> tensor<8x16xf16>",
        '%x: tensor<8x32xf16> {tile_tensor.input = "x"}, %w: tensor<32x16xf16> {tile_tensor.parameter = "w"}',
        "tensor<8x16xf16>",
    )
    assert "matmul: grid [1, 2, 1, 2] needs 4 tiles from tile 1 on; machine t4 has 4" in error.message
    assert error.hint == "lower one of the parts" and error.location is not None


def test_more_row_parts_than_tiles() -> None:
    error = planned(
        "%y = tile_tensor.softmax %x {plan = {parts = 9 : i64}} : (tensor<8x32xf16>) -> tensor<8x32xf16>",
        '%x: tensor<8x32xf16> {tile_tensor.input = "x"}',
        "tensor<8x32xf16>",
    )
    assert error.message == "softmax: 9 row parts; machine t4 has 4 tiles" and error.location is not None


def test_attention_of_mixed_element_types() -> None:
    q, v = "tensor<1x8x16xf16>", "tensor<1x8x16xf32>"
    error = planned(
        f"%y = tile_tensor.attention %q, %q, %v scale 0.5 : ({q}, {q}, {v}) -> {v}",
        f'%q: {q} {{tile_tensor.input = "q"}}, %v: {v} {{tile_tensor.input = "v"}}',
        v,
    )
    assert error.message == "attention: q, k and v have element types f16, f16 and f32"
    assert error.hint == "cast them to one type"


def test_an_update_that_moves_along_five_axes() -> None:
    x, u, i = "tensor<2x2x2x2x2xf16>", "tensor<1x1x1x1x1xf16>", "tensor<i32>"
    error = planned(
        f"%y = tile_tensor.dynamic_update_slice %x, %u, %i, %i, %i, %i, %i"
        f" : ({', '.join((x, u, *[i] * 5))}) -> {x}",
        f"%x: {x}, %u: {u}, %i: {i}",
        x,
    )
    assert error.message == "dynamic_update_slice: an update moves along 5 axes; kernels have 4"
    assert error.hint is not None and "reshape axes that move together" in error.hint


def test_a_product_that_no_kernel_has() -> None:
    """The verifier refuses it first; planners are also called without IR."""
    operator = Operator("matmul", {}, (((8, 8), "i32"), ((8, 8), "i32")), (((8, 8), "i32"),))
    with pytest.raises(PlanError, match="no matrix kernel multiplies i32 by i32") as caught:
        favourite(operator).default(operator, (None, None), T4, Surroundings())
    assert caught.value.hint is not None and "cast the operands" in caught.value.hint


def test_every_operation_has_a_planner() -> None:
    names = {op.name.partition(".")[2] for op in TileTensor.operations}
    rewritten = {"one_hot", "top_k", "top_k_indices"}  # tile-decompose leaves none of them
    assert {name for name in names if not is_planned(name)} == {*VIEWS, "constant", *rewritten}


# Layouts


def test_two_homes_of_one_parameter() -> None:
    x = "tensor<4x8xf16"
    error = planned(
        f'%a = tile_layout.home %y : {x}> -> {x}, #tile_layout.at<"[4/1@1, 8]">>\n'
        f'%b = tile_layout.home %y : {x}> -> {x}, #tile_layout.at<"[4, 8/2@1]">>',
        f'%y: {x}> {{tile_tensor.parameter = "w"}}',
        f"{x}>",
    )
    assert error.message == "the operand of a home has another layout already"
    assert error.location is not None


def test_a_carried_sequence() -> None:
    x, s = "tensor<4x8xf16>", "!tile_repeat.sequence<2 x tensor<4x8xf16>>"
    error = planned(
        f'%y, %z = tile_repeat.repeat "layers" count 2 '
        f"carried(%c = %x : {x}, %s = %ws : {s}) -> ({x}, {s}) {{\n"
        f"%n = tile_tensor.neg %c : ({x}) -> {x}\n"
        f"tile_repeat.yield %n, %s : {x}, {s}\n}}",
        f'%x: {x} {{tile_tensor.input = "x"}}, %ws: {s} {{tile_tensor.parameter = ["a", "b"]}}',
        x,
    )
    assert error.message == "a carried value that is a sequence has no plan"
    assert error.hint == "carry its members" and error.location is not None


def test_a_pinned_home_is_not_placed_again() -> None:
    x = "tensor<4x8xf16"
    at = '#tile_layout.at<"[4/1@1, 8]">'
    module = module_of(
        f"%y = tile_tensor.neg %w : ({x}, {at}>) -> {x}, {at}>",
        f'%w: {x}, {at}> {{tile_tensor.parameter = "w", tile_layout.pinned}}',
        f"{x}, {at}>",
        f"func.return %y : {x}, {at}>",
    )
    (home,) = find_homes(module)
    with pytest.raises(HomeError, match=r"w: its home is pinned \("):
        home.place(home.layout, home.view)


# What libraries of the passes are given


def test_a_value_that_is_no_tensor() -> None:
    op = test.TestOp(result_types=[i32])
    with pytest.raises(LoweringError, match="expected a tensor, found i32"):
        tensor_of(op.results[0])


def test_a_plan_that_is_no_dictionary() -> None:
    op: Operation = test.TestOp(attributes={"plan": IntegerAttr(3, 32)})
    with pytest.raises(LoweringError, match="`plan` is a dictionary"):
        written_record(op)


# Buffers, addresses and rows

WIDE, NARROW = '!tile.buffer<f32, "[4/1@1, 64]">', '!tile.buffer<f32, "[4, 64]">'


def exchange(*at: str) -> str:
    first, second = at or ("", "")
    return (
        f'%x = tile.alloc "x" activations{first} : {WIDE}\n'
        f'%y = tile.alloc "y" activations{second} : {NARROW}\n'
        f'tile.exchange "one" (%x "[4a, 64b]" -> %y "[4a, 64b]") : {WIDE}, {NARROW}'
    )


def test_memory_before_rows() -> None:
    error = refusal(module_of(exchange()), TileAllocateMemoryPass())
    assert error.message == "an exchange has no rows yet"
    assert error.hint == "run tile-schedule-exchange first" and error.location is not None


def test_phases_before_memory() -> None:
    with pytest.raises(ExchangeError, match="an exchange buffer has no address") as caught:
        expected_phases(module_of(exchange()))
    assert caught.value.hint == "run tile-allocate-memory first"


def test_a_program_with_other_exchanges() -> None:
    phases = expected_phases(module_of(exchange(" at 0x70000", " at 0x78000")))
    with pytest.raises(ExchangeError, match="the program has 0 exchanges, 1 were asked for"):
        check_program(Program("t4", "empty", (), 0x70000, (), (), (), ()), phases, T4)


def test_padding_that_is_not_words() -> None:
    b = '!tile.buffer<f16, "[5|2, 3]">'
    module = module_of(
        f'%x = tile.alloc "x" activations : {b}\n'
        f'tile.compute "fill" () -> (%x "pad=0") axes "n" scalars {{value = 0 : i64}} : {b}'
    )
    TileAllocateMemoryPass().apply(context(), module)
    error = refusal(module, TileLowerToAsmPass())
    assert "the padding of storage axis 0 of [5|2, 3] is not one region of words" in error.message


def test_the_messages_of_a_phase_are_those_of_its_program() -> None:
    """The other way round: as many phases as exchanges, judged one by one."""
    assert expected_phases(module_of("")) == []
    empty = Program("t4", "empty", (), 0x70000, (), (), (), ())
    assert check_program(empty, [], T4) == 0
    assert np.asarray(T4.tiles) == 4


# What a later pass finds


def test_figures_of_phases_that_are_something_else() -> None:
    module = module_of("")
    module.attributes[PHASES] = ArrayAttr([DictionaryAttr({"reason": StringAttr("x")})])
    with pytest.raises(TileError, match="has other figures than those of a phase") as caught:
        read_figures(module)
    assert caught.value.notes[0] == "found: reason"


def test_support_without_its_addresses() -> None:
    module = module_of("")
    (function,) = module.ops
    function.attributes["tile.support"] = DictionaryAttr({"arguments": StringAttr("x")})
    error = refusal(module, TileLowerToAsmPass())
    assert error.message == "`tile.support` has no integer 'arguments'" and error.location is not None
