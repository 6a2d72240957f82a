# SPDX-License-Identifier: Apache-2.0
"""
Folds the factors and offsets of norms into the parameters of the products that read them.

With `y = z * gamma + beta` (z the normalised rows), `y W + b` is `z (gamma W) + (beta W + b)`, gamma scaling
the rows of W. The norm that is left is one product and one sum an element, which a kernel with an FP8 store
does in a third of the bundles. The new matrices and biases are computed in f32 from the values of the
parameters, and are parameters of their own names; their FP8 scales are chosen anew, as are those of casts of
the norm's result, whose magnitude is at most the root of the row's length.

A norm is folded if everything that reads it is a product (perhaps behind a cast) of it and a parameter that
nobody else reads, with a bias that is a parameter of nobody else, or without one where beta is zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.entry import (
    PARAMETER_ATTRIBUTE,
    SCALE_ATTRIBUTE,
    Argument,
    Entry,
    argument_attributes,
    read_entry,
)
from tilewright.dialects.reference import value_names
from tilewright.dialects.tensor.base import element_of, is_float8, shape_of
from tilewright.dialects.tile_repeat import RepeatOp, SequenceType
from tilewright.dialects.tile_tensor import AddOp, CastOp, LayerNormOp, MatmulOp
from tilewright.instrumentation import remark
from tilewright.machine.dtypes import float_format
from tilewright.passes.ir.parameters import FoldingPass, MadeValues, given_value

Array = NDArray[np.generic]


@dataclass(frozen=True)
class Folded:
    """
    One norm that was folded: its name, the parameters that took its factors (new names by old ones), and
    whether matrices among them are rounded to FP8 anew.
    """

    norm: str
    renamed: Mapping[str, str]
    rounded: bool


@dataclass(frozen=True)
class TileFoldNormsPass(FoldingPass):
    """Fold gamma and beta of norms into the parameters of the products behind them."""

    name = "tile-fold-norms"

    def fold(self, module: ModuleOp, parameters: Mapping[str, Array]) -> MadeValues:
        return fold_norms(module, parameters)[1]


def fold_norms(module: ModuleOp, parameters: Mapping[str, Array]) -> tuple[list[Folded], MadeValues]:
    """
    Fold in place; returns what was folded and the values of the new parameters, f32, which are made from
    `parameters` when they are asked for.

    `parameters` has the values of those that the program names. Raises FoldError where one is missing.
    """
    entry = read_entry(module)
    names = value_names(entry.func)
    added = MadeValues()
    folder = _Folder(entry, added.over(parameters), added)
    record: list[Folded] = []
    for norm in [op for op in entry.func.walk() if isinstance(op, LayerNormOp)]:
        found = folder.readers(norm)
        if isinstance(found, str):
            remark("missed", f"the norm keeps its gamma and beta: {found}", norm.location)
            continue
        name = names[norm.result]
        renamed = folder.fold(norm, found)
        text = ", ".join(f"{old} becomes {new}" for old, new in renamed.items())
        remark("fusion", f"gamma and beta are part of the products behind the norm: {text}", norm.location)
        rounded = any(is_float8(_element(reader.matrix)) for reader in found)
        record.append(Folded(name, renamed, rounded))
    if record:
        entry.func.update_function_type()
    return record, folder.added


@dataclass(frozen=True)
class _Reader:
    """A product of a norm's result: behind which cast, its matrix, and the sum with its bias."""

    product: MatmulOp
    cast: CastOp | None
    matrix: Argument
    bias: Argument | None


