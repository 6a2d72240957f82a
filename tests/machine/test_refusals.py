# SPDX-License-Identifier: Apache-2.0
"""What is said about a machine file that describes no machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tilewright.machine
from tilewright.machine import MachineError, load

FOLDER = Path(tilewright.machine.__file__).parent


def test_a_machine_without_memory(tmp_path: Path) -> None:
    text = (FOLDER / "t16.toml").read_text("utf-8")
    without = re.sub(r"\[\[regions\]\]\n(?:[^\[\n][^\n]*\n|\n)*", "", text)
    assert "[[regions]]" in text and "[[regions]]" not in without
    path = tmp_path / "nothing.toml"
    path.write_text(re.sub("^(tiles = )", r"regions = []\n\1", without, flags=re.MULTILINE), "utf-8")
    with pytest.raises(MachineError, match="the machine has no memory region"):
        load(path)
