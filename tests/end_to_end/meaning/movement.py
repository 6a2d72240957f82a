# SPDX-License-Identifier: Apache-2.0
"""Orders, slices, pads and gathers."""

from .case import E4, INF, NAN, Case

LOW32 = -(2**31)

CASES = (
    # order
    Case(
        "the first of several maxima",
        "argmax %a",
        "2x4xf16 -> 2xi32",
        ((1, 3, 3, 0, -0.0, 0.0, -1, 0.0),),
        (1, 0),
    ),
    Case("the first NaN", "argmin %a", "1x4xf32 -> 1xi32", ((1.0, NAN, -INF, NAN),), (1,)),
    Case("where columns are least", "argmin %a axis 0", "2x2xi8 -> 2xi32", ((-128, 5, 127, -5),), (0, 1)),
    Case(
        "NaN is above everything",
        "sort %a",
        "1x5xf32 -> 1x5xf32",
        ((NAN, INF, -1.0, 0.0, -0.0),),
        (-1.0, 0.0, -0.0, INF, NAN),
    ),
    Case(
        "a falling order keeps what is equal",
        "argsort %a descending",
        "1x5xf32 -> 1x5xi32",
        ((1.0, NAN, 1.0, INF, NAN),),
        (1, 4, 3, 0, 2),
    ),
    Case("the largest two", "top_k %a count 2", "1x4xi32 -> 1x2xi32", ((LOW32, 7, -1, 7),), (7, 7)),
    Case("where they are", "top_k_indices %a count 3", "1x4xi32 -> 1x3xi32", ((LOW32, 7, -1, 7),), (1, 3, 2)),
    Case("running sums wrap", "cumsum %a", "1x3xi8 -> 1x3xi8", ((127, 1, -1),), (127, -128, 127)),
    Case(
        "running sums saturate",
        "cumsum %a",
        f"1x3x{E4} -> 1x3x{E4}",
        ((200.0, 200.0, -240.0),),
        (192.0, 240.0, 144.0),
    ),
    Case(
        "rows are added by index",
        "scatter_add %a, %b, %c",
        "3x2xf16 4xi32 4x2xf16 -> 3x2xf16",
        ((1, 2, 3, 4, 5, 6), (2, 0, 2, 3), (10, 20, 30, 40, 50, 60, 70, 80)),
        (31, 42, 3, 4, 65, 86),
    ),
    Case(
        "sums by index are rounded once",
        "scatter_add %a, %b, %c",
        "1xf16 2xi32 2xf16 -> 1xf16",
        ((2048.0,), (0, 0), (1.0, 1.0)),
        (2050.0,),
    ),
    # slices and pads
    Case(
        "every second element",
        "slice %a offsets [1, 0] sizes [2, 2] strides [2, 3]",
        "4x4xf16 -> 2x2xf16",
        (range(16),),
        (4, 7, 12, 15),
    ),
    Case(
        "elements between elements",
        "pad %a low [1] high [-1] interior [2] value 9.0",
        "3xf16 -> 7xf16",
        ((1.0, 2.0, 3.0),),
        (9.0, 1.0, 9.0, 9.0, 2.0, 9.0, 9.0),
    ),
    Case(
        "a pad that takes elements away",
        "pad %a low [-2, 1] high [0, -1] value 9.0",
        "4x2xf32 -> 2x2xf32",
        (range(8),),
        (9.0, 4.0, 9.0, 6.0),
    ),
    Case(
        "a pad that leaves nothing",
        "pad %a low [-2] high [3] value 1.0",
        "2xf16 -> 3xf16",
        ((5, 6),),
        (1,) * 3,
    ),
    Case(
        "softmax of columns",
        "softmax %a axis 0",
        "2x2xf32 -> 2x2xf32",
        ((0.0, 3.0, 0.0, 3.0),),
        (0.5, 0.5, 0.5, 0.5),
    ),
    # gather
    Case(
        "rows outside are clamped",
        "gather %a, %b",
        "2x4xf16 3xi32 -> 3x4xf16",
        ((1, 2, 3, 4, 5, 6, 7, 8), (1, 2, -1)),
        (5, 6, 7, 8, 5, 6, 7, 8, 1, 2, 3, 4),
    ),
    Case(
        "rows outside of a table on several tiles",
        "gather %a, %b",
        "4x3xf32 3xi32 -> 3x3xf32",
        (range(12), (0, 2**31 - 1, LOW32)),
        (0, 1, 2, 9, 10, 11, 0, 1, 2),
    ),
    Case(
        "rows outside are zero",
        "gather %a, %b out_of_range zero",
        "4x3xf32 3xi32 -> 3x3xf32",
        (range(1, 13), (0, 4, -1)),
        (1, 2, 3, 0, 0, 0, 0, 0, 0),
    ),
    Case(
        "columns outside are zero",
        "gather %a, %b axis 1 out_of_range zero",
        "2x3xf16 3xi32 -> 2x3xf16",
        (range(1, 7), (2, 3, -1)),
        (3, 0, 0, 6, 0, 0),
    ),
    Case("a table without rows", "gather %a, %b", "0x3xf16 2xi32 -> 2x3xf16", ((), (0, 1)), (0,) * 6),
    # pads
    Case(
        "a large integer",
        "pad %a low [1] high [1] value 2147483647",
        "2xi32 -> 4xi32",
        ((5, 6),),
        (2147483647, 5, 6, 2147483647),
    ),
    Case(
        "an odd integer beyond f32",
        "pad %a low [1] high [0] value -16777217",
        "2xi32 -> 3xi32",
        ((5, 6),),
        (-16777217, 5, 6),
    ),
    Case(
        "a pad that is rounded once",
        "pad %a low [1] high [0] value 1.00048828135",
        "1xf16 -> 2xf16",
        ((1.0,),),
        (1.0009765625, 1.0),
    ),
    Case(
        "a pad beyond f16", "pad %a low [1] high [0] value -1.0e9", "1xf16 -> 2xf16", ((1.0,),), (-INF, 1.0)
    ),
    Case(
        "the largest of 8 bits",
        "pad %a low [1] high [1] value 247.0",
        f"1x{E4} -> 3x{E4}",
        ((1.0,),),
        (240.0, 1.0, 240.0),
    ),
)
