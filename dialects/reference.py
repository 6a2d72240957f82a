# SPDX-License-Identifier: Apache-2.0
"""
What a program computes: a plain numpy evaluation of `tile_tensor` and `tile_repeat`, the oracle of tests.

Operations compute in f64 on the values as they are stored, and each result is rounded once to its element
type; what the language itself holds in f32, the statistics of norms, is in f32. Nothing here knows of tiles,
passes of a matrix unit, or accumulation types, and no arithmetic is the machine model's: its results are
compared with these within `tilewright.dialects.bounds` (where they must be equal bit for bit, the machine
model's own oracle follows the plan). With `round_activations=False` only parameters, inputs and constants are
rounded, so that the result is that of arithmetic on the weights as quantised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.diagnostics import TileError
from tilewright.dialects import tile_repeat, tile_tensor
from tilewright.dialects.entry import Argument, read_entry
from tilewright.dialects.nearest import convert, nearest
from tilewright.dialects.tensor import shapes
from tilewright.dialects.tensor.shapes import show
from tilewright.dialects.tile_tensor import element_of, is_float, is_float8, shape_of
from tilewright.machine.dtypes import float_format, integer_range, numpy_dtype
from tilewright.machine.dtypes import is_integer as is_integer_name

Array = NDArray[Any]
Value = Array | tuple["Value", ...]
"""A tensor, or the members of a sequence."""


VALUE_NAME = "tile.value"
"""Discardable attribute with the name of an operation's result."""


class EvaluationError(TileError):
    """An operation without a reference semantics, or values that do not fit the program."""


def evaluate(
    module: ModuleOp,
    inputs: Mapping[str, Array],
    parameters: Mapping[str, Array] | None = None,
    *,
    round_activations: bool = True,
    keep: MutableMapping[str, Array] | None = None,
) -> dict[str, Array]:
    """
    The outputs of the program by name; those that are sequences with a leading axis of members.

    `inputs` and `parameters` hold logical values in any numeric type: they are rounded to the type of their
    argument, parameters after the multiplication by 2^-scale. `keep` is filled with every intermediate
    tensor, named as by `value_names`, inside a repeat as `layers[3].name`. Raises `EvaluationError` and
    `ProgramError`.
    """
    run = steps(module, inputs, parameters, round_activations=round_activations)
    while True:
        try:
            step = next(run)
        except StopIteration as end:
            return cast("dict[str, Array]", end.value)
        if keep is not None and step.name is not None:
            keep[step.path] = step.result


def compute(op: tile_tensor.TensorOperation, operands: Sequence[Array]) -> Array:
    """One operation's rounded result, for operands in the element types of the operation."""
    return _Evaluation(True, {}).compute(op, operands)[1]


@dataclass(frozen=True)
class Step:
    """
    One operation's evaluation: `exact` is the value before its rounding to `result` (f64 or integers; of a
    movement the result itself).

    `name` is that of `value_names` (None for a constant), `iteration` that of each enclosing repeat,
    outermost first, and `path` has both: `layers[3].scores`.
    """

    op: tile_tensor.TensorOperation
    name: str | None
    iteration: tuple[int, ...]
    path: str
    operands: tuple[Array, ...]
    exact: Array
    result: Array


Steps = Generator[Step, Array | None, dict[str, Array]]


def steps(
    module: ModuleOp,
    inputs: Mapping[str, Array],
    parameters: Mapping[str, Array] | None = None,
    *,
    round_activations: bool = True,
) -> Steps:
    """
    The evaluation of `evaluate`, operation by operation in program order; returns the outputs. What is sent
    in answer to a step takes the place of its result.
    """
    entry = read_entry(module)
    evaluation = _Evaluation(round_activations, value_names(entry.func))
    for argument in entry.arguments:
        source = inputs if argument.kind == "input" else parameters or {}
        evaluation.values[argument.value] = evaluation.load(argument, source)
    returned = yield from evaluation.run(entry.func.body.block)
    return {
        name: _stack(value, operand.type)
        for name, value, operand in zip(entry.outputs, returned, entry.return_op.operands, strict=True)
    }


def value_names(function: Operation) -> dict[SSAValue, str]:
    """
    A unique name for the result of every tensor operation below `function` but constants.

    It is the one that a pass has kept; else the value's name in the text, or that of its operation, behind
    the names of the enclosing repeats: `layers.scores`; the next value of that name is `layers.scores_2`.
    Plan files use the same names.
    """
    names: dict[SSAValue, str] = {}
    taken: set[str] = set()

    def name_block(block: Block, prefix: str) -> None:
        for op in block.ops:
            if isinstance(op, tile_repeat.RepeatOp):
                name_block(op.body_block, f"{prefix}{op.repeat_name.data}.")
            elif isinstance(op, tile_tensor.TensorOperation) and not isinstance(op, tile_tensor.ConstantOp):
                kept = op.attributes.get(VALUE_NAME)
                base = prefix + (op.result.name_hint or op.name.rpartition(".")[2])
                base = name = kept.data if isinstance(kept, StringAttr) else base
                number = 1
                while name in taken:
                    number += 1
                    name = f"{base}_{number}"
                taken.add(name)
                names[op.result] = name

    for region in function.regions:
        for block in region.blocks:
            name_block(block, "")
    return names


