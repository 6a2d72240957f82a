# SPDX-License-Identifier: Apache-2.0
"""Repeats of small bodies, nested ones among them."""

from __future__ import annotations

from .operations import OPERATIONS
from .values import Value
from .writer import Writer


def repeat(w: Writer) -> Value:
    """
    A repeat of a small body; its first carried result is returned, its other results are kept in the writer.
    """
    rng = w.rng
    count = rng.choice((0, 1, 2, 2, 3, 4))
    depth, outer = 1, w.outer
    while outer is not None:
        depth, outer = depth + 1, outer.outer
    carried = [
        w.some(lambda v: not v.counts, lambda: (w.shape(0, 3, 600), rng.choice(("f16", "f32", "bf16", "i8"))))
    ]
    for _ in range(rng.choice((0, 0, 1))):
        shape, dtype = (
            (carried[0].shape, carried[0].dtype)
            if rng.random() < 0.5
            else (w.shape(0, 3, 600), rng.choice(("f16", "f32")))
        )
        carried.append(w.get(shape, dtype))
    body = Writer(rng, outer=w, indent=w.indent + "  ", members=count)
    arguments = [Value(body.fresh("c"), v.shape, v.dtype) for v in carried]
    body.values += arguments
    for _ in range(rng.randint(0, 3)):
        if depth < 3 and rng.random() < 0.2:
            repeat(body)
        else:
            rng.choice(OPERATIONS)(body)
    yielded: list[Value] = []
    for value in (
        arguments
    ):  # the next state: a value of the body of the right type, another carried value or a fresh sum
        same = [v for v in body.values if (v.shape, v.dtype) == (value.shape, value.dtype) and not v.counts]
        if rng.random() < 0.5:
            other = rng.choice(same) if rng.random() < 0.5 else body.get(value.shape, value.dtype)
            yielded.append(
                body.op(
                    rng.choice(("and", "xor") if value.dtype == "i1" else ("add", "sub", "maximum")),
                    [rng.choice(same), other],
                    "",
                    value.shape,
                    value.dtype,
                )
            )
        else:
            yielded.append(rng.choice((same[-1], rng.choice(same))))
    collectable = [v for v in body.values if count]
    collected = rng.sample(collectable, min(len(collectable), rng.choice((0, 0, 1, 2))))
    results = [Value(w.fresh("r"), v.shape, v.dtype) for v in carried]
    results += [Value(w.fresh("q"), v.shape, v.dtype, (count, *v.counts)) for v in collected]
    names = ", ".join(r.name for r in results)
    header = [f'{w.indent}{names} = tile_repeat.repeat "r{results[0].name[2:]}" count {count}']
    for keyword, pairs in (
        ("carried", list(zip(arguments, carried, strict=True))),
        ("invariant", body.captured),
        ("iterated", body.iterated),
    ):
        if pairs:
            header.append(
                f"{keyword}(" + ", ".join(f"{i.name} = {o.name} : {o.type}" for i, o in pairs) + ")"
            )
    header.append("-> (" + ", ".join(r.type for r in results) + ") {")
    w.lines.append(" ".join(header))
    w.lines += body.lines
    end = f"{', '.join(v.name for v in yielded)} : {', '.join(v.type for v in yielded)}"
    if collected:
        end += f" collect {', '.join(v.name for v in collected)} : {', '.join(v.type for v in collected)}"
    w.lines += [f"{body.indent}tile_repeat.yield {end}", f"{w.indent}}}"]
    w.values += results[: len(carried)]
    w.collected += results[len(carried) :]
    return results[0]
