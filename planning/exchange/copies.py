# SPDX-License-Identifier: Apache-2.0
"""
How bytes get from one layout to another when the two cut words: the choice that lowering makes, open to
questions before.

The fabric moves words of 4 bytes. Where source and destination keep whole words together, spans move as they
are. Where they do not, one side is rearranged by a local copy, in this order of preference: at the source, so
that words stay whole on the way; at the destination, in an order that words survive; or each element travels
in a word of its own (widen, exchange, narrow). `Builder._move_into` builds what `choose_move` says; home
selection asks `refusal` before it places anything.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Literal

import numpy as np

from tilewright.machine.dtypes import itemsize
from tilewright.planning.exchange.geometry import Transfers, moves_whole_words
from tilewright.planning.layout import Axis, Layout, Split, View
from tilewright.planning.stages import cached_transfers

Kind = Literal["local", "words", "pack", "unpack", "widen"]

Source = tuple[Layout, View, View]
"""A layout, the view of the value in it, and the view of the value in the destination."""

COPY_GRAIN = 2
"""Bytes that a copy kernel can move on its own: halves of a word are merged by 16-bit loads, single bytes are
not (they need a permutation per word, 20 cycles a byte by the registry). A home that needs less is
refused."""


@dataclass(frozen=True)
class MoveChoice:
    """
    How one destination buffer is filled.

    kind: "words" exchange only, "local" a copy on each tile, "pack"/"unpack" a copy before/after the exchange
    through `through`, "widen" one element a word. grain: the largest power of two up to 4 bytes that divides
    every offset and size of the spans. span: bytes of the shortest span, or 4 where spans are whole words.
    """

    kind: Kind
    grain: int
    span: int
    through: Layout | None = None

    @property
    def encodable(self) -> bool:
        """Whether copy kernels can do their part without permuting single bytes."""
        return self.grain >= COPY_GRAIN


def choose_move(sources: Sequence[Source], target: Layout, dtype: str, *, exact: bool = False) -> MoveChoice:
    """
    The way from `sources` (parts of one value) into `target`, all of one element type.

    `exact`: what no source writes is to be left alone. A local copy walks the storage axes of whole shards,
    whatever the views say, so then it is only chosen where the view covers them.
    """
    return _choose_move(tuple(sources), target, itemsize(dtype), exact)


@lru_cache(maxsize=4096)
def _choose_move(sources: tuple[Source, ...], target: Layout, size: int, exact: bool) -> MoveChoice:
    """`choose_move`, remembered: planning and lowering ask for the same moves, and a choice is small."""
    whole = all(_whole_words(layout, view, target, into, size) for layout, view, into in sources)
    grain, span = 4, 4
    if not whole:
        spans = [_spans_of_one_copy(layout, view, target, into, size) for layout, view, into in sources]
        grain = min((_grain(t) for t in spans), default=4)
        span = min((int(t.nbytes.min(initial=1 << 30)) for t in spans), default=0)
    if len(sources) == 1 and is_local(sources[0], target) and (not exact or covers([sources[0][2]], target)):
        return MoveChoice("local", grain, span)
    if whole:
        return MoveChoice("words", grain, span)
    if len(sources) == 1:
        layout, view, into = sources[0]
        for order in local_orders(layout):
            if _whole_words(order, view, target, into, size):
                return MoveChoice("pack", grain, span, order)
    for order in local_orders(target):
        if all(_whole_words(layout, view, order, into, size) for layout, view, into in sources):
            return MoveChoice("unpack", grain, span, order)
    return MoveChoice("widen", grain, span)


def _whole_words(layout: Layout, view: View, target: Layout, into: View, size: int) -> bool:
    """Whether a move is of whole words: by arithmetic where that tells, else by its spans."""
    found = moves_whole_words(layout, view, target, into, size)
    return _spans_of_one_copy(layout, view, target, into, size).whole_words if found is None else found


def _spans_of_one_copy(layout: Layout, view: View, target: Layout, into: View, size: int) -> Transfers:
    """
    What a move takes from one copy of the source to one of the target: how spans lie in words does not depend
    on copies, and where words are cut, spans are elements, of which there can be millions.
    """
    one, other = (dataclasses.replace(side, replicas=()) for side in (layout, target))
    return cached_transfers(one, view, other, into, size)


def _grain(spans: Transfers) -> int:
    bits = 4 | int(np.bitwise_or.reduce(spans.src_byte | spans.dst_byte | spans.nbytes, initial=0))
    return bits & -bits


def covers(views: Iterable[View], layout: Layout) -> bool:
    """
    Whether views that share no element reach every element of a layout's storage.

    Each must be injective, which everything that is written through is.
    """
    return sum(prod(view.shape) for view in views) == prod(layout.shape)


def is_local(source: Source, target: Layout) -> bool:
    """
    Whether every tile already holds what it needs in the same storage axes, so that a local copy will do.

    The copy writes all of the target's shards; beside the view it writes what the source has there.
    """
    have, view, into = source
    return (
        view == into
        and have.replicas == target.replicas
        and have.base == target.base
        and len(have.axes) == len(target.axes)
        and have.chunk is None
        and target.chunk is None
        and all(
            a.extent == b.extent and a.splits == b.splits for a, b in zip(have.axes, target.axes, strict=True)
        )
    )


def bounding_box(view: View, layout: Layout, size: int, tiles: int) -> tuple[View, Layout, View] | None:
    """
    The box of whole words of storage around what a view shows: its view, a layout of it in equal parts over
    all tiles, and the given view in that layout. None where a box does not move in whole words.

    `size`: bytes of an element.
    """
    if layout.chunk is not None or 0 in view.shape:
        return None
    last = list(view.offsets)
    for digits in view.digits:
        for count, axis, stride in digits:
            if axis >= 0:
                last[axis] += (count - 1) * stride
    inner, word = layout.order[-1][0], max(1, 4 // size)
    starts = [o // word * word if a == inner else o for a, o in enumerate(view.offsets)]
    ends = [
        min(-(-(n + 1) // word) * word, layout.shape[a]) if a == inner else n + 1 for a, n in enumerate(last)
    ]
    shape = tuple(end - start for start, end in zip(starts, ends, strict=True))
    box = View(shape, View.identity(shape).digits, tuple(starts))
    cut = max(range(len(shape)), key=lambda a: (shape[a], a != inner))
    grain = -(-32 // size) if cut == inner else 1
    block = -(-shape[cut] // (tiles * grain)) * grain
    axes = tuple(Axis(n, (Split(block, 1),) if a == cut else ()) for a, n in enumerate(shape))
    order = (*((a, 0) for a in range(len(shape)) if a != inner), (inner, 0))
    staged = Layout(axes, order, tiles=tiles)
    if not cached_transfers(layout, box, staged, View.identity(shape), size).whole_words:
        return None
    offsets = tuple(o - start for o, start in zip(view.offsets, starts, strict=True))
    return box, staged, View(view.shape, view.digits, offsets)


def local_orders(layout: Layout) -> list[Layout]:
    """
    The same distribution with one storage axis innermost, unpanelled: the orders a local rearrangement may
    use.
    """
    if layout.chunk is not None:
        return []
    plain = tuple(dataclasses.replace(axis, panels=()) for axis in layout.axes)
    result: list[Layout] = []
    for inner in reversed(range(len(plain))):
        order = (*((i, 0) for i in range(len(plain)) if i != inner), (inner, 0))
        result.append(dataclasses.replace(layout, axes=plain, order=order))
    return result


def refusal(buffer: str, have: Layout, view: View, want: Layout, want_view: View, dtype: str) -> str | None:
    """
    Why a home in layout `have` cannot be materialised in `want`, or None if it can.

    Names the buffer, the shortest span and both element orders; decided by `choose_move`, before anything is
    placed.
    """
    if have == want and view == want_view:
        return None
    if not have.replicas:  # all copies of the destination are filled alike: one tells
        want = dataclasses.replace(want, replicas=())
    choice = choose_move([(have, view, want_view)], want, dtype)
    if choice.encodable and not (choice.kind == "widen" and have.chunk is not None):
        return None
    why = (
        f"no copy kernel moves less than {COPY_GRAIN} bytes"
        if not choice.encodable
        else "a linear home has no local rearrangement"
    )
    span = f"{choice.span} byte{'s' if choice.span != 1 else ''}"
    return f"{buffer}: spans of {span} of {dtype} from order '{have}' to order '{want}': {why}"
