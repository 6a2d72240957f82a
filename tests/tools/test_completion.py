# SPDX-License-Identifier: Apache-2.0
"""Completion scripts do what a shell asks of them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tilewright.tools.tile_opt import main


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["--completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["tile-opt", "--verify-d"], ["--verify-diagnostics"]),
        (["tile-opt", "--exchange-items", "w"], ["words"]),
        (["tile-opt", "-p", "tile-roll"], ["tile-roll-repeat"]),
        (["tile-opt", "-p", "cse,tile-roll"], ["cse,tile-roll-repeat"]),
    ],
)
def test_bash(
    words: list[str], expected: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    quoted = " ".join(f"'{word}'" for word in words)
    lines = [
        f"COMP_WORDS=({quoted})",
        f"COMP_CWORD={len(words) - 1}",
        "_tile_opt",
        'printf "%s\\n" "${COMPREPLY[@]}"',
    ]
    path = tmp_path / "script"
    path.write_text(script("bash", capsys) + "\n".join(lines) + "\n", "utf-8")
    done = subprocess.run(["bash", str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == expected


def test_the_others_name_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    zsh, fish = script("zsh", capsys), script("fish", capsys)
    assert "bashcompinit" in zsh
    for flag in ("print-ir-after", "remarks", "timing", "pass-pipeline"):
        assert f"--{flag}" in zsh
        assert f"complete -c tile-opt -l {flag}" in fish
