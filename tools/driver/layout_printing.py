# SPDX-License-Identifier: Apache-2.0
"""
Modules whose layouts do not hide the program: as aliases (`#layout0`, `!buffer0`) that are defined at the
top, or cut short for the eye.
"""

from __future__ import annotations

import re
from io import StringIO
from typing import Any, Literal

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.printer import Printer

Form = Literal["full", "alias", "short"]

ALIASED = {"tile_layout.at": "#layout", "tile.buffer": "!buffer"}
"""What gets an alias, and the alias without its number."""
SHORT = 24
"""Characters of a layout that the short form keeps."""
WIDTH = 160
"""Characters of a line; longer ones are continued on the next."""

_WORD = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^\s"])+ *|\s+')


class LayoutPrinter(Printer):
    """
    xDSL's printer with aliases in the place of layouts and types of buffers; `definitions` are those that it
    has used. With `short` it cuts their texts instead.
    """

    def __init__(self, stream: StringIO, short: bool, **options: Any) -> None:
        super().__init__(stream, **options)
        self._short = short
        self._names: dict[Attribute, str] = {}
        self._counts = dict.fromkeys(ALIASED, 0)

    def print_attribute(self, attribute: Attribute) -> None:
        kind = ALIASED.get(attribute.name)
        if kind is None:
            super().print_attribute(attribute)
        elif self._short:
            self.print_string(_cut(str(attribute)))
        else:
            if attribute not in self._names:
                self._names[attribute] = f"{kind}{self._counts[attribute.name]}"
                self._counts[attribute.name] += 1
            self.print_string(self._names[attribute])

    def definitions(self) -> str:
        """A line for every alias."""
        return "".join(f"{name} = {attribute}\n" for attribute, name in self._names.items())


def print_module(module: ModuleOp, form: Form, **options: Any) -> str:
    """The text of a module; `options` are those of xDSL's printer. The short form does not read back."""
    stream = StringIO()
    printer = LayoutPrinter(stream, form == "short", **options)
    printer.print_op(module)
    text = f"{printer.definitions()}{stream.getvalue()}\n"
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
