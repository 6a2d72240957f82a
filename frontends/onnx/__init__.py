# SPDX-License-Identifier: Apache-2.0
"""
Models in files of ONNX, opset 14 to 23 (`pip install tilewright[onnx]`).

`graph` loads a file and binds its symbols, `reader` goes through its nodes: what depends on no input is
folded by onnx's own reference operators, everything else is written in the middle form by the rules in
`elements`, `movement`, `axes`, `products`, `norms` and `loops`. `evaluator` gives the expected values.
"""