@dataclass
class _Folder:
    entry: Entry
    parameters: Mapping[str, Array]
    added: MadeValues

    def argument(self, value: SSAValue) -> Argument | None:
        """The parameter behind a value that a repeat may pass in."""
        while isinstance(value, BlockArgument) and isinstance(parent := value.block.parent_op(), RepeatOp):
            if value.index < len(parent.carried_args):
                return None
            value = parent.operands[value.index]
        return next((a for a in self.entry.parameters if a.value is value), None)

    def values(self, argument: Argument) -> list[NDArray[np.float32]]:
        return [make() for make in self.makers(argument)]

    def makers(self, argument: Argument) -> list[Callable[[], NDArray[np.float32]]]:
        """The values of each member, worked out when they are asked for."""
        given = [given_value(argument, name, self.parameters) for name in argument.names]
        # what the program means by it: the products of FP8 take its scale off again
        factor = np.float32(1.0 if is_float8(_element(argument)) else 2.0**-argument.scale)
        return [partial(_times, np.asarray(values), factor) for values in given]

    def readers(self, norm: LayerNormOp) -> list[_Reader] | str:
        """The products that read a norm, or why it is not folded."""
        if len(norm.vectors) != 2:
            return "it has none"
        if "plan" in norm.attributes:
            return "it is planned"
        if norm.axis is not None and norm.axis.value.data != len(shape_of(norm.operand)) - 1:
            return "it is not along the last axis"
        if norm.scale.value.data or is_float8(element_of(norm.result)):
            return "its result is scaled"
        gamma, beta = (self.argument(vector) for vector in norm.vectors)
        if gamma is None or beta is None:
            return "they are no parameters"
        found: list[_Reader] = []
        for use in norm.result.uses:
            op = use.operation
            if isinstance(op, CastOp) and is_float8(element_of(op.result)):
                reads = [(inner.operation, op) for inner in op.result.uses]
            else:
                reads = [(op, None)]
            for product, cast_ in reads:
                reader = self._reader(norm, product, cast_, len(gamma.names))
                if isinstance(reader, str):
                    return reader
                found.append(reader)
        if not found:
            return "nobody reads it"
        if any(r.bias is None for r in found) and any(value.any() for value in self.values(beta)):
            return "a product behind it has no bias to take beta"
        return found

    def _reader(
        self, norm: LayerNormOp, product: Operation, cast_: CastOp | None, members: int
    ) -> _Reader | str:
        behind = norm.result if cast_ is None else cast_.result
        if not isinstance(product, MatmulOp) or product.lhs is not behind or product.rhs is behind:
            return "something else than a product with a parameter reads it"
        if product.transpose_a is not None or product.transpose_b is not None:
            return "a product reads it transposed"
        matrix = self.argument(product.rhs)
        if matrix is None or len(matrix.names) != members or not _one_reader(matrix.value):
            return "the other operand of a product is no parameter of its own"
        bias = self._bias(product)
        if bias is not None and (len(bias.names) != members or not _one_reader(bias.value)):
            bias = None
        return _Reader(product, cast_, matrix, bias)

    def _bias(self, product: MatmulOp) -> Argument | None:
        """The vector that is added to a product and nothing else."""
        vector = shape_of(product.result)[-1:]
        for addend in product.addends:
            if shape_of(addend) == vector and (found := self.argument(addend)) is not None:
                return found
        use = product.result.get_user_of_unique_use()
        if isinstance(use, AddOp):
            other = use.rhs if use.lhs is product.result else use.lhs
            if shape_of(other) == vector:
                return self.argument(other)
        return None

    def fold(self, norm: LayerNormOp, readers: Sequence[_Reader]) -> dict[str, str]:
        gamma, beta = (self.argument(vector) for vector in norm.vectors)
        assert gamma is not None and beta is not None
        factors, offsets = self.values(gamma), self.values(beta)
        # a normalised value is at most the root of the row's length
        largest = math.sqrt(shape_of(norm.operand)[-1])
        renamed: dict[str, str] = {}
        changes: dict[CastOp, int] = {}
        for reader in readers:
            matrices = self.makers(reader.matrix)
            makers = [partial(_scaled, f, make) for f, make in zip(factors, matrices, strict=True)]
            scale = reader.product.scale.value.data
            scale -= reader.matrix.scale if is_float8(_element(reader.matrix)) else 0
            scale -= 0 if reader.cast is None else reader.cast.scale.value.data
            if reader.bias is not None:
                biases = [
                    b + np.ldexp(o @ make(), scale)
                    for b, o, make in zip(self.values(reader.bias), offsets, matrices, strict=True)
                ]
                made = [partial(_times, bias, np.float32(1.0)) for bias in biases]
                renamed |= self._rename(reader.bias, beta, made, None)
            shift = 0
            if is_float8(_element(reader.matrix)):
                largest_weight = max(float(np.abs(make()).max(initial=0.0)) for make in makers)
                held = _scale(largest_weight, _element(reader.matrix))
                shift += held - reader.matrix.scale
                renamed |= self._rename(reader.matrix, gamma, makers, held)
            else:
                renamed |= self._rename(reader.matrix, gamma, makers, None)
            if reader.cast is not None:
                changes[reader.cast] = _scale(largest, element_of(reader.cast.result))
                shift += changes[reader.cast] - reader.cast.scale.value.data
            reader.product.properties["scale"] = IntegerAttr(reader.product.scale.value.data + shift, i32)
        for cast_, scale in changes.items():
            cast_.properties["scale"] = IntegerAttr(scale, i32)
        plain = LayerNormOp(
            norm.operand,
            epsilon=norm.epsilon.value.data,
            scale=norm.scale.value.data,
            element_type=element_of(norm.result),
            saturate=bool(norm.saturate.value.data),
        )
        plain.location = norm.location
        plain.attributes |= norm.attributes
        plain.result.name_hint = norm.result.name_hint
        Rewriter.insert_op(plain, InsertPoint.before(norm))
        norm.result.replace_all_uses_with(plain.result)
        norm.detach()
        norm.erase()
        return renamed

    def _rename(
        self,
        argument: Argument,
        by: Argument,
        makers: Sequence[Callable[[], NDArray[np.float32]]],
        scale: int | None,
    ) -> dict[str, str]:
        """Give an argument the values of new parameters; returns their names by the old ones."""
        function, index = self.entry.func, argument.value.index
        fresh = [f"{name}*{factor}" for name, factor in zip(argument.names, by.names, strict=True)]
        for name, make in zip(fresh, makers, strict=True):
            self.added.add(name, make)
        attributes = [
            argument_attributes(function.arg_attrs, position) for position in range(len(function.args))
        ]
        sequence = isinstance(argument.type, SequenceType)
        attributes[index][PARAMETER_ATTRIBUTE] = (
            ArrayAttr([StringAttr(name) for name in fresh]) if sequence else StringAttr(fresh[0])
        )
        if scale is not None:
            attributes[index][SCALE_ATTRIBUTE] = IntegerAttr(scale, i32)
        elif SCALE_ATTRIBUTE in attributes[index]:
            del attributes[index][SCALE_ATTRIBUTE]
        function.arg_attrs = ArrayAttr([DictionaryAttr(given) for given in attributes])
        self.entry = read_entry(cast("ModuleOp", function.parent_op()))
        return dict(zip(argument.names, fresh, strict=True))


def _times(values: Array, factor: np.float32) -> NDArray[np.float32]:
    return values.astype(np.float32) * factor


def _scaled(factors: NDArray[np.float32], rows: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
    return factors[:, None] * rows()


def _element(argument: Argument) -> Attribute:
    type_ = argument.type.tensor if isinstance(argument.type, SequenceType) else argument.type
    return cast("TensorType[Attribute]", type_).element_type


def _scale(magnitude: float, element: object) -> int:
    """The least power of two that holds a magnitude."""
    if not magnitude > 0 or not math.isfinite(magnitude):
        return 0
    return max(-32, min(31, math.ceil(math.log2(magnitude / float_format(str(element)).max_value))))


def _one_reader(value: SSAValue) -> bool:
    """Whether one operation reads an argument, through the repeats that pass it in."""
    uses = list(value.uses)
    if len(uses) != 1:
        return False
    (use,) = uses
    if isinstance(use.operation, RepeatOp):
        return _one_reader(use.operation.body_block.args[use.index])
    return True
