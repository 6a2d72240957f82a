# SPDX-License-Identifier: Apache-2.0
"""Kernels: what the machine can run, what each demands of its operands, and what it costs."""

from tilewright.machine.kernels import entries
from tilewright.machine.kernels.operands import Digit, OperandRule
from tilewright.machine.kernels.registry import (
    Kernel,
    UnknownKernel,
    kernel,
    kernel_names,
    register,
    unregister,
)

__all__ = [
    "Digit",
    "Kernel",
    "OperandRule",
    "UnknownKernel",
    "entries",
    "kernel",
    "kernel_names",
    "register",
    "unregister",
]
