# SPDX-License-Identifier: Apache-2.0
"""The module beside the tests (`browser`) is imported by its plain name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
