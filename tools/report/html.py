# SPDX-License-Identifier: Apache-2.0
"""
One page of HTML that shows a profile, or two: style, script and numbers in one file that asks nobody for
anything.

The numbers are a block of JSON and one of arrays, compressed and written as text; the script unpacks them.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.diagnostics import TileError
from tilewright.planning.layout import Layout, View
from tilewright.profile import Profile
from tilewright.tools.report.compare import compare
from tilewright.tools.report.pictures import Chip, Moved, Picture, Value, moved, picture
from tilewright.tools.report.tables import Table, sentence, tables

Arrays = dict[str, npt.NDArray[Any]]


def page(profiles: Sequence[Profile], labels: Sequence[str]) -> str:
    """The page: of one profile, or of two beside their comparison."""
    blocks: list[bytes] = []
    at = 0
    described: list[dict[str, Any]] = []
    for profile, label in zip(profiles, labels, strict=True):
        data, arrays = _content(profile)
        places: dict[str, Any] = {}
        for name, array in arrays.items():
            raw = array.tobytes()
            places[name] = {"type": array.dtype.name, "at": at, "length": int(array.size)}
            raw += bytes(-len(raw) % 8)
            blocks.append(raw)
            at += len(raw)
        described.append({**data, "label": label, "arrays": places})
    comparison = [_table(t) for t in compare(*profiles)] if len(profiles) == 2 else None
    head = _with_offset({"profiles": described, "comparison": comparison})
    payload = gzip.compress(head + b"".join(blocks), 6, mtime=0)
    text = base64.b64encode(payload).decode("ascii")
    folder = resources.files("tilewright.tools.report") / "page"
    parts = {name: (folder / f"report.{name}").read_text("utf-8") for name in ("html", "css", "js")}
    made = parts["html"].replace("/*STYLE*/", parts["css"]).replace("/*SCRIPT*/", parts["js"])
    return made.replace("/*DATA*/", text)


def _with_offset(head: dict[str, Any]) -> bytes:
    """
    The JSON behind its length in 8 bytes, filled up to a multiple of 8; places of arrays count from the
    start.
    """
    length = len(json.dumps(head)) + 16 * sum(len(p["arrays"]) for p in head["profiles"])
    start = 8 + length + -length % 8
    for profile in head["profiles"]:
        for place in profile["arrays"].values():
            place["at"] += start
    text = json.dumps(head, allow_nan=False).encode("utf-8")
    return len(text).to_bytes(8, "little") + text.ljust(start - 8)


def _table(table: Table) -> dict[str, Any]:
    return {"name": table.name, "title": table.title, "columns": table.columns, "rows": table.rows}


def _content(profile: Profile) -> tuple[dict[str, Any], Arrays]:
    header = profile.header
    counts = np.array([profile.segments[step.segment].count for step in profile.steps], np.int64)
    later = profile.later / np.maximum(counts - 1, 1)[:, None]
    chip = Chip.of_profile(profile)
    drawn, conversions, layout_arrays = _layouts(profile, chip)
    data: dict[str, Any] = {
        "machine": asdict(header.machine),
        "categories": header.categories,
        "steps": [{k: v for k, v in asdict(s).items() if k != "operands"} for s in header.steps],
        "segments": [asdict(s) for s in header.segments],
        "instructions": [asdict(i) for i in header.instructions],
        "buffers": [{k: v for k, v in asdict(b).items() if k != "layout"} for b in header.buffers],
        "operators": [
            {**asdict(o), "total": o.total, "sentence": sentence(o.plan)} for o in header.operators
        ],
        "phases": [{k: v for k, v in asdict(p).items() if k != "moves"} for p in header.phases],
        "failure": asdict(header.failure) if header.failure is not None else None,
        "tables": [_table(t) for t in tables(profile)],
        "layouts": drawn,
        "conversions": conversions,
        "ends": chip.labels,
        "source": [asdict(line) for line in header.source],
        "peak": asdict(profile.peak()) if profile.buffers else None,
    }
    arrays: Arrays = {
        "first": profile.first.astype(np.int32),
        "later": later.astype(np.float32),
        "step_cycles": profile.step_cycles.astype(np.float64),
        "executed_segment": profile.executed_segment.astype(np.int32),
        "executed_start": profile.executed_start.astype(np.float64),
        "executed_cycles": profile.executed_cycles.astype(np.float64),
        "places": profile.places.astype(np.int32),
        "tile_class": profile.tile_class.astype(np.int32),
        "held": profile.held.astype(np.uint8),
        "row_bytes": profile.row_bytes.astype(np.float64),
        "tile_group": profile.tile_group.astype(np.int32),
        "sent": profile.sent.astype(np.int32),
        "received": profile.received.astype(np.int32),
        "between": profile.between.astype(np.float64),
        **layout_arrays,
    }
    return data, arrays


def _layouts(profile: Profile, chip: Chip) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Arrays]:
    """Every value with a layout, every conversion of the exchange phases, and the arrays of both."""
    pictures: dict[tuple[str, ...], Picture] = {}

    def add(name: str, what: str, layout: str, view: str, dtype: str) -> int | None:
        key = (name, layout, view, dtype)
        if key not in pictures:
            try:
                value = Value(name, what, dtype, Layout.parse(layout), View.parse(view))
                pictures[key] = picture(value, chip.tiles)
            except (TileError, KeyError):
                return None  # a layout of a later version
        return list(pictures).index(key)

    for binding in profile.bindings:
        if binding.kind != "value":
            name = binding.tensors[0] if binding.tensors else binding.name
            name += f" and {binding.count - 1} more" if binding.count > 1 else ""
            add(name, binding.kind, binding.layout, binding.view, binding.dtype)
    for operator in profile.operators:
        if operator.layout:
            add(operator.name, "result", operator.layout, operator.view, operator.dtype)
    found: dict[tuple[int, int], Moved] = {}
    conversions: list[dict[str, Any]] = []
    between: list[npt.NDArray[np.int64]] = []
    at = 0
    for phase in profile.phases:
        for move in phase.moves:
            one = add(move.source, "buffer", move.source_layout, move.source_view, move.dtype)
            two = add(move.target, "buffer", move.target_layout, move.target_view, move.dtype)
            if one is None or two is None:
                continue
            if (one, two) not in found:
                values = [made.value for made in pictures.values()]
                found[one, two] = moved(values[one], values[two], chip)
            what = found[one, two]
            figures = {"stays": what.stays, "most": what.most, "spans": what.spans, "at": at}
            conversions.append({"phase": phase.name, "source": one, "target": two, **figures})
            between.append(what.between.ravel())
            at += what.between.size
    drawn: list[dict[str, Any]] = []
    at = 0
    for made in pictures.values():
        value, (rows, columns) = made.value, made.owners.shape
        drawn.append(
            {
                **{"name": value.name, "what": value.what, "layout": str(value.layout)},
                **{"view": str(value.view), "dtype": value.dtype, "shape": value.view.shape},
                **{"replicas": made.copies, "rows": rows, "columns": columns, "at": at},
                **{"height": made.height, "width": made.width},
            }
        )
        at += made.owners.size
    return drawn, conversions, _pictured(tuple(pictures.values()), between)


def _pictured(pictures: Sequence[Picture], between: Sequence[npt.NDArray[np.int64]]) -> Arrays:
    def flat(parts: Sequence[npt.NDArray[np.int64]], kind: str) -> npt.NDArray[Any]:
        return np.concatenate([p.ravel() for p in parts]).astype(kind) if parts else np.zeros(0, kind)

    return {
        "layout_bytes": flat([p.nbytes for p in pictures], "int32"),
        "layout_padding": flat([p.padding for p in pictures], "int32"),
        "layout_first": flat([p.first for p in pictures], "int32"),
        "layout_owner": flat([p.owners for p in pictures], "int32"),
        "moved": flat(between, "float64"),
    }


def write_page(path: Path, profiles: Sequence[Profile], labels: Sequence[str]) -> None:
    """Write the page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(profiles, labels), encoding="utf-8")
