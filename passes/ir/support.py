# SPDX-License-Identifier: Apache-2.0
"""
What the machine executes and reads beside tensors, as requests for memory: code, the supervisor program,
tables and exchange rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from tilewright.diagnostics import TileError
from tilewright.dialects.tile import (
    BindOp,
    ComputeOp,
    ExchangeOp,
    RepeatOp,
    buffer_type,
    owner_alloc,
)
from tilewright.machine import Machine
from tilewright.machine.kernels import kernel
from tilewright.passes.ir.exchange import phase_buffers, phase_schedule
from tilewright.passes.ir.lives import Events
from tilewright.planning.memory.problem import Buffer
from tilewright.planning.operators.base import round_up
from tilewright.settings import current

SUPPORT = "tile.support"
"""Attribute of a function: addresses of code and tables, and the bytes reserved for them."""

EXECUTABLE = "executable"
SUPPORT_KEYS = {"argument tables": "arguments", "patch tables": "patches"}
"""Names in the support attribute of requests that are called otherwise."""


class RowsTooLong(TileError):
    """Rows of exchanges that take `missing` bytes more than the cap."""

    def __init__(self, missing: int, message: str, **details: Any) -> None:
        super().__init__(message, **details)
        self.missing = missing


def support_requests(
    function: FuncOp,
    machine: Machine,
    events: Events,
    *,
    strict: bool = True,
    pins: bool = True,
    scheduled: bool = True,
) -> tuple[tuple[Buffer, ...], dict[str, ExchangeOp]]:
    """
    Code, supervisor program, argument and patch tables and exchange rows of a function: all of it resident,
    on every tile, rows at the length of the longest tile's. Tables that are only read ("data") may lie in
    either region beside anything.
    """
    end = events.count
    kernels = sorted({op.kernel.data for op in function.walk() if isinstance(op, ComputeOp)})
    guard = machine.fetch_guard_bytes
    kind = "code" if strict else "data"
    given = function.attributes.get(SUPPORT) if pins else None
    pinned = (
        {k: v.value.data for k, v in given.data.items() if isinstance(v, IntegerAttr)}
        if isinstance(given, DictionaryAttr)
        else {}
    )

    def code(name: str, nbytes: int, reason: str, category: str = "code", at: int = -1) -> Buffer:
        return Buffer(
            name,
            nbytes,
            0,
            end,
            memory=EXECUTABLE,
            tail=guard,
            kind=kind,
            category=category,
            at=at,
            reason=reason,
        )

    items = [
        code(f"code {name}", kernel(name).code_bytes, "kernel code", at=pinned.get(f"code {name}", -1))
        for name in kernels
    ]
    words = 1 + sum(_instruction_words(op) for op in function.walk())
    items.append(code("supervisor", 4 * words, "supervisor program", at=pinned.get("supervisor", -1)))
    for name, count in (
        ("argument tables", sum(_argument_words(op) for op in function.walk())),
        ("patch tables", sum(_patch_words(op, machine) for op in function.walk()) if scheduled else 0),
    ):
        category = "code" if name == "argument tables" else "patch tables"
        items.append(
            Buffer(
                name,
                4 * count,
                0,
                end,
                kind="data",
                prefer="standard",
                category=category,
                at=pinned.get(SUPPORT_KEYS[name], -1),
                reason="tables",
            )
        )
    phases = [op for op in function.walk() if isinstance(op, ExchangeOp)]
    names = unique([f"rows {phase.reason.data}" for phase in phases])
    for name, phase in zip(names, phases, strict=True):
        if phase.row_bytes is None:
            if not scheduled:
                continue
            raise TileError(
                "an exchange has no rows yet",
                location=phase.location,
                hint="run tile-schedule-exchange first",
            )
        at = phase.row_address.value.data if pins and phase.row_address is not None else -1
        row = code(name, phase.row_bytes.value.data, "exchange rows of the longest tile", "rows", at)
        items.append(row)
    return tuple(items), dict(zip(names, phases, strict=True))


def unique(names: list[str], taken: tuple[str, ...] = ()) -> list[str]:
    """The names, numbered from 2 where one comes again or is taken."""
    used = dict.fromkeys(taken, 1)
    result: list[str] = []
    for name in names:
        number, fresh = used.get(name, 0) + 1, name
        while fresh in used:
            fresh, number = f"{name}#{number}", number + 1
        used[name], used[fresh] = number, 1
        result.append(fresh)
    return result


def check_row_cap(function: FuncOp, machine: Machine, cap: int | None = None) -> None:
    """
    Hold the rows of all phases under a cap: the given one, that of the command line, or the machine's policy;
    raises TileError with the longest phases.
    """
    given = current().exchange_cap if cap is None else cap
    limit = machine.exchange_cap_bytes if given is None else given
    phases = [op for op in function.walk() if isinstance(op, ExchangeOp) and op.row_bytes is not None]
    size = {op: op.row_bytes.value.data for op in phases if op.row_bytes is not None}
    total = sum(size.values())
    if total > limit:
        longest = sorted(phases, key=lambda p: -size[p])[:5]
        raise RowsTooLong(
            total - limit,
            f"exchange rows take {total} bytes a tile; the cap is {limit}",
            location=function.location,
            notes=[f"{size[p]:>8} bytes  {p.reason.data}" for p in longest],
            hint="--exchange-cap BYTES allows more; coarser panels and fewer partials take less",
        )


def _instruction_words(op: Operation) -> int:
    """
    An upper bound of the supervisor words of one operation (exact but for patches; the format is in
    backends/image.py).
    """
    match op:
        case ComputeOp():
            words = 4 + 3 * len(op.scalars.data)
            for buffer, axes in op.operand_maps():
                layout = buffer_type(buffer).layout
                levels = [
                    layout.axes[axis].levels if 0 <= axis < len(layout.axes) else 1 for axis in axes.values()
                ]
                if "flat" in axes or "pad" in axes:
                    levels = [4] * 3
                words += 2 + sum(1 + 2 * n for n in levels) + _depth(op)
            return words
        case RepeatOp():
            patched = [
                buffer
                for inner in op.walk()
                if isinstance(inner, ExchangeOp)
                for buffer in phase_buffers(inner)
                if owner_alloc(buffer)[1]
            ]
            return 4 + 12 * len(patched)
        case ExchangeOp():
            return 3
        case BindOp():
            return 2
        case _:
            return 1


def _depth(op: Operation) -> int:
    """The number of repeats around an operation."""
    depth, parent = 0, op.parent_op()
    while parent is not None:
        depth += isinstance(parent, RepeatOp)
        parent = parent.parent_op()
    return depth


def _argument_words(op: Operation) -> int:
    return round_up(len(op.axes.data.split()), 2) if isinstance(op, ComputeOp) else 0


def _patch_words(op: Operation, machine: Machine) -> int:
    """
    Words of the tables that say which sends follow a sequence; 0 for an exchange that reads no sequence.
    """
    if not isinstance(op, ExchangeOp):
        return 0
    return sum(
        _restart_bound(op, machine, i) for i, buffer in enumerate(phase_buffers(op)) if owner_alloc(buffer)[1]
    )


def _restart_bound(op: ExchangeOp, machine: Machine, buffer: int) -> int:
    """
    Words of the tables that name the sends from one buffer: one table for sends in words, one for those in
    8-byte items, each as wide as the row with most of them asks for.
    """
    from tilewright.backends.rows import SEND_FIELD

    template = phase_schedule(op, machine).template
    chosen = (template.fix_buffer == buffer) & (template.fix_shift == SEND_FIELD)
    words = 0
    for paired in (False, True):
        tile = template.fix_tile[chosen & (template.fix_paired == paired)]
        words += round_up(int(np.bincount(tile, minlength=machine.tiles).max(initial=0)), 2)
    return words
