# SPDX-License-Identifier: Apache-2.0
"""Errors of the tools' own edge: reading, pipelines, verification."""

from __future__ import annotations

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
