# SPDX-License-Identifier: Apache-2.0
"""
`tile-opt`: xdsl-opt with MLIR's pipeline syntax, our dialects and passes, and diagnostics in place of
tracebacks.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Sequence
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import IO, ClassVar, get_type_hints

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.universe import Universe
from xdsl.utils.exceptions import DiagnosticException, ShrinkException
from xdsl.xdsl_opt_main import xDSLOptMain

from tilewright import settings
from tilewright.backends import sidecar
from tilewright.diagnostics import TileError
from tilewright.dialects.text.parser import decode, parse_source
from tilewright.dialects.text.sources import Source
from tilewright.steps import StepLog, use_steps
from tilewright.tools.driver.errors import DriverError, InvalidIR
from tilewright.tools.driver.main import current_sources, run_tool
from tilewright.tools.driver.output import print_with_tables, replace_file
from tilewright.tools.driver.pipeline import SOURCE_NAME, PassTable, build_pipeline, describe_type
from tilewright.tools.driver.verify import reason, verify_module
from tilewright.version import __version__


class TileOptMain(xDSLOptMain):
    """xdsl-opt changed by its hooks only, so that a new xDSL release brings its new options along."""

    version_format: ClassVar[str] = f"tile-opt {__version__} (xdsl {{xdsl_version}})"

    running: ModulePass | None = None
    """The pass that is being applied."""

    # -- registration: one look at the environment's plugins instead of xDSL's four

    @cached_property
    def _multiverse(self) -> Universe:
        return Universe.get_multiverse()

    def register_all_dialects(self) -> None:
        for name, factory in self._multiverse.all_dialects.items():
            self.ctx.register_dialect(name, factory)

    def register_all_frontends(self) -> None:
        self.available_frontends.update(self._multiverse.all_frontends)

    def register_all_passes(self) -> None:
        for name, factory in self._multiverse.all_passes.items():
            self.register_pass(name, factory)

    def register_all_targets(self) -> None:
        self.available_targets.update(self._multiverse.all_targets)

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.prog = "tile-opt"
        arg_parser.allow_abbrev = False
        add = arg_parser.add_argument
        add("--pass-pipeline", default="", metavar="TEXT", help="passes as `builtin.module(a{x=1},b)`")
        add("--list-passes", action="store_true", help="print the passes with their options, and stop")
        add(
            "--machine",
            metavar="NAME|FILE",
            help="machine for passes that are not given one: c600, t4, t16, t64 or a TOML file",
        )
        add("--plan", type=Path, metavar="FILE", help="plan file that forces the planner's choices")
        add(
            "--exchange-cap",
            type=int,
            metavar="BYTES",
            help="most bytes of exchange rows on a tile (default: the machine's policy)",
        )
        add(
            "--exchange-items",
            choices=("auto", "words"),
            help="words: no exchange in items of 8 bytes (default: auto, where they are shorter)",
        )
        add("--home-report", type=Path, metavar="FILE", help="write where parameters live to FILE (JSON)")
        add("--inputs", type=Path, metavar="FILE", help="values of the program's inputs (.safetensors)")
        add("--sidecar-dir", type=Path, metavar="DIR", help="folder for tables too large to print inline")
        add(
            "--verify-each",
            action=argparse.BooleanOptionalAction,
            default=True,
            help="verify after every pass (default), or only the input and the result",
        )
        add("--verify-memory", action="store_true", help="check the memory of the module after every pass")
        add(
            "--dump-allocation-problems",
            type=Path,
            metavar="DIR",
            help="write the problem that tile-allocate-* solves to DIR (for tile-alloc)",
        )
        add(
            "--steps", type=Path, metavar="FILE", help="write a JSON line when a pass starts and when it ends"
        )
        add("--timing", action="store_true", help="print the seconds of every pass to stderr")

    # -- pipeline

    def setup_pipeline(self) -> None:
        arguments = self.args
        if arguments.passes and arguments.pass_pipeline:
            raise DriverError("both -p and --pass-pipeline are given", hint="give one of them")
        source = Source(SOURCE_NAME, arguments.passes or arguments.pass_pipeline)
        current_sources().add(source)
        passes = build_pipeline(source, self.available_passes) if source.text.strip() else ()
        self._timings: list[tuple[str, float]] = []
        self._steps = StepLog(arguments.steps)
        use_steps(self._steps)
        self.pipeline = PassPipeline(passes, self._between_passes)

    def _between_passes(
        self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
    ) -> None:
        now = time.perf_counter()
        if previous is not None:
            self._timings.append((previous.name, now - self._pass_started))
            self._steps.end(previous.name)
            if self.args.time_passes:
                print(f"Pass {previous.name} took {now - self._pass_started} seconds")
        self.running = None
        if not self.args.disable_verify and (self.args.verify_each or previous is None or following is None):
            try:
                verify_module(module)
            except InvalidIR as error:
                if previous is not None:
                    error.culprit = previous.name
                    error.notes = (*error.notes, f"the IR is invalid after pass `{previous.name}`")
                raise
            self._timings.append(("(verify)", time.perf_counter() - now))
        if self.args.verify_memory and (previous is not None or following is None):
            self._look_at_memory(previous, module)
        if previous is not None and following is not None and self.args.print_between_passes:
            print(f"IR after {previous.name}:\n{module!s}\n\n\n")
        self.running = following
        if following is not None:
            self._steps.start(following.name)
        self._pass_started = time.perf_counter()

    def _look_at_memory(self, previous: ModulePass | None, module: ModuleOp) -> None:
        from tilewright.passes.ir.memory_verify import verify_memory

        try:
            verify_memory(module)
        except TileError as error:
            if previous is not None:
                error.notes = (*error.notes, f"the memory is wrong after pass `{previous.name}`")
            raise

    def apply_passes(self, prog: ModuleOp) -> None:
        try:
            super().apply_passes(prog)
        except InvalidIR:
            raise
        except TileError as error:
            if self.running is not None:
                error.notes = (*error.notes, f"in pass `{self.running.name}`")
            raise
        except DiagnosticException as error:
            if self.running is None:
                raise
            # xDSL's exceptions carry the whole module as a note; ours say where.
            raise DriverError(reason(error), notes=(f"in pass `{self.running.name}`",)) from error

    # -- input and output

    def get_input_name(self) -> str:
        return self.args.input_file if self.args.input_file not in (None, "-") else "<stdin>"

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        if self.args.input_file in (None, "-"):
            return sys.stdin.buffer, "mlir"
        stream = open(self.args.input_file, "rb")
        extension = Path(self.args.input_file).suffix.removeprefix(".")
        return stream, extension if extension in self.available_frontends else "mlir"

    def parse_chunk(self, chunk: IO[bytes], file_extension: str, start_offset: int = 0) -> ModuleOp | None:
        if (self.args.frontend or file_extension) != "mlir":
            return super().parse_chunk(chunk, file_extension, start_offset)
        started = time.perf_counter()
        name = self.get_input_name()
        source = Source(name, decode(chunk.read(), name), start_offset)
        module = parse_source(
            self.ctx, source, current_sources(), implicit_module=not self.args.no_implicit_module
        )
        self._timings.append(("(parse)", time.perf_counter() - started))
        return module

    def prepare_output(self) -> IO[str]:
        if self.args.output_file in (None, "-"):
            return sys.stdout
        return _ReplacedWhenFlushed(Path(self.args.output_file))

    def output_resulting_program(self, prog: ModuleOp) -> str:
        started = time.perf_counter()
        text = print_with_tables(
            prog, self._data_path(), lambda: xDSLOptMain.output_resulting_program(self, prog)
        )
        self._timings.append(("(print)", time.perf_counter() - started))
        return text

    def _data_path(self) -> Path | None:
        """Where tables go that are too large to print: beside the output, or in the sidecar folder."""
        output = self.args.output_file
        name = Path(output if output not in (None, "-") else self.get_input_name().strip("<>")).name + ".data"
        if self.args.sidecar_dir is not None:
            return self.args.sidecar_dir / name
        return Path(output).with_name(name) if output not in (None, "-") else None

    def _tables_of_input(self) -> Path:
        """Where the tables are that the input's text refers to: the sidecar folder, else beside the input."""
        if self.args.sidecar_dir is not None:
            return self.args.sidecar_dir
        return Path() if self.args.input_file in (None, "-") else Path(self.args.input_file).parent

    # -- the whole

    def run(self) -> None:
        if self.args.list_passes:
            print(list_passes(self.available_passes), end="")
            return
        for option in (self.args.plan, self.args.inputs):
            if option is not None and not option.is_file():
                raise DriverError(f"cannot open `{option}`: no such file")
        defaults = settings.Settings(
            machine=self.args.machine,
            plan_path=self.args.plan,
            exchange_cap=self.args.exchange_cap,
            exchange_items=self.args.exchange_items,
            sidecar_dir=self.args.sidecar_dir,
            home_report=self.args.home_report,
            inputs_path=self.args.inputs,
            allocation_problems=self.args.dump_allocation_problems,
        )
        with settings.use(defaults), sidecar.reading(self._tables_of_input()):
            try:
                super().run()
            finally:
                if self.args.timing:
                    self._print_timings()

    def _print_timings(self) -> None:
        total = sum(seconds for _, seconds in self._timings)
        print("seconds  share  pass", file=sys.stderr)
        for name, seconds in self._timings:
            print(f"{seconds:7.3f}  {100 * seconds / max(total, 1e-9):4.0f}%  {name}", file=sys.stderr)
        print(f"{total:7.3f}   100%  total", file=sys.stderr)


