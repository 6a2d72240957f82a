# SPDX-License-Identifier: Apache-2.0
"""Modules of torch that models of the tests are made of; whoever imports this has torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


class Call(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *arguments: Any) -> Any:
        return self.function(*arguments)


class Residual(nn.Module):
    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Any) -> Any:
        return x + self.inner(x)


class Scaled(nn.Module):
    def __init__(self, width: int, function: Callable[..., Any]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width))
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x, self.weight)


class Gate(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)

    def forward(self, x: Any) -> Any:
        return F.silu(self.gate(x)) * self.up(x)


class Across(nn.Module):
    """A module of channels first."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Any) -> Any:
        return self.inner(x.transpose(1, 2)).transpose(1, 2)


class Positions(nn.Module):
    def __init__(self, count: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(count + 3, width)

    def forward(self, x: Any) -> Any:
        return x + self.table(torch.arange(x.shape[1]) + 1)


class Einsum(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, width, width // 2) / width**0.5)

    def forward(self, x: Any) -> Any:
        return torch.einsum("btd,hde->bthe", x, self.weight).flatten(2)


class Rotary(nn.Module):
    def __init__(self, angle: Any) -> None:
        super().__init__()
        self.register_buffer("angle", angle, persistent=False)

    def forward(self, x: Any) -> Any:
        cos, sin = self.angle.cos().to(x.dtype), self.angle.sin().to(x.dtype)
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, shared: int, tokens: int, written: bool, pick: Any) -> None:
        super().__init__()
        self.heads, self.shared, self.depth = heads, shared, width // heads
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, shared * self.depth)
        self.v = nn.Linear(width, shared * self.depth)
        self.o = nn.Linear(width, width)
        self.written, self.kind = written, pick("none", "causal", "mask", "bias")
        self.register_buffer("mask", torch.ones(tokens, tokens, dtype=torch.bool).tril(1))
        self.register_buffer("bias", torch.randn(tokens, tokens), persistent=False)

    def forward(self, x: Any) -> Any:
        b, t, _ = x.shape
        q, k, v = (
            m(x).view(b, t, n, self.depth).transpose(1, 2)
            for m, n in ((self.q, self.heads), (self.k, self.shared), (self.v, self.shared))
        )
        mask = {"mask": self.mask, "bias": self.bias.to(x.dtype)}.get(self.kind)
        if self.written:
            scores = q @ k.transpose(-2, -1) / self.depth**0.5
            if self.kind == "bias":
                scores = scores + mask
            elif self.kind in ("mask", "causal"):
                hidden = ~self.mask if self.kind == "mask" else torch.ones(t, t, dtype=torch.bool).triu(1)
                scores = scores.masked_fill(hidden, float("-inf"))
            y = scores.softmax(-1) @ v
        else:
            y = F.scaled_dot_product_attention(
                q, k, v, mask, is_causal=self.kind == "causal", enable_gqa=self.shared != self.heads
            )
        return x + self.o(y.transpose(1, 2).reshape(b, t, -1))
