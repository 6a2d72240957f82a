# SPDX-License-Identifier: Apache-2.0
"""Movement: views, concatenation, pads, rows and boxes at places that are inputs."""

from __future__ import annotations

import math

import numpy as np

from tilewright.machine.dtypes import float_format, is_integer, numpy_dtype

from .values import ELEMENTS, FLOATS, INTEGERS, LIMIT, TYPES, Value, array
from .writer import Writer


def sequence(w: Writer) -> Value:
    """A sequence of values that exist, and a member of it; in the body of a repeat, one that it is given."""
    rng = w.rng
    x = w.some(lambda v: True, lambda: (w.shape(0, 3, 300), w.element(ELEMENTS)))
    members = [x, *(w.get(x.shape, x.dtype) for _ in range(rng.choice((0, 1, 2))))]
    packed = Value(w.fresh("p"), x.shape, x.dtype, (len(members),))
    w.lines.append(
        f"{w.indent}{packed.name} = tile_repeat.pack {', '.join(v.name for v in members)} : {packed.type}"
    )
    result = Value(w.fresh("m"), x.shape, x.dtype)
    w.lines.append(
        f"{w.indent}{result.name} = tile_repeat.member {packed.name}[{rng.randrange(len(members))}] : "
        f"{packed.type}"
    )
    w.values.append(result)
    return result


def transpose(w: Writer) -> Value:
    x = w.some(lambda v: len(v.shape) >= 2, lambda: (w.shape(2, 5), w.element(ELEMENTS)))
    permutation = w.rng.sample(range(len(x.shape)), len(x.shape))
    return w.op(
        "transpose",
        [x],
        f"permutation {array(permutation)}",
        tuple(x.shape[p] for p in permutation),
        x.dtype,
    )


def reshape(w: Writer) -> Value:
    x = w.some(lambda v: True, lambda: (w.shape(0, 4), w.element(ELEMENTS)))
    n, shape = math.prod(x.shape), []
    while n > 1 and len(shape) < 4:
        divisors = [d for d in range(1, n + 1) if n % d == 0]
        shape.append(w.rng.choice(divisors))
        n //= shape[-1]
    if n > 1:
        shape.append(n)
    w.rng.shuffle(shape)
    return w.op("reshape", [x], "", tuple(shape), x.dtype)


