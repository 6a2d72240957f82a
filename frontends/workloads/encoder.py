# SPDX-License-Identifier: Apache-2.0
"""
What the vision transformers share: precision modes, stored parameters, calibration, and the encoder layer as
IR.

Conventions of the programs: weights are (in, out); activations are f16 (rows, width) with the samples of a
batch below one another; attention sees (samples, heads, tokens, head width); the layers are one repeat over
parameter sequences.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tilewright.diagnostics import TileError
from tilewright.frontends.workloads import forward
from tilewright.frontends.workloads.ir import Argument, Block, Members, Value, parameter, parameter_sequence
from tilewright.frontends.workloads.weights import (
    F8,
    F8_MAX,
    largest_magnitude,
    normal,
    scale_for,
    stored,
    xavier_uniform,
)
from tilewright.machine.kernels.matrix_unit import pass_inputs

EPSILON = forward.EPSILON
F16_ROOM = 2.0**15
"""Half of f16's range."""


class WorkloadError(TileError):
    """A workload was asked for with shapes or modes that it does not have."""


@dataclass(frozen=True)
class Shape:
    """Sizes of a vision transformer."""

    tokens: int
    width: int
    heads: int
    mlp: int
    layers: int
    batch: int = 1
    patch: int = 588
    """Values in one patch."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < (0 if name == "layers" else 1):
                raise WorkloadError(f"--{name} must be at least {0 if name == 'layers' else 1}, not {value}")
        if self.width % self.heads:
            raise WorkloadError(
                f"--width {self.width} is not a multiple of --heads {self.heads}",
                hint=f"the head width must be whole: {self.width - self.width % self.heads} would do",
            )

    @property
    def rows(self) -> int:
        return self.batch * self.tokens

    @property
    def head_width(self) -> int:
        return self.width // self.heads


@dataclass(frozen=True)
class Mode:
    """Precision of a program: `--precision` and `--attention` as docs/spec/program-folder.md defines them."""

    precision: str = "f8"
    attention: str = "f16"
    sums: str = "auto"
    """`--accumulate`: the type of the running sums of all products, f16 or f32; auto: f16 for f8 operands."""

    def __post_init__(self) -> None:
        for name in ("precision", "attention"):
            value = getattr(self, name)
            if value not in ("f8", "f16"):
                raise WorkloadError(f"--{name} must be f16 or f8, not {value}")
        if self.sums not in ("auto", "f16", "f32"):
            raise WorkloadError(f"--accumulate must be auto, f16 or f32, not {self.sums}")

    def __str__(self) -> str:
        sums = "" if self.sums == "auto" else f", sums {self.sums}"
        return self.precision + (", attention f8" if self.attention == "f8" else "") + sums

    @property
    def operands(self) -> str:
        """Element type of the operands of QKV, projection, MLP and head matmuls."""
        return F8 if self.precision == "f8" else "f16"

    @property
    def accumulate(self) -> str:
        if self.sums != "auto":
            return self.sums
        return "f16" if self.precision == "f8" else "f32"

    @property
    def attention_accumulate(self) -> str:
        if self.sums != "auto":
            return self.sums
        return "f16" if "f8" in (self.precision, self.attention) else "f32"


DEFAULT_MODE = Mode()


def default_attention(precision: str, shape: Shape | None) -> str:
    """
    Operands of the products in attention unless they are asked for: FP8 in an FP8 program whose heads are
    wider than a panel of the matrix unit. A narrower head is a panel or two in either type, and casts cost.
    Without a shape, f16: what another model loses by it is for its user to say.
    """
    return "f8" if precision == "f8" and shape is not None and shape.head_width > pass_inputs(F8) else "f16"


# ------------------------------------------------------------------------------------------- parameters

LAYER_TENSORS: tuple[str, ...] = tuple(
    f"{part}.{kind}"
    for part in ("norm1", "q", "k", "v", "projection", "norm2", "up", "down")
    for kind in ("weight", "bias")
)
"""Tensors of one encoder layer, named `encoder.layers.N.<this>`."""


def layer_tensor(layer: int, tensor: str) -> str:
    return f"encoder.layers.{layer}.{tensor}"


def is_matrix(tensor: str) -> bool:
    return tensor.endswith(".weight") and not tensor.split(".")[-2].startswith("norm")


def draw_linear(rng: np.random.Generator, name: str, ins: int, outs: int) -> dict[str, np.ndarray]:
    return {f"{name}.weight": xavier_uniform(rng, (ins, outs)), f"{name}.bias": normal(rng, (outs,), 0.02)}


def draw_norm(rng: np.random.Generator, name: str, width: int) -> dict[str, np.ndarray]:
    """Weights around 1 and biases around 0, all different: a wrong or exchanged vector shows in a result."""
    weight = (np.float32(1) + normal(rng, (width,), 0.1).astype(np.float32)).astype(np.float16)
    return {f"{name}.weight": weight, f"{name}.bias": normal(rng, (width,), 0.02)}


def draw_layer(rng: np.random.Generator, prefix: str, shape: Shape) -> dict[str, np.ndarray]:
    """The tensors of one encoder layer, their names led by `prefix`."""
    width = shape.width
    values = draw_norm(rng, f"{prefix}norm1", width)
    for name in ("q", "k", "v", "projection"):
        values |= draw_linear(rng, f"{prefix}{name}", width, width)
    values |= draw_norm(rng, f"{prefix}norm2", width)
    values |= draw_linear(rng, f"{prefix}up", width, shape.mlp)
    return values | draw_linear(rng, f"{prefix}down", shape.mlp, width)


@dataclass
class Parameters:
    """Logical values by tensor name, and how the program's arguments store them."""

    values: Mapping[str, np.ndarray]
    mode: Mode
    arguments: list[Argument] = field(default_factory=list[Argument])
    stored_as: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """Element type and scale of each declared tensor."""

    def _store(self, tensors: Sequence[str], matrix: bool) -> tuple[str, int]:
        dtype, scale = "f16", 0
        if matrix and self.mode.precision == "f8":
            dtype, scale = F8, scale_for(largest_magnitude(self.values[name] for name in tensors))
        self.stored_as.update(dict.fromkeys(tensors, (dtype, scale)))
        return dtype, scale

    def one(self, tensor: str, matrix: bool = False) -> Value:
        """Declare an argument for `tensor`; `matrix`: an operand of a matmul whose type the mode chooses."""
        dtype, scale = self._store([tensor], matrix)
        value = Value(tensor.replace(".", "_"), self.values[tensor].shape, dtype, scale)
        self.arguments.append(parameter(value.name, value, tensor))
        return value

    def linear(self, name: str, matrix: bool = True) -> tuple[Value, Value]:
        return self.one(f"{name}.weight", matrix), self.one(f"{name}.bias")

    def norm(self, name: str) -> tuple[Value, Value]:
        return self.one(f"{name}.weight"), self.one(f"{name}.bias")

    def layers(self, count: int) -> dict[str, Members]:
        """
        Declare the encoder layers' sequences; by the name of a layer's tensor as the repeat's body calls it.
        """
        sequences: dict[str, Members] = {}
        for tensor in LAYER_TENSORS:
            names = [layer_tensor(layer, tensor) for layer in range(count)]
            dtype, scale = self._store(names, is_matrix("." + tensor))
            local = tensor.replace(".", "_")
            member = Value(local, self.values[names[0]].shape, dtype, scale)
            sequences[local] = Members(f"layers_{local}", count, member)
            self.arguments.append(parameter_sequence(sequences[local], names))
        return sequences

    def as_stored(self, tensor: str) -> np.ndarray:
        """float32 values of a declared tensor after quantisation."""
        return stored(self.values[tensor], *self.stored_as[tensor])

    def group(self, prefix: str) -> dict[str, np.ndarray]:
        """
        Of every declared tensor whose name starts with `prefix`, the rest of the name and the stored values.
        """
        return {
            name[len(prefix) :]: self.as_stored(name) for name in self.stored_as if name.startswith(prefix)
        }


