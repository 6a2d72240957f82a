# SPDX-License-Identifier: Apache-2.0
"""Sorting by several keys at once: most of what is done with millions of messages."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

ROOM = 1 << 62
"""What keys packed in one integer may count up to."""


def ordered_by(*keys: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """
    The stable order of arrays (n,) of integers, first key slowest: `numpy.lexsort` of the keys in reverse.

    Keys are packed in as few integers as hold them, usually one or two: each key more is one more sort.
    """
    if not keys[0].size:
        return np.empty(0, np.int64)
    packed: list[npt.NDArray[np.int64]] = []
    room = ROOM
    for key in keys:
        low = int(key.min())
        count = int(key.max()) - low + 1
        if count == 1:
            continue
        digit = key.astype(np.int64) - low
        if room * count < ROOM:
            packed[-1] = packed[-1] * count + digit
            room *= count
        else:
            packed.append(digit)
            room = count
    if len(packed) == 1:
        return np.argsort(packed[0], kind="stable")
    return np.lexsort(packed[::-1]) if packed else np.arange(len(keys[0]), dtype=np.int64)
