# SPDX-License-Identifier: Apache-2.0
"""Sums of partial products, and reductions of rows."""

from __future__ import annotations

from dataclasses import replace

from tilewright.machine.kernels import formulas as f
from tilewright.machine.kernels.operands import OperandRule, operands
from tilewright.machine.kernels.registry import Kernel, register
from tilewright.machine.kernels.scalars import STORES
from tilewright.machine.numerics.pointwise import PL

register(
    Kernel(
        "reduce_partials",
        "measured",
        "IS: 282 + 6 * ceil(n / 48) * (11 + 2 * (P - 1)) on f16; f32 partials or an f32 result at half the"
        " rate",
        f.reduce_partials,
        axes=("p", "..."),
        ins=operands("x:p,..."),
        outs=operands("y"),
        scalars=("saturate", *STORES),
        code_bytes=640,
    )
)
_VECTOR = (
    "a vector (scalar `vector`): a load and a broadcast more a round, 10 bundles to start a panel, assumed"
)
register(
    Kernel(
        "reduce_partials.onto",
        "derived",
        "the measured reduction, which takes its first partial apart from the others (IS reduce_add_f16:"
        f" initial partial, packed remote partials); {_VECTOR}",
        f.reduce_onto,
        axes=("p", "..."),
        ins=operands("y x:p,...", types="floats"),
        outs=operands("z", types="floats"),
        scalars=("saturate", "vector", *STORES),
        code_bytes=704,
    )
)
_WIDE = (
    "set-up of the measured reduction; P + 9 bundles a round for partials that load at 16 bytes"
    " (PL reduction of a single input: interleaved, aligned)"
)
_PARTIALS = OperandRule("x", ("p", "..."), memory="interleaved", alignment=16, step=16)
register(
    Kernel(
        "reduce_partials.wide",
        "derived",
        _WIDE,
        f.reduce_wide,
        axes=("p", "..."),
        ins=(_PARTIALS,),
        outs=operands("y"),
        scalars=("saturate", *STORES),
        code_bytes=640,
    )
)
register(
    Kernel(
        "reduce_partials.wide_onto",
        "derived",
        f"{_WIDE}; two loads for the first partial, which lies apart in any memory; {_VECTOR}",
        f.reduce_wide_onto,
        axes=("p", "..."),
        ins=(*operands("y", types="floats"), replace(_PARTIALS, types="floats")),
        outs=operands("z", types="floats"),
        scalars=("saturate", "vector", *STORES),
        code_bytes=704,
    )
)
for _name in ("sum", "max", "min", "prod"):
    register(
        Kernel(
            f"reduce.{_name}",
            "derived",
            f"{PL}: 4 bundles per 64-bit load; the workers share a row or own rows, whichever is cheaper",
            f.reduce_trailing(4),
            ins=operands("x"),
            outs=operands("y"),
            scalars=("reduced", "saturate", "count") if _name == "sum" else ("reduced", "saturate"),
            code_bytes=512,
        )
    )
