# SPDX-License-Identifier: Apache-2.0
"""tile_tensor: what constructors infer verifies, what the text says is kept. Messages: filecheck/dialects."""

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    FileLineColLoc,
    Float8E4M3FNUZType,
    Float64Type,
    IntegerType,
    NameLoc,
    StringAttr,
    TensorType,
    bf16,
    f16,
    f32,
    i1,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.ir import SSAValue
from xdsl.printer import Printer
from xdsl.traits import is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.parsing import parse_module
from tilewright.dialects.tensor import shapes as shapes

F8 = Float8E4M3FNUZType()


def value(shape: list[int], element=f16) -> SSAValue:
    return AnyOp(result_types=[TensorType(element, shape)]).results[0]


def text(module, **options) -> str:
    stream = StringIO()
    Printer(stream, **options).print_op(module)
    return stream.getvalue()


CONSTRUCTED = [
    (lambda: tt.AddOp(value([4, 8]), value([8])), [4, 8], f16),
    (lambda: tt.SubOp(value([4, 1]), value([8], f32), TensorType(f32, [4, 8])), [4, 8], f32),
    (lambda: tt.ExpOp(value([3])), [3], f16),
    (lambda: tt.GeluOp(value([3]), "tanh", TensorType(F8, [3]), saturate=False), [3], F8),
    (lambda: tt.CastOp(value([3]), F8, scale=-2, saturate=False), [3], F8),
    (lambda: tt.MatmulOp(value([2, 4, 8]), value([2, 6, 8]), f32, transpose_b=True), [2, 4, 6], f32),
    (lambda: tt.MatmulOp(value([8, 4], F8), value([8, 6], F8), f16, transpose_a=True, scale=-3), [4, 6], f16),
    (lambda: tt.AttentionOp(value([2, 5, 8]), value([2, 7, 8]), value([2, 7, 3]), scale=0.5), [2, 5, 3], f16),
    (lambda: tt.ReduceOp(value([4, 8]), "max", [1], keep_dims=True), [4, 1], f16),
    (lambda: tt.ReduceOp(value([4, 8]), "mean", [0, 1], element_type=f32), [], f32),
    (lambda: tt.SoftmaxOp(value([4, 8]), scale=0.25, element_type=F8), [4, 8], F8),
    (lambda: tt.LayerNormOp(value([4, 8]), value([8]), value([8]), epsilon=1e-6), [4, 8], f16),
    (lambda: tt.RmsNormOp(value([4, 8]), value([8], f32), epsilon=1e-6), [4, 8], f16),
    (lambda: tt.TransposeOp(value([4, 8, 2]), [2, 0, 1]), [2, 4, 8], f16),
    (lambda: tt.ReshapeOp(value([4, 8]), [2, 16]), [2, 16], f16),
    (lambda: tt.SliceOp(value([4, 8]), [1, 2], [3, 4]), [3, 4], f16),
    (lambda: tt.SliceOp(value([4, 8]), [1, 0], [2, 3], [2, 3]), [2, 3], f16),
    (lambda: tt.SoftmaxOp(value([4, 8]), axis=0), [4, 8], f16),
    (lambda: tt.RmsNormOp(value([4, 8]), value([4]), axis=0, epsilon=1e-6), [4, 8], f16),
    (lambda: tt.PadOp(value([4, 8]), [-1, 0], [0, -2], 1.0, [2, 0]), [9, 6], f16),
    (
        lambda: tt.ConvolutionOp(value([1, 8, 8, 4]), value([3, 3, 2, 6]), low=[1, 0], groups=2),
        [1, 7, 6, 6],
        f16,
    ),
    (lambda: tt.ReduceWindowOp(value([4, 8]), "max", [1, 3], strides=[1, 2]), [4, 3], f16),
    (lambda: tt.OneHotOp(value([4], i32), 8, f32), [4, 8], f32),
    (lambda: tt.ArgmaxOp(value([4, 8])), [4], i32),
    (lambda: tt.ArgminOp(value([4, 8]), axis=0), [8], i32),
    (lambda: tt.CumsumOp(value([4, 8])), [4, 8], f16),
    (lambda: tt.SortOp(value([4, 8]), descending=True), [4, 8], f16),
    (lambda: tt.ArgsortOp(value([4, 8]), axis=0), [4, 8], i32),
    (lambda: tt.TopKOp(value([4, 8]), 3), [4, 3], f16),
    (lambda: tt.TopKIndicesOp(value([4, 8]), 3, axis=0), [3, 8], i32),
    (lambda: tt.ScatterAddOp(value([4, 8]), value([2], i32), value([2, 8])), [4, 8], f16),
    (lambda: tt.ConcatOp([value([4, 8]), value([4, 1])], 1), [4, 9], f16),
    (lambda: tt.PadOp(value([4, 8]), [0, 1], [2, 0], float("-inf")), [6, 9], f16),
    (lambda: tt.BroadcastOp(value([4, 1]), [2, 4, 8], [1, 2]), [2, 4, 8], f16),
    (lambda: tt.CompareOp("lt", value([4, 1]), value([8])), [4, 8], i1),
    (lambda: tt.IsFiniteOp(value([4])), [4], i1),
    (lambda: tt.ShiftLeftOp(value([4, 1], i32), value([8], i32)), [4, 8], i32),
    (lambda: tt.SelectOp(value([4, 1], i1), value([8]), value([2, 1, 1])), [2, 4, 8], f16),
    (lambda: tt.GatherOp(value([4, 8]), value([2, 3], i32), 1), [4, 2, 3], f16),
    (lambda: tt.DynamicSliceOp(value([4, 8]), [value([], i32)] * 2, [1, 3]), [1, 3], f16),
    (
        lambda: tt.DynamicUpdateSliceOp(value([4, 8]), value([1, 3]), [value([], i32)] * 2),
        [4, 8],
        f16,
    ),
]