# ------------------------------------------------------------------------------------------ calibration


@dataclass
class Calibration:
    """Largest magnitude of every observed activation over all layers and samples."""

    largest: dict[str, float] = field(default_factory=dict[str, float])

    def under(self, prefix: str = "") -> forward.Observe:
        def observe(name: str, values: np.ndarray) -> None:
            self.largest[prefix + name] = max(
                self.largest.get(prefix + name, 0.0), float(np.abs(values).max())
            )

        return observe

    def scales(self, prefix: str = "") -> Scales:
        return Scales(self, prefix)


@dataclass(frozen=True)
class Scales:
    """The scale that each activation is cast with, by the name it was observed under."""

    calibration: Calibration
    prefix: str

    def __call__(self, name: str, limit: float = F8_MAX) -> int:
        """The largest magnitude maps to at most `limit`."""
        return scale_for(self.calibration.largest.get(self.prefix + name, 0.0), limit)


# --------------------------------------------------------------------------------------------------- IR


def operand(block: Block, x: Value, mode: Mode, scale: int) -> Value:
    """`x` as an operand of the mode's matmuls."""
    return block.cast(f"{x.name}_f8", x, F8, scale) if mode.precision == "f8" else x


def linear(block: Block, name: str, x: Value, weight: Value, bias: Value, accumulate: str) -> Value:
    """`x` times `weight` plus `bias`; f16."""
    return block.add(name, block.matmul(f"{name}_product", x, weight, "f16", accumulate), bias)


