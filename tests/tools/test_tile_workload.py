# SPDX-License-Identifier: Apache-2.0
"""`tile-workload`: exit status, messages, and that what it writes can be read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.frontends.program_folder import ProgramFolder
from tilewright.tools.tile_workload import main

SIGLIP = "siglip --tokens 9 --width 16 --heads 2 --mlp 24 --layers 2 --patch 27".split()


@pytest.mark.parametrize(
    "arguments",
    [
        ["vit"],
        ["vit", "--precision", "f16", "--classes", "3", "--seed", "5", "--batch", "2", "--layers", "1"],
        SIGLIP,
        [*SIGLIP, "--attention", "f8", "--images"],
        ["digits", "--batch", "100", "--layers", "3", "--accumulate", "f16"],
        ["vit", "--layers", "1", "--precision", "f16", "--accumulate", "f16"],
    ],
    ids=" ".join,
)
def test_writes_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert main([*arguments, "-o", str(tmp_path / "out")]) == 0
    folder = ProgramFolder.read(tmp_path / "out")
    assert folder.program.startswith("// ") and "func.func @main" in folder.program
    assert folder.parameters and folder.inputs and folder.expected
    assert set(folder.tolerance) == set(folder.expected)
    out = capsys.readouterr().out
    assert (
        str(folder.precision) in out
        and f"{sum(t.size for t in folder.parameters.values()):,} parameters" in out
    )
    assert folder.workload["name"] == arguments[0]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["vit", "--widht", "64"], 2, "unknown option `--widht`"),
        (["vit", "--layer", "1"], 2, "unknown option `--layer`"),
        (["vit", "--width", "6x"], 1, "error: '6x' is not a whole number"),
        (["vit", "--width", "65"], 1, "error: --width 65 is not a multiple of --heads 4"),
        (["vit", "--accumulate", "f8"], 1, "error: --accumulate must be auto, f16 or f32, not f8"),
        (["vit", "--precision", "f32"], 1, "error: --precision must be f16 or f8, not f32"),
        (["resnet"], 1, "error: unknown workload 'resnet'"),
        (["digits", "--width", "32"], 1, "error: digits is a trained model: its --width is 64"),
        (["digits", "--batch", "7"], 1, "error: --batch 7 does not divide the 400 images"),
        (["digits", "--classes", "10"], 1, "for vit only"),
        (["vit", "--images"], 1, "for siglip only"),
        (["vit", "--seed", "-1"], 1, "--seed must not be negative"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, message: str
) -> None:
    assert main([*arguments, "-o", str(tmp_path / "out")]) == status
    err = capsys.readouterr().err
    assert message in err and "Traceback" not in err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["vit", "-o", str(tmp_path / "file")]) == 1
    assert f"error: cannot write '{tmp_path / 'file'}'" in capsys.readouterr().err


def test_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    for seed in ("0", "1"):
        command = [
            sys.executable,
            "-m",
            "tilewright.tools.tile_workload",
            *SIGLIP,
            "-o",
            str(tmp_path / seed),
        ]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True)
    for file in sorted((tmp_path / "0").iterdir()):
        assert file.read_bytes() == (tmp_path / "1" / file.name).read_bytes(), file.name
