# SPDX-License-Identifier: Apache-2.0
"""The numpy reference against Python's own arithmetic, operation by operation; its handling of programs."""

import math

import ml_dtypes
import numpy as np
import pytest

from tilewright.dialects.entry import ProgramError, read_entry
from tilewright.dialects.parsing import parse_module
from tilewright.dialects.reference import EvaluationError, argument_names, evaluate, value_names

F32, F16, E4M3 = np.float32, np.float16, ml_dtypes.float8_e4m3fnuz


def run(operation: str, types: str, result: str, *operands, **options) -> np.ndarray:
    """The value of one operation on `%a`, `%b`, `%c`."""
    names = "abc"[: len(operands)]
    signature = ", ".join(f"%{name}: {type_}" for name, type_ in zip(names, types.split("; "), strict=True))
    module = parse_module(
        f"func.func @main({signature}) -> {result} {{\n"
        f"  %r = tile_tensor.{operation} : ({types.replace(';', ',')}) -> {result}\n"
        f"  func.return %r : {result}\n}}"
    )
    inputs = {f"arg{number}": operand for number, operand in enumerate(operands)}
    return evaluate(module, inputs, **options)["out0"]


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(F32)


UNARY = {
    "neg": lambda x: -x,
    "abs": abs,
    "relu": lambda x: max(x, 0.0),
    "square": lambda x: x * x,
    "exp": math.exp,
    "log": lambda x: math.log(x) if x > 0 else math.nan,
    "sqrt": lambda x: math.sqrt(x) if x >= 0 else math.nan,
    "rsqrt": lambda x: 1 / math.sqrt(x) if x > 0 else math.nan,
    "reciprocal": lambda x: 1 / x,
    "tanh": math.tanh,
    "erf": math.erf,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "sin": math.sin,
    "cos": math.cos,
    "log1p": lambda x: math.log1p(x) if x > -1 else math.nan,
    "expm1": math.expm1,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
    "sign": lambda x: math.copysign(1.0, x),
    "silu": lambda x: x / (1 + math.exp(-x)),
    "gelu": lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name) -> None:
    x = normal(40) * 3
    operation = "gelu %a approximate tanh" if name == "gelu_tanh" else f"{name} %a"
    found = run(operation, "tensor<40xf32>", "tensor<40xf32>", x)
    expected = np.array([UNARY[name](float(value)) for value in x])
    assert found.dtype == F32
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("add", lambda a, b: a + b),
        ("sub", lambda a, b: a - b),
        ("mul", lambda a, b: a * b),
        ("div", lambda a, b: a / b),
        ("maximum", max),
        ("minimum", min),
    ],
)
def test_binary_broadcasts_and_rounds_once(name, function) -> None:
    a, b = normal(3, 1), normal(4, seed=1)
    found = run(f"{name} %a, %b", "tensor<3x1xf32>; tensor<4xf32>", "tensor<3x4xf16>", a, b)
    # f32 operands: the sum, difference and product are exact in Python's floats, or nearly so for f16.
    expected = np.array([[function(float(x), float(y)) for y in b] for x in a[:, 0]]).astype(F32).astype(F16)
    np.testing.assert_array_equal(found, expected)


def test_maximum_propagates_nan() -> None:
    found = run("maximum %a, %b", "tensor<2xf32>; tensor<2xf32>", "tensor<2xf32>", [np.nan, 1], [0, np.nan])
    assert np.isnan(found).all()


def test_integers_wrap_and_divide_toward_zero() -> None:
    types = "tensor<3xi8>; tensor<3xi8>", "tensor<3xi8>"
    a, b = np.array([100, -7, 7], np.int8), np.array([100, 2, 0], np.int8)
    assert run("add %a, %b", *types, a, b).tolist() == [-56, -5, 7]
    assert run("div %a, %b", *types, a, b).tolist() == [1, -3, -1]