@pytest.mark.parametrize(("build", "shape", "element"), CONSTRUCTED)
def test_constructors_infer_what_the_verifier_accepts(build, shape, element) -> None:
    op = build()
    op.verify()
    assert op.result.type == TensorType(element, shape)
    assert is_side_effect_free(op)


def test_every_operation_is_constructed_above() -> None:
    built = {type(build()) for build, _, _ in CONSTRUCTED}
    families = (tt.UnaryOperation, tt.BinaryOperation, tt.ExactUnaryOperation, tt.ExactBinaryOperation)
    missing = [op for op in tt.TileTensor.operations if op not in built and not issubclass(op, families)]
    assert missing == [tt.ConstantOp]


def test_class_names_follow_operation_names() -> None:
    for op in tt.TileTensor.operations:
        camel = "".join(part.capitalize() for part in op.name.partition(".")[2].split("_"))
        assert op.__name__ == camel + "Op"


@pytest.mark.parametrize(
    ("lhs", "result", "accumulate", "expected"),
    [
        (F8, f16, None, f16),
        (F8, F8, None, f16),
        (F8, f32, None, f32),
        (f16, f16, None, f32),
        (f16, f16, f16, f16),
        (bf16, f32, None, f32),
        (IntegerType(8), i32, None, i32),
    ],
)
def test_accumulation_type(lhs, result, accumulate, expected) -> None:
    op = tt.MatmulOp(value([2, 3], lhs), value([3, 2], lhs), result, accumulate=accumulate)
    op.verify()
    assert op.accumulate_type == expected


def test_encodings_are_no_part_of_the_shape() -> None:
    placed = TensorType(f16, [4], StringAttr("somewhere"))
    operand = AnyOp(result_types=[placed]).results[0]
    tt.NegOp(operand, TensorType(f16, [4], StringAttr("elsewhere"))).verify()
    assert tt.NegOp(operand).result.type == TensorType(f16, [4])


def test_a_constant_may_be_placed() -> None:
    constant = '%c = tile_tensor.constant dense<1.0> : tensor<4xf16> -> tensor<4xf16, "here">'
    source = f"func.func @f() {{\n  {constant}\n  func.return\n}}"
    module = parse_module(source)
    assert '-> tensor<4xf16, "here">' in text(module)
    assert text(parse_module(text(module))) == text(module)


def test_hexadecimal_floats_are_bits() -> None:
    module = parse_module(
        "func.func @f(%x: tensor<2xf32>) {\n"
        "  %c = tile_tensor.constant dense<0xFF800000> : tensor<f32>\n"
        "  %d = tile_tensor.constant dense<[0xFF80, 0x7FC0]> : tensor<2xbf16>\n"
        "  %e = tile_tensor.pad %x low [1] high [0] value 0xFF800000 : (tensor<2xf32>) -> tensor<3xf32>\n"
        "  %g = tile_tensor.pad %x low [1] high [0] value -4 : (tensor<2xf32>) -> tensor<3xf32>\n"
        "  func.return\n}"
    )
    constant, wide, pad, negative, _ = module.body.block.first_op.body.block.ops
    assert constant.value.data.data.hex() == "000080ff"
    assert wide.value.data.data.hex() == "80ffc07f"
    assert pad.value.value.data == float("-inf")
    assert negative.value.value.data == -4.0
    for options in ({}, {"print_generic_format": True}):
        assert text(parse_module(text(module, **options))) == text(module)


