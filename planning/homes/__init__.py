# SPDX-License-Identifier: Apache-2.0
"""Homes: in which form, and on which tiles, persistent parameters live."""

from tilewright.planning.homes.forms import (
    Candidate,
    Form,
    HomeError,
    candidates,
    home_layout,
    home_place,
    linear,
    materialise_cycles,
    panel_form,
    panel_grid,
    row_major_home,
)
from tilewright.planning.homes.selection import (
    Distribution,
    HomePlan,
    Objective,
    StorageGroup,
    longest_prefix,
    movable,
    select_homes,
    total_load,
)

__all__ = [
    "Candidate",
    "Distribution",
    "Form",
    "HomeError",
    "HomePlan",
    "Objective",
    "StorageGroup",
    "candidates",
    "home_layout",
    "home_place",
    "linear",
    "longest_prefix",
    "materialise_cycles",
    "movable",
    "panel_form",
    "panel_grid",
    "row_major_home",
    "select_homes",
    "total_load",
]
