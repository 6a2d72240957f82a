# SPDX-License-Identifier: Apache-2.0
"""
Models by the name of what makes them, `MODULE:NAME`: a function without arguments, or a value, of a module of
Python (by its name or by its file).

It gives a model with its sample inputs: `module, x` of torch, an `ExportedProgram`, `function, x, y` of JAX.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from tilewright.frontends.front_ends import from_jax, from_torch
from tilewright.frontends.importing import Imported
from tilewright.frontends.middle import ModelError


def is_named_object(words: str) -> bool:
    """Whether words name an object of a module, and not a file."""
    module, colon, name = words.rpartition(":")
    return bool(colon and module) and name.isidentifier() and not Path(words).exists()


def from_object(
    words: str, *, parameters: Sequence[int] = (), precision: str = "source", roll: bool = True
) -> Imported:
    """
    The program of what `MODULE:NAME` gives; code of that module is run. `parameters` are the positions of a
    JAX function's arguments that hold weights. Raises `TileError`.
    """
    made = _object(words)
    model, *arguments = made if isinstance(made, tuple) else (made,)
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.nn.Module | torch.export.ExportedProgram):
        return from_torch(model, tuple(arguments) if arguments else None, precision=precision, roll=roll)
    if not callable(model):
        raise ModelError(
            f"'{words}' gives no model, but {type(model).__name__}",
            hint="a function that returns `module, x` (torch), an ExportedProgram, or `function, x` (JAX)",
        )
    return from_jax(model, *arguments, parameters=parameters, precision=precision, roll=roll)


def _object(words: str) -> Any:
    where, _, name = words.rpartition(":")
    try:
        found = getattr(_module(where), name)
        return found() if callable(found) and not hasattr(found, "state_dict") else found
    except Exception as error:
        raise ModelError(f"'{words}' cannot be had: {type(error).__name__}: {error}") from error


def _module(where: str) -> Any:
    if not where.endswith(".py"):
        if "" not in sys.path:
            sys.path.insert(0, "")  # as `python -m` finds them
        return import_module(where)
    spec = importlib.util.spec_from_file_location(Path(where).stem, where)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


__all__ = ["from_object", "is_named_object"]
