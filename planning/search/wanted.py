# SPDX-License-Identifier: Apache-2.0
"""
Where a value that is updated in place is best kept: as those want it who read it, seen through updates,
slices and views. A cache of keys and values lies in the panels of attention from the start, so that a new row
is all that moves.
"""

from __future__ import annotations

import dataclasses

from tilewright.machine import Machine
from tilewright.planning.graph import Graph, OperatorNode, RepeatNode
from tilewright.planning.layout import Axis, View
from tilewright.planning.operators import attention
from tilewright.planning.operators.targets import Target

LONGEST = 16
"""Operations that are looked through."""


def wanted(graph: Graph, value: int, machine: Machine, left: int = LONGEST) -> Target | None:
    """Where the reader of a value that is updated wants it; None if there is no such reader."""
    if not left:
        return None
    for use in graph.uses.get(value, ()):
        node = use.node
        found: Target | None = None
        if isinstance(node, RepeatNode):
            arguments = (*node.carried, *node.invariant, *node.iterated)
            found = wanted(graph, arguments[use.index].argument, machine, left - 1)
        elif isinstance(node, OperatorNode):
            found = _by(graph, node, use.index, machine, left)
        if found is not None:
            return found
    return None


def is_updated(graph: Graph, value: int, left: int = LONGEST) -> bool:
    """Whether a value, or what a repeat makes of it, is the operand of a dynamic update."""
    for use in graph.uses.get(value, ()):
        node = use.node
        if isinstance(node, RepeatNode) and left:
            arguments = (*node.carried, *node.invariant, *node.iterated)
            if is_updated(graph, arguments[use.index].argument, left - 1):
                return True
        elif isinstance(node, OperatorNode) and node.operator.name == "dynamic_update_slice":
            if use.index == 0:
                return True
    return False


def _by(graph: Graph, node: OperatorNode, index: int, machine: Machine, left: int) -> Target | None:
    operator = node.operator
    shape = operator.operand_types[index][0]
    if operator.name == "attention" and index in (1, 2):
        return attention.still_targets(operator, machine)[index - 1]
    if operator.name == "dynamic_update_slice" and index == 0:
        return wanted(graph, node.results[0], machine, left - 1)
    if operator.name not in ("transpose", "reshape", "dynamic_slice") or index:
        return None
    found = wanted(graph, node.results[0], machine, left - 1)
    if found is None:
        return None
    layout, view = found
    if operator.name == "transpose":
        permutation = operator.attributes["permutation"]
        back = view.transpose([permutation.index(axis) for axis in range(len(permutation))])
        return layout, back
    if operator.name == "reshape":
        reshaped = view.reshape(shape)
        return None if reshaped is None else (layout, reshaped)
    # an axis of which one element is read gets a storage axis in front
    for axis, (extent, read) in enumerate(zip(shape, view.shape, strict=True)):
        if extent == read:
            continue
        if read != 1:
            return None
        count = len(layout.axes)
        layout = dataclasses.replace(
            layout,
            axes=(*layout.axes, Axis(extent)),
            order=((count, 0), *layout.order),
        )
        digits = (*view.digits[:axis], ((extent, count, 1),), *view.digits[axis + 1 :])
        view = View((*view.shape[:axis], extent, *view.shape[axis + 1 :]), digits, (*view.offsets, 0))
    return layout, view
