# SPDX-License-Identifier: Apache-2.0
"""
Options of passes: a field of the pass with its meaning and its range, which `tile-opt --help PASS` prints and
its reader of pipelines enforces.
"""

from __future__ import annotations

import dataclasses
from typing import Any

MACHINE_OPTION = "name of a machine or a machine file; without it the module's, then `--machine`"
"""Meaning of the option `machine` of every pass that has it."""


def option(default: Any, meaning: str, *, least: int | None = None, most: int | None = None) -> Any:
    """A field for an option: its default, what it means, and, for numbers, its range."""
    return dataclasses.field(default=default, metadata={"meaning": meaning, "least": least, "most": most})


def meaning_of(field: dataclasses.Field[Any]) -> str | None:
    """What an option means; None where it does not say (passes of others)."""
    return field.metadata.get("meaning")


def range_of(field: dataclasses.Field[Any]) -> str | None:
    """The range of a number, in words; None where any will do."""
    least, most = field.metadata.get("least"), field.metadata.get("most")
    if least is not None and most is not None:
        return f"{least} to {most}"
    if least is not None:
        return f"at least {least}"
    return None if most is None else f"at most {most}"


def out_of_range(field: dataclasses.Field[Any], value: object) -> bool:
    """Whether a value lies outside of the option's range."""
    least, most = field.metadata.get("least"), field.metadata.get("most")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return (least is not None and value < least) or (most is not None and value > most)
