# SPDX-License-Identifier: Apache-2.0
"""
Writes or checks the figures in documents: `python benchmarks/figures [NAME ...]`.

Without names all blocks are written, in the order of what they cost. `--check` compares instead of writing
and exits 1 if a block departs (timings are not compared, so several blocks are made at once); `--cost`
takes those up to that cost; `--list` says what there is. A block whose workload cannot be made
here (weights that are not installed) is left as it is, and the command says so; one that fails is left too,
and the command exits 1 when all others are made. `pictures` are those in docs/images; they are made with the
long ones, and never compared.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from traceback import format_exception

from figures import pictures
from figures.blocks import ROOT, Part, blocks, differences, write
from figures.producers import PRODUCERS
from figures.registry import Producer
from figures.runs import Failed, Missing, Runs

COSTS = ("fast", "slow", "long")
DRAWN = "pictures"


def commit() -> str:
    """The commit that is checked out, with `+` where files differ from it."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ":!docs", ":!README.md")
    return (git("rev-parse", "--short=9", "HEAD") or "unknown") + ("+" if changed else "")


def stamp(made: Producer, repeats: int) -> str:
    """The line below a block."""
    from tilewright.version import __version__

    text = f"tilewright {__version__}, commit {commit()}, machine {made.machine}"
    if made.timed:
        text += f"; seconds: median of {repeats} on {os.cpu_count()} cores of {_processor()}"
    return text


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0].replace("_", " ") if names else platform.machine()


def _made(names: Sequence[str], runs: Runs, jobs: int) -> Iterator[tuple[str, list[Part] | Exception, float]]:
    """
    What each block consists of, or what it lacks (`Missing`) or failed with, and the seconds it took: in the
    order of `names`. A block that fails takes none of the others with it.
    """

    def make(name: str) -> tuple[str, list[Part] | Exception, float]:
        started = time.perf_counter()
        made: list[Part] | Exception
        try:
            made = PRODUCERS[name].make(runs)
        except Exception as error:
            made = error
        return name, made, time.perf_counter() - started

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(make, names)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks/figures", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--check", action="store_true", help="compare with the documents")
    parser.add_argument("--cost", choices=COSTS, default="long", help="the most expensive ones to make")
    parser.add_argument("--repeats", type=int, default=3, help="runs of what is timed")
    parser.add_argument(
        "--jobs", type=int, help="blocks made at once (1; with --check as many as there are cores)"
    )
    parser.add_argument("--list", action="store_true", help="names, costs, documents")
    options = parser.parse_args(arguments)
    where = {name: path for path, name, _ in blocks()}
    contents = {name: text for _, name, text in blocks()}
    if options.list:
        for name, made in PRODUCERS.items():
            place = where[name].relative_to(ROOT) if name in where else "nowhere"
            print(f"{name:22} {made.cost:5} {made.machine:13} {place}")
        print(f"{DRAWN:22} {'long':5} {'c600':13} {pictures.FOLDER.relative_to(ROOT)}")
        return 0
    if unknown := [name for name in options.names if name not in (*PRODUCERS, DRAWN)]:
        parser.error(
            f"no figures are called {', '.join(unknown)}; there are {', '.join((*PRODUCERS, DRAWN))}"
        )
    allowed = COSTS[: COSTS.index(options.cost) + 1]
    chosen = [n for n in PRODUCERS if n in where and (n in options.names or not options.names)]
    chosen = sorted(
        (n for n in chosen if PRODUCERS[n].cost in allowed), key=lambda n: COSTS.index(PRODUCERS[n].cost)
    )
    runs = Runs(1 if options.check else options.repeats)
    jobs = options.jobs or ((os.cpu_count() or 1) if options.check else 1)
    bad = 0
    for name, parts, seconds in _made(chosen, runs, jobs):
        if isinstance(parts, Missing):
            print(f"{name}: left as it is: {parts}", flush=True)
            continue
        if isinstance(parts, Exception):
            bad += 1
            why = str(parts) if isinstance(parts, Failed) else "".join(format_exception(parts))
            print(f"{name}: failed ({seconds:.1f} s)\n{why}", flush=True)
            continue
        made = PRODUCERS[name]
        found = differences(contents[name], parts)
        if options.check:
            bad += bool(found)
            verdict = "departs" if found else "as written"
        else:
            write(where[name], name, parts, stamp(made, options.repeats))
            verdict = "written" if found else "written, no change"
        print(f"{name}: {verdict} ({seconds:.1f} s)", flush=True)
        for text in found if options.check else []:
            print(f"  {where[name].relative_to(ROOT)}\n  " + text.replace("\n", "\n  "))
    if not options.check and options.cost == "long" and DRAWN in (options.names or (DRAWN,)):
        try:
            pictures.make(runs)
            print(f"{DRAWN}: written", flush=True)
        except Missing as missing:
            print(f"{DRAWN}: left as they are: {missing}", flush=True)
        except Failed as failed:
            bad += 1
            print(f"{DRAWN}: failed\n{failed}", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
