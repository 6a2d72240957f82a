# SPDX-License-Identifier: Apache-2.0
"""
The base of every error that a user can cause.

Each layer subclasses `TileError` once; the tools turn it into a diagnostic (`file:line:col: error: ...`,
source line, caret, notes, hint) at their edge. It is one of xDSL's diagnostics too (of its exceptions only;
the planning libraries, which know no IR, raise it), so that other tools built on xDSL treat it as they treat
their own: `xdsl-opt --verify-diagnostics` prints it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.utils.exceptions import PassFailedException


class TileError(PassFailedException):
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
        self._added: list[str] = []

    @property
    def __notes__(self) -> list[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Place, notes and hint as lines: what xdsl-opt and Python print after the message."""
        place = place_text(self.location)
        lines = [f"at {place}"] if place else []
        lines += [f"note: {note}" for note in self.notes]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return lines + self._added

    def add_note(self, note: str, /) -> None:
        """As for any exception."""
        self._added.append(note)


_FILE_LINE_COLUMN = re.compile(r'"([^"]*)":(\d+):(\d+)')
_NAME = re.compile(r'^loc\("([^"]+)"')


def place_text(location: object | None) -> str:
    """
    `file:line:col` of a location of any kind (the innermost of several), of an operation; the name of a
    location that has nothing else, as that of a graph's node; else nothing.
    """
    if isinstance(location, str) or location is None:
        return location or ""
    if hasattr(location, "regions"):
        location = getattr(location, "location", None)
    found = _FILE_LINE_COLUMN.search(str(location))
    if found is None:
        name = _NAME.search(str(location))
        return name[1] if name else ""
    return ":".join(found.groups())
