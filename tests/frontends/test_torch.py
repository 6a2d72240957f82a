# SPDX-License-Identifier: Apache-2.0
"""Models of torch in process, where it is installed. Expected values are torch's own."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright.diagnostics import TileError
from tilewright.frontends import from_stablehlo, from_torch
from tilewright.frontends.importing import Imported, read_sample
from tilewright.frontends.objects import from_object

sys.path.insert(0, str(Path(__file__).parent))
import random_torch

pytestmark = pytest.mark.filterwarnings("ignore")  # torch's own
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


def call(function: Callable[..., Any]) -> Any:
    """A module that calls a function."""
    import torch_modules

    return torch_modules.Call(function)


def run(found: Imported, machine: str = "t4") -> dict[str, np.ndarray]:
    program = tilewright.compile(found.module, machine=machine)
    return tilewright.run(program, found.inputs, found.parameters).outputs


def check(found: Imported, machine: str = "t4", most: float = 1e-5) -> Counter[str]:
    """Execute and compare with what torch gave; how many operations of each kind the program has."""
    outputs = run(found, machine)
    for name, expected in found.expected.items():
        wide = expected.astype(np.float64)
        error = np.abs(outputs[name].astype(np.float64) - wide).max()
        assert error <= most * max(1.0, np.abs(wide).max()), name
    return Counter({name.partition(".")[2]: count for name, count in found.report()["operations"].items()})


def least_cosine(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a.astype(np.float64), b.astype(np.float64)
    return float(((a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)).min())


@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=[pytest.mark.slow] if n % 3 else []) for n in range(random_torch.COUNT)]
)
def test_exported_models_run_as_torch_ran_them(number: int) -> None:
    """The text of the middle form and the values beside it; torch is not needed."""
    path = random_torch.EXPORTED / f"torch_{number:02}.mlir"
    sample = read_sample(path.with_suffix(".safetensors"))
    found = from_stablehlo(path.read_text("utf-8"), sample=sample)
    outputs = run(found)
    for name in found.expected:
        wide = sample[name].astype(np.float64)
        error = np.abs(outputs[name].astype(np.float64) - wide).max()
        assert error <= random_torch.bound(sample[name].dtype) * max(1.0, np.abs(wide).max())


@pytest.mark.slow
@needs_torch
@pytest.mark.parametrize("seed", range(random_torch.COUNT, random_torch.COUNT + 200))
def test_random_models(seed: int) -> None:
    module, x = random_torch.model(seed)
    found = from_torch(module, x)
    check(found, most=random_torch.bound(next(iter(found.inputs.values())).dtype))


@needs_torch
def test_an_encoder_layer() -> None:
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 256, batch_first=True).eval()
    x = torch.randn(1, 17, 64)
    found = from_torch(layer, x)
    counts = check(found, "t64")
    assert (counts["attention"], counts["layer_norm"]) == (1, 2)
    assert {name.partition("[")[0] for name in found.parameters} == set(layer.state_dict())
    half = from_torch(layer, x, precision="f16")
    assert least_cosine(run(half, "t64")["out0"], half.expected["out0"]) > 0.9999


@needs_torch
def test_layers_one_after_the_other_are_a_repeat() -> None:
    import torch

    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    found = from_torch(
        torch.nn.TransformerEncoder(layer, 3, enable_nested_tensor=False).eval(), torch.randn(1, 5, 16)
    )
    counts = check(found)
    assert (counts["repeat"], counts["attention"], counts["layer_norm"]) == (1, 1, 2)


@pytest.mark.slow
@needs_torch
def test_a_llama_of_two_layers() -> None:
    import torch
    import torch_llama

    torch.manual_seed(2)
    model = torch_llama.Llama(words=50, width=128, layers=2, heads=8, shared=2, rows=16).eval()
    found = from_torch(model, torch.randint(0, 50, (1, 12)))
    counts = check(found, "t64")
    assert {name: counts[name] for name in ("repeat", "attention", "rms_norm", "silu")} == {
        "repeat": 1,
        "attention": 1,
        "rms_norm": 3,
        "silu": 1,
    }
    assert {name for name in found.parameters if "angles" not in name and "constant" not in name} == set(
        model.state_dict()
    )


@pytest.mark.slow
@needs_torch
def test_a_llama_decodes_as_torch_does() -> None:
    """A step takes a token and caches and gives the next ones; eight of them, tokens as torch's."""
    import torch_llama

    model, steps, (token, at, _, caches) = torch_llama.decoder()
    found = from_torch(steps.decoder, (token, at, caches))
    program = tilewright.compile(found.module, machine="t16")
    inputs, tokens = dict(found.inputs), []
    names = list(found.inputs)
    for place in range(8):
        inputs[names[1]] = np.array([place], np.int32)
        outputs = tilewright.run(program, inputs, found.parameters).outputs
        inputs |= {name: outputs[f"out{i}"] for i, name in enumerate([names[0], *names[2:]])}
        tokens.append(int(outputs["out0"][0]))
    assert tokens == torch_llama.without_caches(model, 7)


