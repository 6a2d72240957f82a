# SPDX-License-Identifier: Apache-2.0
"""
The way from a tensor program to the machine program, once: a list of named stages, each a pass.

`tile-compile`, `tile-run`, the embedding API and the tests all run `compile`, or a part of it, from the level
that a module has reached. `observe` is told before and after every stage, which is how tools time them, dump
plans and look between them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from tilewright import instrumentation
from tilewright.diagnostics import TileError
from tilewright.dialects.entry import entry_function, read_entry
from tilewright.dialects.program_check import check_operations, check_types
from tilewright.dialects.tile_asm import module_to_program
from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.passes.ir.programs import Census, program_name, programs
from tilewright.passes.ir.support import RowsTooLong
from tilewright.passes.ir.tensors import MACHINE, dtype_of, machine_of, nearest_machine, tensor_of
from tilewright.passes.tile_allocate_memory import TileAllocateMemoryPass
from tilewright.passes.tile_coalesce_copies import TileCoalesceCopiesPass
from tilewright.passes.tile_convert_compact_micro_panels import TileConvertCompactMicroPanelsPass
from tilewright.passes.tile_decompose import TileDecomposePass
from tilewright.passes.tile_fuse_chains import TileFuseChainsPass
from tilewright.passes.tile_fuse_epilogues import TileFuseEpiloguesPass
from tilewright.passes.tile_fuse_stores import TileFuseStoresPass
from tilewright.passes.tile_inline_calls import TileInlineCallsPass
from tilewright.passes.tile_lower_to_asm import TileLowerToAsmPass
from tilewright.passes.tile_lower_to_buffers import TileLowerToBuffersPass
from tilewright.passes.tile_merge_phases import TileMergePhasesPass
from tilewright.passes.tile_outline import TileOutlinePass
from tilewright.passes.tile_plan_layouts import (
    TilePlanLayoutsPass,
    plan_layouts,
    read_plan,
    report,
    searched,
    what_is_missing,
)
from tilewright.passes.tile_schedule_exchange import TileScheduleExchangePass
from tilewright.passes.tile_select_homes import TileSelectHomesPass
from tilewright.planning.memory.explain import AllocationError
from tilewright.planning.plan import Plan
from tilewright.planning.search.favourites import Decisions
from tilewright.planning.search.search import Effort, Search, State
from tilewright.planning.stages import PlanError
from tilewright.settings import current, use
from tilewright.suggestions import near

Homes = Literal["planned", "selected", "auto"]
"""
Where parameters live: as planned, one operator at a time; compactly, and chosen so that they balance; or
whichever the share of memory that they take asks for.
"""

Level = Literal["tensors", "buffers", "machine"]
"""How far a module has come: operations on tensors, on buffers of tiles, or the machine program."""

RESIDENT_SHARE = 8
"""Parameters that take more than one part in so many of a tile's memory get selected homes."""


@dataclass(frozen=True)
class Options:
    """What a compilation may be told. `machine` and `plan` stand for the passes' options of those names."""

    machine: str | None = None
    plan: Plan | str | os.PathLike[str] | None = None
    homes: Literal["planned", "selected"] = "planned"
    search: Effort | None = None
    decisions: Decisions | None = None


@dataclass(frozen=True)
class Stage:
    """One step of a compilation: its name, the level it starts from, what it does, and its pass."""

    name: str
    level: Level
    description: str
    make: Callable[[Options], ModulePass]
    selects_homes: bool = False
    finds_programs: bool = False
    """It works on the whole module, before its programs are compiled one by one."""


@dataclass(frozen=True)
class _PlanAsGiven(ModulePass):
    """`tile-plan-layouts` with a plan that is a value, not a file."""

    name = TilePlanLayoutsPass.name
    demanded: Plan
    machine: str | None
    homes: Literal["compact", "ready"]
    search: Effort | None
    decisions: Decisions | None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        plan_layouts(op, self.demanded, self.machine, self.homes, self.search, self.decisions)


def _plan_layouts(options: Options) -> ModulePass:
    homes: Literal["compact", "ready"] = "ready" if options.homes == "selected" else "compact"
    if isinstance(options.plan, Plan):
        return _PlanAsGiven(options.plan, options.machine, homes, options.search, options.decisions)
    path = None if options.plan is None else os.fspath(options.plan)
    return TilePlanLayoutsPass(machine=options.machine, plan=path, homes=homes, search=options.search)


