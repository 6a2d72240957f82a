# SPDX-License-Identifier: Apache-2.0
"""Functions of single elements: one kernel for each line of their table."""

from __future__ import annotations

from dataclasses import replace

from tilewright.machine.kernels import formulas as f
from tilewright.machine.kernels.formulas import Formula
from tilewright.machine.kernels.operands import operands
from tilewright.machine.kernels.registry import Kernel, register
from tilewright.machine.kernels.scalars import STORES
from tilewright.machine.numerics.pointwise import TABLE, Pointwise

_FORMULAS: dict[str, tuple[Formula, int]] = {"gelu_tanh": (f.gelu, 640)}
"""Cost and code of functions whose cost is not that of a plain loop."""
_SHAPES = {1: (384, "x", "y"), 2: (512, "x y", "z"), 3: (640, "x y z", "w")}
"""Bytes of code, operands and result of a loop over so many operands."""


def _gives(entry: Pointwise) -> str:
    """The types of the result: booleans of comparisons, else what kind the operands are."""
    if entry.stored is not None:
        return "any"
    return "booleans" if entry.gives == "i1" else "boolean as x"


for _entry in TABLE:
    _code, _names, _result = _SHAPES[_entry.operands]
    _formula, _code = _FORMULAS.get(
        _entry.name, (f.pointwise(_entry.half, _entry.single, f.LOOPS[_entry.operands]), _code)
    )
    _plain = _entry.operands == 1 and _entry.name not in _FORMULAS
    _ins = operands(_names, types="|".join(_entry.kinds))
    _outs = operands(_result, types=_gives(_entry))
    if _entry.stored is not None:
        _ins = (
            replace(_ins[0], types="booleans"),
            *(replace(rule, types=f"as {_result}") for rule in _ins[1:]),
        )
    register(
        Kernel(
            _entry.kernel,
            _entry.evidence,
            _entry.source + (f"; set-up {f.LOOP} as gelu" if _plain else ""),
            _formula,
            ins=_ins,
            outs=_outs,
            scalars=("saturate",) if _gives(_entry) == "any" else ("saturate", *STORES),
            code_bytes=_code,
        )
    )
