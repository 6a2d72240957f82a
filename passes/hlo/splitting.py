# SPDX-License-Identifier: Apache-2.0
"""
Takes products apart whose results are only read in pieces: queries, keys and values from one weight become
three products, each of its columns of the weight.

A slice moves in front of what makes its operand (transposes, reshapes, operations on each element, products)
where everything that reads the operand is a slice too: nothing is computed twice, and what is cut in the end
is a weight, which the host cuts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from tilewright.dialects.hlo.operations import ELEMENTWISE, HloOperation
from tilewright.dialects.hlo.shapes import free_axes
from tilewright.passes.hlo.normal import groups
from tilewright.passes.hlo.rewriting import (
    Emitter,
    blocks_of,
    element_of,
    owner,
    remove_dead,
    replace,
    shape_of,
)

Box = list[tuple[int, int]]


def split_products(function: FuncOp) -> bool:
    """Move slices towards weights; whether any moved."""
    changed = False
    again = True
    while again:
        again = False
        for block in blocks_of(function):
            for op in reversed(list(block.ops)):
                if isinstance(op, HloOperation) and op.parent is block and len(op.results) == 1:
                    again |= _hoist_all(op)
            remove_dead(block)
        changed |= again
    return changed


def _box(op: HloOperation) -> Box | None:
    if any(step != 1 for step in op.get("strides")):
        return None
    return list(zip(op.get("start"), op.get("limit"), strict=True))


def _only_sliced(value: SSAValue) -> bool:
    """Whether all readers are slices that together are no more than the value, unless that only repeats."""
    total = 0
    for use in value.uses:
        reader = use.operation
        if not isinstance(reader, HloOperation) or reader.kind != "slice":
            return False
        total += prod(shape_of(reader.results[0]))
    return total <= prod(shape_of(value)) or owner(value, "broadcast_in_dim") is not None


def _hoist_all(made: HloOperation) -> bool:
    """Move all slices of a value in front of what makes it: all of them, or none."""
    if made.kind == "slice" or not made.results[0].uses or not _only_sliced(made.results[0]):
        return False
    slices = [use.operation for use in made.results[0].uses]
    if any(op.parent is not made.parent for op in slices) or not _leads_to_a_product(made):
        return False
    boxes = [_box(op) for op in slices if isinstance(op, HloOperation)]
    if any(box is None or not _fits(made, box) for box in boxes):
        return False
    for op, box in zip(slices, boxes, strict=True):
        if isinstance(op, HloOperation) and box is not None:
            _hoist(op, made, box)
    return True


def _fits(made: HloOperation, box: Box) -> bool:
    if made.kind == "reshape":
        return _through_reshape(shape_of(made.operands[0]), shape_of(made.results[0]), box) is not None
    return made.kind in ("transpose", "broadcast_in_dim", "dot_general", *ELEMENTWISE)


def _hoist(op: HloOperation, made: HloOperation, box: Box) -> bool:
    emit = Emitter(op)
    if made.kind == "transpose":
        permutation = made.get("permutation")
        inner: Box = [(0, 0)] * len(box)
        for i, axis in enumerate(permutation):
            inner[axis] = box[i]
        replace(op, emit.op("transpose", [_cut(emit, made.operands[0], inner)], permutation=permutation))
        return True
    if made.kind == "reshape":
        found = _through_reshape(shape_of(made.operands[0]), shape_of(made.results[0]), box)
        if found is None:
            return False
        replace(op, emit.op("reshape", [_cut(emit, made.operands[0], found)], shape=shape_of(op.results[0])))
        return True
    if made.kind in ELEMENTWISE:
        operands = [_cut(emit, v, box) if shape_of(v) else v for v in made.operands]
        attributes = {n: made.get(n) for n in made.attributes if n in made.spec.attributes}
        replace(op, emit.op(made.kind, operands, element=element_of(made.results[0]), **attributes))
        return True
    if made.kind == "broadcast_in_dim":
        source, dimensions = made.operands[0], made.get("dimensions")
        inner = [box[d] if n != 1 else (0, 1) for d, n in zip(dimensions, shape_of(source), strict=True)]
        value = _cut(emit, source, inner)
        replace(
            op, emit.op("broadcast_in_dim", [value], shape=shape_of(op.results[0]), dimensions=dimensions)
        )
        return True
    if made.kind == "dot_general":
        return _through_dot(op, made, box, emit)
    return False


def _leads_to_a_product(made: HloOperation) -> bool:
    """Whether what is cut comes from a product: other chains are left as they are written."""
    seen = 0
    stack = [made]
    while stack and seen < 32:
        op = stack.pop()
        seen += 1
        if op.kind == "dot_general":
            return True
        if op is not made and not _only_sliced_or_read_once(op):
            continue
        if op.kind in ELEMENTWISE or op.kind in ("transpose", "reshape"):
            stack += [o for v in op.operands if (o := owner(v)) is not None]
        elif op.kind == "broadcast_in_dim" and op is made:
            return True
    return False


def _only_sliced_or_read_once(op: HloOperation) -> bool:
    return len(list(op.results[0].uses)) == 1 or _only_sliced(op.results[0])


def _cut(emit: Emitter, value: SSAValue, box: Box) -> SSAValue:
    if all((a, b) == (0, n) for (a, b), n in zip(box, shape_of(value), strict=True)):
        return value
    start, limit = [a for a, _ in box], [b for _, b in box]
    return emit.op("slice", [value], start=start, limit=limit, strides=[1] * len(box))


def _through_reshape(before: Sequence[int], after: Sequence[int], box: Box) -> Box | None:
    """The same elements in the shape before, if they are a box there too."""
    inner: Box = [(0, n) for n in before]
    for left, right in groups(before, after):
        cut = [axis for axis in right if box[axis] != (0, after[axis])]
        if not cut:
            continue
        # one axis of before, of which a run is taken: all axes in front of the cut one hold one index
        if len(left) != 1 or len(cut) != 1:
            return None
        axis = cut[0]
        if any(after[i] != 1 for i in right[: right.index(axis)]):
            return None
        step = prod(after[i] for i in right[right.index(axis) + 1 :])
        inner[left[0]] = (box[axis][0] * step, box[axis][1] * step)
    return inner


def _through_dot(op: HloOperation, made: HloOperation, box: Box, emit: Emitter) -> bool:
    lists = {
        name: made.get(name)
        for name in made.attributes
        if name in (*made.spec.attributes, *made.spec.optional)
    }
    lhs, rhs = made.operands
    batch = len(lists["lhs_batching"])
    boxes: list[Box] = []
    at = batch
    for value, name in ((lhs, "lhs"), (rhs, "rhs")):
        inner: Box = [(0, n) for n in shape_of(value)]
        for i, axis in enumerate(lists[f"{name}_batching"]):
            inner[axis] = box[i]
        for axis in free_axes(len(inner), lists[f"{name}_batching"], lists[f"{name}_contracting"]):
            inner[axis] = box[at]
            at += 1
        boxes.append(inner)
    operands = [_cut(emit, value, inner) for value, inner in zip((lhs, rhs), boxes, strict=True)]
    replace(op, emit.op("dot_general", operands, element=element_of(made.results[0]), **lists))
    return True