class _ReplacedWhenFlushed(StringIO):
    """
    Text that reaches its file in one step: a failed run leaves the old file, and the output may be the input.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def flush(self) -> None:
        super().flush()
        replace_file(self._path, self.getvalue())


def list_passes(available: PassTable) -> str:
    """
    Our passes with the first line of their documentation and their options, the stages of a compilation, and
    the names of the other passes.
    """
    from tilewright.passes.pipeline import STAGES
    from tilewright.universe import UNIVERSE

    lines: list[str] = []
    for name, factory in UNIVERSE.all_passes.items():
        cls = factory()
        summary = (cls.__doc__ or "").strip().split("\n")[0]
        lines.append(f"{name}: {summary}")
        hints = get_type_hints(cls)
        for option in dataclasses.fields(cls):
            default = option.default
            shown = "" if default in (None, dataclasses.MISSING) else f" (default {str(default).lower()})"
            lines.append(f"    {option.name.replace('_', '-')}: {describe_type(hints[option.name])}{shown}")
    lines.append("stages of tile-compile and tile-run, in order:")
    lines.extend(f"    {stage.name}: {stage.description}" for stage in STAGES)
    others = sorted(set(available) - set(UNIVERSE.all_passes))
    lines.append("passes of xDSL and of other plugins:")
    lines.extend(f"    {name}" for name in others)
    return "\n".join(lines) + "\n"


def _body(arguments: Sequence[str]) -> int:
    spelled = {"--verify-each=true": "--verify-each", "--verify-each=false": "--no-verify-each"}
    try:
        TileOptMain("tile-opt: run passes over textual IR", [spelled.get(a, a) for a in arguments]).run()
    except ShrinkException:
        return 1
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script."""
    return run_tool("tile-opt", _body, argv)


if __name__ == "__main__":
    sys.exit(main())
