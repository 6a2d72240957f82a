# SPDX-License-Identifier: Apache-2.0
"""
The recipe of the ONNX files in `tests/data/exported/onnx_*`, as torch's exporters write them:
`python tests/frontends/exported_onnx.py` (needs torch, transformers and onnxscript). The values beside them
are torch's own.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
EXPORTED = ROOT / "tests" / "data" / "exported"

MODELS = ("llama_18", "llama_23", "encoder_14", "vit_18", "bert_20", "convolutions_23")
"""A model and the opset it is exported in; its number is its place."""


def llama(width: int = 32, hidden: int = 48, words: int = 24) -> Any:
    """Llama of transformers: two layers, eight heads of queries and two of keys, random weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=words,
        hidden_size=width,
        intermediate_size=hidden,
        num_hidden_layers=2,
        num_attention_heads=8,
        num_key_value_heads=2,
        max_position_embeddings=32,
        use_cache=False,
    )
    return _named(_distinct(LlamaForCausalLM(config)), "input_ids", "logits", use_cache=False)


def _named(model: Any, argument: str, result: str, **options: Any) -> Any:
    """A module of one input and one output of a model that has many."""
    from torch import nn

    class One(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, x: Any) -> Any:
            return self.model(**{argument: x}, **options)[result]

    return One().eval()


def _distinct(model: Any) -> Any:
    """Without equal weights, which exporters merge: layers are copies of one, norms are ones."""
    import torch

    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model.eval()


def _model(name: str) -> tuple[Any, Any]:
    """A module and its sample input."""
    import torch
    from torch import nn

    torch.manual_seed(1)
    if name.startswith("llama"):
        return llama(), torch.randint(0, 24, (1, 9))
    if name.startswith("encoder"):
        torch.backends.mha.set_fastpath_enabled(False)
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, activation="gelu", norm_first=True)
        return _distinct(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)), torch.randn(1, 11, 32)
    if name.startswith("vit"):
        from transformers import ViTConfig, ViTModel

        sizes: dict[str, Any] = dict(hidden_size=32, intermediate_size=64, image_size=12, patch_size=4)
        config = ViTConfig(num_hidden_layers=2, num_attention_heads=4, **sizes)
        model = _distinct(ViTModel(config, add_pooling_layer=False))
        return _named(model, "pixel_values", "last_hidden_state"), torch.randn(1, 3, 12, 12)
    if name.startswith("bert"):
        from transformers import BertConfig, BertModel

        sizes = dict(hidden_size=32, intermediate_size=64, vocab_size=24, max_position_embeddings=16)
        config = BertConfig(num_hidden_layers=2, num_attention_heads=4, **sizes)
        model = _distinct(BertModel(config, add_pooling_layer=False))
        return _named(model, "input_ids", "last_hidden_state"), torch.randint(0, 24, (2, 7))
    return (
        nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.SiLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Hardswish(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
            nn.Linear(8, 5), nn.Softmax(-1),
        ).eval(),
        torch.randn(1, 3, 12, 12),
    )  # fmt: skip


def write_onnx(module: Any, x: Any, path: Path, opset: int) -> None:
    """Export a module; opsets below 18 by the exporter that traces."""
    import torch

    names: dict[str, Any] = {"input_names": ["x"], "output_names": ["y"]}
    if opset >= 18:
        names["external_data"] = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, (x,), str(path), dynamo=opset >= 18, opset_version=opset, **names)
    _strip(path)


def _strip(path: Path) -> None:
    """Without what the exporter knows of its own source: no values depend on it."""
    import onnx

    model = onnx.load(str(path))
    for entry in (model, model.graph, *model.graph.node, *model.graph.value_info):
        entry.ClearField("metadata_props")
        entry.ClearField("doc_string")
    onnx.save(model, str(path))


def export(chosen: Callable[[str], bool] = lambda name: True) -> int:
    """Write the chosen models: the file, and its input and torch's output."""
    import numpy as np
    import torch

    for number, name in enumerate(MODELS):
        if not chosen(name):
            continue
        module, x = _model(name)
        path = EXPORTED / f"onnx_{number:02}.onnx"
        write_onnx(module, x, path, int(name.rpartition("_")[2]))
        with torch.no_grad():
            y = module(x)
        np.savez(path.with_suffix(".npz"), x=x.numpy(), y=y.numpy())
        print(name, path.stat().st_size)
    return 0


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(export(lambda name: not words or name in words))
