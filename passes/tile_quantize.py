# SPDX-License-Identifier: Apache-2.0
"""
Turns an f16 program into FP8: casts the operands of its matrix products, with scales found on sample inputs.

A product is quantised if one operand is a parameter (seen through views and repeats) and the other is no
input of the program: the first product of a network keeps what the host hands over, and products of two
activations (attention, similarities) stay as they are. The other operand gets a cast in front of its product,
a parameter is stored in FP8 by the host where nothing else reads it, and the product takes both scales off
again.

Scales are powers of two, the least that hold the largest magnitude: one per tensor and place in the program,
so that all iterations of a repeat share it. Magnitudes come from the reference
(`tilewright.dialects.reference`), in f32, over all runs of the sample inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float16Type,
    IntegerAttr,
    ModuleOp,
    TensorType,
    f16,
    i32,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright import settings
from tilewright.diagnostics import TileError
from tilewright.dialects import tile_tensor
from tilewright.dialects.entry import SCALE_ATTRIBUTE, Argument, Entry, argument_attributes, read_entry
from tilewright.dialects.reference import constant_array, evaluate, value_names
from tilewright.dialects.tensor.base import element_of
from tilewright.dialects.tile_repeat import RepeatOp, SequenceType
from tilewright.dialects.tile_tensor import CastOp, ConstantOp, MatmulOp
from tilewright.frontends.program_folder import PARAMETERS, read_tensors, runs_in, select_run
from tilewright.instrumentation import remark
from tilewright.machine.dtypes import float_format
from tilewright.options import option
from tilewright.passes.ir.programs import ProgramPass

Array = NDArray[np.generic]

FORMATS: Mapping[str, type[Float8E4M3FNUZType | Float8E5M2FNUZType]] = {
    "f8E4M3FNUZ": Float8E4M3FNUZType,
    "f8E5M2FNUZ": Float8E5M2FNUZType,
}
_VIEWS = (tile_tensor.TransposeOp, tile_tensor.ReshapeOp, tile_tensor.SliceOp, tile_tensor.BroadcastOp)


class QuantizeError(TileError):
    """Sample inputs that do not fit the program, or options that it does not have."""


@dataclass(frozen=True)
class TileQuantizePass(ProgramPass):
    """Cast the operands of matrix products to FP8, with power-of-two scales from sample inputs."""

    name = "tile-quantize"
    inputs: str | None = option(None, "sample inputs (.safetensors); without it `--inputs`")
    parameters: str | None = option(None, "values of the parameters (.safetensors)")
    format: str = option("f8E4M3FNUZ", "the FP8 format: f8E4M3FNUZ or f8E5M2FNUZ")
    skip: tuple[str, ...] = option((), "products that stay as they are, by the names of their results")

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        path = self.inputs or settings.current().inputs_path
        if path is None:
            raise QuantizeError(
                "tile-quantize needs sample inputs",
                hint="pass --inputs FILE, or the option inputs=FILE (.safetensors)",
            )
        path = Path(path)
        beside = path.with_name(PARAMETERS)
        if self.parameters is not None:
            parameters = read_tensors(Path(self.parameters))
        else:
            parameters = read_tensors(beside) if beside.exists() else {}
        quantize(op, read_tensors(path), parameters, format=self.format, skip=self.skip)


def quantize(
    module: ModuleOp,
    inputs: Mapping[str, Array],
    parameters: Mapping[str, Array],
    *,
    format: str = "f8E4M3FNUZ",
    skip: Sequence[str] = (),
) -> int:
    """
    Quantise in place; returns the number of products that changed.

    `inputs` may have a leading axis of runs. `skip` names products (as `value_names` does) to leave alone.
    Raises `QuantizeError`, and what the reference raises where tensors are missing.
    """
    if format not in FORMATS:
        raise QuantizeError(f"no FP8 format is called '{format}'", notes=(f"known: {', '.join(FORMATS)}",))
    entry = read_entry(module)
    names = value_names(entry.func)
    products = [op for op in entry.func.walk() if isinstance(op, MatmulOp)]
    unknown = [name for name in skip if name not in (names[op.result] for op in products)]
    if unknown:
        raise QuantizeError(
            f"no product is called '{unknown[0]}'",
            notes=(f"products: {', '.join(names[op.result] for op in products)}",),
        )
    chosen = [op for op in products if names[op.result] not in skip and _is_candidate(op, entry)]
    if chosen:
        magnitudes = calibrate(module, entry, inputs, parameters)
        _Quantizer(entry, names, magnitudes, parameters, format).run(chosen)
        entry.func.update_function_type()
    return len(chosen)


# ------------------------------------------------------------------------------------------ calibration


class Magnitudes(dict[str, float]):
    """
    The largest magnitude of every value that the reference keeps, over iterations and runs: nothing else is
    kept.

    Given to the reference in the place of a dictionary of arrays; `layers[3].q` counts for `layers.q`.
    """

    def __setitem__(self, name: str, array: object) -> None:
        plain = "".join(part.partition("]")[2] if i else part for i, part in enumerate(name.split("[")))
        super().__setitem__(plain, max(self.get(plain, 0.0), magnitude(np.asarray(array))))


def magnitude(array: Array) -> float:
    """The largest finite magnitude; 0 of an empty array."""
    values = np.abs(array.astype(np.float32, copy=False))
    return float(np.max(values, initial=0.0, where=np.isfinite(values)))


def calibrate(
    module: ModuleOp, entry: Entry, inputs: Mapping[str, Array], parameters: Mapping[str, Array]
) -> Magnitudes:
    """Magnitudes of all values and inputs, by name (inputs behind `input:`)."""
    shapes: dict[str, tuple[int, ...]] = {}
    for argument in entry.inputs:
        type_, counts = argument.type, ()
        if isinstance(type_, SequenceType):
            counts, type_ = type_.counts, type_.tensor
        shapes[argument.name] = (*counts, *cast("TensorType[Attribute]", type_).get_shape())
    given = {name: inputs[name] for name in shapes if name in inputs}
    found = Magnitudes()
    for run in range(runs_in(given, shapes) or 1):
        sample = select_run(inputs, shapes, run, "input")
        for name, array in sample.items():
            found[f"input:{name}"] = array
        evaluate(module, sample, parameters, round_activations=False, keep=cast("dict[str, Array]", found))
    return found


# --------------------------------------------------------------------------------------------- rewriting


def _argument(value: SSAValue, entry: Entry) -> Argument | None:
    """The program argument behind a value, through views and the arguments of repeats that do not change."""
    while True:
        owner = value.owner
        if isinstance(owner, _VIEWS):
            value = owner.operands[0]
        elif isinstance(value, BlockArgument) and isinstance(parent := value.block.parent_op(), RepeatOp):
            if value.index < len(parent.carried_args):
                return None
            value = parent.operands[value.index]
        else:
            return next((a for a in entry.arguments if a.value is value), None)


def _is_candidate(op: MatmulOp, entry: Entry) -> bool:
    if not all(isinstance(element_of(operand), Float16Type) for operand in op.operands):
        return False
    kinds = [found.kind if (found := _argument(v, entry)) is not None else None for v in op.operands]
    return "parameter" in kinds and "input" not in kinds


@dataclass
class _Quantizer:
    entry: Entry
    names: Mapping[SSAValue, str]
    magnitudes: Magnitudes
    parameters: Mapping[str, Array]
    format: str
    casts: dict[SSAValue, tuple[SSAValue, int]] = field(default_factory=dict[SSAValue, tuple[SSAValue, int]])

    def run(self, products: Sequence[MatmulOp]) -> None:
        stored = self._stored_parameters(products)
        for op in products:
            scales: list[int] = []
            for number, operand in enumerate(tuple(op.operands)):
                argument = _argument(operand, self.entry)
                if argument is not None and argument.value in stored:
                    scales.append(stored[argument.value])
                    continue
                cast_value, scale = self._cast(operand)
                op.operands[number] = cast_value
                scales.append(scale)
            op.properties["scale"] = IntegerAttr(op.scale.value.data + sum(scales), i32)
            op.properties["accumulate"] = f16

    def _scale(self, largest_magnitude: float) -> int:
        if not largest_magnitude > 0:
            return 0
        return max(
            -32, min(31, int(np.ceil(np.log2(largest_magnitude / float_format(self.format).max_value))))
        )

    # Parameters that the host stores in FP8

    def _stored_parameters(self, products: Sequence[MatmulOp]) -> dict[SSAValue, int]:
        """Changes the type of every parameter that only these products read; scales by argument."""
        stored: dict[SSAValue, int] = {}
        for argument in self.entry.parameters:
            values, users = _readers(argument.value)
            if not users or argument.scale or any(user not in products for user in users):
                continue
            scale = self._scale(max((magnitude(self._tensor(n)) for n in argument.names), default=0.0))
            for value in values:
                Rewriter.replace_value_with_new_type(value, _with_element(value.type, FORMATS[self.format]()))
            self._set_scale(argument, scale)
            text = f"parameter {argument.name} is stored in {self.format} with scale 2^{scale}"
            remark("conversion", text, argument.value.location, scale=scale)
            # the value was replaced by one of the new type
            stored[self.entry.func.body.block.args[argument.value.index]] = scale
        self.entry = read_entry(cast("ModuleOp", self.entry.func.parent_op()))
        return stored

    def _tensor(self, name: str) -> Array:
        return np.asarray(self.parameters[name])

    def _set_scale(self, argument: Argument, scale: int) -> None:
        if not scale:
            return
        function, index = self.entry.func, argument.value.index
        count = len(function.body.block.args)
        attributes = [argument_attributes(function.arg_attrs, position) for position in range(count)]
        attributes[index][SCALE_ATTRIBUTE] = IntegerAttr(scale, i32)
        function.arg_attrs = ArrayAttr([DictionaryAttr(given) for given in attributes])

    # Activations

    def _cast(self, value: SSAValue) -> tuple[SSAValue, int]:
        """The value in FP8, cast once for all products that read it, and its scale."""
        if value not in self.casts:
            scale = self._scale(self._largest(value, set()))
            op = CastOp(value, FORMATS[self.format](), scale=scale)
            op.result.name_hint = f"{value.name_hint}_f8" if value.name_hint else None
            owner = value.owner
            if isinstance(owner, Operation):
                op.location = owner.location
                Rewriter.insert_op(op, InsertPoint.after(owner))
            else:
                op.location = cast("BlockArgument", value).location
                Rewriter.insert_op(op, InsertPoint.at_start(owner))
            remark("conversion", f"cast to {self.format} with scale 2^{scale}", op.location, scale=scale)
            self.casts[value] = (op.result, scale)
        return self.casts[value]

    def _largest(self, value: SSAValue, seen: set[SSAValue]) -> float:
        """The largest magnitude that the value had."""
        if value in seen:
            return 0.0
        seen.add(value)
        if value in self.names:
            return self.magnitudes.get(self.names[value], 0.0)
        owner = value.owner
        if isinstance(owner, ConstantOp):
            return magnitude(constant_array(owner.value))
        if isinstance(owner, RepeatOp):
            position = next(i for i, result in enumerate(owner.results) if result is value)
            return self._largest(owner.yield_op.operands[position], seen)
        if isinstance(value, BlockArgument):
            parent = value.block.parent_op()
            if isinstance(parent, RepeatOp):
                sources = [parent.operands[value.index]]
                if value.index < len(parent.carried_args):
                    sources.append(parent.yield_op.operands[value.index])
                return max(self._largest(source, seen) for source in sources)
            argument = next(a for a in self.entry.arguments if a.value is value)
            if argument.kind == "input":
                return self.magnitudes.get(f"input:{argument.name}", 0.0)
            return max(magnitude(self._tensor(name)) for name in argument.names) * 2.0**-argument.scale
        raise QuantizeError("a value has no known magnitude", location=cast("Operation", owner).location)


def _readers(value: SSAValue) -> tuple[list[SSAValue], list[Operation]]:
    """The value and its views, also inside repeats, and the operations that read one of them."""
    values, users = [value], []
    for current in values:
        for use in current.uses:
            user = use.operation
            if isinstance(user, _VIEWS):
                values.append(user.results[0])
            elif isinstance(user, RepeatOp) and use.index >= len(user.carried_args):
                values.append(user.body_block.args[use.index])
            else:
                users.append(user)
    return values, users


def _with_element(type_: Attribute, element: Attribute) -> Attribute:
    if isinstance(type_, SequenceType):
        return SequenceType(type_.count, _with_element(type_.element, element))
    tensor = cast("TensorType[Attribute]", type_)
    return TensorType(element, tensor.get_shape(), tensor.encoding)


def product_scales(module: ModuleOp) -> dict[str, int]:
    """The scale of every product by name: what tests and reports compare."""
    entry = read_entry(module)
    names = value_names(entry.func)
    found: Iterable[MatmulOp] = (op for op in entry.func.walk() if isinstance(op, MatmulOp))
    return {names[op.result]: op.scale.value.data for op in found}