def constant_array(attribute: DenseIntOrFPElementsAttr) -> Array:
    """The elements of a dense attribute in its shape and element type."""
    dtype = numpy_dtype(str(attribute.get_element_type()))
    raw = attribute.data.data
    elements = np.frombuffer(raw, np.uint8) != 0 if dtype == np.bool_ else np.frombuffer(raw, dtype)
    shape = attribute.get_shape()
    splat = elements.size == 1 and len(shape) > 0
    return np.broadcast_to(elements, shape) if splat else elements.reshape(shape)


def _stack(value: Value, type_: Attribute) -> Array:
    if not isinstance(value, tuple):
        return value
    element = cast("tile_repeat.SequenceType", type_).element
    members = [_stack(member, element) for member in value]
    if members:
        return np.stack(members)
    inner = cast("tile_repeat.SequenceType", type_)
    return np.empty((*inner.counts, *inner.tensor.get_shape()), np.float32)


@dataclass
class _Evaluation:
    """The values of one run."""

    round_activations: bool
    names: Mapping[SSAValue, str]

    def __post_init__(self) -> None:
        self.values: dict[SSAValue, Value] = {}
        self.path = self.prefix = ""  # of the enclosing repeats, with and without iterations
        self.iteration: tuple[int, ...] = ()

    # Values at the border

    def load(self, argument: Argument, source: Mapping[str, Array]) -> Value:
        members = iter(argument.names)

        def build(type_: Attribute) -> Value:
            if isinstance(type_, tile_repeat.SequenceType):
                return tuple(build(type_.element) for _ in range(type_.count.data))
            return self._load_tensor(argument, next(members), cast("TensorType[Attribute]", type_), source)

        if argument.kind == "input" and isinstance(argument.type, tile_repeat.SequenceType):
            whole = self._find(argument, argument.name, source)
            return self._unstack(argument, np.asarray(whole), argument.type)
        return build(argument.type)

    def _find(self, argument: Argument, name: str, source: Mapping[str, Array]) -> Array:
        try:
            return np.asarray(source[name])
        except KeyError:
            raise EvaluationError(
                f"no value for the {argument.kind} {name!r}",
                location=argument.location,
                notes=(f"there are: {', '.join(source) or 'none'}",),
            ) from None

    def _load_tensor(
        self, argument: Argument, name: str, type_: TensorType[Attribute], source: Mapping[str, Array]
    ) -> Array:
        return self._convert(argument, name, self._find(argument, name, source), type_)

    def _convert(self, argument: Argument, name: str, array: Array, type_: TensorType[Attribute]) -> Array:
        if array.shape != type_.get_shape():
            raise EvaluationError(
                f"the {argument.kind} {name!r} has shape {show(array.shape)}, "
                f"the program expects {show(type_.get_shape())}",
                location=argument.location,
            )
        return self.stored(convert(array, str(type_.element_type), argument.scale))

    def _unstack(self, argument: Argument, array: Array, type_: Attribute) -> Value:
        if isinstance(type_, tile_repeat.SequenceType):
            if array.ndim == 0 or array.shape[0] != type_.count.data:
                raise EvaluationError(
                    f"the input {argument.name!r} has shape {show(array.shape)}, "
                    f"the program expects {type_.count.data} members",
                    location=argument.location,
                )
            return tuple(self._unstack(argument, member, type_.element) for member in array)
        return self._convert(argument, argument.name, array, cast("TensorType[Attribute]", type_))

    def stored(self, array: Array) -> Array:
        """A value as an operation finds it: in its own type, or in f32 if activations are not rounded."""
        return array if self.round_activations or array.dtype.kind in "ib" else array.astype(np.float32)

    # Running

    def run(self, block: Block) -> Generator[Step, Array | None, tuple[Value, ...]]:
        """Runs a block; the values its terminator returns."""
        for op in block.ops:
            match op:
                case ReturnOp() | tile_repeat.YieldOp():
                    return self.operands(op.operands)
                case tile_repeat.RepeatOp():
                    yield from self._repeat(op)
                case tile_repeat.PackOp():
                    self.values[op.result] = self.operands(op.members)
                case tile_repeat.MemberOp():
                    members = cast("tuple[Value, ...]", self.values[op.sequence])
                    self.values[op.result] = members[op.index.value.data]
                case tile_tensor.TensorOperation():
                    step = self._step(op)
                    sent = yield step
                    self.values[op.result] = step.result if sent is None else sent
                case _:
                    raise EvaluationError(f"{op.name} has no reference semantics", location=op.location)
        return ()

    def operands(self, values: Sequence[SSAValue]) -> tuple[Value, ...]:
        return tuple(self.values[value] for value in values)

    def _repeat(self, op: tile_repeat.RepeatOp) -> Generator[Step, Array | None, None]:
        state = self.operands(op.carried)
        for argument, value in zip(op.invariant_args, self.operands(op.invariant), strict=True):
            self.values[argument] = value
        sequences = cast("tuple[tuple[Value, ...], ...]", self.operands(op.iterated))
        collected: list[list[Value]] = [[] for _ in op.collected_results]
        outer = self.path, self.prefix, self.iteration
        self.prefix += f"{op.repeat_name.data}."
        for iteration in range(op.iterations):
            self.path = f"{outer[0]}{op.repeat_name.data}[{iteration}]."
            self.iteration = (*outer[2], iteration)
            for argument, value in zip(op.carried_args, state, strict=True):
                self.values[argument] = value
            for argument, members in zip(op.iterated_args, sequences, strict=True):
                self.values[argument] = members[iteration]
            yielded = yield from self.run(op.body_block)
            state = yielded[: len(state)]
            for members, value in zip(collected, yielded[len(state) :], strict=True):
                members.append(value)
        self.path, self.prefix, self.iteration = outer
        for result, value in zip(op.carried_results, state, strict=True):
            self.values[result] = value
        for result, members in zip(op.collected_results, collected, strict=True):
            self.values[result] = tuple(members)

    def _step(self, op: tile_tensor.TensorOperation) -> Step:
        operands = tuple(cast("Array", self.values[operand]) for operand in op.operands)
        exact, result = self.compute(op, operands)
        name = self.names.get(op.result)
        path = self.path + ("" if name is None else name.removeprefix(self.prefix))
        return Step(op, name, self.iteration, path, operands, exact, result)

    def compute(self, op: tile_tensor.TensorOperation, operands: Sequence[Array]) -> tuple[Array, Array]:
        """An operation's value before and after its rounding."""
        if isinstance(op, tile_tensor.ConstantOp):
            constant = self.stored(constant_array(op.value))
            return constant, constant
        if (move := _MOVES.get(type(op))) is not None:
            moved = move(op, *operands)
            return moved, moved
        if isinstance(op, tile_tensor.CastOp):
            element = element_of(op.result)
            target = str(element) if self.round_activations or not is_float(element) else "f32"
            truncate = op.rounding.data == tile_tensor.Rounding.TRUNCATE
            result = convert(operands[0], target, op.scale.value.data, saturates(op), truncate)
            return result, result
        semantics = _SEMANTICS.get(type(op))
        if semantics is None:
            raise EvaluationError(f"{op.name} has no reference semantics", location=op.location)
        with np.errstate(all="ignore"):
            value = np.asarray(semantics(op, *(_wide(operand) for operand in operands)))
        return value, self._rounded(op, value)

    def _rounded(self, op: tile_tensor.TensorOperation, value: Array) -> Array:
        element = element_of(op.result)
        if not is_float(element):
            return value.astype(numpy_dtype(str(element)))  # wraps
        if not self.round_activations:
            with np.errstate(all="ignore"):
                return value.astype(np.float32)
        return nearest(value, str(element), saturates(op))


