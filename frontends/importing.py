# SPDX-License-Identifier: Apache-2.0
"""
From a model in the middle form to a program folder: inlined, folded, raised, lowered, named.

Each step is a pass that a user can run alone; this is their order. Large constants leave the module as
parameters, so that nothing large is ever text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.diagnostics import TileError
from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.entry import INPUT_ATTRIBUTE, OUTPUT_ATTRIBUTE, PARAMETER_ATTRIBUTE
from tilewright.dialects.hlo.operations import HloOperation
from tilewright.dialects.hlo.values import NoValue, array_of, dtype_of, evaluate_function
from tilewright.frontends.middle import Model, ModelError
from tilewright.frontends.program_folder import ProgramFolder, read_tensors
from tilewright.instrumentation import Remark, collect_remarks, remark
from tilewright.passes.hlo.loops import raise_loops
from tilewright.passes.hlo.lowering import Lowering
from tilewright.passes.hlo.normal import normalize
from tilewright.passes.hlo.rewriting import blocks_of
from tilewright.passes.ir.programs import Census
from tilewright.passes.tile_drop_unit_axes import drop_unit_axes
from tilewright.passes.tile_inline_calls import inline_census
from tilewright.passes.tile_quantize import quantize
from tilewright.passes.tile_raise_patterns import raise_patterns
from tilewright.passes.tile_roll_repeat import TileRollRepeatPass
from tilewright.passes.tile_store_f16 import TileStoreF16Pass

Array = np.ndarray

LARGEST_CONSTANT = 64
"""Elements of a constant that stays in the text; a larger one becomes a parameter."""


PRECISIONS = ("source", "f16", "f8")
"""As the source has it; f32 stored in f16; that, and products in FP8."""

LEAST_LAYER = 8
"""Operations of a layer that is rolled."""


@dataclass
class Imported:
    """A program of `tile_tensor`, the values of its parameters, and the record of how it came about."""

    module: ModuleOp
    parameters: dict[str, Array]
    name: str
    raised: Counter[str] = field(default_factory=Counter[str])
    kept: Counter[str] = field(default_factory=Counter[str])
    folded: int = 0
    notes: list[str] = field(default_factory=list[str])
    inputs: dict[str, Array] = field(default_factory=dict[str, Array])
    """Sample inputs by name."""
    given: list[str] = field(default_factory=list[str])
    """Notes of the reader."""
    remarks: list[Remark] = field(default_factory=list[Remark])
    """What the passes said."""
    expected: dict[str, Array] = field(default_factory=dict[str, Array])
    """What the source gives for them."""
    precision: str = "source"

    def folder(self) -> ProgramFolder:
        """The program with all that belongs to it, as a program folder."""
        return folder_of(self, {**self.inputs, **self.parameters}, self.expected, precision=self.precision)

    def write(self, folder: Path | str) -> None:
        """Write a program folder: `tile-run FOLDER` compiles, executes and checks it."""
        self.folder().write(Path(folder))

    @property
    def function(self) -> FuncOp:
        """The program."""
        return next(op for op in self.module.ops if isinstance(op, FuncOp))

    def report(self) -> dict[str, Any]:
        """The record as JSON: what was raised, how much was folded, what the program consists of."""
        return {
            "format": "tilewright-import",
            "version": 1,
            "model": self.name,
            "raised": dict(sorted(self.raised.items())),
            "folded": self.folded,
            "operations": dict(sorted(self.kept.items())),
            "parameters": len(self.parameters),
            "notes": self.notes,
        }


def import_with_values(
    model: Model,
    values: Sequence[Array],
    results: Sequence[Array] | None = None,
    *,
    precision: str = "source",
    roll: bool = True,
) -> Imported:
    """
    The program of a model with sample inputs and expected outputs.

    `values` are those of all arguments in their order, weights included; `results` what the source computes
    from them, without which the model is evaluated in numpy before anything is changed. `precision` is one of
    `PRECISIONS`: as the source has it, f32 stored in f16, or that with FP8 products whose scales the sample
    inputs give. Raises `TileError`.
    """
    if precision not in PRECISIONS:
        raise ModelError(f"there is no precision '{precision}'", notes=(f"known: {', '.join(PRECISIONS)}",))
    names = argument_names(model.function)
    outputs = output_names(model.function)
    missing: TileError | None = None
    if results is None:
        try:
            results = values_as_given(model, values)
        except NoValue as error:
            missing = error  # the import says it better, and with all else that is missing
    for (kind, name), value in zip(names, values, strict=True):
        if kind == "parameter":
            model.parameters.setdefault(name, value)
    found = import_model(model, roll=roll and precision == "source")
    if results is None and missing is not None:
        raise missing
    found.inputs = {n: _storable(v) for (kind, n), v in zip(names, values, strict=True) if kind == "input"}
    found.parameters = {name: _storable(value) for name, value in found.parameters.items()}
    _keep_used(found)
    found.expected = dict(zip(outputs, (_storable(value) for value in results or ()), strict=True))
    found.precision = precision
    if precision != "source":
        _set_precision(found, precision, roll)
    return found


def _keep_used(found: Imported) -> None:
    """Only the parameters that the program reads, sequences by member."""
    split_sequences(found.function, found.parameters)
    used: set[str] = set()
    for entry in found.function.arg_attrs or ():
        names = entry.data.get(PARAMETER_ATTRIBUTE)
        if isinstance(names, StringAttr):
            used.add(names.data)
        elif isinstance(names, ArrayAttr):
            used |= {cast("StringAttr", name).data for name in names}
    found.parameters = {name: value for name, value in found.parameters.items() if name in used}


def _set_precision(found: Imported, precision: str, roll: bool) -> None:
    with collect_remarks() as remarks:
        TileStoreF16Pass().apply(Context(), found.module)
        if precision == "f8" and not quantize(found.module, found.inputs, found.parameters):
            found.notes.append("f8: no product of an activation and a parameter was found")
        if roll:
            TileRollRepeatPass(min_ops=LEAST_LAYER).apply(Context(), found.module)
    found.module.verify()
    found.raised.clear()
    found.kept.clear()
    _record(found, [*found.remarks, *remarks])


def import_model(model: Model, *, roll: bool = True) -> Imported:
    """
    The program of a model; with `roll`, layers that are written one after the other become a repeat. The
    model's module is used up. Raises `TileError`: everything that has no meaning on tiles in one.
    """
    _refuse_dynamic(model)
    _inline(model.module)
    function = model.function
    function.arg_attrs = ArrayAttr(
        [DictionaryAttr(e) for e in _attributes(function.arg_attrs, len(function.args))]
    )
    for other in [op for op in model.module.ops if op is not function]:
        Rewriter.erase_op(other, safe_erase=False)
    before = sum(1 for _ in function.walk())
    with collect_remarks() as remarks:
        normalize(function)
        if raise_loops(function):
            normalize(function)
        raise_patterns(function)
        cut = _cut_parameters(function, model.parameters)
        after = sum(1 for _ in function.walk())
        Lowering().run(model.module, [function])
    drop_unit_axes(function)
    _name(function)
    parameters = {**model.parameters, **cut}
    split_sequences(function, parameters)
    _outline_constants(function, parameters)
    _drop_unused(function, parameters)
    model.module.attributes.clear()
    model.module.sym_name = None
    if roll:
        with collect_remarks() as rolled:
            TileRollRepeatPass(min_ops=LEAST_LAYER).apply(Context(), model.module)
        remarks = [*remarks, *rolled]
    model.module.verify()
    found = Imported(model.module, parameters, model.name, given=list(model.notes))
    found.folded = max(before - after, 0)
    _record(found, remarks)
    return found


def _record(found: Imported, remarks: Sequence[Remark]) -> None:
    found.remarks = list(remarks)
    found.notes = list(found.given)
    for entry in remarks:
        if entry.category == "fusion" and entry.message.startswith("raised to "):
            kind = entry.message.removeprefix("raised to ").split()[0]
            found.raised[kind] += 1
            if kind == "attention":  # its softmax was raised before
                found.raised["softmax"] -= 1
        else:
            found.notes.append(entry.message)
    found.raised = +found.raised
    for op in found.function.walk():
        if op.name.startswith("tile_"):
            found.kept[op.name] += 1


def _refuse_dynamic(model: Model) -> None:
    for number, type_ in enumerate(model.function.function_type.inputs):
        if not isinstance(type_, TensorType):
            raise ModelError(f"argument {number} is no tensor: {type_}", location=model.function)
        for axis, extent in enumerate(type_.get_shape()):
            if extent < 0:
                raise ModelError(
                    f"axis {axis} of argument {number} has no extent: {type_}",
                    location=model.function,
                    hint="export the model with fixed shapes, or set a named axis with --bind",
                )


def _inline(module: ModuleOp) -> None:
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks}
    inline_census(Census(module, functions, dict(functions), ()))


def _attributes(entries: ArrayAttr[DictionaryAttr] | None, count: int) -> list[dict[str, Attribute]]:
    if entries is None:
        return [{} for _ in range(count)]
    return [{k: v for k, v in entry.data.items() if k.startswith("tile_tensor.")} for entry in entries]


def _name(function: FuncOp) -> None:
    """Attributes of ours alone; the function is @main."""
    arguments = _attributes(function.arg_attrs, len(function.args))
    results = _attributes(function.res_attrs, len(function.function_type.outputs))
    function.arg_attrs = ArrayAttr([DictionaryAttr(entry) for entry in arguments])
    function.res_attrs = ArrayAttr([DictionaryAttr(entry) for entry in results])
    function.sym_name = StringAttr("main")
    function.sym_visibility = None
    function.attributes.clear()


def split_sequences(function: FuncOp, parameters: dict[str, Array]) -> None:
    """
    Stacked weights whose rows a loop takes one by one are one parameter for each row: `name.0`, `name.1`, ..
    """
    for entry in function.arg_attrs or ():
        names = entry.data.get(PARAMETER_ATTRIBUTE)
        if not isinstance(names, ArrayAttr):
            continue
        members = [cast("StringAttr", name).data for name in names]
        base = members[0].rpartition(".")[0] if members else ""
        if base in parameters and not any(name in parameters for name in members):
            stacked = parameters.pop(base)
            parameters.update(zip(members, stacked, strict=True))


def _cut_parameters(function: FuncOp, parameters: Mapping[str, Array]) -> dict[str, Array]:
    """Slices of weights become weights: the host cuts them once. They are called `name[0:4,8:16]`."""
    made: dict[str, Array] = {}
    places: dict[str, SSAValue] = {}
    entries = list(function.arg_attrs or ())
    for op in list(function.body.block.ops):
        if not isinstance(op, HloOperation) or op.kind != "slice":
            continue
        weight = op.operands[0]
        if not isinstance(weight, BlockArgument):
            continue
        name = entries[weight.index].data.get(PARAMETER_ATTRIBUTE)
        if not isinstance(name, StringAttr) or name.data not in {**parameters, **made}:
            continue
        source = parameters[name.data] if name.data in parameters else made[name.data]
        bounds = list(zip(op.get("start"), op.get("limit"), op.get("strides"), strict=True))
        words = [
            "" if (a, b, s) == (0, n, 1) else f"{a}:{b}" + (f":{s}" if s != 1 else "")
            for (a, b, s), n in zip(bounds, source.shape, strict=True)
        ]
        new = f"{name.data}[{','.join(word or ':' for word in words)}]"
        if new not in places:
            made[new] = source[tuple(slice(a, b, s) for a, b, s in bounds)]
            places[new] = function.body.block.insert_arg(op.results[0].type, len(function.args))
            entries.append(DictionaryAttr({PARAMETER_ATTRIBUTE: StringAttr(new)}))
            remark("conversion", f"the parameter {name.data} is cut: {new}", op)
        op.results[0].replace_all_uses_with(places[new])
        Rewriter.erase_op(op)
    function.arg_attrs = ArrayAttr(entries)
    function.update_function_type()
    return made


def _outline_constants(function: FuncOp, parameters: dict[str, Array]) -> None:
    """Constants of many elements become parameters; equal ones one parameter."""
    known: dict[Any, Any] = {}
    number = 0
    for block in blocks_of(function):
        if block.parent_op() is not function:
            continue  # a body names what it uses: its constants stay
        for op in list(block.ops):
            if not isinstance(op, tt.ConstantOp):
                continue
            array = array_of(op.value)
            if array.size <= LARGEST_CONSTANT or array.dtype.kind in "bi":
                continue
            key = (op.value.type, op.value.data.data)
            if key not in known:
                while (name := f"constant.{number}") in parameters:
                    number += 1
                parameters[name] = np.array(array)
                known[key] = function.body.block.insert_arg(op.result.type, len(function.args))
                entries = [
                    *(function.arg_attrs or ()),
                    DictionaryAttr({PARAMETER_ATTRIBUTE: StringAttr(name)}),
                ]
                function.arg_attrs = ArrayAttr(cast(Any, entries))
            op.result.replace_all_uses_with(known[key])
            Rewriter.erase_op(op)
    function.update_function_type()


def _drop_unused(function: FuncOp, parameters: dict[str, Array]) -> None:
    """Parameters that nothing reads any more."""
    entries = list(function.arg_attrs or ())
    for argument in reversed(list(function.args)):
        name = entries[argument.index].data.get(PARAMETER_ATTRIBUTE)
        if isinstance(name, StringAttr) and not argument.uses:
            parameters.pop(name.data, None)
            del entries[argument.index]
            function.body.block.erase_arg(argument)
    function.arg_attrs = ArrayAttr(cast(Any, entries))
    function.update_function_type()


# ---------------------------------------------------------------------------------------------------- samples


def argument_names(function: FuncOp) -> list[tuple[str, str]]:
    """(`input` or `parameter`, name) of every argument, as the program has them."""
    found: list[tuple[str, str]] = []
    for number, entry in enumerate(_attributes(function.arg_attrs, len(function.args))):
        for kind, attribute in (("parameter", PARAMETER_ATTRIBUTE), ("input", INPUT_ATTRIBUTE)):
            name = entry.get(attribute)
            if isinstance(name, StringAttr):
                found.append((kind, name.data))
                break
            if isinstance(name, ArrayAttr):
                found.append((kind, _base(name)))
                break
        else:
            found.append(("input", f"arg{number}"))
    return found


def _base(names: ArrayAttr[Attribute]) -> str:
    """The name of a sequence of parameters as a whole."""
    return cast("StringAttr", names.data[0]).data.rpartition(".")[0] if names.data else ""


def output_names(function: FuncOp) -> list[str]:
    """The names of the outputs."""
    entries = _attributes(function.res_attrs, len(function.function_type.outputs))
    names = [entry.get(OUTPUT_ATTRIBUTE) for entry in entries]
    return [name.data if isinstance(name, StringAttr) else f"out{i}" for i, name in enumerate(names)]


def make_parameters(model: Model, which: Sequence[str]) -> None:
    """Make parameters of arguments, given by name, position or range of positions (`1-4`)."""
    function = model.function
    names = argument_names(function)
    entries = _attributes(function.arg_attrs, len(function.args))
    for word in which:
        first, dash, last = word.partition("-")
        if first.isdigit() and (not dash or last.isdigit()):
            places = range(int(first), int(last if dash else first) + 1)
        else:
            places = [i for i, (_, name) in enumerate(names) if name == word]
        if not places or max(places) >= len(names):
            raise ModelError(
                f"there is no argument '{word}' to make a parameter of",
                notes=(f"arguments: {', '.join(name for _, name in names)}",),
            )
        for place in places:
            entries[place] = {PARAMETER_ATTRIBUTE: StringAttr(names[place][1])}
    function.arg_attrs = ArrayAttr([DictionaryAttr(entry) for entry in entries])


def read_sample(path: Path) -> dict[str, Array]:
    """Arrays by name from a `.npz` or `.safetensors` file."""
    if path.suffix == ".npz":
        try:
            with np.load(path, allow_pickle=False) as file:
                return {name: file[name] for name in file.files}
        except (OSError, ValueError) as error:
            raise ModelError(f"cannot read '{path}': {error}") from error
    return read_tensors(path)


def arguments_of(
    model: Model, sample: Mapping[str, Array], seed: int = 0, *, scale: float = 1.0
) -> list[Array]:
    """
    A value for every argument: from the model's parameters, from `sample` by name or as `in<position>`, else
    random (normal floats, zeros as integers).
    """
    function = model.function
    random = np.random.default_rng(seed)
    values: list[Array] = []
    for number, ((kind, name), type_) in enumerate(
        zip(argument_names(function), function.function_type.inputs, strict=True)
    ):
        tensor = cast("TensorType[Attribute]", type_)
        dtype, shape = dtype_of(tensor.element_type), tensor.get_shape()
        found = next(
            (
                table[key]
                for table in (model.parameters, sample)
                for key in (name, f"in{number}", f"arg{number}")
                if key in table
            ),
            None,
        )
        if found is None:
            if kind == "parameter":
                raise ModelError(
                    f"no value for the parameter '{name}'", hint="--sample FILE gives values by name"
                )
            drawn = random.standard_normal(shape) * scale
            found = drawn.astype(np.float32) if dtype.kind not in "iub" else np.zeros(shape)
        if found.shape != shape:
            raise ModelError(
                f"'{name}' has shape {list(found.shape)} in the sample, the model takes {list(shape)}"
            )
        if found.dtype == np.uint8 and dtype.itemsize == 1 and dtype != found.dtype and dtype.kind == "V":
            found = found.view(dtype)  # FP8 codes, for which npz has no name
        values.append(found.astype(dtype, copy=False))
    return values


def is_whole(model: Model) -> bool:
    """Whether every operation of a model has a meaning here; the import says which has not."""
    return not any(isinstance(op, HloOperation) and op.kind == "unsupported" for op in model.function.walk())


def values_as_given(model: Model, arguments: Sequence[Array]) -> list[Array]:
    """The results of a model before anything is folded or raised."""
    return evaluate_function(model.function, arguments)


def folder_of(
    imported: Imported,
    arguments: Mapping[str, Array],
    expected: Mapping[str, Array],
    *,
    precision: str | None = None,
) -> ProgramFolder:
    """The program folder; `arguments` are values by name, from which parameters and inputs are taken."""
    parameters = dict(imported.parameters)
    inputs: dict[str, Array] = {}
    for kind, name in argument_names(imported.function):
        if name in arguments:
            (parameters if kind == "parameter" else inputs)[name] = _storable(arguments[name])
    split_sequences(imported.function, parameters)
    return ProgramFolder(
        program=str(imported.module) + "\n",
        parameters={name: _storable(value) for name, value in parameters.items()},
        inputs=inputs,
        expected={name: _storable(value) for name, value in expected.items()},
        precision=precision,
        workload={"import": imported.report()},
    )


def _storable(array: Array) -> Array:
    return array.astype(np.int32) if array.dtype == np.int64 else np.asarray(array, order="C")
