# SPDX-License-Identifier: Apache-2.0
"""
Executes a program image on the bytes of every tile and counts cycles.

The executor trusts nobody: it decodes the supervisor program, the argument tables and the exchange rows from
SRAM, checks every access against what has been written, and refuses what the machine would not do
(`IllegalProgram`: rule, tile, phase, address). Steps run one after another with a barrier between them; a
step takes as long as its slowest tile.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import Literal

import numpy as np
import numpy.typing as npt

from tilewright.backends import host
from tilewright.backends.image import (
    Debug,
    Decoded,
    DecodedCall,
    DecodedExchange,
    DecodedOperand,
    DecodedPatch,
    DecodedRepeat,
    DecodedTap,
    Image,
    decode_supervisor,
)
from tilewright.backends.program import ADDRESS_BITS, NO_POSITION, Binding, Code
from tilewright.diagnostics import TileError
from tilewright.machine import Machine
from tilewright.machine.kernels import Kernel, OperandRule, UnknownKernel, kernel
from tilewright.planning.dtypes import itemsize, numpy_dtype
from tilewright.planning.layout import Layout
from tilewright.planning.view import View
from tilewright.sim import fabric
from tilewright.sim.access import Access, Tiles, compile_access, gather, is_broadcast, offsets, scatter
from tilewright.sim.illegal import IllegalProgram
from tilewright.sim.kernels import semantics
from tilewright.sim.memory import FULL, Memory, poison_word
from tilewright.sim.relocate import Relocation

Category = Literal["compute", "exchange", "copy", "sync"]
COPY_KERNELS = ("copy", "widen", "narrow", "fill")
SUB_WORD_KERNELS = ("copy", "narrow", "softmax.exp")
"""
Kernels that read, modify and write words that they fill in part (and pay for it); all others store whole
words.
"""
PERSISTENT_BLOCK = 1 << 22
"""Words looked at at a time when receives are checked against what must not be overwritten."""
CHUNK_BYTES = 200 << 20
"""Bound of the temporaries of one kernel evaluation: tiles are taken in chunks that stay below it."""
ARITHMETIC_BYTES = 32
"""Temporaries per operand element while a kernel is evaluated (f64 intermediates)."""


class ExecutionError(TileError):
    """Inputs or parameters that do not fit the program."""


@dataclass(frozen=True)
class Step:
    """
    One executed step. `start` and `cycles` are on the clock of the whole run; a step of category "exchange"
    is followed by one of category "sync" for the phase overhead. `busy` is the mean over all tiles, `tiles`
    how many take part, `iteration` the iteration number of each enclosing repeat, `word` the supervisor word
    (position of the instruction in the program).
    """

    name: str
    category: Category
    provenance: str
    start: int
    cycles: int
    busy: float
    tiles: int
    iteration: tuple[int, ...]
    word: int
    slowest: int
    assumed: bool = False


@dataclass(frozen=True)
class RepeatCycles:
    """
    Cycles of a repeat (its first execution, when it is nested): the first iteration, and the mean of the
    others.
    """

    name: str
    count: int
    first: int
    per_iteration: float | None


@dataclass(frozen=True)
class Tapped:
    """A value seen while the program runs."""

    value: str
    iteration: tuple[int, ...]
    data: np.ndarray
    binding: Binding


@dataclass(eq=False)
class RunResult:
    """
    What a run gives back: outputs by name (logical arrays), cycles by category with "total" and
    "assumed_share", the steps.
    """

    outputs: dict[str, np.ndarray]
    cycles: dict[str, float]
    steps: tuple[Step, ...]
    repeats: tuple[RepeatCycles, ...]
    taps: tuple[Tapped, ...] = ()


TapCallback = Callable[[Tapped], None]


@dataclass(eq=False)
class _Phase:
    """Where execution is, for records and refusals."""

    name: str
    provenance: str
    word: int
    iteration: tuple[int, ...]

    def __str__(self) -> str:
        text = self.name
        if self.iteration:
            text += "[" + ",".join(map(str, self.iteration)) + "]"
        if self.provenance and self.provenance != self.name:
            text += f" ({self.provenance})"
        return text


@dataclass(frozen=True, eq=False)
class _Group:
    """Tiles with equal extents."""

    tiles: Tiles
    numbers: npt.NDArray[np.int64]
    extents: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Extents:
    """A decoded extents table: (tiles, axes), its groups of active tiles, how many are active."""

    table: npt.NDArray[np.int64]
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


@dataclass(eq=False)
class _Totals:
    cycles: dict[Category, int] = field(
        default_factory=lambda: {"compute": 0, "exchange": 0, "copy": 0, "sync": 0}
    )
    assumed: int = 0


class Executor:
    """
    Runs an image on a machine.

    `load` puts code, tables, constants and parameters in place once; every `run` then takes inputs and gives
    outputs, as often as wanted. `poison` fills all memory that nothing has written (see
    `memory.poison_word`).
    """

    def __init__(self, image: Image, machine: Machine, poison: float | None = None) -> None:
        if image.machine != machine.name:
            raise ExecutionError(f"the program is for machine '{image.machine}', not '{machine.name}'")
        self.image = image
        self.machine = machine
        self.poison = poison
        self.memory = Memory.of(machine, poison)
        self._debug: dict[int, Debug] = {entry.word: entry for entry in image.debug}
        self._code: dict[int, Code] = {code.address: code for code in image.code}
        self._loaded = False
        self._ran = False
        self._extents: dict[bytes, _Extents] = {}
        self._elements: dict[tuple[int, int], npt.NDArray[np.int64]] = {}
        self._phases: dict[tuple[int, bytes], fabric.Delivery] = {}
        self._runs: dict[tuple[object, ...], int] = {}
        self._relocations: dict[int, Relocation] = {}
        self._legal: set[tuple[object, ...]] = set()
        self._check_placement()

    # ------------------------------------------------------------------------------------------ loading

    def _check_placement(self) -> None:
        """Code, the supervisor program and rows are executed: they must lie in an executable region."""
        executed = [(f"code of {code.kernel}", code.address, code.nbytes) for code in self.image.code]
        executed += [
            (f"'{s.name}'", s.address, s.nbytes)
            for s in self.image.segments
            if s.category in ("rows", "code") and s.nbytes
        ]
        for name, address, nbytes in executed:
            region = self.machine.region_of(address)
            if region is None or not region.executable or address + nbytes > region.end:
                raise IllegalProgram(
                    f"{name} takes {nbytes} bytes at {address:#x}, outside the executable region",
                    rule="code outside the executable region",
                    address=address,
                )
        for segment in self.image.segments:
            if not self.memory.inside(segment.address, segment.nbytes):
                raise IllegalProgram(
                    f"'{segment.name}' takes {segment.nbytes} bytes",
                    rule="address out of range",
                    address=segment.address,
                )
            if segment.words.shape[0] not in (1, self.machine.tiles):
                raise ExecutionError(
                    f"table '{segment.name}' is for {segment.words.shape[0]} tiles, "
                    f"the machine has {self.machine.tiles}"
                )

    def load(self, parameters: Mapping[str, np.ndarray] | None = None) -> None:
        """
        Place code, tables, constants and parameters (logical arrays by tensor name; the host quantises and
        packs them).
        """
        parameters = parameters or {}
        if self._loaded:
            self.memory = Memory.of(self.machine, self.poison)
        everyone = slice(None)
        for segment in self.image.segments:
            if segment.nbytes:
                raw = np.ascontiguousarray(segment.words).view(np.uint8)
                self.memory.store(everyone, segment.address, raw)
                self._keep(everyone, segment.address, segment.nbytes)
        for code in self.image.code:
            # No machine code exists for the modelled kernels; its place is taken all the same.
            first, last = (
                (code.address - self.memory.base) // 4,
                -(-(code.address + code.nbytes - self.memory.base) // 4),
            )
            self.memory.persistent[:, first:last] = True
        constants = {constant.name: constant.data for constant in self.image.constants}
        for binding in self.image.bindings:
            if binding.kind not in ("parameter", "constant"):
                continue
            source = parameters if binding.kind == "parameter" else constants
            names = _members(binding)
            if len(names) != binding.count:
                raise ExecutionError(
                    f"'{binding.name}' has {binding.count} members but names {len(names)} tensors"
                )
            for member, name in enumerate(names):
                if name not in source:
                    raise ExecutionError(
                        f"{binding.kind} '{name}' is missing",
                        notes=[f"the program needs it for '{binding.name}'"],
                    )
                self._write(binding, np.asarray(source[name]), name, member, keep=True)
        self._loaded = True
        self._ran = False

    def _keep(self, tiles: Tiles, address: int, nbytes: int) -> None:
        first = (address - self.memory.base) // 4
        self.memory.persistent[tiles, first : first + nbytes // 4] = True

    def _write(self, binding: Binding, array: np.ndarray, name: str, member: int, keep: bool) -> None:
        """Pack a logical array into the binding's place."""
        layout, view = _parse_layout(binding.layout), _parse_view(binding.view)
        if tuple(array.shape) != tuple(binding.shape):
            raise ExecutionError(
                f"{binding.kind} '{name}' has shape {tuple(array.shape)}, "
                f"the program wants {tuple(binding.shape)}"
            )
        address = binding.address + member * binding.stride
        shards, sizes = host.pack(
            array.reshape(view.shape), layout, view, binding.dtype, binding.scale, self.memory.tiles
        )
        if address % 4:
            raise IllegalProgram(
                f"'{binding.name}' is not at a word", rule="misaligned access", address=address
            )
        for size in np.unique(sizes[sizes > 0]).tolist():
            tiles = _as_tiles(np.flatnonzero(sizes == size))
            if not self.memory.inside(address, size):
                raise IllegalProgram(
                    f"'{name}' takes {size} bytes", rule="address out of range", address=address
                )
            first = (address - self.memory.base) // 4
            if self.memory.persistent[tiles, first : first + size // 4].any():
                raise IllegalProgram(
                    f"'{name}' would overwrite code, tables or other parameters",
                    rule="two writers",
                    address=address,
                )
            self.memory.store(tiles, address, shards[tiles, :size])
            if keep:
                self._keep(tiles, address, size)

    def read(
        self, binding: Binding, member: int = 0, *, raw: bool = False, phase: str | None = None
    ) -> np.ndarray:
        """The logical array of a binding as it lies in SRAM now; refuses contents that were never written."""
        layout, view = _parse_layout(binding.layout), _parse_view(binding.view)
        address = binding.address + member * binding.stride
        size = itemsize(binding.dtype)
        packing = host.packing(layout, view, size, self.memory.tiles)
        nbytes = packing.shard * size
        if not self.memory.inside(address, nbytes):
            raise IllegalProgram(
                f"'{binding.name}' takes {nbytes} bytes", rule="address out of range", address=address
            )
        start = address - self.memory.base
        self._check_host_read(binding, packing, address, size, phase)
        shards = self.memory.data[:, start : start + nbytes]
        values = host.unpack(shards, layout, view, binding.dtype, binding.scale, raw=raw)
        return values.reshape(binding.shape)

    def _check_host_read(
        self, binding: Binding, packing: host.Packing, address: int, size: int, phase: str | None
    ) -> None:
        """Every element that the host reads must have been written."""
        part, inner = np.divmod(packing.positions.reshape(-1), packing.shard)
        tile = packing.rows[part, 0] if part.size else part
        byte = address - self.memory.base + inner.astype(np.int64) * size
        state = self.memory.valid[tile, byte // 4]
        need = (((1 << size) - 1) << (byte % 4)).astype(np.int64) & FULL
        bad = np.flatnonzero(need & ~state.astype(np.int64))
        if bad.size:
            first = int(bad[0])
            raise IllegalProgram(
                f"'{binding.name}' is read back, but element {first} was never written",
                rule="read of unwritten memory",
                tile=int(tile[first]),
                phase=phase or "read back",
                address=int(byte[first]) + self.memory.base,
            )

    # ------------------------------------------------------------------------------------------ running

    def run(
        self, inputs: Mapping[str, np.ndarray] | None = None, tap: TapCallback | None = None
    ) -> RunResult:
        """
        One run: write the inputs (logical arrays by binding name), execute, read the outputs back.

        `tap` is called with every tapped value when it is complete; without it taps cost nothing.
        """
        if not self._loaded:
            raise ExecutionError("the program's parameters have not been loaded")
        if self._ran:
            self._forget()
        self._ran = True
        inputs = inputs or {}
        for binding in self.image.bindings:
            if binding.kind == "input":
                for member, name in enumerate(_members(binding)):
                    if name not in inputs:
                        raise ExecutionError(f"input '{name}' is missing")
                    self._write(binding, np.asarray(inputs[name]), name, member, keep=False)
        self._totals = _Totals()
        self._steps: list[Step] = []
        self._repeats: list[RepeatCycles] = []
        self._taps: list[Tapped] = []
        self._tap = tap
        self._clock = 0
        self._body(self._decode(), ())
        outputs: dict[str, np.ndarray] = {}
        for binding in self.image.bindings:
            if binding.kind == "output":
                for member, name in enumerate(_members(binding)):
                    outputs[name] = self.read(binding, member)
        cycles: dict[str, float] = {"total": self._clock, **self._totals.cycles}
        cycles["assumed_share"] = self._totals.assumed / self._clock if self._clock else 0.0
        return RunResult(outputs, cycles, tuple(self._steps), tuple(self._repeats), tuple(self._taps))

    def _forget(self) -> None:
        """A new run starts from what was loaded: what the last one left behind counts as never written."""
        memory = self.memory
        np.multiply(memory.persistent, FULL, out=memory.valid, dtype=np.uint8, casting="unsafe")
        for code in self.image.code:
            first = (code.address - memory.base) // 4
            memory.valid[:, first : first + -(-code.nbytes // 4)] = 0
        if self.poison is not None:
            word = poison_word(self.poison)
            for tile in range(
                memory.tiles
            ):  # row by row: a mask of all tiles at once would be as big as the SRAM
                memory.words[tile][~memory.persistent[tile]] = word

    def _decode(self) -> tuple[Decoded, ...]:
        address, count = self.image.supervisor
        words = self._table(address, count, _Phase("supervisor program", "", 0, ()))
        differs = np.flatnonzero((words != words[0]).any(axis=1))
        if differs.size:
            raise IllegalProgram(
                "the supervisor program differs from tile 0's",
                rule="supervisor programs differ",
                tile=int(differs[0]),
                address=address,
            )
        return decode_supervisor(words[0], self.image.scalar_names)

    def _phase(self, word: int, iteration: tuple[int, ...]) -> _Phase:
        entry = self._debug.get(word)
        if entry is None:
            return _Phase(f"word {word}", "", word, iteration)
        return _Phase(entry.name, entry.provenance, word, iteration)

    def _body(self, body: tuple[Decoded, ...], iteration: tuple[int, ...]) -> None:
        for instruction in body:
            match instruction:
                case DecodedCall():
                    self._call(instruction, iteration)
                case DecodedExchange():
                    self._exchange(instruction, iteration)
                case DecodedRepeat():
                    self._repeat(instruction, iteration)
                case DecodedTap():
                    self._take_tap(instruction, iteration)

    def _record(
        self,
        phase: _Phase,
        category: Category,
        cycles: npt.NDArray[np.int64] | int,
        assumed: bool = False,
        active: int | None = None,
    ) -> None:
        """Account a step: `cycles` per tile, or one number for all."""
        if isinstance(cycles, int | np.integer):
            worst, busy, slowest, tiles = int(cycles), float(cycles), 0, self.memory.tiles
        else:
            slowest = int(cycles.argmax())
            worst, busy, tiles = int(cycles[slowest]), float(cycles.mean()), int(np.count_nonzero(cycles))
        self._steps.append(
            Step(
                phase.name,
                category,
                phase.provenance,
                self._clock,
                worst,
                busy,
                tiles if active is None else active,
                phase.iteration,
                phase.word,
                slowest,
                assumed,
            )
        )
        self._clock += worst
        self._totals.cycles[category] += worst
        if assumed:
            self._totals.assumed += worst

    def _table(self, address: int, width: int, phase: _Phase) -> npt.NDArray[np.uint32]:
        """Words of a table on all tiles, (tiles, width), checked to be written."""
        if address % 4 or not self.memory.inside(address, width * 4):
            raise IllegalProgram(
                f"a table of {width} words does not fit here",
                rule="address out of range",
                phase=str(phase),
                address=address,
            )
        first = (address - self.memory.base) // 4
        if width and not (self.memory.valid[:, first : first + width] & FULL == FULL).all():
            row, at, _ = self.memory.invalid(slice(None), address, width * 4) or (0, address, False)
            raise IllegalProgram(
                "a table is not there",
                rule="read of unwritten memory",
                tile=row,
                phase=str(phase),
                address=at,
            )
        return self.memory.words[:, first : first + width]

    # ------------------------------------------------------------------------------------------ repeats and
    # taps

    def _repeat(self, repeat: DecodedRepeat, iteration: tuple[int, ...]) -> None:
        phase = self._phase(repeat.word, iteration)
        first = 0
        start = self._clock
        originals: list[
            tuple[DecodedPatch, npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint32]]
        ] = []
        for patch in repeat.patches if repeat.count else ():
            tile, word = self._patched_words(patch, phase)
            originals.append((patch, tile, word, self.memory.words[tile, word].copy()))
        for number in range(repeat.count):
            self._body(repeat.body, (*iteration, number))
            if number == 0:
                first = self._clock - start
            if number + 1 < repeat.count:
                for patch, tile, word, _ in originals:
                    self._apply_patch(patch, tile, word, phase)
        for patch, tile, word, words in originals:
            self.memory.words[tile, word] = words
            if repeat.count > 1:
                self._record_patch(patch, tile, phase)
        if not any(iteration):
            rest = (self._clock - start - first) / (repeat.count - 1) if repeat.count > 1 else None
            self._repeats.append(RepeatCycles(phase.name, repeat.count, first, rest))

    def _patched_words(
        self, patch: DecodedPatch, phase: _Phase
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """(tile, word number in SRAM) of the row words that a patch changes."""
        positions = self._table(patch.positions, patch.count, phase)
        self._table(patch.rows, patch.width, phase)
        tile, entry = np.nonzero(positions != NO_POSITION)
        word = positions[tile, entry].astype(np.int64)
        outside = np.flatnonzero(word >= patch.width)
        if outside.size:
            raise IllegalProgram(
                f"a patch names word {int(word[outside[0]])} of a row of {patch.width}",
                rule="address out of range",
                tile=int(tile[outside[0]]),
                phase=str(phase),
                address=patch.positions,
            )
        return tile, word + (patch.rows - self.memory.base) // 4

    def _apply_patch(
        self, patch: DecodedPatch, tile: npt.NDArray[np.int64], word: npt.NDArray[np.int64], phase: _Phase
    ) -> None:
        words = self.memory.words[tile, word].astype(np.int64)
        limit = 1 << ADDRESS_BITS
        value = (words >> patch.shift) % limit + patch.delta_words
        outside = np.flatnonzero((value < 0) | (value >= limit))
        if outside.size:
            at = int(outside[0])
            raise IllegalProgram(
                f"a patch moves an address field to {int(value[at])} words",
                rule="address out of range",
                tile=int(tile[at]),
                phase=str(phase),
                address=self.memory.base + int(word[at]) * 4,
            )
        mask = (limit - 1) << patch.shift
        self.memory.words[tile, word] = (words & ~mask & 0xFFFFFFFF | value << patch.shift).astype(np.uint32)
        self._record_patch(patch, tile, phase)

    def _record_patch(self, patch: DecodedPatch, tile: npt.NDArray[np.int64], phase: _Phase) -> None:
        """Patching costs each tile its own number of words."""
        counts = np.bincount(tile, minlength=self.memory.tiles)
        step = _Phase(f"{phase.name}: patch rows", phase.provenance, phase.word, phase.iteration)
        self._record(
            step, "copy", self.machine.patch_cycles(counts), kernel("patch_rows").evidence == "assumed"
        )

    def _take_tap(self, tap: DecodedTap, iteration: tuple[int, ...]) -> None:
        if self._tap is None:
            return
        entry = self.image.taps[tap.number]
        binding = self.image.binding(entry.binding)
        member = iteration[-1] if binding.count > 1 and iteration else 0
        data = self.read(binding, member, phase=str(self._phase(tap.word, iteration)))
        tapped = Tapped(entry.value, iteration, data, binding)
        self._taps.append(tapped)
        self._tap(tapped)

    # ------------------------------------------------------------------------------------------ exchange

    def _exchange(self, exchange: DecodedExchange, iteration: tuple[int, ...]) -> None:
        phase = self._phase(exchange.word, iteration)
        words = self._table(exchange.rows, exchange.width, phase)
        delivery = self._deliver(words, exchange.rows, phase)
        fabric.require_written(delivery, self.memory.valid, FULL, str(phase))
        fabric.move(delivery, self.memory.data)
        fabric.mark_written(delivery, self.memory.valid, FULL)
        ends = np.asarray(delivery.end_cycle, np.int64)
        if len(delivery.nwords) or int(ends.max(initial=0)) > 1:
            self._record(phase, "exchange", ends)
            self._record(phase, "sync", int(self.machine.phase_overhead))

    def _deliver(self, words: npt.NDArray[np.uint32], rows: int, phase: _Phase) -> fabric.Delivery:
        """Rows are decoded, and what does not depend on contents is checked, once for the same words."""
        key = (rows, hashlib.blake2b(np.ascontiguousarray(words).data, digest_size=16).digest())
        if key in self._phases:
            return self._phases[key]
        known = self._relocations.get(rows)
        if known is not None and (moved := known.deliver(words)) is not None:
            return moved
        delivery = fabric.deliver(words, self.machine, address=rows, phase=str(phase))
        self._refuse_persistent(delivery, phase)
        if known is None:
            # Patched contents are not kept: they are many, and the first of them and a pattern give the
            # others.
            self._phases[key] = delivery
            self._relocations[rows] = Relocation(words, delivery, rows, self.machine)
        else:
            known.learn(words, delivery)
        return delivery

    def _refuse_persistent(self, delivery: fabric.Delivery, phase: _Phase) -> None:
        """Code, tables and parameters outlive a phase: no receive may touch them."""
        flat = self.memory.persistent.reshape(-1)
        for size in np.unique(delivery.nwords).tolist():
            pieces = np.flatnonzero(delivery.nwords == size)
            start = delivery.destination[pieces]
            step = max(1, PERSISTENT_BLOCK // size)
            for first in range(0, len(pieces), step):
                part = start[first : first + step, None] + np.arange(size)
                hit = flat[part]
                if hit.any():
                    row, word = (int(index[0]) for index in np.nonzero(hit))
                    piece = int(pieces[first + row])
                    raise IllegalProgram(
                        "a receive would overwrite code, a table or a parameter",
                        rule="two writers",
                        tile=int(delivery.dst_tile[piece]),
                        phase=str(phase),
                        cycle=int(delivery.landed[piece]) + word,
                        address=int(delivery.dst_address[piece]) + 4 * word,
                    )

    # ------------------------------------------------------------------------------------------ kernel calls

    def _call(self, call: DecodedCall, iteration: tuple[int, ...]) -> None:
        phase = self._phase(call.word, iteration)
        code = self._code.get(call.code)
        if code is None:
            raise IllegalProgram(
                "no kernel's code is here", rule="call of no kernel", phase=str(phase), address=call.code
            )
        try:
            entry = kernel(code.kernel)
        except UnknownKernel as error:
            raise IllegalProgram(
                str(error), rule="call of no kernel", phase=str(phase), address=call.code
            ) from None
        phase.name = code.kernel
        extents = self._group(call, phase)
        scalars = dict(call.scalars)
        dtypes = tuple(operand.dtype for operand in (*call.ins, *call.outs))
        if (len(call.ins), len(call.outs)) != (len(entry.ins), len(entry.outs)):
            raise IllegalProgram(
                f"{code.kernel} takes {len(entry.ins)} inputs and {len(entry.outs)} outputs, "
                f"the call has {len(call.ins)} and {len(call.outs)}",
                rule="call of no kernel",
                phase=str(phase),
            )
        function = semantics(code.kernel)
        cycles = np.zeros(self.memory.tiles, np.int64)
        for group in extents.groups:
            bound = self._bind(call, entry, group, scalars, iteration, phase)
            self._evaluate(call, entry, group, bound, scalars, function, phase)
            facts = {**scalars, **self._placement_scalars(entry, bound)}
            cycles[group.numbers] = entry.cycles(np.array([group.extents]), dtypes, facts)[0]
        category: Category = "copy" if code.kernel in COPY_KERNELS else "compute"
        self._record(phase, category, cycles, entry.evidence_of(dtypes) == "assumed", extents.active)

    def _group(self, call: DecodedCall, phase: _Phase) -> _Extents:
        table = self._table(call.extents, call.extent_axes, phase)
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
                groups.append(_Group(_as_tiles(numbers), numbers, tuple(int(value) for value in row)))
        values = np.where((values > 0).all(axis=1, keepdims=True), values, 0)
        found = _Extents(values, tuple(groups), int(active.size))
        self._extents[key] = found
        return found

    def _bind(
        self,
        call: DecodedCall,
        entry: Kernel,
        group: _Group,
        scalars: dict[str, int | float],
        iteration: tuple[int, ...],
        phase: _Phase,
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
            access = compile_access(operand.axes, shape, itemsize(operand.dtype), address % 4)
            bound.append(_Bound(operand, rule, shape, address, access))
        self._check_operands(call, entry, group, bound, phase)
        return bound

    def _placement_scalars(self, entry: Kernel, bound: list[_Bound]) -> dict[str, int]:
        """
        Arguments of the cost that follow from where the operands lie; whatever the call claims about them is
        not believed.
        """
        if "weights_standard" in entry.scalars:
            region = self.machine.region_of(bound[1].address)
            return {"weights_standard": int(region is not None and region.interleave == 1)}
        if "run_bytes" in entry.scalars:
            return {"run_bytes": self._copied_run(bound)}
        return {}

    def _copied_run(self, bound: list[_Bound]) -> int:
        source, out = bound
        key = (source.operand.axes, out.operand.axes, out.extents, out.access.itemsize)
        if key not in self._runs:
            shape = out.extents
            tables = [_flat_offsets(item.operand.axes, shape) for item in (out, source)]
            self._runs[key] = copied_run(tables[0], tables[1], out.access.itemsize)
        return gcd(self._runs[key], out.address, source.address)

    def _evaluate(
        self,
        call: DecodedCall,
        entry: Kernel,
        group: _Group,
        bound: list[_Bound],
        scalars: dict[str, int | float],
        function: Callable[..., list[np.ndarray]],
        phase: _Phase,
    ) -> None:
        sources, targets = bound[: len(call.ins)], bound[len(call.ins) :]
        per_tile = sum(item.access.elements * (item.access.itemsize + ARITHMETIC_BYTES) for item in bound)
        chunk = max(1, CHUNK_BYTES // max(per_tile, 1))
        outs_dtype = tuple(item.operand.dtype for item in targets)
        for first in range(0, len(group.numbers), chunk):
            numbers = group.numbers[first : first + chunk]
            tiles = group.tiles if len(numbers) == len(group.numbers) else _as_tiles(numbers)
            arrays: list[np.ndarray] = []
            for item in sources:
                self._check_read(tiles, item, entry, phase)
                at = item.address - self.memory.base
                raw = gather(self.memory.data, tiles, at, item.access)
                arrays.append(raw.view(numpy_dtype(item.operand.dtype)))
            for item in targets:
                self._check_write(tiles, item, entry, phase)
            results = function(arrays, outs_dtype, scalars, group.extents)
            for item, values in zip(targets, results, strict=True):
                self._store(tiles, item, values, entry, phase)

    def _store(self, tiles: Tiles, item: _Bound, values: np.ndarray, entry: Kernel, phase: _Phase) -> None:
        expected = np.dtype(numpy_dtype(item.operand.dtype))
        count = len(_numbers(tiles, self.memory.tiles))
        if values.shape[0] != count:  # a kernel without inputs does not know the tiles
            values = np.broadcast_to(values, (count, *values.shape[1:]))
        shape = (count, *item.access.shape)
        if values.dtype != expected or values.size != int(np.prod(shape)):
            raise TypeError(
                f"{entry.name} gave {values.dtype}{values.shape}, its operand is {expected}{shape}"
            )
        raw = np.ascontiguousarray(values).view({1: np.uint8, 2: np.uint16, 4: np.uint32}[expected.itemsize])
        scatter(self.memory.data, tiles, item.address - self.memory.base, item.access, raw.reshape(shape))
        self._mark(tiles, item, entry.name in SUB_WORD_KERNELS)

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
        index = _cross(tiles, columns[whole], self.memory.tiles)
        valid[index] = FULL
        if not whole.all():
            index = _cross(tiles, columns[~whole], self.memory.tiles)
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
        phase: _Phase,
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
        self, call: DecodedCall, entry: Kernel, group: _Group, bound: list[_Bound], phase: _Phase
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
            low, high = item.address + access.low, item.address + access.high
            if not self.memory.inside(low, high + rule.tail - low):
                raise self._refuse(
                    "address out of range",
                    f"{name} reaches from {low:#x} to {high + rule.tail:#x}",
                    phase,
                    item,
                    tile,
                )
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

    def _check_overlaps(
        self, call: DecodedCall, entry: Kernel, bound: list[_Bound], phase: _Phase, tile: int
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
        key = (item.address, id(access))
        found = self._elements.get(key)
        if found is None:
            if access.words is None:
                addresses = np.arange((item.address + access.low) // 64 * 64, item.address + access.high, 64)
            else:
                addresses = (item.address // 4 + access.words) * 4
            found = np.unique(self.machine.element_index(addresses))
            self._elements[key] = found
        return found

    def _check_read(self, tiles: Tiles, item: _Bound, entry: Kernel, phase: _Phase) -> None:
        access, valid = item.access, self.memory.valid
        base = (item.address - self.memory.base) // 4
        if access.words is None or access.masks is None:
            window = valid[tiles, base + access.low // 4 : base + access.high // 4]
            bad = window & FULL != FULL
            columns = np.arange(base + access.low // 4, base + access.high // 4)
            masks = np.full(len(columns), FULL, np.uint8)
        else:
            columns, masks = base + access.words, access.masks
            window = valid[_cross(tiles, columns, self.memory.tiles)]
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
            _tile(tiles, row),
            self.memory.base + int(columns[column]) * 4 + byte,
        )

    def _check_write(self, tiles: Tiles, item: _Bound, entry: Kernel, phase: _Phase) -> None:
        columns = (item.address - self.memory.base) // 4 + item.access.touched()
        if item.access.words is None and columns.size:
            window = self.memory.persistent[tiles, columns[0] : columns[-1] + 1]
        else:
            window = self.memory.persistent[_cross(tiles, columns, self.memory.tiles)]
        if window.any():
            row, column = (int(index[0]) for index in np.nonzero(window))
            raise self._refuse(
                "two writers",
                f"operand '{item.rule.name}' of {entry.name} would overwrite code, a table or a parameter",
                phase,
                item,
                _tile(tiles, row),
                self.memory.base + int(columns[column]) * 4,
            )


# ---------------------------------------------------------------------------------------------- free
# functions


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


def copied_run(out_offsets: npt.NDArray[np.int64], in_offsets: npt.NDArray[np.int64], itemsize: int) -> int:
    """
    Bytes that a copy can move at once, at most 8 (a double word): every run that is contiguous on both sides
    is a multiple of it, and so is where it starts.
    """
    order = np.argsort(out_offsets, kind="stable")
    target, origin = out_offsets[order], in_offsets[order]
    starts = np.flatnonzero(np.concatenate(([True], (np.diff(target) != 1) | (np.diff(origin) != 1))))
    lengths = np.diff(np.append(starts, len(order)))
    sizes = np.concatenate((lengths, target[starts], origin[starts])) * itemsize
    return int(np.gcd.reduce(sizes, initial=8))


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


def _as_tiles(numbers: npt.NDArray[np.int64]) -> Tiles:
    """A slice when the tiles are evenly spaced, which spares numpy a copy."""
    if len(numbers) == 1:
        return slice(int(numbers[0]), int(numbers[0]) + 1)
    steps = np.diff(numbers)
    if len(steps) and (steps == steps[0]).all() and steps[0] > 0:
        return slice(int(numbers[0]), int(numbers[-1]) + 1, int(steps[0]))
    return numbers


def _members(binding: Binding) -> tuple[str, ...]:
    """Names of the tensors of a binding, one for each member."""
    return binding.tensors or (binding.name,) * (binding.count == 1)


def _tile(tiles: Tiles, row: int) -> int:
    if isinstance(tiles, slice):
        return (tiles.start or 0) + row * (tiles.step or 1)
    return int(tiles[row])


def _numbers(tiles: Tiles, total: int) -> npt.NDArray[np.int64]:
    return np.arange(*tiles.indices(total)) if isinstance(tiles, slice) else tiles


def _cross(
    tiles: Tiles, columns: npt.NDArray[np.int64], total: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return _numbers(tiles, total)[:, None], columns[None, :]


_LAYOUTS: dict[str, Layout] = {}
_VIEWS: dict[str, View] = {}


def _parse_layout(text: str) -> Layout:
    if text not in _LAYOUTS:
        _LAYOUTS[text] = Layout.parse(text)
    return _LAYOUTS[text]


def _parse_view(text: str) -> View:
    if text not in _VIEWS:
        _VIEWS[text] = View.parse(text)
    return _VIEWS[text]
