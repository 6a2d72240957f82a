# SPDX-License-Identifier: Apache-2.0
"""
`tile-run PROGRAM`: compile unless compiled, load, run on the machine model, read back, check, report.

PROGRAM is a program folder or a module, of any level: what tile-opt has done is not done again. Exit status 0
when everything passed, 1 when the input is wrong, does not fit, or a check failed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.diagnostics import TileError
from tilewright.steps import StepLog
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

    from tilewright.backends.program import Program
    from tilewright.frontends.program_folder import ProgramFolder
    from tilewright.machine import Machine
    from tilewright.sim.recorder import Recorder
    from tilewright.sim.results import RunResult
    from tilewright.tools.run_checks import Surface
    from tilewright.tools.run_profile import CompilationFacts


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("tile-run", description=__doc__, allow_abbrev=False)
    parser.add_argument("program", type=Path, nargs="?", help="program folder, or a module of any level")
    parser.add_argument(
        "--cases",
        type=Path,
        metavar="FILE",
        help="instead of a program: small ones of StableHLO with inputs and results, a JSON record a line",
    )
    parser.add_argument("--machine", help="name of a machine or path of a machine file")
    parser.add_argument(
        "--entry", metavar="NAME", help="the function to run (default: the only program, or @main)"
    )
    parser.add_argument("--plan", type=Path, help="plan file that forces plan records")
    parser.add_argument(
        "--dump-plan", type=Path, metavar="FILE", help="write the plan records in use, as --plan reads them"
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
    parser.add_argument("--parameters", type=Path, help="values of the parameters (.safetensors)")
    parser.add_argument("--inputs", type=Path, help="values of the inputs (.safetensors)")
    parser.add_argument("--expected", type=Path, help="expected outputs (.safetensors)")
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


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says; returns the exit status."""
    import numpy as np

    from tilewright import settings
    from tilewright.backends.image import to_image
    from tilewright.dialects.tile_asm import program_to_module
    from tilewright.frontends.program_folder import ProgramFolder, select_run
    from tilewright.machine import load
    from tilewright.passes import pipeline
    from tilewright.passes.ir.exchange import read_figures
    from tilewright.planning.homes.report import resident_summary
    from tilewright.sim.executor import Executor
    from tilewright.tools import run_checks, run_report

    options = _parser().parse_args(arguments)
    if (options.program is None) == (options.cases is None):
        raise RunError("give a program, or --cases FILE")
    run_checks.check_writable(
        {
            "--json": options.json,
            "--dump-plan": options.dump_plan,
            "--steps": options.steps,
            "--profile": options.profile,
        },
        {"--artifacts": options.artifacts},
    )
    if options.cases is not None:
        from tilewright.tools import run_cases

        return run_cases.report(run_cases.run_cases(options.cases, options.machine or "t16"), options.json)
    clock = Clock(steps=StepLog(options.steps))
    start = time.perf_counter()
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
    if pipeline.level_of(module) != "tensors" and options.compare is not None:
        raise RunError("--compare=each needs the tensor program, not a compiled one")
    runs: int | None = None
    reads = run_checks.surface(module)
    if reads is not None:
        runs = run_checks.check_files(reads, folder, options.runs, options.parameters, options.inputs)
        if options.calibrate is None:
            folder = _with_default_tolerances(folder, reads)
    if options.calibrate is not None:
        start = time.perf_counter()
        folder = _calibrate(module, folder, options.calibrate)
        clock.measure("calibrate", start)
    work = run_report.program_work(module, machine)
    compile_start = time.perf_counter()
    compared = None
    if options.compare == "each":
        from tilewright.tools.run_compare import Compared

        compared = Compared(planned_copy(module, context, options), module.clone())
    facts: CompilationFacts | None = None
    if options.profile is not None:
        from tilewright.tools.run_profile import CompilationFacts

        facts = CompilationFacts(text=(str(path), path.read_text("utf-8", errors="replace")))
        facts.read_program(module)
    with settings.use(
        settings.Settings(exchange_cap=options.exchange_cap, exchange_items=options.exchange_items)
    ):
        try:
            program = compile_module(
                module,
                context,
                options.machine,
                options.plan,
                clock,
                options.dump_plan,
                options.check_exchange,
                facts,
            )
        except TileError as error:
            if facts is not None and options.profile is not None:
                _write_failure(options.profile, error, module, machine, facts, str(path))
            raise
    if compared is not None:
        compared.program = program
    figures = read_figures(module)
    machine = load(program.machine)
    start = time.perf_counter()
    image = to_image(program)
    clock.measure("image", start)
    compile_seconds = time.perf_counter() - compile_start
    compile_rss = clock.peak_rss()
    if options.artifacts is not None:
        _write_artifacts(options.artifacts, module, program)
    del module
    forget_compilation()

    if runs is None:  # a module of buffers: its bindings are known now
        reads = run_checks.surface(program_to_module(program))
        assert reads is not None
        runs = run_checks.check_files(reads, folder, options.runs, options.parameters, options.inputs)
        folder = _with_default_tolerances(folder, reads)

    shapes = {
        name: b.shape for b in program.bindings if b.kind == "input" for name in (b.tensors or (b.name,))
    }
    simulate_start = time.perf_counter()
    executor = Executor(image, machine, options.poison)
    executor.load(folder.parameters)
    recorder: Recorder | None = None
    if facts is not None:
        from tilewright.sim.recorder import Recorder

        executor.observer = recorder = Recorder(machine)
    if compared is None:
        # Every page of the mapped file has been read: as long as it is mapped it counts as memory in use.
        folder = replace(folder, parameters={})
    result: RunResult | None = None
    outputs: dict[str, list[np.ndarray]] = {}
    layers = run_report.LayerErrors.of(folder, program)
    for index in range(runs):
        inputs = select_run(folder.inputs, shapes, index, "input")
        if compared is not None:
            result = compared.run(executor, inputs, folder.parameters)
        else:
            layers.run = index
            result = executor.run(inputs, layers.tap if layers.values else None, layers.values)
        assert result is not None
        executor.observer = None  # all runs take the same cycles
        for name, value in result.outputs.items():
            outputs.setdefault(name, []).append(value)
        _progress(f"run {index + 1} of {runs}", last=index + 1 == runs)
    assert result is not None
    simulate_seconds = time.perf_counter() - simulate_start
    stacked = {name: np.stack(values) for name, values in outputs.items()}
    record = result_record(folder, program, machine, result, stacked, runs, figures)
    record = with_costs(record, clock, compile_seconds, compile_rss, simulate_seconds)
    operators = run_report.operator_cycles(result.steps, work, machine)
    sections: dict[str, Any] = {"operators": [entry.to_json() for entry in operators]}
    sections["exchange_phases"] = [asdict(f) for f in figures]
    if layers.found:
        sections["layers"] = layers.to_json()
    record = replace(record, sections=sections)
    if options.artifacts is not None:
        from tilewright.frontends.program_folder import write_tensors

        write_tensors(options.artifacts / "outputs.safetensors", stacked)
    print_figures(record, machine, runs, folder.tolerance)
    print(resident_summary(program.bindings, machine.tiles))
    if layers.found:
        run_report.print_layers(figures_console(), sections["layers"])
    if options.profile_operators:
        run_report.print_operators(figures_console(wide=True), operators)
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        record.write(options.json)
    if facts is not None and recorder is not None and options.profile is not None:
        from tilewright.tools.run_profile import profile_of_run

        options.profile.parent.mkdir(parents=True, exist_ok=True)
        made = profile_of_run(program, machine, recorder, facts, figures, record.to_json())
        made.write(options.profile)
        print(f"the profile is in {options.profile}; `tile-report {options.profile}` shows it")
    if compared is not None and not compared.report():
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
        print(f"tile-run: no profile is written: {second.message}", file=sys.stderr)
        return
    print(f"what was to be placed is in {path}; `tile-report {path}` shows it", file=sys.stderr)


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


def _calibrate(module: ModuleOp, folder: ProgramFolder, path: Path) -> ProgramFolder:
    """
    Quantise the program; what the folder tolerates is said of its own precision, so figures are only shown
    then.
    """
    from tilewright.frontends.program_folder import read_tensors
    from tilewright.passes.tile_quantize import quantize

    if any(op.name.startswith(("tile_asm.", "tile.")) for op in module.walk()):
        raise RunError("--calibrate needs the tensor program, not a compiled one")
    if not quantize(module, read_tensors(path), folder.parameters):
        raise RunError(
            "--calibrate found nothing to turn into FP8",
            hint="it casts f16 products of an activation and a parameter",
        )
    return replace(folder, tolerance={}, precision="f8, calibrated")


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


def _progress(text: str, last: bool) -> None:
    if sys.stderr.isatty():
        print(f"\r{text}", end="\n" if last else "", file=sys.stderr, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script."""
    return run_tool("tile-run", run, argv)


if __name__ == "__main__":
    sys.exit(main())
