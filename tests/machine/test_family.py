# SPDX-License-Identifier: Apache-2.0
"""A second family of machines is plugged in where the first one is: kernels, estimate, schedule."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.backends import fabric as encoders
from tilewright.diagnostics import TileError
from tilewright.dialects.parsing import parse_module
from tilewright.dialects.tile import ExchangeOp
from tilewright.machine import Machine, load
from tilewright.machine.family import MK2, Family
from tilewright.machine.kernels import Kernel
from tilewright.passes import pipeline
from tilewright.passes.ir.exchange import phase_schedule
from tilewright.planning.exchange import Messages
from tilewright.planning.exchange.estimate import Estimate
from tilewright.planning.exchange.fabric import FABRICS, FabricPlanner
from tilewright.planning.layout import View
from tilewright.planning.operators import Operator, Surroundings, favourite
from tilewright.planning.operators.targets import flat_layout
from tilewright.planning.stages import Buffer, ExchangeStage, Value
from tilewright.sim import families
from tilewright.tools.driver.main import make_context


def half_price(name: str) -> Kernel:
    """The kernels of today, each at half of its cycles."""
    entry = MK2.kernel(name)
    return dataclasses.replace(
        entry, formula=lambda *call: [(term, -(-cycles // 2)) for term, cycles in entry.formula(*call)]
    )


ROUTED = dataclasses.replace(MK2, name="routed", describes="cores with routers", kernel=half_price)


class RoutedMachine(Machine):
    """A machine whose fabric carries packets along rows and columns."""

    @property
    def family(self) -> Family:
        return ROUTED


@dataclass(frozen=True)
class Packets:
    """Flits through the busiest link decide; nothing has a time."""

    count: int
    cycles: int


class RoutedPlanner:
    """A packet of 32 bytes a cycle enters or leaves a router; a header of one for each message."""

    def flits(self, messages: Messages, machine: Machine) -> int:
        each = 1 + -(-messages.nbytes // 32)
        into = np.bincount(messages.dst_tile, each, machine.tiles)
        out = np.bincount(messages.src_tile, each, machine.tiles)
        return int(max(into.max(), out.max())) if len(messages) else 0

    def estimate(self, messages: Messages, machine: Machine, *, paired: bool = True) -> Estimate:
        flits = self.flits(messages, machine)
        return Estimate(flits, flits, 0.0)

    def row_bytes(self, messages: Messages, machine: Machine) -> npt.NDArray[np.int64]:
        return 16 * np.bincount(messages.src_tile, minlength=machine.tiles)  # a descriptor a message

    def schedule(self, messages: Messages, machine: Machine, *, paired: bool | None = None) -> Any:
        return Packets(len(messages), self.flits(messages, machine))


@pytest.fixture
def machine() -> Iterator[Machine]:
    planner: FabricPlanner = RoutedPlanner()
    FABRICS.register("routed", planner)
    today = load("t16")
    yield RoutedMachine(**{f.name: getattr(today, f.name) for f in fields(Machine)})
    FABRICS.unregister("routed")


def product(machine: Machine) -> tuple[Operator, tuple[Value, ...]]:
    shapes = (((24, 40), "f16"), ((40, 56), "f16"))
    operator = Operator("matmul", {}, shapes, (((24, 56), "f16"),))
    operands = []
    for shape, dtype in shapes:
        layout, view = flat_layout(shape, dtype, machine)
        operands.append(Value(Buffer(layout, dtype), view))
    return operator, tuple(operands)


def test_planners_ask_the_family_of_the_machine(machine: Machine) -> None:
    operator, operands = product(machine)
    strategy, near = favourite(operator), Surroundings()
    record = strategy.default(operator, operands, machine, near)
    stages = strategy.expand(operator, record, operands, machine)
    ours, theirs = stages.cost(load("t16")), stages.cost(machine)
    assert ours.compute // 2 <= theirs.compute <= ours.compute // 2 + len(stages.stages)
    phases = sum(isinstance(stage, ExchangeStage) for stage in stages.stages)
    flits = theirs.exchange - phases * machine.phase_overhead
    # Every word that a tile lacks crosses its link in packets of 32 bytes and headers: far fewer cycles.
    assert 0 < flits < ours.exchange - phases * machine.phase_overhead
    assert (stages.row_bytes(machine) % 16 == 0).all() and stages.row_bytes(machine).any()


def test_phases_of_a_program_are_estimated_and_scheduled_by_the_family(machine: Machine) -> None:
    text = """builtin.module attributes {tile.machine = "t16"} {
      func.func @main(%a: tensor<24x40xf16> {tile_tensor.input = "a"},
                      %b: tensor<40x56xf16> {tile_tensor.input = "b"}) -> tensor<24x56xf16> {
        %y = tile_tensor.matmul %a, %b : (tensor<24x40xf16>, tensor<40x56xf16>) -> tensor<24x56xf16>
        func.return %y : tensor<24x56xf16>
      }
    }"""
    module = parse_module(text, "program.mlir")
    pipeline.compile(module, context=make_context(), homes="planned", until="tile-merge-phases")
    phases = [op for op in module.walk() if isinstance(op, ExchangeOp)]
    assert phases
    for phase in phases:
        made: Any = phase_schedule(phase, machine)
        assert isinstance(made, Packets) and made.count > 0 and made.cycles > 0
        assert not isinstance(phase_schedule(phase, load("t16")), Packets)


def test_what_a_family_lacks_is_said(machine: Machine) -> None:
    for parts, what in (
        (encoders.FABRICS, "an encoder of exchanges"),
        (families.FABRICS, "a model of its fabric"),
    ):
        with pytest.raises(
            TileError, match=f"machine t16 is of family 'routed', which has not {what}"
        ) as caught:
            parts.of(machine)
        assert caught.value.hint is not None and "families that have: mk2" in caught.value.hint
    with pytest.raises(ValueError, match="family 'routed' has a planner of exchanges already"):
        FABRICS.register("routed", RoutedPlanner())


def test_families_tell_machines_apart(machine: Machine) -> None:
    """What is remembered by machine is not shared between families; files describe the first one."""
    assert machine != load("t16") and machine.differences(load("t16")) == ["family: routed, none"]
    assert load("t16").family is MK2


def test_the_first_implementation_has_all_of_the_interface() -> None:
    fabric: families.Fabric = families.TimedFabric()
    t4 = load("t4")
    messages = Messages(*(np.array([v]) for v in (0, 0, 0, 1, 1, 0, 32)))
    made = fabric.schedule(messages, t4)
    assert abs(fabric.estimate(messages, t4).cycles - made.horizon) <= 16
    delivery = fabric.deliver(fabric.encode(made, [t4.sram_base, t4.sram_base + 64], t4).words, t4)
    assert delivery.nwords.sum() == 8


def test_the_matrix_unit_is_the_one_of_the_registry() -> None:
    unit = MK2.matrix_unit
    for name in MK2.kernel_names():
        assert unit.is_product(name) == name.startswith("gemm.")
    assert unit.panel_inputs(1) == 2 * unit.panel_inputs(2) == 4 * unit.panel_inputs(4)
    assert View.identity((unit.columns,)).shape == (16,)
