# SPDX-License-Identifier: Apache-2.0
"""
The matrix unit. One instruction loads an input and a partial and stores a partial, so input and result lie in
different elements; the weights are loaded between panels, by the supervisor, while the workers stand still.
"""

from __future__ import annotations

from tilewright.machine.kernels import formulas as f
from tilewright.machine.kernels.matrix_unit import COLUMNS, PRODUCTS, RESULT_MEMORY, WEIGHT_ALIGNMENT
from tilewright.machine.kernels.operands import OperandRule
from tilewright.machine.kernels.registry import Kernel, register

for _product in PRODUCTS:
    _inputs, _types = _product.inputs, _product.takes
    register(
        Kernel(
            _product.kernel,
            _product.evidence,
            _product.source,
            f.gemm(_product),
            axes=("b", "m", "n", "k"),
            ins=(
                OperandRule("a", ("b", "m", "k"), types=_types, order=f"k/{_inputs} m k%{_inputs}"),
                OperandRule(
                    "w",
                    ("b", "n", "k"),
                    alignment=WEIGHT_ALIGNMENT,
                    types=_types,
                    order=f"*n/{COLUMNS} *k/{_inputs} n%{COLUMNS} k%{_inputs}",
                ),
            ),
            outs=(
                OperandRule(
                    "c",
                    ("b", "m", "n"),
                    RESULT_MEMORY,
                    _product.alignment,
                    order=f"n/{COLUMNS} m n%{COLUMNS}",
                ),
            ),
            separate=((0, 2),),
            granule=(1, 1, COLUMNS, _inputs),
            scalars=("scale", "saturate", "weights_standard"),
            form=f.gemm_form,
            code_bytes=1536,
        )
    )
