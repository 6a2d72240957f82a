# SPDX-License-Identifier: Apache-2.0
"""
Imported by every interpreter that has this folder on PYTHONPATH: the pass that TILE_NO_OP_PASS names does
nothing.

The module of the pass is imported as always; then its class gets an `apply` that leaves the IR as it is. So
the product needs no switch for it, and whoever calls the pass (a pipeline, another pass, a tool) gets the
no-op.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType


class NoOpPass(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finder of one module: the one that everybody else finds, changed after it ran."""

    def __init__(self, name: str) -> None:
        self.module = "tilewright.passes." + name.replace("-", "_")
        self.cls = "".join(part.capitalize() for part in name.split("-")) + "Pass"
        self.inner: importlib.abc.Loader | None = None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.module:
            return None
        for finder in sys.meta_path:
            if finder is self:
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None and isinstance(spec.loader, importlib.abc.Loader):
                self.inner, spec.loader = spec.loader, self
                return spec
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        assert self.inner is not None
        return self.inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert self.inner is not None
        self.inner.exec_module(module)
        getattr(module, self.cls).apply = lambda self, ctx, op: None


if name := os.environ.get("TILE_NO_OP_PASS"):
    sys.meta_path.insert(0, NoOpPass(name))
