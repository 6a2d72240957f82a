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
from collections.abc import Callable, Collection, Mapping

import numpy as np
import numpy.typing as npt

from tilewright.backends import host
from tilewright.backends.image import Debug, Image
from tilewright.backends.program import Binding, places
from tilewright.diagnostics import TileError
from tilewright.instrumentation import advance
from tilewright.machine import Machine, load, names, split_reference
from tilewright.machine.dtypes import itemsize, numpy_dtype
from tilewright.machine.kernels.measurements import evidence
from tilewright.sim import fabric, families
from tilewright.sim.access import Tiles, as_tiles
from tilewright.sim.accounts import Accounts, Observer
from tilewright.sim.calls import Calls
from tilewright.sim.illegal import IllegalProgram
from tilewright.sim.memory import FULL, Memory, poison_word
from tilewright.sim.patches import RowPatches
from tilewright.sim.phase import Phase, read_table
from tilewright.sim.placement import check_executed, check_image
from tilewright.sim.relocate import Relocation
from tilewright.sim.results import Category, RepeatCycles, RunResult, Tapped
from tilewright.sim.supervisor import (
    MOST_STEPS,
    Decoded,
    DecodedCall,
    DecodedExchange,
    DecodedRepeat,
    DecodedTap,
    decode_supervisor,
    executed,
    walk,
)

PERSISTENT_BLOCK = 1 << 22
"""Words looked at at a time when receives are checked against what must not be overwritten."""


class ExecutionError(TileError):
    """Inputs or parameters that do not fit the program."""


TapCallback = Callable[[Tapped], None]


def _check_machine(reference: str, machine: Machine) -> None:
    """Refuse an image for a machine of other content than `machine`; what either calls it is a label."""
    name, digest = split_reference(reference)
    if digest is None and name in names():
        digest = load(name).digest
    if digest is None or not machine.digest.startswith(digest):
        raise ExecutionError(f"the program is for machine '{reference}', not '{machine.reference}'")


