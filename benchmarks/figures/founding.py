# SPDX-License-Identifier: Apache-2.0
"""Blocks about the founding workload, SigLIP So400m in FP8 on c600."""

from __future__ import annotations

import json
from typing import Any

from figures.blocks import ROOT, Part, Table
from figures.registry import producer
from figures.runs import Runs
from figures.tables import BOUNDS, Record, cosine, number, operator_row, operators

PLAN = ROOT / "examples" / "siglip" / "plan.json"
"""A record for each operator, without folding: what other plans are compared with."""

FASTEST = ROOT / "examples" / "siglip" / "fastest.json"
FOLDS = ("--fold-norms", "--fold-pooling")
TOWER = ("siglip", "--precision", "f8")


def _tower(runs: Runs, layers: int, batch: int = 1, *options: str, timed: bool = False) -> dict[str, Any]:
    """A tower with the fastest plan there is; that of more images is searched for."""
    workload = (*TOWER, "--layers", str(layers), *(("--batch", str(batch)) if batch > 1 else ()))
    plan = () if batch > 1 else ("--plan", str(FASTEST))
    return runs.run(workload, "c600", "--profile-operators", *FOLDS, *plan, *options, timed=timed)


@producer("siglip-total", "long", "c600")
def siglip_total(runs: Runs) -> list[Part]:
    """One line for 27 layers, and what its cycles rest on."""
    record = _tower(runs, 27)
    cycles = record["cycles"]
    ms = 1e3 * cycles["total"] / record["clock_hz"]
    line = (
        f"**{number(cycles['total'])} cycles: {ms:.2f} ms at 1.5 GHz.** Compute {number(cycles['compute'])}, "
        f"exchange {number(cycles['exchange'])}, copies {number(cycles['copy'])}, "
        f"sync {number(cycles['sync'])}."
    )
    rows = [
        [name.replace("_", ", ", 1).replace("_", " "), number(part), f"{100 * part / cycles['total']:.1f} %"]
        for name, part in record["evidence"].items()
    ]
    words = _tower(runs, 27, 1, "--exchange-items=words")["cycles"]["total"]
    second = f"With items of one word only (`--exchange-items=words`): {number(words)} cycles."
    return [line, second, Table(["cycles that rest on", "cycles", "share"], rows)]


@producer("siglip", "long", "c600", timed=True)
def siglip(runs: Runs) -> list[Part]:
    """Towers of several heights."""
    head = ["layers", "batch", "cycles", "a layer", "fullest tile", "rows", "compile, GiB", "simulate, GiB"]
    rows: list[list[str]] = []
    for layers, batch in ((1, 1), (4, 1), (27, 1), (1, 2)):
        record = _tower(runs, layers, batch, timed=True)
        checks = {check["output"]: check for check in record["checks"]}
        tokens, pooled = checks["tokens"], checks["pooled"]
        (repeat,) = record["repeats"]
        layer = repeat["first"] if repeat["per_iteration"] is None else repeat["per_iteration"]
        host = [
            f"{record[step]['seconds']:.0f} s, {record[step]['peak_rss_bytes'] / 2**30:.2f}"
            for step in ("compile", "simulate")
        ]
        rows.append(
            [
                str(layers),
                str(batch),
                number(record["cycles"]["total"]),
                number(layer),
                number(record["memory"]["max_tile_bytes"]),
                number(record["exchange"]["row_bytes_max"]),
                *host,
                f"{tokens['max_abs_error']:.3f}",
                cosine(tokens["min_row_cosine"]),
                f"{pooled['max_abs_error']:.3f}",
                cosine(pooled["cosine"]),
            ]
        )
    head += ["tokens off by", "min row cosine", "pooled off by", "cosine"]
    return [Table(head, rows, frozenset({"compile, GiB", "simulate, GiB"}))]


PHASES: tuple[tuple[str, str, str], ...] = (
    ("norm 1", "norm1 norm1_f8", ""),
    (
        "Q, K, V",
        "q k v q_product k_product v_product q_f8 k_f8 v_f8",
        "operands and partials travel before and after the products, not beside them; 729 rows in blocks of "
        "16 leave tiles with less",
    ),
    (
        "attention",
        "heads_context context_f8",
        "half of it is softmax, whose exponentials (33 bundles for 16 keys) stand in no bound; heads of 72 "
        "take 96 lanes in FP8",
    ),
    (
        "output projection",
        "attended projection projection_product",
        "operands and partials travel before and after the products, which takes half of it",
    ),
    ("norm 2", "norm2 norm2_f8", ""),
    (
        "up",
        "up_product up",
        "the exchange of weights and tokens does not run beside the products",
    ),
    ("gelu", "hidden hidden_f8", ""),
    (
        "down",
        "x_next down down_product",
        "the exchange of weights and hidden values does not run beside the products",
    ),
)
"""Phases of a layer: their operators, and why they take more than half again of what bounds them."""

NOTABLE = 1.5


