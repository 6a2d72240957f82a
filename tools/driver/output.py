# SPDX-License-Identifier: Apache-2.0
"""
Printing modules: large tables beside the text, files replaced in one step.

Tables print inline up to 64 KiB in all; beyond that they go to `FILE.data` beside `FILE`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from io import StringIO
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from tilewright.backends import sidecar
from tilewright.tools.driver.errors import DriverError


def tables_of(module: ModuleOp) -> list[bytes]:
    """The words of all tables in a module, in order."""
    if "tilewright.dialects.asm.attributes" not in sys.modules:
        return []  # nothing in this process has made a table
    from tilewright.dialects.asm.attributes import WordsAttr

    return [
        attribute.data.raw
        for op in module.walk()
        for attribute in (*op.properties.values(), *op.attributes.values())
        if isinstance(attribute, WordsAttr)
    ]


def print_with_tables(module: ModuleOp, data_path: Path | None, text: Callable[[], str]) -> str:
    """
    `text()`, printed inline or with its tables in the file `data_path`.

    `DriverError` where the tables are too large and there is no file to hold them.
    """
    tables = tables_of(module)
    total = sum(map(len, tables))
    if total <= sidecar.INLINE_LIMIT:
        return text()
    if data_path is None:
        raise DriverError(
            f"the program's tables are {total} bytes; at most {sidecar.INLINE_LIMIT} are printed inline",
            hint="give -o FILE or --sidecar-dir DIR: the tables are written to a file there",
        )
    data_path.parent.mkdir(parents=True, exist_ok=True)
    return print_beside(tables, data_path, text)


def print_beside(tables: Iterable[bytes], data_path: Path, text: Callable[[], str]) -> str:
    """`text()` with references to `tables`, which are written to `data_path` then."""
    held = sidecar.Tables(data_path)
    for raw in tables:
        held.add(raw)
    with sidecar.referring(held):
        printed = text()
    held.write()
    return printed


def write_module(module: ModuleOp, path: Path) -> None:
    """Print a module to a file, its large tables to `path` + `.data`."""
    data_path = path.with_name(path.name + ".data")
    replace_file(path, print_with_tables(module, data_path, lambda: str(module) + "\n"))


def replace_file(path: Path, text: str) -> None:
    """
    Write a file in one step: whoever reads it sees the old text or the new one. What is no regular file (a
    device, a pipe) is written to, never replaced.
    """
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8") as file:
            file.write(text)
        return
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


class ReplacedWhenFlushed(StringIO):
    """
    Text that reaches its file in one step: a failed run leaves the old file, and the output may be the input.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def flush(self) -> None:
        super().flush()
        replace_file(self._path, self.getvalue())
