# SPDX-License-Identifier: Apache-2.0
"""What stands beside the tests (`harness`, `meaning`, `random_programs`) is imported by its plain name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
