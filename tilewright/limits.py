# SPDX-License-Identifier: Apache-2.0
"""
How large a number in a program, and a thing made of such numbers, may be: the one owner of these bounds.

They are far above anything that a machine holds (a tile has less than a megabyte, the largest machine a
gigabyte), and low enough that nothing within them overflows 64 bits or takes gigabytes to look at. Readers
and verifiers check them once; what lies behind relies on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

INTEGER_BITS = 64
"""An integer in the text of a program has at most these many bits, its sign apart."""

EXTENT = 2**31 - 1
"""Largest extent of a tensor's or a layout's axis, block, panel, stride, offset or tile number."""

TENSOR_ELEMENTS = 2**31 - 1
"""Most elements of a tensor."""

CONSTANT_ELEMENTS = 2**22
"""Most elements of a constant that stands in the text; weights are parameters."""

WINDOW_ELEMENTS = 2**12
"""Most elements of a window that moves over a tensor; a reduction of whole axes needs no window."""

MEMBERS = 2**20
"""Most members of a sequence of tensors (nested: of all levels together), and iterations of a repeat."""

RANK = 26
"""Most axes of a tensor; a layout names its axes by a letter each."""

ADDRESS = 2**32
"""Addresses and byte counts of tile memory are at most this."""

MEMORY_ELEMENTS = 2**16
"""Most memory elements of a region."""

EVENTS = 2**31
"""Events of an allocation problem have numbers within this, of both signs."""

TILES = 2**16
"""Most tiles of a machine, of a class of tiles, and copies of a part of a layout; tile numbers lie below."""

LAYOUT_PARTS = 2**24
"""Most parts into which a layout divides an axis."""

LAYOUT_EXTENT = 2**28
"""Largest axis of a layout: tables of an axis have 8 bytes an index."""


def tensor_fault(shape: Sequence[int]) -> str | None:
    """Why no tensor has this (static) shape; None for good ones."""
    if len(shape) > RANK:
        return f"a tensor has at most {RANK} axes, found {len(shape)}"
    for extent in shape:
        if extent > EXTENT:
            return f"an axis has at most {EXTENT} elements, found {extent}"
    count = prod(shape)
    # an empty tensor with huge other axes is as large as those to whoever walks them
    if max(count, prod(max(extent, 1) for extent in shape)) > TENSOR_ELEMENTS:
        return f"a tensor has at most {TENSOR_ELEMENTS} elements, found {'x'.join(map(str, shape))}"
    return None
