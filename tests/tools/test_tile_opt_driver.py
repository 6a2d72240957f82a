# SPDX-License-Identifier: Apache-2.0
"""The parts that all tools share: reading with locations, dominance, rendering, exit status."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from xdsl.dialects.builtin import FileLineColLoc, FusedLoc, IntAttr, NameLoc, NoneAttr, StringAttr
from xdsl.parser import Parser
from xdsl.utils.exceptions import DiagnosticException, ParseError

from tilewright.diagnostics import TileError
from tilewright.dialects.text.parser import parse_source
from tilewright.dialects.text.sources import Position, Source, Sources
from tilewright.tools.driver import load_module, make_context, run_tool
from tilewright.tools.driver.errors import InvalidIR
from tilewright.tools.driver.main import current_sources
from tilewright.tools.driver.render import Diagnostic, diagnose, format_diagnostic, position_of
from tilewright.tools.driver.verify import verify_module

PROGRAM = """\
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @g(%a: memref<4x8xf32>, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %cst = arith.constant dense<[1.0, 0xFF800000]> : tensor<2xf32>
  %r = scf.for %i = %c0 to %n step %n iter_args(%acc = %c0) -> (index) {
    %s = arith.addi %acc, %i : index
    scf.yield %s : index
  }
  %z = arith.index_cast %r : index to i32
  "test.op"(%r) ({
  ^bb0(%q: i32):
    "test.termop"(%q)[^bb1] : (i32) -> ()
  ^bb1:
    "test.termop"() : () -> ()
  }) {a = [1, 2.0 : f32, "s", @sym, unit], b = #builtin.int<3>} : (index) -> () loc("f.py":1:2)
  func.return %z : i32
}
"""


def place(name: str, line: int, column: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr(name), IntAttr(line), IntAttr(column))


def test_every_op_gets_the_place_of_its_name() -> None:
    sources = Sources()
    module = parse_source(make_context(), Source("p.mlir", PROGRAM), sources)
    lines = PROGRAM.splitlines()
    checked = 0
    for op in module.walk():
        if op is module:
            continue
        position = sources.written_at(op) or position_of(op.location, sources)[0]
        assert position is not None
        assert lines[position.line - 1][position.column - 1 :].lstrip('"').startswith(op.name)
        checked += 1
    assert checked == 11


def test_positions_agree_with_xdsl(tmp_path: Path) -> None:
    text = "a\n\nbc\n  d"
    source = Source("t", text)
    parser = Parser(make_context(), text, "t")
    for offset in range(len(text)):
        with pytest.raises(ParseError) as caught:
            parser.raise_error("here", offset)
        where = caught.value.span.get_location()
        assert source.position(offset) == Position(where.file, where.line, where.col)
    assert [source.line(number) for number in range(6)] == [None, "a", "", "bc", "  d", None]


def test_load_module_verifies(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text("func.func @f(%a: f32) -> i32 {\n  func.return %a : f32\n}\n", "utf-8")
    with pytest.raises(InvalidIR) as caught:
        load_module(path)
    assert position_of(caught.value.location, current_sources())[0] == Position(str(path), 2, 3)
    assert "m.mlir" in str(next(iter(load_module(path, verify=False).walk(region_first=True))).location)


@pytest.mark.parametrize(
    "body",
    [
        '  "test.op"(%b) : (i32) -> ()\n  %b = "test.op"() : () -> i32\n',
        "  %b = arith.addi %b, %b : i32\n",
        '  "test.op"() ({\n    %b = "test.op"() : () -> i32\n  }) : () -> ()\n'
        '  "test.op"(%b) : (i32) -> ()\n',
    ],
)
def test_uses_that_no_definition_reaches(body: str) -> None:
    text = f"func.func @f() {{\n{body}  func.return\n}}\n"
    try:
        module = parse_source(make_context(), Source("p", text), Sources())
    except ParseError:
        return  # some are refused by name already
    with pytest.raises(InvalidIR, match="is not defined before its use"):
        verify_module(module)


def test_a_region_without_a_terminator() -> None:
    text = '"func.func"() <{sym_name = "f", function_type = () -> ()}> ({\n^bb0:\n}) : () -> ()\n'
    module = parse_source(make_context(), Source("p", text), Sources())
    with pytest.raises(InvalidIR, match="its single-block region has no terminator"):
        verify_module(module)


def test_uses_that_are_in_order() -> None:
    """Outer values in inner regions, dominating blocks, loops, blocks that nothing reaches."""
    verify_module(parse_source(make_context(), Source("p", PROGRAM), Sources()))
    text = """\
func.func @f(%p: i1, %a: i32) -> i32 {
  cf.br ^head(%a : i32)
^head(%i: i32):
  %b = arith.addi %i, %a : i32
  cf.cond_br %p, ^head(%b : i32), ^end
^end:
  func.return %b : i32
^nowhere:
  %c = arith.addi %b, %d : i32
  %d = arith.addi %c, %b : i32
  func.return %d : i32
}
"""
    verify_module(parse_source(make_context(), Source("p", text), Sources()))


TOKEN = re.compile(r'\s+|[A-Za-z_][\w.]*|%\w+|@\w+|"[^"]*"|[0-9.]+|.', re.S)


@pytest.mark.parametrize("seed", range(60))
def test_damaged_text_is_a_diagnostic(seed: int) -> None:
    """Whatever a program is damaged to, reading it ends in a module or in an error with a place; soon."""
    rng = random.Random(seed)
    tokens = TOKEN.findall(PROGRAM)
    for _ in range(rng.randint(1, 3)):
        index = rng.randrange(len(tokens))
        tokens[index] = rng.choice(["", '"', "}", rng.choice(tokens), tokens[index] * 2])
    text = "".join(tokens)
    sources = Sources()
    try:
        module = parse_source(make_context(), Source("p", text), sources)
        verify_module(module)
        str(module)
    except (TileError, ParseError, DiagnosticException) as error:
        assert diagnose(error, sources).position is not None


def test_render_notes_and_hint() -> None:
    sources = Sources()
    sources.add(Source("m.mlir", "\tfoo.bar %a, %b\n"))
    error = TileError("too big", location=place("m.mlir", 1, 2), notes=("need 5",), hint="use less")
    assert format_diagnostic(diagnose(error, sources), "tool", sources) == (
        "m.mlir:1:2: error: too big\n\tfoo.bar %a, %b\n\t^~~~~~~\nnote: need 5\nhint: use less\n"
    )


def test_render_cuts_long_lines_around_the_caret() -> None:
    sources = Sources()
    sources.add(Source("m", "x" * 1000 + " here " + "y" * 1000))
    text = format_diagnostic(Diagnostic("m", Position("m", 1, 1002), 4), "tool", sources)
    _, line, marks = text.splitlines()
    assert len(line) < 200
    assert line[marks.index("^") :].startswith("here") and marks.endswith("^~~~")


@pytest.mark.parametrize(
    ("location", "position", "notes"),
    [
        (None, None, ()),
        ("model.mlir:3:5", Position("model.mlir", 3, 5), ()),
        ("tile 7", None, ("at tile 7",)),
        (place("a", 1, 2), Position("a", 1, 2), ()),
        (NameLoc(StringAttr("layer"), place("a", 1, 2)), Position("a", 1, 2), ("in `layer`",)),
        (NameLoc(StringAttr("layer"), NoneAttr()), None, ("in `layer`",)),
        (FusedLoc((place("a", 1, 2), place("b", 3, 4)), NoneAttr()), Position("a", 1, 2), ()),
    ],
)
def test_locations_of_every_kind(location: object, position: Position | None, notes: tuple[str, ...]) -> None:
    assert position_of(location, Sources()) == (position, notes)


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (None, 0, ""),
        (TileError("does not fit"), 1, "tool: error: does not fit\n"),
        (FileNotFoundError(2, "No such file or directory", "x.json"), 1, "tool: error: cannot open `x.json`"),
        (SystemExit(2), 2, ""),
        (SystemExit("bad"), 1, "bad\n"),
        (KeyboardInterrupt(), 130, "tool: interrupted\n"),
        (IndexError("oops"), 70, "tool: internal error: IndexError: oops\n"),
    ],
)
def test_exit_status(
    error: BaseException | None,
    status: int,
    text: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)

    def body(arguments: object) -> int:
        if error is not None:
            raise error
        return 0

    assert run_tool("tool", body, []) == status
    assert capsys.readouterr().err.startswith(text)


def test_a_failed_check_is_status_1() -> None:
    assert run_tool("tool", lambda arguments: 1, []) == 1
