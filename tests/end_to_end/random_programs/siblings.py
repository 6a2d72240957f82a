# SPDX-License-Identifier: Apache-2.0
"""What every program has besides its chain of operations: rules in every type, by turns of its seed."""

from __future__ import annotations

from tilewright.machine.dtypes import is_integer

from .elements import DIRECTIONS, EXACT, FUNCTIONS, PAIRS, SINGLE, cast_to, kind_of
from .rows import ORDER_TURNS, ordered
from .values import ELEMENTS, FLOATS, FP8, INTEGERS, TYPES, Value
from .writer import Writer

TURNS = [(element, name) for element in (*TYPES, *INTEGERS, "i1") for name in PAIRS[kind_of(element)]]
WHOLE = [(element, name) for element in (*INTEGERS, "i1") for name in SINGLE[kind_of(element)]]
"""Operations on two elements, and on one that is no float, by turns."""


def siblings(w: Writer, seed: int) -> list[Value]:
    """Functions of one value, and operations on it and another: by turns, in every type."""
    rng = w.rng
    x = w.some(lambda v: v.dtype in FLOATS, lambda: (w.shape(0, 3, 300), w.element(FLOATS)))
    found: list[Value] = []
    names = FUNCTIONS
    for turn in range(3 * seed, 3 * seed + 3):
        name, dtype = names[turn % len(names)], TYPES[turn // len(names) % len(TYPES)]
        if name == "is_finite":
            found.append(w.op(name, [w.argument((7,), dtype)], "", (7,), "i1"))
            continue
        clause = f"approximate {rng.choice(('tanh', 'none'))}" if name == "gelu" else ""
        attributes = "saturate = false" if turn % 7 == 0 else w.saturation(dtype)
        found.append(w.op(name, [x], clause, x.shape, dtype, attributes))
    for turn in range(3 * seed, 3 * seed + 3):
        element, name = TURNS[turn % len(TURNS)]
        w.special = is_integer(element)
        shape = w.shape(0, 2, 60)
        y = (w.argument if w.special else w.get)(shape, element)
        z = w.argument(shape, element)
        attributes = "" if name in EXACT else w.saturation(element)
        found.append(w.op(name, [y, z], "", shape, element, attributes))
    found.append(w.op(f"compare {DIRECTIONS[seed // 9 % 6]}", [y, z], "", shape, "i1"))
    found.append(w.op("select", [found[-1], y, z], "", shape, element))
    element, name = WHOLE[seed % len(WHOLE)]
    y = w.argument(shape, element)
    found.append(w.op(name, [y], "", shape, element))
    w.special = True
    source = w.argument(w.shape(0, 2, 60), (*TYPES, *INTEGERS)[seed // 9 % 9])
    found.append(cast_to(w, source, (*TYPES, *INTEGERS)[seed % 9]))
    if seed % 4 == 0:
        w.zeros = True
        dtype = TYPES[seed // 4 % len(TYPES)]
        name = ("neg", "neg", "abs", "relu", "maximum", "minimum")[seed // 4 % 6]
        signed = [w.argument((12, 2), dtype) for _ in range(2 if "imum" in name else 1)]
        found.append(w.op(name, signed, "", (12, 2), dtype, w.saturation(dtype)))
        total = Value(w.fresh(), (12,), dtype)
        w.lines.append(
            f"{w.indent}{total.name} = tile_tensor.reduce sum {signed[0].name} axes [1] : "
            f"({signed[0].type}) -> {total.type}"
        )
        found.append(total)
    element, name = ORDER_TURNS[seed % len(ORDER_TURNS)]
    found.append(ordered(w, w.argument((3, 5), element), name))
    if seed % 4 == 2:
        truth = w.argument((3, 5), "i1")
        found.append(Value(w.fresh(), (3,), "i1"))
        w.lines.append(
            f"{w.indent}{found[-1].name} = tile_tensor.reduce {('any', 'all')[seed // 4 % 2]} {truth.name} "
            f"axes [1] : ({truth.type}) -> {found[-1].type}"
        )
        found.append(w.op("reshape", [truth], "", (15,), "i1"))
        table = w.argument((5, 3), ELEMENTS[seed // 4 % len(ELEMENTS)])
        indices = Value(w.fresh("n"), (2,), "i32")
        w.add_argument(indices, "input")
        found.append(w.op("gather", [table, indices], "", (2, 3), table.dtype))
        found.append(w.op("pad", [table], "low [1, 0] high [0, 2]", (6, 5), table.dtype))
        found.append(w.op("slice", [table], "offsets [1, 1] sizes [3, 2]", (3, 2), table.dtype))
        found.append(w.op("one_hot", [indices], "", (2, 4), table.dtype))
        found.append(w.op("broadcast", [table], "dimensions [0, 2]", (5, 2, 3), table.dtype))
    if seed % 4 == 1 and not is_integer(source.dtype):
        found.append(w.op("exp", [source], "", source.shape, FP8[seed // 4 % len(FP8)]))
    truth = w.op("cast", [source], "", source.shape, "i1")
    found += [truth, w.op("cast", [truth], "", source.shape, (*TYPES, *INTEGERS)[seed % 9])]
    return found
