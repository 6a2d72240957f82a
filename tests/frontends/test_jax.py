# SPDX-License-Identifier: Apache-2.0
"""
Models of JAX in process, where it is installed; and what JAX exported once, which runs without it. Expected
values are JAX's own.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright.diagnostics import TileError
from tilewright.frontends import from_jax, from_stablehlo
from tilewright.frontends.importing import Imported, read_sample

sys.path.insert(0, str(Path(__file__).parent))
import random_jax

needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
F32 = np.float32


def values(*shape: int, scale: float = 1.0, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed + sum(shape)).standard_normal(shape) * scale).astype(F32)


def check(found: Imported, machine: str = "t4", most: float = 1e-5) -> dict[str, int]:
    """Execute and compare with what JAX gave; the cycles of the run and what was raised."""
    program = tilewright.compile(found.module, machine=machine)
    result = tilewright.run(program, found.inputs, found.parameters)
    for name, expected in found.expected.items():
        wide = expected.astype(np.float64)
        error = np.abs(result.outputs[name].astype(np.float64) - wide).max()
        assert error <= most * max(1.0, np.abs(wide).max()), name
    return dict(found.raised)


# -- exported once


@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=[pytest.mark.slow] if n % 4 else []) for n in range(random_jax.COUNT)]
)
def test_exported_models_run_as_jax_ran_them(number: int) -> None:
    path = random_jax.EXPORTED / f"jax_{number:02}.mlir"
    sample = read_sample(path.with_suffix(".npz"))
    arguments = sum(name.startswith("in") for name in sample)
    found = from_stablehlo(
        path.read_text("utf-8"), sample=sample, parameters=[f"0-{arguments - 2}"] if arguments > 1 else []
    )
    kind = next(iter(found.inputs.values())).dtype
    expected = sample["out0"].astype(np.float64)
    program = tilewright.compile(found.module, machine="t4")
    (result,) = tilewright.run(program, found.inputs, found.parameters).outputs.values()
    assert (
        np.abs(result.astype(np.float64) - expected).max() <= random_jax.bound(kind) * np.abs(expected).max()
    )


# -- in process


@pytest.mark.slow
@needs_jax
@pytest.mark.parametrize("seed", range(random_jax.COUNT, random_jax.COUNT + 200))
def test_random_models(seed: int) -> None:
    from tilewright.frontends import importing
    from tilewright.frontends.jax import read_jax

    function, weights, x = random_jax.model(seed)
    model, values, results = read_jax(function, (weights, x), 0)
    # what nearly exact arithmetic makes of the program as given: some models multiply roundings
    (exact,) = (a.astype(np.float64) for a in importing.values_as_given(model, values))
    expected = results[0].astype(np.float64)
    noise = np.abs(exact - expected).max() / max(1.0, np.abs(expected).max())
    found = importing.import_with_values(model, values, results)
    check(found, most=max(random_jax.bound(x.dtype), 4 * float(np.nan_to_num(noise))))


@pytest.mark.slow
@needs_jax
def test_gelu_in_text_and_exported() -> None:
    import jax
    import jax.export

    from tilewright.frontends.jax import text_of_bytecode

    def exact(x: Any) -> Any:
        return jax.nn.gelu(x, approximate=False)

    x = values(17, 256)
    found = from_jax(exact, x)
    assert check(found, "t64") == {"gelu": 1}
    exported = jax.export.export(jax.jit(exact))(x)
    expected = found.expected["out0"]
    for text in (exported.mlir_module(), text_of_bytecode(exported.mlir_module_serialized)):
        again = from_stablehlo(text, sample={"in0": x})
        again.expected = {"out0": expected}
        check(again, "t64")


@needs_jax
def test_scan_is_a_repeat_and_equals_the_layers_one_by_one() -> None:
    import jax
    import jax.numpy as jnp

    weights, x = values(6, 24, 24, scale=0.2), values(5, 24)

    def layer(x: Any, w: Any) -> Any:
        return jnp.tanh(x @ w) + x

    def scanned(weights: Any, x: Any) -> Any:
        def step(carry: Any, w: Any) -> Any:
            carry = layer(carry, w)
            return carry, carry.mean()

        return jax.lax.scan(step, x, weights)

    found = from_jax(scanned, weights, x, parameters=0)
    assert check(found) == {"repeat": 1}
    assert sorted(found.parameters) == [f"weights.{i}" for i in range(6)]
    repeats = [op for op in found.module.walk() if op.name == "tile_repeat.repeat"]
    assert [op.iterations for op in repeats] == [6]  # pyright: ignore[reportAttributeAccessIssue]
    straight = x
    for w in weights:
        straight = np.asarray(layer(straight, w))
    assert np.abs(found.expected["out0"] - straight).max() < 1e-5


@needs_jax
def test_grouped_causal_attention_is_one_operation() -> None:
    import jax

    def attend(q: Any, k: Any, v: Any) -> Any:
        return jax.nn.dot_product_attention(q, k, v, is_causal=True)

    found = from_jax(attend, values(1, 17, 8, 16), values(1, 17, 2, 16), values(1, 17, 2, 16, seed=1))
    assert check(found, "t16") == {"attention": 1}
    (attention,) = (op for op in found.module.walk() if op.name == "tile_tensor.attention")
    assert attention.causal is not None and attention.mask is None  # pyright: ignore[reportAttributeAccessIssue]
    assert attention.key.type.get_shape() == (1, 2, 17, 16)  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.slow
@needs_jax
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_layer_norm_of_flax(dtype: str) -> None:
    linen = pytest.importorskip("flax.linen")
    import jax
    import jax.numpy as jnp

    norm = linen.LayerNorm(dtype=jnp.dtype(dtype))
    x = values(17, 64).astype(jnp.dtype(dtype))
    params = norm.init(jax.random.PRNGKey(0), x)
    found = from_jax(norm.apply, params, x, parameters=0)
    assert check(found, most=1e-5 if dtype == "float32" else 1e-2) == {"layer_norm": 1}
    assert sorted(found.parameters)[0].endswith("params.bias")


@pytest.mark.slow
@needs_jax
def test_a_block_in_f16_keeps_its_rows() -> None:
    import jax

    width, hidden = 64, 256
    shapes = {"q": (64, 192), "o": (64, 64), "u": (64, hidden), "d": (hidden, 64), "a": (64,), "b": (64,)}
    params = {
        name: values(*s, scale=0.1 if len(s) > 1 else 1.0).astype(np.float16) for name, s in shapes.items()
    }

    def norm(x: Any, g: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g

    def block(params: Any, x: Any) -> Any:
        q, k, v = (norm(x, params["a"]) @ params["q"]).reshape(17, 3, 4, 16).transpose(1, 2, 0, 3)
        p = jax.nn.softmax(q @ k.transpose(0, 2, 1) * np.float16(0.25), -1)
        x = x + (p @ v).transpose(1, 0, 2).reshape(17, width) @ params["o"]
        return x + jax.nn.gelu(norm(x, params["b"]) @ params["u"]) @ params["d"]

    found = from_jax(block, params, values(17, 64).astype(np.float16), parameters=0)
    assert dict(found.raised) == {"layer_norm": 2, "attention": 1, "gelu": 1}
    program = tilewright.compile(found.module, machine="t64")
    result = tilewright.run(program, found.inputs, found.parameters).outputs["out0"].astype(np.float64)
    expected = found.expected["out0"].astype(np.float64)
    rows = (result * expected).sum(-1) / np.linalg.norm(result, axis=-1) / np.linalg.norm(expected, axis=-1)
    assert rows.min() > 0.9999


@needs_jax
def test_closed_over_arrays_are_parameters_and_results_have_names() -> None:
    import jax.numpy as jnp

    table = values(16, 8)
    found = from_jax(lambda x: {"y": x @ table, "z": jnp.float32(2) * x}, values(3, 16))
    assert list(found.parameters) == ["closure.0"] and list(found.expected) == ["y", "z"]
    assert 'dense<"0x' not in str(found.module)
    check(found)


@needs_jax
def test_what_jax_cannot_trace_is_said() -> None:
    with pytest.raises(TileError, match="JAX cannot trace the function"):
        from_jax(lambda x: x if x[0] > 0 else -x, values(3))
    from tilewright.frontends.jax import text_of_bytecode

    with pytest.raises(TileError, match="jaxlib cannot read the module"):
        text_of_bytecode(b"ML\xefR nothing")


def test_without_jax_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("jax", "jaxlib", "jaxlib.mlir.ir"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(TileError, match="there is no JAX in this environment"):
        from_jax(lambda x: x, values(3))
    from tilewright.frontends.jax import text_of_bytecode

    with pytest.raises(TileError, match="bytecode is read by jaxlib, which this environment has not"):
        text_of_bytecode(b"ML\xefR")


# -- near misses: what is almost a pattern is computed as it is written


def _misses() -> dict[str, Any]:
    import jax
    import jax.numpy as jnp

    def norm(x: Any, y: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).sum(-1, keepdims=True) / (x.shape[-1] - 1)
        return (x - mean) / jnp.sqrt(variance + 1e-5)

    def softmax(x: Any, y: Any) -> Any:
        e = jnp.exp(x - y.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    return {
        "layer norm over n - 1": norm,
        "softmax with the maximum of another": softmax,
        "softmax summed over another axis": lambda x, y: (
            jnp.exp(x - x.max(-1, keepdims=True))
            / jnp.exp(x - x.max(-1, keepdims=True)).sum(0, keepdims=True)
        ),
        "gelu with a wrong constant": lambda x, y: 0.5 * x * (1 + jax.lax.erf(x * 0.7)),
        "gelu of tanh with a wrong constant": lambda x, y: (
            0.5 * x * (1 + jnp.tanh(0.8 * (x + 0.044715 * x**3)))
        ),
        "rms norm of another": lambda x, y: x * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-5),
    }


@needs_jax
@pytest.mark.parametrize(
    "name",
    [
        "layer norm over n - 1", "softmax with the maximum of another", "softmax summed over another axis",
        "gelu with a wrong constant", "gelu of tanh with a wrong constant", "rms norm of another",
    ],
)  # fmt: skip
def test_near_misses_are_not_raised(name: str) -> None:
    assert check(from_jax(_misses()[name], values(6, 16), values(6, 16, seed=1))) == {}


@needs_jax
def test_a_scale_that_is_a_tensor_makes_no_attention() -> None:
    import jax

    def attend(q: Any, k: Any, v: Any, s: Any) -> Any:
        return jax.nn.softmax(q @ k.T * s, -1) @ v

    found = from_jax(attend, values(9, 8), values(9, 8, seed=1), values(9, 8, seed=2), np.float32(0.3))
    assert check(found) == {"softmax": 1}


@pytest.mark.slow
@needs_jax
def test_a_decoder_with_caches_gives_the_same_tokens() -> None:
    """Two layers, four heads that share two of keys and values, rotary positions, caches as carried state."""
    import jax
    import jax.numpy as jnp

    random = np.random.default_rng(3)
    width, heads, shared, depth, words, rows = 32, 4, 2, 8, 50, 12

    def draw(*shape: int) -> np.ndarray:
        return (random.standard_normal(shape) / np.sqrt(shape[0])).astype(F32)

    def layer() -> dict[str, np.ndarray]:
        sizes = {"q": heads, "k": shared, "v": shared}
        found = {name: draw(width, n * depth) for name, n in sizes.items()}
        found |= {
            "o": draw(heads * depth, width),
            "gate": draw(width, 64),
            "up": draw(width, 64),
            "down": draw(64, width),
        }
        return found | {"a": np.ones(width, F32), "b": np.ones(width, F32)}

    params = {"embed": draw(words, width) * 4, "head": draw(width, words), "layers": [layer(), layer()]}
    angle = np.outer(np.arange(rows), 10000.0 ** -(np.arange(depth // 2) * 2 / depth)).astype(F32)

    def norm(x: Any, g: Any) -> Any:
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * g

    def rotate(x: Any, at: Any) -> Any:
        cos, sin = (
            jax.lax.dynamic_slice(t, (at, 0), (1, depth // 2)) for t in (np.cos(angle), np.sin(angle))
        )
        a, b = x[:, : depth // 2], x[:, depth // 2 :]
        return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)

    def attend(p: Any, x: Any, at: Any, keys: Any, values: Any) -> Any:
        y = norm(x, p["a"])
        q, k = (rotate((y @ p[n]).reshape(h, depth), at) for n, h in (("q", heads), ("k", shared)))
        keys = jax.lax.dynamic_update_slice(keys, k[:, None], (0, at, 0))
        values = jax.lax.dynamic_update_slice(values, (y @ p["v"]).reshape(shared, 1, depth), (0, at, 0))
        scores = jnp.einsum("kgd,ksd->kgs", q.reshape(shared, -1, depth), keys) / np.float32(np.sqrt(depth))
        seen = jax.nn.softmax(jnp.where(jnp.arange(rows) <= at, scores, -1e30), -1)
        return x + jnp.einsum("kgs,ksd->kgd", seen, values).reshape(-1) @ p["o"], keys, values

    def decode(params: Any, first: Any, caches: Any) -> Any:
        def step(carry: Any, at: Any) -> Any:
            token, caches = carry
            x = jnp.take(params["embed"], token, axis=0, mode="clip")
            after = []
            for p, (keys, values) in zip(params["layers"], caches, strict=True):
                x, keys, values = attend(p, x, at, keys, values)
                after.append((keys, values))
                y = norm(x, p["b"])
                x = x + (jax.nn.silu(y @ p["gate"]) * (y @ p["up"])) @ p["down"]
            token = jnp.argmax(norm(x, 1.0) @ params["head"]).astype(jnp.int32)
            return (token, after), token

        _, tokens = jax.lax.scan(step, (first, caches), jnp.arange(8))
        return {"tokens": tokens}

    caches = [(np.zeros((shared, rows, depth), F32),) * 2 for _ in range(2)]
    found = from_jax(decode, params, np.int32(7), caches, parameters=0)
    assert {name: found.raised[name] for name in ("repeat", "attention", "silu")} == {
        "repeat": 1,
        "attention": 2,
        "silu": 2,
    }
    program = tilewright.compile(found.module, machine="t16")
    tokens = tilewright.run(program, found.inputs, found.parameters).outputs["tokens"]
    assert len(set(tokens.tolist())) > 3 and tokens.tolist() == found.expected["tokens"].tolist()
