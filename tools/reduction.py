# SPDX-License-Identifier: Apache-2.0
"""
Makes a program that shows a fault small: whatever can go without the fault going is taken away.

Operations are taken out of function bodies in ever smaller runs; a value that is still read becomes an
argument of the function. Results, arguments and functions that are not needed go as well. A step is kept if
the module still verifies and the caller still finds it interesting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from tilewright.tools.driver.errors import InvalidIR
from tilewright.tools.driver.verify import verify_module

Edit = Callable[[ModuleOp], bool]
"""Changes a module in place; False where there is nothing to change."""


def reduce_module(
    module: ModuleOp, interesting: Callable[[ModuleOp], bool], told: Callable[[int], None] | None = None
) -> ModuleOp:
    """
    A smaller module that is still interesting; the one given stays as it is. `interesting` is asked about
    modules that verify, and may change them. `told` hears the number of operations after every step kept.
    Raises ValueError if the module is not interesting to begin with.
    """
    best = module.clone()
    if not interesting(best.clone()):
        raise ValueError("the program is not interesting as it is")
    changed = True
    while changed:
        changed = False
        for edits in (_functions, _operations, _results, _arguments):
            best, better = _pass_of(best, edits, interesting, told)
            changed |= better
    return best


def count_operations(module: ModuleOp) -> int:
    """Operations of a module, itself apart."""
    return sum(1 for _ in module.walk()) - 1


def _pass_of(
    best: ModuleOp,
    edits: Callable[[ModuleOp], Iterator[Edit]],
    interesting: Callable[[ModuleOp], bool],
    told: Callable[[int], None] | None,
) -> tuple[ModuleOp, bool]:
    better = False
    for edit in edits(best):
        candidate = best.clone()
        if not edit(candidate) or not _verifies(candidate) or not interesting(candidate.clone()):
            continue
        best, better = candidate, True
        if told is not None:
            told(count_operations(best))
    return best, better


def _verifies(module: ModuleOp) -> bool:
    try:
        verify_module(module)
    except InvalidIR:
        return False
    return True


def _bodies(module: ModuleOp) -> list[FuncOp]:
    return [op for op in module.walk() if isinstance(op, FuncOp) and op.body.blocks]


def _functions(module: ModuleOp) -> Iterator[Edit]:
    """Whole functions, and whatever else stands in modules."""
    count = sum(1 for _ in _members(module))
    for index in reversed(range(count)):
        yield lambda candidate, index=index: _erase_member(candidate, index)


def _members(module: ModuleOp) -> Iterator[Operation]:
    for op in module.walk():
        if isinstance(op.parent_op(), ModuleOp):
            yield op


def _erase_member(module: ModuleOp, index: int) -> bool:
    members = list(_members(module))
    if index >= len(members) or len(members) == 1 or any(r.first_use for r in members[index].results):
        return False
    members[index].detach()
    members[index].erase(safe_erase=False)
    return True


def _operations(module: ModuleOp) -> Iterator[Edit]:
    """
    Runs of operations of function bodies, all of a body first, the last run of a length first: one that was
    taken out does not move those before it. Then single operations, also of inner regions, are replaced by
    what they read.
    """
    for number, function in enumerate(_bodies(module)):
        total = len(list(function.body.block.ops)) - 1 if len(function.body.blocks) == 1 else 0
        size = total
        while size >= 1:
            for start in reversed(range(0, total, size)):
                yield lambda c, n=number, a=start, b=start + size: _erase_run(c, n, a, b)
            size //= 2
    count = sum(1 for _ in _single(module))
    for index in reversed(range(count)):
        yield lambda candidate, index=index: _bypass(candidate, index)


def _erase_run(module: ModuleOp, number: int, start: int, end: int) -> bool:
    """Take operations out of the function `number`; never its last one."""
    functions = _bodies(module)
    if number >= len(functions):
        return False
    function = functions[number]
    ops = list(function.body.block.ops)[:-1]
    run = ops[start:end]
    if not run:
        return False
    inside = set(run)
    for op in run:
        for result in op.results:
            read = [
                use for use in result.uses if _outermost(use.operation, function.body.block) not in inside
            ]
            if read:
                _replace(result, _as_argument(function, result), read)
    for op in reversed(run):
        op.detach()
        op.erase(safe_erase=False)
    return True


def _outermost(op: Operation, block: Block) -> Operation:
    while op.parent_block() is not block:
        parent = op.parent_op()
        if parent is None:
            break
        op = parent
    return op


def _replace(old: SSAValue, new: SSAValue, uses: Sequence[object]) -> None:
    for use in list(old.uses):
        if use in uses:
            use.operation.operands[use.index] = new


def _as_argument(function: FuncOp, value: SSAValue) -> SSAValue:
    block = function.body.block
    argument = block.insert_arg(value.type, len(block.args))
    argument.name_hint = value.name_hint
    if function.arg_attrs is not None:
        function.arg_attrs = ArrayAttr([*function.arg_attrs, DictionaryAttr({})])
    _retype(function)
    return argument


def _retype(function: FuncOp) -> None:
    last = function.body.block.last_op
    results = [value.type for value in last.operands] if last is not None else []
    function.function_type = FunctionType.from_lists(list(function.body.block.arg_types), results)


def _single(module: ModuleOp) -> Iterator[Operation]:
    for function in _bodies(module):
        for op in function.body.walk():
            if not op.has_trait(IsTerminator):
                yield op


def _bypass(module: ModuleOp, index: int) -> bool:
    """Replace an operation by operands of the types of its results."""
    ops = list(_single(module))
    if index >= len(ops):
        return False
    op = ops[index]
    for result in op.results:
        if result.first_use is None:
            continue
        other = next((operand for operand in op.operands if operand.type == result.type), None)
        if other is None:
            return False
        result.replace_all_uses_with(other)
    op.detach()
    op.erase(safe_erase=False)
    return True


def _results(module: ModuleOp) -> Iterator[Edit]:
    """Single results of functions."""
    for number, function in enumerate(_bodies(module)):
        for index in reversed(range(len(function.function_type.outputs))):
            yield lambda c, n=number, i=index: _drop_result(c, n, i)


def _drop_result(module: ModuleOp, number: int, index: int) -> bool:
    function = _bodies(module)[number]
    last = function.body.block.last_op if len(function.body.blocks) == 1 else None
    if last is None or index >= len(last.operands):
        return False
    last.operands = [value for i, value in enumerate(last.operands) if i != index]
    if function.res_attrs is not None:
        function.res_attrs = ArrayAttr([a for i, a in enumerate(function.res_attrs) if i != index])
    _retype(function)
    return True


def _arguments(module: ModuleOp) -> Iterator[Edit]:
    """Arguments that nothing reads."""
    for number, function in enumerate(_bodies(module)):
        for index in reversed(range(len(function.body.blocks[0].args))):
            yield lambda c, n=number, i=index: _drop_argument(c, n, i)


def _drop_argument(module: ModuleOp, number: int, index: int) -> bool:
    function = _bodies(module)[number]
    block = function.body.blocks[0]
    if len(function.body.blocks) != 1 or index >= len(block.args) or block.args[index].first_use is not None:
        return False
    block.erase_arg(block.args[index])
    if function.arg_attrs is not None:
        function.arg_attrs = ArrayAttr([a for i, a in enumerate(function.arg_attrs) if i != index])
    _retype(function)
    return True
