# SPDX-License-Identifier: Apache-2.0
"""
The fabric as planners ask for it: what a phase takes, and how it is carried out.

This is the first of three parts of one interface (docs/families.md). Each stands in the room that needs it,
since imports go one way and the machine model must not ask the planner: `FabricPlanner` here, `FabricEncoder`
in `tilewright.backends.fabric`, `FabricModel` in `tilewright.sim.families`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from tilewright.machine.family import PerFamily
from tilewright.planning.exchange.estimate import Estimate, estimate, estimated_row_bytes
from tilewright.planning.exchange.messages import Messages
from tilewright.planning.exchange.schedule import Schedule, schedule

if TYPE_CHECKING:
    from tilewright.machine import Machine


class FabricPlanner(Protocol):
    """What planning asks of a fabric, for one phase: messages that begin together and end before the next."""

    def estimate(self, messages: Messages, machine: Machine, *, paired: bool = True) -> Estimate:
        """Cycles without scheduling: what layouts are compared by. `paired`: double rates may be used."""
        ...

    def row_bytes(self, messages: Messages, machine: Machine) -> npt.NDArray[np.int64]:
        """Estimated bytes that every tile needs to hold its part of the phase, int64 (tiles,)."""
        ...

    def schedule(self, messages: Messages, machine: Machine, *, paired: bool | None = None) -> Any:
        """
        Everything that happens, with times where the fabric has any: what the family's encoder writes down.
        """
        ...


class TimedPlanner:
    """The fabric without buffers: every word is sent and heard at a cycle that the compiler chose."""

    def estimate(self, messages: Messages, machine: Machine, *, paired: bool = True) -> Estimate:
        return estimate(messages, machine, paired=paired)

    def row_bytes(self, messages: Messages, machine: Machine) -> npt.NDArray[np.int64]:
        return estimated_row_bytes(messages, machine)

    def schedule(self, messages: Messages, machine: Machine, *, paired: bool | None = None) -> Schedule:
        return schedule(messages, machine, paired=paired)


FABRICS: PerFamily[FabricPlanner] = PerFamily("a planner of exchanges")
FABRICS.register("mk2", TimedPlanner())
