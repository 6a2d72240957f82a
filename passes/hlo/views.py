# SPDX-License-Identifier: Apache-2.0
"""Views of the tensor dialect that a rewriting leaves: a chain is one, and one that changes nothing goes."""

from __future__ import annotations

from xdsl.ir import Block, Operation
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects import tile_tensor as tt
from tilewright.passes.hlo.rewriting import remove_dead, replace, shape_of


def tidy_views(block: Block) -> None:
    """Join the reshapes and transposes of a block, and remove what nothing reads."""
    changed = True
    while changed:
        changed = remove_dead(block)
        for op in list(block.ops):
            if isinstance(op, tt.ReshapeOp):
                changed |= _tidy_reshape(op)
            elif isinstance(op, tt.TransposeOp):
                changed |= _tidy_transpose(op)


def _tidy_reshape(op: tt.ReshapeOp) -> bool:
    inner = op.operand.owner
    if op.operand.type == op.result.type:
        replace(op, op.operand)
        return True
    if isinstance(inner, tt.ReshapeOp):
        _put(op, tt.ReshapeOp(inner.operand, shape_of(op.result)))
        return True
    return False


def _tidy_transpose(op: tt.TransposeOp) -> bool:
    inner = op.operand.owner
    permutation = list(op.permutation.get_values())
    if permutation == sorted(permutation):
        replace(op, op.operand)
        return True
    if isinstance(inner, tt.TransposeOp):
        first = inner.permutation.get_values()
        _put(op, tt.TransposeOp(inner.operand, [first[axis] for axis in permutation]))
        return True
    return False


def _put(op: Operation, made: Operation) -> None:
    made.location = op.location
    Rewriter.insert_op(made, InsertPoint.before(op))
    replace(op, made.results[0])
