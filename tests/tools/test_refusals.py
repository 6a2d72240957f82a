# SPDX-License-Identifier: Apache-2.0
"""What the tools' readers say about text and records that are something else."""

from __future__ import annotations

import pytest
from xdsl.utils.exceptions import ParseError

from tilewright.dialects.parsing import parse_module
from tilewright.tools.result_schema import ResultError, validate


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 : tensor<2xf32>", "a number has an integer, index or float type"),
        ("3.5 : i32", "3.5 is no value of the integer type i32"),
    ],
)
def test_numbers_of_other_types(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_module(f'"test.op"() {{a = {text}}} : () -> ()')
    assert message in str(caught.value)


def test_a_result_that_is_a_list() -> None:
    with pytest.raises(ResultError, match="result: must be an object, it is "):
        validate([1])
