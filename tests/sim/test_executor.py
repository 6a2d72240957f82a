# SPDX-License-Identifier: Apache-2.0
"""The executor on programs written by hand: what they compute, what they cost."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.backends.image import to_image
from tilewright.backends.program import (
    Binding,
    Call,
    Code,
    Exchange,
    Operand,
    Patch,
    Program,
    Repeat,
    Table,
    Tap,
)
from tilewright.backends.rows import encode
from tilewright.machine import load
from tilewright.machine.dtypes import numpy_dtype
from tilewright.machine.numerics import workers
from tilewright.planning.exchange.geometry import transfers
from tilewright.planning.exchange.messages import Messages
from tilewright.planning.exchange.schedule import schedule
from tilewright.planning.layout import Axis, Layout, Split
from tilewright.planning.layout.view import View
from tilewright.sim import calls, fabric
from tilewright.sim.executor import Executor
from tilewright.sim.fabric import moving

MACHINE = load("t4")
F8 = "f8E4M3FNUZ"
CODE, SUPERVISOR, ARGUMENTS, ROWS = 0x70000, 0x71000, 0x72000, 0x74000
A, W, C = 0x78000, 0x88000, 0x90000


def words(*row: int, tiles: int = 4) -> np.ndarray:
    """The same words on every tile."""
    return np.tile(np.array(row, np.int64), (tiles, 1))


def gemm_program() -> Program:
    """c[40, 16] = a[40, 64] . w[64, 16]: rows of a divided over the four tiles, w on all of them."""
    a = Layout((Axis(40, (Split(10, 1),)), Axis(64, (), (32,))), ((1, 0), (0, 0), (1, 1)))
    w = Layout(
        (Axis(16, (), (16,)), Axis(64, (), (32,))), ((0, 0), (1, 0), (0, 1), (1, 1)), replicas=((4, 1),)
    )
    c = Layout(
        (Axis(40, (Split(10, 1),)), Axis(16, (), (16,))), ((1, 0), (0, 0), (1, 1)), memory="interleaved"
    )
    call = Call(
        "gemm.f8",
        (
            Operand(A, F8, (((0, 0),), a.strides(0), a.strides(1))),
            Operand(W, F8, (((0, 0),), w.strides(0), w.strides(1))),
        ),
        (Operand(C, "f16", (((0, 0),), c.strides(0), c.strides(1))),),
        (("scale", -2),),
        "extents",
        "model.mlir:3",
    )
    return Program(
        machine="t4",
        name="gemm",
        code=(Code("gemm.f8", CODE, 1536),),
        supervisor_address=SUPERVISOR,
        tables=(Table("extents", ARGUMENTS, words(1, 10, 16, 64), "arguments"),),
        bindings=(
            Binding("a", "input", A, F8, str(a), str(View.identity((40, 64))), (40, 64)),
            Binding("w", "parameter", W, F8, str(w), str(View.identity((16, 64))), (16, 64)),
            Binding("c", "output", C, "f16", str(c), str(View.identity((40, 16))), (40, 16)),
        ),
        placed=(),
        body=(call,),
    )


def test_a_matrix_product_on_four_tiles() -> None:
    program = gemm_program()
    rng = np.random.default_rng(0)
    a = rng.integers(-8, 8, (40, 64)).astype(np.float32)
    w = rng.integers(-8, 8, (16, 64)).astype(np.float32)
    executor = Executor(to_image(program), MACHINE)
    executor.load({"w": w})
    result = executor.run({"a": a})
    exact = a.astype(numpy_dtype(F8)).astype(np.float64) @ w.astype(np.float64).T
    assert np.allclose(result.outputs["c"], exact / 4, rtol=2e-3, atol=0.5)
    assert result.cycles["total"] == 294 + 2 * (4 * 10 + 160)
    assert result.cycles["compute"] == result.cycles["total"]


LAYERS, M, WIDTH = 3, 40, 32
HOME, STAGED, X, Y = 0x7C000, 0x81000, 0x79000, 0x98000
"""
Home of the weights, their copy on every tile, activations in and out. Rows lie in an element of their own.
"""


def layers_program(count: int = LAYERS) -> Program:
    """
    x = x . w_i for every layer: weights travel from their home, and the rows are patched between iterations.
    """
    x = Layout((Axis(M, (Split(M // 4, 1),)), Axis(WIDTH, (), (16,))), ((1, 0), (0, 0), (1, 1)))
    panels = ((0, 0), (1, 0), (0, 1), (1, 1))
    home = Layout((Axis(WIDTH, (Split(16, 1),), (16,)), Axis(WIDTH, (), (16,))), panels)
    staged = Layout((Axis(WIDTH, (), (16,)), Axis(WIDTH, (), (16,))), panels, replicas=((4, 1),))
    square = View.identity((WIDTH, WIDTH))
    moves = transfers(home, square, staged, square, 2)
    zero = np.zeros_like(moves.src_tile)
    plan = schedule(
        Messages(
            moves.src_tile, zero, moves.src_byte, moves.dst_tile, zero + 1, moves.dst_byte, moves.nbytes
        ),
        MACHINE,
    )
    rows = encode(plan, [HOME, STAGED], MACHINE)
    stride = home.shard_bytes(2)
    rank3 = (((0, 0),), x.strides(0), x.strides(1))
    gemm = Call(
        "gemm.f16.f16",
        (
            Operand(X, "f16", rank3),
            Operand(STAGED, "f16", (((0, 0),), staged.strides(0), staged.strides(1))),
        ),
        (Operand(Y, "f16", rank3),),
        (),
        "gemm extents",
        "model.mlir:7",
    )
    back = Call("copy", (Operand(Y, "f16", rank3[1:]),), (Operand(X, "f16", rank3[1:]),), (), "copy extents")
    identity = str(View.identity((M, WIDTH)))
    return Program(
        machine="t4",
        name="layers",
        code=(Code("gemm.f16.f16", CODE, 1536), Code("copy", CODE + 1536, 512)),
        supervisor_address=SUPERVISOR,
        tables=(
            Table("gemm extents", ARGUMENTS, words(1, M // 4, WIDTH, WIDTH), "arguments"),
            Table("copy extents", ARGUMENTS + 16, words(M // 4, WIDTH), "arguments"),
            Table("rows", ROWS, rows.words, "rows"),
            Table("positions", ARGUMENTS + 64, rows.positions(0), "patch tables"),
        ),
        bindings=(
            Binding("x", "input", X, "f16", str(x), identity, (M, WIDTH)),
            Binding(
                "w",
                "parameter",
                HOME,
                "f16",
                str(home),
                str(square),
                (WIDTH, WIDTH),
                tensors=tuple(f"w{i}" for i in range(count)),
                count=count,
                stride=stride,
            ),
            Binding("y", "output", X, "f16", str(x), identity, (M, WIDTH)),
        ),
        placed=(),
        body=(
            Repeat(
                "layers",
                count,
                (Exchange("rows", "model.mlir:6", "weights"), gemm, back, Tap("state", "y")),
                (Patch("rows", "positions", stride // 4),),
            ),
        ),
    )


def run_layers(count: int = LAYERS, tap=None, poison=None):
    rng = np.random.default_rng(1)
    x = rng.integers(-2, 3, (M, WIDTH)).astype(np.float32)
    # Signed permutations, so that every sum is exact in f16 however deep the stack.
    weights = {
        f"w{i}": (np.eye(WIDTH)[rng.permutation(WIDTH)] * rng.choice([-1, 1], WIDTH)).astype(np.float32)
        for i in range(count)
    }
    executor = Executor(to_image(layers_program(count)), MACHINE, poison)
    executor.load(weights)
    expected = [x]
    for weight in weights.values():
        expected.append((expected[-1] @ weight.T).astype(np.float16).astype(np.float32))
    return executor, x, expected, executor.run({"x": x}, tap)


def test_a_repeat_patches_the_rows_of_its_weights() -> None:
    _, _, expected, result = run_layers()
    assert np.array_equal(result.outputs["y"], expected[-1])


def test_rows_are_restored_so_a_second_run_gives_the_same() -> None:
    executor, x, expected, first = run_layers()
    before = executor.memory.words.copy()
    second = executor.run({"x": x})
    assert np.array_equal(second.outputs["y"], expected[-1])
    assert second.cycles == first.cycles
    assert np.array_equal(before, executor.memory.words)


def test_later_iterations_are_relocated_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []
    deliver = fabric.deliver

    def counted(*args, **kwargs):
        decoded.append(kwargs["phase"])
        return deliver(*args, **kwargs)

    monkeypatch.setattr(fabric, "deliver", counted)
    executor, x, expected, first = run_layers(6)
    assert np.array_equal(first.outputs["y"], expected[-1])
    assert len(decoded) == 2
    assert np.array_equal(executor.run({"x": x}).outputs["y"], expected[-1])
    assert len(decoded) == 2


def test_pieces_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    executor, _, expected, plain = run_layers()
    monkeypatch.setattr(calls, "PIECE_ELEMENTS", 1)
    monkeypatch.setattr(moving, "_BLOCK_WORDS", 1)
    monkeypatch.setattr(workers.os, "sched_getaffinity", lambda process: range(3), raising=False)
    divided, _, _, result = run_layers()
    assert np.array_equal(result.outputs["y"], expected[-1])
    assert result.cycles == plain.cycles
    assert np.array_equal(divided.memory.words, executor.memory.words)
    assert np.array_equal(divided.memory.valid, executor.memory.valid)


def test_taps_see_every_iteration() -> None:
    seen = {}
    _, _, expected, _ = run_layers(tap=lambda tapped: seen.__setitem__(tapped.iteration, tapped.data))
    assert list(seen) == [(0,), (1,), (2,)]
    for (number,), data in seen.items():
        assert np.array_equal(data, expected[number + 1])


@pytest.mark.parametrize("poison", [float("nan"), 1.0, 0x12345678])
def test_poison_changes_nothing(poison: float) -> None:
    executor, x, _, result = run_layers(poison=poison)
    plain = run_layers()[-1]
    assert np.array_equal(result.outputs["y"], plain.outputs["y"])
    again = executor.run({"x": x})
    assert np.array_equal(again.outputs["y"], plain.outputs["y"])


def test_no_iteration_runs_nothing() -> None:
    _, x, _, result = run_layers(0)
    assert np.array_equal(result.outputs["y"], x)
    assert result.cycles["total"] == 0
    assert result.repeats[0].count == 0 and result.repeats[0].per_iteration is None


def test_cycles_add_up() -> None:
    result = run_layers()[-1]
    cycles = result.cycles
    assert cycles["total"] == sum(step.cycles for step in result.steps)
    for category in ("compute", "exchange", "copy", "sync"):
        assert cycles[category] == sum(step.cycles for step in result.steps if step.category == category)
    assert cycles["sync"] == LAYERS * MACHINE.phase_overhead
    assert cycles["compute"] == LAYERS * (294 + 4 * (4 * (M // 4) + 160))
    (repeat,) = result.repeats
    assert (repeat.name, repeat.count) == ("layers", LAYERS)
    assert repeat.first + repeat.per_iteration * (LAYERS - 1) == cycles["total"]
    starts = [step.start for step in result.steps]
    assert starts == sorted(starts)
    assert {step.iteration for step in result.steps if step.name == "gemm.f16.f16"} == {(0,), (1,), (2,)}
    assert 0 <= cycles["assumed_share"] <= 1