@pytest.mark.slow
def test_a_llama_decodes_eight_tokens_in_one_program() -> None:
    """What torch exported once: the steps are a repeat that carries the caches, tokens are torch's."""
    path = random_torch.EXPORTED / "llama_decoder.mlir"
    found = from_stablehlo(path.read_text("utf-8"), sample=read_sample(path.with_suffix(".safetensors")))
    (repeat,) = (op for op in found.function.walk() if op.name == "tile_repeat.repeat")
    carried = [value.type.get_shape() for value in repeat.results]  # type: ignore[union-attr]
    assert carried.count((1, 2, 12, 4)) == 4
    outputs = run(found, "t16")
    assert outputs["out0"].tolist() == [25, 24, 7, 25, 24, 7, 25, 24]
    for name in ("out1", "out2", "out3", "out4"):  # the caches behind
        assert np.abs(outputs[name] - found.expected[name]).max() < 1e-5


# -- what a module is made of


@needs_torch
def test_names_of_inputs_outputs_and_tied_weights() -> None:
    import torch

    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = torch.nn.Embedding(11, 8)
            self.head = torch.nn.Linear(8, 11, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, tokens: Any, *, scale: Any) -> dict[str, Any]:
            hidden = self.embed(tokens) * scale
            return {"hidden": hidden, "logits": self.head(hidden), "best": self.head(hidden).argmax(-1)}

    tokens, scale = torch.tensor([[3, 0, 7]]), torch.tensor(2.0)
    found = from_torch(Tied(), (tokens,), {"scale": scale})
    assert list(found.parameters) == ["embed.weight"]
    assert list(found.inputs) == ["tokens", "scale"] and list(found.expected) == ["hidden", "logits", "best"]
    check(found)


@needs_torch
def test_an_exported_program_has_its_own_inputs(tmp_path: Path) -> None:
    import torch

    module = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Tanh())
    program = torch.export.export(module, (torch.randn(3, 6),))
    found = from_torch(program)
    assert list(found.parameters) == ["0.weight", "0.bias"]
    check(found)
    torch.export.save(program, tmp_path / "model.pt2")
    again = from_torch(tmp_path / "model.pt2")
    assert str(again.module) == str(found.module)
    assert np.array_equal(again.expected["out0"], found.expected["out0"])
    x = np.ones((3, 6), np.float32)
    other = from_torch(tmp_path / "model.pt2", sample={"input": x})
    assert np.array_equal(other.inputs["input"], x)
    assert np.abs(other.expected["out0"] - module(torch.from_numpy(x)).detach().numpy()).max() < 1e-6


