# SPDX-License-Identifier: Apache-2.0
"""
Families of machines: what machines have in common that a machine file does not say.

A machine file gives numbers (tiles, memory, times). Its family gives what those are numbers of: the kernels
with their costs, the matrix unit, and by name the fabric, whose parts are found in the rooms that need them
(`PerFamily`): planning estimates and schedules, backends encode, the machine model delivers. Planners ask
`machine.family`; docs/families.md says what a second family would have to bring.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from tilewright.diagnostics import TileError
from tilewright.machine.kernels import Kernel, registry
from tilewright.machine.kernels.matrix_unit import UNIT, MatrixUnit

if TYPE_CHECKING:
    from tilewright.machine.description import Machine

Part = TypeVar("Part")


@dataclass(frozen=True)
class Family:
    """
    One family. `kernel` finds a kernel by name (KeyError for others), `kernel_names` lists them,
    `matrix_unit` says what a pass multiplies and how it is fed.
    """

    name: str
    describes: str
    kernel: Callable[[str], Kernel]
    kernel_names: Callable[[], tuple[str, ...]]
    matrix_unit: MatrixUnit


MK2 = Family(
    "mk2",
    "tiles with a matrix unit each, on a fabric without buffers or routing whose every word is timed",
    registry.kernel,
    registry.kernel_names,
    UNIT,
)
"""The family of every machine that a machine file can describe today."""


class PerFamily(Generic[Part]):
    """What one room does for machines, by the name of their family."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._parts: dict[str, Part] = {}

    def register(self, family: str, part: Part) -> Part:
        """Offer the part for one family. Raises ValueError if it has one."""
        if family in self._parts:
            raise ValueError(f"family {family!r} has {self.what} already")
        self._parts[family] = part
        return part

    def unregister(self, family: str) -> None:
        """Withdraw the part of a family."""
        del self._parts[family]

    def of(self, machine: Machine) -> Part:
        """The part for a machine. Raises TileError, with the families that have one, if there is none."""
        found = self._parts.get(machine.family.name)
        if found is None:
            raise TileError(
                f"machine {machine.name} is of family {machine.family.name!r}, which has not {self.what}",
                hint=f"families that have: {', '.join(sorted(self._parts))}; see docs/families.md",
            )
        return found
