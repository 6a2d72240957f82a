# SPDX-License-Identifier: Apache-2.0
"""The pages that say how to bring a model are run as they stand."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from tilewright.tools import tile_run

PAGES = Path(__file__).parents[2] / "docs" / "frontends"


def code(page: str) -> str:
    """The blocks of Python of a page, one after the other."""
    return "\n".join(re.findall(r"```python\n(.*?)```", (PAGES / page).read_text("utf-8"), re.S))


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
def test_the_page_for_jax(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code("jax.md"), "jax.md", "exec"), {"__name__": "page"})
    assert (tmp_path / "model.mlir").stat().st_size > 1000
    assert tile_run.main(["model", "--machine", "t16"]) == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # torch's own
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_the_page_for_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code("torch.md"), "torch.md", "exec"), {"__name__": "page"})
    assert (tmp_path / "model.pt2").stat().st_size > 1000
    assert tile_run.main(["model", "--machine", "t16"]) == 0


@pytest.mark.skipif(importlib.util.find_spec("onnx") is None, reason="onnx is not installed")
def test_the_page_for_onnx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code("onnx.md"), "onnx.md", "exec"), {"__name__": "page"})
    assert tile_run.main(["model", "--machine", "t16"]) == 0
