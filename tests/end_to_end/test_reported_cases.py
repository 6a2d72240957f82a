# SPDX-License-Identifier: Apache-2.0
"""
Programs made from public bug reports, on the machine model, under every poison and every check of the model.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import harness
import numpy as np
import pytest

from tilewright.machine.dtypes import numpy_dtype
from tilewright.sim.executor import Executor
from tilewright.sim.oracle import compare_each

_SPEC = spec_from_file_location("issue_case_loader", Path(__file__).parents[1] / "cases" / "loader.py")
assert _SPEC is not None and _SPEC.loader is not None
loader = module_from_spec(_SPEC)
sys.modules[_SPEC.name] = loader
_SPEC.loader.exec_module(loader)

POISONS = (float("nan"), float("inf"), float("-inf"), -42.0, 0.0, 7.0)


@pytest.mark.parametrize("case", loader.cases(), ids=lambda case: case.name)
def test_case(case) -> None:
    machine = "t4"
    try:
        compiled = harness.compile_text(case.text, machine)
    except harness.TileError as error:
        if not harness.too_big(error):
            raise
        compiled = harness.compile_text(case.text, machine := "t16")
    for number, poison in enumerate(POISONS if case.poison is None else (*POISONS, case.poison)):
        executor = Executor(compiled.image, compiled.machine, poison)
        executor.load({})
        if number == 0:
            found, result = compare_each(executor, compiled.oracle, case.inputs)
            assert found is None, str(found)
            assert result is not None
        else:
            result = executor.run(case.inputs)
        for check in case.checks:
            output = result.outputs[check.output]
            kind = np.dtype(numpy_dtype(compiled.dtypes[check.output]))
            assert check.failure(output.astype(kind)) is None, f"poison {poison} on {machine}"
