# SPDX-License-Identifier: Apache-2.0
"""The report of a search: what was tried at every point, why it was dropped, and what the allocator said."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tilewright.planning.search.price import Price
    from tilewright.planning.search.search import Round, Search, State

FORMAT = "tilewright-plan-report"
VERSION = 1


def report(search: Search, winner: State) -> dict[str, Any]:
    """
    The report as JSON. Cycles are of whole programs; `short` are missing bytes. `second` is the best plan
    that was not taken, `nearest` the round that lacked least where nothing fits: its diagnosis has the event,
    the tile, what is live, what is available, and whether that is a proof.
    """
    nearest = search.nearest
    fits = any(not r.verdict for r in search.rounds)
    others = [s for key, s in search.known.items() if key != search.key(winner)]
    second = min(others, key=lambda s: (s.price.short > 0, s.value), default=None)
    points: dict[str, list[dict[str, Any]]] = {}
    for tried in search.tried:
        dropped = tried.reason
        if not dropped and tried.cycles is not None and tried.cycles >= winner.price.cycles:
            dropped = "cycles"
        entry: dict[str, Any] = {"option": tried.option}
        if tried.cycles is not None:
            entry |= {"cycles": tried.cycles, "short": tried.short}
        points.setdefault(tried.point, []).append({**entry, "dropped": dropped})
    return {
        "format": FORMAT,
        "version": VERSION,
        "machine": search.machine.name,
        "nodes": search.nodes,
        "default": _state(search, search.favourite),
        "winner": _state(search, winner),
        "second": None if second is None else _state(search, second),
        "points": points,
        "rounds": [_round(r) for r in search.rounds],
        "nearest": None if nearest is None or fits else _round(nearest),
    }


def _round(found: Round) -> dict[str, Any]:
    return {
        "number": found.number,
        "cycles": found.cycles,
        "short": found.short,
        "homes": found.homes,
        "verdict": found.verdict or "fits",
        "memory": found.memory,
        "missing": found.missing,
        "diagnosis": found.diagnosis,
    }


def _state(search: Search, state: State) -> dict[str, Any]:
    choices = state.planned.choices
    favourites = search.favourite.planned.choices
    return {
        "price": price_json(state.price),
        "operators": {name: choice.to_json() for name, choice in choices.items()},
        "differs": [name for name, choice in choices.items() if favourites.get(name) != choice],
        "layouts": {name: str(where[0]) for name, where in state.decisions.layouts.items()},
    }


def price_json(price: Price) -> dict[str, Any]:
    """A price as JSON."""
    return {
        "cycles": price.cycles,
        "row_bytes": price.rows,
        "cycles_in_copies_below_words": {
            "total": sum(price.copied.values()),
            "by_operator": dict(sorted(price.copied.items(), key=lambda item: (-item[1], item[0]))),
        },
        "cycles_by_operator": dict(sorted(price.cycles_of.items(), key=lambda item: (-item[1], item[0]))),
        "memory": [
            {
                "memory": n.memory,
                "live": n.live,
                "available": n.available,
                "operator": n.owner,
                "tile": n.tile,
            }
            for n in price.needs
        ],
    }


def write_report(search: Search, winner: State, path: str | os.PathLike[str]) -> None:
    """Write the report to a file."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(report(search, winner), indent=1) + "\n", encoding="utf-8")
