# SPDX-License-Identifier: Apache-2.0
"""The one place that finds the known name that an unknown one was meant to be, where one is near enough."""

from __future__ import annotations

from collections.abc import Iterable

CUTOFF = 0.6
"""Least similarity of a suggestion (difflib's ratio: twice the common characters over all characters)."""
SHORT = 0.65
"""The same for names of up to four characters, which share half of their characters by chance."""


def nearest(name: str, candidates: Iterable[str], limit: int = 3) -> list[str]:
    """Up to `limit` of `candidates` that `name` may have been meant to be, nearest first; often none."""
    wanted = name.casefold()
    found: list[tuple[float, str]] = []
    for candidate in dict.fromkeys(candidates):
        # the parts of a dotted name count: `layers.q` is not near `layers.mlp`
        ratio = _similarity(wanted, candidate.casefold())
        if ratio >= (SHORT if max(len(name), len(candidate)) <= 4 else CUTOFF):
            found.append((-ratio, candidate))
    return [candidate for _, candidate in sorted(found)[:limit]]


def near(name: str, candidates: Iterable[str], limit: int = 3) -> str | None:
    """A question that names the nearest of `candidates`; None where nothing is near."""
    matches = nearest(name, candidates, limit)
    if not matches:
        return None
    return "did you mean " + " or ".join(f"`{match}`" for match in matches) + "?"


def _similarity(name: str, candidate: str) -> float:
    """
    Difflib's ratio; of two dotted names with a common beginning, that of what follows, so that a long common
    prefix does not make strangers near.
    """
    left, right = name.split("."), candidate.split(".")
    common = 0
    while common < min(len(left), len(right)) - 1 and left[common] == right[common]:
        common += 1
    a, b = ".".join(left[common:]), ".".join(right[common:])
    from difflib import SequenceMatcher  # only where something is wrong

    matcher = SequenceMatcher(None, a, b)
    return matcher.ratio() if matcher.quick_ratio() >= CUTOFF else 0.0
