# SPDX-License-Identifier: Apache-2.0
"""The operations that programs draw from, as often as they are wanted."""

from __future__ import annotations

from collections.abc import Callable

from .elements import binary, cast, unary
from .movement import (
    broadcast,
    concat,
    gather,
    one_hot,
    pad,
    reshape,
    scatter_add,
    sequence,
    slice_,
    transpose,
)
from .products import attention, bias_gelu, linear, matmul
from .rows import layer_norm, ordering, reduce, rms_norm, softmax
from .values import Value
from .windows import convolution, reduce_window
from .writer import Writer

OPERATIONS: tuple[Callable[[Writer], Value], ...] = (
    matmul, linear, binary, binary, unary, cast, reduce, reduce, layer_norm, rms_norm, softmax,
    attention, attention, transpose, reshape,
    slice_, broadcast, concat, pad, gather, bias_gelu, sequence, concat, bias_gelu,
    convolution, reduce_window, one_hot, ordering, ordering, ordering, scatter_add,
)  # fmt: skip