def _modules(name: str) -> tuple[Any, tuple[Any, ...]]:
    """Modules with what the random ones do not have."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    threefold = tuple(torch.randn(1, 4, 8) for _ in range(3))
    image, small = torch.randn(1, 3, 8, 8), torch.randn(3, 4)
    cases: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "image": (
            nn.Sequential(
                nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5),
            ),
            (image,),
        ),
        "transposed": (nn.ConvTranspose2d(3, 2, 3, stride=2, padding=1, output_padding=1), (image,)),
        "patches": (nn.Conv2d(3, 8, 4, stride=4), (image,)),
        "pooling": (
            call(lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False) + F.avg_pool2d(x, 2)), (image,)
        ),
        "larger": (nn.Upsample(scale_factor=2), (image,)),
        "attention": (nn.MultiheadAttention(8, 2, batch_first=True), threefold),
        "integers": (
            call(lambda n: (n // 3 + n % 4, torch.div(n, -3, rounding_mode="trunc"), (n > 2) & (n < 5))),
            (torch.arange(-6, 6),),
        ),
        "places": (
            call(lambda x, n: (x.gather(1, n), x[n[:, 0], n[:, 1]], F.one_hot(n, 4), x[:, -1], x[2])),
            (small, torch.tensor([[1, 0], [2, 1], [2, 3]])),
        ),
        "negative places": (call(lambda x, n: x[n]), (small, torch.tensor([-1, 0, -2]))),
        "losses": (
            call(lambda x: (F.log_softmax(x, -1), x.logsumexp(0), x.norm(dim=1), x.var(), x.std(0))),
            (small,),
        ),
        "roots": (call(lambda x: (x.abs() ** 0.5, (x**2 + 1) ** -0.5, x**3, x**4, 2.0**x)), (small,)),
        "written to": (call(lambda x: torch.slice_scatter(x, x[:1] * 0, 0, 1, 2).repeat(2, 1)), (small,)),
        "a cache": (
            call(lambda x, row, at: x.index_copy(0, at, row)), (small, torch.ones(1, 4), torch.tensor([1])),
        ),
        "moved": (call(lambda x: (x.unfold(1, 3, 1), torch.diagonal(x @ x.T))), (small,)),
        "interpolated": (
            call(
                lambda x: (
                    F.interpolate(x, size=(6, 11), mode="bicubic"),
                    F.interpolate(x, scale_factor=1.5, mode="bilinear"),
                    F.adaptive_avg_pool2d(x, 3),
                )
            ),
            (image,),
        ),
        "rows hidden whole": (
            call(lambda q, seen: F.scaled_dot_product_attention(q, q, q, seen)),
            (torch.randn(1, 2, 4, 4), torch.tensor([[1, 0, 1, 1], [0, 1, 1, 0], [0] * 4, [1] * 4]) > 0),
        ),
        "truth": (call(lambda x: (torch.isnan(x / 0), x.isinf(), (x > 0).any(1), ~(x > 0))), (small,)),
    }  # fmt: skip
    return cases[name]


CASES = (
    "image", "transposed", "patches", "pooling", "larger", "attention", "integers", "places",
    "negative places", "losses", "roots", "written to", "a cache", "rows hidden whole", "truth", "moved",
    "interpolated",
)  # fmt: skip


@pytest.mark.slow
@needs_torch
@pytest.mark.parametrize("name", CASES)
def test_modules(name: str) -> None:
    import torch

    torch.manual_seed(1)
    module, arguments = _modules(name)
    check(from_torch(module.eval(), arguments))


# -- masks of attention


@needs_torch
def test_a_causal_mask_is_a_flag() -> None:
    import torch
    from torch.nn import functional as F

    hidden = torch.nn.Transformer.generate_square_subsequent_mask(6)
    attend = call(lambda q, k: F.scaled_dot_product_attention(q, k, k, hidden, enable_gqa=True))
    found = from_torch(attend, (torch.randn(1, 4, 6, 8), torch.randn(1, 2, 6, 8)))
    assert check(found)["attention"] == 1
    (op,) = (op for op in found.module.walk() if op.name == "tile_tensor.attention")
    assert op.causal is not None and op.mask is None  # pyright: ignore[reportAttributeAccessIssue]


# -- near misses: what is almost a pattern is computed as it is written


def _misses(name: str) -> Any:
    import torch

    def softmax(x: Any, y: Any) -> Any:
        e = torch.exp(x - y.amax(-1, keepdim=True))
        return e / e.sum(-1, keepdim=True)

    cases = {
        "layer norm over n - 1": lambda x, y: (
            (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + 1e-5)
        ),
        "softmax with the maximum of another": softmax,
        "gelu with a wrong constant": lambda x, y: 0.5 * x * (1 + torch.erf(x * 0.7)),
        "gelu of tanh with a wrong constant": lambda x, y: (
            0.5 * x * (1 + torch.tanh(0.8 * (x + 0.044715 * x**3)))
        ),
        "rms norm of another": lambda x, y: x * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-5),
    }
    return call(cases[name])


@needs_torch
@pytest.mark.parametrize(
    "name",
    [
        "layer norm over n - 1", "softmax with the maximum of another", "gelu with a wrong constant",
        "gelu of tanh with a wrong constant", "rms norm of another",
    ],
)  # fmt: skip
def test_near_misses_are_not_raised(name: str) -> None:
    import torch

    found = from_torch(_misses(name), (torch.randn(6, 16), torch.randn(6, 16)))
    counts = check(found)
    assert not found.raised and not {"softmax", "layer_norm", "rms_norm", "gelu"} & set(counts)


@needs_torch
def test_a_scale_that_is_a_tensor_makes_no_attention() -> None:
    import torch

    attend = call(lambda q, k, v, s: torch.softmax(q @ k.T * s, -1) @ v)
    found = from_torch(attend, (*(torch.randn(9, 8) for _ in range(3)), torch.tensor(0.3)))
    counts = check(found)
    assert counts["softmax"] == 1 and not counts["attention"]


# -- what is refused


@needs_torch
def test_arguments_that_are_one_tensor() -> None:
    import torch

    x = torch.randn(1, 2, 3, 4)
    attend = call(torch.nn.functional.scaled_dot_product_attention)
    with pytest.raises(TileError, match=r"the sample inputs 0 and 1 are one tensor"):
        from_torch(attend, (x, x, torch.randn(1, 2, 3, 4)))


@needs_torch
def test_extents_that_are_not_known() -> None:
    import torch

    module = torch.nn.Linear(4, 4)
    shapes = ({0: torch.export.Dim("batch", min=1, max=64)},)
    program = torch.export.export(module, (torch.randn(3, 4),), dynamic_shapes=shapes)
    with pytest.raises(TileError, match=r"axis 0 of the input 'input' has no extent: s\d+"):
        from_torch(program)


@needs_torch
def test_changes_in_place() -> None:
    import torch

    with pytest.raises(TileError, match="the module changes its input arguments_0 in place"):
        from_torch(call(lambda x: x.add_(1) * 2), torch.randn(3))
    with pytest.raises(TileError, match=r"the module changes its buffers .*running_mean"):
        from_torch(torch.nn.BatchNorm1d(3).train(), torch.randn(4, 3))
    # a copy that is changed is a value like any other
    check(from_torch(call(lambda x: x.clone().add_(1) * 2), torch.randn(3)))


@needs_torch
def test_all_that_is_missing_in_one_error() -> None:
    import torch

    def model(x: Any) -> Any:
        return (
            torch.linalg.cholesky_ex(x)[0]
            + torch.fft.fft(torch.linalg.cholesky_ex(x * 2)[0]).real
            + torch.rand(3, 3)
        )

    with pytest.raises(TileError) as caught:
        from_torch(call(model), torch.eye(3))
    message = "\n".join((str(caught.value), *caught.value.notes))
    assert "operations have no meaning on tiles" in message
    assert "aten.linalg_cholesky_ex.default, 2 times, first at " in message and "torch_modules.py:" in message
    assert "aten._fft_r2c.default, once" in message
    assert "aten.rand.default, once" in message and "random numbers have no meaning here" in message
    with pytest.raises(TileError) as caught:
        from_torch(call(lambda x: torch.round(x, decimals=1)), torch.randn(3))
    assert "got an unexpected keyword argument 'decimals'" in "\n".join(caught.value.notes)
    with pytest.raises(TileError) as caught:
        from_torch(call(lambda x: x[x > 0].tanh().reshape(-1, 1)), torch.randn(3))
    assert "a mask that depends on an input leaves a number of rows" in "\n".join(caught.value.notes)
    kept = torch.tensor([True, False, True])
    assert check(from_torch(call(lambda x: x[kept]), torch.randn(3, 4)))["gather"] == 1
    with pytest.raises(TileError, match="random numbers have no meaning here: export the module in eval"):
        from_torch(
            torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5)).train(), torch.randn(2, 3)
        )


@pytest.mark.slow
@needs_torch
def test_models_are_imported_by_the_tool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    from tilewright.tools import tile_import, tile_run

    (tmp_path / "models.py").write_text(
        "import torch\ndef sample():\n    return torch.nn.Linear(6, 4), torch.ones(3, 6)\n"
    )
    program = torch.export.export(torch.nn.Sequential(torch.nn.Linear(6, 4)), (torch.ones(3, 6),))
    torch.export.save(program, tmp_path / "model.pt2")
    np.savez(tmp_path / "inputs.npz", input=np.full((3, 6), 2, np.float32))
    for words in (
        [f"{tmp_path}/models.py:sample"],
        [f"{tmp_path}/model.pt2", "--sample", f"{tmp_path}/inputs.npz"],
    ):
        assert tile_import.main([*words, "-o", str(tmp_path / "out")]) == 0
        assert "2 operations (nothing raised), 2 parameters" in capsys.readouterr().out
        assert tile_run.main([str(tmp_path / "out"), "--machine", "t4"]) == 0
    assert read_sample(tmp_path / "out" / "inputs.safetensors")["input"].min() == 2


def test_objects_that_are_no_models(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text("number = 3\ndef broken(): return 1 / 0\n")
    with pytest.raises(TileError, match=r"models\.py:number' gives no model, but int"):
        from_object(f"{tmp_path}/models.py:number")
    with pytest.raises(TileError, match=r"models\.py:broken' cannot be had: ZeroDivisionError"):
        from_object(f"{tmp_path}/models.py:broken")
    with pytest.raises(TileError, match=r"'no\.such:model' cannot be had: ModuleNotFoundError"):
        from_object("no.such:model")


@needs_torch
def test_what_torch_cannot_do_is_said(tmp_path: Path) -> None:
    import torch

    with pytest.raises(TileError, match="torch cannot export the module"):
        from_torch(call(lambda x: x if x[0] > 0 else -x), torch.randn(3))
    with pytest.raises(
        TileError, match=r"from_torch takes a torch\.nn\.Module or an ExportedProgram, found int"
    ):
        from_torch(3, torch.randn(3))
    program = torch.export.export(torch.nn.ReLU(), (torch.randn(3),))
    program.example_inputs = None
    with pytest.raises(TileError, match="the exported program has no sample inputs"):
        from_torch(program)
    (tmp_path / "model.pt2").write_bytes(b"nothing")
    with pytest.raises(TileError, match="torch cannot read '"):
        from_torch(tmp_path / "model.pt2")
    with pytest.raises(TileError, match="the machine has no f64: export the module in float32"):
        from_torch(torch.nn.GELU(), torch.randn(3, dtype=torch.float64))


def test_without_torch_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(TileError, match="there is no torch in this environment"):
        from_torch(None, np.zeros(3))
