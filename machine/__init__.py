# SPDX-License-Identifier: Apache-2.0
"""The machine: its description (TOML), the latency of its fabric by position, the registry of its kernels."""

from tilewright.machine.description import (
    Exchange,
    Machine,
    MachineError,
    Region,
    Reservation,
    Topology,
)
from tilewright.machine.files import agree, load, names, split_reference

__all__ = [
    "Exchange",
    "Machine",
    "MachineError",
    "Region",
    "Reservation",
    "Topology",
    "agree",
    "load",
    "names",
    "split_reference",
]
