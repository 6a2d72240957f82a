# SPDX-License-Identifier: Apache-2.0
"""What a model of ONNX gives, by onnx's own reference evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tilewright.frontends.middle import ModelError

Array = np.ndarray


def evaluate(model: Any, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs of a `ModelProto` by name. Raises `ModelError` where the evaluator gives none."""
    from onnx.reference import ReferenceEvaluator  # pyright: ignore[reportMissingImports]

    try:
        with np.errstate(all="ignore"):
            found = ReferenceEvaluator(model).run(None, dict(inputs))
    except Exception as error:  # the evaluator raises whatever its operators do
        raise ModelError(
            f"onnx's evaluator cannot run the model: {str(error).splitlines()[0]}",
            hint="give inputs and expected outputs by --sample",
        ) from error
    return {output.name: np.asarray(value) for output, value in zip(model.graph.output, found, strict=True)}
