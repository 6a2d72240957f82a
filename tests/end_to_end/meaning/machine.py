# SPDX-License-Identifier: Apache-2.0
"""Cases on the machine model, each compiled once."""

from __future__ import annotations

import math
from functools import cache

import harness
import numpy as np

from tilewright.sim.executor import Executor

from . import BY_NAME
from .case import Case


@cache
def compiled(name: str) -> harness.Compiled:
    case = BY_NAME[name]
    return harness.compile_text(case.text, case.machine)


def machine_output(case: Case) -> np.ndarray:
    found = compiled(case.name)
    executor = Executor(found.image, found.machine, math.nan)
    executor.load({})
    return executor.run(case.values()).outputs["out0"]
