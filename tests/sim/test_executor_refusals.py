# SPDX-License-Identifier: Apache-2.0
"""What the machine would not do is refused, with rule, tile, phase and address: one illegal program each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.backends.image import to_image
from tilewright.backends.program import (
    Binding,
    Call,
    Code,
    Exchange,
    Instruction,
    Operand,
    Patch,
    Program,
    Repeat,
    Table,
)
from tilewright.backends.rows import encode
from tilewright.machine import load
from tilewright.machine.kernels import kernel
from tilewright.planning.exchange.messages import Messages
from tilewright.planning.exchange.schedule import schedule
from tilewright.planning.layout import Layout, row_major
from tilewright.planning.layout.view import View
from tilewright.sim.executor import ExecutionError, Executor
from tilewright.sim.illegal import IllegalProgram

MACHINE = load("t4")
CODE, SUPERVISOR, ARGUMENTS, ROWS = 0x6E000, 0x71000, 0x72000, 0x74000
A, B, C = 0x78000, 0x88000, 0x90000
ON_TILE_2 = row_major((8, 16), base=2)
KERNELS = ("pointwise.add", "pointwise.neg", "gemm.f16.f16", "gemm.f8", "cast", "copy", "softmax.exp")
WHERE = "model.mlir:5:1"


def dense(*shape: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Axes of a row-major operand."""
    strides = np.cumprod([1, *shape[:0:-1]])[::-1]
    return tuple(((0, int(stride)),) for stride in strides)


def extents(*row: int, tile: int = 2) -> np.ndarray:
    """These extents on one tile, nothing on the others."""
    table = np.zeros((4, len(row)), np.int64)
    table[tile] = row
    return table


def program(
    body: tuple[Instruction, ...],
    tables: tuple[Table, ...] = (),
    bindings: tuple[Binding, ...] | None = None,
) -> Program:
    if bindings is None:
        bindings = (host("x", "input", A, "f16"), host("y", "input", B, "f16"))
    return Program(
        machine="t4",
        name="illegal",
        code=tuple(Code(name, CODE + 1536 * i, kernel(name).code_bytes) for i, name in enumerate(KERNELS)),
        supervisor_address=SUPERVISOR,
        tables=tables,
        bindings=bindings,
        placed=(),
        body=body,
    )


def host(name: str, kind, address: int, dtype: str, layout: Layout = ON_TILE_2) -> Binding:
    return Binding(name, kind, address, dtype, str(layout), str(View.identity(layout.shape)), layout.shape)


def run(made: Program) -> None:
    executor = Executor(to_image(made), MACHINE)
    values = {b.name: np.ones(b.shape, np.float32) for b in made.bindings}
    executor.load(values)
    executor.run(values)


def refused(made: Program) -> IllegalProgram:
    with pytest.raises(IllegalProgram) as caught:
        run(made)
    return caught.value


def call(kernel: str, ins: list[Operand], outs: list[Operand], scalars=()) -> Call:
    return Call(kernel, tuple(ins), tuple(outs), tuple(scalars), "extents", WHERE)


def unary(
    address: int, out: int, *, dtype: str = "f16", shape=(8, 16), kernel="pointwise.neg", axes=None
) -> Program:
    axes = axes or dense(*shape)
    one = call("pointwise.neg", [Operand(address, "f16", dense(*shape))], [Operand(out, "f16", axes)])
    return program((one,), (Table("extents", ARGUMENTS, extents(*shape), "arguments"),))


def test_the_legal_program_runs() -> None:
    run(unary(A, C))


def test_a_run_before_parameters_are_loaded() -> None:
    with pytest.raises(ExecutionError, match="the program's parameters have not been loaded"):
        Executor(to_image(unary(A, C)), MACHINE).run({})


def test_a_byte_that_nothing_wrote() -> None:
    error = refused(unary(A + 8 * 32, C))
    assert error.rule == "read of unwritten memory"
    assert (error.tile, error.address) == (2, A + 8 * 32)
    assert "pointwise.neg" in error.message and WHERE in error.message
    assert "tile 2" in error.message and hex(A + 8 * 32) in error.message


def test_a_row_beyond_what_was_written() -> None:
    error = refused(unary(A, C, shape=(9, 16)))
    assert (error.rule, error.address) == ("read of unwritten memory", A + 8 * 32)


