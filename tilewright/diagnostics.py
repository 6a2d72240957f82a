# SPDX-License-Identifier: Apache-2.0
"""
The base of every error that a user can cause.

Each layer subclasses `TileError` once; the tools turn it into a diagnostic (`file:line:col: error: ...`,
source line, caret, notes, hint) at their edge. Nothing here imports xDSL, so the planning libraries can raise
it too.
"""

from __future__ import annotations

from collections.abc import Sequence


class TileError(Exception):
    """
    Something the user wrote is wrong, does not fit, or failed a check.

    `location` is whatever the raising layer knows: an xDSL location attribute, text such as "model.mlir:3:5",
    or None. `notes` are further lines (what was needed, what was there), `hint` says what to do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        location: object | None = None,
        notes: Sequence[str] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.notes = tuple(notes)
        self.hint = hint
