# SPDX-License-Identifier: Apache-2.0
"""
What the homes of a program take on every tile, before and after the choice.

Figures come from the layouts alone; they are final once `tile-select-homes` has run, since nothing moves a
home afterwards.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.planning.homes import StorageGroup, total_load
from tilewright.planning.layout import Layout

FORMAT = "tilewright-homes"
VERSION = 1


@dataclass(frozen=True)
class HomeReport:
    """Storage groups before and after (same order), and what was refused."""

    machine: str
    tiles: int
    before: tuple[StorageGroup, ...]
    after: tuple[StorageGroup, ...]
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(
        machine: Machine,
        before: Sequence[StorageGroup],
        after: Sequence[StorageGroup],
        notes: Sequence[str] = (),
    ) -> HomeReport:
        return HomeReport(machine.name, machine.tiles, tuple(before), tuple(after), tuple(notes))

    def to_json(self) -> dict[str, Any]:
        """
        Bytes are of all members; a list `runs` holds [first tile, tiles, bytes] of the stretches with equal
        bytes.
        """
        groups = [self._group(b, a) for b, a in zip(self.before, self.after, strict=True)]
        return {
            "format": FORMAT,
            "version": VERSION,
            "machine": self.machine,
            "tiles": self.tiles,
            "before": _balance(self.before, self.tiles),
            "after": _balance(self.after, self.tiles),
            "parameters": groups,
            "notes": list(self.notes),
        }

    def _group(self, before: StorageGroup, after: StorageGroup) -> dict[str, Any]:
        old, new = before.load(self.tiles), after.load(self.tiles)
        padding = after.layout.padding(after.size, self.tiles) * after.members
        return {
            "name": after.name,
            "members": after.members,
            "pinned": after.pinned,
            "moved": before.layout != after.layout,
            "form": form_of(after),
            "home": str(after.layout),
            "previous_home": str(before.layout),
            "copies": int(after.layout.replica_tiles.size),
            "owners": int(np.count_nonzero(new)),
            "padding_bytes": int(padding.sum()),
            "before": {"max": int(old.max(initial=0)), "mean": float(old.mean()), "runs": _runs(old)},
            "after": {"max": int(new.max(initial=0)), "mean": float(new.mean()), "runs": _runs(new)},
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(self.to_json(), indent=1) + "\n", encoding="utf-8")

    def table(self) -> str:
        """The same as text, largest first."""
        data = self.to_json()
        row = "{:<40} {:>7} {:<9} {:>6} {:>9} {:>9} {:>9}"
        lines = [row.format("parameter", "members", "form", "copies", "before", "after", "padding")]
        for g in sorted(data["parameters"], key=lambda g: (-g["after"]["max"], g["name"])):
            figures = (g["before"]["max"], g["after"]["max"], g["padding_bytes"])
            shown = (g["name"][:40], g["members"], g["form"], g["copies"], *(f"{n:,}" for n in figures))
            lines.append(row.format(*shown))
        for word in ("before", "after"):
            b = data[word]
            lines.append(
                f"{word}: {b['max']:,} bytes on the fullest tile, {b['mean']:,.0f} on average "
                f"(ratio {b['max_over_mean']:.3f}); largest shards add up to {b['addresses']:,} bytes"
            )
        return "\n".join((*lines, *self.notes)) + "\n"


def form_of(group: StorageGroup) -> str:
    """linear, grid, or shared (copies on several tiles)."""
    if group.layout.chunk is not None:
        return "linear"
    return "shared" if group.layout.replica_tiles.size > 1 else "grid"


def _balance(groups: Sequence[StorageGroup], tiles: int) -> dict[str, Any]:
    load = total_load(groups, tiles)
    mean = float(load.mean()) if load.size else 0.0
    return {
        "max": int(load.max(initial=0)),
        "mean": mean,
        "min": int(load.min(initial=int(load.max(initial=0)))),
        "max_over_mean": float(load.max(initial=0) / mean) if mean else 1.0,
        "addresses": sum(g.address_bytes for g in groups),
    }


def _runs(values: np.ndarray) -> list[list[int]]:
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    lengths = np.diff(np.append(starts, values.size))
    return [[int(s), int(n), int(values[s])] for s, n in zip(starts, lengths, strict=True)]


class Resident(Protocol):
    """What a loaded program says of a persistent buffer (`backends.program.Binding`)."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def layout(self) -> str: ...
    @property
    def dtype(self) -> str: ...
    @property
    def count(self) -> int: ...


def resident_summary(bindings: Sequence[Resident], tiles: int) -> str:
    """One line on where a compiled program keeps its parameters, read from its bindings."""
    groups = [
        StorageGroup(b.name, Layout.parse(b.layout), itemsize(b.dtype), b.count)
        for b in bindings
        if b.kind == "parameter"
    ]
    data = _balance(groups, tiles)
    members = sum(g.members for g in groups)
    copies = sum(g.layout.replica_tiles.size > 1 for g in groups)
    fullest = f"{data['max']:,} bytes on the fullest tile, {data['mean']:,.0f} on average"
    groups_text = f"{members} parameters in {len(groups)} groups ({copies} with copies)"
    return f"homes: {groups_text}, {fullest} (ratio {data['max_over_mean']:.3f})"
