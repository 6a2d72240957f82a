# SPDX-License-Identifier: Apache-2.0
"""`python benchmarks/figures`: see `command.py`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from figures.command import main

    sys.exit(main())