@pytest.mark.parametrize("flags", ["", " transpose_a", " transpose_b", " transpose_a transpose_b"])
def test_matmul(flags) -> None:
    a, b = normal(2, 3, 4).astype(F16), normal(2, 4, 5, seed=1).astype(F16)
    expected = 0.125 * np.einsum("bmk,bkn->bmn", a.astype(float), b.astype(float))
    if "transpose_a" in flags:
        a = a.swapaxes(1, 2)
    if "transpose_b" in flags:
        b = b.swapaxes(1, 2)
    types = "; ".join(f"tensor<{'x'.join(map(str, operand.shape))}xf16>" for operand in (a, b))
    found = run(f"matmul %a, %b{flags} scale -3", types, "tensor<2x3x5xf32>", a, b)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_integer_matmul_is_exact() -> None:
    a, b = np.full((1, 70000), 127, np.int8), np.full((70000, 1), 127, np.int8)
    found = run("matmul %a, %b", "tensor<1x70000xi8>; tensor<70000x1xi8>", "tensor<1x1xi32>", a, b)
    assert found.tolist() == [[70000 * 127 * 127]]


def test_attention_equals_its_parts() -> None:
    q, k, v = normal(2, 3, 4), normal(2, 5, 4, seed=1), normal(2, 5, 6, seed=2)
    scores = 0.5 * np.einsum("bmd,bnd->bmn", q, k, dtype=np.float64)
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    types = "tensor<2x3x4xf32>; tensor<2x5x4xf32>; tensor<2x5x6xf32>"
    found = run("attention %a, %b, %c scale 0.5", types, "tensor<2x3x6xf32>", q, k, v)
    np.testing.assert_allclose(found, np.einsum("bmn,bnd->bmd", weights, v), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("sum", math.fsum),
        ("max", max),
        ("min", min),
        ("prod", math.prod),
        ("mean", lambda x: math.fsum(x) / len(x)),
    ],
)
def test_reduce(kind, function) -> None:
    x = normal(2, 3, 4)
    expected = np.array([function([float(v) for v in x[:, i].ravel()]) for i in range(3)])
    found = run(f"reduce {kind} %a axes [0, 2]", "tensor<2x3x4xf32>", "tensor<3xf32>", x)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    kept = run(f"reduce {kind} %a axes [0, 2] keep_dims", "tensor<2x3x4xf32>", "tensor<1x3x1xf32>", x)
    np.testing.assert_array_equal(kept.ravel(), found)