STAGES: tuple[Stage, ...] = (
    Stage(
        TileInlineCallsPass.name,
        "tensors",
        "inline calls between functions of tensor operations",
        lambda o: TileInlineCallsPass(),
        finds_programs=True,
    ),
    Stage(
        TileOutlinePass.name,
        "tensors",
        "part programs from foreign code",
        lambda o: TileOutlinePass(),
        finds_programs=True,
    ),
    Stage(
        TileDecomposePass.name,
        "tensors",
        "write what has no kernel as what has",
        lambda o: TileDecomposePass(),
    ),
    Stage(
        TileFuseEpiloguesPass.name,
        "tensors",
        "fuse what one kernel of the machine does",
        lambda o: TileFuseEpiloguesPass(),
    ),
    Stage(TilePlanLayoutsPass.name, "tensors", "choose a plan for every operation", _plan_layouts),
    Stage(
        TileConvertCompactMicroPanelsPass.name,
        "tensors",
        "store parameters compactly (only with selected homes)",
        lambda o: TileConvertCompactMicroPanelsPass(machine=o.machine),
        selects_homes=True,
    ),
    Stage(
        TileSelectHomesPass.name,
        "tensors",
        "choose the tiles on which parameters live (only with selected homes)",
        lambda o: TileSelectHomesPass(machine=o.machine),
        selects_homes=True,
    ),
    Stage(
        TileLowerToBuffersPass.name,
        "tensors",
        "expand every plan to buffers, kernels and exchanges",
        lambda o: TileLowerToBuffersPass(machine=o.machine),
    ),
    Stage(
        TileMergePhasesPass.name,
        "buffers",
        "merge exchange phases that do not depend on each other",
        lambda o: TileMergePhasesPass(),
    ),
    Stage(
        TileCoalesceCopiesPass.name,
        "buffers",
        "make values where a local copy would bring them",
        lambda o: TileCoalesceCopiesPass(),
    ),
    Stage(
        TileFuseChainsPass.name,
        "buffers",
        "make one call of chains of functions of single elements",
        lambda o: TileFuseChainsPass(),
    ),
    Stage(
        TileFuseStoresPass.name,
        "buffers",
        "make casts to 8-bit floats stores of the calls before them",
        lambda o: TileFuseStoresPass(),
    ),
    Stage(
        TileScheduleExchangePass.name,
        "buffers",
        "schedule every exchange phase",
        lambda o: TileScheduleExchangePass(machine=o.machine),
    ),
    Stage(
        TileAllocateMemoryPass.name,
        "buffers",
        "give everything its place in memory",
        lambda o: TileAllocateMemoryPass(machine=o.machine),
    ),
    Stage(
        TileLowerToAsmPass.name,
        "buffers",
        "write the machine program",
        lambda o: TileLowerToAsmPass(machine=o.machine),
    ),
)
"""All stages, in order."""


class Observer(Protocol):
    """Told of every stage: the context manager is entered before it and left after it, also by an error."""

    def __call__(self, stage: Stage, module: ModuleOp) -> AbstractContextManager[object]: ...


def after(tell: Callable[[Stage, ModuleOp], None]) -> Observer:
    """An observer that is told when a stage has ended well."""

    @contextmanager
    def observe(stage: Stage, module: ModuleOp) -> Iterator[None]:
        yield
        tell(stage, module)

    return observe


def level_of(module: ModuleOp) -> Level:
    """How far a module has come, by the lowest of our dialects in it."""
    dialects = {op.name.partition(".")[0] for op in module.walk()}
    if "tile_asm" in dialects:
        return "machine"
    return "buffers" if "tile" in dialects else "tensors"


def stages(
    level: Level = "tensors", *, homes: Literal["planned", "selected"] = "planned"
) -> tuple[Stage, ...]:
    """The stages that are left from a level on."""
    found = tuple(s for s in STAGES if homes == "selected" or not s.selects_homes)
    if level == "tensors":
        return found
    return tuple(s for s in found if s.level == level)


def passes(options: Options = Options(), level: Level = "tensors") -> tuple[ModulePass, ...]:  # noqa: B008
    """The passes of the stages that are left from a level on."""
    return tuple(stage.make(options) for stage in stages(level, homes=options.homes))


def choose_homes(module: ModuleOp, machine: Machine) -> Literal["planned", "selected"]:
    """
    Homes as planned, one operator at a time, or selected for balance: where parameters fill much of the
    memory, an uneven spread decides whether the program fits, else it is not worth the time.
    """
    total = 0
    for argument in read_entry(module).parameters:
        tensor = tensor_of(argument.value)
        elements = math.prod(tensor.get_shape()) * max(1, len(argument.names))
        total += elements * itemsize(dtype_of(tensor.element_type))
    return "selected" if total * RESIDENT_SHARE > machine.sram_bytes * machine.tiles else "planned"


