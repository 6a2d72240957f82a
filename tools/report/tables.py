# SPDX-License-Identifier: Apache-2.0
"""The tables of a profile, once for all outputs: printed, written as CSV, shown on the page."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.profile import Profile

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """Rows of cells under named columns. `unit` says what a number is; None is a figure that there is not."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


COSTLIEST = 10
"""Steps of the table of the costliest."""


def tables(profile: Profile) -> list[Table]:
    """Every table that the profile has something for, in the order in which one reads them."""
    made = [summary(profile)]
    if profile.ran:
        made += [shares(profile), operators(profile), costliest(profile), phases(profile)]
    made += [layers(profile), parameters(profile), peak(profile)]
    return [table for table in made if table.rows]


def summary(profile: Profile) -> Table:
    """What one looks for first."""
    machine, result = profile.machine, profile.result
    rows: list[tuple[Cell, ...]] = [
        ("program", profile.program),
        ("machine", f"{machine.name}, {machine.tiles} tiles"),
        ("precision", profile.precision or "as written"),
    ]
    if profile.failure is not None:
        rows.append(("ended with", profile.failure.message))
        rows += [("", note) for note in profile.failure.notes]
        rows += [("hint", profile.failure.hint)] if profile.failure.hint else []
    else:
        rows += [("cycles", profile.cycles), ("milliseconds", profile.cycles / machine.clock_hz * 1e3)]
        for repeat in profile.repeats:
            then = "" if repeat.per_iteration is None else f", then {repeat.per_iteration:,.0f}"
            rows.append((f"repeat {repeat.name} x {repeat.count}", f"first {repeat.first:,}{then}"))
    if profile.buffers:
        most = profile.peak()
        rows.append(("fullest tile at one instruction", most.tile))
        rows.append(("bytes in use on it", most.nbytes))
        memory: Any = result.get("memory")
        if memory is not None:
            ever = f"{memory['max_tile_bytes']:,} on tile {memory['max_tile']}"
            rows.append(("bytes ever in use, most on a tile", ever))
        rows.append(("bytes of a tile", machine.sram_bytes))
        rows.append(("when", moment(profile, most.instruction)))
        rows.append(("bytes of rows, most on a tile", int(profile.row_bytes.max(initial=0))))
    for check in result.get("checks", ()):
        figures = [
            f"{label} {check[key]:.6g}"
            for key, label in (
                ("max_abs_error", "max abs error"),
                ("cosine", "cosine"),
                ("min_row_cosine", "min row cosine"),
            )
            if check.get(key) is not None
        ]
        verdict = "passed" if check.get("passed") else "FAILED"
        rows.append((f"output {check.get('output')}", ", ".join([*figures, verdict])))
    return Table("summary", "summary", ("what", "figure"), tuple(rows))


def layers(profile: Profile) -> Table:
    """Errors of values in repeats against the reference, iteration by iteration."""
    rows = tuple(
        (
            *(str(entry["value"]), int(entry["iteration"]), entry["max_abs_error"]),
            *(_decimals(entry["cosine"]), _decimals(entry["min_row_cosine"])),
        )
        for entry in profile.result.get("layers", ())
    )
    columns = ("value", "iteration", "max abs error", "cosine", "min row cosine")
    return Table("layers", "errors by layer, against the reference", columns, rows)


def _decimals(value: float | None) -> str | None:
    """A cosine: what matters is how far from 1 it is."""
    return None if value is None else f"{value:.6f}"


def moment(profile: Profile, instruction: int) -> str:
    """An instruction in words."""
    if instruction < 0:
        return "after loading"
    if instruction >= len(profile.instructions):
        return "at the end"
    entry = profile.instructions[instruction]
    inside = f" in repeat {entry.repeats[-1]}" if entry.repeats else ""
    of = f" of {entry.operator}" if entry.operator not in ("", entry.name) else ""
    return f"instruction {instruction}: {entry.name}{of}{inside}"


def shares(profile: Profile) -> Table:
    """Cycles by kind and by what they rest on."""
    total = max(profile.cycles, 1)
    rows: list[tuple[Cell, ...]] = []
    for group, found in (("kind", profile.cycles_by_category()), ("evidence", profile.cycles_by_evidence())):
        rows += [(group, name, cycles, 100 * cycles / total) for name, cycles in found.items()]
    return Table("shares", "shares", ("by", "name", "cycles", "percent"), tuple(rows))


