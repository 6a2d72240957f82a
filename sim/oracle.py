# SPDX-License-Identifier: Apache-2.0
"""
What a planned program gives, bit for bit: plain numpy on logical shapes, in the order of passes that the plan
implies.

The oracle reads a module after `tile-plan-layouts`: every operation has its `plan` record and its name. It
knows nothing of tiles, buffers, layouts, exchanges or addresses; it shares with the machine model only the
functions that define arithmetic (`tilewright.machine.numerics`) and with the planner only where a plan cuts
a contraction (`blocks`, `used_grid`). So a result of the model that differs from it in one bit is a fault of
lowering, placement, exchange or encoding, and `compare_each` names the first value that departs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.diagnostics import TileError
from tilewright.dialects.entry import Argument, read_entry
from tilewright.dialects.reference import constant_array
from tilewright.dialects.tile_repeat import MemberOp, PackOp, RepeatOp, SequenceType
from tilewright.machine.dtypes import is_integer, name_of, numpy_dtype
from tilewright.machine.kernels.matrix_unit import product
from tilewright.machine.numerics import operations as numerics
from tilewright.passes.ir.tensors import VALUE_NAME, choice_of, dtype_of, operator_of, value_name
from tilewright.planning.layout import Layout, View
from tilewright.planning.operators import attention as attention_plan
from tilewright.planning.operators import gather as gather_plan
from tilewright.planning.operators import matmul as matmul_plan
from tilewright.planning.operators.base import Operator
from tilewright.planning.operators.empty import is_empty
from tilewright.planning.operators.pointwise import FUNCTIONS
from tilewright.planning.operators.rowwise import RowRecord, column_width
from tilewright.sim.executor import Executor, RunResult, Tapped

Array = NDArray[Any]
Value = Array | tuple["Value", ...]
"""A tensor, or the members of a sequence."""

Tap = Callable[[str, tuple[int, ...], Array], None]
"""
Called with the name of a value, the iteration of each enclosing repeat (outermost first), and the value.
"""

Named = tuple[str, tuple[int, ...], Array]


class OracleError(TileError):
    """A module without plans, an operation that the oracle does not know, or values that do not fit."""


class Oracle:
    """
    The evaluation of one planned module; it keeps a copy, so that lowering may go on with the original.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.module = module.clone()
        self.entry = read_entry(self.module)

    def run(
        self,
        inputs: Mapping[str, Array],
        parameters: Mapping[str, Array] | None = None,
        tap: Tap | None = None,
    ) -> dict[str, Array]:
        """
        The outputs by name, in their own types; those that are sequences with a leading axis of members.

        `inputs` and `parameters` hold logical values in any numeric type, as for the machine's host. Raises
        `OracleError`.
        """
        steps = self.steps(inputs, parameters)
        while True:
            try:
                name, iteration, array = next(steps)
            except StopIteration as end:
                return cast("dict[str, Array]", end.value)
            if tap is not None:
                tap(name, iteration, array)

    def steps(
        self, inputs: Mapping[str, Array], parameters: Mapping[str, Array] | None = None
    ) -> Generator[Named, None, dict[str, Array]]:
        """
        Every named value in program order, one at a time (none is kept that is not used later); returns the
        outputs.
        """
        values: dict[SSAValue, Value] = {}
        for argument in self.entry.arguments:
            source = inputs if argument.kind == "input" else parameters or {}
            values[argument.value] = _load(argument, source)
        yield from _block(self.entry.func.body.block, values, ())
        return {
            name: _stack(values[operand], operand.type)
            for name, operand in zip(self.entry.outputs, self.entry.return_op.operands, strict=True)
        }


# -- values at the border ------------------------------------------------------------------------------------


