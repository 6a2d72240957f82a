# SPDX-License-Identifier: Apache-2.0
"""
How a reader writes a model: one function in the middle form (`tile_hlo`), and the values of its parameters
beside it.

    build = ModelBuilder("mlp")
    x = build.input("x", (4, 8), "f32")
    w = build.parameter("fc.weight", weights)                      # an array (6, 8); it never becomes text
    y = build.op("dot_general", [x, w], lhs_batching=[], rhs_batching=[],
                 lhs_contracting=[1], rhs_contracting=[1], element="f32")
    z = build.composite(tile_tensor.GeluOp, y, "tanh")              # composites stand among them
    model = build.finish({"y": z})

`tilewright.frontends.importing` makes a program of the model. docs/frontends/middle.md lists the operations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    FunctionType,
    IntAttr,
    LocationAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    TensorType,
    UnknownLoc,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.diagnostics import TileError
from tilewright.dialects.entry import INPUT_ATTRIBUTE, OUTPUT_ATTRIBUTE, PARAMETER_ATTRIBUTE
from tilewright.dialects.hlo.operations import OPERATIONS, HloOperation, make
from tilewright.dialects.hlo.values import dense_of, dtype_of, element_of_dtype, element_type
from tilewright.dialects.tensor.shapes import ShapeError

Array = np.ndarray


class ModelError(TileError):
    """A model that cannot be read: what, where in the source, and what to do."""


@dataclass
class Model:
    """
    A model in the middle form. `parameters` are its weights by name; `notes` go into the record of the
    import.
    """

    module: ModuleOp
    parameters: dict[str, Array] = field(default_factory=dict[str, Array])
    name: str = "model"
    notes: list[str] = field(default_factory=list[str])

    @property
    def function(self) -> FuncOp:
        """The program: `@main`, or the only function that is not private."""
        functions = [op for op in self.module.ops if isinstance(op, FuncOp) and op.body.blocks]
        named = [f for f in functions if f.sym_name.data == "main"]
        public = [f for f in functions if f.sym_visibility is None or f.sym_visibility.data != "private"]
        found = named or public
        if len(found) != 1:
            names = ", ".join(f"@{f.sym_name.data}" for f in functions) or "none"
            raise ModelError("the module has no function @main", notes=(f"functions: {names}",))
        return found[0]


def location_of(place: str | tuple[str, int, int] | LocationAttr | None) -> LocationAttr:
    """A location: of a file, line and column, or of a node by its name."""
    match place:
        case (file, line, column):
            return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))
        case str():
            return NameLoc(StringAttr(place), UnknownLoc())
        case None:
            return UnknownLoc()
        case _:
            return place


def path_name(path: Sequence[Any]) -> str:
    """`encoder.0.kernel` of a path in a tree of JAX's or torch's."""
    return ".".join(str(getattr(k, "key", getattr(k, "idx", getattr(k, "name", k)))) for k in path)


def result_names(paths: Sequence[str]) -> list[str]:
    """The names of results: their paths in a tree where these are words, else `out0`, `out1`, .."""
    named = all(re.search("[A-Za-z]", path) for path in paths) and len(set(paths)) == len(paths)
    return list(paths) if named else [f"out{i}" for i in range(len(paths))]


@dataclass
class ModelBuilder:
    """Writes one function, operation by operation; `location` is that of what is written next."""

    name: str = "model"
    block: Block = field(default_factory=Block)
    parameters: dict[str, Array] = field(default_factory=dict[str, Array])
    notes: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self._arguments: list[dict[str, Attribute]] = []
        self._location: LocationAttr = UnknownLoc()
        self._inner: Block | None = None

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """What is written inside goes to a block of a region; inputs and parameters stay the function's."""
        before, self._inner = self._inner, block
        try:
            yield
        finally:
            self._inner = before

    @contextmanager
    def at(self, place: str | tuple[str, int, int] | LocationAttr | None) -> Iterator[None]:
        """
        What is written inside comes from this place of the source: a node's name, or file, line and column.
        """
        before, self._location = self._location, location_of(place)
        try:
            yield
        finally:
            self._location = before

    # ------------------------------------------------------------------------------------------------- values

    def input(self, name: str, shape: Sequence[int], element: str | Attribute) -> SSAValue:
        """An input of the program."""
        return self._argument(INPUT_ATTRIBUTE, name, shape, element)

    def parameter(self, name: str, value: Array) -> SSAValue:
        """A weight under its own name; the array is kept as it is."""
        if name in self.parameters:
            raise ModelError(f"the parameter '{name}' is there twice")
        self.parameters[name] = value
        return self._argument(PARAMETER_ATTRIBUTE, name, value.shape, element_of_dtype(value.dtype))

    def _argument(
        self, attribute: str, name: str, shape: Sequence[int], element: str | Attribute
    ) -> SSAValue:
        kind = element_type(element) if isinstance(element, str) else element
        type_ = TensorType(cast(Any, kind), [int(extent) for extent in shape])
        argument = self.block.insert_arg(type_, len(self.block.args))
        word = "".join(c if (c.isascii() and c.isalnum()) or c == "_" else "_" for c in name)
        argument.name_hint = (f"v{word}" if word[:1].isdigit() else word) or None
        self._arguments.append({attribute: StringAttr(name)})
        return argument

    def constant(self, value: Any, element: str | Attribute | None = None) -> SSAValue:
        """A value that the source knows; large ones become parameters at the end of the import."""
        array = np.asarray(value)
        kind = element_type(element) if isinstance(element, str) else element
        if kind is not None:
            array = array.astype(dtype_of(kind))
        return self._add(make("constant", value=dense_of(array, kind)))

    def op(
        self,
        name: str,
        operands: Sequence[SSAValue] = (),
        *,
        element: str | Attribute | None = None,
        shape: Sequence[int] | None = None,
        **attributes: Any,
    ) -> SSAValue:
        """
        An operation of `tile_hlo`; its result's type follows from the operands, but for `shape` and `element`
        where these are free. Raises `ModelError` at the current place where they do not fit together.
        """
        kind = element_type(element) if isinstance(element, str) else element
        try:
            made = make(name, operands, element=kind, shape=shape, **attributes)
        except ShapeError as error:
            raise ModelError(f"{name}: {error}", location=self._location) from error
        return self._add(made)

    def composite(self, kind: type[Operation], *arguments: Any, **options: Any) -> SSAValue:
        """An operation of `tile_tensor`, made by its class and arguments."""
        try:
            return self._add(kind(*arguments, **options))
        except ShapeError as error:
            raise ModelError(f"{kind.name}: {error}", location=self._location) from error

    def unsupported(
        self, source: str, operands: Sequence[SSAValue], types: Sequence[Attribute], reason: str = ""
    ) -> list[SSAValue]:
        """Stands for something that has no meaning here; the lowering reports all of them in one error."""
        attributes: dict[str, Attribute] = {"source": StringAttr(source)}
        if reason:
            attributes["reason"] = StringAttr(reason)
        made = OPERATIONS["unsupported"].create(
            operands=list(operands), result_types=list(types), attributes=attributes
        )
        self.add(made)
        return list(made.results)

    def add(self, op: Operation) -> None:
        """Write an operation that is made already."""
        op.location = self._location
        (self._inner or self.block).add_op(op)

    def _add(self, op: Operation) -> SSAValue:
        self.add(op)
        return op.results[0]

    # ---------------------------------------------------------------------------------------------------- end

    def finish(self, outputs: Mapping[str, SSAValue]) -> Model:
        """The model that returns `outputs` under their names."""
        values = list(outputs.values())
        self.block.add_op(ReturnOp(*values))
        types = FunctionType.from_lists([a.type for a in self.block.args], [v.type for v in values])
        function = FuncOp(
            "main",
            types,
            Region(self.block),
            arg_attrs=ArrayAttr([DictionaryAttr(entry) for entry in self._arguments]),
            res_attrs=ArrayAttr([DictionaryAttr({OUTPUT_ATTRIBUTE: StringAttr(name)}) for name in outputs]),
        )
        module = ModuleOp([function])
        module.verify()
        return Model(module, self.parameters, self.name, self.notes)


__all__ = ["HloOperation", "Model", "ModelBuilder", "ModelError", "location_of", "path_name", "result_names"]
