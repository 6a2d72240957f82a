# SPDX-License-Identifier: Apache-2.0
"""
The plugin that every xDSL tool in the environment finds: our dialects and passes, by name.

The tables are text, so that importing this module costs nothing: a dialect or pass is imported when its name
first turns up in the input or in a pipeline. To add one, add its name; the module and the class follow from
it (`tile-foo-bar` is `TileFooBarPass` in `tilewright/passes/tile_foo_bar.py`, the dialect `tile_foo` is
`TileFoo` in `tilewright/dialects/tile_foo.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from xdsl.universe import Universe

DIALECTS: tuple[str, ...] = (
    "tile",
    "tile_asm",
    "tile_layout",
    "tile_repeat",
    "tile_tensor",
)

PASSES: tuple[str, ...] = (
    "tile-allocate-memory",
    "tile-allocate-sequences",
    "tile-compile",
    "tile-convert-compact-micro-panels",
    "tile-fuse-epilogues",
    "tile-inline-calls",
    "tile-lower-to-asm",
    "tile-lower-to-buffers",
    "tile-merge-phases",
    "tile-outline",
    "tile-plan-layouts",
    "tile-quantize",
    "tile-roll-repeat",
    "tile-schedule-exchange",
    "tile-select-homes",
    "tile-traverse-exchange-panels",
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
