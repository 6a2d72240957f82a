# SPDX-License-Identifier: Apache-2.0
"""Command lines: help that fits a screen, and unknown flags answered in one line with a near name."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from tilewright.suggestions import near


class ToolParser(argparse.ArgumentParser):
    """An argument parser of ours. Options are never abbreviated."""

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
    return str(action.metavar) if action.metavar else action.dest.upper()


def format_options(title: str, actions: Iterable[argparse.Action], words: Mapping[str, str]) -> str:
    """A section of help. `words` replaces the help of options by their name."""
    lines = [f"{title}:"]
    lines += [describe(spelling(action), help_of(action, words)) for action in actions]
    return "\n".join(lines) + "\n"


def help_of(action: argparse.Action, words: Mapping[str, str]) -> str:
    """The help of an option, in our words where there are any."""
    return words.get(action.dest) or re.sub(r"\s+", " ", action.help or "")


def describe(name: str, text: str, indent: int = 2, column: int = 30) -> str:
    """`name` and what it means beside it, or below it if it is long; words are not broken at hyphens."""
    width = max(60, min(shutil.get_terminal_size((100, 24)).columns, 110))
    head = " " * indent + name
    lines = textwrap.wrap(text, width - column, break_on_hyphens=False, break_long_words=False) or [""]
    first = [head] if len(head) > column - 2 else [f"{head:<{column}}{lines.pop(0)}".rstrip()]
    return "\n".join([*first, *(" " * column + line for line in lines if line)])
