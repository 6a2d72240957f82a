# SPDX-License-Identifier: Apache-2.0
"""
Stores parameters compactly: one copy, whole panels in the consumer's element order, divided over tiles.

Wherever a parameter's layout has larger shards than compact storage would have, whoever reads it, its home becomes the compact form
and a `tile_layout.materialize` in the block that reads it makes the compute layout: inside a repeat for the current iteration only,
so one buffer serves all members. Fine panels and whole exchange panels are both candidates; cost picks (`panels=cost`): the
cheaper exchange, and fine panels where the whole ones would take more than `budget` bytes of a tile. A form whose elements no copy
kernel can bring into place is refused here, before anything is placed. Pinned homes stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.dialects.entry import entry_function
from tilewright.machine import Machine
from tilewright.passes.home_ir import Home, check_pinned, find_homes, materialise, unencodable
from tilewright.passes.tensor_ir import machine_of
from tilewright.planning.homes import Candidate, candidates


@dataclass(frozen=True)
class TileConvertCompactMicroPanelsPass(ModulePass):
    """Store parameters once, in panels of their consumer's order."""

    name = "tile-convert-compact-micro-panels"
    machine: str | None = None
    panels: Literal["cost", "fine", "whole", "row-major"] = "cost"
    budget: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op, self.machine)
        homes = find_homes(op)
        check_pinned(homes, machine)
        chosen = choose_forms(homes, machine, self.panels, self.budget or machine.sram_bytes // 2)
        for home, candidate in zip(homes, chosen, strict=True):
            if candidate is not None and candidate.form != "ready":
                materialise(home)
                home.place(candidate.layout, candidate.view)
        entry_function(op).update_function_type()


def choose_forms(homes: list[Home], machine: Machine, panels: str, budget: int) -> list[Candidate | None]:
    """A candidate per home; None for those that stay as they are."""
    offers: list[dict[str, Candidate]] = []
    for home in homes:
        if home.pinned is not None:
            offers.append({})
            continue
        found = candidates(home.layout, home.view, home.dtype, home.members, machine)
        offers.append(
            {
                c.form: c
                for c in found
                if c.form == "ready" or unencodable(home, c.layout, c.view, machine) is None
            }
        )
    chosen = [_pick(offer, panels) for offer in offers]
    if panels == "cost":
        _fit(homes, offers, chosen, budget)
    return chosen


def _pick(offer: dict[str, Candidate], panels: str) -> Candidate | None:
    if not offer:
        return None
    order = ("fine", "whole", "row-major") if panels == "cost" else (panels, "fine")
    compact = [offer[form] for form in order if form in offer]
    if not compact:
        return offer["ready"]
    if panels != "cost":
        return compact[0]
    panelled = [c for c in compact if c.form != "row-major"] or compact
    return min(panelled, key=lambda c: (c.cycles, c.shard_bytes))


def _fit(
    homes: list[Home], offers: list[dict[str, Candidate]], chosen: list[Candidate | None], budget: int
) -> None:
    """While the homes take more than the budget, give the smallest form to the one that saves most."""
    while True:
        taken = sum(c.shard_bytes * h.members for c, h in zip(chosen, homes, strict=True) if c is not None)
        if taken <= budget:
            return
        savings: list[tuple[int, int]] = []
        for i, (offer, candidate) in enumerate(zip(offers, chosen, strict=True)):
            least = min(offer.values(), key=lambda c: (c.shard_bytes, c.cycles), default=None)
            if candidate is not None and least is not None and least.shard_bytes < candidate.shard_bytes:
                savings.append(((candidate.shard_bytes - least.shard_bytes) * homes[i].members, -i))
        if not savings:
            return
        i = -max(savings)[1]
        chosen[i] = min(offers[i].values(), key=lambda c: (c.shard_bytes, c.cycles))
