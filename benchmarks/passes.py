# SPDX-License-Identifier: Apache-2.0
"""
What a matrix product costs the machine model: nanoseconds of processor time for each result and pass.

    python benchmarks/passes.py [--runs 9]

Shapes are those of a layer of SigLIP on c600: tiles, rows, columns, depth. One thread; least and median of
the runs. A digest of the results shows whether a change left them as they are.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
import time

import numpy as np

from tilewright.machine.kernels.matrix_unit import pass_inputs
from tilewright.machine.numerics import operations as numerics
from tilewright.machine.numerics import workers

SHAPES: tuple[tuple[str, int, tuple[int, int, int, int]], ...] = (
    ("f8E4M3FNUZ", -14, (84, 183, 48, 288)),
    ("f8E4M3FNUZ", -13, (100, 146, 48, 288)),
    ("f8E4M3FNUZ", -20, (265, 81, 64, 128)),
    ("f8E4M3FNUZ", 0, (260, 53, 128, 96)),
    ("f16", 0, (326, 146, 32, 80)),
)
"""Type of the operands, scale, extents."""


def measure(name: str, scale: int, extents: tuple[int, int, int, int], runs: int) -> tuple[list[float], str]:
    """Nanoseconds of each run, ascending, and the digest of the product."""
    tiles, rows, columns, depth = extents
    random = np.random.default_rng(0)
    spread = 4.0 if scale else 0.25
    a, w = (
        numerics.cast_array(spread * random.standard_normal((tiles, 1, size, depth)), name)
        for size in (rows, columns)
    )
    width = pass_inputs(name)
    found: list[float] = []
    digest = ""
    for _ in range(runs):
        start = time.thread_time()
        out = numerics.gemm(a, w, "f16", width, scale)
        found.append((time.thread_time() - start) / (out.size * depth // width) * 1e9)
        digest = hashlib.sha256(out.tobytes()).hexdigest()[:12]
    return sorted(found), digest


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    print("| operands | tiles, rows, columns, depth | least, ns | median, ns | results |")
    print("|---|---|---:|---:|---|")

    workers.count = lambda: 1
    for name, scale, extents in SHAPES:
        found, digest = measure(name, scale, extents, runs)
        sizes = ", ".join(map(str, extents))
        print(f"| {name} | {sizes} | {found[0]:.2f} | {statistics.median(found):.2f} | {digest} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
