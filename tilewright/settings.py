# SPDX-License-Identifier: Apache-2.0
"""
What a tool's command line fixes for every pass of a run.

A pass reads `current()` for the default of an option that its own specification does not give. The value is
frozen and lives in a context variable: two compilations in one process (threads, tests) do not see each
other's.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from concurrent.futures import Executor


@dataclass(frozen=True)
class Settings:
    """Defaults for passes. Every field may be None: not given."""

    machine: str | None = None
    """Name of a machine (`c600`) or path to a machine file."""
    plan_path: Path | None = None
    """Plan file that forces choices of the planner."""
    search: Literal["off", "fast", "full"] | None = None
    """How much is searched for plans."""
    executor: Executor | None = None
    """Whose workers price plans; None: this process."""
    plan_report: Path | None = None
    """File to which the search writes its report (JSON)."""
    trial: bool = False
    """Whether this is a trial: what does not fit is said at once, without what would help."""
    allocation_nodes: int | None = None
    """Units placed before a program is said not to fit; None: as many as allocation takes by itself."""
    exchange_cap: int | None = None
    """Most bytes of encoded exchange rows on a tile, instead of the machine's policy."""
    exchange_items: str | None = None
    """"words": no exchange in 8-byte items; "auto" or None: where they are shorter."""
    sidecar_dir: Path | None = None
    """Folder for tables that are too large to print inline."""
    home_report: Path | None = None
    """File to which the home selection writes its report (JSON)."""
    inputs_path: Path | None = None
    """Values of the program's inputs (`.safetensors`)."""
    allocation_problems: Path | None = None
    """Folder to which every allocation problem is written before it is solved."""


_current: ContextVar[Settings] = ContextVar("tilewright_settings", default=Settings())  # noqa: B039 (frozen)


def current() -> Settings:
    """The settings in force."""
    return _current.get()


@contextmanager
def use(settings: Settings) -> Generator[Settings]:
    """Put `settings` in force for the block."""
    token = _current.set(settings)
    try:
        yield settings
    finally:
        _current.reset(token)
