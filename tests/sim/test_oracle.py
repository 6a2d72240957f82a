# SPDX-License-Identifier: Apache-2.0
"""
The oracle against the reference semantics, operation by operation, and what `compare_each` says about a
fault.
"""

import random
import sys
from pathlib import Path

import numpy as np
import pytest

from tilewright.backends.image import to_image
from tilewright.dialects import reference
from tilewright.dialects.bounds import bounds
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.tile_asm import module_to_program
from tilewright.dialects.tile_tensor import TensorOperation
from tilewright.machine import load
from tilewright.machine.dtypes import is_integer, numpy_dtype
from tilewright.passes.ir.tensors import dtype_of, tensor_of
from tilewright.passes.pipeline import passes
from tilewright.passes.tile_plan_layouts import TilePlanLayoutsPass
from tilewright.sim.executor import Executor
from tilewright.sim.oracle import AsPlanned, Oracle, OracleError, compare_each, differing, evaluate_operation
from tilewright.sim.results import Tapped

sys.path.insert(0, str(Path(__file__).parents[1] / "end_to_end"))
import random_programs as programs


def planned(text: str, machine: str = "t4"):
    """The module after planning, and its context."""
    module = parse_module(
        f'module attributes {{tile.machine = "{machine}"}} {{ {text} }}', ctx=(ctx := context())
    )
    for step in passes():
        step.apply(ctx, module)
        if isinstance(step, TilePlanLayoutsPass):
            break
    return module, ctx


def machine_for(module, ctx, poison: float | None = None) -> Executor:
    names = [step.name for step in passes()]
    for step in passes()[names.index(TilePlanLayoutsPass.name) + 1 :]:
        step.apply(ctx, module)
    program = module_to_program(module)
    return Executor(to_image(program), load(program.machine), poison)


def random_operands(op: TensorOperation, rng: np.random.Generator) -> list[np.ndarray]:
    found: dict[object, np.ndarray] = {}
    for value in op.operands:
        dtype = numpy_dtype(dtype_of(tensor_of(value).element_type))
        shape = tensor_of(value).get_shape()
        if value in found:
            continue
        if is_integer(dtype_of(tensor_of(value).element_type)):
            found[value] = rng.integers(-9, 9, shape).astype(dtype)
        else:
            found[value] = (
                (rng.uniform(0.25, 1.5, shape) * rng.choice([-1, 1, 1], shape))
                .astype(np.float32)
                .astype(dtype)
            )
    operands = [found[value] for value in op.operands]
    if op.name == "tile_tensor.gather":
        operands[1] = abs(operands[1]) % operands[0].shape[op.properties["axis"].value.data]
    return operands


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_every_operation_is_near_its_reference(first: int) -> None:
    for seed in range(first, first + 20):
        make = programs.OPERATIONS[seed % len(programs.OPERATIONS)]
        module, _ = planned(programs.program(seed, make).text)
        rng = np.random.default_rng(seed)
        for op in module.walk():
            if not isinstance(op, TensorOperation) or op.name == "tile_tensor.constant":
                continue
            operands = random_operands(op, rng)
            step = reference.step_of(op, operands)
            found = evaluate_operation(op, operands)
            assert (found.shape, found.dtype) == (step.result.shape, step.result.dtype), op
            assert not bounds(step).departing(found).any(), op


MATMUL = """
func.func @main(%x: tensor<9x200xf8E4M3FNUZ> {tile_tensor.input = "x"},
                %w: tensor<200x24xf8E4M3FNUZ> {tile_tensor.parameter = "w"}) -> (tensor<9x24xf16>) {
  %y = tile_tensor.matmul %x, %w {plan = {grid = array<i64: 1, 1, 1, PARTS>}} :
    (tensor<9x200xf8E4M3FNUZ>, tensor<200x24xf8E4M3FNUZ>) -> tensor<9x24xf16>
  %z = tile_tensor.relu %y : (tensor<9x24xf16>) -> tensor<9x24xf16>
  return %z : tensor<9x24xf16>
}
"""


def values() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    rng = np.random.default_rng(1)
    return {"x": rng.standard_normal((9, 200)) * 8}, {"w": rng.standard_normal((200, 24))}


def test_the_parts_of_a_contraction_show_in_the_bits() -> None:
    inputs, parameters = values()
    outputs = []
    for parts in (1, 2, 4):
        module, ctx = planned(MATMUL.replace("PARTS", str(parts)))
        oracle = Oracle(module)
        executor = machine_for(module, ctx)
        executor.load(parameters)
        found, result = compare_each(executor, oracle, inputs, parameters)
        assert found is None and result is not None
        outputs.append(result.outputs["out0"])
    assert differing(outputs[0], outputs[1]).any() and differing(outputs[1], outputs[2]).any()


