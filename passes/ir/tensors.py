# SPDX-License-Identifier: Apache-2.0
"""
Between IR and the IR-free planners: operators, element types, placements and plan records of tile_tensor
operations.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue, TypeAttribute

from tilewright import settings
from tilewright.diagnostics import TileError
from tilewright.dialects.entry import PARAMETER_ATTRIBUTE, argument_attributes
from tilewright.dialects.reference import VALUE_NAME
from tilewright.dialects.tile_layout import LayoutAttr
from tilewright.dialects.tile_layout import machine_name as nearest_machine
from tilewright.dialects.tile_repeat import RepeatOp, SequenceType
from tilewright.machine import Machine, MachineError, agree, load
from tilewright.planning.layout import Layout, View
from tilewright.planning.operators import Choice, Operator, read_choice
from tilewright.planning.operators.cast_panels import PANELS
from tilewright.planning.operators.rowwise import COMPLETED
from tilewright.planning.operators.strategy import STRATEGY
from tilewright.planning.stages import Buffer, Value

PLAN = "plan"
MACHINE = "tile.machine"


class LoweringError(TileError):
    """A program that a pass cannot lower."""


def machine_of(module: ModuleOp, option: str | None) -> Machine:
    """The machine of a pass, loaded: see `machine_name`."""
    return load(machine_name(module, option))


def machine_name(module: ModuleOp, option: str | None) -> str:
    """
    The machine's name or file: a pass's `machine=` option, the tool's `--machine` or the attribute of the
    module, or of the nearest around it that has one. They must stand for the same content; what they call it
    is a label.
    """
    written = nearest_machine(module)
    given = settings.current().machine
    for text, name in (("machine=", option), ("--machine ", given if option is None else None)):
        if name is not None and written is not None:
            check_agreement(name, written, f"{text}{name}")
    name = option or given or written
    if name is None:
        raise TileError(
            "no machine is given",
            hint='write `tile.machine = "c600"` on the module, or pass machine= or --machine',
        )
    return name


def check_agreement(name: str, written: str, what: str) -> None:
    """Raise LoweringError unless the machine of a program, as written, has the content of `name`."""
    try:
        agree(name, written)
    except MachineError as error:
        if error.location is not None or not error.notes:
            raise
        raise LoweringError(
            f'{what} contradicts the module\'s tile.machine = "{written}"',
            notes=error.notes,
            hint="compile the program for the machine it is to run on",
        ) from None


def dtype_of(attribute: Attribute) -> str:
    """Our name of an element type (equal to MLIR's)."""
    return str(attribute)


def tensor_of(value: SSAValue) -> TensorType[Attribute]:
    """The tensor type of a value; a sequence counts as its member."""
    type_ = value.type
    while isinstance(type_, SequenceType):
        type_ = type_.element
    if not isinstance(type_, TensorType):
        raise LoweringError(f"expected a tensor, found {type_}")
    return cast("TensorType[Attribute]", type_)


def python_value(attribute: Attribute) -> Any:
    """A property as a plain Python value."""
    match attribute:
        case UnitAttr():
            return True
        case IntegerAttr():
            width = attribute.type
            if isinstance(width, IntegerType) and width.width.data == 1:
                return bool(attribute.value.data)
            return attribute.value.data
        case FloatAttr():
            return attribute.value.data
        case StringAttr():
            return attribute.data
        case DenseArrayBase():
            return tuple(int(v) for v in cast("Any", attribute).get_values())
        case ArrayAttr():
            return tuple(python_value(a) for a in attribute.data)
        case DenseIntOrFPElementsAttr():
            return attribute
        case TypeAttribute():
            return dtype_of(attribute)
        case _:
            data = getattr(attribute, "data", attribute)
            return str(getattr(data, "value", data))


def location_text(op: Operation) -> Any:
    return op.location


def operator_of(op: Operation) -> Operator:
    """The operator behind a tile_tensor operation."""

    def described(values: Any) -> tuple[tuple[tuple[int, ...], str], ...]:
        return tuple((tuple(t.get_shape()), dtype_of(t.element_type)) for t in map(tensor_of, values))

    attributes = {name: python_value(value) for name, value in op.properties.items()}
    if op.name == "tile_tensor.attention":
        attributes["finite_lanes"] = finite_lanes(op.operands[2])
        attributes["zero_lanes"] = all(zero_lanes(value) for value in op.operands[:2])
        attributes["head_lanes"] = all(lanes_of_zeros(value) for value in op.operands[:2])
    if op.name == "tile_tensor.matmul":
        attributes["zero_lanes"] = all(lanes_of_zeros(value) for value in op.operands[:2])
        attributes["host_lanes"] = tuple(is_parameter(value) for value in op.operands[:2])
    if op.name == "tile_tensor.dynamic_update_slice":
        attributes["in_place"] = is_last_reader(op, 0)
    name = op.name.partition(".")[2]
    return Operator(name, attributes, described(op.operands), described(op.results), cast("Any", op.location))


_KEEP_ZERO = (
    *("cast", "neg", "abs", "relu", "gelu", "tanh", "bias_gelu", "add", "sub", "mul", "matmul"),
    *("attention", "transpose", "reshape"),
)
"""
Operations whose lanes are zero where those of their operands are; of a product those of its addends, of
attention those of the values.
"""


def lanes_of_zeros(value: SSAValue, depth: int = 16) -> bool:
    """
    Whether storage that completes the last word of a value, and is no element of it, holds zeros as long as
    the elements are finite: what the host writes, rows that are completed, products, and what keeps a zero.
    """
    op = value.owner
    if isinstance(op, Block):
        parent = op.parent_op()
        if not isinstance(parent, RepeatOp):
            return True
        carried = len(parent.carried_args)
        index = cast("BlockArgument", value).index
        return index >= carried and depth > 0 and lanes_of_zeros(parent.operands[index], depth - 1)
    kind = op.name.removeprefix("tile_tensor.")
    if kind in COMPLETED:
        return True
    if kind not in _KEEP_ZERO or not depth:
        return False
    read = {"matmul": op.operands[2:], "attention": op.operands[2:3]}.get(kind, op.operands)
    return all(lanes_of_zeros(v, depth - 1) for v in read)


def is_parameter(value: SSAValue) -> bool:
    """
    Whether a value is a parameter, also in a repeat and by way of its home: behind its elements are the zeros
    that the host writes, or a conversion.
    """
    while isinstance(value.owner, Operation) and value.owner.name in (
        "tile_layout.home",
        "tile_layout.materialize",
    ):
        value = value.owner.operands[0]
    while isinstance(value, BlockArgument) and isinstance(parent := value.block.parent_op(), RepeatOp):
        if value.index < len(parent.carried_args):
            return False
        value = parent.operands[value.index]
    function = value.owner.parent_op() if isinstance(value, BlockArgument) else None
    return isinstance(function, FuncOp) and PARAMETER_ATTRIBUTE in argument_attributes(
        function.arg_attrs, cast("BlockArgument", value).index
    )


def finite_lanes(value: SSAValue) -> bool:
    """
    Whether storage that completes the last word of a value, and is no element of it, holds finite numbers as
    long as the elements do.

    Lanes of a product are sums with zeros, and casts and sums with a vector keep them finite. Nothing is
    known of others: beside a slice lie elements that it leaves out, and one over a lane of zero is infinite.
    """
    for _ in range(16):
        op = value.owner
        if not isinstance(op, Operation):
            return False
        kind = op.name.removeprefix("tile_tensor.")
        vectors = [v for v in op.operands if len(tensor_of(v).get_shape()) == 1]
        if kind == "matmul":
            return len(vectors) == len(op.operands) - 2
        plain = kind in ("cast", "transpose", "reshape")
        if not plain and not (kind in ("add", "sub") and len(vectors) == 1 and op.operands[0] not in vectors):
            return False
        value = op.operands[0]
    return False


def zero_lanes(value: SSAValue) -> bool:
    """Whether a value is a cast that completes groups of columns to panels with zeros, seen through views."""
    op = value.owner
    while isinstance(op, Operation) and op.name in ("tile_tensor.transpose", "tile_tensor.reshape"):
        op = op.operands[0].owner
    if not isinstance(op, Operation) or op.name != "tile_tensor.cast":
        return False
    record = written_record(op)
    return record is not None and record.get(STRATEGY) == PANELS.name


_ALIASES = (
    "tile_tensor.transpose",
    "tile_tensor.reshape",
    "tile_tensor.slice",
    "tile_tensor.broadcast",
    "tile_layout.convert",
    "tile_layout.home",
    "tile_layout.materialize",
)
"""Operations whose result may lie in the storage of their operand."""


def is_last_reader(op: Operation, number: int) -> bool:
    """
    Whether nothing reads the storage of an operand after `op`, in this iteration or another: it may be
    overwritten.

    That is so for what an operation before it in the same block made, for an input, for the state of a
    repeat, and for members of a sequence that nobody else reads; never for parameters and constants.
    """
    value = op.operands[number]
    while isinstance(value.owner, Operation) and value.owner.name in _ALIASES:
        value = value.owner.operands[0]
    if sum(_storage(operand) is value for operand in op.operands) > 1 or not _read_before(value, op):
        return False
    owner = value.owner
    if isinstance(owner, Operation):
        made = owner.name.startswith("tile_tensor.") and owner.name != "tile_tensor.constant"
        return (made or isinstance(owner, RepeatOp)) and owner.parent_block() is op.parent_block()
    if owner is not op.parent_block() or not isinstance(value, BlockArgument):
        return False
    around = owner.parent_op()
    if not isinstance(around, RepeatOp):
        function = around if isinstance(around, FuncOp) else None
        return function is not None and PARAMETER_ATTRIBUTE not in argument_attributes(
            function.arg_attrs, value.index
        )
    if value in around.carried_args:
        return True
    return value in around.iterated_args and is_last_reader(around, value.index)


def updated_in_place(value: SSAValue) -> SSAValue:
    """What a value was before dynamic updates that overwrite it."""
    while isinstance(value.owner, Operation) and value.owner.name == "tile_tensor.dynamic_update_slice":
        if not is_last_reader(value.owner, 0):
            break
        value = value.owner.operands[0]
    return value


def carried_in_place(op: RepeatOp, number: int) -> bool:
    """
    Whether an iteration changes nothing of a carried value but in place, and nobody else reads what it begins
    as afterwards: it can stay in the buffer that it begins in.
    """
    if updated_in_place(op.yield_op.operands[number]) is not op.carried_args[number]:
        return False
    return is_last_reader(op, number)


def collected_sequence(op: RepeatOp, number: int) -> int | None:
    """The number of the iterated sequence whose member a collected value is, updated in place; or None."""
    value = op.yield_op.operands[len(op.carried_args) + number]
    root = updated_in_place(value)
    if root is value or not isinstance(root, BlockArgument) or root not in op.iterated_args:
        return None
    return list(op.iterated_args).index(root)


def _storage(value: SSAValue) -> SSAValue:
    """The value in whose storage a value may lie."""
    while isinstance(value.owner, Operation) and value.owner.name in _ALIASES:
        value = value.owner.operands[0]
    return value


def _read_before(value: SSAValue, op: Operation) -> bool:
    """Whether all that reads the storage of a value is `op` or stands before it, in its block or inside."""
    block = op.parent_block()
    for use in value.uses:
        reader: Operation | None = use.operation
        if reader.name in _ALIASES and not _read_before(reader.results[0], op):
            return False
        while reader is not None and reader.parent_block() is not block:
            reader = reader.parent_op()
        if reader is None or (reader is not op and not reader.is_before_in_block(op)):
            return False
    return True


def placement(value: SSAValue) -> tuple[Layout, View] | None:
    """The layout and view in a value's encoding; None if it is not placed."""
    tensor = tensor_of(value)
    if not isinstance(tensor.encoding, LayoutAttr):
        return None
    layout, view = tensor.encoding.data
    return layout, view if view is not None else View.identity(tuple(tensor.get_shape()))


def value_of(value: SSAValue, category: str = "activations") -> Value | None:
    """The placed value behind an SSA value."""
    where = placement(value)
    if where is None:
        return None
    return Value(Buffer(where[0], dtype_of(tensor_of(value).element_type), category), where[1])


def with_encoding(type_: Attribute, layout: Layout, view: View) -> Attribute:
    """The same type, placed."""
    if isinstance(type_, SequenceType):
        return SequenceType(type_.count, with_encoding(type_.element, layout, view))
    assert isinstance(type_, TensorType)
    return TensorType(type_.element_type, type_.get_shape(), LayoutAttr((layout, view)))


def choice_attr(choice: Choice) -> DictionaryAttr:
    """A strategy and its record as an attribute."""
    fields: dict[str, Attribute] = {}
    for name, value in choice.to_json().items():
        if isinstance(value, bool):
            fields[name] = BoolAttr.from_bool(value)
        elif isinstance(value, int):
            fields[name] = IntegerAttr(value, i64)
        elif isinstance(value, str):
            fields[name] = StringAttr(value)
        else:
            fields[name] = DenseArrayBase.from_list(i64, list(value))
    return DictionaryAttr(fields)


def written_record(op: Operation) -> dict[str, Any] | None:
    """The plan that is written on an operation, as a plan file has it; None if none is."""
    attribute = op.attributes.get(PLAN)
    if attribute is None:
        return None
    if not isinstance(attribute, DictionaryAttr):
        raise LoweringError("`plan` is a dictionary", location=op.location)
    values = {name: python_value(value) for name, value in attribute.data.items()}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def choice_of(op: Operation, operator: Operator | None = None) -> Choice | None:
    """The choice that is written on an operation, or None. Raises PlanError for one that cannot be."""
    written = written_record(op)
    if written is None:
        return None
    return read_choice(operator or operator_of(op), written, op.location)


def value_name(op: Operation) -> str:
    """The name of an operation's value in reports and comparisons."""
    attribute = op.attributes.get(VALUE_NAME)
    return attribute.data if isinstance(attribute, StringAttr) else op.name.partition(".")[2]
