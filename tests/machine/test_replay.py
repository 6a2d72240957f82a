# SPDX-License-Identifier: Apache-2.0
"""The replay of published plans: what it takes from the file of measurements, and what it finds."""

from __future__ import annotations

import json
import math
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from tilewright.machine import load
from tilewright.machine.kernels import kernel
from tilewright.machine.kernels.measurements import FILE

_SPEC = spec_from_file_location("replay", Path(__file__).parents[2] / "benchmarks" / "replay.py")
assert _SPEC is not None and _SPEC.loader is not None
replay = module_from_spec(_SPEC)
sys.modules["replay"] = replay  # dataclasses look their module up
_SPEC.loader.exec_module(replay)


def test_the_three_published_plans():
    plans = replay.published()
    assert [(p.up, p.down) for p in plans] == [
        ((4, 92, 4), (4, 24, 15)),
        ((5, 135, 2), (4, 24, 15)),
        ((4, 92, 4), (4, 24, 15)),
    ]
    assert [p.cycles for p in plans] == [188196, 187842, 186630]
    assert [p.gelu_to_down for p in plans] == [32939, None, 31382]
    assert [p.standard_down for p in plans] == [False, False, True]


@pytest.mark.parametrize(
    ("name", "published", "extents"),
    [
        ("pointwise.gelu_tanh", "gelu", [{"n": 1}, {"n": 96}, {"n": 2208}]),
        ("reduce_partials", "reduce P partials of n", [{"P": 4, "n": 49}, {"P": 15, "n": 2208}]),
    ],
)
def test_formulas_of_that_date_are_the_published_ones(
    name: str, published: str, extents: list[dict[str, int]]
):
    data = json.loads(FILE.read_text("utf-8"))["model_cycles"]
    (formulas,) = (entry["kernels_of_that_date"] for entry in data if "kernels_of_that_date" in entry)
    today = kernel(name).formula
    for names in extents:
        wanted = eval(formulas[published], {"ceil": math.ceil}, names)
        call = np.array([list(names.values())])
        with replay.kernels_of_that_date():
            assert kernel(name).cycles(load("c600"), call, ("f16", "f16"))[0] == wanted
    assert kernel(name).formula is today


def test_weights_in_standard_memory_cost_the_product_only():
    plan = replay.published()[2]
    cycles = dict.fromkeys(replay.PARTS, 1000)
    found = replay.in_standard_memory(plan, replay.Replay(cycles, cycles, 1))
    panels = math.ceil(math.ceil(4304 / 15) / 16) * math.ceil(1152 / 24 / 16)
    assert found.today["products"] - 1000 == 32 * panels
    assert {part for part in replay.PARTS if found.today[part] != 1000} == {"products"}


@pytest.mark.slow
def test_the_first_plan():
    """Products within 0.4 % of those published for its tiles; everything else is in docs/spec/cycles.md."""
    plan = replay.published()[0]
    found = replay.replay(plan)
    assert found.today["products"] == pytest.approx(2 * 48654, rel=0.004)
    assert (sum(found.today.values()), sum(found.then.values())) == (168_764, 180_188)
    assert found.gelu_to_down == 22_608 < plan.gelu_to_down