class Executor:
    """
    Runs an image on a machine.

    `load` puts code, tables, constants and parameters in place once; every `run` then takes inputs and gives
    outputs, as often as wanted. `poison` fills all memory that nothing has written (see
    `memory.poison_word`). `most_steps` bounds the instructions of a run. `observer`, which may be set between
    runs, is told what they execute.
    """

    def __init__(
        self, image: Image, machine: Machine, poison: float | None = None, *, most_steps: int = MOST_STEPS
    ) -> None:
        if image.machine != machine.reference:
            _check_machine(image.machine, machine)
        self.image = image
        self.machine = machine
        check_image(image, machine)
        self.poison = poison
        self.most_steps = most_steps
        self.observer: Observer | None = None
        self.memory = Memory.of(machine, poison)
        self._debug: dict[int, Debug] = {entry.word: entry for entry in image.debug}
        self._loaded = False
        self._ran = False
        self._calls = self._new_calls()
        self._phases: dict[tuple[int, bytes], fabric.Delivery] = {}
        self._relocations: dict[int, Relocation] = {}
        self._rows_placed: set[tuple[int, int]] = set()
        self._decoded: tuple[bytes, tuple[Decoded, ...]] | None = None

    def _new_calls(self) -> Calls:
        return Calls(self.memory, self.machine, {code.address: code for code in self.image.code})

    # ------------------------------------------------------------------------------------------ loading

    def load(self, parameters: Mapping[str, np.ndarray] | None = None) -> None:
        """
        Place code, tables, constants and parameters (logical arrays by tensor name; the host quantises and
        packs them).
        """
        parameters = parameters or {}
        if self._loaded:
            self.memory = Memory.of(self.machine, self.poison)
            self._decoded = None
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
            for member, name in enumerate(_members(binding)):
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
        layout, view = places(binding.layout, binding.view)
        _require_shape(binding, name, array, view.shape)
        address = binding.address + member * binding.stride
        shards, sizes = host.pack(array, layout, view, binding.dtype, binding.scale, self.memory.tiles)
        for size in np.unique(sizes[sizes > 0]).tolist():
            tiles = as_tiles(np.flatnonzero(sizes == size))
            first = (address - self.memory.base) // 4
            words = slice(first, first + size // 4)
            if self.memory.persistent[tiles, words].any() or self.memory.valid[tiles, words].any():
                raise IllegalProgram(
                    f"'{name}' would overwrite code, tables, parameters or another input",
                    rule="two writers",
                    phase="load" if keep else "inputs",
                    address=address,
                )
            self.memory.store(tiles, address, shards[tiles, :size])
            if keep:
                self._keep(tiles, address, size)

    def read(
        self, binding: Binding, member: int = 0, *, raw: bool = False, phase: str | None = None
    ) -> np.ndarray:
        """The logical array of a binding as it lies in SRAM now; refuses contents that were never written."""
        layout, view = places(binding.layout, binding.view)
        address = binding.address + member * binding.stride
        size = itemsize(binding.dtype)
        packing = host.packing(layout, view, size, self.memory.tiles)
        nbytes = packing.shard * size
        start = address - self.memory.base
        self._check_host_read(binding, packing, address, size, phase)
        shards = self.memory.data[:, start : start + nbytes]
        values = host.unpack(shards, layout, view, binding.dtype, binding.scale, raw=raw)
        return values.reshape(view.shape)

    def _read_all(self, binding: Binding) -> np.ndarray:
        """An output; a sequence has leading axes of members."""
        if not binding.count:
            kind = np.dtype(numpy_dtype(binding.dtype))
            return np.empty(binding.shape, kind if kind.kind in "iub" else np.float32)
        return np.stack([self.read(binding, member) for member in range(binding.count)]).reshape(
            binding.shape
        )

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
        self,
        inputs: Mapping[str, np.ndarray] | None = None,
        tap: TapCallback | None = None,
        values: Collection[str] | None = None,
    ) -> RunResult:
        """
        One run: write the inputs (logical arrays by binding name), execute, read the outputs back.

        `tap` is called with every tapped value when it is complete, or only with those called `values`;
        without it taps cost nothing.
        """
        if not self._loaded:
            raise ExecutionError("the program's parameters have not been loaded")
        if self._ran:
            self._forget()
        self._ran = True
        inputs = inputs or {}
        for binding in self.image.bindings:
            if binding.kind == "input":
                name = _host_name(binding)
                if name not in inputs:
                    raise ExecutionError(f"input '{name}' is missing")
                array = np.asarray(inputs[name])
                _require_shape(binding, name, array, binding.shape)
                parts = array.reshape(binding.count, *places(binding.layout, binding.view)[1].shape)
                for member, part in enumerate(parts):
                    self._write(binding, part, name, member, keep=False)
        self._accounts = Accounts(self.memory.tiles, self.observer)
        self._repeats: list[RepeatCycles] = []
        self._taps: list[Tapped] = []
        self._tap, self._tapped = tap, values
        body = self._decode()
        self._done, self._total = 0, executed(body)
        self._body(body, ())
        self._accounts.barrier()
        outputs: dict[str, np.ndarray] = {}
        for binding in self.image.bindings:
            if binding.kind == "output":
                outputs[_host_name(binding)] = self._read_all(binding)
        cycles: dict[str, float] = {"total": self._accounts.clock, **self._accounts.cycles}
        rests_on = self._accounts.evidence
        cycles["assumed_share"] = rests_on["assumed"] / self._accounts.clock if self._accounts.clock else 0.0
        return RunResult(
            outputs, cycles, tuple(self._accounts.steps), tuple(self._repeats), tuple(self._taps), rests_on
        )

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
        words = read_table(self.memory, address, count, Phase("supervisor program", "", 0, ()))
        differs = np.flatnonzero((words != words[0]).any(axis=1))
        if differs.size:
            raise IllegalProgram(
                "the supervisor program differs from tile 0's",
                rule="supervisor programs differ",
                tile=int(differs[0]),
                address=address,
            )
        raw = words[0].tobytes()
        if self._decoded is None or self._decoded[0] != raw:
            body = decode_supervisor(
                words[0],
                self.image.scalar_names,
                taps=len(self.image.taps),
                address=address,
                most_steps=self.most_steps,
            )
            self._calls = self._new_calls()
            for instruction in walk(body):
                if isinstance(instruction, DecodedCall):
                    self._calls.check(instruction, self._phase(instruction.word, ()))
                elif isinstance(instruction, DecodedRepeat):
                    self._check_patches(instruction)
            self._decoded = raw, body
        return self._decoded[1]

    def _check_patches(self, repeat: DecodedRepeat) -> None:
        """What a repeat patches are rows that its body executes, and nothing else."""
        executed = {(i.rows, i.width) for i in walk(repeat.body) if isinstance(i, DecodedExchange)}
        for patch in repeat.patches:
            if (patch.rows, patch.width) not in executed:
                raise IllegalProgram(
                    f"a patch changes {patch.width} words that no exchange of the repeat executes",
                    rule="bad patch",
                    phase=str(self._phase(repeat.word, ())),
                    address=patch.rows,
                )

    def _phase(self, word: int, iteration: tuple[int, ...]) -> Phase:
        entry = self._debug.get(word)
        if entry is None:
            return Phase(f"word {word}", "", word, iteration)
        return Phase(entry.name, entry.provenance, word, iteration)

    def _body(self, body: tuple[Decoded, ...], iteration: tuple[int, ...]) -> None:
        for instruction in body:
            self._advance()
            match instruction:
                case DecodedCall():
                    phase = self._phase(instruction.word, iteration)
                    called = self._calls.run(instruction, iteration, phase)
                    category: Category = (
                        "copy" if self.machine.family.kernel(called.kernel).moves else "compute"
                    )
                    self._accounts.record(phase, category, called.cycles, called.evidence, called.active)
                case DecodedExchange():
                    self._exchange(instruction, iteration)
                case DecodedRepeat():
                    self._repeat(instruction, iteration)
                case DecodedTap():
                    self._take_tap(instruction, iteration)

    def _advance(self) -> None:
        advance(self._done, self._total)
        self._done += 1

    # ----------------------------------------------------------------------------------- repeats and taps

    def _repeat(self, repeat: DecodedRepeat, iteration: tuple[int, ...]) -> None:
        phase = self._phase(repeat.word, iteration)
        accounts = self._accounts
        first = 0
        accounts.barrier()
        start = accounts.clock
        patches = RowPatches(self.memory, repeat.patches if repeat.count else (), phase)
        for number in range(repeat.count):
            self._advance()
            self._body(repeat.body, (*iteration, number))
            accounts.barrier()  # iterations are told apart
            if number == 0:
                first = accounts.clock - start
            if number + 1 < repeat.count:
                patches.apply()
                self._record_patches(patches, phase)
        patches.restore()
        if repeat.count > 1:
            self._record_patches(patches, phase)
        accounts.barrier()
        if not any(iteration):
            rest = (accounts.clock - start - first) / (repeat.count - 1) if repeat.count > 1 else None
            self._repeats.append(RepeatCycles(phase.name, repeat.count, first, rest))

    def _record_patches(self, patches: RowPatches, phase: Phase) -> None:
        """The patches of a repeat are one call, at the price of all words that the tile patches."""
        if not patches:
            return
        counts = patches.counts
        step = Phase(f"{phase.name}: patch rows", phase.provenance, phase.word, phase.iteration)
        rests_on = evidence(
            self.machine.family.kernel("patch_rows"), self.machine, counts[:, None], ("u32", "u32")
        )
        self._accounts.record(step, "copy", self.machine.patch_cycles(counts), rests_on)

    def _take_tap(self, tap: DecodedTap, iteration: tuple[int, ...]) -> None:
        if self._tap is None:
            return
        entry = self.image.taps[tap.number]
        if self._tapped is not None and entry.value not in self._tapped:
            return
        binding = self.image.binding(entry.binding)
        member = iteration[-1] if binding.count > 1 and iteration else 0
        if member >= binding.count:
            raise IllegalProgram(
                f"the tap of '{entry.value}' is of member {member} of {binding.count} of '{binding.name}'",
                rule="malformed manifest",
                phase=str(self._phase(tap.word, iteration)),
            )
        data = self.read(binding, member, phase=str(self._phase(tap.word, iteration)))
        tapped = Tapped(entry.value, iteration, data, binding)
        self._taps.append(tapped)
        self._tap(tapped)

    # ------------------------------------------------------------------------------------------ exchange

    def _exchange(self, exchange: DecodedExchange, iteration: tuple[int, ...]) -> None:
        phase = self._phase(exchange.word, iteration)
        place = exchange.rows, exchange.width
        if place not in self._rows_placed:
            check_executed("a row", exchange.rows, 4 * exchange.width, self.machine, str(phase))
            self._rows_placed.add(place)
        words = read_table(self.memory, exchange.rows, exchange.width, phase)
        delivery = self._deliver(words, exchange.rows, phase)
        fabric.require_written(delivery, self.memory.valid, FULL, str(phase))
        fabric.move(delivery, self.memory.data)
        fabric.mark_written(delivery, self.memory.valid, FULL)
        if self.observer is not None:
            self.observer.exchanged(phase, delivery)
        ends = np.asarray(delivery.end_cycle, np.int64)
        if len(delivery.nwords) or int(ends.max(initial=0)) > 1:
            self._accounts.barrier()
            self._accounts.record(phase, "exchange", ends)
            self._accounts.record(phase, "sync", int(self.machine.phase_overhead))

    def _deliver(self, words: npt.NDArray[np.uint32], rows: int, phase: Phase) -> fabric.Delivery:
        """Rows are decoded, and what does not depend on contents is checked, once for the same words."""
        key = (rows, hashlib.blake2b(np.ascontiguousarray(words).data, digest_size=16).digest())
        if key in self._phases:
            return self._phases[key]
        known = self._relocations.get(rows)
        if known is not None and (moved := known.deliver(words)) is not None:
            return moved
        delivery = families.FABRICS.of(self.machine).deliver(
            words, self.machine, address=rows, phase=str(phase)
        )
        self._refuse_persistent(delivery, phase)
        if known is None:
            # Patched contents are not kept: they are many, and the first of them and a pattern give the
            # others.
            self._phases[key] = delivery
            self._relocations[rows] = Relocation(words, delivery, rows, self.machine)
        else:
            known.learn(words, delivery)
        return delivery

    def _refuse_persistent(self, delivery: fabric.Delivery, phase: Phase) -> None:
        """Code, tables and parameters outlive a phase: no receive may touch them."""
        if not fabric.touches(delivery, self.memory.persistent):
            return
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


# -- bindings ------------------------------------------------------------------------------------------------


def _members(binding: Binding) -> tuple[str, ...]:
    """Names of the tensors of a binding, one for each member."""
    return binding.tensors or (binding.name,) * (binding.count == 1)


def _host_name(binding: Binding) -> str:
    """The name of an input or output."""
    return binding.tensors[0] if binding.tensors else binding.name


def _require_shape(binding: Binding, name: str, array: np.ndarray, shape: tuple[int, ...]) -> None:
    if tuple(array.shape) != tuple(shape):
        raise ExecutionError(
            f"{binding.kind} '{name}' has shape {tuple(array.shape)}, the program wants {tuple(shape)}"
        )
