# SPDX-License-Identifier: Apache-2.0
"""
Resize, one axis after the other: onnx's reference operator says what it makes of the unit vectors of an axis,
and that matrix is applied to everything along it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.frontends.onnx.node import Array, Unsupported

if TYPE_CHECKING:
    from tilewright.frontends.onnx.reader import Reader

_BY_AXIS = ("linear", "cubic", "nearest")


def matrices(
    reader: Reader, proto: Any, shape: Sequence[int], arrays: Sequence[Array | None]
) -> dict[int, Array]:
    """
    By axis the matrix (after, before) that a Resize applies. `arrays` are the inputs behind the operand (roi,
    scales, sizes). Raises `Unsupported` for what does not go axis by axis.
    """
    import onnx  # pyright: ignore[reportMissingImports]
    from onnx.reference.ops import load_op  # pyright: ignore[reportMissingImports]

    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in proto.attribute}
    words = {k: v.decode() for k, v in attributes.items() if isinstance(v, bytes)}
    policy = words.get("keep_aspect_ratio_policy", "stretch")
    if words.get("coordinate_transformation_mode") == "tf_crop_and_resize" or policy != "stretch":
        raise Unsupported("it crops, or keeps the ratio of the sides")
    axes = [int(a) % len(shape) for a in attributes.get("axes", range(len(shape)))]
    scales, sizes = (arrays[i] if len(arrays) > i and arrays[i] is not None else None for i in (1, 2))
    found: dict[int, Array] = {}
    for place, axis in enumerate(axes):
        n = shape[axis]
        one = type(proto)()
        one.CopyFrom(proto)
        kept = [a for a in proto.attribute if a.name != "axes"]
        del one.attribute[:]
        one.attribute.extend(kept)
        given: list[Array | None] = [np.eye(n, dtype=np.float32), None, None, None]
        if scales is not None and scales.size:
            given[2] = np.array([1.0, scales.reshape(-1)[place]], np.float32)
        elif sizes is not None:
            given[3] = np.array([n, int(sizes.reshape(-1)[place])], np.int64)
        matrix = np.asarray(reader.run(one, given, load_op)[0]).T
        if matrix.shape[0] != n or not np.array_equal(matrix, np.eye(n)):
            found[axis] = matrix
    return found


def resized(reader: Reader, proto: Any, arrays: Sequence[Array | None]) -> Array:
    """The result of a Resize whose operand is known, in f64 with one rounding at the end."""
    x = arrays[0]
    assert x is not None
    wide = x.astype(np.float64)
    for axis, matrix in matrices(reader, proto, x.shape, arrays[1:]).items():
        wide = np.moveaxis(np.tensordot(matrix.astype(np.float64), wide, (1, axis)), 0, axis)
    return wide.astype(x.dtype)