def test_two_elements_of_an_output_on_the_same_bytes() -> None:
    error = refused(unary(A, C, axes=(((0, 8),), ((0, 1),))))
    assert (error.rule, error.tile) == ("two writers", 2)


def test_a_broadcast_output() -> None:
    assert refused(unary(A, C, axes=(((0, 0),), ((0, 1),)))).rule == "two writers"


def test_two_outputs_that_overlap() -> None:
    operand = Operand(A, "f16", dense(1, 8, 16))
    one = call(
        "softmax.exp",
        [operand, Operand(B, "f32", (((0, 0),), ((0, 0),)))],
        [Operand(C, "f16", dense(1, 8, 16)), Operand(C + 16, "f32", dense(1, 8))],
        [("scale", 1.0)],
    )
    error = refused(program((one,), (Table("extents", ARGUMENTS, extents(1, 8, 16), "arguments"),)))
    assert (error.rule, error.address) == ("two writers", C + 16)


def test_an_output_over_a_part_of_its_input() -> None:
    error = refused(unary(A, A + 32, shape=(4, 16)))
    assert (error.rule, error.address) == ("output overlaps an input", A + 32)


def test_in_place_is_legal() -> None:
    run(unary(A, A))


def test_a_misaligned_operand() -> None:
    error = refused(unary(A + 4, C, shape=(2, 16)))
    assert (error.rule, error.address) == ("misaligned access", A + 4)
    assert "8-byte alignment" in error.message


def test_an_operand_beyond_the_memory() -> None:
    end = MACHINE.sram_base + MACHINE.sram_bytes
    error = refused(unary(A, end - 16))
    assert (error.rule, error.address) == ("address out of range", end - 16)


def test_the_parameters_are_protected() -> None:
    one = unary(A, B)
    weights = host("w", "parameter", B + 64, "f16")
    error = refused(replace(one, bindings=(one.bindings[0], weights)))
    assert (error.rule, error.tile, error.address) == ("two writers", 2, B + 64)
    assert "parameter" in error.message


@pytest.mark.parametrize("address", [CODE, SUPERVISOR, ARGUMENTS])
def test_code_and_tables_are_protected(address: int) -> None:
    assert refused(unary(A, address)).rule == "two writers"


def test_code_outside_the_executable_region() -> None:
    made = replace(unary(A, C), code=(Code("pointwise.neg", 0x90000, 384),))
    error = refused(made)
    assert (error.rule, error.address) == ("code outside the executable region", 0x90000)


def test_rows_outside_the_executable_region() -> None:
    rows = Table("rows", 0x90000, np.zeros((4, 2)), "rows")
    assert refused(program((), (rows,))).rule == "code outside the executable region"


def test_the_supervisor_program_outside_the_executable_region() -> None:
    made = replace(unary(A, C), supervisor_address=0x98000)
    assert refused(made).rule == "code outside the executable region"


def gemm(a: int = A, w: int = B, c: int = C, **axes) -> Program:
    one = call(
        "gemm.f16.f16",
        [
            Operand(a, "f16", axes.get("a_axes", (((0, 0),), ((0, 16),), ((0, 128), (16, 1))))),
            Operand(w, "f16", axes.get("w_axes", (((0, 0),), ((0, 256), (16, 16)), ((0, 256), (16, 1))))),
        ],
        [Operand(c, "f16", axes.get("c_axes", (((0, 0),), ((0, 16),), ((0, 128), (16, 1)))))],
    )
    weights = host("y", "input", w, "f16", row_major((16, 16), base=2))
    return program(
        (one,),
        (Table("extents", ARGUMENTS, extents(1, 8, 16, 16), "arguments"),),
        (host("x", "input", a, "f16"), weights),
    )


def test_the_legal_product_runs() -> None:
    run(gemm())


def test_a_product_into_standard_memory() -> None:
    error = refused(gemm(c=0x7C000))
    assert (error.rule, error.address) == ("wrong memory class", 0x7C000)


