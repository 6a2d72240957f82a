# SPDX-License-Identifier: Apache-2.0
"""ONNX's norms, softmax, attention and rotary embedding: whole where the tensor dialect has them."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f32, i1
from xdsl.ir import SSAValue

from tilewright.dialects import tile_tensor as tt
from tilewright.frontends.onnx.emit import axis_of, element_of, shape_of
from tilewright.frontends.onnx.node import Node, Rule, Unsupported
from tilewright.frontends.onnx.products import product


def _softmax(node: Node) -> SSAValue:
    x = node.value(0)
    axis = axis_of(node.get("axis", -1), len(shape_of(x)))
    if node.kind == "Softmax":
        return node.composite(tt.SoftmaxOp, x, axis=axis, empty_rows="nan")
    most = node.reduce(x, "max", [axis])
    shifted = node.binary("subtract", x, most)
    total = node.reduce(node.op("exponential", shifted), "sum", [axis])
    return node.binary("subtract", shifted, node.op("log", total))


def _hardmax(node: Node) -> SSAValue:
    x = node.value(0)
    shape = list(shape_of(x))
    axis = axis_of(node.get("axis", -1), len(shape))
    place = node.op("arg_reduce", x, element="i32", kind="max", dimension=axis)
    wide = node.op(
        "broadcast_in_dim", place, shape=shape, dimensions=[i for i in range(len(shape)) if i != axis]
    )
    line = node.op("iota", shape=shape, element="i32", dimension=axis)
    chosen = node.op("compare", wide, line, direction="EQ")
    return node.op("select", chosen, node.number(1, x), node.number(0, x))


def _rows(node: Node, x: SSAValue, axis: int, vector: SSAValue | None) -> tuple[SSAValue, SSAValue | None]:
    """The axes from `axis` on as one, of a value and of the vector that scales it."""
    shape = shape_of(x)
    width = prod(shape[axis:])
    if vector is not None:
        vector = node.reshape(node.broadcast(vector, shape[axis:]), [width])
    return node.reshape(x, [*shape[:axis], width]), vector


def _layer_norm(node: Node) -> Any:
    x = node.value(0)
    shape = shape_of(x)
    axis, epsilon = axis_of(node.get("axis", -1), len(shape)), node.get("epsilon", 1e-5)
    if node.wanted(1) or node.wanted(2):
        return _spelled_norm(node, x, axis, epsilon)
    gamma = node.value(1) if node.has(1) else node.build.constant(np.ones(shape[axis:]), element_of(x))
    beta = node.value(2) if node.has(2) else node.build.constant(np.zeros(shape[axis:]), element_of(x))
    rows, first = _rows(node, x, axis, gamma)
    _, second = _rows(node, x, axis, beta)
    return node.reshape(node.composite(tt.LayerNormOp, rows, first, second, epsilon=epsilon), shape)


def _spelled_norm(node: Node, x: SSAValue, axis: int, epsilon: float) -> list[SSAValue]:
    """With the mean and the inverse deviation as further outputs."""
    wide = node.convert(x, f32) if node.get("stash_type", 1) == 1 else x
    axes = list(range(axis, len(shape_of(x))))
    mean = node.mean(wide, axes)
    apart = node.binary("subtract", wide, mean)
    variance = node.mean(node.op("multiply", apart, apart), axes)
    inverse = node.op("rsqrt", node.with_number("add", variance, epsilon))
    value = node.convert(node.binary("multiply", apart, inverse), element_of(x))
    value = node.binary("multiply", value, node.value(1))
    if node.has(2):
        value = node.binary("add", value, node.value(2))
    return [value, mean, inverse]


def _rms_norm(node: Node) -> SSAValue:
    x = node.value(0)
    axis = axis_of(node.get("axis", -1), len(shape_of(x)))
    rows, gamma = _rows(node, x, axis, node.value(1))
    assert gamma is not None
    if element_of(gamma) != element_of(rows):
        gamma = node.convert(gamma, element_of(rows))
    value = node.composite(tt.RmsNormOp, rows, gamma, epsilon=node.get("epsilon", 1e-5))
    return node.reshape(value, shape_of(x))


def _along_features(node: Node, i: int, like: SSAValue) -> SSAValue:
    return node.op("broadcast_in_dim", node.value(i), shape=list(shape_of(like)), dimensions=[1])


def _batch_norm(node: Node) -> SSAValue:
    if node.get("training_mode", 0):
        raise Unsupported("it trains: export the model in inference mode")
    x = node.value(0)
    gamma, beta, mean, variance = (node.value(i) for i in (1, 2, 3, 4))
    scale = node.op(
        "multiply", gamma, node.op("rsqrt", node.with_number("add", variance, node.get("epsilon", 1e-5)))
    )
    shape = list(shape_of(x))
    axis = [min(1, len(shape) - 1)]
    wide = [node.op("broadcast_in_dim", v, shape=shape, dimensions=axis) for v in (mean, scale, beta)]
    return node.op("add", node.op("multiply", node.op("subtract", x, wide[0]), wide[1]), wide[2])


def _group_norm(node: Node) -> SSAValue:
    """Instance and group norm: statistics of a group's channels and places, scaled by channel."""
    x = node.value(0)
    shape = shape_of(x)
    channels = shape[1]
    groups = channels if node.kind == "InstanceNormalization" else node.get("num_groups")
    parted = node.reshape(x, [shape[0], groups, prod(shape[1:]) // groups])
    apart = node.binary("subtract", parted, node.mean(parted, [2]))
    variance = node.mean(node.op("multiply", apart, apart), [2])
    inverse = node.op("rsqrt", node.with_number("add", variance, node.get("epsilon", 1e-5)))
    value = node.reshape(node.binary("multiply", apart, inverse), shape)
    gamma, beta = node.value(1), node.value(2)
    if shape_of(gamma)[0] != channels:  # one scale of a group, before opset 21
        wide = [groups, channels // groups]
        gamma, beta = (
            node.reshape(node.op("broadcast_in_dim", v, shape=wide, dimensions=[0]), [channels])
            for v in (gamma, beta)
        )
    gamma, beta = (node.op("broadcast_in_dim", v, shape=list(shape), dimensions=[1]) for v in (gamma, beta))
    return node.op("add", node.op("multiply", value, gamma), beta)


def _lp_norm(node: Node) -> SSAValue:
    x = node.value(0)
    axis = axis_of(node.get("axis", -1), len(shape_of(x)))
    if node.get("p", 2) == 1:
        size = node.reduce(node.op("abs", x), "sum", [axis])
    else:
        size = node.op("sqrt", node.reduce(node.op("multiply", x, x), "sum", [axis]))
    held = node.op(
        "select", node.op("compare", size, node.number(0, size), direction="EQ"), node.number(1, size), size
    )
    return node.binary("divide", x, held)


# ---------------------------------------------------------------------------------------------- attention


def _heads(node: Node, x: SSAValue, count: int | None) -> SSAValue:
    """[batch, heads, tokens, width] of a value that may have its heads in its last axis."""
    if len(shape_of(x)) == 4:
        return x
    if not count:
        raise ValueError("the number of heads is missing")
    batch, tokens, width = shape_of(x)
    return node.transpose(node.reshape(x, [batch, tokens, count, width // count]), [0, 2, 1, 3])


def _attention(node: Node) -> list[SSAValue]:
    flat = len(node.shape(0)) == 3
    heads, shared = node.get("q_num_heads"), node.get("kv_num_heads")
    query = _heads(node, node.value(0), heads)
    key, value = (_heads(node, node.value(i), shared) for i in (1, 2))
    offset = 0
    if node.has(4):
        offset = node.shape(4)[2]
        key = node.op("concatenate", node.value(4), key, dimension=2)
        value = node.op("concatenate", node.value(5), value, dimension=2)
    if node.has(6):
        raise Unsupported("the number of keys (nonpad_kv_seqlen) is given at run time")
    if max(node.get("left_window_size", -1), node.get("right_window_size", -1)) >= 0:
        raise Unsupported("it sees a window of keys")
    mask = node.value(3) if node.has(3) else None
    tokens = shape_of(key)[2]
    if mask is not None and (short := tokens - shape_of(mask)[-1]) > 0:
        hidden = False if element_of(mask) == i1 else -np.inf
        behind = [0] * (len(shape_of(mask)) - 1)
        value_ = node.build.constant(hidden, element_of(mask))
        mask = node.op("pad", mask, value_, low=[*behind, 0], high=[*behind, short], interior=[0, *behind])
    given = node.get("scale")
    scale = float(given) if given is not None else 1 / float(np.sqrt(shape_of(query)[3]))
    if node.get("softcap", 0.0) or node.wanted(3):
        found, scores = _spelled_attention(node, query, key, value, mask, scale, offset)
        return [_flat(node, found) if flat else found, key, value, scores][: max(len(node.outputs), 1)]
    found = node.composite(
        tt.AttentionOp,
        query,
        key,
        value,
        mask,
        scale=scale,
        mask_place="after_scale" if mask is not None and element_of(mask) != i1 else "before_scale",
        causal=bool(node.get("is_causal", 0)),
        query_offset=offset if node.get("is_causal", 0) else 0,
        empty_rows="zero",
    )
    return [_flat(node, found) if flat else found, key, value][: max(len(node.outputs), 1)]


def _flat(node: Node, x: SSAValue) -> SSAValue:
    """[batch, tokens, heads x width]"""
    batch, count, rows, width = shape_of(x)
    return node.reshape(node.transpose(x, [0, 2, 1, 3]), [batch, rows, count * width])


def _spelled_attention(
    node: Node,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    mask: SSAValue | None,
    scale: float,
    offset: int,
) -> tuple[SSAValue, SSAValue]:
    """Attention whose scores are capped or read, and what `qk_matmul_output_mode` chooses of them."""
    shared = shape_of(query)[1] // shape_of(key)[1]
    if shared > 1:
        key, value = (_repeated(node, v, shared) for v in (key, value))
    scores = product(node, node.with_number("multiply", query, scale), node.transpose(key, [0, 1, 3, 2]))
    shape = shape_of(scores)
    steps = [scores]
    if cap := node.get("softcap", 0.0):
        capped = node.op("tanh", node.with_number("divide", scores, cap))
        scores = node.with_number("multiply", capped, cap)
    steps.append(scores)
    hidden = node.number(-np.inf, scores)
    if mask is not None and element_of(mask) == i1:
        scores = node.op("select", node.broadcast(mask, shape), scores, hidden)
    elif mask is not None:
        scores = node.binary("add", scores, mask)
    if node.get("is_causal", 0):
        seen = np.tri(shape[-2], shape[-1], offset, dtype=np.bool_)
        scores = node.op("select", node.broadcast(node.build.constant(seen), shape), scores, hidden)
    steps.append(scores)
    weights = node.composite(tt.SoftmaxOp, scores, axis=len(shape) - 1, empty_rows="zero")
    steps.append(weights)
    return product(node, weights, value), steps[node.get("qk_matmul_output_mode", 0)]


def _repeated(node: Node, x: SSAValue, count: int) -> SSAValue:
    """Every head `count` times."""
    batch, heads, tokens, width = shape_of(x)
    wide = node.broadcast(
        node.reshape(x, [batch, heads, 1, tokens, width]), [batch, heads, count, tokens, width]
    )
    return node.reshape(wide, [batch, heads * count, tokens, width])


def _rotary(node: Node) -> SSAValue:
    x = node.value(0)
    shape = shape_of(x)
    flat = len(shape) == 3
    x = _heads(node, x, node.get("num_heads"))  # batch, heads, tokens, width
    batch, _, tokens, width = shape_of(x)
    turned = node.get("rotary_embedding_dim", 0) or width
    angles: list[SSAValue] = []
    for i in (1, 2):
        cache = node.value(i)
        if node.has(3):
            cache = node.op("take", cache, node.value(3), axis=0, out_of_range="clamp")
        angles.append(node.reshape(cache, [batch, 1, tokens, turned // 2]))
    cos, sin = angles
    head, rest = node.cut(x, 3, 0, turned), node.cut(x, 3, turned, width) if turned < width else None
    split = (
        [*shape_of(head)[:3], turned // 2, 2]
        if node.get("interleaved", 0)
        else [*shape_of(head)[:3], 2, turned // 2]
    )
    place = 4 if node.get("interleaved", 0) else 3
    parted = node.reshape(head, split)
    half = [*shape_of(head)[:3], turned // 2]
    a, b = (node.reshape(node.cut(parted, place, i, i + 1), half) for i in (0, 1))
    real = node.op("subtract", node.binary("multiply", a, cos), node.binary("multiply", b, sin))
    imaginary = node.op("add", node.binary("multiply", a, sin), node.binary("multiply", b, cos))
    wide = [n if i != place else 1 for i, n in enumerate(split)]
    both = node.op("concatenate", node.reshape(real, wide), node.reshape(imaginary, wide), dimension=place)
    value = node.reshape(both, shape_of(head))
    if rest is not None:
        value = node.op("concatenate", value, rest, dimension=3)
    return node.reshape(node.transpose(value, [0, 2, 1, 3]), shape) if flat else value


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("Softmax", "LogSoftmax"), _softmax),
    **dict.fromkeys(("InstanceNormalization", "GroupNormalization"), _group_norm),
    "Attention": _attention,
    "BatchNormalization": _batch_norm,
    "Hardmax": _hardmax,
    "LayerNormalization": _layer_norm,
    "LpNormalization": _lp_norm,
    "RMSNormalization": _rms_norm,
    "RotaryEmbedding": _rotary,
}

__all__ = ["RULES"]
