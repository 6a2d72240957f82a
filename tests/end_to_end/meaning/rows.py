# SPDX-License-Identifier: Apache-2.0
"""Softmax, attention and the keys that a query sees, statistics of norms."""

from .case import INF, NAN, Case

NEGATIVE = (-INF, -INF, -INF, -INF)
MASK = (*NEGATIVE, 0.0, -INF, 0.0, -INF)
ATTENTION = "2x4xf16 4x4xf16 4x4xf16 2x4xf32 -> 2x4xf16"
ONES = (1.0,) * 8
KEYS = (0.0,) * 16
VALUES = (1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0, 3.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
SECOND = (2.0, 2.0, 2.0, 2.0)
WHOLE = (3.5, 6.0, 8.5, 11.0)

CASES = (
    # softmax and attention
    Case(
        "a negative scale",
        "softmax %a scale -1.0",
        "1x3xf32 -> 1x3xf32",
        ((0.0, 100.0, 200.0),),
        (1.0, 27 * 2.0**-149, 0.0),
    ),
    Case(
        "a negative scale far from zero",
        "softmax %a scale -1.0",
        "1x3xf32 -> 1x3xf16",
        ((2000.0, 1000.0, 1001.0),),
        (0.0, 0.73095703125, 0.26904296875),
    ),
    Case(
        "attention with a negative scale",
        "attention %a, %b, %c scale -1.0",
        "1x1x1xf32 1x2x1xf32 1x2x1xf32 -> 1x1x1xf32",
        ((1.0,), (1000.0, 2000.0), (1.0, 2.0)),
        (1.0,),
    ),
    Case(
        "attention with a negative scale on several parts",
        "attention %a, %b, %c scale -1.0",
        "1x1xf32 64x1xf32 64x1xf32 -> 1x1xf32",
        ((1.0,), range(1000, 1064), range(64)),
        (0.5819767,),
        1e-6,
    ),
    Case(
        "attention of no key gives zeros",
        "attention %a, %b, %c, %d",
        ATTENTION,
        (ONES, KEYS, VALUES, MASK),
        (*(0.0,) * 4, *SECOND),
    ),
    Case(
        "attention of no key: the mean",
        "attention %a, %b, %c, %d empty_rows uniform",
        ATTENTION,
        (ONES, KEYS, VALUES, MASK),
        (*WHOLE, *SECOND),
    ),
    Case(
        "attention of no key: NaN",
        "attention %a, %b, %c, %d empty_rows nan",
        ATTENTION,
        (ONES, KEYS, VALUES, MASK),
        (*(NAN,) * 4, *SECOND),
    ),
    Case(
        "a mask that a negative scale makes one",
        "attention %a, %b, %c, %d scale -1.0",
        ATTENTION,
        (ONES, KEYS, VALUES, [-x for x in MASK]),
        (*(0.0,) * 4, *SECOND),
    ),
    # which keys a query sees
    Case(
        "a query sees no key behind it",
        "attention %a, %b, %c causal",
        "2x4xf16 2x4xf16 2x4xf16 -> 2x4xf16",
        ((0.0,) * 8, (0.0,) * 8, (2.0, 4.0, 6.0, 8.0, 4.0, 8.0, 12.0, 16.0)),
        (2.0, 4.0, 6.0, 8.0, 3.0, 6.0, 9.0, 12.0),
    ),
    Case(
        "a query that stands behind others",
        "attention %a, %b, %c causal query_offset 1",
        "1x4xf16 3x4xf16 3x4xf16 -> 1x4xf16",
        ((0.0,) * 4, (0.0,) * 12, ((2.0,) * 4 + (4.0,) * 4 + (INF,) * 4)),
        (NAN,) * 4,
    ),
    Case(
        "a query before all keys",
        "attention %a, %b, %c causal query_offset -1",
        "2x4xf16 2x4xf16 2x4xf16 -> 2x4xf16",
        ((0.0,) * 8, (0.0,) * 8, (2.0, 4.0, 6.0, 8.0, 4.0, 8.0, 12.0, 16.0)),
        (*(0.0,) * 4, 2.0, 4.0, 6.0, 8.0),
    ),
    Case(
        "a query before all keys: uniform",
        "attention %a, %b, %c causal query_offset -1 empty_rows uniform",
        "2x4xf16 2x4xf16 2x4xf16 -> 2x4xf16",
        ((0.0,) * 8, (0.0,) * 8, (2.0, 4.0, 6.0, 8.0, 4.0, 8.0, 12.0, 16.0)),
        (3.0, 6.0, 9.0, 12.0, 2.0, 4.0, 6.0, 8.0),
    ),
    Case(
        "a window of both sides",
        "attention %a, %b, %c window 2",
        "1x4xf16 4x4xf16 4x4xf16 -> 1x4xf16",
        ((0.0,) * 4, (0.0,) * 16, VALUES),
        (5.5, 11.0, 16.5, 22.0),
    ),
    Case(
        "a window behind a causal query, with a negative scale",
        "attention %a, %b, %c scale -1.0 causal window 2 query_offset 2",
        "1x4xf16 4x4xf16 4x4xf16 -> 1x4xf16",
        ((1.0,) * 4, (-9.0,) * 4 + (1.0,) * 12, VALUES),
        (6.5, 11.0, 15.5, 20.0),
    ),
    Case(
        "heads share keys in order",
        "attention %a, %b, %c",
        "4x1x4xf16 2x1x4xf16 2x1x4xf16 -> 4x1x4xf16",
        ((0.0,) * 16, (0.0,) * 8, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)),
        (1.0, 2.0, 3.0, 4.0) * 2 + (5.0, 6.0, 7.0, 8.0) * 2,
    ),
    Case(
        "a query of each head that shares keys stands at its own place",
        "attention %a, %b, %c causal",
        "2x2x4xf16 1x2x4xf16 1x2x4xf16 -> 2x2x4xf16",
        ((0.0,) * 16, (0.0,) * 8, (2.0, 4.0, 6.0, 8.0, 4.0, 8.0, 12.0, 16.0)),
        (2.0, 4.0, 6.0, 8.0, 3.0, 6.0, 9.0, 12.0) * 2,
    ),
    Case(
        "a mask of truths",
        "attention %a, %b, %c, %d scale -1.0",
        "2x4xf16 4x4xf16 4x4xf16 2x4xi1 -> 2x4xf16",
        (ONES, KEYS, VALUES, (False,) * 4 + (True, False, True, False)),
        (*(0.0,) * 4, *SECOND),
    ),
    Case(
        "a mask after the scale has none",
        "attention %a, %b, %c, %d scale -1.0 mask_place after_scale",
        ATTENTION,
        (ONES, KEYS, VALUES, MASK),
        (*(0.0,) * 4, *SECOND),
    ),
    Case(
        "softmax of a masked row",
        "softmax %a",
        "2x4xf16 -> 2x4xf16",
        (MASK,),
        (*(NAN,) * 4, 0.5, 0.0, 0.5, 0.0),
    ),
    Case(
        "softmax of a masked row: zero",
        "softmax %a empty_rows zero",
        "2x4xf16 -> 2x4xf16",
        (MASK,),
        (*(0.0,) * 4, 0.5, 0.0, 0.5, 0.0),
    ),
    Case(
        "softmax of a masked row: uniform",
        "softmax %a empty_rows uniform",
        "2x4xf16 -> 2x4xf16",
        (MASK,),
        (*(0.25,) * 4, 0.5, 0.0, 0.5, 0.0),
    ),
    # statistics of norms
    Case(
        "squares beyond f32",
        "rms_norm %a, %b epsilon 1.0e-5",
        "1x4xf32 4xf32 -> 1x4xf32",
        ((1e25, -1e25, 1e25, -1e25), (1.0,) * 4),
        (0.0, -0.0, 0.0, -0.0),
    ),
    Case(
        "one square beyond f32",
        "rms_norm %a, %b epsilon 1.0e-5",
        "1x4xf32 4xf32 -> 1x4xf32",
        ((2e19, 0.0, 0.0, 0.0), (1.0,) * 4),
        (0.0,) * 4,
    ),
    Case(
        "deviations beyond f32",
        "layer_norm %a, %b, %c epsilon 1.0e-5",
        "1x2xf32 2xf32 2xf32 -> 1x2xf32",
        ((1e25, -1e25), (1.0,) * 2, (3.0,) * 2),
        (3.0, 3.0),
    ),
)
