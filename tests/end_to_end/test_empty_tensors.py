# SPDX-License-Identifier: Apache-2.0
"""
Tensors of no elements: every operation gives what mathematics says, and the machine computes nothing for it.
"""

import harness
import numpy as np
import pytest

CASES = {
    "add": ("add %0, %1", ["0x3xf32", "3xf32"], "0x3xf32", None),
    "sum": ("reduce sum %0 axes [1]", ["4x0xf32"], "4xf32", 0.0),
    "prod": ("reduce prod %0 axes [1]", ["4x0xf16"], "4xf16", 1.0),
    "max": ("reduce max %0 axes [1]", ["4x0xi8"], "4xi8", -128),
    "min": ("reduce min %0 axes [0, 1]", ["0x4xf32"], "f32", np.inf),
    "mean": ("reduce mean %0 axes [1]", ["4x0xf32"], "4xf32", np.nan),
    "sum of no rows": ("reduce sum %0 axes [1]", ["0x5xf32"], "0xf32", None),
    "matmul without rows": ("matmul %0, %1", ["0x5xf32", "5x3xf32"], "0x3xf32", None),
    "matmul without inputs": ("matmul %0, %1", ["2x0xf16", "0x3xf16"], "2x3xf16", 0.0),
    "matmul without columns": ("matmul %0, %1", ["2x4xf32", "4x0xf32"], "2x0xf32", None),
    "matmul without batch": ("matmul %0, %1", ["0x2x4xf16", "0x4x3xf16"], "0x2x3xf16", None),
    "softmax": ("softmax %0", ["3x0xf32"], "3x0xf32", None),
    "layer_norm": ("layer_norm %0, %1, %2 epsilon 1.0e-05", ["0x4xf32", "4xf32", "4xf32"], "0x4xf32", None),
    "concat": ("concat %0, %1, %2 axis 0", ["0x4xf16", "3x4xf16", "0x4xf16"], "3x4xf16", 1.0),
    "pad": ("pad %0 low [1, 0] high [2, 1] value 1.5", ["0x4xf16"], "3x5xf16", 1.5),
    "slice": ("slice %0 offsets [1, 1] sizes [0, 2]", ["3x4xf16"], "0x2xf16", None),
    "compare": ("compare lt %0, %1", ["0x3xf32", "3xf32"], "0x3xi1", None),
    "any": ("reduce any %0 axes [1]", ["4x0xi1"], "4xi1", 0),
    "all": ("reduce all %0 axes [1]", ["4x0xi1"], "4xi1", 1),
    "cumsum": ("cumsum %0", ["3x0xf16"], "3x0xf16", None),
    "sort": ("sort %0 descending", ["0x4xf16"], "0x4xf16", None),
    "argmax of no rows": ("argmax %0", ["0x4xf16"], "0xi32", None),
    "top_k of no rows": ("top_k %0 count 2", ["0x4xf16"], "0x2xf16", None),
    "one_hot of no index": ("one_hot %0", ["0xi32"], "0x4xf16", None),
    "one_hot of no number": ("one_hot %0", ["2xi32"], "2x0xf16", None),
    "scatter_add of nothing": ("scatter_add %0, %1, %2", ["3x2xf16", "0xi32", "0x2xf16"], "3x2xf16", 1.0),
    "scatter_add of nothing in f32": (
        "scatter_add %0, %1, %2",
        ["3x2xf16", "0xi32", "0x2xf16"],
        "3x2xf32",
        1.0,
    ),
    "scatter_add to nothing": ("scatter_add %0, %1, %2", ["0x2xf16", "1xi32", "1x2xf16"], "0x2xf16", None),
    "convolution without batch": ("convolution %0, %1", ["0x4x2xf16", "2x2x3xf16"], "0x3x3xf16", None),
    "convolution without channels": ("convolution %0, %1", ["1x4x0xf16", "2x0x3xf16"], "1x3x3xf16", 0.0),
    "window": ("reduce_window max %0 size [1, 2]", ["0x4xf16"], "0x3xf16", None),
    "window of padding": ("reduce_window max %0 size [2] low [2]", ["0xf16"], "1xf16", -np.inf),
    "attention without queries": ("attention %0, %1, %2", ["0x4xf16", "3x4xf16", "3x2xf16"], "0x2xf16", None),
    "attention without keys": ("attention %0, %1, %2", ["2x4xf16", "0x4xf16", "0x2xf16"], "2x2xf16", 0.0),
}


@pytest.mark.parametrize("name", CASES)
def test_an_operation_on_nothing(name: str) -> None:
    operation, operands, result, expected = CASES[name]
    types = [f"tensor<{text}>" for text in operands]
    arguments = ", ".join(f"%{i}: {t}" for i, t in enumerate(types)).replace("%", "%a")
    text = (
        f"func.func @main({arguments}) -> tensor<{result}> {{\n"
        f"  %r = tile_tensor.{operation.replace('%', '%a')} : ({', '.join(types)}) -> tensor<{result}>\n"
        f"  return %r : tensor<{result}>\n}}"
    )
    shapes = [tuple(int(n) for n in operand.split("x")[:-1]) for operand in operands]
    inputs = {f"arg{i}": np.ones(shape, np.float32) for i, shape in enumerate(shapes)}
    output = harness.check(harness.compile_text(text, "t4"), inputs, {}, harness.POISONS)["out0"]
    assert (
        expected is None
        or (output.astype(np.float64) == expected).all()
        or np.isnan(expected) == np.isnan(output).all()
    )
    assert output.size == 0 or expected is not None
