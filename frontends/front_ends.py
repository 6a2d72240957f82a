# SPDX-License-Identifier: Apache-2.0
"""
The readers behind one interface: a model of some framework, and out comes a program with all that belongs to
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.frontends import importing
from tilewright.frontends.importing import Imported
from tilewright.frontends.stablehlo import read_stablehlo


def from_stablehlo(
    text: str,
    *,
    parameters: Sequence[str] = (),
    sample: Mapping[str, np.ndarray] | None = None,
    precision: str = "source",
    seed: int = 0,
    name: str = "<text>",
) -> Imported:
    """
    The program in a text of StableHLO.

    `parameters` names arguments that are weights (by name, position or range, `1-12`), `sample` gives values
    of arguments by name or as `in0`, `in1`, ..; what is missing is drawn at random. Expected outputs are
    those of the program as given, in numpy. `precision`: `source`, `f16` or `f8` (`importing.PRECISIONS`).
    Raises `TileError`.
    """
    model = read_stablehlo(text, name)
    importing.make_parameters(model, parameters)
    values = importing.arguments_of(model, sample or {}, seed)
    return importing.import_with_values(model, values, precision=precision)


def from_jax(
    function: Callable[..., Any],
    *arguments: Any,
    parameters: Sequence[int] | int = (),
    precision: str = "source",
    roll: bool = True,
) -> Imported:
    """
    The program of a function of JAX (any pytrees of arrays as arguments); needs the extra `jax`.

    `parameters` are the positions of arguments whose arrays are weights. The arguments are the sample inputs,
    what JAX computes from them the expected outputs. Raises `TileError`.
    """
    from tilewright.frontends.jax import read_jax

    model, values, results = read_jax(function, arguments, parameters)
    return importing.import_with_values(model, values, results, precision=precision, roll=roll)


def from_torch(
    module: Any,
    arguments: Any = None,
    options: Mapping[str, Any] | None = None,
    *,
    sample: Mapping[str, np.ndarray] | None = None,
    precision: str = "source",
    roll: bool = True,
) -> Imported:
    """
    The program of a `torch.nn.Module`, of an `ExportedProgram` or of the file of one (`.pt2`); needs the
    extra `torch`.

    `arguments` are the sample inputs (a tuple of tensors or arrays; an exported program has its own, of which
    `sample` replaces some by name), `options` those given by name; what torch computes from them are the
    expected outputs. Parameters have the names of the state dict. Raises `TileError`.
    """
    from tilewright.frontends.torch import load, read_torch

    given = load(module) if isinstance(module, str | Path) else module
    model, values, results = read_torch(given, arguments, options, sample)
    return importing.import_with_values(model, values, results, precision=precision, roll=roll)


def from_onnx(
    path: Path | str,
    *,
    bind: Mapping[str, int] | None = None,
    outputs: Sequence[str] = (),
    sample: Mapping[str, np.ndarray] | None = None,
    precision: str = "source",
    seed: int = 0,
    roll: bool = True,
) -> Imported:
    """
    The program in a file of ONNX, opset 14 to 23; needs the extra `onnx`.

    `bind` sets axes that have a name instead of an extent, `outputs` names values inside of the graph that
    are wanted instead of its outputs. `sample` gives inputs by name (what is missing is drawn at random) and,
    if all of them are there, expected outputs; else onnx's reference evaluator computes them. Initializers of
    floats are parameters under their names. Raises `TileError`.
    """
    from tilewright.frontends.onnx import evaluator, graph

    proto = graph.prepared(graph.load(path), bind or {}, outputs)
    model = graph.read_model(proto, Path(path).name)
    sample = sample or {}
    names = importing.output_names(model.function)
    values = importing.arguments_of(model, sample, seed)
    results: Sequence[np.ndarray] | None = None
    if all(name in sample for name in names):
        results = [sample[name] for name in names]
    elif importing.is_whole(model):
        arguments = zip(importing.argument_names(model.function), values, strict=True)
        given = {name: value for (kind, name), value in arguments if kind == "input"}
        found = evaluator.evaluate(proto, given)
        results = [found[name] for name in names]
    return importing.import_with_values(model, values, results, precision=precision, roll=roll)


__all__ = ["from_jax", "from_onnx", "from_stablehlo", "from_torch"]
