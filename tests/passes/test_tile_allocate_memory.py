# SPDX-License-Identifier: Apache-2.0
"""
Placement of whole programs: lives, classes of tiles, accounting, verification after every pass, determinism.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64

from tilewright.backends.accounting import memory_at, memory_by_category, parameter_copies, peaks
from tilewright.backends.program import Program, Repeat
from tilewright.dialects.entry import entry_function
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.tile import AllocOp, ExchangeOp
from tilewright.dialects.tile_asm import module_to_program
from tilewright.machine import load
from tilewright.passes.ir.lives import Events, buffer_lives
from tilewright.passes.ir.memory import memory_requests
from tilewright.passes.ir.memory_verify import MemoryFault, check_program, verify_memory
from tilewright.passes.pipeline import Options, passes
from tilewright.planning.memory.problem import Problem
from tilewright.tools.tile_opt import main as tile_opt

TEXT = """
func.func @main(%x: tensor<32x64xf16> {tile_tensor.input = "x"},
    %ws: !tile_repeat.sequence<3 x tensor<64x64xf16>> {tile_tensor.parameter = ["w0", "w1", "w2"]})
    -> (tensor<32x64xf16> {tile_tensor.output = "y"}) {
  %y = tile_repeat.repeat "layers" count 3 carried(%c = %x : tensor<32x64xf16>)
      iterated(%w = %ws : !tile_repeat.sequence<3 x tensor<64x64xf16>>) -> (tensor<32x64xf16>) {
    %p = tile_tensor.matmul %c, %w : (tensor<32x64xf16>, tensor<64x64xf16>) -> tensor<32x64xf16>
    %q = tile_tensor.tanh %p : (tensor<32x64xf16>) -> tensor<32x64xf16>
    tile_repeat.yield %q : tensor<32x64xf16>
  }
  func.return %y : tensor<32x64xf16>
}
"""


def lowered(until: str, machine: str = "t16", verify: bool = True) -> ModuleOp:
    """The program after the pass `until`, its memory verified after every pass."""
    ctx = context()
    module = parse_module(TEXT, ctx=ctx)
    module.attributes["tile.machine"] = StringAttr(machine)
    for stage in passes(Options(search="off")):
        stage.apply(ctx, module)
        module.verify()
        if verify:
            verify_memory(module)
        if stage.name == until:
            break
    return module


@pytest.fixture(scope="module")
def program() -> Program:
    return module_to_program(lowered("tile-lower-to-asm"))


def allocs(module: ModuleOp) -> dict[str, AllocOp]:
    return {op.buffer_name.data: op for op in module.walk() if isinstance(op, AllocOp)}


def test_a_sequence_lives_through_the_whole_program_and_counts_whole() -> None:
    module = lowered("tile-schedule-exchange")
    function = entry_function(module)
    events = Events(function)
    lives = buffer_lives(function, events)
    sequence = next(op for op in lives if op.result.type.count == 3)  # type: ignore[attr-defined]
    assert (lives[sequence].first, lives[sequence].last) == (0, events.count)
    assert "read by every iteration of repeat 'layers'" in lives[sequence].reason
    problem = memory_requests(function, load("t16")).problem
    buffer = problem.buffer(sequence.buffer_name.data)
    assert buffer.count == 3 and buffer.extent == 2 * buffer.stride + buffer.nbytes
    local = [b for b in problem.buffers if "product" in b.name]
    assert local and all(b.last - b.first < events.count // 2 for b in local)


def test_support_is_in_the_problem(program: Program) -> None:
    problem = memory_requests(entry_function(lowered("tile-schedule-exchange")), load("t16")).problem
    kinds = {b.category for b in problem.buffers}
    assert {"code", "rows", "patch tables"} <= kinds
    rows = [b for b in problem.buffers if b.category == "rows"]
    assert all(b.memory == "executable" and b.tail == load("t16").fetch_guard_bytes for b in rows)
    assert check_program(program, load("t16")) == []


def test_verification_sees_a_shifted_buffer_a_shifted_row_and_a_dropped_address() -> None:
    module = lowered("tile-allocate-memory")
    verify_memory(module)
    names = allocs(module)
    sequence = next(op for op in names.values() if op.result.type.count == 3)  # type: ignore[attr-defined]
    assert sequence.address is not None
    other = next(op for op in names.values() if op is not sequence and op.address is not None)
    kept = other.properties["address"]
    other.properties["address"] = sequence.address
    with pytest.raises(MemoryFault, match="overlap"):
        verify_memory(module)
    other.properties["address"] = kept
    row = next(op for op in module.walk() if isinstance(op, ExchangeOp))
    kept = row.properties["row_address"]
    row.properties["row_address"] = IntegerAttr(load("t16").region("interleaved").start + 0x1000, i64)
    with pytest.raises(MemoryFault, match="not executable"):
        verify_memory(module)
    row.properties["row_address"] = kept
    verify_memory(module)


def test_every_byte_of_every_tile_has_one_category_at_every_instruction(program: Program) -> None:
    machine = load("t16")
    total = memory_by_category(program, machine)
    assert (sum(total.values()) == machine.sram_bytes).all()
    count = len(list(program.instructions()))
    for instruction in range(-1, count):
        now = memory_at(program, machine, instruction)
        assert (sum(now.values()) == machine.sram_bytes).all()
        assert (now["free"] >= total["free"]).all()


def test_categories_are_counted_by_tile(program: Program) -> None:
    """Parameters of a tile are what the layouts put there: painted byte by byte, it is the same."""
    machine = load("t16")
    expected = np.zeros(machine.tiles, np.int64)
    from tilewright.planning.layout import Layout

    for p in program.placed:
        if p.category == "parameters":
            expected += p.nbytes * Layout.parse(p.layout).owners(machine.tiles)
    assert (memory_by_category(program, machine)["parameters"] == expected).all()


def test_peaks_at_load_outside_of_repeats_and_per_iteration(program: Program) -> None:
    found = {(p.when, p.repeat): p for p in peaks(program, load("t16"))}
    assert set(found) == {("load", ""), ("steady", ""), ("iteration", "layers")} or set(found) == {
        ("load", ""),
        ("iteration", "layers"),
    }
    assert found["iteration", "layers"].nbytes >= found["load", ""].nbytes > 0


def test_each_parameter_is_stored_once(program: Program) -> None:
    assert parameter_copies(program) == {"w0": 1, "w1": 1, "w2": 1}


def test_instructions_of_placed_ranges_are_those_that_use_them(program: Program) -> None:
    """No operand is used outside of the life that its range states."""
    ranges = [p for p in program.placed if p.layout]
    for number, (instruction, _) in enumerate(program.instructions()):
        if isinstance(instruction, Repeat) or not hasattr(instruction, "ins"):
            continue
        for operand in (*instruction.ins, *instruction.outs):  # type: ignore[union-attr]
            holders = [p for p in ranges if p.address <= operand.address < p.address + p.nbytes]
            assert any(p.first <= number <= p.last for p in holders)


def test_same_placement_for_every_hash_seed(tmp_path: Path) -> None:
    import os
    import subprocess
    import sys

    source = tmp_path / "p.mlir"
    source.write_text(TEXT)
    texts = set()
    for seed in ("0", "1", "4242"):
        command = [sys.executable, "-m", "tilewright.tools.tile_opt", str(source), "--machine", "t16"]
        command += ["-p", "tile-compile"]
        done = subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        texts.add(done.stdout)
    assert len(texts) == 1


def test_problems_are_dumped_and_steps_are_logged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, steps = tmp_path / "p.mlir", tmp_path / "steps.jsonl"
    source.write_text(TEXT)
    arguments = [str(source), "--machine", "t16", "-p", "tile-compile", "--search", "off", "--verify-memory"]
    arguments += ["--dump-allocation-problems", str(tmp_path / "problems"), "--steps", str(steps)]
    assert tile_opt(arguments) == 0
    capsys.readouterr()
    problems = [Problem.read(path) for path in sorted((tmp_path / "problems").glob("*.json"))]
    assert problems and problems[0].machine == "t16"
    assert any(b.source.endswith("mlir:8:10") for b in problems[0].buffers), {
        b.source for b in problems[0].buffers
    }
    lines = [json.loads(line) for line in steps.read_text().splitlines()]
    assert lines[0] == {"format": "tilewright-steps", "version": 1}
    ended = [line["step"] for line in lines[1:] if line["state"] == "end"]
    assert ended[-2:] == ["tile-lower-to-asm", "tile-compile"] and "tile-allocate-memory" in ended
    assert all(line["peak_rss_bytes"] > 1 << 20 for line in lines[1:] if line["state"] == "end")


def test_a_step_that_fails_has_no_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, steps = tmp_path / "p.mlir", tmp_path / "steps.jsonl"
    source.write_text("func.func @main() {\n  func.return\n}\n")
    assert tile_opt([str(source), "-p", "tile-allocate-memory{machine=nowhere}", "--steps", str(steps)]) == 1
    capsys.readouterr()
    lines = [json.loads(line) for line in steps.read_text().splitlines()]
    assert lines[-1]["step"] == "tile-allocate-memory" and lines[-1]["state"] == "start"
