# SPDX-License-Identifier: Apache-2.0
"""Windows over rows and columns of a picture, channels innermost."""

from __future__ import annotations

from tilewright.machine.kernels import formulas as f
from tilewright.machine.kernels.operands import operands
from tilewright.machine.kernels.registry import Kernel, register

_WINDOW = tuple(f"{name}_{axis}" for name in ("size", "stride", "dilation") for axis in "yx")
for _name in ("sum", "max", "min"):
    register(
        Kernel(
            f"window.{_name}",
            "assumed",
            "an element of the window a load and an operation in one bundle, 2 to convert and store a vector,"
            " 10 to start a row",
            f.windows(1),
            axes=("n", "p", "q", "c", "y", "x"),
            ins=operands("a:n,p,q,c"),
            outs=operands("b:n,y,x,c"),
            scalars=(*_WINDOW, "saturate", "count") if _name == "sum" else (*_WINDOW, "saturate"),
            code_bytes=640,
        )
    )
register(
    Kernel(
        "window.products",
        "assumed",
        "as window.sum with the load of the weights: 2 bundles an element of the window",
        f.windows(2),
        axes=("n", "p", "q", "c", "y", "x", "k"),
        ins=operands("a:n,p,q,c w:k,c", types="floats"),
        outs=operands("b:n,y,x,c", types="floats"),
        scalars=(*_WINDOW, "saturate"),
        code_bytes=768,
    )
)
