# SPDX-License-Identifier: Apache-2.0
"""tile-opt from the outside: exit status, what goes where, passes that fail."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tilewright import settings
from tilewright.diagnostics import TileError
from tilewright.passes.pipeline import STAGES
from tilewright.tools.tile_opt import main
from tilewright.universe import UNIVERSE

PROGRAM = """\
func.func @f(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  func.return %b : i32
}
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs tile-opt on a text in this process: (status, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(text: str, *arguments: str) -> tuple[int, str, str]:
        path = tmp_path / "program.mlir"
        path.write_text(text, "utf-8")
        status = main([str(path), *arguments])
        out, err = capsys.readouterr()
        return status, out, err.replace(f"{tmp_path}/", "")

    return call


def register(monkeypatch: pytest.MonkeyPatch, apply: Callable[[ModuleOp], None]) -> None:
    """A pass `tile-probe` that does `apply`."""

    @dataclass(frozen=True)
    class Probe(ModulePass):
        name = "tile-probe"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            apply(op)

    monkeypatch.setitem(UNIVERSE.all_passes, "tile-probe", lambda: Probe)


def test_good_input_is_status_0(run: Run) -> None:
    status, out, err = run(PROGRAM)
    assert status == 0, err
    assert "arith.addi" in out


@pytest.mark.parametrize("arguments", [["--no-such-flag"], ["--machin", "t4"], ["-t", "no-such-target"]])
def test_unknown_flags_are_status_2(run: Run, arguments: list[str]) -> None:
    status, out, err = run(PROGRAM, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("tile-opt: error: ")


def test_user_errors_are_status_1_and_leave_stdout_empty(run: Run) -> None:
    status, out, err = run(PROGRAM.replace("addi", "addy"))
    assert (status, out) == (1, "")
    assert err.startswith("program.mlir:2:8: error: dialect `arith` has no operation `arith.addy`\n")


def test_what_a_pass_refuses_is_told_with_place_and_pass(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(module: ModuleOp) -> None:
        (op,) = (op for op in module.walk() if op.name == "arith.addi")
        raise TileError(
            "no room for %b",
            location=op.location,
            notes=("needs 8 bytes, 4 are free",),
            hint="use a larger tile",
        )

    register(monkeypatch, refuse)
    assert run(PROGRAM, "-p", "tile-probe") == (
        1,
        "",
        "program.mlir:2:8: error: no room for %b\n"
        "  %b = arith.addi %a, %a : i32\n"
        "       ^~~~~~~~~~\n"
        "note: needs 8 bytes, 4 are free\n"
        "note: in pass `tile-probe`\n"
        "hint: use a larger tile\n",
    )


def test_a_pass_of_xdsl_that_fails_is_status_1_without_the_module(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(module: ModuleOp) -> None:
        module.emit_error("unsupported", PassFailedException("unsupported shape"))

    register(monkeypatch, fail)
    status, _, err = run(PROGRAM, "-p", "tile-probe")
    assert (status, err) == (1, "tile-opt: error: unsupported shape\nnote: in pass `tile-probe`\n")


def test_a_pass_that_breaks_the_ir_is_an_internal_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def move_last_op_first(module: ModuleOp) -> None:
        block = next(op for op in module.walk() if op.name == "arith.addi").parent_block()
        assert block is not None
        first, last = block.first_op, block.last_op
        assert first is not None and last is not None
        last.detach()
        block.insert_op_before(last, first)

    register(monkeypatch, move_last_op_first)
    status, out, err = run(PROGRAM, "-p", "tile-probe")
    assert (status, out) == (70, "")
    assert "program.mlir:3:3: error: `func.return` does not verify: " in err
    assert "note: the IR is invalid after pass `tile-probe`" in err


def test_internal_errors_are_status_70_with_a_reproducer_that_reads_back(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def crash(module: ModuleOp) -> None:
        raise ZeroDivisionError("in a pass")

    register(monkeypatch, crash)
    status, out, err = run(PROGRAM, "-p", "cse,tile-probe")
    assert (status, out) == (70, "")
    assert "tile-opt: internal error: ZeroDivisionError: in a pass" in err
    match = re.search(r"please report it with (tile-opt-\w+\.reproducer\.mlir)", err)
    assert match is not None
    text = (tmp_path / match[1]).read_text("utf-8")
    assert '"-p", "cse,tile-probe"' in text and "ZeroDivisionError" in text and PROGRAM in text
    assert run(text)[0] == 0, "the reproducer is input for tile-opt"
    status, out, err = run("", "--run-reproducer", match[1])
    assert (status, out) == (70, ""), "it ends the same way"
    assert err.splitlines()[0] == "tile-opt: internal error: ZeroDivisionError: in a pass"
    assert f"please report it with {match[1]}" in err
    assert len(list(tmp_path.glob("*.reproducer.mlir"))) == 1, "a run of one writes no other"


PRODUCT = """\
func.func @main(%x: tensor<4x8xf16>, %w: tensor<8x4xf16> {tile_tensor.parameter = "w"}) -> tensor<4x4xf16> {
  %y = tile_tensor.matmul %x, %w : (tensor<4x8xf16>, tensor<8x4xf16>) -> tensor<4x4xf16>
  func.return %y : tensor<4x4xf16>
}
"""


@pytest.mark.parametrize("name", UNIVERSE.all_passes)
def test_whatever_pass_is_killed_can_be_run_again(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    def crash(*_: object) -> None:
        raise ZeroDivisionError(f"in {name}")

    cls = UNIVERSE.all_passes[name]()
    monkeypatch.setattr(cls, "apply", crash)
    pipelines = [f"cse,{name}"]
    if name in {stage.name for stage in STAGES}:
        pipelines.append("tile-compile{machine=t4 homes=selected}")
    for pipeline in pipelines:
        # a search has the stage of the same name write its plan
        status, out, err = run(PRODUCT, "--search", "off", "-p", pipeline)
        assert (status, out) == (70, "")
        first, second, *_ = err.splitlines()
        assert first == f"tile-opt: internal error: ZeroDivisionError: in {name}"
        match = re.search(r"please report it with (tile-opt-\w+\.reproducer\.mlir)", second)
        assert match is not None
        status, out, err = run("", "--run-reproducer", match[1])
        assert (status, out, err.splitlines()[0]) == (70, "", first)


def test_a_reproducer_holds_the_piece_and_the_files_that_it_takes(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def crash(module: ModuleOp) -> None:
        if any(op.name == "arith.addi" for op in module.walk()):
            raise ZeroDivisionError(f"after {settings.current().plan_path and 'a plan'}")

    register(monkeypatch, crash)
    plan = tmp_path / "plan.json"
    plan.write_text("{}", "utf-8")
    text = f"func.func private @g() -> ()\n// -----\n{PROGRAM}"
    arguments = ("-p", "tile-probe", "--split-input-file", f"--plan={plan}", "-o", "out.mlir")
    assert run(text, *arguments, "--crash-reproducer", "r.mlir")[0] == 70
    plan.unlink()
    assert "@g" not in (tmp_path / "r.mlir").read_text("utf-8")
    status, _, err = run("", "--run-reproducer", "r.mlir")
    assert status == 70 and "ZeroDivisionError: after a plan" in err
    assert not (tmp_path / "out.mlir").exists()


def test_a_failure_is_written_on_request(run: Run, tmp_path: Path) -> None:
    bad = PROGRAM.replace("addi", "addy")
    assert run(bad)[0] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["program.mlir"]
    status, _, err = run(bad, "--crash-reproducer=r.mlir")
    assert status == 1 and "note: `tile-opt --run-reproducer r.mlir` does this again" in err
    status, _, err = run("", "--run-reproducer", "r.mlir")
    assert status == 1 and "r.mlir:3:8: error: dialect `arith` has no operation `arith.addy`" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("builtin.module {}", "`r.mlir` is no reproducer"),
        ("// tilewright-reproducer: {", "the first line of the reproducer `r.mlir` is damaged"),
        ("// tilewright-reproducer: {}", "the first line of the reproducer `r.mlir` is damaged"),
        (
            '// tilewright-reproducer: {"format": "tilewright-reproducer", "version": 1, "tool": "tile-run",'
            ' "tilewright": "0", "arguments": [], "files": {}}',
            "`r.mlir` is of tile-run, which is to run it",
        ),
    ],
)
def test_what_is_no_reproducer(run: Run, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "r.mlir").write_text(text + "\n", "utf-8")
    status, _, err = run("", "--run-reproducer", "r.mlir")
    assert status == 1 and message in err


def test_passes_see_the_command_line_as_settings(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[settings.Settings] = []
    register(monkeypatch, lambda module: seen.append(settings.current()))
    plan = tmp_path / "plan.json"
    plan.write_text("{}", "utf-8")
    assert run(PROGRAM, "-p", "tile-probe", "--machine", "t16", "--plan", str(plan))[0] == 0
    assert seen == [settings.Settings(machine="t16", plan_path=plan)]
    assert settings.current() == settings.Settings()


def test_verify_each_can_be_switched_off_but_not_the_last(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(module: ModuleOp) -> None:
        (op,) = (op for op in module.walk() if op.name == "arith.addi")
        op.properties["no_such_property"] = UnitAttr()

    register(monkeypatch, spoil)
    _, _, err = run(PROGRAM, "-p", "tile-probe,cse")
    assert "after pass `tile-probe`" in err
    status, _, err = run(PROGRAM, "-p", "tile-probe,cse", "--verify-each=false")
    assert status == 70 and "after pass `cse`" in err


def test_list_passes_names_options_and_defaults(run: Run) -> None:
    status, out, _ = run(PROGRAM, "--list-passes")
    assert status == 0
    assert re.search(r"^tile-compile: \w+", out, re.M)
    assert re.search(r"^    machine: .*", out, re.M)
    assert re.search(r"^    canonicalize$", out, re.M)
    stages = out.partition("stages of tile-compile and tile-run, in order:\n")[2]
    assert stages.startswith("    tile-inline-calls: ") and "    tile-lower-to-asm: " in stages


def test_an_early_reader_of_the_output_is_no_error() -> None:
    """`tile-opt | head` leaves no traceback."""
    tool = Path(sys.executable).parent / "tile-opt"
    text = "\n".join('"test.op"() : () -> ()' for _ in range(5000))
    process = subprocess.Popen(
        [tool], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    process.stdout.close()
    process.stdin.write(text)
    process.stdin.close()
    assert process.stderr.read() == ""
    assert process.wait() in (0, 1)
    process.stderr.close()


def test_output_does_not_depend_on_the_hash_seed() -> None:
    tool = Path(sys.executable).parent / "tile-opt"
    results = {
        subprocess.run(
            [tool, "-p", "canonicalize,cse"],
            input=PROGRAM,
            text=True,
            capture_output=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "12345")
    }
    assert len(results) == 1


def test_nothing_is_left_beside_an_output_that_failed(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "out.mlir"
    assert run(PROGRAM, "-p", "nope", "-o", str(target))[0] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program.mlir"]
    assert run(PROGRAM, "-o", str(target))[0] == 0
    assert "arith.addi" in target.read_text("utf-8")
    status, _, err = run(PROGRAM, "-o", str(tmp_path / "nowhere" / "out.mlir"))
    assert status == 1 and err.startswith("tile-opt: error: cannot open `nowhere")


def test_the_example_of_the_readme_compiles(run: Run) -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    match = re.search(r"```mlir\n(.*?)```", text, re.S)
    assert match is not None
    status, out, err = run(match[1], "--pass-pipeline=builtin.module(tile-compile)")
    assert status == 0, err
    assert "tile_asm.program" in out


def test_the_example_of_the_pass_guide_works(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[2] / "docs/passes.md").read_text("utf-8")
    match = re.search(r"```python\n(.*?)```", text, re.S)
    assert match is not None
    module = types.ModuleType("guide")
    monkeypatch.setitem(sys.modules, "guide", module)
    exec(compile(match[1], "passes.md", "exec", dont_inherit=True), module.__dict__)
    monkeypatch.setitem(UNIVERSE.all_passes, "tile-fold-views", lambda: module.__dict__["TileFoldViewsPass"])
    program = """\
func.func @f(%a: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %b = tile_tensor.transpose %a permutation [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %c = tile_tensor.transpose %b permutation [2, 0, 1] : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  func.return %c : tensor<2x3x4xf32>
}
"""
    status, out, err = run(program, "-p", "tile-fold-views")
    assert status == 0, err
    assert "return %a" in out and out.count("transpose") == 1