def _load(argument: Argument, source: Mapping[str, Array]) -> Value:
    members = iter(argument.names)

    def find(name: str) -> Array:
        try:
            return np.asarray(source[name])
        except KeyError:
            raise OracleError(
                f"no value for the {argument.kind} {name!r}", location=argument.location
            ) from None

    def stored(array: Array, type_: Attribute) -> Array:
        tensor = cast("TensorType[Attribute]", type_)
        if array.shape != tensor.get_shape():
            raise OracleError(
                f"{argument.name!r} has shape {array.shape}, the program wants {tensor.get_shape()}"
            )
        dtype = dtype_of(tensor.element_type)
        if array.dtype == numpy_dtype(dtype) and not argument.scale:
            return array
        return numerics.cast_array(array, dtype, argument.scale, True)

    def build(type_: Attribute) -> Value:
        if isinstance(type_, SequenceType):
            return tuple(build(type_.element) for _ in range(type_.count.data))
        return stored(find(next(members)), type_)

    def unstack(array: Array, type_: Attribute) -> Value:
        if isinstance(type_, SequenceType):
            return tuple(unstack(member, type_.element) for member in array)
        return stored(array, type_)

    if argument.kind == "input" and isinstance(argument.type, SequenceType):
        return unstack(find(argument.name), argument.type)
    return build(argument.type)


def _stack(value: Value, type_: Attribute) -> Array:
    if not isinstance(value, tuple):
        return value
    sequence = cast("SequenceType", type_)
    if value:
        return np.stack([_stack(member, sequence.element) for member in value])
    shape = sequence.tensor.get_shape()
    return np.empty((*sequence.counts, *shape), numpy_dtype(dtype_of(sequence.tensor.element_type)))


# -- control -------------------------------------------------------------------------------------------------


def _block(block: Block, values: dict[SSAValue, Value], iteration: tuple[int, ...]) -> Iterator[Named]:
    last_use = _last_uses(block)
    for op in block.ops:
        if op is block.last_op:
            return
        match op:
            case RepeatOp():
                yield from _repeat(op, values, iteration)
            case PackOp():
                values[op.result] = tuple(values[v] for v in op.members)
            case MemberOp():
                values[op.results[0]] = cast("tuple[Value, ...]", values[op.sequence])[op.index.value.data]
            case _:
                array = evaluate_operation(op, [cast("Array", values[v]) for v in op.operands])
                values[op.results[0]] = array
                if VALUE_NAME in op.attributes:
                    yield value_name(op), iteration, array
        for value in last_use.get(op, ()):
            values.pop(value, None)


def _last_uses(block: Block) -> dict[Operation, list[SSAValue]]:
    """Results of a block by the operation of the block that uses them last: dead values need no memory."""
    order = {op: i for i, op in enumerate(block.ops)}
    found: dict[Operation, list[SSAValue]] = {}
    for op in block.ops:
        for result in op.results:
            users = [use.operation for use in result.uses if use.operation in order]
            if users and (last := max(users, key=order.__getitem__)) is not block.last_op:
                found.setdefault(last, []).append(result)
    return found


def _repeat(op: RepeatOp, values: dict[SSAValue, Value], iteration: tuple[int, ...]) -> Iterator[Named]:
    state = [values[v] for v in op.carried]
    for argument, value in zip(op.invariant_args, op.invariant, strict=True):
        values[argument] = values[value]
    sequences = [cast("tuple[Value, ...]", values[v]) for v in op.iterated]
    collected: list[list[Value]] = [[] for _ in op.collected_results]
    for number in range(op.iterations):
        for argument, value in zip(op.carried_args, state, strict=True):
            values[argument] = value
        for argument, members in zip(op.iterated_args, sequences, strict=True):
            values[argument] = members[number]
        yield from _block(op.body_block, values, (*iteration, number))
        state = [values[v] for v in op.yield_op.carried]
        for members, value in zip(collected, op.yield_op.collected, strict=True):
            members.append(values[value])
    for result, value in zip(op.carried_results, state, strict=True):
        values[result] = value
    for result, members in zip(op.collected_results, collected, strict=True):
        values[result] = tuple(members)


# -- operations ----------------------------------------------------------------------------------------------


