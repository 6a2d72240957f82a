# SPDX-License-Identifier: Apache-2.0
"""ONNX's operators that move values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from tilewright.frontends.onnx.emit import axis_of, element_of, shape_of
from tilewright.frontends.onnx.node import Known, Node, Rule, Unsupported

_FAR = 2**31


def _shape(node: Node) -> Any:
    shape = node.shape(0)
    rank = len(shape)
    start, end = node.get("start", 0), node.get("end", rank)
    return np.array(shape[slice(start, end)], np.int64)


def _size(node: Node) -> Any:
    return np.array(prod(node.shape(0)), np.int64)


def new_shape(before: Sequence[int], wanted: Sequence[int], allow_zero: bool) -> list[int]:
    """The shape that Reshape gives: 0 copies an extent, -1 takes the rest. Raises `ValueError`."""
    shape = [before[i] if n == 0 and not allow_zero else n for i, n in enumerate(wanted)]
    if -1 in shape:
        rest = prod(n for n in shape if n != -1)
        shape[shape.index(-1)] = prod(before) // max(rest, 1)
    if prod(shape) != prod(before):
        raise ValueError(f"{list(before)} has not as many elements as {list(wanted)}")
    return shape


def reshaped(node: Node) -> list[int] | None:
    """The result's shape of a node that only regroups axes; None for any other."""
    before = node.shape(0)
    rank = len(before)
    match node.kind:
        case "Reshape":
            wanted = node.ints(1, "shape")
            return None if wanted is None else new_shape(before, wanted, bool(node.get("allowzero", 0)))
        case "Flatten":
            axis = node.get("axis", 1)
            axis = axis + rank if axis < 0 else axis
            return [prod(before[:axis]), prod(before[axis:])]
        case "Squeeze":
            axes = node.ints(1, "axes")
            gone = (
                [axis_of(a, rank) for a in axes]
                if axes is not None
                else [i for i, n in enumerate(before) if n == 1]
            )
            if any(before[a] != 1 for a in gone):
                raise ValueError(f"axes {gone} of {list(before)} are not all 1")
            return [n for i, n in enumerate(before) if i not in gone]
        case "Unsqueeze":
            axes = node.ints(1, "axes") or []
            total = rank + len(axes)
            new = {axis_of(a, total) for a in axes}
            rest = iter(before)
            return [1 if i in new else next(rest) for i in range(total)]
        case _:
            return None


def _reshape(node: Node) -> SSAValue:
    shape = reshaped(node)
    assert shape is not None
    return node.reshape(node.value(0), shape)


def permutation(node: Node) -> list[int]:
    """That of a Transpose."""
    return [int(a) for a in node.get("perm", range(len(node.shape(0)))[::-1])]


def _transpose(node: Node) -> SSAValue:
    return node.transpose(node.value(0), permutation(node))


def _expand(node: Node) -> SSAValue:
    x = node.value(0)
    wanted = node.ints(1, "shape") or []
    return node.broadcast(x, np.broadcast_shapes(shape_of(x), tuple(wanted)))


def _concat(node: Node) -> SSAValue:
    axis = axis_of(node.get("axis"), len(node.shape(0)))
    parts = [v for v in node.values() if shape_of(v)[axis]] or node.values()[:1]
    return parts[0] if len(parts) == 1 else node.op("concatenate", *parts, dimension=axis)


