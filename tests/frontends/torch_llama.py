# SPDX-License-Identifier: Apache-2.0
"""
A Llama in plain torch: rotary positions, heads that share keys and values, RMS norms, a gated MLP; the recipe
of `tests/data/exported/llama_decoder.*`, eight steps of decoding (`python tests/frontends/torch_llama.py`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """One layer; with caches it takes one token at a place and returns the caches after it."""

    def __init__(self, width: int, heads: int, shared: int, hidden: int) -> None:
        super().__init__()
        self.heads, self.shared, self.depth = heads, shared, width // heads
        self.input_layernorm = nn.RMSNorm(width, eps=1e-5)
        self.q_proj = nn.Linear(width, heads * self.depth, bias=False)
        self.k_proj = nn.Linear(width, shared * self.depth, bias=False)
        self.v_proj = nn.Linear(width, shared * self.depth, bias=False)
        self.o_proj = nn.Linear(heads * self.depth, width, bias=False)
        self.post_attention_layernorm = nn.RMSNorm(width, eps=1e-5)
        self.gate_proj = nn.Linear(width, hidden, bias=False)
        self.up_proj = nn.Linear(width, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, width, bias=False)

    def split(self, y: Any, heads: int) -> Any:
        return y.view(*y.shape[:2], heads, self.depth).transpose(1, 2)

    def projections(self, x: Any, angles: Any) -> tuple[Any, Any, Any]:
        y = self.input_layernorm(x)
        q, k = self.split(self.q_proj(y), self.heads), self.split(self.k_proj(y), self.shared)
        return rotated(q, angles), rotated(k, angles), self.split(self.v_proj(y), self.shared)

    def rest(self, x: Any, seen: Any) -> Any:
        x = x + self.o_proj(seen.transpose(1, 2).flatten(2))
        y = self.post_attention_layernorm(x)
        return x + self.down_proj(F.silu(self.gate_proj(y)) * self.up_proj(y))

    def forward(self, x: Any, angles: Any) -> Any:
        q, k, v = self.projections(x, angles)
        return self.rest(x, F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True))

    def step(self, x: Any, angles: Any, at: Any, keys: Any, values: Any) -> tuple[Any, Any, Any]:
        q, k, v = self.projections(x, angles)
        keys, values = keys.index_copy(2, at, k), values.index_copy(2, at, v)
        seen = (torch.arange(keys.shape[2]) <= at)[None]
        return (
            self.rest(x, F.scaled_dot_product_attention(q, keys, values, seen, enable_gqa=True)),
            keys,
            values,
        )


def rotated(x: Any, angles: Any) -> Any:
    """Halves of each head turned by the angles of its place."""
    cos, sin = angles.cos(), angles.sin()
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Llama(nn.Module):
    """Logits of a row of tokens."""

    def __init__(self, words: int, width: int, layers: int, heads: int, shared: int, rows: int) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Block(width, heads, shared, 2 * width) for _ in range(layers))
        self.norm = nn.RMSNorm(width, eps=1e-5)
        self.lm_head = nn.Linear(width, words, bias=False)
        depth = width // heads
        steps = 10000.0 ** -(torch.arange(0, depth, 2) / depth)
        self.register_buffer("angles", torch.outer(torch.arange(rows), steps), persistent=False)

    def forward(self, tokens: Any) -> Any:
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x, self.angles[: tokens.shape[1]])
        return self.lm_head(self.norm(x))


class Decoder(nn.Module):
    """Greedy decoding: one token in, the next one and the caches out."""

    def __init__(self, model: Llama) -> None:
        super().__init__()
        self.model = model

    def forward(self, token: Any, at: Any, caches: list[Any]) -> tuple[Any, list[Any]]:
        x = self.model.embed_tokens(token)[None]
        angles = self.model.angles.index_select(0, at)
        after = []
        for layer, (keys, values) in zip(self.model.layers, caches, strict=True):
            x, keys, values = layer.step(x, angles, at, keys, values)
            after.append((keys, values))
        return self.model.lm_head(self.model.norm(x))[0].argmax(-1), after


class Greedy(nn.Module):
    """Several steps of decoding from a token; tokens, place and caches are what a step hands to the next."""

    def __init__(self, model: Llama, steps: int) -> None:
        super().__init__()
        self.decoder, self.steps = Decoder(model), steps

    def forward(self, token: Any, at: Any, tokens: Any, caches: list[Any]) -> tuple[Any, list[Any]]:
        for _ in range(self.steps):
            token, caches = self.decoder(token, at, caches)
            tokens = tokens.index_copy(0, at, token)
            at = at + 1
        return tokens, caches


STEPS, ROWS = 8, 12
EXPORTED = Path(__file__).parents[2] / "tests" / "data" / "exported" / "llama_decoder.mlir"


def decoder() -> tuple[Llama, Greedy, tuple[Any, ...]]:
    """A model of two layers with random weights, eight steps of it, and their inputs."""
    torch.manual_seed(3)
    model = Llama(words=50, width=32, layers=2, heads=8, shared=2, rows=ROWS).eval()
    caches = [(torch.zeros(1, 2, ROWS, 4), torch.zeros(1, 2, ROWS, 4)) for _ in range(2)]
    start = (torch.tensor([7]), torch.tensor([0]), torch.zeros(STEPS, dtype=torch.int64), caches)
    return model, Greedy(model, STEPS).eval(), start


def without_caches(model: Llama, token: int) -> list[int]:
    """The same tokens by the whole row again for each."""
    row = [token]
    for _ in range(STEPS):
        row.append(int(model(torch.tensor([row]))[0, -1].argmax()))
    return row[1:]


def export() -> int:
    """Write the middle form of the eight steps, inputs and parameters, and the tokens of the whole rows."""
    import numpy as np

    from tilewright.frontends.importing import argument_names, output_names
    from tilewright.frontends.program_folder import write_tensors
    from tilewright.frontends.torch import read_torch

    model, steps, start = decoder()
    read, values, results = read_torch(steps, start)
    wanted = np.array(without_caches(model, 7), np.int32)
    assert np.array_equal(results[0], wanted)
    EXPORTED.write_text(str(read.module) + "\n", encoding="utf-8")
    names = [name for _, name in argument_names(read.function)] + output_names(read.function)
    write_tensors(EXPORTED.with_suffix(".safetensors"), dict(zip(names, [*values, *results], strict=True)))
    return 0


if __name__ == "__main__":
    sys.exit(export())