def evaluate_operation(op: Operation, operands: Sequence[Array]) -> Array:
    """The result of one planned tensor operation on operands of their own types."""
    kind = op.name.partition(".")[2]
    if op.name in ("tile_layout.convert", "tile_layout.materialize", "tile_layout.home"):
        return operands[0]
    if not op.name.startswith("tile_tensor."):
        raise OracleError(f"{op.name} has no oracle", location=op.location)
    if kind == "constant":
        return constant_array(cast("Any", op.properties["value"]))
    operator = operator_of(op)
    if kind in ("matmul", "attention") and is_empty(operator):  # a sum over nothing
        return np.zeros(operator.result_shape, numpy_dtype(operator.result_dtype))
    if kind == "matmul":
        return _matmul(operator, _record(op), *operands)
    if kind == "attention":
        return _attention(operator, _record(op), *operands)
    if kind == "layer_norm":
        return _layer_norm(operator, _record(op), *operands)
    if kind == "gather":
        return _gather(operator, _record(op), *operands)
    if kind == "bias_gelu":
        x, bias = operands
        return numerics.bias_gelu_rows(x, bias, operator.result_dtype, _saturates(operator))
    if kind in FUNCTIONS or kind == "gelu":
        return _pointwise(operator, operands)
    function = _OPERATIONS.get(kind)
    if function is None:
        raise OracleError(f"{op.name} has no oracle", location=op.location)
    return np.ascontiguousarray(function(operator, *operands)).reshape(operator.result_shape)


_STRATEGIES = ("grid", "score_grid", "rows")
"""Strategies whose order of sums the oracle knows."""


def _record(op: Operation) -> Any:
    choice = choice_of(op)
    if choice is None:
        raise OracleError(f"{op.name} has no plan", location=op.location, hint="run tile-plan-layouts first")
    if choice.strategy.name not in _STRATEGIES:
        raise OracleError(f"strategy {choice.strategy.name!r} has no oracle", location=op.location)
    return choice.record


def _matmul(operator: Operator, record: matmul_plan.MatmulRecord, a: Array, b: Array) -> Array:
    shape = matmul_plan.canonical(operator)
    a, b = (
        numerics.cast_array(x, dtype, matmul_plan.cast_exponent(name_of(x.dtype), dtype), False)
        if name_of(x.dtype) != dtype
        else x
        for x, dtype in zip((a, b), shape.operand_dtype, strict=True)
    )
    if operator.attributes.get("transpose_a"):
        a = a.swapaxes(-1, -2)
    if not operator.attributes.get("transpose_b"):
        b = b.swapaxes(-1, -2)
    if record.swap:
        a, b = b, a
    shape = matmul_plan.swapped(shape, record.swap)
    _, _, _, block = matmul_plan.blocks(shape, record.grid)
    _, _, _, count = matmul_plan.used_grid(shape, record.grid)
    parts = [
        numerics.gemm_logical(a, b, shape.partial, shape.inputs, shape.scale, part * block, block)
        for part in range(count)
    ]
    if count > 1:
        result = numerics.reduce_partials(parts, shape.result_dtype, _saturates(operator))
    elif shape.partial != shape.result_dtype:
        result = numerics.cast_array(parts[0], shape.result_dtype, 0, _saturates(operator))
    else:
        result = parts[0]
    return np.ascontiguousarray(result.swapaxes(-1, -2)) if record.swap else result


def _attention(
    operator: Operator,
    record: attention_plan.AttentionRecord,
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None = None,
) -> Array:
    shape = attention_plan.canonical(operator)
    if name_of(q.dtype) != shape.dtype:  # widened
        q, k, v = (numerics.cast_array(x, shape.dtype) for x in (q, k, v))
    _, _, block = attention_plan.blocks(shape, record.grid)
    _, _, count = attention_plan.used_grid(shape, record.grid)
    score, output = product(shape.score_kernel), product(shape.output_kernel)
    score_type, partial_type = score.partial, output.partial
    columns = [slice(part * block, min((part + 1) * block, shape.keys)) for part in range(count)]
    scores = [numerics.gemm_logical(q, k[..., keys, :], score_type, score.inputs) for keys in columns]
    if mask is not None:
        scores = [
            numerics.pointwise("add", s, mask[..., keys], dtype=score_type)
            for s, keys in zip(scores, columns, strict=True)
        ]
    extreme = "min" if shape.scale < 0 else "max"
    extrema = np.stack([numerics.reduce_rows(extreme, s, "f32") for s in scores], axis=-1)
    row = numerics.reduce_rows(extreme, extrema, "f32")
    empty = str(operator.attributes.get("empty_rows", "zero"))
    partials: list[Array] = []
    sums: list[Array] = []
    for s, keys in zip(scores, columns, strict=True):
        p, total = numerics.softmax_exp(s, row, shape.scale, shape.dtype, "f32", True, empty)
        sums.append(total)
        values = v[..., keys, :].swapaxes(-1, -2)
        partials.append(numerics.gemm_logical(p, values, partial_type, output.inputs))
    if count == 1:
        summed, total = partials[0], sums[0]
    else:
        summed = numerics.reduce_partials(partials, "f32", True)
        total = numerics.reduce_partials(sums, "f32", True)
    inverse = numerics.pointwise("reciprocal", total, dtype="f32")
    return numerics.pointwise(
        "mul", summed, inverse[..., None], dtype=shape.result_dtype, saturate=_saturates(operator)
    )