def compile(
    module: ModuleOp,
    machine: str | None = None,
    plan: Plan | str | os.PathLike[str] | None = None,
    *,
    context: Context,
    homes: Homes = "auto",
    after: str | None = None,
    until: str | None = None,
    observe: Observer | None = None,
    search: Effort | None = None,
) -> None:
    """
    Compile a module in place: every program in it, from the level it has reached, or from behind the stage
    `after`, to the machine program, or to the end of the stage `until`. It is verified after every stage.
    Foreign code stays as it is. `search` is how much is searched for plans; without it what the command line
    says, or `fast`. Where it is on, a plan that turns out not to fit gives way to the next: a stage may then
    be observed more than once. Raises TileError, with the place in the program.
    """
    options = Options(machine, plan, search=search)
    todo = list(_between(after, until))
    for stage in todo:
        if stage.finds_programs:
            _run(stage, options, module, context, observe)
    found = programs(module)
    if plan is not None and len(found) > 1:
        raise TileError(
            f"a plan is of one program, the module has {len(found)}: "
            + ", ".join(f"@{program_name(program)}" for program in found),
            hint="compile them one by one, each with its plan",
        )
    for program in found:
        level = level_of(program)
        if level == "machine":
            continue
        _check_program(program)
        chosen = homes
        if chosen == "auto":
            at_first = level == "tensors"
            chosen = choose_homes(program, machine_of(program, machine)) if at_first else "planned"
        given = Options(machine, plan, chosen, search)

        def left(
            mode: Literal["planned", "selected"], level: Level = level, todo: Sequence[Stage] = todo
        ) -> list[Stage]:
            return [s for s in stages(level, homes=mode) if s in todo and not s.finds_programs]

        places = any(stage.name == TileAllocateMemoryPass.name for stage in left(chosen))
        if places and left(chosen)[0].level == "tensors":
            _Attempts(program, given, left, context, observe, retry_homes=homes == "auto").run()
            continue
        for stage in left(chosen):
            _run(stage, given, program, context, observe)
    if found and module not in found:
        module.verify()


ATTEMPT_NODES = 20_000
"""Units placed before another plan is tried; the default rule's may take as many as without a search."""


SEARCH = "search"
"""The step in which plans are searched, between the stages of a compilation."""

PLAN_ERRORS = (AllocationError, RowsTooLong, PlanError)
"""What another plan can help."""


class _Attempts:
    """
    A compilation whose plan is searched: plans are tried, the most promising first, until one fits. What did
    not fit is remembered by plan and homes: a failure with homes as planned says nothing of selected ones.
    """

    def __init__(
        self,
        program: ModuleOp,
        options: Options,
        left: Callable[[Literal["planned", "selected"]], list[Stage]],
        context: Context,
        observe: Observer | None,
        *,
        retry_homes: bool,
    ) -> None:
        self.program, self.options, self.left = program, options, left
        self.context, self.observe, self.retry_homes = context, observe, retry_homes
        self.failed: dict[tuple[str, str], TileError] = {}

    def run(self) -> None:
        """Compile the program. Raises the TileError of the attempt that came nearest."""
        todo = self.left(self.options.homes)
        names = [stage.name for stage in todo]
        if TilePlanLayoutsPass.name not in names:
            for stage in todo:
                self.stage(stage, self.options)
            return
        for stage in todo[: names.index(TilePlanLayoutsPass.name)]:
            self.stage(stage, self.options)
        with instrumentation.step(SEARCH, None):
            search = searched(
                self.program, read_plan(self.options.plan), self.options.machine, self.options.search
            )
        if search is None:
            for stage in todo[names.index(TilePlanLayoutsPass.name) :]:
                self.stage(stage, self.options)
            return
        original = self.program.clone()
        attempts: dict[int, tuple[State, Literal["planned", "selected"]]] = {}
        while True:
            with instrumentation.step(SEARCH, None):
                state = search.best()
            missing, memory, failure = 0, "any", None
            homes = self.options.homes
            for homes in self.modes():
                failure = self.attempt(search, state, homes, original)
                if failure is None:
                    if not search.accept(state, homes):
                        break
                    report(search, state)
                    return
                missing, memory = what_is_missing(failure)
                if not isinstance(failure, PLAN_ERRORS):
                    break  # nor can other homes
            if failure is None:
                continue  # it fits; what is better is tried first
            said = failure.diagnosis.to_json() if isinstance(failure, AllocationError) else None
            search.refuse(state, failure.message, memory, missing, homes, said)
            attempts[search.rounds[-1].number] = state, homes
            if not isinstance(failure, PLAN_ERRORS):
                search.fall_back()
            if search.default_fits is not None:
                continue
            if search.exhausted or search.key(search.best()) in search.refused:
                report(search, state)
                assert search.nearest is not None
                state, homes = attempts[search.nearest.number]
                self.failed.clear()
                _restore(self.program, original)
                again = self.attempt(search, state, homes, original, trial=False)
                if again is None:
                    return
                raise _with_rounds(again, search)

    def modes(self) -> tuple[Literal["planned", "selected"], ...]:
        """How homes are placed: as it seems best, then balanced."""
        if self.options.homes == "planned" and self.retry_homes:
            return "planned", "selected"
        return (self.options.homes,)

    def attempt(
        self,
        search: Search,
        state: State,
        homes: Literal["planned", "selected"],
        original: ModuleOp,
        *,
        trial: bool = True,
    ) -> TileError | None:
        """Compile with a plan; what is in the way, or None. The program is as it was before, or compiled."""
        key = search.key(state), homes
        if key in self.failed:
            return self.failed[key]
        if self.failed:
            _restore(self.program, original)
        todo = self.left(homes)
        start = [stage.name for stage in todo].index(TilePlanLayoutsPass.name)
        # the default rule's plan is tried as without a search, so that nothing is refused for a search
        unsearched = search.is_default(state) and homes == self.options.homes
        decisions = Decisions() if unsearched else search.decisions(state)
        options = Options(self.options.machine, search.demanded, homes, "off", decisions)
        nodes = ATTEMPT_NODES if trial and not unsearched else None
        try:
            with use(replace(current(), trial=trial, allocation_nodes=nodes)):
                for stage in todo[start:]:
                    self.stage(stage, options)
        except TileError as error:
            if not isinstance(error, PLAN_ERRORS) and key[0] == search.key(search.favourite):
                raise  # no plan can help
            self.failed[key] = error
            return error
        return None

    def stage(self, stage: Stage, options: Options) -> None:
        _run(stage, options, self.program, self.context, self.observe)


