# SPDX-License-Identifier: Apache-2.0
"""
The `tile_repeat` dialect: rolled layers.

    %y, %norms = tile_repeat.repeat "layers" count 4
        carried(%x = %x0 : tensor<8x16xf16>)
        invariant(%mask = %m : tensor<8x8xf16>)
        iterated(%w = %ws : !tile_repeat.sequence<4 x tensor<16x16xf16>>)
        -> (tensor<8x16xf16>, !tile_repeat.sequence<4 x tensor<8xf32>>) {
      ...
      tile_repeat.yield %next : tensor<8x16xf16> collect %norm : tensor<8xf32>
    }

(one line in the printed form). What a value is to the loop is part of the operation, because every later
decision differs by class: *carried* values are state, aliased in place; *invariant* values are the same in
all iterations; of an *iterated* sequence the body sees the current member; *collected* values form a
sequence, one member per iteration. A body uses nothing from outside without naming it in one of these
lists. A count of zero gives the initial state and empty sequences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import IntAttr, IntegerAttr, StringAttr, TensorType, i64
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    Dialect,
    Operation,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    eq,
    irdl_attr_definition,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tilewright import limits
from tilewright.dialects.text.operands import parse_operands, print_operands


@irdl_attr_definition
class SequenceType(ParametrizedAttribute, TypeAttribute):
    """
    `!tile_repeat.sequence<4 x tensor<8xf16>>`: `count` values of one type, a tensor or again a sequence.
    """

    name = "tile_repeat.sequence"

    count: IntAttr
    element: Attribute

    def __init__(self, count: int | IntAttr, element: Attribute) -> None:
        super().__init__(IntAttr(count) if isinstance(count, int) else count, element)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            count = parser.parse_integer(allow_boolean=False, allow_negative=False)
            parser.parse_keyword("x")
            return [IntAttr(count), parser.parse_type()]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.count.data} x ")
            printer.print_attribute(self.element)

    def verify(self) -> None:
        if self.count.data < 0:
            raise VerifyException(f"a sequence has a count of zero or more, found {self.count.data}")
        if not isinstance(self.element, TensorType | SequenceType):
            raise VerifyException(f"a sequence holds tensors or sequences, found {self.element}")
        members = prod(max(count, 1) for count in self.counts)
        if members > limits.MEMBERS:
            raise VerifyException(
                f"a sequence has at most {limits.MEMBERS} members, all levels together: found {members}"
            )

    @property
    def counts(self) -> tuple[int, ...]:
        """The counts of nested sequences, outer to inner."""
        inner = self.element.counts if isinstance(self.element, SequenceType) else ()
        return (self.count.data, *inner)

    @property
    def tensor(self) -> TensorType[Attribute]:
        """The type of the innermost members."""
        element = self.element
        return element.tensor if isinstance(element, SequenceType) else cast("TensorType[Attribute]", element)


def _values(values: Sequence[SSAValue | Operation]) -> list[SSAValue]:
    return [SSAValue.get(value) for value in values]


def _types(values: Sequence[SSAValue]) -> list[Attribute]:
    return [value.type for value in values]


def _list_types(types: Sequence[Attribute]) -> str:
    return "(" + ", ".join(str(type_) for type_ in types) + ")"


def _without_layout(type_: Attribute) -> Attribute:
    """The type without the encodings of its tensors: values of one class may lie in different layouts."""
    if isinstance(type_, SequenceType):
        return SequenceType(type_.count, _without_layout(type_.element))
    if isinstance(type_, TensorType):
        tensor = cast("TensorType[Attribute]", type_)
        return TensorType(tensor.element_type, tensor.get_shape())
    return type_


def _same_tensors(found: Sequence[Attribute], expected: Sequence[Attribute]) -> bool:
    return [_without_layout(t) for t in found] == [_without_layout(t) for t in expected]


def _name(value: SSAValue) -> str:
    return f"%{value.name_hint}" if value.name_hint else f"a value of type {value.type}"


class NamesItsValues(IsolatedFromAbove):
    """Isolation from above, with a message that says which list a captured value belongs in."""

    def verify(self, op: Operation) -> None:
        for user, operand in self._captures(op, op.regions):
            raise VerifyException(
                f"{user.name} in the body uses {_name(operand)} from outside the repeat: "
                f"pass it through the header, for instance as "
                f"`invariant(%inner = {_name(operand)} : {operand.type})`"
            )

    def _captures(self, op: Operation, regions: Sequence[Region]) -> Iterator[tuple[Operation, SSAValue]]:
        for region in regions:
            for block in region.blocks:
                for user in block.ops:
                    for operand in user.operands:
                        if operand.owner is op or not op.is_ancestor(operand.owner):
                            yield user, operand
                    if not user.has_trait(IsolatedFromAbove, value_if_unregistered=False):
                        yield from self._captures(op, user.regions)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a body: the next state of the carried values, then one member for each collected sequence."""

    name = "tile_repeat.yield"
    carried = var_operand_def()
    collected = var_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(RepeatOp), Pure()))
    assembly_format = (
        "($carried^ `:` type($carried))? (`collect` $collected^ `:` type($collected))? attr-dict"
    )

    def __init__(
        self, carried: Sequence[SSAValue | Operation] = (), collected: Sequence[SSAValue | Operation] = ()
    ) -> None:
        super().__init__(operands=[list(carried), list(collected)])


