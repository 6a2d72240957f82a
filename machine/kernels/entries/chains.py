# SPDX-License-Identifier: Apache-2.0
"""Chains of functions of single elements: one kernel for each line of their table."""

from __future__ import annotations

from dataclasses import replace

from tilewright.machine.kernels import formulas as f
from tilewright.machine.kernels.chains import CHAINS
from tilewright.machine.kernels.operands import operands
from tilewright.machine.kernels.registry import Kernel, register

for _chain in CHAINS:
    _first, *_rest = operands(" ".join(_chain.operands), types="as x")
    register(
        Kernel(
            _chain.kernel,
            "derived",
            f"the loops of {', '.join(_chain.functions)} as one: their bundles less a store of what stays in"
            " a register for each but the last, the set-up of a loop over as many streams",
            f.pointwise(_chain.bundles("half"), _chain.bundles("single"), f.LOOPS[len(_chain.operands)]),
            ins=(replace(_first, types="f16|f32"), *_rest),
            outs=operands("out", types="as x"),
            scalars=("saturate",),
            code_bytes=512 + 128 * len(_chain.operands),
        )
    )
