# SPDX-License-Identifier: Apache-2.0
"""
Chains: functions of single elements that one kernel computes one after another, without a call for each.

A chain rounds wherever its functions by themselves round, to the type of its result: half-precision vector
instructions give halves, so what stays in a register is what would have been stored. A line of the table is
the kernel, its cost, its meaning in the machine model, and what `tile-fuse-chains` looks for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tilewright.machine.numerics.pointwise import FUNCTIONS

Expression = str | tuple["str | Expression", ...]
"""An operand by its name, or a function by its name and the expressions that it is of."""

COMMUTE = ("add", "mul")
"""Functions whose operands may be exchanged: the result is the same to the last bit, NaNs as well."""


@dataclass(frozen=True)
class Chain:
    """
    One chain: `name` of its kernel behind "chain.", the functions as one expression, whose operands are x, y,
    z and w in the order in which it reads them.
    """

    name: str
    expression: Expression

    @property
    def kernel(self) -> str:
        """The name of its kernel."""
        return f"chain.{self.name}"

    @property
    def operands(self) -> tuple[str, ...]:
        """The names of what it reads."""
        return tuple(name for name, leaf in parts(self.expression) if leaf)

    @property
    def functions(self) -> tuple[str, ...]:
        """Its functions, the last one first."""
        return tuple(name for name, leaf in parts(self.expression) if not leaf)

    def bundles(self, which: str) -> int:
        """
        Bundles of a worker per 4 halves (`half`) or 2 floats (`single`): those of its functions less a store
        of what stays in a register for each but the last.
        """
        return sum(getattr(FUNCTIONS[name], which) for name in self.functions) - len(self.functions) + 1


def parts(expression: Expression) -> Iterator[tuple[str, bool]]:
    """The names in an expression from left to right, and whether each is an operand."""
    if isinstance(expression, str):
        yield expression, True
        return
    function, *inner = expression
    assert isinstance(function, str)
    yield function, False
    for part in inner:
        yield from parts(part)


CHAINS = (
    Chain("mul_mul_add", ("add", ("mul", "x", "y"), ("mul", "z", "w"))),
    Chain("mul_add", ("add", ("mul", "x", "y"), "z")),
    Chain("silu_mul", ("mul", ("silu", "x"), "y")),
)
"""All chains, those of more functions first."""
