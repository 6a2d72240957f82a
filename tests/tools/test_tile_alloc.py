# SPDX-License-Identifier: Apache-2.0
"""`tile-alloc` from the command line: the founding case, placements in files, what is wrong with a file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.planning.memory.instances import guillotine
from tilewright.planning.memory.problem import Alternative, Buffer, Option, Problem
from tilewright.tools.tile_alloc import main

FOUNDING = Path(__file__).parent.parent.parent / "examples" / "founding_case.json"


def test_the_founding_case_is_proved_short_and_what_would_fit_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    assert main([str(FOUNDING), "--json", str(out)]) == 1
    text = capsys.readouterr().err
    assert "13004 bytes short" in text and "no order of allocation can help" in text
    assert "430280 bytes live, 417276 bytes available" in text
    for name in ("qkv", "projection", "mlp_up", "mlp_down"):
        assert f"layers.{name}.weight (27 x " in text
    assert "it fits with 29052 bytes to spare if 'activation (f16, as exchanged)' and" in text
    found = json.loads(out.read_text())["diagnosis"]
    assert (found["kind"], found["proof"], found["short_bytes"]) == ("capacity", True, 13004)
    assert next(t for t in found["tried"] if t["fits"])["spare_bytes"] == 29052
    assert sum(b["bytes"] for b in found["largest"] if b["category"] == "parameters") == 304_128


def test_the_founding_case_fits_when_only_the_narrow_copy_arrives(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    problem = Problem.read(FOUNDING)
    assert problem.capacity == 417_276
    path = tmp_path / "cast_first.json"
    problem.without({"activation (f16, as exchanged)"}).write(path)
    assert main([str(path)]) == 0
    assert "71092 to spare" in capsys.readouterr().out


def test_placements_are_written_checked_and_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    problem, _ = guillotine(12, 0.9, 1)
    path, out = tmp_path / "p.json", tmp_path / "s.json"
    problem.write(path)
    assert main([str(path), "--json", str(out), "--map"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 13
    assert main([str(path), "--check", str(out)]) == 0
    data = json.loads(out.read_text())
    data["addresses"]["b3"] += 4
    out.write_text(json.dumps(data))
    assert main([str(path), "--check", str(out)]) == 1
    error = capsys.readouterr().err
    assert "tile-alloc: error: the placement is illegal: " in error and "b3 at" in error


def test_fragmentation_is_told_from_too_much(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pins = tuple(Buffer(f"p{i}", 100, 0, 1, alignment=4, at=200 + 300 * i) for i in range(3))
    problem = Problem((*pins, Buffer("x", 300, 0, 1, alignment=4)), ((0, 1000),))
    path = tmp_path / "p.json"
    problem.write(path)
    assert main([str(path), "--nodes", "2000"]) == 1
    text = capsys.readouterr().err
    assert "x: 300 bytes found no place" in text
    assert (
        "largest hole for 'x' is 200 bytes, 300 needed; 400 bytes free there, 300 bytes not yet placed"
        in text
    )


def test_no_alternative_fits(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The limit of alternatives: every option is tried, the nearest is explained."""
    buffers = (Buffer("whole", 900, 0, 1), Buffer("half", 500, 0, 1), Buffer("x", 600, 0, 1))
    options = (Option("whole weights", ("whole",)), Option("half of them", ("half",)))
    path = tmp_path / "p.json"
    Problem(buffers, ((0, 1000),), alternatives=(Alternative("weights", options),)).write(path)
    assert main([str(path)]) == 1
    assert (
        "no alternative fits; nearest is half of them: tile memory is 100 bytes short"
        in capsys.readouterr().err
    )


def test_an_option_that_fits_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    buffers = (Buffer("whole", 900, 0, 1), Buffer("half", 400, 0, 1), Buffer("x", 600, 0, 1))
    options = (Option("whole weights", ("whole",)), Option("half of them", ("half",)))
    path = tmp_path / "p.json"
    Problem(buffers, ((0, 1000),), alternatives=(Alternative("weights", options),)).write(path)
    assert main([str(path)]) == 0
    assert "weights: half of them" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "x"}, "has no"),
        ({"version": 9}, "version 9"),
        ({"ranges": [[0, 100], [50, 200]]}, "overlap"),
        ({"buffers": [{"name": "a", "nbytes": 8, "first": 3, "last": 1}]}, "is live from 3 to 1"),
        ({"buffers": [{"name": "a", "nbytes": "8", "first": 0, "last": 1}]}, "cannot be '8'"),
        (
            {"buffers": [{"name": "a", "nbytes": 8, "first": 0, "last": 1, "classes": ["b"]}]},
            "classes of 'a' cannot be ['b']",
        ),
        ({"buffers": [{"name": "a", "nbytes": 8, "first": 0, "last": 1, "size": 3}]}, "unknown field 'size'"),
        ({"buffers": [{"nbytes": 8, "first": 0, "last": 1}]}, "is not an allocation problem"),
        ({"separate": [["a", "nobody"]]}, "'nobody' is no buffer"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = tmp_path / "p.json"
    data = Problem((Buffer("a", 8, 0, 1),), ((0, 100),)).to_json()
    path.write_text(json.dumps({**data, **change}))
    assert main([str(path)]) == 1
    assert message in capsys.readouterr().err


def test_unreadable_files_and_flags(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    assert main([str(path)]) == 1
    path.write_text("{")
    assert main([str(path)]) == 1
    assert main(["--nonsense"]) == 2
    problem, _ = guillotine(4, 0.9, 1)
    replace(problem, name="x").write(path)
    assert main([str(path), "--nodes", "0"]) == 1