def _split(node: Node) -> list[SSAValue]:
    x = node.value(0)
    axis = axis_of(node.get("axis", 0), len(shape_of(x)))
    extent, count = shape_of(x)[axis], len(node.outputs)
    sizes = node.ints(1, "split")
    if sizes is None:
        each = -(-extent // count)
        sizes = [max(min(each, extent - i * each), 0) for i in range(count)]
    ends = np.cumsum([0, *sizes])
    return [node.cut(x, axis, int(a), int(b)) for a, b in pairwise(ends)]


def _slice(node: Node) -> SSAValue:
    x = node.value(0)
    shape = shape_of(x)
    starts, ends = node.ints(1, "starts") or [], node.ints(2, "ends") or []
    axes = node.ints(3, "axes")
    axes = [axis_of(a, len(shape)) for a in axes] if axes is not None else list(range(len(starts)))
    steps = node.ints(4, "steps") or [1] * len(starts)
    start, limit, strides, backwards = [0] * len(shape), list(shape), [1] * len(shape), []
    for a, b, axis, step in zip(starts, ends, axes, steps, strict=True):
        places = range(*slice(a, None if step < 0 and b <= -_FAR else b, step).indices(shape[axis]))
        if not places:
            raise Unsupported("it leaves nothing")
        low, high = min(places[0], places[-1]), max(places[0], places[-1])
        start[axis], limit[axis], strides[axis] = low, high + 1, abs(step)
        if step < 0 and len(places) > 1:
            backwards.append(axis)
    if tuple(limit) != shape or any(start) or any(s != 1 for s in strides):
        x = node.op("slice", x, start=start, limit=limit, strides=strides)
    return node.op("reverse", x, dimensions=backwards) if backwards else x


def _tile(node: Node) -> SSAValue:
    x = node.value(0)
    counts = node.ints(1, "repeats") or []
    shape = shape_of(x)
    wide = [n for pair in zip(counts, shape, strict=True) for n in pair]
    narrow = [n for extent in shape for n in (1, extent)]
    repeated = node.broadcast(node.reshape(x, narrow), wide)
    return node.reshape(repeated, [c * n for c, n in zip(counts, shape, strict=True)])


def wrapped(node: Node, i: int, extent: int) -> SSAValue:
    """Indices, of which negative ones count from the end."""
    found = node.inputs[i]
    if isinstance(found, Known):
        places = np.where(found.array < 0, found.array + extent, found.array)
        if places.size and (places.min() < 0 or places.max() >= extent):
            raise ValueError(f"an index is not below {extent}")
        return node.build.constant(places)
    places = node.value(i)
    behind = node.with_number("add", places, extent)
    below = node.op("compare", places, node.number(0, places), direction="LT")
    return node.op("select", below, behind, places)


def _gather(node: Node) -> SSAValue:
    x = node.value(0)
    axis = axis_of(node.get("axis", 0), len(shape_of(x)))
    found = node.inputs[1]
    extent = shape_of(x)[axis]
    if isinstance(found, Known) and found.array.size == 1:  # one row is a slice
        at = int(found.array.reshape(-1)[0])
        at = at + extent if at < 0 else at
        row = node.cut(x, axis, at, at + 1)
        shape = shape_of(x)
        return node.reshape(row, [*shape[:axis], *found.array.shape, *shape[axis + 1 :]])
    return node.op("take", x, wrapped(node, 1, extent), axis=axis, out_of_range="clamp")


def _gather_elements(node: Node) -> SSAValue:
    """Rows of the flattened table; each index names one element."""
    x = node.value(0)
    shape = shape_of(x)
    axis = axis_of(node.get("axis", 0), len(shape))
    places = wrapped(node, 1, shape[axis])
    at = shape_of(places)
    total = node.with_number("multiply", places, prod(shape[axis + 1 :]))
    others = np.zeros(at, np.int64)
    for i, extent in enumerate(at):
        if i != axis:
            line = np.arange(extent) * prod(shape[i + 1 :])
            others = others + line.reshape([-1 if j == i else 1 for j in range(len(at))])
    offset = node.build.constant(others, element_of(places))
    return node.op(
        "take", node.reshape(x, [prod(shape)]), node.op("add", total, offset), axis=0, out_of_range="clamp"
    )


def _gather_nd(node: Node) -> SSAValue:
    """Boxes by leading places, as rows of the flattened leading axes."""
    if node.get("batch_dims", 0):
        raise Unsupported("it gathers in batches")
    x, places = node.value(0), node.value(1)
    shape, at = shape_of(x), shape_of(places)
    depth = at[-1]
    rows: SSAValue | None = None
    for i in range(depth):
        part = node.reshape(node.cut(places, len(at) - 1, i, i + 1), at[:-1])
        behind = node.with_number("add", part, shape[i])
        part = node.op("select", node.op("compare", part, node.number(0, part), direction="LT"), behind, part)
        part = node.with_number("multiply", part, prod(shape[i + 1 : depth]))
        rows = part if rows is None else node.op("add", rows, part)
    assert rows is not None
    table = node.reshape(x, [prod(shape[:depth]), *shape[depth:]])
    return node.op("take", table, rows, axis=0, out_of_range="clamp")


def _pad(node: Node) -> SSAValue:
    x = node.value(0)
    shape, rank = shape_of(x), len(shape_of(x))
    pads = node.ints(1, "pads") or []
    axes = node.ints(3, "axes")
    axes = [axis_of(a, rank) for a in axes] if axes is not None else list(range(rank))
    low, high = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        low[axis], high[axis] = pads[i], pads[i + len(axes)]
    mode = node.get("mode", "constant")
    if mode == "constant":
        value = node.reshape(node.value(2), ()) if node.has(2) else node.build.constant(0, element_of(x))
        return node.op("pad", x, value, low=low, high=high, interior=[0] * rank)
    for axis, (a, b) in enumerate(zip(low, high, strict=True)):
        if a or b:
            line = np.arange(shape[axis])
            places = np.pad(line[max(-a, 0) : shape[axis] - max(-b, 0)], (max(a, 0), max(b, 0)), mode)
            x = node.op("take", x, node.build.constant(places), axis=axis, out_of_range="clamp")
    return x


def _trilu(node: Node) -> SSAValue:
    x = node.value(0)
    rows, columns = shape_of(x)[-2:]
    k = node.known(1, "diagonal")
    at = 0 if k is None else int(k.reshape(-1)[0])
    kept = np.tri(rows, columns, at if not node.get("upper", 1) else at - 1, dtype=np.bool_)
    kept = ~kept if node.get("upper", 1) else kept
    mask = node.broadcast(node.build.constant(kept), shape_of(x))
    return node.op("select", mask, x, node.number(0, x))


def _one_hot(node: Node) -> SSAValue:
    depth = node.ints(1, "depth")
    assert depth is not None
    places = node.op("convert", wrapped(node, 0, depth[0]), element="i32")
    rank = len(shape_of(places)) + 1
    axis = axis_of(node.get("axis", -1), rank)
    shape = [*shape_of(places)]
    shape.insert(axis, depth[0])
    wide = node.op("broadcast_in_dim", places, shape=shape, dimensions=[i for i in range(rank) if i != axis])
    line = node.op("iota", shape=shape, element="i32", dimension=axis)
    values = node.value(2)
    off, on = (node.broadcast(node.cut(values, 0, i, i + 1), shape) for i in (0, 1))
    return node.op("select", node.op("compare", wide, line, direction="EQ"), on, off)


def _depth_to_space(node: Node) -> SSAValue:
    x, b = node.value(0), node.get("blocksize")
    n, c, h, w = shape_of(x)
    if node.get("mode", "DCR") == "DCR":
        split, order = [n, b, b, c // (b * b), h, w], [0, 3, 4, 1, 5, 2]
    else:
        split, order = [n, c // (b * b), b, b, h, w], [0, 1, 4, 2, 5, 3]
    return node.reshape(node.transpose(node.reshape(x, split), order), [n, c // (b * b), h * b, w * b])


def _space_to_depth(node: Node) -> SSAValue:
    x, b = node.value(0), node.get("blocksize")
    n, c, h, w = shape_of(x)
    moved = node.transpose(node.reshape(x, [n, c, h // b, b, w // b, b]), [0, 3, 5, 1, 2, 4])
    return node.reshape(moved, [n, c * b * b, h // b, w // b])


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("Reshape", "Flatten", "Squeeze", "Unsqueeze"), _reshape),
    "Concat": _concat,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "OneHot": _one_hot,
    "Pad": _pad,
    "Shape": _shape,
    "Size": _size,
    "Slice": _slice,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Tile": _tile,
    "Transpose": _transpose,
    "Trilu": _trilu,
}
