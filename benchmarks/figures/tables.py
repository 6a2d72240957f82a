# SPDX-License-Identifier: Apache-2.0
"""Cells of tables, and the table of cycles by operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from figures.blocks import Table

Record = Mapping[str, Any]


def number(value: float) -> str:
    return f"{round(value):,}"


def cosine(value: float) -> str:
    return f"{value:.5f}"


PARTS = ("total", "compute", "reduction", "copy", "exchange", "sync")
BOUNDS = ("compute_bound", "exchange_bound")


def operators(
    records: Sequence[Record], largest: int, total: str = "**all**", order: bool = False, every: int = 1
) -> Table:
    """
    The `largest` operators, the others as one row, and their sum; cycles divided by `every`. `order`: as in
    the program, else by size.
    """
    shown = sorted(records, key=lambda r: -r["total"])[:largest]
    rest = [r for r in records if r not in shown]
    if order:
        shown = [r for r in records if r in shown]
    rows = [operator_row(f"`{r['name']}`", [r], every) for r in shown]
    if rest:
        rows.append(operator_row(f"{len(rest)} others", rest, every))
    rows.append(operator_row(total, records, every))
    head = ["operator", *PARTS, "compute bound", "exchange bound"]
    return Table(head, rows)


def operator_row(name: str, records: Sequence[Record], every: int = 1) -> list[str]:
    cells = [name, *(number(sum(r[part] for r in records) / every) for part in PARTS)]
    for bound in BOUNDS:
        known = [r[bound] for r in records if r[bound] is not None]
        cells.append(number(sum(known) / every) if known else "")
    return cells