def _pointwise(operator: Operator, operands: Sequence[Array]) -> Array:
    if operator.name == "gelu":
        function = "gelu_tanh" if operator.attributes.get("approximate", "tanh") == "tanh" else "gelu_erf"
    else:
        function = FUNCTIONS[operator.name]
    result = numerics.pointwise(
        function, *operands, dtype=operator.result_dtype, saturate=_saturates(operator)
    )
    return np.broadcast_to(result, operator.result_shape)


def _gather(operator: Operator, record: gather_plan.GatherRecord, table: Array, indices: Array) -> Array:
    result = _rows(operator, table, indices, int(operator.attributes.get("axis", 0)))
    parts, _ = gather_plan.used_grid(gather_plan.canonical(operator), record.grid)
    if parts == 1:
        return result
    return numerics.reduce_partials((result, np.zeros_like(result)), operator.result_dtype)  # -0 and NaN show


def _rows(operator: Operator, table: Array, indices: Array, axis: int) -> Array:
    """The rows that the indices name: the nearest one, or zeros, for an index outside of the table."""
    if not table.shape[axis]:
        return np.zeros(operator.result_shape, table.dtype)
    result = np.take(table, indices, axis=axis, mode="clip")
    if operator.attributes.get("out_of_range") != "zero":
        return result
    outside = (indices < 0) | (indices >= table.shape[axis])
    outside = outside.reshape((*(1,) * axis, *outside.shape, *(1,) * (table.ndim - axis - 1)))
    return np.where(outside, np.zeros((), table.dtype), result)


def _saturates(operator: Operator) -> bool:
    return bool(operator.attributes.get("saturate", True))


def _cast(operator: Operator, x: Array) -> Array:
    attributes = operator.attributes
    truncate = attributes.get("rounding") == "truncate"
    return numerics.cast_array(
        x, operator.result_dtype, int(attributes.get("scale", 0)), _saturates(operator), truncate
    )


def _reduce(operator: Operator, x: Array) -> Array:
    kind, rank = operator.attributes["kind"], x.ndim
    reduced = sorted(int(axis) % rank for axis in operator.attributes["axes"])
    kept = [axis for axis in range(rank) if axis not in reduced]
    columns = math.prod(x.shape[axis] for axis in reduced)
    rows = x.transpose(*kept, *reduced).reshape(
        -1 if columns else math.prod(x.shape[a] for a in kept), columns
    )
    if kind == "mean":
        return numerics.reduce_rows("sum", rows, operator.result_dtype, columns, _saturates(operator))
    return numerics.reduce_rows(kind, rows, operator.result_dtype, saturate=_saturates(operator))


def _layer_norm(operator: Operator, record: RowRecord, x: Array, gamma: Array, beta: Array) -> Array:
    if record.split:
        block = column_width(x.shape[-1])
        parts = [numerics.norm_statistics(x[..., at : at + block]) for at in range(0, x.shape[-1], block)]
        means, variances = (np.stack(statistic) for statistic in zip(*parts, strict=True))
        mean, variance = numerics.norm_merge(means, variances, x.shape[-1])
        return numerics.norm_apply(
            x, mean, variance, gamma, beta, _epsilon(operator), operator.result_dtype, _saturates(operator)
        )
    return numerics.layer_norm_rows(
        x, gamma, beta, _epsilon(operator), operator.result_dtype, _saturates(operator)
    )


