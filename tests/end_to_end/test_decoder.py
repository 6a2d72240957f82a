# SPDX-License-Identifier: Apache-2.0
"""A layer of a decoder: with shared heads, causal and silu it means what it did with copies and a mask."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.backends.image import to_image
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.reference import evaluate
from tilewright.dialects.tile_asm import module_to_program
from tilewright.machine import load
from tilewright.passes.pipeline import compile as compile_program
from tilewright.sim.executor import Executor

PROGRAMS = Path(__file__).parent.parent / "data" / "programs"
TOKENS, WIDTH, HIDDEN, HEAD = 64, 512, 1408, 64
Arrays = dict[str, np.ndarray]


def values() -> tuple[Arrays, Arrays]:
    """Inputs and parameters of the program with repeated heads."""
    rng = np.random.default_rng(0)

    def weights(rows: int, columns: int) -> np.ndarray:
        return (rng.uniform(-1, 1, (rows, columns)) * np.sqrt(6 / (rows + columns))).astype(np.float16)

    angle = np.arange(TOKENS)[:, None] / 10000 ** (np.arange(HEAD // 2) / (HEAD // 2))
    inputs = {
        "x": rng.standard_normal((TOKENS, WIDTH)).astype(np.float16),
        "mask": np.where(np.tri(TOKENS, dtype=bool), 0, -30000).astype(np.float16),
    }
    parameters = {
        "cos": np.cos(angle).astype(np.float16),
        "sin": np.sin(angle).astype(np.float16),
        "g1": (1 + 0.1 * rng.standard_normal(WIDTH)).astype(np.float16),
        "g2": (1 + 0.1 * rng.standard_normal(WIDTH)).astype(np.float16),
        "wq": weights(WIDTH, WIDTH),
        "wk": weights(WIDTH, 2 * HEAD),
        "wv": weights(WIDTH, 2 * HEAD),
        "wo": weights(WIDTH, WIDTH),
        "wg": weights(WIDTH, HIDDEN),
        "wu": weights(WIDTH, HIDDEN),
        "wd": weights(HIDDEN, WIDTH),
    }
    return inputs, parameters


def side_by_side(inputs: Arrays, parameters: Arrays) -> tuple[Arrays, Arrays]:
    """The same for the program whose weights of one operand lie side by side."""
    cos, sin = parameters["cos"], parameters["sin"]
    kept = {name: parameters[name] for name in ("g1", "g2", "wo", "wd")}
    return {"x": inputs["x"]}, {
        **kept,
        "cos": np.concatenate([cos, cos], axis=1)[:, None],
        "sin": np.concatenate([-sin, sin], axis=1)[:, None],
        "wqkv": np.concatenate([parameters[name] for name in ("wq", "wk", "wv")], axis=1),
        "wgu": np.concatenate([parameters["wg"], parameters["wu"]], axis=1),
    }


def close(found: np.ndarray, expected: np.ndarray) -> bool:
    """Within a few units of f16 of the largest values: silu is rounded once, not twice."""
    wide = expected.astype(np.float64)
    return bool(np.abs(found.astype(np.float64) - wide).max() <= 4e-3 * np.abs(wide).max())


def test_both_programs_mean_the_same() -> None:
    inputs, parameters = values()
    copies = parse_module((PROGRAMS / "decoder_repeated_heads.mlir").read_text("utf-8"), ctx=context())
    shared = parse_module((PROGRAMS / "decoder.mlir").read_text("utf-8"), ctx=context())
    expected = evaluate(copies, inputs, parameters)["y"]
    assert close(evaluate(shared, *side_by_side(inputs, parameters))["y"], expected)
    assert not [op for op in shared.walk() if op.name == "tile_tensor.broadcast"]  # K and V are held once


@pytest.mark.slow
def test_cycles_of_a_layer() -> None:
    """59,419 with three products of one operand and a mask; 62,597 with repeated heads as well."""
    inputs, parameters = values()
    given = parse_module((PROGRAMS / "decoder_repeated_heads.mlir").read_text("utf-8"), ctx=context())
    expected = evaluate(given, inputs, parameters)["y"]
    inputs, parameters = side_by_side(inputs, parameters)
    module = parse_module((PROGRAMS / "decoder.mlir").read_text("utf-8"), ctx=(ctx := context()))
    compile_program(module, "c600", None, context=ctx)
    executor = Executor(to_image(module_to_program(module)), load("c600"))
    executor.load(parameters)
    result = executor.run(inputs)
    assert close(result.outputs["y"], expected)
    assert result.cycles["total"] == 41_572  # 42,761 before rotations and gates were one call