# Semantics: (operation, operands as f64 or integers) -> f64 or integers ------------------------------


def saturates(op: tile_tensor.TensorOperation) -> bool:
    """Whether an 8-bit float result is held to its largest value."""
    return not isinstance(op, tile_tensor.RoundingOperation) or bool(op.saturate.value.data)


def _wide(array: Array) -> Array:
    return array if array.dtype.kind in "ib" else array.astype(np.float64)


def _each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A function of Python's floats on f64 arrays."""
    each = np.frompyfunc(function, 1, 1)
    return lambda x: np.asarray(each(x), np.float64)


_erf, _erfc = _each(math.erf), _each(math.erfc)


def _sigmoid(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def _silu(x: Array) -> Array:
    tail = np.exp(-np.abs(x))
    return np.where(x == -np.inf, -0.0, x * np.where(x < 0, tail, 1.0) / (1.0 + tail))


def _exp(x: Array) -> Array:
    """The exponential of a finite number is finite, however large."""
    return _finite(np.exp(x), np.isfinite(x))


def _finite(x: Array, finite: Array) -> Array:
    """The largest f64 in the place of infinities that are overflows: whose operands were `finite`."""
    return np.where(np.isinf(x) & finite, np.copysign(np.finfo(np.float64).max, x), x)


def _larger(a: Array, b: Array) -> Array:
    """NaN if either is; +0 is above -0."""
    larger = np.maximum(a, b)
    return larger if a.dtype.kind == "i" else np.where((a == 0) & (b == 0), a + b, larger)


def _smaller(a: Array, b: Array) -> Array:
    return np.minimum(a, b) if a.dtype.kind == "i" else -_larger(-a, -b)


def _gelu(op: tile_tensor.GeluOp, x: Array) -> Array:
    if op.approximate.data == tile_tensor.Approximation.TANH:
        return _gelu_tanh(x)
    return np.where(x == -np.inf, -0.0, 0.5 * x * _erfc(-x / np.sqrt(2.0)))


def _bias_gelu(op: tile_tensor.BiasGeluOp, x: Array, bias: Array) -> Array:
    return _gelu_tanh(x + bias)


def _gelu_tanh(x: Array) -> Array:
    """gelu in its tanh form; below -4 as e / (1 + e), e = exp(2 u), which does not cancel."""
    u = np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3)
    tail = np.exp(2.0 * np.minimum(u, 0.0))
    share = np.where(x < -4.0, tail / (1.0 + tail), 0.5 * (1.0 + np.tanh(u)))
    return np.where(x == -np.inf, -0.0, x * share)


