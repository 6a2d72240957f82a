# SPDX-License-Identifier: Apache-2.0
"""
The kernel registry: what each kernel demands of its operands, how big its code is, and what a call costs.

`Kernel.evidence` says where the cycle formula comes from:

- `measured`: it is published, or goes through published points of this kernel;
- `derived`: put together from measured pieces of other kernels or from the vendor's bundle counts;
- `assumed`: no figure exists; a guess that keeps plans comparable.

That is the kernel's best; what one call rests on follows from its types and form as well
(`tilewright.machine.kernels.measurements.evidence`).

The entries are in `tilewright.machine.kernels.entries`, by kind, their formulas in
`tilewright.machine.kernels.formulas`, the semantics in `tilewright.sim.kernels`. Code sizes are assumed
throughout: only the sum of a program's kernels is published (17.3 to 17.6 KB).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tilewright.diagnostics import TileError
from tilewright.machine.kernels.formulas import Form, Formula, Scalars, Terms
from tilewright.machine.kernels.operands import OperandRule
from tilewright.suggestions import near

if TYPE_CHECKING:
    from tilewright.machine.description import Machine


class UnknownKernel(TileError, KeyError):
    """A kernel that the registry does not have."""

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Kernel:
    """
    One kernel: operand rules, scalars, code size and cycles. The operands of a call have the types that their
    rules name.

    `scalars` names those that it understands, `required` the ones that must be given, `factors` the ones that
    are any finite number, whatever the name means elsewhere (`tilewright.machine.kernels.scalars`).
    `separate` holds pairs of operand numbers (ins, then outs) that may not share a memory element. `granule`
    is what each axis is rounded up to: the kernel reads and writes the padding. `moves`: it only brings
    elements elsewhere, and its cycles are counted as copies. `sub_word`: it may write a part of a word and
    leave the rest as it is.
    """

    name: str
    evidence: str
    source: str
    formula: Formula = field(compare=False, repr=False)
    ins: tuple[OperandRule, ...] = field(kw_only=True)
    outs: tuple[OperandRule, ...] = field(kw_only=True)
    code_bytes: int = field(kw_only=True)
    axes: tuple[str, ...] = field(default=("...",), kw_only=True)
    scalars: tuple[str, ...] = field(default=(), kw_only=True)
    required: tuple[str, ...] = field(default=(), kw_only=True)
    factors: tuple[str, ...] = field(default=(), kw_only=True)
    separate: tuple[tuple[int, int], ...] = field(default=(), kw_only=True)
    granule: tuple[int, ...] = field(default=(), kw_only=True)
    form: Form | None = field(default=None, compare=False, repr=False, kw_only=True)
    moves: bool = field(default=False, kw_only=True)
    sub_word: bool = field(default=False, kw_only=True)

    def itemise(
        self,
        machine: Machine,
        extents: npt.ArrayLike,
        dtypes: tuple[str, ...],
        scalars: Scalars | None = None,
    ) -> Terms:
        """
        The cost of each call on a tile of `machine` as (term, cycles int64 (calls,)); the terms sum to
        `cycles`.

        `extents` int64 (calls, axes), or (axes,) for one call; `dtypes` those of ins, then outs.
        """
        table = np.atleast_2d(np.asarray(extents, dtype=np.int64))  # (calls, axes)
        rank, given = len(self.axes), table.shape[1]
        if given != rank and ("..." not in self.axes or given < rank - 1):
            raise ValueError(f"{self.name} has axes {', '.join(self.axes)}: got {given} extents")
        busy = (table > 0).all(axis=1)
        terms = self.formula(machine, np.maximum(table, 1), dtypes, scalars or {})
        return [(name, np.where(busy, cycles, 0).astype(np.int64)) for name, cycles in terms]

    def cycles(
        self,
        machine: Machine,
        extents: npt.ArrayLike,
        dtypes: tuple[str, ...],
        scalars: Scalars | None = None,
    ) -> np.ndarray:
        """Cycles of each call, int64 (calls,); 0 where an extent is 0. Arguments as for `itemise`."""
        return np.sum([cycles for _, cycles in self.itemise(machine, extents, dtypes, scalars)], axis=0)

    def padded(self, extents: npt.ArrayLike) -> np.ndarray:
        """Extents rounded up to what the kernel reads and writes; same shape, last axis = kernel axes."""
        given = np.asarray(extents, dtype=np.int64)
        if not self.granule:
            return given
        granule = np.asarray(self.granule, dtype=np.int64)
        return -(-given // granule) * granule

    def form_of(
        self,
        machine: Machine,
        extents: npt.ArrayLike,
        dtypes: tuple[str, ...],
        scalars: Scalars | None = None,
    ) -> np.ndarray:
        """
        The form of the kernel that each call uses, str (calls,); "" for a kernel with one form only.
        Arguments as for `itemise`.
        """
        table = np.maximum(np.atleast_2d(np.asarray(extents, dtype=np.int64)), 1)
        if self.form is None:
            return np.full(len(table), "")
        return self.form(machine, table, dtypes, scalars or {})


_REGISTRY: dict[str, Kernel] = {}


def kernel(name: str) -> Kernel:
    """The kernel of that name; UnknownKernel (a KeyError) names near ones."""
    found = _REGISTRY.get(name)
    if found is None:
        raise UnknownKernel(
            f"unknown kernel {name!r}",
            hint=near(name, _REGISTRY) or "tile-kernels lists the registry",
        )
    return found


def kernel_names() -> tuple[str, ...]:
    """All kernels, in the order of the registry."""
    return tuple(_REGISTRY)


@contextmanager
def substituted(formulas: Mapping[str, Formula]) -> Iterator[None]:
    """The registry with other formulas for some kernels, by name: what-if costs and older models."""
    today = {name: _REGISTRY[name] for name in formulas}
    _REGISTRY.update({name: replace(entry, formula=formulas[name]) for name, entry in today.items()})
    try:
        yield
    finally:
        _REGISTRY.update(today)


def register(entry: Kernel) -> Kernel:
    """Offer a kernel. Raises ValueError if there is one of that name."""
    if entry.name in _REGISTRY:
        raise ValueError(f"kernel {entry.name} registered twice")
    _REGISTRY[entry.name] = entry
    return entry


def unregister(entry: Kernel) -> None:
    """Withdraw a kernel."""
    del _REGISTRY[entry.name]