@irdl_op_definition
class RepeatOp(IRDLOperation):
    """
    Runs its body `count` times. Body arguments: carried, invariant, iterated, in this order; results: the
    last state of the carried values, then the collected sequences.
    """

    name = "tile_repeat.repeat"
    repeat_name = prop_def(StringAttr)
    count = prop_def(IntegerAttr.constr(type=eq(i64)))
    carried = var_operand_def()
    invariant = var_operand_def()
    iterated = var_operand_def(SequenceType)
    results_ = var_result_def()
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NamesItsValues(), RecursiveMemoryEffect())

    def __init__(
        self,
        repeat_name: str,
        count: int,
        carried: Sequence[SSAValue | Operation],
        invariant: Sequence[SSAValue | Operation],
        iterated: Sequence[SSAValue | Operation],
        body: Region,
        collected_types: Sequence[Attribute] = (),
    ) -> None:
        """`collected_types` are those of one member each, as the body yields them."""
        carried_values = _values(carried)
        super().__init__(
            operands=[carried_values, _values(invariant), _values(iterated)],
            result_types=[
                [*_types(carried_values), *(SequenceType(count, type_) for type_ in collected_types)]
            ],
            properties={"repeat_name": StringAttr(repeat_name), "count": IntegerAttr(count, i64)},
            regions=[body],
        )

    @property
    def body_block(self) -> Block:
        """The single block of the body."""
        return self.body.block

    @property
    def yield_op(self) -> YieldOp:
        """The body's terminator."""
        return cast("YieldOp", self.body.block.last_op)

    @property
    def iterations(self) -> int:
        """The count as a number."""
        return self.count.value.data

    @property
    def carried_args(self) -> tuple[BlockArgument, ...]:
        """The body's view of the carried values."""
        return tuple(self.body.block.args[: len(self.carried)])

    @property
    def invariant_args(self) -> tuple[BlockArgument, ...]:
        """The body's view of the invariant values."""
        start = len(self.carried)
        return tuple(self.body.block.args[start : start + len(self.invariant)])

    @property
    def iterated_args(self) -> tuple[BlockArgument, ...]:
        """The current members of the iterated sequences."""
        return tuple(self.body.block.args[len(self.carried) + len(self.invariant) :])

    @property
    def carried_results(self) -> tuple[SSAValue, ...]:
        """The state after the last iteration."""
        return tuple(self.results[: len(self.carried)])

    @property
    def collected_results(self) -> tuple[SSAValue, ...]:
        """One sequence per collected value."""
        return tuple(self.results[len(self.carried) :])

    def verify_(self) -> None:
        count = self.iterations
        if count < 0:
            raise VerifyException(f"the count of a repeat is zero or more, found {count}")
        if count > limits.MEMBERS:
            raise VerifyException(f"the count of a repeat is at most {limits.MEMBERS}, found {count}")
        for number, operand in enumerate(self.iterated):
            type_ = cast("SequenceType", operand.type)
            if type_.count.data != count:
                raise VerifyException(
                    f"iterated value {number} ({_name(operand)}) has {type_.count.data} members, "
                    f"the repeat counts {count}"
                )
        expected_args = [
            *_types(self.carried),
            *_types(self.invariant),
            *(cast("SequenceType", value.type).element for value in self.iterated),
        ]
        found_args = _types(self.body.block.args)
        if not _same_tensors(found_args, expected_args):
            raise VerifyException(
                "the body takes the carried, the invariant and one member of each iterated value: "
                f"expects arguments {_list_types(expected_args)}, found {_list_types(found_args)}"
            )
        end = self.body.block.last_op
        if not isinstance(end, YieldOp):
            raise VerifyException("the body ends with tile_repeat.yield")
        if not _same_tensors(_types(end.carried), _types(self.carried)):
            raise VerifyException(
                "the body yields the next state with the types of the carried values: "
                f"expects {_list_types(_types(self.carried))}, found {_list_types(_types(end.carried))}"
            )
        for value in end.collected:
            if not isinstance(value.type, TensorType | SequenceType):
                raise VerifyException(f"a repeat collects tensors or sequences, found {value.type}")
        expected_results = [
            *_types(self.carried),
            *(SequenceType(count, value.type) for value in end.collected),
        ]
        found_results = _types(self.results)
        if not _same_tensors(found_results, expected_results):
            raise VerifyException(
                "a repeat returns the last state, then one sequence per collected value: "
                f"expects {_list_types(expected_results)}, found {_list_types(found_results)}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> RepeatOp:
        repeat_name = parser.parse_str_literal(" for the name of the repeat")
        parser.parse_keyword("count")
        count = parser.parse_integer(allow_boolean=False)
        groups: list[list[SSAValue]] = []
        arguments: list[Parser.Argument] = []
        for keyword in ("carried", "invariant", "iterated"):
            groups.append([])
            if parser.parse_optional_keyword(keyword) is None:
                continue
            for argument, operand in parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda keyword=keyword: _parse_binding(parser, keyword)
            ):
                arguments.append(argument)
                groups[-1].append(operand)
        result_types: list[Attribute] = []
        if parser.parse_optional_punctuation("->"):
            result_types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region(arguments)
        repeat = cls.build(
            operands=groups,
            result_types=[result_types],
            properties={"repeat_name": StringAttr(repeat_name), "count": IntegerAttr(count, i64)},
            attributes=attributes.data if attributes is not None else {},
            regions=[body],
        )
        if body.blocks.first is not None and body.block.last_op is None:
            body.block.add_op(YieldOp())
        return repeat

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.repeat_name.data)
        printer.print_string(f" count {self.iterations}")
        for keyword, arguments, operands in (
            ("carried", self.carried_args, self.carried),
            ("invariant", self.invariant_args, self.invariant),
            ("iterated", self.iterated_args, self.iterated),
        ):
            if not operands:
                continue
            printer.print_string(f" {keyword}")
            with printer.in_parens():
                printer.print_list(
                    list(zip(arguments, operands, strict=True)), lambda pair: _print_binding(printer, *pair)
                )
        if self.results:
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(_types(self.results), printer.print_attribute)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