@producer("siglip-phases", "long", "c600")
def siglip_phases(runs: Runs) -> list[Part]:
    """One layer of 27 by what it does, beside the larger of its bounds."""
    records = {
        r["name"].removeprefix("layers."): r
        for r in _tower(runs, 27)["operators"]
        if r["name"].startswith(("layers.", "layers: "))
    }
    rows: list[list[str]] = []
    left = {name for name, r in records.items() if r["total"]}
    for what, names, reason in PHASES:
        found = [records[name] for name in names.split() if name in records]
        left -= set(names.split())
        total = sum(r["total"] for r in found) / 27
        bounds = [sum(r[bound] or 0 for r in found) / 27 for bound in BOUNDS]
        ratio = total / max(bounds)
        row = [what, number(total), *map(number, bounds), f"{ratio:.2f}"]
        rows.append([*row, reason if ratio > NOTABLE else ""])
    rest = sum(records[name]["total"] for name in left) / 27
    rows.append(["copies and patched rows", number(rest), "", "", "", ""])
    head = ["phase", "cycles a layer", "compute bound", "exchange bound", "of the larger", "why"]
    return [Table(head, rows)]


@producer("siglip-operators", "long", "c600")
def siglip_operators(runs: Runs) -> list[Part]:
    """One layer of 27, what surrounds them, all."""
    records = _tower(runs, 27)["operators"]
    layers = [r for r in records if r["name"].startswith("layers")]
    inside = [{**r, "name": r["name"].removeprefix("layers.").removeprefix("layers: ")} for r in layers]
    around = [r for r in records if r not in layers]
    first = operators(inside, 15, "**a layer**", order=True, every=27)
    second = operators(around, 4, "**around them**", order=True)
    return [Table(first.head, [*first.rows, *second.rows, operator_row("**all, 27 layers**", records)])]


@producer("siglip-memory", "long", "c600")
def siglip_memory(runs: Runs) -> list[Part]:
    """Bytes by category."""
    memory = _tower(runs, 27)["memory"]
    fullest = memory["max_tile_categories"]
    rows = [
        [name, number(fullest[name]), number(each["max"]), number(each["mean"])]
        for name, each in memory["categories"].items()
    ]
    total = number(memory["per_tile_total"])
    rows.append(["all", total, "", total])
    return [Table(["category", f"fullest tile ({memory['max_tile']})", "most", "mean"], rows)]


@producer("siglip-layers", "long", "c600")
def siglip_layers(runs: Runs) -> list[Part]:
    """Error of the residual stream by layer."""
    rows = [
        [
            str(r["iteration"] + 1),
            f"{r['max_abs_error']:.3f}",
            cosine(r["cosine"]),
            cosine(r["min_row_cosine"]),
        ]
        for r in _tower(runs, 27)["layers"]
        if r["iteration"] + 1 in (1, 2, 3, 6, 11, 16, 21, 27)
    ]
    return [Table(["layer", "max abs error", "cosine", "min row cosine"], rows)]


V_AS_OTHERS = {"swap": False, "grid": [1, 5, 24, 4], "word": 0}

TRIED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("attention in 14 x 6 parts of queries and keys: 11 x 8", "heads_context", {"grid": [16, 11, 8]}),
    ("attention: 10 x 9", "heads_context", {"grid": [16, 10, 9]}),
    ("keys and queries cast in panels: where they lie", "q_f8 k_f8", {"strategy": "leader", "leader": 0}),
    (
        "output projection 5 x 24 x 12 (rows, columns, depth): 9 x 18 x 9",
        "attended",
        {"grid": [1, 9, 18, 9]},
    ),
    ("output projection: 10 x 24 x 6", "attended", {"grid": [1, 10, 24, 6]}),
    ("norms on cut rows: on whole rows", "norm1_f8 norm2_f8", {"split": False}),
    ("down 4 x 24 x 15: 5 x 24 x 12", "x_next", {"grid": [1, 5, 24, 12]}),
    ("down: 4 x 36 x 10", "x_next", {"grid": [1, 4, 36, 10]}),
    ("down, its last panel completed by kernels: by the exchange", "x_next", {"filler": True}),
    ("up 4 x 90 x 4: 5 x 72 x 4", "up_product", {"grid": [1, 5, 72, 4]}),
    ("up, two column parts share their rows of the result: each its own", "up_product", {"share": 1}),
    ("values' product transposed, 8 x 16 x 4: 5 x 24 x 4, not transposed", "v", V_AS_OTHERS),
)
"""What is forced instead, the operators of a layer that it is forced on, the fields of their records."""


@producer("siglip-tried", "long", "c600")
def siglip_tried(runs: Runs) -> list[Part]:
    """One layer of other plans, one change at a time."""
    base = json.loads(PLAN.read_text("utf-8"))
    first = runs.run((*TOWER, "--layers", "1"), "c600", "--plan", str(PLAN))
    rows = [["nothing", number(_layer(first))]]
    for text, names, fields in TRIED:
        plan = json.loads(PLAN.read_text("utf-8"))
        for name in names.split():
            old = base["operators"][f"layers.{name}"]
            plan["operators"][f"layers.{name}"] = (
                fields if fields.get("strategy", old["strategy"]) != old["strategy"] else {**old, **fields}
            )
        path = runs.folder / f"{len(rows)}.plan.json"
        path.write_text(json.dumps(plan))
        record = runs.run((*TOWER, "--layers", "1"), "c600", "--plan", str(path))
        rows.append([text, number(_layer(record))])
    return [Table(["instead of", "cycles of a layer"], rows)]


def _layer(record: Record) -> int:
    """Cycles of the first iteration of the layers."""
    (repeat,) = record["repeats"]
    return int(repeat["first"])
