# SPDX-License-Identifier: Apache-2.0
"""
The exchange phases of the tile dialect as messages and schedules.

A schedule is a pure function of the phase's geometry and the machine (it holds no address), so the IR keeps
only the bytes of the rows; passes of one process share the schedule through a cache keyed by the messages.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import fields

import numpy as np
from xdsl.ir import SSAValue

from tilewright.dialects.tile import ExchangeOp, buffer_type
from tilewright.machine import Machine
from tilewright.planning.dtypes import itemsize
from tilewright.planning.exchange import Messages, Schedule, schedule
from tilewright.planning.stages import cached_transfers

_schedules: OrderedDict[str, Schedule] = OrderedDict()
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
    messages = phase_messages(op)
    digest = hashlib.sha256(machine.name.encode())
    digest.update(repr(machine.tiles).encode())
    for field in fields(messages):
        digest.update(np.ascontiguousarray(getattr(messages, field.name)).tobytes())
    key = digest.hexdigest()
    found = _schedules.get(key)
    if found is None:
        found = schedule(messages, machine)
        _schedules[key] = found
        while len(_schedules) > _KEPT:
            _schedules.popitem(last=False)
    else:
        _schedules.move_to_end(key)
    return found


def forget_schedules() -> None:
    """Drop the schedules that are kept; they come to a gigabyte for a large program."""
    _schedules.clear()
