# SPDX-License-Identifier: Apache-2.0
"""
The normal form in which patterns are matched: what a value is, not how the source came to it.

Views (broadcasts, transposes, reshapes) sink towards the results, through operations on each element,
reductions and products; identities and chains of views disappear; equal operations are computed once. Every
rule keeps all values exactly, so that a program in which nothing is raised afterwards is still the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.hlo.operations import ELEMENTWISE, HloOperation
from tilewright.dialects.hlo.shapes import free_axes
from tilewright.dialects.hlo.values import dense_of, dtype_of, is_floating
from tilewright.dialects.tile_tensor import (
    GeluOp,
    LayerNormOp,
    RmsNormOp,
    SoftmaxOp,
    TensorOperation,
    UnaryOperation,
)
from tilewright.passes.hlo.fold import fold_block
from tilewright.passes.hlo.rewriting import (
    Emitter,
    blocks_of,
    constant_of,
    element_of,
    owner,
    remove_dead,
    replace,
    shape_of,
    splat_of,
)

Rule = Callable[[HloOperation], bool]


def normalize(function: FuncOp) -> bool:
    """Bring a function into normal form; whether anything changed."""
    changed = False
    for _ in range(200):
        again = False
        for block in blocks_of(function):
            again |= fold_block(block)
            for op in list(block.ops):
                if op.parent is not block:
                    continue
                if isinstance(op, HloOperation):
                    again |= any(rule(op) for rule in _RULES)
                elif isinstance(op, TensorOperation):
                    again |= _sink_through_rows(op)
            again |= share(block)
            again |= remove_dead(block)
        if not again:
            return changed
        changed = True
    return changed


# ----------------------------------------------------------------------------------------------- equal values


def share(block: Block) -> bool:
    """Compute equal operations once."""
    seen: dict[Any, Operation] = {}
    changed = False
    for op in list(block.ops):
        if not isinstance(op, HloOperation) or op.kind in ("while", "return", "unsupported") or op.regions:
            continue
        value = op.attributes.get("value")
        if isinstance(value, DenseIntOrFPElementsAttr) and len(value.data.data) > 4096:
            continue
        key = (
            op.name,
            tuple(op.operands),
            tuple(sorted(op.attributes.items(), key=lambda kv: kv[0])),
            op.results[0].type,
        )
        if key in seen:
            op.results[0].replace_all_uses_with(seen[key].results[0])
            op.detach()
            op.erase()
            changed = True
        else:
            seen[key] = op
    return changed


# ------------------------------------------------------------------------------------------------- identities


def _identity(op: HloOperation) -> bool:
    """Operations that give what they take."""
    if op.kind in ("reshape", "convert") and op.operands[0].type == op.results[0].type:
        replace(op, op.operands[0])
        return True
    if op.kind == "transpose" and op.get("permutation") == sorted(op.get("permutation")):
        replace(op, op.operands[0])
        return True
    if op.kind == "broadcast_in_dim" and op.operands[0].type == op.results[0].type:
        if op.get("dimensions") == list(range(len(shape_of(op.results[0])))):
            replace(op, op.operands[0])
            return True
    if op.kind == "slice" and op.operands[0].type == op.results[0].type:
        replace(op, op.operands[0])
        return True
    if op.kind == "pad" and not any((*op.get("low"), *op.get("high"), *op.get("interior"))):
        replace(op, op.operands[0])
        return True
    if op.kind == "concatenate" and len(op.operands) == 1:
        replace(op, op.operands[0])
        return True
    if op.kind == "select" and (chosen := splat_of(op.operands[0])) is not None:
        replace(op, op.operands[1 if chosen else 2])
        return True
    if op.kind == "reduce" and not op.get("dimensions"):
        replace(op, op.operands[0])
        return True
    return False


_NEUTRAL = {
    "maximum": ("max", (0, 1)),
    "minimum": ("min", (0, 1)),
    "multiply": ("one", (0, 1)),
    "divide": ("one", (1,)),
    "subtract": ("zero", (1,)),
    "add": ("minus_zero", (0, 1)),
    "power": ("one", (1,)),
}


def _neutral(op: HloOperation) -> bool:
    """`max(x, -inf)`, `1 x`, `x / 1`, `x - 0`: exactly x."""
    if op.kind not in _NEUTRAL or str(element_of(op.results[0])) == "i1":
        return False
    what, places = _NEUTRAL[op.kind]
    floating = is_floating(element_of(op.results[0]))
    for place in places:
        number = splat_of(op.operands[place])
        if number is None:
            continue
        number = np.asarray(number).astype(np.float64 if floating else np.int64)
        if floating:
            hit = {
                "max": number == -np.inf,
                "min": number == np.inf,
                "one": number == 1,
                "zero": number == 0 and not np.signbit(number),
                "minus_zero": number == 0 and np.signbit(number),
            }[what]
        else:
            info = np.iinfo(dtype_of(element_of(op.results[0])))
            hit = {
                "max": number == info.min,
                "min": number == info.max,
                "one": number == 1,
                "zero": number == 0,
                "minus_zero": number == 0,
            }[what]
        if hit:
            replace(op, op.operands[1 - place])
            return True
    return False


def _powers(op: HloOperation) -> bool:
    """`x^2` is `x x`, rounded once as well."""
    if op.kind != "power":
        return False
    number = splat_of(op.operands[1])
    if number is None or float(number) != 2.0:
        return False
    x = op.operands[0]
    replace(op, Emitter(op).op("multiply", [x, x]))
    return True


def _conversions(op: HloOperation) -> bool:
    """A conversion to a wider type and back is none."""
    if op.kind != "convert":
        return False
    inner = owner(op.operands[0], "convert")
    if inner is None or not widens(element_of(inner.operands[0]), element_of(inner.results[0])):
        return False
    replace(op, Emitter(op).op("convert", [inner.operands[0]], element=element_of(op.results[0])))
    return True


_BITS = {
    "f8E4M3FN": 3,
    "f8E4M3FNUZ": 3,
    "f8E5M2": 2,
    "f8E5M2FNUZ": 2,
    "bf16": 7,
    "f16": 10,
    "f32": 23,
    "f64": 52,
}


def widens(source: Any, target: Any) -> bool:
    """Whether every value of one float type is one of another."""
    a, b = str(source), str(target)
    return a in _BITS and b in ("f32", "f64") and _BITS[a] <= _BITS[b]


# -------------------------------------------------------------------------------------------- chains of views


def groups(before: Sequence[int], after: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """The axes of two shapes of one number of elements, in the smallest groups of equal products."""
    found: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(before) or j < len(after):
        left, right = [], []
        a = b = 1
        while True:
            if a == b and (left or right) and a != 1:
                break
            if (a <= b or j >= len(after)) and i < len(before):
                a *= before[i]
                left.append(i)
                i += 1
            elif j < len(after):
                b *= after[j]
                right.append(j)
                j += 1
            else:
                break
            if a == b == 1 and left and right and before[left[0]] == after[right[0]] == 1:
                break
        found.append((left, right))
    return found


def _single(before: Sequence[int], after: Sequence[int]) -> dict[int, int]:
    """Axes of the later shape that are one axis of the earlier one."""
    return {
        right[0]: left[0]
        for left, right in groups(before, after)
        if len(left) == len(right) == 1 and before[left[0]] == after[right[0]]
    }


def _inserted(before: Sequence[int], after: Sequence[int]) -> list[int] | None:
    """Where the axes of a shape are in one with axes of 1 put in; None if that is not what was done."""
    dimensions: list[int] = []
    at = 0
    for extent in before:
        while at < len(after) and after[at] != extent:
            if after[at] != 1:
                return None
            at += 1
        if at == len(after):
            return None
        dimensions.append(at)
        at += 1
    return dimensions if all(extent == 1 for extent in after[at:]) else None


def _view_chain(op: HloOperation) -> bool:
    """Two views one behind the other are one."""
    if op.kind not in ("transpose", "reshape", "broadcast_in_dim"):
        return False
    inner = owner(op.operands[0], "transpose", "reshape", "broadcast_in_dim")
    emit, result = Emitter(op), shape_of(op.results[0])
    if inner is None:
        if op.kind == "reshape" and 1 in result and 1 not in shape_of(op.operands[0]) and prod(result) > 1:
            # axes of 1 that come in beside a split are put in behind it
            places = [axis for axis, extent in enumerate(result) if extent != 1]
            if [result[axis] for axis in places] != list(shape_of(op.operands[0])):
                value = emit.op("reshape", list(op.operands), shape=[result[axis] for axis in places])
                replace(op, emit.op("broadcast_in_dim", [value], shape=result, dimensions=places))
                return True
        if op.kind == "reshape" and len(result) > len(shape_of(op.operands[0])):
            dimensions = _inserted(shape_of(op.operands[0]), result)
            if dimensions is not None:
                replace(
                    op, emit.op("broadcast_in_dim", list(op.operands), shape=result, dimensions=dimensions)
                )
                return True
        return False
    source = inner.operands[0]
    match op.kind, inner.kind:
        case "transpose", "transpose":
            first, second = inner.get("permutation"), op.get("permutation")
            replace(op, emit.op("transpose", [source], permutation=[first[axis] for axis in second]))
        case "reshape", "reshape":
            replace(op, emit.op("reshape", [source], shape=result))
        case "broadcast_in_dim", "broadcast_in_dim":
            first, second = inner.get("dimensions"), op.get("dimensions")
            replace(
                op, emit.op("broadcast_in_dim", [source], shape=result, dimensions=[second[d] for d in first])
            )
        case "broadcast_in_dim", "transpose":
            permutation, dimensions = inner.get("permutation"), op.get("dimensions")
            moved = [0] * len(dimensions)
            for i, axis in enumerate(permutation):
                moved[axis] = dimensions[i]
            replace(op, emit.op("broadcast_in_dim", [source], shape=result, dimensions=moved))
        case "transpose", "broadcast_in_dim":
            permutation = op.get("permutation")
            dimensions = [permutation.index(d) for d in inner.get("dimensions")]
            replace(op, emit.op("broadcast_in_dim", [source], shape=result, dimensions=dimensions))
        case "reshape", "broadcast_in_dim":
            return _reshape_of_broadcast(op, inner)
        case "broadcast_in_dim", "reshape":
            return _broadcast_of_reshape(op, inner)
        case _:
            return _reshape_of_transpose(op, inner)
    return True


def _reshape_of_broadcast(op: HloOperation, inner: HloOperation) -> bool:
    emit, result = Emitter(op), shape_of(op.results[0])
    source, dimensions = inner.operands[0], inner.get("dimensions")
    middle = shape_of(inner.results[0])
    if prod(shape_of(source)) == prod(middle):
        order = sorted(range(len(dimensions)), key=lambda i: dimensions[i])
        if order != sorted(order):
            source = emit.op("transpose", [source], permutation=order)
        replace(op, emit.op("reshape", [source], shape=result))
        return True
    single = {before: after for after, before in _single(middle, result).items()}
    if all(d in single or shape_of(source)[i] == 1 for i, d in enumerate(dimensions)):
        kept = [i for i, d in enumerate(dimensions) if d in single]
        if len(kept) != len(dimensions):
            source = emit.op("reshape", [source], shape=[shape_of(source)[i] for i in kept])
        moved = [single[dimensions[i]] for i in kept]
        replace(op, emit.op("broadcast_in_dim", [source], shape=result, dimensions=moved))
        return True
    return False


def _broadcast_of_reshape(op: HloOperation, inner: HloOperation) -> bool:
    """Axes of 1 that a reshape drops or puts in do not matter to a broadcast."""
    source, dimensions = inner.operands[0], op.get("dimensions")
    middle = shape_of(inner.results[0])
    back = _inserted(middle, shape_of(source))
    if back is None:
        return False
    result = shape_of(op.results[0])
    # axes of 1 of the source need a place: any axis of the result that is free
    places: list[int] = []
    free = iter(axis for axis in range(len(result)) if axis not in dimensions)
    for axis in range(len(shape_of(source))):
        place = dimensions[back.index(axis)] if axis in back else next(free, None)
        if place is None:
            return False
        places.append(place)
    if places != sorted(places):
        return False
    replace(op, Emitter(op).op("broadcast_in_dim", [source], shape=result, dimensions=places))
    return True


def _reshape_of_transpose(op: HloOperation, inner: HloOperation) -> bool:
    """A transpose that moves only axes of 1 is a reshape."""
    if op.kind not in ("reshape", "transpose"):
        return False
    for view, other in ((inner, op), (op, inner)):
        if view.kind != "transpose" or other.kind != "reshape":
            continue
        shape = shape_of(view.operands[0])
        order = [axis for axis in view.get("permutation") if shape[axis] != 1]
        if order == sorted(order):
            replace(op, Emitter(op).op("reshape", [inner.operands[0]], shape=shape_of(op.results[0])))
            return True
    return False


# ---------------------------------------------------------------------------------------------- sinking views


def _same_view(a: HloOperation, b: HloOperation) -> bool:
    return (
        a.kind == b.kind
        and a.attributes == b.attributes
        and shape_of(a.operands[0]) == shape_of(b.operands[0])
    )


def _through(view: HloOperation, value: SSAValue, emit: Emitter) -> Callable[[], SSAValue] | None:
    """How to make what `view` would have to be applied to, to give `value`; None if that is not possible."""
    source = shape_of(view.operands[0])
    if not shape_of(value) and shape_of(view.results[0]):
        return lambda: value
    number = splat_of(value)
    if number is not None:
        return lambda: emit.splat(number, element_of(value), source)
    made = owner(value)
    if made is not None and _same_view(made, view):
        return lambda: made.operands[0]
    if view.kind == "transpose":
        permutation = view.get("permutation")
        back = [permutation.index(axis) for axis in range(len(permutation))]
        if made is not None and made.kind == "constant":
            array = np.transpose(np.asarray(constant_of(value)), back)
            return lambda: emit.op("constant", value=dense_of(array, element_of(value)))
        if made is not None and made.kind == "broadcast_in_dim":
            dimensions = [permutation[d] for d in made.get("dimensions")]
            return lambda: emit.op(
                "broadcast_in_dim", [made.operands[0]], shape=source, dimensions=dimensions
            )
    if view.kind == "reshape":
        if made is not None and made.kind == "constant":
            array = np.asarray(constant_of(value)).reshape(source)
            return lambda: emit.op("constant", value=dense_of(array, element_of(value)))
        if made is not None and made.kind == "broadcast_in_dim":
            single = _single(source, shape_of(view.results[0]))
            extents = shape_of(made.operands[0])
            dimensions = made.get("dimensions")
            if all(d in single or extents[i] == 1 for i, d in enumerate(dimensions)):
                kept = [i for i, d in enumerate(dimensions) if d in single]

                def rebuilt() -> SSAValue:
                    small = made.operands[0]
                    if len(kept) != len(dimensions):
                        small = emit.op("reshape", [small], shape=[extents[i] for i in kept])
                    moved = [single[dimensions[i]] for i in kept]
                    return emit.op("broadcast_in_dim", [small], shape=source, dimensions=moved)

                return rebuilt
    return None


def _sink(op: HloOperation) -> bool:
    """Apply a view of operands behind an operation on each element."""
    if op.kind not in ELEMENTWISE:
        return False
    result = shape_of(op.results[0])
    for operand in op.operands:
        view = owner(operand, "transpose", "reshape", "broadcast_in_dim")
        if view is None or splat_of(operand) is not None or shape_of(operand) != result:
            continue
        emit = Emitter(op)
        ways = [_through(view, value, emit) for value in op.operands]
        if any(way is None for way in ways):
            continue
        operands = [way() for way in ways if way is not None]
        inner = _again(op, operands, emit)
        attributes = {name: view.get(name) for name in view.attributes}
        replace(op, emit.op(view.kind, [inner], shape=result, **attributes))
        return True
    return False


def _again(op: HloOperation, operands: Sequence[SSAValue], emit: Emitter) -> SSAValue:
    attributes = {
        name: op.get(name) for name in op.attributes if name in (*op.spec.attributes, *op.spec.optional)
    }
    return emit.op(op.kind, operands, element=element_of(op.results[0]), **attributes)


def _sink_through_rows(op: TensorOperation) -> bool:
    """The same for composites: on each element, or along the last axis."""
    rows = isinstance(op, SoftmaxOp | LayerNormOp | RmsNormOp)
    if not rows and not isinstance(op, UnaryOperation | GeluOp):
        return False
    view = owner(op.operands[0], "transpose", "reshape")
    if view is None:
        return False
    source, result = shape_of(view.operands[0]), shape_of(op.result)
    if rows:
        last = len(result) - 1
        if view.kind == "transpose" and view.get("permutation")[-1] != last:
            return False
        if view.kind == "reshape" and (not source or _single(source, result).get(last) != len(source) - 1):
            return False
    emit = Emitter(op)
    inner = type(op).create(
        operands=[view.operands[0], *op.operands[1:]],
        result_types=[type(op.result.type)(element_of(op.result), list(source))],  # pyright: ignore
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    value = emit.add(inner)
    attributes = {name: view.get(name) for name in view.attributes}
    replace(op, emit.op(view.kind, [value], shape=result, **attributes))
    return True


def _sink_reduce(op: HloOperation) -> bool:
    """Reduce before a transpose or a reshape."""
    if op.kind != "reduce":
        return False
    view = owner(op.operands[0], "transpose", "reshape")
    if view is None:
        return False
    emit, axes, source = Emitter(op), op.get("dimensions"), view.operands[0]
    rank = len(shape_of(view.results[0]))
    if view.kind == "transpose":
        permutation = view.get("permutation")
        value = emit.op(
            "reduce", [source], kind=op.get("kind"), dimensions=sorted(permutation[a] for a in axes)
        )
        left = sorted(permutation[a] for a in range(rank) if a not in axes)
        order = [left.index(permutation[a]) for a in range(rank) if a not in axes]
        replace(op, emit.op("transpose", [value], permutation=order))
        return True
    single = _single(shape_of(source), shape_of(view.results[0]))
    if not all(axis in single for axis in axes):
        return False
    value = emit.op("reduce", [source], kind=op.get("kind"), dimensions=sorted(single[a] for a in axes))
    replace(op, emit.op("reshape", [value], shape=shape_of(op.results[0])))
    return True


def _sink_dot(op: HloOperation) -> bool:
    """A product reads its operands in any order of axes: transposes of operands become one of the result."""
    if op.kind != "dot_general":
        return False
    for side, name in ((0, "lhs"), (1, "rhs")):
        view = owner(op.operands[side], "transpose")
        if view is None:
            continue
        permutation = view.get("permutation")
        lists = {key: op.get(key) for key in op.attributes}
        rank = len(permutation)
        batch, contracting = lists[f"{name}_batching"], lists[f"{name}_contracting"]
        old_free = [permutation[axis] for axis in free_axes(rank, batch, contracting)]
        lists[f"{name}_batching"] = [permutation[axis] for axis in batch]
        lists[f"{name}_contracting"] = [permutation[axis] for axis in contracting]
        new_free = sorted(old_free)
        operands = [view.operands[0] if i == side else v for i, v in enumerate(op.operands)]
        emit = Emitter(op)
        value = emit.op("dot_general", operands, element=element_of(op.results[0]), **lists)
        order = list(range(len(shape_of(value))))
        start = len(batch)
        if side:
            start = len(order) - len(old_free)
        for i, axis in enumerate(old_free):
            order[start + i] = start + new_free.index(axis)
        replace(op, value if order == sorted(order) else emit.op("transpose", [value], permutation=order))
        return True
    return False


def _known_starts(op: HloOperation) -> bool:
    """A dynamic slice whose starts are known is a slice."""
    if op.kind not in ("dynamic_slice", "dynamic_update_slice"):
        return False
    first = 1 if op.kind == "dynamic_slice" else 2
    numbers = [splat_of(value) for value in op.operands[first:]]
    if any(number is None for number in numbers):
        return False
    x = op.operands[0]
    sizes = op.get("sizes") if first == 1 else list(shape_of(op.operands[1]))
    starts = [
        min(max(int(number), 0), extent - size) if number is not None else 0
        for number, extent, size in zip(numbers, shape_of(x), sizes, strict=True)
    ]
    emit = Emitter(op)
    if first == 1:
        limit = [a + n for a, n in zip(starts, sizes, strict=True)]
        replace(op, emit.op("slice", [x], start=starts, limit=limit, strides=[1] * len(sizes)))
        return True
    value, box = op.operands[1], list(zip(starts, sizes, strict=True))
    shape = shape_of(x)
    # from the last axis outwards: what lies before, the update, what lies behind
    for axis in reversed(range(len(shape))):
        at, size = box[axis]
        pieces: list[SSAValue] = []
        for low, high in ((0, at), (at + size, shape[axis])):
            if high > low:
                start = [a if i < axis else (low if i == axis else 0) for i, (a, _) in enumerate(box)]
                limit = [
                    a + n if i < axis else (high if i == axis else shape[i]) for i, (a, n) in enumerate(box)
                ]
                pieces.append(emit.op("slice", [x], start=start, limit=limit, strides=[1] * len(shape)))
            else:
                pieces.append(value)
        before, behind = pieces
        parts = [
            p
            for p in (before if before is not value else None, value, behind if behind is not value else None)
            if p
        ]
        value = parts[0] if len(parts) == 1 else emit.op("concatenate", parts, dimension=axis)
    replace(op, value)
    return True


def _slice_of_slice(op: HloOperation) -> bool:
    if op.kind != "slice" or (inner := owner(op.operands[0], "slice")) is None:
        return False
    if any(s != 1 for s in (*op.get("strides"), *inner.get("strides"))):
        return False
    start = [a + b for a, b in zip(inner.get("start"), op.get("start"), strict=True)]
    limit = [a + b for a, b in zip(inner.get("start"), op.get("limit"), strict=True)]
    replace(
        op, Emitter(op).op("slice", [inner.operands[0]], start=start, limit=limit, strides=op.get("strides"))
    )
    return True


_RULES: tuple[Rule, ...] = (
    _identity,
    _neutral,
    _powers,
    _conversions,
    _known_starts,
    _slice_of_slice,
    _view_chain,
    _sink,
    _sink_reduce,
    _sink_dot,
)
