# SPDX-License-Identifier: Apache-2.0
"""
Merges exchange phases that do not depend on each other, so that independent operators run side by side.

Operations of a block are levelled (`planning/phases.py`): exchanges of one level become one phase,
computations between two phases keep their order. Products of one operand that were planned on separate tiles
then share their phases and their time. A repeat is levelled by itself and is a barrier for what surrounds it.
Copies that several operators make of one buffer for one phase (an element in each word, say) become one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.tile import AllocOp, BindOp, ComputeOp, ExchangeOp, RepeatOp, owner_alloc
from tilewright.instrumentation import remark
from tilewright.passes.ir.programs import ProgramPass
from tilewright.planning import phases
from tilewright.planning.phases import Access


@dataclass(frozen=True)
class TileMergePhasesPass(ProgramPass):
    """Merge independent exchange phases."""

    name = "tile-merge-phases"

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.walk() if isinstance(o, FuncOp)]:
            merge_function(function)


def merge_function(function: FuncOp) -> None:
    """Merge the phases of a function, in its body and in the bodies of its repeats."""
    for block in [b for region in function.regions for b in region.blocks]:
        merge_block(block)
    for repeat in [o for o in function.walk() if isinstance(o, RepeatOp)]:
        merge_block(repeat.body.block)


def merge_block(block: Block) -> None:
    """Reorder one block; runs between operations that are not of the tile dialect are levelled apart."""
    run: list[Operation] = []
    for op in list(block.ops):
        if isinstance(op, (AllocOp, BindOp, ComputeOp, ExchangeOp)):
            run.append(op)
        else:
            _merge_run(block, run, op)
            run = []
    _merge_run(block, run, None)


def _accesses(op: Operation) -> tuple[list[AllocOp], list[AllocOp]]:
    """Buffers read and buffers written."""

    def owners(values: list[SSAValue]) -> list[AllocOp]:
        return list(dict.fromkeys(owner_alloc(v)[0] for v in values))

    if isinstance(op, ExchangeOp):
        buffers = list(op.buffers)
        return owners(buffers[0::2]), owners(buffers[1::2])
    if isinstance(op, ComputeOp):
        buffers = list(op.buffers)
        return owners(buffers[: op.n_ins]), owners(buffers[op.n_ins :])
    return owners([op.buffer]), []  # type: ignore[attr-defined]


def levels(ops: list[Operation]) -> list[int]:
    """Phase number of each operation (`planning.phases.levels`)."""
    steps: list[Access] = []
    for op in ops:
        reads, writes = _accesses(op)
        kernel = op.kernel.data if isinstance(op, ComputeOp) else ""
        steps.append(Access(tuple(reads), tuple(writes), isinstance(op, ExchangeOp), kernel))
    return phases.levels(steps)


def _is_copy(op: Operation, kernels: Sequence[str]) -> bool:
    return isinstance(op, ComputeOp) and op.kernel.data in kernels


def _share_copies(work: list[Operation], level: Sequence[int]) -> set[Operation]:
    """
    Let equal rearranged copies of one buffer in one level be one: pieces of one tensor that go to several
    operators would each have a whole one. Returns the copies that nobody reads any more, and their buffers.
    """
    version: dict[AllocOp, int] = {}  # the last operation that wrote a buffer
    first: dict[tuple[object, ...], ComputeOp] = {}
    unused: set[Operation] = set()
    here = set(work)
    for i, op in enumerate(work):
        if isinstance(op, ComputeOp) and _is_copy(op, ("copy", "widen")):
            source, target = op.buffers
            alloc = target.owner
            alone = isinstance(alloc, AllocOp) and all(
                use.operation is op or (use.operation in here and alloc not in _accesses(use.operation)[1])
                for use in target.uses
            )
            key = (
                level[i],
                op.kernel.data,
                op.axes,
                op.maps,
                op.scalars,
                source,
                version.get(owner_alloc(source)[0]),
                target.type,
            )
            if alone and key in first:
                name = owner_alloc(source)[0].buffer_name.data
                remark("fusion", f"equal copies of `{name}` are made once", op.location)
                target.replace_all_uses_with(first[key].buffers[1])
                unused |= {op, alloc}  # type: ignore[arg-type]
                continue
            if alone:
                first[key] = op
        for buffer in _accesses(op)[1]:
            version[buffer] = i
    return unused


def _merge_run(block: Block, run: list[Operation], before: Operation | None) -> None:
    work = [op for op in run if not isinstance(op, AllocOp)]
    level = levels(work)
    unused = _share_copies(work, level)
    for op in unused:
        op.detach()
    for op in sorted(unused, key=lambda op: isinstance(op, AllocOp)):
        op.erase(safe_erase=False)
    run = [op for op in run if op not in unused]
    work, level = (
        [op for op in work if op not in unused],
        [n for op, n in zip(work, level, strict=True) if op not in unused],
    )
    allocs = [op for op in run if isinstance(op, AllocOp)]
    phases = [n for op, n in zip(work, level, strict=True) if isinstance(op, ExchangeOp)]
    if len(set(phases)) == len(phases):
        return  # nothing to merge: keep the program's order
    for op in run:
        op.detach()
    ordered: list[Operation] = list(allocs)
    for n in range(max(level, default=-1) + 1):
        exchanges = [op for op, at in zip(work, level, strict=True) if at == n and isinstance(op, ExchangeOp)]
        ordered += merged(exchanges)
        ordered += [
            op for op, at in zip(work, level, strict=True) if at == n and not isinstance(op, ExchangeOp)
        ]
    for op in ordered:
        if before is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, before)


def merged(exchanges: Sequence[Operation]) -> list[Operation]:
    """One exchange with the moves of all."""
    if len(exchanges) < 2:
        return list(exchanges)
    phases = [op for op in exchanges if isinstance(op, ExchangeOp)]
    moves = [move for op in phases for move in op.moves()]
    reason = " | ".join(dict.fromkeys(op.reason.data for op in phases))
    result = ExchangeOp(reason, moves)
    result.location = phases[0].location
    remark("fusion", f"{len(phases)} exchange phases are one: {reason}", result.location, phases=len(phases))
    for op in phases:
        op.erase()
    return [result]
