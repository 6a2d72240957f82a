# SPDX-License-Identifier: Apache-2.0
"""Writes parameters, inputs and expected outputs of product.mlir into the folder given: values.py FOLDER."""

import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

folder = Path(sys.argv[1])
x = np.arange(8 * 32, dtype=np.float16).reshape(8, 32) / 256
w = np.eye(32, 16, dtype=np.float16)
save_file({"x": x}, folder / "x.safetensors")
save_file({"x": x[:, :31].copy()}, folder / "narrow.safetensors")
save_file({"w": w}, folder / "w.safetensors")
save_file({"weight": w}, folder / "named.safetensors")
save_file({"y": x[:, :16].copy()}, folder / "y.safetensors")
save_file({"y": x[:, 16:].copy()}, folder / "wrong.safetensors")
