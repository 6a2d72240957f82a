# SPDX-License-Identifier: Apache-2.0
"""
The memory test of a candidate, before anything is placed: what no placement can repair.

Two checks with two messages. A buffer or sequence larger than the largest contiguous range of its class is
refused whatever else there is, so it can be asked as soon as its size is known. The live bytes of a candidate
are then held against what is left when code, exchange rows, tables and the machine's reservations (host,
profile, stacks) are taken out: the same numbers that the final allocation is checked against.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.machine import Machine
from tilewright.planning.memory.bounds import Payload
from tilewright.planning.memory.explain import proofs, refusals
from tilewright.planning.memory.problem import Buffer, Problem, TileClass, regions_of


@dataclass(frozen=True)
class Verdict:
    """
    `refused`: buffers larger than any range, with the sentence; `short`: memories in which too much is live.
    """

    refused: tuple[tuple[Buffer, str], ...]
    short: tuple[Payload, ...]

    @property
    def fits(self) -> bool:
        """Whether nothing is proved against it; a placement may still fail for fragmentation."""
        return not self.refused and not self.short


def support(machine: Machine, last: int, code: int, rows: int, tables: int = 0) -> tuple[Buffer, ...]:
    """
    Requests for `code`, exchange `rows` and `tables` (bytes), live from event 0 to `last`; for a screen.
    """
    guard = machine.fetch_guard_bytes

    def executed(name: str, nbytes: int, category: str) -> Buffer:
        return Buffer(
            name,
            nbytes,
            0,
            last,
            memory="executable",
            kind="code",
            category=category,
            tail=guard if nbytes else 0,
        )

    return (
        executed("(code)", code, "code"),
        executed("(rows)", rows, "rows"),
        Buffer("(tables)", tables, 0, last, kind="data", category="patch tables"),
    )


def screen(
    machine: Machine, buffers: Sequence[Buffer], classes: Sequence[TileClass] = (TileClass(),)
) -> Verdict:
    """Hold a candidate's buffers (its support among them) against the machine's memory."""
    problem = Problem(
        tuple(buffers),
        machine.available(),
        regions=regions_of(machine),
        classes=tuple(classes),
        machine=machine.name,
    )
    return Verdict(tuple(refusals(problem)), tuple(proofs(problem)))
