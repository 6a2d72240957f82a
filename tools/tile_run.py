# SPDX-License-Identifier: Apache-2.0
"""
`tile-run PROGRAM`: compile unless compiled, load, run on the machine model, read back, check, report.

PROGRAM is a program folder or a module, of any level: what tile-opt has done is not done again.

Exit status: 0 everything passed; 1 the input is wrong, does not fit, or a check failed; 2 unknown flags.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.diagnostics import TileError
from tilewright.steps import StepLog
from tilewright.tools.driver import progress
from tilewright.tools.driver.arguments import ToolParser
from tilewright.tools.driver.main import load_module, make_context, run_tool
from tilewright.tools.run_compile import (
    Clock,
    RunError,
    check_machine,
    compile_module,
    forget_compilation,
    given_machine,
    planned_copy,
)
from tilewright.tools.run_figures import figures_console, print_figures, result_record, with_costs

if TYPE_CHECKING:
    import numpy as np
    from xdsl.dialects.builtin import ModuleOp

    from tilewright.backends.image import Image
    from tilewright.backends.program import Program
    from tilewright.frontends.program_folder import ProgramFolder
    from tilewright.machine import Machine
    from tilewright.passes.ir.exchange import PhaseFigures
    from tilewright.planning.plan import Plan
    from tilewright.sim.recorder import Recorder
    from tilewright.sim.results import RunResult
    from tilewright.tools.run_checks import Surface
    from tilewright.tools.run_compare import Compared
    from tilewright.tools.run_profile import CompilationFacts
    from tilewright.tools.run_report import LayerErrors, Work


def _parser() -> ToolParser:
    parser = ToolParser("tile-run", __doc__)
    parser.add_argument(
        "program",
        type=Path,
        nargs="?",
        metavar="PROGRAM",
        help="program folder, or a module of any level",
    )
    parser.add_argument(
        "--cases",
        type=Path,
        metavar="FILE",
        help="instead of a program: small ones of StableHLO with inputs and results, a JSON record a line",
    )
    parser.add_argument("--machine", metavar="NAME|FILE", help="name of a machine or path of a machine file")
    parser.add_argument(
        "--entry", metavar="NAME", help="the function to run (default: the only program, or @main)"
    )
    parser.add_argument(
        "--plan",
        type=Path,
        metavar="FILE",
        help="plan file that forces plan records, without a search unless --search says so",
    )
    parser.add_argument(
        "--dump-plan", type=Path, metavar="FILE", help="write the plan records in use, as --plan reads them"
    )
    parser.add_argument(
        "--search",
        choices=("off", "fast", "full"),
        help="how much is searched for plans of whole programs (default: fast)",
    )
    parser.add_argument(
        "--executor",
        metavar="SPEC",
        help="who prices plans: processes[:N], dask://HOST:PORT (default: this process)",
    )
    parser.add_argument(
        "--plan-report", type=Path, metavar="FILE", help="write what the search tried to FILE (JSON)"
    )
    parser.add_argument(
        "--exchange-cap",
        type=int,
        metavar="BYTES",
        help="most bytes of exchange rows on a tile (default: the machine's policy)",
    )
    parser.add_argument(
        "--exchange-items",
        choices=("auto", "words"),
        help="words: no exchange in items of 8 bytes (default: auto, where they are shorter)",
    )
    parser.add_argument(
        "--check-exchange",
        action="store_true",
        help="judge the rows of every exchange phase with the independent checker before running",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure to FILE")
    parser.add_argument(
        "--parameters", type=Path, metavar="FILE", help="values of the parameters (.safetensors)"
    )
    parser.add_argument("--inputs", type=Path, metavar="FILE", help="values of the inputs (.safetensors)")
    parser.add_argument("--expected", type=Path, metavar="FILE", help="expected outputs (.safetensors)")
    parser.add_argument("--runs", type=int, metavar="N", help="run N times with one parameter load")
    parser.add_argument(
        "--poison", type=float, metavar="V", help="fill unwritten memory with V before running"
    )
    parser.add_argument(
        "--compare",
        choices=("each",),
        help="each: every value against the bit-exact oracle and the reference of the program as given",
    )
    parser.add_argument(
        "--calibrate",
        type=Path,
        metavar="FILE",
        help="turn an f16 program into FP8, with scales from these inputs (.safetensors)",
    )
    parser.add_argument(
        "--fold-norms",
        action="store_true",
        help="fold gamma and beta of norms into the parameters of the products behind them",
    )
    parser.add_argument(
        "--fold-pooling",
        action="store_true",
        help="pool before the values' product where the queries of an attention are parameters",
    )
    parser.add_argument(
        "--profile",
        type=Path,
        metavar="FILE",
        help="write what was placed and executed, for tile-report; memory alone where it does not fit",
    )
    parser.add_argument(
        "--profile-operators", action="store_true", help="print cycles by operator (always in --json)"
    )
    parser.add_argument(
        "--steps",
        type=Path,
        metavar="FILE",
        help="write a JSON line when a step of the compilation starts and ends",
    )
    parser.add_argument(
        "--artifacts",
        type=Path,
        metavar="DIR",
        help="write the compiled module, outputs and placement to DIR",
    )
    return parser


@dataclass
class _Job:
    """A program with its files, read and checked, before it is compiled."""

    options: argparse.Namespace
    context: Any
    clock: Clock
    folder: ProgramFolder
    module: ModuleOp
    machine: Machine
    runs: int | None
    """Runs to make; None until the bindings of a program of buffers are known."""
    given: ModuleOp | None = None
    """The program as given, where it is compared value by value."""
    compared: Compared | None = None
    facts: CompilationFacts | None = None


@dataclass
class _Compiled:
    """A compiled program; what it took, in seconds and bytes."""

    program: Program
    machine: Machine
    image: Image
    figures: tuple[PhaseFigures, ...]
    work: dict[str, Work]
    seconds: float
    peak_bytes: int


@dataclass
class _Simulated:
    """All runs of a program: the result of the last, the outputs of each (by name)."""

    result: RunResult
    outputs: dict[str, list[np.ndarray]]
    layers: LayerErrors
    recorder: Recorder | None
    seconds: float


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says; returns the exit status."""
    options = _parser().parse_args(arguments)
    _check_options(options)
    if options.cases is not None:
        from tilewright.tools import run_cases

        with progress.shown(options), progress.step("cases"):
            found = run_cases.run_cases(options.cases, options.machine or "t16")
        return run_cases.report(found, options.json)
    with progress.shown(options):
        job = _prepare(options)
        compiled = _compile(job)
        simulated = _simulate(job, compiled)
    return _report(job, compiled, simulated)


