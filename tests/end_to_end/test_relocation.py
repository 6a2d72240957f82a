# SPDX-License-Identifier: Apache-2.0
"""
Rows in a repeat: what is sent from a sequence moves with the iteration, and nothing else does.

The compact broadcast keeps each member of a sequence once in the machine and sends it to every tile that
wants it, iteration after iteration, with one table of rows.
"""

from __future__ import annotations

import dataclasses
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import harness
import numpy as np
import pytest

from tilewright.backends import program as asm
from tilewright.backends import rows as r
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.tile_asm import module_to_program
from tilewright.machine import load
from tilewright.passes.ir.exchange import check_program, expected_phases
from tilewright.passes.ir.tensors import MACHINE
from tilewright.passes.pipeline import Options, passes
from tilewright.planning.exchange import ExchangeError, Messages, schedule

_SPEC = spec_from_file_location(
    "exchange_messages", Path(__file__).parents[1] / "cases" / "exchange_messages.py"
)
assert _SPEC is not None and _SPEC.loader is not None
cases = module_from_spec(_SPEC)
_SPEC.loader.exec_module(cases)


# One chronological list: the row, and what is patched


def late_first(machine: str, swap: bool) -> tuple[Messages, list[int]]:
    """
    Tile 0 sends from a sequence (buffer 1) and from a buffer that stays (0). Its message to tile 2 has to
    wait for a long one that tile 3 sends there, its message to tile 1 goes at once. `swap`: the order in
    which they are written down.
    """
    late, early = (0, 0, 0, 2, 3, 4000, 80), (0, 1, 0, 1, 2, 0, 120)
    wait = (3, 0, 0, 2, 3, 0, 4000)
    order = [wait, early, late] if swap else [late, early, wait]
    return cases.messages(*order), cases.addresses(load(machine))


