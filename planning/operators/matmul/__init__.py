# SPDX-License-Identifier: Apache-2.0
"""
Matrix multiplication: a 3-D grid of tiles (m, n, k parts) with the partial products of the k parts reduced
by their owners.

Every tile multiplies a block [m, k] by a block [k, n]; tiles that differ in k only hold partial sums of the
same block, exchange them (reduce-scatter over rows of the block, or over columns where rows are too few) and
add them up. The reduction can leave the result in the small blocks of rows that streams of residuals are kept
in (`target`), and takes the addends of the product as further terms: the first whole one where it lies, or
else a vector, and the others behind the partials. With `swap` the two operands change roles, so the product
leaves the matrix unit transposed: rows of the right operand are streamed and the result's m axis becomes the
innermost one. Both roles read the same
bytes: panels have k innermost.
"""

from tilewright.planning.operators.matmul.addends import first_addend, further_addends
from tilewright.planning.operators.matmul.choice import candidates, default_record, wanted
from tilewright.planning.operators.matmul.expansion import expand
from tilewright.planning.operators.matmul.grids import side_by_side
from tilewright.planning.operators.matmul.places import Layouts, layouts, operand_targets
from tilewright.planning.operators.matmul.records import BLOCKS, PARTS, MatmulRecord, check_record, shape_of
from tilewright.planning.operators.matmul.shape import (
    PANEL_WORD,
    Shape,
    blocks,
    canonical,
    cast_exponent,
    choose_kernel,
    swapped,
    used_grid,
)
from tilewright.planning.operators.strategy import Strategy

GRID = Strategy(
    "grid",
    ("matmul",),
    MatmulRecord,
    default=default_record,
    candidates=candidates,
    targets=operand_targets,
    expand=expand,
)
STRATEGIES = (GRID,)

__all__ = [
    "BLOCKS",
    "GRID",
    "PANEL_WORD",
    "PARTS",
    "STRATEGIES",
    "Layouts",
    "MatmulRecord",
    "Shape",
    "blocks",
    "candidates",
    "canonical",
    "cast_exponent",
    "check_record",
    "choose_kernel",
    "default_record",
    "expand",
    "first_addend",
    "further_addends",
    "layouts",
    "operand_targets",
    "shape_of",
    "side_by_side",
    "swapped",
    "used_grid",
    "wanted",
]
