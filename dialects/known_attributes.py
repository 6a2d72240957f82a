# SPDX-License-Identifier: Apache-2.0
"""
The attributes with our prefixes: what there is and on what it stands. Anything else with such a prefix is a
misspelling that would be kept and mean nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, UnregisteredOp
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation

from tilewright.suggestions import near, nearest

PREFIXES = ("tile.", "tile_asm.", "tile_layout.", "tile_repeat.", "tile_tensor.")

KNOWN: Mapping[str, str] = {
    "tile.machine": "the module",
    "tile.exchange_phases": "the module",
    "tile.program": "the module",
    "tile.support": "the function",
    "tile.value": "an operation",
    "tile.exchange_items": "an operation",
    "tile_layout.pinned": "an argument",
    "tile_tensor.input": "an argument",
    "tile_tensor.parameter": "an argument",
    "tile_tensor.scale": "an argument",
    "tile_tensor.output": "a result of the function",
}
"""Name to what it stands on."""

NOTES = ("plan", "panels")
"""Attributes without a prefix that passes write on operations of ours."""


def attribute_fault(op: Operation) -> str | None:
    """What is wrong with the names of an operation's attributes; None where nothing is."""
    for place, attributes in _dictionaries(op):
        for name in attributes:
            fault = _fault(name, place, op)
            if fault is not None:
                return fault
    return None


def _dictionaries(op: Operation) -> Iterator[tuple[str, Mapping[str, Attribute]]]:
    place = "an operation"
    if isinstance(op, ModuleOp):
        place = "the module"
    elif op.name == "func.func":
        from xdsl.dialects.func import FuncOp  # loaded by whoever made the operation; its dialect is large

        assert isinstance(op, FuncOp)
        place = "the function"
        for what, attributes in (("an argument", op.arg_attrs), ("a result of the function", op.res_attrs)):
            for entry in attributes or ():
                if isinstance(entry, DictionaryAttr):
                    yield what, entry.data
    yield place, op.attributes


def _fault(name: str, place: str, op: Operation) -> str | None:
    if name.startswith(PREFIXES):
        belongs = KNOWN.get(name)
        if belongs is None:
            return f"unknown attribute `{name}`; {near(name, KNOWN) or 'known: ' + ', '.join(KNOWN)}"
        if belongs != place:
            return f"attribute `{name}` stands on {belongs}, not on {place}"
        return None
    if place in ("an argument", "a result of the function") and "." not in name:
        meant = nearest(name, [known.partition(".")[2] for known in KNOWN], limit=1)
        known = next((k for k in KNOWN if meant and k.endswith(f".{meant[0]}")), None)
        return f"attribute `{name}` of {place} has no dialect's prefix" + (
            f"; did you mean `{known}`?" if known else ""
        )
    if op.name.startswith(PREFIXES) and isinstance(op, IRDLOperation) and not isinstance(op, UnregisteredOp):
        return _misspelt_property(name, op)
    return None


def _misspelt_property(name: str, op: IRDLOperation) -> str | None:
    properties = op.get_irdl_definition().properties
    if name in properties:
        return (
            f"attribute `{name}` has the name of a property, which it does not set; write it in the"
            " operation's own syntax"
        )
    if name in NOTES:
        return None
    meant = near(name, (*properties, "plan"), limit=1)
    return f"unknown attribute `{name}`; {meant}" if meant else None
