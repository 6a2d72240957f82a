# SPDX-License-Identifier: Apache-2.0
"""
The placed machine program: plain data between the lowering, the image writer and the executor.

A `Program` is what remains when every decision is made. Control is one supervisor program common to all tiles
(`body`); what differs per tile is in tables (numpy arrays, one row of words per tile). Every address is an
absolute SRAM byte address, equal on all tiles. The textual form is the dialect `tile_asm`, the binary form
`backends/image.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast, get_args

import numpy as np
import numpy.typing as npt

from tilewright.diagnostics import TileError

NO_POSITION = 0xFFFFFFFF
"""Entry of a positions table that names no word (rows have different numbers of sends)."""

SEND_FIELD = 3
"""Bit position of the 18-bit word address of a send (`Patch.shift`)."""
POINTER_FIELD = 0
"""Bit position of the 18-bit word address of a receive pointer (`Patch.shift`)."""
ADDRESS_BITS = 18

Axis: TypeAlias = "tuple[tuple[int, int], ...]"
"""
One axis of an operand: digits from outermost to innermost, each (size, stride in elements). The outermost
size is 0 (unbounded: the extent decides); a broadcast axis is ((0, 0),).
"""

BindingKind = Literal["parameter", "input", "output", "constant", "value"]
TableCategory = Literal["rows", "patch tables", "arguments"]
BINDING_KINDS: tuple[str, ...] = get_args(BindingKind)
TABLE_CATEGORIES: tuple[str, ...] = get_args(TableCategory)


class ProgramError(TileError):
    """
    A program that contradicts itself: a table that is not there, digits without sense, ranges that overlap.
    """


@dataclass(frozen=True)
class Operand:
    """
    Where one kernel operand lies: element i of an axis adds its digits' strides to `address`.

    `steps`: bytes added per iteration of each enclosing repeat, outermost first; missing inner entries are 0.
    """

    address: int
    dtype: str
    axes: tuple[Axis, ...]
    steps: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """`0x79000 f16 [0:160 16:1, 0:16] steps [1024]`, as dialect and listing write it."""
        axes = ", ".join(" ".join(f"{size}:{stride}" for size, stride in axis) for axis in self.axes)
        steps = f" steps {list(self.steps)}" if self.steps else ""
        return f"{self.address:#x} {self.dtype} [{axes}]{steps}"


@dataclass(frozen=True)
class Call:
    """
    One kernel on every tile whose extents are not zero. `extents` names a table of shape (tiles, kernel
    axes).
    """

    kernel: str
    ins: tuple[Operand, ...]
    outs: tuple[Operand, ...]
    scalars: tuple[tuple[str, int | float], ...]
    extents: str
    provenance: str = ""

    def scalar(self, name: str, default: float | None = None) -> int | float | None:
        """The scalar `name`, or `default`."""
        return next((value for key, value in self.scalars if key == name), default)


def scalar_text(value: float) -> str:
    """A finite scalar so that reading it gives the same type and value: a float always has a point."""
    text = repr(value)
    if isinstance(value, int) or "." in text:
        return text
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}.0e{exponent}"


@dataclass(frozen=True)
class Exchange:
    """One exchange phase: every tile executes its row of the table `rows`."""

    rows: str
    provenance: str = ""
    name: str = ""


@dataclass(frozen=True)
class Patch:
    """
    Adds `delta_words` to the 18-bit address field at bit `shift` of the row words that `positions` names.

    `positions` is a table of shape (tiles, n) of word indices into the tile's row; NO_POSITION is skipped.
    Applied after each iteration but the last; after the last one the words are restored.
    """

    rows: str
    positions: str
    delta_words: int
    shift: int = SEND_FIELD


@dataclass(frozen=True)
class Repeat:
    """The body `count` times; count 0 runs nothing."""

    name: str
    count: int
    body: tuple[Instruction, ...]
    patches: tuple[Patch, ...] = ()


@dataclass(frozen=True)
class Tap:
    """
    Marks that the value `value` is complete in `binding` (comparison of every value, error reports); costs
    nothing.
    """

    value: str
    binding: str


Instruction: TypeAlias = "Call | Exchange | Repeat | Tap"


@dataclass(frozen=True, eq=False)
class Table:
    """
    Words that differ per tile, placed at one address on all of them. `words` is uint32 of shape (tiles, n).
    """

    name: str
    address: int
    words: npt.NDArray[np.uint32]
    category: TableCategory

    def __post_init__(self) -> None:
        words = np.ascontiguousarray(self.words)
        if words.dtype != np.uint32:
            # Extents are often built as signed integers; the bits are what is placed.
            words = words.astype(np.int64).astype(np.uint32)
        if words.ndim != 2:
            raise ProgramError(f"table '{self.name}' has shape {words.shape}, expected (tiles, words)")
        object.__setattr__(self, "words", words)

    @property
    def nbytes(self) -> int:
        """Bytes on each tile."""
        return self.words.shape[1] * 4

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Table)
            and (self.name, self.address, self.category) == (other.name, other.address, other.category)
            and np.array_equal(self.words, other.words)
        )

    def __hash__(self) -> int:
        return hash((self.name, self.address, self.category))


@dataclass(frozen=True, eq=False)
class Constant:
    """
    Logical contents that the program itself brings (a binding of kind "constant" names it in `tensors`).
    """

    name: str
    data: np.ndarray

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Constant)
            and self.name == other.name
            and self.data.dtype == other.data.dtype
            and self.data.shape == other.data.shape
            and self.data.tobytes() == other.data.tobytes()
        )

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True)
class Binding:
    """
    A named value of the host: where it lies and how.

    `layout` and `view` are the texts of `planning.layout`; `shape` is the logical shape. A sequence has
    `count` members `stride` bytes apart: a parameter has a name in `tensors` for each, and `shape` is that of
    one member; an input or output has one name, and leading axes of members in `shape`. Stored value =
    logical value * 2^-scale.
    """

    name: str
    kind: BindingKind
    address: int
    dtype: str
    layout: str
    view: str
    shape: tuple[int, ...]
    tensors: tuple[str, ...] = ()
    count: int = 1
    stride: int = 0
    scale: int = 0


@dataclass(frozen=True)
class Placed:
    """
    One allocated byte range of every tile. `first` and `last` are the numbers of the first and last
    instruction (in the order of `Program.instructions`) that need it, -1 for what is there from loading on;
    category is one of the memory categories. `layout` is the text of the buffer's layout, which says what
    tiles hold it; empty where all do.
    """

    name: str
    address: int
    nbytes: int
    category: str
    first: int = 0
    last: int = 0
    layout: str = ""


@dataclass(frozen=True)
class Code:
    """A kernel's machine code: its name in the registry and its byte range on every tile."""

    kernel: str
    address: int
    nbytes: int


