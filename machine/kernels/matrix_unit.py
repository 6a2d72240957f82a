# SPDX-License-Identifier: Apache-2.0
"""
The matrix unit: what one pass multiplies, in which types, and how it is fed. Planners, cost formulas, kernel
semantics and error bounds all read these records.

A pass multiplies `inputs` elements of a row of the left operand with as many of `COLUMNS` columns of the
right one, and adds the products to `COLUMNS` running sums of type `partial`. The right operand's panel of a
pass is held in the unit while rows stream by. Sources (keys as in docs/spec/cycles.md): PL ConvVertexType for
inputs, outputs and sums; IS MLP_LAYOUT_SWEEP for cycles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

COLUMNS = 16
"""Output columns of a panel: results lie in blocks of so many columns."""

WEIGHT_MEMORY: Literal["interleaved"] = "interleaved"
"""Where the right operand is loaded from at full rate: 16 bytes a cycle there, 8 elsewhere (PL)."""

RESULT_MEMORY: Literal["interleaved"] = "interleaved"
"""Where results lie: an instruction loads and stores partials at once (PL)."""

WEIGHT_ALIGNMENT = 16
"""Alignment in bytes of the right operand, for loads of 16 bytes."""


@dataclass(frozen=True)
class Product:
    """
    One kind of product that the unit, or a kernel that stands for it, computes.

    operands: element types that are multiplied. inputs: of a pass. partial: type of the running sum. passes:
    passes of the unit for one panel of `COLUMNS` columns. row_cycles: cycles of a streamed row and pass.
    panel_cycles: cycles to change the panel, in which weight_bytes are loaded. alignment: of the result,
    bytes. evidence, source: as in the kernel registry.
    """

    kernel: str
    operands: tuple[str, ...]
    inputs: int
    partial: str
    passes: int
    row_cycles: int
    panel_cycles: int
    weight_bytes: int
    alignment: int
    evidence: str
    source: str

    @property
    def takes(self) -> str:
        """The element types of its operands as a rule names them: codes of 8 bits whatever they stand for."""
        return "f8" if self.operands == _FP8 else "|".join(self.operands)


_SWEEP = "IS MLP_LAYOUT_SWEEP: 294 + panels * (4 * M + 160)"
_FP8 = ("f8E4M3FNUZ", "f8E5M2FNUZ")

PRODUCTS = (
    Product(
        "gemm.f8", _FP8, 32, "f16", 1, 4, 160, 512, 8, "measured", f"{_SWEEP}, a panel is 32 k x 16 n"
    ),
    Product(
        "gemm.f16.f16", ("f16",), 16, "f16", 1, 4, 160, 512, 16, "measured",
        f"{_SWEEP}, a panel is 16 k x 16 n",
    ),
    Product(
        "gemm.f16.f32", ("f16",), 16, "f32", 2, 4, 144, 256, 16, "derived",
        "gemm.f16.f16 with 8 outputs per pass (PL ConvVertexType): 16 cycles less to load its weights",
    ),
    Product(
        "gemm.f32", ("f32",), 8, "f32", 1, 8, 160, 512, 16, "derived",
        "gemm.f16.f16 with 8 inputs per pass, 8 cycles per row (PL)",
    ),
    Product(
        "gemm.bf16", ("bf16",), 16, "f32", 2, 8, 160, 512, 16, "assumed",
        "no bf16 unit is documented: costed as f32 passes",
    ),
    Product(
        "gemm.i8", ("i8",), 32, "i32", 4, 4, 144, 256, 16, "assumed",
        "no integer unit is documented: costed as gemm.f16.f32",
    ),
)  # fmt: skip
"""All kinds, the preferred first where several take the same operands."""


@dataclass(frozen=True)
class MatrixUnit:
    """
    A matrix unit as planners ask for it: columns of a panel, where operands and results lie, the kinds of
    products.
    """

    columns: int
    weight_memory: Literal["interleaved"]
    result_memory: Literal["interleaved"]
    products: tuple[Product, ...]

    def product(self, kernel: str) -> Product:
        """The kind of product that a matrix kernel computes. Raises KeyError for other kernels."""
        for found in self.products:
            if found.kernel == kernel:
                return found
        raise KeyError(kernel)

    def is_product(self, kernel: str) -> bool:
        """Whether a kernel is one of the matrix unit's."""
        return any(product.kernel == kernel for product in self.products)

    def native(self, dtype: str) -> bool:
        """Whether the unit multiplies elements of this type as they are."""
        return any(dtype in product.operands for product in self.products)

    def pass_inputs(self, dtype: str) -> int:
        """
        Inputs of a pass for operands of this type. Raises KeyError for a type that the unit does not take.
        """
        for product in self.products:
            if dtype in product.operands or (dtype.startswith("f8") and product.operands == _FP8):
                return product.inputs  # every 8-bit format is brought to one of the unit's
        raise KeyError(dtype)

    def panel_inputs(self, itemsize: int) -> int:
        """Inputs of a pass of the unit's floats of `itemsize` bytes: the inner extent of a panel."""
        return self.pass_inputs({1: "f8", 2: "f16", 4: "f32"}[itemsize])


UNIT = MatrixUnit(COLUMNS, WEIGHT_MEMORY, RESULT_MEMORY, PRODUCTS)
"""The unit of the family; the functions below are its own, for those who know that there is one family."""

product = UNIT.product
is_product = UNIT.is_product
native = UNIT.native
pass_inputs = UNIT.pass_inputs
panel_inputs = UNIT.panel_inputs
