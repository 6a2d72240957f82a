# SPDX-License-Identifier: Apache-2.0
"""
Operations of StableHLO and CHLO, by name, as operations of the middle form.

By name: the operations may be those of our own reader, unregistered ones of any parser, or the classes of
another compiler. Attributes are read as plain data; those of a dialect that is not there from their text.
What has no meaning here becomes `tile_hlo.unsupported`, which the lowering reports, all at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnregisteredOp,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects.hlo.operations import OPERATIONS, SPECS, HloOperation
from tilewright.dialects.hlo.values import array_of, dtype_of, evaluate, is_floating, lowest
from tilewright.dialects.tensor.shapes import ShapeError
from tilewright.passes.hlo.rewriting import Emitter, element_of, name_of, owner, shape_of, splat_of

PREFIXES = ("stablehlo.", "chlo.", "mhlo.")

_SAME = {name: name for name in SPECS if SPECS[name].operands in (1, 2, 3) and not SPECS[name].attributes}
for _name in ("broadcast_in_dim", "reshape", "convert"):
    _SAME.pop(_name, None)

_KINDS = {"add": "sum", "multiply": "product", "maximum": "max", "minimum": "min", "and": "and", "or": "or"}


def is_source(op: Operation) -> bool:
    """Whether an operation is one of StableHLO or CHLO."""
    return name_of(op).startswith(PREFIXES)


@dataclass
class _Source:
    """An operation of the source as plain data."""

    op: Operation

    @property
    def name(self) -> str:
        return name_of(self.op).partition(".")[2]

    def attribute(self, *names: str) -> Attribute | None:
        for name in names:
            for table in (self.op.properties, self.op.attributes):
                if name in table:
                    return table[name]
            if isinstance(self.op, UnregisteredOp) and name in self.op.attributes:
                return self.op.attributes[name]
        return None

    def ints(self, *names: str, default: Sequence[int] | None = None) -> list[int]:
        """A list of integers, in whatever form it is written. Raises `Unsupported`."""
        attribute = self.attribute(*names)
        if attribute is None:
            if default is None:
                raise Unsupported(f"it has no attribute {names[0]}")
            return list(default)
        return _ints(attribute)

    def integer(self, *names: str, default: int | None = None) -> int:
        attribute = self.attribute(*names)
        if attribute is None and default is not None:
            return default
        if not isinstance(attribute, IntegerAttr):
            raise Unsupported(f"its attribute {names[0]} is no integer")
        return attribute.value.data

    def text(self, *names: str) -> str:
        attribute = self.attribute(*names)
        return (
            ""
            if attribute is None
            else attribute.data
            if isinstance(attribute, StringAttr)
            else str(attribute)
        )


class Unsupported(Exception):
    """Why an operation of the source has no meaning here."""


def _ints(attribute: Attribute) -> list[int]:
    match attribute:
        case DenseArrayBase():
            return [int(v) for v in cast("Any", attribute).get_values()]
        case DenseIntOrFPElementsAttr():
            return [int(v) for v in array_of(attribute).ravel()]
        case ArrayAttr():
            found: list[int] = []
            for entry in attribute.data:
                found += _ints(entry)
            return found
        case IntegerAttr():
            return [attribute.value.data]
        case _:
            return [int(v) for v in re.findall(r"-?\d+", str(attribute).partition("<")[2] or str(attribute))]


def numbers(text: str, key: str) -> list[int]:
    """The integers of `key = [1, 2]` or `key = 3` in the text of an attribute; none where it is absent."""
    found = re.search(rf"\b{key}\s*=\s*(\[[^\]]*\]|-?\d+)", text)
    return [int(v) for v in re.findall(r"-?\d+", found[1])] if found else []


# ------------------------------------------------------------------------------------------ the operations


def convert_module(module: ModuleOp) -> bool:
    """Convert every operation of the source below a module; whether there was any."""
    found = False
    for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
        for block in list(function.body.blocks):
            found |= _convert_block(block)
    return found


def _convert_block(block: Block) -> bool:
    found = False
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                found |= _convert_block(inner)
        if is_source(op):
            found = True
            _convert(op)
    return found


def _convert(op: Operation) -> None:
    source = _Source(op)
    emit = Emitter(op)
    try:
        for value in (*op.operands, *op.results):
            if not isinstance(value.type, TensorType):
                raise Unsupported(f"it works on values of {value.type}")
        handler = _HANDLERS.get(source.name)
        if source.name in _SAME:
            result = emit.op(_SAME[source.name], list(op.operands), element=element_of(op.results[0]))
            _finish(op, [result])
        elif handler is not None:
            handler(source, emit)
        else:
            raise Unsupported("")
    except (Unsupported, ShapeError) as error:
        stand = OPERATIONS["unsupported"].create(
            operands=list(op.operands),
            result_types=[r.type for r in op.results],
            attributes={
                "source": StringAttr(name_of(op)),
                **({"reason": StringAttr(str(error))} if str(error) else {}),
            },
        )
        stand.location = op.location
        block = op.parent
        assert block is not None
        block.insert_op_before(stand, op)
        for old, new in zip(op.results, stand.results, strict=True):
            old.replace_all_uses_with(new)
        Rewriter.erase_op(op, safe_erase=False)


def _finish(op: Operation, values: Sequence[SSAValue]) -> None:
    for old, new in zip(op.results, values, strict=True):
        if old.type != new.type:
            raise Unsupported(f"its result should be {new.type}, not {old.type}")
    Emitter(op).replace(*values)


def _one(make_it: Callable[[_Source, Emitter], SSAValue]) -> Callable[[_Source, Emitter], None]:
    def handler(source: _Source, emit: Emitter) -> None:
        _finish(source.op, [make_it(source, emit)])

    return handler


def _result(source: _Source) -> SSAValue:
    return source.op.results[0]


def _constant(source: _Source, emit: Emitter) -> SSAValue:
    value = source.attribute("value")
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise Unsupported(f"its value is not in the text: {str(value)[:40]}")
    return emit.op("constant", value=value)


def _convert_type(source: _Source, emit: Emitter) -> SSAValue:
    return emit.op("convert", list(source.op.operands), element=element_of(_result(source)))


def _compare(source: _Source, emit: Emitter) -> SSAValue:
    text = source.text("comparison_direction", "word")
    found = re.search(r"\b(EQ|NE|LT|LE|GT|GE)\b", text)
    if found is None:
        raise Unsupported(f"it compares by {text or 'nothing'}")
    total = "TOTALORDER" in source.text("compare_type", "word2")
    return emit.op("compare", list(source.op.operands), direction=found[1], order="total" if total else None)


def _broadcast(source: _Source, emit: Emitter) -> SSAValue:
    dims = source.ints("broadcast_dimensions", "dims")
    return emit.op(
        "broadcast_in_dim", list(source.op.operands)[:1], shape=shape_of(_result(source)), dimensions=dims
    )


def _reshape(source: _Source, emit: Emitter) -> SSAValue:
    return emit.op("reshape", list(source.op.operands)[:1], shape=shape_of(_result(source)))


def _transpose(source: _Source, emit: Emitter) -> SSAValue:
    return emit.op("transpose", list(source.op.operands), permutation=source.ints("permutation", "dims"))


def _slice(source: _Source, emit: Emitter) -> SSAValue:
    return emit.op(
        "slice",
        list(source.op.operands),
        start=source.ints("start_indices"),
        limit=source.ints("limit_indices"),
        strides=source.ints("strides"),
    )


def _concatenate(source: _Source, emit: Emitter) -> SSAValue:
    return emit.op("concatenate", list(source.op.operands), dimension=source.integer("dimension", "dim"))


def _pad(source: _Source, emit: Emitter) -> SSAValue:
    return emit.op(
        "pad",
        list(source.op.operands),
        low=source.ints("edge_padding_low", "low"),
        high=source.ints("edge_padding_high", "high"),
        interior=source.ints("interior_padding", "interior"),
    )


def _reverse(source: _Source, emit: Emitter) -> SSAValue:
    return emit.op("reverse", list(source.op.operands), dimensions=source.ints("dimensions", "dims"))


def _iota(source: _Source, emit: Emitter) -> SSAValue:
    result = _result(source)
    dimension = source.integer("iota_dimension", "dim")
    return emit.op("iota", shape=shape_of(result), element=element_of(result), dimension=dimension)


def _dot_general(source: _Source, emit: Emitter) -> SSAValue:
    numbers_ = source.attribute("dot_dimension_numbers")
    if numbers_ is not None:
        text = str(numbers_)
        lists = {
            "lhs_batching": numbers(text, "lhs_batching_dimensions"),
            "rhs_batching": numbers(text, "rhs_batching_dimensions"),
            "lhs_contracting": numbers(text, "lhs_contracting_dimensions"),
            "rhs_contracting": numbers(text, "rhs_contracting_dimensions"),
        }
    else:
        lists = {
            "lhs_batching": source.ints("batching_dims", default=()),
            "rhs_batching": source.ints("batching_dims_right", default=()),
            "lhs_contracting": source.ints("contracting_dims", default=()),
            "rhs_contracting": source.ints("contracting_dims_right", default=()),
        }
    return emit.op("dot_general", list(source.op.operands), element=element_of(_result(source)), **lists)


def _dot(source: _Source, emit: Emitter) -> SSAValue:
    lhs = source.op.operands[0]
    return emit.op(
        "dot_general",
        list(source.op.operands),
        element=element_of(_result(source)),
        lhs_batching=[],
        rhs_batching=[],
        lhs_contracting=[len(shape_of(lhs)) - 1],
        rhs_contracting=[0],
    )


def _layout(text: str, letters: str) -> list[int]:
    """Axes of the two named dimensions and of the spatial ones in `[b, f, 0, 1]`."""
    entries = [entry.strip() for entry in text.strip("[] ").split(",")]
    spatial = sorted(int(entry) for entry in entries if entry.isdigit())
    return [entries.index(letters[0]), entries.index(letters[1]), *(entries.index(str(i)) for i in spatial)]


def _convolution(source: _Source, emit: Emitter) -> SSAValue:
    text = str(source.attribute("dimension_numbers"))
    found = re.search(r"(\[[^\]]*\])x(\[[^\]]*\])->(\[[^\]]*\])", text)
    if found is None:
        raise Unsupported("its dimension numbers are not written as [b, f, 0]x[o, i, 0]->[b, f, 0]")
    n = len(shape_of(source.op.operands[0])) - 2
    window = source.attribute("window")
    if isinstance(window, StringAttr):
        body = window.data

        def part(key: str, default: list[int]) -> list[int]:
            at = re.search(rf"\b{key}\s*=\s*(\[(?:[^\[\]]|\[[^\]]*\])*\])", body)
            return [int(v) for v in re.findall(r"-?\d+", at[1])] if at else default

        strides, padding = part("stride", [1] * n), part("pad", [0] * 2 * n)
        input_dilation, kernel_dilation = part("lhs_dilate", [1] * n), part("rhs_dilate", [1] * n)
        reverse = "true" in (re.search(r"reverse\s*=\s*\[[^\]]*\]", body) or [""])[0]
    else:
        strides = source.ints("window_strides", default=[1] * n)
        padding = source.ints("padding", default=[0] * 2 * n)
        input_dilation = source.ints("lhs_dilation", default=[1] * n)
        kernel_dilation = source.ints("rhs_dilation", default=[1] * n)
        reverse = any(source.ints("window_reversal", default=[0] * n))
    if reverse:
        raise Unsupported("its windows are reversed")
    return emit.op(
        "convolution",
        list(source.op.operands),
        element=element_of(_result(source)),
        strides=strides,
        padding=padding,
        input_dilation=input_dilation,
        kernel_dilation=kernel_dilation,
        input_layout=_layout(found[1], "bf"),
        kernel_layout=_layout(found[2], "oi"),
        output_layout=_layout(found[3], "bf"),
        feature_groups=source.integer("feature_group_count", default=1),
        batch_groups=source.integer("batch_group_count", default=1),
    )


def _simple_body(block: Block) -> str | None:
    """The name of the one operation of both arguments that a reducer is."""
    ops = list(block.ops)
    if len(ops) != 2 or len(block.args) != 2:
        return None
    op, end = ops
    if (
        not isinstance(op, HloOperation)
        or set(op.operands) != set(block.args)
        or list(end.operands) != [op.results[0]]
    ):
        return None
    return _KINDS.get(op.kind)


def _reduce(source: _Source, emit: Emitter) -> None:
    op = source.op
    axes = source.ints("dimensions")
    block = op.regions[0].block
    count = len(op.operands) // 2
    if count == 2:
        _finish(op, _arg_reduce(source, emit, block, axes))
        return
    kind = _simple_body(block)
    if count != 1 or kind is None:
        raise Unsupported("its body is none of add, multiply, maximum, minimum, and, or")
    operand, initial = op.operands
    value = emit.op("reduce", [operand], kind=kind, dimensions=axes)
    _finish(op, [_with_initial(emit, value, initial, kind)])


def _with_initial(emit: Emitter, value: SSAValue, initial: SSAValue, kind: str) -> SSAValue:
    """The initial value is left out where it is neutral."""
    number, element = splat_of(initial), element_of(value)
    neutral = lowest(element, kind)
    if number is not None and (number == neutral or (kind == "sum" and number == 0)):
        return value
    if len(shape_of(value)):
        initial = emit.op("broadcast_in_dim", [initial], shape=shape_of(value), dimensions=[])
    name = {target: name for name, target in _KINDS.items()}[kind]
    return emit.op(name, [value, initial])


def _arg_reduce(source: _Source, emit: Emitter, block: Block, axes: list[int]) -> list[SSAValue]:
    """A reduction of values beside their positions: argmax or argmin, if that is what its body computes."""
    x, places = source.op.operands[:2]
    made = owner(places, "iota")
    if made is None and (cast_ := owner(places, "broadcast_in_dim")) is not None:
        made = owner(cast_.operands[0], "iota")
        if made is not None and cast_.get("dimensions")[made.get("dimension")] not in axes:
            made = None
    elif made is not None and made.get("dimension") not in axes:
        made = None
    if made is None or len(axes) != 1:
        raise Unsupported("it reduces pairs, and the second of them is no position along one axis")
    for kind in ("max", "min"):
        if _chooses(block, kind):
            value = emit.op("reduce", [x], kind=kind, dimensions=axes)
            place = emit.op("arg_reduce", [x], element=element_of(places), kind=kind, dimension=axes[0])
            return [value, place]
    raise Unsupported("its body is none of argmax and argmin")


def _chooses(block: Block, kind: str) -> bool:
    """
    Whether a reducer of (a, place of a, b, place of b) keeps the larger (or smaller) value, the first place
    among equals, and NaN before all: by its values on all pairs of samples, the places in both orders.
    """
    element = cast("TensorType[Attribute]", block.args[0].type).element_type
    numbers_ = [-2.0, -1.0, 0.0, 1.0, 3.0] + ([np.nan, np.inf, -np.inf] if is_floating(element) else [])
    if len(block.args) != 4:
        return False
    value_type, place_type = (
        dtype_of(element),
        dtype_of(cast("TensorType[Attribute]", block.args[1].type).element_type),
    )
    a, b, order = (v.ravel() for v in np.meshgrid(numbers_, numbers_, [0, 1]))
    for left, right, swapped in zip(a, b, order, strict=True):
        i, j = (1, 0) if swapped else (0, 1)
        arguments = [
            np.asarray(v, t)
            for v, t in ((left, value_type), (i, place_type), (right, value_type), (j, place_type))
        ]
        try:
            value, place = _run_reducer(block, arguments)
        except (KeyError, TypeError, ValueError):
            return False
        if swapped and np.isnan([left, right]).any():
            continue  # the left one always comes first
        better = left > right if kind == "max" else left < right
        worse = right > left if kind == "max" else right < left
        if np.isnan(left) or np.isnan(right):
            first = np.isnan(left) and (not np.isnan(right) or i < j)
        else:
            first = better or (not worse and i < j)
        expected = left if first else right
        if int(place) != (i if first else j) or not (
            value == expected or (np.isnan(value) and np.isnan(expected))
        ):
            return False
    return True


def _run_reducer(block: Block, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    values: dict[SSAValue, np.ndarray] = dict(zip(block.args, arguments, strict=True))
    for op in block.ops:
        if isinstance(op, HloOperation) and op.kind != "return":
            values[op.results[0]] = evaluate(op, [values[v] for v in op.operands])
        else:
            return [values[v] for v in op.operands]
    raise ValueError("no return")


def _reduce_window(source: _Source, emit: Emitter) -> None:
    op = source.op
    kind = _simple_body(op.regions[0].block)
    if len(op.operands) != 2 or kind is None:
        raise Unsupported("its body is none of add, multiply, maximum, minimum")
    operand, initial = op.operands
    shape = shape_of(operand)
    n = len(shape)
    window = source.ints("window_dimensions")
    strides = source.ints("window_strides", default=[1] * n)
    dilation = source.ints("window_dilations", default=[1] * n)
    padding = source.ints("padding", default=[0] * 2 * n)
    if any(d != 1 for d in source.ints("base_dilations", default=[1] * n)):
        raise Unsupported("its operand is dilated")
    number = splat_of(initial)
    neutral = number is not None and number == lowest(element_of(operand), kind)
    wide = [axis for axis in range(n) if window[axis] != 1]
    plain = all(v == 1 for v in (*strides, *dilation))
    if neutral and plain and len(wide) == 1 and window[wide[0]] == shape[wide[0]]:
        axis, others = wide[0], [padding[2 * i + j] for i in range(n) for j in (0, 1) if i != wide[0]]
        reach, ends = shape[axis] - 1, (padding[2 * axis], padding[2 * axis + 1])
        if not any(others) and ends in ((reach, 0), (0, reach)) and kind in ("sum", "product", "max", "min"):
            value = emit.op(
                "cumulative",
                [operand],
                kind=kind,
                dimension=axis,
                reverse=True if ends[0] == 0 and reach else None,
            )
            _finish(op, [value])
            return
    if not neutral:
        raise Unsupported("its initial value is not the neutral one")
    value = emit.op(
        "reduce_window",
        [operand],
        kind=kind,
        window=window,
        strides=strides,
        dilation=dilation,
        padding=padding,
    )
    _finish(op, [value])


def _gather(source: _Source, emit: Emitter) -> SSAValue:
    """Rows along one axis, or one box: other gathers have no meaning here."""
    table, indices = source.op.operands
    text = str(source.attribute("dimension_numbers"))
    offset, collapsed = numbers(text, "offset_dims"), numbers(text, "collapsed_slice_dims")
    start_map, vector = numbers(text, "start_index_map"), (numbers(text, "index_vector_dim") or [0])[0]
    batching = numbers(text, "operand_batching_dims")
    sizes = source.ints("slice_sizes")
    shape, places = shape_of(table), shape_of(indices)
    if batching:
        raise Unsupported("it gathers in batches")
    result = shape_of(_result(source))
    if len(start_map) == 1 and vector in (len(places), len(places) - 1):
        axis = start_map[0]
        rows = places if vector == len(places) else places[:-1]
        whole = all(size == n for i, (size, n) in enumerate(zip(sizes, shape, strict=True)) if i != axis)
        if whole and sizes[axis] == 1 and collapsed == [axis] and (vector == len(places) or places[-1] == 1):
            numbers_ = indices if vector == len(places) else emit.op("reshape", [indices], shape=rows)
            value = emit.op("take", [table, numbers_], axis=axis, out_of_range="clamp")
            # `take` gives the table's axes before, those of the indices, the others; the source may reorder
            batch = [i for i in range(len(result)) if i not in offset]
            order = [0] * len(result)
            rest = iter(offset)
            for i in range(axis):
                order[next(rest)] = i
            for i, at in enumerate(batch):
                order[at] = axis + i
            for i in range(axis, len(shape) - 1):
                order[next(rest)] = len(rows) + i
            return value if order == sorted(order) else emit.op("transpose", [value], permutation=order)
    if len(places) == 1 and vector == 0:
        parts: list[SSAValue] = []
        for axis in range(len(shape)):
            if axis in start_map:
                k = start_map.index(axis)
                one = emit.op("slice", [indices], start=[k], limit=[k + 1], strides=[1])
                parts.append(emit.op("reshape", [one], shape=()))
            else:
                parts.append(emit.scalar(0, element_of(indices)))
        box = emit.op("dynamic_slice", [table, *parts], sizes=sizes)
        return emit.op("reshape", [box], shape=result)
    raise Unsupported("it gathers boxes; rows of one axis are taken")


def _dynamic_slice(source: _Source, emit: Emitter) -> SSAValue:
    return emit.op("dynamic_slice", list(source.op.operands), sizes=source.ints("slice_sizes", "sizes"))


def _dynamic_update(source: _Source, emit: Emitter) -> SSAValue:
    return emit.op("dynamic_update_slice", list(source.op.operands))


def _square(source: _Source, emit: Emitter) -> SSAValue:
    x = source.op.operands[0]
    return emit.op("multiply", [x, x])


def _top_k(source: _Source, emit: Emitter) -> None:
    op = source.op
    count = source.integer("k")
    x = op.operands[0]
    values = emit.op("top_k", [x], element=element_of(x), count=count)
    places = emit.op("top_k", [x], element=element_of(op.results[1]), count=count, places=True)
    _finish(op, [values, places])


def _sort(source: _Source, emit: Emitter) -> None:
    """One operand in order, or beside it the positions along the axis."""
    op = source.op
    axis = source.integer("dimension")
    rank = len(shape_of(op.operands[0]))
    axis = axis + rank if axis < 0 else axis
    if len(op.operands) > 2 or (len(op.operands) == 2 and _position(op.operands[1]) != axis):
        raise Unsupported("it sorts several values together, and the second of them is no position")
    for descending in (False, True):
        if _orders(op.regions[0].block, descending):
            x = op.operands[0]
            arguments = {"dimension": axis, "descending": descending}
            made = [emit.op("sort", [x], element=element_of(x), **arguments)]
            if len(op.operands) == 2:
                made.append(
                    emit.op("sort", [x], element=element_of(op.operands[1]), places=True, **arguments)
                )
            _finish(op, made)
            return
    raise Unsupported("its comparator is no plain order")


def _position(value: SSAValue) -> int | None:
    """The axis along which a value counts."""
    made = owner(value, "iota")
    if made is not None:
        return made.get("dimension")
    made = owner(value, "broadcast_in_dim")
    inner = None if made is None else owner(made.operands[0], "iota")
    return None if made is None or inner is None else made.get("dimensions")[inner.get("dimension")]


def _orders(block: Block, descending: bool) -> bool:
    """Whether a comparator says `a < b` (or `a > b`) with NaN above everything, by its values on samples."""
    element = cast("TensorType[Attribute]", block.args[0].type).element_type
    numbers_ = [-2.0, -1.0, 0.0, 1.0, 3.0] + ([np.nan, np.inf, -np.inf] if is_floating(element) else [])
    kinds = [dtype_of(cast("TensorType[Attribute]", a.type).element_type) for a in block.args]
    for a in numbers_:
        for b in numbers_:
            arguments = [np.asarray(v, t) for v, t in zip((a, b, 0, 1), kinds, strict=False)]
            try:
                (found,) = _run_reducer(block, arguments)
            except (KeyError, TypeError, ValueError):
                return False
            left, right = (b, a) if descending else (a, b)
            wanted = left < right or (np.isnan(right) and not np.isnan(left))
            if bool(found) != wanted:
                return False
    return True


def _barrier(source: _Source, emit: Emitter) -> None:
    _finish(source.op, list(source.op.operands))


def _custom_call(source: _Source, emit: Emitter) -> None:
    target = source.text("call_target_name").strip('@"')
    if target in ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"):
        _finish(source.op, list(source.op.operands))
        return
    raise Unsupported(f"it calls {target}")


def _composite(source: _Source, emit: Emitter) -> None:
    """A composite that names an operation of ours; else a call of its decomposition."""
    name = source.text("name").partition(".")[2]
    if name in ("square",):
        _finish(source.op, [_square(source, emit)])
        return
    if name in _SAME and len(source.op.operands) == SPECS[_SAME[name]].operands:
        _finish(source.op, [emit.op(_SAME[name], list(source.op.operands))])
        return
    target = source.attribute("decomposition")
    if isinstance(target, SymbolRefAttr):
        from xdsl.dialects.func import CallOp

        call = CallOp(target, list(source.op.operands), [r.type for r in source.op.results])
        emit.add(call)
        emit.replace(*call.results)
        return
    raise Unsupported(f"{source.text('name')} has no decomposition")


def _while(source: _Source, emit: Emitter) -> None:
    op = source.op
    regions = [op.detach_region(region) for region in list(op.regions)]
    made = OPERATIONS["while"].create(
        operands=list(op.operands), result_types=[r.type for r in op.results], regions=regions
    )
    emit.add(made)
    emit.replace(*made.results)


def _return(source: _Source, emit: Emitter) -> None:
    made = OPERATIONS["return"].create(operands=list(source.op.operands))
    made.location = source.op.location
    block = source.op.parent
    assert block is not None
    block.insert_op_before(made, source.op)
    Rewriter.erase_op(source.op)


def _dimension_size(source: _Source, emit: Emitter) -> SSAValue:
    extent = shape_of(source.op.operands[0])[source.integer("dimension", "dim")]
    return emit.scalar(extent, element_of(_result(source)))


def _bitcast(source: _Source, emit: Emitter) -> SSAValue:
    if source.op.operands[0].type != _result(source).type:
        raise Unsupported("it reads the bits of one type as another")
    return source.op.operands[0]


_HANDLERS: Mapping[str, Callable[[_Source, Emitter], None]] = {
    "constant": _one(_constant),
    "convert": _one(_convert_type),
    "compare": _one(_compare),
    "broadcast_in_dim": _one(_broadcast),
    "dynamic_broadcast_in_dim": _one(_broadcast),
    "reshape": _one(_reshape),
    "dynamic_reshape": _one(_reshape),
    "transpose": _one(_transpose),
    "slice": _one(_slice),
    "concatenate": _one(_concatenate),
    "pad": _one(_pad),
    "reverse": _one(_reverse),
    "iota": _one(_iota),
    "dynamic_iota": _one(_iota),
    "dot_general": _one(_dot_general),
    "dot": _one(_dot),
    "convolution": _one(_convolution),
    "reduce": _reduce,
    "reduce_window": _reduce_window,
    "gather": _one(_gather),
    "dynamic_slice": _one(_dynamic_slice),
    "dynamic_update_slice": _one(_dynamic_update),
    "square": _one(_square),
    "optimization_barrier": _barrier,
    "top_k": _top_k,
    "sort": _sort,
    "custom_call": _custom_call,
    "composite": _composite,
    "while": _while,
    "return": _return,
    "get_dimension_size": _one(_dimension_size),
    "bitcast_convert": _one(_bitcast),
}
