# SPDX-License-Identifier: Apache-2.0
"""
A run of the machine beside the oracle, and the first element in which they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.machine.dtypes import is_integer, name_of, numpy_dtype
from tilewright.planning.layout import Layout, View
from tilewright.sim.executor import Executor
from tilewright.sim.oracle.operations import Array, OracleError
from tilewright.sim.oracle.program import Oracle
from tilewright.sim.results import RunResult, Tapped


@dataclass(frozen=True)
class Departure:
    """
    The first element of the first value in which a machine differs from the oracle.

    `tile` and `address` say where the element lies (in its first copy); None for an output that nobody named.
    """

    value: str
    iteration: tuple[int, ...]
    index: tuple[int, ...]
    expected: object
    found: object
    differing: int
    elements: int
    tile: int | None = None
    address: int | None = None

    def __str__(self) -> str:
        where = (
            ""
            if self.tile is None or self.address is None
            else f" (tile {self.tile}, address {self.address:#x})"
        )
        at = f" of iteration {list(self.iteration)}" if self.iteration else ""
        return (
            f"value '{self.value}'{at} departs at {list(self.index)}{where}: "
            f"expected {self.expected}, found {self.found}; "
            f"{self.differing} of {self.elements} elements differ"
        )


def differing(expected: Array, found: Array) -> NDArray[np.bool_]:
    """
    Which elements differ in their bits; all do if shapes or types differ.

    The machine's host reads floats back as f32, which holds every format: such a pair is compared in f32.
    """
    if found.dtype == np.float32 and expected.dtype != np.float32 and not is_integer(name_of(expected.dtype)):
        expected = expected.astype(np.float32)
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return np.ones(found.shape, bool)
    bits = np.dtype(f"u{expected.dtype.itemsize}")
    a, b = (np.ascontiguousarray(x).reshape(-1).view(bits).reshape(x.shape) for x in (expected, found))
    return np.asarray(a != b)


def departure(
    value: str, iteration: tuple[int, ...], expected: Array, found: Array, binding: Any = None
) -> Departure | None:
    """
    The first difference (by logical index), or None; `binding` (of the machine program) gives tile and
    address.
    """
    comparable = expected.shape == found.shape and (
        expected.dtype == found.dtype or found.dtype == np.float32
    )

    def wanted(index: tuple[int, ...]) -> object:
        return expected[index] if comparable else f"shape {expected.shape} of {expected.dtype}"

    return first_departure(value, iteration, differing(expected, found), wanted, found, binding)


def first_departure(
    value: str,
    iteration: tuple[int, ...],
    wrong: NDArray[np.bool_],
    wanted: Callable[[tuple[int, ...]], object],
    found: Array,
    binding: Any,
) -> Departure | None:
    """
    The first element that is `wrong`, or None; `wanted` says what is expected at an index, `binding` (None
    where nothing is known) where the element lies.
    """
    if not wrong.any():
        return None
    index = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    tile, address = (None, None) if binding is None else locate(binding, index, iteration)
    return Departure(
        value,
        iteration,
        index,
        wanted(index),
        found[index],
        int(np.count_nonzero(wrong)),
        int(wrong.size),
        tile,
        address,
    )


def locate(binding: Any, index: tuple[int, ...], iteration: tuple[int, ...] = ()) -> tuple[int, int]:
    """Tile and address of an element of a bound value (replica 0)."""
    layout, view = Layout.parse(binding.layout), View.parse(binding.view)
    storage = (
        view.storage(*(np.array(i) for i in index)) if index else tuple(np.array(o) for o in view.offsets)
    )
    tile, offset = layout.positions(*storage)
    member = iteration[-1] if binding.count > 1 and iteration else 0
    size = numpy_dtype(binding.dtype).itemsize
    return int(tile), binding.address + member * binding.stride + int(offset) * size


class AsPlanned:
    """
    One run of the machine beside its oracle: values are compared as they become complete, outputs at the
    end.

    The machine may complete values in another order than the program has them; only those that it is behind
    with are held. `found` is the first that departs: nothing is compared after it. `compared` counts values.
    """

    def __init__(
        self,
        executor: Executor,
        oracle: Oracle,
        inputs: Mapping[str, Array],
        parameters: Mapping[str, Array] | None = None,
    ) -> None:
        self.found: Departure | None = None
        self.compared = 0
        self._image = executor.image
        self._steps = oracle.steps(inputs, parameters)
        self._observed = {entry.value for entry in executor.image.taps}
        self._ahead: dict[tuple[str, tuple[int, ...]], Array] = {}
        self._outputs: dict[str, Array] = {}

    def _advance(self) -> bool:
        """One more value of the oracle's; whether there was one."""
        try:
            name, iteration, expected = next(self._steps)
        except StopIteration as end:
            self._outputs.update(end.value or {})
            return False
        if name in self._observed:
            self._ahead[name, iteration] = expected
        return True

    def tap(self, tapped: Tapped) -> None:
        """A value that the machine has completed."""
        if self.found is not None:
            return
        key = (tapped.value, tapped.iteration)
        while key not in self._ahead:
            if not self._advance():
                raise OracleError(
                    f"the machine completes the value '{tapped.value}' in iteration "
                    f"{list(tapped.iteration)}, which the program does not have (or twice)"
                )
        self.compared += 1
        self.found = departure(*key, self._ahead.pop(key), tapped.data, tapped.binding)

    def finish(self, outputs: Mapping[str, Array]) -> None:
        """The end of the run: compares the outputs as the host read them."""
        if self.found is not None:
            return
        while self._advance():
            pass
        if self._ahead:
            missed, iteration = next(iter(self._ahead))
            raise OracleError(
                f"the machine never completes the value '{missed}' of iteration {list(iteration)}"
            )
        bindings = {
            (binding.tensors or (binding.name,))[0]: binding
            for binding in self._image.bindings
            if binding.kind == "output"
        }
        for name, expected in self._outputs.items():
            if name not in outputs:
                raise OracleError(f"the machine gives no output '{name}'")
            where = bindings.get(name)
            self.compared += 1
            self.found = departure(
                name, (), expected, outputs[name], where if where is not None and where.count == 1 else None
            )
            if self.found is not None:
                return


class _Departed(Exception):
    """Ends a run."""


def compare_each(
    executor: Executor,
    oracle: Oracle,
    inputs: Mapping[str, Array],
    parameters: Mapping[str, Array] | None = None,
) -> tuple[Departure | None, RunResult | None]:
    """
    Run the machine and the oracle side by side: the first value that departs (the run stops there), or None
    and the result.

    The executor must hold the same parameters already (`Executor.load`).
    """
    planned = AsPlanned(executor, oracle, inputs, parameters)

    def tap(tapped: Tapped) -> None:
        planned.tap(tapped)
        if planned.found is not None:
            raise _Departed

    try:
        result = executor.run(inputs, tap)
    except _Departed:
        return planned.found, None
    planned.finish(result.outputs)
    return planned.found, result
