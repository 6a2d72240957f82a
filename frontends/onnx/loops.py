# SPDX-License-Identifier: Apache-2.0
"""ONNX's Loop with a count that is known, as a counter `while`; If whose condition is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType, i64
from xdsl.ir import Block, Region, SSAValue

from tilewright.dialects.hlo.operations import OPERATIONS
from tilewright.frontends.onnx.emit import element_of, shape_of
from tilewright.frontends.onnx.node import Known, Lost, Node, Rule, Unsupported, Value


def _if(node: Node) -> list[Value]:
    condition = node.known(0, "condition")
    assert condition is not None
    graph = node.get("then_branch" if bool(np.ravel(condition)[0]) else "else_branch")
    return _inside(node, graph, {})[0]


def _inside(node: Node, graph: Any, arguments: Mapping[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """The results of a graph in a scope of its own, and that scope."""
    import onnx  # pyright: ignore[reportMissingImports]

    reader = node.reader
    reader.scopes.append(dict(arguments))
    try:
        for tensor in graph.initializer:
            reader.define(tensor.name, np.asarray(onnx.numpy_helper.to_array(tensor)))
        reader.read(graph)
        return [reader.lookup(output.name) for output in graph.output], reader.scopes[-1]
    finally:
        reader.scopes.pop()


def _loop(node: Node) -> list[Value]:
    """The counter, what is carried, and what is collected are the state of a `while`."""
    count, condition = node.known(0, "count"), node.known(1, "condition")
    if count is None:
        raise Unsupported("its count is not known")
    if condition is not None and not bool(np.ravel(condition)[0]):
        raise Unsupported("its condition is false at once")
    trips = int(np.ravel(count)[0])
    body = node.get("body")
    carried = [node.value(i) for i in range(2, len(node.inputs))]
    if trips < 1:
        raise Unsupported("it never runs")
    types = _collected_types(node, body, carried, trips)
    stacks = [
        node.op(
            "broadcast_in_dim",
            node.build.constant(0, t.element_type),
            shape=[trips, *t.get_shape()],
            dimensions=[],
        )
        for t in types
    ]
    start = [node.build.constant(0, i64), *carried, *stacks]
    state_types = [value.type for value in start]

    test = Block(arg_types=state_types)
    with node.build.inside(test):
        last = node.build.constant(trips, i64)
        holds = node.op("compare", test.args[0], last, direction="LT")
        _return(node, test, [holds])
    block = Block(arg_types=state_types)
    with node.build.inside(block):
        counter, held, kept = block.args[0], block.args[1 : 1 + len(carried)], block.args[1 + len(carried) :]
        results = _body(node, body, counter, list(held))
        after = [_as_value(node, v, f"{node.proto.name}.{i}") for i, v in enumerate(results)]
        for before, new in zip(held, after, strict=False):
            if before.type != new.type:
                raise Unsupported(f"a carried value changes its type: {before.type} to {new.type}")
        zero = node.build.constant(0, i64)
        written = [
            node.op(
                "dynamic_update_slice",
                stack,
                node.reshape(value, [1, *shape_of(value)]),
                counter,
                *[zero] * len(shape_of(value)),
            )
            for stack, value in zip(kept, after[len(carried) :], strict=True)
        ]
        one = node.op("add", counter, node.build.constant(1, i64))
        _return(node, block, [one, *after[: len(carried)], *written])
    made = OPERATIONS["while"].create(
        operands=start, result_types=state_types, regions=[Region(test), Region(block)]
    )
    node.build.add(made)
    return list(made.results[1:])


def _return(node: Node, block: Block, values: list[SSAValue]) -> None:
    block.add_op(OPERATIONS["return"].create(operands=values))


def _body(node: Node, body: Any, counter: SSAValue, held: list[SSAValue]) -> list[Value]:
    """Carried and collected values of one iteration. Raises `Unsupported` where the condition is computed."""
    names = [entry.name for entry in body.input]
    arguments: dict[str, Value] = {names[0]: counter, names[1]: Known(np.array(True))}
    arguments.update(zip(names[2:], held, strict=True))
    results, _ = _inside(node, body, arguments)
    condition, *rest = results
    if any(isinstance(value, Lost) for value in results):
        raise Unsupported("its body has no meaning")
    if not isinstance(condition, Known) or not bool(np.ravel(condition.array)[0]):
        raise Unsupported("its condition is computed in its body")
    return rest


def _as_value(node: Node, value: Value, name: str) -> SSAValue:
    if isinstance(value, Known):
        return node.reader.materialise(value, name)
    assert isinstance(value, SSAValue)
    return value


def _collected_types(node: Node, body: Any, carried: list[SSAValue], trips: int) -> list[TensorType[Any]]:
    """The types of what an iteration collects: the body is read once into a block that is thrown away."""
    if len(body.output) - 1 == len(carried):
        return []
    block = Block(arg_types=[node.build.constant(0, i64).type, *[v.type for v in carried]])
    numbers = node.reader.numbers.copy()
    with node.build.inside(block):
        results = _body(node, body, block.args[0], list(block.args[1:]))
        values = [_as_value(node, v, f"{node.proto.name}.{i}") for i, v in enumerate(results)]
    node.reader.numbers = numbers
    found = [TensorType(element_of(v), shape_of(v)) for v in values[len(carried) :]]
    return found


RULES: Mapping[str, Rule] = {"If": _if, "Loop": _loop}