def test_reduction_over_nothing() -> None:
    empty = np.zeros((2, 0), F32)
    expected = {"sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}
    for kind, value in expected.items():
        found = run(f"reduce {kind} %a axes [1]", "tensor<2x0xf32>", "tensor<2xf32>", empty)
        assert found.tolist() == [value, value]
    assert np.isnan(run("reduce mean %a axes [1]", "tensor<2x0xf32>", "tensor<2xf32>", empty)).all()


def test_norms_and_softmax() -> None:
    x, gamma, beta = normal(3, 8) * 2 + 1, normal(8, seed=1), normal(8, seed=2)
    wide = x.astype(np.float64)
    mean = wide.mean(axis=1, keepdims=True)
    variance = ((wide - mean) ** 2).mean(axis=1, keepdims=True)
    found = run(
        "layer_norm %a, %b, %c epsilon 1.0e-3",
        "tensor<3x8xf32>; tensor<8xf32>; tensor<8xf32>",
        "tensor<3x8xf32>",
        x,
        gamma,
        beta,
    )
    expected = (wide - mean) / np.sqrt(variance + 1e-3) * gamma + beta
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    found = run(
        "rms_norm %a, %b epsilon 1.0e-3", "tensor<3x8xf32>; tensor<8xf32>", "tensor<3x8xf32>", x, gamma
    )
    expected = wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + 1e-3) * gamma
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    found = run("softmax %a scale 0.5", "tensor<3x8xf32>", "tensor<3x8xf32>", x)
    expected = np.exp(wide / 2) / np.exp(wide / 2).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_movement() -> None:
    x = np.arange(24, dtype=F16).reshape(2, 3, 4)
    t = "tensor<2x3x4xf16>"
    np.testing.assert_array_equal(
        run("transpose %a permutation [2, 0, 1]", t, "tensor<4x2x3xf16>", x), x.transpose(2, 0, 1)
    )
    np.testing.assert_array_equal(run("reshape %a", t, "tensor<6x4xf16>", x), x.reshape(6, 4))
    np.testing.assert_array_equal(
        run("slice %a offsets [1, 0, 2] sizes [1, 2, 2]", t, "tensor<1x2x2xf16>", x), x[1:2, 0:2, 2:4]
    )
    np.testing.assert_array_equal(
        run("concat %a, %b axis 1", f"{t}; tensor<2x1x4xf16>", "tensor<2x4x4xf16>", x, -x[:, :1]),
        np.concatenate([x, -x[:, :1]], axis=1),
    )
    padded = run("pad %a low [0, 1, 0] high [1, 0, 2] value 0xFF800000", t, "tensor<3x4x6xf16>", x)
    np.testing.assert_array_equal(padded[:2, 1:, :4], x)
    assert np.isneginf(padded).sum() == padded.size - x.size
    np.testing.assert_array_equal(
        run("broadcast %a dimensions [1, 3]", "tensor<3x1xf16>", "tensor<2x3x5x4xf16>", x[0, :, :1]),
        np.broadcast_to(x[0, :, :1].reshape(1, 3, 1, 1), (2, 3, 5, 4)),
    )
    indices = np.array([[2, 0], [1, 1]])
    np.testing.assert_array_equal(
        run("gather %a, %b axis 1", f"{t}; tensor<2x2xi32>", "tensor<2x2x2x4xf16>", x, indices), x[:, indices]
    )


def test_gather_of_rows_outside() -> None:
    types = "tensor<3x2xf16>; tensor<4xi32>", "tensor<4x2xf16>"
    table, rows = np.arange(1, 7, dtype=F32).reshape(3, 2), np.array([3, -1, 1, 2**31 - 1])
    assert run("gather %a, %b", *types, table, rows).tolist() == [[5, 6], [1, 2], [3, 4], [5, 6]]
    zeros = run("gather %a, %b out_of_range zero", *types, table, rows)
    assert zeros.tolist() == [[0, 0], [0, 0], [3, 4], [0, 0]]
    columns = run(
        "gather %a, %b axis 1 out_of_range zero",
        "tensor<3x2xf16>; tensor<2x1xi32>",
        "tensor<3x2x1xf16>",
        table,
        np.array([[1], [2]]),
    )
    assert columns[..., 0].tolist() == [[2, 0], [4, 0], [6, 0]]


def test_casts_round_scale_and_saturate() -> None:
    x = np.array([1.0, 17.0, 1000.0, -1000.0], F32)
    t = "tensor<4xf32>", "tensor<4xf8E4M3FNUZ>"
    # E4M3FNUZ: 3 mantissa bits, largest value 240, overflow is NaN.
    assert run("cast %a", *t, x).astype(F32).tolist() == [1, 16, 240, -240]
    assert np.isnan(run("cast %a {saturate = false}", *t, x).astype(F32)[2:]).all()
    assert run("cast %a scale 3", *t, x).astype(F32).tolist() == [0.125, 2.0, 128, -128]
    integers = run(
        "cast %a scale -1", "tensor<4xf32>", "tensor<4xi8>", np.array([0.75, -0.75, 99, np.nan], F32)
    )
    assert integers.tolist() == [2, -2, 127, 0]


