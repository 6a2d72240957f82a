# SPDX-License-Identifier: Apache-2.0
"""
The catalogue of errors, docs/errors.md, written from the code: `python tests/catalogue.py` (`make errors`).

Messages are those that `messages.py` finds. What to do is the hint of the message, as the code has it.
"""

from __future__ import annotations

import sys
from pathlib import Path

if (FOLDER := str(Path(__file__).parent)) not in sys.path:
    sys.path.insert(0, FOLDER)

import messages as listed

FILE = listed.ROOT / "docs" / "errors.md"
ROOMS = {
    "dialects": "The program as it is written: text, types, attributes, what an operation demands of its"
    " operands. The error stands at the place in the program; [tensor.md](spec/tensor.md) has the rules of"
    " each operation.",
    "passes": "What a pass cannot do with a program that is well-formed. `--mlir-print-ir-before-all` shows"
    " what it was given.",
    "planning": "Plans, layouts, homes, schedules and memory. A record of a plan that was forced is to be"
    " changed as the message says; what does not fit is said with tile, bytes and what would fit"
    " ([memory.md](memory.md)).",
    "machine": "Machine files and element types: [machine-file.md](spec/machine-file.md) has every field.",
    "backends": "Images, listings, exchange rows and host data. A file that the tools made is to be made"
    " again; in one that was edited the place is named.",
    "sim": "What the machine model refuses to execute: [refusals.md](spec/refusals.md) explains every class."
    " Of a program that the compiler made it is a fault of the compiler: keep the image and report it.",
    "frontends": "Program folders, parameters, workloads: [program-folder.md](spec/program-folder.md).",
    "tools": "Command lines, result files and comparisons. Exit status 1: something given is wrong.",
    "tilewright": "The public interface and settings.",
}
"""What the messages of a room are about, and what to do where a message does not say."""


def cell(text: str) -> str:
    """Text in a table, its fields as dots."""
    text = " ".join(text.replace("{}", "…").split())
    return (
        text.replace("\\", "\\\\")
        .replace("|", "\\|")
        .replace("<", "&lt;")
        .replace("*", "\\*")
        .replace("_", "\\_")
    )


def catalogue() -> str:
    """The document."""
    found = listed.messages()
    assert {m.path.split("/")[0] for m in found} <= set(ROOMS)
    lines = [
        "# Errors",
        "",
        "Every message of the code, by where it is raised; … stands for what a message fills in. Written by",
        "`make errors`; a test compares. Messages of passes and tools show the place in the program, notes",
        "with the numbers behind them, and a hint at what to do, which is the third column here. Where there",
        "is none, the sentence above the table says where to look. Exit status 70 is a fault of the tool,",
        "not of its input.",
    ]
    for room, sentence in ROOMS.items():
        own = sorted((m for m in found if m.path.startswith(f"{room}/")), key=lambda m: (m.path, m.text))
        lines += ["", f"## {room}", "", sentence, "", "| message | raised in | what to do |", "|---|---|---|"]
        lines += [
            f"| {cell(m.text)} | {cell(m.path.removeprefix(f'{room}/'))} | {cell(m.hint)} |" for m in own
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(catalogue(), encoding="utf-8")
