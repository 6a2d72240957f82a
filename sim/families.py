# SPDX-License-Identifier: Apache-2.0
"""
The fabric as the machine model executes it, and the whole interface of a fabric.

The third part of the interface that begins in `tilewright.planning.exchange.fabric`. The model is given words
and nothing else: what it delivers follows from them alone.
"""

from __future__ import annotations

from typing import Protocol

from tilewright.backends.fabric import FabricEncoder, RowEncoder
from tilewright.backends.rows import Words
from tilewright.machine import Machine
from tilewright.machine.family import PerFamily
from tilewright.planning.exchange.fabric import FabricPlanner, TimedPlanner
from tilewright.sim import fabric
from tilewright.sim.fabric import Delivery


class FabricModel(Protocol):
    """What the executor asks of a fabric."""

    def deliver(
        self, words: Words, machine: Machine, *, address: int | None = None, phase: str = ""
    ) -> Delivery:
        """
        What the words of a phase move, checked against every rule of the fabric. Raises IllegalProgram.
        """
        ...


class Fabric(FabricPlanner, FabricEncoder, FabricModel, Protocol):
    """A whole fabric: estimate, schedule, encode, deliver."""


class TimedFabric(TimedPlanner, RowEncoder):
    """The fabric of today's machines: rows of instructions, executed to the cycle."""

    def deliver(
        self, words: Words, machine: Machine, *, address: int | None = None, phase: str = ""
    ) -> Delivery:
        return fabric.deliver(words, machine, address=address, phase=phase)


FABRICS: PerFamily[FabricModel] = PerFamily("a model of its fabric")
FABRICS.register("mk2", TimedFabric())
