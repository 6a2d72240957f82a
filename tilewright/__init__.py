# SPDX-License-Identifier: Apache-2.0
"""
A compiler framework for machines of many tiles.

    import tilewright

    program = tilewright.compile(text, machine="t16")       # text of IR, or an xDSL module
    result = tilewright.run(program, {"x": x}, {"w": w})    # numpy arrays by name
    result.outputs["y"], result.cycles["total"]
    tilewright.Profile("run.profile")                       # what tile-run --profile wrote

Everything else is a submodule, imported when it is used: `tilewright.dialects`, `tilewright.passes`,
`tilewright.planning`, `tilewright.machine`, `tilewright.sim`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tilewright.version import __version__

if TYPE_CHECKING:
    from tilewright.api import Program, Result, Tensor, compile, reference, run
    from tilewright.diagnostics import TileError
    from tilewright.machine import Machine
    from tilewright.planning.layout import Layout, View
    from tilewright.planning.plan import Plan
    from tilewright.profile import Profile

_WHERE = {
    "Layout": "tilewright.planning.layout",
    "Machine": "tilewright.machine",
    "Plan": "tilewright.planning.plan",
    "Profile": "tilewright.profile",
    "Program": "tilewright.api",
    "Result": "tilewright.api",
    "Tensor": "tilewright.api",
    "TileError": "tilewright.diagnostics",
    "View": "tilewright.planning.layout",
    "compile": "tilewright.api",
    "reference": "tilewright.api",
    "run": "tilewright.api",
}
"""Public names and the modules they come from: nothing is imported before it is used."""

__all__ = [
    "Layout",
    "Machine",
    "Plan",
    "Profile",
    "Program",
    "Result",
    "Tensor",
    "TileError",
    "View",
    "__version__",
    "compile",
    "reference",
    "run",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'tilewright' has no attribute {name!r}")
    value = getattr(import_module(_WHERE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