def _check_options(options: argparse.Namespace) -> None:
    """Options that exclude each other, and files that could not be written."""
    from tilewright.tools.run_checks import check_writable

    if (options.program is None) == (options.cases is None):
        raise RunError("give a program, or --cases FILE")
    check_writable(
        {
            "--json": options.json,
            "--dump-plan": options.dump_plan,
            "--plan-report": options.plan_report,
            "--steps": options.steps,
            "--profile": options.profile,
        },
        {"--artifacts": options.artifacts},
    )


def _prepare(options: argparse.Namespace) -> _Job:
    """Read everything and refuse what cannot end well; nothing is compiled but for `--compare`."""
    from tilewright.frontends.program_folder import ProgramFolder, release_tensors
    from tilewright.machine import load
    from tilewright.passes import pipeline
    from tilewright.tools import run_checks

    clock = Clock(steps=StepLog(options.steps))
    start = time.perf_counter()
    with progress.step("read"):
        folder = ProgramFolder.read(
            options.program, parameters=options.parameters, inputs=options.inputs, expected=options.expected
        )
        context = make_context()
        path = folder.program_path
        assert path is not None
        module = pipeline.select_program(load_module(path, context), context, options.entry)
    clock.measure("read", start)
    if pipeline.level_of(module) == "machine":
        machine = load(check_machine(module, options.machine))
    else:
        machine = given_machine(module, options.machine)
    if options.compare is not None:
        _require_tensors(module, "--compare=each")
    run_checks.check_plan(options.plan, machine)
    job = _Job(options, context, clock, folder, module, machine, None)
    reads = run_checks.surface(module)
    if reads is not None:
        _check_surface(job, reads, tolerances=options.calibrate is None)
    if options.calibrate is not None:
        start = time.perf_counter()
        with progress.step("calibrate"):
            job.folder = _calibrate(module, job.folder, options.calibrate)
        clock.measure("calibrate", start)
    given = job.folder.parameters
    if options.fold_pooling:
        job.folder = _fold_pooling(module, job.folder)
    if options.fold_norms:
        job.folder = _fold_norms(module, job.folder)
    if job.folder.parameters is not given:
        release_tensors(given.values())  # all were read; a compilation needs the memory
    if options.compare == "each":
        job.given = module.clone()
    if options.profile is not None:
        from tilewright.tools.run_profile import CompilationFacts

        job.facts = CompilationFacts(text=(str(path), path.read_text("utf-8", errors="replace")))
        job.facts.read_program(module)
    return job


