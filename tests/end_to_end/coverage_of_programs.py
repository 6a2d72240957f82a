# SPDX-License-Identifier: Apache-2.0
"""What programs cover of the language: operations, values of their attributes, element types of each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from xdsl.ir import Attribute, Operation

from tilewright.dialects import tile_repeat, tile_tensor
from tilewright.dialects.parsing import parse_module
from tilewright.dialects.tile_tensor import element_of
from tilewright.machine.numerics import pointwise
from tilewright.passes.ir.tensors import python_value

AT_LEAST = {"operation": 10, "attribute": 2, "element": 1}
"""How often each must occur."""

BOTH = ("True", "False")
SIGNS = ("negative", "zero", "positive")
ANY = ("any",)
VALUES: dict[str, tuple[str, ...]] = {
    "accumulate": ("None", "f16", "f32"),
    "approximate": ("none", "tanh"),
    "axes": ("0", "1", "several"),
    "axis": ("zero", "positive"),
    "causal": BOTH,
    "dilation": ("None", "given"),
    "dimensions": ANY,
    "groups": ("positive",),
    "count": ("positive",),
    "descending": BOTH,
    "direction": ("eq", "ne", "lt", "le", "gt", "ge"),
    "empty_rows": ("zero", "uniform", "nan"),
    "epsilon": ("zero", "positive"),
    "high": ANY,
    "interior": ("None", "given"),
    "keep_dims": BOTH,
    "kind": ("sum", "max", "min", "prod", "mean", "any", "all"),
    "low": ANY,
    "mask_place": ("before_scale", "after_scale"),
    "offsets": ANY,
    "out_of_range": ("clamp", "zero"),
    "permutation": ANY,
    "query_offset": SIGNS,
    "rounding": ("nearest", "truncate"),
    "saturate": BOTH,
    "scale": SIGNS,
    "size": ANY,
    "sizes": ANY,
    "strides": ("None", "given"),
    "transpose_a": BOTH,
    "transpose_b": BOTH,
    "value": (*SIGNS, "infinite", "nan"),
    "window": ("None", "positive"),
}
"""
The classes that an attribute's values fall into. An attribute that the dialect has and this table has not is
an error.
"""
ALONG = "softmax layer_norm rms_norm argmax argmin cumsum sort argsort top_k top_k_indices".split()
"""Operations on rows along an axis."""
SPECIAL = {
    ("matmul", "accumulate"): ("None", "f16", "f32", "i32"),
    ("softmax", "scale"): ("negative", "positive"),
    ("attention", "scale"): ("negative", "positive"),
    ("constant", "value"): ANY,
    **{(name, "count"): ("positive",) for name in ("top_k", "top_k_indices")},
    ("reduce_window", "kind"): ("sum", "max", "min", "mean"),
    **{
        (name, clause): ("None", "given")
        for name in ("convolution", "reduce_window")
        for clause in ("strides", "low", "high", "dilation")
    },
    **{(name, "axis"): ("None", "zero", "positive") for name in ALONG},
}
FLOATS = ("f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3FN", "f8E5M2", "f16", "bf16", "f32")
INTEGERS = ("i8", "i32")
MOVES = (
    "broadcast",
    "concat",
    "constant",
    "dynamic_slice",
    "dynamic_update_slice",
    "gather",
    "pad",
    "reshape",
    "select",
    "slice",
    "transpose",
)


def elements_of(name: str) -> tuple[str, ...]:
    """The element types that an operation's first operand may have."""
    kinds = {kind for facts in pointwise.functions_of(name) for kind in facts.kinds}
    if not kinds or name == "select":
        both = (*MOVES, "cast", "reduce", "one_hot", "reduce_window", *ALONG[3:], "scatter_add")
        kinds = {"floats", *(("integers",) if name in both else ())}
    if name in ("cast", "reduce", "one_hot", *MOVES):
        kinds.add("booleans")
    every = {"floats": FLOATS, "integers": INTEGERS, "booleans": ("i1",)}
    return tuple(element for kind in every if kind in kinds for element in every[kind])


def missing(texts: Iterable[str]) -> list[str]:
    """What occurs in these programs less often than it must, with the count."""
    found: Counter[tuple[str, ...]] = Counter()
    for text in texts:
        for op in parse_module(text).walk():
            found.update(_features(op))
    return [
        f"{' '.join(feature)}: {found[feature]} of {AT_LEAST[feature[0]]}"
        for feature in required()
        if found[feature] < AT_LEAST[feature[0]]
    ]


def required() -> Iterator[tuple[str, ...]]:
    """All that the dialects' definitions name."""
    for kind in tile_tensor.TileTensor.operations:
        name = kind.name.partition(".")[2]
        yield "operation", name
        for attribute in kind.get_irdl_definition().properties:
            for value in SPECIAL.get((name, attribute), VALUES[attribute]):
                yield "attribute", name, attribute, value
        for element in elements_of(name):
            yield "element", name, element
    for name in ("repeat", "pack", "member"):
        yield "operation", name


def _features(op: Operation) -> Iterator[tuple[str, ...]]:
    name = op.name.partition(".")[2]
    if isinstance(op, tile_repeat.RepeatOp | tile_repeat.PackOp | tile_repeat.MemberOp):
        yield "operation", name
    if not isinstance(op, tile_tensor.TensorOperation):
        return
    yield "operation", name
    for attribute in op.get_irdl_definition().properties:
        yield "attribute", name, attribute, _class(name, attribute, op.properties.get(attribute))
    for element in {str(element_of(value)) for value in (*op.operands[:1], op.result)}:
        yield "element", name, element


def _class(name: str, attribute: str, given: Attribute | None) -> str:
    classes = SPECIAL.get((name, attribute), VALUES[attribute])
    if classes == ANY:
        return "any"
    value: Any = None if given is None else python_value(given)
    if "given" in classes:
        return "None" if value is None else "given"
    if classes == BOTH:
        return str(bool(value))
    if attribute == "axes":
        return str(len(value)) if len(value) < 2 else "several"
    if isinstance(value, int | float):
        if math.isnan(value):
            return "nan"
        if math.isinf(value):
            return "infinite"
        return "zero" if value == 0 else "negative" if value < 0 else "positive"
    return str(value)
