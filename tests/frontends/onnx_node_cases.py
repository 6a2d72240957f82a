# SPDX-License-Identifier: Apache-2.0
"""
ONNX's own node tests against the compiler: `python tests/frontends/onnx_node_cases.py [WORD]`.

The cases are made by the installed package `onnx`; WORD chooses those whose names hold it. Every case is
read, compiled and executed on the machine model; it is `right`, `unsupported` (one clear error) or `wrong`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import tilewright
from tilewright.diagnostics import TileError
from tilewright.dialects.hlo.values import element_of_dtype
from tilewright.dialects.tensor.base import ELEMENT_TYPES
from tilewright.frontends import from_onnx
from tilewright.frontends.onnx.reader import RULES

OPSETS = range(14, 24)
MOST = 1 << 16
"""Elements of an input; larger cases say nothing more and take long."""


def cases() -> Iterator[Any]:
    """The node tests of operators in opsets 14 to 23 and of newer ones whose form is the same."""
    from onnx.backend.test.case import node  # pyright: ignore[reportMissingImports]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from node.collect_testcases(None)


def is_ours(case: Any) -> bool:
    """Whether a case has known operators, tensors in the machine's element types (or i64), and is small."""
    for inputs, outputs in case.data_sets:
        for array in (*inputs, *outputs):
            if not isinstance(array, np.ndarray) or array.size > MOST or not array.size:
                return False
            try:
                name = str(element_of_dtype(array.dtype))
            except TileError:
                return False
            if name not in ELEMENT_TYPES and name != "i64":
                return False
    return all(_is_known(node) for node in case.model.graph.node)


def _is_known(node: Any) -> bool:
    """Whether a node is of a known operator, in a form that the last of our opsets has."""
    from onnx import defs  # pyright: ignore[reportMissingImports]

    if node.op_type not in RULES or node.domain not in ("", "ai.onnx"):
        return False
    try:
        schema = defs.get_schema(node.op_type, max(OPSETS), "")
    except defs.SchemaError:  # newer than our opsets
        return False
    return len(node.input) <= schema.max_input and all(a.name in schema.attributes for a in node.attribute)


def verdict(case: Any, machine: str) -> tuple[str, str]:
    """(`right`, `unsupported` or `wrong`, why)."""
    inputs, outputs = case.data_sets[0]
    names = [entry.name for entry in case.model.graph.input]
    expected = dict(zip([o.name for o in case.model.graph.output], outputs, strict=False))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(_with_known(case).SerializeToString())
        try:
            sample = {**dict(zip(names, inputs, strict=False)), **expected}
            found = from_onnx(path, sample=sample)
            program = tilewright.compile(found.module, machine=machine)
            result = tilewright.run(program, found.inputs, found.parameters)
        except TileError as error:
            return "unsupported", "; ".join([error.message, *error.notes[:2]])
    for name, wanted in expected.items():
        got = np.asarray(result.outputs[name])
        wide = wanted.astype(np.float64) if wanted.dtype.kind not in "iub" else wanted.astype(np.int64)
        have = got.astype(wide.dtype)
        rough = wanted.dtype.itemsize < 4 and wanted.dtype.kind not in "iub"
        tolerance = max(case.rtol, 1e-2 if rough else 1e-4)
        if have.shape != wide.shape:
            return "wrong", f"shape {have.shape}, not {wide.shape}"
        if not np.allclose(have, wide, rtol=tolerance, atol=max(case.atol, tolerance), equal_nan=True):
            with np.errstate(all="ignore"):
                return "wrong", f"{name} is off by {np.nanmax(np.abs(have - wide)):.3g}"
    return "right", ""


def _with_known(case: Any) -> Any:
    """The model with inputs that say a shape, axes or a count as initializers, as exporters write."""
    from onnx import numpy_helper  # pyright: ignore[reportMissingImports]

    model = type(case.model)()
    model.CopyFrom(case.model)
    for entry in model.opset_import:  # the operators are the same in these opsets: see `is_ours`
        if entry.domain in ("", "ai.onnx"):
            entry.version = min(max(entry.version, min(OPSETS)), max(OPSETS))
    for entry, array in zip(case.model.graph.input, case.data_sets[0][0], strict=False):
        node = next((n for n in model.graph.node if entry.name in n.input), None)
        if node is None:
            continue
        place = list(node.input).index(entry.name)
        if place in STATIC.get(node.op_type, ()):
            model.graph.initializer.append(numpy_helper.from_array(array, entry.name))
    return model


UNSUPPORTED = {
    "it trains": ("test_batchnorm_example_training_mode", "test_batchnorm_epsilon_training_mode"),
    "it gathers in batches": ("test_gathernd_example_int32_batch_dim1",),
    "its body has no meaning": ("test_loop11",),
    "the places of the maxima": (
        "test_maxpool_with_argmax_2d_precomputed_pads",
        "test_maxpool_with_argmax_2d_precomputed_strides",
    ),
    "the remainder of floats with fmod = 0": (
        "test_mod_float32_mixed_sign_fmod_0",
        "test_mod_float16_mixed_sign_fmod_0",
        "test_mod_float_edge_cases_fmod_0_float16",
        "test_mod_float_edge_cases_fmod_0_float32",
    ),
    "its count depends on an input": ("test_range_bfloat16_type_positive_delta_expanded",),
}
"""Cases that are refused, by a part of the reason that is given."""

STATIC = {
    "Reshape": (1,),
    "Squeeze": (1,),
    "Unsqueeze": (1,),
    "Expand": (1,),
    "Tile": (1,),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Pad": (1, 3),
    "Trilu": (1,),
    "OneHot": (1,),
    "TopK": (1,),
    "CumSum": (1,),
    "Resize": (1, 2, 3),
    "Range": (0, 1, 2),
    "ConstantOfShape": (0,),
    "Dropout": (1, 2),
    "If": (0,),
    "Loop": (0, 1),
    "ReduceSum": (1,),
    **{
        f"Reduce{k}": (1,)
        for k in ("Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp")
    },
}
"""Inputs that say a shape, axes or a count."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("--machine", default="t16")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found: dict[str, tuple[str, str]] = {}
    for case in cases():
        if options.word not in case.name or not is_ours(case):
            continue
        try:
            found[case.name] = verdict(case, options.machine)
        except Exception as error:
            found[case.name] = ("wrong", f"{type(error).__name__}: {error}")
        if found[case.name][0] != "right":
            print(case.name, *found[case.name], flush=True)
    counts = Counter(word for word, _ in found.values())
    print(dict(counts))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
