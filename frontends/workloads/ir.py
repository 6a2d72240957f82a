# SPDX-License-Identifier: Apache-2.0
"""
Writes programs of `tile_tensor` and `tile_repeat` as text, with readable value names and rolled repeats.

A `Value` knows the scale of what it holds (value = stored * 2^scale), so the scales of casts and matmuls
follow from their operands: no workload computes one by hand. Text, not op objects: a program reads exactly as
its author wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Value:
    """An SSA value: `stored * 2^scale` is what it means."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    scale: int = 0

    @property
    def type(self) -> str:
        return f"tensor<{''.join(f'{extent}x' for extent in self.shape)}{self.dtype}>"


@dataclass(frozen=True)
class Members:
    """An SSA value that holds one member per iteration of a repeat."""

    name: str
    count: int
    member: Value

    @property
    def type(self) -> str:
        return f"!tile_repeat.sequence<{self.count} x {self.member.type}>"


def _ints(values: Sequence[int]) -> str:
    return f"[{', '.join(map(str, values))}]"


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    rank = max(len(a), len(b))
    padded = [(1,) * (rank - len(shape)) + shape for shape in (a, b)]
    return tuple(max(pair) for pair in zip(*padded, strict=True))


@dataclass
class Block:
    """Operations in order. Every method appends one and returns its result, named `name`."""

    indent: str = "    "
    lines: list[str] = field(default_factory=list[str])

    def _op(self, name: str, op: str, operands: Sequence[Value], clauses: str, result: Value) -> Value:
        text = f"{op} {', '.join('%' + value.name for value in operands)}{clauses and ' ' + clauses}"
        types = ", ".join(value.type for value in operands)
        self.lines.append(f"{self.indent}%{name} = tile_tensor.{text} : ({types}) -> {result.type}")
        return result

    # -------------------------------------------------------------------------------------- computation

    def cast(self, name: str, x: Value, dtype: str, scale: int = 0) -> Value:
        """`x` as `dtype`, stored at `scale` whatever the scale of `x` is."""
        step = scale - x.scale
        return self._op(
            name, "cast", [x], f"scale {step}" if step else "", Value(name, x.shape, dtype, scale)
        )

    def matmul(self, name: str, a: Value, w: Value, dtype: str, accumulate: str) -> Value:
        """The plain product (scale 0) of `a` (rows, k) and `w` (k, columns)."""
        scale = a.scale + w.scale
        clauses = f"accumulate {accumulate}" + (f" scale {scale}" if scale else "")
        return self._op(name, "matmul", [a, w], clauses, Value(name, (*a.shape[:-1], w.shape[-1]), dtype))

    def add(self, name: str, a: Value, b: Value) -> Value:
        return self.binary(name, "add", a, b)

    def binary(self, name: str, op: str, a: Value, b: Value) -> Value:
        """`op` of `a` and `b`, broadcast as numpy does; the type of `a`."""
        if a.scale or b.scale:
            raise ValueError(f"%{name} would {op} scaled values")
        return self._op(name, op, [a, b], "", Value(name, _broadcast(a.shape, b.shape), a.dtype))

    def unary(self, name: str, op: str, x: Value) -> Value:
        if x.scale:
            raise ValueError(f"%{name} would {op} a scaled value")
        return self._op(name, op, [x], "", replace(x, name=name))

    def constant(self, name: str, value: float, dtype: str = "f16") -> Value:
        """One value, of rank 1 to broadcast."""
        result = Value(name, (1,), dtype)
        self.lines.append(f"{self.indent}%{name} = tile_tensor.constant dense<{value:e}> : {result.type}")
        return result

    def reduce_sum(self, name: str, x: Value, axis: int) -> Value:
        """Over one axis, which stays with extent 1."""
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        text = f"tile_tensor.reduce sum %{x.name} axes [{axis}] keep_dims"
        result = replace(x, name=name, shape=shape)
        self.lines.append(f"{self.indent}%{name} = {text} : ({x.type}) -> {result.type}")
        return result

    def gelu(self, name: str, x: Value, approximate: bool = True) -> Value:
        return self._op(name, "gelu", [x], "approximate tanh" if approximate else "", replace(x, name=name))

    def layer_norm(self, name: str, x: Value, gamma: Value, beta: Value, epsilon: float) -> Value:
        return self._op(name, "layer_norm", [x, gamma, beta], f"epsilon {epsilon:e}", replace(x, name=name))

    def attention(
        self,
        name: str,
        q: Value,
        k: Value,
        v: Value,
        scale: float,
        accumulate: str,
        mask: Value | None = None,
    ) -> Value:
        """
        Softmax of the scaled true products of `q` and `k`; the result is f16 and keeps the scale of `v`.

        `mask` is added to the products as they are stored: only its zeros and its lowest values have a
        meaning that does not depend on their scale.
        """
        scale *= 2.0 ** (q.scale + k.scale)
        result = Value(name, (*q.shape[:-1], v.shape[-1]), "f16", v.scale)
        operands = [q, k, v] if mask is None else [q, k, v, mask]
        return self._op(name, "attention", operands, f"accumulate {accumulate} scale {scale!r}", result)

    def gather(self, name: str, table: Value, indices: Value) -> Value:
        """Rows of `table` by their numbers."""
        shape = (*indices.shape, *table.shape[1:])
        return self._op(name, "gather", [table, indices], "", replace(table, name=name, shape=shape))

    # ----------------------------------------------------------------------------------------- movement

    def reshape(self, name: str, x: Value, shape: Sequence[int]) -> Value:
        return self._op(name, "reshape", [x], "", replace(x, name=name, shape=tuple(shape)))

    def transpose(self, name: str, x: Value, permutation: Sequence[int]) -> Value:
        shape = tuple(x.shape[axis] for axis in permutation)
        return self._op(
            name, "transpose", [x], f"permutation {_ints(permutation)}", replace(x, name=name, shape=shape)
        )

    def slice(self, name: str, x: Value, offsets: Sequence[int], sizes: Sequence[int]) -> Value:
        clauses = f"offsets {_ints(offsets)} sizes {_ints(sizes)}"
        return self._op(name, "slice", [x], clauses, replace(x, name=name, shape=tuple(sizes)))

    def concat(self, name: str, parts: Sequence[Value], axis: int) -> Value:
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        return self._op(
            name, "concat", parts, f"axis {axis}", replace(parts[0], name=name, shape=tuple(shape))
        )

    def broadcast(self, name: str, x: Value, shape: Sequence[int], dimensions: Sequence[int]) -> Value:
        clauses = f"dimensions {_ints(dimensions)}"
        return self._op(name, "broadcast", [x], clauses, replace(x, name=name, shape=tuple(shape)))

    # ------------------------------------------------------------------------------------------- repeat

    def repeat(
        self,
        name: str,
        repeat: str,
        x: Value,
        argument: str,
        iterated: Mapping[str, Members],
        body: Block,
        last: Value,
        invariant: Mapping[str, Value] | None = None,
    ) -> Value:
        """
        A repeat called `repeat` that carries `x` as `argument` through `body`, whose value is `last`.

        `iterated` gives the sequence behind each block argument of the body, `invariant` the value behind
        those that all iterations share.
        """
        count = next(iter(iterated.values())).count
        lines, at = self.lines, self.indent
        lines.append(
            f'{at}%{name} = tile_repeat.repeat "{repeat}" count {count} '
            f"carried(%{argument} = %{x.name} : {x.type})"
        )
        if invariant:
            shared = [f"%{key} = %{value.name} : {value.type}" for key, value in invariant.items()]
            lines.append(f"{at}  invariant({', '.join(shared)})")
        entries = [
            f"{at}    %{key} = %{sequence.name} : {sequence.type}" for key, sequence in iterated.items()
        ]
        lines.append(f"{at}  iterated(\n" + ",\n".join(entries) + f") -> ({x.type}) {{")
        lines.extend(body.lines)
        lines.append(f"{body.indent}tile_repeat.yield %{last.name} : {last.type}")
        lines.append(f"{at}}}")
        return replace(x, name=name)