def _divide(op: tile_tensor.DivOp, a: Array, b: Array) -> Array:
    """Integers: toward zero, by zero -1; the lowest one divided by -1 wraps to itself when it is stored."""
    if a.dtype.kind != "i":
        return a / b
    safe = np.where(b == 0, 1, b)  # exact in f64 for operands of 32 bits
    return np.where(b == 0, -1, np.trunc(a.astype(np.float64) / safe).astype(np.int64))


_COMPARISONS: dict[tile_tensor.Direction, Callable[[Array, Array], Array]] = {
    tile_tensor.Direction.EQ: lambda a, b: a == b,
    tile_tensor.Direction.NE: lambda a, b: ~(a == b),
    tile_tensor.Direction.LT: lambda a, b: a < b,
    tile_tensor.Direction.LE: lambda a, b: (a < b) | (a == b),
    tile_tensor.Direction.GT: lambda a, b: b < a,
    tile_tensor.Direction.GE: lambda a, b: (b < a) | (a == b),
}


def _compare(op: tile_tensor.CompareOp, a: Array, b: Array) -> Array:
    return _COMPARISONS[op.direction.data](a, b)


def _angle(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A function of finite angles; NaN for the others."""
    return _each(lambda x: function(x) if math.isfinite(x) else math.nan)


_sin, _cos = _angle(math.sin), _angle(math.cos)


def _atan2(a: Array, b: Array) -> Array:
    return np.asarray(np.frompyfunc(math.atan2, 2, 1)(a, b), np.float64)


def _sign(x: Array) -> Array:
    """Zeros and NaN are as they are."""
    return np.where(x > 0, 1, np.where(x < 0, -1, x))


def _remainder(a: Array, b: Array) -> Array:
    """Of integers by zero: all is left."""
    if a.dtype.kind != "i":
        return np.fmod(a, b)
    wide, safe = a.astype(np.int64), np.where(b == 0, 1, b).astype(np.int64)
    return np.where(b == 0, wide, np.sign(wide) * (np.abs(wide) % np.abs(safe)))


def _power(a: Array, b: Array) -> Array:
    """Of integers by Python's, the low bits are kept; negative powers are 0, but for 1 and -1."""
    if a.dtype.kind != "i":
        return _finite(np.power(a, b), np.isfinite(a) & np.isfinite(b) & (a != 0))

    def whole(x: int, n: int) -> int:
        power = pow(int(x), int(n), 1 << 32) if n >= 0 else {1: 1, -1: 1 - 2 * (int(n) & 1)}.get(int(x), 0)
        return power - (1 << 32) if power >= 1 << 31 else power

    return np.asarray(np.frompyfunc(whole, 2, 1)(a, b)).astype(np.int64)


def _shift(op: tile_tensor.TensorOperation, a: Array, b: Array) -> Array:
    """By Python's integers; a distance outside of the type leaves nothing, or copies of the sign."""
    bits = 8 * a.dtype.itemsize

    def whole(x: int, n: int) -> int:
        inside = 0 <= n < bits
        match op:
            case tile_tensor.ShiftLeftOp():
                return int(x) * 2 ** int(n) if inside else 0
            case tile_tensor.ShiftRightLogicalOp():
                return int(x) % 2**bits // 2 ** int(n) if inside else 0
            case _:
                return int(x) // 2 ** int(n) if inside else -int(x < 0)

    return np.asarray(np.frompyfunc(whole, 2, 1)(a, b)).astype(np.int64)


def _matmul(op: tile_tensor.MatmulOp, a: Array, b: Array, *addends: Array) -> Array:
    if op.transpose_a is not None:
        a = a.swapaxes(-1, -2)
    if op.transpose_b is not None:
        b = b.swapaxes(-1, -2)
    if a.dtype.kind == "i":
        return np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64)
    return sum(addends, np.ldexp(np.matmul(a, b), op.scale.value.data))


def scale_of(op: tile_tensor.SoftmaxOp | tile_tensor.AttentionOp) -> float:
    """The factor of the scores, as it is held: in f32."""
    return float(np.float32(op.scale.value.data))


def _softmax(op: tile_tensor.SoftmaxOp | tile_tensor.AttentionOp, scaled: Array) -> Array:
    """softmax of scaled scores; a row that is minus infinity throughout is what `empty_rows` says."""
    highest = scaled.max(axis=-1, keepdims=True, initial=-np.inf)
    raised = np.exp(scaled - highest)
    result = raised / raised.sum(axis=-1, keepdims=True)
    match op.empty_rows.data:
        case tile_tensor.EmptyRows.NAN:
            return result
        case tile_tensor.EmptyRows.ZERO:
            return np.where(highest == -np.inf, 0.0, result)
        case tile_tensor.EmptyRows.UNIFORM:
            return np.where(highest == -np.inf, 1.0 / max(scaled.shape[-1], 1), result)


