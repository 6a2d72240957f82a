# SPDX-License-Identifier: Apache-2.0
"""Conversions and movement, rows by index, and windows at places that are known when the program runs."""

from __future__ import annotations

from tilewright.machine.kernels import formulas as f
from tilewright.machine.kernels.operands import OperandRule, operands
from tilewright.machine.kernels.registry import Kernel, register

register(
    Kernel(
        "cast",
        "measured",
        "IS: 330 + 24 * ceil(n / 48) between f16 and f8; emulated pairs (f32 to f8, f8 to f8, i8) by PL",
        f.cast,
        ins=operands("x"),
        outs=operands("y"),
        scalars=("scale", "saturate", "truncate"),
        code_bytes=512,
    )
)
register(
    Kernel(
        "copy",
        "measured",
        "IS: 288 + bytes / 8 in one run; a cycle an element from rows into panels of 16 halves, so 12 a run;"
        " 10 per f16 element otherwise; PL: 3 per word, 20 per byte. No element rule"
        " is published, so there is none here",
        f.copy,
        ins=operands("x", alignment=1),
        outs=operands("y", alignment=4, types="as x"),
        scalars=("run_bytes", "runs"),
        form=f.copy_form,
        moves=True,
        sub_word=True,
        code_bytes=512,
    )
)
register(
    Kernel(
        "cast.panels",
        "derived",
        "IS: 14 bundles of a worker for a row of 32 columns into a panel; other pairs of types by PL, as"
        " cast",
        f.cast_panels,
        axes=("b", "m", "c", "d"),
        ins=operands("x", "b", "m", "c"),
        outs=operands("y", "b", "m", "d"),
        scalars=("scale", "saturate", "truncate", "group", "pitch"),
        required=("group",),
        code_bytes=640,
    )
)
for _name, _aligned, _in, _out in (("widen", 1, "any", "u32"), ("narrow", 4, "words", "any")):
    register(
        Kernel(
            _name,
            "assumed",
            "set-up of copy and 3 cycles per element (PL charges 3 per aligned word)",
            f.widen,
            ins=operands("x", alignment=_aligned, types=_in),
            outs=operands("y", alignment=4, types=_out),
            moves=True,
            sub_word=_name == "narrow",
            code_bytes=256,
        )
    )
register(
    Kernel(
        "fill",
        "derived",
        "copy without the loads",
        f.fill,
        axes=("...",),
        ins=(),
        outs=operands("y", alignment=4, types="words"),
        scalars=("value",),
        required=("value",),
        moves=True,
        code_bytes=128,
    )
)
register(
    Kernel(
        "patch_rows",
        "measured",
        "IS VIT_REPEAT: one point, 78 words in 936 cycles by six workers; 234 and 9 bundles a word assumed",
        f.patch_by_workers,
        axes=("n",),
        ins=operands("positions", "n", alignment=4),
        outs=operands("rows", "n", alignment=4),
        code_bytes=192,
    )
)
register(
    Kernel(
        "gather_rows",
        "assumed",
        "set-up of gelu; a worker an index, 8 bundles to find the row (compare, select, address) and 2 a"
        " double word",
        f.gather_rows,
        axes=("p", "t", "r", "c"),
        ins=(
            OperandRule("table", ("r", "c")),
            OperandRule("indices", ("t",), alignment=4, types="i32|u32"),
            OperandRule("first", ("p",), alignment=4, types="i32|u32"),
        ),
        outs=operands("y", "p", "t", "c", types="as table"),
        scalars=("rows",),
        code_bytes=512,
    )
)

# Windows at a place that is known when the program runs.

_FIND = (
    "; a window is found in 8 instructions: its start (ld), drawn inside (max, min), from the first row here"
    " (sub), the first and last row of both (max, min), addresses (mul, add)"
)


def _windows(count: int) -> tuple[list[str], list[str]]:
    """Axes of a tensor and of the windows in it, "r", "t", "r2", "t2" and so on."""
    suffixes = ["", *(str(number) for number in range(2, count + 1))]
    return [f"r{suffix}" for suffix in suffixes], [f"t{suffix}" for suffix in suffixes]


for _count in (1, 2, 3, 4):
    _rows, _sizes = _windows(_count)
    _extents = tuple(f"rows{row.removeprefix('r')}" for row in _rows)
    _numbers = [f"{name}{row.removeprefix('r')}" for row in _rows for name in ("at", "first")]
    register(
        Kernel(
            "update_window" if _count == 1 else f"update_window{_count}",
            "derived",
            "set-up of gelu and the price of a copy of the window (no loads ahead: by words or elements)"
            f"{_FIND}",
            f.update_window(_count),
            axes=(*(axis for pair in zip(_rows, _sizes, strict=True) for axis in pair), *_numbers, "..."),
            ins=(
                OperandRule("x", (*_rows, "..."), alignment=4),
                OperandRule("window", (*_sizes, "..."), alignment=4, types="as x"),
                *(OperandRule(name, (name,), alignment=4, types="i32") for name in _numbers),
            ),
            outs=(OperandRule("y", (*_rows, "..."), alignment=4, types="as x"),),
            scalars=(*_extents, "run_bytes", "apart"),
            required=_extents,
            sub_word=True,
            moves=True,
            code_bytes=640,
        )
    )
register(
    Kernel(
        "read_window",
        "derived",
        f"set-up of gelu and the price of a copy of the window (no loads ahead: by words or elements){_FIND}",
        f.read_window,
        axes=("r", "t", "at", "..."),
        ins=(
            OperandRule("x", ("r", "..."), alignment=4),
            OperandRule("at", ("at",), alignment=4, types="i32"),
        ),
        outs=(OperandRule("y", ("t", "..."), alignment=4, types="as x"),),
        scalars=("run_bytes",),
        sub_word=True,
        moves=True,
        code_bytes=512,
    )
)