# ------------------------------------------------------------------------------------------- the module


@dataclass(frozen=True)
class Argument:
    """An argument of the program and its attributes, as text."""

    name: str
    type: str
    attributes: str


def parameter(name: str, value: Value, tensor: str) -> Argument:
    return Argument(name, value.type, f'tile_tensor.parameter = "{tensor}"' + _scale(value))


def parameter_sequence(sequence: Members, tensors: Sequence[str]) -> Argument:
    names = ", ".join(f'"{tensor}"' for tensor in tensors)
    return Argument(
        sequence.name, sequence.type, f"tile_tensor.parameter = [{names}]" + _scale(sequence.member)
    )


def _scale(value: Value) -> str:
    return f", tile_tensor.scale = {value.scale} : i32" if value.scale else ""


def program(
    comment: str,
    inputs: Sequence[Value],
    parameters: Sequence[Argument],
    body: Block,
    outputs: Mapping[str, Value],
) -> str:
    """The module's text: one function `main`; `outputs` maps the outputs' names to the values returned."""
    arguments = [Argument(value.name, value.type, f'tile_tensor.input = "{value.name}"') for value in inputs]
    lines = [f"// {line}".rstrip() for line in comment.splitlines()]
    lines += ["builtin.module {", "  func.func @main("]
    entries = [
        f"      %{entry.name} : {entry.type} {{{entry.attributes}}}" for entry in (*arguments, *parameters)
    ]
    results = [f'      {value.type} {{tile_tensor.output = "{name}"}}' for name, value in outputs.items()]
    lines += [",\n".join(entries), "  ) -> (", ",\n".join(results), "  ) {", *body.lines]
    names = ", ".join("%" + value.name for value in outputs.values())
    types = ", ".join(value.type for value in outputs.values())
    lines += [f"    func.return {names} : {types}", "  }", "}"]
    return "\n".join(lines) + "\n"