def _check_surface(job: _Job, reads: Surface, *, tolerances: bool = True) -> None:
    """Files against what the program reads and returns; outputs get the tolerance of their types."""
    from tilewright.tools import run_checks

    options = job.options
    job.runs = run_checks.check_files(reads, job.folder, options.runs, options.parameters, options.inputs)
    if tolerances:
        job.folder = _with_default_tolerances(job.folder, reads)


def _compile(job: _Job) -> _Compiled:
    """The machine program and its image; the module, and what compiling remembered, are gone afterwards."""
    from tilewright import settings
    from tilewright.backends.image import to_image
    from tilewright.dialects.tile_asm import program_to_module
    from tilewright.machine import load
    from tilewright.passes.ir.exchange import read_figures
    from tilewright.planning.search.workers import executor_of
    from tilewright.tools import run_checks, run_report

    options, module, clock = job.options, job.module, job.clock
    work = run_report.program_work(module, job.machine)
    began = time.perf_counter()
    decided: list[Plan] = []
    with (
        executor_of(options.executor) as executor,
        settings.use(
            settings.Settings(
                search=options.search,
                executor=executor,
                plan_report=options.plan_report,
                exchange_cap=options.exchange_cap,
                exchange_items=options.exchange_items,
            )
        ),
    ):
        try:
            program = compile_module(
                module,
                job.context,
                options.machine,
                options.plan,
                clock,
                options.dump_plan,
                options.check_exchange,
                job.facts,
                decided,
            )
        except TileError as error:
            if job.facts is not None:
                _write_failure(
                    options.profile, error, module, job.machine, job.facts, str(job.folder.program_path)
                )
            raise
    if job.given is not None:
        from tilewright.tools.run_compare import Compared

        # after the compilation: a search may have taken another plan than the first
        with progress.step("plan for the oracle"):
            oracle = planned_copy(job.given, job.context, options, decided[-1])
        job.compared = Compared(oracle, job.given)
        job.compared.program = program
    figures = read_figures(module)
    start = time.perf_counter()
    with progress.step("image"):
        image = to_image(program)
    clock.measure("image", start)
    seconds = time.perf_counter() - began
    if options.artifacts is not None:
        _write_artifacts(options.artifacts, module, program)
    made = _Compiled(program, load(program.machine), image, figures, work, seconds, clock.peak_rss())
    del module, job.module
    forget_compilation()
    if job.runs is None:  # a module of buffers: its bindings are known now
        reads = run_checks.surface(program_to_module(program))
        assert reads is not None
        _check_surface(job, reads)
    return made


