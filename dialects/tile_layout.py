# SPDX-License-Identifier: Apache-2.0
"""
The `tile_layout` dialect: where every element of a tensor is.

    !home = tensor<64x32xf16, #tile_layout.at<"[64|16, 32|16] a0.b0.a1.b1 %16 chunk 1">>
    !rows = tensor<64x32xf16, #tile_layout.at<"[64/16@1, 32]">>
    !flip = tensor<64x32xf16, #tile_layout.at<"[32, 64/16@1]", "[64b, 32a]">>

    %h = tile_layout.home %w pinned : tensor<64x32xf16> -> !home
    %m = tile_layout.materialize %h : !home -> !rows
    %c = tile_layout.convert %m : !rows -> !flip

The encoding `#tile_layout.at<"layout", "view">` of a tensor type names the layout of its storage and the view
through which the tensor's indices find it; without a view, tensor axis i is storage axis i. The texts are
those of `docs/spec/layout.md`. Foreign operations may carry encodings along or drop them: `unplaced` finds
the values that a pass needs placed and are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, UnitAttr
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Data, Dialect, Operation, SSAValue
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.printer import Printer
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.tile_repeat import SequenceType
from tilewright.planning.layout import Layout, LayoutError, View

MACHINE_ATTRIBUTE = "tile.machine"


def _canonical(layout: Layout, view: View | None) -> tuple[Layout, View | None]:
    return layout, None if view == View.identity(layout.shape) else view


@irdl_attr_definition
class LayoutAttr(Data[tuple[Layout, View | None]]):
    """
    `#tile_layout.at<"[64/16@1, 32]">` or `#tile_layout.at<"[64/16@1, 32]", "[32b, 64a]">`: a layout and,
    unless it is the identity, the view from the tensor's indices to the layout's axes.
    """

    name = "tile_layout.at"

    def __init__(self, data: tuple[Layout, View | None]) -> None:
        super().__init__(_canonical(*data))

    @property
    def layout(self) -> Layout:
        """Where the storage is."""
        return self.data[0]

    @property
    def view(self) -> View:
        """From the tensor's indices to the storage axes; the identity when none is written."""
        return self.data[1] or View.identity(self.layout.shape)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Layout, View | None]:
        with parser.in_angle_brackets():
            start = parser.pos
            text = parser.parse_str_literal(" with the text of a layout")
            try:
                layout = Layout.parse(text)
                if parser.parse_optional_punctuation(",") is None:
                    return layout, None
                start = parser.pos
                text = parser.parse_str_literal(" with the text of a view")
                view = View.parse(text)
                view.check_inside(layout.shape)
            except LayoutError as error:
                parser.raise_error(_message(error), start, parser.pos)
        return _canonical(layout, view)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(str(self.layout))
            if self.data[1] is not None:
                printer.print_string(", ")
                printer.print_string_literal(str(self.data[1]))

    def verify(self) -> None:
        try:
            self.view.check_inside(self.layout.shape)
        except LayoutError as error:
            raise VerifyException(_message(error)) from None


def _message(error: LayoutError) -> str:
    """One text for a parser or verifier message, which has no place for notes and hints of its own."""
    more = [*error.notes, *([error.hint] if error.hint else [])]
    return error.message + "".join(f"; {line}" for line in more)


# -- what the operations and other dialects check ------------------------------------------------------------


def tensor_type(type_: Attribute) -> TensorType[Attribute] | None:
    """The tensor type itself, or that of the members of a sequence; None for anything else."""
    if isinstance(type_, SequenceType):
        return type_.tensor
    return cast("TensorType[Attribute]", type_) if isinstance(type_, TensorType) else None


def placement(type_: Attribute) -> tuple[Layout, View] | None:
    """Layout and view of a tensor type or of a sequence's members; None if the type has no such encoding."""
    tensor = tensor_type(type_)
    if tensor is None or not isinstance(tensor.encoding, LayoutAttr):
        return None
    return tensor.encoding.layout, tensor.encoding.view


