# SPDX-License-Identifier: Apache-2.0
"""
Kernel calls: operands from SRAM, semantics, results to SRAM, and everything that a call may not do.

Tiles with equal extents are computed together; what a call's operands demand of addresses is checked once for
each such group and set of addresses, what depends on contents at every call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import gcd, prod

import numpy as np
import numpy.typing as npt

from tilewright.backends.program import Code
from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize, numpy_dtype
from tilewright.machine.kernels import Kernel, OperandRule, UnknownKernel, kernel
from tilewright.machine.kernels.measurements import evidence
from tilewright.machine.numerics import workers
from tilewright.sim.access import (
    Access,
    Tiles,
    as_tiles,
    compile_access,
    cross,
    gather,
    is_broadcast,
    offsets,
    reach,
    scatter,
    tile_numbers,
    tile_of,
)
from tilewright.sim.illegal import IllegalProgram
from tilewright.sim.kernels import semantics
from tilewright.sim.memory import FULL, Memory
from tilewright.sim.phase import Phase, read_table
from tilewright.sim.placement import reserved
from tilewright.sim.signature import call_problem
from tilewright.sim.supervisor import DecodedCall, DecodedOperand

CHUNK_BYTES = 200 << 20
"""Bound of the temporaries of one kernel evaluation: tiles are taken in chunks that stay below it."""
PIECE_ELEMENTS = 1 << 21
"""Operand elements that a thread evaluates at a time; less than a quarter of it is not worth a thread."""
ARITHMETIC_BYTES = 32
"""Temporaries per operand element while a kernel is evaluated (f64 intermediates)."""
ELEMENTS_PER_BYTE = 16
"""
Most elements of an operand on a tile, for each byte of its SRAM: operands that repeat elements (broadcast
axes, overlapping digits) have more than fit, but not without bound.
"""


@dataclass(frozen=True, eq=False)
class Called:
    """
    What a call did: kernel, cycles of each tile (tiles,), number of tiles, and what the cycles of each tile
    rest on, index into `EVIDENCE` (tiles,).
    """

    kernel: str
    cycles: npt.NDArray[np.int64]
    active: int
    evidence: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Group:
    """Tiles with equal extents."""

    tiles: Tiles
    numbers: npt.NDArray[np.int64]
    extents: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Extents:
    """A decoded extents table: its groups of active tiles, how many are active."""

    groups: tuple[_Group, ...]
    active: int


@dataclass(eq=False)
class _Bound:
    """An operand on one group, at its address of this iteration."""

    operand: DecodedOperand
    rule: OperandRule
    extents: tuple[int, ...]
    address: int
    access: Access


class Calls:
    """Executes kernel calls on a memory. `code` says which kernel is where."""

    def __init__(self, memory: Memory, machine: Machine, code: Mapping[int, Code]) -> None:
        self.memory = memory
        self.machine = machine
        self._code = code
        self._extents: dict[bytes, _Extents] = {}
        self._elements: dict[tuple[object, ...], npt.NDArray[np.int64]] = {}
        self._runs: dict[tuple[object, ...], tuple[int, int]] = {}
        self._legal: set[tuple[object, ...]] = set()

    def run(self, call: DecodedCall, iteration: tuple[int, ...], phase: Phase) -> Called:
        """Execute a call that `check` let pass: operands, kernel, stores. Names the kernel in `phase`."""
        entry = self._kernel(call, phase)
        phase.name = entry.name
        extents = self._group(call, phase)
        scalars = dict(call.scalars)
        dtypes = tuple(operand.dtype for operand in (*call.ins, *call.outs))
        function = semantics(entry.name)
        cycles = np.zeros(self.memory.tiles, np.int64)
        rests_on = np.zeros(self.memory.tiles, np.int64)
        for group in extents.groups:
            bound = self._bind(call, entry, group, scalars, iteration, phase)
            self._evaluate(call, entry, group, bound, scalars, function, phase)
            facts = {**scalars, **self._placement_scalars(entry, bound)}
            call_ = (self.machine, np.array([group.extents]), dtypes, facts)
            cycles[group.numbers] = entry.cycles(*call_)[0]
            rests_on[group.numbers] = evidence(entry, *call_)[0]
        return Called(entry.name, cycles, extents.active, rests_on)

    def check(self, call: DecodedCall, phase: Phase) -> None:
        """Refuse what the words of a call say by themselves, whatever is in memory when it runs."""
        entry = self._kernel(call, phase)
        problem = call_problem(call, entry)
        if problem is not None:
            phase.name = entry.name
            raise IllegalProgram(
                problem[1], rule=problem[0], phase=str(phase), location=phase.provenance or None
            )

    def _kernel(self, call: DecodedCall, phase: Phase) -> Kernel:
        """The kernel whose code a call names by its address."""
        code = self._code.get(call.code)
        if code is None:
            raise IllegalProgram(
                "no kernel's code is here", rule="call of no kernel", phase=str(phase), address=call.code
            )
        try:
            return kernel(code.kernel)
        except UnknownKernel as error:
            raise IllegalProgram(
                str(error), rule="call of no kernel", phase=str(phase), address=call.code
            ) from None

    def _group(self, call: DecodedCall, phase: Phase) -> _Extents:
        table = read_table(self.memory, call.extents, call.extent_axes, phase)
        key = table.tobytes() + bytes([call.extent_axes & 0xFF])
        found = self._extents.get(key)
        if found is not None:
            return found
        values = table.view(np.int32).astype(np.int64)
        negative = np.flatnonzero((values < 0).any(axis=1))
        if negative.size:
            raise IllegalProgram(
                "an extent is negative",
                rule="bad extents",
                tile=int(negative[0]),
                phase=str(phase),
                address=call.extents,
            )
        active = np.flatnonzero((values > 0).all(axis=1))
        groups: list[_Group] = []
        if active.size:
            distinct, inverse = np.unique(values[active], axis=0, return_inverse=True)
            inverse = inverse.reshape(-1)
            for number, row in enumerate(distinct):
                numbers = active[inverse == number]
                groups.append(_Group(as_tiles(numbers), numbers, tuple(int(value) for value in row)))
        found = _Extents(tuple(groups), int(active.size))
        self._extents[key] = found
        return found

    def _bind(
        self,
        call: DecodedCall,
        entry: Kernel,
        group: _Group,
        scalars: dict[str, int | float],
        iteration: tuple[int, ...],
        phase: Phase,
    ) -> list[_Bound]:
        """
        The operands of a call on one group of tiles at their addresses of this iteration, checked against the
        kernel's rules.
        """
        shapes = operand_extents(entry, group.extents, scalars)
        bound: list[_Bound] = []
        for operand, rule, shape in zip(
            (*call.ins, *call.outs), (*entry.ins, *entry.outs), shapes, strict=True
        ):
            address = operand.address + sum(
                step * number for step, number in zip(operand.steps, iteration, strict=False)
            )
            if len(shape) != len(operand.axes):
                raise IllegalProgram(
                    f"operand '{rule.name}' has {len(operand.axes)} axes, {entry.name} wants {len(shape)}",
                    rule="operand order",
                    phase=str(phase),
                    address=address,
                )
            self._check_reach(operand, rule, shape, address, entry, int(group.numbers[0]), phase)
            access = compile_access(operand.axes, shape, itemsize(operand.dtype), address % 4)
            bound.append(_Bound(operand, rule, shape, address, access))
        self._check_operands(call, entry, group, bound, phase)
        return bound

    def _check_reach(
        self,
        operand: DecodedOperand,
        rule: OperandRule,
        shape: tuple[int, ...],
        address: int,
        entry: Kernel,
        tile: int,
        phase: Phase,
    ) -> None:
        """Range and number of elements of an operand, before anything of it is expanded."""
        low, high, count = reach(operand.axes, shape, itemsize(operand.dtype))
        start, end = address + low, address + high + rule.tail
        name = f"operand '{rule.name}' of {entry.name}"
        problem = None
        if not self.memory.base <= start <= end <= self.memory.end:
            problem = "address out of range", f"{name} reaches from {start:#x} to {end:#x}"
        elif max(count, prod(shape)) > ELEMENTS_PER_BYTE * self.memory.nbytes:
            problem = "bad extents", f"{name} has {prod(shape):,} elements"
        if problem is not None:
            raise IllegalProgram(
                problem[1],
                rule=problem[0],
                tile=tile,
                phase=str(phase),
                address=address,
                location=phase.provenance or None,
            )

    def _placement_scalars(self, entry: Kernel, bound: list[_Bound]) -> dict[str, int]:
        """
        Arguments of the cost that follow from where the operands lie; whatever the call claims about them is
        not believed.
        """
        if "weights_standard" in entry.scalars:
            region = self.machine.region_of(bound[1].address)
            return {"weights_standard": int(region is not None and region.interleave == 1)}
        if entry.name.startswith(("update_window", "read_window")):
            return self._window(entry, bound)
        if "run_bytes" in entry.scalars:
            unit, runs = self._copied_runs(bound)
            return {"run_bytes": unit, "runs": runs}
        return {}

    def _window(self, entry: Kernel, bound: list[_Bound]) -> dict[str, int]:
        """Runs of a window, wherever it begins, and whether an update is not in place."""
        reading = entry.name == "read_window"
        whole, window = bound[0], bound[-1] if reading else bound[1]
        key = (whole.operand.axes, window.operand.axes, window.extents, whole.access.itemsize)
        if key not in self._runs:
            tables = [_flat_offsets(item.operand.axes, window.extents) for item in (whole, window)]
            self._runs[key] = copied_runs(tables[0], tables[1], whole.access.itemsize)
        unit, _ = self._runs[key]
        moving = sum(axis.startswith("r") for axis in entry.ins[0].axes)
        strides = [stride for axis in whole.operand.axes[:moving] for _, stride in axis]
        unit = gcd(unit, whole.address, window.address, *(s * whole.access.itemsize for s in strides))
        facts = {"run_bytes": unit}
        return facts if reading else {**facts, "apart": int(not _in_place(entry, bound[-1], whole))}

    def _copied_runs(self, bound: list[_Bound]) -> tuple[int, int]:
        source, out = bound
        key = (source.operand.axes, out.operand.axes, out.extents, out.access.itemsize)
        if key not in self._runs:
            shape = out.extents
            tables = [_flat_offsets(item.operand.axes, shape) for item in (out, source)]
            self._runs[key] = copied_runs(tables[0], tables[1], out.access.itemsize)
        unit, runs = self._runs[key]
        return gcd(unit, out.address, source.address), runs

    def _evaluate(
        self,
        call: DecodedCall,
        entry: Kernel,
        group: _Group,
        bound: list[_Bound],
        scalars: dict[str, int | float],
        function: Callable[..., list[np.ndarray]],
        phase: Phase,
    ) -> None:
        sources, targets = bound[: len(call.ins)], bound[len(call.ins) :]
        elements = max(1, sum(item.access.elements for item in bound))
        per_tile = sum(item.access.elements * (item.access.itemsize + ARITHMETIC_BYTES) for item in bound)
        chunk = max(1, CHUNK_BYTES // max(per_tile, 1))
        threads = workers.count() if elements * len(group.numbers) >= PIECE_ELEMENTS // 4 else 1
        outs_dtype = tuple(item.operand.dtype for item in targets)

        def evaluate(pieces: Iterator[npt.NDArray[np.int64]]) -> None:
            for numbers in pieces:
                tiles = group.tiles if len(numbers) == len(group.numbers) else as_tiles(numbers)
                arrays: list[np.ndarray] = []
                for item in sources:
                    raw = gather(self.memory.data, tiles, item.address - self.memory.base, item.access)
                    arrays.append(raw.view(numpy_dtype(item.operand.dtype)))
                results = function(arrays, outs_dtype, scalars, group.extents)
                for item, values in zip(targets, results, strict=True):
                    self._store(tiles, item, values, entry, phase)

        for first in range(0, len(group.numbers), chunk):
            numbers = group.numbers[first : first + chunk]
            tiles = group.tiles if len(numbers) == len(group.numbers) else as_tiles(numbers)
            for item in sources:
                self._check_read(tiles, item, entry, phase)
            for item in targets:
                self._check_write(tiles, item, entry, phase)
            count = max(len(numbers) * elements // (threads * PIECE_ELEMENTS), 1) * threads
            workers.share(np.array_split(numbers, min(count, len(numbers))), evaluate, threads)

    def _store(self, tiles: Tiles, item: _Bound, values: np.ndarray, entry: Kernel, phase: Phase) -> None:
        expected = np.dtype(numpy_dtype(item.operand.dtype))
        count = len(tile_numbers(tiles, self.memory.tiles))
        if values.shape[0] != count:  # a kernel without inputs does not know the tiles
            values = np.broadcast_to(values, (count, *values.shape[1:]))
        shape = (count, *item.access.shape)
        if values.dtype != expected:
            raise TypeError(f"{entry.name} gave {values.dtype}, its operand is {expected}")
        if values.size != prod(shape):  # every input of an axis is without storage
            values = np.broadcast_to(values, shape)
        raw = np.ascontiguousarray(values).view({1: np.uint8, 2: np.uint16, 4: np.uint32}[expected.itemsize])
        scatter(self.memory.data, tiles, item.address - self.memory.base, item.access, raw.reshape(shape))
        self._mark(tiles, item, entry.sub_word)

    def _mark(self, tiles: Tiles, item: _Bound, keeps: bool) -> None:
        """
        The bytes of an output are defined now; a word that it fills in part loses its other bytes unless the
        kernel `keeps` them.
        """
        access, valid = item.access, self.memory.valid
        base = (item.address - self.memory.base) // 4
        if access.words is None or access.masks is None:
            valid[tiles, base + access.low // 4 : base + access.high // 4] = FULL
            return
        columns = base + access.words
        whole = access.masks == FULL
        index = cross(tiles, columns[whole], self.memory.tiles)
        valid[index] = FULL
        if not whole.all():
            index = cross(tiles, columns[~whole], self.memory.tiles)
            masks = access.masks[~whole]
            before = valid[index]
            if keeps:
                valid[index] = (before | masks) & ~(masks << 4)
            else:
                lost = (before & FULL | before >> 4) & ~masks & FULL
                valid[index] = lost << 4 | masks

    # ------------------------------------------------------------------------------------------ refusals of
    # calls

    def _refuse(
        self,
        rule: str,
        text: str,
        phase: Phase,
        item: _Bound,
        tile: int | None = None,
        address: int | None = None,
    ) -> IllegalProgram:
        return IllegalProgram(
            text,
            rule=rule,
            tile=tile,
            phase=str(phase),
            address=item.address if address is None else address,
            location=phase.provenance or None,
        )

    def _check_operands(
        self, call: DecodedCall, entry: Kernel, group: _Group, bound: list[_Bound], phase: Phase
    ) -> None:
        """What does not depend on contents: once for each call, group and addresses."""
        key = (call.word, group.extents, tuple(item.address for item in bound))
        if key in self._legal:
            return
        tile = int(group.numbers[0])
        for item in bound:
            name, access, rule = f"operand '{item.rule.name}' of {entry.name}", item.access, item.rule
            if item.address % max(rule.alignment, access.itemsize):
                raise self._refuse(
                    "misaligned access",
                    f"{name} needs {max(rule.alignment, access.itemsize)}-byte alignment",
                    phase,
                    item,
                    tile,
                )
            steps = offsets(item.operand.axes[0], item.extents[0]) * access.itemsize if rule.step > 1 else 0
            if np.any(steps % rule.step):
                raise self._refuse(
                    "misaligned access",
                    f"{name} needs steps of a multiple of {rule.step} bytes along axis {rule.axes[0]}",
                    phase,
                    item,
                    tile,
                )
            low, high = item.address + access.low, item.address + access.high
            if reserved(self.machine, low, high + rule.tail) is not None:
                self._check_reserved(item, name, tile, phase)
            if rule.memory != "any":
                for address in (low, high - 1):
                    region = self.machine.region_of(address)
                    if region is None or region.name != rule.memory:
                        raise self._refuse(
                            "wrong memory class",
                            f"{name} must lie in {rule.memory} memory",
                            phase,
                            item,
                            tile,
                            address,
                        )
            problem = order_problem(rule, item.operand, item.extents)
            if problem:
                raise self._refuse("operand order", f"{name} {problem}", phase, item, tile)
        for item in bound[len(call.ins) :]:
            repeated = any(
                is_broadcast(axis) and extent > 1
                for axis, extent in zip(item.operand.axes, item.extents, strict=True)
            )
            if item.access.duplicates or repeated:
                raise self._refuse(
                    "two writers", f"elements of the output of {entry.name} share bytes", phase, item, tile
                )
        self._check_overlaps(call, entry, bound, phase, tile)
        for one, other in entry.separate:
            shared = np.intersect1d(self._touched_elements(bound[one]), self._touched_elements(bound[other]))
            if shared.size:
                start, _ = self.machine.element_range(int(shared[0]))
                raise self._refuse(
                    "memory element conflict",
                    f"operands {one} and {other} of {entry.name} share the memory element at {start:#x}",
                    phase,
                    bound[other],
                    tile,
                )
        self._legal.add(key)

    def _check_reserved(self, item: _Bound, name: str, tile: int, phase: Phase) -> None:
        """Refuse an operand that touches a reservation, unless it only goes around it."""
        words = 4 * _absolute_words(item)
        for taken in self.machine.reservations:
            hit = words[(words < taken.end) & (words + 4 > taken.start)]
            if hit.size:
                raise self._refuse(
                    "reserved memory", f"{name} touches the {taken.name}", phase, item, tile, int(hit[0])
                )

    def _check_overlaps(
        self, call: DecodedCall, entry: Kernel, bound: list[_Bound], phase: Phase, tile: int
    ) -> None:
        """An output may replace an input in place, element by element, and nothing else may overlap it."""
        for number, out in enumerate(bound[len(call.ins) :], len(call.ins)):
            for other_number, other in enumerate(bound):
                if other_number == number or (other_number >= len(call.ins) and other_number > number):
                    continue
                low = max(out.address + out.access.low, other.address + other.access.low)
                high = min(out.address + out.access.high, other.address + other.access.high)
                if low >= high:
                    continue
                written = other_number >= len(call.ins)
                if not written and _in_place(entry, out, other):
                    continue
                shared = np.intersect1d(_absolute_words(out), _absolute_words(other))
                if shared.size:
                    rule = "two writers" if written else "output overlaps an input"
                    raise self._refuse(
                        rule,
                        f"operands {other_number} and {number} of {entry.name} overlap, "
                        "but not element by element in place",
                        phase,
                        out,
                        tile,
                        int(shared[0]) * 4,
                    )

    def _touched_elements(self, item: _Bound) -> npt.NDArray[np.int64]:
        access = item.access
        key = (item.address, item.operand.axes, item.extents, access.itemsize)
        found = self._elements.get(key)
        if found is None:
            if access.words is None:
                addresses = np.arange((item.address + access.low) // 64 * 64, item.address + access.high, 64)
            else:
                addresses = (item.address // 4 + access.words) * 4
            found = np.unique(self.machine.element_index(addresses))
            self._elements[key] = found
        return found

    def _check_read(self, tiles: Tiles, item: _Bound, entry: Kernel, phase: Phase) -> None:
        access, valid = item.access, self.memory.valid
        base = (item.address - self.memory.base) // 4
        if access.words is None or access.masks is None:
            window = valid[tiles, base + access.low // 4 : base + access.high // 4]
            bad = window & FULL != FULL
            columns = np.arange(base + access.low // 4, base + access.high // 4)
            masks = np.full(len(columns), FULL, np.uint8)
        else:
            columns, masks = base + access.words, access.masks
            window = valid[cross(tiles, columns, self.memory.tiles)]
            bad = masks & ~window != 0
        if not bad.any():
            return
        row, column = (int(index[0]) for index in np.nonzero(bad))
        state = int(window[row, column])
        bits = int(masks[column]) & ~state & FULL
        byte = (bits & -bits).bit_length() - 1
        destroyed = bool(state >> (4 + byte) & 1)
        rule_name = item.rule.name
        raise self._refuse(
            "sub-word store" if destroyed else "read of unwritten memory",
            f"operand '{rule_name}' of {entry.name} reads a byte that "
            + ("a store of part of its word has destroyed" if destroyed else "nothing has written"),
            phase,
            item,
            tile_of(tiles, row),
            self.memory.base + int(columns[column]) * 4 + byte,
        )

    def _check_write(self, tiles: Tiles, item: _Bound, entry: Kernel, phase: Phase) -> None:
        columns = (item.address - self.memory.base) // 4 + item.access.touched()
        if item.access.words is None and columns.size:
            window = self.memory.persistent[tiles, columns[0] : columns[-1] + 1]
        else:
            window = self.memory.persistent[cross(tiles, columns, self.memory.tiles)]
        if window.any():
            row, column = (int(index[0]) for index in np.nonzero(window))
            raise self._refuse(
                "two writers",
                f"operand '{item.rule.name}' of {entry.name} would overwrite code, a table or a parameter",
                phase,
                item,
                tile_of(tiles, row),
                self.memory.base + int(columns[column]) * 4,
            )


def operand_extents(
    entry: Kernel, extents: tuple[int, ...], scalars: Mapping[str, int | float]
) -> list[tuple[int, ...]]:
    """
    Extents of every operand (ins, then outs) for the extents of the kernel's axes.

    "..." in a kernel's axes stands for any number of them. Matrix kernels read and write whole passes: k and
    n are rounded up.
    """
    names = list(entry.axes)
    if "..." in names:
        at = names.index("...")
        names[at : at + 1] = [f"...{i}" for i in range(len(extents) - (len(names) - 1))]
    sizes = dict(zip(names, entry.padded(np.array(extents, np.int64)).tolist(), strict=True))
    found: list[tuple[int, ...]] = []
    for number, rule in enumerate((*entry.ins, *entry.outs)):
        axes: list[str] = []
        for axis in rule.axes:
            axes += [name for name in names if name.startswith("...")] if axis == "..." else [axis]
        if entry.name.startswith("reduce.") and number >= len(entry.ins):
            axes = axes[: len(axes) - int(scalars.get("reduced", 1))]
        found.append(tuple(sizes[name] for name in axes))
    return found


def order_problem(rule: OperandRule, operand: DecodedOperand, shape: tuple[int, ...]) -> str | None:
    """
    What is wrong with the order of an operand whose element order the kernel fixes, or None.

    Walks the digits of the rule from the innermost: the elements of an axis inside a block, or the whole
    axis, must follow each other at a stride of everything further in. Blocks further out may lie anywhere.
    """
    inner = 1
    for digit in reversed(rule.digits()):
        if digit.kind == "blocks":
            continue
        axis = rule.axes.index(digit.axis)
        at = offsets(operand.axes[axis], shape[axis])
        size = digit.size if digit.kind == "inside" else len(at)
        blocks = at.reshape(-1, size)
        if (blocks - blocks[:, :1] != np.arange(size) * inner).any():
            unit = f"blocks of {size}" if digit.kind == "inside" else "elements"
            return f"must be ordered '{rule.order}': {unit} of axis {digit.axis} need stride {inner}"
        inner *= size
    return None


def _flat_offsets(
    axes: tuple[tuple[tuple[int, int], ...], ...], extents: tuple[int, ...]
) -> npt.NDArray[np.int64]:
    """Element offset of every index, flattened in the order of the axes."""
    total = np.zeros((), np.int64)
    for axis, extent in zip(axes, extents, strict=True):
        total = total[..., None] + offsets(axis, extent)
    return total.reshape(-1)


def copied_runs(
    out_offsets: npt.NDArray[np.int64], in_offsets: npt.NDArray[np.int64], itemsize: int
) -> tuple[int, int]:
    """
    Bytes that a copy can move at once, at most 8 (a double word), and the number of runs that are contiguous
    on both sides: every run is a multiple of those bytes, and so is where it starts.
    """
    order = np.argsort(out_offsets, kind="stable")
    target, origin = out_offsets[order], in_offsets[order]
    starts = np.flatnonzero(np.concatenate(([True], (np.diff(target) != 1) | (np.diff(origin) != 1))))
    lengths = np.diff(np.append(starts, len(order)))
    sizes = np.concatenate((lengths, target[starts], origin[starts])) * itemsize
    return int(np.gcd.reduce(sizes, initial=8)), len(starts)


def _in_place(entry: Kernel, out: _Bound, source: _Bound) -> bool:
    """
    Whether the output lies exactly where the input lies, element by element (or on the first partial of a
    reduction).
    """
    if out.address != source.address or out.access.itemsize != source.access.itemsize:
        return False
    axes = source.operand.axes
    if entry.name == "reduce_partials":
        axes = axes[1:]
    return axes == out.operand.axes


def _absolute_words(item: _Bound) -> npt.NDArray[np.int64]:
    return item.address // 4 + item.access.touched()
