# SPDX-License-Identifier: Apache-2.0
"""
The fabric as code generation asks for it: a schedule becomes what tiles execute.

The second part of the interface that begins in `tilewright.planning.exchange.fabric`.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy.typing as npt

from tilewright.backends import rows
from tilewright.machine import Machine
from tilewright.machine.family import PerFamily


class FabricEncoder(Protocol):
    """What code generation asks of a fabric."""

    def encode(self, schedule: Any, addresses: npt.ArrayLike, machine: Machine) -> rows.Rows:
        """
        The words that each tile executes for a schedule of its family. `addresses`: byte address of each of
        the phase's buffers.
        """
        ...


class RowEncoder:
    """Rows of exchange instructions (docs/spec/rows.md)."""

    def encode(self, schedule: Any, addresses: npt.ArrayLike, machine: Machine) -> rows.Rows:
        return rows.encode(schedule, addresses, machine)


FABRICS: PerFamily[FabricEncoder] = PerFamily("an encoder of exchanges")
FABRICS.register("mk2", RowEncoder())