def place(type_: Attribute, layout: Layout, view: View | None = None) -> Attribute:
    """The tensor or sequence type with this placement instead of the one it has."""
    if isinstance(type_, SequenceType):
        return SequenceType(type_.count, place(type_.element, layout, view))
    if not isinstance(type_, TensorType):
        raise LayoutError(f"only tensors and sequences of them have a layout, not {type_}")
    tensor = cast("TensorType[Attribute]", type_)
    return TensorType(tensor.element_type, tensor.get_shape(), LayoutAttr((layout, view)))


def verify_placement(type_: Attribute, what: str, machine: str | None = None) -> None:
    """
    VerifyException if the encoding of a tensor type (or a sequence's members) cannot be its layout: the
    view's shape is not the tensor's, or the machine lacks the tiles. Types without a layout pass.
    """
    tensor = tensor_type(type_)
    where = placement(type_)
    if tensor is None or where is None:
        return
    layout, view = where
    shape = tuple(tensor.get_shape())
    if view.shape != shape:
        reached = f"layout '{layout}'" if view == View.identity(layout.shape) else f"view '{view}'"
        raise VerifyException(
            f"{what}: {reached} is for shape {_by(view.shape)}, the tensor has {_by(shape)}"
        )
    if machine is None:
        return
    # Only values with a layout on a named machine need the machine file.
    from tilewright.machine import load

    tiles = load(machine).tiles
    if layout.tile_count() > tiles:
        raise VerifyException(
            f"{what}: layout '{layout}' uses tile {layout.tile_count() - 1}, "
            f"but machine {machine} has tiles 0 to {tiles - 1}"
        )
    if layout.tiles > tiles:
        raise VerifyException(
            f"{what}: tile numbers of layout '{layout}' wrap at {layout.tiles}, "
            f"but machine {machine} has {tiles} tiles"
        )


def _by(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) if shape else "scalar"


def machine_name(op: Operation) -> str | None:
    """`tile.machine` of the module around an operation, None where it is not written."""
    parent: Operation | None = op
    while parent is not None:
        name = parent.attributes.get(MACHINE_ATTRIBUTE)
        if isinstance(parent, ModuleOp) and isinstance(name, StringAttr):
            return name.data
        parent = parent.parent_op()
    return None


def unplaced(module: Operation) -> Iterator[SSAValue]:
    """Tensors and sequences below `module` that have no layout, in program order: arguments, then results."""
    for op in module.walk():
        for region in op.regions:
            for block in region.blocks:
                yield from (a for a in block.args if tensor_type(a.type) and placement(a.type) is None)
        yield from (r for r in op.results if tensor_type(r.type) and placement(r.type) is None)


def _verify_move(op: Operation, source: Attribute, result: Attribute) -> None:
    """What all operations here keep, and that both placements are possible and the new one can be written."""
    old, new = tensor_type(source), tensor_type(result)
    assert old is not None and new is not None
    if isinstance(source, SequenceType) or isinstance(result, SequenceType):
        counts = [t.counts if isinstance(t, SequenceType) else () for t in (source, result)]
        if counts[0] != counts[1]:
            raise VerifyException(f"{op.name} keeps the members of a sequence: {source} became {result}")
    if old.get_shape() != new.get_shape():
        raise VerifyException(
            f"{op.name} keeps the shape: {_by(tuple(old.get_shape()))} became {_by(tuple(new.get_shape()))}"
        )
    if old.element_type != new.element_type:
        raise VerifyException(
            f"{op.name} keeps the element type: {old.element_type} became {new.element_type}; "
            "tile_tensor.cast changes it"
        )
    target = placement(result)
    if target is None:
        raise VerifyException(f"{op.name} places its result: {result} has no #tile_layout.at encoding")
    machine = machine_name(op)
    verify_placement(source, "operand", machine)
    verify_placement(result, "result", machine)
    if not target[1].is_injective():
        raise VerifyException(
            f"result: view '{target[1]}' gives several elements one place, nothing can be written through it"
        )


