# SPDX-License-Identifier: Apache-2.0
"""
Reproducers: one `.mlir` with a program, the command line that ran on it, and everything else it takes.

The first line is `// tilewright-reproducer: ` and a JSON object: tool, versions, arguments without the input,
files that the arguments name (their text, under the place of the argument), and how the run ended. To every
reader of MLIR the file is the program.
"""

from __future__ import annotations

import json
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from tilewright.tools.driver.errors import DriverError
from tilewright.version import __version__

PREFIX = "// tilewright-reproducer: "
FORMAT = "tilewright-reproducer"
VERSION = 1
LARGEST_FILE = 1 << 20
"""Files named in arguments are taken along up to so many bytes; larger ones are left out, and named."""

_OUTPUTS = ("-o", "--output-file", "--crash-reproducer", "--print-ir-tree-dir", "--steps", "--home-report")
"""Options whose value is a place to write to: a run of a reproducer leaves them out."""


@dataclass(frozen=True)
class Reproducer:
    """A reproducer as it was read."""

    tool: str
    version: str
    arguments: tuple[str, ...]
    files: Mapping[str, str]
    text: str

    @staticmethod
    def read(path: Path) -> Reproducer:
        """`DriverError` where the file is none."""
        text = path.read_text("utf-8")
        first, _, rest = text.partition("\n")
        hint = f"its first line begins with `{PREFIX.strip()}`"
        if not first.startswith(PREFIX):
            raise DriverError(f"`{path}` is no reproducer", hint=hint)
        try:
            data: Any = json.loads(first.removeprefix(PREFIX))
            if (data["format"], data["version"]) != (FORMAT, VERSION):
                raise ValueError(f"format {data['format']}, version {data['version']}")
            arguments = tuple(str(argument) for argument in data["arguments"])
            files = {str(name): str(content) for name, content in data["files"].items()}
            return Reproducer(str(data["tool"]), str(data["tilewright"]), arguments, files, rest)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DriverError(f"the first line of the reproducer `{path}` is damaged: {error}") from error

    def command(self, folder: Path, program: Path) -> list[str]:
        """Arguments that run it, with its files written to `folder`."""
        names: dict[str, str] = {}
        for number, (name, content) in enumerate(self.files.items()):
            path = folder / f"{number}-{Path(name).name}"
            path.write_text(content, "utf-8")
            names[name] = str(path)
        return [str(program), *(_renamed(argument, names) for argument in self.arguments)]


def write_reproducer(
    tool: str, arguments: Sequence[str], text: str, error: BaseException, wanted: Path | None
) -> Path:
    """
    Write a reproducer to `wanted`, else to the current folder, else to the one for temporary files; where it
    is. `arguments` has the input's name out of it. Raises OSError where nothing can be written.
    """
    kept = _without_outputs(arguments)
    data = {
        "format": FORMAT,
        "version": VERSION,
        "tool": tool,
        "tilewright": __version__,
        "xdsl": version_of("xdsl"),
        "arguments": kept,
        "files": _files(kept),
        "error": f"{type(error).__name__}: {error}".split("\n")[0],
    }
    trace = "".join(traceback.format_exception(error)) if not _is_ours(error) else ""
    body = PREFIX + json.dumps(data) + "\n" + text + ("" if text.endswith("\n") else "\n")
    body += "".join(f"// {line}\n" for line in trace.splitlines())
    if wanted is not None:
        wanted.write_text(body, "utf-8")
        return wanted
    import hashlib

    name = f"{tool}-{hashlib.sha256(body.encode()).hexdigest()[:12]}.reproducer.mlir"
    try:
        path = Path(name)
        path.write_text(body, "utf-8")
    except OSError:
        path = Path(tempfile.gettempdir()) / name
        path.write_text(body, "utf-8")
    return path


def _is_ours(error: BaseException) -> bool:
    from tilewright.diagnostics import TileError

    return isinstance(error, TileError)


def _without_outputs(arguments: Sequence[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in _OUTPUTS:
            skip = True
        elif argument.partition("=")[0] not in _OUTPUTS:
            kept.append(argument)
    return kept


def _files(arguments: Sequence[str]) -> dict[str, str]:
    """Text files that arguments name, also inside of a pipeline (`plan=FILE`)."""
    import re

    found: dict[str, str] = {}
    for argument in arguments:
        for word in {argument, *re.split(r"[=,{}()\s\"']+", argument)}:
            path = Path(word)
            try:
                if word and path.is_file() and path.stat().st_size <= LARGEST_FILE:
                    found[word] = path.read_text("utf-8")
            except (OSError, UnicodeDecodeError, ValueError):
                continue
    return found


def _renamed(argument: str, names: Mapping[str, str]) -> str:
    if argument in names:
        return names[argument]
    for name in sorted(names, key=len, reverse=True):
        argument = argument.replace(f"={name}", f"={names[name]}")
    return argument
