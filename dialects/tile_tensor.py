# SPDX-License-Identifier: Apache-2.0
"""
The `tile_tensor` dialect: what is computed.

Named operations with value semantics on builtin tensor types of static shape. One syntax serves all of them:

    %c = tile_tensor.matmul %a, %b transpose_b accumulate f16 scale -3
        : (tensor<4x8xf16>, tensor<6x8xf16>) -> tensor<4x6xf16>

operands, clauses (a keyword and a value, left out at its default), attributes, then the types. A tensor
type may carry an encoding (a layout); shapes and element types are checked without it. The operations are
defined by what they do in `tensor_elementwise`, `tensor_products`, `tensor_rows` and `tensor_movement`.
`docs/spec/tensor.md` defines every operation's value, `tilewright.dialects.reference` evaluates it.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from tilewright.dialects.tensor_base import (
    TensorOperation,
    element_of,
    is_float,
    is_float8,
    is_integer,
    shape_of,
    tensor_type,
)
from tilewright.dialects.tensor_elementwise import (
    AbsOp,
    AddOp,
    Approximation,
    ApproximationAttr,
    BiasGeluOp,
    BinaryOperation,
    CastOp,
    DivOp,
    ElementwiseOperation,
    ErfOp,
    ExpOp,
    FloatUnaryOperation,
    GeluOp,
    LogOp,
    MaximumOp,
    MinimumOp,
    MulOp,
    NegOp,
    ReciprocalOp,
    ReluOp,
    RsqrtOp,
    SigmoidOp,
    SqrtOp,
    SquareOp,
    SubOp,
    TanhOp,
    UnaryOperation,
)
from tilewright.dialects.tensor_movement import (
    BroadcastOp,
    ConcatOp,
    ConstantOp,
    GatherOp,
    MovementOperation,
    PadOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
)
from tilewright.dialects.tensor_products import (
    AttentionOp,
    MatmulOp,
)
from tilewright.dialects.tensor_rows import (
    LayerNormOp,
    ReduceOp,
    Reduction,
    ReductionAttr,
    RmsNormOp,
    SoftmaxOp,
)

__all__ = [
    "AbsOp",
    "AddOp",
    "Approximation",
    "ApproximationAttr",
    "AttentionOp",
    "BiasGeluOp",
    "BinaryOperation",
    "BroadcastOp",
    "CastOp",
    "ConcatOp",
    "ConstantOp",
    "DivOp",
    "ElementwiseOperation",
    "ErfOp",
    "ExpOp",
    "FloatUnaryOperation",
    "GatherOp",
    "GeluOp",
    "LayerNormOp",
    "LogOp",
    "MatmulOp",
    "MaximumOp",
    "MinimumOp",
    "MovementOperation",
    "MulOp",
    "NegOp",
    "PadOp",
    "ReciprocalOp",
    "ReduceOp",
    "Reduction",
    "ReductionAttr",
    "ReluOp",
    "ReshapeOp",
    "RmsNormOp",
    "RsqrtOp",
    "SigmoidOp",
    "SliceOp",
    "SoftmaxOp",
    "SqrtOp",
    "SquareOp",
    "SubOp",
    "TanhOp",
    "TensorOperation",
    "TileTensor",
    "TransposeOp",
    "UnaryOperation",
    "element_of",
    "is_float",
    "is_float8",
    "is_integer",
    "shape_of",
    "tensor_type",
]

TileTensor = Dialect(
    "tile_tensor",
    [
        AbsOp,
        AddOp,
        AttentionOp,
        BroadcastOp,
        CastOp,
        ConcatOp,
        ConstantOp,
        DivOp,
        ErfOp,
        ExpOp,
        GatherOp,
        BiasGeluOp,
        GeluOp,
        LayerNormOp,
        LogOp,
        MatmulOp,
        MaximumOp,
        MinimumOp,
        MulOp,
        NegOp,
        PadOp,
        ReciprocalOp,
        ReduceOp,
        ReluOp,
        ReshapeOp,
        RmsNormOp,
        RsqrtOp,
        SigmoidOp,
        SliceOp,
        SoftmaxOp,
        SqrtOp,
        SquareOp,
        SubOp,
        TanhOp,
        TransposeOp,
    ],
    [ApproximationAttr, ReductionAttr],
)
