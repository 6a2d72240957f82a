# SPDX-License-Identifier: Apache-2.0
"""Printing the IR between steps: all of it or what changed, to stderr or into a tree of files."""

from __future__ import annotations

import difflib
import re
import sys
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from tilewright.instrumentation import Instrument


@dataclass(frozen=True)
class PrintRequest:
    """When the IR is printed. None stands for every step, an empty collection for none."""

    before: Collection[str] | None = ()
    after: Collection[str] | None = ()
    after_change: bool = False
    after_failure: bool = False
    diff: bool = False
    tree: Path | None = None

    @property
    def wanted(self) -> bool:
        """Whether anything is printed at all."""
        return self.before != () or self.after != () or self.after_change or self.after_failure or self.diff


@dataclass
class _Open:
    step: str
    text: str | None
    path: Path
    children: int = 0


class IRPrinting(Instrument):
    """Prints modules before and after the steps that work on one, by `print_module`."""

    def __init__(self, request: PrintRequest, print_module: Callable[[object], str]) -> None:
        self._request = request
        self._print = print_module
        self._open = [_Open("", None, request.tree or Path())]
        self._compares = request.after_change or request.diff

    def before(self, step: str, module: object) -> None:
        if module is None:
            return
        request = self._request
        outer = self._open[-1]
        outer.children += 1
        wanted = _names(request.before, step)
        text = self._print(module) if wanted or self._compares else None
        self._open.append(_Open(step, text, outer.path / f"{outer.children}_{_file_name(step)}"))
        if wanted and text is not None:
            self._write("Before", step, text, "-before")

    def after(self, step: str, module: object) -> None:
        if module is None:
            return
        request = self._request
        old = self._open[-1].text
        try:
            # change and difference select among the steps that are named; alone they mean every step
            chosen = _names(request.after, step) or (self._compares and request.after == ())
            if not chosen:
                return
            text = self._print(module)
            if self._compares and text == old:
                if not request.after_change:
                    self._write("After", step, "", note=" (no change)")
                return
            if request.diff and old is not None:
                both = old.splitlines(), text.splitlines()
                text = "\n".join(difflib.unified_diff(*both, "before", "after", lineterm="")) + "\n"
            self._write("After", step, text, ".diff" if request.diff else "")
        finally:
            self._open.pop()

    def failed(self, step: str, module: object, error: Exception) -> None:
        if module is None:
            return
        try:
            if self._request.after_failure:
                try:
                    text = self._print(module)
                except Exception as problem:  # whatever a pass left behind
                    text = f"// it cannot be printed: {problem}\n"
                self._write("After", step, text, "-failed", note=" Failed")
        finally:
            self._open.pop()

    def _write(self, when: str, step: str, text: str, suffix: str = "", note: str = "") -> None:
        header = f"// -----// IR Dump {when} {step}{note} //----- //\n"
        if self._request.tree is None:
            sys.stdout.flush()
            sys.stderr.write(header + text.rstrip("\n") + "\n\n" if text else header)
            return
        if not text:
            return
        path = self._open[-1].path
        ending = suffix if suffix == ".diff" else f"{suffix}.mlir"
        path = path.with_name(path.name + ending)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(header + text, "utf-8")


def _names(wanted: Collection[str] | None, step: str) -> bool:
    return wanted is None or step in wanted


def _file_name(step: str) -> str:
    return re.sub(r"[^\w.-]+", "_", step)


class XDSLPrinting(Instrument):
    """`--time-passes` and `--print-between-passes` of xdsl-opt, on stdout as there."""

    def __init__(self, times: bool, prints: bool, steps: int) -> None:
        self._times, self._prints = times, prints
        self._left = steps
        self._started: list[float] = []

    def before(self, step: str, module: object) -> None:
        self._started.append(time.perf_counter())

    def after(self, step: str, module: object) -> None:
        seconds = time.perf_counter() - self._started.pop()
        if self._started:
            return
        self._left -= 1
        if self._times:
            print(f"Pass {step} took {seconds} seconds")
        if self._prints and self._left:
            print(f"IR after {step}:\n{module!s}\n\n\n")
