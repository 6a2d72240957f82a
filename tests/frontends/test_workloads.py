# SPDX-License-Identifier: Apache-2.0
"""
The founding workloads: their programs verify and compute, in float32, what the plain numpy forward pass does;
rounding keeps them within their own tolerance.
"""

import math
from functools import cache

import ml_dtypes
import numpy as np
import pytest
from xdsl.parser import Parser

from tilewright.dialects.reference import evaluate
from tilewright.frontends.program_folder import ProgramFolder
from tilewright.frontends.workloads import digits, forward, siglip, vit
from tilewright.frontends.workloads import encoder as e
from tilewright.frontends.workloads.weights import (
    F8,
    generator,
    largest_magnitude,
    normal,
    scale_for,
    stored,
    xavier_uniform,
)
from tilewright.tools.driver import make_context
from tilewright.tools.result_schema import compare

MODES = [e.Mode(precision, attention) for precision in ("f8", "f16") for attention in ("f16", "f8")]
SMALL = e.Shape(tokens=25, width=96, heads=4, mlp=160, layers=2, batch=1, patch=147)


@cache
def build(name: str, mode: e.Mode) -> ProgramFolder:
    match name:
        case "digits":
            return digits.build(50, mode)
        case "vit":
            return vit.build(vit.DEFAULT, mode, classes=5)
        case "siglip":
            return siglip.build(SMALL, mode)
        case "siglip-batch":
            return siglip.build(e.Shape(**(vars(SMALL) | {"batch": 3, "layers": 1})), mode)
        case "siglip-images":
            return siglip.build(e.Shape(**(vars(SMALL) | {"batch": 2, "layers": 1})), mode, images=True)
        case _:
            return vit.build(e.Shape(**(vars(vit.DEFAULT) | {"layers": 0, "batch": 2})), mode)


NAMES = ["digits", "vit", "vit-no-layers", "siglip", "siglip-batch", "siglip-images"]


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_program_equals_forward_pass(name: str, mode: e.Mode) -> None:
    folder = build(name, mode)
    module = Parser(make_context(), folder.program).parse_module()
    module.verify()
    runs = folder.runs or 1
    for run in {0, runs - 1}:
        pick = (lambda values, run=run: values[run]) if folder.runs else (lambda values: values)
        inputs = {key: pick(values) for key, values in folder.inputs.items()}
        exact = evaluate(module, inputs, folder.parameters, round_activations=False)
        assert list(exact) == list(folder.expected) == list(folder.tolerance)
        for output, values in exact.items():
            np.testing.assert_allclose(values, pick(folder.expected[output]), atol=2e-5)
        for output, values in evaluate(module, inputs, folder.parameters).items():
            check = compare(output, values, pick(folder.expected[output]), folder.tolerance[output])
            assert check.passed, check


def test_types_follow_the_mode() -> None:
    def lines(mode: e.Mode, op: str) -> list[str]:
        return [line for line in build("siglip", mode).program.splitlines() if f"tile_tensor.{op} " in line]

    for mode in MODES:
        embedding, *matmuls = lines(mode, "matmul")
        assert f"accumulate {mode.accumulate}" in embedding and "f8" not in embedding.partition(" : ")[2]
        for matmul in matmuls:
            assert (F8 in matmul) == (mode.precision == "f8")
            assert f"accumulate {'f16' if mode.precision == 'f8' else 'f32'}" in matmul
        for attention in lines(mode, "attention"):
            assert attention.count(F8) == (3 if mode.attention == "f8" else 0)
            assert f"accumulate {'f32' if mode == e.Mode('f16', 'f16') else 'f16'}" in attention


def test_layers_stay_rolled() -> None:
    lengths = set[int]()
    for layers in (1, 9):
        folder = vit.build(e.Shape(tokens=2, width=4, heads=1, mlp=4, layers=layers, patch=2))
        assert folder.program.count("tile_repeat.repeat") == 1
        assert f"count {layers} " in folder.program
        lengths.add(folder.program.count("\n"))
    assert len(lengths) == 1


def test_a_sequence_has_one_scale() -> None:
    folder = build("siglip", e.Mode())
    for line in folder.program.splitlines():
        if "sequence" in line and "tile_tensor.scale" in line:
            names = [name for name in line.split('"') if name.startswith("encoder.")]
            scale = int(line.partition("tile_tensor.scale = ")[2].split()[0])
            largest = max(float(np.abs(folder.parameters[name]).max()) for name in names)
            assert 120 < largest * 2.0**-scale <= 240


def test_batches_are_samples_apart() -> None:
    """A batch of two computes what two runs of one do."""
    one = e.Shape(tokens=5, width=8, heads=2, mlp=12, layers=2, batch=1, patch=6)
    two = e.Shape(**(vars(one) | {"batch": 2}))
    folder = vit.build(two, e.Mode("f16"))
    module = Parser(make_context(), vit.build(one, e.Mode("f16")).program).parse_module()
    for sample, rows in enumerate((slice(0, 5), slice(5, 10))):
        inputs = {"patches": folder.inputs["patches"][rows]}
        found = evaluate(module, inputs, folder.parameters, round_activations=False)["tokens"]
        np.testing.assert_allclose(
            found, folder.expected["tokens"][rows], atol=1e-5, err_msg=f"sample {sample}"
        )