def split_heads(block: Block, x: Value, samples: int, heads: int) -> Value:
    """(samples * tokens, width) -> (samples, heads, tokens, head width)."""
    rows, width = x.shape
    split = block.reshape(f"{x.name}_split", x, (samples, rows // samples, heads, width // heads))
    return block.transpose(f"{x.name}_heads", split, (0, 2, 1, 3))


def merge_heads(block: Block, name: str, x: Value) -> Value:
    """(samples, heads, tokens, head width) -> (samples * tokens, width)."""
    samples, heads, tokens, head_width = x.shape
    side_by_side = block.transpose(f"{name}_split", x, (0, 2, 1, 3))
    return block.reshape(name, side_by_side, (samples * tokens, heads * head_width))


def attend(
    block: Block,
    q: Value,
    k: Value,
    v: Value,
    samples: int,
    heads: int,
    mode: Mode,
    scale: Scales,
    mask: Value | None = None,
) -> Value:
    """
    Attention of q, k, v (rows, width), each with the rows of all samples; q may have the rows of one sample
    for all of them. `mask` (samples, 1, 1 or queries, keys) is added to the products.
    """
    if mode.attention == "f8":
        # scores and sums over the keys are f16 partials of stored values: leave them room below 65,504
        products, sums = math.sqrt(F16_ROOM / (q.shape[1] // heads)), F16_ROOM / (k.shape[0] // samples)
        limits = (products, products, sums)
        q, k, v = (
            block.cast(f"{x.name}_f8", x, F8, scale(x.name, min(limit, F8_MAX)))
            for x, limit in zip((q, k, v), limits, strict=True)
        )
    if samples > 1 and q.shape[0] == 1:  # of one sample, for all of them
        each = block.reshape("q_split", q, (heads, 1, q.shape[1] // heads))
        query = block.broadcast("q_heads", each, (samples, *each.shape), (1, 2, 3))
    else:
        query = split_heads(block, q, samples, heads)
    key, value = split_heads(block, k, samples, heads), split_heads(block, v, samples, heads)
    softmax_scale = 1 / math.sqrt(key.shape[-1])
    heads_context = block.attention(
        "heads_context", query, key, value, softmax_scale, mode.attention_accumulate, mask
    )
    return merge_heads(block, "context", heads_context)


def mlp(block: Block, x: Value, w: Mapping[str, Value], mode: Mode, scale: Scales) -> Value:
    """`up`, tanh GELU, `down` of the normalised `x`."""
    up = linear(
        block,
        "up",
        operand(block, x, mode, scale("mlp_input")),
        w["up_weight"],
        w["up_bias"],
        mode.accumulate,
    )
    hidden = operand(block, block.gelu("hidden", up), mode, scale("hidden"))
    return linear(block, "down", hidden, w["down_weight"], w["down_bias"], mode.accumulate)


def encoder(
    block: Block, x: Value, sequences: Mapping[str, Members], shape: Shape, mode: Mode, scale: Scales
) -> Value:
    """The layers as one repeat over `x` (rows, width)."""
    body = Block(block.indent + "  ")
    w = {name: sequence.member for name, sequence in sequences.items()}
    residual = Value("x", x.shape, x.dtype)
    norm1 = body.layer_norm("norm1", residual, w["norm1_weight"], w["norm1_bias"], EPSILON)
    h = operand(body, norm1, mode, scale("attention_input"))
    q, k, v = (linear(body, n, h, w[f"{n}_weight"], w[f"{n}_bias"], mode.accumulate) for n in "qkv")
    context = attend(body, q, k, v, shape.batch, shape.heads, mode, scale)
    # the scale of an f8 v goes into the cast, or else into the matmul
    context = operand(body, context, mode, scale("context"))
    projection = linear(
        body, "projection", context, w["projection_weight"], w["projection_bias"], mode.accumulate
    )
    attended = body.add("attended", residual, projection)
    norm2 = body.layer_norm("norm2", attended, w["norm2_weight"], w["norm2_bias"], EPSILON)
    last = body.add("x_next", attended, mlp(body, norm2, w, mode, scale))
    return block.repeat("encoded", "layers", x, "x", sequences, body, last)


def first_token(block: Block, x: Value, shape: Shape) -> Value:
    """(samples * tokens, width) -> (samples, width)."""
    samples = block.reshape(f"{x.name}_samples", x, (shape.batch, shape.tokens, shape.width))
    first = block.slice(f"{x.name}_first", samples, (0, 0, 0), (shape.batch, 1, shape.width))
    return block.reshape(f"{x.name}_class", first, (shape.batch, shape.width))


def embed(block: Block, patches: Value, weight: Value, bias: Value, mode: Mode) -> Value:
    """Patch embedding: f16 operands in every mode, added up as the other products are."""
    return linear(block, "patch_embedding", patches, weight, bias, mode.accumulate)


def add_positions(block: Block, x: Value, positions: Value, shape: Shape) -> Value:
    """`positions` (tokens, width) to every sample of `x` (samples * tokens, width)."""
    if shape.batch == 1:
        return block.add("embedded", x, positions)
    samples = block.reshape("embedding_samples", x, (shape.batch, shape.tokens, shape.width))
    return block.reshape("embedded", block.add("positioned", samples, positions), (shape.rows, shape.width))
