# SPDX-License-Identifier: Apache-2.0
"""Operations of the middle form to executed bytes, against numpy written for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright.diagnostics import TileError
from tilewright.frontends import importing
from tilewright.frontends.middle import ModelBuilder

F32 = np.float32
X = np.random.default_rng(5).standard_normal((5, 7)).astype(F32)
IMAGE = np.random.default_rng(6).standard_normal((1, 2, 6, 5)).astype(F32)
KERNEL = np.random.default_rng(7).standard_normal((4, 1, 3, 2)).astype(F32)


def run(write: Callable[[ModelBuilder, list[Any]], Any], *inputs: np.ndarray) -> np.ndarray:
    """The result of one operation on the machine model."""
    build = ModelBuilder()
    names = [f"x{i}" for i in range(len(inputs))]
    kinds = {
        np.dtype(F32): "f32",
        np.dtype(np.int32): "i32",
        np.dtype(bool): "i1",
        np.dtype(np.float16): "f16",
    }
    values = [build.input(n, a.shape, kinds[a.dtype]) for n, a in zip(names, inputs, strict=True)]
    found = importing.import_model(build.finish({"y": write(build, values)}))
    program = tilewright.compile(found.module, machine="t4")
    return tilewright.run(program, dict(zip(names, inputs, strict=True)), found.parameters).outputs["y"]


def op(name: str, **attributes: Any) -> Callable[[ModelBuilder, list[Any]], Any]:
    return lambda build, values: build.op(name, values, **attributes)


def depthwise() -> np.ndarray:
    wide = np.zeros((2, 9, 8))
    wide[:, 1:7, 2:7] = IMAGE[0]
    out = np.zeros((1, 4, 4, 5))
    for o in range(4):
        for i in range(4):
            for j in range(5):
                out[0, o, i, j] = (wide[o // 2, 2 * i : 2 * i + 3, j : j + 4 : 3] * KERNEL[o, 0]).sum()
    return out


CONVOLUTION = {
    "strides": [2, 1],
    "padding": [1, 2, 2, 1],
    "input_dilation": [1, 1],
    "kernel_dilation": [1, 3],
    "input_layout": [0, 1, 2, 3],
    "kernel_layout": [0, 1, 2, 3],
    "output_layout": [0, 1, 2, 3],
    "feature_groups": 2,
    "batch_groups": 1,
}

CASES: dict[str, tuple[Any, tuple[np.ndarray, ...], np.ndarray]] = {
    "argmax": (op("arg_reduce", element="i32", kind="max", dimension=0), (X,), X.argmax(0)),
    "cumulative": (
        op("cumulative", kind="sum", dimension=1, reverse=True),
        (X,),
        np.cumsum(X[:, ::-1], 1)[:, ::-1],
    ),
    "sort": (op("sort", element="f32", dimension=0, descending=True), (X,), -np.sort(-X, 0)),
    "places": (
        op("sort", element="i32", dimension=1, descending=False, places=True),
        (X,),
        np.argsort(X, 1),
    ),
    "top_k": (op("top_k", element="f32", count=3), (X,), -np.sort(-X, 1)[:, :3]),
    "pool": (
        op("reduce_window", kind="max", window=[1, 2], strides=[1, 2], dilation=[1, 1], padding=[0, 0, 0, 1]),
        (X,),
        np.pad(X, ((0, 0), (0, 1)), constant_values=-np.inf).reshape(5, 4, 2).max(-1),
    ),
    "convolution": (op("convolution", element="f32", **CONVOLUTION), (IMAGE, KERNEL), depthwise()),
    "slice": (op("slice", start=[0, 1], limit=[5, 7], strides=[2, 3]), (X,), X[::2, 1::3]),
    "reverse": (op("reverse", dimensions=[0, 1]), (X,), X[::-1, ::-1]),
    "update": (
        op("dynamic_update_slice"),
        (X, X[:2, :3] * 2, np.int32(9).reshape(()), np.int32(1).reshape(())),
        np.concatenate([X[:3], np.concatenate([X[3:, :1], X[:2, :3] * 2, X[3:, 4:]], 1)]),
    ),
    "integer product": (
        op(
            "dot_general",
            element="i32",
            lhs_batching=[],
            rhs_batching=[],
            lhs_contracting=[1],
            rhs_contracting=[0],
        ),
        (np.arange(6, dtype=np.int32).reshape(2, 3), np.arange(12, dtype=np.int32).reshape(3, 4) * 999),
        np.arange(6).reshape(2, 3) @ (np.arange(12).reshape(3, 4) * 999),
    ),
    "erfc": (op("erfc"), (np.float32([-1, 0, 0.5]),), np.array([1.8427007929, 1.0, 0.4795001222])),
    "to integer": (op("convert", element="i32"), (np.float32([2.7, -2.7, 0.5]),), np.array([2, -2, 0])),
    "truth": (op("convert", element="f32"), (np.array([True, False]),), np.array([1.0, 0.0])),
    "logical": (
        op("reduce", kind="and", dimensions=[0]),
        (np.array([[True, False], [True, True]]),),
        np.array([True, False]),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_operations(name: str) -> None:
    write, inputs, expected = CASES[name]
    found = run(write, *inputs)
    assert found.shape == expected.shape
    assert np.abs(found.astype(np.float64) - expected).max() < 2e-6


def test_a_pad_whose_value_is_not_known() -> None:
    value = np.float32(3).reshape(())
    found = run(op("pad", low=[1, -1], high=[0, 2], interior=[1, 0]), X[:2], value)
    assert (
        np.array_equal(found[[1, 3], :6], X[:2, 1:])
        and (found[[0, 2]] == 3).all()
        and (found[:, 6:] == 3).all()
    )


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (op("cumulative", kind="max", dimension=0), "there is no running max"),
        (
            op(
                "reduce_window",
                kind="product",
                window=[1, 1],
                strides=[1, 1],
                dilation=[1, 1],
                padding=[0] * 4,
            ),
            "there is no kernel for a window's product",
        ),
        (
            lambda b, v: b.op("compare", [v[0], v[0]], direction="LT", order="total"),
            "there is no total order of floats",
        ),
        (op("cbrt"), "there is no kernel for it"),
    ],
)
def test_what_has_no_lowering(write: Any, message: str) -> None:
    with pytest.raises(TileError, match="1 operation has no meaning on tiles") as caught:
        run(write, X)
    assert message in str(caught.value.notes)
