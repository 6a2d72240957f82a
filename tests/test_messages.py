# SPDX-License-Identifier: Apache-2.0
"""Every error message of the code stands in a test, or in a list that says why it cannot."""

from __future__ import annotations

import sys
from pathlib import Path

if (FOLDER := str(Path(__file__).parent)) not in sys.path:
    sys.path.insert(0, FOLDER)

import catalogue
import messages as listed


def test_messages_are_found() -> None:
    """The list sees what is raised, what is made to be raised, conditions, variables and rules."""
    texts = {message.text for message in listed.messages()}
    assert len(texts) > 400
    assert "the extent of an axis is not negative: {}" in texts
    assert any("{}" in text and text.startswith("two writers") for text in texts)


def test_every_message_stands_in_a_test() -> None:
    left = [str(m) for m in listed.untested() if m.text not in listed.INTERNAL]
    assert left == [], "write a test that has the message (`make test-messages` lists them)"


def test_the_list_of_exceptions_has_nothing_else() -> None:
    known = {message.text for message in listed.messages()}
    assert set(listed.INTERNAL) <= known, "no such message any more"
    assert all(len(reason) > 20 for reason in listed.INTERNAL.values())


def test_matching_is_by_what_tells_a_message() -> None:
    message = listed.Message("a.py", 1, "grid {} needs {} tiles; machine {} has {}")
    words = "matmul grid needs tiles machine has"
    assert listed._in_full(message, [words.split()])
    assert not listed._in_full(message, ["machine grid has tiles".split()])


def test_the_catalogue_of_errors_is_that_of_the_code() -> None:
    assert catalogue.FILE.read_text("utf-8") == catalogue.catalogue(), "write it again with `make errors`"


def test_the_catalogue_has_what_to_do() -> None:
    hints = {message.text: message.hint for message in listed.messages()}
    (share,) = (hint for text, hint in hints.items() if text.startswith("share {} does not divide"))
    assert share == "use share 1"
    assert sum(bool(hint) for hint in hints.values()) > 50
