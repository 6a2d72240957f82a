# SPDX-License-Identifier: Apache-2.0
"""
Attention whose queries are parameters, as the pooling head of a vision tower has it, pools first and projects
what was pooled.

Keys `x Wk + bk` meet queries that no input has a part in, so `q (x Wk + bk)^T` is `(q Wk^T) x^T` and a term
that is the same for all keys, which softmax does not see. One vector a query and head, computed here, takes
the place of the queries and of Wk. Probabilities sum to one, so `p (x Wv + bv)` is `(p x) Wv + bv`: as many
rows go through Wv as there are queries of all heads, not as there are keys.

What is left are two products of few rows, with x and with its transpose. The transpose comes from a product
with the identity of a panel: copies move it an element at a time. Keys are completed to whole panels, and a
mask hides the lanes. Wv is stored by heads: a view of its columns would cut words of 8 bits.

An attention is rewritten if it has no mask and sees all keys, its queries are computed from parameters alone
and are the same for all samples, and keys and values are products of one operand with parameters, each read
by nothing else, with fewer queries of all heads than half of the operand's columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, TensorType, f16
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.entry import LARGEST_SCALE, SMALLEST_SCALE, Argument, Entry, read_entry
from tilewright.dialects.hlo.values import dense_of
from tilewright.dialects.reference import compute, constant_array, value_names
from tilewright.dialects.tensor.base import element_of, is_float8, shape_of
from tilewright.dialects.tile_tensor import (
    AddOp,
    AttentionOp,
    CastOp,
    ConstantOp,
    MatmulOp,
    PadOp,
    ReshapeOp,
    SoftmaxOp,
    TensorOperation,
    TransposeOp,
)
from tilewright.instrumentation import remark
from tilewright.machine.dtypes import numpy_dtype
from tilewright.machine.kernels.matrix_unit import COLUMNS
from tilewright.passes.ir.parameters import (
    FoldingPass,
    add_parameter,
    drop_unread,
    given_value,
    program_value,
    set_scale,
)

Array = NDArray[Any]


@dataclass(frozen=True)
class Pooled:
    """One attention that was rewritten: its name, its new parameters, and those that they replace."""

    attention: str
    added: tuple[str, ...]
    dropped: tuple[str, ...]


@dataclass(frozen=True)
class TileFoldPoolingPass(FoldingPass):
    """Pool before the values' product where the queries of an attention are parameters."""

    name = "tile-fold-pooling"

    def fold(self, module: ModuleOp, parameters: Mapping[str, Array]) -> dict[str, NDArray[np.float32]]:
        return fold_pooling(module, parameters)[1]


def fold_pooling(
    module: ModuleOp, parameters: Mapping[str, Array]
) -> tuple[list[Pooled], dict[str, NDArray[np.float32]]]:
    """
    Rewrite in place; returns what was rewritten and the values of the new parameters, f32.

    `parameters` has the values of those that the program names. Raises FoldError where one is missing.
    """
    entry = read_entry(module)
    record: list[Pooled] = []
    added: dict[str, NDArray[np.float32]] = {}
    for op in [op for op in entry.func.walk() if isinstance(op, AttentionOp)]:
        found = _Head.of(op, read_entry(module), parameters)
        if isinstance(found, str):
            remark("missed", f"attention projects keys and values before it pools: {found}", op.location)
            continue
        name = value_names(entry.func)[op.result]
        new = found.rewrite(name)
        added |= new
        pooled = Pooled(name, tuple(new), found.dropped)
        text = f"`{name}` pools before it projects: {' and '.join(new)} for {', '.join(found.dropped)}"
        remark("fusion", text, op.location)
        record.append(pooled)
    return record, added


@dataclass(frozen=True)
class _Projection:
    """Keys or values as `(x, cast) times a matrix, plus vectors, cast`, in heads."""

    x: SSAValue
    narrow: CastOp | None
    """The cast of x to 8 bits, if there is one."""
    product: MatmulOp
    matrix: Argument
    biases: tuple[Argument, ...]
    scale: int
    """Of the cast of the sum."""

    @property
    def shift(self) -> int:
        """The power of two of `x times matrix` in the result."""
        return self.product.scale.value.data - self.scale


