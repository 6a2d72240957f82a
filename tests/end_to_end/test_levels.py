# SPDX-License-Identifier: Apache-2.0
"""
Every level of a compilation is text: what one process prints another reads and continues, to the same image.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.backends.image import to_image
from tilewright.dialects.tile_asm import module_to_program
from tilewright.frontends.workloads import vit
from tilewright.frontends.workloads.encoder import Mode, Shape
from tilewright.passes.pipeline import passes
from tilewright.tools.driver.main import load_module
from tilewright.tools.tile_opt import main as tile_opt

PASSES = [stage.name for stage in passes()]
SMALL = Shape(tokens=5, width=16, heads=2, mlp=32, layers=2, batch=1, patch=24)


def run_passes(program: Path, passes: list[str], output: Path) -> Path:
    """What `tile-opt PROGRAM --pass-pipeline=... -o OUTPUT` writes."""
    pipeline = f"builtin.module({','.join(passes)})"
    arguments = [str(program), "--machine", "t4", f"--pass-pipeline={pipeline}", "-o", str(output)]
    assert tile_opt(arguments) == 0
    return output


def image_of(compiled: Path, folder: Path) -> bytes:
    """The image of a compiled module, as it is saved: the manifest, then the bytes of the tiles."""
    folder.mkdir()
    to_image(module_to_program(load_module(compiled))).save(folder / "image")
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vit")
    vit.build(SMALL, Mode("f8", "f16"), seed=1, classes=3).write(folder)
    return folder / "program.mlir"


@pytest.fixture(scope="module")
def direct(program: Path) -> bytes:
    """The image of one uninterrupted compilation."""
    compiled = run_passes(program, PASSES, program.with_name("direct.mlir"))
    image = image_of(compiled, program.with_name("direct"))
    assert len(image) > 10_000
    return image


@pytest.mark.parametrize("level", range(len(PASSES) + 1), ids=["nothing", *PASSES])
def test_a_prefix_then_the_rest(level: int, program: Path, direct: bytes, tmp_path: Path) -> None:
    printed = run_passes(program, PASSES[:level], tmp_path / "level.mlir")
    again = run_passes(printed, [], tmp_path / "again.mlir")
    assert again.read_text("utf-8").replace("again.mlir", "level.mlir") == printed.read_text("utf-8")
    compiled = run_passes(again, PASSES[level:], tmp_path / "compiled.mlir")
    assert image_of(compiled, tmp_path / "image") == direct


def test_one_process_per_pass(program: Path, direct: bytes, tmp_path: Path) -> None:
    text = program
    for number, name in enumerate(PASSES):
        text = run_passes(text, [name], tmp_path / f"{number}.mlir")
    assert image_of(text, tmp_path / "image") == direct


def test_one_pass_for_the_whole_way(program: Path, direct: bytes, tmp_path: Path) -> None:
    compiled = run_passes(program, ["tile-compile"], tmp_path / "compiled.mlir")
    assert image_of(compiled, tmp_path / "image") == direct


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_no_hash_decides_anything(seed: str, program: Path, direct: bytes, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tilewright.tools.tile_opt", str(program), "--machine", "t4"]
    output = tmp_path / "compiled.mlir"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    subprocess.run([*command, "-p", "tile-compile", "-o", str(output)], env=environment, check=True)
    assert image_of(output, tmp_path / "image") == direct
