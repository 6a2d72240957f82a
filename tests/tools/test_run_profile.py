# SPDX-License-Identifier: Apache-2.0
"""
What a profile says adds up: cycles on every tile, bytes on every tile at every instruction; damage is named.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright.backends import accounting
from tilewright.dialects.tile_asm import module_to_program
from tilewright.frontends.workloads import vit
from tilewright.frontends.workloads.encoder import Mode, Shape
from tilewright.machine import load
from tilewright.profile import FORMAT, VERSION, ProfileError
from tilewright.tools.driver.main import load_module
from tilewright.tools.tile_run import main as tile_run

SHAPE = Shape(tokens=16, width=32, heads=2, mlp=48, layers=3, batch=1, patch=12)


def run(program: Path, machine: str, *arguments: str) -> tuple[tilewright.Profile, dict[str, Any]]:
    """The profile of a run, and its result.json."""
    file, result = program.parent / f"{machine}.profile", program.parent / f"{machine}.json"
    command = [str(program), "--machine", machine, "--profile", str(file), "--json", str(result)]
    assert tile_run([*command, *arguments]) == 0
    return tilewright.Profile(file), json.loads(result.read_text("utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("profile") / "vit"
    vit.build(SHAPE, Mode("f8", "f16")).write(path)
    return path


@pytest.fixture(scope="module", params=["t4", "t16"])
def profiled(folder: Path, request: pytest.FixtureRequest) -> tuple[tilewright.Profile, dict[str, Any], Path]:
    artifacts = folder.parent / f"artifacts-{request.param}"
    return *run(folder, request.param, "--artifacts", str(artifacts)), artifacts


def check_cycles(profile: tilewright.Profile, result: dict[str, Any]) -> None:
    """Sums over the file are the figures of result.json, on the critical path and on every tile."""
    cycles = result["cycles"]
    assert profile.cycles == cycles["total"] == int(profile.step_cycles.sum())
    by_category = profile.cycles_by_category()
    for name in ("compute", "exchange", "copy", "sync"):
        assert by_category.get(name, 0) == cycles[name]
    assert profile.cycles_by_evidence() == result["evidence"]
    # every execution begins where the one before it ended
    ends = profile.executed_start + profile.executed_cycles
    assert not profile.executed_start[:1].any() and np.array_equal(profile.executed_start[1:], ends[:-1])
    assert np.array_equal(np.bincount(profile.executed_segment), [s.count for s in profile.segments])
    # busy and waiting of each tile are all of the run, and nobody waits a negative time
    waiting = profile.waiting()
    assert waiting.min(initial=0) >= 0
    assert (profile.busy() + waiting == profile.cycles).all()
    for number, step in enumerate(profile.steps):
        start, end = profile.spans(number)
        execution = int(np.argmax(profile.executed_segment == step.segment))
        begin = profile.executed_start[execution]
        assert (start >= begin).all() and (end >= start).all()
        assert end.max() <= begin + profile.executed_cycles[execution]
    assert sum(o.total for o in profile.operators) == profile.cycles


def check_memory(profile: tilewright.Profile) -> None:
    """Bytes of a tile are in one category each, at every instruction; ranges that live together are apart."""
    for instruction in range(-1, len(profile.instructions) + 1):
        memory = profile.memory(instruction)
        assert (np.sum(list(memory.values()), axis=0) == profile.machine.sram_bytes).all()
        assert all(values.min() >= 0 for values in memory.values())
        live = profile.live(instruction)
        for column in range(profile.held.shape[1]):
            ranges = sorted(
                (b.address, b.address + b.nbytes)
                for b, here, held in zip(profile.buffers, live, profile.held[:, column], strict=True)
                if here and held and b.address is not None
            )
            assert all(one[1] <= two[0] for one, two in pairwise(ranges))


def test_cycles_add_up(profiled: tuple[tilewright.Profile, dict[str, Any], Path]) -> None:
    profile, result, _ = profiled
    check_cycles(profile, result)
    counts = {segment.count for segment in profile.segments if segment.repeats}
    assert 3 in counts and {repeat.count for repeat in profile.repeats} == {3}
    assert all(b > 0 for b in (profile.first.max(), profile.later.max()))


def test_memory_adds_up_and_is_that_of_the_placement(
    profiled: tuple[tilewright.Profile, dict[str, Any], Path],
) -> None:
    profile, _, artifacts = profiled
    check_memory(profile)
    program = module_to_program(load_module(artifacts / "program.asm.mlir"))
    machine = load(profile.machine.name)
    for instruction in range(-1, len(profile.instructions), 3):
        painted = accounting.memory_at(program, machine, instruction)
        memory = profile.memory(instruction)
        for name in profile.categories:
            assert np.array_equal(memory[name], painted[name]), (instruction, name)
    peak = max(accounting.peaks(program, machine), key=lambda p: p.nbytes)
    assert profile.peak().nbytes == peak.nbytes


def test_steps_say_what_they_are(profiled: tuple[tilewright.Profile, dict[str, Any], Path]) -> None:
    profile, _, _ = profiled
    step = next(s for s in profile.steps if s.operator == "layers.up_product" and s.category == "compute")
    assert step.source.startswith(str(Path(profile.program))) and len(step.extents) >= 3
    assert step.name == "gemm.f8" and 0 < step.tiles <= profile.machine.tiles
    operator = next(o for o in profile.operators if o.name == "layers.up_product")
    assert operator.repeats == ("layers",) and operator.layout and "strategy" in operator.plan
    assert set(operator.operands) & {o.name for o in profile.operators}
    assert profile.plan["operators"][operator.name]["strategy"]
    bindings = {name: b for b in profile.bindings for name in b.tensors}
    up = (
        bindings["encoder.layers.2.mlp.fc1.weight"] if "encoder.layers.2.mlp.fc1.weight" in bindings else None
    )
    parameter = up or next(b for b in profile.bindings if b.kind == "parameter" and b.count == 3)
    assert parameter.count == 3 and profile.homes[parameter.home].sum() > 0


def test_bytes_of_phases(profiled: tuple[tilewright.Profile, dict[str, Any], Path]) -> None:
    profile, result, _ = profiled
    assert len(profile.phases) == len(result["exchange_phases"])
    for phase, sent, received, between in zip(
        profile.phases, profile.sent, profile.received, profile.between, strict=True
    ):
        assert between.sum() == received.sum() and 0 < sent.sum() <= received.sum()
        # a tile sends or receives at most 8 bytes a cycle
        assert max(sent.max(), received.max()) <= 8 * phase.scheduled
        assert phase.executions in (1, 3) and phase.bound <= phase.scheduled
        groups = np.bincount(profile.tile_group, weights=received, minlength=len(between))
        assert np.array_equal(groups, between.sum(axis=0))


def test_it_is_written_as_it_is_read(
    profiled: tuple[tilewright.Profile, dict[str, Any], Path], tmp_path: Path
) -> None:
    profile, _, _ = profiled
    profile.write(tmp_path / "again")
    again = tilewright.Profile(tmp_path / "again")
    assert again.header == profile.header
    for name, array in profile.arrays.items():
        assert np.array_equal(array, again.arrays[name]) and array.dtype == again.arrays[name].dtype
    again.write(tmp_path / "third")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "third").read_bytes()


ZERO_TRIPS = """
func.func @main(%x: tensor<8x16xf16> {tile_tensor.input = "x"})
    -> (tensor<8x16xf16> {tile_tensor.output = "y"}) {
  %r = tile_repeat.repeat "none" count 0 carried(%c = %x : tensor<8x16xf16>) -> (tensor<8x16xf16>) {
    %n = tile_tensor.add %c, %c : (tensor<8x16xf16>, tensor<8x16xf16>) -> tensor<8x16xf16>
    tile_repeat.yield %n : tensor<8x16xf16>
  }
  %y = tile_tensor.add %r, %x : (tensor<8x16xf16>, tensor<8x16xf16>) -> tensor<8x16xf16>
  func.return %y : tensor<8x16xf16>
}
"""


def test_a_repeat_that_runs_nothing(tmp_path: Path) -> None:
    from tilewright.frontends.program_folder import write_tensors

    (tmp_path / "zero.mlir").write_text(ZERO_TRIPS, "utf-8")
    write_tensors(tmp_path / "inputs.safetensors", {"x": np.ones((8, 16), np.float16)})
    profile, result = run(tmp_path / "zero.mlir", "t4", "--inputs", str(tmp_path / "inputs.safetensors"))
    check_cycles(profile, result)
    check_memory(profile)
    assert all(r.count == 0 and r.per_iteration is None for r in profile.repeats)
    assert not any(segment.repeats for segment in profile.segments)


def test_what_does_not_fit_has_its_memory(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cap.profile"
    command = [str(folder), "--machine", "t4", "--exchange-cap", "16", "--profile", str(file)]
    assert tile_run(command) == 1
    assert "exchange rows take" in capsys.readouterr().err
    profile = tilewright.Profile(file)
    assert not profile.ran and profile.failure is not None and "exchange rows take" in profile.failure.message
    assert profile.buffers and all(buffer.address is None for buffer in profile.buffers)
    assert profile.peak().nbytes > 10_000 and not profile.steps
    memory = profile.memory(profile.peak().instruction)
    assert (np.sum(list(memory.values()), axis=0) == profile.machine.sram_bytes).all()


def test_what_is_no_profile_is_refused(folder: Path, tmp_path: Path) -> None:
    profile, _ = run(folder, "t4")
    good = tmp_path / "good"
    profile.write(good)
    raw = good.read_bytes()
    for number, size in enumerate((0, 1, 30, len(raw) // 2, len(raw) - 1)):
        cut = tmp_path / f"cut{number}"
        cut.write_bytes(raw[:size])
        with pytest.raises(ProfileError, match="no profile"):
            tilewright.Profile(cut)
    for place in range(100, len(raw), len(raw) // 40):  # a flipped byte is seen, or makes no difference
        damaged = bytearray(raw)
        damaged[place] ^= 0x41
        (tmp_path / "damaged").write_bytes(damaged)
        try:
            tilewright.Profile(tmp_path / "damaged")
        except ProfileError as error:
            assert error.location == str(tmp_path / "damaged")
    with pytest.raises(ProfileError, match="no such file"):
        tilewright.Profile(tmp_path / "missing")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(ProfileError, match="this is no profile"):
        tilewright.Profile(tmp_path / "other.npz")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": VERSION + 1}, f"version {VERSION + 1}; this program reads up to {VERSION}"),
        ({"version": "1"}, "version '1'"),
        ({"format": "other"}, f'a profile has "format": "{FORMAT}"'),
        ({"phases": 5}, "header.phases: a list is expected"),
        ({"program": 3}, "header.program is 3"),
        ({"machine": None}, "header.machine: an object"),
        ({"steps": []}, "has 0 steps|steps, not 0"),
        ({"segments": [{"count": 1}]}, r"segments\[0\].first_step is missing"),
        ({"unheard_of": 1}, None),
    ],
)
def test_headers_are_checked(
    folder: Path, tmp_path: Path, change: dict[str, Any], message: str | None
) -> None:
    profile, _ = run(folder, "t4")
    profile.write(tmp_path / "good")
    with np.load(tmp_path / "good") as archive:
        parts = dict(archive)
    header = json.loads(parts["header"].tobytes()) | change
    parts["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with (tmp_path / "changed").open("wb") as file:
        np.savez(file, **parts)
    if message is None:
        assert tilewright.Profile(tmp_path / "changed").header == profile.header
        return
    with pytest.raises(ProfileError, match=message):
        tilewright.Profile(tmp_path / "changed")


def test_arrays_are_checked(folder: Path) -> None:
    profile, _ = run(folder, "t4")
    for name, array in {
        "first": profile.first[:, :2],
        "later": profile.later[:1],
        "tile_class": profile.tile_class + 1000,
        "executed_segment": profile.executed_segment - 1000,
        "held": np.zeros(3),
    }.items():
        with pytest.raises(ProfileError, match=f"array '{name}'|array '[a-z_]+' has"):
            tilewright.Profile.of(profile.header, profile.arrays | {name: array})
    with pytest.raises(ProfileError, match="array 'tile_class' has a number that names nothing: 99"):
        tilewright.Profile.of(profile.header, profile.arrays | {"tile_class": profile.tile_class * 0 + 99})
    with pytest.raises(ProfileError, match="segment 1 does not follow the one before it"):
        first, second, *rest = profile.segments
        segments = (first, replace(second, first_step=99), *rest)
        tilewright.Profile.of(replace(profile.header, segments=segments), profile.arrays)
    with pytest.raises(ProfileError, match="ends before"):
        bad = replace(profile.buffers[0], first=5, last=2)
        tilewright.Profile.of(replace(profile.header, buffers=(bad, *profile.buffers[1:])), profile.arrays)
