# SPDX-License-Identifier: Apache-2.0
"""
A grammar of the textual form for Pygments: `mlir` in the pages of the documents, and `pygmentize -l mlir
FILE`. Colours only: the parser is the one that knows what is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import (
    Comment,
    Generic,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
)

ELEMENT = r"(?:[su]?i[0-9]+|bf16|f16|f32|f64|f80|f128|tf32|f8E[0-9]M[0-9](?:FN|FNUZ|B11FNUZ)?|index|none)"
"""Element types."""

_TYPES = ("tensor", "memref", "vector", "tuple", "complex")
_KEYWORDS = (
    # of builtin and func
    *(
        "module",
        "attributes",
        "private",
        "public",
        "nested",
        "loc",
        "dense",
        "array",
        "true",
        "false",
        "unit",
    ),
    *("unknown", "fused", "callsite", "at", "to"),
    # of ours
    *("count", "carried", "iterated", "invariant", "collected", "axes", "for", "axis", "scale", "accumulate"),
    *("transpose_a", "transpose_b", "keep_dims", "epsilon", "offsets", "sizes", "low", "high", "value"),
    *("approximate", "rounding", "empty_rows", "out_of_range", "permutation", "dimensions", "pinned", "rows"),
    *("machine", "supervisor", "size", "parameters", "activations", "staging", "partials", "bank", "stride"),
)


class TileLexer(RegexLexer):
    """MLIR with the dialects `tile_tensor`, `tile_layout`, `tile_repeat`, `tile` and `tile_asm`."""

    name = "MLIR of tilewright"
    aliases: ClassVar[Sequence[str]] = ["mlir", "tilewright"]
    filenames: ClassVar[Sequence[str]] = ["*.mlir"]
    url = "https://mlir.llvm.org/docs/LangRef/"

    tokens: ClassVar[dict[str, list[object]]] = {
        "root": [
            (r"\s+", Whitespace),
            (r"// (?:RUN|[A-Z][A-Z0-9-]*):.*|// expected-(?:error|warning|note|remark).*", Comment.Special),
            (r"// -----.*", Generic.Subheading),
            (r"//.*", Comment.Single),
            (
                r'(")((?:tile_?\w*|builtin|[a-z]\w*)\.[\w.$]+)(")(?=\s*\()',
                bygroups(String, Name.Function, String),
            ),
            (r'"(?:[^"\\\n]|\\.)*"', String.Double),
            (r'@"(?:[^"\\\n]|\\.)*"|@[\w.$-]+', Name.Function.Magic),
            (r"%[\w.$-]+(?:#[0-9]+)?(?::[0-9]+)?", Name.Variable),
            (r"\^[\w.$-]+", Name.Label),
            (r"![\w.$-]+", Keyword.Type),
            (r"#[\w.$-]+", Name.Constant),
            (r"-?0x[0-9a-fA-F]+(?![\w.])", Number.Hex),
            # shapes: `tensor<4x?x8xf16>`
            (r"(?:(?:[0-9]+|\?)x)+(?=[a-z!])", Number.Integer),
            (r"\*x(?=[a-z!])", Number.Integer),
            (rf"{ELEMENT}(?![\w.$-])", Keyword.Type),
            (words(_TYPES, prefix=r"\b", suffix=r"(?=\s*<)"), Keyword.Type),
            (r"-?[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?|-?[0-9]+[eE][-+]?[0-9]+", Number.Float),
            (r"-?[0-9]+", Number.Integer),
            (r"affine_(?:map|set)(?=\s*<)", Keyword),
            # attributes: `tile.machine = `; operations: `tile_tensor.matmul `
            (r"[A-Za-z_][\w$]*(?:\.[\w$-]+)+(?=\s*=)", Name.Attribute),
            (r"[A-Za-z_][\w$]*(?:\.[\w$-]+)+", Name.Function),
            (r"[A-Za-z_][\w$-]*(?=\s*=)", Name.Attribute),
            (words(_KEYWORDS, prefix=r"\b", suffix=r"(?![\w.$-])"), Keyword),
            (r"[A-Za-z_][\w$-]*", Name),
            (r"->|::|==|=", Operator),
            (r"[][(){}<>,:?*+/-]|\.\.\.", Punctuation),
            (r".", Text),
        ]
    }
