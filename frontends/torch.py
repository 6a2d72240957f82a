# SPDX-License-Identifier: Apache-2.0
"""
Models of torch: modules with their arguments, and exported programs (`pip install tilewright[torch]`).

The module is exported by torch; its operators are written in the middle form, composites whole. Parameters
have the names of the state dict and never pass through text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from tilewright.frontends.aten import movement, pointwise, products, rows
from tilewright.frontends.aten.graph import (
    Translation,
    array_of_tensor,
    element_of_tensor,
    is_translated,
)
from tilewright.frontends.middle import Model, ModelBuilder, ModelError, path_name, result_names

_REGISTERED = (movement, pointwise, products, rows)
"""The modules whose import fills the table of operators."""

MOST_ROUNDS = 4
"""Times that operators without a translation are decomposed into others."""


def _torch() -> Any:
    try:
        return import_module("torch")
    except ImportError:
        raise ModelError(
            "there is no torch in this environment",
            hint="pip install tilewright[torch], or read its ONNX file",
        ) from None


def read_torch(
    module: Any,
    arguments: Any = None,
    options: Mapping[str, Any] | None = None,
    sample: Mapping[str, np.ndarray] | None = None,
) -> tuple[Model, list[np.ndarray], list[np.ndarray]]:
    """
    The model of a module of torch or of an `ExportedProgram`, the values of its arguments, and its results as
    torch computes them.

    `arguments` are the sample inputs (a tuple of tensors or arrays, or one of them), `options` those that are
    given by name. An exported program has sample inputs of its own, of which `sample` replaces some by name.
    Raises `ModelError` where torch is
    missing or cannot export the module, and for what no fixed program has: extents that are not known,
    changes of inputs or buffers, arguments that share memory.
    """
    torch = _torch()
    given = None if arguments is None else _tensors(torch, arguments)
    named = {key: _tensors(torch, value)[0] for key, value in (options or {}).items()}
    if isinstance(module, torch.export.ExportedProgram):
        program, name = module, "exported"
        if given is None:
            given, named = _examples(torch, program, sample or {})
    else:
        program, name = None, type(module).__name__
        given = () if given is None else given
    _refuse_shared(torch, given, named)
    if program is None:
        program = _exported(torch, module, given, named)
    _refuse_unfixed(torch, program)
    program = _decomposed(torch, program)
    _refuse_changes(program)
    results = _results(torch, program, given, named)
    return _read(torch, program, given, named, results, name)


def load(path: Path | str) -> Any:
    """The program that `torch.export.save` has written (`.pt2`). Raises `ModelError`."""
    try:
        return _torch().export.load(path)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"torch cannot read '{path}': {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


# ----------------------------------------------------------------------------------------------------- inputs


def _tensors(torch: Any, arguments: Any) -> tuple[Any, ...]:
    """Arguments as a tuple, arrays of numpy as tensors."""
    if not isinstance(arguments, tuple | list):
        arguments = (arguments,)
    return tuple(
        torch.utils._pytree.tree_map(
            lambda leaf: torch.from_numpy(leaf) if isinstance(leaf, np.ndarray) else leaf, argument
        )
        for argument in arguments
    )


def _examples(
    torch: Any, program: Any, sample: Mapping[str, np.ndarray]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if program.example_inputs is None:
        raise ModelError(
            "the exported program has no sample inputs", hint="give them: from_torch(program, args)"
        )
    leaves, tree = torch.utils._pytree.tree_flatten(program.example_inputs)
    names = program.graph_signature.user_inputs
    for i, (name, leaf) in enumerate(zip(names, leaves, strict=True)):
        if name in sample and isinstance(leaf, torch.Tensor):
            leaves[i] = torch.from_numpy(np.array(sample[name])).to(leaf.dtype).reshape(leaf.shape)
    arguments, options = torch.utils._pytree.tree_unflatten(leaves, tree)
    return tuple(arguments), dict(options)


def _paths(torch: Any, tree: Any) -> list[tuple[str, Any]]:
    found, _ = torch.utils._pytree.tree_flatten_with_path(tree)
    return [(path_name(path), leaf) for path, leaf in found]


def _refuse_shared(torch: Any, arguments: Sequence[Any], options: Mapping[str, Any]) -> None:
    """An export takes arguments that are one tensor for one argument, everywhere."""
    known: dict[Any, str] = {}
    for name, leaf in _paths(torch, (list(arguments), dict(options))):
        if not isinstance(leaf, torch.Tensor) or not leaf.numel():
            continue
        words = name.partition(".")[2]
        key = leaf.untyped_storage().data_ptr()
        if key in known:
            raise ModelError(
                f"the sample inputs {known[key]} and {words} are one tensor: "
                "torch would export one input for both",
                hint="give a tensor of its own for each: .clone()",
            )
        known[key] = words


# ----------------------------------------------------------------------------------------------------- export


def _exported(torch: Any, module: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if not isinstance(module, torch.nn.Module):
        raise ModelError(
            f"from_torch takes a torch.nn.Module or an ExportedProgram, found {type(module).__name__}"
        )
    fast = torch.backends.mha.get_fastpath_enabled()
    try:
        # the fast path is one operator of a whole layer, which nobody else has
        torch.backends.mha.set_fastpath_enabled(False)
        with torch.no_grad():
            return torch.export.export(module, arguments, options)
    except Exception as error:
        raise ModelError(f"torch cannot export the module: {_first_line(error)}") from error
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


def _refuse_unfixed(torch: Any, program: Any) -> None:
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if node.op != "placeholder" or not isinstance(value, torch.Tensor):
            continue
        for axis, extent in enumerate(value.shape):
            if not isinstance(extent, int):
                raise ModelError(
                    f"axis {axis} of the input '{node.name}' has no extent: {extent}",
                    hint="export the module without dynamic_shapes",
                )


def _decomposed(torch: Any, program: Any) -> Any:
    """Operators that have no translation as others, where torch has a decomposition of them."""
    try:
        program = program.run_decompositions({})
        for _ in range(MOST_ROUNDS):
            missing = {
                node.target
                for node in program.graph.nodes
                if node.op == "call_function" and not is_translated(node.target)
            }
            known = torch.export.default_decompositions()
            table = {target: known[target] for target in missing if target in known}
            if not table:
                break
            program = program.run_decompositions(table)
    except Exception as error:
        raise ModelError(f"torch cannot export the module: {_first_line(error)}") from error
    return program


def _refuse_changes(program: Any) -> None:
    signature = program.graph_signature
    inputs = list(getattr(signature, "user_inputs_to_mutate", {}).values())
    buffers = list(signature.buffers_to_mutate.values())
    if inputs:
        raise ModelError(
            f"the module changes its input{'s' * (len(inputs) > 1)} {', '.join(inputs)} in place",
            hint="work on a copy, and return what a caller is to see",
        )
    if buffers:
        raise ModelError(
            f"the module changes its buffer{'s' * (len(buffers) > 1)} {', '.join(buffers)}",
            hint="export the module in eval(), and pass state as an input and return it",
        )


def _results(torch: Any, program: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    """Names and values of what the program gives."""
    with torch.no_grad():
        found = program.module()(*arguments, **options)
    return [(name, leaf) for name, leaf in _paths(torch, found) if isinstance(leaf, torch.Tensor)]


# ------------------------------------------------------------------------------------------------- the reader


def _read(
    torch: Any,
    program: Any,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    results: list[Any],
    name: str,
) -> tuple[Model, list[np.ndarray], list[np.ndarray]]:
    build = ModelBuilder(name)
    translation = Translation(build, torch)
    kinds = torch.export.graph_signature.InputKind
    samples = [leaf for _, leaf in _paths(torch, (list(arguments), dict(options)))]
    holders = [node for node in program.graph.nodes if node.op == "placeholder"]
    weights: dict[Any, SSAValue] = {}
    values: list[np.ndarray] = []
    position = 0
    for node, spec in zip(holders, program.graph_signature.input_specs, strict=True):
        if spec.kind == kinds.USER_INPUT:
            leaf = samples[position]
            position += 1
            if isinstance(node.meta.get("val"), torch.Tensor):
                array = array_of_tensor(leaf)
                element = element_of_tensor(leaf.dtype)
                translation.values[node] = build.input(node.name, array.shape, element)
                values.append(array)
            else:
                translation.values[node] = leaf
            continue
        tensor = _stored(program, spec.target)
        if not _is_parameter(torch, spec, kinds, tensor, program.state_dict):
            translation.values[node] = tensor
            continue
        key = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype)
        if key not in weights:  # weights that are tied are one parameter
            array = array_of_tensor(tensor)
            weights[key] = build.parameter(spec.target, array)
            values.append(array)
        translation.values[node] = weights[key]
    found = translation.walk(program.graph)
    outputs = [value for value in found if isinstance(value, SSAValue | torch.Tensor)]
    names = result_names([word for word, _ in results])
    model = build.finish({word: translation.value(value) for word, value in zip(names, outputs, strict=True)})
    return model, values, [array_of_tensor(leaf) for _, leaf in results]


def _stored(program: Any, target: str) -> Any:
    return program.state_dict[target] if target in program.state_dict else program.constants[target]


def _is_parameter(torch: Any, spec: Any, kinds: Any, tensor: Any, state: Mapping[str, Any]) -> bool:
    """
    Parameters, and buffers of floats that the state dict holds. Other buffers (masks, positions, tables) are
    known: what is computed from them alone is folded.
    """
    if spec.kind == kinds.PARAMETER:
        return True
    return spec.kind == kinds.BUFFER and spec.target in state and tensor.dtype.is_floating_point


__all__ = ["load", "read_torch"]