def _parse_binding(parser: Parser, keyword: str) -> tuple[Parser.Argument, SSAValue]:
    """
    `%inner = %outer : type`, with `as` and the type of the argument where it lies in another layout, and
    optionally with the location of the argument.
    """
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    operand = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    position = parser.pos
    type_ = parser.parse_type()
    inner = type_
    if keyword == "iterated":
        if not isinstance(type_, SequenceType):
            parser.raise_error("an iterated value is a !tile_repeat.sequence", position, parser.pos)
        inner = type_.element
    if parser.parse_optional_keyword("as"):
        inner = parser.parse_type()
    location = parser.parse_optional_location()
    return Parser.Argument(argument.name, inner, location), parser.resolve_operand(operand, type_)


def _print_binding(printer: Printer, argument: BlockArgument, operand: SSAValue) -> None:
    printer.print_ssa_value(argument)
    printer.print_string(" = ")
    printer.print_ssa_value(operand)
    printer.print_string(" : ")
    printer.print_attribute(operand.type)
    if argument.type not in (operand.type, getattr(operand.type, "element", None)):
        printer.print_string(" as ")
        printer.print_attribute(argument.type)
    if printer.print_debuginfo:
        printer.print_string(" ")
        printer.print_attribute(argument.location)


@irdl_op_definition
class PackOp(IRDLOperation):
    """`tile_repeat.pack %a, %b : !tile_repeat.sequence<2 x T>`: a sequence of the given members."""

    name = "tile_repeat.pack"
    members = var_operand_def()
    result = result_def(SequenceType)
    traits = traits_def(Pure())

    def __init__(self, members: Sequence[SSAValue | Operation], element: Attribute) -> None:
        super().__init__(operands=[list(members)], result_types=[SequenceType(len(members), element)])

    def verify_(self) -> None:
        type_ = cast("SequenceType", self.result.type)
        expected = [type_.element] * type_.count.data
        if not _same_tensors(_types(self.members), expected):
            raise VerifyException(
                f"{type_} needs members {_list_types(expected)}, found {_list_types(_types(self.members))}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> PackOp:
        operands, attributes = parse_operands(parser)
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, SequenceType):
            parser.raise_error("packs a !tile_repeat.sequence", position, parser.pos)
        members = [parser.resolve_operand(operand, type_.element) for operand in operands]
        return cls.build(operands=[members], result_types=[type_], attributes=attributes)

    def print(self, printer: Printer) -> None:
        print_operands(printer, self.members, self.attributes)
        printer.print_attribute(self.result.type)