@dataclass(frozen=True)
class Program:
    """Everything placed. `supervisor_address` is where the words of `backends.image.encode_supervisor` go."""

    machine: str
    name: str
    code: tuple[Code, ...]  # or plain (kernel, address, bytes)
    supervisor_address: int
    tables: tuple[Table, ...]
    bindings: tuple[Binding, ...]
    placed: tuple[Placed, ...]
    body: tuple[Instruction, ...]
    constants: tuple[Constant, ...] = ()
    _tables: dict[str, Table] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        given = cast("tuple[Code | tuple[str, int, int], ...]", self.code)
        code = tuple(item if isinstance(item, Code) else Code(*item) for item in given)
        object.__setattr__(self, "code", code)
        for table in self.tables:
            if table.name in self._tables:
                raise ProgramError(f"two tables are named '{table.name}'")
            self._tables[table.name] = table

    def table(self, name: str) -> Table:
        """The table `name`."""
        try:
            return self._tables[name]
        except KeyError:
            raise ProgramError(f"no table is named '{name}'") from None

    def binding(self, name: str) -> Binding:
        """The binding `name`."""
        for binding in self.bindings:
            if binding.name == name:
                return binding
        raise ProgramError(f"no binding is named '{name}'")

    def instructions(self) -> Iterator[tuple[Instruction, tuple[Repeat, ...]]]:
        """
        All instructions in program order with their enclosing repeats, outermost first; a repeat before its
        body.
        """
        return walk(self.body)


def walk(
    body: tuple[Instruction, ...], enclosing: tuple[Repeat, ...] = ()
) -> Iterator[tuple[Instruction, tuple[Repeat, ...]]]:
    """The instructions of `body` in program order with their enclosing repeats."""
    for instruction in body:
        yield instruction, enclosing
        if isinstance(instruction, Repeat):
            yield from walk(instruction.body, (*enclosing, instruction))
