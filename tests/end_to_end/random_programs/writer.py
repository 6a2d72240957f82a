# SPDX-License-Identifier: Apache-2.0
"""What collects a program's arguments, lines and values: the source of operands of every operation."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tilewright.machine.dtypes import float_format, is_integer, numpy_dtype

from .values import EXTENTS, FP8, KINDS, LIMIT, Program, Shape, Value, literal, nested, special_values


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
        text = literal(data.reshape(-1)[0]) if splat and data.size else nested(data)
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
