# SPDX-License-Identifier: Apache-2.0
"""
Random small programs with persistent parameters, random homes for them, and their way to the machine model.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from tilewright.backends.image import to_image
from tilewright.dialects.entry import entry_function
from tilewright.dialects.parsing import context, parse_module
from tilewright.machine import Machine, load
from tilewright.machine.dtypes import itemsize
from tilewright.passes.ir.homes import find_homes, materialise, unencodable
from tilewright.passes.tile_allocate_memory import TileAllocateMemoryPass
from tilewright.passes.tile_convert_compact_micro_panels import TileConvertCompactMicroPanelsPass
from tilewright.passes.tile_lower_to_asm import _Assembler
from tilewright.passes.tile_lower_to_buffers import TileLowerToBuffersPass
from tilewright.passes.tile_plan_layouts import TilePlanLayoutsPass
from tilewright.passes.tile_schedule_exchange import TileScheduleExchangePass
from tilewright.passes.tile_select_homes import TileSelectHomesPass
from tilewright.planning.homes import linear, panel_form, panel_grid, row_major_home
from tilewright.planning.layout import Layout, View
from tilewright.sim.executor import Executor
from tilewright.sim.oracle import Oracle, compare_each

F8 = "f8E4M3FNUZ"


@dataclasses.dataclass(frozen=True)
class Program:
    """Text and values."""

    text: str
    inputs: dict[str, np.ndarray]
    parameters: dict[str, np.ndarray]


class _Text:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.arguments: list[str] = []
        self.parameters: dict[str, np.ndarray] = {}

    def parameter(
        self, name: str, shape: tuple[int, ...], dtype: str, members: int = 0, extra: str = ""
    ) -> str:
        """Declare a parameter (a sequence for `members`); returns its type."""
        draw = np.random.default_rng(self.rng.getrandbits(32))
        tensor = "tensor<" + "".join(f"{n}x" for n in shape) + dtype + ">"
        names = [f"{name}.{i}" for i in range(members)] if members else [name]
        self.parameters |= {n: (draw.standard_normal(shape) / 4).astype(np.float32) for n in names}
        type_ = f"!tile_repeat.sequence<{members} x {tensor}>" if members else tensor
        quoted = "[" + ", ".join(f'"{n}"' for n in names) + "]" if members else f'"{name}"'
        self.arguments.append(f"%{name}: {type_} {{tile_tensor.parameter = {quoted}{extra}}}")
        return type_


def program(seed: int) -> Program:
    """A repeat over products, vectors and whole tensors of parameters, and a product behind it."""
    rng = random.Random(seed)
    text = _Text(rng)
    m, k, n = (rng.choice((1, 3, 4, 8, 13, 16, 24)), 2 * rng.randint(2, 24), 2 * rng.randint(1, 20))
    count = rng.choice((1, 2, 2, 3, 5, 7))
    precision = rng.choice(("f16", F8, "f32"))
    dtype = "f32" if precision == "f32" else "f16"
    x = f"tensor<{m}x{k}x{dtype}>"
    iterated: list[tuple[str, str, str]] = []
    invariant: list[tuple[str, str]] = []
    scale = ", tile_tensor.scale = -2 : i32" if precision == F8 and rng.random() < 0.5 else ""

    def add(name: str, shape: tuple[int, ...], element: str, extra: str = "") -> str:
        tensor = "tensor<" + "".join(f"{e}x" for e in shape) + element + ">"
        if rng.random() < 0.75:
            iterated.append((name, text.parameter(name, shape, element, count, extra), tensor))
        else:
            text.parameter(name, shape, element, 0, extra)
            invariant.append((name, tensor))
        return tensor

    body: list[str] = []
    last = "%x"
    transposed = rng.random() < 0.3
    weight = add("w", (k, k), precision, scale)
    left = last
    narrow = x
    if precision == F8:
        narrow = f"tensor<{m}x{k}x{F8}>"
        body.append(f"%narrow = tile_tensor.cast {last} : ({x}) -> {narrow}")
        left = "%narrow"
    flag = " transpose_b" if transposed else ""
    body.append(f"%product = tile_tensor.matmul {left}, %i_w{flag} : ({narrow}, {weight}) -> {x}")
    last = "%product"
    if rng.random() < 0.7:
        vector = add("b", (k,), dtype)
        body.append(f"%biased = tile_tensor.add {last}, %i_b : ({x}, {vector}) -> {x}")
        last = "%biased"
    if rng.random() < 0.5:
        gamma, beta = add("g", (k,), dtype), add("h", (k,), dtype)
        types = f"({x}, {gamma}, {beta}) -> {x}"
        body.append(f"%normed = tile_tensor.layer_norm {last}, %i_g, %i_h epsilon 1.0e-05 : {types}")
        last = "%normed"
    if rng.random() < 0.3:
        whole = add("p", (m, k), dtype)
        body.append(f"%moved = tile_tensor.sub {last}, %i_p : ({x}, {whole}) -> {x}")
        last = "%moved"
    head = text.parameter("head", (k, n), dtype)
    out = f"tensor<{m}x{n}x{dtype}>"
    header = [f"%i_{name} = %{name} : {t}" for name, t in invariant]
    sequences = [f"%i_{name} = %{name} : {t}" for name, t, _ in iterated]
    lines = [
        f'%y = tile_repeat.repeat "layers" count {count} carried(%x = %x0 : {x})'
        + (f" invariant({', '.join(header)})" if header else "")
        + (f" iterated({', '.join(sequences)})" if sequences else "")
        + f" -> ({x}) {{",
        *(f"  {line}" for line in body),
        f"  tile_repeat.yield {last} : {x}",
        "}",
        f"%z = tile_tensor.matmul %y, %head : ({x}, {head}) -> {out}",
        f"func.return %z : {out}",
    ]
    arguments = ", ".join([f'%x0: {x} {{tile_tensor.input = "x"}}', *text.arguments])
    inputs = {"x": np.random.default_rng(seed).standard_normal((m, k)).astype(np.float32)}
    whole_text = f"func.func @main({arguments}) -> {out} {{\n" + "\n".join(lines) + "\n}\n"
    return Program(whole_text, inputs, text.parameters)


def random_homes(module: ModuleOp, machine: Machine, rng: random.Random) -> int:
    """Any home that readers can have, for every parameter that may move; returns how many are new."""
    count = 0
    for home in find_homes(module):
        if home.pinned is not None or rng.random() < 0.2:
            continue
        layout, view = _random_home(
            home.layout, home.view, itemsize(home.dtype), home.members, machine.tiles, rng
        )
        if unencodable(home, layout, view, machine) is None:
            materialise(home)
            home.place(layout, view)
            count += 1
    entry_function(module).update_function_type()
    return count


def _random_home(
    layout: Layout, view: View, size: int, members: int, tiles: int, rng: random.Random
) -> tuple[Layout, View]:
    kind = rng.choice(("linear", "linear", "grid", "rotated", "row-major"))
    form = panel_form(layout, size, whole=rng.random() < 0.3, members=rng.choice((1, members, 100)))
    if kind == "linear":
        least = -(-form.panel_count // tiles)
        return linear(form, tiles, chunk=least + rng.randint(0, 3), base=rng.randrange(tiles)), view
    if kind == "grid":
        return panel_grid(form, tiles, rng.randint(1, tiles)).rotate(rng.randrange(tiles)), view
    if kind == "rotated":
        return layout.rotate(rng.randrange(tiles)), view
    return row_major_home(view.shape, size, tiles)


def planned(text: str, machine_name: str, homes: str = "ready") -> tuple[ModuleOp, Oracle]:
    """The module with layouts, and its oracle."""
    ctx = context()
    module = parse_module(text, ctx=ctx)
    module.attributes["tile.machine"] = StringAttr(machine_name)
    TilePlanLayoutsPass(homes=homes).apply(ctx, module)  # type: ignore[arg-type]
    module.verify()
    return module, Oracle(module)


def apply(module: ModuleOp, *passes: ModulePass) -> None:
    """Run passes, verifying after each."""
    ctx = context()
    for step in passes:
        step.apply(ctx, module)
        module.verify()


def lower(module: ModuleOp) -> None:
    apply(module, TileLowerToBuffersPass(), TileScheduleExchangePass(), TileAllocateMemoryPass())


def check(module: ModuleOp, oracle: Oracle, machine_name: str, case: Program) -> None:
    """Lower, run under a poison, compare every value with the oracle's."""
    machine = load(machine_name)
    lower(module)
    executor = Executor(
        to_image(_Assembler(machine, machine_name).assemble(entry_function(module))), machine, float("nan")
    )
    executor.load(case.parameters)
    found, _ = compare_each(executor, oracle, case.inputs, case.parameters)
    assert found is None, found


def passes(rng: random.Random) -> Sequence[ModulePass]:
    """The two passes of homes with random options, or one of them, or none."""
    panels = rng.choice(("cost", "fine", "whole", "row-major"))
    compact = TileConvertCompactMicroPanelsPass(panels=panels, budget=rng.choice((None, 100)))
    select = TileSelectHomesPass(
        distribution=rng.choice(("auto", "linear", "grid")),
        objective=rng.choice(("addresses", "load")),
        rotations=rng.choice((1, 4, 512)),
        check=rng.random() < 0.3,
    )
    return rng.choice(((compact, select), (compact, select), (compact,), (select,), ()))
