# SPDX-License-Identifier: Apache-2.0
"""
A walk over an exported graph of torch that writes the middle form, node by node in its order.

What depends on no input and no parameter is computed by torch itself, in torch's own types. Every other node
is written by the function that `operator` has registered for its name; `Translation` is what these functions
work with.
"""

from __future__ import annotations

import importlib
import inspect
import operator as python_operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import IntegerType, TensorType, f32, f64, i1, i64
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.hlo.operations import tensor_of
from tilewright.dialects.hlo.values import element_type
from tilewright.frontends.middle import ModelBuilder

_ELEMENTS = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2", "float8_e4m3fnuz": "f8E4M3FNUZ", "float8_e5m2fnuz": "f8E5M2FNUZ", "bool": "i1",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "ui8", "uint16": "ui16",
    "uint32": "ui32", "uint64": "ui64",
}  # fmt: skip
_SMALL_FLOATS = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")

IGNORED = frozenset(
    (
        "_assert_async", "_assert_scalar", "_assert_tensor_metadata", "sym_constrain_range",
        "sym_constrain_range_for_size", "_functional_assert_async", "_functional_assert_scalar",
    )
)  # fmt: skip
"""Operators that only check something."""

Lowering = Callable[..., Any]
OPERATORS: dict[str, Lowering] = {}
"""The functions that write an operator, by its name with or without the overload: `add.Tensor`, `relu`."""


class Unsupported(Exception):
    """Why an operator has no meaning here; the import reports all of them together."""


def operator(*names: str) -> Callable[[Lowering], Lowering]:
    """Registers a function `(translation, *arguments of the operator)` that gives its value, or values."""

    def register(function: Lowering) -> Lowering:
        for name in names:
            assert name not in OPERATORS, name
            OPERATORS[name] = function
        return function

    return register


def name_of(target: Any) -> str:
    """`add.Tensor` of `torch.ops.aten.add.Tensor`; other namespaces keep their name (`torchvision::nms`)."""
    name = str(getattr(target, "_qualified_op_name", "") or getattr(target, "__name__", target))
    schema = getattr(target, "_schema", None)
    if schema is None:
        return name
    word = schema.name.removeprefix("aten::")
    return f"{word}.{schema.overload_name or 'default'}"


def lowering_of(target: Any) -> Lowering | None:
    """The function that writes an operator, if there is one."""
    name = name_of(target)
    return OPERATORS.get(name) or OPERATORS.get(name.partition(".")[0])


def is_translated(target: Any) -> bool:
    """Whether a target of a graph needs no decomposition."""
    word = name_of(target).partition(".")[0]
    return target is python_operator.getitem or word in IGNORED or lowering_of(target) is not None


def array_of_tensor(tensor: Any) -> np.ndarray:
    """The elements of a tensor of torch, without a copy where that is possible."""
    tensor = tensor.detach().cpu()
    word = str(tensor.dtype).removeprefix("torch.")
    if word not in _SMALL_FLOATS:
        return cast("np.ndarray", tensor.numpy())
    torch: Any = importlib.import_module("torch")
    codes = tensor.contiguous().view(torch.int16 if word == "bfloat16" else torch.uint8)
    return cast("np.ndarray", codes.numpy()).view(getattr(ml_dtypes, word))


def element_of_tensor(dtype: Any) -> Attribute:
    """The element type of a dtype of torch. Raises `Unsupported`."""
    word = str(dtype).removeprefix("torch.")
    if word not in _ELEMENTS:
        raise Unsupported(f"elements of {word} have no meaning here")
    return element_type(_ELEMENTS[word])


