# SPDX-License-Identifier: Apache-2.0
"""
Command lines of all tools: help that fits a screen, unknown flags answered in one line with a near name, and
the options that every tool has (`--version`, `--completion`, `-q`, `-v`).

A tool makes a `ToolParser`, adds its own arguments, and gives its body to `driver.run_tool`:

    def _parser() -> ToolParser:
        parser = ToolParser("tile-thing", __doc__)
        parser.add_argument("file", type=Path, metavar="FILE", help="what is read")
        return parser

    def run(arguments: Sequence[str]) -> int:
        options = _parser().parse_args(arguments)
        with progress.shown(options):
            with progress.step("work"):
                ...
"""

from __future__ import annotations

import argparse
import inspect
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from tilewright.suggestions import near

COMMON = ("help", "quiet", "verbose", "completion", "version")
"""Options of every tool, in the order in which help lists them."""

SHELLS = ("bash", "zsh", "fish")


class ToolParser(argparse.ArgumentParser):
    """
    An argument parser of ours. Options are never abbreviated.

    `description` is the tool's documentation; a line `` `tool ARGUMENTS`: what it does `` at its head is its
    usage, paragraphs that begin with `Exit status` stand at the end of the help.
    """

    def __init__(self, prog: str, description: str | None = None, *, usage: str | None = None) -> None:
        super().__init__(prog, usage, inspect.cleandoc(description or ""), allow_abbrev=False, add_help=False)
        self.add_argument("-h", "--help", action="help", help="print this")
        how_much = self.add_mutually_exclusive_group()
        how_much.add_argument(
            "-q", "--quiet", action="store_true", help="print errors and what is asked for, nothing else"
        )
        how_much.add_argument(
            "-v", "--verbose", action="store_true", help="print every step with its time to stderr"
        )
        self.add_argument(
            "--completion",
            choices=SHELLS,
            action=_Completion,
            help="print a script that completes command lines",
        )
        self.add_argument(
            "--version", action=_Version, nargs=0, help="print the versions of the tool and of xDSL"
        )

    def format_help(self) -> str:
        """Usage, what the tool does, its arguments, the options of every tool, exit status."""
        shown = [action for action in self._actions if action.help != argparse.SUPPRESS]
        arguments = [action for action in shown if not action.option_strings]
        options = [a for a in shown if a.option_strings and a.dest not in COMMON]
        common = sorted((a for a in shown if a.dest in COMMON), key=lambda a: COMMON.index(a.dest))
        usage = self.usage or " ".join([self.prog, *map(_usage_of, arguments), "[OPTION...]"])
        paragraphs = (self.description or "").split("\n\n")
        last = [text for text in paragraphs if text.startswith("Exit status")]
        first = [_without_usage(text, self.prog) for text in paragraphs if text not in last]
        sections = [f"usage: {usage}", *(text for text in first if text)]
        for title, actions in (("arguments", arguments), ("options", options), ("of every tool", common)):
            if actions:
                sections.append(format_options(title, actions, {}).rstrip("\n"))
        return "\n\n".join([*sections, *last]) + "\n"

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, args: Any = None, namespace: Any = None
    ) -> Any:
        """As argparse's, but an unknown flag is told before an argument that is missing."""
        given = list(sys.argv[1:] if args is None else args)
        options = given[: given.index("--")] if "--" in given else given
        known = self.flags()
        for word in options:
            if word.startswith("--") and word.partition("=")[0] not in known:
                self.error(f"unrecognized arguments: {word}")
        return super().parse_known_args(given, namespace)

    def error(self, message: str) -> NoReturn:
        """One line, and a near name for an unknown flag; status 2."""
        hint = None
        if message.startswith("unrecognized arguments: "):
            unknown = message.partition(": ")[2].split()
            flags = [word for word in unknown if word.startswith("-")]
            if flags:
                message = f"unknown option `{flags[0]}`"
                name = flags[0].partition("=")[0]
                hint = near(name, self.flags()) or f"`{self.prog} --help` prints the options there are"
            else:
                message = f"unexpected argument `{unknown[0]}`"
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        if hint is not None:
            print(f"hint: {hint}", file=sys.stderr)
        raise SystemExit(2)

    def flags(self) -> list[str]:
        """Every option, in every spelling."""
        return [flag for action in self._actions for flag in action.option_strings]

    def actions(self) -> Sequence[argparse.Action]:
        """Options and arguments, in the order in which they were added."""
        return tuple(self._actions)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(version_line(parser.prog))
        raise SystemExit(0)


