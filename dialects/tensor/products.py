# SPDX-License-Identifier: Apache-2.0
"""Operations of `tile_tensor` for the matrix unit: matmul and attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import auto

from xdsl.dialects.builtin import (
    BoolAttr,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    UnitAttr,
    f16,
    f32,
    i32,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    eq,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.tensor import shapes as shapes
from tilewright.dialects.tensor.base import (
    ElementType,
    Float32,
    RoundingOperation,
    element_of,
    float_attribute,
    is_boolean,
    is_float,
    is_float8,
    is_integer,
    require,
    shape_of,
    verify_scale,
)
from tilewright.dialects.tensor.shapes import Shape


def _verify_accumulate(accumulate: Attribute | None, element: Attribute) -> None:
    require(accumulate in (None, f16, f32), f"accumulates in f16 or f32, found {accumulate}")
    require(
        accumulate != f16 or is_float8(element) or element == f16,
        f"{element} accumulates in f32, found {accumulate}",
    )


MOST_KEYS = (1 << 30) - 1
"""The widest window and the largest offset of queries: sums with numbers of keys stay in 32 bits."""


class EmptyRows(StrEnum):
    """What becomes of a row of scores that is masked whole: every scaled score is minus infinity."""

    ZERO = auto()
    UNIFORM = auto()
    NAN = auto()


@irdl_attr_definition
class EmptyRowsAttr(EnumAttribute[EmptyRows], SpacedOpaqueSyntaxAttribute):
    """`#tile_tensor<empty_rows zero>`."""

    name = "tile_tensor.empty_rows"


class MaskPlace(StrEnum):
    """Whether a mask is added to the scores before or after they are multiplied by the scale."""

    BEFORE_SCALE = auto()
    AFTER_SCALE = auto()


@irdl_attr_definition
class MaskPlaceAttr(EnumAttribute[MaskPlace], SpacedOpaqueSyntaxAttribute):
    """`#tile_tensor<mask_place after_scale>`."""

    name = "tile_tensor.mask_place"


def verify_softmax_scale(scale: float) -> None:
    require(math.isfinite(scale), f"the scale of a softmax is a finite number, found {scale}")


@irdl_op_definition
class MatmulOp(RoundingOperation):
    """
    `[.., m, k] x [.., k, n] -> [.., m, n]`, times `2^scale`, plus the addends; leading dimensions
    broadcast as numpy does.

    Operands have one element type, or two 8-bit float types, or one is f16 and the other an 8-bit float.

    An addend is a vector `[n]` or has the result's shape. `accumulate` is the type of the running sum: see
    `accumulate_type` for what holds without it.
    """

    name = "tile_tensor.matmul"
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    addends = var_operand_def(TensorType)
    transpose_a = opt_prop_def(UnitAttr)
    transpose_b = opt_prop_def(UnitAttr)
    accumulate = opt_prop_def(TypeAttribute)
    scale = prop_def(IntegerAttr.constr(type=eq(i32)), default_value=IntegerAttr(0, i32))
    custom_directives = (ElementType,)
    assembly_format = (
        "$lhs `,` $rhs (`plus` $addends^)? (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? "
        "(`accumulate` custom<ElementType>($accumulate)^)? (`scale` $scale^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        element_type: Attribute,
        *,
        addends: Sequence[SSAValue | Operation] = (),
        transpose_a: bool = False,
        transpose_b: bool = False,
        accumulate: TypeAttribute | None = None,
        scale: int = 0,
        saturate: bool = True,
    ) -> None:
        lhs, rhs = SSAValue.get(lhs), SSAValue.get(rhs)
        super().__init__(
            operands=[lhs, rhs, [SSAValue.get(addend) for addend in addends]],
            result_types=[
                TensorType(
                    element_type, shapes.matmul(shape_of(lhs), shape_of(rhs), transpose_a, transpose_b)
                )
            ],
            properties={
                "transpose_a": UnitAttr() if transpose_a else None,
                "transpose_b": UnitAttr() if transpose_b else None,
                "accumulate": accumulate,
                "scale": IntegerAttr(scale, i32),
                "saturate": BoolAttr.from_bool(saturate),
            },
        )

    @property
    def accumulate_type(self) -> Attribute:
        """
        The type of the running sum: as given; else i32 for integers, f16 for f8 operands with a result
        narrower than f32, f32 for everything else.
        """
        if self.accumulate is not None:
            return self.accumulate
        if is_integer(element_of(self.lhs)):
            return i32
        narrow = is_float8(self.operand_type) and not isinstance(element_of(self.result), Float32Type)
        return f16 if narrow else f32

    @property
    def operand_type(self) -> Attribute:
        """The element type that both operands have or are widened to (of two 8-bit types the left one's)."""
        lhs, rhs = element_of(self.lhs), element_of(self.rhs)
        return f16 if f16 in (lhs, rhs) else lhs

    def infer_shape(self) -> Shape:
        result = shapes.matmul(
            shape_of(self.lhs), shape_of(self.rhs), self.transpose_a is not None, self.transpose_b is not None
        )
        for addend in self.addends:
            if shape_of(addend) not in (result, result[-1:]):
                raise shapes.ShapeError(
                    f"an addend has shape {shapes.show(shape_of(addend))}, expected {shapes.show(result)} or"
                    f" {shapes.show(result[-1:])}"
                )
        return result

    def verify_elements(self) -> None:
        lhs, rhs, result = element_of(self.lhs), element_of(self.rhs), element_of(self.result)
        require(
            lhs == rhs or all(is_float8(element) or element == f16 for element in (lhs, rhs)),
            "operands must have one element type, or two 8-bit float types, or one of them and f16, "
            f"found {lhs} and {rhs}; use tile_tensor.cast",
        )
        scale = self.scale.value.data
        verify_scale(scale)
        if is_float(lhs):
            require(is_float(result), f"the product of {lhs} and {rhs} is a float, found {result}")
            _verify_accumulate(self.accumulate, self.operand_type)
            narrow = self.accumulate_type == f16
            for addend in map(element_of, self.addends):
                require(is_float(addend), f"addends of a product of floats are floats, found {addend}")
                require(
                    not narrow or is_float8(addend) or addend == f16,
                    f"addends are no wider than the running sum, found {addend} and {self.accumulate_type}",
                )
            return
        require(not self.addends, "an integer product takes no addends")
        require(
            lhs == IntegerType(8) and result == i32,
            f"integer matmul is i8 by i8 to i32, found {lhs} to {result}",
        )
        require(self.accumulate in (None, i32), f"i8 accumulates in i32, found {self.accumulate}")
        require(scale == 0, f"integer matmul has no scale, found {scale}")


@irdl_op_definition
class AttentionOp(RoundingOperation):
    """
    `softmax(scale * (q k^T + mask)) v` on `q[.., h, tq, d]`, `k[.., g, tk, d]`, `v[.., g, tk, dv]`.

    Heads `i * h / g` to `(i + 1) * h / g - 1` of the queries share head i of keys and values. The mask is
    optional, any float, and broadcast to the scores `[.., h, tq, tk]`; its last axis is `tk`. It is added
    where `mask_place` says; a mask of i1 says which keys are seen. Query i stands at key `i + query_offset`:
    with `causal` it sees no key behind, with `window` none that is `window` or more away. `accumulate` is the
    type of the scores and of the running sums of both products: see `accumulate_type`. `empty_rows` says what
    a row of scores gives that is masked whole.
    """

    name = "tile_tensor.attention"
    query = operand_def(TensorType)
    key = operand_def(TensorType)
    value = operand_def(TensorType)
    mask = opt_operand_def(TensorType)
    scale = prop_def(FloatAttr[Float32Type], default_value=float_attribute(1.0))
    accumulate = opt_prop_def(TypeAttribute)
    mask_place = prop_def(MaskPlaceAttr, default_value=MaskPlaceAttr(MaskPlace.BEFORE_SCALE))
    causal = opt_prop_def(UnitAttr)
    window = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    query_offset = prop_def(IntegerAttr.constr(type=eq(i64)), default_value=IntegerAttr(0, i64))
    empty_rows = prop_def(EmptyRowsAttr, default_value=EmptyRowsAttr(EmptyRows.ZERO))
    custom_directives = (ElementType, Float32)
    assembly_format = (
        "$query `,` $key `,` $value (`,` $mask^)? (`accumulate` custom<ElementType>($accumulate)^)? "
        "(`scale` custom<Float32>($scale)^)? (`mask_place` $mask_place^)? (`causal` $causal^)? "
        "(`window` $window^)? (`query_offset` $query_offset^)? (`empty_rows` $empty_rows^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        query: SSAValue | Operation,
        key: SSAValue | Operation,
        value: SSAValue | Operation,
        mask: SSAValue | Operation | None = None,
        *,
        scale: float = 1.0,
        accumulate: TypeAttribute | None = None,
        mask_place: str = "before_scale",
        causal: bool = False,
        window: int | None = None,
        query_offset: int = 0,
        empty_rows: str = "zero",
        element_type: Attribute | None = None,
        saturate: bool = True,
    ) -> None:
        query, key, value = SSAValue.get(query), SSAValue.get(key), SSAValue.get(value)
        mask = None if mask is None else SSAValue.get(mask)
        result_shape = shapes.attention(
            shape_of(query), shape_of(key), shape_of(value), None if mask is None else shape_of(mask)
        )
        super().__init__(
            operands=[query, key, value, mask],
            result_types=[TensorType(element_type or element_of(query), result_shape)],
            properties={
                "scale": float_attribute(scale),
                "accumulate": accumulate,
                "mask_place": MaskPlaceAttr(MaskPlace(mask_place)),
                "causal": UnitAttr() if causal else None,
                "window": None if window is None else IntegerAttr(window, i64),
                "query_offset": IntegerAttr(query_offset, i64),
                "empty_rows": EmptyRowsAttr(EmptyRows(empty_rows)),
                "saturate": BoolAttr.from_bool(saturate),
            },
        )

    @property
    def accumulate_type(self) -> Attribute:
        """The type of the running sums: as given; else f16 for f8 operands, f32 for everything else."""
        if self.accumulate is not None:
            return self.accumulate
        return f16 if is_float8(element_of(self.query)) else f32

    def infer_shape(self) -> Shape:
        mask = None if self.mask is None else shape_of(self.mask)
        return shapes.attention(shape_of(self.query), shape_of(self.key), shape_of(self.value), mask)

    def verify_elements(self) -> None:
        for value in (*self.operands, self.result):
            boolean = value is self.mask and is_boolean(element_of(value))
            require(boolean or is_float(element_of(value)), f"works on floats, found {element_of(value)}")
        _verify_accumulate(self.accumulate, element_of(self.query))
        verify_softmax_scale(self.scale.value.data)
        require(
            self.mask is not None or self.mask_place.data is MaskPlace.BEFORE_SCALE,
            "`mask_place` says where a mask is added, and there is none",
        )
        window, offset = self.window, self.query_offset.value.data
        require(
            window is None or 1 <= window.value.data <= MOST_KEYS,
            f"a window is of 1 to {MOST_KEYS} keys, found {window.value.data if window else 0}",
        )
        require(
            offset == 0 or self.causal is not None or window is not None,
            f"`query_offset` {offset} is about `causal` or `window`, and there is neither",
        )
        require(abs(offset) <= MOST_KEYS, f"a query offset is at most {MOST_KEYS} either way, found {offset}")
