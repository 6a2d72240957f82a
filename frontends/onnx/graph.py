# SPDX-License-Identifier: Apache-2.0
"""Loading a file of ONNX: functions inlined, symbols bound, cut to the outputs that are wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.diagnostics import TileError
from tilewright.frontends.middle import Model, ModelBuilder, ModelError
from tilewright.frontends.onnx.node import ELEMENTS, Known, Lost
from tilewright.frontends.onnx.reader import OURS, Reader

OPSETS = range(14, 26)
"""Opsets that are read; 14 to 23 are tested against onnx's own node tests."""


def load(path: Path | str) -> Any:
    """The `ModelProto` in a file. Raises `ModelError` where onnx is missing or cannot read it."""
    onnx = _onnx()
    try:
        model = onnx.load(str(path))
    except OSError as error:
        raise ModelError(f"cannot read '{path}': {error.strerror or error}") from None
    except Exception as error:  # protobuf's own errors have no common class
        raise ModelError(f"'{path}' is no model of ONNX: {error}") from None
    if not model.graph.node and not model.graph.output:
        raise ModelError(f"'{path}' is no model of ONNX: its graph is empty")
    return model


def _onnx() -> Any:
    try:
        return import_module("onnx")
    except ImportError:
        raise ModelError(
            "there is no onnx in this environment", hint="pip install tilewright[onnx]"
        ) from None


def prepared(model: Any, bind: Mapping[str, int], outputs: Sequence[str]) -> Any:
    """A model with its functions inlined, its symbols bound, and only the nodes that `outputs` need."""
    from onnx import inliner  # pyright: ignore[reportMissingImports]

    if model.functions:
        model = inliner.inline_local_functions(model)
    version = {o.domain: o.version for o in model.opset_import}.get("", 0)
    if version and version not in OPSETS:
        raise ModelError(
            f"the model is of opset {version}; 14 to 23 are read",
            hint="onnx.version_converter.convert_version changes it",
        )
    _bind(model.graph, bind)
    if outputs:
        _cut(model.graph, outputs)
    return model


def _bind(graph: Any, bind: Mapping[str, int]) -> None:
    """Give every axis of the inputs its extent. Raises `ModelError` with all axes that have none."""
    known = {tensor.name for tensor in graph.initializer}
    missing: list[str] = []
    used: set[str] = set()
    for entry in graph.input:
        if entry.name in known:
            continue
        if not entry.type.HasField("tensor_type"):
            raise ModelError(f"the input '{entry.name}' is no tensor")
        if not entry.type.tensor_type.HasField("shape"):
            raise ModelError(f"the input '{entry.name}' has no shape", hint="export the model with shapes")
        for axis, extent in enumerate(entry.type.tensor_type.shape.dim):
            word = extent.dim_param or f"{entry.name}.{axis}"
            if extent.HasField("dim_value") and extent.dim_value >= 0:
                continue
            if word in bind:
                used.add(word)
                extent.dim_value = bind[word]
            else:
                missing.append(f"axis {axis} of '{entry.name}' is {word}")
    if missing:
        first = missing[0].rpartition(" ")[2]
        raise ModelError(
            f"{len(missing)} axes of inputs have no extent"
            if len(missing) > 1
            else f"{missing[0]}: it has no extent",
            notes=tuple(missing) if len(missing) > 1 else (),
            hint=f"--bind {first}=1 sets it",
        )
    if unknown := sorted(set(bind) - used):
        raise ModelError(
            f"no input has an axis {', '.join(unknown)}", hint="--bind sets axes without an extent"
        )


def _cut(graph: Any, outputs: Sequence[str]) -> None:
    """Make other values the outputs; what they do not need goes. Raises `ModelError`."""
    makers = {name: node for node in graph.node for name in node.output}
    unknown = [name for name in outputs if name not in makers]
    if unknown:
        raise ModelError(f"no node computes '{unknown[0]}'")
    wanted: set[str] = set()
    ahead = list(outputs)
    while ahead:
        name = ahead.pop()
        if name in wanted or name not in makers:
            continue
        node = makers[name]
        wanted.update(node.output)
        ahead += [*node.input, *(n for a in node.attribute for g in (a.g, *a.graphs) for n in _outer(g))]
    kept = [node for node in graph.node if any(name in wanted for name in node.output)]
    read = {name for node in kept for name in node.input} | {
        n for node in kept for a in node.attribute for g in (a.g, *a.graphs) for n in _outer(g)
    }
    tensors = [tensor for tensor in graph.initializer if tensor.name in read]
    types = {v.name: v for v in (*graph.value_info, *graph.output)}
    inputs = [entry for entry in graph.input if entry.name in read]
    for field, values in (("node", kept), ("initializer", tensors), ("input", inputs)):
        copies = [type(value).FromString(value.SerializeToString()) for value in values]
        graph.ClearField(field)
        getattr(graph, field).extend(copies)
    graph.ClearField("output")
    for name in outputs:
        if name in types:
            graph.output.append(types[name])
        else:
            graph.output.add().name = name


def _outer(graph: Any) -> list[str]:
    """Names that a graph inside a node may read from around it."""
    found: list[str] = []
    for node in graph.node:
        found += node.input
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                found += _outer(inner)
    return [*found, *(output.name for output in graph.output)]


def read_model(model: Any, name: str) -> Model:
    """The model in the middle form of a `ModelProto` that is `prepared`. Raises `TileError`."""
    from onnx import numpy_helper  # pyright: ignore[reportMissingImports]

    graph = model.graph
    build = ModelBuilder(name)
    opsets = {("" if o.domain in OURS else o.domain): o.version for o in model.opset_import}
    reader = Reader(build, opsets)
    for tensor in graph.initializer:
        reader.initializer(tensor.name, np.asarray(numpy_helper.to_array(tensor)))
    held = {tensor.name for tensor in graph.initializer}
    for entry in graph.input:
        if entry.name in held:
            continue
        type_ = entry.type.tensor_type
        if type_.elem_type not in ELEMENTS:
            raise ModelError(f"the input '{entry.name}' has elements that are not known")
        shape = [extent.dim_value for extent in type_.shape.dim]
        reader.define(entry.name, build.input(entry.name, shape, ELEMENTS[type_.elem_type]))
    reader.read(graph)
    results = {}
    for output in graph.output:
        value = reader.lookup(output.name)
        if isinstance(value, Known):
            value = reader.materialise(value, output.name)
        if not isinstance(value, Lost):
            results[output.name] = value
    if reader.folded:
        build.notes.append(
            f"{reader.folded} nodes that depend on no input were computed when the model was read"
        )
    return build.finish(results)


__all__ = ["OPSETS", "TileError", "load", "prepared", "read_model"]
