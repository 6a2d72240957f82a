# SPDX-License-Identifier: Apache-2.0
"""Scores and probabilities of attention, of all keys and of those in a band."""

from __future__ import annotations

from tilewright.machine.kernels import formulas as f
from tilewright.machine.kernels.operands import OperandRule, operands
from tilewright.machine.kernels.registry import Kernel, register
from tilewright.machine.kernels.scalars import STORES

register(
    Kernel(
        "scaled_add",
        "derived",
        "as pointwise.add: axpy takes the place of the addition in the same loop (PL ScaledAddSupervisor)",
        f.pointwise(3, 3, f.LOOP_BINARY),
        ins=operands("x y", types="floats"),
        outs=operands("z", types="floats"),
        scalars=("scale", "saturate"),
        required=("scale",),
        factors=("scale",),
        code_bytes=512,
    )
)
register(
    Kernel(
        "mask_scores",
        "derived",
        "as pointwise.max of floats: the mask's load and a select take the place of the second load and the"
        " max",
        f.pointwise(4, 4, f.LOOP_BINARY),
        ins=(*operands("x", types="floats"), *operands("mask", types="i1")),
        outs=operands("z", types="floats"),
        scalars=("scale", "saturate"),
        required=("scale",),
        factors=("scale",),
        code_bytes=512,
    )
)
_BAND = (
    "; a row's first and last key in 12 instructions: its position (add, sub), its first key (sub, max), its"
    " last (add, min), none of them (cmpslt, brnz), where they lie (shl, add), loads that begin or end"
    " inside a double word (2)"
)
_FIRST = (
    OperandRule("first_query", ("i",), alignment=4, types="i32"),
    OperandRule("first_key", ("j",), alignment=4, types="i32"),
)
"""The numbers of a block's first query and first key."""
_BAND_SCALARS = ("rows", "offset", "before", "after")

for _name in ("max", "min"):
    register(
        Kernel(
            f"band.{_name}",
            "derived",
            f"reduce.{_name} as if every row saw all keys{_BAND}",
            f.band(f.reduce_rows(4), 1),
            axes=("b", "m", "n", "i", "j"),
            ins=(
                *operands("s", "b", "m", "n", types="floats"),
                *_FIRST,
            ),
            outs=operands("y", "b", "m", alignment=4, types="floats"),
            scalars=_BAND_SCALARS,
            required=_BAND_SCALARS,
            code_bytes=640,
        )
    )
register(
    Kernel(
        "softmax.exp",
        "derived",
        "softmax (42 bundles per 16 keys) less its search for the maximum (9); an f8 result 4 more (PL cast)",
        f.softmax_exp,
        axes=("b", "m", "n"),
        ins=(
            *operands("s", "b", "m", "n", types="floats"),
            *operands("max", "b", "m", alignment=4, types="floats"),
        ),
        outs=(
            *operands("p", "b", "m", "n", types="floats"),
            *operands("sum", "b", "m", alignment=4, types="floats"),
        ),
        scalars=("scale", "saturate", "empty_rows"),
        factors=("scale",),
        sub_word=True,
        code_bytes=896,
    )
)
register(
    Kernel(
        "band.exp",
        "derived",
        f"softmax.exp as if every row saw all keys{_BAND}",
        f.band(f.softmax_exp, 2),
        axes=("b", "m", "n", "i", "j"),
        ins=(
            *operands("s", "b", "m", "n", types="floats"),
            *operands("max", "b", "m", alignment=4, types="floats"),
            *_FIRST,
        ),
        outs=(
            *operands("p", "b", "m", "n", types="floats"),
            *operands("sum", "b", "m", alignment=4, types="floats"),
        ),
        scalars=("scale", "saturate", "empty_rows", *_BAND_SCALARS),
        required=_BAND_SCALARS,
        factors=("scale",),
        sub_word=True,
        code_bytes=1024,
    )
)
register(
    Kernel(
        "softmax.part",
        "derived",
        "the published softmax, which does not normalise (42 bundles per 16 keys for maximum, exponentials,"
        " sum and store), on the keys of one tile; an f8 result 5 more (IS)",
        f.softmax_part(f.SOFTMAX_BUNDLES),
        axes=("b", "m", "n"),
        ins=operands("s", "b", "m", "n", types="floats"),
        outs=(
            *operands("p", "b", "m", "n", types="floats"),
            *operands("max sum", "b", "m", alignment=4, types="floats"),
        ),
        scalars=("scale", "saturate", "empty_rows"),
        factors=("scale",),
        sub_word=True,
        code_bytes=1280,
    )
)
register(
    Kernel(
        "softmax.raise",
        "derived",
        "softmax.part without the sum of the exponentials: 9 bundles per 16 keys less (PL counts of the"
        " rest)",
        f.softmax_part(f.SOFTMAX_BUNDLES - f.SUM_BUNDLES),
        axes=("b", "m", "n"),
        ins=operands("s", "b", "m", "n", types="floats"),
        outs=(
            *operands("p", "b", "m", "n", types="floats"),
            *operands("max", "b", "m", alignment=4, types="floats"),
        ),
        scalars=("scale", "saturate", "empty_rows"),
        factors=("scale",),
        sub_word=True,
        code_bytes=1216,
    )
)
register(
    Kernel(
        "softmax.merge_columns",
        "derived",
        "softmax.merge, the sums being a column of the parts",
        f.softmax_merge,
        axes=("p", "b", "m", "n", "c"),
        ins=(
            *operands("x", "p", "b", "m", "c", types="floats"),
            *operands("max", "p", "b", "m", alignment=4, types="floats"),
        ),
        outs=operands("y", "b", "m", "n", types="floats"),
        scalars=("scale", "saturate", "empty_rows", *STORES),
        factors=("scale",),
        code_bytes=1024,
    )
)
register(
    Kernel(
        "softmax.merge",
        "derived",
        "reduce_partials with a scale: 3 bundles per 8 halves and partial, not 2; weights of a row by PL: 12"
        " bundles for two partials (maximum, difference, exponential, sum, product), 15 for one over the sum",
        f.softmax_merge,
        axes=("p", "b", "m", "n"),
        ins=(
            *operands("x", "p", "b", "m", "n", types="floats"),
            *operands("max sum", "p", "b", "m", alignment=4, types="floats"),
        ),
        outs=operands("y", "b", "m", "n", types="floats"),
        scalars=("scale", "saturate", *STORES),
        factors=("scale",),
        code_bytes=1024,
    )
)
for _name, _outs, _bundles in (
    ("part", "max sum", f.SOFTMAX_BUNDLES),
    ("raise", "max", f.SOFTMAX_BUNDLES - f.SUM_BUNDLES),
):
    register(
        Kernel(
            f"band.{_name}",
            "derived",
            f"softmax.{_name} as if every row saw all keys{_BAND}",
            f.band(f.softmax_part(_bundles), 1),
            axes=("b", "m", "n", "i", "j"),
            ins=(
                *operands("s", "b", "m", "n", types="floats"),
                *_FIRST,
            ),
            outs=(
                *operands("p", "b", "m", "n", types="floats"),
                *operands(_outs, "b", "m", alignment=4, types="floats"),
            ),
            scalars=("scale", "saturate", "empty_rows", *_BAND_SCALARS),
            required=_BAND_SCALARS,
            factors=("scale",),
            sub_word=True,
            code_bytes=1408,
        )
    )
