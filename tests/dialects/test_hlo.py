# SPDX-License-Identifier: Apache-2.0
"""The middle form of the front ends: what its operations refuse, and their values in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f16, f32, i1, i32
from xdsl.dialects.test import TestOp as Made
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.hlo.operations import make
from tilewright.dialects.hlo.values import dense_of, element_of_dtype, evaluate
from tilewright.dialects.parsing import parse_module
from tilewright.dialects.tensor.shapes import ShapeError


def values(*shapes: tuple[int, ...], element: Any = f32) -> list[Any]:
    return [Made(result_types=[TensorType(element, list(shape))]).results[0] for shape in shapes]


BAD_TEXT = {
    "tile_hlo.add %x : (tensor<4x8xf32>) -> tensor<4x8xf32>": "takes 2 operands, found 1",
    "tile_hlo.transpose %x : (tensor<4x8xf32>) -> tensor<8x4xf32>": "needs the attribute `permutation`",
    "tile_hlo.abs %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>": "has no attribute `axis`",
    "tile_hlo.abs %x : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)": "has one result, found 2",
    "tile_hlo.abs %d : (tensor<?xf32>) -> tensor<?xf32>": "works on tensors of static shape, found",
    "tile_hlo.abs %x : (tensor<4x8xf32>) -> tensor<4x8xf16>": "gives elements of f32, found f16",
    "tile_hlo.constant {value = dense<1.0> : tensor<3xf32>} : () -> tensor<4xf32>": "`value` is no constant",
    'tile_hlo.compare %x, %x {direction = "UP"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>': (
        "direction is one of EQ, NE, LT, LE, GT, GE, found UP"
    ),
    'tile_hlo.reduce %x {kind = "xor", dimensions = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<8xf32>': (
        "kind is one of sum, product, max, min, and, or, found xor"
    ),
    "tile_hlo.abs %x : (tensor<4x8xf32>) -> tensor<8x4xf32>": "expects a result of shape 4x8, found 8x4",
    "tile_hlo.while %x : (tensor<4x8xf32>) -> tensor<4xf32> {\n^bb0(%a: tensor<4x8xf32>):\n"
    "  tile_hlo.return : () -> ()\n} {\n^bb0(%b: tensor<4x8xf32>):\n  tile_hlo.return : () -> ()\n}": (
        "a while gives what it takes: results and operands have other types"
    ),
}


@pytest.mark.parametrize("text", BAD_TEXT)
def test_what_does_not_verify(text: str) -> None:
    with pytest.raises(VerifyException, match=r".*") as caught:
        results = "%r, %s" if "-> (tensor" in text else "%r"
        head = "func.func @f(%x: tensor<4x8xf32>, %d: tensor<?xf32>) {"
        parse_module(f"{head}\n  {results} = {text}\n  func.return\n}}")
    assert BAD_TEXT[text] in str(caught.value)


@pytest.mark.parametrize(
    ("name", "operands", "attributes", "message"),
    [
        (
            "slice",
            [(4,)],
            {"start": [1, 2], "limit": [3], "strides": [1]},
            "start needs 1 entries for 4, found 2",
        ),
        ("slice", [(4,)], {"start": [3], "limit": [9], "strides": [1]}, "slice [3, 9) by 1 of an axis of 4"),
        ("select", [(3,), (4,), (4,)], {}, "select of 4 and 4 by 3"),
        ("clamp", [(3,), (4,), ()], {}, "clamp of 4 between 3 and scalar"),
        ("concatenate", [], {"dimension": 0}, "concatenate needs an operand"),
        ("concatenate", [(2, 3), (2, 4)], {"dimension": 0}, "concatenate of 2x3 and 2x4 along axis 0"),
        (
            "pad",
            [(4,), (1,)],
            {"low": [0], "high": [0], "interior": [0]},
            "the padding value is a scalar, found 1",
        ),
        ("pad", [(4,), ()], {"low": [-5], "high": [0], "interior": [0]}, "pad of 4 leaves [-1]"),
        ("dynamic_slice", [(4,), (1,)], {"sizes": [2]}, "starts are scalars"),
        ("dynamic_slice", [(4,), ()], {"sizes": [9]}, "sizes [9] do not fit 4"),
        ("reduce", [(4,)], {"kind": "sum", "dimensions": [2]}, "dimension 2 is out of range for rank 1"),
        (
            "reduce",
            [(4, 4)],
            {"kind": "sum", "dimensions": [1, 1]},
            "dimensions must be distinct, found [1, 1]",
        ),
        ("add", [(4,), (5,)], {}, "operands must have one shape, found 4 and 5"),
        ("transpose", [(4,)], {"permutation": [1]}, "[1] is not a permutation of the axes of 4"),
        (
            "dot_general",
            [(4, 5), (6, 7)],
            {"lhs_batching": [], "rhs_batching": [], "lhs_contracting": [1], "rhs_contracting": [0]},
            "contracting dimensions [1] of 4x5 and [0] of 6x7 differ",
        ),
    ],
)
def test_shapes_that_do_not_fit(
    name: str, operands: list[Any], attributes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ShapeError) as caught:
        make(name, values(*operands), element=f32, **attributes)
    assert str(caught.value) == message


def convolution(**changed: Any) -> dict[str, Any]:
    return {
        "strides": [1],
        "padding": [0, 0],
        "input_dilation": [1],
        "kernel_dilation": [1],
        "input_layout": [0, 1, 2],
        "kernel_layout": [0, 1, 2],
        "output_layout": [0, 1, 2],
        "feature_groups": 1,
        "batch_groups": 1,
        **changed,
    }


def test_convolutions_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match="3 input features, 2 of the kernel in 1 groups"):
        make("convolution", values((1, 3, 8), (5, 2, 3)), element=f32, **convolution())
    with pytest.raises(ShapeError, match="is no layout of 1x3x8"):
        make("convolution", values((1, 3, 8), (5, 3, 3)), element=f32, **convolution(input_layout=[0, 1, 1]))


def run(
    name: str, *arrays: np.ndarray, element: Any = None, shape: Any = None, **attributes: Any
) -> np.ndarray:
    operands = [
        Made(result_types=[TensorType(element_of_dtype(a.dtype), list(a.shape))]).results[0] for a in arrays
    ]
    op = make(name, operands, element=element, shape=shape, **attributes)
    op.verify_()
    return evaluate(op, list(arrays))


RANDOM = np.random.default_rng(3)


def floats(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def test_values_of_movements() -> None:
    x = floats(3, 4)
    assert np.array_equal(run("transpose", x, permutation=[1, 0]), x.T)
    assert np.array_equal(run("reverse", x, dimensions=[1]), x[:, ::-1])
    assert np.array_equal(run("broadcast_in_dim", x, shape=(4, 2, 3), dimensions=[2, 0])[:, 1], x.T)
    padded = run("pad", x, np.float32(7).reshape(()), low=[1, -1], high=[0, 2], interior=[1, 0])
    assert padded.shape == (6, 5) and np.array_equal(padded[1::2, :3], x[:, 1:]) and (padded[::2] == 7).all()
    start = [np.array(v, np.int32) for v in (9, -2)]
    assert np.array_equal(run("dynamic_slice", x, *start, sizes=[2, 2]), x[1:3, 0:2])
    updated = run("dynamic_update_slice", x, np.zeros((1, 2), np.float32), *start)
    assert np.array_equal(updated[2], [0, 0, x[2, 2], x[2, 3]]) and np.array_equal(updated[:2], x[:2])
    rows = np.array([-1, 0, 3])
    assert np.array_equal(run("take", x, rows, axis=0, out_of_range="clamp"), x[[0, 0, 2]])
    assert np.isnan(run("take", x, rows, axis=0, out_of_range="nan")[[0, 2]]).all()
    assert np.array_equal(run("iota", shape=(2, 3), element=i32, dimension=1), [[0, 1, 2]] * 2)


def test_values_of_reductions() -> None:
    x = floats(3, 4)
    assert np.array_equal(run("arg_reduce", x, element=i32, kind="max", dimension=1), x.argmax(1))
    assert np.allclose(run("cumulative", x, kind="sum", dimension=0, reverse=True), x[::-1].cumsum(0)[::-1])
    window = {"window": [1, 2], "strides": [1, 2], "dilation": [1, 1], "padding": [0, 0, 0, 0]}
    assert np.array_equal(run("reduce_window", x, kind="max", **window), x.reshape(3, 2, 2).max(-1))
    assert run("reduce", x > 9, kind="or", dimensions=[0, 1]) == np.False_
    assert run("reduce", floats(0, 2), kind="max", dimensions=[0])[0] == -np.inf


def test_convolution_is_that_of_the_definition() -> None:
    x, w = floats(2, 6, 9), floats(4, 3, 2)
    found = run(
        "convolution",
        x,
        w,
        element=f32,
        **convolution(strides=[2], padding=[1, 3], kernel_dilation=[2], input_dilation=[2], feature_groups=2),
    )
    wide = np.zeros((2, 6, 1 + 17 + 3))
    wide[:, :, 1:18:2] = x
    expected = np.zeros((2, 4, 10))
    for n in range(2):
        for o in range(4):
            for p in range(10):
                part = wide[n, 3 * (o // 2) : 3 * (o // 2) + 3, 2 * p : 2 * p + 3 : 2]
                expected[n, o, p] = (part * w[o]).sum()
    assert np.abs(found - expected).max() < 1e-5


def test_conversions_do_not_saturate() -> None:
    x = np.array([1e9, -1e9, np.nan, 2.7, -2.7], np.float32)
    assert run("convert", x, element=i32).tolist() == [10**9, -(10**9), 0, 2, -2]
    assert np.isinf(run("convert", x, element=f16)[:2]).all()
    assert run("convert", x, element=i1).all()
    assert run("divide", np.array([7, -7, 5]), np.array([2, 2, 0])).tolist() == [3, -3, -1]
    assert run("maximum", np.float32([-0.0]), np.float32([0.0])).tobytes() == np.float32([0.0]).tobytes()


def test_constants_keep_their_bits() -> None:
    from tilewright.dialects.hlo.values import array_of

    for array in (floats(3, 200), RANDOM.standard_normal(5) > 0, np.arange(4), np.float16([[1.5]])):
        assert np.array_equal(array_of(dense_of(array)), array) and dense_of(array).get_shape() == array.shape