@dataclass
class _Head:
    """An attention that is rewritten."""

    op: AttentionOp
    entry: Entry
    parameters: Mapping[str, Array]
    query: Array
    """(heads, queries, columns of a head), f64"""
    keys: _Projection
    values: _Projection
    samples: int
    name: str = ""
    dropped: tuple[str, ...] = ()
    """The parameters that nothing reads once it is rewritten."""

    @staticmethod
    def of(op: AttentionOp, entry: Entry, parameters: Mapping[str, Array]) -> _Head | str:
        """The attention as it can be rewritten, or why it is not."""
        if "plan" in op.attributes:
            return "it is planned"
        if op.parent is not entry.func.body.block:
            return "it stands in a repeat"
        if op.mask is not None or op.causal is not None or op.window is not None:
            return "its queries do not see all keys alike"
        q, k, v = (shape_of(operand) for operand in (op.query, op.key, op.value))
        if q[:-2] != k[:-2] or len(q) < 3 or k[:-1] != v[:-1] or k[-1] != v[-1]:
            return "heads share keys, or differ in their columns"
        if is_float8(element_of(op.result)):
            return "its result is scaled"
        query = _constant(op.query, entry, parameters)
        if query is None:
            return "its queries depend on an input"
        samples = math.prod(q[:-3])
        query = query.astype(np.float64).reshape(samples, *q[-3:])
        if (query != query[:1]).any():
            return "its queries differ by sample"
        keys, values = (_projection(operand, samples, entry) for operand in (op.key, op.value))
        if isinstance(keys, str) or isinstance(values, str):
            return keys if isinstance(keys, str) else cast("str", values)
        if keys.x is not values.x:
            return "keys and values are products of different operands"
        if is_float8(element_of(keys.x)):
            return "what it pools is stored in 8 bits"
        if 2 * q[-3] * q[-2] > shape_of(keys.x)[-1]:
            return "it has too many queries"
        if values.scale and not all(
            SMALLEST_SCALE <= bias.scale + values.scale <= LARGEST_SCALE and bias.value.has_one_use()
            for bias in values.biases
        ):
            return "the bias of its values cannot take the scale of their cast"
        return _Head(op, entry, parameters, query[0], keys, values, samples)

    def rewrite(self, name: str) -> dict[str, NDArray[np.float32]]:
        """Write the attention in other words; the values of its new parameters."""
        self.name = name
        *lead, heads, queries, width = shape_of(self.op.query)
        rows, columns = shape_of(self.keys.x)
        tokens = rows // self.samples
        element = element_of(self.keys.x)
        narrow = f16 if self.op.accumulate_type == f16 and element == f16 else None
        folded, exponent = self._folded_queries()
        label = f"{self.keys.matrix.name}*queries"
        u = add_parameter(self.entry, label, TensorType(element, folded.shape))
        u.name_hint = f"{name}_queries"
        matrix = self.values.matrix
        stored = np.asarray(given_value(matrix, matrix.name, self.parameters)).astype(np.float32)
        stored = np.ascontiguousarray(stored.reshape(columns, heads, width).transpose(1, 0, 2))
        by_head = TensorType(element_of(matrix.value), stored.shape)
        w = add_parameter(self.entry, f"{matrix.name} by head", by_head, matrix.scale)
        w.name_hint = f"{name}_matrix"

        x = self._reshape("tokens", self.keys.x, (self.samples, tokens, columns))
        padded = -(-tokens // COLUMNS) * COLUMNS
        mask: list[SSAValue] = []
        if padded > tokens:
            x = self._add("padded", PadOp(x, (0, 0, 0), (0, padded - tokens, 0)))
            hidden = np.where(np.arange(padded) < tokens, 0.0, -np.inf)
            mask = [self._constant("mask", hidden, element)]
        scores = self._add(
            "scores", MatmulOp(u, x, element, addends=mask, transpose_b=True, accumulate=narrow)
        )
        p = self._add("probabilities", SoftmaxOp(scores, scale=math.ldexp(1.0, exponent)))
        if columns % COLUMNS:
            pooled = self._add("pooled", MatmulOp(p, x, element, accumulate=narrow))
        else:
            split = self._reshape("panels", x, (self.samples, padded, columns // COLUMNS, COLUMNS))
            panels = self._add("by_panel", TransposeOp(split, (0, 2, 1, 3)))
            identity = self._constant("identity", np.eye(COLUMNS), element)
            turned = self._add(
                "turned", MatmulOp(identity, panels, element, transpose_b=True, accumulate=narrow)
            )
            turned = self._reshape("columns", turned, (self.samples, columns, padded))
            pooled = self._add("pooled", MatmulOp(p, turned, element, transpose_b=True, accumulate=narrow))

        pooled = self._reshape("pooled_heads", pooled, (self.samples, heads, queries, columns))
        cast_ = self.values.narrow
        if cast_ is not None:  # a mean of values is none that their cast does not hold
            pooled = self._add(
                "pooled_f8",
                CastOp(pooled, element_of(cast_.result), scale=cast_.scale.value.data),
            )
        result = self._add(
            "projected",
            MatmulOp(
                pooled,
                w,
                element_of(self.op.result),
                accumulate=self.values.product.accumulate,
                scale=self.values.shift,
            ),
        )
        for bias in self.values.biases:
            if self.values.scale:
                set_scale(self.entry, bias.value, bias.scale + self.values.scale)
            one = self.samples == queries == 1  # then the product's reduction may take it as a term
            shape = (1, heads, 1, width) if one else (heads, 1, width)
            result = self._add("biased", AddOp(result, self._reshape("bias", bias.value, shape)))
        result = self._reshape("heads", result, (*lead, heads, queries, width))
        self._replace(result)
        return {label: folded.astype(np.float32), f"{matrix.name} by head": stored}

    def _folded_queries(self) -> tuple[Array, int]:
        """
        (heads * queries, columns of x): queries times the matrix of keys, by head, with all scales; divided
        by the power of two (its exponent is returned) that leaves magnitudes up to 1, which sums in f16 hold.
        """
        heads, queries, width = self.query.shape
        matrix = program_value(self.keys.matrix, self.parameters).astype(np.float64)
        by_head = matrix.reshape(len(matrix), heads, width)
        folded = np.einsum("hqd,chd->hqc", self.query, by_head).reshape(heads * queries, len(matrix))
        narrow = self.keys.narrow
        shift = self.keys.shift - (0 if narrow is None else narrow.scale.value.data)
        folded = np.ldexp(folded * float(self.op.scale.value.data), shift)
        largest = float(np.abs(folded).max(initial=0.0))
        exponent = math.ceil(math.log2(largest)) if largest > 0 and math.isfinite(largest) else 0
        return np.ldexp(folded, -exponent), exponent

    # Operations

    def _add(self, label: str, op: TensorOperation) -> SSAValue:
        op.location = self.op.location
        op.result.name_hint = f"{self.name.replace('.', '_')}_{label}"
        Rewriter.insert_op(op, InsertPoint.before(self.op))
        return op.result

    def _reshape(self, label: str, value: SSAValue, shape: tuple[int, ...]) -> SSAValue:
        return value if shape_of(value) == shape else self._add(label, ReshapeOp(value, shape))

    def _constant(self, label: str, values: Array, element: Attribute) -> SSAValue:
        return self._add(label, ConstantOp(dense_of(values.astype(numpy_dtype(str(element))), element)))

    def _replace(self, result: SSAValue) -> None:
        """Put the result in the attention's place, and take away what nothing reads then."""
        operands = list(self.op.operands)
        read = [argument for argument in self.entry.parameters if argument.value.uses]
        result.name_hint = self.op.result.name_hint
        self.op.result.replace_all_uses_with(result)
        self.op.detach()
        self.op.erase()
        while operands:
            value = operands.pop()
            if isinstance(value.owner, Operation) and not value.uses:
                operands += value.owner.operands
                value.owner.detach()
                value.owner.erase()
        self.dropped = tuple(drop_unread(self.entry, read))


def _constant(value: SSAValue, entry: Entry, parameters: Mapping[str, Array]) -> Array | None:
    """A value that is computed from parameters and constants alone, as the program has it; None otherwise."""
    argument = _argument(value, entry)
    if argument is not None:
        return program_value(argument, parameters)
    op = value.owner
    if isinstance(op, ConstantOp):
        return constant_array(op.value)
    if not isinstance(op, TensorOperation):
        return None
    operands: list[Array] = []
    for operand in op.operands:
        found = _constant(operand, entry, parameters)
        if found is None:
            return None
        operands.append(found)
    return compute(op, operands)


def _argument(value: SSAValue, entry: Entry) -> Argument | None:
    """The parameter that a value is, if it is one tensor."""
    found = next((a for a in entry.parameters if a.value is value), None)
    return found if found is not None and isinstance(found.type, TensorType) else None


def _projection(value: SSAValue, samples: int, entry: Entry) -> _Projection | str:
    """How keys or values come from an operand and a parameter, or why that is not how they come."""
    shape = shape_of(value)
    heads, tokens, width = shape[-3:]
    views: list[ReshapeOp | TransposeOp] = []
    while isinstance(value.owner, ReshapeOp | TransposeOp):
        if not value.has_one_use():
            return "its keys or values are read elsewhere"
        views.append(value.owner)
        value = value.owner.operand
    if shape_of(value) != (samples * tokens, heads * width) or not _splits_heads(views, shape, samples):
        return "its keys or values are no heads of a product"
    scale = 0
    chain = [value]
    if isinstance(value.owner, CastOp):
        scale = value.owner.scale.value.data
        chain.append(value := value.owner.operand)
    biases: list[Argument] = []
    while isinstance(add := value.owner, AddOp):
        vectors = {side: _vector(side, entry) for side in (add.lhs, add.rhs)}
        (bias, value), *_ = [
            (vectors[side], other)
            for side, other in ((add.rhs, add.lhs), (add.lhs, add.rhs))
            if vectors[side] is not None
        ] or [(None, value)]
        if bias is None:
            break
        biases.append(bias)
        chain.append(value)
    product = value.owner
    if (
        not isinstance(product, MatmulOp)
        or product.transpose_a is not None
        or product.transpose_b is not None
    ):
        return "its keys or values are no heads of a product"
    for addend in product.addends:
        bias = _vector(addend, entry)
        if bias is None:
            return "something else than a bias is added to its keys or values"
        biases.append(bias)
    if not all(link.has_one_use() for link in chain):
        return "its keys or values are read elsewhere"
    matrix = _argument(product.rhs, entry)
    if matrix is None or not product.rhs.has_one_use() or len(shape_of(product.lhs)) != 2:
        return "the matrix of its keys or values is no parameter of its own"
    x, narrow = product.lhs, None
    if isinstance(x.owner, CastOp) and is_float8(element_of(x)):
        x, narrow = x.owner.operand, x.owner
    return _Projection(x, narrow, product, matrix, tuple(biases), scale)


def _splits_heads(views: list[ReshapeOp | TransposeOp], shape: tuple[int, ...], samples: int) -> bool:
    """Whether views take (samples * tokens, heads * columns) to (samples, heads, tokens, columns)."""
    heads, tokens, width = shape[-3:]
    places = np.arange(math.prod(shape))
    found = places
    for view in reversed(views):
        found = found.reshape(shape_of(view.operand))
        if isinstance(view, TransposeOp):
            found = found.transpose(view.permutation.get_values())
    wanted = places.reshape(samples, tokens, heads, width).transpose(0, 2, 1, 3)
    return np.array_equal(found.reshape(wanted.shape), wanted)


def _vector(value: SSAValue, entry: Entry) -> Argument | None:
    """The parameter that a value is, if it is a vector."""
    return _argument(value, entry) if len(shape_of(value)) == 1 else None
