# SPDX-License-Identifier: Apache-2.0
"""The grammar for coloured text: nothing is lost, operations, values, types and comments are told apart."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Error, Keyword, Name, Number, String, Text

from tilewright.tools.highlighting import TileLexer
from tilewright.universe import DIALECTS, UNIVERSE

ROOT = Path(__file__).parents[2]
FILES = sorted(ROOT.glob("filecheck/**/*.mlir"))
FENCE = re.compile(r"^```mlir\n(.*?)^```", re.M | re.S)


def kinds(text: str) -> dict[str, object]:
    return {value: kind for kind, value in TileLexer().get_tokens(text) if value.strip()}


def test_what_is_what() -> None:
    found = kinds(
        '// note\n%y = tile_tensor.matmul %x, %w accumulate f32 {tile.value = "y"} : (tensor<4x8xf16,'
        " #layout0>, !tile.buffer) -> tensor<?xi8>\nfunc.call @main(%y) : (f16) -> () loc(unknown)\n"
        "^end: // expected-error"
    )
    assert found["// note"] is Comment.Single and found["// expected-error"] is Comment.Special
    assert found["%y"] is Name.Variable and found["@main"] is Name.Function.Magic
    assert found["tile_tensor.matmul"] is Name.Function and found["tile.value"] is Name.Attribute
    assert found["accumulate"] is Keyword and found["loc"] is Keyword
    assert found["f32"] is found["f16"] is found["i8"] is found["tensor"] is Keyword.Type
    assert found["4x8x"] is Number.Integer and found["#layout0"] is Name.Constant
    assert (
        found["!tile.buffer"] is Keyword.Type
        and found['"y"'] is String.Double
        and found["^end"] is Name.Label
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_text_of_the_tests_comes_out_whole(path: Path) -> None:
    text = path.read_text("utf-8")
    tokens = list(TileLexer(ensurenl=False, stripnl=False).get_tokens(text))
    assert "".join(value for _, value in tokens) == text
    # text that the parser is to refuse may hold anything
    assert (
        not [v for kind, v in tokens if kind in (Error, Text)]
        or "expected-error" in text
        or "not tile-opt" in text
    )


def test_operations_of_ours_are_operations() -> None:
    for name in DIALECTS:
        for op in UNIVERSE.all_dialects[name]().operations:
            assert kinds(f"{op.name} %x")[op.name] is Name.Function


def test_examples_of_the_documents_are_coloured() -> None:
    pages = [path for path in ROOT.glob("docs/**/*.md") if "```mlir" in path.read_text("utf-8")]
    assert pages
    for page in pages:
        for text in FENCE.findall(page.read_text("utf-8")):
            assert Error not in kinds(text).values() and Text not in kinds(text).values(), page


def test_it_is_registered_and_has_its_colours() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    module, _, name = project["entry-points"]["pygments.lexers"]["tilewright"].partition(":")
    assert getattr(import_module(module), name) is TileLexer
    assert "mlir" in TileLexer.aliases and get_lexer_by_name("python")
    css = (ROOT / "docs" / "highlight.css").read_text("utf-8")
    assert HtmlFormatter(style="default").get_style_defs(".codehilite") in css