def _attention(op: tile_tensor.AttentionOp, q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
    k, v = shared_heads(q, k), shared_heads(q, v)
    scaled = scaled_scores(op, np.matmul(q, k.swapaxes(-1, -2)), mask)
    return np.matmul(_softmax(op, scaled), v)


def shared_heads(q: Array, x: Array) -> Array:
    """Keys or values [.., g, tk, d] as every head of the queries [.., h, tq, d] sees them."""
    if q.ndim < 3 or q.shape[-3] == x.shape[-3]:
        return x
    return np.repeat(x, q.shape[-3] // x.shape[-3], axis=-3)


def scaled_scores(op: tile_tensor.AttentionOp, scores: Array, mask: Array | None) -> Array:
    """Scores with their mask and scale; minus infinity where a query does not see a key."""
    scale = scale_of(op)
    if mask is None:
        scaled = scores * scale
    elif mask.dtype.kind == "b":
        scaled = np.where(mask, scores * scale, -np.inf)
    elif op.mask_place.data is tile_tensor.MaskPlace.AFTER_SCALE:
        scaled = scores * scale + mask
    else:
        scaled = (scores + mask) * scale
    return np.where(visible_keys(op, *scores.shape[-2:]), scaled, -np.inf)


def visible_keys(op: tile_tensor.AttentionOp, queries: int, keys: int) -> Array:
    """Which keys a query sees, bool [tq, tk]."""
    ahead = np.arange(keys)[None, :] - (np.arange(queries)[:, None] + op.query_offset.value.data)
    seen = np.ones(ahead.shape, bool)
    if op.causal is not None:
        seen &= ahead <= 0
    if op.window is not None:
        seen &= np.abs(ahead) < op.window.value.data
    return seen


def _reduce(op: tile_tensor.ReduceOp, x: Array) -> Array:
    axes = tuple(op.axes.get_values())
    keep = op.keep_dims is not None
    if x.dtype.kind == "b":
        logical = np.any if op.kind.data == tile_tensor.Reduction.ANY else np.all
        return np.asarray(logical(x, axis=axes, keepdims=keep))
    integer = x.dtype.kind == "i"
    wide = x.astype(np.int64 if integer else np.float64)
    count = math.prod(x.shape[axis] for axis in axes)
    lowest, highest = _range_of_nothing(op)
    match op.kind.data:
        case tile_tensor.Reduction.PROD:
            product = wide.prod(axis=axes, keepdims=keep)
            finite = np.asarray(np.isfinite(wide).all(axis=axes, keepdims=keep))
            return product if integer else _finite(product, finite)
        case tile_tensor.Reduction.SUM | tile_tensor.Reduction.MEAN:
            total = wide.sum(axis=axes, keepdims=keep)
            if not integer:  # a sum is -0 if all its terms are
                negative = (count > 0) & ((x == 0) & np.signbit(x)).all(axis=axes, keepdims=keep)
                total = np.where(total == 0, np.where(negative, -0.0, 0.0), total)
            return total if op.kind.data == tile_tensor.Reduction.SUM else total / np.float64(count)
        case tile_tensor.Reduction.MAX:
            return _highest(wide, axes, keep, lowest if count == 0 else None)
        case _:
            return -_highest(-wide, axes, keep, -highest if count == 0 else None)


def _highest(x: Array, axes: tuple[int, ...], keep: bool, initial: float | None) -> Array:
    """The maximum; +0 is above -0."""
    if initial is not None:
        return x.max(axis=axes, keepdims=keep, initial=initial)
    highest = x.max(axis=axes, keepdims=keep)
    if x.dtype.kind == "i":
        return highest
    positive = ((x == 0) & ~np.signbit(x)).any(axis=axes, keepdims=keep)
    return np.where(highest == 0, np.where(positive, 0.0, -0.0), highest)


def _range_of_nothing(op: tile_tensor.ReduceOp) -> tuple[float, float]:
    """What the maximum and the minimum over nothing are: the ends of the type."""
    element = element_of(op.operand)
    if not is_float(element):
        info = np.iinfo(numpy_dtype(str(element)))
        return int(info.min), int(info.max)
    if is_float8(element_of(op.result)) and saturates(op):
        largest = float_format(str(element_of(op.result))).max_value
        return -largest, largest
    return -np.inf, np.inf


def _statistic(x: Array) -> Array:
    """A statistic of rows (a mean over the last axis) as it is held: in f32."""
    return x.mean(axis=-1, keepdims=True).astype(np.float32).astype(np.float64)


def _square(x: Array) -> Array:
    """The square; infinite beyond f32, which statistics are held in."""
    square = x * x
    return np.where(np.isinf(square.astype(np.float32)), np.inf, square)


def _inverse_root(x: Array, epsilon: float) -> Array:
    root = 1.0 / np.sqrt(x + float(np.float32(epsilon)))
    return root.astype(np.float32).astype(np.float64)


def _along(function: Callable[..., Array]) -> Callable[..., Array]:
    """An operation on rows, along the axis that it names."""

    def run(op: Any, x: Array, *vectors: Array) -> Array:
        axis = -1 if op.axis is None else op.axis.value.data
        return np.moveaxis(function(op, np.moveaxis(x, axis, -1), *vectors), -1, axis)

    return run


def _layer_norm(op: tile_tensor.LayerNormOp, x: Array, *vectors: Array) -> Array:
    centred = x - _statistic(x)
    result = centred * _inverse_root(_statistic(_square(centred)), op.epsilon.value.data)
    if vectors:
        gamma, beta = vectors
        result = result * gamma + beta
    return np.ldexp(result, -op.scale.value.data)


def _rms_norm(op: tile_tensor.RmsNormOp, x: Array, gamma: Array) -> Array:
    return x * _inverse_root(_statistic(_square(x)), op.epsilon.value.data) * gamma


def _shifted(x: Array, window: shapes.Window, at: Sequence[int], extents: Sequence[int], rest: Any) -> Array:
    """
    Of every window the element `at`, on the axes of the window (the first ones of x); `rest` outside of x.
    """
    for axis, extent in enumerate(extents):
        places = (
            np.arange(extent) * window.strides[axis] + at[axis] * window.dilation[axis] - window.low[axis]
        )
        padded = np.concatenate([x, np.full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), rest, x.dtype)], axis)
        outside = (places < 0) | (places >= x.shape[axis])
        x = padded.take(np.where(outside, x.shape[axis], places), axis)
    return x


