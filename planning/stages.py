# SPDX-License-Identifier: Apache-2.0
"""
What a plan will do, as data: buffers and the stages that fill them.

`expand(operator, record, operands, machine)` (in `tilewright.planning.operators`) turns a plan record into
one `Stages` value. It is the only description of a plan: its cost, its memory and its lowering to the tile
dialect are read from the same stages, so they cannot drift apart. Nothing here knows about IR.

A buffer is named by a short string inside its `Stages`. Operands of the operator are named "in0", "in1", ...;
they exist already. Every other name is declared in `buffers`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from tilewright.diagnostics import TileError
from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels import Kernel
from tilewright.planning.exchange.fabric import FABRICS
from tilewright.planning.exchange.geometry import Transfers, transfers
from tilewright.planning.exchange.messages import Messages
from tilewright.planning.layout import Layout, View
from tilewright.planning.layout.padding import pad_region

Scalar = int | float


class PlanError(TileError):
    """A plan record that the operator, the shapes or the machine do not allow."""


@dataclass(frozen=True)
class Buffer:
    """
    Storage for one tensor on the tiles: a layout, an element type and the category it is accounted under.
    """

    layout: Layout
    dtype: str
    category: str = "staging"  # activations | staging | partials | parameters

    @property
    def bytes(self) -> int:
        """Bytes of the largest shard."""
        return self.layout.shard_bytes(itemsize(self.dtype))


@dataclass(frozen=True)
class Value:
    """
    A tensor that is stored: a buffer seen through a view. `view.shape` is the tensor's shape.

    Values with one `storage` (of any hashable kind) are views of one buffer; None: nothing is known.
    """

    buffer: Buffer
    view: View
    storage: Hashable = field(default=None, compare=False)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.view.shape

    @property
    def dtype(self) -> str:
        return self.buffer.dtype

    @property
    def layout(self) -> Layout:
        return self.buffer.layout


@dataclass(frozen=True)
class Move:
    """One tensor region from one buffer to another; both views have the same logical shape."""

    src: str
    src_view: View
    dst: str
    dst_view: View


@dataclass(frozen=True)
class ExchangeStage:
    """Moves that share one exchange phase (one barrier)."""

    moves: tuple[Move, ...]
    reason: str


@dataclass(frozen=True)
class KernelOperand:
    """
    A buffer as a kernel sees it: the storage axis behind each axis of the kernel's operand (-1:
    broadcast).

    `flat` operands are the words of the shard, `pad` operands the words behind the last valid index of
    storage axis `axes[0]` (both are for `fill`).
    """

    buffer: str
    axes: tuple[int, ...]
    flat: bool = False
    pad: bool = False


@dataclass(frozen=True)
class ComputeStage:
    """
    One kernel call on every tile that owns a part of its operands.

    `axes` names the kernel axes, in order; the extent of each on a tile is the local extent of the first
    operand (outputs first) that has a storage axis there, or 1.
    """

    kernel: str
    axes: tuple[str, ...]
    ins: tuple[KernelOperand, ...]
    outs: tuple[KernelOperand, ...]
    operand_axes: tuple[tuple[str, ...], ...]  # kernel axes of each operand, ins then outs
    scalars: tuple[tuple[str, Scalar], ...]
    reason: str


Stage = ExchangeStage | ComputeStage


@dataclass(frozen=True)
class Cost:
    """Cycles of a plan by kind, summed over its stages (each the slowest tile)."""

    compute: int = 0
    exchange: int = 0
    copy: int = 0

    @property
    def total(self) -> int:
        return self.compute + self.exchange + self.copy

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.compute + other.compute, self.exchange + other.exchange, self.copy + other.copy)


@dataclass(frozen=True)
class Stages:
    """The expansion of one operator under one plan record."""

    operands: tuple[Value, ...]
    buffers: Mapping[str, Buffer]
    stages: tuple[Stage, ...]
    results: tuple[tuple[str, View], ...]  # buffer name and view of each result
    views: Mapping[str, View] = field(default_factory=dict)  # views of operands that results alias
    constants: Mapping[str, np.ndarray] = field(
        default_factory=dict
    )  # contents of buffers that the host writes once

    def buffer(self, name: str) -> Buffer:
        if name.startswith("in") and name[2:].isdigit():
            return self.operands[int(name[2:])].buffer
        return self.buffers[name]

    def segments(self, machine: Machine) -> tuple[Segment, ...]:
        """
        The stages between barriers: every exchange phase is a segment, and so are the kernels between two of
        them, which each tile runs at its own pace.
        """
        found: list[Segment] = []
        for stage in self.stages:
            if isinstance(stage, ExchangeStage):
                cycles = exchange_cycles(self, stage, machine)
                if cycles:
                    found.append(Segment("exchange", np.array([cycles]), np.zeros(1, np.int64)))
                continue
            cycles = compute_cycles(self, stage, machine)
            copied = cycles if machine.family.kernel(stage.kernel).moves else np.zeros_like(cycles)
            if found and found[-1].kind == "kernels":
                found[-1] = Segment("kernels", found[-1].cycles + cycles, found[-1].copied + copied)
            else:
                found.append(Segment("kernels", cycles, copied))
        return tuple(found)

    def cost(self, machine: Machine) -> Cost:
        """Cycles of the stages: in every segment those of its slowest tile, as the machine model counts."""
        total = Cost()
        for segment in self.segments(machine):
            slowest = int(np.argmax(segment.cycles))
            cycles, copied = int(segment.cycles[slowest]), int(segment.copied[slowest])
            if segment.kind == "exchange":
                total += Cost(exchange=cycles)
            else:
                total += Cost(compute=cycles - copied, copy=copied)
        return total

    def row_bytes(self, machine: Machine) -> np.ndarray:
        """Estimated bytes of exchange rows on each tile, int64 (tiles,), summed over the phases."""
        total = np.zeros(machine.tiles, np.int64)
        fabric = FABRICS.of(machine)
        for stage in self.stages:
            if isinstance(stage, ExchangeStage):
                total += fabric.row_bytes(stage_messages(self, stage), machine)
        return total

    def lifetimes(self) -> dict[str, tuple[int, int]]:
        """
        First and last event of every buffer that is used: event i is stage i; results live until the event
        behind the last stage. Constants are written by the host before event 0: they live from -1 on.
        """
        lives: dict[str, tuple[int, int]] = {}
        for event, stage in enumerate(self.stages):
            for name in used_buffers(stage):
                first, _ = lives.get(name, (-1 if name in self.constants else event, event))
                lives[name] = first, event
        for name, _ in self.results:
            first, _ = lives.get(name, (len(self.stages), 0))
            lives[name] = first, len(self.stages)
        return lives

    def live_bytes(self) -> np.ndarray:
        """
        Bytes of the buffers that the plan adds, by event, int64 (stages + 1,): the largest shard of each that
        is live then. Operands are the caller's to count.
        """
        total = np.zeros(len(self.stages) + 1, np.int64)
        for name, (first, last) in self.lifetimes().items():
            if name in self.buffers:
                total[max(first, 0) : last + 1] += self.buffers[name].bytes
        return total

    def peak_bytes(self) -> int:
        """The most bytes of buffers that the plan adds and that are live at one event."""
        return int(self.live_bytes().max(initial=0))


@dataclass(frozen=True, eq=False)
class Segment:
    """
    What happens between two barriers: cycles on every tile, int64 (tiles,), and how many of them are copies;
    an exchange phase takes the same on all tiles and has one entry.
    """

    kind: Literal["kernels", "exchange"]
    cycles: np.ndarray
    copied: np.ndarray


def used_buffers(stage: Stage) -> tuple[str, ...]:
    """The buffers that a stage reads or writes."""
    if isinstance(stage, ExchangeStage):
        return tuple(dict.fromkeys(name for move in stage.moves for name in (move.src, move.dst)))
    return tuple(dict.fromkeys(operand.buffer for operand in (*stage.ins, *stage.outs)))


@lru_cache(maxsize=32)
def cached_transfers(src: Layout, src_view: View, dst: Layout, dst_view: View, size: int) -> Transfers:
    """`transfers`, remembered: cost, scheduling and encoding ask for the same spans."""
    return transfers(src, src_view, dst, dst_view, size)


def stage_transfers(stages: Stages, move: Move) -> Transfers:
    """The spans of one move."""
    src, dst = stages.buffer(move.src), stages.buffer(move.dst)
    return cached_transfers(src.layout, move.src_view, dst.layout, move.dst_view, itemsize(src.dtype))


def stage_messages(stages: Stages, stage: ExchangeStage) -> Messages:
    """All messages of a phase; buffers are numbered in order of appearance."""
    names = used_buffers(stage)
    parts: list[Messages] = []
    for move in stage.moves:
        t = stage_transfers(stages, move)
        full = np.zeros(len(t), np.int64)
        src, dst = full + names.index(move.src), full + names.index(move.dst)
        parts.append(Messages(t.src_tile, src, t.src_byte, t.dst_tile, dst, t.dst_byte, t.nbytes))
    return Messages.concatenate(parts)


def exchange_cycles(stages: Stages, stage: ExchangeStage, machine: Machine) -> int:
    """
    Estimated cycles of an exchange phase, with the machine's overhead for a phase; 0 if it moves nothing.
    """
    cycles = FABRICS.of(machine).estimate(stage_messages(stages, stage), machine).cycles
    return cycles + machine.phase_overhead if cycles else 0


def kernel_extents(stages: Stages, stage: ComputeStage, tiles: int) -> np.ndarray:
    """Extents of the kernel axes on every tile, int64 (tiles, axes); 0 on tiles that take no part."""
    if any(op.flat for op in stage.outs):
        return flat_extents(stages.buffer(stage.outs[0].buffer), tiles)
    if any(op.pad for op in stage.outs):
        out = stage.outs[0]
        buffer = stages.buffer(out.buffer)
        region = pad_region(buffer.layout, out.axes[0], itemsize(buffer.dtype), tiles)
        assert region is not None
        return region.extents
    n = len(stage.ins)
    operands = [
        (stages.buffer(op.buffer).layout, dict(zip(names, op.axes, strict=True)))
        for op, names in zip((*stage.ins, *stage.outs), stage.operand_axes, strict=True)
    ]
    return call_extents(stage.axes, operands[:n], operands[n:], tiles)


def flat_extents(buffer: Buffer, tiles: int) -> np.ndarray:
    """Words of a buffer's shard on every tile that owns one, int64 (tiles, 1)."""
    return (buffer.layout.owners(tiles).astype(np.int64) * -(-buffer.bytes // 4))[:, None]


def call_extents(
    axes: Sequence[str],
    ins: Sequence[tuple[Layout, Mapping[str, int]]],
    outs: Sequence[tuple[Layout, Mapping[str, int]]],
    tiles: int,
) -> np.ndarray:
    """
    Extents of a kernel's axes on every tile, int64 (tiles, axes): the local extent of the first operand
    (outputs first) that has a storage axis there, 1 for an axis that none has; all 0 on tiles that do not own
    a part of every operand."""
    operands = [*outs, *ins]
    active = np.ones(tiles, bool)
    for layout, _ in operands:
        active &= layout.owners(tiles)
    extents = np.ones((tiles, len(axes)), np.int64)
    for i, axis in enumerate(axes):
        for layout, where in operands:
            if where.get(axis, -1) >= 0:
                extents[:, i] = layout.local_extents(where[axis], tiles)
                break
    return np.where(active[:, None], extents, 0)


def compute_cycles(stages: Stages, stage: ComputeStage, machine: Machine) -> np.ndarray:
    """Cycles of a kernel call on each tile, int64 (tiles,)."""
    entry: Kernel = machine.family.kernel(stage.kernel)
    extents = kernel_extents(stages, stage, machine.tiles)
    dtypes = tuple(stages.buffer(op.buffer).dtype for op in (*stage.ins, *stage.outs))
    return entry.cycles(machine, extents, dtypes, dict(stage.scalars))
