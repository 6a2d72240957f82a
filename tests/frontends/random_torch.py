# SPDX-License-Identifier: Apache-2.0
"""
Small random models of torch, made of what real models are made of; and the recipe of the exported ones in
`tests/data/exported/torch_*` (`python tests/frontends/random_torch.py`, needs torch).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
EXPORTED = ROOT / "tests" / "data" / "exported"
EXPORTS = (
    ("encoder", "linear"), ("attention", "mlp", "rms_norm"), ("grouped", "layer_norm", "gate"),
    ("written", "mlp"), ("convolution", "batch_norm", "activation"), ("rotary", "written_norm", "softmax"),
    ("group_norm", "einsum"), ("embedding", "shift", "clip"), ("order", "gather", "where"),
    ("pool", "activation", "linear"),
)  # fmt: skip
"""The layers of the exported models in the repository; the number of a model is its seed."""
COUNT = len(EXPORTS)

KINDS = (
    "linear", "mlp", "layer_norm", "rms_norm", "written_norm", "softmax", "attention", "written", "grouped",
    "encoder", "activation", "where", "rotary", "gate", "pool", "shift", "clip", "gather", "convolution",
    "group_norm", "batch_norm", "order", "embedding", "einsum",
)  # fmt: skip


class Draw:
    """Draws one model of torch: a module whose layers take [batch, tokens, width] and keep it."""

    def __init__(self, seed: int) -> None:
        import torch

        self.random = np.random.default_rng(seed)
        torch.manual_seed(seed)
        self.batch = int(self.random.choice([1, 1, 2]))
        self.tokens = int(self.random.integers(3, 10))
        self.width = int(self.random.choice([8, 12, 16]))
        self.dtype = str(self.random.choice(["float32", "float32", "float32", "float16", "bfloat16"]))

    def pick(self, *options: Any) -> Any:
        return options[int(self.random.integers(len(options)))]

    def module(self, kind: str) -> Any:
        """A module of one kind."""
        import torch
        import torch_modules as m
        from torch import nn
        from torch.nn import functional as F

        d, t = self.width, self.tokens
        if kind == "linear":
            return nn.Linear(d, d, bias=self.pick(True, False))
        if kind == "mlp":
            act = self.pick(nn.GELU(), nn.GELU(approximate="tanh"), nn.SiLU(), nn.ReLU())
            return m.Residual(nn.Sequential(nn.Linear(d, 2 * d), act, nn.Dropout(0.1), nn.Linear(2 * d, d)))
        if kind == "layer_norm":
            return nn.LayerNorm(d, eps=self.pick(1e-5, 1e-3), elementwise_affine=self.pick(True, False))
        if kind == "rms_norm":
            return nn.RMSNorm(d, eps=self.pick(1e-5, None))
        if kind == "written_norm":
            return m.Scaled(
                d, lambda x, w: (x - x.mean(-1, True)) * (x.var(-1, False, keepdim=True) + 1e-5).rsqrt() * w
            )
        if kind == "softmax":
            axis = self.pick(-1, 1)
            return m.Call(lambda x: x + F.softmax(x * 0.5, axis))
        if kind in ("attention", "written", "grouped"):
            return m.Attention(d, 4, 2 if kind == "grouped" else 4, t, kind == "written", self.pick)
        if kind == "encoder":
            return nn.TransformerEncoderLayer(
                d,
                4,
                2 * d,
                activation=self.pick("relu", "gelu"),
                batch_first=True,
                norm_first=self.pick(True, False),
            )
        if kind == "activation":
            return m.Call(
                self.pick(
                    F.gelu, F.silu, torch.tanh, torch.sigmoid, F.elu, F.softplus, F.hardswish, F.mish,
                    F.leaky_relu, lambda x: x / (1 + torch.exp(-x)), F.relu6, F.logsigmoid,
                )
            )  # fmt: skip
        if kind == "where":
            limit = float(self.random.standard_normal())
            return m.Call(
                self.pick(
                    lambda x: torch.where(x > limit, x, 0.5 * x - limit),
                    lambda x: x.masked_fill(x < limit, limit),
                )
            )
        if kind == "rotary":
            angle = torch.outer(torch.arange(t), 1.0 / 10 ** torch.arange(d // 2))
            return m.Rotary(angle)
        if kind == "gate":
            return m.Gate(d)
        if kind == "pool":
            return m.Call(
                self.pick(
                    lambda x: x - x.amax(1, keepdim=True) + x.mean(1, keepdim=True),
                    lambda x: x - x.max(1, keepdim=True).values + x.std(-1, keepdim=True),
                )
            )
        if kind == "shift":
            return m.Call(
                self.pick(
                    lambda x: F.pad(x, (0, 0, 1, 0))[:, :-1] + x.flip(1),
                    lambda x: torch.roll(x, 1, 1) + torch.cat(x.chunk(2, -1)[::-1], -1),
                    lambda x: x + torch.stack(x.unbind(1), 1).tril(),
                )
            )
        if kind == "clip":
            return m.Call(lambda x: x.clamp(-1, 1.5) + x.abs() * 0.25)
        if kind == "gather":
            rows = torch.from_numpy(self.random.integers(0, t, t))
            return m.Call(self.pick(lambda x: x + x[:, rows], lambda x: x + x.index_select(1, rows)))
        if kind == "convolution":
            groups = self.pick(1, d)
            return m.Across(nn.Conv1d(d, d, 3, padding=1, groups=groups))
        if kind == "group_norm":
            return m.Across(nn.GroupNorm(2, d))
        if kind == "batch_norm":
            norm = nn.BatchNorm1d(d)
            norm.running_mean.normal_(0, 0.1)
            norm.running_var.uniform_(0.5, 1.5)
            return m.Across(norm)
        if kind == "order":
            return m.Call(
                self.pick(
                    lambda x: x.sort(1).values,
                    lambda x: x + x.cumsum(1) * 0.1,
                    lambda x: x - x.topk(2)[0][..., 1:],
                )
            )
        if kind == "embedding":
            return m.Positions(t, d)
        return m.Einsum(d)


def model(seed: int, kinds: tuple[str, ...] | None = None) -> tuple[Any, Any]:
    """A module in eval() and an argument for it."""
    import torch

    draw = Draw(seed)
    names = kinds or tuple(str(draw.random.choice(KINDS)) for _ in range(int(draw.random.integers(1, 5))))
    layers = [draw.module(kind) for kind in names]
    dtype = getattr(torch, draw.dtype)
    module = torch.nn.Sequential(*layers).to(dtype).eval()
    return module, torch.randn(draw.batch, draw.tokens, draw.width).to(dtype)


def bound(dtype: Any) -> float:
    """The largest error of a result against torch's, relative to the largest result: a few last places."""
    return {"float32": 2e-5, "float16": 2e-2, "bfloat16": 1.5e-1}[str(dtype)]


def export() -> None:
    """Write the exported models: the middle form as text, and its parameters, inputs and results."""
    from tilewright.frontends.importing import argument_names, output_names
    from tilewright.frontends.program_folder import write_tensors
    from tilewright.frontends.torch import read_torch

    for seed, kinds in enumerate(EXPORTS):
        read, values, results = read_torch(*model(seed, kinds))
        path = EXPORTED / f"torch_{seed:02}.mlir"
        path.write_text(str(read.module) + "\n", encoding="utf-8")
        names = [name for _, name in argument_names(read.function)] + output_names(read.function)
        write_tensors(path.with_suffix(".safetensors"), dict(zip(names, [*values, *results], strict=True)))


if __name__ == "__main__":
    sys.exit(export())
