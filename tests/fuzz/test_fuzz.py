# SPDX-License-Identifier: Apache-2.0
"""Mutants of everything that a user writes end in a diagnostic or in a good run, within time and memory."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import fuzzing

FOUND = sorted((Path(__file__).parent / "found").glob("*.mlir"))
GOOD = {"opt-13"}
"""What has become a program that runs; the others are refused."""


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_was_found_once(path: Path) -> None:
    """The first line of each file is its command line."""
    command = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("// RUN: tile-opt %s")
    case = fuzzing.Case("tile_opt", (str(path), *shlex.split(command)))
    assert fuzzing.run_case(case) is None
    from tilewright.tools import tile_opt

    status, _, err = fuzzing.quiet(tile_opt.main, case.arguments)
    assert status == (0 if path.stem in GOOD else 1)
    assert ("error: " in err) == (path.stem not in GOOD)


def _report(faults: dict[int, str]) -> str:
    """The numbers of all of them, for `fuzzing.py N`, and the first few whole."""
    whole = "\n".join(f"mutant {number}: {fault}" for number, fault in list(faults.items())[:10])
    return f"{len(faults)} faults, mutants {sorted(faults)}\n{whole}"


def test_mutants() -> None:
    faults = fuzzing.fuzz(range(2000))
    assert not faults, _report(faults)


@pytest.mark.slow
def test_many_mutants() -> None:
    faults = fuzzing.fuzz(range(10_000, 60_000))
    assert not faults, _report(faults)


def test_a_mutant_follows_from_its_number(tmp_path: Path) -> None:
    corpus = fuzzing.make_corpus()
    for number in (3, 17, 40):
        texts = []
        for attempt in "ab":
            folder = tmp_path / f"{number}{attempt}"
            folder.mkdir()
            fuzzing.write_case(corpus, number, folder)
            texts.append({p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()})
        assert texts[0] == texts[1]


def test_the_fuzzer_sees_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """A traceback, a long loop, status 1 without a word."""
    from tilewright.tools import tile_alloc, tile_opt

    case = fuzzing.Case("tile_opt", ("x",))

    def broken(argv: object) -> int:
        raise KeyError("broken")

    monkeypatch.setattr(tile_opt, "main", broken)
    assert "KeyError escapes" in (fuzzing.run_case(case) or "")
    monkeypatch.setattr(tile_opt, "_body", broken)
    monkeypatch.setattr(tile_opt, "main", lambda argv: tile_opt.run_tool("tile-opt", tile_opt._body, argv))  # pyright: ignore[reportPrivateUsage]
    assert "status 70" in (fuzzing.run_case(case) or "")
    monkeypatch.setattr(tile_alloc, "main", lambda argv: 1)
    assert "without a diagnostic" in (fuzzing.run_case(fuzzing.Case("tile_alloc", ("x",))) or "")
    monkeypatch.setattr(fuzzing, "SECONDS", 0.2)

    def long(argv: object) -> int:
        while True:
            pass

    monkeypatch.setattr(tile_alloc, "main", long)
    assert "more than" in (fuzzing.run_case(fuzzing.Case("tile_alloc", ("x",))) or "")
