# SPDX-License-Identifier: Apache-2.0
"""docs/capabilities.md names every capability once, and only tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COUNTS = {"H": 15, "P": 5, "E": 6, "A": 6, "S": 9, "X": 6, "M": 5, "O": 8, "F": 7, "T": 3}
IDS = [f"{letter}{number}" for letter, count in COUNTS.items() for number in range(1, count + 1)]
ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+) \| ([^|]+) \|$")


def rows() -> list[tuple[str, str, list[str]]]:
    """(id, sentence, tests) of each row; tests are separated by commas, none where the row is open."""
    found: list[tuple[str, str, list[str]]] = []
    for line in (ROOT / "docs/capabilities.md").read_text("utf-8").splitlines():
        if (match := ROW.match(line)) is not None:
            tests = match[3].strip()
            found.append(
                (match[1], match[2], [] if tests == "open" else [t.strip(" `") for t in tests.split(",")])
            )
    return found


def test_every_capability_is_listed_once_in_order() -> None:
    assert [row[0] for row in rows()] == IDS


def test_every_row_has_a_sentence() -> None:
    for name, sentence, _ in rows():
        assert sentence.endswith(".") and len(sentence) > 40, name


@pytest.mark.parametrize(
    ("name", "test"), [(row[0], test) for row in rows() for test in row[2]] or [("", "")]
)
def test_named_tests_exist(name: str, test: str) -> None:
    if not name:
        pytest.skip("every capability is open")
    path, _, function = test.partition("::")
    assert path.startswith(("tests/", "filecheck/")), f"{name}: {test}"
    assert (ROOT / path).is_file(), f"{name}: {path} does not exist"
    if function:
        text = (ROOT / path).read_text("utf-8")
        assert re.search(rf"^\s*def {re.escape(function.split('[')[0])}\(", text, re.M), (
            f"{name}: no {function}"
        )
