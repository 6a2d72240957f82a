# SPDX-License-Identifier: Apache-2.0
"""
The middle form as operations of `tile_tensor`: one lowering for every front end.

Everything that has no lowering is gathered and reported in one error, with the place and the number of each
kind. An 8-bit float result does not saturate, as in the source. i64 becomes i32 where its constants fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    ModuleOp,
    TensorType,
    f16,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.diagnostics import TileError, place_text
from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.hlo.operations import HloOperation
from tilewright.dialects.hlo.shapes import free_axes
from tilewright.dialects.hlo.values import array_of, convert, dense_of, is_floating, rounded
from tilewright.dialects.tensor.base import ELEMENT_TYPES
from tilewright.dialects.tile_repeat import SequenceType
from tilewright.instrumentation import remark
from tilewright.passes.hlo.rewriting import (
    blocks_of,
    element_of,
    middle_functions,
    remove_dead,
    replace,
    shape_of,
    splat_of,
)


class UnsupportedModel(TileError):
    """Operations or types of a model that have no meaning on tiles."""


@dataclass
class _Fault:
    what: str
    reason: str
    location: Any
    count: int = 1


class NoLowering(Exception):
    """Why one operation cannot be lowered."""


@dataclass
class Lowering:
    """Lowers the functions of a module; `faults` are what could not be."""

    faults: dict[tuple[str, str], _Fault] = field(default_factory=dict[tuple[str, str], _Fault])

    def fault(self, what: str, reason: str, op: Any) -> None:
        """Note something that cannot be lowered."""
        key = (what, reason)
        if key in self.faults:
            self.faults[key].count += 1
        else:
            self.faults[key] = _Fault(what, reason, getattr(op, "location", op))

    def run(self, module: ModuleOp) -> None:
        """Lower everything. Raises `UnsupportedModel`."""
        for function in middle_functions(module):
            _narrow(function, self)
            for block in blocks_of(function):
                _Block(block, self).run()
            for block in blocks_of(function):
                _tidy(block)
        if self.faults:
            raise self.error()

    def error(self) -> UnsupportedModel:
        """All faults in one."""
        faults = list(self.faults.values())
        total = sum(fault.count for fault in faults)
        notes: list[str] = []
        for fault in faults:
            times = f"{fault.count} times" if fault.count > 1 else "once"
            place = place_text(fault.location)
            first = f", first at {place}" if place and fault.count > 1 else f", at {place}" if place else ""
            notes.append(f"{fault.what}, {times}{first}" + (f": {fault.reason}" if fault.reason else ""))
        what = "1 operation has" if total == 1 else f"{total} operations have"
        place = next((f.location for f in faults if place_text(f.location)), faults[0].location)
        return UnsupportedModel(f"{what} no meaning on tiles", location=place, notes=notes)


# ------------------------------------------------------------------------------------------------------ types


_LARGEST = 2**31 - 1


def _narrowed(element: Attribute) -> Attribute | None:
    """The element type of the machine for one of the source; None where there is none."""
    if element == i64:
        return i32
    return element if str(element) in ELEMENT_TYPES else None


def _narrowed_sequence(type_: Attribute) -> Attribute:
    """The type of a sequence, or of one of its members, in element types of the machine's."""
    if isinstance(type_, SequenceType):
        return SequenceType(type_.count, _narrowed_sequence(type_.element))
    tensor = cast("TensorType[Attribute]", type_)
    return TensorType(cast(Any, _narrowed(tensor.element_type) or tensor.element_type), tensor.get_shape())


def _type_reason(element: Attribute) -> str:
    if element == f64:
        return "the machine has no f64: export the model in f32"
    if str(element) == "i1":
        return "truth values have no kernels"
    return f"elements of {element} have no kernels"