def convolve(op: tile_tensor.ConvolutionOp, x: Array, weights: Array) -> Array:
    """The sums of products of a convolution, f64."""
    window = op.window(weights.shape[:-2])
    extents, groups = shape_of(op.result)[1:-1], op.groups.value.data
    picture = np.moveaxis(x, 0, -2)  # [s.., n, c]
    total = np.zeros((*extents, x.shape[0], weights.shape[-1]))
    for at in np.ndindex(*window.size):
        seen = _shifted(picture, window, at, extents, 0.0)
        seen = seen.reshape(*seen.shape[:-1], groups, weights.shape[-2])
        matrix = weights[at].reshape(
            weights.shape[-2], groups, weights.shape[-1] // groups
        )  # [c / groups, groups, o / groups]
        total = total + np.einsum("...gc,cgo->...go", seen, matrix).reshape(total.shape)
    return np.moveaxis(total, -2, 0)


def under_windows(op: tile_tensor.ReduceWindowOp, x: Array, rest: Any) -> Array:
    """What lies under each window, on a last axis; `rest` beside the operand."""
    window, extents = op.window(tuple(op.size.get_values())), shape_of(op.result)
    taps = [_shifted(x, window, at, extents, rest) for at in np.ndindex(*window.size)]
    return np.stack(taps, axis=-1)


def _reduce_window(op: tile_tensor.ReduceWindowOp, x: Array) -> Array:
    kind, integer = op.kind.data, x.dtype.kind == "i"
    lowest, highest = _range_of_type(str(element_of(op.operand)))
    rest = {tile_tensor.WindowReduction.MAX: lowest, tile_tensor.WindowReduction.MIN: highest}.get(kind, 0)
    wide = x.astype(np.int64 if integer else np.float64)
    seen = under_windows(op, wide, rest)
    match kind:
        case tile_tensor.WindowReduction.MAX:
            return _highest(seen, (-1,), False, None)
        case tile_tensor.WindowReduction.MIN:
            return -_highest(-seen, (-1,), False, None)
        case _:
            total = seen.sum(axis=-1)
            if not integer:  # a sum is -0 if all its terms are
                negative = ((seen == 0) & np.signbit(seen)).all(axis=-1)
                total = np.where(total == 0, np.where(negative, -0.0, 0.0), total)
            mean = kind == tile_tensor.WindowReduction.MEAN
            return total / np.float64(seen.shape[-1]) if mean else total


def _range_of_type(dtype: str) -> tuple[float, float]:
    """The ends of a type, infinite where it has infinities."""
    if is_integer_name(dtype):
        return integer_range(dtype)
    fmt = float_format(dtype)
    highest = np.inf if fmt.has_inf else fmt.max_value
    return -highest, highest


def _one_hot(op: tile_tensor.OneHotOp, indices: Array) -> Array:
    result = np.zeros(shape_of(op.result), numpy_dtype(str(element_of(op.result))))
    for number in range(result.shape[-1]):
        result[..., number] = np.asarray(indices == number).astype(result.dtype)
    return result


def _extreme_index(op: Any, x: Array) -> Array:
    axis = -1 if op.axis is None else op.axis.value.data
    highest = isinstance(op, tile_tensor.ArgmaxOp)
    extreme = (x.max if highest else x.min)(axis=axis, keepdims=True)
    return np.asarray(
        ((x == extreme) | (x != x)).argmax(axis=axis), np.int64
    )  # NaN alone differs from itself