def test_input_and_result_of_a_product_in_one_element() -> None:
    error = refused(gemm(a=C + 0x1000))
    assert error.rule == "memory element conflict"
    assert hex(C // 0x8000 * 0x8000) in error.message


def test_a_row_major_left_operand() -> None:
    error = refused(gemm(a_axes=(((0, 0),), ((0, 32),), ((0, 1),))))
    assert error.rule == "operand order"
    assert "k/16 m k%16" in error.message


def test_weights_that_are_not_panels() -> None:
    error = refused(gemm(w_axes=(((0, 0),), ((0, 1),), ((0, 16),))))
    assert error.rule == "operand order"


def test_an_operand_with_too_few_axes() -> None:
    assert refused(gemm(a_axes=dense(8, 16))).rule == "operand order"


def test_padding_of_a_product_that_nothing_wrote() -> None:
    made = gemm()
    short = Table("extents", ARGUMENTS, extents(1, 8, 16, 17), "arguments")  # k = 17 reads two passes
    error = refused(replace(made, tables=(short,)))
    assert error.rule == "read of unwritten memory"


def test_a_kernel_without_code() -> None:
    made = unary(A, C)
    image = to_image(made)
    stolen = replace(image, code=(replace(image.code[0], address=CODE + 0x800),))
    with pytest.raises(IllegalProgram) as caught:
        executor = Executor(stolen, MACHINE)
        executor.load({})
        executor.run({"x": np.ones((8, 16)), "y": np.ones((8, 16))})
    assert caught.value.rule == "call of no kernel"


def test_a_call_with_a_missing_operand() -> None:
    one = call("pointwise.add", [Operand(A, "f16", dense(8, 16))], [Operand(C, "f16", dense(8, 16))])
    made = program((one,), (Table("extents", ARGUMENTS, extents(8, 16), "arguments"),))
    assert refused(made).rule == "call of no kernel"


def test_a_store_inside_a_word_destroys_the_rest_of_it() -> None:
    """
    Three bytes are cast beside one that was there: the machine stores whole words, so that one is lost, and
    reading it is refused.
    """
    bytes_at = C
    first = call("cast", [Operand(A, "f16", dense(4))], [Operand(bytes_at, "f8E4M3FNUZ", dense(4))])
    second = replace(
        first,
        ins=(Operand(A, "f16", dense(3)),),
        outs=(Operand(bytes_at, "f8E4M3FNUZ", dense(3)),),
        extents="three",
    )
    third = call("cast", [Operand(bytes_at, "f8E4M3FNUZ", dense(4))], [Operand(C + 64, "f16", dense(4))])
    tables = (
        Table("extents", ARGUMENTS, extents(4), "arguments"),
        Table("three", ARGUMENTS + 8, extents(3), "arguments"),
    )
    run(program((first, third), tables))
    error = refused(program((first, second, third), tables))
    assert (error.rule, error.tile, error.address) == ("sub-word store", 2, bytes_at + 3)


def test_a_copy_may_store_inside_a_word() -> None:
    first = call("cast", [Operand(A, "f16", dense(4))], [Operand(C, "f8E4M3FNUZ", dense(4))])
    second = Call(
        "copy",
        (Operand(C, "f8E4M3FNUZ", dense(3)),),
        (Operand(C + 8, "f8E4M3FNUZ", dense(3)),),
        (),
        "three",
    )
    whole = replace(first, outs=(Operand(C + 8, "f8E4M3FNUZ", dense(4)),))
    third = call("cast", [Operand(C + 8, "f8E4M3FNUZ", dense(4))], [Operand(C + 64, "f16", dense(4))])
    tables = (
        Table("extents", ARGUMENTS, extents(4), "arguments"),
        Table("three", ARGUMENTS + 8, extents(3), "arguments"),
    )
    run(program((first, whole, second, third), tables))


def exchange(source: int, target: int, nbytes: int = 32, rows_at: int = ROWS, **changes) -> Program:
    """Tile 2 sends to tile 0."""
    one = np.array
    messages = Messages(one([2]), one([0]), one([0]), one([0]), one([1]), one([0]), one([nbytes]))
    rows = encode(schedule(messages, MACHINE), [source, target], MACHINE)
    made = program((Exchange("rows", WHERE, "swap"),), (Table("rows", rows_at, rows.words, "rows"),))
    return replace(made, **changes)


def test_the_legal_exchange_runs() -> None:
    run(exchange(A, C))


def test_a_send_of_what_nothing_wrote() -> None:
    error = refused(exchange(A + 256, C))
    assert (error.rule, error.tile, error.address) == ("read of unwritten memory", 2, A + 256)
    assert "swap" in error.message


def test_a_receive_over_a_parameter() -> None:
    made = exchange(A, C)
    made = replace(made, bindings=(made.bindings[0], host("w", "parameter", C, "f16", row_major((8, 16)))))
    error = refused(made)
    assert (error.rule, error.tile, error.address) == ("two writers", 0, C)


def test_a_send_from_the_element_that_holds_the_rows() -> None:
    made = exchange(ROWS + 0x800, C)
    made = replace(made, bindings=(host("x", "input", ROWS + 0x800, "f16"),))
    error = refused(made)
    assert error.rule == "row element in use"
    assert error.phase is not None and "swap" in error.phase


def test_a_row_that_is_no_program() -> None:
    rows = Table("rows", ROWS, np.full((4, 2), 0x12345678), "rows")
    assert refused(program((Exchange("rows", WHERE, "swap"),), (rows,))).rule == "bad opcode"


def test_a_patch_outside_its_row() -> None:
    made = exchange(A, C)
    positions = Table("positions", ARGUMENTS, np.full((4, 1), 1000), "patch tables")
    body = (Repeat("layers", 2, made.body, (Patch("rows", "positions", 1),)),)
    error = refused(replace(made, body=body, tables=(*made.tables, positions)))
    assert (error.rule, error.tile) == ("address out of range", 0)


def test_a_patch_that_leaves_the_address_field() -> None:
    made = exchange(A, C)
    positions = Table(
        "positions", ARGUMENTS, np.array([[0xFFFFFFFF]] * 2 + [[1]] + [[0xFFFFFFFF]]), "patch tables"
    )
    body = (Repeat("layers", 2, made.body, (Patch("rows", "positions", 1 << 18),)),)
    error = refused(replace(made, body=body, tables=(*made.tables, positions)))
    assert (error.rule, error.tile) == ("address out of range", 2)


def test_an_output_that_nothing_wrote() -> None:
    made = program((), (), (host("z", "output", C, "f16"),))
    error = refused(made)
    assert (error.rule, error.tile, error.address) == ("read of unwritten memory", 2, C)
    assert "'z'" in error.message


def test_what_a_run_left_behind_is_not_there_in_the_next() -> None:
    """The second run reads what only the first one wrote."""
    writes = call("pointwise.neg", [Operand(A, "f16", dense(8, 16))], [Operand(C, "f16", dense(8, 16))])
    reads = call("pointwise.neg", [Operand(C, "f16", dense(8, 16))], [Operand(C, "f16", dense(8, 16))])
    tables = (Table("extents", ARGUMENTS, extents(8, 16), "arguments"),)
    executor = Executor(to_image(program((writes, reads), tables)), MACHINE)
    executor.load({})
    values = {"x": np.ones((8, 16)), "y": np.ones((8, 16))}
    executor.run(values)
    executor.run(values)
    executor = Executor(to_image(program((reads, writes), tables)), MACHINE)
    executor.load({})
    for _ in range(2):
        with pytest.raises(IllegalProgram):
            executor.run(values)


def test_a_missing_parameter_is_named() -> None:
    made = program((), (), (host("w", "parameter", A, "f16"),))
    with pytest.raises(ExecutionError, match="parameter 'w' is missing"):
        Executor(to_image(made), MACHINE).load({})


def test_an_input_of_another_shape_is_named() -> None:
    executor = Executor(to_image(program((), (), (host("x", "input", A, "f16"),))), MACHINE)
    executor.load({})
    with pytest.raises(ExecutionError, match=r"input 'x' has shape \(3,\), the program wants \(8, 16\)"):
        executor.run({"x": np.ones(3)})


def test_another_machine_is_refused() -> None:
    with pytest.raises(ExecutionError, match="for machine 't4', not 't16'"):
        Executor(to_image(program((), ())), load("t16"))


def test_a_changed_supervisor_word_is_noticed() -> None:
    image = to_image(unary(A, C))
    executor = Executor(image, MACHINE)
    executor.load({})
    executor.memory.words[3, (SUPERVISOR - MACHINE.sram_base) // 4] ^= 1
    with pytest.raises(IllegalProgram) as caught:
        executor.run({"x": np.ones((8, 16)), "y": np.ones((8, 16))})
    assert (caught.value.rule, caught.value.tile) == ("supervisor programs differ", 3)
