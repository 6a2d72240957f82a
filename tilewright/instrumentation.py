# SPDX-License-Identifier: Apache-2.0
"""
Who is told of the steps of a compilation, and what passes remark about their work.

A step is a pass, or a stage of one (`tile-compile`). Tools put instruments in force with `use`; whoever runs
steps does so inside `step`. A pass says what it chose, changed, or could not do with `remark`, which costs
nothing where nobody collects.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal


class Instrument:
    """
    Told of every step. Steps nest. `module` is the xDSL module that the step works on, None if there is none.
    """

    def before(self, step: str, module: object) -> None:
        """A step begins."""

    def after(self, step: str, module: object) -> None:
        """A step has ended well."""

    def failed(self, step: str, module: object, error: Exception) -> None:
        """A step has raised."""

    def advanced(self, step: str, done: int, total: int) -> None:
        """`done` of `total` pieces of the running step are done."""


Category = Literal["choice", "conversion", "fallback", "fusion", "home", "missed", "warning"]
"""
What a remark is about: a plan that was chosen; values converted between layouts or formats; a dearer way
taken because the better one does not apply; operations made one; a parameter that moved; what a pass looked
for and could not do; a warning.
"""


@dataclass(frozen=True)
class Remark:
    """One thing that a pass says. `location` is what errors carry: an operation, a location, text or None."""

    category: Category
    message: str
    location: object | None
    step: str
    values: Mapping[str, object] = field(default_factory=dict[str, object])


_instruments: ContextVar[tuple[Instrument, ...]] = ContextVar("tilewright_instruments", default=())
_steps: ContextVar[tuple[str, ...]] = ContextVar("tilewright_steps", default=())
_remarks: ContextVar[list[Remark] | None] = ContextVar("tilewright_remarks", default=None)


@contextmanager
def use(*instruments: Instrument) -> Generator[None]:
    """Put further instruments in force for the block."""
    token = _instruments.set((*_instruments.get(), *instruments))
    try:
        yield
    finally:
        _instruments.reset(token)


@contextmanager
def step(name: str, module: object) -> Generator[None]:
    """A step of the compilation: the instruments in force are told before and after the block."""
    instruments = _instruments.get()
    token = _steps.set((*_steps.get(), name))
    try:
        for instrument in instruments:
            instrument.before(name, module)
        try:
            yield
        except Exception as error:
            for instrument in reversed(instruments):
                instrument.failed(name, module, error)
            raise
        for instrument in reversed(instruments):
            instrument.after(name, module)
    finally:
        _steps.reset(token)


def advance(done: int, total: int) -> None:
    """Say how far the running step is: `done` of `total` pieces."""
    steps = _steps.get()
    for instrument in _instruments.get():
        instrument.advanced(steps[-1] if steps else "", done, total)


@contextmanager
def collect_remarks() -> Generator[list[Remark]]:
    """Collect the remarks of the block, in the order in which they are made."""
    found: list[Remark] = []
    token = _remarks.set(found)
    try:
        yield found
    finally:
        _remarks.reset(token)


def remarks_wanted() -> bool:
    """Whether somebody collects; a pass may leave out what only its remarks need."""
    return _remarks.get() is not None


def remark(category: Category, message: str, location: object | None = None, **values: object) -> None:
    """Say something about the work of the running step; `values` are for programs that read remarks."""
    found = _remarks.get()
    if found is not None:
        steps = _steps.get()
        found.append(Remark(category, message, location, steps[-1] if steps else "", values))
