# SPDX-License-Identifier: Apache-2.0
"""Kernels: what the machine can run, what each demands of its operands, and what it costs."""

from tilewright.machine.kernels.registry import (
    Digit,
    Kernel,
    OperandRule,
    UnknownKernel,
    kernel,
    kernel_names,
)

__all__ = [
    "Digit",
    "Kernel",
    "OperandRule",
    "UnknownKernel",
    "kernel",
    "kernel_names",
]