def operators(profile: Profile) -> Table:
    """Cycles by operator beside their bounds."""
    columns = ("operator", "kind", "total", "compute", "reduction", "copy", "exchange", "sync")
    rows = tuple(
        (
            *(o.name, o.kind, o.total, o.compute, o.reduction, o.copy, o.exchange, o.sync),
            *(_rounded(o.compute_bound), _rounded(o.exchange_bound), _rounded(o.gap)),
            *(o.assumed, sentence(o.plan), o.source),
        )
        for o in profile.operators
        if o.total or o.compute_bound is not None  # views cost nothing and are bound by nothing
    )
    extra = ("compute bound", "exchange bound", "gap", "assumed", "plan", "source")
    return Table("operators", "cycles by operator", (*columns, *extra), rows)


def sentence(plan: str) -> str:
    """A plan record in words."""
    import json

    try:
        record: Any = json.loads(plan) if plan else {}
    except ValueError:
        return plan
    if not isinstance(record, dict):
        return plan
    said = _said(record)
    if said is not None:
        return said
    parts: list[str] = []
    for key, value in record.items():
        if value in (False, None, [], ""):
            continue
        text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
        parts.append(text if key == "strategy" else key if value is True else f"{key} {text}")
    return ", ".join(parts)


_KNOWN = {"strategy", "grid", "swap", "share", "base", "leader", "parts", "split"}
_AXES = {
    ("grid", 4): ("batch", "rows", "columns", "contraction"),
    ("score_grid", 3): ("heads", "queries", "keys"),
}


def _said(record: dict[str, Any]) -> str | None:
    """A record of a strategy that is known here in a sentence; None for others."""
    if set(record) - _KNOWN:
        return None  # it says more than is said here
    strategy, grid = record.get("strategy"), record.get("grid")
    axes = _AXES.get((str(strategy), len(grid))) if isinstance(grid, list) else None
    if axes is not None and isinstance(grid, list):
        divided = [f"{axis} in {parts}" for axis, parts in zip(axes, grid, strict=True) if parts != 1]
        text = "not divided" if not divided else "divided: " + ", ".join(divided)
        text += ", operands swapped" if record.get("swap") else ""
        share, base = record.get("share", 1), record.get("base", 0)
        text += f", results of {share} column blocks side by side owned in common" if share != 1 else ""
        return text + (f", from tile {base} on" if base else "")
    if strategy == "leader":
        leader = record.get("leader", 0)
        return "laid out evenly over all tiles" if leader == -1 else f"laid out as operand {leader} is"
    if strategy == "rows":
        parts = record.get("parts", 0)
        text = "rows spread over all tiles" if parts == 0 else f"rows in {parts} parts"
        return text + (", in column blocks that exchange their statistics" if record.get("split") else "")
    return None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value)


def costliest(profile: Profile, most: int = COSTLIEST) -> Table:
    """The steps with the most cycles on the critical path, over all executions."""
    return Table("costliest", "costliest steps", _STEP_COLUMNS, _step_rows(profile)[:most])


def steps(profile: Profile) -> Table:
    """All steps, the costliest first."""
    return Table("steps", "steps", _STEP_COLUMNS, _step_rows(profile))


_STEP_COLUMNS = ("step", "kind", "operator", "cycles", "percent", "executions", "tiles", "extents", "source")


def _step_rows(profile: Profile) -> tuple[tuple[Cell, ...], ...]:
    cycles, total = profile.step_cycles, max(profile.cycles, 1)
    rows: list[tuple[Cell, ...]] = []
    for number in np.argsort(-cycles, kind="stable").tolist():
        step, spent = profile.steps[number], int(cycles[number])
        count = profile.segments[step.segment].count
        extents = " ".join(map(str, step.extents))
        share = 100 * spent / total
        rows.append(
            (step.name, step.category, step.operator, spent, share, count, step.tiles, extents, step.source)
        )
    return tuple(rows)


def phases(profile: Profile) -> Table:
    """Every exchange phase; bytes of all executions."""
    rows: list[tuple[Cell, ...]] = []
    for number, phase in enumerate(profile.phases):
        sent, received = profile.sent[number], profile.received[number]
        rows.append(
            (
                *(
                    phase.name,
                    phase.executions,
                    phase.messages,
                    phase.bound,
                    phase.scheduled,
                    phase.estimated,
                ),
                *(phase.paired / 10, phase.row_bytes, int(sent.sum()) * phase.executions),
                *(int(received.sum()) * phase.executions, int(sent.max(initial=0))),
                int(received.max(initial=0)),
            )
        )
    columns = (
        "phase",
        "executions",
        "messages",
        "bound",
        "scheduled",
        "estimated",
        "percent in 8-byte items",
    )
    more = ("row bytes", "bytes sent", "bytes received", "most sent by a tile", "most received by a tile")
    return Table("phases", "exchange phases", (*columns, *more), tuple(rows))


