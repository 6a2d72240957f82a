# SPDX-License-Identifier: Apache-2.0
"""Pictures of layouts: what they say is what the layout says element by element, and drawings hold it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tilewright.machine import load
from tilewright.planning.layout import Layout, View
from tilewright.tools.report.pictures import Chip, Value, moved, picture
from tilewright.tools.report.svg import conversion_svg, value_svg
from tilewright.tools.tile_opt import main as tile_opt

CASES = [
    ("[32/2@1, 48] %16", "[32a, 48b]"),
    ("[30/4@1, 20|16] b0.a.b1 *2@8 %16", "[30a, 20b]"),
    ("[64|16, 24|8] a0.b0.a1.b1 +3 %16 chunk 2", "[24b, 64a]"),
    ("[9] *4@4 *2@1 +5 %16", "[9a]"),
    ("[2, 70/10@2] %16", "[5_, 2a, 70b]"),
    ("[1]", "[]+(0)"),
    ("[0, 4] %16", "[0a, 4b]"),
]


def value(case: tuple[str, str]) -> Value:
    return Value("v", "result", "f16", Layout.parse(case[0]), View.parse(case[1]))


def elements(v: Value) -> dict[tuple[int, ...], list[tuple[int, int]]]:
    """Every element's places: tile and offset of each copy."""
    found: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for index in product(*map(range, v.view.shape)):
        tile, offset = v.layout.positions(*v.view.storage(*(np.array([i]) for i in index)))
        wrap = v.layout.tiles or 1 << 30
        found[index] = [
            ((int(tile.ravel()[0]) + int(step)) % wrap, int(offset.ravel()[0]))
            for step in v.layout.replica_tiles
        ]
    return found


@pytest.mark.parametrize("case", CASES, ids=[c[0] for c in CASES])
def test_a_picture_is_the_layout(case: tuple[str, str]) -> None:
    v = value(case)
    made, places = picture(v, 16), elements(v)
    first = np.full(16, -1)
    bytes_held = [set[int]() for _ in range(16)]
    for copies in places.values():
        for tile, offset in copies:
            assert first[tile] in (-1, copies[0][0])
            first[tile] = copies[0][0]
            bytes_held[tile].add(offset)
    assert made.first.tolist() == first.tolist()
    assert made.copies == len(v.layout.replica_tiles)
    assert (made.nbytes - made.padding == [2 * len(held) for held in bytes_held]).all()
    owners = {copies[0][0] for copies in places.values()}
    assert set(made.owners.ravel().tolist()) <= owners
    if places and made.owners.size == len(places):  # small enough to show every element
        wanted = [copies[0][0] for copies in places.values()]
        assert made.owners.ravel().tolist() == wanted


@pytest.mark.parametrize("source", CASES[:2], ids=["rows", "copies"])
def test_moves_are_those_of_the_elements(source: tuple[str, str]) -> None:
    """Counted element by element: every copy that is not where its source is comes from somewhere."""
    view = source[1]
    target = ("[32/8@4, 48/12@1] %16", view) if "32a" in view else ("[30/8@4, 20/5@1] *1@1 %16", view)
    one, two = value(source), value(target)
    chip = Chip.of_machine(load("t16"))
    found = moved(one, two, chip)
    before, stays, arrives = elements(one), 0, np.zeros(16, np.int64)
    for index, copies in elements(two).items():
        for tile, _ in copies:
            here = tile in [t for t, _ in before[index]]
            stays += 2 * here
            arrives[tile] += 2 * (not here)
    assert found.stays == stays and found.total == arrives.sum() and found.most == arrives.max()
    assert np.array_equal(found.between.sum(axis=0), arrives)


def test_drawings_are_well_formed_and_say_what_they_show() -> None:
    chip = Chip.of_machine(load("t16"))
    name = '<"x" & y>'
    for case in CASES:
        v = value(case)
        made = picture(Value(name, "", v.dtype, v.layout, v.view), chip.tiles)
        root = ElementTree.fromstring(value_svg(made, chip))
        texts = [node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text")]
        assert name in texts
        assert any(t.startswith(f"on {(made.first >= 0).sum()} of 16 tiles") for t in texts)
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
        for box in root.iter("{http://www.w3.org/2000/svg}rect"):
            assert 0 <= float(box.attrib["width"]) <= width and 0 <= float(box.attrib["height"]) <= height
    one, two = (picture(value(c), chip.tiles) for c in (CASES[0], ("[32, 48/3@1] %16", "[32a, 48b]")))
    found = moved(one.value, two.value, chip)
    root = ElementTree.fromstring(conversion_svg("why", one, two, found, chip))
    lines = list(root.iter("{http://www.w3.org/2000/svg}line"))
    assert len(lines) == int((found.between > 0).sum()) > 0
    assert f"{found.total:,} bytes move" in [n.text for n in root.iter("{http://www.w3.org/2000/svg}text")]


def test_drawings_of_the_large_machine_stay_small() -> None:
    chip = Chip.of_machine(load("c600"))
    one, two = (
        picture(Value("w", "parameter", "f8E4M3FNUZ", Layout.parse(text), View.parse("[1152c, 4304b]")), 1472)
        for text in (
            "[1, 4304|16, 1152|32] a.b0.c0.b1.c1 +17 %1472 chunk 7",
            "[1/1@1440, 4304/48@4|16, 1152/288@1|32] a.b0.c0.b1.c1 *4@360 %1472",
        )
    )
    assert len(chip.labels) == 16 and int(chip.ends.max()) == 15
    text = conversion_svg("why", one, two, moved(one.value, two.value, chip), chip)
    ElementTree.fromstring(text)
    assert len(text) < 1_500_000


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "p.mlir"
    program.write_text(
        'func.func @main(%x: tensor<8xf16> {tile_tensor.input = "x"}) -> tensor<8xf16> {\n'
        "  %y = tile_tensor.relu %x : (tensor<8xf16>) -> tensor<8xf16>\n"
        "  func.return %y : tensor<8xf16>\n}\n",
        "utf-8",
    )
    pipeline = "--pass-pipeline=builtin.module(tile-plan-layouts)"
    (tmp_path / "file").write_text("", "utf-8")
    command = [str(program), "--machine", "t4", pipeline, "--dump-layouts"]
    assert tile_opt([*command, str(tmp_path / "file")]) == 1
    assert "file exists" in capsys.readouterr().err
    assert tile_opt([*command, str(tmp_path / "drawn")]) == 0
    assert sorted(p.name for p in (tmp_path / "drawn").iterdir()) == ["x.svg", "y.svg"]