@pytest.mark.parametrize(
    ("value", "message"),
    (
        ("99999999999999999999", "has more than 64 bits"),
        ("0x10000000000000000", "has more than 64 bits"),
        ("9223372036854775808", "expected a number of 64 bits"),
        ("-9223372036854775809", "expected a number of 64 bits"),
    ),
)
def test_numbers_of_a_pad_have_64_bits(value, message) -> None:
    with pytest.raises(Exception, match=message):
        parse_module(
            "func.func @f(%x: tensor<2xi32>) {\n"
            f"  %e = tile_tensor.pad %x low [1] high [0] value {value} : (tensor<2xi32>) -> tensor<3xi32>\n"
            "  func.return\n}"
        )


def test_rows_need_an_axis() -> None:
    with pytest.raises(
        Exception, match="a row-wise operation needs a tensor of rank 1 or more, found a scalar"
    ):
        parse_module(
            "func.func @f(%x: tensor<f16>) {\n"
            "  %y = tile_tensor.softmax %x : (tensor<f16>) -> tensor<f16>\n  func.return\n}"
        )


def test_a_text_that_ends_too_early() -> None:
    with pytest.raises(Exception, match=r"expected `}`|the text ends before the"):
        parse_module("module { func.func @f() {\n  func.return\n}\n")


def test_locations() -> None:
    source = (
        "func.func @f(%x: tensor<4xf16>) {\n"
        "  %a = tile_tensor.exp %x : (tensor<4xf16>) -> tensor<4xf16>\n"
        '  %b = tile_tensor.neg %a : (tensor<4xf16>) -> tensor<4xf16> loc("layer")\n'
        "  %c = tile_tensor.constant dense<1.0> : tensor<f16>\n"
        "  func.return\n}"
    )
    exp, neg, constant, _ = parse_module(source, "model.mlir").body.block.first_op.body.block.ops
    assert isinstance(exp.location, FileLineColLoc)
    assert (exp.location.filename.data, exp.location.line.data) == ("model.mlir", 2)
    assert isinstance(neg.location, NameLoc)
    assert constant.location.line.data == 4


def test_a_plan_is_kept() -> None:
    source = (
        "func.func @f(%x: tensor<4xf16>) {\n"
        "  %a = tile_tensor.exp %x {plan = {parts = [2 : i32]}} : (tensor<4xf16>) -> tensor<4xf16>\n"
        "  func.return\n}"
    )
    assert "{plan = {parts = [2 : i32]}}" in text(parse_module(source))


def test_unknown_elements_are_refused() -> None:
    with pytest.raises(VerifyException, match=r"elements must be .* found f64"):
        tt.NegOp(value([2], Float64Type())).verify()


SHAPE = st.lists(st.sampled_from([1, 2, 3]), max_size=4).map(tuple)


@given(SHAPE, SHAPE)
def test_broadcasting_is_numpy_s(lhs, rhs) -> None:
    import numpy as np

    try:
        expected = np.broadcast_shapes(lhs, rhs)
    except ValueError:
        with pytest.raises(shapes.ShapeError):
            shapes.broadcast_pair(lhs, rhs)
        return
    assert shapes.broadcast_pair(lhs, rhs) == expected


def test_the_function_is_read_back_from_the_generic_form() -> None:
    source = (
        "func.func @f(%a: tensor<4x8xf8E4M3FNUZ>) -> tensor<4x4xf16> {\n"
        "  %r = tile_tensor.matmul %a, %a transpose_b accumulate f16 scale -3"
        " : (tensor<4x8xf8E4M3FNUZ>, tensor<4x8xf8E4M3FNUZ>) -> tensor<4x4xf16>\n"
        "  func.return %r : tensor<4x4xf16>\n}"
    )
    module = parse_module(source)
    again = parse_module(text(module, print_generic_format=True))
    assert text(again) == text(module)
    assert isinstance(again.body.block.first_op, FuncOp)
