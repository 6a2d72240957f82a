# SPDX-License-Identifier: Apache-2.0
"""
Lit configuration: every test runs the tools of the interpreter that runs lit.

Macros for RUN lines: `TILE_ROUNDTRIP` prints the file in generic form, reads that back and checks the custom
form; `TILE_GENERIC_ROUNDTRIP` checks the generic form under the prefix CHECK-GENERIC.
"""

import os
import sys
from pathlib import Path

import lit.formats

config.name = "tilewright"  # noqa: F821 (lit provides it)
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir", ".test"]  # noqa: F821
config.excludes = ["Inputs"]  # noqa: F821
config.test_source_root = str(Path(__file__).parent)  # noqa: F821
config.test_exec_root = str(Path(__file__).parent.parent / "build" / "filecheck")  # noqa: F821

_bin = str(Path(sys.executable).parent)
config.environment["PATH"] = os.pathsep.join((_bin, os.environ.get("PATH", "")))  # noqa: F821
for _name in ("HOME", "TMPDIR", "PYTHONHASHSEED", "PYTHONPATH", "TILE_NO_OP_PASS"):
    if _name in os.environ:
        config.environment[_name] = os.environ[_name]  # noqa: F821

config.substitutions.extend(  # noqa: F821
    [
        (
            "TILE_ROUNDTRIP",
            "tile-opt %s --print-op-generic --split-input-file"
            " | tile-opt --print-layouts=full --split-input-file | filecheck %s",
        ),
        (
            "TILE_GENERIC_ROUNDTRIP",
            "tile-opt %s --print-layouts=full --print-op-generic --split-input-file"
            " | filecheck %s --check-prefix=CHECK-GENERIC",
        ),
    ]
)
