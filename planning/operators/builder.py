# SPDX-License-Identifier: Apache-2.0
"""
The builder of an expansion: buffers, kernel calls, and the conversions that bring tensors into the layouts
wanted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.planning.exchange.copies import bounding_box, choose_move, covers
from tilewright.planning.layout import Layout, View
from tilewright.planning.layout.padding import pad_region, panel_padding
from tilewright.planning.operators.base import Operator
from tilewright.planning.operators.targets import WORD, Target, identity
from tilewright.planning.stages import (
    Buffer,
    ComputeStage,
    ExchangeStage,
    KernelOperand,
    Move,
    Scalar,
    Stage,
    Stages,
    Value,
    cached_transfers,
)

ARRIVED = ".arrived"
"""Behind the name of a buffer: what arrives for it and is copied into it then."""


@dataclass
class Builder:
    """Collects buffers and stages of one expansion."""

    operator: Operator
    operands: tuple[Value, ...]
    machine: Machine
    buffers: dict[str, Buffer] = field(default_factory=dict)
    stages: list[Stage] = field(default_factory=list)

    def add_buffer(self, name: str, layout: Layout, dtype: str, category: str = "staging") -> str:
        base, n = name, 1
        while name in self.buffers:
            n += 1
            name = f"{base}{n}"
        self.buffers[name] = Buffer(layout, dtype, category)
        return name

    def get(self, name: str) -> Buffer:
        if name.startswith("in") and name[2:].isdigit():
            return self.operands[int(name[2:])].buffer
        return self.buffers[name]

    def compute(
        self,
        kernel: str,
        axes: str | Sequence[str],
        ins: Sequence[tuple[str, Mapping[str, int]]],
        outs: Sequence[tuple[str, Mapping[str, int]]],
        reason: str,
        **scalars: Scalar,
    ) -> None:
        """
        Add a kernel call; each operand is (buffer, {kernel axis: storage axis or -1}) in the kernel's axis
        order.
        """
        names = tuple(axes)
        operands = [(KernelOperand(buffer, tuple(m.values())), tuple(m)) for buffer, m in (*ins, *outs)]
        self.stages.append(
            ComputeStage(
                kernel,
                names,
                tuple(op for op, _ in operands[: len(ins)]),
                tuple(op for op, _ in operands[len(ins) :]),
                tuple(m for _, m in operands),
                tuple(sorted(scalars.items())),
                reason,
            )
        )

    def fill(self, name: str, reason: str, word: int = 0) -> None:
        """Write every word of a buffer's shards."""
        op = KernelOperand(name, (), flat=True)
        self.stages.append(ComputeStage("fill", ("n",), (), (op,), (("n",),), (("value", word),), reason))

    def fill_padding(
        self,
        name: str,
        reason: str,
        words: Mapping[int, int] | None = None,
        only: Sequence[int] | None = None,
    ) -> None:
        """
        Write zero, or the word in `words`, behind the last valid index of every panelled axis of a buffer, or
        of those in `only`.
        """
        buffer = self.get(name)
        size = itemsize(buffer.dtype)
        axes = tuple(a for a in panel_padding(buffer.layout) if only is None or a in only)
        if any(pad_region(buffer.layout, axis, size, self.machine.tiles) is None for axis in axes):
            self.fill(name, reason)
            axes = tuple(axis for axis in axes if axis in (words or {}))
        names = tuple(f"x{i}" for i in range(len(buffer.layout.axes)))
        for axis in axes:
            op = KernelOperand(name, (axis,), pad=True)
            value = (words or {}).get(axis, 0)
            self.stages.append(
                ComputeStage("fill", names, (), (op,), (("pad",),), (("value", value),), reason)
            )

    def elementwise(self, kernel: str, src: str, dst: str, reason: str, **scalars: Scalar) -> None:
        """A kernel that maps one buffer to another with the same storage axes and the same splits."""
        axes = {f"x{i}": i for i in range(len(self.get(dst).layout.axes))}
        self.compute(kernel, tuple(axes), [(src, axes)], [(dst, axes)], reason, **scalars)

    def exchange(self, moves: Sequence[Move], reason: str) -> None:
        if moves:
            self.stages.append(ExchangeStage(tuple(moves), reason))

    # -- conversions

    def convert(
        self,
        sources: Sequence[tuple[str, View, Target]],
        names: Sequence[str],
        reason: str,
        zero_pad: bool = False,
        finite_lanes: Collection[str] = (),
        pad_words: Mapping[str, Mapping[int, int]] | None = None,
        loose: Collection[str] = (),
        completed: Mapping[str, int] | None = None,
        zeros: str | None = None,
    ) -> list[str]:
        """
        Bring several tensors into the layouts wanted, in one exchange phase where possible; returns the
        buffers.

        Each source is (buffer, view, (layout, view)). A source that already has what is wanted is returned as
        it is. `zero_pad`: what is no element of the tensor, behind panels or beside the view, is zero; else
        nobody reads it. `finite_lanes`: for these of `names` the sources hold nothing but finite numbers
        beside the views, which may come along in a last word that is completed. `pad_words`: for some of
        `names`, by storage axis, the word that the padding behind its panels repeats instead of zero.
        `loose`: names of results that are not padded. `completed`: for some of `names` the axis of the view
        behind which the layout has more storage: it gets the zeros that the source has there if the name is
        `zeros`, else copies of the last elements.
        """
        phase = _Phase()
        results: list[str] = []
        pads = zero_pad
        for (src, view, (layout, dst_view)), name in zip(sources, names, strict=True):
            zero_pad = pads and name not in loose
            have = self.get(src)
            lanes = not dst_view.is_bijection(layout.shape)  # storage that is no element of the tensor
            exact = zero_pad and lanes and name not in finite_lanes
            written = name == zeros  # with zeros behind it, which the host wrote
            padded = (exact and not written) or (zero_pad and bool(panel_padding(layout)))
            if have.layout == layout and view == dst_view and not padded:
                results.append(src)
                continue
            dst = self.add_buffer(name, layout, have.dtype)
            source = (src, view, dst_view)
            if completed and name in completed:
                moves = self._completed(source, dst, completed[name], zeros=written)
                if moves is not None:
                    if not self._move_into(phase, moves, dst, reason, None) and zero_pad:
                        phase.before.append(
                            (lambda d: lambda: self.fill_padding(d, f"{reason}: padding"))(dst)
                        )
                    results.append(dst)
                    continue
                exact = zero_pad
            if not exact:
                source = self._complete_words(source, dst)
                lanes = not source[2].is_bijection(layout.shape)
            filled = self._move_into(phase, [source], dst, reason, 0 if exact else None)
            words = (pad_words or {}).get(name, {})
            whole = lanes and not exact
            if whole:
                phase.before.append((lambda d: lambda: self.fill(d, f"{reason}: zero padding"))(dst))
            if (zero_pad and not whole and not filled) or words:
                only = tuple(words) if whole or filled else None
                phase.before.append(
                    (lambda d, w, o: lambda: self.fill_padding(d, f"{reason}: padding", w, o))(
                        dst, words, only
                    )
                )
            results.append(dst)
        self._finish(phase, reason)
        return results

    def gather_into(
        self, sources: Sequence[tuple[str, View, View]], dst: str, reason: str, rest: int | None = None
    ) -> None:
        """
        Move several tensors into parts of one existing buffer (concatenation, padding).

        `rest`: the word of 4 bytes that repeats the element which the parts that no source writes are to
        hold; None: nobody reads them, they may hold anything.
        """
        self.gather_each([(sources, dst)], reason, rest)

    def gather_each(
        self,
        wanted: Sequence[tuple[Sequence[tuple[str, View, View]], str]],
        reason: str,
        rest: int | None = None,
    ) -> None:
        """`gather_into` for several buffers in one exchange phase."""
        phase = _Phase()
        for sources, dst in wanted:
            self._move_into(phase, sources, dst, reason, rest)
        self._finish(phase, reason)

    def _finish(self, phase: _Phase, reason: str) -> None:
        for step in phase.before:
            step()
        self.exchange(phase.moves, reason)
        for step in phase.after:
            step()

    def _move_into(
        self,
        phase: _Phase,
        sources: Sequence[tuple[str, View, View]],
        dst: str,
        reason: str,
        rest: int | None,
    ) -> bool:
        """
        Plan the moves into `dst`: spans of whole words as they are, finer permutations through a local
        rearrangement.

        The fabric moves words of 4 bytes. Where the two layouts cut words, in this order: rearrange at the
        source so that words stay whole; receive in an order that keeps words whole and rearrange at the
        destination; or carry each element in a word of its own (widen, exchange, narrow), which always works.
        What walks whole shards (a local copy, a word that is completed) also writes what no source writes: it
        is left out where that is to hold `rest` (see `gather_into`), and `rest` is laid in the buffer that
        the moves arrive in. Returns whether all of `dst` is filled with it, the padding of panels included.
        """
        target = self.get(dst)
        if rest is None and len(sources) == 1:
            sources = [self._complete_words(sources[0], dst)]
        choice = choose_move(
            [(self.get(s).layout, v, d) for s, v, d in sources],
            target.layout,
            target.dtype,
            exact=rest is not None,
        )
        if choice.kind == "local":
            src = sources[0][0]
            phase.after.append(
                lambda: self.elementwise(
                    "copy", src, dst, f"{reason}: reorder", run_bytes=self._run_bytes(src, dst)
                )
            )
            return False
        if choice.kind == "pack" and (source := self._compact(phase, sources[0], 1, reason)) is not None:
            return self._move_into(phase, [source], dst, reason, rest)
        covered = covers((d for _, _, d in sources), target.layout)
        word = rest if choice.kind in ("words", "pack") and not covered else None
        filled = word is not None
        if word is not None:
            phase.before.append(lambda: self.fill(dst, f"{reason}: what no source writes", word))
        if choice.kind == "words":
            phase.moves += [Move(s, v, dst, d) for s, v, d in sources]
            return filled
        if choice.kind == "pack":
            ((src, view, dst_view),) = sources
            assert choice.through is not None
            tmp = self.add_buffer(f"{dst}.packed", choice.through, target.dtype)
            phase.before.append(
                lambda: self.elementwise(
                    "copy", src, tmp, f"{reason}: pack words at the source", run_bytes=itemsize(target.dtype)
                )
            )
            phase.moves.append(Move(tmp, view, dst, dst_view))
            return filled
        # What arrives elsewhere is copied whole into `dst`: all of it has to be defined.
        if choice.kind == "unpack":
            assert choice.through is not None
            tmp = self.add_buffer(f"{dst}{ARRIVED}", choice.through, target.dtype)
            if not covered:
                phase.before.append(lambda: self.fill(tmp, f"{reason}: what no source writes", rest or 0))
            phase.moves += [Move(s, v, tmp, d) for s, v, d in sources]
            phase.after.append(lambda: self._unpack("copy", tmp, dst, reason))
            return False
        if itemsize(target.dtype) == 4:
            raise self.operator.error(
                "a 4-byte conversion does not move whole words", hint="this is a fault of the planner"
            )
        wide = self.add_buffer(f"{dst}.wide", target.layout, "u32")
        if not covered:
            element = (rest or 0) & ((1 << 8 * itemsize(target.dtype)) - 1)
            phase.before.append(lambda: self.fill(wide, f"{reason}: what no source writes", element))
        self._widen_into(phase, sources, wide, reason)
        phase.after.append(lambda: self._unpack("narrow", wide, dst, reason))
        return False

    def _widen_into(
        self, phase: _Phase, sources: Sequence[tuple[str, View, View]], wide: str, reason: str
    ) -> None:
        """
        Plan the moves of elements that travel in a word of their own.

        A widened shard takes a multiple of its source's, of which a piece may be little: pieces of one buffer
        share it, small pieces of large shards are brought together first, and what still takes much memory
        travels in several phases.
        """
        ratio = 4 // itemsize(self.get(sources[0][0]).dtype)
        compact = [self._compact(phase, source, ratio, reason) or source for source in sources]
        groups: dict[object, list[tuple[str, View, View]]] = {}
        for source in compact:
            groups.setdefault(self._storage(source[0]), []).append(source)
        batches: list[list[list[tuple[str, View, View]]]] = [[]]
        room = 0
        for group in groups.values():
            size = self.get(group[0][0]).bytes * ratio
            if batches[-1] and room + size > self.staging_bytes:
                batches.append([])
                room = 0
            batches[-1].append(group)
            room += size
        for batch in batches:
            moves: list[Move] = []
            for group in batch:
                src = group[0][0]
                words = self.add_buffer(f"{wide.removesuffix('.wide')}.words", self.get(src).layout, "u32")
                phase.before.append(
                    (lambda s, t: lambda: self.elementwise("widen", s, t, f"{reason}: one element a word"))(
                        src, words
                    )
                )
                moves += [Move(words, view, wide, dst_view) for _, view, dst_view in group]
            if batch is batches[-1]:
                phase.moves += moves
            else:
                phase.before.append((lambda m: lambda: self.exchange(m, f"{reason}: a part"))(moves))

    @property
    def staging_bytes(self) -> int:
        """Bytes of a tile that rearranged copies of sources may take in one phase before memory is saved."""
        return self.machine.sram_bytes // 16

    def _storage(self, name: str) -> object:
        """What two names of one buffer have in common."""
        operand = name.startswith("in") and name[2:].isdigit()
        found = self.operands[int(name[2:])].storage if operand else None
        return name if found is None else found

    def _compact(
        self, phase: _Phase, source: tuple[str, View, View], ratio: int, reason: str
    ) -> tuple[str, View, View] | None:
        """
        A move from the box of storage around a piece instead of from the shards that the piece lies in, which
        would be copied whole (`ratio` times as large); None where that saves little.

        The box is brought to all tiles, in whole words, by an exchange before the phase.
        """
        src, view, dst_view = source
        have = self.get(src)
        if have.bytes * ratio <= self.staging_bytes:
            return None
        found = bounding_box(view, have.layout, itemsize(have.dtype), self.machine.tiles)
        if found is None:
            return None
        box, staged, inner = found
        if staged.shard_bytes(itemsize(have.dtype)) * 4 > have.bytes:
            return None
        name = self.add_buffer(f"{src}.piece", staged, have.dtype)
        phase.before.append(
            lambda: self.exchange(
                [Move(src, box, name, View.identity(box.shape))], f"{reason}: the words around a piece"
            )
        )
        return name, inner, dst_view

    def _complete_words(self, source: tuple[str, View, View], dst: str) -> tuple[str, View, View]:
        """
        The move with the lanes behind its last word's elements, if that lets it go as it is; else the move as
        given.
        """
        target = self.get(dst)

        def kind(move: tuple[str, View, View]) -> str:
            return choose_move([(self.get(move[0]).layout, *move[1:])], target.layout, target.dtype).kind

        if kind(source) in ("words", "local"):
            return source
        src, view, dst_view = source
        have = self.get(src)
        longer = (src, *with_lanes(view, have.layout, dst_view, target.layout, itemsize(have.dtype)))
        return longer if longer != source and kind(longer) == "words" else source

    def _completed(
        self, source: tuple[str, View, View], dst: str, axis: int, *, zeros: bool
    ) -> list[tuple[str, View, View]] | None:
        """
        The moves that also write what the target has behind an axis: one that is longer, with the zeros of
        the source, or a second one of copies of the last elements. None where that cannot be said by views.
        """
        src, view, dst_view = source
        have, target = self.get(src), self.get(dst)
        extent = view.shape[axis]
        storage = dst_view.digits[axis][0][1] if len(dst_view.digits[axis]) == 1 else -1
        full = target.layout.axes[storage].extent if storage >= 0 else 0
        longer = _extended(dst_view, axis, full, target.layout)
        if longer is None:
            return None
        if zeros:
            other = _extended(view, axis, full, have.layout)
            return None if other is None else [(src, other, longer)]
        starts = [0] * len(view.shape)
        sizes = [*view.shape[:axis], full - extent, *view.shape[axis + 1 :]]
        ends = [*starts[:axis], extent, *starts[axis + 1 :]]
        last = view.slice([*starts[:axis], 2 * extent - full, *starts[axis + 1 :]], sizes)
        behind = longer.slice(ends, sizes)
        return None if last is None or behind is None else [source, (src, last, behind)]

    def _unpack(self, kernel: str, src: str, dst: str, reason: str) -> None:
        self.elementwise(
            kernel,
            src,
            dst,
            f"{reason}: unpack words at the destination",
            run_bytes=itemsize(self.get(dst).dtype),
        )

    def _run_bytes(self, src: str, dst: str) -> int:
        """Bytes that are contiguous on both sides of a local copy (what decides the copy kernel's speed)."""
        a, b = self.get(src), self.get(dst)
        size = itemsize(a.dtype)
        spans = cached_transfers(a.layout, identity(a.layout), b.layout, identity(b.layout), size)
        return int(spans.nbytes.min(initial=8)) if spans.whole_words else size

    def finish(self, *results: tuple[str, View]) -> Stages:
        return Stages(self.operands, self.buffers, tuple(self.stages), results)


