# SPDX-License-Identifier: Apache-2.0
"""ONNX's products: of matrices, of windows with a kernel, of named axes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tilewright.frontends.onnx.axes import padding_of
from tilewright.frontends.onnx.emit import element_of, shape_of
from tilewright.frontends.onnx.node import Node, Rule, Unsupported


def product(node: Node, a: SSAValue, b: SSAValue) -> SSAValue:
    """numpy's matmul."""
    left, right = shape_of(a), shape_of(b)
    if not left or not right:
        raise ValueError("it multiplies numbers")
    if len(left) == 1 or len(right) == 1 or len(right) == 2:
        # of a matrix on the right all axes of the left but its last are rows
        contracted = 0 if len(right) == 1 else len(right) - 2
        found = node.op(
            "dot_general",
            a,
            b,
            element=element_of(a),
            lhs_batching=[],
            rhs_batching=[],
            lhs_contracting=[len(left) - 1],
            rhs_contracting=[contracted],
        )
        return found
    batch = np.broadcast_shapes(left[:-2], right[:-2])
    a, b = node.broadcast(a, [*batch, *left[-2:]]), node.broadcast(b, [*batch, *right[-2:]])
    n = len(batch)
    return node.op(
        "dot_general",
        a,
        b,
        element=element_of(a),
        lhs_batching=list(range(n)),
        rhs_batching=list(range(n)),
        lhs_contracting=[n + 1],
        rhs_contracting=[n],
    )


def _matmul(node: Node) -> SSAValue:
    return product(node, node.value(0), node.value(1))


def _matmul_integer(node: Node) -> SSAValue:
    parts: list[SSAValue] = []
    for i in (0, 1):
        x = node.convert(node.value(i), i32)
        if node.has(2 + i):
            zero = node.convert(node.value(2 + i), i32)
            if len(shape_of(zero)) == 1 and i == 0 and len(shape_of(x)) > 1:
                zero = node.reshape(zero, [*shape_of(zero), 1])
            x = node.binary("subtract", x, zero)
        parts.append(x)
    return product(node, *parts)


def _gemm(node: Node) -> SSAValue:
    a, b = node.value(0), node.value(1)
    found = node.op(
        "dot_general",
        a,
        b,
        element=element_of(a),
        lhs_batching=[],
        rhs_batching=[],
        lhs_contracting=[0 if node.get("transA", 0) else 1],
        rhs_contracting=[1 if node.get("transB", 0) else 0],
    )
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    if alpha != 1.0:
        found = node.with_number("multiply", found, alpha)
    if not node.has(2) or beta == 0.0:
        return found
    c = node.value(2)
    return node.binary("add", found, c if beta == 1.0 else node.with_number("multiply", c, beta))


def _bias(node: Node, value: SSAValue) -> SSAValue:
    if not node.has(2):
        return value
    bias = node.value(2)
    return node.op(
        "add", value, node.op("broadcast_in_dim", bias, shape=list(shape_of(value)), dimensions=[1])
    )


def _convolution(node: Node) -> SSAValue:
    x, kernel = node.value(0), node.value(1)
    shape, window = shape_of(x), list(shape_of(kernel)[2:])
    strides, dilation, padding = padding_of(node, shape[2:], window)
    layout = list(range(len(shape)))
    value = node.op(
        "convolution",
        x,
        kernel,
        element=element_of(x),
        strides=strides,
        padding=padding,
        input_dilation=[1] * len(window),
        kernel_dilation=dilation,
        input_layout=layout,
        kernel_layout=layout,
        output_layout=layout,
        feature_groups=node.get("group", 1),
        batch_groups=1,
    )
    return _bias(node, value)


