# SPDX-License-Identifier: Apache-2.0
"""
Records for `tile-run --cases` from the interpreter tests of a checkout of StableHLO, which are not in this
repository: `python tests/frontends/interpreter_cases.py CHECKOUT OUT.jsonl` (then `tile-run --cases
OUT.jsonl`).

Constants with axes become inputs, what is checked becomes results. Only element types of the machine are
taken.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from tilewright.dialects.hlo import source_text
from tilewright.dialects.hlo.values import array_of
from tilewright.dialects.tensor.base import ELEMENT_TYPES

CHECKS = {
    "check.expect_eq_const": ("eq", 0.0),
    "check.expect_almost_eq_const": ("almost_eq", 1e-3),
    "check.expect_eq": ("eq", 0.0),
    "check.expect_almost_eq": ("almost_eq", 1e-3),
}


def record_of(text: str, name: str) -> dict[str, Any] | None:
    """The record of one test; None where it has other types or checks."""
    module = source_text.parse_stablehlo(text, name)
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    if len(functions) != 1:
        return None
    (function,) = functions
    if function.args or any(str(t) not in ELEMENT_TYPES for t in _elements(function)):
        return None
    block, inputs, checks, results = function.body.block, [], [], []
    for op in list(block.ops):
        if op.name in CHECKS:
            value = op.attributes.get("value")
            if value is None and len(op.operands) == 2:
                made = op.operands[1].owner
                value = made.attributes.get("value") if isinstance(made, Operation) else None
            if not isinstance(value, DenseIntOrFPElementsAttr):
                return None
            kind, tolerance = CHECKS[op.name]
            checks.append(
                {
                    "kind": kind,
                    "result": len(results),
                    "tolerance": tolerance,
                    "expected": _tensor(array_of(value), value),
                }
            )
            results.append(op.operands[0])
        elif op.name.startswith("check."):
            return None
    if not results:
        return None
    for op in list(block.ops):
        if op.name in CHECKS:
            op.detach()
            op.erase()
    for op in list(block.ops):
        value = op.attributes.get("value")
        if (
            op.name == "stablehlo.constant"
            and isinstance(value, DenseIntOrFPElementsAttr)
            and value.get_shape()
        ):
            argument = block.insert_arg(op.results[0].type, len(block.args))
            inputs.append(_tensor(array_of(value), value))
            op.results[0].replace_all_uses_with(argument)
            results = [argument if r is op.results[0] else r for r in results]
            op.detach()
            op.erase()
    end = block.last_op
    assert end is not None
    end.detach()
    end.erase()
    block.add_op(ReturnOp(*results))
    function.function_type = FunctionType.from_lists([a.type for a in block.args], [r.type for r in results])
    function.sym_name = type(function.sym_name)("main")
    return {
        "id": f"{name}:{functions[0].sym_name.data}",
        "generic": str(module),
        "inputs": inputs,
        "checks": checks,
    }


def _elements(function: FuncOp) -> list[Any]:
    types = [v.type for op in function.walk() for v in (*op.results, *op.operands)]
    return [t.element_type if isinstance(t, TensorType) else t for t in types]


def _tensor(array: np.ndarray, attribute: DenseIntOrFPElementsAttr) -> dict[str, Any]:
    whole = np.ascontiguousarray(array)
    return {
        "shape": list(array.shape),
        "dtype": str(attribute.get_element_type()),
        "hex": whole.tobytes().hex(),
    }


def main(checkout: Path, out: Path) -> None:
    records: list[dict[str, Any]] = []
    skipped = 0
    for path in sorted((checkout / "stablehlo" / "tests" / "interpret").glob("*.mlir")):
        for number, text in enumerate(path.read_text("utf-8").split("// -----")):
            try:
                record = record_of(text, f"{path.stem}.{number}")
            except Exception as error:  # types and forms that this reader does not know
                print(f"{path.stem}.{number}: {type(error).__name__}", file=sys.stderr)
                record = None
            skipped += record is None
            if record is not None:
                records.append(record)
    out.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    print(f"{len(records)} records, {skipped} of other types or forms")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))


__all__ = ["ModuleOp", "main", "record_of"]
