# SPDX-License-Identifier: Apache-2.0
"""
The supervisor program as the machine model reads it: words to instructions.

Every bit has a meaning: a length that does not match, a field without use that is not zero, a number without
a name, an axis without digits are refused ("malformed instruction") with the address of the word. Nothing is
expanded here, so what is read costs no more than its words. The encoder is `tilewright.backends.image`, the
format docs/spec/image.md.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tilewright.backends.image import (
    DTYPES,
    OP_CALL,
    OP_END,
    OP_EXCHANGE,
    OP_REPEAT,
    OP_TAP,
    SCALARS,
)
from tilewright.backends.program import DEEPEST, POINTER_FIELD, SEND_FIELD
from tilewright.sim.illegal import IllegalProgram

MOST_STEPS = 1 << 20
"""
Instructions that a run may execute (an iteration counts as one more): a program beyond it is taken for one
that does not end.
"""


@dataclass(frozen=True)
class DecodedOperand:
    """An operand as the words say: see `program.Operand`."""

    address: int
    dtype: str
    axes: tuple[tuple[tuple[int, int], ...], ...]
    steps: tuple[int, ...]


@dataclass(frozen=True)
class DecodedCall:
    """A kernel call: code address, address and number of columns of the extents table, scalars, operands."""

    word: int
    code: int
    extents: int
    extent_axes: int
    scalars: tuple[tuple[str, int | float], ...]
    ins: tuple[DecodedOperand, ...]
    outs: tuple[DecodedOperand, ...]


@dataclass(frozen=True)
class DecodedExchange:
    """An exchange phase: row address and words per tile."""

    word: int
    rows: int
    width: int


@dataclass(frozen=True)
class DecodedPatch:
    """See `program.Patch`: addresses and widths instead of names."""

    rows: int
    width: int
    positions: int
    count: int
    delta_words: int
    shift: int


@dataclass(frozen=True)
class DecodedRepeat:
    """A repeat with its body."""

    word: int
    count: int
    patches: tuple[DecodedPatch, ...]
    body: tuple[Decoded, ...]


@dataclass(frozen=True)
class DecodedTap:
    """Tap number `number` of the manifest."""

    word: int
    number: int


Decoded: TypeAlias = "DecodedCall | DecodedExchange | DecodedRepeat | DecodedTap"


class _Decoder:
    def __init__(
        self, words: npt.NDArray[np.uint32], scalar_names: Sequence[str], taps: int | None, address: int
    ) -> None:
        self.words: list[int] = words.tolist()
        self.scalar_names = scalar_names
        self.taps = taps
        self.address = address

    def _fail(self, word: int, text: str) -> IllegalProgram:
        return IllegalProgram(
            f"supervisor word {word}: {text}",
            rule="malformed instruction",
            phase="supervisor program",
            address=self.address + 4 * word,
        )

    def _some(self, first: int, count: int, stop: int) -> list[int]:
        """`count` words from `first` on, which the instruction must have before `stop`."""
        if first + count > stop:
            raise self._fail(first, "the instruction is cut off")
        return self.words[first : first + count]

    def program(self) -> tuple[Decoded, ...]:
        """Everything up to the end instruction, which is the last word."""
        body, at = self._body(0, len(self.words) - 1, 0)
        if self.words[at:] != [OP_END << 24 | 1]:
            raise self._fail(at, "the program does not end with its last word")
        return tuple(body)

    def _body(self, start: int, end: int, depth: int) -> tuple[list[Decoded], int]:
        """The instructions from word `start` up to `end`, inside of `depth` repeats, and where they end."""
        if depth > DEEPEST:
            raise self._fail(start, f"repeats are nested deeper than {DEEPEST}")
        found: list[Decoded] = []
        at = start
        while at < end:
            opcode, length = self.words[at] >> 24, self.words[at] & 0xFFFFFF
            stop = at + length
            if not length or stop > end:
                raise self._fail(at, f"an instruction of {length} words does not fit here")
            if opcode == OP_CALL:
                found.append(self._call(at, stop, depth))
            elif opcode == OP_EXCHANGE:
                rows, width = self._exactly(at, stop, 2)
                found.append(DecodedExchange(at, rows, width))
            elif opcode == OP_REPEAT:
                found.append(self._repeat(at, stop, depth))
            elif opcode == OP_TAP:
                (number,) = self._exactly(at, stop, 1)
                if self.taps is not None and number >= self.taps:
                    raise self._fail(at + 1, f"tap {number} of {self.taps}")
                found.append(DecodedTap(at, number))
            else:
                raise self._fail(at, f"unknown opcode {opcode:#04x}")
            at = stop
        return found, at

    def _exactly(self, at: int, stop: int, count: int) -> list[int]:
        if stop - at != count + 1:
            raise self._fail(at, f"the instruction has {count + 1} words, its length says {stop - at}")
        return self.words[at + 1 : stop]

    def _call(self, at: int, stop: int, depth: int) -> DecodedCall:
        code, extents, packed = self._some(at + 1, 3, stop)
        ins, outs, axes, scalars = packed & 0xFF, packed >> 8 & 0xFF, packed >> 16 & 0xFF, packed >> 24
        cursor = at + 4
        values: dict[str, int | float] = {}
        for _ in range(scalars):
            head, low, high = self._some(cursor, 3, stop)
            number = head & 0xFFFF
            if head >> 17:
                raise self._fail(cursor, f"the head {head:#010x} of a scalar has bits without meaning")
            if number >= len(self.scalar_names):
                raise self._fail(cursor, f"scalar number {number} has no name")
            name = self.scalar_names[number]
            if name in values:
                raise self._fail(cursor, f"the call states '{name}' twice")
            values[name] = struct.unpack("<d" if head >> 16 else "<q", struct.pack("<II", low, high))[0]
            cursor += 3
        operands: list[DecodedOperand] = []
        for _ in range(ins + outs):
            operand, cursor = self._operand(cursor, stop, depth)
            operands.append(operand)
        if cursor != stop:
            raise self._fail(at, f"the call's operands take {cursor - at} words, its length says {stop - at}")
        return DecodedCall(
            at, code, extents, axes, tuple(values.items()), tuple(operands[:ins]), tuple(operands[ins:])
        )

    def _operand(self, cursor: int, stop: int, depth: int) -> tuple[DecodedOperand, int]:
        address, head = self._some(cursor, 2, stop)
        dtype, axes, steps = head & 0xFF, head >> 8 & 0xFF, head >> 16
        if dtype >= len(DTYPES):
            raise self._fail(cursor + 1, f"unknown element type {dtype}")
        if steps > depth:
            raise self._fail(cursor + 1, f"an operand has {steps} address steps inside of {depth} repeats")
        cursor += 2
        found: list[tuple[tuple[int, int], ...]] = []
        for _ in range(axes):
            (count,) = self._some(cursor, 1, stop)
            flat = [_signed(value) for value in self._some(cursor + 1, 2 * count, stop)]
            digits = tuple(zip(flat[::2], flat[1::2], strict=True))
            if not digits or digits[0][0] or any(size < 1 for size, _ in digits[1:]):
                raise self._fail(
                    cursor, "an axis has one digit of size 0, the outermost, and none without a size"
                )
            if math.prod(size for size, _ in digits[1:]) >= 1 << 31:
                raise self._fail(cursor, "the digits of an axis count beyond 31 bits")
            found.append(digits)
            cursor += 1 + 2 * count
        values = tuple(_signed(value) for value in self._some(cursor, steps, stop))
        return DecodedOperand(address, DTYPES[dtype], tuple(found), values), cursor + steps

    def _repeat(self, at: int, stop: int, depth: int) -> DecodedRepeat:
        count, length, patches = self._some(at + 1, 3, stop)
        cursor = at + 4
        decoded: list[DecodedPatch] = []
        for _ in range(patches):
            rows, width, positions, entries, delta, shift = self._some(cursor, 6, stop)
            if shift not in (POINTER_FIELD, SEND_FIELD):
                raise self._fail(cursor + 5, f"a patch names the field at bit {shift}, where there is none")
            decoded.append(DecodedPatch(rows, width, positions, entries, _signed(delta), shift))
            cursor += 6
        if cursor + length != stop:
            raise self._fail(at, f"a body of {length} words does not end where the repeat ends")
        body, _ = self._body(cursor, stop, depth + 1)
        return DecodedRepeat(at, count, tuple(decoded), tuple(body))


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def decode_supervisor(
    words: npt.NDArray[np.uint32],
    scalar_names: Sequence[str] = SCALARS,
    *,
    taps: int | None = None,
    address: int = 0,
    most_steps: int = MOST_STEPS,
) -> tuple[Decoded, ...]:
    """
    The instructions that the words say, which lie at `address`; IllegalProgram names the word that cannot be
    read. `taps`: how many the manifest has, None for any number. `most_steps`: see `MOST_STEPS`.
    """
    body = _Decoder(words, scalar_names, taps, address).program()
    _require_end(body, most_steps, address)
    return body


def walk(body: tuple[Decoded, ...]) -> Iterator[Decoded]:
    """All instructions in order, a repeat before its body."""
    for instruction in body:
        yield instruction
        if isinstance(instruction, DecodedRepeat):
            yield from walk(instruction.body)


def executed(body: tuple[Decoded, ...]) -> int:
    """Steps of a run: instructions as often as they are executed, and every iteration."""
    return sum(1 + (i.count * (1 + executed(i.body)) if isinstance(i, DecodedRepeat) else 0) for i in body)


def _require_end(body: tuple[Decoded, ...], most: int, address: int) -> None:
    count = executed(body)
    if count > most:
        longest = max(body, key=lambda instruction: executed((instruction,)))
        raise IllegalProgram(
            f"the program executes {count:,} instructions, the bound is {most:,}",
            rule="too many steps",
            phase="supervisor program",
            address=address + 4 * longest.word,
        )
