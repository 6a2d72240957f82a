# SPDX-License-Identifier: Apache-2.0
"""
Random small programs with values, the same for the same seed: every operation and attribute, awkward shapes,
every element type and its special values.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tilewright.machine.dtypes import float_format, is_integer, numpy_dtype
from tilewright.machine.numerics import pointwise

EXTENTS = (1, 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 31, 32, 33, 48)
WIDE_FLOATS = ("f16", "f32", "bf16")
FP8 = ("f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3FN", "f8E5M2")
FLOATS = ("f16", "f16", "f32", "f32", "bf16", *FP8)
TYPES = (*WIDE_FLOATS, *FP8)
INTEGERS = ("i8", "i32")
ELEMENTS = (*FLOATS, *INTEGERS, *INTEGERS, "i1")
LIMIT = 1500  # elements of a value

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Value:
    """A tensor of the program: its name in the text (with %), shape and element type."""

    name: str
    shape: Shape
    dtype: str
    counts: Shape = ()  # of nested sequences, outermost first

    @property
    def type(self) -> str:
        text = tensor(self.shape, self.dtype)
        for count in reversed(self.counts):
            text = f"!tile_repeat.sequence<{count} x {text}>"
        return text


KINDS = ("none",) * 9 + ("small",) * 3 + ("large",) * 4 + ("beyond",) * 2 + ("infinite", "nan")
"""Of special values, as often as they are wanted: an infinity or a NaN hides what else a program computes."""


def special_values(dtype: str) -> dict[str, tuple[float, ...]]:
    """The special values of a float type, by kind; of both signs."""
    fmt = float_format(dtype)
    least, normal, largest = 2.0**fmt.quantum_log2, 2.0**fmt.emin, fmt.max_value
    single = min(largest * 2, float_format("f32").max_value)
    kinds = {
        "none": (),
        "small": (0.0, least, normal, 3 * least, 1.5 * normal),
        "large": (largest, largest / 2, 0.9375 * largest, largest**0.5),
        "beyond": (single, largest),
        "infinite": (np.inf, largest),
        "nan": (np.nan,),
    }
    return {kind: tuple(sign * v for v in values for sign in (1.0, -1.0)) for kind, values in kinds.items()}


def tensor(shape: Sequence[int], dtype: str) -> str:
    return "tensor<" + "".join(f"{n}x" for n in shape) + f"{dtype}>"


@dataclass(frozen=True)
class Program:
    """Text and values of one program."""

    text: str
    inputs: dict[str, np.ndarray]
    parameters: dict[str, np.ndarray]


@dataclass
class Writer:
    """Collects the arguments and lines of a program."""

    rng: random.Random
    lines: list[str] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    parameters: dict[str, np.ndarray] = field(default_factory=dict)
    count: int = 0
    indent: str = "  "
    outer: Writer | None = None
    special: bool = False  # whether all new values are
    zeros: bool = False  # whether new values are mostly zeros of both signs
    turn: int = 0  # of the element type of the first value
    captured: list[tuple[Value, Value]] = field(default_factory=list)
    iterated: list[tuple[Value, Value]] = field(default_factory=list)
    members: int = 0  # of the sequences that this body iterates over
    collected: list[Value] = field(default_factory=list)  # sequences that repeats have given

    def fresh(self, base: str = "v") -> str:
        root = self
        while root.outer is not None:
            root = root.outer
        root.count += 1
        return f"%{base}{root.count}"

    def element(self, types: Sequence[str]) -> str:
        """A type of new values: that of the first one by turns, others at random."""
        if self.outer is None and not self.arguments:
            different = tuple(dict.fromkeys(types))
            return different[self.turn % len(different)]
        return self.rng.choice(types)

    def array(self, shape: Shape, dtype: str) -> np.ndarray:
        """Values of a type, some of them special; half of the floats are f32, which the host rounds."""
        rng = np.random.default_rng(self.rng.getrandbits(32))
        if dtype == "i1":
            return rng.random(shape) < self.rng.choice((0.1, 0.5, 0.5, 0.9))
        if is_integer(dtype):
            low, high = (-128, 128) if dtype == "i8" else (-1000, 1000)
            data = rng.integers(low, high, shape)
            info = np.iinfo(numpy_dtype(dtype))
            if self.special:
                return rng.choice((info.min, info.max, -7, -1, 0, 1), shape).astype(numpy_dtype(dtype))
            kinds = {"none": (), "limits": (info.min, info.max, -1, 0, 1, info.min + 1)}
            return self.sprinkle(data, kinds[self.rng.choice(("none", "none", "limits"))]).astype(
                numpy_dtype(dtype)
            )
        if self.zeros:
            return rng.choice(np.float32((0.0, -0.0, 1.5, -2.0)), shape)
        data = rng.standard_normal(shape) * 2.0 ** self.rng.choice((-3, 0, 0, 1))
        kind = self.rng.choice(KINDS[KINDS.index("small") :] if self.special else KINDS)
        data = self.sprinkle(data, special_values(dtype)[kind])
        with np.errstate(all="ignore"):
            single = data.astype(np.float32)
            return single if self.rng.random() < 0.5 else single.astype(numpy_dtype(dtype))

    def sprinkle(self, data: np.ndarray, values: Sequence[float]) -> np.ndarray:
        """Some elements replaced by some of the values: one, a few, or in a whole row."""
        flat = data.reshape(-1).copy()
        if not values or not flat.size:
            return data
        if self.rng.random() < 0.25 and data.ndim:
            row, width = self.rng.randrange(flat.size // data.shape[-1]), data.shape[-1]
            flat[row * width : (row + 1) * width] = self.rng.choice(values)
        for _ in range(self.rng.choice((1, 1, 2, 5))):
            flat[self.rng.randrange(flat.size)] = self.rng.choice(values)
        return flat.reshape(data.shape)

    def argument(self, shape: Shape, dtype: str) -> Value:
        """
        A new input, parameter or constant; inside a repeat an invariant value or, where that is possible, an
        iterated one.
        """
        if self.outer is not None:
            inner = Value(self.fresh("i"), shape, dtype)
            if self.rng.random() < 0.5 and self.members:
                self.iterated.append((inner, self.outer.sequence((self.members,), shape, dtype)))
            else:
                self.captured.append((inner, self.outer.get(shape, dtype)))
            self.values.append(inner)
            return inner
        value = Value(self.fresh("a"), shape, dtype)
        kind = self.rng.choice(("input", "input", "parameter", "parameter", "constant"))
        if kind == "constant" and math.prod(shape) <= 64:
            self.emit_constant(value)
        else:
            self.add_argument(value, "input" if kind == "input" else "parameter")
        self.values.append(value)
        return value

    def sequence(self, counts: Shape, shape: Shape, dtype: str) -> Value:
        """
        A sequence of parameters (nested by `counts`); inside a repeat an invariant one, or the current member
        of one with another level.
        """
        if self.outer is None:
            value = Value(self.fresh("s"), shape, dtype, counts)
            names = [f"{value.name[1:]}.{i}" for i in range(math.prod(counts))]
            self.parameters |= {name: self.array(shape, dtype) for name in names}
            quoted = ", ".join(f'"{name}"' for name in names)
            self.arguments.append(f"{value.name}: {value.type} {{tile_tensor.parameter = [{quoted}]}}")
            return value
        inner = Value(self.fresh("s"), shape, dtype, counts)
        if self.rng.random() < 0.5 and self.members:
            self.iterated.append((inner, self.outer.sequence((self.members, *counts), shape, dtype)))
        else:
            self.captured.append((inner, self.outer.sequence(counts, shape, dtype)))
        return inner

    def add_argument(self, value: Value, kind: str) -> None:
        name = value.name[1:]
        extra = ""
        data = self.array(value.shape, value.dtype)
        if kind == "parameter" and not is_integer(value.dtype) and self.rng.random() < 0.3:
            extra = f", tile_tensor.scale = {self.rng.randint(-3, 3)} : i32"
        self.arguments.append(f'{value.name}: {value.type} {{tile_tensor.{kind} = "{name}"{extra}}}')
        (self.inputs if kind == "input" else self.parameters)[name] = data

    def emit_constant(self, value: Value) -> None:
        with np.errstate(all="ignore"):
            data = np.asarray(self.array(value.shape, value.dtype)).astype(numpy_dtype(value.dtype))
        splat = not value.shape or self.rng.random() < 0.3
        text = _literal(data.reshape(-1)[0]) if splat and data.size else _nested(data)
        self.lines.insert(0, f"  {value.name} = tile_tensor.constant dense<{text}> : {value.type}")

    def get(self, shape: Shape, dtype: str) -> Value:
        """A value of this type: one that exists, or a new argument."""
        same = [v for v in self.values if v.shape == shape and v.dtype == dtype]
        if same and self.rng.random() < 0.6:
            return self.rng.choice(same)
        return self.argument(shape, dtype)

    def some(self, fits: Callable[[Value], bool], otherwise: Callable[[], tuple[Shape, str]]) -> Value:
        """A recent value that fits, or a new argument."""
        good = [v for v in self.values if fits(v)]
        if good and self.rng.random() < 0.85:
            return good[-1] if self.rng.random() < 0.6 else self.rng.choice(good)
        return self.argument(*otherwise())

    def shape(self, low: int, high: int, limit: int = LIMIT) -> Shape:
        while True:
            shape = tuple(self.rng.choice(EXTENTS) for _ in range(self.rng.randint(low, high)))
            if math.prod(shape) <= limit:
                return shape

    def saturation(self, dtype: str) -> str:
        """`saturate`, now and then, and more often where it shows."""
        return "saturate = false" if self.rng.random() < (0.35 if dtype in FP8 else 0.08) else ""

    def with_empty_rows(self, clauses: str) -> str:
        if self.rng.random() < 0.5:
            clauses += f" empty_rows {self.rng.choice(('zero', 'uniform', 'nan'))}"
        return clauses.strip()

    def mask(self, batch: Shape, queries: int, keys: int, dtype: str) -> Value:
        """A new argument that is added to scores: mostly zeros and the lowest value of its type."""
        rank = self.rng.randint(0, len(batch))
        shape = tuple(self.rng.choice((1, n)) for n in (*batch[len(batch) - rank :], queries))
        value = self.argument((*shape, keys), dtype)
        root = self
        while root.outer is not None:
            root = root.outer
        for name in (value.name[1:],):
            for values in (root.inputs, root.parameters):
                if name in values and self.rng.random() < 0.8:
                    draw = np.random.default_rng(self.rng.getrandbits(32))
                    fmt = float_format(dtype)
                    lowest = -np.inf if fmt.has_inf and self.rng.random() < 0.7 else -fmt.max_value
                    hidden = draw.random(value.shape) < self.rng.choice((0.3, 0.8))
                    if self.rng.random() < 0.5:
                        hidden |= draw.random((*value.shape[:-1], 1)) < 0.3
                    values[name] = np.where(hidden, lowest, 0.0).astype(np.float32)
        return value

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        clauses: str,
        shape: Shape,
        dtype: str,
        attributes: str = "",
        more: Sequence[Value] = (),
    ) -> Value:
        """`more`: operands that the clauses name."""
        result = Value(self.fresh(), shape, dtype)
        names = ", ".join(v.name for v in operands)
        types = ", ".join(v.type for v in (*operands, *more))
        self.lines.append(
            f"{self.indent}{result.name} = tile_tensor.{name} {names}{' ' + clauses if clauses else ''}"
            f"{' {' + attributes + '}' if attributes else ''} : ({types}) -> {result.type}"
        )
        self.values.append(result)
        return result


def _literal(x: np.generic) -> str:
    if x.dtype.kind == "b":
        return "true" if x else "false"
    if x.dtype.kind == "i":
        return str(int(x))
    if np.isfinite(x) and x.dtype == np.float32:
        return f"{float(x):.8e}"
    return f"0x{int(x.view(f'u{x.dtype.itemsize}')):0{2 * x.dtype.itemsize}X}"


def _nested(data: np.ndarray) -> str:
    if data.ndim == 0:
        return _literal(data[()])
    return "[" + ", ".join(_nested(x) for x in data) + "]"


# -- operations ----------------------------------------------------------------------------------------------


def matmul(w: Writer) -> Value:
    rng = w.rng
    kind = rng.choice(("f8", "f8", "f16", "f16", "f32", "bf16", "i8"))
    types = {"f8": FP8}.get(kind, (kind,))
    a = w.some(lambda v: len(v.shape) >= 2 and v.dtype in types, lambda: (w.shape(2, 4), rng.choice(types)))
    batch = a.shape[:-2]
    ta, tb = rng.random() < 0.3, rng.random() < 0.4
    m, k = (a.shape[-1], a.shape[-2]) if ta else (a.shape[-2], a.shape[-1])
    n = rng.choice(EXTENTS)
    other, full = batch, batch
    if batch and rng.random() < 0.35:  # axes that one operand does not have
        other = tuple(1 if rng.random() < 0.5 else extent for extent in batch)[rng.randint(0, len(batch)) :]
    elif len(batch) < 3 and math.prod(batch) * m * n < 300 and rng.random() < 0.2:
        other = (rng.choice((2, 3)), *(extent if extent > 1 else rng.choice((1, 2)) for extent in batch))
        full = np.broadcast_shapes(batch, other)
    if kind in ("f16", "f8") and rng.random() < 0.3:  # weights stay as they are
        types = FP8 if a.dtype == "f16" else ("f16",)
    b = w.get((*other, n, k) if tb else (*other, k, n), rng.choice(types))
    batch = full
    if kind == "i8":
        result, accumulate = "i32", rng.choice((None, "i32", "i32", "i32"))
    else:
        result = rng.choice((*{"f8": ("f16", "f16", a.dtype)}.get(kind, (kind, kind, "f32")), *FLOATS))
        accumulate = rng.choice((None, None, "f16", "f32") if kind in ("f8", "f16") else (None, "f32"))
    clauses = " ".join(
        filter(
            None,
            (
                "transpose_a" if ta else "",
                "transpose_b" if tb else "",
                f"accumulate {accumulate}" if accumulate else "",
                f"scale {rng.randint(-4, 3)}" if kind != "i8" and rng.random() < 0.5 else "",
            ),
        )
    )
    return w.op("matmul", [a, b], clauses, (*batch, m, n), result, w.saturation(result))


def binary(w: Writer) -> Value:
    rng = w.rng
    x = w.some(lambda v: True, lambda: (w.shape(0, 5), w.element(ELEMENTS)))
    shape = list(x.shape)
    kind = rng.random()
    if kind < 0.3:  # the other operand is broadcast
        other = [1 if rng.random() < 0.5 else n for n in shape][rng.randint(0, len(shape)) :]
        y, full = w.get(tuple(other), x.dtype), tuple(shape)
    elif kind < 0.45 and math.prod(shape) * 5 < LIMIT and len(shape) < 5:  # both are
        other = [n if n > 1 else rng.choice((1, 3)) for n in shape]
        full = (rng.choice((1, 2, 3)), *other)
        y = w.get(
            (
                full[0],
                *(n if rng.random() < 0.7 or have == 1 else 1 for n, have in zip(other, shape, strict=True)),
            ),
            x.dtype,
        )
        full = np.broadcast_shapes(x.shape, y.shape)
    else:
        y, full = w.get(x.shape, x.dtype), x.shape
    operands = [x, y] if rng.random() < 0.7 else [y, x]
    dtype = x.dtype
    if not is_integer(dtype) and rng.random() < 0.3:
        dtype = rng.choice(FLOATS)
    if rng.random() < 0.2:
        return w.op(f"compare {rng.choice(DIRECTIONS)}", operands, "", tuple(full), "i1")
    if rng.random() < 0.1:
        return w.op("select", [w.get(y.shape, "i1"), *operands], "", tuple(full), x.dtype)
    name = rng.choice(PAIRS[kind_of(x.dtype)])
    dtype = x.dtype if name in EXACT else dtype
    return w.op(name, operands, "", tuple(full), dtype, "" if name in EXACT else w.saturation(dtype))


def unary(w: Writer) -> Value:
    rng = w.rng
    x = w.some(lambda v: True, lambda: (w.shape(0, 5), w.element(ELEMENTS)))
    if is_integer(x.dtype):
        return w.op(rng.choice(SINGLE[kind_of(x.dtype)]), [x], "", x.shape, x.dtype)
    name = rng.choice(FUNCTIONS)
    if name == "is_finite":
        return w.op(name, [x], "", x.shape, "i1")
    dtype = rng.choice(FLOATS) if rng.random() < 0.4 else x.dtype
    clause = f"approximate {rng.choice(('tanh', 'none'))}" if name == "gelu" else ""
    return w.op(name, [x], clause, x.shape, dtype, w.saturation(dtype))


def operations_of(operands: int) -> dict[str, tuple[str, ...]]:
    """The operations on so many single elements that each kind of elements has."""
    found = {name: pointwise.functions_of(name)[0] for name in pointwise.OPERATIONS if name != "compare"}
    return {
        kind: tuple(n for n, facts in found.items() if facts.operands == operands and kind in facts.kinds)
        for kind in ("floats", "integers", "booleans")
    }


def kind_of(dtype: str) -> str:
    return "booleans" if dtype == "i1" else "integers" if is_integer(dtype) else "floats"


SINGLE, PAIRS = operations_of(1), operations_of(2)
FUNCTIONS = SINGLE["floats"]
EXACT = ("and", "or", "xor", "not", "shift_left", "shift_right_arithmetic", "shift_right_logical")
"""What rounds nothing."""
TURNS = [(element, name) for element in (*TYPES, *INTEGERS, "i1") for name in PAIRS[kind_of(element)]]
WHOLE = [(element, name) for element in (*INTEGERS, "i1") for name in SINGLE[kind_of(element)]]
"""Operations on two elements, and on one that is no float, by turns."""
DIRECTIONS = ("eq", "ne", "lt", "le", "gt", "ge")


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
    return found


def cast(w: Writer) -> Value:
    x = w.some(lambda v: True, lambda: (w.shape(0, 4), w.element(ELEMENTS)))
    return cast_to(w, x, w.rng.choice((*ELEMENTS, *INTEGERS)))


def cast_to(w: Writer, x: Value, dtype: str) -> Value:
    rng = w.rng
    clauses = ""
    if "i1" in (dtype, x.dtype):
        return w.op("cast", [x], "", x.shape, dtype)
    if not (is_integer(dtype) and is_integer(x.dtype)) and rng.random() < 0.4:
        clauses = f"scale {rng.randint(-3, 3)}"
    if is_integer(dtype) and not is_integer(x.dtype) and rng.random() < 0.5:
        clauses += " rounding truncate"
    attributes = "saturate = false" if is_integer(dtype) and rng.random() < 0.4 else w.saturation(dtype)
    return w.op("cast", [x], clauses.strip(), x.shape, dtype, attributes)


def reduce(w: Writer) -> Value:
    rng = w.rng
    x = w.some(lambda v: True, lambda: (w.shape(0, 4), w.element(ELEMENTS)))
    axes = sorted(rng.sample(range(len(x.shape)), min(len(x.shape), rng.choice((0, 1, 1, 1, 2, 2, 3)))))
    integer = is_integer(x.dtype)
    kind = rng.choice(
        ("any", "all")
        if x.dtype == "i1"
        else ("sum", "max", "min", "prod")
        if integer
        else ("sum", "max", "min", "prod", "mean", "mean")
    )
    keep = rng.random() < 0.4
    shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape) if keep or i not in axes)
    dtype = (
        x.dtype
        if x.dtype == "i1"
        else rng.choice((x.dtype, "i32"))
        if integer
        else rng.choice((x.dtype, "f32", *FLOATS))
    )
    result = Value(w.fresh(), shape, dtype)
    saturation = "" if integer else w.saturation(dtype)
    w.lines.append(
        f"{w.indent}{result.name} = tile_tensor.reduce {kind} {x.name} axes [{', '.join(map(str, axes))}]"
        f"{' keep_dims' if keep else ''}{' {' + saturation + '}' if saturation else ''}"
        f" : ({x.type}) -> {result.type}"
    )
    w.values.append(result)
    return result


SCALES = ("0.125", "0.3", "1.0", "-0.5", "3.0")


def layer_norm(w: Writer) -> Value:
    return norm(w, "layer_norm")


def rms_norm(w: Writer) -> Value:
    return norm(w, "rms_norm")


def softmax(w: Writer) -> Value:
    return norm(w, "softmax")


def norm(w: Writer, name: str) -> Value:
    rng = w.rng
    x = w.some(lambda v: v.shape and not is_integer(v.dtype), lambda: (w.shape(1, 4), w.element(FLOATS)))
    axis = rng.randrange(len(x.shape)) if rng.random() < 0.4 else len(x.shape) - 1
    columns = (x.shape[axis],)
    along = f"axis {axis} " if axis < len(x.shape) - 1 or rng.random() < 0.2 else ""
    dtype = rng.choice((x.dtype, x.dtype, *FLOATS))
    if name == "softmax":
        clauses = along + (f"scale {rng.choice(SCALES)}" if rng.random() < 0.6 else "")
        return w.op(name, [x], w.with_empty_rows(clauses), x.shape, dtype, w.saturation(dtype))
    vectors = [w.get(columns, rng.choice(FLOATS)) for _ in range(2 if name == "layer_norm" else 1)]
    epsilon = f"{along}epsilon {rng.choice(('1.0e-05', '1.0e-06', '0.1', '0.0'))}"
    aside = random.Random(f"{len(w.lines)} {epsilon} {x.type} {dtype}")
    if name == "layer_norm" and aside.random() < 0.3:
        vectors = []
    if name == "layer_norm" and aside.random() < 0.2:
        epsilon += f" scale {aside.randint(-6, 6)}"
    result = w.op(name, [x, *vectors], epsilon, x.shape, dtype, w.saturation(dtype))
    if name == "layer_norm" and aside.random() < 0.4:
        stored = aside.choice(FP8)
        saturation = aside.choice(("", "saturate = false"))
        return w.op("cast", [result], f"scale {aside.randint(-6, 3)}", x.shape, stored, saturation)
    return result


def attention(w: Writer) -> Value:
    rng = w.rng
    dtype = w.element(FLOATS)
    q = w.some(lambda v: 2 <= len(v.shape) and v.dtype == dtype, lambda: (w.shape(2, 4), dtype))
    batch, queries, depth = q.shape[:-2], q.shape[-2], q.shape[-1]
    keys, value_depth = rng.choice(EXTENTS), rng.choice(EXTENTS)
    shared = batch
    if batch and rng.random() < 0.5:  # fewer heads of keys and values
        shared = (*batch[:-1], rng.choice([n for n in range(1, batch[-1] + 1) if batch[-1] % n == 0]))
    k, v = w.get((*shared, keys, depth), dtype), w.get((*shared, keys, value_depth), dtype)
    result = rng.choice((dtype, *FLOATS))
    operands = [q, k, v]
    if rng.random() < 0.5:
        if rng.random() < 0.3:
            rank = rng.randint(0, len(batch))
            own = tuple(rng.choice((1, n)) for n in (*batch[len(batch) - rank :], queries))
            operands.append(w.get((*own, keys), "i1"))
        else:
            operands.append(w.mask(batch, queries, keys, rng.choice(FLOATS)))
    narrow = dtype == "f16" or dtype in FP8
    accumulate = rng.choice((None, "f16", "f32") if narrow else (None, None, "f32"))
    clauses = f"accumulate {accumulate}" if accumulate else ""
    if rng.random() < 0.7:
        clauses += f" scale {rng.choice(SCALES)}"
    if len(operands) > 3 and rng.random() < 0.4:
        clauses += " mask_place after_scale"
    causal, window = rng.random() < 0.3, rng.random() < 0.25
    clauses += " causal" if causal else ""
    clauses += f" window {rng.choice((1, 2, 5, 40))}" if window else ""
    if (causal or window) and rng.random() < 0.6:
        clauses += f" query_offset {rng.choice((keys - queries, -queries, -2, 1, keys))}"
    return w.op(
        "attention",
        operands,
        w.with_empty_rows(clauses.strip()),
        (*q.shape[:-1], value_depth),
        result,
        w.saturation(result),
    )


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


def windows(w: Writer, extents: Sequence[int], least: int = 1) -> tuple[Shape, dict[str, list[int]], Shape]:
    """Sizes of windows over these extents, the clauses that say how they move, and how often they fit."""
    rng = w.rng
    size = tuple(rng.randint(min(least, n), min(n, 3)) for n in extents)
    given = {
        "strides": [rng.choice((1, 1, 2, 3)) for _ in extents],
        "low": [rng.choice((0, 0, 1, 2)) for _ in extents],
        "high": [rng.choice((0, 0, 1)) for _ in extents],
        "dilation": [rng.choice((1, 1, 2)) for _ in extents],
    }
    room = [a + n + b for a, n, b in zip(given["low"], extents, given["high"], strict=True)]
    given["dilation"] = [
        d if (k - 1) * d < n else 1 for d, k, n in zip(given["dilation"], size, room, strict=True)
    ]
    result = tuple(
        (n - (k - 1) * d - 1) // s + 1
        for n, k, d, s in zip(room, size, given["dilation"], given["strides"], strict=True)
    )
    for name in list(given):
        if rng.random() < 0.7 and all(n == (name in ("strides", "dilation")) for n in given[name]):
            del given[name]
    return size, given, result


def convolution(w: Writer) -> Value:
    rng = w.rng
    axes = rng.choice((1, 1, 2, 2))
    channels = rng.choice((1, 2, 4, 6))
    dtype = w.element(FLOATS)
    shape = (rng.choice((1, 2)), *(rng.randint(1, 6) for _ in range(axes)), channels)
    x = w.some(lambda v: v.dtype == dtype and 3 <= len(v.shape) <= 4 and v.shape[-1] in (1, 2, 4, 6)
               and math.prod(v.shape) <= 300, lambda: (shape, dtype))  # fmt: skip
    channels = x.shape[-1]
    size, given, result = windows(w, x.shape[1:-1])
    groups = rng.choice((1, channels, channels, *((2,) if channels % 2 == 0 else ())))
    outputs = groups * rng.choice((1, 1, 2, 3))
    weights = w.argument((*size, channels // groups, outputs), dtype)
    clauses = " ".join(f"{name} {_array(values)}" for name, values in given.items())
    clauses += f" groups {groups}" if groups > 1 else ""
    out = rng.choice((dtype, *FLOATS))
    return w.op(
        "convolution", [x, weights], clauses.strip(), (x.shape[0], *result, outputs), out, w.saturation(out)
    )


def reduce_window(w: Writer) -> Value:
    rng = w.rng
    elements = tuple(e for e in ELEMENTS if e != "i1")
    x = w.some(
        lambda v: 1 <= len(v.shape) <= 4 and v.dtype != "i1" and math.prod(v.shape) <= LIMIT // 3,
        lambda: (w.shape(1, 4, LIMIT // 3), w.element(elements)),
    )
    rank = len(x.shape)
    moving = sorted(rng.sample(range(rank), min(rank, rng.choice((1, 2, 2)))))
    part, given, result = windows(w, [x.shape[axis] for axis in moving])
    size, shape = [1] * rank, list(x.shape)
    clauses = {name: [int(name in ("strides", "dilation"))] * rank for name in given}
    for i, axis in enumerate(moving):
        size[axis], shape[axis] = part[i], result[i]
        for name, values in given.items():
            clauses[name][axis] = values[i]
    integer = is_integer(x.dtype)
    kind = rng.choice(("sum", "max", "min") if integer else ("sum", "max", "min", "mean"))
    dtype = x.dtype if integer else rng.choice((x.dtype, "f32", *FLOATS))
    text = " ".join(f"{name} {_array(values)}" for name, values in clauses.items())
    return w.op(
        f"reduce_window {kind}",
        [x],
        f"size {_array(size)} {text}".strip(),
        tuple(shape),
        dtype,
        "" if integer else w.saturation(dtype),
    )


def ordering(w: Writer) -> Value:
    """An order, a running sum, or where an extreme lies, along some axis; ties and NaN among the values."""
    rng = w.rng
    elements = tuple(e for e in ELEMENTS if e != "i1")
    x = w.some(lambda v: v.shape and v.dtype != "i1", lambda: (w.shape(1, 4), w.element(elements)))
    if rng.random() < 0.3 and not is_integer(x.dtype):
        x = w.op("round", [x], "", x.shape, x.dtype)
    return ordered(w, x, rng.choice(ORDERS))


ORDERS = ("argmax", "argmin", "cumsum", "sort", "argsort", "top_k", "top_k_indices")
ORDER_TURNS = [(element, name) for element in (*TYPES, *INTEGERS) for name in ORDERS]


def ordered(w: Writer, x: Value, name: str) -> Value:
    rng = w.rng
    axis = rng.randrange(len(x.shape))
    along = f"axis {axis}" if axis < len(x.shape) - 1 or rng.random() < 0.3 else ""
    if name.startswith("arg") and name != "argsort":
        return w.op(name, [x], along, (*x.shape[:axis], *x.shape[axis + 1 :]), "i32")
    if name == "cumsum":
        dtype = x.dtype if is_integer(x.dtype) else rng.choice((x.dtype, *FLOATS))
        attributes = "" if is_integer(dtype) else w.saturation(dtype)
        return w.op(name, [x], along, x.shape, dtype, attributes)
    dtype = "i32" if name in ("argsort", "top_k_indices") else x.dtype
    if name.startswith("top"):
        count = rng.randint(1, x.shape[axis])
        shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
        return w.op(name, [x], f"count {count} {along}".strip(), shape, dtype)
    clauses = f"{along} {rng.choice(('', 'descending'))}".strip()
    return w.op(name, [x], clauses, x.shape, dtype)


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


def bias_gelu(w: Writer) -> Value:
    """A sum and its gelu, to be fused where their types allow it; or the fused operation itself."""
    rng = w.rng
    x = w.some(lambda v: v.shape and v.dtype in FLOATS, lambda: (w.shape(1, 3), w.element(FLOATS)))
    y = w.get(x.shape[-1:], x.dtype)
    last = rng.choice((x.dtype, x.dtype, *FLOATS))
    if rng.random() < 0.4:
        y = y if rng.random() < 0.5 else w.get(x.shape[-1:], rng.choice(FLOATS))
        return w.op("bias_gelu", [x, y], "", x.shape, last, w.saturation(last))
    dtype = rng.choice((x.dtype, x.dtype, x.dtype, *FLOATS))
    total = w.op("add", [x, y], "", x.shape, dtype, w.saturation(dtype))
    return w.op("gelu", [total], "approximate tanh", total.shape, last, w.saturation(last))


def linear(w: Writer) -> Value:
    """A product and what is added to it, apart, to be fused where its types allow it, or as its addends."""
    rng = w.rng
    kind = rng.choice(("f8", "f16", "f16", "f32", "bf16"))
    types = FP8 if kind == "f8" else (kind,)
    batch = rng.choice(((), (), (), (2,)))
    m, k, n = rng.choice((1, 3, 5, 12)), rng.choice((3, 16, 40, 96)), rng.choice((2, 7, 32, 64, 96))
    a, b = w.get((*batch, m, k), rng.choice(types)), w.get((*batch, k, n), rng.choice(types))
    result = rng.choice(
        {"f8": ("f16", "f16", "f16", "f32", a.dtype), "f16": ("f16", "f16", "f32")}.get(kind, (kind,))
    )
    accumulate = rng.choice((None, "f16", "f32") if kind in ("f8", "f16") else (None, "f32"))
    narrow = accumulate == "f16" or (accumulate is None and kind == "f8" and result != "f32")
    clauses = f"accumulate {accumulate}" if accumulate else ""
    full = (*batch, m, n)
    if rng.random() < 0.4:
        of = rng.choice(("f16", *FP8) if narrow else FLOATS)
        addends = [w.get(rng.choice((full, (n,))), of) for _ in range(rng.choice((1, 2, 3)))]
        clauses = f"plus {', '.join(v.name for v in addends)} {clauses}".strip()
        return w.op("matmul", [a, b], clauses, full, result, w.saturation(result), more=addends)
    total = w.op("matmul", [a, b], clauses, full, result, w.saturation(result))
    for shape in rng.choice((((n,),), (full,), ((n,), full), (full, (n,)), ((n,), (n,)))):
        other = w.get(shape, result if rng.random() < 0.9 else rng.choice(FLOATS))
        if other.dtype != total.dtype:
            return total
        operands = [total, other] if rng.random() < 0.7 else [other, total]
        total = w.op("add", operands, "", full, total.dtype, w.saturation(total.dtype))
    return total


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
        f"permutation {_array(permutation)}",
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
        clauses = f" strides {_array(steps)}"
    clauses = f"offsets {_array(offsets)} sizes {_array(sizes)}{clauses}"
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
    return w.op("broadcast", [x], f"dimensions {_array(dims)}", tuple(shape), x.dtype)


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
    between = f" interior {_array(inside)}" if any(inside) else ""
    return w.op("pad", [x], f"low {_array(low)} high {_array(high)}{between} {value}".strip(), shape, x.dtype)


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


def repeated(seed: int) -> Program:
    """A program with one or two repeats."""
    w = Writer(random.Random(seed))
    results: list[Value] = []
    for _ in range(w.rng.choice((1, 1, 2))):
        for _ in range(w.rng.randint(0, 1)):
            results.append(w.rng.choice(OPERATIONS)(w))
        results.append(repeat(w))
    if w.rng.random() < 0.5:
        results.append(w.rng.choice(OPERATIONS)(w))
    return finish(w, [results[-1], *w.rng.sample(results[:-1], min(len(results) - 1, 1)), *w.collected])


def _array(values: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, values)) + "]"


OPERATIONS: tuple[Callable[[Writer], Value], ...] = (
    matmul, linear, binary, binary, unary, cast, reduce, reduce, layer_norm, rms_norm, softmax,
    attention, attention, transpose, reshape,
    slice_, broadcast, concat, pad, gather, bias_gelu, sequence, concat, bias_gelu,
    convolution, reduce_window, one_hot, ordering, ordering, ordering, scatter_add,
)  # fmt: skip


# -- programs ------------------------------------------------------------------------------------------------


def program(seed: int, first: Callable[[Writer], Value] | None = None) -> Program:
    """A program of one to six operations; `first` fixes which comes first."""
    w = Writer(random.Random(seed), turn=seed // len(OPERATIONS))
    results = [first(w)] if first is not None else []
    for _ in range(w.rng.randint(1, 4)):
        results.append(w.rng.choice(OPERATIONS)(w))
    outputs = [results[-1], *w.rng.sample(results[:-1], min(len(results) - 1, w.rng.randint(0, 2)))]
    return finish(w, [*outputs, *siblings(w, seed), *(boxes(w, seed) if seed % 3 == 0 else ())])


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


def finish(w: Writer, outputs: Sequence[Value]) -> Program:
    outputs = list(dict.fromkeys(outputs))
    types = ", ".join(f'{v.type} {{tile_tensor.output = "{v.name[1:]}"}}' for v in outputs)
    text = "\n".join(
        [
            f"func.func @main({', '.join(w.arguments)}) -> ({types}) {{",
            *w.lines,
            f"  return {', '.join(v.name for v in outputs)} : {', '.join(v.type for v in outputs)}",
            "}",
        ]
    )
    return Program(text, w.inputs, w.parameters)
