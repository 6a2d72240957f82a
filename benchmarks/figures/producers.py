# SPDX-License-Identifier: Apache-2.0
"""What makes each block of figures: those of `founding`, and all others."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from figures.blocks import ROOT, Part, Table
from figures.founding import TOWER
from figures.registry import PRODUCERS, producer
from figures.runs import Runs
from figures.tables import Record, number, operators

__all__ = ["PRODUCERS"]  # with those that are made here and in `founding`

# ------------------------------------------------------------------------------------ small machines


@producer("small", "fast", "t16")
def small(runs: Runs) -> list[Part]:
    """The plain vision transformer on 16 tiles, its plans searched as by default."""
    rows: list[list[str]] = []
    for precision, attention in (("f16", "f16"), ("f8", "f16"), ("f8", "f8")):
        workload = ("vit", "--layers", "2", "--precision", precision, "--attention", attention)
        record = runs.run(workload, "t16")
        cycles, (repeat,), (check,) = record["cycles"], record["repeats"], record["checks"]
        rows.append(
            [
                f"{precision}, attention {attention}",
                *(number(cycles[part]) for part in ("total", "compute", "exchange", "copy", "sync")),
                number(repeat["per_iteration"]),
                number(record["memory"]["max_tile_bytes"]),
                f"{check['min_row_cosine']:.3f}",
            ]
        )
    head = ["matrices", "cycles", "compute", "exchange", "copy", "sync", "second layer", "fullest tile"]
    return [Table([*head, "min row cosine"], rows)]


@producer("allocation-classes", "fast", "c600")
def allocation_classes(_: Runs) -> list[Part]:
    """Bytes live on the fullest tile of the recorded 27 layers, by what is known of the tiles."""
    from tilewright.planning.memory.bounds import lower_bound
    from tilewright.planning.memory.problem import Problem

    problem = Problem.read(ROOT / "tests" / "data" / "allocation" / "siglip27_c600.json")
    alike = tuple(replace(buffer, classes=()) for buffer in problem.buffers)
    available = sum(end - start for start, end in problem.ranges)
    rows = [
        ["all tiles as one class", number(lower_bound(replace(problem, buffers=alike)))],
        [f"{len(problem.classes)} classes", number(lower_bound(problem))],
        ["available", number(available)],
    ]
    return [Table(["", "bytes live on the fullest tile"], rows)]


@producer("published-exchange", "fast", "c600")
def published_exchange(_: Runs) -> list[Part]:
    """Published cycles of the exchange beside what model and scheduler say."""
    from tilewright.planning.exchange.published import figures

    rows = [
        [
            figure.what,
            f"{figure.measured:,}",
            f"{figure.predicted:,.1f}",
            f"{100 * figure.error:+.0f} %",
            figure.use,
        ]
        for figure in figures()[0]
    ]
    return [Table(["figure", "published", "here", "off by", "use"], rows)]


# ------------------------------------------------------------------------------------ parts of the compiler


@producer("encoder-phases", "slow", "c600", timed=True)
def encoder_phases(runs: Runs) -> list[Part]:
    """Ten exchange phases of an encoder layer, by hand."""
    import exchange

    made = [exchange.table() for _ in range(max(1, runs.repeats))]
    rows, broken = made[0]
    assert not broken, broken
    for i, row in enumerate(rows):
        if row[-1]:
            row[-1] = f"{statistics.median(float(each[i][-1]) for each, _ in made):.1f}"
    return [Table(exchange.HEAD, rows, frozenset({"s"}))]


@producer("homes", "slow", "c600", timed=True)
def homes(runs: Runs) -> list[Part]:
    """Homes of the encoder of the founding workload."""
    import homes as benchmark

    rows, broken = benchmark.table(repeats=max(1, runs.repeats))
    assert not [text for text in broken if " s is over" not in text], broken
    return [Table(benchmark.HEAD, rows, frozenset({"s"}))]


RECORDED = {
    "digits_t64": "digits, t64",
    "siglip1_c600": "SigLIP, 1 layer, c600",
    "siglip27_c600": "SigLIP, 27 layers, c600",
    "vit_t64": "ViT, t64",
}


@producer("allocation", "slow", "t64 and c600", timed=True)
def allocation(runs: Runs) -> list[Part]:
    """Recorded problems: how well and how fast they are placed."""
    import time

    from allocate import RECORDED as paths

    from tilewright.planning.memory.check import check
    from tilewright.planning.memory.place import allocate
    from tilewright.planning.memory.problem import Problem

    rows: list[list[str]] = []
    for path in paths:
        problem = Problem.read(path)
        taken: list[float] = []
        quality = 0.0
        for _ in range(max(1, runs.repeats)):
            start = time.perf_counter()
            solution = allocate(problem, polish=0)
            assert not check(problem, solution.addresses)
            taken.append(time.perf_counter() - start)
            quality = solution.quality
        polished = allocate(problem, polish=1)
        assert not check(problem, polished.addresses)
        sizes = [str(len(problem.buffers)), str(len(problem.classes)), f"{statistics.median(taken):.1f}"]
        rows.append([RECORDED[path.stem], *sizes, f"{quality:.3f}", f"{polished.quality:.3f}"])
    head = ["problem", "buffers", "classes", "seconds to place and check"]
    return [Table([*head, "ratio as compiled", "ratio of `tile-alloc`"], rows, frozenset({head[-1]}))]


CURVE_NODES = 150_000
"""Units placed before an instance counts as not found, as the page says: most of those take all of them."""


@producer("allocation-instances", "long", "c600")
def allocation_instances(_: Runs) -> list[Part]:
    """Placements found of instances whose solution is hidden."""
    from allocate import CURVE_HEAD, curve

    return [Table(CURVE_HEAD, list(curve(10, CURVE_NODES)))]


@producer("replay", "long", "c600")
def replayed(_: Runs) -> list[Part]:
    """Published plans of an F16 MLP, by part, beside the hardware's cycles."""
    import replay

    def row(name: str, kernels: str, cycles: Mapping[str, int], phase: int) -> list[str]:
        parts = [number(cycles[part]) for part in replay.PARTS]
        return [name, kernels, *parts, number(sum(cycles.values())), number(phase)]

    rows: list[list[str]] = []
    known: dict[object, replay.Replay] = {}
    for i, plan in enumerate(replay.published(), 1):
        up, down = (" x ".join(map(str, grid)) for grid in (plan.up, plan.down))
        name = f"{i}: up {up}, down {down}" + (
            ", its weights in standard memory" if plan.standard_down else ""
        )
        grids = (plan.up, plan.down)
        if grids not in known:
            known[grids] = replay.replay(plan)
        found = replay.in_standard_memory(plan, known[grids]) if plan.standard_down else known[grids]
        rows.append(row(name, "today", found.today, found.gelu_to_down))
        rows.append(row("", "of that date", found.then, found.gelu_to_down))
        if i == 1:
            words = replay.replay(plan, words=True)
            rows.append(row("", "of that date, words only", words.then, words.gelu_to_down))
        left = f"{number(replay.implied(plan, found.then))} left"
        blank = [left if part == "exchange" else "" for part in replay.PARTS]
        phase = "" if plan.gelu_to_down is None else number(plan.gelu_to_down)
        rows.append(["", "hardware", *blank, number(plan.cycles), phase])
    return [Table(["plan", "kernels", *replay.PARTS, "total", "gelu to down"], rows)]