@irdl_op_definition
class MemberOp(IRDLOperation):
    """`tile_repeat.member %s[1] : !tile_repeat.sequence<2 x T>`: one member, counted from 0."""

    name = "tile_repeat.member"
    sequence = operand_def(SequenceType)
    index = prop_def(IntegerAttr.constr(type=eq(i64)))
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, sequence: SSAValue | Operation, index: int) -> None:
        sequence = SSAValue.get(sequence)
        super().__init__(
            operands=[sequence],
            result_types=[cast("SequenceType", sequence.type).element],
            properties={"index": IntegerAttr(index, i64)},
        )

    def verify_(self) -> None:
        type_ = cast("SequenceType", self.sequence.type)
        if not 0 <= self.index.value.data < type_.count.data:
            raise VerifyException(f"member {self.index.value.data} of a sequence of {type_.count.data}")
        if self.result.type != type_.element:
            raise VerifyException(f"a member has type {type_.element}, found {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> MemberOp:
        operand = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            index = parser.parse_integer(allow_boolean=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, SequenceType):
            parser.raise_error("takes a member of a !tile_repeat.sequence", position, parser.pos)
        member = cls(parser.resolve_operand(operand, type_), index)
        member.attributes |= attributes
        return member

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.sequence)
        printer.print_string(f"[{self.index.value.data}]")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.sequence.type)


TileRepeat = Dialect("tile_repeat", [MemberOp, PackOp, RepeatOp, YieldOp], [SequenceType])
