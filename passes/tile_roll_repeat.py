# SPDX-License-Identifier: Apache-2.0
"""
Rolls isomorphic consecutive segments of straight-line code into `tile_repeat.repeat`: the inverse of
unrolling.

A run of operations whose kinds, attributes and types repeat with a period is a candidate; it is rolled where
its data flow repeats too. An operand of every segment is then either made inside the segment, or by the
segment before (a carried value), or the same outside value (invariant), or a parameter of its own (iterated:
the parameters become one argument, a sequence). Results that a `tile_repeat.pack` puts together are
collected. The longest stretch is rolled first, with the smallest period that explains it, cut where fewest
values cross. Foreign operations roll like any other; those with regions are left where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.entry import (
    INPUT_ATTRIBUTE,
    PARAMETER_ATTRIBUTE,
    argument_attributes,
    default_input_name,
)
from tilewright.dialects.tile_repeat import PackOp, RepeatOp, SequenceType, YieldOp
from tilewright.instrumentation import remark
from tilewright.options import option
from tilewright.passes.ir.programs import ProgramPass

_IGNORED = ("tile.value",)
"""Attributes that name an operation and do not say what it does."""


@dataclass(frozen=True)
class TileRollRepeatPass(ProgramPass):
    """Roll repeated straight-line code."""

    name = "tile-roll-repeat"
    min_count: int = option(2, "fewest copies of a body that are rolled", least=2)
    min_ops: int = option(2, "fewest operations of a body", least=1)

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        for function in tuple(f for f in op.walk() if isinstance(f, FuncOp) and len(f.body.blocks) == 1):
            roller = _Roller(function, self.min_count, self.min_ops)
            while roller.roll_one():
                pass
            roller.finish()


@dataclass
class _Segments:
    """`count` segments of `period` operations from position `start` of a block."""

    start: int
    period: int
    count: int


@dataclass
class _Flow:
    """
    What crosses the border of a segment, in order of first use; positions are (operation, result) in a
    segment.
    """

    carried: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    initial: list[SSAValue] = field(default_factory=list[SSAValue])
    invariant: list[SSAValue] = field(default_factory=list[SSAValue])
    iterated: list[tuple[BlockArgument, ...]] = field(default_factory=list[tuple[BlockArgument, ...]])
    collected: dict[tuple[int, int], PackOp] = field(default_factory=dict[tuple[int, int], PackOp])


class _Roller:
    def __init__(self, function: FuncOp, min_count: int, min_ops: int) -> None:
        self.function = function
        self.block = function.body.block
        self.min_count, self.min_ops = min_count, min_ops
        self.names = sum(isinstance(op, RepeatOp) for op in function.walk())
        self.attributes = {
            value: argument_attributes(function.arg_attrs, value.index) for value in self.block.args
        }
        for value, given in self.attributes.items():
            if (
                PARAMETER_ATTRIBUTE not in given
            ):  # an unnamed input is called by its position, which may change
                given.setdefault(INPUT_ATTRIBUTE, StringAttr(default_input_name(value.index)))

    def roll_one(self) -> bool:
        """Roll the best candidate whose data flow repeats; whether there was one."""
        ops = list(self.block.ops)[:-1]
        kinds: dict[object, int] = {}
        labels = [kinds.setdefault(_signature(op), len(kinds)) for op in ops]
        candidates = _candidates(labels, self.min_count, self.min_ops)
        for _, group in groupby(candidates, key=lambda c: (c.count * c.period, c.period)):
            flows = [
                (candidate, flow) for candidate in group if (flow := self.flow(ops, candidate)) is not None
            ]
            if flows:  # cutting between layers, not inside one, carries the fewest values
                self.replace(ops, *min(flows, key=lambda f: (len(f[1].carried), f[0].start)))
                return True
        return False

    # -- data flow -------------------------------------------------------------------------------------------

    def flow(self, ops: Sequence[Operation], where: _Segments) -> _Flow | None:
        """The border of the segments if all have the same data flow, else None."""
        segments = [
            ops[where.start + i * where.period : where.start + (i + 1) * where.period]
            for i in range(where.count)
        ]
        made: dict[SSAValue, tuple[int, int, int]] = {
            result: (i, position, number)
            for i, segment in enumerate(segments)
            for position, op in enumerate(segment)
            for number, result in enumerate(op.results)
        }
        flow = _Flow()
        for position in range(where.period):
            for number in range(len(segments[0][position].operands)):
                values = tuple(segment[position].operands[number] for segment in segments)
                if not self.classify(values, made, flow):
                    return None
        return flow if self.results_stay_inside(segments, made, flow) else None

    def classify(
        self, values: tuple[SSAValue, ...], made: dict[SSAValue, tuple[int, int, int]], flow: _Flow
    ) -> bool:
        sources = [made.get(value) for value in values]
        second = sources[1]
        if second is not None and second[0] == 1:
            return all(s is not None and s == (i, *second[1:]) for i, s in enumerate(sources))
        if second is not None:  # made by the segment before; the first one takes it from outside
            if sources[0] is not None or any(s != (i, *second[1:]) for i, s in enumerate(sources[1:])):
                return False
            place = second[1], second[2]
            if place in flow.carried:
                return flow.initial[flow.carried.index(place)] is values[0]
            flow.carried.append(place)
            flow.initial.append(values[0])
            return True
        if any(s is not None for s in sources):
            return False
        if all(value is values[0] for value in values):
            if values[0] not in flow.invariant:
                flow.invariant.append(values[0])
            return True
        return self.iterate(values, flow)

    def iterate(self, values: tuple[SSAValue, ...], flow: _Flow) -> bool:
        arguments = tuple(v for v in values if isinstance(v, BlockArgument) and v in self.attributes)
        if arguments in flow.iterated:
            return True
        taken = [a for members in flow.iterated for a in members]
        if len(arguments) != len(values) or len(set(arguments)) != len(arguments):
            return False
        if any(a in taken or a in flow.invariant for a in arguments):
            return False
        given = [dict(self.attributes[a]) for a in arguments]
        names = [g.pop(PARAMETER_ATTRIBUTE, None) for g in given]
        if any(not isinstance(name, (StringAttr, ArrayAttr)) for name in names) or any(
            g != given[0] for g in given
        ):
            return False
        if any(a.type != arguments[0].type for a in arguments):
            return False
        flow.iterated.append(arguments)
        return True

    def results_stay_inside(
        self,
        segments: Sequence[Sequence[Operation]],
        made: dict[SSAValue, tuple[int, int, int]],
        flow: _Flow,
    ) -> bool:
        """
        Outside uses are of the last carried values or of all members together; parameters have no others.
        """
        inside = {op for segment in segments for op in segment}
        last = len(segments) - 1
        for result, (i, position, number) in made.items():
            for user in [use.operation for use in result.uses if use.operation not in inside]:
                members = tuple(segment[position].results[number] for segment in segments)
                if isinstance(user, PackOp) and tuple(user.members) == members:
                    flow.collected.setdefault((position, number), user)
                elif i != last or (position, number) not in flow.carried:
                    return False
        for arguments in flow.iterated:
            for i, argument in enumerate(arguments):
                if any(use.operation not in segments[i] for use in argument.uses):
                    return False
        for place, value in zip(flow.carried, flow.initial, strict=True):
            if segments[0][place[0]].results[place[1]].type != value.type:
                return False
        return True

    # -- rewriting -------------------------------------------------------------------------------------------

    def replace(self, ops: Sequence[Operation], where: _Segments, flow: _Flow) -> None:
        first = ops[where.start : where.start + where.period]
        remark(
            "fusion", f"{where.count} copies of {where.period} operations are one repeat", first[0].location
        )
        rest = ops[where.start : where.start + where.period * where.count]
        last = rest[-where.period :]
        sequences = [self.stack(arguments) for arguments in flow.iterated]
        outer = [*flow.initial, *flow.invariant, *(members[0] for members in flow.iterated)]
        block = Block(arg_types=[value.type for value in outer])
        values: dict[SSAValue, SSAValue] = {}
        for argument, value in zip(block.args, outer, strict=True):
            argument.name_hint = value.name_hint
        carried = len(flow.initial)
        for value, argument in zip(outer[carried:], block.args[carried:], strict=True):
            values[value] = argument
        state: dict[tuple[int, int], SSAValue] = dict(zip(flow.carried, block.args, strict=False))
        # The second segment reads its predecessor by position, which tells a carried operand from an
        # invariant one.
        second = rest[where.period : 2 * where.period]
        predecessor: dict[SSAValue, SSAValue] = {first[p].results[n]: state[p, n] for p, n in flow.carried}
        carried_operands = {
            (position, number): predecessor[operand]
            for position, op in enumerate(second)
            for number, operand in enumerate(op.operands)
            if operand in predecessor
        }
        for position, op in enumerate(first):
            copy = op.clone(values)
            for (at, number), value in carried_operands.items():
                if at == position:
                    copy.operands[number] = value
            block.add_op(copy)
        copies = list(block.ops)
        collected = list(flow.collected)
        block.add_op(
            YieldOp(
                [copies[p].results[n] for p, n in flow.carried], [copies[p].results[n] for p, n in collected]
            )
        )
        types = [copies[p].results[n].type for p, n in collected]
        repeat = RepeatOp(
            f"repeat{self.names}",
            where.count,
            flow.initial,
            flow.invariant,
            sequences,
            Region([block]),
            types,
        )
        self.names += 1
        repeat.location = first[0].location
        Rewriter.insert_op(repeat, InsertPoint.before(first[0]))
        packs = [flow.collected[place] for place in collected]
        gone = {*rest, *packs}
        for place, result in zip(flow.carried, repeat.carried_results, strict=True):
            old = last[place[0]].results[place[1]]
            result.name_hint = old.name_hint
            old.replace_uses_with_if(result, lambda use: use.operation not in gone)
        for pack, result in zip(packs, repeat.collected_results, strict=True):
            result.name_hint = pack.result.name_hint
            pack.result.replace_all_uses_with(result)
            Rewriter.erase_op(pack)
        for op in reversed(rest):
            Rewriter.erase_op(op)
        for arguments in flow.iterated:
            for argument in arguments:
                del self.attributes[argument]
                self.block.erase_arg(argument)

    def stack(self, arguments: tuple[BlockArgument, ...]) -> BlockArgument:
        """
        One argument, in the place of the first of these parameters, that is the sequence of all of them.
        """
        first = arguments[0]
        names: list[Attribute] = []
        for argument in arguments:
            name = self.attributes[argument][PARAMETER_ATTRIBUTE]
            names += list(name.data) if isinstance(name, ArrayAttr) else [name]
        sequence = self.block.insert_arg(
            SequenceType(len(arguments), first.type), first.index, first.location
        )
        sequence.name_hint = first.name_hint
        self.attributes[sequence] = {**self.attributes[first], PARAMETER_ATTRIBUTE: ArrayAttr(names)}
        return sequence

    def finish(self) -> None:
        if self.function.arg_attrs is not None:
            self.function.arg_attrs = ArrayAttr(DictionaryAttr(self.attributes[a]) for a in self.block.args)
        self.function.update_function_type()


def _signature(op: Operation) -> object:
    """
    What has to be equal for two operations to be the same one in different iterations; data flow is compared
    apart.
    """
    if op.regions or op.successors or isinstance(op, PackOp):
        return op  # itself: nothing else is like it
    name = op.op_name.data if op.name == "builtin.unregistered" else op.name  # type: ignore[attr-defined]
    attributes = tuple((k, op.attributes[k]) for k in sorted(op.attributes) if k not in _IGNORED)
    return (
        name,
        attributes,
        tuple((k, op.properties[k]) for k in sorted(op.properties)),
        tuple(v.type for v in op.operands),
        tuple(r.type for r in op.results),
    )


_TRIALS = 2000
"""Candidates whose data flow is looked at before a block is given up."""


def _candidates(labels: Sequence[int], min_count: int, min_ops: int) -> list[_Segments]:
    """Stretches that repeat with a period: the longest first, then the smallest period, then the first."""
    found: list[tuple[int, int, int, int]] = []
    array = np.array(labels, np.int64)
    for period in range(max(min_ops, 1), array.size // max(min_count, 2) + 1):
        equal = np.concatenate(([False], array[:-period] == array[period:], [False]))
        edges = np.flatnonzero(equal[1:] != equal[:-1])
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            for phase in range(period):
                count = (end - start + period - phase) // period
                if count < min_count:
                    break
                found.append((-count * period, period, start + phase, count))
    return [_Segments(start, period, count) for _, period, start, count in sorted(found)[:_TRIALS]]
