# SPDX-License-Identifier: Apache-2.0
"""What passes and stages did to the number of operations."""

from __future__ import annotations

from collections import Counter

from xdsl.dialects.builtin import ModuleOp

from tilewright.instrumentation import Instrument


class Statistics(Instrument):
    """Counts operations by name before and after every step that works on a module."""

    def __init__(self) -> None:
        self._open: list[tuple[int, Counter[str]]] = []
        self._lines: list[str] = []

    def before(self, step: str, module: object) -> None:
        if module is None:
            return
        self._open.append((len(self._lines), _count(module)))
        self._lines.append("")

    def after(self, step: str, module: object) -> None:
        if module is None:
            return
        line, old = self._open.pop()
        new = _count(module)
        indent = "  " * len(self._open)
        changes = [
            f"{new[name] - old[name]:+} {name}" for name in sorted({*old, *new}) if new[name] != old[name]
        ]
        counts = f"{old.total():9}{new.total():9}"
        self._lines[line] = f"{counts}  {indent}{step}{': ' if changes else ''}{', '.join(changes)}"

    def failed(self, step: str, module: object, error: Exception) -> None:
        if module is None:
            return
        line, old = self._open.pop()
        self._lines[line] = f"{old.total():9}{'-':>9}  {'  ' * len(self._open)}{step}: failed"

    def report(self) -> str:
        """A line for every step, in order: operations before, after, and what was added and removed."""
        return "\n".join(["   before    after  operations of", *self._lines]) + "\n"


def _count(module: object) -> Counter[str]:
    assert isinstance(module, ModuleOp)
    return Counter(op.name for op in module.walk())
