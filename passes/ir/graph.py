# SPDX-License-Identifier: Apache-2.0
"""Reads a program into a graph, and writes a plan of it back: records on operations, encodings on values."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.diagnostics import TileError
from tilewright.dialects.entry import PARAMETER_ATTRIBUTE, argument_attributes, read_entry
from tilewright.dialects.reference import argument_names, unique_name, value_names
from tilewright.dialects.tile_layout import HomeOp
from tilewright.dialects.tile_repeat import MemberOp, PackOp, RepeatOp, SequenceType
from tilewright.instrumentation import remark, remarks_wanted
from tilewright.passes.ir.tensors import (
    PLAN,
    VALUE_NAME,
    carried_in_place,
    choice_attr,
    collected_sequence,
    dtype_of,
    machine_of,
    operator_of,
    placement,
    tensor_of,
    with_encoding,
    written_record,
)
from tilewright.planning.graph import (
    Carried,
    Collected,
    Graph,
    GraphValue,
    Node,
    OperatorNode,
    Origin,
    Passed,
    Placement,
    ReadNode,
    RepeatNode,
    SequenceNode,
)
from tilewright.planning.operators import Choice, read_choice
from tilewright.planning.plan import Plan
from tilewright.planning.search.favourites import Planned

_READERS = ("tile_layout.convert", "func.return")


class GraphOfModule:
    """
    The graph of a module's entry function. Value `i` of the graph is `values[i]` of the IR; operator nodes
    are `operations` by name.
    """

    def __init__(self, module: ModuleOp) -> None:
        entry = read_entry(module)
        self.function: FuncOp = entry.func
        self.values: list[SSAValue] = []
        self.operations: dict[str, Operation] = {}
        self._number: dict[SSAValue, int] = {}
        self._described: list[GraphValue] = []
        self._names = value_names(entry.func) | argument_names(entry.func)
        self._placed = given_homes(entry.func)
        block = entry.func.body.block
        homes: set[str] = set()  # a plan names them; an input may be called as a parameter is
        arguments = tuple(self._add(a.value, unique_name(a.name, homes), a.kind) for a in entry.arguments)
        body = self._block(block, "")
        self.graph = Graph(tuple(self._described), arguments, body)

    # -- reading

    def _add(self, value: SSAValue, name: str, origin: Origin) -> int:
        self._number[value] = len(self.values)
        self.values.append(value)
        if isinstance(value.type, (TensorType, SequenceType)):
            tensor = tensor_of(value)
            counts = value.type.counts if isinstance(value.type, SequenceType) else ()
            where = self._placed.get(value) or placement(value)
            described = GraphValue(
                name, tuple(tensor.get_shape()), dtype_of(tensor.element_type), counts, origin, where
            )
        else:
            described = GraphValue(name, (), str(value.type), (), "foreign")
        self._described.append(described)
        return self._number[value]

    def _of(self, value: SSAValue) -> int:
        """The number of an operand; what no operation of ours makes is added when it is first read."""
        if value not in self._number:
            return self._add(value, value.name_hint or "", _origin(value))
        return self._number[value]

    def _operands(self, op: Operation) -> tuple[int, ...]:
        return tuple(self._of(v) for v in op.operands)

    def _results(self, op: Operation) -> tuple[int, ...]:
        name = self._names.get(op.results[0], op.results[0].name_hint or "") if op.results else ""
        return tuple(self._add(v, name, "result") for v in op.results)

    def _block(self, block: Block, prefix: str) -> tuple[Node, ...]:
        nodes: list[Node] = []
        for op in block.ops:
            if isinstance(op, RepeatOp):
                nodes.append(self._repeat(op, prefix))
            elif isinstance(op, (PackOp, MemberOp)):
                operands = self._operands(op)
                nodes.append(SequenceNode(operands, self._results(op), op.location))
            elif op.name in _READERS:
                nodes.append(ReadNode(self._operands(op), op.location))
            elif op.name.startswith("tile_tensor.") and op.name != "tile_tensor.constant":
                name = self._names[op.results[0]]
                self.operations[name] = op
                operands = self._operands(op)
                nodes.append(
                    OperatorNode(
                        name, operator_of(op), operands, self._results(op), written_record(op), op.location
                    )
                )
        return tuple(nodes)

    def _repeat(self, op: RepeatOp, prefix: str) -> RepeatNode:
        block, label = op.body_block, f"{prefix}{op.repeat_name.data}."
        outer = self._operands(op)
        inner = tuple(self._add(a, self._names[a], "argument") for a in block.args)
        body = self._block(block, label)
        yielded = self._operands(op.yield_op)
        results = self._results(op)
        n, m = len(op.carried_args), len(op.carried_args) + len(op.invariant_args)
        return RepeatNode(
            op.repeat_name.data,
            op.iterations,
            tuple(
                Carried(outer[i], inner[i], yielded[i], results[i], carried_in_place(op, i)) for i in range(n)
            ),
            tuple(Passed(outer[i], inner[i]) for i in range(n, m)),
            tuple(Passed(outer[i], inner[i]) for i in range(m, len(inner))),
            tuple(
                Collected(yielded[i], results[i], collected_sequence(op, i - n))
                for i in range(n, len(results))
            ),
            body,
            op.location,
        )

    def planned(self) -> Planned:
        """What is decided in the IR already: the plan of a module that was planned."""
        choices: dict[str, Choice] = {}
        for node in self.graph.nodes():
            if isinstance(node, OperatorNode) and node.given is not None:
                choices[node.name] = read_choice(node.operator, node.given, node.where)
        placements = {i: v.placement for i, v in enumerate(self.graph.values) if v.placement is not None}
        return Planned(choices, placements)

    # -- writing

    def write(self, planned: Planned) -> None:
        """Write the records, names and encodings into the IR."""
        for name, op in self.operations.items():
            op.attributes[VALUE_NAME] = StringAttr(name)
            if name in planned.choices:
                op.attributes[PLAN] = choice_attr(planned.choices[name])
                if remarks_wanted():
                    chosen = planned.choices[name].to_json()
                    shown = " ".join(f"{key}={value}" for key, value in chosen.items())
                    remark("choice", f"`{name}`: {shown}", op, **chosen)
        for i, (layout, view) in sorted(planned.placements.items()):
            value = self.values[i]
            self.values[i] = Rewriter.replace_value_with_new_type(
                value, with_encoding(value.type, layout, view)
            )
        self.function.update_function_type()


def plan_of(module: ModuleOp) -> Plan:
    """The whole plan of a module that was planned."""
    program = GraphOfModule(module)
    return program.planned().plan(program.graph, machine_of(module, None).reference)


def _origin(value: SSAValue) -> Origin:
    owner = value.owner
    return "constant" if isinstance(owner, Operation) and owner.name == "tile_tensor.constant" else "foreign"


def given_homes(function: FuncOp) -> dict[SSAValue, Placement]:
    """What the `tile_layout.home` operations of the program say about where their operands are."""
    found: dict[SSAValue, Placement] = {}
    for op in function.body.walk():
        where = placement(op.results[0]) if isinstance(op, HomeOp) else None
        if where is None:
            continue
        for value in home_chain(op.operands[0]):
            if found.get(value, placement(value)) not in (None, where):
                raise TileError("the operand of a home has another layout already", location=op.location)
            found[value] = where
    return found


def home_chain(value: SSAValue) -> list[SSAValue]:
    """The value and what it is outside of the repeats that pass it in, the outermost last."""
    chain = [value]
    while isinstance(chain[-1], BlockArgument) and isinstance(
        parent := chain[-1].block.parent_op(), RepeatOp
    ):
        chain.append(parent.operands[chain[-1].index])
    return chain


def is_parameter(value: SSAValue) -> bool:
    """Whether a value is an argument of a function that persists between runs."""
    function = value.block.parent_op() if isinstance(value, BlockArgument) else None
    return (
        isinstance(function, FuncOp)
        and isinstance(value, BlockArgument)
        and PARAMETER_ATTRIBUTE in argument_attributes(function.arg_attrs, value.index)
    )
