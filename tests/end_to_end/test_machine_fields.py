# SPDX-License-Identifier: Apache-2.0
"""
Every field of a machine file has an effect, and the one that it should: edited copies of t4, one
program.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import tilewright.machine
from tilewright import settings
from tilewright.backends.accounting import memory_by_category
from tilewright.backends.image import to_image
from tilewright.diagnostics import TileError
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.tile_asm import module_to_program
from tilewright.machine import Exchange, Machine, MachineError, Region, Reservation, Topology, load
from tilewright.machine.kernels import kernel
from tilewright.passes.ir.exchange import read_figures
from tilewright.passes.tile_compile import TileCompilePass
from tilewright.planning.exchange.messages import Messages
from tilewright.planning.exchange.schedule import schedule
from tilewright.sim.executor import ExecutionError, Executor

T4 = (Path(tilewright.machine.__file__).parent / "t4.toml").read_text()
PROGRAM = """
func.func @main(%x: tensor<72x160xf16> {tile_tensor.input = "x"},
                %w: tensor<160x96xf16> {tile_tensor.parameter = "w"})
    -> (tensor<96x72xf16> {tile_tensor.output = "y"}) {
  %p = tile_tensor.matmul %x, %w accumulate f16
      : (tensor<72x160xf16>, tensor<160x96xf16>) -> tensor<72x96xf16>
  %g = tile_tensor.gelu %p : (tensor<72x96xf16>) -> tensor<72x96xf16>
  %s = tile_tensor.softmax %g : (tensor<72x96xf16>) -> tensor<72x96xf16>
  %t = tile_tensor.transpose %s permutation [1, 0] : (tensor<72x96xf16>) -> tensor<96x72xf16>
  %r = tile_tensor.relu %t : (tensor<96x72xf16>) -> tensor<96x72xf16>
  func.return %r : tensor<96x72xf16>
}
"""
NEAR = [("tiles = 4", "tiles = 8"), ("columns = [5]", "columns = [3, 4]")]
FAR = [("tiles = 4", "tiles = 8"), ("columns = [5]", "columns = [0, 8]")]


@dataclasses.dataclass(frozen=True)
class Seen:
    """What a machine does with the program."""

    machine: Machine
    compute: int
    exchange: int
    sync: int
    addresses: tuple[tuple[str, int], ...]
    code: tuple[int, ...]
    rows: bytes
    row_bytes: int
    transfers: int
    memory: tuple[tuple[str, int], ...]
    output: bytes


def edited(tmp_path: Path, edits: Sequence[tuple[str, str]], name: str = "machine.toml") -> Path:
    text = T4
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new, 1)
    file = tmp_path / name
    file.write_text(text)
    return file


def observe(file: Path | str) -> Seen:
    machine = load(file)
    module = parse_module(PROGRAM, ctx=(ctx := context()))
    with settings.use(settings.Settings(search="off")):  # a field may not change the plan as well
        TileCompilePass(machine=str(file)).apply(ctx, module)
    program = module_to_program(module)
    image = to_image(program)
    executor = Executor(image, load(program.machine), 7.0)
    rng = np.random.default_rng(0)
    executor.load({"w": rng.standard_normal((160, 96), np.float32)})
    result = executor.run({"x": rng.standard_normal((72, 160), np.float32)})
    rows = [s for s in image.segments if s.category == "rows"]
    return Seen(
        machine,
        int(result.cycles["compute"]),
        int(result.cycles["exchange"]),
        int(result.cycles["sync"]),
        tuple((p.name, p.address) for p in program.placed),
        tuple(c.address for c in program.code),
        b"".join(np.ascontiguousarray(s.words).tobytes() for s in rows),
        sum(s.nbytes for s in rows),
        sum(f.transfers for f in read_figures(module)),
        tuple((name, int(count.sum())) for name, count in memory_by_category(program, machine).items()),
        result.outputs["y"].tobytes(),
    )


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    return observe(edited(tmp_path_factory.mktemp("plain"), [('name = "t4"', 'name = "copy"')]))


def phases(seen: Seen) -> int:
    return seen.sync // seen.machine.phase_overhead


def test_a_copy_behaves_like_the_machine_of_that_name(plain: Seen):
    named = observe("t4")
    assert plain.machine.name == "copy" and plain.machine == named.machine
    assert dataclasses.replace(plain, machine=named.machine) == named


CYCLES = [
    # edits, the figures that change (all others stay), +1 for more and -1 for less
    ("clock_hz", [("clock_hz = 1_500_000_000", "clock_hz = 1_000_000_000")], {}),
    ("phase_overhead", [("phase_overhead = 240", "phase_overhead = 300")], {"sync": 1}),
    ("workers", [("workers = 6", "workers = 12")], {"compute": 1}),
    ("load_bytes", [("load_bytes = 16", "load_bytes = 8")], {"compute": 1}),
    ("load_bytes up", [("load_bytes = 16", "load_bytes = 32")], {"compute": -1}),
    ("select_lead", [("select_lead = 52", "select_lead = 152")], {"exchange": 1, "rows": 0, "row_bytes": 0}),
    ("lead_in", [("lead_in = 96", "lead_in = 0")], {"exchange": -1, "rows": 0}),
    (
        "send_words_max",
        [("send_words_max = 64", "send_words_max = 8")],
        {"rows": 0, "row_bytes": 1},
    ),
    (
        "sendoff_max",
        [("send_words_max = 64", "send_words_max = 8"), ("sendoff_max = 4096", "sendoff_max = 8")],
        {"rows": 0, "row_bytes": 1},
    ),
    (
        "delay_max",
        [("delay_max = 524288", "delay_max = 4")],
        {"rows": 0, "row_bytes": 1},
    ),
    (
        "control_delay_max",
        [("control_delay_max = 128", "control_delay_max = 1")],
        {"rows": 0, "row_bytes": 1},
    ),
    (
        "select_delay_max",
        [("select_delay_max = 4096", "select_delay_max = 1")],
        {"rows": 0, "row_bytes": 1},
    ),
    ("neutral_source", [("neutral_source = 0x640", "neutral_source = 0x641")], {"rows": 0}),
]


@pytest.mark.parametrize(("edits", "changes"), [c[1:] for c in CYCLES], ids=[c[0] for c in CYCLES])
def test_cycles_and_rows(plain: Seen, tmp_path: Path, edits: list[tuple[str, str]], changes: dict[str, int]):
    seen = observe(edited(tmp_path, edits))
    assert seen.machine != plain.machine
    assert seen.output == plain.output
    for name in ("compute", "exchange", "sync", "rows", "row_bytes"):
        before, after = getattr(plain, name), getattr(seen, name)
        assert (before != after) == (name in changes), name
        if changes.get(name):
            assert (after > before) == (changes[name] > 0)
    assert seen.sync == phases(plain) * seen.machine.phase_overhead


def test_lead_and_latency_follow_rows_and_columns(tmp_path: Path):
    near, far = (int(load(edited(tmp_path, edits)).latency(0, 4)) for edits in (NEAR, FAR))
    assert near < far
    two = [("rows = 1", "rows = 2"), ("tiles = 4", "tiles = 8")]
    tall = load(edited(tmp_path, two))
    steep = load(edited(tmp_path, [*two, ("select_lead_per_row = 2", "select_lead_per_row = 9")]))
    assert tall.select_lead(np.arange(8)).tolist() == [52, 52, 54, 54, 54, 54, 52, 52]
    assert steep.select_lead(np.arange(8)).tolist() == [52, 52, 61, 61, 61, 61, 52, 52]


def test_tiles_and_columns(plain: Seen, tmp_path: Path):
    more = observe(edited(tmp_path, [("rows = 1", "rows = 2"), ("tiles = 4", "tiles = 8")]))
    assert more.output == plain.output and more.compute < plain.compute
    near, far = observe(edited(tmp_path, NEAR)), observe(edited(tmp_path, FAR))
    assert near.output == far.output == plain.output
    assert near.compute == far.compute and near.exchange < far.exchange


def test_messages(plain: Seen, tmp_path: Path):
    short = observe(edited(tmp_path, [("message_max_words = 4148", "message_max_words = 16")]))
    assert short.output == plain.output and short.transfers > plain.transfers


def test_messages_of_fewer_items_are_not_paired(plain: Seen, tmp_path: Path):
    zero, both = np.zeros(2, np.int64), np.array([2, 3])
    wanted = Messages(zero, zero, zero, both, zero + 1, zero, zero + 8 * 70)  # 70 items to a pair of tiles
    picky = load(edited(tmp_path, [("paired_min_items = 64", "paired_min_items = 71")]))
    assert schedule(wanted, plain.machine).paired_share == 1
    assert schedule(wanted, picky).paired_share == 0


def test_weights_in_a_region_without_banks_load_slowly(plain: Seen, tmp_path: Path):
    flat = observe(edited(tmp_path, [("interleave = 2", "interleave = 1")]))
    assert flat.compute > plain.compute and flat.exchange == plain.exchange
    gemm, extents = kernel("gemm.f16.f16"), (1, 8, 16, 16)
    fast = load(edited(tmp_path, [("load_bytes = 8", "load_bytes = 16")]))
    for machine, load_cycles in ((plain.machine, 32), (fast, 0)):  # 512 bytes at 8 and at 16 a cycle
        one = gemm.cycles(machine, extents, ("f16",) * 3)[0]
        slow = gemm.cycles(machine, extents, ("f16",) * 3, {"weights_standard": 1})[0]
        assert slow - one == load_cycles


def test_memory_moves(plain: Seen, tmp_path: Path):
    """Base, size, ranges, elements, code regions and reservations decide where things lie."""

    def code(seen: Seen) -> tuple[int, int]:
        return min(seen.code), max(seen.code)

    assert 0x68000 <= code(plain)[0] and code(plain)[1] < 0x80000
    swap = [("executable = false", "executable = 1"), ("executable = true", "executable = false")]
    both = observe(edited(tmp_path, [*swap, ("executable = 1", "executable = true")]))
    assert both.output == plain.output
    assert code(both)[0] >= 0x80000
    lower = observe(
        edited(
            tmp_path,
            [
                ("sram_base = 0x68000", "sram_base = 0x64000"),
                ("sram_bytes = 0x38000", "sram_bytes = 0x3c000"),
                ("start = 0x68000", "start = 0x64000"),
            ],
        )
    )
    assert code(lower)[0] == 0x64000 and lower.output == plain.output
    where = [a for _, a in plain.addresses if a >= 0x80000]
    taken = observe(edited(tmp_path, [("end = 0x80400", "end = 0x88000")]))
    assert min(where) < 0x88000 <= min(a for _, a in taken.addresses if a >= 0x80000)
    assert taken.output == plain.output
    named = observe(edited(tmp_path, [('category = "profile"', 'category = "host"')]))
    before, after = dict(plain.memory), dict(named.memory)
    assert (before["profile"], after["profile"]) == (4 * 0x400, 0)
    assert after["host"] == before["host"] + 4 * 0x400
    fine = observe(edited(tmp_path, [("element_bytes = 0x8000", "element_bytes = 0x1000")]))
    assert fine.output == plain.output and fine.addresses != plain.addresses


def test_the_fetch_guard_ends_the_code_region(plain: Seen, tmp_path: Path):
    """No code ends where fetching ahead would leave its region: a guard of nearly all of it is too much."""
    with pytest.raises(TileError) as error:
        observe(edited(tmp_path, [("fetch_guard_bytes = 64", "fetch_guard_bytes = 0x17f00")]))
    assert "fit" in error.value.message or "place" in error.value.message


def test_rows_are_held_to_the_cap(tmp_path: Path):
    with pytest.raises(TileError, match="exchange"):
        observe(edited(tmp_path, [("cap_bytes = 81920", "cap_bytes = 256")]))


def test_every_field_has_a_test():
    text = Path(__file__).read_text()
    labels = {"path", "source", "regions", "reservations", "topology", "exchange"}
    for kind in (Machine, Region, Reservation, Topology, Exchange):
        for field in dataclasses.fields(kind):
            assert field.name in labels or f"{field.name} = " in text or f"{field.name}_" in text, field.name


def test_two_machines_of_one_name_live_in_one_process(tmp_path: Path):
    """Schedules and grids are remembered by content: the order of compilations does not matter."""
    far = edited(tmp_path, FAR, "far.toml")
    near = edited(tmp_path, NEAR, "near.toml")
    first = [observe(far), observe(near), observe(far)]
    assert first[0] == first[2] and first[0].exchange != first[1].exchange
    assert [seen.machine.name for seen in first] == ["t4"] * 3


def test_a_file_that_changed_is_refused(tmp_path: Path):
    file = edited(tmp_path, [("workers = 6", "workers = 4")])
    module = parse_module(PROGRAM, ctx=(ctx := context()))
    TileCompilePass(machine=str(file)).apply(ctx, module)
    program = module_to_program(module)
    assert program.machine == f"{file}@{load(file).digest[:16]}"
    assert load(program.machine) == load(file)
    edited(tmp_path, [("workers = 6", "workers = 5")])
    with pytest.raises(MachineError, match="not the one that the program was compiled for"):
        load(program.machine)
    with pytest.raises(ExecutionError, match="the program is for machine"):
        Executor(to_image(program), load(file))