def _transposed_convolution(node: Node) -> SSAValue:
    """A convolution of the spread operand with the kernel turned around."""
    x, kernel = node.value(0), node.value(1)
    shape, groups = shape_of(x), node.get("group", 1)
    n, window = len(shape) - 2, list(shape_of(kernel)[2:])
    strides = [int(v) for v in node.get("strides", [1] * n)]
    dilation = [int(v) for v in node.get("dilations", [1] * n)]
    behind = [int(v) for v in node.get("output_padding", [0] * n)]
    pads, auto = [int(v) for v in node.get("pads", [0] * 2 * n)], node.get("auto_pad", "NOTSET")
    reach = [(w - 1) * d + 1 for w, d in zip(window, dilation, strict=True)]
    whole = [s * (e - 1) + b + r for s, e, b, r in zip(strides, shape[2:], behind, reach, strict=True)]
    wanted = node.get("output_shape")
    if wanted is None and auto in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [e * s for e, s in zip(shape[2:], strides, strict=True)]
    if wanted is not None:
        total = [a - int(b) for a, b in zip(whole, wanted[-n:], strict=True)]
        small, large = [t // 2 for t in total], [t - t // 2 for t in total]
        pads = [*small, *large] if auto == "SAME_UPPER" else [*large, *small]
        if wanted is not None and auto == "NOTSET":
            pads = [*large, *small]
    elif auto == "VALID":
        pads = [0] * 2 * n
    padding = [v for i in range(n) for v in (reach[i] - 1 - pads[i], reach[i] - 1 - pads[i + n] + behind[i])]
    inputs, outputs = shape_of(kernel)[:2]
    # [groups, in of a group, out of a group] -> [groups x out, in of a group]
    turned = node.op("reverse", kernel, dimensions=list(range(2, n + 2)))
    parted = node.reshape(turned, [groups, inputs // groups, outputs, *window])
    order = [0, 2, 1, *range(3, n + 3)]
    turned = node.reshape(node.transpose(parted, order), [groups * outputs, inputs // groups, *window])
    layout = list(range(len(shape)))
    value = node.op(
        "convolution",
        x,
        turned,
        element=element_of(x),
        strides=[1] * n,
        padding=padding,
        input_dilation=strides,
        kernel_dilation=dilation,
        input_layout=layout,
        kernel_layout=layout,
        output_layout=layout,
        feature_groups=groups,
        batch_groups=1,
    )
    return _bias(node, value)


def _diagonals(node: Node, x: SSAValue, letters: str) -> tuple[SSAValue, str]:
    if len(set(letters)) != len(letters):
        raise Unsupported("an operand names an axis twice")
    return x, letters


def _einsum(node: Node) -> SSAValue:
    """Products of operands one after the other; an axis goes as soon as nothing later names it."""
    equation = node.get("equation").replace(" ", "")
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    values = node.values()
    spare = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in equation]
    most = max(
        (
            len(shape_of(v)) - len(t.replace("...", ""))
            for v, t in zip(values, terms, strict=True)
            if "..." in t
        ),
        default=0,
    )
    wide = "".join(spare[:most])
    for i, (value, term) in enumerate(zip(values, terms, strict=True)):
        count = len(shape_of(value)) - len(term.replace("...", ""))
        terms[i] = term.replace("...", wide[len(wide) - count :] if count else "")
    if arrow:
        result = result.replace("...", wide)
    else:
        named = "".join(terms)
        result = wide + "".join(sorted(c for c in set(named) if named.count(c) == 1 and c not in wide))
    value, letters = _diagonals(node, values[0], terms[0])
    for i in range(1, len(values)):
        later = set(result).union(*terms[i + 1 :])
        other, names = _diagonals(node, values[i], terms[i])
        value, letters = _kept(node, value, letters, later | set(names))
        other, names = _kept(node, other, names, later | set(letters))
        value, letters = _product(node, value, letters, other, names, later)
    value, letters = _kept(node, value, letters, set(result))
    return node.transpose(value, [letters.index(c) for c in result])


def _kept(node: Node, value: SSAValue, letters: str, wanted: set[str]) -> tuple[SSAValue, str]:
    """Axes that nothing names are summed."""
    axes = [i for i, c in enumerate(letters) if c not in wanted]
    return node.reduce(value, "sum", axes, keep=False), "".join(c for c in letters if c in wanted)


def _product(
    node: Node, a: SSAValue, left: str, b: SSAValue, right: str, later: set[str]
) -> tuple[SSAValue, str]:
    both = [c for c in left if c in right]
    batch, summed = [c for c in both if c in later], [c for c in both if c not in later]
    for c in both:
        if shape_of(a)[left.index(c)] != shape_of(b)[right.index(c)]:
            raise Unsupported("an axis of 1 is broadcast")
    places = {
        name: [letters.index(c) for c in chosen]
        for name, letters, chosen in (
            ("lhs_batching", left, batch),
            ("rhs_batching", right, batch),
            ("lhs_contracting", left, summed),
            ("rhs_contracting", right, summed),
        )
    }
    value = node.op("dot_general", a, b, element=element_of(a), **places)
    rest = [c for c in left if c not in both] + [c for c in right if c not in both]
    return value, "".join([*batch, *rest])


RULES: Mapping[str, Rule] = {
    "Conv": _convolution,
    "ConvTranspose": _transposed_convolution,
    "Einsum": _einsum,
    "Gemm": _gemm,
    "MatMul": _matmul,
    "MatMulInteger": _matmul_integer,
}

__all__ = ["RULES", "product"]
