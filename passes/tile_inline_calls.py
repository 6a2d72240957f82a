# SPDX-License-Identifier: Apache-2.0
"""
Puts the bodies of functions of ours in place of the calls to them, in functions of ours, bodies of repeats
included.

What was called and nothing else refers to is removed. Copies say where they come from and from where they
were called. Calls in foreign functions stay, and so does what they call. A program that calls itself, or a
function without a body or with foreign code, is refused at the call.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import CallSiteLoc, ModuleOp, UnknownLoc
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tilewright.diagnostics import TileError
from tilewright.instrumentation import remark
from tilewright.passes.ir.programs import Census, callee, calls, programs, scopes


class CallError(TileError):
    """A call that cannot be inlined."""


@dataclass(frozen=True)
class TileInlineCallsPass(ModulePass):
    """Inline calls between functions of tensor operations."""

    name = "tile-inline-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for module in dict.fromkeys((*scopes(op), *programs(op))):
            inline_calls(module)


def inline_calls(module: ModuleOp) -> None:
    """Inline the calls in the functions of one module that are ours. Raises CallError."""
    inline_census(Census.of(module))


def inline_census(census: Census) -> None:
    """Inline the calls between the functions that a census has as ours. Raises CallError."""
    helpers = census.helpers()
    done: set[str] = set()
    for name in census.ours:
        _inline(name, census, (), done)
    for name in helpers:
        census.ours[name].detach()
        census.ours[name].erase(safe_erase=False)


def _inline(name: str, census: Census, path: tuple[str, ...], done: set[str]) -> None:
    """Inline into one function, after the functions that it calls."""
    if name in done:
        return
    for call in list(calls(census.ours[name])):
        target = callee(call)
        if target in (*path, name):
            circle = " calls ".join(f"@{n}" for n in (*path, name, target)[(*path, name).index(target) :])
            raise CallError(
                f"@{target} calls itself",
                location=call,
                notes=(circle,),
                hint="repetition is written with tile_repeat.repeat",
            )
        if target not in census.ours:
            raise _foreign(call, census)
        _inline(target, census, (*path, name), done)
        remark("fusion", f"the body of `@{target}` stands in the place of its call", call.location)
        _replace(call, census.ours[target])
    done.add(name)


def _foreign(call: CallOp, census: Census) -> CallError:
    target = callee(call)
    known = target in census.functions
    why = "has foreign operations" if known else "has no body"
    return CallError(
        f"@{target} {why}: a program cannot call it",
        location=call,
        notes=("what a program calls is inlined",),
        hint=f"convert @{target} to tile_tensor operations first"
        if known
        else "give it a body of tile_tensor operations",
    )


def _replace(call: CallOp, function: FuncOp) -> None:
    block = function.body.block
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, call.arguments, strict=True))
    copies: list[Operation] = []
    *body, end = block.ops
    for op in body:
        copy = op.clone(values)
        for inner in copy.walk():
            if not isinstance(call.location, UnknownLoc):
                inner.location = CallSiteLoc(inner.location, call.location)
        copies.append(copy)
    found = [values.get(value, value) for value in end.operands]
    made = {result for copy in copies for result in copy.results}
    for result, value in zip(call.results, found, strict=True):
        if value in made and result.name_hint is not None:
            value.name_hint = result.name_hint
    block_of_call = call.parent
    assert block_of_call is not None
    block_of_call.insert_ops_before(copies, call)
    for result, value in zip(call.results, found, strict=True):
        result.replace_all_uses_with(value)
    Rewriter.erase_op(call)
