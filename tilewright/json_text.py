# SPDX-License-Identifier: Apache-2.0
"""
JSON files that users write: numbers within 64 bits, and no key that nobody reads.

Every reader of such a file goes through here; what it returns is plain data that fits numpy's integers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from tilewright import limits
from tilewright.suggestions import near


def read_json(text: str | bytes) -> Any:
    """The data in a JSON text. ValueError says what is wrong with it."""
    try:
        return json.loads(text, parse_int=_integer, parse_float=_finite, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def unknown_key(data: Mapping[str, Any], known: Iterable[str], what: str) -> tuple[str, str] | None:
    """
    A sentence about the first key of `data` that is none of `known`, and what may have been meant; None
    where all are known. Keys that begin with `_` are the writer's own notes.
    """
    names = list(known)
    for key in data:
        if key not in names and not key.startswith("_"):
            return f"{what} has an unknown key {key!r}", near(key, names) or f"known: {', '.join(names)}"
    return None


def _integer(text: str) -> int:
    # the length first: Python refuses to convert thousands of digits
    digits = text.removeprefix("-")
    if len(digits) > 19 or int(digits) >> (limits.INTEGER_BITS - 1):
        shown = text if len(text) <= 40 else f"{text[:37]}..."
        raise ValueError(f"the integer {shown} has more than {limits.INTEGER_BITS} bits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text} is beyond the largest of 64 bits")
    return value


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no JSON number")
