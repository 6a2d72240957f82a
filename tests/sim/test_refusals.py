# SPDX-License-Identifier: Apache-2.0
"""
The list of refusals: the same in the specification and in the model, each raised somewhere, each with a test
that triggers it. The tests of the loader's checks and of malformed words are here as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tilewright.backends.image import Image, Segment, to_image
from tilewright.backends.program import Code, Exchange, Operand, Patch, Program, Repeat, Table, Tap
from tilewright.machine.kernels import kernel
from tilewright.sim.executor import Executor
from tilewright.sim.illegal import RULES, IllegalProgram

ROOT = Path(__file__).parents[2]


def _beside(name: str) -> ModuleType:
    spec = spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


calls, phases, pairs = (
    _beside(name) for name in ("test_executor_refusals", "test_fabric", "test_fabric_paired")
)
MACHINE = calls.MACHINE
SUPERVISOR = calls.SUPERVISOR


def execute(image: Image, **options: Any) -> None:
    executor = Executor(image, MACHINE, **options)
    values = {b.name: np.ones(b.shape, np.float32) for b in image.bindings}
    executor.load(values)
    executor.run(values)


def refused(made: Program | Image, **options: Any) -> IllegalProgram:
    with pytest.raises(IllegalProgram) as caught:
        execute(made if isinstance(made, Image) else to_image(made), **options)
    return caught.value


# Placement


def test_a_live_buffer_in_each_reservation() -> None:
    """An operand, a binding of the host, a table, a send and a receive: each is refused in all of them."""
    for taken in MACHINE.reservations:
        at = -(-taken.start // 16) * 16
        assert refused(calls.unary(calls.A, at)).rule == "reserved memory"
        assert refused(calls.exchange(calls.A, at)).rule == "reserved memory"
        assert refused(calls.exchange(at, calls.C)).rule == "reserved memory"
        for made in (
            calls.program((), (), (calls.host("x", "input", at, "f16"),)),
            calls.program((), (Table("numbers", at, np.zeros((4, 2)), "arguments"),)),
        ):
            error = refused(made)
            assert (error.rule, error.address) == ("reserved memory", at)
            assert taken.name in error.message


def test_an_operand_that_goes_around_a_reservation_is_legal() -> None:
    taken = next(r for r in MACHINE.reservations if r.category == "profile")
    start, apart = taken.start - 64, taken.bytes + 128
    axes = (((0, apart // 2),), ((0, 1),))
    one = calls.call(
        "pointwise.neg",
        [Operand(calls.A, "f16", calls.dense(2, 16))],
        [Operand(start, "f16", axes)],
    )
    execute(
        to_image(
            calls.program((one,), (Table("extents", calls.ARGUMENTS, calls.extents(2, 16), "arguments"),))
        )
    )


def test_a_relocated_send_in_a_reservation_is_refused() -> None:
    """The third iteration of a repeat, which is not decoded anew, sends from the host window."""
    taken = MACHINE.reservations[0]
    made = calls.exchange(taken.start - 2 * 1024, calls.C, rows_at=calls.ROWS)
    send = np.flatnonzero((made.table("rows").words[2] & 0xF8000000) == 0x78000000)
    positions = np.full((4, 1), 0xFFFFFFFF)
    positions[2] = send[0]
    body = (Repeat("layers", 4, made.body, (Patch("rows", "positions", 256),)),)
    inputs = tuple(calls.host(f"x{i}", "input", taken.start - 1024 * (2 - i), "f16") for i in range(2))
    tables = (*made.tables, Table("positions", calls.ARGUMENTS, positions, "patch tables"))
    error = refused(replace(made, body=body, tables=tables, bindings=inputs))
    assert (error.rule, error.tile, error.address) == ("reserved memory", 2, taken.start)
    assert error.phase is not None and "[2]" in error.phase


def code_at(address: int, nbytes: int = 384) -> Program:
    return replace(calls.unary(calls.A, calls.C), code=(Code("pointwise.neg", address, nbytes),))


def test_code_inside_the_worker_stacks() -> None:
    stacks = next(r for r in MACHINE.reservations if r.category == "stacks")
    error = refused(code_at(stacks.start + 0x100))
    assert (error.rule, error.address) == ("reserved memory", stacks.start + 0x100)


def test_code_at_half_a_word() -> None:
    assert refused(code_at(calls.CODE + 2)).rule == "misaligned access"


def test_code_without_room_for_fetch() -> None:
    end = MACHINE.region("standard").end
    execute(to_image(code_at(end - 384 - MACHINE.fetch_guard_bytes)))
    error = refused(code_at(end - 384 - MACHINE.fetch_guard_bytes + 4))
    assert error.rule == "no room for fetch"
    assert "60 bytes before the end" in error.message


def test_rows_without_room_for_fetch() -> None:
    """Also where only the supervisor program says that words are rows."""
    end = MACHINE.region("standard").end
    words = np.full((4, 2), 0x43A00000)
    assert refused(calls.program((), (Table("rows", end - 16, words, "rows"),))).rule == "no room for fetch"
    made = calls.program((Exchange("rows"),), (Table("rows", end - 16, words, "arguments"),))
    assert refused(made).rule == "no room for fetch"
    made = calls.program((Exchange("rows"),), (Table("rows", 0x90000, words, "arguments"),))
    assert refused(made).rule == "code outside the executable region"


def test_code_of_another_size() -> None:
    error = refused(code_at(calls.CODE, 380))
    assert error.rule == "code of no kernel"
    assert "takes 384 bytes, not 380" in error.message
    unknown = replace(code_at(calls.CODE), code=(Code("nothing", calls.CODE, 64),), body=())
    assert refused(unknown).rule == error.rule


def test_two_kernels_at_one_address() -> None:
    image = to_image(calls.unary(calls.A, calls.C))
    code = (*image.code, Code("fill", image.code[0].address, kernel("fill").code_bytes))
    assert refused(replace(image, code=code)).rule == "overlapping placement"


# The manifest


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"layout": "[8, 17]"}, "not 1 members of view"),
        ({"layout": "[8/1@1, 16]", "view": "[9a, 16b]"}, "reaches index 8"),
        ({"layout": "[8/1@1, 16"}, "is not a layout"),
        ({"layout": "[8/1@1, 16]", "view": "[8a, 16b]"}, "uses more tiles than the 4 there are"),
        ({"layout": f"[8, {2**27}]"}, "more elements than the machine has room for"),
        ({"view": f"[8a, 16b, {2**27}]"}, "more elements than the machine has room for"),
        ({"dtype": "f64"}, "unknown element type 'f64'"),
        ({"kind": "mine"}, "binding kind 'mine' is none of"),
        ({"shape": (16, 8)}, "shape [16, 8] are not"),
        ({"count": 3, "stride": 256}, "shape [8, 16] are not 3 members"),
        ({"count": 3, "stride": 8, "shape": (3, 8, 16)}, "members of 256 bytes are 8 bytes apart"),
        ({"count": 2**30}, "it has 1073741824 members"),
        ({"kind": "parameter", "tensors": ("a", "b")}, "1 members but names 2"),
        ({"scale": 10**6}, "a scale of"),
        ({"name": "y"}, "two bindings of one kind have this name"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_binding_that_contradicts_itself(changes: dict[str, Any], text: str) -> None:
    made = calls.unary(calls.A, calls.C)
    first = replace(made.bindings[0], **changes)
    if changes == {"layout": "[8, 17]"}:
        first = replace(first, view="[8a, 17b]")
    error = refused(replace(made, bindings=(first, *made.bindings[1:])))
    assert error.rule == "malformed manifest"
    assert text in error.message


def test_a_table_for_another_number_of_tiles() -> None:
    made = calls.program((), (Table("numbers", calls.ARGUMENTS, np.arange(6).reshape(3, 2), "arguments"),))
    assert "is for 3 tiles, the machine has 4" in refused(made).message


def test_a_tap_of_a_binding_that_is_not_there() -> None:
    image = to_image(calls.program((Tap("x", "x"),)))
    assert refused(replace(image, taps=(Tap("x", "nothing"),))).rule == "malformed manifest"


def test_two_inputs_in_one_place() -> None:
    bindings = tuple(calls.host(name, "input", calls.A, "f16") for name in "xy")
    assert refused(calls.program((), (), bindings)).rule == "two writers"


# The supervisor program


def supervised(words: list[int]) -> Image:
    image = to_image(calls.unary(calls.A, calls.C))
    segment = Segment("supervisor", SUPERVISOR, np.array([words], np.uint32), "code")
    return replace(image, segments=(segment, *image.segments[1:]), supervisor=(SUPERVISOR, len(words)))


def supervisor_words() -> list[int]:
    return to_image(calls.unary(calls.A, calls.C)).segments[0].words[0].tolist()


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (0, 0x09000000 | 19),  # no such opcode
        (0, 0x01000000 | 18),  # a length that is not that of the call
        (0, 0x01000000),  # no length
        (3, 0x01020101),  # a scalar too many: its head has bits without meaning
        (5, 99 | 2 << 8),  # element type 99
        (5, 1 | 2 << 8 | 1 << 16),  # an address step outside of every repeat
        (6, 0),  # an axis without digits
        (7, 8),  # an outermost digit with a size
        (-1, 0x00000002),  # an end that is longer
    ],
)
def test_malformed_words(at: int, value: int) -> None:
    words = supervisor_words()
    words[at] = value
    error = refused(supervised(words))
    assert error.rule == "malformed instruction"
    assert error.address is not None and SUPERVISOR <= error.address < SUPERVISOR + 4 * len(words)


def test_a_program_without_an_end() -> None:
    assert refused(supervised(supervisor_words()[:-1])).rule == "malformed instruction"
    assert refused(supervised([*supervisor_words(), 0])).rule == "malformed instruction"


def test_a_tap_without_an_entry() -> None:
    assert refused(supervised([0x04000002, 0, 0x00000001])).rule == "malformed instruction"


def test_repeats_nested_deeper_than_the_format_has() -> None:
    body: tuple[Any, ...] = ()
    for _ in range(18):
        body = (Repeat("r", 1, body),)
    assert refused(calls.program(body)).rule == "malformed instruction"
    assert len(body) == 1
    execute(to_image(calls.program(body[0].body[0].body)))


def test_a_repeat_that_does_not_end() -> None:
    made = calls.unary(calls.A, calls.C)
    error = refused(replace(made, body=(Repeat("r", 2**32 - 1, made.body),)))
    assert error.rule == "too many steps"
    assert refused(calls.program((Repeat("r", 2**32 - 1, ()),))).rule == "too many steps"
    assert refused(made, most_steps=0).rule == "too many steps"


def test_a_patch_of_the_supervisor_program() -> None:
    made = calls.exchange(calls.A, calls.C)
    positions = Table("positions", calls.ARGUMENTS, np.zeros((4, 1)), "patch tables")
    body = (Repeat("layers", 2, made.body, (Patch("positions", "positions", 1),)),)
    error = refused(replace(made, body=body, tables=(*made.tables, positions)))
    assert (error.rule, error.address) == ("bad patch", calls.ARGUMENTS)


def test_a_word_that_is_patched_twice() -> None:
    made = calls.exchange(calls.A, calls.C)
    positions = np.full((4, 2), 0xFFFFFFFF)
    positions[2] = 1
    tables = (*made.tables, Table("positions", calls.ARGUMENTS, positions, "patch tables"))
    body = (Repeat("layers", 2, made.body, (Patch("rows", "positions", 1),)),)
    error = refused(replace(made, body=body, tables=tables))
    assert (error.rule, error.tile, error.address) == ("bad patch", 2, calls.ROWS + 4)


# Calls


@pytest.mark.parametrize("extent", [-1, 10**6, 2**31 - 1, 2**30])
def test_an_extent_out_of_all_bounds_is_refused_before_anything_is_expanded(extent: int) -> None:
    made = calls.unary(calls.A, calls.C)
    table = Table("extents", calls.ARGUMENTS, calls.extents(8, extent), "arguments")
    assert refused(replace(made, tables=(table,))).rule in ("bad extents", "address out of range")


def test_an_operand_that_repeats_its_elements_without_bound() -> None:
    one = calls.call(
        "reduce.sum",
        [Operand(calls.A, "f16", (((0, 16),), ((0, 0),)))],
        [Operand(calls.C, "f16", (((0, 1),),))],
        [("reduced", 1)],
    )
    made = calls.program((one,), (Table("extents", calls.ARGUMENTS, calls.extents(8, 2**30), "arguments"),))
    made = replace(made, code=(Code("reduce.sum", calls.CODE, kernel("reduce.sum").code_bytes),))
    error = refused(made)
    assert (error.rule, error.tile) == ("bad extents", 2)


def scalars(name: str, *given: tuple[str, float]) -> Program:
    entry = kernel(name)
    operand = Operand(calls.A, "f16", calls.dense(8, 16))
    vector = Operand(calls.A, "f16", calls.dense(16))
    ins = [vector if rule.axes == ("c",) else operand for rule in entry.ins]
    one = calls.call(name, ins, [Operand(calls.C, "f16", calls.dense(8, 16))], given)
    made = calls.program((one,), (Table("extents", calls.ARGUMENTS, calls.extents(8, 16), "arguments"),))
    return replace(made, code=(Code(name, calls.CODE, entry.code_bytes),))


def test_the_legal_scalars_run() -> None:
    execute(to_image(scalars("layer_norm", ("epsilon", 1e-5))))
    execute(to_image(scalars("softmax", ("scale", 0.5), ("split", 1))))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("pointwise.neg", [("epsilon", 1.0)]),
        ("pointwise.neg", [("saturate", 2)]),
        ("pointwise.neg", [("saturate", 1.0)]),
        ("cast", [("scale", 2**40)]),
        ("cast", [("scale", 0.5)]),
        ("layer_norm", []),
        ("layer_norm", [("epsilon", float("nan"))]),
        ("layer_norm", [("epsilon", -1.0)]),
        ("softmax", [("scale", float("inf"))]),
        ("softmax", [("split", 2)]),
    ],
    ids=str,
)
def test_scalars_that_a_kernel_does_not_take(name: str, given: list[tuple[str, float]]) -> None:
    error = refused(scalars(name, *given))
    assert error.rule == "bad scalars"
    assert error.location == calls.WHERE


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [
        ("gemm.f16.f16", "f8E4M3FNUZ", "f16"),
        ("pointwise.exp", "i32", "f16"),
        ("copy", "f16", "bf16"),
        ("softmax", "i8", "f16"),
        ("widen", "f16", "f32"),
        ("narrow", "f16", "f16"),
    ],
)
def test_types_that_a_kernel_does_not_work_on(name: str, source: str, target: str) -> None:
    entry = kernel(name)
    rank = len(entry.axes) if "..." not in entry.axes else 2
    shape = (1, 8, 16, 16)[-rank:]
    operands = [Operand(calls.A, source, calls.dense(*shape[-len(rule.axes) :])) for rule in entry.ins]
    one = calls.call(name, operands, [Operand(calls.C, target, calls.dense(*shape[-rank:]))])
    made = calls.program((one,), (Table("extents", calls.ARGUMENTS, calls.extents(*shape), "arguments"),))
    error = refused(replace(made, code=(Code(name, calls.CODE, entry.code_bytes),)))
    assert error.rule == "bad element types"


def test_a_call_with_other_axes_than_the_kernel() -> None:
    made = scalars("softmax")
    table = Table("extents", calls.ARGUMENTS, calls.extents(8, 16, 1), "arguments")
    assert refused(replace(made, tables=(table,))).rule == "call of no kernel"


def test_partials_without_storage_are_added_as_often_as_there_are() -> None:
    one = calls.call(
        "reduce_partials",
        [Operand(calls.A, "f16", (((0, 0),), ((0, 16),), ((0, 1),)))],
        [Operand(calls.C, "f16", calls.dense(8, 16))],
    )
    made = calls.program(
        (one,),
        (Table("extents", calls.ARGUMENTS, calls.extents(3, 8, 16), "arguments"),),
        (calls.host("x", "input", calls.A, "f16"), calls.host("z", "output", calls.C, "f16")),
    )
    entry = kernel("reduce_partials")
    executor = Executor(
        to_image(replace(made, code=(Code(entry.name, calls.CODE, entry.code_bytes),))), MACHINE
    )
    executor.load({})
    x = np.arange(128, dtype=np.float32).reshape(8, 16)
    assert np.array_equal(executor.run({"x": x}).outputs["z"], 3 * x)


def test_partials_that_load_sixteen_bytes_begin_at_multiples_of_them() -> None:
    place = MACHINE.region("interleaved").start
    one = calls.call(
        "reduce_partials.wide",
        [Operand(place, "f16", (((0, 12),), ((0, 1),)))],
        [Operand(calls.C, "f16", calls.dense(8))],
    )
    table = Table("extents", calls.ARGUMENTS, calls.extents(2, 8), "arguments")
    made = calls.program((one,), (table,), (calls.host("z", "output", calls.C, "f16"),))
    entry = kernel("reduce_partials.wide")
    made = replace(made, code=(Code(entry.name, calls.CODE, entry.code_bytes),))
    refusal = refused(made)
    assert refusal.rule == "misaligned access"
    assert "needs steps of a multiple of 16 bytes along axis p" in str(refusal)


# The list


TRIGGERS: dict[str, Callable[[], object]] = {
    "malformed manifest": test_a_table_for_another_number_of_tiles,
    "reserved memory": test_a_live_buffer_in_each_reservation,
    "overlapping placement": test_two_kernels_at_one_address,
    "code outside the executable region": calls.test_code_outside_the_executable_region,
    "no room for fetch": test_code_without_room_for_fetch,
    "code of no kernel": test_code_of_another_size,
    "address out of range": calls.test_an_operand_beyond_the_memory,
    "misaligned access": calls.test_a_misaligned_operand,
    "read of unwritten memory": calls.test_a_byte_that_nothing_wrote,
    "sub-word store": calls.test_a_store_inside_a_word_destroys_the_rest_of_it,
    "two writers": calls.test_two_outputs_that_overlap,
    "supervisor programs differ": calls.test_a_changed_supervisor_word_is_noticed,
    "malformed instruction": test_a_program_without_an_end,
    "too many steps": test_a_repeat_that_does_not_end,
    "bad patch": test_a_word_that_is_patched_twice,
    "call of no kernel": calls.test_a_kernel_without_code,
    "bad extents": test_an_operand_that_repeats_its_elements_without_bound,
    "bad scalars": lambda: test_scalars_that_a_kernel_does_not_take("layer_norm", []),
    "bad element types": lambda: test_types_that_a_kernel_does_not_work_on("copy", "f16", "bf16"),
    "operand order": calls.test_a_row_major_left_operand,
    "wrong memory class": calls.test_a_product_into_standard_memory,
    "memory element conflict": calls.test_input_and_result_of_a_product_in_one_element,
    "output overlaps an input": calls.test_an_output_over_a_part_of_its_input,
    "misaligned row": phases.test_refuses_an_aligned_sendpicp_in_a_misaligned_row,
    "bad opcode": phases.test_refuses_a_bad_opcode,
    "missing return": phases.test_refuses_a_row_without_return,
    "misaligned sendpicp": phases.test_refuses_a_misaligned_sendpicp,
    "unknown selector": phases.test_refuses_unknown_selectors,
    "misaligned item": pairs.test_refuses_misaligned_items,
    "bus in use": pairs.test_refuses_a_sender_whose_bus_is_lent,
    "item size": pairs.test_refuses_the_wrong_size_of_items,
    "half a pair": pairs.test_refuses_half_a_pair,
    "own pair": pairs.test_refuses_the_own_pair,
    "send without a stream": phases.test_refuses_a_continuation_of_nothing,
    "listening to silence": phases.test_refuses_to_listen_to_silence,
    "never neutral": phases.test_refuses_to_return_while_listening,
    "return too early": phases.test_refuses_to_return_before_the_last_word_lands,
    "receive without a pointer": phases.test_refuses_a_receive_without_a_pointer,
    "row element in use": phases.test_refuses_rows_in_an_element_that_is_read_or_written,
    "element conflict": phases.test_refuses_to_read_and_write_an_element_at_once,
    "send after receive": phases.test_refuses_to_forward_in_one_phase,
}
"""A test for each refusal; it has to raise it."""


def specified() -> dict[str, str]:
    """Rule and sentence of every row of the tables in the specification."""
    text = (ROOT / "docs" / "spec" / "refusals.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `([^`|]+)` \| (.+?) \|$", text, re.M))


def raised() -> set[str]:
    """Every rule that some call in the model names."""
    found: set[str] = set()
    for path in sorted((ROOT / "sim").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            values: list[ast.expr] = []
            if isinstance(node, ast.Call):
                values += [keyword.value for keyword in node.keywords if keyword.arg == "rule"]
                name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
                values += node.args[:1] if name in ("refuse", "_refuse") else []
            elif isinstance(node, ast.Return | ast.Assign) and isinstance(node.value, ast.Tuple | ast.IfExp):
                values += list(ast.walk(node.value))  # type: ignore[arg-type]
            for value in values:
                for inner in ast.walk(value):
                    if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                        found.add(inner.value)
    return found


def test_the_specification_has_the_list_of_the_model() -> None:
    assert specified() == dict(RULES)


def test_every_refusal_is_raised_somewhere() -> None:
    assert set(RULES) <= raised()


def test_a_refusal_that_is_not_in_the_list_is_a_mistake() -> None:
    with pytest.raises(KeyError, match="no refusal"):
        IllegalProgram("text", rule="bad luck")


@pytest.mark.parametrize("rule", RULES)
def test_every_refusal_has_a_test(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[IllegalProgram] = []
    create = IllegalProgram.__init__

    def record(self: IllegalProgram, *args: Any, **named: Any) -> None:
        create(self, *args, **named)
        seen.append(self)

    monkeypatch.setattr(IllegalProgram, "__init__", record)
    TRIGGERS[rule]()
    mine = [error for error in seen if error.rule == rule]
    assert mine
    assert all(error.message.startswith(f"{rule}: ") for error in mine)


def test_no_test_is_of_a_refusal_that_is_gone() -> None:
    assert sorted(TRIGGERS) == sorted(RULES)
