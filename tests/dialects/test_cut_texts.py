# SPDX-License-Identifier: Apache-2.0
"""A text that is cut off anywhere, or has a character too much, ends in an error with a place."""

from __future__ import annotations

import pytest

from tilewright.dialects.text.parser import parse_source
from tilewright.dialects.text.sources import Source, Sources
from tilewright.tools.driver import make_context
from tilewright.tools.driver.main import USER_ERRORS
from tilewright.tools.driver.render import Diagnostic, diagnose

TEXT = """\
#layout0 = #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 chunk 16">
builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x: tensor<8x32xf16> {tile_tensor.input = "x"}, %w: tensor<32x16xf16>) -> tensor<8x16xf16> {
    %c = tile_tensor.constant dense<[1.0, 2.0]> : tensor<2xf16>
    %y = tile_tensor.matmul %x, %w accumulate f32 scale -4
      : (tensor<8x32xf16>, tensor<32x16xf16>) -> tensor<8x16xf16>
    func.return %y : tensor<8x16xf16> loc("a":1:2)
  }
}
"""
CONTEXT = make_context()


def outcome(text: str) -> Diagnostic | None:
    """What is said of a text; None where it is good. Other exceptions go through."""
    sources = Sources()
    try:
        parse_source(CONTEXT, Source("text", text), sources)
    except USER_ERRORS as error:
        return diagnose(error, sources)
    return None


@pytest.mark.parametrize("first", range(4))
def test_cut_off(first: int) -> None:
    for length in range(first + 1, len(TEXT) - 1, 4):
        said = outcome(TEXT[:length])
        assert said is not None and said.position is not None, TEXT[:length]
        assert 1 <= said.position.line <= TEXT[:length].count("\n") + 1
    assert outcome(TEXT) is None


@pytest.mark.parametrize("character", ["}", '"', "%", "<", "\x00", "#", "9", ","])
def test_a_character_too_much(character: str) -> None:
    for at in range(0, len(TEXT), 7):
        said = outcome(TEXT[:at] + character + TEXT[at:])
        assert said is None or said.position is not None or character == "\x00"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("builtin.module attributes {} ", "expected a region in braces"),
        ("#", "expected a name behind `#`"),
        ("}", "expected an operation, found `}`"),
        ("#a = 1 : i32\n", "expected an operation"),
        ('"test.op', "the text ends inside of a string"),
        ("builtin.module {\n  func.fu", "the text ends before the `{` of line 1 is closed"),
        ("builtin.module {\n  func.fu\n", "dialect `func` has no operation `func.fu`"),
    ],
)
def test_what_is_said(text: str, message: str) -> None:
    said = outcome(text)
    assert said is not None and said.message == message
