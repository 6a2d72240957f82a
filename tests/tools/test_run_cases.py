# SPDX-License-Identifier: Apache-2.0
"""`tile-run --cases`: records that are right, unsupported and wrong, and files that are malformed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.tools import run_cases, tile_run

CASES = Path(__file__).parents[1] / "data" / "issue_cases.jsonl"


def tensor(*values: float) -> dict[str, Any]:
    array = np.array(values, np.float32)
    return {
        "type": f"tensor<{len(values)}xf32>",
        "shape": [len(values)],
        "dtype": "f32",
        "hex": array.tobytes().hex(),
    }


def case(op: str, wanted: list[float], **changed: Any) -> dict[str, Any]:
    head = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {"
    text = f"{head}\n  %r = {op}\n  return %r : tensor<2xf32>\n}}"
    checks = [{"kind": "eq", "result": 0, "expected": tensor(*wanted)}]
    return {"id": "it", "args_mlir": text, "inputs": [tensor(1, -2)], "checks": checks, **changed}


def write(path: Path, *records: Any) -> str:
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in records), encoding="utf-8")
    return str(path)


NEGATE = "stablehlo.negate %a : tensor<2xf32>"


def test_programs_that_broke_other_compilers_are_right(tmp_path: Path) -> None:
    assert (
        tile_run.main(["--cases", str(CASES), "--machine", "t16", "--json", str(tmp_path / "out.json")]) == 0
    )
    found = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert found["counts"] == {"right": 29, "unsupported": 0, "wrong": 0}
    assert all(record["cycles"] >= 0 and record["max_abs_error"] <= 1e-3 for record in found["records"])


def test_verdicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(
        tmp_path / "c.jsonl",
        case(NEGATE, [-1, 2], id="good", poison="nan"),
        case("stablehlo.cbrt %a : tensor<2xf32>", [1, 1], id="none"),
        case(NEGATE, [-1, 3], id="bad"),
        case(NEGATE, [-1], id="short"),
        case(NEGATE, [-1, 2.25], id="near", checks=[
            {"kind": "almost_eq", "result": 0, "tolerance": 0.5, "expected": tensor(-1, 2.25)}]),
        case(NEGATE, [-1, 2], id="one too many", inputs=[tensor(1), tensor(1)]),
        case(NEGATE, [-1, 2], id="no result", checks=[{"kind": "eq", "result": 4, "expected": tensor(1)}]),
    )  # fmt: skip
    assert tile_run.main(["--cases", path, "--machine", "t4", "--json", str(tmp_path / "o.json")]) == 1
    out = capsys.readouterr().out
    assert "none: unsupported: 1 operation has no meaning on tiles: stablehlo.cbrt, once" in out
    assert "bad: wrong: result 0: 1 of 2 elements differ, first 2.0 for 3.0 at [1]" in out
    assert "short: wrong: result 0: has shape [2], not [1]" in out
    assert "one too many: wrong: the program takes 1 arguments, the case has 2" in out
    assert "7 cases on t4: 2 right, 1 unsupported, 4 wrong" in out
    records = json.loads((tmp_path / "o.json").read_text("utf-8"))["records"]
    assert [r["status"] for r in records] == [
        "right",
        "unsupported",
        "wrong",
        "wrong",
        "right",
        "wrong",
        "wrong",
    ]
    assert records[4]["max_abs_error"] == 0.25


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", "a case is no JSON"),
        ("[]", "a case is a JSON object"),
        ({"inputs": [], "checks": []}, "a case has its program as args_mlir or generic"),
        ({"generic": "", "checks": []}, "a case has a list of inputs"),
        ({"generic": "", "inputs": [], "checks": [{"kind": "equal"}]}, "a check of kind 'equal'"),
        (case(NEGATE, [1, 2], inputs=[{"dtype": "f32", "shape": [2], "hex": "z"}]), "of a case is malformed"),
    ],
)  # fmt: skip
def test_files_that_are_malformed(record: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(run_cases.CasesError, match=message):
        run_cases.run_cases(Path(write(tmp_path / "c.jsonl", record)), "t4")


def test_files_without_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(run_cases.CasesError, match="cannot read the cases"):
        run_cases.read_cases(tmp_path / "none.jsonl")
    with pytest.raises(run_cases.CasesError, match="holds no cases"):
        run_cases.read_cases(Path(write(tmp_path / "empty.jsonl", "")))
    assert tile_run.main([]) == 1
    assert "give a program, or --cases FILE" in capsys.readouterr().err
