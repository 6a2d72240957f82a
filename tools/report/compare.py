# SPDX-License-Identifier: Apache-2.0
"""Two profiles side by side: totals, operators by name, and which plan records differ."""

from __future__ import annotations

import json
from typing import Any

from tilewright.profile import Operator, Profile
from tilewright.tools.report.tables import Cell, Table, sentence


def compare(a: Profile, b: Profile) -> list[Table]:
    """Tables of what two profiles have in common and where they differ."""
    return [table for table in (_totals(a, b), _operators(a, b), _plans(a, b)) if table.rows]


def _difference(name: str, one: float | None, two: float | None) -> tuple[Cell, ...]:
    if one is None or two is None:
        return name, one, two, None, None
    return name, one, two, two - one, 100 * (two - one) / one if one else None


def _totals(a: Profile, b: Profile) -> Table:
    rows: list[tuple[Cell, ...]] = []
    if a.ran and b.ran:
        rows.append(_difference("cycles", a.cycles, b.cycles))
        for kind, one, two in (
            ("cycles of ", a.cycles_by_category(), b.cycles_by_category()),
            ("cycles, ", a.cycles_by_evidence(), b.cycles_by_evidence()),
        ):
            rows += [
                _difference(kind + name, one.get(name, 0), two.get(name, 0))
                for name in dict.fromkeys((*one, *two))
                if kind == "cycles of " or name not in ("exchange", "sync")
            ]
    if a.buffers and b.buffers:
        rows.append(_difference("bytes on the fullest tile", a.peak().nbytes, b.peak().nbytes))
        rows.append(
            _difference("bytes of rows", int(a.row_bytes.max(initial=0)), int(b.row_bytes.max(initial=0)))
        )
    return Table("totals", "totals", ("what", "A", "B", "B - A", "percent"), tuple(rows))


def _operators(a: Profile, b: Profile) -> Table:
    mine = {o.name: o for o in a.operators}
    theirs = {o.name: o for o in b.operators}
    rows: list[tuple[Cell, ...]] = []
    for name in dict.fromkeys((*mine, *theirs)):
        one, two = mine.get(name), theirs.get(name)
        row = _difference(name, None if one is None else one.total, None if two is None else two.total)
        rows.append((*row, _plan_differs(one, two)))
    rows.sort(key=lambda row: -abs(row[3] if isinstance(row[3], int | float) else 0))
    columns = ("operator", "A", "B", "B - A", "percent", "its plan")
    return Table("operators", "operators, the largest difference first", columns, tuple(rows))


def _plan_differs(one: Operator | None, two: Operator | None) -> str:
    if one is None or two is None:
        return "only in B" if one is None else "only in A"
    if one.plan == two.plan:
        return "same"
    if one.kind != two.kind:
        return "another operator"
    return "differs"


def _plans(a: Profile, b: Profile) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for section in ("operators", "homes", "layouts"):
        one: Any = a.plan.get(section) or {}
        two: Any = b.plan.get(section) or {}
        for name in dict.fromkeys((*one, *two)):
            if one.get(name) != two.get(name):
                rows.append((section, name, _text(one.get(name)), _text(two.get(name))))
    return Table("plans", "plan records that differ", ("part", "name", "A", "B"), tuple(rows))


def _text(value: Any) -> str:
    if value is None:
        return ""
    return sentence(json.dumps(value)) if isinstance(value, dict) else ", ".join(map(str, value))
