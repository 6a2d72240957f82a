# SPDX-License-Identifier: Apache-2.0
"""
The plugin that every xDSL tool in the environment finds: our dialects and passes, by name.

The tables are text, so that importing this module costs nothing: a dialect or pass is imported when its name
first turns up in the input or in a pipeline. To add one, add its name; the module and the class follow from
it (`tile-foo-bar` is `TileFooBarPass` in `tilewright/passes/tile_foo_bar.py`, the dialect `tile_foo` is
`TileFoo` in `tilewright/dialects/tile_foo.py`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from types import TracebackType
from typing import Any

from xdsl.universe import Universe

DIALECTS: tuple[str, ...] = (
    "tile",
    "tile_asm",
    "tile_hlo",
    "tile_layout",
    "tile_repeat",
    "tile_tensor",
)

PASSES: tuple[str, ...] = (
    "tile-allocate-memory",
    "tile-allocate-sequences",
    "tile-coalesce-copies",
    "tile-compile",
    "tile-convert-compact-micro-panels",
    "tile-convert-hlo",
    "tile-convert-stablehlo",
    "tile-decompose",
    "tile-drop-unit-axes",
    "tile-fold-constants",
    "tile-fold-norms",
    "tile-fold-pooling",
    "tile-fuse-chains",
    "tile-fuse-epilogues",
    "tile-fuse-stores",
    "tile-inline-calls",
    "tile-lower-to-asm",
    "tile-lower-to-buffers",
    "tile-merge-phases",
    "tile-outline",
    "tile-plan-layouts",
    "tile-quantize",
    "tile-raise-loops",
    "tile-raise-patterns",
    "tile-roll-repeat",
    "tile-schedule-exchange",
    "tile-select-homes",
    "tile-traverse-exchange-panels",
    "tile-store-f16",
    "tile-unroll-repeat",
)


def _camel(name: str, separator: str) -> str:
    return "".join(part.capitalize() for part in name.split(separator))


def _lazy(module: str, attribute: str) -> Callable[[], Any]:
    return lambda: getattr(import_module(module), attribute)


UNIVERSE = Universe(
    all_dialects={name: _lazy(f"tilewright.dialects.{name}", _camel(name, "_")) for name in DIALECTS},
    all_passes={
        name: _lazy(f"tilewright.passes.{name.replace('-', '_')}", _camel(name, "-") + "Pass")
        for name in PASSES
    },
)


def _print_diagnostics_in_xdsl_opt() -> None:
    """In a process of plain xdsl-opt, and in no other, errors of ours end in a diagnostic."""
    name = os.path.basename(next(iter(getattr(sys, "argv", ())), ""))
    if os.path.splitext(name)[0] not in ("xdsl-opt", "xdsl_opt"):
        return
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        from tilewright.tools.driver.plain import report

        if not report(error, trace):
            before(kind, error, trace)

    sys.excepthook = hook


_print_diagnostics_in_xdsl_opt()