def _simulate(job: _Job, compiled: _Compiled) -> _Simulated:
    """Load once and make every run."""
    from tilewright.frontends.program_folder import select_run
    from tilewright.sim.executor import Executor
    from tilewright.tools.run_report import LayerErrors

    assert job.runs is not None
    shapes = {
        name: b.shape
        for b in compiled.program.bindings
        if b.kind == "input"
        for name in (b.tensors or (b.name,))
    }
    start = time.perf_counter()
    executor = Executor(compiled.image, compiled.machine, job.options.poison)
    with progress.step("load parameters"):
        executor.load(job.folder.parameters)
    recorder: Recorder | None = None
    if job.facts is not None:
        from tilewright.sim.recorder import Recorder

        executor.observer = recorder = Recorder(compiled.machine)
    parameters = job.folder.parameters
    if job.compared is None:
        # Every page of the mapped file has been read: as long as it is mapped it counts as memory in use.
        parameters = {}
        job.folder = replace(job.folder, parameters=parameters)
    result: RunResult | None = None
    outputs: dict[str, list[np.ndarray]] = {}
    layers = LayerErrors.of(job.folder, compiled.program)
    for index in range(job.runs):
        inputs = select_run(job.folder.inputs, shapes, index, "input")
        with progress.step("simulate" if job.runs == 1 else f"simulate run {index + 1} of {job.runs}"):
            if job.compared is not None:
                result = job.compared.run(executor, inputs, parameters)
            else:
                layers.run = index
                result = executor.run(inputs, layers.tap if layers.values else None, layers.values)
        executor.observer = None  # all runs take the same cycles
        for name, value in result.outputs.items():
            outputs.setdefault(name, []).append(value)
    assert result is not None
    return _Simulated(result, outputs, layers, recorder, time.perf_counter() - start)


def _report(job: _Job, compiled: _Compiled, simulated: _Simulated) -> int:
    """Check the outputs, print and write what was asked for; returns the exit status."""
    import numpy as np

    from tilewright.planning.homes.report import resident_summary
    from tilewright.tools import run_report

    options, folder, program, machine = job.options, job.folder, compiled.program, compiled.machine
    result, layers, runs = simulated.result, simulated.layers, job.runs
    assert runs is not None
    stacked = {name: np.stack(values) for name, values in simulated.outputs.items()}
    record = result_record(folder, program, machine, result, stacked, runs, compiled.figures)
    record = with_costs(record, job.clock, compiled.seconds, compiled.peak_bytes, simulated.seconds)
    operators = run_report.operator_cycles(result.steps, compiled.work, machine)
    sections: dict[str, Any] = {"operators": [entry.to_json() for entry in operators]}
    sections["exchange_phases"] = [asdict(f) for f in compiled.figures]
    if layers.found:
        sections["layers"] = layers.to_json()
    record = replace(record, sections=sections)
    if options.artifacts is not None:
        from tilewright.frontends.program_folder import write_tensors

        write_tensors(options.artifacts / "outputs.safetensors", stacked)
    if not options.quiet:
        print_figures(record, machine, runs, folder.tolerance)
        print(resident_summary(program.bindings, machine.tiles))
        if layers.found:
            run_report.print_layers(figures_console(), sections["layers"])
    elif not record.passed:
        failed = [check.output for check in record.checks if not check.passed]
        print(f"tile-run: outputs that failed their check: {', '.join(failed)}", file=sys.stderr)
    if options.profile_operators:
        run_report.print_operators(figures_console(wide=True), operators)
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        record.write(options.json)
    if job.facts is not None and simulated.recorder is not None:
        from tilewright.tools.run_profile import profile_of_run

        options.profile.parent.mkdir(parents=True, exist_ok=True)
        made = profile_of_run(
            program, machine, simulated.recorder, job.facts, compiled.figures, record.to_json()
        )
        made.write(options.profile)
        if not options.quiet:
            print(f"the profile is in {options.profile}; `tile-report {options.profile}` shows it")
    if job.compared is not None and not job.compared.report():
        return 1
    return 0 if record.passed else 1


