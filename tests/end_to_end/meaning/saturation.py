# SPDX-License-Identifier: Apache-2.0
"""What 8-bit results and others do beyond their range."""

from .case import E4, INF, NAN, Case

ONES = (1.0,) * 8

CASES = (
    # 8-bit results saturate in every operation
    Case(
        "a sum in 8 bits saturates before its gelu",
        "%s = tile_tensor.add %a, %b : (tensor<1x3xf16>, tensor<3xf16>) -> tensor<1x3xf8E4M3FNUZ>;"
        "%r = tile_tensor.gelu %s approximate tanh : (tensor<1x3xf8E4M3FNUZ>) -> tensor<1x3xf16>",
        "1x3xf16 3xf16 -> 1x3xf16",
        ((1000.0, 100.5, 1.06), (0.0, 0.0, 0.0)),
        (240.0, 104.0, 0.84130859375),
    ),
    Case(
        "a sum in f16 overflows before its gelu in f32",
        "%s = tile_tensor.add %a, %b : (tensor<1x2xf16>, tensor<2xf16>) -> tensor<1x2xf16>;"
        "%r = tile_tensor.gelu %s approximate tanh : (tensor<1x2xf16>) -> tensor<1x2xf32>",
        "1x2xf16 2xf16 -> 1x2xf32",
        ((60000.0, 1.0), (60000.0, 60000.0)),
        (INF, 60000.0),
    ),
    Case(
        "a sum of f32 in f16 is rounded before its gelu",
        "%s = tile_tensor.add %a, %b : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf16>;"
        "%r = tile_tensor.gelu %s approximate tanh : (tensor<1x2xf16>) -> tensor<1x2xf32>",
        "1x2xf32 2xf32 -> 1x2xf32",
        ((1e5, 2048.0), (0.0, 1.0)),
        (INF, 2048.0),
    ),
    Case("sums of rows saturate", "reduce sum %a axes [1]", f"1x8x{E4} -> 1x{E4}", ((64.0,) * 8,), (240.0,)),
    Case(
        "products of rows saturate, beyond f32 too",
        "reduce prod %a axes [1]",
        f"2x40x{E4} -> 2x{E4}",
        ((-240.0, *(240.0,) * 39, *(240.0,) * 40),),
        (-240.0, 240.0),
    ),
    Case("means saturate", "reduce mean %a axes [1]", f"1x2xf32 -> 1x{E4}", ((1e30, 1e31),), (240.0,)),
    Case("maxima saturate", "reduce max %a axes [1]", f"1x2xf32 -> 1x{E4}", ((1.0, 1e31),), (240.0,)),
    Case("minima saturate", "reduce min %a axes [1]", "1x2xf32 -> 1xf8E4M3FN", ((1.0, -1e31),), (-448.0,)),
    Case(
        "rows that are told not to saturate",
        "reduce sum %a axes [1] {saturate = false}",
        "1x2xf32 -> 1xf8E5M2",
        ((50000.0, 50000.0),),
        (INF,),
    ),
    Case(
        "the maximum of nothing is finite",
        "reduce max %a axes [1]",
        f"2x0x{E4} -> 2x{E4}",
        ((),),
        (-240.0,) * 2,
    ),
    Case(
        "the minimum of nothing is finite",
        "reduce min %a axes [1]",
        "2x0xf16 -> 2xf8E5M2",
        ((),),
        (57344.0,) * 2,
    ),
    Case(
        "the minimum of nothing overflows",
        "reduce min %a axes [1] {saturate = false}",
        "2x0xf16 -> 2xf8E5M2",
        ((),),
        (INF,) * 2,
    ),
    Case("the maximum of nothing in f16", "reduce max %a axes [1]", "2x0xf16 -> 2xf16", ((),), (-INF,) * 2),
    Case(
        "norms saturate",
        "layer_norm %a, %b, %c epsilon 1.0e-5",
        f"1x4xf32 4xf32 4xf32 -> 1x4x{E4}",
        ((-1.0, 1.0, -1.0, 1.0), (300.0,) * 4, (0.0,) * 4),
        (-240.0, 240.0, -240.0, 240.0),
    ),
    Case(
        "norms of f16 saturate",
        "layer_norm %a, %b, %c epsilon 1.0e-5",
        f"2x4xf16 4xf16 4xf16 -> 2x4x{E4}",
        ((1.0, 2.0, 3.0, 4.0, 4.0, 3.0, 2.0, 1.0), (60000.0,) * 4, (0.0,) * 4),
        (-240.0, -240.0, 240.0, 240.0, 240.0, 240.0, -240.0, -240.0),
    ),
    Case(
        "norms of split rows saturate",
        "layer_norm %a, %b, %c epsilon 1.0e-5",
        f"2x64xf16 64xf16 64xf16 -> 2x64x{E4}",
        (((1.0, -1.0) * 64), (60000.0,) * 64, (0.0,) * 64),
        ((240.0, -240.0) * 64),
    ),
    Case(
        "norms that are told not to saturate",
        "layer_norm %a, %b, %c epsilon 1.0e-5 {saturate = false}",
        f"1x4xf32 4xf32 4xf32 -> 1x4x{E4}",
        ((-1.0, 1.0, -1.0, 1.0), (300.0,) * 4, (0.0,) * 4),
        (NAN,) * 4,
    ),
    Case(
        "rms_norm saturates",
        "rms_norm %a, %b epsilon 1.0e-5",
        f"1x4xf32 4xf32 -> 1x4x{E4}",
        ((-1.0, 1.0, -1.0, 1.0), (300.0,) * 4),
        (-240.0, 240.0, -240.0, 240.0),
    ),
    Case(
        "products saturate",
        "matmul %a, %b",
        f"1x16xf16 16x1xf16 -> 1x1x{E4}",
        ((8.0,) * 16, (8.0,) * 16),
        (240.0,),
    ),
    Case(
        "products that are told not to saturate",
        "matmul %a, %b {saturate = false}",
        f"1x16xf16 16x1xf16 -> 1x1x{E4}",
        ((8.0,) * 16, (8.0,) * 16),
        (NAN,),
    ),
    Case(
        "attention saturates",
        "attention %a, %b, %c",
        f"1x8xf16 2x8xf16 2x8xf16 -> 1x8x{E4}",
        (ONES, (0.0,) * 16, (1000.0,) * 16),
        (240.0,) * 8,
    ),
    Case(
        "attention that is told not to saturate",
        "attention %a, %b, %c {saturate = false}",
        f"1x8xf16 2x8xf16 2x8xf16 -> 1x8x{E4}",
        (ONES, (0.0,) * 16, (1000.0,) * 16),
        (NAN,) * 8,
    ),
    Case(
        "exponentials of finite numbers saturate",
        "exp %a",
        f"4xf16 -> 4x{E4}",
        ((60000.0, 240.0, INF, -INF),),
        (240.0, 240.0, NAN, 0.0),
    ),
    Case("exponentials overflow in f32", "exp %a", "2xf16 -> 2xf32", ((60000.0, 240.0),), (INF, INF)),
    Case(
        "quotients saturate",
        "div %a, %b",
        f"3xf32 3xf32 -> 3x{E4}",
        ((1e38, 1.0, -1e38), (1e-38, 0.0, 1e-38)),
        (240.0, NAN, -240.0),
    ),
    Case(
        "f16 sums in f8E5M2 are rounded once",
        "add %a, %b",
        "2xf16 2xf16 -> 2xf8E5M2",
        ((1.125, 1.0), (2.0**-24, 0.125)),
        (1.25, 1.0),
    ),
)
