# SPDX-License-Identifier: Apache-2.0
"""tile-opt starts as fast as xdsl-opt."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "startup.py"


@pytest.mark.slow
def test_twenty_pairs_of_runs() -> None:
    done = subprocess.run([sys.executable, str(BENCHMARK)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_draws_and_computes_is_not_imported_for_a_small_file() -> None:
    program = (
        "import sys; import tilewright.tools.tile_opt;"
        " print([name for name in ('numpy', 'rich', 'xdsl.dialects.func', 'difflib', 'hashlib', 'ml_dtypes')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
