# SPDX-License-Identifier: Apache-2.0
"""
A program in text: two layers with a gelu between them, on 16 tiles.

    python examples/program_in_text.py

The program is compiled for the machine `t16`, every byte of it runs on the machine model, and the result is
held against numpy. Parameters are arrays by name, which the host quantises (to FP8 for the second product)
and packs; the cycles are those that the machine would take.
"""

from __future__ import annotations

import numpy as np

import tilewright

TEXT = """
builtin.module attributes {tile.machine = "t16"} {
  func.func @main(%x: tensor<32x64xf16> {tile_tensor.input = "x"},
                  %w1: tensor<64x96xf16> {tile_tensor.parameter = "up"},
                  %b: tensor<96xf16> {tile_tensor.parameter = "bias"},
                  %w2: tensor<96x48xf8E4M3FNUZ> {tile_tensor.parameter = "down"})
      -> (tensor<32x48xf16> {tile_tensor.output = "y"}) {
    %up = tile_tensor.matmul %x, %w1 : (tensor<32x64xf16>, tensor<64x96xf16>) -> tensor<32x96xf16>
    %sum = tile_tensor.add %up, %b : (tensor<32x96xf16>, tensor<96xf16>) -> tensor<32x96xf16>
    %act = tile_tensor.gelu %sum approximate tanh : (tensor<32x96xf16>) -> tensor<32x96xf16>
    %q = tile_tensor.cast %act : (tensor<32x96xf16>) -> tensor<32x96xf8E4M3FNUZ>
    %y = tile_tensor.matmul %q, %w2
        : (tensor<32x96xf8E4M3FNUZ>, tensor<96x48xf8E4M3FNUZ>) -> tensor<32x48xf16>
    func.return %y : tensor<32x48xf16>
  }
}
"""


def main() -> None:
    """Compile, run, compare, print."""
    random = np.random.default_rng(0)
    x = random.standard_normal((32, 64)).astype(np.float16)
    parameters = {
        "up": (random.standard_normal((64, 96)) / 8).astype(np.float16),
        "bias": random.standard_normal(96).astype(np.float16),
        "down": (random.standard_normal((96, 48)) / 8).astype(np.float16),
    }
    program = tilewright.compile(TEXT)
    result = tilewright.run(program, {"x": x}, parameters)

    hidden = x.astype(np.float64) @ parameters["up"] + parameters["bias"]
    gelu = 0.5 * hidden * (1 + np.tanh(np.sqrt(2 / np.pi) * (hidden + 0.044715 * hidden**3)))
    expected = gelu @ parameters["down"]
    error = np.abs(result.outputs["y"] - expected).max()
    print(f"{program.machine.name}: {result.cycles['total']:,.0f} cycles; largest error {error:.3f}")
    assert error < 0.06 * np.abs(expected).max(), "three bits of mantissa give no such error"

    defined = tilewright.reference(TEXT, {"x": x}, parameters)["y"]
    assert np.abs(result.outputs["y"] - defined).max() < 0.02 * np.abs(expected).max()


if __name__ == "__main__":
    main()
