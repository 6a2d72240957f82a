# SPDX-License-Identifier: Apache-2.0
"""
What `tile-run` asks before it compiles: whether every file that it will read has what the program needs, and
whether every file that it will write can be written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType

from tilewright.backends.program import Call
from tilewright.diagnostics import TileError
from tilewright.dialects.entry import read_entry
from tilewright.dialects.tile_asm import module_to_program
from tilewright.dialects.tile_repeat import SequenceType
from tilewright.frontends.program_folder import ProgramFolder, require, runs_in, select_run
from tilewright.machine.dtypes import is_integer, numpy_dtype
from tilewright.passes.ir.tensors import dtype_of, tensor_of
from tilewright.passes.pipeline import level_of
from tilewright.planning.plan import Plan

if TYPE_CHECKING:
    from tilewright.machine import Machine

Shape = tuple[int, ...]


class CheckError(TileError):
    """A command that cannot end well, found before anything is done."""


@dataclass(frozen=True)
class Surface:
    """
    What a program reads and returns, by tensor name: shapes, and element types; `types` are those of every
    value in between.
    """

    parameters: Mapping[str, Shape]
    inputs: Mapping[str, Shape]
    outputs: Mapping[str, Shape]
    dtypes: Mapping[str, str]
    types: frozenset[str] = frozenset()


def surface(module: ModuleOp) -> Surface | None:
    """The surface of a module; None for one of buffers, whose bindings are not complete yet."""
    if level_of(module) == "buffers":
        return None
    kinds: dict[str, dict[str, Shape]] = {"parameter": {}, "input": {}, "output": {}}
    dtypes: dict[str, str] = {}
    if level_of(module) == "machine":
        program = module_to_program(module)
        for binding in program.bindings:
            if binding.kind not in kinds:  # constants, and values that can be looked at
                continue
            for name in binding.tensors or (binding.name,):
                kinds[binding.kind][name] = tuple(binding.shape)
                dtypes[name] = binding.dtype
        calls = [step for step, _ in program.instructions() if isinstance(step, Call)]
        types = frozenset(operand.dtype for call in calls for operand in (*call.ins, *call.outs))
        return Surface(kinds["parameter"], kinds["input"], kinds["output"], dtypes, types)
    entry = read_entry(module)
    values = [
        *((a.kind, name, a.value) for a in entry.arguments for name in a.names),
        *(("output", name, v) for name, v in zip(entry.outputs, entry.return_op.operands, strict=True)),
    ]
    for kind, name, value in values:
        tensor = tensor_of(value)
        counts = value.type.counts if isinstance(value.type, SequenceType) and kind != "parameter" else ()
        kinds[kind][name] = (*counts, *tensor.get_shape())
        dtypes[name] = dtype_of(tensor.element_type)
    types = frozenset(
        dtype_of(value.type.element_type)
        for op in module.walk()
        for value in op.results
        if isinstance(value.type, TensorType)
    )
    return Surface(kinds["parameter"], kinds["input"], kinds["output"], dtypes, types)


def check_files(
    program: Surface, folder: ProgramFolder, runs: int | None, parameters: Path | None, inputs: Path | None
) -> int:
    """
    How many runs are to be made. Raises TileError for tensors that are missing or have another shape, for
    numbers that the program's integers do not hold, for expected outputs that the program does not have, and
    for more runs than there are inputs for.
    """
    found = require(folder.parameters, program.parameters, "parameter", parameters)
    for (name, shape), tensor in zip(program.parameters.items(), found, strict=True):
        if tensor.shape != shape:
            raise CheckError(
                f"parameter '{name}' has shape {list(tensor.shape)}, the program needs {list(shape)}"
            )
        _check_numbers("parameter", name, tensor, program.dtypes[name])
    for name, tensor in zip(
        program.inputs, require(folder.inputs, program.inputs, "input", inputs), strict=True
    ):
        _check_numbers("input", name, tensor, program.dtypes[name])
    select_run(folder.inputs, program.inputs, 0, "input")
    held = runs_in(folder.inputs, program.inputs)
    stored = folder.runs if folder.runs is not None else held
    if runs is None and folder.runs is not None and folder.runs > (held or 1):
        raise CheckError(
            f'"runs" of the folder is {folder.runs}, its inputs hold values for {held or 1}',
            hint="give --runs, or correct run.json",
        )
    wanted = runs if runs is not None else (stored or 1)
    if wanted < 1:
        raise CheckError(f"--runs is at least 1, not {wanted}")
    if stored is not None and wanted > stored:
        raise CheckError(f"--runs {wanted}: the inputs hold {stored} runs")
    _expected(program, folder, wanted)
    return wanted


def check_plan(path: Path | None, machine: Machine) -> None:
    """Raise PlanError for a plan file that cannot be read or is for another machine."""
    if path is not None:
        Plan.read(path).check_machine(machine)


def _check_numbers(what: str, name: str, values: np.ndarray, dtype: str) -> None:
    """What is given for integers has to be integers that the element type holds."""
    if not is_integer(dtype) or not values.size:
        return
    stored = numpy_dtype(dtype)
    least, most = (0, 1) if stored == np.bool_ else (np.iinfo(stored).min, np.iinfo(stored).max)
    # one pass over what may be large and mapped from a file; f64 holds every 32-bit integer
    held = values.astype(np.float64) if values.dtype.kind not in "iu" else values
    wrong = (held < least) | (held > most) | (held != np.trunc(held))
    if wrong.any():
        raise CheckError(
            f"{what} '{name}' is {dtype} in the program, the file holds {held[wrong].flat[0]}"
            f" ({values.dtype.name})",
            notes=(f"{dtype} holds whole numbers from {least} to {most}",),
        )


def _expected(program: Surface, folder: ProgramFolder, runs: int) -> None:
    for name, value in folder.expected.items():
        shape = program.outputs.get(name)
        if shape is None:
            continue
        if value.shape == shape:
            continue
        if value.shape[1:] != shape:
            raise CheckError(
                f"expected output '{name}' has shape {list(value.shape)}, the program returns {list(shape)}",
                notes=(f"or [N, {', '.join(map(str, shape))}] with one slice per run",),
            )
        if value.shape[0] < runs:
            raise CheckError(f"expected output '{name}' has values for {value.shape[0]} of {runs} runs")
    if folder.expected and not any(name in program.outputs for name in folder.expected):
        raise CheckError(
            "none of the expected tensors is an output of the program",
            notes=(f"expected: {_some(folder.expected)}", f"outputs: {_some(program.outputs)}"),
        )


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "")


def check_writable(files: Mapping[str, Path | None], folders: Mapping[str, Path | None]) -> None:
    """Raise CheckError for the first option whose file, or folder, could not be written."""
    for option, path in (*files.items(), *folders.items()):
        if path is None:
            continue
        if option in files and path.is_dir():
            raise CheckError(f"{option}: '{path}' is a folder, a file is written")
        existing = path if path.exists() else next(p for p in path.absolute().parents if p.exists())
        if (existing != path and not existing.is_dir()) or (option in folders and not existing.is_dir()):
            raise CheckError(f"{option}: cannot write '{path}': '{existing}' is no folder")
        if not os.access(existing, os.W_OK):
            raise CheckError(f"{option}: cannot write '{path}': permission denied")


def coarsest(dtypes: Iterable[str]) -> str:
    """Of element types, the one with the largest steps."""
    return max(dtypes, key=lambda dtype: DEFAULT_ERROR.get(dtype, 0.0), default="f32")


DEFAULT_ERROR = {
    "f32": 2.0**-16,
    "f16": 2.0**-7,
    "bf16": 2.0**-5,
    "f8E4M3FNUZ": 2.0**-2,
    "f8E4M3FN": 2.0**-2,
    "f8E5M2FNUZ": 2.0**-1,
    "f8E5M2": 2.0**-1,
}
"""
Largest error of an output without a tolerance, as a part of the largest expected value: eight units in the
last place of the coarsest element type that the program computes with (128 for f32, whose sums are long).
Integers have to be equal.
"""


def default_error(dtypes: Iterable[str], expected: np.ndarray) -> float:
    """The largest error that is let pass where no tolerance is given."""
    finite = np.abs(expected[np.isfinite(expected)].astype(np.float64))
    return DEFAULT_ERROR.get(coarsest(dtypes), 0.0) * float(finite.max(initial=0.0))
