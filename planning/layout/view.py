# SPDX-License-Identifier: Apache-2.0
"""
Views: how the logical index of a value finds its element among the storage axes of a layout.

A view cuts each logical index into mixed-radix digits and adds digit * stride to one storage axis per digit,
on top of an offset per storage axis. Transposes, slices, splits and merges of axes that lie together in
storage, gaps (72 columns kept as 3 x 24 of 32) and broadcasts are all of this form, so they cost the machine
nothing. What is not of this form is answered with None, and the caller inserts a conversion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import prod
from pathlib import Path

import numpy as np
from lark import Lark, LarkError, Token, Tree, UnexpectedToken

from tilewright.diagnostics import TileError

Digit = tuple[int, int, int]  # (size, storage axis or -1, stride on it in elements of that axis)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class LayoutError(TileError):
    """A layout or view that is malformed, or asked for something that it does not have."""


@cache
def _grammar() -> Lark:
    source = Path(__file__).with_name("layout.lark").read_text(encoding="utf-8")
    return Lark(source, parser="lalr", start=["layout", "view"])


def parse_tree(text: str, start: str) -> Tree[Token]:
    """
    The lark tree of `text`, which is a "layout" or a "view"; LayoutError with the column where it stops
    making sense.
    """
    try:
        return _grammar().parse(text, start=start)
    except LarkError as error:
        column = getattr(error, "column", None)
        ended = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        at = (
            ""
            if not isinstance(column, int)
            else " (it stops too early)"
            if ended
            else f" at column {column}"
        )
        example = (
            "[16b*72, 729a, 72b]" if start == "view" else "[729/146@48, 1152/288@240|32] b0.a.b1 +3 %1472"
        )
        raise LayoutError(
            f"{text!r} is not a {start}{at}",
            hint=f"a {start} reads like '{example}'",
        ) from None


def axis_letter(axis: int) -> str:
    """The name of a storage axis in text: a, b, c, ..."""
    return LETTERS[axis]


def _merge(digits: Iterable[Digit]) -> list[Digit]:
    """
    Drop digits of size one and join neighbours that count on: the normal form of a digit sequence (outer to
    inner).
    """
    out: list[Digit] = []
    for size, axis, stride in digits:
        if size == 1:
            continue
        if axis < 0 or stride == 0:
            axis, stride = -1, 0
        if out and out[-1][1] == axis and out[-1][2] == size * stride:
            size *= out.pop()[0]
        out.append((size, axis, stride))
    return out


def _cut(digits: Sequence[Digit], shape: Sequence[int]) -> tuple[tuple[Digit, ...], ...] | None:
    """
    Distribute a digit sequence (outer to inner) over axes of `shape`, splitting digits where sizes divide;
    None if not.
    """
    rest = list(digits)
    out: list[tuple[Digit, ...]] = []
    for wanted in reversed(shape):
        taken: list[Digit] = []
        while wanted > 1:
            if not rest:
                return None
            size, axis, stride = rest.pop()
            if wanted % size == 0:
                taken.append((size, axis, stride))
                wanted //= size
            elif size % wanted == 0:
                taken.append((wanted, axis, stride))
                rest.append((size // wanted, axis, stride * wanted))
                wanted = 1
            else:
                return None
        out.append(tuple(reversed(taken)))
    return None if rest else tuple(reversed(out))


def _thin(digits: Sequence[Digit], start: int, size: int, step: int, base: list[int]) -> list[Digit] | None:
    """
    `size` elements of an axis of these digits from `start` on, every `step`-th; what they begin with is added
    to the offsets `base`. None where they are not digits.
    """
    rest, kept = list(digits), []
    while rest:
        count, axis, stride = rest.pop()
        first = start % count
        start //= count
        if step % count == 0:  # one place of this digit
            step //= count
        elif first + (size - 1) * step < count:  # all of them in one place of the digits further out
            kept.insert(0, (size, axis, stride * step))
            size, step = 1, 1
        elif count % step == 0 and first < step and size % (count // step) == 0:
            kept.insert(0, (count // step, axis, stride * step))
            size //= count // step
            step = 1
        else:
            return None
        if axis >= 0:
            base[axis] += first * stride
    return kept


@dataclass(frozen=True)
class View:
    """
    Logical index -> storage index: s_a = offsets[a] + sum of digit * stride over the digits that name storage
    axis a.

    `digits[i]` cuts logical index i, outer to inner; the product of its sizes is `shape[i]`. Storage axis -1
    contributes nothing (broadcast). Digits are kept in normal form, so equal maps written with the same
    digits compare equal.
    """

    shape: tuple[int, ...]
    digits: tuple[tuple[Digit, ...], ...]
    offsets: tuple[int, ...]

    def __post_init__(self) -> None:
        shape = tuple(int(n) for n in self.shape)
        offsets = tuple(int(o) for o in self.offsets)
        if len(self.digits) != len(shape):
            raise LayoutError(
                f"a view of rank {len(shape)} needs digits for {len(shape)} axes, not {len(self.digits)}"
            )
        if len(offsets) > len(LETTERS):
            raise LayoutError(f"a view may have at most {len(LETTERS)} storage axes, not {len(offsets)}")
        if any(o < 0 for o in offsets):
            raise LayoutError(f"view offsets are not negative: {offsets}")
        normal: list[tuple[Digit, ...]] = []
        for i, (n, digits) in enumerate(zip(shape, self.digits, strict=True)):
            if any(size < 0 or stride < 0 or axis >= len(offsets) for size, axis, stride in digits):
                raise LayoutError(
                    f"view axis {i}: a digit has a negative size or stride or names a storage axis "
                    f"beyond the {len(offsets)} there are: {digits}"
                )
            if prod(size for size, _, _ in digits) != n:
                raise LayoutError(f"view axis {i}: the sizes of digits {digits} do not multiply to {n}")
            ints = ((int(size), int(axis), int(stride)) for size, axis, stride in digits)
            normal.append(((0, -1, 0),) if n == 0 else tuple(_merge(ints)))
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "digits", tuple(normal))

    @staticmethod
    def identity(shape: Sequence[int]) -> View:
        """Logical axis i is storage axis i."""
        return View(tuple(shape), tuple(((n, i, 1),) for i, n in enumerate(shape)), (0,) * len(shape))

    @property
    def rank(self) -> int:
        """Number of logical axes."""
        return len(self.shape)

    def run(self, axis: int, storage: Sequence[int]) -> tuple[int, int]:
        """
        The elements of a logical axis that follow each other along a storage axis, and how many could before
        they reach other elements of the view or the end of `storage` (extents): the rest are lanes that
        nobody looks at through this view. (1, 1) where none follow each other.
        """
        if not self.digits[axis] or self.digits[axis][-1][1] < 0 or self.digits[axis][-1][2] != 1:
            return 1, 1
        inner = self.digits[axis][-1]
        others = [d for digits in self.digits for d in digits if d[1] == inner[1]]
        others.remove(inner)
        last = self.offsets[inner[1]] + sum((n - 1) * stride for n, _, stride in others)
        return inner[0], min((storage[inner[1]] - last, *(stride for n, _, stride in others if n > 1)))

    def grouped(self, axis: int, group: int, pitch: int) -> View:
        """
        Of every `pitch` elements of a logical axis, one digit that they divide, the first `group`: the rest
        are lanes that nobody looks at through the new view.
        """
        axis %= self.rank
        ((extent, storage, stride),) = self.digits[axis]
        digits = ((extent // pitch, storage, stride * pitch), (group, storage, stride))
        shape = (*self.shape[:axis], extent // pitch * group, *self.shape[axis + 1 :])
        return View(shape, (*self.digits[:axis], digits, *self.digits[axis + 1 :]), self.offsets)

    def transpose(self, perm: Sequence[int]) -> View:
        """New axis i is old axis perm[i] (numpy's convention)."""
        if sorted(perm) != list(range(self.rank)):
            raise LayoutError(f"{tuple(perm)} is not a permutation of the {self.rank} axes of the view")
        return View(tuple(self.shape[p] for p in perm), tuple(self.digits[p] for p in perm), self.offsets)

    def slice(
        self, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int] | None = None
    ) -> View | None:
        """
        The box that starts at `offsets` and has `sizes`, every `strides`-th element of it; None where it cuts
        a merged axis unevenly.
        """
        if strides is not None and any(step != 1 for step in strides):
            return self._thinned(offsets, sizes, strides)
        if len(offsets) != self.rank or len(sizes) != self.rank:
            raise LayoutError(f"a slice of a view of rank {self.rank} needs {self.rank} offsets and sizes")
        base = list(self.offsets)
        out: list[tuple[Digit, ...]] = []
        for i, (n, start, size) in enumerate(zip(self.shape, offsets, sizes, strict=True)):
            if start < 0 or size < 0 or start + size > n:
                raise LayoutError(f"slice [{start}, {start + size}) of axis {i} is outside its {n} elements")
            digits = list(self.digits[i])
            kept: list[Digit] = []
            if size == 0:
                out.append(((0, -1, 0),))
                continue
            while digits:
                _, axis, stride = digits.pop(0)
                inner = prod(d[0] for d in digits)
                first = start // inner
                last = (start + size - 1) // inner
                if start % inner == 0 and size % inner == 0:
                    kept = [(size // inner, axis, stride), *digits]
                    digits = []
                elif first != last:
                    return None
                if axis >= 0:
                    base[axis] += first * stride
                start %= inner
            out.append(tuple(kept))
        return View(tuple(sizes), tuple(out), tuple(base))

    def _thinned(self, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]) -> View | None:
        if not len(offsets) == len(sizes) == len(strides) == self.rank:
            raise LayoutError(f"a slice of a view of rank {self.rank} needs {self.rank} offsets and sizes")
        base = list(self.offsets)
        out: list[tuple[Digit, ...]] = []
        for i, (n, start, size, step) in enumerate(zip(self.shape, offsets, sizes, strides, strict=True)):
            if step < 1:
                raise LayoutError(f"slice of axis {i} takes every {step}-th element")
            if start < 0 or size < 0 or (size and start + (size - 1) * step >= n):
                end = start + (size - 1) * step + 1
                raise LayoutError(f"slice [{start}, {end}) of axis {i} is outside its {n} elements")
            kept = [(0, -1, 0)] if size == 0 else _thin(self.digits[i], start, size, step, base)
            if kept is None:
                return None
            out.append(tuple(kept))
        return View(tuple(sizes), tuple(out), tuple(base))

    def reshape(self, new_shape: Sequence[int]) -> View | None:
        """
        The same elements in row-major order of the logical index under another shape; None if digits would
        not align.
        """
        if prod(new_shape) != prod(self.shape):
            raise LayoutError(
                f"cannot reshape {self.shape} to {tuple(new_shape)}: the number of elements differs"
            )
        if prod(new_shape) == 0:
            return View(tuple(new_shape), tuple(((n, -1, 0),) for n in new_shape), self.offsets)
        digits = _cut(_merge(d for axis in self.digits for d in axis), new_shape)
        return None if digits is None else View(tuple(new_shape), digits, self.offsets)

    def broadcast(self, new_shape: Sequence[int], dims: Sequence[int]) -> View:
        """
        Old axis j becomes new axis dims[j], repeated when its size is 1; new axes not in `dims` repeat the
        value.
        """
        if (
            len(dims) != self.rank
            or list(dims) != sorted(set(dims))
            or any(not 0 <= d < len(new_shape) for d in dims)
        ):
            raise LayoutError(
                f"broadcast dimensions {tuple(dims)} do not place {self.rank} axes in {len(new_shape)}"
            )
        out: list[tuple[Digit, ...]] = [((n, -1, 0),) for n in new_shape]
        for j, d in enumerate(dims):
            if self.shape[j] == new_shape[d]:
                out[d] = self.digits[j]
            elif self.shape[j] != 1:
                raise LayoutError(f"axis {j} of size {self.shape[j]} cannot be broadcast to {new_shape[d]}")
        return View(tuple(new_shape), tuple(out), self.offsets)

    def then(self, inner: View) -> View | None:
        """
        The view that goes through self and then through `inner`, whose logical axes are self's storage axes.
        """
        if len(self.offsets) != inner.rank:
            raise LayoutError(
                f"a view onto {len(self.offsets)} axes cannot be followed by one of rank {inner.rank}"
            )
        self.check_inside(inner.shape)
        offsets = list(inner.offsets)
        mine: list[list[tuple[int, int]]] = [
            [] for _ in inner.shape
        ]  # (size, stride) of self on each middle axis
        for digits in self.digits:
            for size, axis, stride in digits:
                if axis >= 0 and size > 1:
                    mine[axis].append((size, stride))
        pieces: list[
            list[tuple[int, int, int]]
        ] = []  # per middle axis: (weight, size, ...) of inner's digits
        for a, radix in enumerate(inner.digits):
            weight = prod(d[0] for d in radix)
            pieces.append([])
            rest = self.offsets[a]
            for size, axis, stride in radix:
                weight //= max(size, 1)
                pieces[a].append((weight, axis, stride))
                digit, rest = divmod(rest, weight) if weight else (0, 0)
                if axis >= 0:
                    offsets[axis] += digit * stride
            if len(radix) > 1 and not _carries_nothing(self.offsets[a], mine[a], [d[0] for d in radix]):
                return None
        out: list[tuple[Digit, ...]] = []
        for digits in self.digits:
            row: list[Digit] = []
            for size, axis, stride in digits:
                if axis < 0 or size <= 1:
                    row.append((size, -1, 0))
                    continue
                # Cut this digit where inner's radix boundaries lie, outermost piece first.
                left: list[Digit] = []
                for weight, target, target_stride in reversed(pieces[axis]):
                    top = min((w for w, _, _ in pieces[axis] if w > weight), default=None)
                    if size == 1 or (top is not None and stride >= top):
                        continue
                    if stride % weight:
                        return None
                    here = size if top is None or stride * size <= top else top // stride
                    if here != size and (top is None or top % stride or size % here):
                        return None
                    left.append((here, target, (stride // weight) * target_stride))
                    size //= here
                    stride *= here
                row += reversed(left)
            out.append(tuple(row))
        return View(self.shape, tuple(out), tuple(offsets))

    def storage(self, *indices: np.ndarray) -> tuple[np.ndarray, ...]:
        """Storage index arrays of logical index arrays (broadcast together), one per storage axis, int64."""
        if len(indices) != self.rank:
            raise LayoutError(
                f"a view of rank {self.rank} takes {self.rank} index arrays, not {len(indices)}"
            )
        wide = np.broadcast_arrays(*indices) if indices else []
        shape = wide[0].shape if wide else ()
        out = [np.full(shape, o, np.int64) for o in self.offsets]
        for index, digits in zip(wide, self.digits, strict=True):
            rest = index.astype(np.int64)
            for size, axis, stride in reversed(digits):
                if axis >= 0:
                    out[axis] = out[axis] + (rest % size) * stride
                rest = rest // max(size, 1)
        return tuple(out)

    def check_inside(self, storage_shape: Sequence[int]) -> None:
        """LayoutError unless every logical element lies inside storage axes of `storage_shape`."""
        if len(storage_shape) != len(self.offsets):
            raise LayoutError(
                f"view '{self}' is onto {len(self.offsets)} storage axes, the layout has {len(storage_shape)}"
            )
        if 0 in self.shape:
            return
        last = list(self.offsets)
        for digits in self.digits:
            for size, axis, stride in digits:
                if axis >= 0:
                    last[axis] += (size - 1) * stride
        for a, (reach, extent) in enumerate(zip(last, storage_shape, strict=True)):
            if reach >= extent:
                raise LayoutError(
                    f"view '{self}' reaches index {reach} of storage axis {axis_letter(a)}, "
                    f"which has {extent} elements"
                )

    def is_injective(self) -> bool:
        """No two logical indices share a storage element."""
        if 0 in self.shape:
            return True
        per_axis: list[list[tuple[int, int]]] = [[] for _ in self.offsets]
        for digits in self.digits:
            for size, axis, stride in digits:
                if axis < 0:
                    return False
                per_axis[axis].append((stride, size))
        for parts in per_axis:
            reach = 0
            clear = True
            for stride, size in sorted(parts):
                clear = clear and stride > reach
                reach += (size - 1) * stride
            if not clear:
                sums = np.zeros(1, np.int64)
                for stride, size in parts:
                    sums = (sums[:, None] + np.arange(size) * stride).ravel()
                if np.unique(sums).size != sums.size:
                    return False
        return True

    def is_bijection(self, storage_shape: Sequence[int]) -> bool:
        """Every storage element of `storage_shape` is exactly one logical element."""
        if prod(storage_shape) != prod(self.shape) or len(storage_shape) != len(self.offsets):
            return False
        if 0 in self.shape:
            return True
        try:
            self.check_inside(storage_shape)
        except LayoutError:
            return False
        return self.is_injective()

    def __str__(self) -> str:
        def part(digit: Digit) -> str:
            size, axis, stride = digit
            if axis < 0:
                return f"{size}_"
            return f"{size}{axis_letter(axis)}" + (f"*{stride}" if stride != 1 else "")

        axes = [
            ".".join(map(part, digits)) if digits and n else str(n)
            for n, digits in zip(self.shape, self.digits, strict=True)
        ]
        text = "[" + ", ".join(axes) + "]"
        used = max((d[1] for digits in self.digits for d in digits), default=-1) + 1
        if any(self.offsets) or used != len(self.offsets):
            text += " + (" + ", ".join(map(str, self.offsets)) + ")"
        return text

    @staticmethod
    @lru_cache(maxsize=4096)
    def parse(text: str) -> View:
        """Read back what `str` prints; remembered, as programs have the same views in many places."""
        tree = parse_tree(text, "view")
        shape: list[int] = []
        digits: list[tuple[Digit, ...]] = []
        offsets: tuple[int, ...] | None = None
        for node in tree.children:
            if not isinstance(node, Tree):
                continue
            if node.data == "offsets":
                offsets = tuple(int(str(t)) for t in node.children)
                continue
            parts: list[Digit] = []
            for child in node.children:
                if isinstance(child, Token):
                    parts.append((int(child), -1, 0))
                    continue
                size, letter, *stride = (str(t) for t in child.children)
                axis = LETTERS.find(letter)
                parts.append((int(size), axis, (int(stride[0]) if stride else 1) if axis >= 0 else 0))
            digits.append(tuple(parts))
            shape.append(prod(p[0] for p in parts))
        used = max((p[1] for parts in digits for p in parts), default=-1) + 1
        return View(tuple(shape), tuple(digits), (0,) * used if offsets is None else offsets)


def _carries_nothing(offset: int, digits: Sequence[tuple[int, int]], radix: Sequence[int]) -> bool:
    """
    Whether offset + sum of digits never carries from one place of the mixed radix (outer to inner sizes) to
    the next.
    """
    top = 1
    for place in reversed(radix):
        top *= place
        reach = offset % top
        for size, stride in digits:
            if stride < top:
                reach += (min(size, top // stride) - 1) * stride
        if reach >= top:
            return False
    return True
