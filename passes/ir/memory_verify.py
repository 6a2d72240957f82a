# SPDX-License-Identifier: Apache-2.0
"""
Whether the memory of a module is right, at whatever level it is: what `--verify-memory` does after every
pass.

Buffers without addresses: the bytes live at each event are held against what there is (a proof, nothing is
placed). Buffers with addresses, all or some: the checker looks at them, under the rules of the machine.
Machine programs: no two ranges that are live at one instruction on one tile overlap, code is where it can be
executed, nothing lies in a reservation. Other modules have no memory yet.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from tilewright.backends.program import Program
from tilewright.diagnostics import TileError
from tilewright.dialects.entry import entry_function
from tilewright.dialects.tile import AllocOp, ExchangeOp
from tilewright.machine import Machine, load
from tilewright.passes.ir.memory import Requests, memory_requests
from tilewright.passes.ir.programs import programs
from tilewright.passes.ir.tensors import machine_of
from tilewright.planning.layout import Layout
from tilewright.planning.memory.check import Fault, check
from tilewright.planning.memory.explain import proofs, refusals
from tilewright.planning.memory.problem import Buffer, Problem, TileClass, regions_of


class MemoryFault(TileError):
    """Memory that is placed illegally, or that no placement can hold."""


def verify_memory(module: ModuleOp) -> None:
    """
    Raise `MemoryFault` at the first op whose memory is wrong, in any program of the module; nothing if there
    is no memory, or no machine is named.
    """
    for program in programs(module):
        _verify_program(program)


def _verify_program(module: ModuleOp) -> None:
    if any(op.name.startswith("tile_asm.") for op in module.body.block.ops):
        from tilewright.dialects.tile_asm import module_to_program

        program = module_to_program(module)
        _raise(check_program(program, load(program.machine)), None)
        return
    function = _function(module)
    if function is None or not any(isinstance(op, AllocOp) for op in function.walk()):
        return
    try:
        machine = machine_of(module, None)
    except TileError:
        return
    scheduled = all(op.row_bytes is not None for op in function.walk() if isinstance(op, ExchangeOp))
    requests = memory_requests(function, machine, strict=False, pins=True, scheduled=scheduled)
    problem = requests.problem
    free = {b.name for b in problem.buffers if b.at < 0}
    if any(alloc.address is not None for alloc in requests.allocs.values()):
        fixed = replace(problem.without(free), name=problem.name)
        _raise(check(fixed, [b.at for b in fixed.buffers]), requests)
    for buffer, text in refusals(problem):
        raise MemoryFault(text, location=requests.allocs.get(buffer.name))
    for short in proofs(problem)[:1]:
        raise MemoryFault(
            f"{short.short} bytes short on tile {problem.classes[short.number].tile} at event {short.event}",
            location=function.location,
            notes=(problem.event_text(short.event), f"{short.live} bytes live, {short.available} available"),
        )


def check_program(program: Program, machine: Machine) -> list[Fault]:
    """Faults of the ranges of a placed machine program."""
    last = len(list(program.instructions()))
    buffers: list[Buffer] = []
    addresses: list[int] = []
    owners: dict[str, tuple[int, ...]] = {}
    for i, p in enumerate(program.placed):
        code = p.category in ("code", "rows", "patch tables")
        if p.layout and p.layout not in owners:
            held = Layout.parse(p.layout).owners(machine.tiles)
            owners[p.layout] = tuple(held.nonzero()[0].tolist())
        executed = p.category == "rows" or p.name.startswith("code ") or p.name == "supervisor program"
        buffers.append(
            Buffer(
                f"{p.name} ({i})",
                p.nbytes,
                -1 if code else p.first,
                last if code else max(p.first, p.last),
                alignment=4,
                memory="executable" if executed and code else "any",
                kind="data",
                classes=owners.get(p.layout, ()),
            )
        )
        addresses.append(p.address)
    tiles = tuple(TileClass(tile, 1) for tile in range(machine.tiles))
    problem = Problem(tuple(buffers), machine.available(), regions=regions_of(machine), classes=tiles)
    return check(problem, addresses)


def _function(module: ModuleOp) -> FuncOp | None:
    try:
        return entry_function(module)
    except TileError:
        return None


def _raise(faults: list[Fault], requests: Requests | None) -> None:
    if not faults:
        return
    where = None
    if requests is not None:
        where = next((requests.allocs[n] for n in faults[0].buffers if n in requests.allocs), None)
    raise MemoryFault(str(faults[0]), location=where, notes=[str(f) for f in faults[1:10]])
