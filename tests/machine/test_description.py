# SPDX-License-Identifier: Apache-2.0
"""Machine files: what the shipped ones say, and how bad ones are refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import tilewright.machine
from tilewright.machine import (
    Exchange,
    Machine,
    MachineError,
    Region,
    Reservation,
    Topology,
    load,
    names,
)

FOLDER = Path(tilewright.machine.__file__).parent
SMALL = ("t4", "t16", "t64")


def test_the_shipped_machines():
    assert names() == ("c600", "t16", "t4", "t64")
    assert [load(n).tiles for n in ("c600", "t4", "t16", "t64")] == [1472, 4, 16, 64]
    assert load("c600") is load("c600")
    hash(load("c600"))


def test_c600_memory():
    m = load("c600")
    assert (m.sram_base, m.sram_end, m.sram_bytes) == (0x4C000, 0xE8000, 624 * 1024)
    standard, interleaved = m.regions
    assert (standard.start, standard.end, standard.elements, standard.load_bytes) == (0x4C000, 0x80000, 13, 8)
    assert (interleaved.start, interleaved.end, interleaved.elements) == (0x80000, 0xE8000, 13)
    assert (standard.interleave, interleaved.interleave, interleaved.load_bytes) == (1, 2, 16)
    assert standard.executable and not interleaved.executable
    assert (standard.element_bytes, interleaved.element_bytes) == (16 * 1024, 32 * 1024)
    assert (m.fetch_guard_bytes, m.workers, m.clock_hz) == (64, 6, 1_500_000_000)


def test_c600_reservations_are_pinned():
    taken = {r.name: (r.start, r.end, r.category) for r in load("c600").reservations}
    assert taken == {
        "host window": (0x50000, 0x58000, "host"),
        "runtime state": (0x58000, 0x580E0, "host"),
        "worker stacks": (0x580E0, 0x580E0 + 6 * 0x100, "stacks"),
        "profile": (0x80000, 0x80000 + 7604, "profile"),
        "loader tail": (0xE8000 - 0x450, 0xE8000, "unusable"),
    }
    # The runtime's state is 1,760 bytes with the stacks in it; the rest above is the founding tensor range.
    assert 0x580E0 + 6 * 0x100 - 0x58000 == 1760
    assert load("c600").available("interleaved") == ((531_892, 949_168),)
    assert 949_168 - 531_892 == 417_276


def test_c600_exchange_figures():
    m = load("c600")
    assert (m.send_words_max, m.sendoff_max, m.message_max_words) == (64, 4096, 4148)
    assert (m.exchange_cap_bytes, m.neutral_source) == (80 * 1024, 0x640)
    assert 229 <= m.phase_overhead <= 275  # measured range; typically 237


@pytest.mark.parametrize("name", SMALL)
def test_small_machines_follow_the_rules_of_c600(name: str):
    m, c600 = load(name), load("c600")
    assert m.exchange == c600.exchange
    for own, big in zip(m.regions, c600.regions, strict=True):
        same = ("name", "element_bytes", "interleave", "executable", "load_bytes")
        assert [getattr(own, f) for f in same] == [getattr(big, f) for f in same]
    assert [(r.name, r.category) for r in m.reservations] == [(r.name, r.category) for r in c600.reservations]
    window = m.reservations[0]
    assert window.bytes == 4096
    assert m.regions[1].start == 0x80000


def test_available_ranges_and_reservations_tile_the_memory():
    for name in names():
        m = load(name)
        used = np.zeros(m.sram_bytes, np.int64)
        for start, end in (*m.available(), *((r.start, r.end) for r in m.reservations)):
            used[start - m.sram_base : end - m.sram_base] += 1
        assert (used == 1).all()
        assert m.reserved_bytes() + sum(e - s for s, e in m.available()) == m.sram_bytes
        assert m.available("standard") + m.available("interleaved") == m.available()


def test_elements():
    m = load("c600")
    address = np.arange(m.sram_base - 8, m.sram_end + 8, 4)
    index = m.element_index(address)
    inside = (address >= m.sram_base) & (address < m.sram_end)
    assert (index[~inside] == -1).all()
    assert (np.unique(index[inside]) == np.arange(m.elements)).all() and m.elements == 26
    at = index[inside].reshape(-1)
    assert (np.diff(at) >= 0).all()
    for number in range(m.elements):
        start, end = m.element_range(number)
        assert (m.element_index(np.array([start, end - 1])) == number).all()
    with pytest.raises(IndexError):
        m.element_range(26)
    assert m.region_of(0x80000) is m.region("interleaved") and m.region_of(0) is None
    with pytest.raises(KeyError):
        m.region("cache")


def _edited(tmp_path: Path, old: str, new: str, name: str = "t16") -> Path:
    text = (FOLDER / f"{name}.toml").read_text()
    assert old in text
    file = tmp_path / "machine.toml"
    file.write_text(text.replace(old, new, 1))
    return file


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        ("tiles = 16", "tile = 16", "unknown field 'tile' in machine", "did you mean `tiles`?"),
        ("workers = 6", "", "machine has no 'workers'", None),
        ("tiles = 16", "tiles = 15", "tiles must be even: two tiles share an exchange bus", None),
        (
            "version = 2",
            "version = 3",
            "version 3; this reader knows tilewright-machine up to version 2",
            None,
        ),
        ("version = 2", "version = 0", "version must be a positive integer, not 0", None),
        ("version = 2", 'version = "1"', "version must be a positive integer, not '1'", None),
        ('format = "tilewright-machine"', 'format = "other"', "no machine file", None),
        ("tiles = 16", 'tiles = "16"', "machine.tiles must be a non-negative integer, not '16'", None),
        ("tiles = 16", "tiles = true", "must be a non-negative integer, not True", None),
        ("tiles = 16", "tiles = -16", "must be a non-negative integer, not -16", None),
        ("tiles = 16", "tiles = 12", "2 rows x 2 columns x 4 lanes are not 12 tiles", None),
        ("columns = [3, 12]", "columns = 3", "machine.topology.columns must be an array", None),
        ("columns = [3, 12]", "columns = [3, 3]", "must be distinct", None),
        ("columns = [3, 12]", "columns = [3, 16]", "below 16", None),
        ("columns = [3, 12]", "columns = [3, 12, 13]", "are not 16 tiles", None),
        ("executable = true", "executable = 1", "regions[0].executable must be true or false, not 1", None),
        ("element_bytes = 0x4000", "element_bytes = 0x5000", "not a whole number of elements", None),
        ("end = 0x80000", "end = 0x7c000", "region 'interleaved' starts at 0x80000, expected 0x7c000", None),
        ("sram_bytes = 0x38000", "sram_bytes = 0x3c000", "the regions end at 0xa0000", None),
        (
            'category = "stacks"',
            'category = "stack"',
            "'stack' is no memory category",
            "parameters, activations",
        ),
        ("start = 0x6d0e0", "start = 0x6d0d8", "'worker stacks' overlaps another one", None),
        ("start = 0x6c000", "start = 0x5c000", "'host window' is not inside the memory", None),
        ("[exchange]", "[exchange]\nspeed = 3", "unknown field 'speed' in machine.exchange", None),
        ("[topology]", "[topology", "not a TOML file", None),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, old: str, new: str, message: str, hint: str | None):
    file = _edited(tmp_path, old, new)
    with pytest.raises(MachineError) as error:
        load(file)
    assert message in error.value.message
    assert str(error.value.location).partition(":")[0] == str(file)
    if hint is not None:
        assert error.value.hint is not None and hint in error.value.hint


def test_a_path_is_loaded_like_a_name(tmp_path: Path):
    file = _edited(tmp_path, 'name = "t16"', 'name = "mine"')
    assert load(str(file)) == load(file)
    assert load(file).name == "mine"
    assert dataclasses.replace(load(file), name="t16") == load("t16")


def test_unknown_machine_and_missing_file(tmp_path: Path):
    with pytest.raises(MachineError, match="unknown machine 'c60'") as error:
        load("c60")
    assert error.value.hint is not None and "c600" in error.value.hint
    with pytest.raises(MachineError, match="cannot read machine file"):
        load(tmp_path / "none.toml")


@pytest.mark.parametrize("name", ["c600", *SMALL])
def test_every_number_has_a_source(name: str):
    """Outside of reservations, which have a `source` field, every figure is followed by a comment."""
    text = (FOLDER / f"{name}.toml").read_text()
    head, _, tail = text.partition("[[reservations]]")
    tail = tail[tail.index("[topology]") :]
    for line in (head + tail).splitlines():
        key, equals, value = line.partition(" = ")
        if equals and key not in ("format", "version", "name"):
            assert " # " in value, line
    for taken in load(name).reservations:
        assert len(taken.source) > 5


def test_the_specification_names_every_field():
    text = (Path(__file__).parents[2] / "docs" / "spec" / "machine-file.md").read_text()
    for kind in (Machine, Region, Reservation, Topology, Exchange):
        for field in dataclasses.fields(kind):
            if field.name not in ("path", "regions", "reservations", "topology", "exchange"):
                assert f"`{field.name}`" in text, field.name
    for section in ("[[regions]]", "[[reservations]]", "[topology]", "[exchange]"):
        assert f"`{section}`" in text


OLD = {
    "": "store_granule = 4",
    "[exchange]": "bytes_per_cycle = 4\npaired_bytes_per_cycle = 8\nhost_source = 0x600\nword_bytes = 4",
}


def _version_1(tmp_path: Path) -> Path:
    text = (FOLDER / "t16.toml").read_text().replace("version = 2", "version = 1", 1)
    text = "".join(line for line in text.splitlines(True) if not line.startswith("lead_in"))
    text = text.replace("tiles = 16", OLD[""] + "\ntiles = 16", 1)
    text = text.replace("[exchange]", "[exchange]\n" + OLD["[exchange]"], 1)
    (tmp_path / "old.toml").write_text(text)
    return tmp_path / "old.toml"


def test_a_file_of_version_1_is_read(tmp_path: Path):
    old, now = load(_version_1(tmp_path)), load("t16")
    assert old.differences(now) == [f"exchange.lead_in: 0, {now.exchange.lead_in}"]


def test_a_field_that_never_had_an_effect_may_not_claim_one(tmp_path: Path):
    file = _version_1(tmp_path)
    file.write_text(file.read_text().replace("word_bytes = 4", "word_bytes = 8"))
    with pytest.raises(MachineError, match="word_bytes is not 4") as error:
        load(file)
    line = int(str(error.value.location).rpartition(":")[2])
    assert file.read_text().splitlines()[line - 1] == "word_bytes = 8"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("workers = 6", "workers = 0", "machine.workers must be at least 1, not 0"),
        ("clock_hz = 1_500_000_000", "clock_hz = 0", "machine.clock_hz must be at least 1"),
        ("workers = 6", f"workers = {10**30}", "machine.workers must be an integer from 0 to 2^40"),
        ("interleave = 2", "interleave = 3", "machine.regions[1].interleave must be from 1 to 2, not 3"),
        ("load_bytes = 16", "load_bytes = 12", "machine.regions[1].load_bytes must be a power of two"),
        ("element_bytes = 0x4000", "element_bytes = 0x30", "must be multiples of 64 bytes"),
        ('name = "interleaved"', 'name = "standard"', "two regions are called 'standard'"),
        ('name = "interleaved"', 'name = "fast"', "region 'fast' is no class of memory"),
        ("executable = true", "executable = false", "no region is executable"),
        ("send_words_max = 64", "send_words_max = 65", "send_words_max must be from 1 to 64, not 65"),
        ("sendoff_max = 4096", "sendoff_max = 4097", "sendoff_max must be from 1 to 4,096"),
        ("delay_max = 524288", "delay_max = 0", "machine.exchange.delay_max must be from 1 to 524,288"),
        ("control_delay_max = 128", "control_delay_max = 129", "control_delay_max must be from 1 to 128"),
        ("select_delay_max = 4096", "select_delay_max = 4097", "select_delay_max must be from 1 to 4,096"),
        ("message_max_words = 4148", "message_max_words = 0", "message_max_words must be from 1 to"),
        ("paired_min_items = 64", "paired_min_items = 0", "paired_min_items must be at least 1"),
        ("select_lead = 52", "select_lead = 100_000", "select_lead must be from 0 to 65,536"),
        ("neutral_source = 0x640", "neutral_source = 0x2000", "neutral_source must be from 0 to 8,191"),
        ("neutral_source = 0x640", "neutral_source = 12", "is the physical id of tile 0"),
        ("cap_bytes = 81920", "cap = 81920", "unknown field 'cap' in machine.exchange"),
    ],
)
def test_a_number_out_of_range_is_located(tmp_path: Path, old: str, new: str, message: str):
    file = _edited(tmp_path, old, new)
    with pytest.raises(MachineError) as error:
        load(file)
    assert message in error.value.message
    name, _, line = str(error.value.location).rpartition(":")
    assert name == str(file)
    assert new in file.read_text().splitlines()[int(line) - 1] or "multiples" in message or "exec" in message
