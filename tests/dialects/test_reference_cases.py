# SPDX-License-Identifier: Apache-2.0
"""The reference semantics on programs made from public bug reports, whose values it did not compute."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from tilewright.dialects.parsing import parse_module
from tilewright.dialects.reference import evaluate

_SPEC = spec_from_file_location("issue_case_loader", Path(__file__).parents[1] / "cases" / "loader.py")
assert _SPEC is not None and _SPEC.loader is not None
loader = module_from_spec(_SPEC)
sys.modules[_SPEC.name] = loader
_SPEC.loader.exec_module(loader)


@pytest.mark.parametrize("case", loader.cases(), ids=lambda case: case.name)
def test_case(case) -> None:
    outputs = evaluate(parse_module(case.text, str(case.path)), case.inputs)
    assert [check.failure(outputs[check.output]) for check in case.checks] == [None] * len(case.checks)


def test_every_record_has_a_program_or_a_reason() -> None:
    with_program = {case.record for case in loader.cases() if case.path.exists()}
    assert with_program | set(loader.NOT_TRANSCRIBED) == {record["id"] for record in loader.records()}
    assert len(loader.NOT_TRANSCRIBED) == 3


def test_every_program_belongs_to_a_record() -> None:
    assert {case.path for case in loader.cases()} == set(loader.FOLDER.glob("*.mlir"))


def test_check_kinds() -> None:
    check = loader.Check("eq", "out0", np.array([0.0, np.nan, 1.0], np.float32), 0.0)
    assert check.failure(np.array([-0.0, np.nan, 1.0], np.float32)) is None
    assert "2 of 3" in check.failure(np.array([1.0, np.nan, 2.0], np.float32))
    assert "type" in check.failure(np.zeros(3, np.float16))
    assert "shape" in check.failure(np.zeros(2, np.float32))
    close = loader.Check("close", "out0", np.array([1.0, -0.0], np.float32), 1.0)
    assert close.failure(np.array([np.nextafter(np.float32(1), np.float32(2)), 0.0], np.float32)) is None
    assert close.failure(np.array([1.1, 0.0], np.float32)) is not None


def test_the_norm_of_each_row_has_mean_zero_and_deviation_one() -> None:
    for case in loader.cases():
        if case.record != "tenstorrent/tt-metal#50682":
            continue
        rows = evaluate(parse_module(case.text), case.inputs)["out0"].astype(np.float64)
        assert np.abs(rows.mean(axis=1)).max() < 1e-5
        assert np.abs(rows.std(axis=1) - 1).max() < 1e-4
