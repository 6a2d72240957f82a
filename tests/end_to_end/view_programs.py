# SPDX-License-Identifier: Apache-2.0
"""
Random chains of slice, transpose, reshape, broadcast, pad and concat in front of and behind every kind of
consumer, the same for the same seed.

Values are small whole numbers, so that sums and products are exact in every type and a wrong element is off
by one at least. What a first slice leaves out of an input holds NaN and infinities: it may not show anywhere.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from random_programs.values import Value

from tilewright.machine.dtypes import is_integer, numpy_dtype

EXTENTS = (1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17)
TYPES = ("f16", "f16", "f32", "bf16", "f8E4M3FNUZ", "i8", "i32")
LIMIT = 600  # elements of a value

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Chain:
    """A program with its inputs; `exact` if every value is a whole number that all types on its way have."""

    text: str
    inputs: dict[str, np.ndarray]
    parameters: dict[str, np.ndarray]
    exact: bool


@dataclass
class Writer:
    rng: random.Random
    lines: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    parameters: dict[str, np.ndarray] = field(default_factory=dict)
    outputs: list[tuple[str, str]] = field(default_factory=list)
    count: int = 0
    exact: bool = True
    inside: bool = False  # of the body of a repeat: no new inputs

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def shape(self, low: int = 1, high: int = 3) -> Shape:
        while True:
            shape = tuple(self.rng.choice(EXTENTS) for _ in range(self.rng.randint(low, high)))
            if math.prod(shape) <= LIMIT // 2:
                return shape

    def data(self, shape: Shape, dtype: str) -> np.ndarray:
        draw = np.random.default_rng(self.rng.getrandbits(32))
        data = draw.integers(-3, 4, shape)
        if is_integer(dtype):
            return data.astype(numpy_dtype(dtype))
        data = data.astype(np.float32)
        return np.where(data == 0, np.float32(2), data)

    def input(self, shape: Shape, dtype: str, data: np.ndarray | None = None) -> Value:
        value = Value(self.fresh(), shape, dtype)
        self.arguments.append(f'{value.name}: {value.type} {{tile_tensor.input = "{value.name[1:]}"}}')
        self.inputs[value.name[1:]] = self.data(shape, dtype) if data is None else data
        return value

    def other(self, like: Value, shape: Shape) -> Value:
        """A second operand: a new input, or in a body something made of the value."""
        if not self.inside:
            return self.input(shape, like.dtype)
        if shape == like.shape:
            return like
        return self.op("reduce sum", [like], f"axes {_array(range(len(like.shape) - len(shape)))}", shape)

    def op(
        self, name: str, operands: Sequence[Value], clauses: str, shape: Shape, dtype: str | None = None
    ) -> Value:
        result = Value(self.fresh(), tuple(shape), dtype or operands[0].dtype)
        names = ", ".join(v.name for v in operands)
        types = ", ".join(v.type for v in operands)
        self.lines.append(
            f"  {result.name} = tile_tensor.{name} {names} {clauses} : ({types}) -> {result.type}"
        )
        return result

    def output(self, value: Value) -> None:
        if (value.name, value.type) not in self.outputs:
            self.outputs.append((value.name, value.type))

    def chain(self) -> Chain:
        types = ", ".join(f'{t} {{tile_tensor.output = "{n[1:]}"}}' for n, t in self.outputs)
        names, plain = (", ".join(parts) for parts in zip(*self.outputs, strict=True))
        lines = [
            f"func.func @main({', '.join(self.arguments)}) -> ({types}) {{",
            *self.lines,
            f"  return {names} : {plain}",
            "}",
        ]
        return Chain("\n".join(lines), self.inputs, self.parameters, self.exact)


def _array(values: Sequence[int] | range) -> str:
    return "[" + ", ".join(map(str, values)) + "]"


# -- views and copies ----------------------------------------------------------------------------------------


def slice_(w: Writer, x: Value, offsets: Sequence[int] | None = None, sizes: Shape | None = None) -> Value:
    if offsets is None or sizes is None:
        offsets = [w.rng.choice((0, 0, w.rng.randrange(n))) for n in x.shape]
        room = [n - o for n, o in zip(x.shape, offsets, strict=True)]
        sizes = tuple(w.rng.choice((n, max(1, n - 1), w.rng.randint(1, n))) for n in room)
    return w.op("slice", [x], f"offsets {_array(offsets)} sizes {_array(sizes)}", sizes)


def transpose(w: Writer, x: Value) -> Value:
    p = w.rng.sample(range(len(x.shape)), len(x.shape))
    return w.op("transpose", [x], f"permutation {_array(p)}", tuple(x.shape[i] for i in p))


def reshape(w: Writer, x: Value, shape: Shape | None = None) -> Value:
    if shape is None:
        n, parts = math.prod(x.shape), []
        while n > 1 and len(parts) < 3:
            parts.append(w.rng.choice([d for d in range(1, n + 1) if n % d == 0]))
            n //= parts[-1]
        shape = (*parts, n) if n > 1 or not parts else tuple(parts)
    return w.op("reshape", [x], "", shape)


def broadcast(w: Writer, x: Value) -> Value:
    if len(x.shape) > 3 or math.prod(x.shape) * 6 > LIMIT:
        return transpose(w, x)
    at = w.rng.randint(0, len(x.shape))
    shape = (*x.shape[:at], w.rng.choice((1, 2, 3)), *x.shape[at:])
    dims = [i for i in range(len(shape)) if i != at]
    shape = tuple(2 if n == 1 and w.rng.random() < 0.3 and i in dims else n for i, n in enumerate(shape))
    return w.op("broadcast", [x], f"dimensions {_array(dims)}", shape)


def pad(w: Writer, x: Value, low: Sequence[int] | None = None, high: Sequence[int] | None = None) -> Value:
    free = low is None or high is None
    if low is None or high is None:
        low = [w.rng.choice((0, 0, 0, 1, 2)) for _ in x.shape]
        high = [w.rng.choice((0, 0, 1, 2, 3)) for _ in x.shape]
    shape = tuple(n + a + b for n, a, b in zip(x.shape, low, high, strict=True))
    if free and math.prod(shape) > LIMIT:
        return slice_(w, x)
    value = w.rng.choice(("", "value 5.0"))
    return w.op("pad", [x], f"low {_array(low)} high {_array(high)} {value}", shape)


def concat(w: Writer, x: Value) -> Value:
    axis = w.rng.randrange(len(x.shape))
    parts = [x]
    for _ in range(w.rng.randint(1, 3)):
        n = w.rng.randint(1, x.shape[axis])
        parts.append(slice_(w, x, *_part(x, axis, w.rng.randint(0, x.shape[axis] - n), n)))
    w.rng.shuffle(parts)
    total = sum(p.shape[axis] for p in parts)
    shape = (*x.shape[:axis], total, *x.shape[axis + 1 :])
    if math.prod(shape) > LIMIT:
        return x
    return w.op("concat", parts, f"axis {axis}", shape)


def _part(x: Value, axis: int, start: int, size: int) -> tuple[list[int], Shape]:
    offsets = [0] * len(x.shape)
    offsets[axis] = start
    return offsets, (*x.shape[:axis], size, *x.shape[axis + 1 :])


# -- there and back: the shape is the original one


def pad_of_slice(w: Writer, x: Value) -> Value:
    s = slice_(w, x)
    low = [w.rng.choice((0, n - m, w.rng.randint(0, n - m))) for n, m in zip(x.shape, s.shape, strict=True)]
    if w.rng.random() < 0.5:  # the slice stays where it was
        low = [int(o) for o in w.lines[-1].split("offsets [")[1].split("]")[0].split(",")]
    if w.rng.random() < 0.3:
        s = w.op("add", [s, s], "", s.shape)
    high = [n - m - o for n, m, o in zip(x.shape, s.shape, low, strict=True)]
    return pad(w, s, low, high)


def slice_of_pad(w: Writer, x: Value) -> Value:
    p = pad(w, x)
    if any(a < b for a, b in zip(p.shape, x.shape, strict=True)):
        return pad_of_slice(w, x)
    offsets = [w.rng.randint(0, a - b) for a, b in zip(p.shape, x.shape, strict=True)]
    return slice_(w, p, offsets, x.shape)


def roll(w: Writer, x: Value) -> Value:
    axis = w.rng.randrange(len(x.shape))
    n = x.shape[axis]
    if n < 2:
        return x
    cut = w.rng.randint(1, n - 1)
    a, b = slice_(w, x, *_part(x, axis, 0, cut)), slice_(w, x, *_part(x, axis, cut, n - cut))
    return w.op("concat", [b, a] if w.rng.random() < 0.6 else [a, b], f"axis {axis}", x.shape)


def transpose_twice(w: Writer, x: Value) -> Value:
    y = transpose(w, x)
    y = reshape(w, y, x.shape)
    return pad_of_slice(w, y) if w.rng.random() < 0.5 else y


BACK: tuple[Callable[[Writer, Value], Value], ...] = (
    pad_of_slice,
    pad_of_slice,
    slice_of_pad,
    roll,
    transpose_twice,
)
STEPS = (slice_, slice_, transpose, reshape, broadcast, pad, concat, *BACK)


def steps(w: Writer, x: Value, low: int, high: int) -> Value:
    for _ in range(w.rng.randint(low, high)):
        if not x.shape:
            x = w.op("reshape", [x], "", (1,))
        x = w.rng.choice(STEPS)(w, x)
    return x


# -- consumers -----------------------------------------------------------------------------------------------


def pointwise(w: Writer, x: Value) -> Value:
    kind = w.rng.random()
    if kind < 0.3:
        return w.op(w.rng.choice(("neg", "abs", "relu")), [x], "", x.shape)
    shape = x.shape if kind < 0.6 else x.shape[w.rng.randint(0, len(x.shape)) :]
    y = w.other(x, shape)
    if w.rng.random() < 0.3 and shape:
        y = w.rng.choice(BACK)(w, y)
    return w.op(w.rng.choice(("add", "sub", "maximum")), [x, y], "", x.shape)


def cast(w: Writer, x: Value) -> Value:
    return w.op("cast", [x], "", x.shape, w.rng.choice(("f16", "f32", "bf16", "f8E4M3FNUZ", "i32")))


def reduce(w: Writer, x: Value) -> Value:
    axes = sorted(w.rng.sample(range(len(x.shape)), w.rng.randint(0, len(x.shape))))
    kind = w.rng.choice(("sum", "max", "min"))
    dtype = x.dtype if kind != "sum" or x.dtype in ("i32", "f32") else "i32" if is_integer(x.dtype) else "f32"
    shape = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    return w.op(f"reduce {kind}", [x], f"axes {_array(axes)}", shape, dtype)


def rowwise(w: Writer, x: Value) -> Value:
    if is_integer(x.dtype):
        return reduce(w, x)
    w.exact = False
    if w.rng.random() < 0.5:
        return w.op("softmax", [x], "", x.shape, "f32")
    return w.op("rms_norm", [x, w.input(x.shape[-1:], "f16")], "epsilon 1.0e-05", x.shape, "f32")


def matmul(w: Writer, x: Value) -> Value:
    if len(x.shape) < 2 or x.dtype == "i32":
        return pointwise(w, x)
    n = w.rng.choice(EXTENTS)
    clause, y_shape, shape = w.rng.choice(
        (
            ("", (*x.shape[:-1][:-1], x.shape[-1], n), (*x.shape[:-1], n)),
            ("transpose_b", (*x.shape[:-2], n, x.shape[-1]), (*x.shape[:-1], n)),
            ("transpose_a", (*x.shape[:-2], x.shape[-2], n), (*x.shape[:-2], x.shape[-1], n)),
        )
    )
    y = w.input(y_shape, x.dtype)
    if w.rng.random() < 0.3:
        y = w.rng.choice(BACK)(w, y)
    return w.op("matmul", [x, y], clause, shape, "i32" if x.dtype == "i8" else "f32")


def attention(w: Writer, x: Value) -> Value:
    if len(x.shape) < 2 or x.dtype not in ("f16", "f32", "bf16"):
        return matmul(w, x)
    w.exact = False
    keys, depth = x.shape[-2:]
    q = w.input((*x.shape[:-2], w.rng.choice(EXTENTS), depth), x.dtype)
    k = w.rng.choice(BACK)(w, x) if w.rng.random() < 0.5 else x
    v = w.input((*x.shape[:-2], keys, w.rng.choice(EXTENTS)), x.dtype)
    if w.rng.random() < 0.5:
        v = w.rng.choice(BACK)(w, v)
    return w.op("attention", [q, k, v], "scale 0.1", (*q.shape[:-1], v.shape[-1]), "f32")


def gather(w: Writer, x: Value) -> Value:
    axis = w.rng.randrange(len(x.shape))
    draw = np.random.default_rng(w.rng.getrandbits(32))
    count = w.rng.choice((1, 2, 3, 5))
    data = draw.integers(0, x.shape[axis], count).astype(np.int32)
    indices = w.input((count,), "i32", data)
    if w.rng.random() < 0.5:
        wider = w.input((count + 1,), "i32", np.append(data, 0).astype(np.int32))
        indices = slice_(w, wider, [0], (count,))
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    if math.prod(shape) > LIMIT:
        return x
    return w.op("gather", [x, indices], f"axis {axis}", shape)


def repeat(w: Writer, x: Value) -> Value:
    """
    Carried, invariant, iterated and collected values that chains have changed; the carried one keeps its
    shape.
    """
    count = w.rng.choice((1, 2, 3))
    body = Writer(w.rng, inside=True, count=w.count + 10)
    carried = Value("%c", x.shape, x.dtype)
    invariant = Value("%i", x.shape, x.dtype)
    outside = w.rng.choice(BACK)(w, w.input(x.shape, x.dtype))
    members = Value("%m", x.shape, x.dtype)
    names = []
    for _ in range(count):
        names.append(w.fresh()[1:])
        w.parameters[names[-1]] = w.data(x.shape, x.dtype)
    sequence = f"!tile_repeat.sequence<{count} x {x.type}>"
    quoted = ", ".join(f'"{n}"' for n in names)
    argument = f"%s{names[0][1:]}"
    w.arguments.append(f"{argument}: {sequence} {{tile_tensor.parameter = [{quoted}]}}")
    following = w.rng.choice(BACK)(body, w.rng.choice((carried, carried, members, invariant)))
    if w.rng.random() < 0.6:
        following = body.op(
            w.rng.choice(("maximum", "minimum")),
            [following, w.rng.choice(BACK)(body, w.rng.choice((carried, invariant, members)))],
            "",
            x.shape,
        )
    trace = steps(body, w.rng.choice((carried, members, following)), 1, 2)
    w.count = body.count + 10
    result, collected = w.fresh(), w.fresh()
    traces = f"!tile_repeat.sequence<{count} x {trace.type}>"
    w.lines += [
        f'  {result}, {collected} = tile_repeat.repeat "r{result[2:]}" count {count} '
        f"carried(%c = {x.name} : {x.type}) invariant(%i = {outside.name} : {x.type}) "
        f"iterated(%m = {argument} : {sequence}) -> ({x.type}, {traces}) {{",
        *("  " + line for line in body.lines),
        f"    tile_repeat.yield {following.name} : {x.type} collect {trace.name} : {trace.type}",
        "  }",
    ]
    w.outputs.append((collected, traces))
    return Value(result, x.shape, x.dtype)


CONSUMERS: tuple[Callable[[Writer, Value], Value], ...] = (
    pointwise, cast, reduce, rowwise, matmul, attention, gather, repeat,
)  # fmt: skip


def program(seed: int) -> Chain:
    """A chain, the consumer that the seed names, a chain; one time in four a second consumer and a chain."""
    w = Writer(random.Random(seed))
    dtype = w.rng.choice(TYPES)
    consumer = CONSUMERS[seed % len(CONSUMERS)]
    if consumer in (attention, rowwise):
        dtype = w.rng.choice(("f16", "f32", "bf16"))
    shape = w.shape(2 if consumer in (matmul, attention) else 1)
    x = w.input(shape, dtype)
    if w.rng.random() < 0.5:  # the first thing that happens to the input is a slice: the rest is poison
        y = slice_(w, x)
        if not is_integer(dtype) and y.shape != shape:
            box = w.lines[-1].split("offsets [")[1].split("] sizes")[0]
            inside = np.zeros(shape, bool)
            inside[tuple(slice(int(o), int(o) + n) for o, n in zip(box.split(","), y.shape, strict=True))] = (
                True
            )
            poison = w.rng.choice((np.nan, np.inf, -np.inf))
            w.inputs[x.name[1:]] = np.where(inside, w.inputs[x.name[1:]], np.float32(poison))
        x = w.rng.choice(BACK)(w, y) if w.rng.random() < 0.5 else y
    x = steps(w, x, 0, 2)
    if w.rng.random() < 0.2:
        w.output(x)
    x = steps(w, consumer(w, x), 1, 2)
    if w.rng.random() < 0.25:
        x = w.op("reshape", [x], "", (1,)) if not x.shape else x
        x = steps(w, w.rng.choice((pointwise, reduce, cast))(w, x), 0, 2)
    w.output(x)
    return w.chain()
