# SPDX-License-Identifier: Apache-2.0
"""
Replaces every `tile_repeat.repeat` by its iterations, one after the other: the inverse of rolling.

A parameter that is a sequence becomes one argument per member, in order, each with its name, so that the
program reads the same tensors. Members of other sequences (inputs, results of foreign operations) are taken
with `tile_repeat.member`; a sequence that something still uses as one (a function that returns what was
collected) is put together with `tile_repeat.pack`. Copies keep the source locations of the body.
In a program that has layouts, carried values are converted to those that the body was planned with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnknownLoc,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.entry import (
    INPUT_ATTRIBUTE,
    PARAMETER_ATTRIBUTE,
    argument_attributes,
    default_input_name,
    entry_function,
    read_argument,
)
from tilewright.dialects.program_check import check_types
from tilewright.dialects.tile_layout import ConvertOp, machine_name
from tilewright.dialects.tile_repeat import MemberOp, PackOp, RepeatOp, SequenceType, YieldOp
from tilewright.passes.ir.programs import ProgramPass
from tilewright.passes.ir.tensors import VALUE_NAME, placement


@dataclass
class _Unroller:
    """Unrolls the repeats of one block. `members` holds the sequences taken apart or put together."""

    block: Block
    members: dict[SSAValue, tuple[SSAValue, ...]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set[str])
    """Names of values that are taken."""

    def run(self) -> None:
        op = self.block.first_op
        while op is not None:
            if isinstance(op, RepeatOp):
                op = self._unroll(op)  # on to the first copy: a body may hold repeats
                continue
            following = op.next_op
            if isinstance(op, PackOp):
                self.members[op.result] = tuple(op.members)
            elif isinstance(op, MemberOp) and op.sequence in self.members:
                member = self.members[op.sequence][op.index.value.data]
                if member is not op.result:
                    op.result.replace_all_uses_with(member)
                    Rewriter.erase_op(op)
            op = following
        for op in reversed(tuple(self.block.ops)):
            if isinstance(op, PackOp | MemberOp) and op.result.first_use is None:
                Rewriter.erase_op(op)

    def split_parameters(self, function: FuncOp) -> None:
        """One argument per member of every sequence of parameters, in the place of the sequence."""
        for argument in self.block.args:
            read_argument(function, argument)  # as many names as members; positions change below
        attributes: list[DictionaryAttr] = []
        for position, argument in enumerate(tuple(self.block.args)):
            given = argument_attributes(function.arg_attrs, position)
            names = given.get(PARAMETER_ATTRIBUTE)
            if isinstance(argument.type, SequenceType) and isinstance(names, ArrayAttr):
                attributes += [DictionaryAttr({**given, PARAMETER_ATTRIBUTE: name}) for name in names]
                known = not isinstance(argument.location, UnknownLoc)
                self._split(argument, len(names), argument.location if known else function.location)
                continue
            if names is None and len(attributes) != position:
                # An unnamed input is called by its position, which has just changed.
                given.setdefault(INPUT_ATTRIBUTE, StringAttr(default_input_name(position)))
            attributes.append(DictionaryAttr(given))
        if len(attributes) != len(function.function_type.inputs) or function.arg_attrs is not None:
            function.arg_attrs = ArrayAttr(attributes)
        function.update_function_type()

    def _split(self, argument: BlockArgument, count: int, location: LocationAttr) -> None:
        sequence = _sequence_type(argument)
        tensors: list[SSAValue] = []
        for position in range(count):
            tensor = self.block.insert_arg(sequence.tensor, argument.index, argument.location)
            tensor.name_hint = argument.name_hint
            tensors.insert(position, tensor)
        packs: list[PackOp] = []
        argument.replace_all_uses_with(self._packed(sequence, iter(tensors), packs, location))
        start = self.block.first_op
        Rewriter.insert_op(
            packs, InsertPoint.before(start) if start is not None else InsertPoint.at_end(self.block)
        )
        self.block.erase_arg(argument)

    def _packed(
        self, type_: Attribute, tensors: Iterator[SSAValue], packs: list[PackOp], location: LocationAttr
    ) -> SSAValue:
        if not isinstance(type_, SequenceType):
            return next(tensors)
        members = [self._packed(type_.element, tensors, packs, location) for _ in range(type_.count.data)]
        packs.append(self._pack(members, type_.element, location))
        return packs[-1].result

    def _pack(self, members: Sequence[SSAValue], element: Attribute, location: LocationAttr) -> PackOp:
        pack = PackOp(members, element)
        pack.location = location
        self.members[pack.result] = tuple(members)
        return pack

    def _unroll(self, repeat: RepeatOp) -> Operation | None:
        """Puts the iterations in front of the repeat and erases it. Returns the operation to look at next."""
        before = repeat.prev_op
        state: Sequence[SSAValue] = self._carried(repeat, repeat.carried)
        sequences = [self._members_of(sequence, repeat) for sequence in repeat.iterated]
        collected: list[list[SSAValue]] = [[] for _ in repeat.collected_results]
        for iteration in range(repeat.iterations):
            arguments = (*state, *repeat.invariant, *(members[iteration] for members in sequences))
            yielded = self._copy_body(repeat, arguments)
            state, collects = self._carried(repeat, yielded[: len(state)]), yielded[len(state) :]
            for members, value in zip(collected, collects, strict=True):
                members.append(value)
        for result, value in zip(repeat.carried_results, state, strict=True):
            result.replace_all_uses_with(value)
        for result, members in zip(repeat.collected_results, collected, strict=True):
            pack = self._pack(members, _sequence_type(result).element, repeat.location)
            pack.result.name_hint = result.name_hint
            Rewriter.insert_op(pack, InsertPoint.before(repeat))
            result.replace_all_uses_with(pack.result)
        Rewriter.erase_op(repeat)
        return before.next_op if before is not None else self.block.first_op

    def _members_of(self, sequence: SSAValue, user: RepeatOp) -> tuple[SSAValue, ...]:
        if sequence not in self.members:
            taken = [MemberOp(sequence, index) for index in range(_sequence_type(sequence).count.data)]
            for op in taken:
                op.location = user.location
            Rewriter.insert_op(taken, InsertPoint.before(user))
            self.members[sequence] = tuple(op.result for op in taken)
        return self.members[sequence]

    def _carried(self, repeat: RepeatOp, values: Sequence[SSAValue]) -> tuple[SSAValue, ...]:
        """
        Carried values where the body expects them: a repeat brings each into the layout of its argument, with
        which the body is planned.
        """
        out: list[SSAValue] = []
        for value, argument in zip(values, repeat.carried_args, strict=True):
            placed = isinstance(argument.type, TensorType) and placement(argument) is not None
            if placed and value.type != argument.type:
                convert = ConvertOp(value, argument.type)
                convert.location = repeat.location
                Rewriter.insert_op(convert, InsertPoint.before(repeat))
                value = convert.result
            out.append(value)
        return tuple(out)

    def _copy_body(self, repeat: RepeatOp, arguments: Sequence[SSAValue]) -> tuple[SSAValue, ...]:
        """One iteration in front of the repeat; what it yields."""
        values: dict[SSAValue, SSAValue] = dict(zip(repeat.body_block.args, arguments, strict=True))
        for op in repeat.body_block.ops:
            if isinstance(op, YieldOp):
                break
            copy = op.clone(values)
            if not isinstance(copy, RepeatOp):  # its turn comes
                self._rename(copy)
            Rewriter.insert_op(copy, InsertPoint.before(repeat))
        end = repeat.yield_op
        return tuple(values[operand] for operand in (*end.carried, *end.collected))

    def _rename(self, op: Operation) -> None:
        """The name that a plan has given the operation, made unique: each iteration has its own values."""
        given = op.attributes.get(VALUE_NAME)
        if not isinstance(given, StringAttr):
            return
        name, n = given.data, 1
        while name in self.names:
            n += 1
            name = f"{given.data}_{n}"
        self.names.add(name)
        op.attributes[VALUE_NAME] = StringAttr(name)


def _sequence_type(value: SSAValue) -> SequenceType:
    assert isinstance(value.type, SequenceType)
    return value.type


def unroll_repeats(module: ModuleOp) -> None:
    """Unrolls every repeat of the module in place."""
    for function in tuple(op for op in module.walk() if isinstance(op, FuncOp) and op.body.blocks):
        unroller = _Unroller(function.body.blocks[0])
        given = (op.attributes.get(VALUE_NAME) for op in unroller.block.ops)
        unroller.names |= {name.data for name in given if isinstance(name, StringAttr)}
        unroller.split_parameters(function)
        unroller.run()
    for op in tuple(module.walk()):  # repeats elsewhere: in regions of foreign operations
        if isinstance(op, RepeatOp) and op.parent is not None:
            _Unroller(op.parent).run()


@dataclass(frozen=True)
class TileUnrollRepeatPass(ProgramPass):
    """Unroll repeats to straight-line code."""

    name = "tile-unroll-repeat"

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        # Conversions are made of the layouts that stand there.
        check_types(entry_function(op), machine_name(op))
        unroll_repeats(op)
