# SPDX-License-Identifier: Apache-2.0
"""
Ways into the compiler: program folders, workloads, and models of other frameworks.

`from_stablehlo(text)`, `from_jax(f, *args)`, `from_torch(module, args)` and `from_onnx(path)` give a program
with its parameters, sample inputs and expected outputs; `write(folder)` makes a program folder of it, which
`tile-run` compiles, executes and checks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tilewright.frontends.front_ends import from_jax, from_onnx, from_stablehlo, from_torch

__all__ = ["from_jax", "from_onnx", "from_stablehlo", "from_torch"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("tilewright.frontends.front_ends"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
