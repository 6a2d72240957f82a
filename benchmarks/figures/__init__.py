# SPDX-License-Identifier: Apache-2.0
"""Figures in documents, made and checked by a command: `python benchmarks/figures --list`."""
