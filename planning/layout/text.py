# SPDX-License-Identifier: Apache-2.0
"""Layouts as text: what `str(layout)` prints and `Layout.parse` reads. The grammar is layout.lark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from lark import Token, Tree

from tilewright.planning.layout.axis import Axis, Split, natural_order
from tilewright.planning.layout.view import LETTERS, axis_letter, parse_tree

if TYPE_CHECKING:
    from tilewright.planning.layout import Layout

Memory = Literal["any", "standard", "interleaved"]
"""The class of SRAM that a shard needs."""
Order = tuple[tuple[int, int], ...]
Fields = tuple[tuple[Axis, ...], Order, tuple[tuple[int, int], ...], int, int, Memory, "int | None"]
"""The fields of a layout in their order."""


def order_text(axes: Sequence[Axis], order: Sequence[tuple[int, int]]) -> str:
    """An order of digits, such as `b0.a.b1`."""

    def digit(a: int, level: int) -> str:
        letter = axis_letter(a) if 0 <= a < len(LETTERS) else f"?{a}"
        single = a < len(axes) and axes[a].levels == 1 and level == 0
        return letter if single else f"{letter}{level}"

    return ".".join(digit(a, level) for a, level in order)


def layout_text(layout: Layout) -> str:
    """The text of a layout; parts that have their default are left out."""
    words = ["[" + ", ".join(map(str, layout.axes)) + "]"]
    if layout.order != natural_order(layout.axes):
        words.append(order_text(layout.axes, layout.order))
    words += [f"*{n}@{stride}" for n, stride in layout.replicas]
    if layout.base:
        words.append(f"+{layout.base}")
    if layout.tiles:
        words.append(f"%{layout.tiles}")
    if layout.memory != "any":
        words.append(layout.memory)
    if layout.chunk is not None:
        words.append(f"chunk {layout.chunk}")
    return " ".join(words)


def read_layout(text: str) -> Fields:
    """The fields of the layout that `text` stands for; LayoutError with the column that makes no sense."""
    axes: list[Axis] = []
    order: tuple[tuple[int, int], ...] | None = None
    replicas: list[tuple[int, int]] = []
    numbers: dict[str, int] = {}
    memory: Memory = "any"
    for node in parse_tree(text, "layout").children:
        if not isinstance(node, Tree):
            memory = "standard" if str(node) == "standard" else "interleaved"
        elif node.data == "axis":
            axes.append(_parse_axis(node))
        elif node.data == "order":
            order = tuple((LETTERS.index(str(d)[0]), int(str(d)[1:] or 0)) for d in node.children)
        elif node.data == "replica":
            n, stride = _ints(node)
            replicas.append((n, stride))
        else:
            (numbers[str(node.data)],) = _ints(node)
    return (
        tuple(axes),
        natural_order(axes) if order is None else order,
        tuple(replicas),
        numbers.get("base", 0),
        numbers.get("wrap", 0),
        memory,
        numbers.get("chunk"),
    )


def _ints(node: Tree[Token]) -> list[int]:
    return [int(str(t)) for t in node.children]


def _parse_axis(node: Tree[Token]) -> Axis:
    splits: list[Split] = []
    panels: list[int] = []
    for child in node.children[1:]:
        assert isinstance(child, Tree)
        if child.data == "split":
            splits.append(Split(*_ints(child)))
        else:
            panels += _ints(child)
    return Axis(int(str(node.children[0])), tuple(splits), tuple(panels))
