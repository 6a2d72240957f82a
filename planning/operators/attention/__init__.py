# SPDX-License-Identifier: Apache-2.0
"""Attention on a score grid: the strategies, the favourite first, and what others ask of them."""

from tilewright.planning.operators.attention.own_keys import OWN_KEYS, OwnKeysRecord
from tilewright.planning.operators.attention.places import layouts, still_targets
from tilewright.planning.operators.attention.score_grid import SCORE_GRID
from tilewright.planning.operators.attention.shape import (
    AttentionRecord,
    Shape,
    blocks,
    canonical,
    used_grid,
)

STRATEGIES = (OWN_KEYS, SCORE_GRID)

__all__ = [
    "SCORE_GRID",
    "STRATEGIES",
    "AttentionRecord",
    "OwnKeysRecord",
    "Shape",
    "blocks",
    "canonical",
    "layouts",
    "still_targets",
    "used_grid",
]
