# SPDX-License-Identifier: Apache-2.0
"""
Operations of StableHLO and CHLO, by name, as operations of the middle form.

By name: the operations may be those of our own reader, unregistered ones of any parser, or the classes of
another compiler. Attributes are read as plain data; those of a dialect that is not there from their text.
What has no meaning here becomes `tile_hlo.unsupported`, which the lowering reports, all at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, StringAttr, SymbolRefAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects.hlo.operations import OPERATIONS, SPECS
from tilewright.dialects.tensor.shapes import ShapeError
from tilewright.passes.hlo import stablehlo_bodies
from tilewright.passes.hlo.rewriting import Emitter, element_of, name_of, shape_of
from tilewright.passes.hlo.stablehlo_source import (
    Handler,
    Source,
    Unsupported,
    finish,
    is_source,
    numbers,
    one,
    result_of,
)

_SAME = {name: name for name in SPECS if SPECS[name].operands in (1, 2, 3) and not SPECS[name].attributes}
for _name in ("broadcast_in_dim", "reshape", "convert"):
    _SAME.pop(_name, None)


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
    source = Source(op)
    emit = Emitter(op)
    try:
        for value in (*op.operands, *op.results):
            if not isinstance(value.type, TensorType):
                raise Unsupported(f"it works on values of {value.type}")
        handler = _HANDLERS.get(source.name)
        if source.name in _SAME:
            result = emit.op(_SAME[source.name], list(op.operands), element=element_of(op.results[0]))
            finish(op, [result])
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


def _constant(source: Source, emit: Emitter) -> SSAValue:
    value = source.attribute("value")
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise Unsupported(f"its value is not in the text: {str(value)[:40]}")
    return emit.op("constant", value=value)


def _convert_type(source: Source, emit: Emitter) -> SSAValue:
    return emit.op("convert", list(source.op.operands), element=element_of(result_of(source)))


def _compare(source: Source, emit: Emitter) -> SSAValue:
    text = source.text("comparison_direction", "word")
    found = re.search(r"\b(EQ|NE|LT|LE|GT|GE)\b", text)
    if found is None:
        raise Unsupported(f"it compares by {text or 'nothing'}")
    total = "TOTALORDER" in source.text("compare_type", "word2")
    return emit.op("compare", list(source.op.operands), direction=found[1], order="total" if total else None)


def _broadcast(source: Source, emit: Emitter) -> SSAValue:
    dims = source.ints("broadcast_dimensions", "dims")
    return emit.op(
        "broadcast_in_dim", list(source.op.operands)[:1], shape=shape_of(result_of(source)), dimensions=dims
    )


def _reshape(source: Source, emit: Emitter) -> SSAValue:
    return emit.op("reshape", list(source.op.operands)[:1], shape=shape_of(result_of(source)))


def _transpose(source: Source, emit: Emitter) -> SSAValue:
    return emit.op("transpose", list(source.op.operands), permutation=source.ints("permutation", "dims"))


def _slice(source: Source, emit: Emitter) -> SSAValue:
    return emit.op(
        "slice",
        list(source.op.operands),
        start=source.ints("start_indices"),
        limit=source.ints("limit_indices"),
        strides=source.ints("strides"),
    )


def _concatenate(source: Source, emit: Emitter) -> SSAValue:
    return emit.op("concatenate", list(source.op.operands), dimension=source.integer("dimension", "dim"))


def _pad(source: Source, emit: Emitter) -> SSAValue:
    return emit.op(
        "pad",
        list(source.op.operands),
        low=source.ints("edge_padding_low", "low"),
        high=source.ints("edge_padding_high", "high"),
        interior=source.ints("interior_padding", "interior"),
    )


def _reverse(source: Source, emit: Emitter) -> SSAValue:
    return emit.op("reverse", list(source.op.operands), dimensions=source.ints("dimensions", "dims"))


def _iota(source: Source, emit: Emitter) -> SSAValue:
    result = result_of(source)
    dimension = source.integer("iota_dimension", "dim")
    return emit.op("iota", shape=shape_of(result), element=element_of(result), dimension=dimension)


_PRODUCT = {
    "lhs_batching": ("lhs_batching_dimensions", "batching_dims"),
    "rhs_batching": ("rhs_batching_dimensions", "batching_dims_right"),
    "lhs_contracting": ("lhs_contracting_dimensions", "contracting_dims"),
    "rhs_contracting": ("rhs_contracting_dimensions", "contracting_dims_right"),
}
"""Lists of axes of a product: the key in its attribute, the name in pretty text."""


def _dot_general(source: Source, emit: Emitter) -> SSAValue:
    given = source.attribute("dot_dimension_numbers")
    lists = {
        name: numbers(str(given), key) if given is not None else source.ints(word, default=())
        for name, (key, word) in _PRODUCT.items()
    }
    return emit.op("dot_general", list(source.op.operands), element=element_of(result_of(source)), **lists)


def _dot(source: Source, emit: Emitter) -> SSAValue:
    lhs, rhs = source.op.operands
    return emit.op(
        "dot_general",
        [lhs, rhs],
        element=element_of(result_of(source)),
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


def _convolution(source: Source, emit: Emitter) -> SSAValue:
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
        element=element_of(result_of(source)),
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


def _gather(source: Source, emit: Emitter) -> SSAValue:
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
    result = shape_of(result_of(source))
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


def _dynamic_slice(source: Source, emit: Emitter) -> SSAValue:
    return emit.op("dynamic_slice", list(source.op.operands), sizes=source.ints("slice_sizes", "sizes"))


def _dynamic_update(source: Source, emit: Emitter) -> SSAValue:
    return emit.op("dynamic_update_slice", list(source.op.operands))


def _square(source: Source, emit: Emitter) -> SSAValue:
    x = source.op.operands[0]
    return emit.op("multiply", [x, x])


def _barrier(source: Source, emit: Emitter) -> None:
    finish(source.op, list(source.op.operands))


def _custom_call(source: Source, emit: Emitter) -> None:
    target = source.text("call_target_name").strip('@"')
    if target in ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"):
        finish(source.op, list(source.op.operands))
        return
    raise Unsupported(f"it calls {target}")


def _composite(source: Source, emit: Emitter) -> None:
    """A composite that names an operation of ours; else a call of its decomposition."""
    name = source.text("name").partition(".")[2]
    if name in ("square",):
        finish(source.op, [_square(source, emit)])
        return
    if name in _SAME and len(source.op.operands) == SPECS[_SAME[name]].operands:
        finish(source.op, [emit.op(_SAME[name], list(source.op.operands))])
        return
    target = source.attribute("decomposition")
    if isinstance(target, SymbolRefAttr):
        from xdsl.dialects.func import CallOp

        call = CallOp(target, list(source.op.operands), [r.type for r in source.op.results])
        emit.add(call)
        emit.replace(*call.results)
        return
    raise Unsupported(f"{source.text('name')} has no decomposition")


def _while(source: Source, emit: Emitter) -> None:
    op = source.op
    regions = [op.detach_region(region) for region in list(op.regions)]
    made = OPERATIONS["while"].create(
        operands=list(op.operands), result_types=[r.type for r in op.results], regions=regions
    )
    emit.add(made)
    emit.replace(*made.results)


def _return(source: Source, emit: Emitter) -> None:
    made = OPERATIONS["return"].create(operands=list(source.op.operands))
    made.location = source.op.location
    block = source.op.parent
    assert block is not None
    block.insert_op_before(made, source.op)
    Rewriter.erase_op(source.op)


def _dimension_size(source: Source, emit: Emitter) -> SSAValue:
    extent = shape_of(source.op.operands[0])[source.integer("dimension", "dim")]
    return emit.scalar(extent, element_of(result_of(source)))


def _bitcast(source: Source, emit: Emitter) -> SSAValue:
    if source.op.operands[0].type != result_of(source).type:
        raise Unsupported("it reads the bits of one type as another")
    return source.op.operands[0]


_HANDLERS: Mapping[str, Handler] = {
    **stablehlo_bodies.HANDLERS,
    "constant": one(_constant),
    "convert": one(_convert_type),
    "compare": one(_compare),
    "broadcast_in_dim": one(_broadcast),
    "dynamic_broadcast_in_dim": one(_broadcast),
    "reshape": one(_reshape),
    "dynamic_reshape": one(_reshape),
    "transpose": one(_transpose),
    "slice": one(_slice),
    "concatenate": one(_concatenate),
    "pad": one(_pad),
    "reverse": one(_reverse),
    "iota": one(_iota),
    "dynamic_iota": one(_iota),
    "dot_general": one(_dot_general),
    "dot": one(_dot),
    "convolution": one(_convolution),
    "gather": one(_gather),
    "dynamic_slice": one(_dynamic_slice),
    "dynamic_update_slice": one(_dynamic_update),
    "square": one(_square),
    "optimization_barrier": _barrier,
    "custom_call": _custom_call,
    "composite": _composite,
    "while": _while,
    "return": _return,
    "get_dimension_size": one(_dimension_size),
    "bitcast_convert": one(_bitcast),
}
