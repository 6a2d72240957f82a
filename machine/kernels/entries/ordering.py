# SPDX-License-Identifier: Apache-2.0
"""Order of rows, running sums, and sums by index."""

from __future__ import annotations

from tilewright.machine.kernels import formulas as f
from tilewright.machine.kernels.operands import OperandRule, operands
from tilewright.machine.kernels.registry import Kernel, register

for _name, _out, _types, _bundles, _sorts, _told, _source in (
    (
        "argmax",
        "y:r",
        "i32",
        3,
        False,
        (),
        "a load, a comparison and a selection of value and place an element",
    ),
    ("argmin", "y:r", "i32", 3, False, (), "as argmax"),
    (
        "cumsum",
        "y:r,c",
        "float as x",
        4,
        False,
        ("saturate",),
        "a sum waits for the one before it: 4 bundles an element",
    ),
    (
        "sort",
        "y:r,c",
        "as x",
        8,
        True,
        ("descending",),
        "8 bundles an element and level of a merge in a row's place",
    ),
    ("argsort", "y:r,c", "i32", 12, True, ("descending",), "as sort, with the place beside the element"),
):
    register(
        Kernel(
            _name,
            "assumed",
            f"{_source}; a worker a row, {f.ROW_BUNDLES} to start it",
            f.whole_rows(_bundles, _sorts),
            axes=("r", "c"),
            ins=operands("x", "r", "c", types="numbers"),
            outs=operands(_out, types=_types),
            scalars=_told,
            code_bytes=768,
        )
    )
register(
    Kernel(
        "scatter_add",
        "assumed",
        "the base copied; one worker after the other adds the rows that it owns: 8 bundles to find a row, 2 a"
        " vector to add it",
        f.scatter_add,
        axes=("p", "t", "r", "c"),
        ins=(
            OperandRule("base", ("r", "c"), types="numbers"),
            OperandRule("indices", ("t",), alignment=4, types="i32"),
            OperandRule("updates", ("t", "c"), types="as base"),
            OperandRule("first", ("p",), alignment=4, types="i32"),
        ),
        outs=operands("y", "r", "c", types="float as base"),
        scalars=("saturate",),
        code_bytes=768,
    )
)
