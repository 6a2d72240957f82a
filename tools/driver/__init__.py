# SPDX-License-Identifier: Apache-2.0
"""Shared by the command-line tools: reading, pipelines, verification, diagnostics, exit status."""

from tilewright.tools.driver.main import load_module, make_context, run_tool

__all__ = ["load_module", "make_context", "run_tool"]
