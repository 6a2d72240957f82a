# SPDX-License-Identifier: Apache-2.0
"""
What recording a profile costs: the same program on the machine model with and without it.

    python benchmarks/recording.py [--layers 1] [--runs 2]

The vision tower of SigLIP on c600, compiled once; each run is a process of its own, so that the peak of its
memory is its own. Seconds are processor time (the least of the runs): of the whole run, and of what recording
does in it, which other work on the machine disturbs less: the recorder, making the profile and writing it.
Exits 1 where recording takes more than 10 % of the rest, or 300 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from tilewright.backends.image import to_image
from tilewright.frontends.program_folder import ProgramFolder, select_run
from tilewright.host import peak_rss_bytes
from tilewright.machine import load
from tilewright.passes import pipeline
from tilewright.passes.ir.exchange import read_figures
from tilewright.sim.executor import Executor
from tilewright.sim.recorder import Recorder
from tilewright.tools import run_report, tile_workload
from tilewright.tools.driver.main import load_module, make_context
from tilewright.tools.run_compile import Clock, compile_module, forget_compilation
from tilewright.tools.run_profile import CompilationFacts, profile_of_run

PLAN = Path(__file__).parents[1] / "examples" / "siglip" / "plan.json"
MOST_SHARE, MOST_BYTES = 0.10, 300_000_000


class Timed(Recorder):
    """A recorder that counts its own processor time."""

    seconds = 0.0

    def segment(self, *arguments: Any, **more: Any) -> None:
        start = time.process_time()
        super().segment(*arguments, **more)
        self.seconds += time.process_time() - start

    def exchanged(self, *arguments: Any, **more: Any) -> None:
        start = time.process_time()
        super().exchanged(*arguments, **more)
        self.seconds += time.process_time() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        path = Path(made)
        name = str(path / "siglip")
        tile_workload.main(["siglip", "--layers", str(options.layers), "--precision", "f8", "-o", name])
        folder, context = ProgramFolder.read(path / "siglip"), make_context()
        assert folder.program_path is not None
        module = pipeline.select_program(load_module(folder.program_path, context), context, None)
        machine = load("c600")
        work = run_report.program_work(module, machine)
        facts = CompilationFacts(text=(str(folder.program_path), folder.program_path.read_text("utf-8")))
        facts.read_program(module)
        program = compile_module(module, context, "c600", PLAN, Clock(), facts=facts)
        bound = [b for b in program.bindings if b.kind == "input"]
        inputs = select_run(folder.inputs, {n: b.shape for b in bound for n in b.tensors}, 0, "input")
        figures, image = read_figures(module), to_image(program)
        del module
        forget_compilation()

        def execute(recorded: bool) -> dict[str, Any]:
            executor = Executor(image, machine, None)
            executor.load(folder.parameters)
            recorder = Timed(machine)
            if recorded:
                executor.observer = recorder
            start = time.process_time()
            result = executor.run(inputs)
            size, made_at = 0, time.process_time()
            if recorded:
                operators = run_report.operator_cycles(result.steps, work, machine)
                record = {"program": "siglip", "operators": [entry.to_json() for entry in operators]}
                profile = profile_of_run(program, machine, recorder, facts, figures, record)
                profile.write(path / "run.profile")
                size = (path / "run.profile").stat().st_size
            own = recorder.seconds + time.process_time() - made_at
            seconds = time.process_time() - start
            peak = peak_rss_bytes()
            return {"seconds": seconds, "own": own, "bytes": peak, "size": size}

        found = {
            recorded: [_apart(execute, recorded) for _ in range(options.runs)] for recorded in (False, True)
        }
    seconds = {recorded: min(r["seconds"] for r in runs) for recorded, runs in found.items()}
    peaks = {recorded: min(r["bytes"] for r in runs) for recorded, runs in found.items()}
    more = peaks[True] - peaks[False]
    own = min(r["own"] for r in found[True])
    share = max(own / (r["seconds"] - r["own"]) for r in found[True])
    print("| | seconds | peak, MB |")
    print("|---|---:|---:|")
    for recorded, label in ((False, "without a profile"), (True, "with one")):
        print(f"| {label} | {seconds[recorded]:.2f} | {peaks[recorded] / 1e6:,.0f} |")
    print(f"| recording | {own:.2f}, {100 * share:.1f} % of the rest | {more / 1e6:,.0f} |")
    print(f"\n{options.layers} layers; the profile has {found[True][0]['size']:,} bytes")
    return int(share > MOST_SHARE or more > MOST_BYTES)


def _apart(execute: Any, recorded: bool) -> dict[str, Any]:
    """What `execute` says in a process of its own."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writes, json.dumps(execute(recorded)).encode())
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as file:
        text = file.read()
    os.waitpid(child, 0)
    if not text:
        raise SystemExit("the run in a process of its own failed")
    return json.loads(text)


if __name__ == "__main__":
    sys.exit(main())
