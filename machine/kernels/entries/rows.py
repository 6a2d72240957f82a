# SPDX-License-Identifier: Apache-2.0
"""Norms, softmax, bias and gelu of complete rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilewright.machine.kernels import formulas as f
from tilewright.machine.kernels.formulas import Form, Formula
from tilewright.machine.kernels.operands import operands
from tilewright.machine.kernels.registry import Kernel, register

_ONE_WIDTH = "1152 columns only: the split into set-up and bundles per 4 columns is assumed"


@dataclass(frozen=True)
class _RowKernel:
    """A kernel of rows and columns; operands as for `_operands`, with axes "r", "c" where none are given."""

    name: str
    evidence: str
    source: str
    formula: Formula
    form: Form
    ins: str
    outs: str
    scalars: tuple[str, ...]
    code: int
    factors: tuple[str, ...] = ()


for _row in (
    _RowKernel(
        "layer_norm",
        evidence="measured",
        source=f"IS KERNEL_PIPELINES, {_ONE_WIDTH}",
        formula=f.rows(20, 972),
        form=f.rows_form(20, 972),
        ins="x gamma:c beta:c",
        outs="y",
        scalars=("epsilon", "saturate", "scale", "columns"),
        code=1280,
    ),
    _RowKernel(
        "rms_norm",
        evidence="derived",
        source="layer_norm less the pass of the mean (336 and 4 bundles)",
        formula=f.rows(16, 636),
        form=f.rows_form(16, 636),
        ins="x gamma:c",
        outs="y",
        scalars=("epsilon", "saturate", "columns"),
        code=1024,
    ),
    _RowKernel(
        "norm.statistics",
        evidence="measured",
        source=f"IS KERNEL_PIPELINES, {_ONE_WIDTH}",
        formula=f.rows(8, 672),
        form=f.rows_form(8, 672),
        ins="x",
        outs="mean:r variance:r",
        scalars=(),
        code=768,
    ),
    _RowKernel(  # no plan calls it: the measured part of norm.merge_apply
        "norm.apply",
        evidence="measured",
        source=f"IS ATTENTION_AND_STATISTICS, {_ONE_WIDTH}",
        formula=f.rows(*f.APPLY),
        form=f.rows_form(*f.APPLY),
        ins="x mean:r variance:r gamma:c beta:c",
        outs="y",
        scalars=("epsilon", "saturate", "scale"),
        code=768,
    ),
    _RowKernel(
        "norm.mix",
        evidence="derived",
        source="set-up of norm.apply; 3 bundles per 4 columns as pointwise.add (PL: a X + b Y by f16v4mix,"
        " the factors of a row in a register), 2 more for an f8 result as in the flat cast",
        formula=f.norm_mix,
        form=f.norm_mix_form,
        ins="x mean:r variance:r",
        outs="y",
        scalars=("epsilon", "saturate", "scale"),
        code=640,
    ),
    _RowKernel(
        "bias_gelu",
        evidence="measured",
        source="IS BIAS_GELU_MIX: 450 + 90 * ceil(n / 24) through both fitted points; an f8 result"
        " (PRODUCER_OUTPUTS) 528 + 1104 * ceil(n / 192), 528 by its one fitted point",
        formula=f.bias_gelu,
        form=f.bias_gelu_form,
        ins="x bias:c",
        outs="y",
        scalars=("saturate",),
        code=896,
    ),
    _RowKernel(
        "softmax",
        evidence="measured",
        source="IS KERNEL_PIPELINES: 768 keys by one worker, 736 split over six; one point each",
        formula=f.softmax,
        form=f.softmax_form,
        ins="x",
        outs="y",
        scalars=("scale", "split", "saturate", "empty_rows", "columns"),
        factors=("scale",),
        code=1280,
    ),
):
    register(
        Kernel(
            _row.name,
            _row.evidence,
            _row.source,
            _row.formula,
            axes=("r", "c"),
            ins=operands(_row.ins, "r", "c", types="floats"),
            outs=operands(_row.outs, "r", "c", types="floats"),
            scalars=_row.scalars,
            required=tuple(name for name in ("epsilon",) if name in _row.scalars),
            factors=_row.factors,
            code_bytes=_row.code,
            form=_row.form,
        )
    )
for _name, _vectors, _code in (("mix", "", 896), ("apply", " gamma:c beta:c", 1024)):
    _x, *_rest = operands("x mean:p,r variance:p,r" + _vectors, "r", "c", types="floats")
    register(
        Kernel(
            f"norm.merge_{_name}",
            "assumed",
            f"norm.{_name} behind 8 bundles per partial mean and variance of a row: one worker merges and"
            " applies them, or all apply them after another pass (201 cycles, gelu's set-up less its call)",
            f.norm_merge_apply(plain=not _vectors),
            axes=("p", "r", "c"),
            ins=(_x, *(replace(rule, alignment=4) if "p" in rule.axes else rule for rule in _rest)),
            outs=operands("y", "r", "c", types="floats"),
            scalars=("count", "epsilon", "saturate", "scale"),
            required=("count", "epsilon"),
            code_bytes=_code,
        )
    )
