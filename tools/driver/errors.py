# SPDX-License-Identifier: Apache-2.0
"""Errors of the tools' own edge: reading, pipelines, verification."""

from __future__ import annotations

from xdsl.utils.exceptions import VerifyException

from tilewright.diagnostics import TileError


class ContextNote(str):
    """
    A note that the driver adds to an error of a pass: printed, but no part of the error that a test expects.
    """


class DriverError(TileError):
    """Command line, files, pipeline text."""


class InvalidIR(TileError, VerifyException):
    """
    IR that does not verify or whose values do not dominate their uses.

    `culprit` names the pass that left it so; None when the input came like that.
    """

    culprit: str | None = None
