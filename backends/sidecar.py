# SPDX-License-Identifier: Apache-2.0
"""
Tables beside a text: what is too large to print goes to one file of raw bytes, the text names it.

A tool that writes a text gathers its large tables first (`Tables`), prints with references to them
(`referring`) and writes the file; printing itself only looks them up. Around parsing it puts the folder in
force (`reading`). A reference is a file name in that folder, an offset and the sha256 of the bytes.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from tilewright.diagnostics import TileError

INLINE_LIMIT = 64 * 1024
"""Bytes of tables that a text may hold in all; more go to a sidecar file."""


class SidecarError(TileError):
    """A sidecar file that is missing, damaged, outside its folder, or needed and not possible."""


@dataclass(frozen=True)
class Reference:
    """`nbytes` at `offset` of `file` (a name without folder), whose sha256 is `sha256` (hexadecimal)."""

    file: str
    offset: int
    nbytes: int
    sha256: str


def _digest(raw: bytes) -> str:
    import hashlib  # loads OpenSSL: not for programs without tables

    return hashlib.sha256(raw).hexdigest()


class Tables:
    """The bytes of one sidecar file, gathered before a text is printed; equal contents are stored once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._blob = bytearray()
        self._known: dict[str, Reference] = {}

    def add(self, raw: bytes) -> None:
        """Give these bytes a place in the file."""
        digest = _digest(raw)
        if digest not in self._known:
            self._known[digest] = Reference(self.path.name, len(self._blob), len(raw), digest)
            self._blob += raw

    def find(self, raw: bytes) -> Reference | None:
        """Where these bytes are in the file; None if they were not added."""
        return self._known.get(_digest(raw))

    def write(self) -> None:
        """Write the file, in one step; nothing is written when nothing was added."""
        if not self._known:
            return
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            temporary.write_bytes(self._blob)
            os.replace(temporary, self.path)
        except OSError as error:
            raise SidecarError(f"cannot write '{self.path}': {error.strerror}") from error


_tables: ContextVar[Tables | None] = ContextVar("tilewright_sidecar_tables", default=None)
_folder: ContextVar[Path | None] = ContextVar("tilewright_sidecar_folder", default=None)


def place_of(raw: bytes) -> Reference | None:
    """Where a text that is printed now refers to for these bytes; None: they are printed themselves."""
    tables = _tables.get()
    return None if tables is None else tables.find(raw)


@contextmanager
def referring(tables: Tables) -> Generator[None]:
    """Texts that are printed in the block refer to `tables` for what those hold."""
    token = _tables.set(tables)
    try:
        yield
    finally:
        _tables.reset(token)


@contextmanager
def reading(folder: Path) -> Generator[None]:
    """Look for sidecar files in `folder` in the block; without it, in the working directory."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


def fetch(reference: Reference) -> bytes:
    """The bytes of a reference; SidecarError when they are not there or are not those."""
    if not reference.file or Path(reference.file).name != reference.file or reference.file in (".", ".."):
        raise SidecarError(f"sidecar file '{reference.file}' is not a plain name: it must stay in its folder")
    path = (_folder.get() or Path()) / reference.file
    try:
        with path.open("rb") as file:
            file.seek(reference.offset)
            raw = file.read(reference.nbytes)
    except OSError as error:
        raise SidecarError(
            f"cannot read sidecar file '{path}': {error.strerror}",
            hint="give its folder with --sidecar-dir",
        ) from error
    if _digest(raw) != reference.sha256:
        raise SidecarError(
            f"sidecar file '{path}' does not hold what the text was written with",
            notes=[f"{reference.nbytes} bytes at {reference.offset} should have sha256 {reference.sha256}"],
        )
    return raw
