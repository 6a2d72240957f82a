# SPDX-License-Identifier: Apache-2.0
"""Layouts: which tile and which element of its shard holds each element of a storage array."""

from tilewright.planning.layout.layout import (
    Axis,
    Layout,
    LayoutError,
    Memory,
    Split,
    View,
    linear_home,
    row_major,
    single_tile,
)

__all__ = [
    "Axis",
    "Layout",
    "LayoutError",
    "Memory",
    "Split",
    "View",
    "linear_home",
    "row_major",
    "single_tile",
]
