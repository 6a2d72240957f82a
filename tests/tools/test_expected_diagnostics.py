# SPDX-License-Identifier: Apache-2.0
"""Expected diagnostics against MLIR's documentation of them, case by case."""

from __future__ import annotations

import pytest

from tilewright.dialects.text.sources import Position, Source
from tilewright.tools.driver.expected import check_expectations, read_expectations
from tilewright.tools.driver.render import Diagnostic, Severity


def told(severity: Severity, line: int | None, message: str, *notes: str) -> Diagnostic:
    position = Position("f.mlir", line, 1) if line is not None else None
    return Diagnostic(message, position, notes=notes, severity=severity)


def faults(text: str, *diagnostics: Diagnostic, strict: bool = True, above: int = 0) -> list[str]:
    """What is wrong, as `line: message`."""
    expectations, wrong = read_expectations(Source("f.mlir", text, above))
    wrong += check_expectations(expectations, diagnostics, "f.mlir", strict=strict)
    return [f"{d.position.line if d.position else '?'}: {d.message}" for d in wrong]


GOOD: dict[str, tuple[str, list[Diagnostic]]] = {
    "on the same line": ("op // expected-error {{bad op}}", [told("error", 1, "a bad op here")]),
    "on a line below, by number": ("// expected-error@+2 {{bad}}\n\nop", [told("error", 3, "bad")]),
    "on a line above, by number": ("op\n// expected-error@-1 {{bad}}", [told("error", 1, "bad")]),
    "blanks around the designator": ("// expected-error @+1 {{bad}}\nop", [told("error", 2, "bad")]),
    "below": ("// expected-error@below {{bad}}\nop", [told("error", 2, "bad")]),
    "several below, stacked": (
        "// expected-error@below {{one}}\n// expected-note@below {{two}}\nop",
        [told("error", 3, "one", "two")],
    ),
    "above": ("op\n// expected-error@above {{bad}}", [told("error", 1, "bad")]),
    "several above, stacked": (
        "op\n// expected-remark@above {{one}}\n// expected-remark@above {{two}}",
        [told("remark", 1, "one"), told("remark", 1, "two")],
    ),
    "above passes over other designators": (
        "op\n// expected-error@+2 {{later}}\n// expected-warning@above {{bad}}\nop",
        [told("warning", 1, "bad"), told("error", 4, "later")],
    ),
    "every severity": (
        "a // expected-error {{e}}\nb // expected-warning {{w}}\nc // expected-remark {{r}}",
        [told("error", 1, "e"), told("warning", 2, "w"), told("remark", 3, "r")],
    ),
    "a note belongs to its error": (
        "a // expected-error {{e}}\n// expected-note@-1 {{n}}",
        [told("error", 1, "e", "n")],
    ),
    "no line of this text": ("// expected-error@unknown {{bad}}", [told("error", None, "bad")]),
    "a regular expression": (
        "a // expected-error-re {{has {{[0-9]+}} operands (of 2)}}",
        [told("error", 1, "it has 12 operands (of 2)")],
    ),
    "a regular expression with a designator": (
        "// expected-error-re@+1 {{@{{.*}} returns 1}}\na",
        [told("error", 2, "function (@f) @f returns 1")],
    ),
    "a regular expression that ends in a brace": (
        "a // expected-error-re {{x{{a{2}}}y}}",
        [told("error", 1, "xaay")],
    ),
    "braces belong to the text": ("a // expected-error {{set {a}}}", [told("error", 1, "the set {a}")]),
    "one that comes twice": ("a // expected-error {{e}}", [told("error", 1, "e"), told("error", 1, "e")]),
    "two on a line": (
        "a // expected-error {{one}} expected-error {{two}}",
        [told("error", 1, "one"), told("error", 1, "two")],
    ),
    "a count": ("// expected-error@+1 2 {{e}}\na", [told("error", 2, "e"), told("error", 2, "e")]),
    "at least so many": ("a // expected-error 1+ {{e}}", [told("error", 1, "e"), told("error", 1, "e")]),
    "perhaps": ("a // expected-error 0-1 {{e}}", []),
    "lines are those of the file": ("\na // expected-error {{e}}", [told("error", 12, "e")]),
}


@pytest.mark.parametrize("case", GOOD)
def test_what_is_expected_and_comes(case: str) -> None:
    text, diagnostics = GOOD[case]
    assert faults(text, *diagnostics, above=10 if "file" in case else 0) == []


BAD: dict[str, tuple[str, list[Diagnostic], list[str]]] = {
    "it does not come": ("a // expected-error {{e}}", [], ['1: the expected error "e" was not produced']),
    "nobody expects it": ("a", [told("error", 1, "e")], ["1: unexpected error: e"]),
    "nobody expects its note": (
        "a // expected-error {{e}}",
        [told("error", 1, "e", "n")],
        ["1: unexpected note: n"],
    ),
    "another line": (
        "a // expected-error {{e}}\nb",
        [told("error", 2, "e")],
        ["2: unexpected error: e", '1: the expected error "e" was not produced'],
    ),
    "another kind": (
        "a // expected-warning {{e}}",
        [told("error", 1, "e")],
        ["1: error where the text expects warning: e"],
    ),
    "text is no pattern": (
        "a // expected-error {{[0-9]}}",
        [told("error", 1, "5")],
        ["1: unexpected error: 5", '1: the expected error "[0-9]" was not produced'],
    ),
    "too often": (
        "a // expected-error 1 {{e}}",
        [told("error", 1, "e"), told("error", 1, "e")],
        ['1: the expected error "e" was to come 1 times, it came 2 times'],
    ),
    "too seldom": (
        "a // expected-error 2-3 {{e}}",
        [told("error", 1, "e")],
        ['1: the expected error "e" was to come 2 to 3 times, it came 1 times'],
    ),
    "at the end of the text": (
        "a\n// expected-error@below {{e}}",
        [],
        ['2: the expected error "e" was not produced'],
    ),
    "without its end": ("// expected-error {{e", [], ["1: `{{` without `}}` in an expected diagnostic"]),
    "without its text": (
        "// expected-error@+1",
        [],
        ["1: expected `@LINE`, a count, or `{{` in an expected diagnostic"],
    ),
    "no regular expression": (
        "// expected-error-re {{a{{(}}}}",
        [],
        ["1: bad expected diagnostic: missing ), unterminated subpattern at position 1"],
    ),
    "ends of a count": (
        "// expected-error 3-2 {{a}}",
        [],
        ["1: bad expected diagnostic: the count 3-2 has its ends the wrong way round"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_agree(case: str) -> None:
    text, diagnostics, expected = BAD[case]
    assert faults(text, *diagnostics) == expected


def test_only_what_is_expected() -> None:
    assert faults("a", told("error", 1, "e"), strict=False) == []
    assert len(faults("a // expected-error {{x}}", told("error", 1, "e"), strict=False)) == 1


def test_words_that_are_no_expectations() -> None:
    assert faults("// an expected-errors list, unexpected-error {{x}}, expected-result {{y}}") == []