def _write_failure(
    path: Path, error: TileError, module: ModuleOp, machine: Machine, facts: CompilationFacts, program: str
) -> None:
    """The memory that was asked for; nothing where the compilation ended before it was known."""
    from tilewright.tools.run_profile import profile_of_failure

    try:
        made = profile_of_failure(error, module, machine, facts, program)
        path.parent.mkdir(parents=True, exist_ok=True)
        made.write(path)
    except TileError as second:
        progress.say(f"tile-run: no profile is written: {second.message}", sys.stderr)
        return
    progress.say(f"what was to be placed is in {path}; `tile-report {path}` shows it", sys.stderr)


def _with_default_tolerances(folder: ProgramFolder, reads: Surface) -> ProgramFolder:
    """What the element types let pass, for expected outputs of a folder that says nothing of any."""
    from tilewright.frontends.program_folder import Tolerance
    from tilewright.tools.run_checks import default_error

    if folder.tolerance:
        return folder
    types = [*reads.types, *(reads.dtypes[name] for name in (*reads.parameters, *reads.inputs))]
    return replace(
        folder,
        tolerance={
            name: Tolerance(default_error((*types, reads.dtypes[name]), value))
            for name, value in folder.expected.items()
            if name in reads.outputs
        },
    )


def _require_tensors(module: ModuleOp, option: str) -> None:
    from tilewright.passes import pipeline

    if pipeline.level_of(module) != "tensors":
        raise RunError(f"{option} needs the tensor program, not a compiled one")


def _calibrate(module: ModuleOp, folder: ProgramFolder, path: Path) -> ProgramFolder:
    """
    Quantise the program; what the folder tolerates is said of its own precision, so figures are only shown
    then.
    """
    from tilewright.frontends.program_folder import read_tensors
    from tilewright.passes.tile_quantize import quantize

    _require_tensors(module, "--calibrate")
    if not quantize(module, read_tensors(path), folder.parameters):
        raise RunError(
            "--calibrate found nothing to turn into FP8",
            hint="it casts f16 products of an activation and a parameter",
        )
    return replace(folder, tolerance={}, precision="f8, calibrated")


def _fold_norms(module: ModuleOp, folder: ProgramFolder) -> ProgramFolder:
    """Fold the norms of the program; the folder with the values of the new parameters."""
    from tilewright.passes.tile_fold_norms import fold_norms

    _require_tensors(module, "--fold-norms")
    record, added = fold_norms(module, folder.parameters)
    if not record:
        raise RunError(
            "--fold-norms found no norm to fold",
            hint="it takes norms that only products with parameters of their own read",
        )
    tolerance = folder.tolerance
    if any(entry.rounded for entry in record):
        # the folded matrices are rounded to FP8 anew: single values may be further off than the folder says
        tolerance = {name: replace(t, max_abs_error=None) for name, t in tolerance.items()}
    return replace(folder, parameters=added.over(folder.parameters), tolerance=tolerance)


def _fold_pooling(module: ModuleOp, folder: ProgramFolder) -> ProgramFolder:
    """Pool before projecting; the folder with the values of the new parameters."""
    from tilewright.passes.tile_fold_pooling import fold_pooling

    _require_tensors(module, "--fold-pooling")
    record, added = fold_pooling(module, folder.parameters)
    if not record:
        raise RunError(
            "--fold-pooling found no attention whose queries are parameters",
            hint="tile-opt -p tile-fold-pooling --remarks says of each why it stays",
        )
    return replace(folder, parameters={**folder.parameters, **added})


def _write_artifacts(folder: Path, module: ModuleOp, program: Program) -> None:
    import json

    from tilewright.tools.driver.output import write_module

    folder.mkdir(parents=True, exist_ok=True)
    write_module(module, folder / "program.asm.mlir")
    placement = [
        {"name": p.name, "address": p.address, "bytes": p.nbytes, "category": p.category}
        for p in program.placed
    ]
    text = json.dumps({"format": "tilewright-placement", "version": 1, "placed": placement}, indent=1)
    (folder / "placement.json").write_text(text + "\n", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script."""
    return run_tool("tile-run", run, argv)


if __name__ == "__main__":
    sys.exit(main())
