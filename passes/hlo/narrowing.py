# SPDX-License-Identifier: Apache-2.0
"""Types of the machine's for the values of a model: i64 becomes i32 where its constants fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, f64, i32, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation

from tilewright.dialects.hlo.operations import HloOperation
from tilewright.dialects.hlo.values import array_of, dense_of
from tilewright.dialects.tensor.base import ELEMENT_TYPES
from tilewright.dialects.tile_repeat import SequenceType
from tilewright.instrumentation import remark
from tilewright.passes.hlo.rewriting import blocks_of

_LARGEST = 2**31 - 1


def narrowed(element: Attribute) -> Attribute | None:
    """The element type of the machine for one of the source; None where there is none."""
    if element == i64:
        return i32
    return element if str(element) in ELEMENT_TYPES else None


def _narrowed_sequence(type_: Attribute) -> Attribute:
    """The type of a sequence, or of one of its members, in element types of the machine's."""
    if isinstance(type_, SequenceType):
        return SequenceType(type_.count, _narrowed_sequence(type_.element))
    tensor = cast("TensorType[Attribute]", type_)
    return TensorType(cast(Any, narrowed(tensor.element_type) or tensor.element_type), tensor.get_shape())


def _type_reason(element: Attribute) -> str:
    if element == f64:
        return "the machine has no f64: export the model in f32"
    if str(element) == "i1":
        return "truth values have no kernels"
    return f"elements of {element} have no kernels"


def narrow(function: FuncOp, fault: Callable[[str, str, Any], None]) -> None:
    """
    Give every value of a function a type of the machine's. `fault(what, reason, place)` is told of what has
    none.
    """
    count = 0
    for block in blocks_of(function):
        values = [*block.args, *(result for op in block.ops for result in op.results)]
        for value in values:
            if isinstance(value.type, SequenceType):
                value._type = _narrowed_sequence(value.type)  # pyright: ignore
                continue
            if not isinstance(value.type, TensorType):
                continue
            type_ = cast("TensorType[Attribute]", value.type)
            element = narrowed(type_.element_type)
            if element is None:
                made = value.owner
                kind = made.name if isinstance(made, Operation) else f"argument {getattr(value, 'index', '')}"
                if isinstance(made, HloOperation) and made.kind == "unsupported":
                    continue
                where = made if isinstance(made, Operation) else cast("BlockArgument", value)
                fault(f"{kind} of {type_}", _type_reason(type_.element_type), where)
            elif element != type_.element_type:
                count += 1
                made = value.owner
                if isinstance(made, HloOperation) and made.kind == "constant":
                    array = array_of(cast("DenseIntOrFPElementsAttr", made.attributes["value"]))
                    if array.size and int(np.abs(array).max()) > _LARGEST:
                        fault("a constant of i64", "it does not fit 32 bits", made)
                    made.attributes["value"] = dense_of(array.astype(np.int32), i32)
                value._type = TensorType(cast(Any, element), type_.get_shape())  # pyright: ignore
    function.update_function_type()
    if count:
        remark(
            "conversion",
            f"{count} values of i64 are i32: numbers beyond 32 bits have no meaning",
            function,
        )
