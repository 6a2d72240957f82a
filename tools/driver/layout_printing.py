# SPDX-License-Identifier: Apache-2.0
"""
Modules whose layouts do not hide the program: as aliases (`#layout0`, `!buffer0`) that are defined at the
top, or cut short for the eye.
"""

from __future__ import annotations

import re
from collections.abc import Container
from io import StringIO
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.printer import Printer

ALIASED = {"tile_layout.at": "#layout", "tile.buffer": "!buffer"}
"""What gets an alias, and the alias without its number."""
SHORT = 24
"""Characters of a layout that the short form keeps."""
WIDTH = 160
"""Characters of a line; longer ones are continued on the next."""

_WORD = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^\s"])+ *|\s+')


class Aliases:
    """
    Names of layouts and types of buffers, in the order in which they were first printed. Modules that are
    printed with the same names can be compared line by line.
    """

    def __init__(self) -> None:
        self._names: dict[Attribute, str] = {}
        self._counts = dict.fromkeys(ALIASED.values(), 0)

    def name(self, attribute: Attribute) -> str:
        """The alias of an attribute, the same whenever it is asked for."""
        if attribute not in self._names:
            kind = ALIASED[attribute.name]
            self._names[attribute] = f"{kind}{self._counts[kind]}"
            self._counts[kind] += 1
        return self._names[attribute]

    def definitions(self, used: Container[str]) -> str:
        """A line for every alias that is used."""
        return "".join(f"{name} = {attribute}\n" for attribute, name in self._names.items() if name in used)


class LayoutPrinter(Printer):
    """
    xDSL's printer with aliases in the place of layouts and types of buffers; `used` are those that it has
    printed. Without `aliases` it cuts their texts instead.
    """

    def __init__(self, stream: StringIO, aliases: Aliases | None, **options: Any) -> None:
        super().__init__(stream, **options)
        self._aliases = aliases
        self.used: set[str] = set()

    def print_attribute(self, attribute: Attribute) -> None:
        if attribute.name not in ALIASED:
            super().print_attribute(attribute)
        elif self._aliases is None:
            self.print_string(_cut(str(attribute)))
        else:
            name = self._aliases.name(attribute)
            self.used.add(name)
            self.print_string(name)


def print_module(module: ModuleOp, aliases: Aliases | None, **options: Any) -> str:
    """
    The text of a module, in lines of at most `WIDTH` characters where words allow it; `options` are those of
    xDSL's printer. Without aliases layouts are cut short, and the text does not read back.
    """
    stream = StringIO()
    printer = LayoutPrinter(stream, aliases, **options)
    printer.print_op(module)
    definitions = aliases.definitions(printer.used) if aliases is not None else ""
    text = f"{definitions}{stream.getvalue()}\n"
    return "".join(_folded(line) for line in text.splitlines(keepends=True))


def _folded(line: str) -> str:
    """A line that is too long, continued at blanks outside of quoted text, further in than it begins."""
    if len(line) <= WIDTH:
        return line
    indent = " " * (len(line) - len(line.lstrip(" ")) + 4)
    lines: list[str] = [""]
    for word in _WORD.findall(line.rstrip("\n")):
        if lines[-1].strip() and len(lines[-1]) + len(word.rstrip()) > WIDTH:
            lines[-1] = lines[-1].rstrip()
            lines.append(indent)
        lines[-1] += word
    return "\n".join(lines) + "\n"


def _cut(text: str) -> str:
    """The text with every quoted part cut to a few characters."""
    parts = text.split('"')
    parts[1::2] = [part if len(part) <= SHORT else f"{part[:SHORT]}..." for part in parts[1::2]]
    return '"'.join(parts)
