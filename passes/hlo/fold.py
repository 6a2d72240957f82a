# SPDX-License-Identifier: Apache-2.0
"""
Folds what depends on no input and no parameter, in the source's own types.

A value that is one number everywhere stays a scalar that is broadcast: it is recognised by every pattern and
takes no memory. Other results are held as arrays; none is written as text on the way.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from xdsl.ir import Block, SSAValue

from tilewright.dialects.hlo.operations import ELEMENTWISE, HloOperation
from tilewright.dialects.hlo.values import Array, NoValue, array_of, dense_of, evaluate
from tilewright.passes.hlo.rewriting import Emitter, element_of, owner, replace, shape_of, splat_of

LARGEST = 1 << 24
"""Elements of a result beyond which nothing is folded."""

_NEVER = ("constant", "while", "return", "unsupported")


def known(value: SSAValue) -> Array | None:
    """The array of a value that is a constant, or one number everywhere."""
    made = owner(value)
    if made is None:
        return None
    if made.kind == "constant":
        return array_of(made.attributes["value"])  # pyright: ignore[reportArgumentType]
    number = splat_of(value)
    return None if number is None else np.broadcast_to(np.asarray(number), shape_of(value))


def put(op: HloOperation, array: Array) -> None:
    """Replace an operation by a constant: a scalar that is broadcast where all elements are equal."""
    emit = Emitter(op)
    element: Any = element_of(op.results[0])
    if array.ndim and array.size > 1:
        first = array.reshape(-1)[:1]
        if (array.reshape(-1).view(_bits(array)) == first.view(_bits(array))).all():
            scalar = emit.op("constant", value=dense_of(first.reshape(()), element))
            replace(op, emit.op("broadcast_in_dim", [scalar], shape=array.shape, dimensions=[]))
            return
    replace(op, emit.op("constant", value=dense_of(array, element)))


def _bits(array: Array) -> Any:
    return {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[array.dtype.itemsize]


def fold_operation(op: HloOperation) -> bool:
    """Fold one operation, if all that it reads is known."""
    if op.kind in _NEVER or not op.results:
        return False
    if op.kind == "broadcast_in_dim" and splat_of(op.operands[0]) is not None:
        return _plain_splat(op)
    arrays = [known(value) for value in op.operands]
    if any(array is None for array in arrays):
        return False
    size = prod(shape_of(op.results[0]))
    if size > LARGEST:
        return False
    splats = [splat_of(value) for value in op.operands]
    try:
        if op.kind in ELEMENTWISE and size > 1 and all(number is not None for number in splats):
            return _fold_splats(op, splats)
        put(
            op,
            np.ascontiguousarray(evaluate(op, [a for a in arrays if a is not None])).reshape(
                shape_of(op.results[0])
            ),
        )
    except NoValue:
        return False
    return True


def _plain_splat(op: HloOperation) -> bool:
    """A splat of a splat is a broadcast of its scalar."""
    scalar = op.operands[0]
    if not shape_of(scalar):
        if not shape_of(op.results[0]):
            replace(op, scalar)
            return True
        return False
    emit = Emitter(op)
    number = emit.scalar(splat_of(scalar), element_of(scalar))
    replace(op, emit.op("broadcast_in_dim", [number], shape=shape_of(op.results[0]), dimensions=[]))
    return True


def _fold_splats(op: HloOperation, splats: list[Any]) -> bool:
    """An operation on numbers that stand everywhere, computed once."""
    emit = Emitter(op)
    scalars = [emit.scalar(n, element_of(v)) for n, v in zip(splats, op.operands, strict=True)]
    attributes = {name: op.get(name) for name in op.attributes if name in op.spec.attributes}
    value = emit.op(op.kind, scalars, element=element_of(op.results[0]), **attributes)
    made = value.owner
    assert isinstance(made, HloOperation)
    number = evaluate(made, [np.asarray(known(s)) for s in scalars])
    constant = emit.op("constant", value=dense_of(number, element_of(op.results[0])))
    replace(op, emit.op("broadcast_in_dim", [constant], shape=shape_of(op.results[0]), dimensions=[]))
    return True


def fold_block(block: Block) -> bool:
    """Fold the operations of a block in order; whether there were any."""
    changed = False
    for op in list(block.ops):
        if isinstance(op, HloOperation):
            if op.kind == "constant":
                changed |= _split_splat(op)
            else:
                changed |= fold_operation(op)
    return changed


def _split_splat(op: HloOperation) -> bool:
    """A constant of equal elements becomes a scalar that is broadcast."""
    array = array_of(op.attributes["value"])  # pyright: ignore[reportArgumentType]
    if array.size < 2:
        return False
    flat = array.reshape(-1).view(_bits(array))
    if not (flat == flat[0]).all():
        return False
    put(op, array)
    return True
