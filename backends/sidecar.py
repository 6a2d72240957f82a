# SPDX-License-Identifier: Apache-2.0
"""
Tables beside a text: what is too large to print goes to one file of raw bytes, the text names it.

Tools put a folder in force around printing (`writing`) and parsing (`reading`); attributes that hold large
tables ask here. A reference is a file name in that folder, an offset and the sha256 of the bytes.
"""

from __future__ import annotations

import hashlib
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


class Writer:
    """Collects the bytes of one sidecar file; equal contents are stored once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._blob = bytearray()
        self._known: dict[str, Reference] = {}

    def put(self, raw: bytes) -> Reference:
        """Where these bytes are in the file."""
        digest = hashlib.sha256(raw).hexdigest()
        if digest not in self._known:
            self._known[digest] = Reference(self.path.name, len(self._blob), len(raw), digest)
            self._blob += raw
        return self._known[digest]

    def close(self) -> None:
        """Write the file, in one step; nothing is written when nothing was put."""
        if not self._known:
            return
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            temporary.write_bytes(self._blob)
            os.replace(temporary, self.path)
        except OSError as error:
            raise SidecarError(f"cannot write '{self.path}': {error.strerror}") from error


_writer: ContextVar[Writer | None] = ContextVar("tilewright_sidecar_writer", default=None)
_folder: ContextVar[Path | None] = ContextVar("tilewright_sidecar_folder", default=None)


def writer() -> Writer | None:
    """The sidecar file in force for printing, or None."""
    return _writer.get()


@contextmanager
def writing(path: Path) -> Generator[Writer]:
    """Send large tables that are printed in the block to the file `path`."""
    found = Writer(path)
    token = _writer.set(found)
    try:
        yield found
        found.close()
    finally:
        _writer.reset(token)


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
    if hashlib.sha256(raw).hexdigest() != reference.sha256:
        raise SidecarError(
            f"sidecar file '{path}' does not hold what the text was written with",
            notes=[f"{reference.nbytes} bytes at {reference.offset} should have sha256 {reference.sha256}"],
        )
    return raw