def _order(op: Any, x: Array) -> Array:
    """The places of a sort: by whether it is NaN, by value, by place."""
    axis = -1 if op.axis is None else op.axis.value.data
    rows = np.moveaxis(x, axis, -1)
    rows = rows.astype(np.int64) if rows.dtype.kind == "i" else rows.astype(np.float64)
    falling = getattr(op, "descending", True) is not None
    place = np.broadcast_to(np.arange(rows.shape[-1]), rows.shape)
    nan = rows != rows
    keys = (place, np.where(nan, 0, -rows if falling else rows), ~nan if falling else nan)
    return np.moveaxis(np.lexsort(keys, axis=-1), -1, axis)


def _sorted(op: Any, x: Array) -> Array:
    return np.take_along_axis(x, _order(op, x), axis=-1 if op.axis is None else op.axis.value.data)


def _largest(function: Callable[[Any, Array], Array]) -> Callable[[Any, Array], Array]:
    """The first ones along the axis of a falling order."""

    def run(op: Any, x: Array) -> Array:
        axis = -1 if op.axis is None else op.axis.value.data
        return function(op, x).take(np.arange(op.count.value.data), axis=axis)

    return run


def _cumsum(op: tile_tensor.CumsumOp, x: Array) -> Array:
    axis = -1 if op.axis is None else op.axis.value.data
    return np.cumsum(x.astype(np.int64) if x.dtype.kind == "i" else x, axis=axis)


def _scatter_add(op: tile_tensor.ScatterAddOp, base: Array, indices: Array, updates: Array) -> Array:
    total = base.astype(np.int64) if base.dtype.kind == "i" else base.copy()
    for index, row in zip(indices.tolist(), updates, strict=True):
        if 0 <= index < len(total):
            total[index] = total[index] + row
    return total


def _pad(op: tile_tensor.PadOp, x: Array) -> Array:
    value = op.value.value.data
    if x.dtype.kind not in "ib":
        value = nearest(np.asarray(value), str(element_of(op.result)), saturate=False).astype(x.dtype)
    low, high = op.low.get_values(), op.high.get_values()
    steps = [1] * x.ndim if op.interior is None else [n + 1 for n in op.interior.get_values()]
    spread = [(n - 1) * step + 1 if n else 0 for n, step in zip(x.shape, steps, strict=True)]
    shape = [max(a, 0) + n + max(b, 0) for a, n, b in zip(low, spread, high, strict=True)]
    wide = np.full(shape, value, x.dtype)
    wide[tuple(slice(max(a, 0), max(a, 0) + n, k) for a, n, k in zip(low, spread, steps, strict=True))] = x
    kept = [slice(max(-a, 0), n - max(-b, 0)) for a, b, n in zip(low, high, shape, strict=True)]
    return wide[tuple(kept)]


def _broadcast(op: tile_tensor.BroadcastOp, x: Array) -> Array:
    shape = shape_of(op.result)
    extents = [1] * len(shape)
    for dimension, extent in zip(op.dimensions.get_values(), x.shape, strict=True):
        extents[dimension] = extent
    return np.broadcast_to(x.reshape(extents), shape)


def _slice(op: tile_tensor.SliceOp, x: Array) -> Array:
    steps = [1] * x.ndim if op.strides is None else op.strides.get_values()
    for axis, (offset, size, step) in enumerate(
        zip(op.offsets.get_values(), op.sizes.get_values(), steps, strict=True)
    ):
        x = np.take(x, offset + step * np.arange(size), axis=axis)
    return x


def _gather(op: tile_tensor.GatherOp, table: Array, indices: Array) -> Array:
    axis = op.axis.value.data
    rows = table.shape[axis]
    if not rows:  # a table without rows has none to clamp to
        return np.zeros(shape_of(op.result), table.dtype)
    inside = (indices >= 0) & (indices < rows)
    found = np.take(table, np.minimum(np.maximum(indices, 0), rows - 1), axis=axis)
    if op.out_of_range.data == tile_tensor.OutOfRange.ZERO:
        inside = np.expand_dims(inside, tuple(range(axis)) + tuple(range(axis + indices.ndim, found.ndim)))
        found = np.where(inside, found, np.zeros((), table.dtype))
    return found


