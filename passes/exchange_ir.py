# SPDX-License-Identifier: Apache-2.0
"""
The exchange phases of the tile dialect as messages and schedules.

A schedule is a pure function of the phase's geometry and the machine (it holds no address), so the IR keeps
only the bytes of the rows; passes of one process share the schedule through a cache keyed by the geometry.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
from xdsl.ir import SSAValue

from tilewright.dialects.tile import ExchangeOp, buffer_type
from tilewright.machine import Machine
from tilewright.planning.dtypes import itemsize
from tilewright.planning.exchange import Messages, Schedule, schedule
from tilewright.planning.layout import Layout, View
from tilewright.planning.stages import cached_transfers

Geometry = tuple[tuple[int, Layout, View, int, Layout, View, int], ...]
"""Of each move: number, layout and view of the source, the same of the destination, bytes of an element."""

_schedules: OrderedDict[tuple[str, int, Geometry], Schedule] = OrderedDict()
_KEPT = 512


def phase_buffers(op: ExchangeOp) -> list[SSAValue]:
    """The distinct buffers of a phase, in order of appearance; messages number them so."""
    return list(dict.fromkeys(op.buffers))


def phase_messages(op: ExchangeOp) -> Messages:
    """All messages of a phase."""
    number = {buffer: i for i, buffer in enumerate(phase_buffers(op))}
    parts: list[Messages] = []
    for src, src_view, dst, dst_view in op.moves():
        a, b = buffer_type(src), buffer_type(dst)
        t = cached_transfers(a.layout, src_view, b.layout, dst_view, itemsize(a.dtype))
        full = np.full(len(t.src_tile), 0, np.int64)
        parts.append(
            Messages(
                t.src_tile,
                full + number[src],
                t.src_byte,
                t.dst_tile,
                full + number[dst],
                t.dst_byte,
                t.nbytes,
            )
        )
    return Messages.concatenate(parts)


def phase_schedule(op: ExchangeOp, machine: Machine) -> Schedule:
    """The schedule of a phase."""
    key = (machine.name, machine.tiles, _geometry(op))
    found = _schedules.get(key)
    if found is None:
        found = schedule(phase_messages(op), machine)
        _schedules[key] = found
        while len(_schedules) > _KEPT:
            _schedules.popitem(last=False)
    else:
        _schedules.move_to_end(key)
    return found


def _geometry(op: ExchangeOp) -> Geometry:
    """What the messages of a phase are made from, and nothing else."""
    number = {buffer: i for i, buffer in enumerate(phase_buffers(op))}
    moves: list[tuple[int, Layout, View, int, Layout, View, int]] = []
    for src, src_view, dst, dst_view in op.moves():
        a, b = buffer_type(src), buffer_type(dst)
        moves.append((number[src], a.layout, src_view, number[dst], b.layout, dst_view, itemsize(a.dtype)))
    return tuple(moves)


def forget_schedules() -> None:
    """Drop the schedules that are kept; they come to a gigabyte for a large program."""
    _schedules.clear()