def program(result: str = "tensor<2x2xf32>") -> str:
    return """
    func.func @main(
        %x0: tensor<2x2xf16> {tile_tensor.input = "x"},
        %ws: !tile_repeat.sequence<3 x tensor<2x2xf8E4M3FNUZ>>
            {tile_tensor.parameter = ["w.0", "w.1", "w.2"], tile_tensor.scale = -2 : i32})
        -> (tensor<2x2xf32> {tile_tensor.output = "y"}, !tile_repeat.sequence<3 x tensor<2x2xf16>>) {
      %y, %t = tile_repeat.repeat "layers" count 3 carried(%x = %x0 : tensor<2x2xf16>)
          iterated(%w = %ws : !tile_repeat.sequence<3 x tensor<2x2xf8E4M3FNUZ>>)
          -> (tensor<2x2xf16>, !tile_repeat.sequence<3 x tensor<2x2xf16>>) {
        %q = tile_tensor.cast %x : (tensor<2x2xf16>) -> tensor<2x2xf8E4M3FNUZ>
        %p = tile_tensor.matmul %q, %w scale -2
            : (tensor<2x2xf8E4M3FNUZ>, tensor<2x2xf8E4M3FNUZ>) -> tensor<2x2xf16>
        tile_repeat.yield %p : tensor<2x2xf16> collect %x : tensor<2x2xf16>
      }
      %z = tile_tensor.cast %y : (tensor<2x2xf16>) -> tensor<2x2xf32>
      func.return %z, %t : tensor<2x2xf32>, !tile_repeat.sequence<3 x tensor<2x2xf16>>
    }"""


def program_values() -> tuple[np.ndarray, dict[str, np.ndarray], list[np.ndarray]]:
    """The input, the parameters, and the parameters as an FP8 program sees them, times their scale again."""
    x = normal(2, 2)
    weights = {f"w.{i}": normal(2, 2, seed=i + 1) for i in range(3)}
    seen = [(4 * weight).astype(E4M3).astype(F32) / 4 for weight in weights.values()]
    return x, weights, seen


def test_repeat_with_rounded_activations() -> None:
    x, weights, seen = program_values()
    outputs = evaluate(parse_module(program()), {"x": x}, weights)
    state, trace = x.astype(F16), []
    for weight in seen:
        trace.append(state)
        state = (state.astype(E4M3).astype(F32) @ weight).astype(F16)
    assert list(outputs) == ["y", "out1"]
    np.testing.assert_array_equal(outputs["y"], state.astype(F32))
    np.testing.assert_array_equal(outputs["out1"], np.stack(trace))
    assert outputs["out1"].dtype == F16


def test_plain_f32_on_the_weights_as_quantised() -> None:
    x, weights, seen = program_values()
    outputs = evaluate(parse_module(program()), {"x": x}, weights, round_activations=False)
    expected = x.astype(F16).astype(F32)
    for weight in seen:
        expected = expected @ weight
    np.testing.assert_allclose(outputs["y"], expected, rtol=1e-6)
    assert outputs["y"].dtype == outputs["out1"].dtype == F32


def test_intermediate_values_by_name() -> None:
    x, weights, _ = program_values()
    module = parse_module(program())
    kept: dict[str, np.ndarray] = {}
    outputs = evaluate(module, {"x": x}, weights, keep=kept)
    assert list(kept) == [f"layers[{i}].{name}" for i in range(3) for name in "qp"] + ["z"]
    np.testing.assert_array_equal(kept["layers[0].p"], outputs["out1"][1])
    assert sorted(value_names(module).values()) == []  # of a module: its functions are not looked into
    assert list(value_names(read_entry(module).func).values()) == ["layers.q", "layers.p", "z"]


def test_names_are_unique() -> None:
    module = parse_module(
        "func.func @main(%x: tensor<2xf16>) -> tensor<2xf16> {\n"
        "  %0 = tile_tensor.exp %x : (tensor<2xf16>) -> tensor<2xf16>\n"
        "  %c = tile_tensor.constant dense<1.0> : tensor<2xf16>\n"
        "  %1 = tile_tensor.exp %0 : (tensor<2xf16>) -> tensor<2xf16>\n"
        "  %last = tile_tensor.add %1, %c : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>\n"
        "  func.return %last : tensor<2xf16>\n}"
    )
    assert list(value_names(read_entry(module).func).values()) == ["exp", "exp_2", "last"]


