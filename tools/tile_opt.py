# SPDX-License-Identifier: Apache-2.0
"""
`tile-opt`: xdsl-opt with MLIR's pipeline syntax, our dialects and passes, and diagnostics in place of
tracebacks.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe
from xdsl.utils.exceptions import ParseError, ShrinkException
from xdsl.xdsl_opt_main import xDSLOptMain

from tilewright import instrumentation, settings
from tilewright.backends import sidecar
from tilewright.dialects.text.parser import decode, parse_source
from tilewright.dialects.text.sources import Source
from tilewright.instrumentation import Instrument, Remark
from tilewright.steps import StepLog
from tilewright.suggestions import near
from tilewright.tools.driver import progress
from tilewright.tools.driver.arguments import adopt
from tilewright.tools.driver.errors import DriverError, InvalidIR
from tilewright.tools.driver.main import (
    EXIT_USER_ERROR,
    USER_ERRORS,
    current_sources,
    report,
    reproduce,
    run_tool,
)
from tilewright.tools.driver.output import ReplacedWhenFlushed, print_with_tables
from tilewright.tools.driver.pipeline import (
    SOURCE_NAME,
    build_pipeline,
    cut_pipeline,
    describe_pipeline,
    step_names,
)
from tilewright.tools.driver.render import Diagnostic, diagnose, diagnose_remark, format_diagnostic
from tilewright.tools.driver.runner import Runner
from tilewright.tools.driver.timing import Timing
from tilewright.version import __version__

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tilewright.tools.driver.layout_pictures import LayoutPictures
    from tilewright.tools.driver.layout_printing import Aliases
    from tilewright.tools.driver.statistics import Statistics

SEPARATOR = "// -----"
_SEPARATING = re.compile(rb"^// -----[ \t]*\r?$", re.M)


class TileOptMain(xDSLOptMain):
    """xdsl-opt changed by its hooks only, so that a new xDSL release brings its new options along."""

    version_format: ClassVar[str] = f"tile-opt {__version__} (xdsl {{xdsl_version}})"

    _timing: Timing | None = None
    _pictures: LayoutPictures | None = None

    def __init__(self, description: str = "", args: Sequence[str] | None = None) -> None:
        self._arguments = list(args or ())
        super().__init__(description, args)

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
        self.parser = arg_parser = adopt(arg_parser)
        super().register_all_arguments(arg_parser)
        add = arg_parser.add_argument
        add("--pass-pipeline", default="", metavar="TEXT", help="passes as `builtin.module(a{x=1},b)`")
        add("-h", "--help", action="store_true")
        add("-q", "--quiet", action="store_true", help="print errors and what is asked for, no warnings")
        add("-v", "--verbose", action="store_true", help="print every pass and stage with its time to stderr")
        add("--help-all", action="store_true", help="print the options and passes of xDSL as well")
        add(
            "--completion",
            choices=("bash", "zsh", "fish"),
            help="print a script that completes command lines",
        )
        add("--list-dialects", action="store_true", help="print the names of all dialects, and stop")
        add(
            "--list-ops",
            metavar="DIALECT",
            nargs="?",
            help="print the operations of a dialect, or of ours, and stop",
        )
        add("--list-passes", action="store_true", help="print the passes with their options, and stop")
        add(
            "--dump-pass-pipeline",
            action="store_true",
            help="print the pipeline that runs, with the stages of tile-compile, to stderr",
        )
        add("--start-after", metavar="P", help="leave out everything up to the pass, or stage, P")
        add("--stop-after", metavar="P", help="stop when the pass, or stage, P is done")
        add(
            "--print-layouts",
            choices=("full", "alias", "short"),
            default="alias",
            help="alias: layouts and buffer types are `#layout0`, `!buffer0`, defined at the top (default);"
            " short: they are cut, for reading only; full: they stand where they are used",
        )
        add("--print-ir-before", action="append", default=[], metavar="P,..", help="print the IR before P")
        add("--print-ir-after", action="append", default=[], metavar="P,..", help="print the IR after P")
        add("--print-ir-before-all", action="store_true", help="print the IR before every pass and stage")
        add("--print-ir-after-all", action="store_true", help="print the IR after every pass and stage")
        add("--print-ir-after-change", action="store_true", help="print the IR after what has changed it")
        add("--print-ir-after-failure", action="store_true", help="print what a failed pass left behind")
        add("--print-ir-diff", action="store_true", help="print what changed, not the whole IR")
        add(
            "--print-ir-tree-dir",
            type=Path,
            metavar="DIR",
            help="print the IR to files in DIR, those of stages in folders of their pass, not to stderr",
        )
        add(
            "--machine",
            metavar="NAME|FILE",
            help="machine for passes that are not given one: c600, t4, t16, t64 or a TOML file",
        )
        add(
            "--plan",
            type=Path,
            metavar="FILE",
            help="plan file that forces the planner's choices, without a search unless --search says so",
        )
        add(
            "--search",
            choices=("off", "fast", "full"),
            help="how much is searched for plans of whole programs (default: fast)",
        )
        add(
            "--executor",
            metavar="SPEC",
            help="who prices plans: processes[:N], dask://HOST:PORT (default: this process)",
        )
        add("--plan-report", type=Path, metavar="FILE", help="write what the search tried to FILE (JSON)")
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
            "--dump-layouts",
            type=Path,
            metavar="DIR",
            help="draw every value over the tiles, and what moves between layouts, as SVG files in DIR",
        )
        add(
            "--steps", type=Path, metavar="FILE", help="write a JSON line when a pass starts and when it ends"
        )
        add(
            "--remarks-file",
            type=Path,
            metavar="FILE",
            help="write the remarks to FILE instead, as JSON, or as YAML if it is called so",
        )
        add(
            "--crash-reproducer",
            type=Path,
            metavar="FILE",
            help="where a failing run writes what reproduces it (default: the current folder, and only for"
            " faults of the tool)",
        )
        add("--run-reproducer", type=Path, metavar="FILE", help="run what a reproducer holds")
        add(
            "--pass-statistics",
            action="store_true",
            help="print to stderr what every pass and stage did to the number of operations",
        )
        add(
            "--timing",
            action="store_true",
            help="print the time and the memory of every pass and stage to stderr",
        )
        add(
            "--verify-diagnostics",
            choices=("all", "only-expected"),
            nargs="?",
            help="compare errors, warnings, notes and remarks with the comments `expected-error {{...}}` of"
            " the input; only-expected: others are no fault",
        )
        add(
            "--remarks",
            metavar="REGEX",
            nargs="?",
            help="print what passes remark (choices, conversions, fallbacks, homes), where pass, category or"
            " message match",
        )

    # -- pipeline

    def setup_pipeline(self) -> None:
        arguments = self.args
        if arguments.passes and arguments.pass_pipeline:
            raise DriverError("both -p and --pass-pipeline are given", hint="give one of them")
        source = Source(SOURCE_NAME, arguments.passes or arguments.pass_pipeline)
        current_sources().add(source)
        passes = build_pipeline(source, self.available_passes, self.ctx) if source.text.strip() else ()
        if arguments.start_after or arguments.stop_after:
            passes = cut_pipeline(passes, arguments.start_after, arguments.stop_after)
        self.pipeline = PassPipeline(passes)

    def _instruments(self) -> list[Instrument]:
        arguments = self.args
        instruments: list[Instrument] = []
        if self._timing is not None:
            instruments.append(self._timing)
        if arguments.pass_statistics:
            from tilewright.tools.driver.statistics import Statistics

            self._statistics.append(Statistics())
            instruments += self._statistics
        if arguments.dump_layouts is not None:
            from tilewright.tools.driver.layout_pictures import LayoutPictures

            self._pictures = LayoutPictures(arguments.dump_layouts)
            instruments.append(self._pictures)
        if arguments.steps is not None:
            instruments.append(StepLog(arguments.steps))
        if arguments.time_passes or arguments.print_between_passes:
            from tilewright.tools.driver.ir_printing import XDSLPrinting

            times, prints = arguments.time_passes, arguments.print_between_passes
            instruments.append(XDSLPrinting(times, prints, len(self.pipeline.passes)))
        if any(vars(arguments)[name] for name in vars(arguments) if name.startswith("print_ir_")):
            instruments.append(self._ir_printing())
        return instruments

    def _ir_printing(self) -> Instrument:
        from tilewright.tools.driver.ir_printing import IRPrinting, PrintRequest

        arguments = self.args
        before, after = (
            [name for text in texts for name in text.split(",") if name]
            for texts in (arguments.print_ir_before, arguments.print_ir_after)
        )
        known = [*step_names(self.pipeline.passes), *self.available_passes]
        for name in (*before, *after):
            if name not in known:
                raise DriverError(
                    f"there is no pass or stage `{name}` to print the IR at", hint=near(name, known)
                )
        request = PrintRequest(
            None if arguments.print_ir_before_all else tuple(before),
            None if arguments.print_ir_after_all else tuple(after),
            arguments.print_ir_after_change,
            arguments.print_ir_after_failure,
            arguments.print_ir_diff,
            arguments.print_ir_tree_dir,
        )
        if not request.wanted:
            request = dataclasses.replace(request, after=None)  # the folder alone: everything
        aliases = None
        if arguments.print_layouts == "alias":
            from tilewright.tools.driver.layout_printing import Aliases

            aliases = Aliases()  # of all prints, so that they differ where the program does

        def print_between(module: object) -> str:
            assert isinstance(module, ModuleOp)
            return self._text_of(module, aliases) if arguments.target == "mlir" else str(module)

        return IRPrinting(request, print_between)

    def _text_of(self, module: ModuleOp, aliases: Aliases | None = None) -> str:
        arguments = self.args
        if arguments.print_layouts == "full" or arguments.target != "mlir":
            return super().output_resulting_program(module)
        from tilewright.tools.driver.layout_printing import Aliases, print_module

        if arguments.print_layouts == "alias" and aliases is None:
            aliases = Aliases()
        return print_module(
            module,
            aliases,
            print_generic_format=arguments.print_op_generic,
            print_properties_as_attributes=arguments.print_no_properties,
            print_debuginfo=arguments.print_debuginfo,
        )

    def apply_passes(self, prog: ModuleOp) -> None:
        arguments = self.args
        runner = Runner(
            self.ctx,
            verify=not arguments.disable_verify,
            verify_each=arguments.verify_each,
            verify_memory=arguments.verify_memory,
            timing=self._timing,
        )
        runner.run(self.pipeline.passes, prog)

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
        name = self.get_input_name()
        source = Source(name, decode(chunk.read(), name), start_offset)
        with self._timed("(parse)"):
            return parse_source(
                self.ctx, source, current_sources(), implicit_module=not self.args.no_implicit_module
            )

    def prepare_output(self) -> IO[str]:
        if self.args.output_file in (None, "-"):
            return sys.stdout
        return ReplacedWhenFlushed(Path(self.args.output_file))

    def output_resulting_program(self, prog: ModuleOp) -> str:
        with self._timed("(print)"):
            return print_with_tables(prog, self._data_path(), lambda: self._text_of(prog))

    def _timed(self, name: str) -> AbstractContextManager[object]:
        return self._timing.scope(name) if self._timing is not None else nullcontext()

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
        if (text := self._asked()) is not None:
            sys.stdout.write(text)
            return
        for option in (self.args.plan, self.args.inputs):
            if option is not None and not option.is_file():
                raise DriverError(f"cannot open `{option}`: no such file")
        self._timing = Timing() if self.args.timing else None
        self._remark_data: list[dict[str, object]] = []
        self._statistics: list[Statistics] = []
        output = self.args.output_file
        if output not in (None, "-") and not Path(output).absolute().parent.is_dir():
            raise DriverError(f"cannot open `{output}`: its folder does not exist")
        defaults = settings.Settings(
            machine=self.args.machine,
            plan_path=self.args.plan,
            search=self.args.search,
            plan_report=self.args.plan_report,
            exchange_cap=self.args.exchange_cap,
            exchange_items=self.args.exchange_items,
            sidecar_dir=self.args.sidecar_dir,
            home_report=self.args.home_report,
            inputs_path=self.args.inputs,
            allocation_problems=self.args.dump_allocation_problems,
        )
        if self.args.dump_pass_pipeline:
            sys.stderr.write(describe_pipeline(self.pipeline.passes))
        with (
            self._executor() as executor,
            settings.use(dataclasses.replace(defaults, executor=executor)),
            sidecar.reading(self._tables_of_input()),
        ):
            if self.args.shrink:
                super().run()
                return
            try:
                with instrumentation.use(*self._instruments()):
                    self._process()
            finally:
                if self.args.remarks_file is not None:
                    from tilewright.tools.driver.remarks_file import write_remarks

                    write_remarks(self.args.remarks_file, self._remark_data)
                for text in (each.report() for each in self._statistics):
                    sys.stderr.write(text)
                if self._timing is not None:
                    sys.stderr.write(self._timing.report())

    def _executor(self) -> AbstractContextManager[Executor | None]:
        """Whose workers price plans."""
        if self.args.executor is None:
            return nullcontext()
        from tilewright.planning.search.workers import executor_of

        return executor_of(self.args.executor)

    def _asked(self) -> str | None:
        """The answer to a question about the tool itself."""
        arguments = self.args
        if arguments.completion is not None:
            from tilewright.tools.driver.completion import completion

            return completion(arguments.completion, "tile-opt", self.parser, list(self.available_passes))
        if not (
            arguments.help
            or arguments.help_all
            or arguments.list_passes
            or arguments.list_dialects
            or arguments.list_ops is not None
        ):
            return None
        from tilewright.tools.driver import help as about

        if arguments.list_passes:
            return about.list_passes(self.available_passes)
        if arguments.list_dialects:
            return about.list_dialects(self.ctx)
        if arguments.list_ops is not None:
            return about.list_operations(self.ctx, arguments.list_ops or None)
        if arguments.help_all:
            formats = {"targets": list(self.available_targets), "frontends": list(self.available_frontends)}
            return about.long_help(self.parser, self.available_passes, formats)
        if arguments.input_file is not None:
            return about.help_on(arguments.input_file, self.available_passes, self.ctx)
        return about.short_help(self.parser)

    def _process(self) -> None:
        """Every piece of the input; one that fails does not keep the others from being looked at."""
        chunks, extension = self.prepare_input()
        output = self.prepare_output()
        good = True
        try:
            for number, (chunk, offset) in enumerate(chunks):
                if number > 0:
                    output.write(f"{SEPARATOR}\n")
                with chunk:
                    if self.args.verify_diagnostics:
                        good &= self._check_diagnostics(chunk, extension, offset, output)
                    else:
                        good &= self._process_piece(chunk, extension, offset, output, alone=len(chunks) == 1)
            if good:
                output.flush()
        finally:
            if output is not sys.stdout:
                output.close()
        if not good:
            raise SystemExit(EXIT_USER_ERROR)

    def _process_piece(
        self, chunk: IO[bytes], extension: str, offset: int, output: IO[str], *, alone: bool
    ) -> bool:
        try:
            self._translate(chunk, extension, offset, output)
            return True
        except USER_ERRORS as error:
            if isinstance(error, ParseError):
                error.span = dataclasses.replace(error.span, line_offset=offset)
                if self.args.parsing_diagnostics:
                    print(error)
                    return True
            if alone or (isinstance(error, InvalidIR) and error.culprit is not None):
                raise
            report(error, "tile-opt", current_sources())
            reproduce("tile-opt", self._arguments, error, current_sources())
            return False

    def _translate(self, chunk: IO[bytes], extension: str, offset: int, output: IO[str]) -> None:
        module = self.parse_chunk(chunk, extension, offset)
        if module is None:
            return
        with self._told_remarks(), self._shown_steps(), self._drawn(module):
            self.apply_passes(module)
        output.write(self.output_resulting_program(module))

    def _shown_steps(self) -> AbstractContextManager[None]:
        """The running pass on stderr, unless the IR is printed there."""
        arguments = self.args
        to_stderr = arguments.print_ir_tree_dir is None and any(
            value for name, value in vars(arguments).items() if name.startswith("print_ir_")
        )
        return nullcontext() if to_stderr else progress.shown(arguments)

    def _drawn(self, module: ModuleOp) -> AbstractContextManager[object]:
        return self._pictures.of(module) if self._pictures is not None else nullcontext()

    @contextmanager
    def _told_remarks(self) -> Generator[None]:
        """Remarks and warnings of the block are printed at its end, also when it fails."""
        if self.args.verify_diagnostics is not None:
            yield  # compared, not printed
            return
        with instrumentation.collect_remarks() as remarks:
            try:
                yield
            finally:
                sources = current_sources()
                wanted = self._wanted_remarks(remarks)
                if self.args.remarks_file is not None:
                    from tilewright.tools.driver.remarks_file import remark_data

                    self._remark_data += [remark_data(remark, sources) for remark in wanted]
                    wanted = [remark for remark in wanted if remark.category == "warning"]
                for remark in wanted:
                    sys.stdout.flush()
                    sys.stderr.write(format_diagnostic(diagnose_remark(remark, sources), "tile-opt", sources))

    def _wanted_remarks(self, remarks: Sequence[Remark]) -> list[Remark]:
        """Warnings, and the remarks that `--remarks` asks for."""
        pattern = self._remark_pattern
        return [
            remark
            for remark in remarks
            if (remark.category == "warning" and not self.args.quiet)
            or (
                pattern is not None
                and any(pattern.search(text) for text in (remark.step, remark.category, remark.message))
            )
        ]

    @cached_property
    def _remark_pattern(self) -> re.Pattern[str] | None:
        text = self.args.remarks
        if text is None and self.args.remarks_file is not None:
            text = ""
        try:
            return None if text is None else re.compile(text)
        except re.error as error:
            raise DriverError(f"--remarks takes a regular expression, `{text}` is none: {error}") from error

    def _check_diagnostics(self, chunk: IO[bytes], extension: str, offset: int, output: IO[str]) -> bool:
        """`--verify-diagnostics`: whether a piece has the diagnostics that it says it has, and no others."""
        from tilewright.tools.driver.expected import check_expectations, read_expectations

        name = self.get_input_name()
        source = Source(name, decode(chunk.read(), name), offset)
        expectations, faults = read_expectations(source)
        found: list[Diagnostic] = []
        with instrumentation.collect_remarks() as remarks:
            try:
                self._translate(BytesIO(source.text.encode()), extension, offset, output)
            except USER_ERRORS as error:
                if isinstance(error, ParseError):
                    error.span = dataclasses.replace(error.span, line_offset=offset)
                found.append(diagnose(error, current_sources()))
        wanted = self._wanted_remarks(remarks)
        found = [*(diagnose_remark(remark, current_sources()) for remark in wanted), *found]
        strict = self.args.verify_diagnostics != "only-expected"
        faults += check_expectations(expectations, found, name, strict=strict)
        for fault in faults:
            sys.stdout.flush()
            sys.stderr.write(format_diagnostic(fault, "tile-opt", current_sources()))
        return not faults

    def prepare_input(self) -> tuple[list[tuple[IO[bytes], int]], str]:
        """
        The pieces of the input with the number of lines above each. A line `// -----` divides, one that goes
        on (the head of a printed module) does not.
        """
        if not self.args.split_input_file:
            return super().prepare_input()
        stream, extension = self.get_input_stream()
        with stream if stream is not sys.stdin.buffer else nullcontext(stream):
            data = stream.read()
        pieces: list[tuple[IO[bytes], int]] = []
        start = line = 0
        for match in _SEPARATING.finditer(data):
            pieces.append((BytesIO(data[start : match.start()]), line))
            line += data.count(b"\n", start, match.end())
            start = match.end()
        return [*pieces, (BytesIO(data[start:]), line)], extension


_SPELLED = {
    "--verify-each=true": "--verify-each",
    "--verify-each=false": "--no-verify-each",
    # these take a value with `=` only: the next argument is the input
    "--verify-diagnostics": "--verify-diagnostics=all",
    "--remarks": "--remarks=",
    "--list-ops": "--list-ops=",
}


def _body(arguments: Sequence[str]) -> int:
    tool = TileOptMain("tile-opt: run passes over textual IR", [_SPELLED.get(a, a) for a in arguments])
    if tool.args.run_reproducer is not None:
        return _run_again(tool.args.run_reproducer)
    try:
        tool.run()
    except ShrinkException:
        return 1
    return 0


def _run_again(path: Path) -> int:
    from tempfile import TemporaryDirectory

    from tilewright.tools.driver.reproducer import Reproducer

    found = Reproducer.read(path)
    if found.tool != "tile-opt":
        raise DriverError(f"`{path}` is of {found.tool}, which is to run it", hint=f"{found.tool} {path}")
    if found.version != __version__:
        print(f"note: it was written by version {found.version}, this is {__version__}", file=sys.stderr)
    with TemporaryDirectory() as folder:
        return _body(found.command(Path(folder), path))


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script."""
    return run_tool("tile-opt", _body, argv)


if __name__ == "__main__":
    sys.exit(main())
