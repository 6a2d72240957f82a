# SPDX-License-Identifier: Apache-2.0
"""
`tile-reduce FILE -p PIPELINE`: makes a program that fails in a pipeline small, as long as it fails alike.

Alike is: the same kind of error, in the same pass, with the same words (numbers and names apart). With
`--test CMD` a command decides instead: it gets the name of a file with the program (after PIPELINE, where one
is given as well) in the place of `{}`, or behind it, and exits 0 where the program is still interesting.

Exit status: 0 reduced; 1 the program is not interesting, or cannot be read; 2 unknown flags.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tilewright.instrumentation import advance
from tilewright.tools.driver import progress
from tilewright.tools.driver.arguments import ToolParser
from tilewright.tools.driver.errors import ContextNote, DriverError
from tilewright.tools.driver.main import current_sources, load_module, make_context, run_tool
from tilewright.tools.driver.output import replace_file


def _parser() -> ToolParser:
    parser = ToolParser("tile-reduce", __doc__)
    parser.add_argument("file", type=Path, metavar="FILE", help="the program")
    parser.add_argument("-p", "--pass-pipeline", default="", metavar="TEXT", help="the pipeline that fails")
    parser.add_argument("--test", metavar="CMD", help="a command that exits 0 for interesting programs")
    parser.add_argument("--timeout", type=float, default=60, metavar="S", help="seconds for one run of CMD")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="where the result goes")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says."""
    from tilewright.tools.reduction import count_operations, reduce_module

    options = _parser().parse_args(arguments)
    if not options.pass_pipeline and options.test is None:
        raise DriverError("there is nothing to test with", hint="give -p PIPELINE, --test CMD, or both")
    context = make_context()
    module = load_module(options.file, context)
    pipeline = _pipeline(options.pass_pipeline, context) if options.pass_pipeline else None
    if options.test is not None:
        interesting = command_test(options.test, pipeline, options.timeout)
    else:
        assert pipeline is not None
        wanted = failure(pipeline, module.clone())
        if wanted is None:
            raise DriverError("the pipeline does not fail on the program", hint="give a --test")
        interesting = failure_test(pipeline, wanted)

    before = count_operations(module)
    try:
        with progress.shown(options), progress.step("reduce: operations left"):
            reduced = reduce_module(module, interesting, lambda count: advance(count, before))
    except ValueError as error:
        raise DriverError(str(error), hint="the command exits 0 where it is") from error
    if not options.quiet:
        print(f"{before} operations became {count_operations(reduced)}", file=sys.stderr)
    if options.output is not None:
        replace_file(options.output, str(reduced) + "\n")
    else:
        print(reduced)
    return 0


Pipeline = Callable[[ModuleOp], None]


def _pipeline(text: str, context: Context) -> Pipeline:
    from xdsl.universe import Universe

    from tilewright.dialects.text.sources import Source
    from tilewright.tools.driver.pipeline import SOURCE_NAME, build_pipeline
    from tilewright.tools.driver.runner import Runner

    source = current_sources().add(Source(SOURCE_NAME, text))
    passes = build_pipeline(source, Universe.get_multiverse().all_passes, context)
    return lambda module: Runner(context, verify=True).run(passes, module)


def failure(pipeline: Pipeline, module: ModuleOp) -> tuple[str, ...] | None:
    """How the pipeline fails on a module: kind, words, pass. None where it does not. Changes the module."""
    try:
        pipeline(module)
    except Exception as error:
        notes = [str(note) for note in getattr(error, "notes", ()) if isinstance(note, ContextNote)]
        words = re.sub(r"`[^`]*`|[%@]\w+|'[^']*'|[0-9]+", "_", str(error).split("\n")[0])
        return (type(error).__name__, words, *notes)
    return None


def failure_test(pipeline: Pipeline, wanted: tuple[str, ...]) -> Callable[[ModuleOp], bool]:
    """Interesting is what fails like `wanted`."""
    return lambda module: failure(pipeline, module) == wanted


def command_test(command: str, pipeline: Pipeline | None, seconds: float) -> Callable[[ModuleOp], bool]:
    """Interesting is what the command exits 0 for; a program that the pipeline fails on is not."""
    words = shlex.split(command)

    def interesting(module: ModuleOp) -> bool:
        if pipeline is not None and failure(pipeline, module) is not None:
            return False
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.mlir"
            path.write_text(str(module) + "\n", "utf-8")
            given = [word.replace("{}", str(path)) for word in words]
            if given == words:
                given.append(str(path))
            try:
                done = subprocess.run(given, capture_output=True, timeout=seconds, check=False)
            except subprocess.TimeoutExpired:
                return False
        return done.returncode == 0

    return interesting


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script."""
    return run_tool("tile-reduce", run, argv)


if __name__ == "__main__":
    sys.exit(main())
