# SPDX-License-Identifier: Apache-2.0
"""
Small random models of JAX, made of what real models are made of; and the recipe of the exported ones in
`tests/data/exported` (`python tests/frontends/random_jax.py`, needs jax).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
EXPORTED = ROOT / "tests" / "data" / "exported"
COUNT = 24
"""Exported models in the repository."""

Function = Callable[..., Any]


class Builder:
    """Draws one model: a list of layers, each a function of (value, its weights)."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.tokens = int(self.random.integers(3, 12))
        self.width = int(self.random.choice([8, 12, 16, 24]))
        self.dtype = str(self.random.choice(["float32", "float32", "float32", "float16", "bfloat16"]))
        self.weights: list[Any] = []

    def weight(self, *shape: int, scale: float | None = None) -> int:
        """A new weight; its number."""
        factor = scale if scale is not None else 1 / np.sqrt(shape[0])
        self.weights.append((self.random.standard_normal(shape) * factor).astype(np.float32))
        return len(self.weights) - 1

    def layer(self) -> Function:
        import jax
        import jax.numpy as jnp

        random, d, t = self.random, self.width, self.tokens
        kind = str(
            random.choice(
                [
                    "linear", "mlp", "layer_norm", "fast_norm", "rms_norm", "softmax", "attention", "grouped",
                    "activation", "where", "rotary", "scan", "loop", "gate", "pool", "shift", "clip",
                    "gather",
                ]
            )
        )  # fmt: skip
        if kind == "linear":
            w, b = self.weight(d, d), self.weight(d, scale=0.1)
            return lambda x, p: x @ p[w] + p[b]
        if kind == "mlp":
            hidden = int(random.choice([d, 2 * d]))
            u, v = self.weight(d, hidden), self.weight(hidden, d)
            act = self.activation()
            return lambda x, p: x + act(x @ p[u]) @ p[v]
        if kind == "layer_norm":
            g, b = self.weight(d, scale=1.0), self.weight(d, scale=0.1)
            epsilon = float(random.choice([1e-5, 1e-6, 1e-3]))
            root = bool(random.integers(2))

            def layer_norm(x: Any, p: Any) -> Any:
                mean = x.mean(-1, keepdims=True)
                variance = ((x - mean) ** 2).mean(-1, keepdims=True) if root else x.var(-1, keepdims=True)
                if root:
                    return (x - mean) / jnp.sqrt(variance + epsilon) * p[g] + p[b]
                return (x - mean) * jax.lax.rsqrt(variance + epsilon) * p[g] + p[b]

            return layer_norm
        if kind == "fast_norm":
            g = self.weight(d, scale=1.0)

            def fast_norm(x: Any, p: Any) -> Any:
                x32 = x.astype(jnp.float32)
                mean = x32.mean(-1, keepdims=True)
                variance = jnp.maximum(0.0, (x32 * x32).mean(-1, keepdims=True) - mean * mean)
                return ((x32 - mean) * (jax.lax.rsqrt(variance + 1e-5) * p[g])).astype(x.dtype)

            return fast_norm
        if kind == "rms_norm":
            g = self.weight(d, scale=1.0)
            return lambda x, p: x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p[g]
        if kind == "softmax":
            axis = int(random.integers(2)) - 1
            return lambda x, p: x + jax.nn.softmax(x * 0.5, axis=axis)
        if kind in ("attention", "grouped"):
            return self.attention(grouped=kind == "grouped")
        if kind == "activation":
            act = self.activation()
            return lambda x, p: act(x)
        if kind == "where":
            limit = float(random.standard_normal())
            return lambda x, p: jnp.where(x > limit, x, 0.5 * x - limit)
        if kind == "rotary":
            angle = np.outer(np.arange(t), 1.0 / 10 ** np.arange(d // 2)).astype(np.float32)

            def rotary(x: Any, p: Any) -> Any:
                cos, sin = jnp.cos(angle).astype(x.dtype), jnp.sin(angle).astype(x.dtype)
                a, b = x[:, : d // 2], x[:, d // 2 :]
                return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)

            return rotary
        if kind == "scan":
            w = self.weight(3, d, d, scale=1 / np.sqrt(d))

            def scan(x: Any, p: Any) -> Any:
                def step(carry: Any, m: Any) -> Any:
                    carry = jnp.tanh(carry @ m)
                    return carry, carry.mean(-1)

                last, means = jax.lax.scan(step, x, p[w])
                return last + means.mean(0)[:, None]

            return scan
        if kind == "loop":
            w, count = self.weight(d, d), int(random.integers(2, 5))
            return lambda x, p: jax.lax.fori_loop(0, count, lambda i, c: jnp.tanh(c @ p[w] + i), x)
        if kind == "gate":
            u, v = self.weight(d, d), self.weight(d, d)
            return lambda x, p: jax.nn.silu(x @ p[u]) * (x @ p[v])
        if kind == "pool":
            return lambda x, p: x - x.max(0, keepdims=True) + x.mean(0, keepdims=True)
        if kind == "shift":
            return lambda x, p: jnp.pad(x, ((1, 0), (0, 0)))[:-1] + x[::-1]
        if kind == "clip":
            return lambda x, p: jnp.clip(x, -1.0, 1.5) + jnp.abs(x) * 0.25
        rows = random.integers(0, t, t)
        return lambda x, p: x + jnp.take(x, rows, axis=0, mode="clip")

    def activation(self) -> Function:
        import jax
        import jax.numpy as jnp

        found: list[Function] = [
            lambda x: jax.nn.gelu(x, approximate=False), jax.nn.gelu, jax.nn.silu, jax.nn.relu, jnp.tanh,
            jax.nn.sigmoid, lambda x: x / (1 + jnp.exp(-x)),
        ]  # fmt: skip
        return found[int(self.random.integers(len(found)))]

    def attention(self, grouped: bool) -> Function:
        import jax
        import jax.numpy as jnp

        random, d, t = self.random, self.width, self.tokens
        heads = 4
        shared = 2 if grouped else 4
        depth = d // heads
        q, k, v, o = (self.weight(d, n) for n in (d, shared * depth, shared * depth, d))
        causal, masked, library = (bool(random.integers(2)) for _ in range(3))
        library = library and self.dtype != "float16"  # JAX has no such product on a CPU
        bias = np.asarray(random.standard_normal((t, t)), np.float32)

        def attend(x: Any, p: Any) -> Any:
            a, b, c = ((x @ p[i]).reshape(t, n, depth) for i, n in ((q, heads), (k, shared), (v, shared)))
            if library:
                y = jax.nn.dot_product_attention(a, b, c, is_causal=causal)
            else:
                b, c = (jnp.repeat(m, heads // shared, axis=1) for m in (b, c))
                scores = jnp.einsum("thd,shd->hts", a, b) / np.float32(np.sqrt(depth)).astype(x.dtype)
                if masked:
                    scores = scores + bias.astype(x.dtype)
                if causal:
                    scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -jnp.inf)
                y = jnp.einsum("hts,shd->thd", jax.nn.softmax(scores, -1), c)
            return x + y.reshape(t, d) @ p[o]

        return attend


def model(seed: int) -> tuple[Function, list[Any], np.ndarray]:
    """A function of (weights, x), the weights and an x."""
    import jax.numpy as jnp

    build = Builder(seed)
    layers = [build.layer() for _ in range(int(build.random.integers(1, 5)))]
    dtype = jnp.dtype(build.dtype)
    x = np.asarray(build.random.standard_normal((build.tokens, build.width)), np.float32).astype(dtype)
    weights = [w.astype(dtype) for w in build.weights]

    def function(weights: Any, x: Any) -> Any:
        for layer in layers:
            x = layer(x, weights)
        return x

    return function, weights, x


def bound(dtype: Any) -> float:
    """The largest error of a result against JAX's, relative to the largest result: a few last places."""
    return {"float32": 2e-5, "float16": 2e-2, "bfloat16": 1.5e-1}[str(dtype)]


def export() -> None:
    """Write the exported models: text as JAX prints it, and the arrays."""
    import jax

    EXPORTED.mkdir(parents=True, exist_ok=True)
    for seed in range(COUNT):
        function, weights, x = model(seed)
        lowered = jax.jit(function, keep_unused=True).lower(weights, x)
        arrays = [*weights, x]
        results = {"out0": np.asarray(jax.jit(function)(weights, x))}
        values = {f"in{i}": np.asarray(a).astype(np.float32) for i, a in enumerate(arrays)}
        values |= {name: value.astype(np.float32) for name, value in results.items()}
        text = lowered.as_text(debug_info=seed % 4 == 3).replace(f"{ROOT}/", "")  # where it was checked out
        (EXPORTED / f"jax_{seed:02}.mlir").write_text(text, encoding="utf-8")
        np.savez_compressed(EXPORTED / f"jax_{seed:02}.npz", **values)


if __name__ == "__main__":
    sys.exit(export())