def slice_(w: Writer) -> Value:
    x = w.some(lambda v: len(v.shape) >= 1, lambda: (w.shape(1, 4), w.element(ELEMENTS)))
    offsets = [w.rng.randrange(n) for n in x.shape]
    sizes = [w.rng.randint(1, n - o) for n, o in zip(x.shape, offsets, strict=True)]
    clauses = ""
    if w.rng.random() < 0.4:
        steps = [w.rng.choice((1, 2, 2, 3, 4, 8)) for _ in sizes]
        sizes = [-(-size // step) for size, step in zip(sizes, steps, strict=True)]
        clauses = f" strides {array(steps)}"
    clauses = f"offsets {array(offsets)} sizes {array(sizes)}{clauses}"
    return w.op("slice", [x], clauses, tuple(sizes), x.dtype)


def broadcast(w: Writer) -> Value:
    x = w.some(
        lambda v: math.prod(v.shape) <= LIMIT // 6 and len(v.shape) <= 3,
        lambda: (w.shape(0, 3, LIMIT // 6), w.element(ELEMENTS)),
    )
    rank = w.rng.randint(len(x.shape), len(x.shape) + 2)
    dims = sorted(w.rng.sample(range(rank), len(x.shape)))
    shape = [w.rng.choice((1, 2)) for _ in range(rank)]
    for d, n in zip(dims, x.shape, strict=True):
        shape[d] = n if n > 1 else w.rng.choice((1, 1, 3))
    if math.prod(shape) > LIMIT:
        shape = [n if i in dims else 1 for i, n in enumerate(shape)]
    return w.op("broadcast", [x], f"dimensions {array(dims)}", tuple(shape), x.dtype)


def concat(w: Writer) -> Value:
    x = w.some(
        lambda v: len(v.shape) >= 1 and math.prod(v.shape) <= LIMIT // 3,
        lambda: (w.shape(1, 4, LIMIT // 3), w.element(ELEMENTS)),
    )
    axis = w.rng.randrange(len(x.shape))
    parts = [x]
    for _ in range(w.rng.randint(0, 2)):
        shape = list(x.shape)
        if w.rng.random() < 0.6:
            shape[axis] = w.rng.choice((1, 2, 3, 5))
        parts.insert(w.rng.randint(0, len(parts)), w.get(tuple(shape), x.dtype))
    shape = list(x.shape)
    shape[axis] = sum(p.shape[axis] for p in parts)
    return w.op("concat", parts, f"axis {axis}", tuple(shape), x.dtype)


def pad(w: Writer) -> Value:
    x = w.some(
        lambda v: len(v.shape) >= 1 and math.prod(v.shape) <= LIMIT // 4,
        lambda: (w.shape(1, 4, LIMIT // 4), w.element(ELEMENTS)),
    )
    low = [w.rng.choice((0, 0, 1, 2, 5, -1, -2)) for _ in x.shape]
    high = [w.rng.choice((0, 0, 1, 3, -1, -4)) for _ in x.shape]
    inside = [w.rng.choice((0, 0, 1, 2)) if w.rng.random() < 0.4 else 0 for _ in x.shape]
    shape = tuple(n + (n - 1) * c + a + b for n, a, b, c in zip(x.shape, low, high, inside, strict=True))
    if math.prod(shape) > LIMIT or min(shape) < 1:
        return transpose(w) if len(x.shape) > 1 else reshape(w)
    value = w.rng.choice(("", *(f"value {v}" for v in _pad_values(x.dtype))))
    between = f" interior {array(inside)}" if any(inside) else ""
    return w.op("pad", [x], f"low {array(low)} high {array(high)}{between} {value}".strip(), shape, x.dtype)


def _pad_values(dtype: str) -> tuple[str, ...]:
    """Values of a type as `pad` writes them, the ends of its range among them."""
    if dtype == "i1":
        return ("0", "1")
    if is_integer(dtype):
        info = np.iinfo(numpy_dtype(dtype))
        return ("3", "-1", str(info.min), str(info.max))
    fmt = float_format(dtype)
    ends = ("0xFF800000", "0x7F800000", "0x7FC00000") if fmt.has_inf else ("0x7FC00000",)
    return ("1.5", "-2.0", f"{fmt.max_value:.9e}", f"{-fmt.max_value:.9e}", "-0.0", *ends, *ends)


def gather(w: Writer) -> Value:
    if w.outer is not None:
        return reshape(w)
    rng = w.rng
    table = w.some(
        lambda v: len(v.shape) >= 1 and math.prod(v.shape) <= LIMIT // 3 and rng.random() < 0.3,
        lambda: (w.shape(1, 3, LIMIT // 3), w.element(ELEMENTS)),
    )
    axis = rng.randrange(len(table.shape))
    shape = w.shape(0, 2, 12)
    result = (*table.shape[:axis], *shape, *table.shape[axis + 1 :])
    if math.prod(result) > LIMIT:
        return reshape(w)
    indices = Value(w.fresh("n"), shape, "i32")
    w.arguments.append(f'{indices.name}: {indices.type} {{tile_tensor.input = "{indices.name[1:]}"}}')
    draw = np.random.default_rng(rng.getrandbits(32))
    data = draw.integers(0, table.shape[axis], shape)
    clauses = f"axis {axis}" if axis or rng.random() < 0.5 else ""
    if rng.random() < 0.6:
        data = w.sprinkle(data, (-1, -(2**31), 2**31 - 1, table.shape[axis], table.shape[axis] + 1))
        if rng.random() < 0.8:
            clauses += f" out_of_range {rng.choice(('clamp', 'zero'))}"
    w.inputs[indices.name[1:]] = data.astype(np.int32)
    return w.op("gather", [table, indices], clauses.strip(), result, table.dtype)


def scatter_add(w: Writer) -> Value:
    if w.outer is not None:
        return reshape(w)
    rng = w.rng
    elements = tuple(e for e in ELEMENTS if e != "i1")
    base = w.some(
        lambda v: v.shape and v.dtype != "i1" and math.prod(v.shape) <= LIMIT // 3,
        lambda: (w.shape(1, 3, LIMIT // 3), w.element(elements)),
    )
    count = rng.choice((1, 2, 5, 9))
    indices = Value(w.fresh("n"), (count,), "i32")
    w.arguments.append(f'{indices.name}: {indices.type} {{tile_tensor.input = "{indices.name[1:]}"}}')
    draw = np.random.default_rng(rng.getrandbits(32))
    w.inputs[indices.name[1:]] = draw.integers(-1, base.shape[0] + 1, count).astype(np.int32)
    updates = w.get((count, *base.shape[1:]), base.dtype)
    dtype = base.dtype if is_integer(base.dtype) else rng.choice((base.dtype, *FLOATS))
    attributes = "" if is_integer(dtype) else w.saturation(dtype)
    return w.op("scatter_add", [base, indices, updates], "", base.shape, dtype, attributes)


def one_hot(w: Writer) -> Value:
    if w.outer is not None:
        return reshape(w)
    shape, depth = w.shape(0, 2, 12), w.rng.choice((1, 3, 5, 8, 17))
    indices = Value(w.fresh("n"), shape, "i32")
    w.arguments.append(f'{indices.name}: {indices.type} {{tile_tensor.input = "{indices.name[1:]}"}}')
    draw = np.random.default_rng(w.rng.getrandbits(32))
    w.inputs[indices.name[1:]] = draw.integers(-2, depth + 2, shape).astype(np.int32)
    return w.op("one_hot", [indices], "", (*shape, depth), w.element(ELEMENTS))


def boxes(w: Writer, seed: int) -> list[Value]:
    """A box that is read and one that is written, at places that are inputs: in every type by turns."""
    rng = w.rng
    w.special = w.zeros = False
    element = (*TYPES, *INTEGERS, "i1")[(seed // 3 + seed // 30) % 10]
    shape = w.shape(0, 4, 300)
    found: list[Value] = []
    for name in ("dynamic_slice", "dynamic_update_slice"):
        x = w.get(shape, element)
        least = 0 if name == "dynamic_slice" and rng.random() < 0.1 else 1
        sizes = tuple(extent if rng.random() < 0.4 else rng.randint(least, extent) for extent in shape)
        starts = [Value(w.fresh("n"), (), "i32") for _ in shape]
        for start, extent, size in zip(starts, shape, sizes, strict=True):
            w.arguments.append(f'{start.name}: {start.type} {{tile_tensor.input = "{start.name[1:]}"}}')
            at = rng.choice((rng.randint(0, extent - size), rng.randint(-3, extent + 3), -(2**31), 2**31 - 1))
            w.inputs[start.name[1:]] = np.array(at, np.int32)
        if name == "dynamic_slice":
            found.append(w.op(name, [x, *starts], f"sizes {list(sizes)}", sizes, element))
        else:
            found.append(w.op(name, [x, w.get(sizes, element), *starts], "", shape, element))
    return found
