# SPDX-License-Identifier: Apache-2.0
"""
`tile-kernels`: the kernel registry, and its predicted cycles against published measurements.

tile-kernels                        every kernel, every published figure beside its prediction
tile-kernels --json [FILE]          the same as JSON
tile-kernels gemm.f8 1x146x48x288   the itemised cost of one call (types: --types f8E4M3FNUZ,f8E4M3FNUZ,f16)

Exit status: 0 good; 1 an unknown kernel, impossible extents, predictions out of bounds; 2 unknown flags.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.diagnostics import TileError
from tilewright.tools.driver.arguments import ToolParser
from tilewright.tools.driver.main import run_tool

if TYPE_CHECKING:
    from rich.console import Console

FORMAT = "tilewright-kernels"
VERSION = 1


def _parser() -> ToolParser:
    parser = ToolParser("tile-kernels", __doc__)
    parser.add_argument("kernel", nargs="?", metavar="KERNEL", help="show one kernel")
    parser.add_argument(
        "extents", nargs="?", metavar="EXTENTS", help="extents of its axes, as 1x146x48x288: itemise one call"
    )
    parser.add_argument("--types", default="", metavar="T,T", help="element types of ins and outs")
    parser.add_argument(
        "--scalar", action="append", default=[], metavar="NAME=N", help="a scalar of the call"
    )
    parser.add_argument(
        "--machine",
        default="c600",
        metavar="NAME|FILE",
        help="machine of the itemised call: a name or a machine file (default: c600)",
    )
    parser.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="as JSON, to a file or standard output"
    )
    return parser


def report() -> dict[str, Any]:
    """Everything the tool shows, as plain data."""
    from tilewright.machine.kernels import kernel, kernel_names
    from tilewright.machine.kernels.measurements import WORST_CHECK, WORST_MEDIAN, points, summarise
    from tilewright.planning.exchange.published import figures

    found = points()
    exchange, unreproducible = figures()
    summary = summarise(found)
    kernels = []
    for name in kernel_names():
        entry = kernel(name)
        kernels.append(
            {
                "name": name,
                "axes": list(entry.axes),
                "ins": [dataclasses.asdict(rule) for rule in entry.ins],
                "outs": [dataclasses.asdict(rule) for rule in entry.outs],
                "separate": [list(pair) for pair in entry.separate],
                "granule": list(entry.granule),
                "scalars": list(entry.scalars),
                "code_bytes": entry.code_bytes,
                "evidence": entry.evidence,
                "source": entry.source,
            }
        )
    return {
        "format": FORMAT,
        "version": VERSION,
        "kernels": kernels,
        "points": [{**dataclasses.asdict(p), "error": p.error, "scored": p.scored} for p in found],
        "exchange": [{**dataclasses.asdict(f), "error": f.error} for f in exchange],
        "exchange_not_reproducible": [dataclasses.asdict(f) for f in unreproducible],
        "summary": {
            **dataclasses.asdict(summary),
            "bounds": {"median_error": WORST_MEDIAN, "check_error": WORST_CHECK},
            "passed": summary.passed,
        },
    }


def _shape(extents: Sequence[int]) -> str:
    return "x".join(map(str, extents))


def _show(data: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    # Wide enough for the sources when the output is not a terminal, so that a log keeps whole lines.
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    colour = {"measured": "green", "derived": "yellow", "assumed": "red"}
    table = Table(title="Kernels", title_justify="left", box=None, padding=(0, 1))
    for column in ("kernel", "axes", "evidence", "code B", "cycles from"):
        table.add_column(column, justify="right" if column == "code B" else "left", overflow="fold")
    for entry in data["kernels"]:
        evidence = entry["evidence"]
        table.add_row(
            entry["name"],
            ",".join(entry["axes"]),
            f"[{colour[evidence]}]{evidence}[/]",
            str(entry["code_bytes"]),
            entry["source"],
        )
    console.print(table)
    table = Table(title="Predicted against published cycles", title_justify="left", box=None, padding=(0, 1))
    for column in ("kernel", "what", "extents", "published", "predicted", "error", "use", "source"):
        right = column in ("published", "predicted", "error", "extents")
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    for point in data["points"]:
        marks = {"fit": "fit", "check": "[bold]check[/]", "formula": "formula", "scaling": "not scored"}
        table.add_row(
            point["kernel"],
            point["what"],
            _shape(point["extents"]),
            f"{point['measured']:,}",
            f"{point['predicted']:,}",
            f"{point['error']:+.1%}",
            marks[point["use"]],
            point["source"],
        )
    console.print()
    console.print(table)
    _show_exchange(console, data)
    summary = data["summary"]
    console.print()
    console.print(
        f"median error {summary['median_error']:.2%} over {summary['fits']} fitted and {summary['checks']}"
        f" held-out points; held-out alone: median {summary['median_check_error']:.2%}, worst"
        f" {summary['worst_check_error']:.2%} (bounds: median {summary['bounds']['median_error']:.0%},"
        f" held-out {summary['bounds']['check_error']:.0%})",
        soft_wrap=True,
    )
    for title, names in (
        ("checked on held-out points", summary["held_out"]),
        ("only fit points or published formulas", summary["only_fit"]),
        ("no published figure, derived", summary["derived"]),
        ("no published figure, assumed", summary["assumed"]),
    ):
        console.print(f"{title}: {', '.join(names) or 'none'}", soft_wrap=True)
    if not summary["passed"]:
        console.print("[red]the formulas are outside their bounds[/]")


def _show_exchange(console: Console, data: dict[str, Any]) -> None:
    """The published exchange figures; they are shown, not held to a bound."""
    from rich.table import Table

    table = Table(
        title="Exchange: predicted against published cycles", title_justify="left", box=None, padding=(0, 1)
    )
    for column in ("what", "published", "predicted", "error", "use", "source"):
        right = column in ("published", "predicted", "error")
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    for figure in data["exchange"]:
        table.add_row(
            figure["what"],
            f"{figure['measured']:,}",
            f"{figure['predicted']:,.0f}",
            f"{figure['error']:+.1%}",
            figure["use"],
            figure["source"],
        )
    console.print()
    console.print(table)
    for other in data["exchange_not_reproducible"]:
        console.print(f"not reproducible: {other['what']}: {other['reason']}", soft_wrap=True)


def _whole(text: str, what: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise TileError(f"{what}: '{text}' is not a whole number") from None


def _default_types(name: str, operands: int) -> tuple[str, ...]:
    gemm = {
        "gemm.f8": ("f8E4M3FNUZ", "f8E4M3FNUZ", "f16"),
        "gemm.f16.f32": ("f16", "f16", "f32"),
        "gemm.f32": ("f32", "f32", "f32"),
        "gemm.bf16": ("bf16", "bf16", "f32"),
        "gemm.i8": ("i8", "i8", "i32"),
    }
    return gemm.get(name, ("f16",) * operands)


def _itemise(options: argparse.Namespace) -> dict[str, Any]:
    """One kernel, and one call of it if extents are given."""
    from tilewright.machine import load
    from tilewright.machine.dtypes import UnknownDtype, dtype
    from tilewright.machine.kernels import kernel
    from tilewright.machine.kernels.measurements import EVIDENCE, evidence

    entry = kernel(options.kernel)
    data = next(k for k in report()["kernels"] if k["name"] == entry.name)
    if options.extents is None:
        return data
    extents = [_whole(part, "extents") for part in options.extents.split("x")]
    count = len(entry.ins) + len(entry.outs)
    types = tuple(options.types.split(",")) if options.types else _default_types(entry.name, count)
    if len(types) != count:
        raise TileError(f"{entry.name} has {count} operands, --types names {len(types)}")
    scalars: dict[str, int] = {}
    for text in options.scalar:
        name, _, value = text.partition("=")
        scalars[name] = _whole(value, f"--scalar {name}")
    try:
        for name in types:
            dtype(name)
        machine = load(options.machine)
        terms = entry.itemise(machine, extents, types, scalars)
    except (UnknownDtype, ValueError) as error:
        raise TileError(str(error)) from error
    call = {name: int(cycles[0]) for name, cycles in terms}
    return {
        **data,
        "call": {
            "extents": extents,
            "types": list(types),
            "evidence": EVIDENCE[evidence(entry, machine, extents, types, scalars)[0]],
            "terms": call,
            "cycles": sum(call.values()),
        },
    }


def _show_kernel(data: dict[str, Any]) -> None:
    print(f"{data['name']} ({', '.join(data['axes'])}): {data['evidence']}, {data['code_bytes']} B of code")
    print(f"  {data['source']}")
    for side in ("ins", "outs"):
        for rule in data[side]:
            memory = "" if rule["memory"] == "any" else f", {rule['memory']} memory"
            order = "" if rule["order"] == "any" else f", order {rule['order']}"
            axes = ", ".join(rule["axes"])
            print(f"  {side[:-1]:3} {rule['name']}({axes}): {rule['alignment']} B aligned{memory}{order}")
    operands = [rule["name"] for rule in (*data["ins"], *data["outs"])]
    for first, second in data["separate"]:
        print(f"  {operands[first]} and {operands[second]} in different memory elements")
    if "call" in data:
        call = data["call"]
        print(f"  {_shape(call['extents'])} {' '.join(call['types'])} ({call['evidence']})")
        for name, cycles in {**call["terms"], "total": call["cycles"]}.items():
            print(f"    {name:30} {cycles:10,}")


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says; returns the exit status. Raises TileError."""
    options = _parser().parse_args(arguments)
    data = report() if options.kernel is None else _itemise(options)
    if options.json is not None:
        text = json.dumps(data, indent=2) + "\n"
        if options.json == "-":
            sys.stdout.write(text)
        else:
            try:
                Path(options.json).write_text(text, encoding="utf-8")
            except OSError as error:
                raise TileError(f"cannot write {options.json}: {error.strerror}") from error
    elif options.quiet:
        pass  # the exit status says it
    elif options.kernel is None:
        _show(data)
    else:
        _show_kernel(data)
    return 0 if options.kernel is not None or data["summary"]["passed"] else 1


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script."""
    return run_tool("tile-kernels", run, argv)


if __name__ == "__main__":
    sys.exit(main())
