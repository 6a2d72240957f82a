# SPDX-License-Identifier: Apache-2.0
"""
What every command-line tool shares: a context with all dialects, modules read with locations, errors as
diagnostics, exit status.

Exit status: 0 good; 1 something the user wrote is wrong, does not fit, or failed a check; 2 unknown flags; 70
internal error, with a file that reproduces it.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError

from tilewright.backends import sidecar
from tilewright.diagnostics import TileError
from tilewright.dialects.text.parser import decode, parse_source
from tilewright.dialects.text.sources import Source, Sources
from tilewright.tools.driver.errors import InvalidIR
from tilewright.tools.driver.render import diagnose, format_diagnostic
from tilewright.tools.driver.verify import verify_module

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

EXIT_GOOD = 0
EXIT_USER_ERROR = 1
EXIT_USAGE = 2
EXIT_INTERNAL = 70

USER_ERRORS = (TileError, ParseError, ArgSpecParseError, DiagnosticException)
"""What is raised about something that the user wrote."""

_sources: ContextVar[Sources | None] = ContextVar("tilewright_sources", default=None)


def current_sources() -> Sources:
    """The texts of the running tool (a fresh, empty set outside of `run_tool`)."""
    sources = _sources.get()
    if sources is None:
        sources = Sources()
        _sources.set(sources)
    return sources


def make_context(*, allow_unregistered: bool = False) -> Context:
    """A context with every dialect of the environment registered; each is imported at its first use."""
    from xdsl.universe import Universe

    context = Context(allow_unregistered=allow_unregistered)
    for name, factory in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, factory)
    return context


def load_module(
    path: str | os.PathLike[str], context: Context | None = None, *, verify: bool = True
) -> ModuleOp:
    """
    Read, parse and verify a file of textual IR. Ops without a location get `file:line:col` of their name.

    Raises `TileError`, `ParseError` or `OSError`, which `run_tool` prints.
    """
    name = os.fspath(path)
    source = Source(name, decode(Path(name).read_bytes(), name))
    with sidecar.reading(Path(name).parent):
        module = parse_source(context if context is not None else make_context(), source, current_sources())
    if verify:
        verify_module(module)
    return module


def run_tool(
    name: str, tool: Callable[[Sequence[str]], int | None], argv: Sequence[str] | None = None
) -> int:
    """Run a tool's body and turn whatever it raises into text on stderr and an exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    sources = Sources()
    token = _sources.set(sources)
    _tune_garbage_collector()
    try:
        try:
            status = tool(arguments) or EXIT_GOOD
        except SystemExit as stop:
            # argparse: 0 for --help and --version, 2 for flags it does not know
            if isinstance(stop.code, str):
                _say(stop.code)
            status = EXIT_USER_ERROR if isinstance(stop.code, str) else int(stop.code or 0)
        sys.stdout.flush()  # a full disk is found here, not by the interpreter on its way out
        return status
    except InvalidIR as error:
        report(error, name, sources)
        if error.culprit is None:
            return EXIT_USER_ERROR
        reproduce(name, arguments, error, sources)
        return EXIT_INTERNAL
    except USER_ERRORS as error:
        report(error, name, sources)
        reproduce(name, arguments, error, sources)
        return EXIT_USER_ERROR
    except BrokenPipeError:
        # Whoever read our output has left (`| head`); point stdout elsewhere so that the interpreter's last
        # flush is quiet.
        _close_stdout()
        return EXIT_USER_ERROR
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return 130
    except OSError as error:
        try:
            report(error, name, sources)
        except OSError:  # stdout again, or stderr as well
            _close_stdout()
            _say(f"{name}: error: cannot write the output: {(error.strerror or str(error)).lower()}")
        return EXIT_USER_ERROR
    except RecursionError:
        _say(f"{name}: error: the input is nested too deeply")
        return EXIT_USER_ERROR
    except MemoryError as error:
        _say(f"{name}: error: out of memory" + (f": {error}" if str(error) else ""))
        return EXIT_USER_ERROR
    except Exception as error:
        print(f"{name}: internal error: {type(error).__name__}: {error}", file=sys.stderr)
        reproduce(name, arguments, error, sources)
        return EXIT_INTERNAL
    finally:
        _sources.reset(token)


def _close_stdout() -> None:
    """Send what is still buffered nowhere: its reader or its disk has no room for it."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


def _say(text: str) -> None:
    """A line on stderr, as far as that can be written."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        return


def _tune_garbage_collector() -> None:
    """
    IR is full of cycles that live until the end: collecting them over and over doubles the time of building
    and cloning. Nothing is frozen: a tool may be called many times in one process.
    """
    gc.set_threshold(200_000, 20, 20)
    gc.enable()  # the launcher switches it off for the imports


def report(error: BaseException, name: str, sources: Sources) -> None:
    """Print an error that the user caused, behind what stands on stdout by now."""
    sys.stdout.flush()
    sys.stderr.write(format_diagnostic(diagnose(error, sources), name, sources))


def reproduce(name: str, arguments: Sequence[str], error: BaseException, sources: Sources) -> None:
    """
    Write what reproduces an error to a file, and say where. An error that the user caused is written only if
    `--crash-reproducer` asks for it.
    """
    import traceback

    from tilewright.tools.driver.reproducer import write_reproducer

    wanted = _value_of("--crash-reproducer", arguments)
    internal = not isinstance(error, USER_ERRORS) or (isinstance(error, InvalidIR) and bool(error.culprit))
    again = _value_of("--run-reproducer", arguments)
    if not internal and wanted is None:
        return
    if again is not None and wanted is None:
        print(f"note: this is a fault of {name}; please report it with {again}", file=sys.stderr)
        return
    texts = [s for s in sources.all() if s.name == "<stdin>" or not s.name.startswith("<")]
    read = [s for s in texts if s.name in arguments or s.name == "<stdin>"]
    text = (read or texts)[0].text if texts else ""
    left_out = {"--split-input-file", *(s.name for s in read)}
    kept = [argument for argument in arguments if argument not in left_out]
    try:
        path = write_reproducer(name, kept, text, error, Path(wanted) if wanted is not None else None)
    except OSError as problem:
        print(f"note: no reproducer could be written: {problem.strerror}", file=sys.stderr)
        traceback.print_exception(error)
        return
    if internal:
        print(
            f"note: this is a fault of {name}, not of its input; please report it with {path}",
            file=sys.stderr,
        )
    else:
        print(f"note: `{name} --run-reproducer {path}` does this again", file=sys.stderr)


def _value_of(option: str, arguments: Sequence[str]) -> str | None:
    for argument, following in zip(arguments, (*arguments[1:], None), strict=bool(arguments)):
        if argument == option:
            return following
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
    return None
