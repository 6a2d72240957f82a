# SPDX-License-Identifier: Apache-2.0
"""
Predicted against published cycles of the exchange: what the model of the fabric and the scheduler say to the
figures of `machine/kernels/measurements.json`.

A figure marked `fit` set a number of the machine file, one marked `check` did not. Nothing is held to a
bound: the published figures do not agree with each other (the isolated message begins 96 cycles later than
the rows of the vendor's compiler do), so the disagreement is shown. Figures that no program of ours can
reproduce carry their reason in the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.machine import MachineError, load
from tilewright.machine.kernels.measurements import FILE, MEASURED_ON
from tilewright.planning.exchange.messages import Messages
from tilewright.planning.exchange.schedule import schedule

if TYPE_CHECKING:
    from tilewright.machine import Machine

SOURCES = (0, 4, 6, 8)
"""The four senders of the published rows, and below their receiver."""
RECEIVER = 2


@dataclass(frozen=True)
class Figure:
    """One published figure in cycles and the model's; `use` is "fit" or "check"."""

    what: str
    measured: int
    predicted: float
    use: str
    source: str

    @property
    def error(self) -> float:
        """Relative error, signed: positive where the prediction is too slow."""
        return self.predicted / self.measured - 1


@dataclass(frozen=True)
class Unreproducible:
    """A published figure that cannot be compared, and why."""

    what: str
    reason: str


def isolated(machine: Machine, items: int) -> float:
    """
    Mean cycles of a schedule that holds one message of `items` words between two tiles, over all pairs of
    tiles.
    """
    tile = np.arange(machine.tiles)
    landing = np.maximum(_earliest(machine)[None, :], machine.latency(tile[:, None], tile[None, :]))
    np.fill_diagonal(landing, 0)
    return float(landing.sum() / (machine.tiles * (machine.tiles - 1))) + items


def isolated_pair(machine: Machine, items: int) -> float:
    """The same of `items` 8-byte items to both tiles of a pair, over all pairs but the sender's own."""
    tile = np.arange(machine.tiles)
    partner = np.asarray(machine.partner(tile))
    landing = np.maximum(_earliest(machine)[None, :], machine.latency(tile[:, None], tile[None, :]))
    landing = np.maximum(landing, landing[:, partner])
    landing[tile, tile] = landing[tile, partner] = 0
    return float(landing.sum() / (machine.tiles * (machine.tiles - 2))) + items


def back_to_back(machine: Machine, words: int) -> int:
    """Cycles from the first to the last word of messages of `words` words from four tiles to one."""
    source = np.array(SOURCES)
    zero = np.zeros(len(source), np.int64)
    messages = Messages(
        source, zero, zero, zero + RECEIVER, zero + 1, 4 * words * np.arange(len(source)), zero + 4 * words
    )
    made = schedule(messages, machine)
    return int((made.recv_start + made.recv_items).max() - made.recv_start.min())


def _earliest(machine: Machine) -> np.ndarray:
    return machine.exchange.lead_in + np.asarray(machine.select_lead(np.arange(machine.tiles)), np.int64)


def _figure(entry: Mapping[str, Any], machine: Machine) -> Figure:
    kind, words = entry["compare"], int(entry.get("words", 0))
    if kind == "overhead":
        measured, predicted = entry["typical"], float(machine.phase_overhead)
    elif kind == "isolated":
        measured, predicted = entry["cycles"], isolated(machine, words)
    elif kind == "back to back":
        measured, predicted = entry["cycles"], float(back_to_back(machine, words))
    elif kind == "pair":
        measured, predicted = entry["cycles"], isolated_pair(machine, words // 2)
    else:
        raise MachineError(f"an exchange figure is compared by {kind!r}", location=str(FILE))
    return Figure(entry["what"], measured, predicted, entry["use"], entry["source"])


def figures(file: Path = FILE) -> tuple[list[Figure], list[Unreproducible]]:
    """
    The published exchange figures that are compared, and those that are not, in the order of the file.

    Raises MachineError for a figure that is neither compared nor explained.
    """
    machine = load(MEASURED_ON)
    compared: list[Figure] = []
    others: list[Unreproducible] = []
    for entry in json.loads(file.read_text(encoding="utf-8"))["exchange_phase_cycles"]:
        if "compare" in entry:
            compared.append(_figure(entry, machine))
        elif "not_reproducible" in entry:
            others.append(Unreproducible(entry["what"], entry["not_reproducible"]))
        else:
            raise MachineError(f"the exchange figure {entry['what']!r} is not compared", location=str(file))
    return compared, others
