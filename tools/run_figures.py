# SPDX-License-Identifier: Apache-2.0
"""The figures of a run: the record that --json writes, and the table that a person reads."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tilewright.tools.run_compile import Clock

if TYPE_CHECKING:
    import numpy as np

    from tilewright.backends.program import Program
    from tilewright.frontends.program_folder import ProgramFolder
    from tilewright.machine import Machine
    from tilewright.passes.ir.exchange import PhaseFigures
    from tilewright.sim.results import RunResult
    from tilewright.tools.result_schema import Result


def figures_console(wide: bool = False) -> Any:
    """Where tables go; one that is not a terminal has no width to fit."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() or not wide else 200)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def result_record(
    folder: ProgramFolder,
    program: Program,
    machine: Machine,
    result: RunResult,
    outputs: dict[str, np.ndarray],
    runs: int,
    figures: Sequence[PhaseFigures],
) -> Result:
    from tilewright.backends.accounting import memory_by_category, row_bytes
    from tilewright.tools import result_schema as schema
    from tilewright.version import __version__, commit

    checks = []
    for name, value in outputs.items():
        if name not in folder.expected:
            continue
        expected = folder.expected[name]
        actual = value if expected.ndim == value.ndim else value[0] if runs == 1 else value
        if expected.ndim == value.ndim:
            expected = expected[:runs]
        elif runs > 1:
            import numpy as np

            expected = np.broadcast_to(expected, value.shape)
        checks.append(schema.compare(name, actual, expected, folder.tolerance.get(name)))
    task = None
    if folder.task is not None and folder.task.output in outputs:
        task = folder.task.measure(outputs[folder.task.output])
    cycles = result.cycles
    rows = row_bytes(program, machine)
    phases = [t for t in program.tables if t.category == "rows"]
    return schema.Result(
        program=str(folder.program_path),
        machine=machine.name,
        tiles=machine.tiles,
        clock_hz=machine.clock_hz,
        precision=folder.precision,
        cycles=schema.Cycles(
            int(cycles["compute"]),
            int(cycles["exchange"]),
            int(cycles["copy"]),
            int(cycles["sync"]),
            float(cycles["assumed_share"]),
        ),
        compile=schema.Compile(0.0, 0),
        simulate=schema.Simulate(0.0, 0),
        memory=schema.Memory(memory_by_category(program, machine)),
        exchange=schema.Exchange(
            phases=len(phases),
            transfers=sum(f.transfers for f in figures),
            row_bytes_max=int(rows.max(initial=0)),
            row_bytes_mean=float(rows.mean()),
            scheduled_over_bound=_ratio(sum(f.scheduled for f in figures), sum(f.bound for f in figures)),
            estimate_over_scheduled=_ratio(
                sum(f.estimated + machine.phase_overhead for f in figures),
                sum(f.scheduled + machine.phase_overhead for f in figures),
            ),
        ),
        code_bytes_max=sum(c.nbytes for c in program.code),
        repeats=[schema.Repeat(r.name, r.count, int(r.first), r.per_iteration) for r in result.repeats],
        checks=checks,
        task=task,
        evidence=result.evidence,
        origin=schema.Origin(__version__, commit(), machine.digest),
    )


def with_costs(
    record: Result, clock: Clock, compile_seconds: float, compile_rss: int, simulate_seconds: float
) -> Result:
    from tilewright.tools import result_schema as schema

    return replace(
        record,
        compile=schema.Compile(compile_seconds, compile_rss, clock.phases),
        simulate=schema.Simulate(simulate_seconds, clock.peak_rss()),
    )


_EVIDENCE = {
    "measured_held_out": "rests on measured kernels, held-out points",
    "measured": "on measured kernels, fitted points only",
    "derived": "on derived kernels and forms",
    "assumed": "on assumed kernels",
    "exchange": "on the model of the exchange",
    "sync": "on the overhead of its phases",
}
"""How the table names what cycles rest on."""


def print_figures(record: Result, machine: Machine, runs: int, tolerance: Mapping[str, object]) -> None:
    """The figures a reader looks for first; `tolerance` has the outputs that are held to one."""
    from rich.table import Table

    console = figures_console(wide=True)
    data = record.to_json()
    cycles = data["cycles"]
    console.print(
        f"{record.program} on {machine.name} ({machine.tiles} tiles, {record.precision or 'as written'})",
        soft_wrap=True,
    )
    table = Table()
    table.add_column("what")
    table.add_column("figure", justify="right")
    milliseconds = cycles["total"] / machine.clock_hz * 1e3
    table.add_row(
        "cycles a run", f"{cycles['total']:,} ({milliseconds:.3f} ms at {machine.clock_hz / 1e9:g} GHz)"
    )
    for name in ("compute", "exchange", "copy", "sync"):
        table.add_row(f"  {name}", f"{cycles[name]:,}")
    for name, part in data["evidence"].items():
        share = f"{part:,} ({100 * part / max(cycles['total'], 1):.1f} %)"
        table.add_row(f"  {_EVIDENCE[name]}", share)
    for repeat in data["repeats"]:
        rest = "" if repeat["per_iteration"] is None else f", then {repeat['per_iteration']:,.0f}"
        table.add_row(f"repeat {repeat['name']} x {repeat['count']}", f"first {repeat['first']:,}{rest}")
    memory = data["memory"]
    of_total = f"{memory['max_tile_bytes']:,} of {memory['per_tile_total']:,} bytes"
    table.add_row(f"memory of the fullest tile ({memory['max_tile']})", of_total)
    for name, nbytes in memory["max_tile_categories"].items():
        if nbytes:
            table.add_row(f"  {name}", f"{nbytes:,}")
    table.add_row(
        "compile", f"{data['compile']['seconds']:.1f} s, {data['compile']['peak_rss_bytes'] / 2**30:.2f} GiB"
    )
    table.add_row(
        f"simulate {runs} run{'s' if runs > 1 else ''}",
        f"{data['simulate']['seconds']:.1f} s, {data['simulate']['peak_rss_bytes'] / 2**30:.2f} GiB",
    )
    for check in data["checks"]:
        figures = ", ".join(
            f"{label} {check[key]:.6g}"
            for key, label in (
                ("max_abs_error", "max abs error"),
                ("cosine", "cosine"),
                ("min_row_cosine", "min row cosine"),
            )
            if check[key] is not None
        )
        verdict = "passed" if check["output"] in tolerance else "no tolerance given"
        verdict = verdict if check["passed"] else "FAILED"
        table.add_row(f"output {check['output']}", f"{figures}: {verdict}")
    if record.task is not None:
        for name, value in record.task.items():
            table.add_row(f"task {name}", f"{value:.4f}")
    console.print(table)
