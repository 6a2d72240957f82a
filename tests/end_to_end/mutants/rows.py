# SPDX-License-Identifier: Apache-2.0
"""Changes of exchange rows."""

from __future__ import annotations

import random

import numpy as np

from mutants.bases import Base, Mutant
from mutants.choosing import flip, kind, same_delivery, tables_of, with_segment
from tilewright.backends.image import Segment


def _rows(one: Base, r: random.Random) -> Segment | None:
    tables = tables_of(one, "rows")
    return r.choice(tables) if tables else None


def changed_rows(one: Base, segment: Segment, words: np.ndarray, what: str) -> Mutant | None:
    if np.array_equal(words, segment.words):
        return None
    return Mutant(
        f"rows '{segment.name}': {what}",
        with_segment(one, segment.name, words=words),
        lambda: same_delivery(one, segment, words),
    )


def _live(r: random.Random, segment: Segment) -> tuple[int, int]:
    """A word of a row that is not zero: (row, word)."""
    return tuple(r.choice(np.argwhere(segment.words).tolist()))  # type: ignore[return-value]


@kind
def bit_of_a_row(one: Base, r: random.Random) -> Mutant | None:
    if (segment := _rows(one, r)) is None:
        return None
    words, (tile, word) = segment.words.copy(), _live(r, segment)
    words[tile, word] = flip(r, int(words[tile, word]))
    return changed_rows(one, segment, words, f"word {word} of row {tile} is {words[tile, word]:#010x}")


@kind
def word_of_a_row(one: Base, r: random.Random) -> Mutant | None:
    if (segment := _rows(one, r)) is None:
        return None
    words, (tile, word) = segment.words.copy(), _live(r, segment)
    words[tile, word] = r.getrandbits(32)
    return changed_rows(one, segment, words, f"word {word} of row {tile} is {words[tile, word]:#010x}")


@kind
def words_of_a_row_swapped(one: Base, r: random.Random) -> Mutant | None:
    if (segment := _rows(one, r)) is None:
        return None
    words, (tile, a) = segment.words.copy(), _live(r, segment)
    b = r.choice([int(w) for w in np.flatnonzero(words[tile])])
    words[tile, [a, b]] = words[tile, [b, a]]
    return changed_rows(one, segment, words, f"words {a} and {b} of row {tile} swapped")


@kind
def word_of_a_row_dropped(one: Base, r: random.Random) -> Mutant | None:
    if (segment := _rows(one, r)) is None:
        return None
    words, (tile, word) = segment.words.copy(), _live(r, segment)
    words[tile] = np.append(np.delete(words[tile], word), 0)
    return changed_rows(one, segment, words, f"word {word} of row {tile} dropped")


@kind
def word_of_a_row_twice(one: Base, r: random.Random) -> Mutant | None:
    if (segment := _rows(one, r)) is None:
        return None
    words, (tile, word) = segment.words.copy(), _live(r, segment)
    words[tile] = np.insert(words[tile], word, words[tile, word])[:-1]
    return changed_rows(one, segment, words, f"word {word} of row {tile} twice")


@kind
def rows_of_two_tiles_swapped(one: Base, r: random.Random) -> Mutant | None:
    segment = _rows(one, r)
    if segment is None or len(segment.words) < 2:
        return None
    a, b = r.sample(range(len(segment.words)), 2)
    words = segment.words.copy()
    words[[a, b]] = words[[b, a]]
    return changed_rows(one, segment, words, f"rows of tiles {a} and {b} swapped")