# ------------------------------------------------------------------------------------ trained models


@producer("digits", "slow", "t64")
def digits(runs: Runs) -> list[Part]:
    """400 labelled images on 64 tiles."""
    rows: list[list[str]] = []
    for precision in ("f16", "f8"):
        record = runs.run(("digits", "--precision", precision), "t64")
        task = record["task"]
        rows.append(
            [
                precision,
                number(record["cycles"]["total"]),
                number(record["memory"]["max_tile_bytes"]),
                f"{100 * task['accuracy']:.2f} %",
                f"{100 * task['agreement']:.2f} %",
                f"{task['logits_rel_rms']:.3f}",
            ]
        )
    head = ["precision", "cycles", "fullest tile", "accuracy", "agreement with FP32", "logits, relative RMS"]
    return [Table(head, rows)]


def _milliseconds(record: Record) -> str:
    return f"{1e3 * record['cycles']['total'] / record['clock_hz']:.3f}"


def _dinov2(runs: Runs, precision: str) -> dict[str, Any]:
    return runs.run(("dinov2", "--precision", precision), "c600", "--profile-operators")


@producer("dinov2", "long", "c600")
def dinov2(runs: Runs) -> list[Part]:
    """DINOv2 ViT-S/14 with its weights on a picture."""
    f16 = ("dinov2", "--precision", "f16")
    calibrated = ("--calibrate", str(runs.workload(*f16) / "inputs.safetensors"))
    rows: list[list[str]] = []
    for name, record in (
        ("f16", _dinov2(runs, "f16")),
        ("f8", _dinov2(runs, "f8")),
        ("f16 with `--calibrate`", runs.run(f16, "c600", *calibrated)),
    ):
        (check,) = record["checks"]
        rows.append(
            [
                name,
                number(record["cycles"]["total"]),
                _milliseconds(record),
                f"{check['min_row_cosine']:.6f}",
                f"{check['mean_row_cosine']:.6f}",
                number(record["memory"]["max_tile_bytes"]),
            ]
        )
    head = ["precision", "cycles", "milliseconds", "min row cosine", "mean row cosine", "fullest tile"]
    return [Table(head, rows)]


