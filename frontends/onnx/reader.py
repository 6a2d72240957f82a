# SPDX-License-Identifier: Apache-2.0
"""
From the nodes of a graph to the middle form.

A node whose inputs are all known is computed by onnx's reference operators when the model is read: run-time
shape arithmetic vanishes. What has no meaning becomes `tile_hlo.unsupported`, which the lowering reports, all
of it in one error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from tilewright.frontends.middle import ModelBuilder, ModelError
from tilewright.frontends.onnx import axes, elements, loops, movement, norms, products
from tilewright.frontends.onnx.emit import Emit
from tilewright.frontends.onnx.node import Array, Known, Lost, Node, Rule, Unsupported, Value
from tilewright.passes.hlo.attention import HIDDEN

RULES: Mapping[str, Rule] = {
    **elements.RULES,
    **movement.RULES,
    **axes.RULES,
    **products.RULES,
    **norms.RULES,
    **loops.RULES,
}
"""Operators of the standard domain by name; others are read through the body that their schema gives."""

OURS = {"", "ai.onnx"}
RANDOM = {
    "RandomNormal",
    "RandomUniform",
    "RandomNormalLike",
    "RandomUniformLike",
    "Bernoulli",
    "Multinomial",
}
LEAST_PARAMETER = 2
"""Elements of an initializer of floats that is a parameter; a smaller one is a number of the program."""

LARGEST_CONSTANT = 64
"""Elements of a value computed from initializers that is no parameter of its own."""


def _is_mask(array: Array) -> bool:
    """Whether an array says which scores are seen: by zeros, and numbers that hide what they are added to."""
    if array.ndim < 2 or array.dtype.itemsize < 4:
        return False
    hidden = array <= HIDDEN
    return bool(hidden.any() and (hidden | (array == 0)).all() and not hidden.all())


def _quiet(*_: Any) -> None:
    """The log of the reference operators."""


class Reader:
    """Reads graphs into one model."""

    def __init__(self, build: ModelBuilder, opsets: Mapping[str, int]) -> None:
        self.build = build
        self.opsets = dict(opsets)
        self.scopes: list[dict[str, Value]] = [{}]
        self.folded = 0
        self._parameters: dict[str, SSAValue] = {}
        self.numbers: Counter[str] = Counter()

    # ------------------------------------------------------------------------------------------------- values

    def lookup(self, name: str) -> Value:
        """A value by its name. Raises `ModelError`."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        raise ModelError(f"nothing computes '{name}'")

    def define(self, name: str, value: Value | Array) -> None:
        """Give a value its name."""
        if name:
            self.scopes[-1][name] = Known(value) if isinstance(value, np.ndarray | np.generic) else value

    def initializer(self, name: str, array: Array) -> None:
        """A tensor of the file: floats are parameters, masks of attention and everything else are known."""
        weight = array.dtype.kind not in "biu" and array.size >= LEAST_PARAMETER and not _is_mask(array)
        self.define(name, Known(array, name, weight=True) if weight else Known(array))

    def materialise(self, known: Known, name: str) -> SSAValue:
        """A known value in the program: a parameter, seen through views, or a constant."""
        base = known.name
        if base is None and known.weight and known.array.size > LARGEST_CONSTANT:
            base, known = name, Known(known.array, name, weight=True)
        if base is None:
            return self.build.constant(known.array)
        if base not in self._parameters:
            scope = next((s for s in self.scopes if base in s), self.scopes[0])
            found = scope.get(base)
            original = found if isinstance(found, Known) and found.name == base else known
            self._parameters[base] = self.build.parameter(base, original.array)
        value = self._parameters[base]
        emit = Emit(self.build)
        for kind, data in known.views:
            value = emit.reshape(value, data) if kind == "reshape" else emit.transpose(value, data)
        return value

    # -------------------------------------------------------------------------------------------------- nodes

    def read(self, graph: Any) -> None:
        """Read the nodes of a graph, in their order."""
        for proto in graph.node:
            self.node(proto)

    def place_of(self, proto: Any) -> str:
        """A node's name, or its operator and number."""
        self.numbers[proto.op_type] += 1
        return proto.name or f"{proto.op_type} {self.numbers[proto.op_type]}"

    def node(self, proto: Any) -> None:
        """Read one node. Raises `ModelError` where it is wrong by itself."""
        place = self.place_of(proto)
        inputs = [self.lookup(name) if name else None for name in proto.input]
        with self.build.at(place):
            try:
                results = self._results(proto, inputs)
            except Unsupported as error:
                self._refuse(proto, str(error))
                results = [Lost()] * len(proto.output)
            except ModelError:
                raise
            except (ValueError, IndexError, KeyError, TypeError, AssertionError) as error:
                raise ModelError(f"{proto.op_type} '{place}' cannot be read: {error}") from error
        for name, value in zip(proto.output, results, strict=False):
            self.define(name, value)

    def _refuse(self, proto: Any, reason: str) -> None:
        domain = "" if proto.domain in OURS else f"{proto.domain}."
        self.build.unsupported(f"{domain}{proto.op_type}", [], [], reason)

    def _results(self, proto: Any, inputs: Sequence[Value | None]) -> Sequence[Value | Array]:
        rule = RULES.get(proto.op_type) if proto.domain in OURS else None
        lost = any(isinstance(value, Lost) for value in inputs)
        if lost and rule is not None:
            return [Lost()] * len(proto.output)
        if not lost and self._foldable(proto, inputs):
            return self._folded(proto, inputs)
        node = Node(self, proto, inputs)
        if rule is None:
            return self._through_body(node, lost)
        found = rule(node)
        return found if isinstance(found, list | tuple) else [found]  # pyright: ignore[reportReturnType]

    def _foldable(self, proto: Any, inputs: Sequence[Value | None]) -> bool:
        if proto.op_type in RANDOM or any(a.g.node or a.graphs for a in proto.attribute):
            return False
        return all(value is None or isinstance(value, Known) for value in inputs)

    def _folded(self, proto: Any, inputs: Sequence[Value | None]) -> list[Value]:
        """What onnx's reference operator gives. A regrouped or transposed parameter stays that parameter."""
        given = [value for value in inputs if isinstance(value, Known)]
        first = given[0] if given else None
        arrays = [value.array if isinstance(value, Known) else None for value in inputs]
        results = [np.asarray(v) for v in self._reference(proto, arrays)]
        self.folded += 1
        weight = any(value.weight for value in given)
        if first is not None and first.name is not None and first.array.dtype == results[0].dtype:
            if proto.op_type in ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"):
                view = ("reshape", tuple(results[0].shape))
            elif proto.op_type == "Transpose":
                view = ("transpose", tuple(movement.permutation(Node(self, proto, inputs))))
            elif proto.op_type == "Cast":
                view = ("reshape", tuple(results[0].shape))
            else:
                return [Known(array, weight=weight) for array in results]
            return [Known(results[0], first.name, (*first.views, view), weight=True)]
        return [Known(array, weight=weight) for array in results]

    def _reference(self, proto: Any, arrays: Sequence[Array | None]) -> Sequence[Any]:
        from onnx.reference.ops import load_op  # pyright: ignore[reportMissingImports]

        if proto.op_type == "Resize" and arrays[0] is not None:
            from tilewright.frontends.onnx.resize import resized

            return [resized(self, proto, arrays)]
        return self.run(proto, arrays, load_op)

    def run(self, proto: Any, arrays: Sequence[Array | None], load_op: Any) -> Sequence[Any]:
        """The results of a node's reference operator. Raises `Unsupported`."""
        domain = "" if proto.domain in OURS else proto.domain
        parameters = {"opsets": self.opsets, "new_ops": None, "log": _quiet, "verbose": 0}
        try:
            kind = load_op(domain, proto.op_type, self.opsets.get(domain, 1), node=proto)
            operator = kind(proto, parameters)
            with np.errstate(all="ignore"):
                return operator.run(*arrays)
        except Exception as error:  # whatever the reference says of what it cannot do
            raise Unsupported(
                f"it cannot be computed beforehand: {str(error).splitlines()[0][:120]}"
            ) from error

    # ------------------------------------------------------------------------------------------------- bodies

    def _through_body(self, node: Node, lost: bool) -> Sequence[Value]:
        """The results of an operator through the body that its schema gives. Raises `Unsupported`."""
        body = _body_of(node)
        if body is None or lost:
            raise Unsupported(
                "" if node.proto.domain in OURS else f"the domain '{node.proto.domain}' is not known"
            )
        scope: dict[str, Value] = {}
        for name, value in zip(body.input, node.inputs, strict=False):
            if value is not None:
                scope[name] = value
        before, self.opsets = self.opsets, {**self.opsets, **{o.domain: o.version for o in body.opset_import}}
        outer, self.scopes = self.scopes, [*self.scopes, scope]
        try:
            for proto in body.node:
                self.node(_with_attributes(proto, node.proto))
            return [self.lookup(name) for name in body.output]
        finally:
            self.scopes, self.opsets = outer, before


def _body_of(node: Node) -> Any:
    """The function in the schema of an operator; None where there is none."""
    import onnx  # pyright: ignore[reportMissingImports]

    domain = "" if node.proto.domain in OURS else node.proto.domain
    try:
        schema: Any = onnx.defs.get_schema(node.kind, node.opset, domain)
    except Exception:
        return None
    return schema.function_body if schema.has_function else None


def _with_attributes(proto: Any, outer: Any) -> Any:
    """A node of a body with the attributes that it takes from the call."""
    if not any(a.ref_attr_name for a in proto.attribute):
        return proto
    given = {a.name: a for a in outer.attribute}
    made = type(proto)()
    made.CopyFrom(proto)
    del made.attribute[:]
    for attribute in proto.attribute:
        if not attribute.ref_attr_name:
            made.attribute.append(attribute)
        elif attribute.ref_attr_name in given:
            copy = made.attribute.add()
            copy.CopyFrom(given[attribute.ref_attr_name])
            copy.name = attribute.name
    return made
