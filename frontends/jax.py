# SPDX-License-Identifier: Apache-2.0
"""
Models of JAX: functions with their arguments, in process (`pip install tilewright[jax]`).

The function is traced and lowered by JAX; its text is read by our own reader. Arrays that the function closes
over become parameters and never pass through text. jaxlib also reads forms of StableHLO that are no text:
bytecode and portable artifacts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr

from tilewright.dialects.entry import INPUT_ATTRIBUTE, OUTPUT_ATTRIBUTE, PARAMETER_ATTRIBUTE
from tilewright.frontends.middle import Model, ModelError, path_name, result_names
from tilewright.frontends.stablehlo import read_stablehlo

LEAST_PARAMETER = 64
"""Elements of a closed-over array that becomes a parameter; a smaller one is a constant."""


def _jax() -> Any:
    try:
        return import_module("jax")
    except ImportError:
        raise ModelError(
            "there is no JAX in this environment",
            hint="pip install jax jaxlib, or give text of StableHLO, which needs neither",
        ) from None


def read_jax(
    function: Callable[..., Any], arguments: Sequence[Any], parameters: Sequence[int] | int = ()
) -> tuple[Model, list[np.ndarray], list[np.ndarray]]:
    """
    The model of a function, the values of its arguments, and its results as JAX computes them.

    `parameters`: the positions of arguments whose arrays are weights; they are named by their path in the
    tree (`params.Dense_0.kernel`). Raises `ModelError` where JAX is missing or cannot trace the function.
    """
    jax = _jax()
    chosen = (parameters,) if isinstance(parameters, int) else tuple(parameters)
    names, kinds, leaves = _names(jax, function, arguments, chosen)
    try:
        closed = jax.make_jaxpr(function)(*arguments)
        found, _ = jax.tree_util.tree_flatten_with_path(jax.jit(function)(*arguments))
    except Exception as error:
        raise ModelError(f"JAX cannot trace the function: {error}") from error
    constants = [np.asarray(c) for c in closed.consts]
    large = [i for i, c in enumerate(constants) if c.size >= LEAST_PARAMETER]

    def flat(closure: list[Any], *values: Any) -> Any:
        given = list(closed.consts)
        for i, value in zip(large, closure, strict=True):
            given[i] = value
        return jax.core.eval_jaxpr(closed.jaxpr, given, *values)

    lowered = jax.jit(flat, keep_unused=True).lower([constants[i] for i in large], *leaves)
    model = read_stablehlo(lowered.as_text(debug_info=True), getattr(function, "__name__", "function"))
    entries: list[dict[str, Any]] = []
    for number, i in enumerate(large):
        name = f"closure.{number}"
        model.parameters[name] = constants[i]
        entries.append({PARAMETER_ATTRIBUTE: StringAttr(name)})
    values = [constants[i] for i in large]
    for name, kind, leaf in zip(names, kinds, leaves, strict=True):
        attribute = PARAMETER_ATTRIBUTE if kind else INPUT_ATTRIBUTE
        entries.append({attribute: StringAttr(name)})
        array = np.asarray(leaf)
        values.append(array)
        if kind:
            model.parameters[name] = array
    model.function.arg_attrs = ArrayAttr([DictionaryAttr(entry) for entry in entries])
    results = result_names([path_name(path) for path, _ in found])
    model.function.res_attrs = ArrayAttr(
        [DictionaryAttr({OUTPUT_ATTRIBUTE: StringAttr(name)}) for name in results]
    )
    return model, values, [np.asarray(result) for _, result in found]


def _names(
    jax: Any, function: Callable[..., Any], arguments: Sequence[Any], parameters: Sequence[int]
) -> tuple[list[str], list[bool], list[Any]]:
    """The name of every array of the arguments, whether it is a parameter, and the array."""
    try:
        words = [p.name for p in inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        words = []
    names: list[str] = []
    kinds: list[bool] = []
    leaves: list[Any] = []
    for position, argument in enumerate(arguments):
        head = words[position] if position < len(words) else f"arg{position}"
        found, _ = jax.tree_util.tree_flatten_with_path(argument)
        for path, leaf in found:
            tail = path_name(path)
            name = f"{head}.{tail}" if tail else head
            while name in names:
                name += "_"
            names.append(name)
            kinds.append(position in parameters)
            leaves.append(leaf)
    return names, kinds, leaves


def text_of_bytecode(data: bytes) -> str:
    """Generic text of a module of StableHLO in MLIR's bytecode or as a portable artifact, through jaxlib."""
    try:
        ir = import_module("jaxlib.mlir.ir")
        stablehlo = import_module("jaxlib.mlir.dialects.stablehlo")
        register = import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext").register_dialects
    except ImportError:
        raise ModelError(
            "bytecode is read by jaxlib, which this environment has not",
            hint="pip install jaxlib, or give text",
        ) from None
    context = ir.Context()
    registry = ir.DialectRegistry()
    register(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    stablehlo.register_dialect(context)
    try:
        with context:
            module = (
                stablehlo.deserialize_portable_artifact(context, data)
                if b"StableHLO" in data[:64]
                else ir.Module.parse(data)
            )
            operation = getattr(module, "operation", module)
            return operation.get_asm(print_generic_op_form=True, use_local_scope=True, enable_debug_info=True)
    except Exception as error:
        raise ModelError(f"jaxlib cannot read the module: {error}") from error
