# SPDX-License-Identifier: Apache-2.0
"""
Counter loops (scan, fori_loop, a Loop of known count) as `tile_repeat.repeat`.

A loop counts if its condition compares an argument that starts and steps by numbers with a number. What is
computed from such arguments alone is known for every iteration. Of the other arguments, what passes through
unchanged is invariant; a slice of it whose place is known is iterated; what is written at a known place,
another one in each iteration, is collected; all else is carried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from tilewright.dialects.entry import INPUT_ATTRIBUTE, PARAMETER_ATTRIBUTE
from tilewright.dialects.hlo.operations import HloOperation, make
from tilewright.dialects.hlo.values import Array, NoValue, dense_of, evaluate
from tilewright.dialects.tile_repeat import MemberOp, PackOp, RepeatOp, SequenceType, YieldOp
from tilewright.instrumentation import remark
from tilewright.passes.hlo.fold import known
from tilewright.passes.hlo.rewriting import Emitter, blocks_of, element_of, owner, remove_dead, shape_of

MOST_ITERATIONS = 4096
"""Iterations of a loop beyond which it is not taken apart."""

_LARGE = 64
"""Elements of a constant that is handed to a body instead of made in it."""


@dataclass
class _Loop:
    op: HloOperation
    count: int
    tables: dict[SSAValue, list[Array] | None] = field(default_factory=dict[SSAValue, "list[Array] | None"])

    @property
    def body(self) -> Block:
        return self.op.regions[1].block

    @property
    def yielded(self) -> list[SSAValue]:
        end = self.body.last_op
        assert end is not None
        return list(end.operands)

    def table(self, value: SSAValue) -> list[Array] | None:
        """The value in every iteration, where it follows from the counter alone."""
        if value in self.tables:
            return self.tables[value]
        found: list[Array] | None = None
        made = value.owner
        constant = known(value)
        if constant is not None:
            found = [constant] * self.count
        elif (
            isinstance(made, HloOperation) and made.parent is self.body and not made.regions and made.operands
        ):
            columns = [self.table(operand) for operand in made.operands]
            small = prod(shape_of(value)) <= 1 << 16
            if small and all(column is not None for column in columns):
                try:
                    rows = zip(*(c for c in columns if c is not None), strict=True)
                    found = [evaluate(made, row) for row in rows]
                except NoValue:
                    found = None
        self.tables[value] = found
        return found


def raise_loops(function: FuncOp) -> bool:
    """Turn the counter loops of a function into repeats; whether there was any."""
    changed = False
    for block in blocks_of(function):
        for op in list(block.ops):
            if isinstance(op, HloOperation) and op.kind == "while":
                loop = _count(op)
                if loop is not None:
                    _raise(loop, function)
                    changed = True
    return changed


def _number(value: SSAValue) -> int | None:
    array = known(value)
    return (
        int(array.reshape(())) if array is not None and array.size == 1 and array.dtype.kind in "iu" else None
    )


def _steps(op: HloOperation) -> dict[int, tuple[int, int]]:
    """Start and step of the arguments that count, by number."""
    body = op.regions[1].block
    end = body.last_op
    assert end is not None
    found: dict[int, tuple[int, int]] = {}
    for i, (initial, value) in enumerate(zip(op.operands, end.operands, strict=True)):
        start, made = _number(initial), owner(value, "add")
        if start is None or made is None or shape_of(value):
            continue
        for a, b in (tuple(made.operands), tuple(reversed(made.operands))):
            step = _number(b)
            if a is body.args[i] and step is not None:
                found[i] = (start, step)
                break
    return found


def _count(op: HloOperation) -> _Loop | None:
    """The loop with its count, if it counts."""
    condition = op.regions[0].block
    end = condition.last_op
    assert end is not None
    test = owner(end.operands[0], "compare")
    if test is None:
        return None
    steps = _steps(op)
    a, b = test.operands
    direction = test.get("direction")
    if isinstance(b, BlockArgument) and b.owner is condition:
        a, b = b, a
        direction = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE"}.get(direction, direction)
    if not isinstance(a, BlockArgument) or a.owner is not condition or a.index not in steps:
        return None
    limit = _number(b)
    if limit is None and isinstance(b, BlockArgument) and b.owner is condition:
        # a limit that is handed through unchanged
        if op.regions[1].block.last_op.operands[b.index] is op.regions[1].block.args[b.index]:  # pyright: ignore
            limit = _number(op.operands[b.index])
    start, step = steps[a.index]
    if limit is None or step == 0:
        return None
    match direction:
        case "LT" if step > 0:
            count = -(-(limit - start) // step)
        case "LE" if step > 0:
            count = (limit - start) // step + 1
        case "GT" if step < 0:
            count = -(-(start - limit) // -step)
        case "GE" if step < 0:
            count = (start - limit) // -step + 1
        case "NE" if (limit - start) % step == 0:
            count = (limit - start) // step
        case _:
            return None
    count = max(count, 0)
    if count > MOST_ITERATIONS:
        return None
    loop = _Loop(op, count)
    for i, (start, step) in steps.items():
        argument = op.regions[1].block.args[i]
        dtype = known(op.operands[i]).dtype  # pyright: ignore[reportOptionalMemberAccess]
        loop.tables[argument] = [np.asarray(start + step * t, dtype) for t in range(count)]
    return loop


@dataclass
class _Header:
    """What the repeat will take, and how the body calls it."""

    carried: list[tuple[SSAValue, SSAValue]] = field(default_factory=list[tuple[SSAValue, SSAValue]])
    invariant: list[tuple[SSAValue, SSAValue]] = field(default_factory=list[tuple[SSAValue, SSAValue]])
    iterated: list[tuple[SSAValue, SSAValue]] = field(default_factory=list[tuple[SSAValue, SSAValue]])


def _raise(loop: _Loop, function: FuncOp) -> None:
    op, body = loop.op, loop.body
    emit = Emitter(op)
    if loop.count == 0:
        emit.replace(*op.operands)
        return
    header = _Header()
    yielded = loop.yielded
    passed = {i for i, value in enumerate(yielded) if value is body.args[i]}
    counting = set(_steps(op))
    for i in passed:
        constant = known(op.operands[i])
        if constant is not None and constant.size <= 1 << 16:
            loop.tables[body.args[i]] = [constant] * loop.count
    collected = {
        i: found
        for i, value in enumerate(yielded)
        if i not in passed and i not in counting and (found := _collects(loop, i, value)) is not None
    }
    carried = [i for i in range(len(yielded)) if not (i in passed or i in counting or i in collected)]
    _iterate_slices(loop, passed, header, emit, function)
    _iterate_tables(loop, header, emit)
    for i in sorted(passed):
        if any(use.operation is not body.last_op for use in body.args[i].uses):
            header.invariant.append((op.operands[i], body.args[i]))
    _capture(body, header)
    for i in carried:
        header.carried.append((op.operands[i], body.args[i]))
    name = _free_name(function)
    members = [found.member for found in collected.values()]
    region = _body(body, header, [yielded[i] for i in carried], members)
    made = RepeatOp(
        name,
        loop.count,
        [outside for outside, _ in header.carried],
        [outside for outside, _ in header.invariant],
        [outside for outside, _ in header.iterated],
        region,
        [value.type for value in members],
    )
    made.location = op.location
    block = op.parent
    assert block is not None
    block.insert_op_before(made, op)
    remark("fusion", f"raised to repeat of {loop.count}", op)
    results: list[SSAValue] = list(op.operands)
    for i, value in zip(carried, made.carried_results, strict=True):
        results[i] = value
    for (i, found), sequence in zip(collected.items(), made.collected_results, strict=True):
        results[i] = _stacked(emit, sequence, found, shape_of(op.operands[i]))
    for i in counting:
        if op.results[i].uses:
            start, last = loop.tables[body.args[i]], loop.count
            assert start is not None
            step = int(start[1] - start[0]) if last > 1 else _steps(op)[i][1]
            results[i] = emit.scalar(int(start[0]) + step * last, element_of(op.operands[i]))
    emit.replace(*results)


def _free_name(function: FuncOp) -> str:
    taken = {o.repeat_name.data for o in function.walk() if isinstance(o, RepeatOp)}
    return next(name for name in ("layers", *(f"loop{i}" for i in range(1, 1 << 20))) if name not in taken)


# ------------------------------------------------------------------------------------------------- collected


@dataclass
class _Collected:
    member: SSAValue
    axis: int
    places: list[int]


def _collects(loop: _Loop, i: int, value: SSAValue) -> _Collected | None:
    """Where each iteration writes a part of its own, and all parts together are the whole."""
    made = owner(value, "dynamic_update_slice")
    argument = loop.body.args[i]
    if made is None or made.operands[0] is not argument or len(list(argument.uses)) != 1:
        return None
    shape, part = shape_of(argument), shape_of(made.operands[1])
    axes = [axis for axis in range(len(shape)) if shape[axis] != part[axis]]
    if not axes:
        axes = [0] if shape and shape[0] == 1 and loop.count == 1 else []
    if len(axes) != 1 or part[axes[0]] != 1 or shape[axes[0]] != loop.count:
        return None
    axis = axes[0]
    table = loop.table(made.operands[2 + axis])
    if table is None:
        return None
    places = [int(v.reshape(())) for v in table]
    return _Collected(made.operands[1], axis, places) if sorted(places) == list(range(loop.count)) else None


def _stacked(emit: Emitter, sequence: SSAValue, found: _Collected, shape: Sequence[int]) -> SSAValue:
    """The members in the order of their places, along their axis."""
    order = [found.places.index(place) for place in range(len(found.places))]
    members = [emit.add(MemberOp(sequence, number)) for number in order]
    return members[0] if len(members) == 1 else emit.op("concatenate", members, dimension=found.axis)


# -------------------------------------------------------------------------------------------------- iterated


def _iterate_slices(loop: _Loop, passed: set[int], header: _Header, emit: Emitter, function: FuncOp) -> None:
    """Slices at known places of what passes through are members of a sequence."""
    body = loop.body
    for op in list(body.ops):
        if not isinstance(op, HloOperation) or op.kind != "dynamic_slice":
            continue
        if loop.table(op.results[0]) is not None:
            continue  # a constant for every iteration
        source = op.operands[0]
        inside = isinstance(source, BlockArgument) and source.owner is body
        if inside and cast("BlockArgument", source).index not in passed:
            continue
        if (not inside and source.owner is body) or (
            isinstance(source.owner, Operation) and source.owner.parent is body
        ):
            continue
        tables = [loop.table(start) for start in op.operands[1:]]
        if any(table is None for table in tables):
            continue
        outside = loop.op.operands[cast("BlockArgument", source).index] if inside else source
        sizes, shape = op.get("sizes"), shape_of(outside)
        starts = [
            [
                min(max(int(t[k].reshape(())), 0), n - s)
                for t, n, s in zip(tables, shape, sizes, strict=True)
                if t
            ]
            for k in range(loop.count)
        ]
        member = _rows_of_argument(loop, op, outside, starts, sizes, function)
        if member is None:
            parts = [
                emit.op(
                    "slice",
                    [outside],
                    start=at,
                    limit=[a + s for a, s in zip(at, sizes, strict=True)],
                    strides=[1] * len(at),
                )
                for at in starts
            ]
            member = emit.add(PackOp(parts, parts[0].type))
        argument = body.insert_arg(cast("SequenceType", member.type).element, len(body.args))
        header.iterated.append((member, argument))
        value: SSAValue = argument
        if argument.type != op.results[0].type:
            inner = Emitter(op)
            value = inner.op("reshape", [argument], shape=shape_of(op.results[0]))
        op.results[0].replace_all_uses_with(value)
        op.detach()
        op.erase()
    remove_dead(body)


def _rows_of_argument(
    loop: _Loop,
    op: HloOperation,
    outside: SSAValue,
    starts: list[list[int]],
    sizes: list[int],
    function: FuncOp,
) -> SSAValue | None:
    """An argument of the program whose rows are taken one by one, and by nothing else, becomes a sequence."""
    shape = shape_of(outside)
    rows = [[t, *([0] * (len(shape) - 1))] for t in range(loop.count)]
    if not isinstance(outside, BlockArgument) or outside.owner is not function.body.block or starts != rows:
        return None
    if shape[0] != loop.count or sizes != [1, *shape[1:]]:
        return None
    users = [use.operation for use in outside.uses]
    if users != [loop.op] and users != [op]:
        return None
    if users == [loop.op]:
        number = next(i for i, v in enumerate(loop.op.operands) if v is outside)
        inner = loop.body.args[number]
        if [use.operation for use in inner.uses if use.operation is not loop.body.last_op] != [op]:
            return None
        if loop.op.results[number].uses or loop.op.regions[0].block.args[number].uses:
            return None
    entries = list(function.arg_attrs or [DictionaryAttr({}) for _ in function.args])
    entry = dict(entries[outside.index].data)
    name = entry.get(PARAMETER_ATTRIBUTE)
    if name is not None and not isinstance(name, StringAttr):
        return None
    if isinstance(name, StringAttr):
        entry[PARAMETER_ATTRIBUTE] = ArrayAttr([StringAttr(f"{name.data}.{t}") for t in range(loop.count)])
    elif INPUT_ATTRIBUTE not in entry:
        entry[INPUT_ATTRIBUTE] = StringAttr(f"arg{outside.index}")
    entries[outside.index] = DictionaryAttr(entry)
    function.arg_attrs = ArrayAttr(cast(Any, entries))
    type_ = SequenceType(loop.count, TensorType(element_of(outside), list(shape[1:])))
    # the loop reads it no longer: an unused argument of the old type stands in until it goes
    if users == [loop.op]:
        number = next(i for i, v in enumerate(loop.op.operands) if v is outside)
        stand_in = make("constant", value=dense_of(np.zeros((), np.int32)))
        block = loop.op.parent
        assert block is not None
        block.insert_op_before(stand_in, loop.op)
        loop.op.operands[number] = stand_in.results[0]
    outside._type = type_  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
    function.update_function_type()
    return outside


def _iterate_tables(loop: _Loop, header: _Header, emit: Emitter) -> None:
    """What follows from the counter and is read by what does not is a member of a sequence of constants."""
    body = loop.body
    end = body.last_op
    unchanged = {v for v, after in zip(body.args, loop.yielded, strict=False) if v is after}
    values = [*body.args, *(r for o in body.ops for r in o.results)]
    for value in values:
        table = loop.table(value)
        if table is None or known(value) is not None or value in unchanged or _spreads(loop, value):
            continue
        users = [
            use
            for use in list(value.uses)
            if use.operation is not end
            and not (
                isinstance(use.operation, HloOperation)
                and use.operation.results
                and loop.table(use.operation.results[0]) is not None
                and not _spreads(loop, use.operation.results[0])
            )
            and not (
                isinstance(use.operation, HloOperation)
                and use.operation.kind == "dynamic_update_slice"
                and use.index >= 2
                and _is_collected(loop, use.operation)
            )
        ]
        if not users:
            continue
        constants = [emit.op("constant", value=dense_of(np.asarray(v), element_of(value))) for v in table]
        sequence = emit.add(PackOp(constants, constants[0].type))
        argument = body.insert_arg(value.type, len(body.args))
        header.iterated.append((sequence, argument))
        for use in users:
            use.operation.operands[use.index] = argument


def _spreads(loop: _Loop, value: SSAValue) -> bool:
    """
    Whether a value only repeats a smaller one that each iteration is handed: it is broadcast in the body.
    """
    made = owner(value, "broadcast_in_dim")
    return made is not None and made.parent is loop.body and known(made.operands[0]) is None


def _is_collected(loop: _Loop, op: Operation) -> bool:
    return any(
        value is op.results[0] and _collects(loop, i, value) is not None
        for i, value in enumerate(loop.yielded)
    )


# ------------------------------------------------------------------------------------------------------ body


def _capture(body: Block, header: _Header) -> None:
    """Values from outside are named; small constants are made inside."""
    inside = {id(argument) for argument in body.args}
    made: dict[SSAValue, SSAValue] = {}

    def visit(block: Block) -> None:
        for op in list(block.ops):
            for number, operand in enumerate(op.operands):
                if operand in made:
                    op.operands[number] = made[operand]
                elif not _within(operand, body, inside):
                    op.operands[number] = made[operand] = bring(operand)
            if not isinstance(op, RepeatOp):
                for region in op.regions:
                    for inner in region.blocks:
                        visit(inner)

    def bring(value: SSAValue) -> SSAValue:
        op = value.owner
        if (
            isinstance(op, HloOperation)
            and op.kind in ("constant", "broadcast_in_dim")
            and prod(shape_of(value)) <= _LARGE
        ):
            source = [bring(operand) for operand in op.operands]
            if op.kind == "constant" or known(value) is not None:
                copy = op.clone()
                for number, operand in enumerate(source):
                    copy.operands[number] = operand
                first = body.first_op
                assert first is not None
                body.insert_op_before(copy, first)
                for operand in source:
                    maker = operand.owner
                    if isinstance(maker, Operation) and maker.parent is body:
                        maker.detach()
                        body.insert_op_before(maker, copy)
                return copy.results[0]
        if known(value) is not None and isinstance(op, HloOperation) and op.kind == "broadcast_in_dim":
            scalar = bring(op.operands[0])
            copy = make("broadcast_in_dim", [scalar], shape=shape_of(value), dimensions=[])
            maker = scalar.owner
            assert isinstance(maker, Operation)
            body.insert_op_after(copy, maker)
            return copy.results[0]
        argument = body.insert_arg(value.type, len(body.args))
        inside.add(id(argument))
        header.invariant.append((value, argument))
        return argument

    visit(body)


def _within(value: SSAValue, body: Block, arguments: set[int]) -> bool:
    if id(value) in arguments:
        return True
    place: Any = value.owner
    while place is not None:
        if place is body:
            return True
        place = place.parent
    return False


def _body(body: Block, header: _Header, next_: Sequence[SSAValue], members: Sequence[SSAValue]) -> Region:
    """The body as a repeat has it: arguments in its order, and its own end."""
    types: list[Attribute] = [
        *(inner.type for _, inner in header.carried),
        *(inner.type for _, inner in header.invariant),
        *(inner.type for _, inner in header.iterated),
    ]
    block = Block(arg_types=types)
    end = body.last_op
    assert end is not None
    location = end.location
    kept = [*next_, *members]
    end.detach()
    end.erase()
    for argument, (_, inner) in zip(
        block.args, (*header.carried, *header.invariant, *header.iterated), strict=True
    ):
        argument.name_hint = inner.name_hint
        kept = [argument if value is inner else value for value in kept]
        inner.replace_all_uses_with(argument)
    for op in list(body.ops):
        op.detach()
        block.add_op(op)
    finish = YieldOp(kept[: len(next_)], kept[len(next_) :])
    finish.location = location
    block.add_op(finish)
    _sweep(block)
    return Region(block)


def _sweep(block: Block) -> None:
    """What only served the counter goes."""
    while remove_dead(block):
        pass


__all__ = ["raise_loops"]
