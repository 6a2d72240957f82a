# SPDX-License-Identifier: Apache-2.0
"""
What a call must state for its kernel: operands, axes, element types, scalars. Depends on the supervisor words
alone, so it is looked at once for each call.
"""

from __future__ import annotations

import math

from tilewright.machine.kernels import Kernel
from tilewright.machine.kernels.scalars import INTEGERS
from tilewright.sim.supervisor import DecodedCall


def call_problem(call: DecodedCall, entry: Kernel) -> tuple[str, str] | None:
    """What is wrong with a call of `entry`, as (rule, sentence), or None."""
    if (len(call.ins), len(call.outs)) != (len(entry.ins), len(entry.outs)):
        return (
            "call of no kernel",
            f"{entry.name} takes {len(entry.ins)} inputs and {len(entry.outs)} outputs, "
            f"the call has {len(call.ins)} and {len(call.outs)}",
        )
    rank = len(entry.axes)
    if call.extent_axes < rank - 1 if "..." in entry.axes else call.extent_axes != rank:
        return "call of no kernel", f"{entry.name} has axes {', '.join(entry.axes)}, not {call.extent_axes}"
    text = _scalar_problem(call, entry)
    if text:
        return "bad scalars", text
    text = _type_problem(entry, [o.dtype for o in call.ins], [o.dtype for o in call.outs])
    return ("bad element types", text) if text else None


def _scalar_problem(call: DecodedCall, entry: Kernel) -> str | None:
    given = dict(call.scalars)
    for name in entry.required:
        if name not in given:
            return f"{entry.name} needs the scalar '{name}'"
    for name, value in given.items():
        if name not in entry.scalars:
            return f"{entry.name} takes no scalar '{name}'"
        if name == "epsilon" or name in entry.factors:
            if not math.isfinite(value):
                return f"'{name}' of {entry.name} is {value}"
            if name == "epsilon" and value < 0:
                return f"'epsilon' of {entry.name} is negative: {value}"
        elif name in INTEGERS:
            low, high = INTEGERS[name]
            if name == "reduced":
                high = call.extent_axes
            if not isinstance(value, int) or not low <= value <= high:
                return f"'{name}' of {entry.name} is {value}, not an integer from {low} to {high}"
        elif not math.isfinite(value):
            return f"'{name}' of {entry.name} is {value}"
    return None


def _type_problem(entry: Kernel, ins: list[str], outs: list[str]) -> str | None:
    rules, dtypes = (*entry.outs, *entry.ins), (*outs, *ins)
    names = {rule.name: dtype for rule, dtype in zip(rules, dtypes, strict=True)}
    for rule, dtype in zip((*entry.ins, *entry.outs), (*ins, *outs), strict=True):
        if not rule.takes(dtype, names):
            return f"{entry.name} does not work on {dtype}"
    return None
