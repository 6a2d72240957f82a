# SPDX-License-Identifier: Apache-2.0
"""What is said about a machine file that describes no machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tilewright.machine
from tilewright.machine import MachineError, agree, load

FOLDER = Path(tilewright.machine.__file__).parent


def test_a_machine_without_memory(tmp_path: Path) -> None:
    text = (FOLDER / "t16.toml").read_text("utf-8")
    without = re.sub(r"\[\[regions\]\]\n(?:[^\[\n][^\n]*\n|\n)*", "", text)
    assert "[[regions]]" in text and "[[regions]]" not in without
    path = tmp_path / "nothing.toml"
    path.write_text(re.sub("^(tiles = )", r"regions = []\n\1", without, flags=re.MULTILINE), "utf-8")
    with pytest.raises(MachineError, match="the machine has no memory region"):
        load(path)


def edited(tmp_path: Path, name: str, old: str, new: str) -> Path:
    text = (FOLDER / "t16.toml").read_text("utf-8")
    assert re.search(old, text, re.MULTILINE)
    path = tmp_path / name
    path.write_text(re.sub(old, new, text, count=1, flags=re.MULTILINE), "utf-8")
    return path


def test_two_names_of_different_machines(tmp_path: Path) -> None:
    other = edited(tmp_path, "other.toml", r"^clock_hz = .*$", "clock_hz = 1000000000")
    with pytest.raises(MachineError, match=r"t16 and .*other\.toml are different machines") as caught:
        agree("t16", str(other))
    assert "clock_hz" in caught.value.notes[0]


def test_memory_beyond_the_addresses_of_an_exchange(tmp_path: Path) -> None:
    path = edited(tmp_path, "large.toml", r"^sram_bytes = 0x38000", "sram_bytes = 0xa0000")
    path.write_text(path.read_text("utf-8").replace("end = 0xa0000", "end = 0x108000"), "utf-8")
    with pytest.raises(
        MachineError, match="the memory ends at 0x108000; exchange instructions reach 0x100000"
    ):
        load(path)