def test_the_first_value_that_departs_is_named_with_its_place() -> None:
    inputs, parameters = values()
    module, ctx = planned(MATMUL.replace("PARTS", "1"))
    oracle = Oracle(module)
    executor = machine_for(module, ctx)
    wrong = parameters["w"].copy()
    wrong[7, 5] += 4.0
    executor.load({"w": wrong})
    found, result = compare_each(executor, oracle, inputs, parameters)
    assert found is not None and result is None
    assert (found.value, found.iteration, found.index[1]) == ("y", (), 5)
    assert found.elements == 9 * 24 and 0 < found.differing <= 9
    assert found.tile is not None and found.address is not None
    start = found.address - executor.memory.base
    stored = executor.memory.data[found.tile, start : start + 2].view(np.float16)[0]
    assert stored == found.found != found.expected
    assert f"value 'y' departs at {list(found.index)} (tile {found.tile}, address {found.address:#x})" in str(
        found
    )


REPEAT = """
func.func @main(%x0: tensor<5x7xf32> {tile_tensor.input = "x"},
                %w: !tile_repeat.sequence<3 x tensor<7xf32>> {tile_tensor.parameter = ["a", "b", "c"]})
    -> (tensor<5x7xf32> {tile_tensor.output = "y"}) {
  %y = tile_repeat.repeat "layers" count 3 carried(%x = %x0 : tensor<5x7xf32>)
      iterated(%v = %w : !tile_repeat.sequence<3 x tensor<7xf32>>) -> (tensor<5x7xf32>) {
    %s = tile_tensor.add %x, %v : (tensor<5x7xf32>, tensor<7xf32>) -> tensor<5x7xf32>
    tile_repeat.yield %s : tensor<5x7xf32>
  }
  return %y : tensor<5x7xf32>
}
"""


def test_a_departure_in_a_repeat_names_the_iteration() -> None:
    module, ctx = planned(REPEAT)
    oracle = Oracle(module)
    executor = machine_for(module, ctx, float("nan"))
    parameters = {name: np.full(7, i + 1, np.float32) for i, name in enumerate("abc")}
    seen: list[tuple[str, tuple[int, ...]]] = []
    outputs = oracle.run({"x": np.zeros((5, 7))}, parameters, lambda name, at, array: seen.append((name, at)))
    assert seen == [("layers.s", (i,)) for i in range(3)]
    assert (outputs["y"] == 6).all()
    executor.load({**parameters, "b": np.array([2, 2, 2, 9, 2, 2, 2], np.float32)})
    found, _ = compare_each(executor, oracle, {"x": np.zeros((5, 7))}, parameters)
    assert found is not None
    assert (found.value, found.iteration, found.index) == ("layers.s", (1,), (0, 3))
    assert (found.expected, found.found, found.differing) == (3.0, 10.0, 5)


def test_values_that_are_no_part_of_the_program() -> None:
    """A value twice, a value that never comes, an output that is not there."""
    inputs, parameters = values()
    module, ctx = planned(MATMUL.replace("PARTS", "1"))
    oracle = Oracle(module)
    executor = machine_for(module, ctx)
    executor.load(parameters)
    taps: list[Tapped] = []
    result = executor.run(inputs, taps.append)

    def beside() -> AsPlanned:
        return AsPlanned(executor, oracle, inputs, parameters)

    whole = beside()
    for tapped in taps:
        whole.tap(tapped)
    with pytest.raises(
        OracleError, match=r"the machine completes the value 'y' in iteration \[\], which the "
    ):
        whole.tap(taps[0])
    with pytest.raises(OracleError, match=r"the machine never completes the value 'y' of iteration \[\]"):
        beside().finish(result.outputs)
    without = beside()
    for tapped in taps:
        without.tap(tapped)
    with pytest.raises(OracleError, match="the machine gives no output 'out0'"):
        without.finish({})


def test_a_module_without_plans_is_refused() -> None:
    module = parse_module(MATMUL.replace(" {plan = {grid = array<i64: 1, 1, 1, PARTS>}}", ""))
    with pytest.raises(OracleError, match="has no plan"):
        Oracle(module).run(*values())


def test_a_missing_tensor_is_named() -> None:
    module, _ = planned(MATMUL.replace("PARTS", "1"))
    with pytest.raises(OracleError, match="'w'"):
        Oracle(module).run(values()[0], {})


def test_equal_programs_for_equal_seeds() -> None:
    assert random.Random(3).random() == random.Random(3).random()
    assert programs.repeated(3).text == programs.repeated(3).text
