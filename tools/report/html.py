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
from tilewright.machine.dtypes import itemsize
from tilewright.planning.layout import Layout, View
from tilewright.profile import Profile
from tilewright.tools.report.compare import compare
from tilewright.tools.report.tables import Table, sentence, tables

MOST_ROWS, MOST_COLUMNS = 64, 96
"""Elements of a value that its picture shows, evenly spread."""

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
    drawn, layout_arrays = _layouts(profile)
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
        "phases": [asdict(p) for p in header.phases],
        "failure": asdict(header.failure) if header.failure is not None else None,
        "tables": [_table(t) for t in tables(profile)],
        "layouts": drawn,
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


def _layouts(profile: Profile) -> tuple[list[dict[str, Any]], Arrays]:
    """Every value with a layout: facts, bytes and padding by tile, the owners of elements on a raster."""
    tiles = profile.machine.tiles
    wanted: list[tuple[str, str, str, str, str, tuple[int, ...]]] = []
    for binding in profile.bindings:
        if binding.kind != "value":
            wanted.append(
                (binding.name, binding.kind, binding.layout, binding.view, binding.dtype, binding.shape)
            )
    for operator in profile.operators:
        if operator.layout:
            wanted.append(
                (operator.name, "result", operator.layout, operator.view, operator.dtype, operator.shape)
            )
    drawn: list[dict[str, Any]] = []
    held, padding, owners = [], [], []
    at = 0
    for name, what, layout_text, view_text, dtype, shape in wanted:
        try:
            layout, view = Layout.parse(layout_text), View.parse(view_text)
            size = itemsize(dtype)
            nbytes = layout.shard_bytes_per_tile(size, tiles)
            spare = layout.padding(size, tiles)
            raster, height, width = _raster(layout, view)
        except (TileError, KeyError):
            continue  # a layout of a later version
        drawn.append(
            {
                **{"name": name, "what": what, "layout": layout_text, "view": view_text, "dtype": dtype},
                **{"shape": shape, "replicas": int(layout.replica_tiles.size), "at": at},
                **{"rows": raster.shape[0], "columns": raster.shape[1], "height": height, "width": width},
            }
        )
        held.append(nbytes)
        padding.append(spare)
        owners.append(raster.ravel())
        at += raster.size
    none = np.zeros(0, np.int64)
    return drawn, {
        "layout_bytes": np.array(held, np.int64).ravel().astype(np.float64),
        "layout_padding": np.array(padding, np.int64).ravel().astype(np.float64),
        "layout_owner": np.concatenate(owners or [none]).astype(np.int32),
    }


def _raster(layout: Layout, view: View) -> tuple[npt.NDArray[np.int64], int, int]:
    """
    The first tile that holds each element of an even raster over a value, whose leading axes count as rows,
    and the value's rows and columns.
    """
    shape = view.shape if len(view.shape) > 1 else (1, *(view.shape or (1,)))
    width = shape[-1]
    height = int(np.prod(shape[:-1]))
    if not height or not width:
        return np.zeros((0, 0), np.int64), height, width
    down = np.unique(np.linspace(0, height - 1, min(height, MOST_ROWS)).astype(np.int64))
    across = np.unique(np.linspace(0, width - 1, min(width, MOST_COLUMNS)).astype(np.int64))
    flat = (down[:, None] * width + across).ravel()
    indices = np.unravel_index(flat, view.shape) if view.shape else ()
    tile, _ = layout.positions(*view.storage(*indices))
    return np.broadcast_to(tile, flat.shape).reshape(len(down), len(across)), height, width


def write_page(path: Path, profiles: Sequence[Profile], labels: Sequence[str]) -> None:
    """Write the page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(profiles, labels), encoding="utf-8")
