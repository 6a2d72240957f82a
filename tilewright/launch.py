# SPDX-License-Identifier: Apache-2.0
"""
What the console scripts call: import a tool and run it. Nothing else is imported here, so that an interrupt
while a tool is being imported ends in a line as well.
"""

from __future__ import annotations

import gc
import importlib
import sys

EXIT_INTERRUPTED = 130


def _run(name: str, module: str) -> int:
    # What is imported stays: looking for garbage among it, again and again, is a quarter of the time.
    gc.disable()
    try:
        tool = importlib.import_module(f"tilewright.tools.{module}")
        gc.freeze()
        return tool.main()
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED


def tile_alloc() -> int:
    """`tile-alloc`."""
    return _run("tile-alloc", "tile_alloc")


def tile_import() -> int:
    """`tile-import`."""
    return _run("tile-import", "tile_import")


def tile_kernels() -> int:
    """`tile-kernels`."""
    return _run("tile-kernels", "tile_kernels")


def tile_opt() -> int:
    """`tile-opt`."""
    return _run("tile-opt", "tile_opt")


def tile_reduce() -> int:
    """`tile-reduce`."""
    return _run("tile-reduce", "tile_reduce")


def tile_report() -> int:
    """`tile-report`."""
    return _run("tile-report", "tile_report")


def tile_run() -> int:
    """`tile-run`."""
    return _run("tile-run", "tile_run")


def tile_workload() -> int:
    """`tile-workload`."""
    return _run("tile-workload", "tile_workload")
