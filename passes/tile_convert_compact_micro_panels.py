# SPDX-License-Identifier: Apache-2.0
"""
Stores parameters compactly: one copy, whole panels in the consumer's element order, divided over tiles.

Wherever a parameter's layout has larger shards than compact storage would have, whoever reads it, its home
becomes the compact form and a `tile_layout.materialize` in the block that reads it makes the compute layout:
inside a repeat for the current iteration only, so one buffer serves all members. Fine panels and whole
exchange panels are both candidates; cost picks (`panels=cost`): the cheaper exchange, and fine panels where
the whole ones would take more than `budget` bytes of a tile. A form whose elements no copy kernel can bring
into place is refused here, before anything is placed. Pinned homes stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.entry import entry_function
from tilewright.dialects.program_check import check_types
from tilewright.machine import Machine
from tilewright.options import MACHINE_OPTION, option
from tilewright.passes.ir.homes import Home, check_pinned, find_homes, materialise, unencodable
from tilewright.passes.ir.programs import ProgramPass
from tilewright.passes.ir.tensors import machine_of
from tilewright.planning.homes import Candidate, candidates, materialise_cycles


@dataclass(frozen=True)
class TileConvertCompactMicroPanelsPass(ProgramPass):
    """Store parameters once, in panels of their consumer's order."""

    name = "tile-convert-compact-micro-panels"
    machine: str | None = option(None, MACHINE_OPTION)
    panels: Literal["cost", "fine", "whole", "row-major"] = option(
        "cost", "the form of stored parameters: the cheapest to exchange, or one for all"
    )
    budget: int | None = option(
        None, "most bytes of parameters on a tile; without it half of its memory", least=1
    )

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op, self.machine)
        check_types(entry_function(op), machine.reference)
        homes = find_homes(op)
        check_pinned(homes, machine)
        chosen = choose_forms(homes, machine, self.panels, self.budget or machine.sram_bytes // 2)
        for home, candidate in zip(homes, chosen, strict=True):
            if candidate is not None:
                materialise(home)
                home.place(candidate.layout, candidate.view)
        entry_function(op).update_function_type()


def choose_forms(homes: list[Home], machine: Machine, panels: str, budget: int) -> list[Candidate | None]:
    """A candidate per home; None for those that stay as they are."""
    offers = [_offers(home, machine, panels) for home in homes]
    chosen = [_pick(home, offer, machine) for home, offer in zip(homes, offers, strict=True)]
    if panels == "cost":
        _fit(homes, offers, chosen, budget, machine)
    return chosen


def _offers(home: Home, machine: Machine, panels: str) -> list[Candidate]:
    """
    The forms that may be taken, the preferred first: those asked for, with the next best where one cannot be
    encoded.
    """
    if home.pinned is not None:
        return []
    found = {c.form: c for c in candidates(home.layout, home.view, home.dtype, home.members, machine.tiles)}
    order = ("fine", "whole", "divided") if panels in ("cost", "fine") else (panels, "fine", "divided")
    offers: list[Candidate] = []
    for form in order:
        if form not in found or (offers and (panels != "cost" or form == "divided")):
            continue
        if unencodable(home, found[form].layout, found[form].view, machine) is None:
            offers.append(found[form])
    return offers


def _pick(home: Home, offers: list[Candidate], machine: Machine) -> Candidate | None:
    """The cheapest exchange to where the parameter is used; fine panels where it makes no difference."""
    if len(offers) < 2:
        return offers[0] if offers else None

    def cycles(c: Candidate) -> int:
        return materialise_cycles(c.layout, c.view, home.layout, home.view, home.dtype, machine)

    return min(offers, key=lambda c: (cycles(c), c.spread_bytes))


def _fit(
    homes: list[Home],
    offers: list[list[Candidate]],
    chosen: list[Candidate | None],
    budget: int,
    machine: Machine,
) -> None:
    """
    While the homes take more than the budget of a tile, give its smallest form to the one that saves most.
    """
    for i, home in enumerate(homes):
        if chosen[i] is not None:
            smallest = min(offers[i], key=lambda c: c.spread_bytes)
            # Row-major storage has no padding at all: worth its reordering only when nothing else fits.
            offers[i] = [c for c in (chosen[i], smallest) if c is not None]
            flat = candidates(home.layout, home.view, home.dtype, home.members, machine.tiles)[-1]
            if flat.form == "row-major" and flat.spread_bytes < smallest.spread_bytes:
                offers[i].append(flat)
    while (
        sum(c.spread_bytes * h.members for c, h in zip(chosen, homes, strict=True) if c is not None) > budget
    ):
        savings: list[tuple[int, int, Candidate]] = []
        for i, candidate in enumerate(chosen):
            for other in offers[i] if candidate is not None else ():
                assert candidate is not None
                saved = (candidate.spread_bytes - other.spread_bytes) * homes[i].members
                if saved > 0:
                    savings.append((saved * (1 if other.form == "row-major" else 1000), -i, other))
        for _, i, other in sorted(savings, key=lambda s: s[:2], reverse=True):
            if other.form != "row-major" or unencodable(homes[-i], other.layout, other.view, machine) is None:
                chosen[-i] = other
                break
            offers[-i].remove(other)
        else:
            return