# -- operations ----------------------------------------------------------------------------------------------


class _ConvertPatterns(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (ConvertOfConvert(),)


_TENSOR = BaseAttr(TensorType)
_TENSOR_OR_SEQUENCE = BaseAttr(TensorType) | BaseAttr(SequenceType)


@irdl_op_definition
class ConvertOp(IRDLOperation, HasFolderInterface):
    """
    The same value in another layout: an exchange, local copies, or nothing when both are the same bytes.

    A converted value without a layout of its own takes whatever layout the planner gives it.
    """

    name = "tile_layout.convert"

    input = operand_def(_TENSOR)
    result = result_def(_TENSOR)

    traits = traits_def(Pure(), _ConvertPatterns())

    assembly_format = "$input attr-dict `:` type($input) `->` type($result)"

    def __init__(self, value: SSAValue | Operation, result_type: Attribute) -> None:
        super().__init__(operands=[SSAValue.get(value)], result_types=[result_type])

    def verify_(self) -> None:
        _verify_move(self, self.input.type, self.result.type)

    def fold(self) -> tuple[SSAValue] | None:
        return (self.input,) if self.input.type == self.result.type else None


@irdl_op_definition
class HomeOp(IRDLOperation):
    """
    Where a parameter, or each member of a sequence of parameters, lives between its uses.

    The home selection may rotate it unless it is `pinned`; a pinned home never moves.
    """

    name = "tile_layout.home"

    input = operand_def(_TENSOR_OR_SEQUENCE)
    pinned = opt_prop_def(UnitAttr)
    result = result_def(_TENSOR_OR_SEQUENCE)

    traits = traits_def(Pure())

    assembly_format = "$input (`pinned` $pinned^)? attr-dict `:` type($input) `->` type($result)"

    def __init__(self, value: SSAValue | Operation, result_type: Attribute, *, pinned: bool = False) -> None:
        super().__init__(
            operands=[SSAValue.get(value)],
            result_types=[result_type],
            properties={"pinned": UnitAttr() if pinned else None},
        )

    def verify_(self) -> None:
        _verify_move(self, self.input.type, self.result.type)
        if placement(self.input.type) not in (None, placement(self.result.type)):
            raise VerifyException(
                "a parameter has one home: the operand already has another layout; "
                "tile_layout.convert or tile_layout.materialize changes layouts"
            )


@irdl_op_definition
class MaterializeOp(IRDLOperation):
    """
    The compute layout of a parameter, made from its home for as long as it is used.

    Inside a repeat the operand is the member of the current iteration, and one buffer serves all iterations.
    """

    name = "tile_layout.materialize"

    input = operand_def(_TENSOR)
    result = result_def(_TENSOR)

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` type($input) `->` type($result)"

    def __init__(self, value: SSAValue | Operation, result_type: Attribute) -> None:
        super().__init__(operands=[SSAValue.get(value)], result_types=[result_type])

    def verify_(self) -> None:
        if placement(self.input.type) is None:
            raise VerifyException(
                f"a parameter is materialised from its home: {self.input.type} has no layout"
            )
        _verify_move(self, self.input.type, self.result.type)


class ConvertOfConvert(RewritePattern):
    """A layout that only another conversion reads need not exist: convert the original value."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertOp, rewriter: PatternRewriter) -> None:
        inner = op.input.owner
        if isinstance(inner, ConvertOp) and op.input.has_one_use():
            outer = ConvertOp(inner.input, op.result.type)
            outer.location = op.location
            rewriter.replace(op, outer)


TileLayout = Dialect("tile_layout", [ConvertOp, HomeOp, MaterializeOp], [LayoutAttr])