def test_digits_reproduces_its_logits() -> None:
    values, patches, labels, reference = digits.load()
    found = digits.logits(patches, values)
    assert np.abs(found - reference).max() < 1.4e-6 * np.abs(reference).max()
    assert np.mean(found.argmax(-1) == labels) == 0.9775
    assert sum(tensor.size for tensor in values.values()) == 119_694


def test_digits_task() -> None:
    folder = build("digits", e.Mode())
    assert folder.task is not None and folder.runs == 8
    figures = folder.task.measure(folder.expected["logits"])
    assert figures["agreement"] > 0.99 and figures["logits_rel_rms"] < 0.03


def test_shallow_and_deep_towers_share_all_but_the_layers() -> None:
    shallow, deep = (siglip.build(e.Shape(**(vars(SMALL) | {"layers": n}))) for n in (1, 2))
    for name, tensor in shallow.parameters.items():
        np.testing.assert_array_equal(tensor, deep.parameters[name])
    np.testing.assert_array_equal(shallow.inputs["patches"], deep.inputs["patches"])


def test_seeds() -> None:
    first, again, other = (vit.build(seed=seed) for seed in (0, 0, 1))
    assert first.program == again.program
    for name, tensor in first.parameters.items():
        np.testing.assert_array_equal(tensor, again.parameters[name])
    assert not np.array_equal(first.parameters["embedding.weight"], other.parameters["embedding.weight"])


def test_patches_of_an_image() -> None:
    images = np.arange(2 * 3 * 12 * 12).reshape(6, 12, 12)  # 2 samples, 2x2 patches of 3x3, 6 left over
    patches = siglip.cut(images, 2, 3)
    assert patches.shape == (8, 27)
    np.testing.assert_array_equal(patches[4 + 1], images[3:, :3, 3:6].ravel())  # second sample, first row


def test_random_weights_have_their_distributions() -> None:
    rng = generator(0)
    weights = xavier_uniform(rng, (300, 500)).astype(np.float64)
    bound = math.sqrt(6 / 800)
    assert np.abs(weights).max() <= bound * (1 + 2**-11)
    assert weights.std() == pytest.approx(bound / math.sqrt(3), rel=0.01)
    assert abs(weights.mean()) < 0.001
    assert normal(rng, (10_000,), 1e-6).astype(np.float64).std() == pytest.approx(1e-6, rel=0.05)


@pytest.mark.parametrize("limit", [240.0, 30.0])
@pytest.mark.parametrize("largest", [1e-5, 0.03, 0.9375, 1.0, 239.0, 240.0, 241.0, 480.0, 5e4])
def test_scales_fill_the_format(largest: float, limit: float) -> None:
    assert limit / 2 < largest * 2.0 ** -scale_for(largest, limit) <= limit
    assert scale_for(0.0) == 0
    assert scale_for(1e-30) == -32


def test_storing_by_table_equals_rounding() -> None:
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    values = values[np.isfinite(values)]
    for scale in (-12, 0, 3):
        with np.errstate(over="ignore"):
            scaled = values.astype(np.float32) * np.float32(2.0**-scale)
        expected = (
            np.clip(scaled, -240, 240).astype(ml_dtypes.float8_e4m3fnuz).astype(np.float32) * 2.0**scale
        )
        np.testing.assert_array_equal(stored(values, F8, scale), expected)
        np.testing.assert_array_equal(stored(values.astype(np.float32), F8, scale), expected)
    assert largest_magnitude([values]) == 65504
    assert largest_magnitude([np.array([-3.0, 2.0], np.float32)]) == 3


def test_forward_pieces() -> None:
    x = np.array([[-1.0, 0.0, 1.0, 3.0]], np.float32)
    np.testing.assert_allclose(forward.gelu_tanh(x), [[-0.158808, 0, 0.841192, 2.996363]], atol=1e-6)
    normed = forward.layer_norm(x, np.ones(4, np.float32), np.zeros(4, np.float32))
    np.testing.assert_allclose((normed.mean(), normed.std()), (0, 1), atol=1e-5)
    # one key: attention returns its value whatever the scores are
    v = np.arange(4, dtype=np.float32).reshape(1, 1, 4)
    np.testing.assert_allclose(forward.attention(np.ones((1, 3, 4), np.float32), v, v, 2), np.repeat(v, 3, 1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: e.Shape(16, 65, 4, 8, 1), "--width 65 is not a multiple of --heads 4"),
        (lambda: e.Shape(0, 64, 4, 8, 1), "--tokens must be at least 1"),
        (lambda: e.Shape(1, 64, 4, 8, -1), "--layers must be at least 0"),
        (lambda: e.Mode("f32"), "--precision must be f16 or f8"),
        (lambda: e.Mode("f8", "bf16"), "--attention must be f16 or f8"),
        (lambda: digits.build(33), "--batch 33 does not divide the 400 images"),
        (lambda: siglip.build(e.Shape(7, 8, 1, 8, 1), images=True), "needs a square"),
    ],
)
def test_what_does_not_exist(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(e.WorkloadError, match=message):
        make()
