# SPDX-License-Identifier: Apache-2.0
"""
Gives every buffer, exchange row, table and kernel of a function its place in tile memory.

The buffers become an allocation problem (`passes/ir/memory.py`), a library solves it (`planning/memory`), a
checker that shares no code with the solver looks at the result, and the addresses are written back. Addresses
that are in the IR already are kept. First, code and constrained sequences get whole memory elements to
themselves; if the program does not fit so, only what the machine itself demands is kept apart. If that does
not fit either, the error says what is short, where, and what would help.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp

from tilewright.dialects.entry import entry_function
from tilewright.dialects.tile import buffer_type
from tilewright.instrumentation import remark
from tilewright.machine import Machine
from tilewright.options import MACHINE_OPTION, option
from tilewright.passes.ir.hoisting import kept_buffers
from tilewright.passes.ir.memory import Requests, member_stride, memory_requests
from tilewright.passes.ir.memory_diagnosis import explain_in_ir
from tilewright.passes.ir.programs import ProgramPass
from tilewright.passes.ir.support import SUPPORT, SUPPORT_KEYS, check_row_cap
from tilewright.passes.ir.tensors import machine_of
from tilewright.planning.memory.check import check
from tilewright.planning.memory.explain import refuse_pins
from tilewright.planning.memory.place import NODES, Unplaced, allocate
from tilewright.planning.memory.problem import Solution
from tilewright.planning.steps import KEPT_TRIES
from tilewright.settings import current

STRICT_NODES = 6_000
"""Units placed before the rules that the machine does not demand are given up."""

__all__ = ["SUPPORT", "TileAllocateMemoryPass", "member_stride"]


@dataclass(frozen=True)
class TileAllocateMemoryPass(ProgramPass):
    """Place buffers, rows, tables and code."""

    name = "tile-allocate-memory"
    machine: str | None = option(None, MACHINE_OPTION)

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        place_function(entry_function(op), machine_of(op, self.machine))


def place_function(function: FuncOp, machine: Machine) -> None:
    """
    Place everything that a function needs and write the addresses into it. Raises TileError. In a trial,
    where most do not fit, buffers are kept over iterations only once it is known that all fits without that.
    """
    check_row_cap(function, machine)
    if current().trial:
        placed = place_plainly(function, machine)
        placed = place_kept(function, machine) or placed
    else:
        placed = place_kept(function, machine) or place_plainly(function, machine)
    write_addresses(function, *placed)


def place_plainly(function: FuncOp, machine: Machine) -> tuple[Requests, Solution]:
    """A checked placement of a function in which nothing is kept over iterations. Raises AllocationError."""
    return place(lambda strict: memory_requests(function, machine, strict=strict), "memory")


def place_kept(function: FuncOp, machine: Machine) -> tuple[Requests, Solution] | None:
    """
    A checked placement in which buffers with filled padding are kept over all iterations of their repeat, and
    filled before it; without the largest ones if there is no room for all. Under the strict rules, or else
    under those of the machine. None, and the function as it was, where there is nothing to keep or no room.
    """
    kept = kept_buffers(function)
    counts = range(len(kept), max(len(kept) - KEPT_TRIES, 0), -1)
    for strict, count in ((strict, count) for strict in (True, False) for count in counts):
        for buffer in kept[:count]:
            buffer.keep()
        try:
            placed = _place_once(memory_requests(function, machine, strict=strict), "memory", strict=strict)
        except Unplaced:
            for buffer in reversed(kept[:count]):
                buffer.give_back()
            continue
        for fill in (fill for buffer in kept[:count] for fill in buffer.fills):
            remark("fusion", f"`{fill.reason.data}` is done once, before the repeat", fill.location)
        return placed
    return None


def place(requests_for: Callable[[bool], Requests], label: str) -> tuple[Requests, Solution]:
    """
    A checked placement under the strict rules, or else under those of the machine (`label` names the problem
    where it is written to a file). Raises AllocationError.
    """
    try:
        return _place_once(requests_for(True), label, strict=True)
    except Unplaced:
        requests = requests_for(False)
        dump(requests, label)
        refuse_pins(requests.problem)
        try:
            solution = allocate(requests.problem, current().allocation_nodes or NODES, polish=0)
        except Unplaced as failed:
            raise explain_in_ir(requests, failed, thorough=not current().trial) from None
    _check(requests, solution)
    return requests, solution


def _place_once(requests: Requests, label: str, *, strict: bool) -> tuple[Requests, Solution]:
    """A checked placement under the rules that the requests are made by. Raises Unplaced."""
    requests.problem.check()
    dump(requests, f"{label}.strict" if strict else label)
    solution = allocate(requests.problem, STRICT_NODES, polish=0)
    _check(requests, solution)
    return requests, solution


def _check(requests: Requests, solution: Solution) -> None:
    """Ask the checker, which shares no code with the search."""
    faults = check(requests.problem, solution.addresses, solution.choices)
    if faults:
        raise AssertionError("buffers are placed illegally: " + "; ".join(str(f) for f in faults[:10]))


def dump(requests: Requests, label: str) -> None:
    """Write a problem to the folder of `--dump-allocation-problems`."""
    folder = current().allocation_problems
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        requests.problem.write(folder / f"{requests.problem.name or 'problem'}.{label}.json")


def write_addresses(function: FuncOp, requests: Requests, solution: Solution) -> None:
    """
    Write a placement into the IR: addresses and strides of buffers, addresses of rows, the function's
    support.
    """
    support: dict[str, int] = {}
    for buffer, address in zip(requests.problem.buffers, solution.addresses, strict=True):
        if address is None:
            continue
        if (alloc := requests.allocs.get(buffer.name)) is not None:
            alloc.properties["address"] = IntegerAttr(address, i64)
            if buffer_type(alloc.result).count > 1:
                alloc.properties["stride"] = IntegerAttr(buffer.stride, i64)
        elif (phase := requests.phases.get(buffer.name)) is not None:
            phase.properties["row_address"] = IntegerAttr(address, i64)
        else:
            key = SUPPORT_KEYS.get(buffer.name, buffer.name)
            support[key] = address
            support[f"{key} bytes"] = buffer.nbytes
    function.attributes[SUPPORT] = DictionaryAttr({k: IntegerAttr(v, i64) for k, v in support.items()})
