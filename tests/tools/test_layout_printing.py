# SPDX-License-Identifier: Apache-2.0
"""Programs with layouts are for people: lines of 160 characters, one name in every print, and no loss."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.frontends.workloads import siglip
from tilewright.frontends.workloads.encoder import Mode
from tilewright.tools.tile_opt import main


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small program of the operations of SigLIP's layers."""
    shape = replace(siglip.DEFAULT, tokens=16, width=64, heads=2, mlp=128, layers=1, batch=1, patch=48)
    folder = tmp_path_factory.mktemp("siglip")
    siglip.build(shape, Mode("f8", "f16"), 0).write(folder)
    return folder / "program.mlir"


@pytest.mark.parametrize("stage", ["tile-plan-layouts", "tile-lower-to-buffers"])
def test_a_layer_reads_in_lines_of_160_characters(
    program: Path, stage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipeline = f"tile-compile{{machine=t64 stop-after={stage}}}"
    out = tmp_path / "out.mlir"
    assert main([str(program), "-p", pipeline, "-o", str(out)]) == 0
    text = out.read_text("utf-8")
    assert text.count(" = #tile_layout.at<") + text.count(" = !tile.buffer<") > 5
    assert [line for line in text.splitlines() if len(line) > 160] == []
    assert main([str(out), "--print-layouts=full"]) == 0
    read = capsys.readouterr().out
    assert main([str(program), "-p", pipeline, "--print-layouts=full"]) == 0
    assert capsys.readouterr().out == read, "it reads back as what it was"
    assert max(map(len, read.splitlines())) > 300