@pytest.mark.parametrize("swap", [False, True])
def test_a_late_send_added_first_and_an_early_one_added_second(swap: bool) -> None:
    machine = load("t4")
    wanted, place = late_first("t4", swap)
    made = schedule(wanted, machine)
    rows = r.encode(made, place, machine)
    mine = made.send_tile == 0
    assert made.send_buffer[mine].tolist() in ([1, 0], [0, 1])
    # The words of the row are in the order of time, whatever the order of the messages.
    events = r.decode(rows.words)
    sends = np.flatnonzero(events.absolute & (events.items > 0) & (events.tile == 0))
    assert (np.diff(events.start[sends]) > 0).all() and (np.diff(events.word[sends]) > 0).all()
    # Those named for the sequence hold its addresses, and moving them is encoding elsewhere.
    positions = rows.positions(1)
    named = positions[0][positions[0] != 0xFFFFFFFF]
    address = rows.words[0, named] >> r.SEND_FIELD & r.ADDRESS_MASK
    assert (4 * address.astype(np.int64) >= place[1]).all() and (4 * address < place[1] + 120).all()
    step = 0x200
    words = rows.words.copy()
    words[0, named] += np.uint32(step // 4 << r.SEND_FIELD)
    moved = [place[0], place[1] + step, *place[2:]]
    assert (words == r.encode(made, moved, machine).words).all()


def test_the_order_of_messages_does_not_matter() -> None:
    machine = load("t4")
    tables = []
    for swap in (False, True):
        wanted, place = late_first("t4", swap)
        tables.append(r.encode(schedule(wanted, machine), place, machine).words)
    assert np.array_equal(*tables)


def spoil(rows: r.Rows, **changes: object) -> r.Rows:
    return dataclasses.replace(rows, **changes)  # type: ignore[arg-type]


def test_what_cannot_be_relocated_names_its_check() -> None:
    machine = load("t4")
    wanted = cases.messages(
        (0, 1, 0, 1, 2, 0, 120),
        *((0, 1, 1024, tile, 3, 0, 1024) for tile in (2, 3)),
        (3, 0, 0, 1, 2, 400, 40),
    )
    rows = r.encode(schedule(wanted, machine, paired=True), cases.addresses(machine), machine)
    assert len(rows.paired_restarts[0])
    r.require_relocatable(rows, 1, 0x200, 8, machine)

    def refused(check: str, rows: r.Rows = rows, buffer: int = 1, step: int = 0x200, count: int = 8) -> None:
        with pytest.raises(ExchangeError, match=re.escape(f"cannot be relocated ({check})")) as error:
            r.require_relocatable(rows, buffer, step, count, machine)
        assert "of its row, buffer" in error.value.notes[0]

    refused("only sends move", buffer=2)
    refused("whole items", step=0x204)
    refused("address range", count=5000)
    tile, word, owner = rows.restarts
    refused("restart field", spoil(rows, restarts=(tile, word - 1, owner)))
    refused("item size", spoil(rows, restarts=rows.paired_restarts))


# 27 members, each once in the machine, broadcast in 27 iterations

LAYERS = 27


def text(rows: int, columns: int, dtype: str, kind: str) -> str:
    x = f"tensor<{rows}x{columns}x{dtype}>"
    if kind == "add":
        w, names = f"tensor<{columns}x{dtype}>", "b"
        body = f"%y = tile_tensor.add %h, %w : ({x}, {w}) -> {x}"
    else:
        w, names = f"tensor<{columns}x{columns}x{dtype}>", "w"
        body = f"%y = tile_tensor.matmul %h, %w accumulate f16 : ({x}, {w}) -> {x}"
    members = ", ".join(f'"{names}{i}"' for i in range(LAYERS))
    sequence = f"!tile_repeat.sequence<{LAYERS} x {w}>"
    return f"""
    func.func @main(%x: {x} {{tile_tensor.input = "x"}},
                    %ws: {sequence} {{tile_tensor.parameter = [{members}]}})
        -> ({x} {{tile_tensor.output = "y"}}) {{
      %r = tile_repeat.repeat "layers" count {LAYERS}
          carried(%h = %x : {x}) iterated(%w = %ws : {sequence}) -> ({x}) {{
        {body}
        tile_repeat.yield %y : {x}
      }}
      return %r : {x}
    }}
    """


@pytest.mark.parametrize(
    ("kind", "machine", "rows", "columns"),
    [("add", "t16", 48, 64), ("matmul", "t16", 32, 64), ("matmul", "t64", 64, 128)],
)
def test_a_compact_broadcast_of_27_iterations(kind: str, machine: str, rows: int, columns: int) -> None:
    from xdsl.dialects.builtin import StringAttr

    module = parse_module(text(rows, columns, "f16", kind), ctx=(ctx := context()))
    module.attributes[MACHINE] = StringAttr(machine)
    *stages, last = passes(Options(search="off"))  # whose plans have a broadcast in every iteration
    for stage in stages:
        stage.apply(ctx, module)
    phases = expected_phases(module)
    last.apply(ctx, module)
    program = module_to_program(module)

    repeat = next(i for i in program.body if isinstance(i, asm.Repeat))
    sequence = next(b for b in program.bindings if b.count == LAYERS)
    assert repeat.count == LAYERS and repeat.patches
    tables = {t.name: t for t in program.tables}
    for patch in repeat.patches:
        # Dense: from one member to the next is what a member takes, and one number says it all.
        assert patch.delta_words in (sequence.stride // 4, sequence.stride // 8)
        assert tables[patch.positions].words.shape[1] * 4 < 256
    assert sum(1 for p in phases if p.repeat == "layers") >= 1
    # The first, the second and the last iteration, rows patched as the supervisor patches them.
    assert check_program(program, phases, load(machine)) > len(phases)

    random = np.random.default_rng(0)
    x = random.integers(-4, 5, (rows, columns)).astype(np.float16)
    if kind == "add":
        parameters = {f"b{i}": random.integers(-2, 3, columns).astype(np.float16) for i in range(LAYERS)}
        expected = x + sum(parameters.values())
    else:
        parameters, expected = {}, x.astype(np.float32)
        for i in range(LAYERS):  # signed permutations: exact however deep
            w = np.eye(columns)[random.permutation(columns)] * random.choice([-1, 1], columns)
            parameters[f"w{i}"] = w.astype(np.float16)
            expected = expected @ w
    compiled = harness.compile_text(text(rows, columns, "f16", kind), machine, search="off")
    found = harness.check(compiled, {"x": x}, parameters, [float("nan")])
    assert np.array_equal(np.asarray(found["y"], np.float32), np.asarray(expected, np.float32))

    executor = harness.Executor(compiled.image, compiled.machine)
    executor.load(parameters)
    run = executor.run({"x": x})
    patching = [s for s in run.steps if "patch rows" in s.name]
    assert len(patching) == LAYERS  # between iterations, and once to restore
    (timing,) = run.repeats
    assert timing.count == LAYERS and timing.per_iteration is not None
    assert timing.per_iteration >= min(s.cycles for s in patching)
