# SPDX-License-Identifier: Apache-2.0
"""
Machine programs with one thing changed, by kind, and what becomes of them: a refusal, a departure that
`--compare` reports, or the same outputs and cycles, and then why the changed bytes mean nothing.

A kind is a function from a base program and a random generator to a `Mutant`; `KINDS` lists them.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import harness
import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.printer import Printer
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException

from tilewright.backends.image import Image, Segment, to_image
from tilewright.backends.program import (
    Call,
    Code,
    Exchange,
    Instruction,
    Operand,
    Patch,
    Program,
    Repeat,
    Table,
    Tap,
)
from tilewright.backends.tasm import format_tasm, parse_tasm
from tilewright.diagnostics import TileError
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.tile_asm import module_to_program, program_to_module
from tilewright.frontends.workloads import vit
from tilewright.frontends.workloads.encoder import Mode, Shape
from tilewright.machine import Machine, load
from tilewright.machine.dtypes import DTYPES
from tilewright.machine.kernels import kernel, kernel_names
from tilewright.sim import fabric
from tilewright.sim.access import offsets
from tilewright.sim.calls import operand_extents
from tilewright.sim.executor import Executor
from tilewright.sim.illegal import IllegalProgram
from tilewright.sim.oracle import Oracle, OracleError, compare_each, differing
from tilewright.sim.results import RunResult
from tilewright.tools.run_compare import other_steps

PAIRS = """
builtin.module {
  func.func @pairs(%x: tensor<64x64xf16> {tile_tensor.input = "x"},
                   %w: tensor<64x256xf16> {tile_tensor.parameter = "w"},
                   %v: tensor<256x64xf16> {tile_tensor.parameter = "v"})
      -> (tensor<64x64xf16> {tile_tensor.output = "y"}) {
    %a = tile_tensor.matmul %x, %w accumulate f16
        : (tensor<64x64xf16>, tensor<64x256xf16>) -> tensor<64x256xf16>
    %s = tile_tensor.softmax %a : (tensor<64x256xf16>) -> tensor<64x256xf16>
    %b = tile_tensor.matmul %s, %v : (tensor<64x256xf16>, tensor<256x64xf16>) -> tensor<64x64xf16>
    func.return %b : tensor<64x64xf16>
  }
}
"""
MIXED = """
builtin.module {
  func.func @mixed(%i: tensor<9xi32> {tile_tensor.input = "i"},
                   %n: tensor<9x24xi32> {tile_tensor.input = "n"},
                   %t: tensor<40x24xf32> {tile_tensor.parameter = "t"},
                   %g: tensor<24xf32> {tile_tensor.parameter = "g"},
                   %b: tensor<24xf32> {tile_tensor.parameter = "b"})
      -> (tensor<9xf32> {tile_tensor.output = "sums"}, tensor<9x24xi32> {tile_tensor.output = "least"}) {
    %e = tile_tensor.gather %t, %i axis 0 : (tensor<40x24xf32>, tensor<9xi32>) -> tensor<9x24xf32>
    %l = tile_tensor.layer_norm %e, %g, %b epsilon 1.0e-05
        : (tensor<9x24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<9x24xf32>
    %s = tile_tensor.reduce sum %l axes [1] : (tensor<9x24xf32>) -> tensor<9xf32>
    %a = tile_tensor.abs %n : (tensor<9x24xi32>) -> tensor<9x24xi32>
    %m = tile_tensor.minimum %a, %n : (tensor<9x24xi32>, tensor<9x24xi32>) -> tensor<9x24xi32>
    func.return %s, %m : tensor<9xf32>, tensor<9x24xi32>
  }
}
"""
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Base:
    """A program that is right, and what it gives."""

    name: str
    machine: Machine
    program: Program
    oracle: Oracle
    inputs: Arrays
    parameters: Arrays
    outputs: Arrays
    cycles: dict[str, float]
    steps: int

    @property
    def image(self) -> Image:
        return to_image(self.program)


def _compile(text: str, machine: str) -> tuple[Program, Oracle]:
    module = parse_module(text, ctx=(ctx := context()))
    module.attributes["tile.machine"] = StringAttr(machine)
    harness.plan(module, ctx, load(machine), None)
    oracle = Oracle(module)
    for step in harness.passes()[harness.PLANNING + 1 :]:
        step.apply(ctx, module)
    return module_to_program(module), oracle


def _random(r: np.random.Generator, like: np.ndarray) -> np.ndarray:
    """Values in which no two places are alike, so that reading the wrong one shows."""
    if like.dtype.kind in "iub":
        return r.integers(0, 40, like.shape).astype(like.dtype)
    return (r.standard_normal(like.shape) * 0.5).astype(np.float32)


@cache
def base(name: str) -> Base:
    """One of the base programs: repeats and attention on four tiles, FP8, items in pairs, integers."""
    r = np.random.default_rng(7)
    if name in ("repeats", "fp8"):
        shape, mode, machine = {
            "repeats": (Shape(9, 32, 2, 48, 3, 1, 24), Mode("f16", "f16"), "t4"),
            "fp8": (Shape(9, 64, 2, 96, 2, 1, 32), Mode("f8", "f8"), "t16"),
        }[name]
        folder = vit.build(shape, mode, seed=1, classes=5)
        text, inputs, parameters = folder.program, dict(folder.inputs), dict(folder.parameters)
        parameters = {
            k: v if v.dtype.itemsize == 1 else _random(r, np.asarray(v)) for k, v in parameters.items()
        }
    elif name == "pairs":
        text, machine = PAIRS, "t16"
        inputs = {"x": _random(r, np.zeros((64, 64)))}
        parameters = {"w": _random(r, np.zeros((64, 256))), "v": _random(r, np.zeros((256, 64)))}
    else:
        text, machine = MIXED, "t4"
        inputs = {"i": _random(r, np.zeros(9, np.int32)), "n": r.integers(-99, 99, (9, 24)).astype(np.int32)}
        parameters = {
            "t": _random(r, np.zeros((40, 24))),
            "g": _random(r, np.zeros(24)),
            "b": _random(r, np.zeros(24)),
        }
    program, oracle = _compile(text, machine)
    executor = Executor(to_image(program), load(machine), float("nan"))
    executor.load(parameters)
    found, result = compare_each(executor, oracle, inputs, parameters)
    assert found is None and result is not None
    count = len(result.steps)
    return Base(
        name, load(machine), program, oracle, inputs, parameters, result.outputs, result.cycles, count
    )


BASES = ("repeats", "fp8", "pairs", "mixed")


@dataclass
class Mutant:
    """
    `make` gives the changed image (or refuses); `what` names the bytes that were changed. `why` says why they
    mean nothing, or None when they should have meant something; it is asked only of a mutant that behaves as
    the base.
    """

    what: str
    make: Callable[[], Image]
    why: Callable[[], str | None] = lambda: None


@dataclass(frozen=True)
class Outcome:
    """`verdict`: refused, departed, other cycles, or inert; `detail`: the rule or the reason."""

    verdict: str
    detail: str


def judge(one: Base, mutant: Mutant) -> Outcome:
    """
    What becomes of a mutant. Only refusals that the tools print as diagnostics are caught: anything else
    passes through. AssertionError when the changed bytes make no difference and nobody knows why.
    """
    try:
        image = mutant.make()
        executor = Executor(image, one.machine, float("nan"), most_steps=4 * one.steps)
        executor.load(one.parameters)
        found, result = compare_each(executor, one.oracle, one.inputs, one.parameters)
    except IllegalProgram as error:
        return Outcome("refused", error.rule)
    except OracleError as error:
        return Outcome("departed", error.message)
    except TileError as error:
        return Outcome("refused", f"{type(error).__name__}")
    except (ParseError, VerifyException, DiagnosticException) as error:
        return Outcome("refused", f"{type(error).__name__}")
    if found is not None:
        return Outcome("departed", str(found))
    assert isinstance(result, RunResult)
    if sorted(result.outputs) != sorted(one.outputs):
        return Outcome("departed", "other outputs")
    for name, expected in one.outputs.items():
        assert not differing(expected, result.outputs[name]).any(), mutant.what
    if twice := other_steps(one.program, result.steps):
        return Outcome("departed", f"steps: {twice[0]}")
    if result.cycles != one.cycles:
        return Outcome("other cycles", f"{result.cycles['total']} for {one.cycles['total']}")
    reason = mutant.why()
    assert reason is not None, f"{one.name}: no difference and no reason: {mutant.what}"
    return Outcome("inert", reason)


# ---------------------------------------------------------------------------------------------- choosing


def _tables(one: Base, category: str) -> list[Segment]:
    return [s for s in one.image.segments if s.category == category and s.words.size]


def _with_segment(one: Base, name: str, **changes: Any) -> Callable[[], Image]:
    def make() -> Image:
        image = one.image
        segments = tuple(replace(s, **changes) if s.name == name else s for s in image.segments)
        return replace(image, segments=segments)

    return make


def _walk(body: tuple[Instruction, ...], path: tuple[int, ...] = ()) -> list[tuple[tuple[int, ...], Any]]:
    found: list[tuple[tuple[int, ...], Any]] = []
    for i, instruction in enumerate(body):
        found.append(((*path, i), instruction))
        if isinstance(instruction, Repeat):
            found += _walk(instruction.body, (*path, i))
    return found


def _edited(
    body: tuple[Instruction, ...], path: tuple[int, ...], edit: Callable[[Any], tuple[Instruction, ...]]
) -> tuple[Instruction, ...]:
    i = path[0]
    if len(path) == 1:
        return (*body[:i], *edit(body[i]), *body[i + 1 :])
    inner = body[i]
    assert isinstance(inner, Repeat)
    changed = replace(inner, body=_edited(inner.body, path[1:], edit))
    return (*body[:i], changed, *body[i + 1 :])


def _pick(one: Base, r: random.Random, kind: Any, where: Callable[[Any], bool] = lambda _: True) -> Any:
    found = [(path, i) for path, i in _walk(one.program.body) if isinstance(i, kind) and where(i)]
    return r.choice(found) if found else None


def _program(one: Base, **changes: Any) -> Callable[[], Image]:
    return lambda: to_image(replace(one.program, **changes))


def _instruction(
    one: Base,
    path: tuple[int, ...],
    edit: Callable[[Any], tuple[Instruction, ...]],
) -> Callable[[], Image]:
    return _program(one, body=_edited(one.program.body, path, edit))


def _flip(r: random.Random, value: int, bits: int = 32) -> int:
    return value ^ 1 << r.randrange(bits)


# ---------------------------------------------------------------------------------------------- reasons


def _same_delivery(one: Base, segment: Segment, words: np.ndarray) -> str | None:
    """Whether rows deliver the same words at the same cycles, however they are written."""
    full = [
        np.ascontiguousarray(np.broadcast_to(w, (one.machine.tiles, w.shape[1])))
        for w in (segment.words, words)
    ]
    if full[0].shape == full[1].shape:
        length = fabric.decode(full[0]).length
        tile, word = np.nonzero(full[0] != full[1])
        if (word >= length[tile]).all():
            return "words behind the return of a row"
    first, second = (fabric.deliver(w, one.machine, address=segment.address) for w in full)
    for before, after in zip(received(first), received(second), strict=True):
        if not np.array_equal(before, after):
            return None
    if first.cycles != second.cycles:
        return None
    return "the rows deliver the same words at the same cycles"


def received(delivery: fabric.Delivery) -> tuple[np.ndarray, ...]:
    """Every received word: tile, address, source tile, source address, cycle, in order."""
    n = delivery.nwords
    owner = np.repeat(np.arange(len(n)), n)
    k = np.arange(len(owner)) - np.repeat(np.cumsum(n) - n, n)
    table = np.stack(
        (
            delivery.dst_tile[owner],
            delivery.dst_address[owner] + 4 * k,
            delivery.src_tile[owner],
            delivery.src_address[owner] + 4 * k,
            delivery.landed[owner] + k // delivery.rate[owner],
        )
    )
    return tuple(table[:, np.lexsort(table[::-1])])


def _shapes(one: Base, call: Call, number: int) -> set[tuple[int, ...]]:
    """Extents that operand `number` has on tiles that take part in a call."""
    words = one.program.table(call.extents).words
    active = {tuple(row) for row in words.tolist() if all(row)}
    return {operand_extents(kernel(call.kernel), row, dict(call.scalars))[number] for row in active}


def _same_places(one: Base, call: Call, number: int, before: Operand, after: Operand) -> str | None:
    """Whether an operand's digits address the same bytes for every extent that its axes have."""
    if replace(before, axes=()) != replace(after, axes=()) or len(before.axes) != len(after.axes):
        return None
    for shape in _shapes(one, call, number):
        for old, new, extent in zip(before.axes, after.axes, shape, strict=True):
            if not np.array_equal(offsets(old, extent), offsets(new, extent)):
                return None
    return "digits that address the same bytes"


# ---------------------------------------------------------------------------------------------- kinds

Kind = Callable[[Base, random.Random], Mutant | None]
KINDS: dict[str, Kind] = {}


def kind(function: Kind) -> Kind:
    KINDS[function.__name__.strip("_")] = function
    return function


def _rows(one: Base, r: random.Random) -> Segment | None:
    tables = _tables(one, "rows")
    return r.choice(tables) if tables else None


def _changed_rows(one: Base, segment: Segment, words: np.ndarray, what: str) -> Mutant | None:
    if np.array_equal(words, segment.words):
        return None
    return Mutant(
        f"rows '{segment.name}': {what}",
        _with_segment(one, segment.name, words=words),
        lambda: _same_delivery(one, segment, words),
    )


def _live(r: random.Random, segment: Segment) -> tuple[int, int]:
    """A word of a row that is not zero: (row, word)."""
    return tuple(r.choice(np.argwhere(segment.words).tolist()))  # type: ignore[return-value]


@kind
def bit_of_a_row(one: Base, r: random.Random) -> Mutant | None:
    if (segment := _rows(one, r)) is None:
        return None
    words, (tile, word) = segment.words.copy(), _live(r, segment)
    words[tile, word] = _flip(r, int(words[tile, word]))
    return _changed_rows(one, segment, words, f"word {word} of row {tile} is {words[tile, word]:#010x}")


@kind
def word_of_a_row(one: Base, r: random.Random) -> Mutant | None:
    if (segment := _rows(one, r)) is None:
        return None
    words, (tile, word) = segment.words.copy(), _live(r, segment)
    words[tile, word] = r.getrandbits(32)
    return _changed_rows(one, segment, words, f"word {word} of row {tile} is {words[tile, word]:#010x}")


@kind
def words_of_a_row_swapped(one: Base, r: random.Random) -> Mutant | None:
    if (segment := _rows(one, r)) is None:
        return None
    words, (tile, a) = segment.words.copy(), _live(r, segment)
    b = r.choice([int(w) for w in np.flatnonzero(words[tile])])
    words[tile, [a, b]] = words[tile, [b, a]]
    return _changed_rows(one, segment, words, f"words {a} and {b} of row {tile} swapped")


@kind
def word_of_a_row_dropped(one: Base, r: random.Random) -> Mutant | None:
    if (segment := _rows(one, r)) is None:
        return None
    words, (tile, word) = segment.words.copy(), _live(r, segment)
    words[tile] = np.append(np.delete(words[tile], word), 0)
    return _changed_rows(one, segment, words, f"word {word} of row {tile} dropped")


@kind
def word_of_a_row_twice(one: Base, r: random.Random) -> Mutant | None:
    if (segment := _rows(one, r)) is None:
        return None
    words, (tile, word) = segment.words.copy(), _live(r, segment)
    words[tile] = np.insert(words[tile], word, words[tile, word])[:-1]
    return _changed_rows(one, segment, words, f"word {word} of row {tile} twice")


@kind
def rows_of_two_tiles_swapped(one: Base, r: random.Random) -> Mutant | None:
    segment = _rows(one, r)
    if segment is None or len(segment.words) < 2:
        return None
    a, b = r.sample(range(len(segment.words)), 2)
    words = segment.words.copy()
    words[[a, b]] = words[[b, a]]
    return _changed_rows(one, segment, words, f"rows of tiles {a} and {b} swapped")


def _supervisor(one: Base) -> Segment:
    return next(s for s in one.image.segments if s.name == "supervisor")


def _supervised(one: Base, words: np.ndarray, what: str, words_said: int | None = None) -> Mutant:
    def make() -> Image:
        image = one.image
        segments = tuple(replace(s, words=words) if s.name == "supervisor" else s for s in image.segments)
        count = image.supervisor[1] if words_said is None else words_said
        return replace(image, segments=segments, supervisor=(image.supervisor[0], count))

    return Mutant(f"supervisor: {what}", make, lambda: _supervisor_reason(one, words))


def _supervisor_reason(one: Base, words: np.ndarray) -> str | None:
    """Of a changed supervisor word that is read and changes nothing: which field it is in."""
    from tilewright.sim.supervisor import DecodedCall, DecodedRepeat, decode_supervisor, walk

    names = one.image.scalar_names
    before = list(walk(decode_supervisor(_supervisor(one).words[0], names)))
    after = list(walk(decode_supervisor(words[0], names)))
    for old, new in zip(before, after, strict=True):
        if isinstance(old, DecodedRepeat) and isinstance(new, DecodedRepeat):
            continue
        if old == new:
            continue
        if isinstance(old, DecodedCall) and isinstance(new, DecodedCall):
            call = _call_at(one, old.word)
            if old.scalars != new.scalars:
                name = next(a for a, b in zip(old.scalars, new.scalars, strict=True) if a != b)[0]
                return _scalar_reason(name, call)
            pairs = zip((*old.ins, *old.outs), (*new.ins, *new.outs), (*call.ins, *call.outs), strict=True)
            for number, (a, b, operand) in enumerate(pairs):
                if a != b:
                    changed = Operand(b.address, b.dtype, b.axes, b.steps)
                    return _same_places(one, call, number, operand, changed)
        return None
    return None


def _call_at(one: Base, word: int) -> Call:
    entries = [entry.word for entry in one.image.debug if entry.kind == "call"]
    calls = [i for _, i in _walk(one.program.body) if isinstance(i, Call)]
    return calls[entries.index(word)]


def _scalar_reason(name: str, call: Call) -> str | None:
    if name in ("run_bytes", "weights_standard"):
        return f"'{name}' follows from the addresses and is not believed"
    if name == "value":
        return "what padding is filled with, which no value shows"
    if call.scalar(name) == {"scale": 0, "saturate": 1, "truncate": 0}.get(name, "none"):
        return f"'{name}' left out, which stated its default"
    if name == "saturate":
        return "no value leaves the range of its type, so saturation shows nowhere"
    if name == "epsilon":
        return "an epsilon whose last bits vanish in the sum"
    if name in ("scale", "split", "count"):
        return f"'{name}' whose last bits vanish" if isinstance(call.scalar(name), float) else None
    return None


@kind
def bit_of_the_supervisor(one: Base, r: random.Random) -> Mutant:
    words = _supervisor(one).words.copy()
    word = r.randrange(words.shape[1])
    words[0, word] = _flip(r, int(words[0, word]))
    return _supervised(one, words, f"word {word} is {words[0, word]:#010x}")


@kind
def word_of_the_supervisor(one: Base, r: random.Random) -> Mutant:
    words = _supervisor(one).words.copy()
    word = r.randrange(words.shape[1])
    words[0, word] = r.choice([0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, r.getrandbits(32), r.getrandbits(8)])
    if words[0, word] == _supervisor(one).words[0, word]:
        words[0, word] ^= 1
    return _supervised(one, words, f"word {word} is {words[0, word]:#010x}")


@kind
def supervisor_cut(one: Base, r: random.Random) -> Mutant:
    words = _supervisor(one).words
    word = r.randrange(words.shape[1])
    said = words.shape[1] - r.randint(0, 1)
    return _supervised(one, np.delete(words, word, axis=1), f"word {word} dropped, {said} said", said)


@kind
def supervisor_of_one_tile(one: Base, r: random.Random) -> Mutant:
    words = np.repeat(_supervisor(one).words, one.machine.tiles, axis=0)
    tile, word = r.randrange(one.machine.tiles), r.randrange(words.shape[1])
    words[tile, word] = _flip(r, int(words[tile, word]))
    return _supervised(one, words, f"word {word} of tile {tile} differs")


@kind
def opcode(one: Base, r: random.Random) -> Mutant:
    words = _supervisor(one).words.copy()
    entry = r.choice(one.image.debug).word
    wanted = r.choice([op for op in range(8) if op != int(words[0, entry]) >> 24])
    words[0, entry] = int(words[0, entry]) & 0xFFFFFF | wanted << 24
    return _supervised(one, words, f"opcode at word {entry} is {wanted}")


@kind
def length_of_an_instruction(one: Base, r: random.Random) -> Mutant:
    words = _supervisor(one).words.copy()
    entry = r.choice(one.image.debug).word
    words[0, entry] = (int(words[0, entry]) + r.choice([-3, -2, -1, 1, 2, 5, 1000])) & 0xFFFFFFFF
    return _supervised(one, words, f"length at word {entry} is {int(words[0, entry]) & 0xFFFFFF}")


def _extents(one: Base, r: random.Random, change: Callable[[int], int]) -> Mutant | None:
    found = _pick(one, r, Call, lambda c: one.program.table(c.extents).words.size > 0)
    if found is None:
        return None
    table = one.program.table(found[1].extents)
    words = table.words.copy()
    tile, column = r.randrange(words.shape[0]), r.randrange(words.shape[1])
    before = int(words[tile, column])
    words[tile, column] = change(before) & 0xFFFFFFFF
    if int(words[tile, column]) == before:
        words[tile, column] ^= 1
    tables = tuple(replace_words(t, words) if t.name == table.name else t for t in one.program.tables)

    def why() -> str | None:
        others = np.delete(words[tile], column)
        if (others == 0).any() or (
            before and not words[tile].all() and (np.delete(table.words[tile], column) == 0).any()
        ):
            return "an extent of a tile that takes no part, since another extent is 0"
        if words[tile, column] > before and words[tile].all() and table.words[tile].all():
            return "more than the part of a tile, where nobody reads, on a tile that is not the slowest"
        if _padded(one, found[1], column, before) == _padded(one, found[1], column, int(words[tile, column])):
            return "an extent that is rounded up to the same number"
        return None

    what = f"extent {column} of tile {tile} of {found[1].kernel} is {words[tile, column]} for {before}"
    return Mutant(what, _program(one, tables=tables), why)


def _padded(one: Base, call: Call, column: int, extent: int) -> int:
    granule = kernel(call.kernel).granule
    return -(-extent // granule[column]) * granule[column] if granule else extent


def replace_words(table: Table, words: np.ndarray) -> Table:
    return Table(table.name, table.address, words, table.category)


@kind
def bit_of_an_extent(one: Base, r: random.Random) -> Mutant | None:
    return _extents(one, r, lambda value: _flip(r, value))


@kind
def extent(one: Base, r: random.Random) -> Mutant | None:
    return _extents(
        one, r, lambda value: r.choice([0, 1, value + 1, value - 1, -1, 2 * value, 10**6, 2**31 - 1])
    )


@kind
def positions_of_patches(one: Base, r: random.Random) -> Mutant | None:
    found = _pick(one, r, Repeat, lambda i: i.patches)
    if found is None:
        return None
    patch = r.choice(found[1].patches)
    table = one.program.table(patch.positions)
    words = table.words.copy()
    tile, column = r.randrange(words.shape[0]), r.randrange(words.shape[1])
    words[tile, column] = r.choice(
        [0, 1, 0xFFFFFFFF, r.randrange(1, 200), 10**6, _flip(r, int(words[tile, column])), words[tile, 0]]
    )
    tables = tuple(replace_words(t, words) if t.name == table.name else t for t in one.program.tables)

    if np.array_equal(words, table.words):
        return None
    what = f"position {column} of tile {tile} of '{table.name}' is {words[tile, column]:#x}"
    return Mutant(what, _program(one, tables=tables))


@kind
def length_of_a_table(one: Base, r: random.Random) -> Mutant:
    table = r.choice([t for t in one.program.tables if t.words.size])
    if r.random() < 0.5:
        words = table.words[:, :-1]
    else:
        words = np.concatenate([table.words, table.words[:, :1]], axis=1)
    tables = tuple(replace_words(t, words) if t.name == table.name else t for t in one.program.tables)

    def why() -> str | None:
        return (
            "words behind the return of every row"
            if table.category == "rows"
            else ("the words behind a table, which nobody reads")
        )

    return Mutant(f"table '{table.name}' has {words.shape[1]} words", _program(one, tables=tables), why)


@kind
def tiles_of_a_table(one: Base, r: random.Random) -> Mutant | None:
    segment = r.choice([s for s in one.image.segments if s.words.size])
    full = np.repeat(segment.words, one.machine.tiles, axis=0) if len(segment.words) == 1 else segment.words
    words = r.choice([full[:-1], np.concatenate([full, full[:1]]), np.roll(full, 1, axis=0), full[::-1]])

    def why() -> str | None:
        return "all tiles hold the same words" if (full == full[0]).all() else None

    if segment.category == "rows" and words.shape == full.shape:
        return _changed_rows(one, segment, words, "given to other tiles")
    return Mutant(
        f"'{segment.name}' is for {len(words)} tiles, in another order",
        _with_segment(one, segment.name, words=words),
        why,
    )


def _anywhere(one: Base, r: random.Random, address: int) -> int:
    """Another address: near, in a reservation, half a word away, at the edges, or anywhere."""
    m = one.machine
    taken = r.choice(m.reservations)
    return r.choice(
        [
            address + 2,
            address + 4,
            address - 8,
            taken.start,
            taken.end - 4,
            m.sram_end - 8,
            m.sram_base - 4,
            m.regions[0].end - 16,
            r.randrange(m.sram_base, m.sram_end, 4),
            _flip(r, address),
        ]
    )


@kind
def place_of_a_table(one: Base, r: random.Random) -> Mutant:
    """Everything that names the table follows: legal wherever there is room."""
    table = r.choice([t for t in one.program.tables if t.words.size])
    to = _anywhere(one, r, table.address)
    tables = tuple(replace(t, address=to) if t.name == table.name else t for t in one.program.tables)
    return Mutant(
        f"table '{table.name}' at {to:#x}",
        _program(one, tables=tables),
        lambda: "the place of a table, which whoever reads it names",
    )


@kind
def place_of_a_segment(one: Base, r: random.Random) -> Mutant:
    """Whoever reads it looks where it was."""
    segment = r.choice([s for s in one.image.segments if s.words.size])
    to = _anywhere(one, r, segment.address)
    return Mutant(f"'{segment.name}' loaded at {to:#x}", _with_segment(one, segment.name, address=to))


@kind
def place_of_the_supervisor(one: Base, r: random.Random) -> Mutant:
    to = _anywhere(one, r, one.program.supervisor_address)
    return Mutant(
        f"supervisor at {to:#x}",
        _program(one, supervisor_address=to),
        lambda: "the place of the supervisor program, which the manifest names",
    )


@kind
def place_of_code(one: Base, r: random.Random) -> Mutant:
    at = r.randrange(len(one.program.code))
    code = one.program.code[at]
    stacks = next(x for x in one.machine.reservations if x.category == "stacks")
    end = one.machine.regions[0].end
    to = r.choice([_anywhere(one, r, code.address), stacks.start, end - code.nbytes, end - code.nbytes - 32])
    codes = (*one.program.code[:at], replace(code, address=to), *one.program.code[at + 1 :])
    return Mutant(
        f"code of {code.kernel} at {to:#x}",
        _program(one, code=codes),
        lambda: "the place of code, which its calls name",
    )


@kind
def list_of_code(one: Base, r: random.Random) -> Mutant | None:
    codes = list(one.image.code)
    at = r.randrange(len(codes))
    code = codes[at]
    match r.randrange(5):
        case 0:
            del codes[at]
        case 1:
            codes.append(code)
        case 2:
            codes[at] = replace(code, nbytes=r.choice([0, -8, 4, code.nbytes - 4, code.nbytes + 64, 2**40]))
        case 3:
            codes[at] = replace(code, kernel=r.choice([*kernel_names(), "no.such.kernel"]))
        case _:
            codes.append(Code("fill", code.address + 4, 128))
    used = {i.kernel for _, i in _walk(one.program.body) if isinstance(i, Call)}

    if tuple(codes) == one.image.code:
        return None

    def why() -> str | None:
        return "code that no call names" if code.kernel not in used else None

    return Mutant(f"code of {code.kernel}: list changed", lambda: replace(one.image, code=tuple(codes)), why)


def _operand(one: Base, r: random.Random, change: Callable[[Operand], Operand]) -> Mutant | None:
    found = _pick(one, r, Call, lambda c: c.ins or c.outs)
    if found is None:
        return None
    path, call = found
    operands = [*call.ins, *call.outs]
    at = r.randrange(len(operands))
    before = operands[at]
    operands[at] = change(before)
    after = operands[at]
    if after == before:
        return None
    changed = replace(call, ins=tuple(operands[: len(call.ins)]), outs=tuple(operands[len(call.ins) :]))

    def why() -> str | None:
        if replace(after, steps=()) == replace(before, steps=()):
            counts = [
                i.count for p, i in _walk(one.program.body) if isinstance(i, Repeat) and path[: len(p)] == p
            ]
            taken = [a != b and n > 1 for a, b, n in zip(after.steps, before.steps, counts, strict=False)]
            return None if any(taken) else "a step that no iteration takes"
        if call.kernel in ("fill", "copy") and replace(after, dtype=before.dtype) == before:
            return "another type of the same size, for bits that are moved and not computed with"
        return _same_places(one, call, at, before, after)

    what = f"operand {at} of {call.kernel} is {after.text} for {before.text}"
    return Mutant(what, _instruction(one, path, lambda _: (changed,)), why)


@kind
def address_of_an_operand(one: Base, r: random.Random) -> Mutant | None:
    return _operand(one, r, lambda o: replace(o, address=_anywhere(one, r, o.address)))


@kind
def reserved_operand(one: Base, r: random.Random) -> Mutant | None:
    taken = r.choice(one.machine.reservations)
    return _operand(one, r, lambda o: replace(o, address=r.randrange(taken.start, taken.end, 16)))


@kind
def type_of_an_operand(one: Base, r: random.Random) -> Mutant | None:
    return _operand(one, r, lambda o: replace(o, dtype=r.choice([d for d in DTYPES if d != o.dtype])))


@kind
def digit_of_an_operand(one: Base, r: random.Random) -> Mutant | None:
    def change(operand: Operand) -> Operand:
        if not operand.axes:
            return operand
        axes = [list(axis) for axis in operand.axes]
        axis = r.choice(axes)
        at = r.randrange(len(axis))
        size, stride = axis[at]
        if r.random() < 0.4:
            axis[at] = r.choice([-1, 0, 1, size + 1, 2 * size, 2**31 - 1]), stride
        else:
            axis[at] = (
                size,
                r.choice([0, 1, -stride, stride + 1, 2 * stride, _flip(r, stride, 20), 2**31 - 1]),
            )
        return replace(operand, axes=tuple(tuple(axis) for axis in axes))

    return _operand(one, r, change)


@kind
def axes_of_an_operand(one: Base, r: random.Random) -> Mutant | None:
    def change(operand: Operand) -> Operand:
        axes = list(operand.axes)
        match r.randrange(4):
            case 0 if axes:
                del axes[r.randrange(len(axes))]
            case 1:
                axes.insert(r.randint(0, len(axes)), ((0, r.choice([0, 1, 16])),))
            case 2 if len(axes) > 1:
                axes.reverse()
            case _ if axes:
                axes[r.randrange(len(axes))] = r.choice([(), ((0, 0),), ((0, 16), (16, 1))])
        return replace(operand, axes=tuple(axes))

    return _operand(one, r, change)


@kind
def steps_of_an_operand(one: Base, r: random.Random) -> Mutant | None:
    def change(operand: Operand) -> Operand:
        steps = list(operand.steps)
        if not steps or r.random() < 0.2:
            steps.append(r.choice([4, 64, -64]))
        else:
            at = r.randrange(len(steps))
            steps[at] = r.choice([0, steps[at] + 4, -steps[at], steps[at] + 1, 2**31 - 1, 2 * steps[at]])
        return replace(operand, steps=tuple(steps))

    return _operand(one, r, change)


@kind
def order_of_operands(one: Base, r: random.Random) -> Mutant | None:
    found = _pick(one, r, Call, lambda c: len(c.ins) + len(c.outs) > 1)
    if found is None:
        return None
    path, call = found
    operands = [*call.ins, *call.outs]
    a, b = r.sample(range(len(operands)), 2)
    operands[a], operands[b] = operands[b], operands[a]
    n = len(call.ins) + r.choice([0, 0, 0, 1, -1])
    changed = replace(call, ins=tuple(operands[:n]), outs=tuple(operands[n:]))

    def why() -> str | None:
        if call.kernel in ("pointwise.add", "pointwise.mul", "pointwise.max", "pointwise.min") and n == 2:
            return "the operands of a kernel that does not mind their order"
        return "the operands are the same" if operands[a] == operands[b] else None

    what = f"operands {a} and {b} of {call.kernel} swapped, {n} read"
    return Mutant(what, _instruction(one, path, lambda _: (changed,)), why)


@kind
def scalar(one: Base, r: random.Random) -> Mutant | None:
    found = _pick(one, r, Call, lambda c: c.scalars) if r.random() < 0.9 else _pick(one, r, Call)
    if found is None:
        return None
    path, call = found
    scalars = list(call.scalars)
    name = ""
    if not scalars or r.random() < 0.15:
        scalars.append((r.choice(["epsilon", "count", "scale", "mine"]), r.choice([1, 2.0])))
        name = scalars[-1][0]
    else:
        at = r.randrange(len(scalars))
        name, value = scalars[at]
        if r.random() < 0.15:
            del scalars[at]
        else:
            wrong: list[int | float] = [
                0,
                1,
                -1,
                2**40,
                -(2**62),
                1.5,
                float("nan"),
                float("inf"),
                1e300,
                1e-300,
            ]
            scalars[at] = name, r.choice([w for w in wrong if w != value])
    changed = replace(call, scalars=tuple(scalars))

    def why() -> str | None:
        return _scalar_reason(name, call)

    what = f"scalars of {call.kernel} are {scalars}"
    return Mutant(what, _instruction(one, path, lambda _: (changed,)), why)


@kind
def kernel_of_a_call(one: Base, r: random.Random) -> Mutant | None:
    found = _pick(one, r, Call)
    if found is None:
        return None
    path, call = found
    others = [c.kernel for c in one.program.code if c.kernel != call.kernel]
    changed = replace(call, kernel=r.choice(others))

    what = f"{changed.kernel} called for {call.kernel}"
    return Mutant(what, _instruction(one, path, lambda _: (changed,)))


@kind
def step_missing(one: Base, r: random.Random) -> Mutant | None:
    path, instruction = _pick(one, r, (Call, Exchange, Repeat))
    return Mutant(f"{_label(instruction)} left out", _instruction(one, path, lambda _: ()))


def _label(instruction: Instruction) -> str:
    match instruction:
        case Call():
            return f"call of {instruction.kernel}"
        case Exchange():
            return f"exchange {instruction.name}"
        case Repeat():
            return f"repeat {instruction.name}"
        case Tap():
            return f"tap of {instruction.value}"


@kind
def step_twice(one: Base, r: random.Random) -> Mutant | None:
    path, instruction = _pick(one, r, (Call, Exchange, Repeat, Tap))
    return Mutant(f"{_label(instruction)} twice", _instruction(one, path, lambda i: (i, i)))


@kind
def steps_swapped(one: Base, r: random.Random) -> Mutant | None:
    """A step after the one that follows it."""
    bodies = [(), *(p for p, i in _walk(one.program.body) if isinstance(i, Repeat))]
    where = r.choice(bodies)

    def swapped(body: tuple[Instruction, ...]) -> tuple[tuple[Instruction, ...], str, bool]:
        at = r.randrange(len(body) - 1)
        a, b = body[at], body[at + 1]
        segment = not isinstance(a, Exchange | Repeat) and not isinstance(b, Exchange | Repeat)
        return (*body[:at], b, a, *body[at + 2 :]), f"{_label(b)} before {_label(a)}", segment

    if where:
        inner = next(i for p, i in _walk(one.program.body) if p == where)
        body, what, segment = swapped(inner.body)
        make = _instruction(one, where, lambda i: (replace(i, body=body),))
    else:
        body, what, segment = swapped(one.program.body)
        make = _program(one, body=body)
    reason = (
        "two steps of one segment that do not touch each other's operands"
        if segment
        else "two steps that do not touch each other's operands"
    )
    return Mutant(what, make, lambda: reason)


@kind
def count_of_a_repeat(one: Base, r: random.Random) -> Mutant | None:
    found = _pick(one, r, Repeat)
    if found is None:
        return None
    path, repeat = found
    count = r.choice([0, 1, repeat.count + 1, repeat.count - 1, 1000, 2**31, 2**32 - 1, -1])
    if count == repeat.count:
        return None
    return Mutant(
        f"repeat {repeat.name} {count} times", _instruction(one, path, lambda i: (replace(i, count=count),))
    )


@kind
def patch(one: Base, r: random.Random) -> Mutant | None:
    found = _pick(one, r, Repeat, lambda i: i.patches)
    if found is None:
        return None
    path, repeat = found
    patches = list(repeat.patches)
    at = r.randrange(len(patches))
    old = patches[at]
    rows = [t.name for t in one.program.tables if t.category == "rows"]
    match r.randrange(6):
        case 0:
            patches[at] = replace(
                old, delta_words=r.choice([0, 1, -1, 2 * old.delta_words, 2**17, 2**31 - 1])
            )
        case 1:
            patches[at] = replace(old, shift=r.choice([0, 1, 2, 4, 31, 32, 2**31]))
        case 2:
            patches[at] = replace(old, rows=r.choice(rows))
        case 3:
            patches[at] = replace(old, positions=r.choice([t.name for t in one.program.tables]))
        case 4:
            del patches[at]
        case _:
            patches.append(old)
    changed = tuple(patches)
    if changed == repeat.patches:
        return None

    def why() -> str | None:
        empty = one.program.table(old.positions).words
        return "a patch of no word" if not empty.size or (empty == 0xFFFFFFFF).all() else None

    what = f"patches of {repeat.name}: {at} of {len(patches)} changed"
    return Mutant(what, _instruction(one, path, lambda i: (replace(i, patches=changed),)), why)


@kind
def barrier(one: Base, r: random.Random) -> Mutant | None:
    """An exchange phase that is not there, or executes the rows of another."""
    found = _pick(one, r, Exchange)
    if found is None:
        return None
    path, exchange = found
    rows = [t.name for t in one.program.tables if t.name != exchange.rows]
    if r.random() < 0.4:
        make = _instruction(one, path, lambda _: ())
        what = "left out"
    else:
        to = r.choice(rows)
        make = _instruction(one, path, lambda i: (replace(i, rows=to),))
        what = f"executes '{to}'"
    return Mutant(f"exchange {exchange.name} {what}", make)


def _bound(one: Base, r: random.Random, **changes: Callable[[Any], Any]) -> Mutant | None:
    at = r.randrange(len(one.program.bindings))
    before = one.program.bindings[at]
    after = replace(before, **{name: change(before) for name, change in changes.items()})
    bindings = (*one.program.bindings[:at], after, *one.program.bindings[at + 1 :])
    tapped = [i.binding for _, i in _walk(one.program.body) if isinstance(i, Tap)]
    if after == before:
        return None

    def why() -> str | None:
        if before.kind == "value" and before.name not in tapped:
            return "a binding that no tap names"
        if replace(after, scale=before.scale) == before and before.dtype in ("i8", "i32", "u32", "i1"):
            return "the scale of integers, which are read as they are"
        if replace(after, stride=before.stride) == before and before.count < 2:
            return "the stride of a single member"
        if replace(after, name=before.name) == before and before.name not in tapped:
            return "the name of a binding that no tap names"
        if replace(after, tensors=before.tensors) == before:
            return "further names of an input or a value, of which the first counts"
        if (
            _places(after, one) == _places(before, one)
            and replace(after, layout=before.layout, view=before.view) == before
        ):
            return "a text that puts every element where it was"
        return None

    fields = ", ".join(f"{name} {getattr(after, name)!r}" for name in changes)
    return Mutant(f"binding '{before.name}' has {fields}", _program(one, bindings=bindings), why)


def _places(binding: Any, one: Base) -> tuple[Any, ...]:
    from tilewright.backends.host import packing
    from tilewright.machine.dtypes import itemsize
    from tilewright.planning.layout import Layout
    from tilewright.planning.layout.view import View

    plan = packing(
        Layout.parse(binding.layout), View.parse(binding.view), itemsize(binding.dtype), one.machine.tiles
    )
    return plan.positions.tobytes(), plan.rows[plan.held].tobytes(), plan.shard


@kind
def address_of_a_binding(one: Base, r: random.Random) -> Mutant | None:
    return _bound(one, r, address=lambda b: _anywhere(one, r, b.address))


@kind
def numbers_of_a_binding(one: Base, r: random.Random) -> Mutant | None:
    name = r.choice(["count", "stride", "scale"])
    return _bound(
        one,
        r,
        **{
            name: lambda b: r.choice(
                [0, 1, 2, -1, getattr(b, name) + 1, 64, 2**40, _flip(r, getattr(b, name), 40)]
            )
        },
    )


def _garble(text: str, r: random.Random, letters: str) -> str:
    if not text:
        return r.choice(letters)
    at = r.randrange(len(text))
    match r.randrange(3):
        case 0:
            return text[:at] + text[at + 1 :]
        case 1:
            return text[:at] + r.choice(letters) + text[at:]
        case _:
            return text[:at] + r.choice(letters) + text[at + 1 :]


@kind
def layout_of_a_binding(one: Base, r: random.Random) -> Mutant | None:
    name = r.choice(["layout", "view"])
    return _bound(one, r, **{name: lambda b: _garble(getattr(b, name), r, "0123456789ab/@|.+%*, ")})


@kind
def shape_of_a_binding(one: Base, r: random.Random) -> Mutant | None:
    def shape(binding: Any) -> tuple[int, ...]:
        numbers = list(binding.shape) or [1]
        at = r.randrange(len(numbers))
        numbers[at] = r.choice([0, 1, -1, numbers[at] + 1, 2**40, numbers[at] * 2])
        return tuple(r.choice([numbers, numbers[::-1], [*numbers, 1]]))

    return _bound(one, r, shape=shape)


@kind
def names_of_a_binding(one: Base, r: random.Random) -> Mutant | None:
    name = r.choice(["dtype", "kind", "tensors", "name"])
    return _bound(
        one,
        r,
        **{
            name: lambda b: {
                "dtype": r.choice([*DTYPES, "f64", ""]),
                "kind": r.choice(["parameter", "input", "output", "constant", "value", "other"]),
                "tensors": r.choice([(), ("nobody",), (*b.tensors, "more"), b.tensors[:-1], b.tensors[::-1]]),
                "name": r.choice([b.name + "x", one.program.bindings[0].name, ""]),
            }[name]
        },
    )


@kind
def tap(one: Base, r: random.Random) -> Mutant | None:
    image = one.image
    taps = list(image.taps)
    at = r.randrange(len(taps))
    match r.randrange(5):
        case 0:
            del taps[at]
        case 1:
            taps[at] = replace(taps[at], value=r.choice([taps[at - 1].value, "nothing"]))
        case 2:
            taps[at] = replace(taps[at], binding=r.choice([taps[at - 1].binding, "nothing"]))
        case 3:
            taps[at], taps[at - 1] = taps[at - 1], taps[at]
        case _:
            taps.append(Tap("x", "nothing"))

    if tuple(taps) == image.taps:
        return None
    return Mutant(f"tap {at} changed", lambda: replace(image, taps=tuple(taps)))


_HEX = re.compile(r"#[0-9a-f_]{9,}")


@kind
def hexadecimal_of_the_listing(one: Base, r: random.Random) -> Mutant:
    text = format_tasm(one.program)
    spans = [m.span() for m in _HEX.finditer(text)]
    first, last = r.choice(spans)
    changed = text[:first] + "#" + _garble(text[first + 1 : last], r, "0123456789abcdefg_") + text[last:]

    def why() -> str | None:
        return _listing_reason(one, changed)

    line = text.count("\n", 0, first) + 1
    return Mutant(f"line {line} of the listing", lambda: to_image(parse_tasm(changed)), why)


def _listing_reason(one: Base, text: str) -> str | None:
    again = parse_tasm(text)
    if again == one.program:
        return "the listing says the same"
    if replace(again, placed=one.program.placed) == one.program:
        return "what is placed where, for reports"
    for old, new in zip(one.program.tables, again.tables, strict=True):
        if old == new or old.name != new.name:
            continue
        if old.category == "rows":
            segment = next(s for s in one.image.segments if s.name == old.name)
            return _same_delivery(one, segment, new.words)
        if old.category == "arguments":
            tile, column = (int(x[0]) for x in np.nonzero(old.words != new.words))
            if (np.delete(new.words[tile], column) == 0).any():
                return "an extent of a tile that takes no part, since another extent is 0"
    names = (again.name, _named(again.body)) != (one.program.name, _named(one.program.body))
    return "names for reports" if names else _text_reason(one, again)


def _named(body: tuple[Instruction, ...]) -> list[tuple[str, ...]]:
    return [
        (i.provenance, getattr(i, "name", ""))
        if isinstance(i, Call | Exchange)
        else (getattr(i, "name", ""),)
        for _, i in _walk(body)
        if not isinstance(i, Tap)
    ]


def _text_reason(one: Base, again: Program) -> str | None:
    """Of a listing that says something else with the same effect: what it says else."""
    if len(again.code) == len(one.program.code) and again.code != one.program.code:
        return "the place of code, which its calls name"
    if again.supervisor_address != one.program.supervisor_address:
        return "the place of the supervisor program, which the manifest names"
    if [t.address for t in again.tables] != [t.address for t in one.program.tables]:
        return "the place of a table, which whoever reads it names"
    taps = [sum(isinstance(i, Tap) for _, i in _walk(p.body)) for p in (one.program, again)]
    if taps[1] < taps[0]:
        return "a tap, which costs nothing: one value fewer is compared"
    old, new = ([i for _, i in _walk(p.body) if isinstance(i, Call)] for p in (one.program, again))
    for a, b in zip(old, new, strict=False):
        if a.scalars != b.scalars:
            return _scalar_reason(next(x for x, y in zip(a.scalars, b.scalars, strict=False) if x != y)[0], a)
        for number, (x, y) in enumerate(zip((*a.ins, *a.outs), (*b.ins, *b.outs), strict=False)):
            if x != y:
                return _same_places(one, a, number, x, y)
    for a, b in zip(one.program.bindings, again.bindings, strict=False):
        if a != b and a.kind == "value":
            return "a binding of a value"
        if a != b and _places(a, one) == _places(b, one):
            return "a text that puts every element where it was"
    return None


@kind
def character_of_the_listing(one: Base, r: random.Random) -> Mutant:
    lines = format_tasm(one.program).split("\n")
    short = [i for i, line in enumerate(lines) if line and "#" not in line]
    at = r.choice(short)
    lines[at] = _garble(lines[at], r, '0123456789abx"[]:,. -@=')
    text = "\n".join(lines)
    return Mutant(
        f"line {at + 1} of the listing is {lines[at]!r}",
        lambda: to_image(parse_tasm(text)),
        lambda: _listing_reason(one, text),
    )


@kind
def line_of_the_listing(one: Base, r: random.Random) -> Mutant:
    lines = format_tasm(one.program).split("\n")
    at = r.randrange(len(lines))
    what = lines.pop(at)
    if r.random() < 0.5:
        lines.insert(at, what)
        lines.insert(at, what)
    text = "\n".join(lines)
    return Mutant(
        f"line {at + 1} of the listing, {what[:60]!r}, is there {lines.count(what)} times",
        lambda: to_image(parse_tasm(text)),
        lambda: _listing_reason(one, text),
    )


@cache
def _module_text(name: str) -> str:
    from io import StringIO

    stream = StringIO()
    from tilewright.backends import sidecar

    before = sidecar.INLINE_LIMIT
    sidecar.INLINE_LIMIT = 1 << 30
    try:
        Printer(stream).print_op(program_to_module(base(name).program))
    finally:
        sidecar.INLINE_LIMIT = before
    return stream.getvalue()


@kind
def character_of_the_module(one: Base, r: random.Random) -> Mutant:
    lines = _module_text(one.name).split("\n")
    at = r.randrange(1, len(lines) - 1)
    lines[at] = _garble(lines[at], r, '0123456789abcdefx"[]<>{}:,. -@=%')
    text = "\n".join(lines)

    def make() -> Image:
        return to_image(module_to_program(parse_module(text, ctx=context())))

    def why() -> str | None:
        return _listing_reason(one, format_tasm(module_to_program(parse_module(text, ctx=context()))))

    return Mutant(f"line {at + 1} of the module", make, why)


@kind
def file_of_the_image(one: Base, r: random.Random) -> Mutant:
    """A character of the manifest, or of the words."""
    with tempfile.TemporaryDirectory() as folder:
        one.image.save(Path(folder) / "p.json")
        manifest = (Path(folder) / "p.json").read_text(encoding="utf-8")
        blob = (Path(folder) / "p.json.data").read_bytes()
    if r.random() < 0.15:
        at = r.randrange(len(blob))
        blob = blob[:at] + bytes([blob[at] ^ 1 << r.randrange(8)]) + blob[at + 1 :]
        what = f"byte {at} of the words"
    else:
        lines = manifest.split("\n")
        at = r.randrange(len(lines))
        lines[at] = _garble(lines[at], r, '0123456789abc"[]{}:,. -')
        manifest, what = "\n".join(lines), f"line {at + 1} of the manifest is {lines[at]!r}"

    def make() -> Image:
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / "p.json").write_text(manifest, encoding="utf-8")
            (Path(place) / "p.json.data").write_bytes(blob)
            return Image.load(Path(place) / "p.json")

    def why() -> str | None:
        old, new = json.loads(manifest_of(one)), json.loads(manifest)
        fields = [name for name in old if old[name] != new.get(name)]
        if not fields:
            return "spaces"
        if fields in (["placed"], ["debug"], ["name"]):
            return f"'{fields[0]}' is for reports"
        return _manifest_reason(one, fields[0], old, new)

    return Mutant(what, make, why)


def _manifest_reason(one: Base, field: str, old: Any, new: Any) -> str | None:
    if field == "segments":
        changed = {k for a, b in zip(old[field], new[field], strict=True) for k in a if a[k] != b[k]}
        return (
            "the name of a segment"
            if changed == {"name"}
            else ("the category of a segment" if changed == {"category"} else None)
        )
    if field == "bindings":
        changed = {k for a, b in zip(old[field], new[field], strict=True) for k in a if a[k] != b[k]}
        if changed <= {"stride", "tensors", "name"}:
            return "the stride of a single member, a name that nobody asks for"
        if changed <= {"layout", "view"}:
            return "a text that puts every element where it was"
    if field == "scalar_names":
        return "the name of a scalar that no call has"
    return None


def manifest_of(one: Base) -> str:
    with tempfile.TemporaryDirectory() as folder:
        one.image.save(Path(folder) / "p.json")
        return (Path(folder) / "p.json").read_text(encoding="utf-8")


@kind
def bit_of_a_constant(one: Base, r: random.Random) -> Mutant | None:
    if not one.program.constants:
        return None
    at = r.randrange(len(one.program.constants))
    constant = one.program.constants[at]
    raw = bytearray(np.ascontiguousarray(constant.data).tobytes())
    if not raw:
        return None
    byte = r.randrange(len(raw))
    raw[byte] ^= 1 << r.randrange(8)
    data = np.frombuffer(bytes(raw), constant.data.dtype).reshape(constant.data.shape)
    constants = (*one.program.constants[:at], replace(constant, data=data), *one.program.constants[at + 1 :])
    return Mutant(f"byte {byte} of constant '{constant.name}'", _program(one, constants=constants))


def mutants(kind: str, count: int, seed: int = 0) -> list[tuple[Base, Mutant]]:
    """`count` mutants of a kind, over all base programs that have what it changes."""
    r = random.Random(f"{kind} {seed}")
    found: list[tuple[Base, Mutant]] = []
    for number in range(8 * count):
        one = base(BASES[number % len(BASES)])
        mutant = KINDS[kind](one, r)
        if mutant is not None:
            found.append((one, mutant))
        if len(found) == count:
            break
    return found


__all__ = ["BASES", "KINDS", "Base", "Mutant", "Outcome", "Patch", "base", "judge", "mutants"]
