# SPDX-License-Identifier: Apache-2.0
"""
What a program computes: a plain numpy evaluation of `tile_tensor` and `tile_repeat`, the oracle of tests.

Operations compute in f64 on the values as they are stored, and each result is rounded once to its element
type; what the language itself holds in f32, the statistics of norms, is in f32. Nothing here knows of tiles,
passes of a matrix unit, or accumulation types, and no arithmetic is the machine model's: its results are
compared with these within `tilewright.dialects.bounds` (where they must be equal bit for bit, the machine
model's own oracle follows the plan). With `round_activations=False` only parameters, inputs and constants are
rounded, so that the result is that of arithmetic on the weights as quantised.

`evaluation` runs a program; the modules beside it say, a family of operations each, what an operation means.
"""

from tilewright.dialects.reference.arrays import Array, constant_array
from tilewright.dialects.reference.evaluation import (
    EvaluationError,
    Step,
    Steps,
    Value,
    compute,
    evaluate,
    step_of,
    steps,
)
from tilewright.dialects.reference.names import VALUE_NAME, argument_names, unique_name, value_names

__all__ = [
    "VALUE_NAME",
    "Array",
    "EvaluationError",
    "Step",
    "Steps",
    "Value",
    "argument_names",
    "compute",
    "constant_array",
    "evaluate",
    "step_of",
    "steps",
    "unique_name",
    "value_names",
]