class _Completion(argparse.Action):
    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: object
    ) -> NoReturn:
        from tilewright.tools.driver.completion import completion

        assert isinstance(parser, ToolParser)
        sys.stdout.write(completion(str(values), parser.prog, parser))
        raise SystemExit(0)


def version_line(tool: str) -> str:
    """What `--version` prints."""
    from importlib.metadata import version

    from tilewright.version import __version__

    return f"{tool} {__version__} (xdsl {version('xdsl')})"


def _usage_of(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest.upper())
    return f"[{name}]" if action.nargs == "?" else name


def _without_usage(text: str, tool: str) -> str:
    """A paragraph without `` `tool ...`: `` in front, which the usage says; columns are left as they are."""
    match = re.match(rf"`{re.escape(tool)}[^`]*`: ", text)
    if match is not None:
        text = text[match.end()].upper() + text[match.end() + 1 :]
    return text if "  " in text else textwrap.fill(" ".join(text.split()), _width(), break_on_hyphens=False)


def adopt(parser: argparse.ArgumentParser, prog: str = "tile-opt") -> ToolParser:
    """
    Make a parser that xDSL has created one of ours; options that are added later replace those of the same
    name.
    """
    parser.__class__ = ToolParser
    assert isinstance(parser, ToolParser)
    parser.prog = prog
    parser.allow_abbrev = False
    for group in parser._action_groups:  # pyright: ignore[reportPrivateUsage]
        group.conflict_handler = "resolve"
    return parser


def spelling(action: argparse.Action) -> str:
    """An option as it stands in help: `-o FILE`, `--machine NAME|FILE`."""
    flags = [flag for flag in action.option_strings if not flag.startswith("--no-")] or action.option_strings
    text = ", ".join(flags) or str(action.metavar or action.dest)
    value = metavar(action)
    if value is None or not action.option_strings:
        return text
    return f"{text}[={value}]" if action.nargs == "?" else f"{text} {value}"


def metavar(action: argparse.Action) -> str | None:
    """What stands for the value of an option; None for one that takes none."""
    if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction):
        return None
    if action.choices is not None:
        return "|".join(map(str, action.choices))
    if isinstance(action.metavar, tuple):
        return " ".join(action.metavar)
    return action.metavar or action.dest.upper()


def format_options(title: str, actions: Iterable[argparse.Action], words: Mapping[str, str]) -> str:
    """A section of help. `words` replaces the help of options by their name."""
    lines = [f"{title}:"]
    lines += [describe(spelling(action), help_of(action, words)) for action in actions]
    return "\n".join(lines) + "\n"


def help_of(action: argparse.Action, words: Mapping[str, str]) -> str:
    """The help of an option, in our words where there are any."""
    return words.get(action.dest) or re.sub(r"\s+", " ", action.help or "")


def _width() -> int:
    return max(60, min(shutil.get_terminal_size((100, 24)).columns, 110))


def describe(name: str, text: str, indent: int = 2, column: int = 30) -> str:
    """`name` and what it means beside it, or below it if it is long; words are not broken at hyphens."""
    width = _width()
    head = " " * indent + name
    lines = textwrap.wrap(text, width - column, break_on_hyphens=False, break_long_words=False) or [""]
    first = [head] if len(head) > column - 2 else [f"{head:<{column}}{lines.pop(0)}".rstrip()]
    return "\n".join([*first, *(" " * column + line for line in lines if line)])
