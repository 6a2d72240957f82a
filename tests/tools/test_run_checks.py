# SPDX-License-Identifier: Apache-2.0
"""What `tile-run` refuses before it compiles, and the tolerance of an output that has none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.diagnostics import TileError
from tilewright.frontends.program_folder import ProgramFolder
from tilewright.tools.run_checks import Surface, check_files, check_writable, default_error

SURFACE = Surface({"w": (4, 2)}, {"x": (3, 4)}, {"y": (3, 2)}, {"w": "f16", "x": "f16", "y": "f16"})
W, X, Y = np.zeros((4, 2)), np.zeros((3, 4)), np.zeros((3, 2))


def folder(**changes: Any) -> ProgramFolder:
    given: dict[str, Any] = {"parameters": {"w": W}, "inputs": {"x": X}, "expected": {"y": Y}, **changes}
    return ProgramFolder("", **given)


def test_what_is_complete_passes():
    assert check_files(SURFACE, folder(), None, None, None) == 1
    assert check_files(SURFACE, folder(), 1000, None, None) == 1000
    many = folder(inputs={"x": np.zeros((5, 3, 4))}, expected={"y": np.zeros((5, 3, 2))})
    assert check_files(SURFACE, many, None, None, None) == 5
    assert check_files(SURFACE, many, 2, None, None) == 2


@pytest.mark.parametrize(
    ("changes", "runs", "message"),
    [
        ({"parameters": {}}, None, "no tensor for parameter 'w'"),
        ({"parameters": {"w": W.T}}, None, "parameter 'w' has shape [2, 4], the program needs [4, 2]"),
        ({"inputs": {}}, None, "no tensor for input 'x'"),
        ({"inputs": {"x": X.T}}, None, "input 'x' has shape [4, 3], the program needs [3, 4]"),
        ({}, 0, "--runs is at least 1, not 0"),
        ({"inputs": {"x": np.zeros((5, 3, 4))}}, 10**30, "the inputs hold 5 runs"),
        ({"runs": 10**9}, None, '"runs" of the folder is 1000000000, its inputs hold values for 1'),
        ({"expected": {"y": Y.T}}, None, "expected output 'y' has shape [2, 3], the program returns [3, 2]"),
        ({"expected": {"y": np.zeros((2, 3, 2))}}, 3, "expected output 'y' has values for 2 of 3 runs"),
        ({"expected": {"z": Y}}, None, "none of the expected tensors is an output of the program"),
    ],
)
def test_what_is_missing_or_wrong(changes: dict[str, Any], runs: int | None, message: str):
    with pytest.raises(TileError) as error:
        check_files(SURFACE, folder(**changes), runs, None, None)
    assert message in error.value.message


def test_paths_that_cannot_be_written(tmp_path: Path):
    (tmp_path / "file").write_text("")
    check_writable({"--json": tmp_path / "new" / "a.json", "--steps": None}, {"--artifacts": tmp_path})
    assert not (tmp_path / "new").exists()
    with pytest.raises(TileError, match=r"--json: .* is a folder"):
        check_writable({"--json": tmp_path}, {})
    with pytest.raises(TileError, match=r"--json: cannot write .* is no folder"):
        check_writable({"--json": tmp_path / "file" / "a.json"}, {})
    with pytest.raises(TileError, match=r"--artifacts: cannot write .* is no folder"):
        check_writable({}, {"--artifacts": tmp_path / "file"})


def test_tolerances_of_element_types():
    expected = np.array([1.0, -4.0, np.inf])
    assert default_error(("f16", "f32"), expected) == 4 * 2.0**-7
    assert default_error(("f16", "f8E4M3FNUZ"), expected) == 1.0
    assert default_error(("f32",), expected) == 4 * 2.0**-16
    assert default_error(("i32",), expected) == 0.0
