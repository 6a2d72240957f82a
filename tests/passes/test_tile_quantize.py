# SPDX-License-Identifier: Apache-2.0
"""
Calibration: the scales of `tile-quantize` are those that the workloads find in their own forward passes, and
the quantised program stays near the one it came from.
"""

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright import settings
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.reference import evaluate
from tilewright.frontends.workloads import digits, vit
from tilewright.frontends.workloads import encoder as e
from tilewright.passes.tile_quantize import (
    Magnitudes,
    QuantizeError,
    TileQuantizePass,
    product_scales,
    quantize,
)


def parse(text: str) -> ModuleOp:
    return parse_module(text, ctx=context())


def test_digits_get_the_scales_of_the_workload() -> None:
    plain, coarse = (digits.build(50, e.Mode(precision, "f16")) for precision in ("f16", "f8"))
    module = parse(plain.program)
    assert quantize(module, plain.inputs, plain.parameters) == 7
    module.verify()
    wanted = parse(coarse.program)
    assert product_scales(module) == product_scales(wanted)
    inputs = {"patches": plain.inputs["patches"][0]}
    found, expected = (evaluate(m, inputs, plain.parameters)["logits"] for m in (module, wanted))
    np.testing.assert_array_equal(found, expected)


def test_a_vision_transformer_stays_near_itself() -> None:
    folder = vit.build(vit.DEFAULT, e.Mode("f16", "f16"), classes=5)
    module = parse(folder.program)
    assert quantize(module, folder.inputs, folder.parameters, format="f8E5M2FNUZ") == 7
    module.verify()
    parse(str(module)).verify()
    rows = evaluate(module, folder.inputs, folder.parameters)["tokens"].astype(float)
    expected = folder.expected["tokens"]
    cosines = (rows * expected).sum(-1) / np.linalg.norm(rows, axis=-1) / np.linalg.norm(expected, axis=-1)
    assert 0.98 < cosines.min() < 0.9999


TYPES = "(tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x8xf16>"
SHARED = f"""
func.func @main(
  %x: tensor<4x8xf16>, %w: tensor<8x8xf16> {{tile_tensor.parameter = "w"}}
) -> tensor<4x8xf16> {{
  %h = tile_tensor.gelu %x : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %first = tile_tensor.matmul %x, %w : {TYPES}
  %a = tile_tensor.matmul %h, %w : {TYPES}
  %b = tile_tensor.matmul %h, %w scale 1 : {TYPES}
  %c = tile_tensor.add %a, %b : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  %d = tile_tensor.add %c, %first : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %d : tensor<4x8xf16>
}}"""


def samples() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    rng = np.random.default_rng(1)
    return {"arg0": rng.standard_normal((4, 8)).astype(np.float16)}, {
        "w": rng.standard_normal((8, 8)).astype(np.float16)
    }


def test_a_parameter_that_an_f16_product_reads_stays_and_is_cast_once() -> None:
    module = parse(SHARED)
    inputs, parameters = samples()
    before = evaluate(module, inputs, parameters)["out0"]
    assert quantize(module, inputs, parameters) == 2
    module.verify()
    text = str(module)
    assert text.count("tile_tensor.cast") == 2  # %h and %w, each for both products
    assert "%w: tensor<8x8xf16>" in text
    scales = product_scales(module)
    assert scales["b"] == scales["a"] + 1 and scales["first"] == 0
    after = evaluate(module, inputs, parameters)["out0"]
    assert 0 < abs(after.astype(float) - before.astype(float)).max() < 0.5


def test_skipped_products_stay() -> None:
    module = parse(SHARED)
    assert quantize(module, *samples(), skip=("a", "b")) == 0
    assert "tile_tensor.cast" not in str(module)


def test_options_that_do_not_exist_are_refused() -> None:
    module = parse(SHARED)
    with pytest.raises(QuantizeError, match="no product is called 'q'"):
        quantize(module, *samples(), skip=("q",))
    with pytest.raises(QuantizeError, match="no FP8 format is called 'f8E4M3FN'"):
        quantize(module, *samples(), format="f8E4M3FN")
    with pytest.raises(QuantizeError, match="needs sample inputs"):
        TileQuantizePass().apply(context(), module)


def test_the_pass_reads_the_folder(tmp_path: Path) -> None:
    folder = vit.build(vit.DEFAULT, e.Mode("f16", "f16"))
    folder.write(tmp_path)
    module, other = parse(folder.program), parse(folder.program)
    with settings.use(settings.Settings(inputs_path=tmp_path / "inputs.safetensors")):
        TileQuantizePass().apply(context(), module)
    quantize(other, folder.inputs, folder.parameters)
    assert str(module) == str(other) and "f8E4M3FNUZ" in str(module)


def test_magnitudes_are_kept_over_iterations_without_what_is_not_finite() -> None:
    found = Magnitudes()
    found["layers[0].inner[2].q"] = np.array([1.0, -3.0])
    found["layers[1].inner[0].q"] = np.array([2.0, np.inf, np.nan])
    found["x"] = np.zeros((0, 2))
    assert dict(found) == {"layers.inner.q": 3.0, "x": 0.0}