def _starts(starts: Sequence[Array], shape: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Start indices as they are meant: drawn into the range in which the box lies inside."""
    found = zip(starts, shape, sizes, strict=True)
    return [min(max(int(start), 0), extent - size) for start, extent, size in found]


def _dynamic_slice(op: tile_tensor.DynamicSliceOp, x: Array, *starts: Array) -> Array:
    sizes = op.sizes.get_values()
    at = _starts(starts, x.shape, sizes)
    return x[tuple(slice(start, start + size) for start, size in zip(at, sizes, strict=True))]


def _dynamic_update_slice(
    op: tile_tensor.DynamicUpdateSliceOp, x: Array, update: Array, *starts: Array
) -> Array:
    result = np.array(x)  # rank 0 may come as a scalar, which has no places
    at = _starts(starts, x.shape, update.shape)
    result[tuple(slice(start, start + n) for start, n in zip(at, update.shape, strict=True))] = update
    return result


_MOVES: dict[type[Operation], Callable[..., Array]] = {
    tile_tensor.BroadcastOp: _broadcast,
    tile_tensor.ConcatOp: lambda op, *xs: np.concatenate(xs, axis=op.axis.value.data),
    tile_tensor.DynamicSliceOp: _dynamic_slice,
    tile_tensor.DynamicUpdateSliceOp: _dynamic_update_slice,
    tile_tensor.GatherOp: _gather,
    tile_tensor.OneHotOp: _one_hot,
    tile_tensor.PadOp: _pad,
    tile_tensor.ReshapeOp: lambda op, x: x.reshape(shape_of(op.result)),
    tile_tensor.SortOp: _sorted,
    tile_tensor.TopKOp: _largest(_sorted),
    tile_tensor.SelectOp: lambda op, p, a, b: np.where(p, a, b),
    tile_tensor.SliceOp: _slice,
    tile_tensor.TransposeOp: lambda op, x: x.transpose(op.permutation.get_values()),
}

_SEMANTICS: dict[type[Operation], Callable[..., Array]] = {
    tile_tensor.AbsOp: lambda op, x: np.abs(x),
    tile_tensor.AddOp: lambda op, a, b: a + b,
    tile_tensor.AttentionOp: _attention,
    tile_tensor.DivOp: _divide,
    tile_tensor.ErfOp: lambda op, x: _erf(x),
    tile_tensor.ExpOp: lambda op, x: _exp(x),
    tile_tensor.GeluOp: _gelu,
    tile_tensor.BiasGeluOp: _bias_gelu,
    tile_tensor.LayerNormOp: _along(_layer_norm),
    tile_tensor.LogOp: lambda op, x: np.log(x),
    tile_tensor.MatmulOp: _matmul,
    tile_tensor.MaximumOp: lambda op, a, b: _larger(a, b),
    tile_tensor.MinimumOp: lambda op, a, b: _smaller(a, b),
    tile_tensor.MulOp: lambda op, a, b: a * b,
    tile_tensor.NegOp: lambda op, x: -x,
    tile_tensor.ReciprocalOp: lambda op, x: 1 / x,
    tile_tensor.ReduceOp: _reduce,
    tile_tensor.ReluOp: lambda op, x: np.where(x <= 0, 0, x),
    tile_tensor.RmsNormOp: _along(_rms_norm),
    tile_tensor.RsqrtOp: lambda op, x: 1 / np.sqrt(x),
    tile_tensor.SigmoidOp: lambda op, x: _sigmoid(x),
    tile_tensor.AndOp: lambda op, a, b: a & b,
    tile_tensor.Atan2Op: lambda op, a, b: _atan2(a, b),
    tile_tensor.CeilOp: lambda op, x: np.ceil(x),
    tile_tensor.CompareOp: _compare,
    tile_tensor.ArgmaxOp: _extreme_index,
    tile_tensor.ArgminOp: _extreme_index,
    tile_tensor.ArgsortOp: _order,
    tile_tensor.CumsumOp: _cumsum,
    tile_tensor.ScatterAddOp: _scatter_add,
    tile_tensor.TopKIndicesOp: _largest(_order),
    tile_tensor.ConvolutionOp: convolve,
    tile_tensor.ReduceWindowOp: _reduce_window,
    tile_tensor.CosOp: lambda op, x: _cos(x),
    tile_tensor.Expm1Op: lambda op, x: _finite(np.expm1(x), np.isfinite(x)),
    tile_tensor.FloorOp: lambda op, x: np.floor(x),
    tile_tensor.IsFiniteOp: lambda op, x: np.abs(x) < np.inf,
    tile_tensor.Log1pOp: lambda op, x: np.log1p(x),
    tile_tensor.NotOp: lambda op, x: ~x,
    tile_tensor.OrOp: lambda op, a, b: a | b,
    tile_tensor.PowOp: lambda op, a, b: _power(a, b),
    tile_tensor.RemainderOp: lambda op, a, b: _remainder(a, b),
    tile_tensor.RoundOp: lambda op, x: np.rint(x),
    tile_tensor.ShiftLeftOp: _shift,
    tile_tensor.ShiftRightArithmeticOp: _shift,
    tile_tensor.ShiftRightLogicalOp: _shift,
    tile_tensor.SignOp: lambda op, x: _sign(x),
    tile_tensor.SinOp: lambda op, x: _sin(x),
    tile_tensor.XorOp: lambda op, a, b: a ^ b,
    tile_tensor.SiluOp: lambda op, x: _silu(x),
    tile_tensor.SoftmaxOp: _along(lambda op, x: _softmax(op, x * scale_of(op))),
    tile_tensor.SqrtOp: lambda op, x: np.sqrt(x),
    tile_tensor.SquareOp: lambda op, x: x * x,
    tile_tensor.SubOp: lambda op, a, b: a - b,
    tile_tensor.TanhOp: lambda op, x: np.tanh(x),
}
