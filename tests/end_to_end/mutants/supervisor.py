# SPDX-License-Identifier: Apache-2.0
"""Changes of the supervisor's words."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from mutants.bases import Base, Mutant
from mutants.choosing import flip, kind, same_places, walk
from tilewright.backends.image import Image, Segment
from tilewright.backends.program import (
    Call,
    Operand,
)


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
                return scalar_reason(name, call)
            pairs = zip((*old.ins, *old.outs), (*new.ins, *new.outs), (*call.ins, *call.outs), strict=True)
            for number, (a, b, operand) in enumerate(pairs):
                if a != b:
                    changed = Operand(b.address, b.dtype, b.axes, b.steps)
                    return same_places(one, call, number, operand, changed)
        return None
    return None


def _call_at(one: Base, word: int) -> Call:
    entries = [entry.word for entry in one.image.debug if entry.kind == "call"]
    calls = [i for _, i in walk(one.program.body) if isinstance(i, Call)]
    return calls[entries.index(word)]


def scalar_reason(name: str, call: Call) -> str | None:
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
    words[0, word] = flip(r, int(words[0, word]))
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
    words[tile, word] = flip(r, int(words[tile, word]))
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
