# SPDX-License-Identifier: Apache-2.0
"""What `tile-run` refuses before it compiles, and the tolerance of an output that has none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.diagnostics import TileError
from tilewright.frontends.program_folder import ProgramFolder
from tilewright.machine import load
from tilewright.tools.run_checks import Surface, check_files, check_plan, check_writable, default_error

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


@pytest.mark.parametrize(
    ("values", "held"),
    [(np.array([1.0, 1.5]), "1.5"), (np.array([0, 2**40]), str(2**40)), (np.array([0.0, np.nan]), "nan")],
)
def test_integers_hold_what_the_file_has(values: np.ndarray, held: str):
    reads = Surface({}, {"i": (2,)}, {"y": (2,)}, {"i": "i32", "y": "f16"})
    given = folder(parameters={}, inputs={"i": values}, expected={})
    with pytest.raises(TileError, match=rf"input 'i' is i32 in the program, the file holds {held}") as error:
        check_files(reads, given, None, None, None)
    assert error.value.notes == ("i32 holds whole numbers from -2147483648 to 2147483647",)
    assert (
        check_files(reads, folder(parameters={}, inputs={"i": np.array([1, 2])}, expected={}), 1, None, None)
        == 1
    )


def test_a_plan_is_read_before_anything_is_compiled(tmp_path: Path):
    path = tmp_path / "plan.json"
    path.write_text('{"format": "tilewright-plan", "version": 2, "machine": "c600"}')
    check_plan(None, load("t4"))
    check_plan(path, load("c600"))
    with pytest.raises(TileError, match="the plan is for machine c600, the program for t4"):
        check_plan(path, load("t4"))


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
