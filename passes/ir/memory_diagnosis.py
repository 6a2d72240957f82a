# SPDX-License-Identifier: Apache-2.0
"""
What to change in the IR when its buffers do not fit: changes of the program, as changed allocation problems
to try.

One is known so far: a buffer that an exchange fills and a cast then narrows need not exist where it arrives,
if the cast runs before the exchange. The exchange then moves fewer bytes as well.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.func import FuncOp

from tilewright.dialects.tile import AllocOp, ComputeOp, ExchangeOp, buffer_type, owner_alloc
from tilewright.machine.dtypes import itemsize
from tilewright.passes.ir.lives import Events, source_text
from tilewright.passes.ir.memory import Requests
from tilewright.planning.memory.explain import AllocationError, explain
from tilewright.planning.memory.place import Unplaced
from tilewright.planning.memory.problem import Buffer, Problem
from tilewright.planning.operators.base import round_up

CASTS = 4
"""Casts that are tried before their exchange, the largest buffers first."""


def explain_in_ir(requests: Requests, failed: Unplaced, *, thorough: bool = True) -> AllocationError:
    """
    The error for a program that does not fit, at the op that allocates what is missing or what is largest.
    Not `thorough`: without what would help.
    """
    suggestions = casts_before_exchanges(requests) if thorough else []
    diagnosis = explain(requests.problem, failed, suggestions, thorough=thorough)
    error = AllocationError(diagnosis)
    named = (*((diagnosis.missing,) if diagnosis.missing is not None else ()), *diagnosis.largest)
    for buffer in named:
        if (alloc := requests.allocs.get(buffer.name)) is not None:
            error.location = alloc
            break
    return error


def casts_before_exchanges(requests: Requests) -> list[tuple[str, Problem]]:
    """
    For each buffer that an exchange fills and only a cast reads: the problem with the cast on the sending
    side.
    """
    name_of = {alloc: name for name, alloc in requests.allocs.items()}
    if not name_of:
        return []
    function = next(iter(name_of)).parent_op()
    while function is not None and not isinstance(function, FuncOp):
        function = function.parent_op()
    if function is None:
        return []
    events = Events(function)
    filled: dict[AllocOp, list[ExchangeOp]] = {}
    readers: dict[AllocOp, list[ComputeOp]] = {}
    writers: dict[AllocOp, list[ComputeOp]] = {}
    for op in function.walk():
        if isinstance(op, ExchangeOp):
            for _, _, destination, _ in op.moves():
                filled.setdefault(owner_alloc(destination)[0], []).append(op)
        elif isinstance(op, ComputeOp):
            for i, value in enumerate(op.buffers):
                (readers if i < op.n_ins else writers).setdefault(owner_alloc(value)[0], []).append(op)
    found: list[tuple[int, str, Problem]] = []
    for alloc, exchanges in filled.items():
        casts = readers.get(alloc, [])
        if len(exchanges) != 1 or len(casts) != 1 or casts[0].kernel.data != "cast":
            continue
        if any(op.kernel.data != "fill" for op in writers.get(alloc, [])):
            continue
        (exchange,), (cast,) = exchanges, casts
        narrow = owner_alloc(cast.buffers[1])[0]
        gone, stays = requests.problem.buffer(name_of[alloc]), requests.problem.buffer(name_of[narrow])
        if gone.nbytes <= stays.nbytes:
            continue
        event = events.needed(exchange, alloc)[0]
        where = source_text(cast)
        text = (
            f"the cast{f' at {where}' if where else ''} runs before this exchange ({exchange.reason.data}):"
            f" then only '{stays.name}' arrives, not '{gone.name}'"
        )
        found.append((gone.nbytes, text, _moved(requests.problem, gone, stays, exchange, event, narrow)))
    found.sort(key=lambda f: -f[0])
    return [(text, problem) for _, text, problem in found[:CASTS]]


def _moved(
    problem: Problem, gone: Buffer, stays: Buffer, exchange: ExchangeOp, event: int, narrow: AllocOp
) -> Problem:
    """
    The problem in which the narrow buffer is exchanged: the wide one is gone, each source is cast where it
    lies.
    """
    size = itemsize(buffer_type(narrow.result).dtype)
    casts: list[Buffer] = []
    for source, _, destination, _ in exchange.moves():
        alloc = owner_alloc(source)[0]
        if owner_alloc(destination)[0].buffer_name.data != gone.name.partition("#")[0]:
            continue
        wide = problem.buffer(alloc.buffer_name.data) if alloc.buffer_name.data in problem.index else None
        type_ = buffer_type(source)
        casts.append(
            Buffer(
                f"cast of {alloc.buffer_name.data}#{len(casts)}",
                round_up(type_.layout.shard_bytes(size), 4),
                event,
                event,
                classes=wide.classes if wide is not None else (),
                category="staging",
                reason="the cast of what is sent",
            )
        )
    rest = problem.without({gone.name})
    buffers = tuple(
        replace(b, first=min(b.first, event)) if b.name == stays.name else b for b in rest.buffers
    )
    return replace(rest, buffers=(*buffers, *casts))