def parameters(profile: Profile) -> Table:
    """Where the values of the host live."""
    rows: list[tuple[Cell, ...]] = []
    for binding in profile.bindings:
        if binding.kind == "value":  # what can be looked at while the program runs
            continue
        home = profile.homes[binding.home]
        holders = home[home > 0]
        balance = float(holders.max() / holders.mean()) if holders.size else None
        for member, name in enumerate(binding.tensors or (binding.name,)):
            place = hex(binding.address + member * binding.stride)
            shape = " x ".join(map(str, binding.shape))
            rows.append(
                (
                    *(name, binding.kind, shape, binding.dtype, place, int(holders.size)),
                    *(int(home.max(initial=0)) // max(binding.count, 1), balance, binding.layout),
                )
            )
    columns = ("tensor", "kind", "shape", "type", "address", "tiles", "most bytes on a tile")
    return Table("parameters", "homes", (*columns, "max over mean", "layout"), tuple(rows))


def peak(profile: Profile) -> Table:
    """The buffers that are live at the peak of the fullest tile, the largest first."""
    if not profile.buffers:
        return Table("peak", "", (), ())
    most = profile.peak()
    held = profile.held[:, profile.tile_class[most.tile]] & profile.live(most.instruction)
    listed = sorted((profile.buffers[i] for i in np.flatnonzero(held)), key=lambda b: (-b.nbytes, b.name))
    rows = tuple(
        (b.name, b.category, b.nbytes, "" if b.address is None else hex(b.address), b.reason, b.source)
        for b in listed
    )
    title = f"live on tile {most.tile} at its peak ({moment(profile, most.instruction)})"
    return Table("peak", title, ("buffer", "category", "bytes", "address", "why", "source"), rows)


def tiles(profile: Profile) -> Table:
    """What each tile does and holds."""
    most = profile.peak().instruction if profile.buffers else -1
    memory = profile.memory(most)
    columns: dict[str, Any] = {
        "tile": np.arange(profile.machine.tiles),
        "row": profile.places[:, 0],
        "column": profile.places[:, 1],
        "lane": profile.places[:, 2],
        "busy": profile.busy(),
        "waiting": profile.waiting(),
        **{f"{name} at the peak": memory[name] for name in profile.categories},
    }
    rows = tuple(zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True))
    return Table("tiles", "tiles", tuple(columns), rows)


def buffers(profile: Profile) -> Table:
    """Every buffer."""
    rows = tuple(
        (b.name, b.category, b.address, b.nbytes, b.first, b.last, b.layout, b.reason, b.source)
        for b in profile.buffers
    )
    columns = ("buffer", "category", "address", "bytes", "first", "last", "layout", "why", "source")
    return Table("buffers", "buffers", columns, rows)


def write_csv(profile: Profile, folder: Path) -> list[Path]:
    """A file for every table, numbers as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [t for t in tables(profile) if t.name != "costliest"]
    made += [steps(profile), tiles(profile), buffers(profile)]
    written: list[Path] = []
    for table in made:
        path = folder / f"{table.name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(table.columns)
            writer.writerows(table.rows)
        written.append(path)
    return written


_WIDE = {"layout", "source", "why", "plan", "extents"}
"""Columns that only files and the page have room for."""


def print_tables(console: Any, made: Sequence[Table]) -> None:
    """Print tables with rich."""
    from rich.table import Table as RichTable
    from rich.text import Text

    for table in made:
        shown = RichTable(title=table.title, title_justify="left")
        kept = [i for i, name in enumerate(table.columns) if name not in _WIDE]
        for i in kept:
            right = any(isinstance(row[i], int | float) for row in table.rows)
            shown.add_column(table.columns[i], justify="right" if right else "left", no_wrap=right)
        for row in table.rows:
            shown.add_row(*(Text(text(row[i])) for i in kept))
        console.print(shown)


def text(cell: Cell) -> str:
    """A cell as people read it."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:,.0f}" if cell == round(cell) and abs(cell) >= 1000 else f"{cell:,.3g}"
    return f"{cell:,}" if isinstance(cell, int) else cell