def test_names_of_states_are_unique() -> None:
    """Also where two repeats have one name, and where values in the text differ in a number alone."""
    repeat = (
        '  %{0} = tile_repeat.repeat "layers" count 2 carried(%s_1 = %{1} : tensor<2xf16>)'
        " invariant(%s_2 = %x : tensor<2xf16>, %3 = %x : tensor<2xf16>) -> (tensor<2xf16>) {{\n"
        "    %s_7 = tile_tensor.add %s_1, %s_2 : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>\n"
        "    tile_repeat.yield %s_7 : tensor<2xf16>\n  }}\n"
    )
    module = parse_module(
        "func.func @main(%x: tensor<2xf16>) -> tensor<2xf16> {\n"
        + repeat.format("y", "x")
        + repeat.format("z", "y")
        + "  func.return %z : tensor<2xf16>\n}"
    )
    function = read_entry(module).func
    assert list(argument_names(function).values()) == [
        *("layers.s", "layers.s_2", "layers.arg2"),
        *("layers.s_3", "layers.s_4", "layers.arg2_2"),
    ]
    assert list(value_names(function).values()) == ["layers.s", "layers.s_2"]


def test_wrong_values_are_refused() -> None:
    x, weights, _ = program_values()
    module = parse_module(program())
    with pytest.raises(EvaluationError, match="no value for the input 'x'") as caught:
        evaluate(module, {}, weights)
    assert caught.value.notes == ("there are: none",)
    with pytest.raises(EvaluationError, match="'x' has shape 2, the program expects 2x2"):
        evaluate(module, {"x": x[0]}, weights)
    with pytest.raises(EvaluationError, match=r"the parameter 'w.2'"):
        evaluate(module, {"x": x}, {name: weights[name] for name in ("w.0", "w.1")})


ENTRY_ERRORS = [
    ("", "no function with a body"),
    (
        "func.func @a() { func.return } func.func @b() { func.return }",
        "2 functions and none is @main: @a, @b",
    ),
    (
        "func.func @main(%x: tensor<2xf16> {tile_tensor.parameter = 3 : i32}) { func.return }",
        "name of one tensor",
    ),
    (
        'func.func @main(%x: !tile_repeat.sequence<2 x tensor<2xf16>> {tile_tensor.parameter = ["a"]})'
        " { func.return }",
        "an array of 2 names",
    ),
    (
        "func.func @main(%x: tensor<2xf16> {tile_tensor.scale = 1 : i32}) { func.return }",
        "only on parameters",
    ),
    (
        'func.func @main(%x: tensor<2xf16> {tile_tensor.parameter = "a", tile_tensor.scale = 40 : i32})'
        " { func.return }",
        "an integer from -32 to 31",
    ),
    (
        'func.func @main(%x: tensor<2xf16> {tile_tensor.input = "arg1"}, %y: tensor<2xf16>) { func.return }',
        "two inputs are called 'arg1'",
    ),
]


@pytest.mark.parametrize(("source", "message"), ENTRY_ERRORS)
def test_entry_errors(source, message) -> None:
    with pytest.raises(ProgramError, match=message):
        read_entry(parse_module(f"builtin.module {{ {source} }}"))


def test_foreign_operations_are_named() -> None:
    module = parse_module(
        "func.func @main() -> tensor<f32> {\n"
        '  %0 = "test.op"() : () -> tensor<f32>\n'
        "  func.return %0 : tensor<f32>\n}"
    )
    with pytest.raises(EvaluationError, match=r"test.op has no reference semantics"):
        evaluate(module, {})