def _narrow(function: FuncOp, lowering: Lowering) -> None:
    """Give every value of a function a type of the machine's."""
    narrowed = 0
    for block in blocks_of(function):
        values = [*block.args, *(result for op in block.ops for result in op.results)]
        for value in values:
            if isinstance(value.type, SequenceType):
                value._type = _narrowed_sequence(value.type)  # pyright: ignore
                continue
            if not isinstance(value.type, TensorType):
                continue
            type_ = cast("TensorType[Attribute]", value.type)
            element = _narrowed(type_.element_type)
            if element is None:
                made = value.owner
                kind = made.name if isinstance(made, Operation) else f"argument {getattr(value, 'index', '')}"
                if isinstance(made, HloOperation) and made.kind == "unsupported":
                    continue
                where = made if isinstance(made, Operation) else cast("BlockArgument", value)
                lowering.fault(f"{kind} of {type_}", _type_reason(type_.element_type), where)
            elif element != type_.element_type:
                narrowed += 1
                made = value.owner
                if isinstance(made, HloOperation) and made.kind == "constant":
                    array = array_of(cast("DenseIntOrFPElementsAttr", made.attributes["value"]))
                    if array.size and int(np.abs(array).max()) > _LARGEST:
                        lowering.fault("a constant of i64", "it does not fit 32 bits", made)
                    made.attributes["value"] = dense_of(array.astype(np.int32), i32)
                value._type = TensorType(cast(Any, element), type_.get_shape())  # pyright: ignore
    function.update_function_type()
    if narrowed:
        remark(
            "conversion",
            f"{narrowed} values of i64 are i32: numbers beyond 32 bits have no meaning",
            function,
        )


# ----------------------------------------------------------------------------------------------------- blocks


_UNARY: Mapping[str, str] = {
    "abs": "AbsOp",
    "negate": "NegOp",
    "exponential": "ExpOp",
    "log": "LogOp",
    "sqrt": "SqrtOp",
    "rsqrt": "RsqrtOp",
    "tanh": "TanhOp",
    "erf": "ErfOp",
    "logistic": "SigmoidOp",
    "sine": "SinOp",
    "cosine": "CosOp",
    "log_plus_one": "Log1pOp",
    "exponential_minus_one": "Expm1Op",
    "floor": "FloorOp",
    "ceil": "CeilOp",
    "round_nearest_even": "RoundOp",
    "sign": "SignOp",
    "is_finite": "IsFiniteOp",
    "not": "NotOp",
}
_BINARY: Mapping[str, str] = {
    "add": "AddOp",
    "subtract": "SubOp",
    "multiply": "MulOp",
    "divide": "DivOp",
    "maximum": "MaximumOp",
    "minimum": "MinimumOp",
    "power": "PowOp",
    "atan2": "Atan2Op",
    "remainder": "RemainderOp",
    "and": "AndOp",
    "or": "OrOp",
    "xor": "XorOp",
    "shift_left": "ShiftLeftOp",
    "shift_right_arithmetic": "ShiftRightArithmeticOp",
    "shift_right_logical": "ShiftRightLogicalOp",
}
_OF_BOOLEANS = {"add": "or", "multiply": "and", "maximum": "or", "minimum": "and"}


def _class(name: str, kind: str) -> Any:
    """An operation of the tensor dialect by its class. Raises `NoLowering` where the dialect has none."""
    found = getattr(tt, name, None)
    if found is None:
        raise NoLowering("there is no kernel for it")
    return found


class _Block:
    def __init__(self, block: Block, lowering: Lowering) -> None:
        self.block = block
        self.lowering = lowering

    def run(self) -> None:
        late: list[HloOperation] = []
        for op in list(self.block.ops):
            if not isinstance(op, HloOperation) or op.kind in ("constant", "return"):
                continue
            if op.kind == "broadcast_in_dim":
                late.append(op)
                continue
            self.lower(op)
        for op in reversed(late):
            if op.results[0].uses:
                self.lower(op)
            else:
                Rewriter.erase_op(op)
        for op in list(self.block.ops):
            if isinstance(op, HloOperation) and op.kind == "constant":
                if op.results[0].uses:
                    made = tt.ConstantOp(cast("DenseIntOrFPElementsAttr", op.attributes["value"]))
                    made.location = op.location
                    Rewriter.insert_op(made, InsertPoint.before(op))
                    replace(op, made.result)
                else:
                    Rewriter.erase_op(op)

    def lower(self, op: HloOperation) -> None:
        """Lower one operation, or note why not."""
        try:
            if op.kind == "unsupported":
                raise NoLowering(op.get("reason", ""))
            replace(op, _Lower(op).value())
        except NoLowering as error:
            what = op.get("source") if op.kind == "unsupported" else op.name.replace("tile_hlo", "stablehlo")
            if op.kind != "unsupported" and any(
                _narrowed(element_of(v)) is None
                for v in (*op.operands, *op.results)
                if isinstance(v.type, TensorType)
            ):
                return  # reported by its type
            self.lowering.fault(what, str(error), op)


