# SPDX-License-Identifier: Apache-2.0
"""
The public interface: compile a program, run it on the machine model, evaluate its reference.

What can go wrong because of what was given raises `TileError`, or xDSL's `ParseError` and `VerifyException`
for text that does not parse and modules that do not verify; all say where.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr

from tilewright.backends.image import to_image
from tilewright.diagnostics import TileError
from tilewright.dialects.parsing import parse_module
from tilewright.dialects.tile_asm import module_to_program
from tilewright.machine import Machine, load
from tilewright.passes import pipeline
from tilewright.passes.ir.graph import plan_of
from tilewright.passes.ir.tensors import MACHINE, check_agreement
from tilewright.planning.plan import Plan
from tilewright.planning.search.search import Effort
from tilewright.sim.executor import Executor

if TYPE_CHECKING:
    from tilewright.backends import program as asm
    from tilewright.backends.image import Image

Array = NDArray[Any]
Arrays = Mapping[str, Array]

DEFAULT_MACHINE = "c600"


class RunError(TileError):
    """Values that a program cannot be run with."""


@dataclass(frozen=True)
class Tensor:
    """A tensor that a program takes or gives: its name, shape and element type."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, eq=False)
class Program:
    """
    A compiled program. `module` is the machine program as IR (it prints, and tools take it), `plan` what was
    decided about it; None for what was compiled already when it was given.
    """

    module: ModuleOp
    machine: Machine
    plan: Plan | None
    image: Image = field(repr=False)

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """What every run takes."""
        return self._tensors("input")

    @property
    def parameters(self) -> tuple[Tensor, ...]:
        """What is loaded once."""
        return self._tensors("parameter")

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """What every run gives."""
        return self._tensors("output")

    def text(self) -> str:
        """The machine program as text, which `compile` and the tools read back."""
        return f"{self.module!s}\n"

    def _tensors(self, kind: str) -> tuple[Tensor, ...]:
        return tuple(
            Tensor(name, tuple(binding.shape), binding.dtype)
            for binding in self.image.bindings
            if binding.kind == kind
            for name in _names(binding)
        )


@dataclass(frozen=True, eq=False)
class Result:
    """
    One run: outputs by name, cycles by kind ("total", "compute", "exchange", "copy", "sync", and
    "assumed_share"), and the cycles by what their figures rest on.
    """

    outputs: dict[str, Array]
    cycles: dict[str, float]
    evidence: dict[str, int]


def compile(
    program: ModuleOp | str | os.PathLike[str],
    machine: str | os.PathLike[str] | None = None,
    *,
    entry: str | None = None,
    plan: Plan | str | os.PathLike[str] | None = None,
    homes: pipeline.Homes = "auto",
    search: Effort | None = None,
    context: Context | None = None,
) -> Program:
    """
    Compile a program of any level: text of IR, a path to a file of it, or an xDSL module, which is left as it
    is. `entry` names the function to compile where the module has several, or foreign code around them; the
    result holds that program alone. `machine` is a name or a machine file; without it the program's own
    (`tile.machine`), or c600. `plan` forces what it names; `search` ("off", "fast", "full") is how much is
    searched for the rest, "fast" by default. `context` parses text with further dialects.
    """
    module = pipeline.select_program(_module(program, context), context or Context(), entry)
    written = module.attributes.get(MACHINE)
    if machine is not None:
        if isinstance(written, StringAttr):
            check_agreement(os.fspath(machine), written.data, f"machine {os.fspath(machine)!r}")
        module.attributes[MACHINE] = StringAttr(os.fspath(machine))
    elif written is None:
        module.attributes[MACHINE] = StringAttr(DEFAULT_MACHINE)
    decided: list[Plan] = []

    def note(stage: pipeline.Stage, planned: ModuleOp) -> None:
        if stage.name == "tile-plan-layouts":
            decided.append(plan_of(planned))

    pipeline.compile(
        module,
        plan=plan,
        context=context or Context(),
        homes=homes,
        observe=pipeline.after(note),
        search=search,
    )
    compiled = module_to_program(module)
    return Program(module, load(compiled.machine), decided[-1] if decided else None, to_image(compiled))


def run(program: Program, inputs: Arrays | None = None, parameters: Arrays | None = None) -> Result:
    """
    Run a compiled program once on the machine model, every byte of it. Arrays are logical values by name;
    the host converts, quantises and packs them.
    """
    inputs, parameters = inputs or {}, parameters or {}
    _check("input", program.inputs, inputs)
    _check("parameter", program.parameters, parameters)
    executor = Executor(program.image, program.machine)
    executor.load(parameters)
    found = executor.run(inputs)
    return Result(dict(found.outputs), dict(found.cycles), dict(found.evidence))


def reference(
    program: ModuleOp | str | os.PathLike[str],
    inputs: Arrays | None = None,
    parameters: Arrays | None = None,
    *,
    entry: str | None = None,
    context: Context | None = None,
) -> dict[str, Array]:
    """
    The outputs of a tensor program by its definition in numpy: no machine, no plan. `entry` is as in
    `compile`.
    """
    from tilewright.dialects.reference import evaluate

    module = pipeline.select_program(_module(program, context), context or Context(), entry)
    return dict(evaluate(module, inputs or {}, parameters or {}))


def _module(program: ModuleOp | str | os.PathLike[str], context: Context | None) -> ModuleOp:
    """A module of our own; verified."""
    if isinstance(program, ModuleOp):
        module = program.clone()
    elif isinstance(program, str):
        module = parse_module(program, "<text>", context)
    else:
        path = Path(program)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise TileError(f"cannot read the program: {error}", location=os.fspath(path)) from None
        module = parse_module(text, os.fspath(path), context)
    module.verify()
    return module


def _names(binding: asm.Binding) -> tuple[str, ...]:
    return tuple(binding.tensors) or (binding.name,)


def _check(kind: str, wanted: tuple[Tensor, ...], given: Arrays) -> None:
    for tensor in wanted:
        if tensor.name not in given:
            raise RunError(
                f"{kind} {tensor.name!r} is missing",
                notes=(f"the program takes {', '.join(t.name for t in wanted)}",),
            )
        shape = np.shape(given[tensor.name])
        if shape != tensor.shape:
            raise RunError(f"{kind} {tensor.name!r} has shape {list(shape)}, not {list(tensor.shape)}")
