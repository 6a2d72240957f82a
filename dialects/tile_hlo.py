# SPDX-License-Identifier: Apache-2.0
"""
The `tile_hlo` dialect: the middle form of the front ends.

    %1 = tile_hlo.dot_general %x, %w {lhs_batching = array<i64>, rhs_batching = array<i64>,
        lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
        : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>

The operations of StableHLO that have a meaning here, with its semantics, and no others; composites of
`tile_tensor` (softmax, layer_norm, attention, ...) may stand among them. Readers of models write it,
`tile-fold-constants` and `tile-raise-patterns` work on it, `tile-convert-hlo` turns it into `tile_tensor`.
docs/frontends/middle.md says how a reader writes it.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from tilewright.dialects.hlo.operations import OPERATIONS

TileHlo = Dialect("tile_hlo", list(OPERATIONS.values()), [])
