# SPDX-License-Identifier: Apache-2.0
"""
Notes on every exchange phase how its moves fall into panels: regions of the value, clipped panels, receivers
and the contiguous spans that are sent. The phases themselves are left as they are.

The account is an attribute `panels` of the phase, one line per move. It is worked out anew each time.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr

from tilewright.diagnostics import TileError
from tilewright.dialects.tile import ExchangeOp, buffer_type
from tilewright.passes.ir.programs import ProgramPass
from tilewright.planning.exchange.panels import traverse

PANELS = "panels"


@dataclass(frozen=True)
class TileTraverseExchangePanelsPass(ProgramPass):
    """Account for the panels and spans of the exchange phases."""

    name = "tile-traverse-exchange-panels"

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        for phase in op.walk():
            if not isinstance(phase, ExchangeOp):
                continue
            lines: list[StringAttr] = []
            for src, src_view, dst, dst_view in phase.moves():
                a, b = buffer_type(src), buffer_type(dst)
                try:
                    walked = traverse(a.layout, src_view, b.layout, dst_view, a.dtype)
                except TileError as error:
                    error.location = error.location or phase.location
                    raise
                lines.append(StringAttr(walked.summary()))
            phase.attributes[PANELS] = ArrayAttr(lines)