def _rms_norm(operator: Operator, x: Array, gamma: Array) -> Array:
    return numerics.rms_norm_rows(x, gamma, _epsilon(operator), operator.result_dtype, _saturates(operator))


def _epsilon(operator: Operator) -> float:
    return float(operator.attributes.get("epsilon", 1e-6))


def _softmax(operator: Operator, x: Array) -> Array:
    return numerics.softmax_rows(
        x,
        float(operator.attributes.get("scale", 1.0)),
        operator.result_dtype,
        _saturates(operator),
        str(operator.attributes.get("empty_rows", "nan")),
    )


def _pad(operator: Operator, x: Array) -> Array:
    value = operator.attributes.get("value", 0.0)
    if not is_integer(operator.result_dtype):
        value = numerics.round_to(np.array([value], np.float64), operator.result_dtype)[0]
    result = np.full(operator.result_shape, value, x.dtype)
    inside = tuple(
        slice(low, low + size) for low, size in zip(operator.attributes["low"], x.shape, strict=True)
    )
    result[inside] = x
    return result


def _broadcast(operator: Operator, x: Array) -> Array:
    extents = [1] * len(operator.result_shape)
    for dimension, extent in zip(operator.attributes["dimensions"], x.shape, strict=True):
        extents[dimension] = extent
    return np.broadcast_to(x.reshape(extents), operator.result_shape)


def _slice(operator: Operator, x: Array) -> Array:
    offsets, sizes = operator.attributes["offsets"], operator.attributes["sizes"]
    return x[tuple(slice(offset, offset + size) for offset, size in zip(offsets, sizes, strict=True))]


_OPERATIONS: dict[str, Callable[..., Array]] = {
    "broadcast": _broadcast,
    "cast": _cast,
    "concat": lambda operator, *xs: np.concatenate(xs, axis=int(operator.attributes["axis"])),
    "pad": _pad,
    "reduce": _reduce,
    "reshape": lambda operator, x: x.reshape(operator.result_shape),
    "rms_norm": _rms_norm,
    "slice": _slice,
    "softmax": _softmax,
    "transpose": lambda operator, x: x.transpose(operator.attributes["permutation"]),
}


# -- comparison ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Departure:
    """
    The first element of the first value in which a machine differs from the oracle.

    `tile` and `address` say where the element lies (in its first copy); None for an output that nobody named.
    """

    value: str
    iteration: tuple[int, ...]
    index: tuple[int, ...]
    expected: object
    found: object
    differing: int
    elements: int
    tile: int | None = None
    address: int | None = None

    def __str__(self) -> str:
        where = (
            ""
            if self.tile is None or self.address is None
            else f" (tile {self.tile}, address {self.address:#x})"
        )
        at = f" of iteration {list(self.iteration)}" if self.iteration else ""
        return (
            f"value '{self.value}'{at} departs at {list(self.index)}{where}: "
            f"expected {self.expected}, found {self.found}; "
            f"{self.differing} of {self.elements} elements differ"
        )


def differing(expected: Array, found: Array) -> NDArray[np.bool_]:
    """
    Which elements differ in their bits; all do if shapes or types differ.

    The machine's host reads floats back as f32, which holds every format: such a pair is compared in f32.
    """
    if found.dtype == np.float32 and expected.dtype != np.float32 and not is_integer(name_of(expected.dtype)):
        expected = expected.astype(np.float32)
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return np.ones(found.shape, bool)
    bits = np.dtype(f"u{expected.dtype.itemsize}")
    a, b = (np.ascontiguousarray(x).reshape(-1).view(bits).reshape(x.shape) for x in (expected, found))
    return np.asarray(a != b)


def departure(
    value: str, iteration: tuple[int, ...], expected: Array, found: Array, binding: Any = None
) -> Departure | None:
    """
    The first difference (by logical index), or None; `binding` (of the machine program) gives tile and
    address.
    """
    wrong = differing(expected, found)
    if not wrong.any():
        return None
    index = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    comparable = expected.shape == found.shape and (
        expected.dtype == found.dtype or found.dtype == np.float32
    )
    wanted = expected[index] if comparable else f"shape {expected.shape} of {expected.dtype}"
    tile = address = None
    if binding is not None:
        tile, address = locate(binding, index, iteration)
    return Departure(
        value,
        iteration,
        index,
        wanted,
        found[index],
        int(np.count_nonzero(wrong)),
        int(wrong.size),
        tile,
        address,
    )


