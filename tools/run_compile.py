# SPDX-License-Identifier: Apache-2.0
"""Compilation inside `tile-run`: what is left of it, timed, and the machine that it is for."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright import instrumentation
from tilewright.diagnostics import TileError
from tilewright.host import peak_rss_bytes, peak_started_bytes
from tilewright.steps import StepLog
from tilewright.tools.driver import progress

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tilewright.backends.program import Program
    from tilewright.machine import Machine
    from tilewright.planning.plan import Plan
    from tilewright.tools.run_profile import CompilationFacts


class RunError(TileError):
    """A program that cannot be run as asked."""


@dataclass
class Clock:
    """Seconds by phase, and the peak of memory."""

    phases: dict[str, float] = field(default_factory=dict[str, float])
    steps: StepLog = field(default_factory=lambda: StepLog(None))

    def measure(self, name: str, since: float) -> None:
        self.phases[name] = self.phases.get(name, 0.0) + time.perf_counter() - since

    @staticmethod
    def peak_rss() -> int:
        """Bytes of this process and of the largest that it started, at their peaks."""
        return peak_rss_bytes() + peak_started_bytes()


class _Timed(instrumentation.Instrument):
    """Notes how long the steps of a compilation take: its stages, and the search for plans between them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: list[float] = []

    def before(self, step: str, module: object) -> None:
        self._since.append(time.perf_counter())

    def after(self, step: str, module: object) -> None:
        self._clock.measure(step, self._since.pop())

    def failed(self, step: str, module: object, error: Exception) -> None:
        self._since.pop()


def compile_module(
    module: ModuleOp,
    context: Any,
    machine: str | None,
    plan: Path | None,
    clock: Clock,
    dump_plan: Path | None = None,
    check_exchange: bool = False,
    facts: CompilationFacts | None = None,
    decided: list[Plan] | None = None,
) -> Program:
    """
    Run what is left of a compilation, timing each pass; returns the machine program. `check_exchange`: judge
    its rows against what each phase has to deliver. `facts` notes what a profile says of it, `decided` gets
    the plans that were tried, the last of which is in use.
    """
    from xdsl.dialects.builtin import StringAttr

    from tilewright.dialects.tile_asm import module_to_program
    from tilewright.passes import pipeline
    from tilewright.passes.ir.exchange import ExpectedPhase, check_program, expected_phases
    from tilewright.passes.ir.graph import plan_of
    from tilewright.passes.ir.tensors import MACHINE, machine_of

    expected: list[ExpectedPhase] = []

    if pipeline.level_of(module) == "machine":
        if check_exchange:
            raise RunError(
                "--check-exchange: a lowered program no longer says what its exchanges deliver",
                hint="give the program as it was before tile-lower-to-asm",
            )
        return replace(module_to_program(module), machine=check_machine(module, machine))
    module.attributes[MACHINE] = StringAttr(given_machine(module, machine).reference)

    @contextmanager
    def observe(stage: pipeline.Stage, module: ModuleOp) -> Iterator[None]:
        if check_exchange and stage.name == "tile-lower-to-asm":
            expected[:] = expected_phases(module)
        with instrumentation.step(stage.name, module):
            yield
        if stage.name == "tile-plan-layouts" and (dump_plan is not None or decided is not None):
            found = plan_of(module)
            if dump_plan is not None:
                found.write(dump_plan)
            if decided is not None:
                decided.append(found)
        if facts is not None:
            facts.after(stage.name, module)

    with instrumentation.use(clock.steps, _Timed(clock)):
        pipeline.compile(module, plan=plan, context=context, observe=observe)
    program = module_to_program(module)
    if check_exchange:
        start = time.perf_counter()
        count = check_program(program, expected, machine_of(module, None))
        clock.measure("check-exchange", start)
        progress.say(f"{count} sets of exchange rows checked in {len(expected)} phases: nothing found")
    return program


def check_machine(module: ModuleOp, machine: str | None) -> str:
    """What names the machine of a compiled program, which `--machine` must not contradict."""
    from tilewright.dialects.tile_asm import module_to_program
    from tilewright.machine import load
    from tilewright.passes.ir.tensors import check_agreement

    written = module_to_program(module).machine
    if machine is None:
        return written
    check_agreement(machine, written, f"--machine {machine}")
    return load(machine).reference


def given_machine(module: ModuleOp, machine: str | None) -> Machine:
    """The machine of a run: that of `--machine`, which the program must not contradict, or the program's."""
    from tilewright import settings
    from tilewright.passes.ir.tensors import machine_of

    with settings.use(replace(settings.current(), machine=machine)):
        return machine_of(module, None)


def forget_compilation() -> None:
    """Give back what compiling remembered (schedules above all): the simulation needs the room."""
    import ctypes
    import gc

    from tilewright.passes.ir.exchange import forget_schedules
    from tilewright.planning.stages import cached_transfers

    forget_schedules()
    cached_transfers.cache_clear()
    gc.collect()
    if sys.platform == "linux":
        # glibc keeps what is freed: a gigabyte here, which would stand beside the machine's memory.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def planned_copy(module: ModuleOp, context: Any, options: argparse.Namespace, plan: Plan) -> Any:
    """The oracle of the program: the same plan, evaluated in plain numpy."""
    from xdsl.dialects.builtin import StringAttr

    from tilewright.passes import pipeline
    from tilewright.passes.ir.tensors import MACHINE
    from tilewright.planning.plan import Plan
    from tilewright.sim.oracle import Oracle

    copy = module.clone()
    if options.machine is not None:
        copy.attributes[MACHINE] = StringAttr(given_machine(module, options.machine).reference)
    records = Plan(plan.operators, layouts=plan.layouts, machine=plan.machine, path=plan.path)
    pipeline.compile(
        copy, plan=records, context=context, homes="planned", until="tile-plan-layouts", search="off"
    )
    return Oracle(copy)
