# SPDX-License-Identifier: Apache-2.0
"""
Contractions that are completed to whole panels by what the exchange brings: right whatever lay there before,
by way of a member of a sequence as of a parameter, and without a kernel that fills.
"""

import json
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tilewright.frontends.program_folder import write_tensors
from tilewright.machine import load
from tilewright.planning.operators import Operator, read_choice, strategies
from tilewright.planning.operators.base import Surroundings
from tilewright.planning.stages import PlanError
from tilewright.tools.tile_run import main as tile_run

TEXT = """
func.func @main(%x: tensor<26x{k}xf16>, %ws: !tile_repeat.sequence<2 x tensor<{w}x{type}>>
    {{tile_tensor.parameter = ["w0", "w1"]}}) -> tensor<26x{k}xf16> {{
  %r = tile_repeat.repeat "layers" count 2 carried(%a = %x : tensor<26x{k}xf16>)
      iterated(%w = %ws : !tile_repeat.sequence<2 x tensor<{w}x{type}>>) -> (tensor<26x{k}xf16>) {{
    %t = tile_tensor.exp %a : (tensor<26x{k}xf16>) -> tensor<26x{k}xf16>
    %c = tile_tensor.cast %t : (tensor<26x{k}xf16>) -> tensor<26x{k}x{type}>
    %b = tile_tensor.matmul %c, %w {turned}
      : (tensor<26x{k}x{type}>, tensor<{w}x{type}>) -> tensor<26x{k}xf16>
    tile_repeat.yield %b : tensor<26x{k}xf16>
  }}
  func.return %r : tensor<26x{k}xf16>
}}
"""


@pytest.mark.parametrize(
    ("element", "k", "turned", "swap"),
    [
        ("f8E4M3FNUZ", 48, "", False),
        ("f8E4M3FNUZ", 40, "transpose_b", False),
        ("f8E4M3FNUZ", 48, "", True),
        ("f16", 40, "", False),
        ("f16", 24, "transpose_b", True),
    ],
)
def test_what_arrives_completes_the_contraction(
    element: str, k: int, turned: str, swap: bool, tmp_path: Path
) -> None:
    """Value by value against the reference, in memory that holds NaN wherever nobody wrote."""
    text = TEXT.format(k=k, w=f"{k}x{k}", turned=turned, type=element)
    same = element == "f16"
    (tmp_path / "p.mlir").write_text(text.replace("tile_tensor.cast", "tile_tensor.abs") if same else text)
    rng = np.random.default_rng(k)
    dtype = np.float16 if element == "f16" else ml_dtypes.float8_e4m3fnuz
    weights = {f"w{i}": rng.normal(0, 1 / k, (k, k)).astype(dtype) for i in range(2)}
    write_tensors(tmp_path / "w.safetensors", weights)
    write_tensors(tmp_path / "x.safetensors", {"arg0": rng.normal(0, 1, (26, k)).astype(np.float16)})
    plan = {
        "format": "tilewright-plan",
        "version": 2,
        "machine": "t16",
        "operators": {"layers.b": {"strategy": "grid", "grid": [1, 2, 2, 2], "swap": swap, "filler": True}},
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    files = [
        f"--{name}={tmp_path / file}"
        for name, file in (
            ("parameters", "w.safetensors"),
            ("inputs", "x.safetensors"),
            ("plan", "plan.json"),
            ("json", "result.json"),
        )
    ]
    arguments = [
        str(tmp_path / "p.mlir"),
        "--machine=t16",
        "--compare=each",
        "--poison=nan",
        *files,
    ]
    assert tile_run(arguments) == 0


@pytest.mark.parametrize(
    ("k", "hosts"), [(64, (False, True)), (48, (False, False)), (48, (True, True)), (46, (False, True))]
)
def test_what_no_filler_is_for(k: int, hosts: tuple[bool, bool]) -> None:
    """Whole panels, no parameter, nothing but parameters, rows that end inside a word."""
    types = ((8, k), "f8E4M3FNUZ"), ((k, 32), "f8E4M3FNUZ")
    operator = Operator("matmul", {"host_lanes": hosts}, types, (((8, 32), "f16"),))
    record = {"strategy": "grid", "grid": [1, 1, 1, 1], "filler": True}
    with pytest.raises(PlanError, match="a filler is for a contraction that ends inside a panel"):
        read_choice(operator, record).targets(operator, (None, None), load("t4"))


@pytest.mark.parametrize(("k", "hosts", "offered"), [(48, (False, True), True), (64, (False, True), False)])
def test_the_search_is_offered_fillers(k: int, hosts: tuple[bool, bool], offered: bool) -> None:
    """Beside the default rule's record, which has none, where there is something to complete."""
    types = ((8, k), "f8E4M3FNUZ"), ((k, 32), "f8E4M3FNUZ")
    operator = Operator("matmul", {"host_lanes": hosts}, types, (((8, 32), "f16"),))
    (strategy,) = [s for s in strategies(operator) if s.name == "grid"]
    first, *others = strategy.candidates(operator, (None, None), load("t16"), Surroundings())
    assert not first.filler
    assert {record.filler for record in others} == {offered}
    assert (replace(first, filler=True) in others) == offered


def test_no_filler_beside_groups() -> None:
    """Lanes behind a group of columns are written by a kernel; with a filler there is none."""
    types = ((8, 48), "f8E4M3FNUZ"), ((48, 66), "f8E4M3FNUZ")
    operator = Operator("matmul", {"host_lanes": (False, True)}, types, (((8, 66), "f16"),))
    record = {"strategy": "grid", "grid": [1, 1, 1, 1], "filler": True, "group": 33}
    with pytest.raises(PlanError, match="and without groups"):
        read_choice(operator, record).targets(operator, (None, None), load("t4"))
    (strategy,) = [s for s in strategies(operator) if s.name == "grid"]
    for record in strategy.candidates(operator, (None, None), load("t16"), Surroundings(head=33)):
        assert not (record.filler and record.group)