def _restore(program: ModuleOp, original: ModuleOp) -> None:
    """Give a module the contents and attributes of another, which stays as it is."""
    copy = original.clone()
    program.attributes = dict(copy.attributes)
    for block in list(program.body.blocks):
        for op in reversed(list(block.ops)):
            op.detach()
            op.erase(safe_erase=False)
    program.body.block.add_ops([op for op in list(copy.body.block.ops) if op.detach() is None])


def _with_rounds(error: TileError, search: Search) -> TileError:
    """The error of the nearest plan, with what else was tried."""
    tried = [f"plan {r.number}: {r.verdict}" for r in search.rounds]
    error.notes = (*error.notes, f"{len(tried)} plans were tried", *tried[:6])
    return error


def select_program(module: ModuleOp, context: Context, entry: str | None = None) -> ModuleOp:
    """
    The program called `entry` in a module that has several, or foreign code around them: a module of its own.
    Without a name: the only one, or `main`. The module given is used up. Raises TileError.
    """
    census = Census.of(module)
    if entry is None and not census.ours and census.mixed():
        check_operations(census.mixed()[0])
    for stage in STAGES:
        if stage.finds_programs:
            _run(stage, Options(), module, context, None)
    found = programs(module) or (module,)
    if found == (module,) and entry is None:
        _check_program(module)
        return module
    names = [program_name(program) or _entry_name(program) for program in found]
    wanted = "main" if entry is None and len(found) > 1 else entry
    if wanted is not None and wanted not in names:
        message = (
            f"the module has {len(names)} programs" if entry is None else f"there is no program @{entry}"
        )
        raise TileError(
            message,
            location=module.location,
            notes=(f"programs: {', '.join(f'@{name}' for name in names)}",),
            hint="name the one to take (entry=, or --entry of tile-run)",
        )
    chosen = found[0 if wanted is None else names.index(wanted)]
    machine = nearest_machine(chosen)
    if chosen.parent is not None:
        chosen.detach()
    if machine is not None:
        chosen.attributes[MACHINE] = StringAttr(machine)
    _check_program(chosen)
    return chosen


def _check_program(module: ModuleOp) -> None:
    """Refuse what a program of tensor operations cannot hold."""
    if level_of(module) == "tensors":
        check_types(entry_function(module))
        check_operations(entry_function(module))


def _entry_name(module: ModuleOp) -> str:
    if level_of(module) == "machine":
        return module_to_program(module).name
    return entry_function(module).sym_name.data


def _run(
    stage: Stage, options: Options, module: ModuleOp, context: Context, observe: Observer | None
) -> None:
    with observe(stage, module) if observe is not None else nullcontext():
        stage.make(options).apply(context, module)
        module.verify()


def _between(after: str | None, until: str | None) -> Sequence[Stage]:
    names = [stage.name for stage in STAGES]
    for name in (after, until):
        if name is not None and name not in names:
            raise TileError(
                f"there is no stage `{name}`", hint=near(name, names) or f"stages: {', '.join(names)}"
            )
    start = 0 if after is None else names.index(after) + 1
    end = len(names) if until is None else names.index(until) + 1
    if end < start:
        raise TileError(
            f"the stage `{until}` is not behind `{after}`", notes=(f"stages: {', '.join(names)}",)
        )
    return STAGES[start:end]
