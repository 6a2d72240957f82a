# SPDX-License-Identifier: Apache-2.0
"""Operators with their operands in storage, as planners see them, and what stages do to whole tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.machine import Machine, load
from tilewright.machine.dtypes import itemsize, numpy_dtype
from tilewright.planning.exchange.geometry import element_places
from tilewright.planning.layout import Axis, Layout, Split, View
from tilewright.planning.operators import Operator
from tilewright.planning.operators.targets import flat_layout
from tilewright.planning.stages import (
    Buffer,
    ComputeStage,
    ExchangeStage,
    Stages,
    Value,
    kernel_extents,
    used_buffers,
)

T16 = load("t16")
T4 = load("t4")

Tensor = tuple[tuple[int, ...], str]


def operator(name: str, operands: tuple[Tensor, ...], result: Tensor, **attributes: Any) -> Operator:
    return Operator(name, attributes, operands, (result,))


def flat(tensor: Tensor, machine: Machine) -> Value:
    """A tensor as a row-major sequence over all tiles."""
    layout, view = flat_layout(*tensor, machine)
    return Value(Buffer(layout, tensor[1], "activations"), view)


def rows(tensor: Tensor, machine: Machine, tiles: int = 3) -> Value:
    """A matrix in blocks of rows on a few tiles, column by column."""
    shape, dtype = tensor
    axes = (Axis(shape[0], (Split(-(-shape[0] // tiles), 1),)), Axis(shape[1]))
    return Value(
        Buffer(Layout(axes, ((1, 0), (0, 0)), tiles=machine.tiles), dtype, "activations"),
        View.identity(shape),
    )


def check(op: Operator, operands: tuple[Value, ...], stages: Stages, machine: Machine) -> None:
    """
    What holds for every expansion: nothing is read before it is written, moves and kernels fit their buffers,
    and every element of every result has one place.
    """
    written = {f"in{i}" for i in range(len(operands))} | set(stages.constants)
    for stage in stages.stages:
        if isinstance(stage, ExchangeStage):
            for move in stage.moves:
                assert move.src in written, (op, move)
                assert move.src_view.shape == move.dst_view.shape
                source, target = stages.buffer(move.src), stages.buffer(move.dst)
                assert source.dtype == target.dtype
                move.src_view.check_inside(source.layout.shape)
                move.dst_view.check_inside(target.layout.shape)
                assert move.dst_view.is_injective()
        else:
            assert {operand.buffer for operand in stage.ins} <= written, (op, stage)
            for operand in (*stage.ins, *stage.outs):
                assert all(
                    -1 <= axis < len(stages.buffer(operand.buffer).layout.axes) for axis in operand.axes
                )
            assert kernel_extents(stages, stage, machine.tiles).shape[0] == machine.tiles
        changed = used_buffers(stage) if isinstance(stage, ExchangeStage) else [o.buffer for o in stage.outs]
        written |= set(changed)
    assert len(stages.results) == len(op.result_types)
    for (name, view), (shape, dtype) in zip(stages.results, op.result_types, strict=True):
        assert (name in written or 0 in shape) and view.shape == shape and stages.buffer(name).dtype == dtype
        layout = stages.buffer(name).layout
        tile, offset = element_places(layout, view)
        places = set(zip(tile.ravel().tolist(), offset.ravel().tolist(), strict=True))
        assert len(places) == tile.size
        assert not tile.size or (0 <= tile.min() and tile.max() < machine.tiles)
        held = layout.held_elements(machine.tiles)
        shard = layout.shard_elements
        assert not offset.size or offset.max() < max(shard, int(held.max()))


def work(stages: Stages, prefix: str, machine: Machine) -> np.ndarray:
    """Extents of the kernels of a name on the tiles that run them, int64 (calls, axes)."""
    found = [
        kernel_extents(stages, stage, machine.tiles)
        for stage in stages.stages
        if isinstance(stage, ComputeStage) and stage.kernel.startswith(prefix)
    ]
    extents = np.concatenate(found)
    return extents[(extents > 0).all(axis=1)]


def moved(op: Operator, stages: Stages, values: tuple[np.ndarray, ...]) -> np.ndarray:
    """
    The result of stages that bring elements elsewhere, add, or multiply, on arrays over storage axes: what
    views say, not what layouts do.
    """
    memory: dict[str, np.ndarray] = {}
    for i, (value, array) in enumerate(zip(stages.operands, values, strict=True)):
        memory[f"in{i}"] = np.full(value.layout.shape, -99.0)
        memory[f"in{i}"][value.view.storage(*np.ogrid[tuple(map(slice, value.shape))])] = array

    def storage(name: str) -> np.ndarray:
        return memory.setdefault(name, np.full(stages.buffer(name).layout.shape, -99.0))

    for stage in stages.stages:
        if isinstance(stage, ExchangeStage):
            before = {name: storage(name).copy() for name in used_buffers(stage)}
            for move in stage.moves:
                grids = np.ogrid[tuple(map(slice, move.src_view.shape))]
                part = before[move.src][move.src_view.storage(*grids)]
                storage(move.dst)[move.dst_view.storage(*grids)] = part
            continue
        (out,) = stage.outs
        if stage.kernel == "fill":
            dtype = stages.buffer(out.buffer).dtype
            word = np.array([dict(stage.scalars)["value"]], np.int64).astype(np.uint32).tobytes()
            kind = numpy_dtype("f32") if dtype == "u32" else numpy_dtype(dtype)
            if not out.pad:
                value = float(np.frombuffer(word[: itemsize(dtype)], kind)[0])
                if dtype == "u32":  # one element of the result in a word of its own
                    narrow = numpy_dtype(op.result_dtype)
                    value = float(np.frombuffer(word[: narrow.itemsize], narrow)[0])
                storage(out.buffer)[...] = value
            continue
        names = stage.operand_axes
        operands = []
        for operand, own in zip(stage.ins, names, strict=False):
            array = storage(operand.buffer)
            where = [operand.axes[own.index(a)] if a in own else -1 for a in stage.axes]
            kept = [w for w in where if w >= 0]
            assert sorted(kept) == list(range(array.ndim)) or array.size == 1
            shaped = array.transpose(kept) if len(kept) == array.ndim else array.reshape(())
            shape = iter(shaped.shape)
            operands.append(shaped.reshape([next(shape) if w >= 0 else 1 for w in where]))
        combined = {
            "pointwise.add": lambda a, b: a + b,
            "pointwise.mul": lambda a, b: a * b,
            "pointwise.sub": lambda a, b: a - b,
        }.get(stage.kernel, lambda a: a)(*operands)
        assert stage.kernel in ("copy", "widen", "narrow", "cast") or stage.kernel.startswith("pointwise.")
        storage(out.buffer)[...] = combined
    ((name, view),) = stages.results
    return storage(name)[view.storage(*np.ogrid[tuple(map(slice, view.shape))])]
