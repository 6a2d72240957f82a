# SPDX-License-Identifier: Apache-2.0
"""
Text to a module, for library users and tests; the tools have their own way in, on the same parser.

That parser reads hexadecimal float literals as bits (xDSL 0.75 reads `dense<0xFF800000> : tensor<f32>` as
the number 4286578688.0 where MLIR means minus infinity) and gives every operation a source location.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect
from xdsl.universe import Universe

from tilewright.dialects.text.parser import parse_source
from tilewright.dialects.text.sources import Source, Sources


def context() -> Context:
    """
    A fresh context in which all dialects of the environment are registered; each is loaded when it is first
    used.
    """
    ctx = Context()
    for name, factory in _dialects():
        ctx.register_dialect(name, factory)
    return ctx


@cache
def _dialects() -> tuple[tuple[str, Callable[[], Dialect]], ...]:
    # Looking for plugins among the installed packages takes milliseconds; they do not change while we run.
    return tuple(Universe.get_multiverse().all_dialects.items())


def parse_module(text: str, name: str = "<text>", ctx: Context | None = None) -> ModuleOp:
    """
    The verified module in `text`. `name` is the file of its locations.

    Raises `xdsl.utils.exceptions.ParseError` or `VerifyException`.
    """
    module = parse_source(ctx or context(), Source(name, text), Sources())
    module.verify()
    return module
