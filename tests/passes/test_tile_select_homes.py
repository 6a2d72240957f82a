# SPDX-License-Identifier: Apache-2.0
"""
The passes of homes on IR: what fits only with them, pins, refusals, reports, foreign operations, determinism.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import home_programs as h
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright import settings
from tilewright.diagnostics import TileError
from tilewright.dialects.entry import entry_function
from tilewright.machine import load
from tilewright.passes.ir.homes import Home, find_homes, materialise, moved, unencodable
from tilewright.passes.ir.tensors import machine_of
from tilewright.passes.tile_convert_compact_micro_panels import TileConvertCompactMicroPanelsPass
from tilewright.passes.tile_select_homes import TileSelectHomesPass, misfit
from tilewright.planning.homes import HomeError, total_load

F8 = "f8E4M3FNUZ"
BIN = Path(sys.executable).parent


def repeated(
    members: int, width: int, *, dtype: str = F8, attributes: str = "", parts: int = 16, use: str = ""
) -> str:
    """A chain of products with one weight per iteration, on a grid of column parts."""
    names = ", ".join(f'"w.{i}"' for i in range(members))
    x, w, n = f"tensor<16x{width}xf16>", f"tensor<{width}x{width}x{dtype}>", f"tensor<16x{width}x{dtype}>"
    ws = f"!tile_repeat.sequence<{members} x {w}>"
    narrow = f"%n = tile_tensor.cast %x : ({x}) -> {n}" if dtype == F8 else ""
    left = "%n" if dtype == F8 else "%x"
    plan = f"{{plan = {{grid = array<i64: 1, 1, {parts}, 1>, swap = false}}}}"
    given = f"{{tile_tensor.parameter = [{names}]{attributes}}}"
    again = f"carried(%x = %x0 : {x}) iterated(%w = %ws : {ws}) -> ({x})"
    return f"""
    func.func @main(%x0: {x} {{tile_tensor.input = "x"}}, %ws: {ws} {given}) -> {x} {{
      // homes
      %y = tile_repeat.repeat "layers" count {members} {again} {{
        {narrow}
        %p = tile_tensor.matmul {left}, %w {plan} : ({n}, {w}) -> {x}
        tile_repeat.yield %p : {x}
      }}
      func.return %y : {x}
    }}"""


COMPACT, SELECT = TileConvertCompactMicroPanelsPass(panels="fine"), TileSelectHomesPass()


def planned(text: str, machine: str, *passes: object, homes: str = "ready") -> ModuleOp:
    module, _ = h.planned(text, machine, homes)
    h.apply(module, *passes)  # type: ignore[arg-type]
    return module


def home(module: ModuleOp, name: str = "w.0") -> Home:
    return next(home for home in find_homes(module) if home.name == name)


# -- what only fits with both --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "passes", [(), (COMPACT,), (SELECT,)], ids=["neither", "compact only", "selection only"]
)
def test_27_members_do_not_fit_without_compact_homes_and_selection(passes: tuple[object, ...]) -> None:
    module = planned(repeated(27, 512), "t64", *passes)
    with pytest.raises(TileError) as caught:
        h.lower(module)
    text = str(caught.value) + "\n".join(caught.value.notes)
    assert "short" in text
    assert "w.0" in text


def test_27_members_fit_and_run_with_compact_homes_and_selection() -> None:
    """Chunks of 27 members are broadcast from one uniform stride further on in every iteration."""
    text = repeated(27, 512)
    module, oracle = h.planned(text, "t64")
    h.apply(module, COMPACT, SELECT)
    assert home(module).layout.chunk == 8  # 512 panels over 64 tiles
    draw = np.random.default_rng(0)
    weights = {f"w.{i}": (draw.standard_normal((512, 512)) / 8).astype(np.float32) for i in range(27)}
    inputs = {"x": draw.standard_normal((16, 512)).astype(np.float32)}
    h.check(module, oracle, "t64", h.Program(text, inputs, weights))


def test_a_materialised_buffer_is_counted_once_and_only_the_resident_argument_has_the_count() -> None:
    module = planned(repeated(27, 512), "t64", COMPACT, SELECT)
    h.lower(module)
    counts = {op.buffer_name.data: op.result.type.count for op in module.walk() if op.name == "tile.alloc"}  # type: ignore[attr-defined]
    assert counts.pop("w.0") == 27
    assert set(counts.values()) == {1}


# -- pins ----------------------------------------------------------------------------------------------------

NATIVE = "[128|16, 128|32] a0.b0.a1.b1 +3 %16 chunk 2"


def pinned(layout: str, view: str, *, dtype: str = F8, attribute: bool = True) -> str:
    w = f"tensor<128x128x{dtype}>"
    at = f'tensor<128x128x{dtype}, #tile_layout.at<"{layout}", "{view}">>'
    text = repeated(3, 128, dtype=dtype, parts=8, attributes=", tile_layout.pinned" if attribute else "")
    if attribute:
        head, _, tail = text.partition("-> tensor")
        body = tail.replace(
            f"iterated(%w = %ws : !tile_repeat.sequence<3 x {w}>",
            f"iterated(%w = %ws : !tile_repeat.sequence<3 x {at}>",
        )
        body = body.replace(f"x{dtype}>, {w})", f"x{dtype}>, {at})")
        return head.replace(f"<3 x {w}>", f"<3 x {at}>") + "-> tensor" + body
    s, p = f"!tile_repeat.sequence<3 x {w}>", f"!tile_repeat.sequence<3 x {at}>"
    text = text.replace("iterated(%w = %ws : " + s, "iterated(%w = %h : " + p).replace(
        f"x{dtype}>, {w})", f"x{dtype}>, {at})"
    )
    return text.replace(
        "{\n      // homes\n", "{\n" + f"      %h = tile_layout.home %ws pinned : {s} -> {p}\n"
    )


@pytest.mark.parametrize("attribute", [True, False], ids=["attribute", "operation"])
def test_a_pinned_home_never_moves(attribute: bool) -> None:
    module = planned(pinned(NATIVE, "[128b, 128a]", attribute=attribute), "t16", COMPACT, SELECT)
    found = home(module)
    assert str(found.layout) == NATIVE
    assert found.pinned is not None
    with pytest.raises(HomeError, match="pinned"):
        found.place(found.layout.rotate(1), found.view)
    h.lower(module)


def test_a_pin_without_a_home_is_an_error() -> None:
    with pytest.raises(HomeError, match="pinned but has no layout"):
        find_homes(h.parse_module(repeated(3, 128, attributes=", tile_layout.pinned"), ctx=h.context()))


def test_raw_row_major_fp8_homes_are_refused() -> None:
    flat = "[128/8@1, 128] %16"
    with pytest.raises(HomeError) as caught:
        planned(pinned(flat, "[128a, 128b]"), "t16", SELECT)
    message = caught.value.message
    assert "w.0" in message
    assert "spans of 1 byte" in message
    assert flat in message
    assert "a.b0.c0.b1.c1" in message


@pytest.mark.parametrize(
    ("layout", "view", "dtype"),
    [(NATIVE, "[128b, 128a]", F8), ("[128/8@1, 128] %16", "[128a, 128b]", "f16")],
    ids=["native FP8", "row-major FP16"],
)
def test_homes_that_copy_kernels_can_encode_pass(layout: str, view: str, dtype: str) -> None:
    text = pinned(layout, view, dtype=dtype)
    h.lower(planned(text, "t16", COMPACT, SELECT))


def test_row_major_storage_of_fp16_is_there_under_a_tight_budget() -> None:
    text = repeated(3, 120, dtype="f16", parts=4)  # 120 = 7.5 panels of 16: panels have padding
    tight = TileConvertCompactMicroPanelsPass(budget=1)
    module = planned(text, "t16", tight)
    assert str(home(module).layout) == "[14400/912@1] %16"
    h.lower(module)


# -- acceptance ----------------------------------------------------------------------------------------------


def test_a_rotation_that_breaks_a_fitting_plan_is_refused(tmp_path: Path) -> None:
    """
    The plan's homes are on the tiles that use them; elsewhere the rows of the exchange grow beyond the cap.
    """
    text = repeated(2, 128, parts=2)
    source = (Path(h.__file__).parents[2] / "machine" / "t16.toml").read_text(encoding="utf-8")
    homes: list[str] = []
    for cap in (81920, None):
        if cap is None:
            needed = _rows(planned(text, "t16", COMPACT)), _rows(planned(text, "t16", COMPACT, SELECT))
            assert needed[0] < needed[1]
            cap = needed[0]
        path = tmp_path / f"cap{cap}.toml"
        path.write_text(source.replace("cap_bytes = 81920", f"cap_bytes = {cap}"), encoding="utf-8")
        module = planned(text, str(path), COMPACT)
        before = home(module)
        h.apply(module, SELECT)
        homes.append(f"{home(module).layout != before.layout}")
        assert misfit(module, machine_of(module, None), find_homes(module), [None]) is None
    assert homes == ["True", "False"]


def test_a_trial_of_other_homes_leaves_the_program_as_it_was() -> None:
    module = planned(repeated(3, 128, parts=8), "t16", COMPACT)
    before = str(module)
    homes = find_homes(module)
    layouts = [dataclasses.replace(home.layout, base=home.layout.base + 3) for home in homes]
    assert misfit(module, machine_of(module, None), homes, layouts) is None
    assert str(module) == before
    assert [home.uses for home in homes] == [home.uses for home in find_homes(module)]
    with moved(homes, layouts):
        assert str(module) != before
    assert str(module) == before


def _rows(module: ModuleOp) -> int:
    h.lower(module)
    return sum(op.row_bytes.value.data for op in module.walk() if op.name == "tile.exchange")  # type: ignore[attr-defined]


def test_automatic_homes_can_be_switched_off() -> None:
    module = planned(repeated(27, 512), "t64", COMPACT)
    before = str(module)
    h.apply(module, TileSelectHomesPass(automatic_homes=False))
    assert str(module) == before


def test_members_of_a_sequence_share_one_rotation_through_block_arguments() -> None:
    module = planned(repeated(3, 128, parts=8), "t16", COMPACT, SELECT)
    found = home(module)
    assert len(found.values) == 2
    assert {str(v.type).count(str(found.layout)) for v in found.values} == {1}
    assert found.group.load(16).sum() == 3 * 128 * 128


def test_homes_that_are_read_in_place_stay() -> None:
    module = planned(repeated(3, 128, parts=8), "t16")
    before = home(module).layout
    h.apply(module, SELECT)
    assert home(module).layout == before


def test_every_reader_keeps_the_layout_it_was_planned_with() -> None:
    module = planned(repeated(3, 128, parts=8), "t16", homes="compact")
    found = home(module)
    old = found.layout
    assert len(materialise(found)) == 1
    assert not materialise(found)
    found.place(old.rotate(5), found.view)
    assert unencodable(found, found.layout, found.view, load("t16")) is None
    entry_function(module).update_function_type()
    module.verify()
    h.lower(module)


# -- reports, foreign code, determinism ----------------------------------------------------------------------


def test_the_report_agrees_with_the_ir(tmp_path: Path) -> None:
    path = tmp_path / "homes.json"
    module = planned(repeated(27, 512), "t64", COMPACT)
    with settings.use(settings.Settings(home_report=path)):
        h.apply(module, SELECT)
    data = json.loads(path.read_text(encoding="utf-8"))
    load_ = total_load([found.group for found in find_homes(module)], 64)
    assert data["after"]["max"] == load_.max() == 27 * 8 * 512
    assert data["before"]["max"] == 27 * 32 * 512
    (parameter,) = data["parameters"]
    assert parameter["home"] == str(home(module).layout)
    assert (parameter["copies"], parameter["members"], parameter["moved"]) == (1, 27, True)


FOREIGN = """
builtin.module attributes {tile.machine = "t16"} {
  func.func @main(%x: tensor<8x64xf16>, %w: tensor<64x64xf16> {tile_tensor.parameter = "w"},
      %v: tensor<64x64xf16> {tile_tensor.parameter = "v"}) -> tensor<8x64xf16> {
    %p = tile_tensor.matmul %x, %w : (tensor<8x64xf16>, tensor<64x64xf16>) -> tensor<8x64xf16>
    %q = "other.op"(%p, %v) {kept = 3 : i32} : (tensor<8x64xf16>, tensor<64x64xf16>) -> tensor<8x64xf16>
    %r = tile_tensor.matmul %q, %w : (tensor<8x64xf16>, tensor<64x64xf16>) -> tensor<8x64xf16>
    func.return %r : tensor<8x64xf16>
  }
  "other.global"() {name = "g"} : () -> ()
}
"""


def test_the_passes_run_from_xdsl_opt_beside_foreign_operations(tmp_path: Path) -> None:
    path = tmp_path / "foreign.mlir"
    path.write_text(FOREIGN, encoding="utf-8")
    pipeline = "tile-convert-compact-micro-panels,tile-select-homes,tile-roll-repeat,tile-unroll-repeat"
    command = [
        str(BIN / "xdsl-opt"),
        str(path),
        "-p",
        f"tile-plan-layouts,{pipeline}",
        "--allow-unregistered-dialect",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert '"other.op"(' in result.stdout
    assert "{kept = 3 : i32}" in result.stdout
    assert '"other.global"() {name = "g"} : () -> ()' in result.stdout


def test_the_choice_is_the_same_for_any_hash_seed(tmp_path: Path) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(repeated(5, 128, parts=8), encoding="utf-8")
    texts: list[str] = []
    for seed in ("0", "4711"):
        pipeline = (
            "tile-plan-layouts{homes=ready},tile-convert-compact-micro-panels,tile-select-homes{check=false}"
        )
        command = [str(BIN / "tile-opt"), str(path), "--machine", "t16", "-p", pipeline]
        env = os.environ | {"PYTHONHASHSEED": seed}
        texts.append(subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout)
    assert texts[0] == texts[1]
    assert "chunk" in texts[0]