class _Lower:
    """The lowering of one operation."""

    def __init__(self, op: HloOperation) -> None:
        self.op = op
        self.result = cast("TensorType[Attribute]", op.results[0].type) if op.results else None
        self.shape: tuple[int, ...] = self.result.get_shape() if self.result is not None else ()
        self.element: Any = self.result.element_type if self.result is not None else None

    # ------------------------------------------------------------------------------------------------- making

    def add(self, op: Operation) -> SSAValue:
        """Insert an operation in front, with the location of the one that is lowered."""
        op.location = self.op.location
        Rewriter.insert_op(op, InsertPoint.before(self.op))
        return op.results[0]

    def constant(self, array: np.ndarray, element: Attribute) -> SSAValue:
        return self.add(tt.ConstantOp(dense_of(rounded(np.asarray(array), element), element)))

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        return value if shape_of(value) == tuple(shape) else self.add(tt.ReshapeOp(value, shape))

    def transpose(self, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
        if list(permutation) == sorted(permutation):
            return value
        return self.add(tt.TransposeOp(value, list(permutation)))

    def small(self, value: SSAValue) -> SSAValue:
        """An operand of an operation that broadcasts as numpy does, without axes that only repeat it."""
        number = splat_of(value)
        if number is not None:
            rank1 = [1] if shape_of(value) else []
            return self.constant(np.full(rank1, number), element_of(value))
        made = value.owner
        if isinstance(made, HloOperation) and made.kind == "broadcast_in_dim":
            source, dimensions = made.operands[0], made.get("dimensions")
            rank = len(shape_of(value))
            order = sorted(range(len(dimensions)), key=lambda i: dimensions[i])
            extents = [1] * rank
            for i, axis in enumerate(dimensions):
                extents[axis] = shape_of(source)[i]
            while len(extents) > 1 and extents[0] == 1:
                extents.pop(0)
            return self.reshape(self.transpose(source, order), extents)
        return value

    def operands(self) -> list[SSAValue]:
        """The operands of an operation on each element; together they have the result's shape."""
        values = [self.small(value) for value in self.op.operands]
        from tilewright.dialects.tensor.shapes import broadcast_pair

        shape: tuple[int, ...] = ()
        for value in values:
            shape = broadcast_pair(shape, shape_of(value))
        if shape != self.shape:
            largest = max(range(len(values)), key=lambda i: len(shape_of(values[i])))
            values[largest] = self.widened(values[largest], self.shape)
        return values

    def widened(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A value that is broadcast as numpy does, with all its axes."""
        rank = len(shape_of(value))
        dimensions = list(range(len(shape) - rank, len(shape)))
        return self.add(tt.BroadcastOp(value, list(shape), dimensions))

    @property
    def saturation(self) -> dict[str, Any]:
        return {"saturate": False} if tt.is_float8(self.element) else {}

    # --------------------------------------------------------------------------------------------- operations

    def value(self) -> SSAValue:
        kind = self.op.kind
        if kind in _UNARY:
            return self.unary(kind)
        if kind in _BINARY:
            return self.binary(kind)
        method: Any = getattr(self, f"_{kind}", None)
        if method is None:
            raise NoLowering("there is no kernel for it")
        return method()

    def unary(self, kind: str) -> SSAValue:
        made: Any = _class(_UNARY[kind], kind)
        operand = self.small(self.op.operands[0])
        arguments = self.saturation if issubclass(cast("type[object]", made), tt.RoundingOperation) else {}
        result = self.add(made(operand, **arguments))
        return result if shape_of(result) == self.shape else self.widened(result, self.shape)

    def binary(self, kind: str) -> SSAValue:
        if self.element == i1:
            kind = _OF_BOOLEANS.get(kind, kind)
        a, b = self.op.operands
        if kind == "multiply" and a is b and is_floating(self.element):
            return self.add(tt.SquareOp(a, **self.saturation))
        made = _class(_BINARY[kind], kind)
        arguments = self.saturation if issubclass(made, tt.RoundingOperation) else {}
        return self.add(made(*self.operands(), **arguments))

    def _erfc(self) -> SSAValue:
        remark("missed", "erfc is computed as 1 - erf: absolutely, not relatively exact", self.op)
        erf = self.add(tt.ErfOp(self.small(self.op.operands[0])))
        one = self.constant(np.ones([1] if shape_of(erf) else []), self.element)
        result = self.add(tt.SubOp(one, erf))
        return result if shape_of(result) == self.shape else self.widened(result, self.shape)

    def _clamp(self) -> SSAValue:
        low, x, high = (self.small(v) for v in self.op.operands)
        inner = self.add(tt.MaximumOp(x, low))
        result = self.add(tt.MinimumOp(inner, high))
        return result if shape_of(result) == self.shape else self.widened(result, self.shape)

    def _compare(self) -> SSAValue:
        if self.op.get("order") == "total" and is_floating(element_of(self.op.operands[0])):
            raise NoLowering("there is no total order of floats")
        made = _class("CompareOp", "compare")
        return self.add(made(self.op.get("direction").lower(), *self.operands()))

    def _select(self) -> SSAValue:
        made = _class("SelectOp", "select")
        return self.add(made(*self.operands()))

    def _convert(self) -> SSAValue:
        operand = self.op.operands[0]
        source = element_of(operand)
        value = self.small(operand)
        if source == i1 or self.element == i1:
            result = self._convert_boolean(value, source)
        elif is_floating(source) and not is_floating(self.element):
            result = self.add(tt.CastOp(value, self.element, rounding="truncate"))
        else:
            narrow = not is_floating(source) and not is_floating(self.element)
            arguments: dict[str, Any] = {"saturate": False} if narrow else self.saturation
            result = (
                value if source == self.element else self.add(tt.CastOp(value, self.element, **arguments))
            )
        return result if shape_of(result) == self.shape else self.widened(result, self.shape)

    def _convert_boolean(self, value: SSAValue, source: Attribute) -> SSAValue:
        rank1 = [1] if shape_of(value) else []
        if source == i1:
            select = _class("SelectOp", "convert")
            one, zero = (self.constant(np.full(rank1, n), self.element) for n in (1, 0))
            return self.add(select(value, one, zero))
        compare = _class("CompareOp", "convert")
        return self.add(compare("ne", value, self.constant(np.zeros(rank1), source)))

    def _broadcast_in_dim(self) -> SSAValue:
        source, dimensions = self.op.operands[0], self.op.get("dimensions")
        order = sorted(range(len(dimensions)), key=lambda i: dimensions[i])
        if prod(shape_of(source)) == prod(self.shape):
            return self.reshape(self.transpose(source, order), self.shape)
        number = splat_of(source)
        if number is not None:
            source, order, dimensions = self.constant(np.asarray(number), self.element), [], []
        return self.add(tt.BroadcastOp(self.transpose(source, order), self.shape, sorted(dimensions)))

    def _reshape(self) -> SSAValue:
        return self.reshape(self.op.operands[0], self.shape)

    def _transpose(self) -> SSAValue:
        return self.transpose(self.op.operands[0], self.op.get("permutation"))

    def _slice(self) -> SSAValue:
        x, start, strides = self.op.operands[0], self.op.get("start"), self.op.get("strides")
        if all(step == 1 for step in strides):
            return self.box(x, start, self.shape)
        return self.add(tt.SliceOp(x, list(start), list(self.shape), list(strides)))

    def box(self, x: SSAValue, start: Sequence[int], sizes: Sequence[int]) -> SSAValue:
        if tuple(sizes) == shape_of(x):
            return x
        return self.add(tt.SliceOp(x, list(start), list(sizes)))

    def _concatenate(self) -> SSAValue:
        parts = [value for value in self.op.operands if prod(shape_of(value))]
        if not parts:
            return self.op.operands[0]
        return parts[0] if len(parts) == 1 else self.add(tt.ConcatOp(parts, self.op.get("dimension")))

    def _pad(self) -> SSAValue:
        x, value = self.op.operands
        low, high, interior = (self.op.get(n) for n in ("low", "high", "interior"))
        if not prod(shape_of(x)):
            return self.add(tt.BroadcastOp(value, self.shape, []))
        number = splat_of(value)
        for axis, (n, gap) in enumerate(zip(shape_of(x), interior, strict=True)):
            if gap and n > 1:
                x = self.spread(x, value, axis, gap, number)
        start = [max(-a, 0) for a in low]
        sizes = [n - max(-a, 0) - max(-b, 0) for n, a, b in zip(shape_of(x), low, high, strict=True)]
        x = self.box(x, start, sizes)
        low, high = [max(a, 0) for a in low], [max(b, 0) for b in high]
        if number is not None and any((*low, *high)):
            plain = number if not is_floating(self.element) else float(number)
            return self.add(tt.PadOp(x, low, high, int(plain) if not is_floating(self.element) else plain))
        for axis, (a, b) in enumerate(zip(low, high, strict=True)):
            x = self.padded(x, value, None, axis, a, b)
        return x

    def spread(self, x: SSAValue, value: SSAValue, axis: int, gap: int, number: Any = 0) -> SSAValue:
        """Gaps between the elements of an axis: each element with its gap behind it; the last gap goes."""
        n = shape_of(x)[axis]
        if not gap or n < 2:
            return x
        shape = list(shape_of(x))
        x = self.reshape(x, [*shape[: axis + 1], 1, *shape[axis + 1 :]])
        x = self.padded(x, value, number, axis + 1, 0, gap)
        wide = [*shape[:axis], n * (gap + 1), *shape[axis + 1 :]]
        x = self.reshape(x, wide)
        wide[axis] -= gap
        return self.box(x, [0] * len(wide), wide)

    def padded(self, x: SSAValue, value: SSAValue, number: Any, axis: int, low: int, high: int) -> SSAValue:
        """Copies of a value before and behind one axis."""
        if not low and not high:
            return x
        shape = list(shape_of(x))
        if number is not None:
            at = [low if i == axis else 0 for i in range(len(shape))]
            behind = [high if i == axis else 0 for i in range(len(shape))]
            plain = float(number) if is_floating(self.element) else int(number)
            return self.add(tt.PadOp(x, at, behind, plain))
        pieces: list[SSAValue] = []
        for count in (low, None, high):
            if count is None:
                pieces.append(x)
            elif count:
                shape[axis] = count
                pieces.append(self.add(tt.BroadcastOp(value, shape, [])))
        return self.add(tt.ConcatOp(pieces, axis))

    def _reverse(self) -> SSAValue:
        x = self.op.operands[0]
        for axis in self.op.get("dimensions"):
            backwards = np.arange(shape_of(x)[axis])[::-1].astype(np.int32)
            x = self.add(tt.GatherOp(x, self.constant(backwards, i32), axis))
        return x

    def _iota(self) -> SSAValue:
        axis = self.op.get("dimension")
        extent = self.shape[axis]
        line = self.constant(convert(np.arange(extent), self.element), self.element)
        return self.add(tt.BroadcastOp(line, self.shape, [axis]))

    def _reduce(self) -> SSAValue:
        kind, axes = self.op.get("kind"), sorted(self.op.get("dimensions"))
        words = {"product": "prod", "and": "all", "or": "any"}
        if self.element == i1:
            words |= {"sum": "any", "max": "any", "product": "all", "min": "all"}
        name = str(words.get(kind, kind))
        if name in ("any", "all") and self.element != i1:
            name = ""
        if not name:
            raise NoLowering(f"there is no reduction `{kind}` of {self.element}")
        return self.add(tt.ReduceOp(self.op.operands[0], name, axes, **self.saturation))

    def _take(self) -> SSAValue:
        table, indices = self.op.operands
        rule = self.op.get("out_of_range")
        if rule not in {word.value for word in tt.OutOfRange}:
            raise NoLowering(f"rows out of range give {rule}")
        if element_of(indices) != i32:
            indices = self.add(tt.CastOp(indices, i32))
        return self.add(tt.GatherOp(table, indices, self.op.get("axis"), rule))

    def starts(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        """Places as i32."""
        return [v if element_of(v) == i32 else self.add(tt.CastOp(v, i32)) for v in values]

    def _dynamic_slice(self) -> SSAValue:
        x, *starts = self.op.operands
        return self.add(tt.DynamicSliceOp(x, self.starts(starts), self.op.get("sizes")))

    def _dynamic_update_slice(self) -> SSAValue:
        x, update, *starts = self.op.operands
        return self.add(tt.DynamicUpdateSliceOp(x, update, self.starts(starts)))

    # ------------------------------------------------------------------------------------------------- order

    def _arg_reduce(self) -> SSAValue:
        made = tt.ArgmaxOp if self.op.get("kind") == "max" else tt.ArgminOp
        value = self.add(made(self.op.operands[0], axis=self.op.get("dimension")))
        return value if self.element == i32 else self.add(tt.CastOp(value, self.element))

    def _cumulative(self) -> SSAValue:
        if self.op.get("kind") != "sum":
            raise NoLowering(f"there is no running {self.op.get('kind')}")
        x, axis = self.op.operands[0], self.op.get("dimension")
        backwards = np.arange(self.shape[axis])[::-1].astype(np.int32)
        flip = self.op.get("reverse", False)
        if flip:
            x = self.add(tt.GatherOp(x, self.constant(backwards, i32), axis))
        x = self.add(tt.CumsumOp(x, axis=axis, **self.saturation))
        return self.add(tt.GatherOp(x, self.constant(backwards, i32), axis)) if flip else x

    def _sort(self) -> SSAValue:
        made = tt.ArgsortOp if self.op.get("places", False) else tt.SortOp
        return self.add(
            made(self.op.operands[0], axis=self.op.get("dimension"), descending=self.op.get("descending"))
        )

    def _top_k(self) -> SSAValue:
        made = tt.TopKIndicesOp if self.op.get("places", False) else tt.TopKOp
        return self.add(made(self.op.operands[0], self.op.get("count")))

    def _reduce_window(self) -> SSAValue:
        kind, padding = self.op.get("kind"), self.op.get("padding")
        if kind not in ("sum", "max", "min") or min(padding, default=0) < 0:
            raise NoLowering(f"there is no kernel for a window's {kind}")
        return self.add(
            tt.ReduceWindowOp(
                self.op.operands[0],
                kind,
                self.op.get("window"),
                strides=self.op.get("strides"),
                low=padding[0::2],
                high=padding[1::2],
                dilation=self.op.get("dilation"),
                **self.saturation,
            )
        )

    # ----------------------------------------------------------------------------------------------- products

    def _dot_general(self) -> SSAValue:
        op = self.op
        lhs, rhs = op.operands
        lb, rb = op.get("lhs_batching"), op.get("rhs_batching")
        lc, rc = op.get("lhs_contracting"), op.get("rhs_contracting")
        lf, rf = free_axes(len(shape_of(lhs)), lb, lc), free_axes(len(shape_of(rhs)), rb, rc)
        left, transpose_a = self.matrix(lhs, lb, lf, lc)
        right, transpose_b = self.matrix(rhs, rb, rc, rf)
        ea, eb = element_of(lhs), element_of(rhs)
        if ea != eb and not (tt.is_float8(ea) and tt.is_float8(eb)):
            wide = (
                f32
                if f32 in (ea, eb) or {str(ea), str(eb)} == {"f16", "bf16"}
                else ea
                if not tt.is_float8(ea)
                else eb
            )
            left, right = (
                v if element_of(v) == wide else self.add(tt.CastOp(v, wide)) for v in (left, right)
            )
        element = element_of(left)
        if is_floating(element):
            if not is_floating(self.element):
                raise NoLowering(f"a product of {ea} and {eb} is a float, not {self.element}")
            accumulate = op.get("accumulate")
            sums = {"f16": f16, "f32": f32, None: f32 if tt.is_float8(element) else None}[accumulate]
            value = self.add(
                tt.MatmulOp(
                    left,
                    right,
                    self.element,
                    transpose_a=transpose_a,
                    transpose_b=transpose_b,
                    accumulate=cast(Any, sums),
                    **self.saturation,
                )
            )
        elif element == i8 and self.element == i32:
            value = self.add(tt.MatmulOp(left, right, i32, transpose_a=transpose_a, transpose_b=transpose_b))
        else:
            value = self.integer_product(left, right, transpose_a, transpose_b)
        return self.reshape(value, self.shape)

    def integer_product(
        self, left: SSAValue, right: SSAValue, transpose_a: bool, transpose_b: bool
    ) -> SSAValue:
        """A product of integers that the matrix unit does not know: element by element, then summed."""
        rank = len(shape_of(left))
        swap = [*range(rank - 2), rank - 1, rank - 2]
        a = self.transpose(left, swap) if transpose_a else left
        b = right if transpose_b else self.transpose(right, swap)
        *batch, m, k = shape_of(a)
        n = shape_of(b)[-2]
        if prod(batch) * m * n * k > 1 << 20:
            raise NoLowering(f"products of {element_of(left)} to {self.element} have no kernel")
        parts = [v if element_of(v) == self.element else self.add(tt.CastOp(v, self.element)) for v in (a, b)]
        wide = self.add(
            tt.MulOp(self.reshape(parts[0], [*batch, m, 1, k]), self.reshape(parts[1], [*batch, 1, n, k]))
        )
        return self.add(tt.ReduceOp(wide, "sum", [rank]))

    def matrix(
        self, value: SSAValue, batch: list[int], rows: list[int], columns: list[int]
    ) -> tuple[SSAValue, bool]:
        """
        A value as [batch.., rows, columns] of a product whose free axes are flattened, and whether it is
        given with its last two axes exchanged instead of moved.
        """
        shape = shape_of(value)
        extents = [shape[axis] for axis in batch]
        m, n = prod(shape[a] for a in rows), prod(shape[a] for a in columns)
        moved = [*batch, *rows, *columns]
        exchanged = [*batch, *columns, *rows]
        last = max((a for a in range(len(shape)) if shape[a] != 1), default=None)
        if moved != sorted(moved) and (exchanged == sorted(exchanged) or (last is not None and last in rows)):
            order, inner, flag = exchanged, [n, m], True
        else:
            order, inner, flag = moved, [m, n], False
        return self.reshape(self.transpose(value, order), [*extents, *inner]), flag

    def _convolution(self) -> SSAValue:
        """Windows that neither overlap nor leave anything out are rows of a matrix."""
        op = self.op
        x, kernel = op.operands
        at_in, at_kernel, at_out = (op.get(f"{n}_layout") for n in ("input", "kernel", "output"))
        spatial = len(at_in) - 2
        sizes = [shape_of(kernel)[axis] for axis in at_kernel[2:]]
        plain = (
            op.get("strides") == sizes
            and op.get("feature_groups") == op.get("batch_groups") == 1
            and all(d == 1 for d in (*op.get("input_dilation"), *op.get("kernel_dilation")))
            and min(op.get("padding"), default=0) >= 0
        )
        if not plain:
            return self.windows(x, kernel)
        x, kernel = self.transpose(x, at_in), self.transpose(kernel, at_kernel)
        low, high = [0, 0, *op.get("padding")[0::2]], [0, 0, *op.get("padding")[1::2]]
        if any((*low, *high)):
            x = self.add(tt.PadOp(x, low, high))
        batch, features = shape_of(x)[:2]
        counts = [self.shape[axis] for axis in at_out[2:]]
        used = [batch, features, *(c * s for c, s in zip(counts, sizes, strict=True))]
        x = self.box(x, [0] * len(used), used)
        split = [batch, features]
        for count, size in zip(counts, sizes, strict=True):
            split += [count, size]
        x = self.reshape(x, split)
        order = [0, *(2 + 2 * i for i in range(spatial)), 1, *(3 + 2 * i for i in range(spatial))]
        width = features * prod(sizes)
        rows = self.reshape(self.transpose(x, order), [batch * prod(counts), width])
        out = shape_of(kernel)[0]
        weights = self.reshape(kernel, [out, width])
        value = self.add(tt.MatmulOp(rows, weights, self.element, transpose_b=True, **self.saturation))
        value = self.reshape(value, [batch, *counts, out])
        # axes of `value`: batch, spatial, feature; the result's are where `output_layout` says
        place = [0, len(counts) + 1, *range(1, spatial + 1)]
        permutation = [0] * len(place)
        for i, axis in enumerate(at_out):
            permutation[axis] = place[i]
        return self.transpose(value, permutation)

    def windows(self, x: SSAValue, kernel: SSAValue) -> SSAValue:
        """A convolution in the tensor dialect's order: batch, places, channels; places, channels, outputs."""
        op = self.op
        at_in, at_kernel, at_out = (op.get(f"{n}_layout") for n in ("input", "kernel", "output"))
        if op.get("batch_groups") != 1:
            raise NoLowering("groups of the batch have no kernel")
        x = self.transpose(x, [at_in[0], *at_in[2:], at_in[1]])
        kernel = self.transpose(kernel, [*at_kernel[2:], at_kernel[1], at_kernel[0]])
        spatial = len(at_in) - 2
        low, high = op.get("padding")[0::2], op.get("padding")[1::2]
        gaps = [d - 1 for d in op.get("input_dilation")]
        if any(gaps) or min((*low, *high), default=0) < 0:
            zero = self.constant(np.zeros([]), element_of(x))
            for axis in range(spatial):
                x = self.spread(x, zero, axis + 1, gaps[axis])
            start = [0, *(max(-a, 0) for a in low), 0]
            sizes = [
                n - max(-a, 0) - max(-b, 0)
                for n, a, b in zip(shape_of(x), [0, *low, 0], [0, *high, 0], strict=True)
            ]
            x = self.box(x, start, sizes)
            low, high = [max(a, 0) for a in low], [max(b, 0) for b in high]
        value = self.add(
            tt.ConvolutionOp(
                x,
                kernel,
                strides=op.get("strides"),
                low=low,
                high=high,
                dilation=op.get("kernel_dilation"),
                groups=op.get("feature_groups"),
                element_type=self.element,
                **self.saturation,
            )
        )
        place = [0, spatial + 1, *range(1, spatial + 1)]
        permutation = [0] * len(place)
        for i, axis in enumerate(at_out):
            permutation[axis] = place[i]
        return self.transpose(value, permutation)

    def _while(self) -> SSAValue:
        raise NoLowering("its count is not known, or a value changes in a way that a repeat does not have")


# ------------------------------------------------------------------------------------------------- afterwards


def _tidy(block: Block) -> None:
    """Chains of views that the lowering of neighbours has left are one view."""
    changed = True
    while changed:
        changed = remove_dead(block)
        for op in list(block.ops):
            if isinstance(op, tt.ReshapeOp):
                inner = op.operand.owner
                if op.operand.type == op.result.type:
                    replace(op, op.operand)
                    changed = True
                elif isinstance(inner, tt.ReshapeOp):
                    made = tt.ReshapeOp(inner.operand, shape_of(op.result))
                    made.location = op.location
                    Rewriter.insert_op(made, InsertPoint.before(op))
                    replace(op, made.result)
                    changed = True
            elif isinstance(op, tt.TransposeOp):
                inner = op.operand.owner
                permutation = list(op.permutation.get_values())
                if permutation == sorted(permutation):
                    replace(op, op.operand)
                    changed = True
                elif isinstance(inner, tt.TransposeOp):
                    first = inner.permutation.get_values()
                    made = tt.TransposeOp(inner.operand, [first[axis] for axis in permutation])
                    made.location = op.location
                    Rewriter.insert_op(made, InsertPoint.before(op))
                    replace(op, made.result)
                    changed = True


__all__ = ["Lowering", "UnsupportedModel"]