def is_float(element: Attribute) -> bool:
    """Not an integer, nor a truth value."""
    return not isinstance(element, IntegerType)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The extents of a value of the middle form."""
    return tensor_of(value).get_shape()


def element_of(value: SSAValue) -> Attribute:
    """The element type of a value of the middle form."""
    return tensor_of(value).element_type


class Translation:
    """
    Writes one graph. A value is an `SSAValue`, or what torch knows of it: a tensor, a number, a list of
    these. `node` is the one being written.
    """

    def __init__(self, build: ModelBuilder, torch: Any) -> None:
        self.build = build
        self.torch = torch
        self.values: dict[Any, Any] = {}
        self.node: Any = None
        self.package = str(Path(torch.__file__).parent)

    # ----------------------------------------------------------------------------------------------- the walk

    def walk(self, graph: Any) -> list[Any]:
        """Write all nodes of a graph whose placeholders have their values; the values that it returns."""
        for node in graph.nodes:
            if node.op == "placeholder":
                continue
            if node.op == "output":
                return self._flat(node.args[0])
            if node.op == "get_attr":
                self.values[node] = _attribute(graph.owning_module, str(node.target))
                continue
            self.node = node
            with self.build.at(place_of(node, self.package)):
                self.values[node] = self._written(node)
        return []

    def _flat(self, tree: Any) -> list[Any]:
        if isinstance(tree, tuple | list):
            return [leaf for entry in tree for leaf in self._flat(entry)]
        return [self._given(tree)]

    def _given(self, argument: Any) -> Any:
        """An argument of a node with values in place of nodes."""
        match argument:
            case tuple() | list():
                return [self._given(entry) for entry in argument]
            case _ if isinstance(argument, self.torch.fx.Node):
                return self.values[argument]
            case _:
                return argument

    def _written(self, node: Any) -> Any:
        arguments = [self._given(argument) for argument in node.args]
        options = {name: self._given(argument) for name, argument in node.kwargs.items()}
        if node.target is python_operator.getitem:
            return arguments[0][arguments[1]]
        if name_of(node.target).partition(".")[0] in IGNORED:
            return None
        inner = next((a for a in arguments if isinstance(a, self.torch.fx.GraphModule)), None)
        if inner is not None and str(node.target) in ("wrap_with_set_grad_enabled", "wrap_with_autocast"):
            return self._inlined(inner, arguments[arguments.index(inner) + 1 :])
        lowering = lowering_of(node.target)
        try:
            if inner is not None:
                raise Unsupported("control flow has no meaning here: write it with fixed counts")
            if lowering is None and _is_random(self.torch, node.target):
                raise Unsupported("random numbers have no meaning here: export the module in eval()")
            if not any(isinstance(leaf, SSAValue) for leaf in _leaves([arguments, options])):
                with self.torch.no_grad():
                    return node.target(*arguments, **options)
            if lowering is None:
                raise Unsupported("")
            _refuse_options(lowering, arguments, options)
            return self._checked(lowering(self, *arguments, **options))
        except Unsupported as error:
            return self._missing(node, arguments, options, str(error))

    def _inlined(self, module: Any, arguments: Sequence[Any]) -> Any:
        outer = self.node
        holders = [node for node in module.graph.nodes if node.op == "placeholder"]
        self.values.update(zip(holders, arguments, strict=True))
        found = self.walk(module.graph)
        self.node = outer
        return found

    def _checked(self, found: Any) -> Any:
        """A result in the type that torch says it has."""
        value = self.node.meta.get("val")
        if not isinstance(found, SSAValue) or not isinstance(value, self.torch.Tensor):
            return found
        given = tuple(value.shape)
        fits = [n == m for n, m in zip(shape_of(found), given, strict=False) if isinstance(m, int)]
        if len(given) != len(shape_of(found)) or not all(fits):
            raise Unsupported(f"it would give {found.type}, where torch gives {list(given)}")
        return self.convert(found, element_of_tensor(value.dtype))

    def _missing(self, node: Any, arguments: Any, options: Any, reason: str) -> Any:
        """A stand-in for what has no meaning, so that all of it can be reported together."""
        values = [leaf for leaf in _leaves([arguments, options]) if isinstance(leaf, SSAValue)]
        metas = list(_leaves(node.meta.get("val")))
        types: list[Attribute] = []
        for meta in metas:
            try:
                kind = element_of_tensor(meta.dtype)
            except (Unsupported, AttributeError):
                kind = f32
            types.append(
                TensorType(
                    cast(Any, kind), [n if isinstance(n, int) else 1 for n in getattr(meta, "shape", ())]
                )
            )
        name = str(node.target) if hasattr(node.target, "_schema") else f"torch's {node.target}"
        found = self.build.unsupported(name, values, types, reason)
        return found if isinstance(node.meta.get("val"), tuple | list) else next(iter(found), None)

    # ------------------------------------------------------------------------------------------------- values

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the node's result, as torch says."""
        found = tuple(self._meta.shape)
        if not all(isinstance(extent, int) for extent in found):
            raise Unsupported(f"its shape depends on values: {list(found)}")
        return found

    @property
    def element(self) -> Attribute:
        """The element type of the node's result, as torch says."""
        return element_of_tensor(self._meta.dtype)

    @property
    def _meta(self) -> Any:
        value = self.node.meta.get("val")
        if not isinstance(value, self.torch.Tensor):
            raise Unsupported("it gives no tensor, but a number that depends on values")
        return value

    def value(self, given: Any, element: Attribute | None = None) -> SSAValue:
        """A value in the middle form, in an element type if one is given; numbers become scalars."""
        if isinstance(given, SSAValue):
            return given if element is None else self.convert(given, element)
        if isinstance(given, self.torch.Tensor):
            kind = element_of_tensor(given.dtype)
            found = self.build.constant(array_of_tensor(given), kind)
            return found if element is None else self.convert(found, element)
        if element is None:
            element = i1 if isinstance(given, bool) else i64 if isinstance(given, int) else f32
        return self.build.constant(np.asarray(given), element)

    def op(self, name: str, *operands: SSAValue, **attributes: Any) -> SSAValue:
        """An operation of the middle form."""
        return self.build.op(name, operands, **attributes)

    def composite(self, kind: Any, *arguments: Any, **options: Any) -> SSAValue:
        """An operation of `tile_tensor`; its 8-bit results do not saturate, as torch's do not."""
        for value in arguments:
            if isinstance(value, SSAValue) and element_of(value) == f64:
                raise Unsupported("the machine has no f64: export the module in float32")
        return self.build.composite(kind, *arguments, **options)

    def convert(self, value: SSAValue, element: Attribute) -> SSAValue:
        return value if element_of(value) == element else self.op("convert", value, element=element)

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        return value if shape_of(value) == tuple(shape) else self.op("reshape", value, shape=shape)

    def transpose(self, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
        if list(permutation) == sorted(permutation):
            return value
        return self.op("transpose", value, permutation=list(permutation))

    def broadcast(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A value with all extents of a shape, repeated as torch does."""
        found = shape_of(value)
        if found == tuple(shape):
            return value
        first = len(shape) - len(found)
        dimensions = list(range(first, len(shape)))
        return self.op("broadcast_in_dim", value, dimensions=dimensions, shape=shape)

    def full(self, number: Any, shape: Sequence[int], element: Attribute) -> SSAValue:
        """One number everywhere."""
        return self.broadcast(self.value(number, element), shape)

    def like(self, number: Any, value: SSAValue) -> SSAValue:
        """One number in the type of a value."""
        return self.full(number, shape_of(value), element_of(value))

    def together(self, *given: Any, element: Attribute, shape: Sequence[int] | None = None) -> list[SSAValue]:
        """Operands of an operation on each element, in one element type and the shape of the result."""
        extents = self.shape if shape is None else shape
        return [self.broadcast(self.value(entry, element), extents) for entry in given]

    def common(self, *given: Any) -> Attribute:
        """The element type in which torch computes with tensors and numbers."""
        found = self.stand_in(given[0])
        for entry in given[1:]:
            found = self.torch.empty((), dtype=self.torch.result_type(found, self.stand_in(entry)))
        return element_of_tensor(getattr(found, "dtype", self.torch.get_default_dtype()))

    def stand_in(self, given: Any) -> Any:
        """Something of torch with the type of a value."""
        if not isinstance(given, SSAValue):
            return given
        word = next(w for w, name in _ELEMENTS.items() if element_type(name) == element_of(given))
        return self.torch.empty([1] * len(shape_of(given)), dtype=getattr(self.torch, word))

    # --------------------------------------------------------------------------------------------- arithmetic

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.op("add", a, b)

    def times(self, value: SSAValue, number: Any) -> SSAValue:
        """A value times one number."""
        return value if number == 1 else self.op("multiply", value, self.like(number, value))

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from the front."""
        return axis + rank if axis < 0 else axis

    def axes(self, axes: int | Sequence[int] | None, rank: int) -> list[int]:
        """Axes counted from the front; none: all."""
        if axes is None or axes == []:
            return list(range(rank))
        listed = [axes] if isinstance(axes, int) else axes
        return sorted(self.axis(axis, rank) for axis in listed)

    def reduce(self, value: SSAValue, kind: str, axes: Sequence[int], keep: bool) -> SSAValue:
        """A reduction, with its axes kept at extent 1 or not."""
        found = self.op("reduce", value, kind=kind, dimensions=list(axes)) if axes else value
        if not keep:
            return found
        return self.reshape(found, [1 if i in axes else n for i, n in enumerate(shape_of(value))])


def _refuse_options(lowering: Lowering, arguments: Sequence[Any], options: Mapping[str, Any]) -> None:
    """Options that an operator of torch has and its translation has not."""
    try:
        inspect.signature(lowering).bind(None, *arguments, **options)
    except TypeError as error:
        raise Unsupported(str(error)) from None


def _leaves(tree: Any) -> Iterable[Any]:
    match tree:
        case tuple() | list():
            for entry in tree:
                yield from _leaves(entry)
        case dict():
            yield from _leaves(list(tree.values()))
        case None:
            return
        case _:
            yield tree


def _is_random(torch: Any, target: Any) -> bool:
    return torch.Tag.nondeterministic_seeded in getattr(target, "tags", ())


def _attribute(module: Any, path: str) -> Any:
    for word in path.split("."):
        module = getattr(module, word)
    return module


def place_of(node: Any, package: str) -> str | tuple[str, int, int]:
    """Where a node comes from: the last line of its stack outside of torch, else within, else its name."""
    frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if not frame[0].startswith(package)] or frames
    if own:
        return own[-1][0], int(own[-1][1]), 1
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    return f"{stack[-1][0]}/{node.name}" if stack and stack[-1][0] else str(node.name)


__all__ = ["OPERATORS", "Translation", "Unsupported", "array_of_tensor", "is_translated", "operator"]