def locate(binding: Any, index: tuple[int, ...], iteration: tuple[int, ...] = ()) -> tuple[int, int]:
    """Tile and address of an element of a bound value (replica 0)."""
    layout, view = Layout.parse(binding.layout), View.parse(binding.view)
    storage = (
        view.storage(*(np.array(i) for i in index)) if index else tuple(np.array(o) for o in view.offsets)
    )
    tile, offset = layout.positions(*storage)
    member = iteration[-1] if binding.count > 1 and iteration else 0
    size = numpy_dtype(binding.dtype).itemsize
    return int(tile), binding.address + member * binding.stride + int(offset) * size


class AsPlanned:
    """
    One run of the machine beside its oracle: values are compared as they become complete, outputs at the
    end.

    The machine may complete values in another order than the program has them; only those that it is behind
    with are held. `found` is the first that departs: nothing is compared after it. `compared` counts values.
    """

    def __init__(
        self,
        executor: Executor,
        oracle: Oracle,
        inputs: Mapping[str, Array],
        parameters: Mapping[str, Array] | None = None,
    ) -> None:
        self.found: Departure | None = None
        self.compared = 0
        self._image = executor.image
        self._steps = oracle.steps(inputs, parameters)
        self._observed = {entry.value for entry in executor.image.taps}
        self._ahead: dict[tuple[str, tuple[int, ...]], Array] = {}
        self._outputs: dict[str, Array] = {}

    def _advance(self) -> bool:
        """One more value of the oracle's; whether there was one."""
        try:
            name, iteration, expected = next(self._steps)
        except StopIteration as end:
            self._outputs.update(end.value or {})
            return False
        if name in self._observed:
            self._ahead[name, iteration] = expected
        return True

    def tap(self, tapped: Tapped) -> None:
        """A value that the machine has completed."""
        if self.found is not None:
            return
        key = (tapped.value, tapped.iteration)
        while key not in self._ahead:
            if not self._advance():
                raise OracleError(
                    f"the machine completes the value '{tapped.value}' in iteration "
                    f"{list(tapped.iteration)}, which the program does not have (or twice)"
                )
        self.compared += 1
        self.found = departure(*key, self._ahead.pop(key), tapped.data, tapped.binding)

    def finish(self, outputs: Mapping[str, Array]) -> None:
        """The end of the run: compares the outputs as the host read them."""
        if self.found is not None:
            return
        while self._advance():
            pass
        if self._ahead:
            missed, iteration = next(iter(self._ahead))
            raise OracleError(
                f"the machine never completes the value '{missed}' of iteration {list(iteration)}"
            )
        bindings = {
            (binding.tensors or (binding.name,))[0]: binding
            for binding in self._image.bindings
            if binding.kind == "output"
        }
        for name, expected in self._outputs.items():
            if name not in outputs:
                raise OracleError(f"the machine gives no output '{name}'")
            where = bindings.get(name)
            self.compared += 1
            self.found = departure(
                name, (), expected, outputs[name], where if where is not None and where.count == 1 else None
            )
            if self.found is not None:
                return


class _Departed(Exception):
    """Ends a run."""


def compare_each(
    executor: Executor,
    oracle: Oracle,
    inputs: Mapping[str, Array],
    parameters: Mapping[str, Array] | None = None,
) -> tuple[Departure | None, RunResult | None]:
    """
    Run the machine and the oracle side by side: the first value that departs (the run stops there), or None
    and the result.

    The executor must hold the same parameters already (`Executor.load`).
    """
    planned = AsPlanned(executor, oracle, inputs, parameters)

    def tap(tapped: Tapped) -> None:
        planned.tap(tapped)
        if planned.found is not None:
            raise _Departed

    try:
        result = executor.run(inputs, tap)
    except _Departed:
        return planned.found, None
    planned.finish(result.outputs)
    return planned.found, result


__all__ = [
    "AsPlanned",
    "Departure",
    "Oracle",
    "OracleError",
    "compare_each",
    "departure",
    "differing",
    "evaluate_operation",
    "locate",
]
