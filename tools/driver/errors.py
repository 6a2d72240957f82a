# SPDX-License-Identifier: Apache-2.0
"""Errors of the tools' own edge: reading, pipelines, verification."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from xdsl.utils.exceptions import VerifyException

from tilewright.diagnostics import TileError


class DriverError(TileError):
    """Command line, files, pipeline text."""


class InvalidIR(TileError, VerifyException):
    """
    IR that does not verify or whose values do not dominate their uses.

    `culprit` names the pass that left it so; None when the input came like that.
    """

    culprit: str | None = None


def near(name: str, candidates: Iterable[str], limit: int = 3) -> str | None:
    """A question that names the nearest of `candidates`; None where nothing is near."""
    matches = get_close_matches(name, sorted(candidates), n=limit, cutoff=0.6)
    if not matches:
        return None
    return "did you mean " + " or ".join(f"`{match}`" for match in matches) + "?"