@producer("dinov2-operators", "long", "c600")
def dinov2_operators(runs: Runs) -> list[Part]:
    """Cycles of DINOv2 in FP8 by operator."""
    return [operators(_dinov2(runs, "f8")["operators"], 10)]


@producer("dinov2-layers", "long", "c600")
def dinov2_layers(runs: Runs) -> list[Part]:
    """Error of DINOv2 layer by layer."""
    wide, narrow = _dinov2(runs, "f16")["layers"], _dinov2(runs, "f8")["layers"]
    rows = [
        [
            str(a["iteration"] + 1),
            f"{a['max_abs_error']:.4f}",
            f"{a['mean_row_cosine']:.6f}",
            f"{b['max_abs_error']:.3f}",
            f"{b['min_row_cosine']:.4f}",
            f"{b['mean_row_cosine']:.4f}",
        ]
        for a, b in zip(wide, narrow, strict=True)
    ]
    errors = ["max abs error", "min row cosine", "mean row cosine"]
    return [Table(["layer", "f16 max abs error", "f16 mean row cosine", *(f"f8 {e}" for e in errors)], rows)]


@producer("minilm", "long", "c600")
def minilm(runs: Runs) -> list[Part]:
    """all-MiniLM-L6-v2 on three sentences."""
    rows: list[list[str]] = []
    for precision in ("f16", "f8"):
        record = runs.run(("minilm", "--precision", precision), "c600")
        checks = {check["output"]: check for check in record["checks"]}
        rows.append(
            [
                precision,
                number(record["cycles"]["total"]),
                _milliseconds(record),
                f"{checks['similarities']['max_abs_error']:.4f}",
                f"{checks['embeddings']['min_row_cosine']:.6f}",
            ]
        )
    head = ["precision", "cycles", "milliseconds", "largest error of a similarity"]
    return [Table([*head, "min row cosine of embeddings"], rows)]


# ------------------------------------------------------------------------------------ plans, searched

SEARCHED: tuple[tuple[tuple[str, ...], str], ...] = (
    (("digits",), "t64"),
    (("dinov2", "--precision", "f16"), "c600"),
    (("dinov2", "--precision", "f8"), "c600"),
    (("minilm", "--precision", "f16"), "c600"),
    (
        (
            "vit",
            *"--tokens 197 --width 768 --heads 12 --mlp 3072 --layers 12 --patch 768 --precision f8".split(),
        ),
        "c600",
    ),
    (
        (
            "vit",
            *"--tokens 50 --width 768 --heads 12 --mlp 3072 --layers 12 --patch 3072 --precision f16".split(),
        ),
        "c600",
    ),
    (("siglip", "--layers", "1", "--precision", "f16"), "c600"),
    (("siglip", "--layers", "1", "--precision", "f8"), "c600"),
)
"""Workloads whose plans are searched, each on its machine."""


@producer("search", "long", "c600")
def search(runs: Runs) -> list[Part]:
    """Cycles executed by the default rule's plan and by the one that is searched; digits on 64 tiles."""
    rows: list[list[str]] = []
    for workload, machine in SEARCHED:
        off, fast = (
            runs.run(workload, machine, "--runs", "1", f"--search={effort}")["cycles"]["total"]
            for effort in ("off", "fast")
        )
        row = [f"`{' '.join(workload)}`", machine, number(off), number(fast)]
        rows.append([*row, f"{100 * (fast / off - 1):+.1f} %"])
    return [Table(["program", "machine", "off", "fast", ""], rows)]


# ------------------------------------------------------------------------------------ exchange, planned


@producer("planned-exchange", "long", "c600")
def planned_exchange(runs: Runs) -> list[Part]:
    """Exchange of one layer with patch embedding and head, planned by the default rule."""
    record = runs.run((*TOWER, "--layers", "1"), "c600", "--search=off")
    phases = record["exchange_phases"]

    def of(*names: str) -> str:
        """Scheduled cycles of the operands of products of the layers that contain a name."""
        found = [
            p["scheduled"]
            for p in phases
            if "operands" in p["reason"] and any(f"layers.{name}" in p["reason"] for name in names)
        ]
        return " + ".join(number(cycles) for cycles in found)

    off = [abs(p["estimated"] / p["scheduled"] - 1) for p in phases if p["scheduled"]]
    rows = [
        ["exchange, whole program", f"{number(record['cycles']['exchange'])} cycles"],
        ["MLP operands (up + down)", of("up_product", "x_next")],
        ["Q, K, V operands", of("q:")],
        ["attention operands", of("heads_context")],
        ["encoded rows, fullest tile", f"{number(record['exchange']['row_bytes_max'])} bytes"],
        ["messages (a multicast is one)", number(record["exchange"]["transfers"])],
        [
            "estimate against schedule, by phase",
            f"median {100 * statistics.median(off):.1f} % off, worst {100 * max(off):.0f} %",
        ],
    ]
    return [Table(["", "one layer"], rows)]