@dataclass
class _Phase:
    before: list[Any] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    after: list[Any] = field(default_factory=list)


def with_lanes(view: View, layout: Layout, other_view: View, other: Layout, size: int) -> tuple[View, View]:
    """
    Two views of one shape, of a move or an operand, with the last word of an axis, or of each of its equal
    groups, completed by lanes where both layouts have them behind it; as given where they do not. `size`:
    bytes of an element.
    """
    word = WORD // size if size < WORD else 1
    for axis in range(len(view.shape)):
        rooms = _room(view, axis, layout), _room(other_view, axis, other)
        group, full = rooms[0][0], min(room for _, room in rooms) // word * word
        if group % word == 0 or full <= group or rooms[1][0] != group:
            continue
        return _lengthen(view, axis, full), _lengthen(other_view, axis, full)
    return view, other_view


def _room(view: View, axis: int, layout: Layout) -> tuple[int, int]:
    """
    The elements of a logical axis that follow each other in storage, and those with the lanes behind them
    that complete a word.
    """
    group, room = view.run(axis, layout.shape)
    return group, room if 0 < room - group < WORD else group


def _lengthen(view: View, axis: int, group: int) -> View:
    """The view with the innermost digit of a logical axis made longer."""
    *outer, (before, storage, stride) = view.digits[axis]
    shape = (*view.shape[:axis], view.shape[axis] // before * group, *view.shape[axis + 1 :])
    digits = (*outer, (group, storage, stride))
    return View(shape, (*view.digits[:axis], digits, *view.digits[axis + 1 :]), view.offsets)


def _extended(view: View, axis: int, extent: int, layout: Layout) -> View | None:
    """
    The view with one logical axis made longer, if that axis is all of a plain storage axis with room behind.
    """
    digits = view.digits[axis]
    if len(digits) != 1 or digits[0][2] != 1 or digits[0][1] < 0:
        return None
    storage = digits[0][1]
    users = [d for ds in view.digits for d in ds if d[1] == storage]
    if len(users) != 1 or view.offsets[storage] + extent != layout.axes[storage].extent:
        return None
    return _lengthen(view, axis, extent)
