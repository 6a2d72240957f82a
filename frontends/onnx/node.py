# SPDX-License-Identifier: Apache-2.0
"""A node of a graph as its rule sees it: inputs as values or as numbers, attributes as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.hlo.values import element_of_dtype, element_type
from tilewright.frontends.onnx.emit import Emit, Unsupported, element_of, shape_of

if TYPE_CHECKING:
    from tilewright.frontends.onnx.reader import Reader

Array = np.ndarray


@dataclass(frozen=True)
class Known:
    """
    A value that is known when the model is read: `name` is the initializer that it is, seen through `views`
    ((`reshape`, shape) or (`transpose`, permutation)); `weight` says whether it depends on one.
    """

    array: Array
    name: str | None = None
    views: tuple[tuple[str, tuple[int, ...]], ...] = ()
    weight: bool = False


class Lost:
    """A value that depends on a node without a meaning."""


Value = Known | SSAValue | Lost
Result = Value | Array | Sequence[Value | Array]
Rule = Callable[["Node"], Result]
"""Writes what a node computes: one value, or one for each output. Raises `Unsupported` and `ValueError`."""

ELEMENTS: Mapping[int, str] = {
    1: "f32",
    2: "ui8",
    3: "i8",
    4: "ui16",
    5: "i16",
    6: "i32",
    7: "i64",
    9: "i1",
    10: "f16",
    11: "f64",
    12: "ui32",
    13: "ui64",
    16: "bf16",
    17: "f8E4M3FN",
    18: "f8E4M3FNUZ",
    19: "f8E5M2",
    20: "f8E5M2FNUZ",
}
"""Element types by their numbers in `TensorProto.DataType`."""


def element_named(number: int) -> Attribute:
    """The element type of a number of onnx's. Raises `Unsupported`."""
    if number not in ELEMENTS:
        import onnx  # pyright: ignore[reportMissingImports]

        known = number in onnx.TensorProto.DataType.values()
        raise Unsupported(
            f"there are no elements of {onnx.TensorProto.DataType.Name(number) if known else number}"
        )
    return element_type(ELEMENTS[number])


class Node(Emit):
    """A node: `value(i)`, `known(i)`, `get(name)`, and all that `Emit` writes with."""

    def __init__(self, reader: Reader, proto: Any, inputs: Sequence[Value | None]) -> None:
        super().__init__(reader.build)
        import onnx  # pyright: ignore[reportMissingImports]

        self.reader, self.proto, self.inputs = reader, proto, inputs
        self.kind: str = proto.op_type
        self.outputs: list[str] = list(proto.output)
        self.attributes = {a.name: onnx.helper.get_attribute_value(a) for a in proto.attribute}

    @property
    def opset(self) -> int:
        """The version of the node's domain."""
        return self.reader.opsets.get(self.proto.domain, 1)

    def has(self, i: int) -> bool:
        """Whether an optional input is given."""
        return i < len(self.inputs) and self.inputs[i] is not None

    def wanted(self, i: int) -> bool:
        """Whether anything may read an output."""
        return i < len(self.outputs) and bool(self.outputs[i])

    def value(self, i: int) -> SSAValue:
        """Input i as a value of the program. Raises `ValueError` where it is missing."""
        found = self.inputs[i] if i < len(self.inputs) else None
        if found is None:
            raise ValueError(f"input {i} is missing")
        if isinstance(found, Known):
            return self.reader.materialise(found, self.proto.input[i])
        assert isinstance(found, SSAValue)
        return found

    def values(self) -> list[SSAValue]:
        """All inputs."""
        return [self.value(i) for i in range(len(self.inputs))]

    def known(self, i: int, what: str) -> Array | None:
        """Input i as numbers, None where it is not given. Raises `Unsupported` where a run computes it."""
        if not self.has(i):
            return None
        found = self.inputs[i]
        if not isinstance(found, Known):
            raise Unsupported(f"its {what} depends on an input of the model")
        return found.array

    def ints(self, i: int, what: str, attribute: str | None = None) -> list[int] | None:
        """Integers given by input i, or by an attribute as in older opsets."""
        found = self.known(i, what)
        if found is not None:
            return [int(v) for v in np.ravel(found)]
        given = self.get(attribute or what)
        return None if given is None else [int(v) for v in np.atleast_1d(given)]

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute; text as `str`."""
        found = self.attributes.get(name, default)
        return found.decode() if isinstance(found, bytes) else found

    def shape(self, i: int) -> tuple[int, ...]:
        """The shape of input i."""
        found = self.inputs[i]
        return found.array.shape if isinstance(found, Known) else shape_of(self.value(i))

    def element(self, i: int) -> Attribute:
        """The element type of input i."""
        found = self.inputs[i]
        if isinstance(found, Known):
            return element_of_dtype(found.array.dtype)
        return element_of(self.value(i))
