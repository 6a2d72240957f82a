# SPDX-License-Identifier: Apache-2.0
"""The refusal of the machine model: what rule a program breaks, and where."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.diagnostics import TileError


class IllegalProgram(TileError):
    """
    A program that the machine would not execute as meant.

    `rule` is a short fixed phrase (one for each refusal, listed in `docs/spec/rows.md` for the fabric),
    `tile` a logical tile, `phase` the name or provenance of the step, `cycle` counts from the start of the
    phase, `address` is an absolute SRAM byte address. What is not known stays None.
    """

    def __init__(
        self,
        message: str,
        *,
        rule: str,
        tile: int | None = None,
        phase: str | None = None,
        cycle: int | None = None,
        address: int | None = None,
        location: object | None = None,
        notes: Sequence[str] = (),
        hint: str | None = None,
    ) -> None:
        self.rule = rule
        self.tile = tile
        self.phase = phase
        self.cycle = cycle
        self.address = address
        where = [
            text
            for known, text in (
                (tile, f"tile {tile}"),
                (phase or None, f"phase {phase}"),
                (cycle, f"cycle {cycle}"),
                (address, f"address {address:#x}" if address is not None else ""),
            )
            if known is not None
        ]
        suffix = f" ({', '.join(where)})" if where else ""
        super().__init__(f"{rule}: {message}{suffix}", location=location, notes=notes, hint=hint)
