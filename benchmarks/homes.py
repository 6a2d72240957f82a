# SPDX-License-Identifier: Apache-2.0
"""
Homes of the 27 layers of a SigLIP So400m encoder in FP8 on c600: bytes with and without each pass, and
seconds.

Only layouts are planned; nothing is scheduled or executed, except with --check (minutes), which runs the
selection's own check of the whole program. Fails where a limit is broken. The table is in docs/homes.md.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from tilewright.dialects.parsing import context, parse_module
from tilewright.passes.ir.homes import find_homes
from tilewright.passes.tile_convert_compact_micro_panels import TileConvertCompactMicroPanelsPass as Compact
from tilewright.passes.tile_plan_layouts import TilePlanLayoutsPass
from tilewright.passes.tile_select_homes import TileSelectHomesPass as Select
from tilewright.planning.homes import StorageGroup, total_load

LAYERS, TOKENS, WIDTH, MLP, HEADS, TILES = 27, 729, 1152, 4304, 16, 1472
IDEAL = LAYERS * (4 * WIDTH * WIDTH + 2 * WIDTH * MLP) / TILES
"""Bytes of the matrices, divided evenly over the tiles: 279,260."""
SECONDS_LIMIT = 5.0
F8, F16 = "f8E4M3FNUZ", "f16"


def tensor(*shape: int, dtype: str = F16) -> str:
    return "tensor<" + "".join(f"{n}x" for n in shape) + dtype + ">"


def encoder() -> str:
    """The text of the encoder: one repeat over 16 sequences of parameters."""
    x, heads = tensor(TOKENS, WIDTH), tensor(1, HEADS, TOKENS, WIDTH // HEADS)
    split = tensor(1, TOKENS, HEADS, WIDTH // HEADS)
    lines: list[str] = []
    parameters: list[tuple[str, str]] = []

    def emit(
        name: str, op: str, operands: Sequence[tuple[str, str]], result: str, attributes: str = ""
    ) -> str:
        names, types = ", ".join(n for n, _ in operands), ", ".join(t for _, t in operands)
        lines.append(f"%{name} = tile_tensor.{op} {names} {attributes} : ({types}) -> {result}")
        return f"%{name}"

    def parameter(name: str, *shape: int, dtype: str = F16) -> tuple[str, str]:
        parameters.append((name, tensor(*shape, dtype=dtype)))
        return f"%i_{name}", parameters[-1][1]

    def linear(name: str, value: str, rows: int, columns: int) -> str:
        product, bias = tensor(TOKENS, columns), parameter(f"{name}_b", columns)
        weight = parameter(f"{name}_w", rows, columns, dtype=F8)
        operand = (value, tensor(TOKENS, rows, dtype=F8))
        out = emit(f"{name}_p", "matmul", [operand, weight], product, "accumulate f16 scale -17")
        return emit(name, "add", [(out, product), bias], product)

    def narrow(name: str, value: str, columns: int) -> str:
        return emit(
            name, "cast", [(value, tensor(TOKENS, columns))], tensor(TOKENS, columns, dtype=F8), "scale -5"
        )

    def norm(name: str, value: str) -> str:
        vectors = [parameter(f"{name}_{part}", WIDTH) for part in ("w", "b")]
        return narrow(
            f"{name}_f8", emit(name, "layer_norm", [(value, x), *vectors], x, "epsilon 1.0e-06"), WIDTH
        )

    y = norm("norm1", "%x")
    qkv: list[tuple[str, str]] = []
    for name in ("q", "k", "v"):
        value = emit(f"{name}_s", "reshape", [(linear(name, y, WIDTH, WIDTH), x)], split)
        qkv.append(
            (emit(f"{name}_h", "transpose", [(value, split)], heads, "permutation [0, 2, 1, 3]"), heads)
        )
    context_ = emit("heads", "attention", qkv, heads, "accumulate f16 scale 0.1178")
    context_ = emit("merged", "transpose", [(context_, heads)], split, "permutation [0, 2, 1, 3]")
    context_ = narrow("context", emit("rows", "reshape", [(context_, split)], x), WIDTH)
    z = emit("attended", "add", [("%x", x), (linear("projection", context_, WIDTH, WIDTH), x)], x)
    hidden = tensor(TOKENS, MLP)
    h = emit(
        "hidden", "gelu", [(linear("up", norm("norm2", z), WIDTH, MLP), hidden)], hidden, "approximate tanh"
    )
    h = linear("down", narrow("hidden_f8", h, MLP), MLP, WIDTH)
    last = emit("x_next", "add", [(z, x), (h, x)], x)

    def sequence(type_: str) -> str:
        return f"!tile_repeat.sequence<{LAYERS} x {type_}>"

    arguments = [f'%x0: {x} {{tile_tensor.input = "x"}}']
    for name, type_ in parameters:
        names = ", ".join(f'"{name}.{i}"' for i in range(LAYERS))
        arguments.append(f"%{name}: {sequence(type_)} {{tile_tensor.parameter = [{names}]}}")
    iterated = ", ".join(f"%i_{name} = %{name} : {sequence(type_)}" for name, type_ in parameters)
    body = "\n".join(lines)
    return f"""func.func @main({", ".join(arguments)}) -> {x} {{
      %y = tile_repeat.repeat "layers" count {LAYERS} carried(%x = %x0 : {x}) iterated({iterated}) -> ({x}) {{
        {body}
        tile_repeat.yield {last} : {x}
      }}
      func.return %y : {x}
    }}"""


def figures(module: ModuleOp) -> tuple[np.ndarray, np.ndarray, int, int]:
    """(bytes of the matrices, of all) on every tile, the sum of the largest shards, groups with copies."""
    groups = [home.group for home in find_homes(module)]
    matrices: list[StorageGroup] = [g for g in groups if g.name.endswith("_w.0") and "norm" not in g.name]
    copies = sum(g.layout.replica_tiles.size > 1 for g in groups)
    return (
        total_load(matrices, TILES),
        total_load(groups, TILES),
        sum(g.address_bytes for g in groups),
        copies,
    )


HEAD = ["case", "matrices", "of ideal", "over mean", "all", "largest shards", "copies", "s"]


def table(check: bool = False, repeats: int = 1) -> tuple[list[list[str]], list[str]]:
    """
    The rows under `HEAD` and the limits that are broken; seconds are the median of `repeats`. `check`: with
    the selection's own check of the whole program.
    """
    ctx = context()
    source = parse_module(encoder(), ctx=ctx)
    source.attributes["tile.machine"] = StringAttr("c600")
    fine, whole = Compact(panels="fine"), Compact(panels="whole")
    auto, grid = Select(check=check), Select(check=False, distribution="grid")
    linear = Select(check=False, distribution="linear")
    load = Select(check=False, distribution="linear", objective="load")
    cases: list[tuple[str, tuple[ModulePass, ...], float | None, float | None]] = [
        ("compute-ready, neither pass", (), None, None),
        ("selection alone", (Select(check=False),), None, None),
        ("fine panels alone", (fine,), 1.10, None),
        ("fine panels, selection", (fine, auto), 1.10, 1.10),
        ("fine panels, rotated grids", (fine, grid), 1.10, 1.10),
        ("fine panels, linear chunks", (fine, linear), 1.10, 1.10),
        ("fine panels, linear chunks, least load", (fine, load), 1.10, 1.05),
        ("whole panels alone", (whole,), 1.25, None),
        ("whole panels, selection", (whole, Select(check=False)), 1.25, None),
    ]
    TilePlanLayoutsPass(homes="ready", search="off").apply(ctx, source)
    rows: list[list[str]] = []
    broken: list[str] = []
    for name, passes, of_ideal, ratio in cases:
        taken: list[float] = []
        module = source
        for _ in range(repeats):
            module = source.clone()
            started = time.perf_counter()
            for step in passes:
                step.apply(ctx, module)
            taken.append(time.perf_counter() - started)
        seconds = statistics.median(taken)
        matrices, everything, addresses, copies = figures(module)
        top, share, balance = int(matrices.max()), matrices.max() / IDEAL, matrices.max() / matrices.mean()
        counts = (f"{everything.max():,}", f"{addresses:,}", str(copies))
        rows.append([name, f"{top:,}", f"{share:.3f}", f"{balance:.3f}", *counts, f"{seconds:.2f}"])
        if of_ideal is not None and share > of_ideal:
            broken.append(f"{name}: {share:.3f} of ideal is over {of_ideal}")
        if ratio is not None and balance > ratio:
            broken.append(f"{name}: {balance:.3f} over the mean is over {ratio}")
        if passes and not check and seconds > SECONDS_LIMIT:
            broken.append(f"{name}: {seconds:.1f} s is over {SECONDS_LIMIT}")
        if passes and passes[0] in (fine, whole) and copies > 0:
            broken.append(f"{name}: {copies} groups have copies")
    return rows, broken


def main() -> int:
    rows, broken = table(check="--check" in sys.argv[1:])
    print(f"ideal {IDEAL:,.0f} bytes a tile\n")
    print("| " + " | ".join(HEAD) + " |")
    print("|---" * len(HEAD) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print("\n" + ("\n".join(broken) if broken else "all limits kept"))
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
