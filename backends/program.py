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
from functools import lru_cache
from math import prod
from typing import Literal, TypeAlias, cast, get_args

import numpy as np
import numpy.typing as npt

from tilewright.diagnostics import TileError
from tilewright.machine.dtypes import DTYPES, itemsize
from tilewright.planning.layout import Layout
from tilewright.planning.layout.view import LayoutError, View

NO_POSITION = 0xFFFFFFFF
"""Entry of a positions table that names no word (rows have different numbers of sends)."""

SEND_FIELD = 3
"""Bit position of the 18-bit word address of a send (`Patch.shift`)."""
POINTER_FIELD = 0
"""Bit position of the 18-bit word address of a receive pointer (`Patch.shift`)."""
ADDRESS_BITS = 18
MOST_SCALE = 4096
"""Largest exponent of a binding's scale, either way: more than any element type spans."""
DEEPEST = 16
"""Repeats that may enclose an instruction."""

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

    def missing_reference(self, instruction: Instruction) -> str | None:
        """What an instruction names that the program does not have, as a sentence, or None."""
        match instruction:
            case Call():
                tables = [instruction.extents]
            case Exchange():
                tables = [instruction.rows]
            case Repeat():
                tables = [name for patch in instruction.patches for name in (patch.rows, patch.positions)]
            case Tap():
                named = any(binding.name == instruction.binding for binding in self.bindings)
                return None if named else f"no binding is named '{instruction.binding}'"
        absent = next((name for name in tables if name not in self._tables), None)
        return None if absent is None else f"no table is named '{absent}'"

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


_SIGNED = range(-(2**31), 2**31)
MOST_TILES = 1 << 16
MOST_TABLE_BYTES = 1 << 30
"""Tiles, and bytes on all of them, of the largest table that a text may declare."""


def table_problem(category: str, address: int, tiles: int, count: int) -> str | None:
    """What is wrong with a table of (tiles, count) words, before its words are made, or None."""
    if category not in TABLE_CATEGORIES:
        return f"table category {category!r} is none of {', '.join(TABLE_CATEGORIES)}"
    if not 0 <= address < 2**32:
        return f"{address:#x} is no address"
    if not 0 <= tiles <= MOST_TILES or count < 0 or 4 * tiles * count > MOST_TABLE_BYTES:
        return f"a table of {tiles} x {count} words is not possible"
    return None


def operand_problem(operand: Operand) -> str | None:
    """What is wrong with an operand by itself, or None."""
    if operand.dtype not in DTYPES:
        return f"unknown element type '{operand.dtype}'; known: {', '.join(DTYPES)}"
    if not 0 <= operand.address < 2**32:
        return f"{operand.address:#x} is no address"
    for number, axis in enumerate(operand.axes):
        if not axis or axis[0][0] or any(size < 1 for size, _ in axis[1:]):
            return (
                f"axis {number}: the outermost digit has size 0 (the extent decides), the others at least 1"
            )
        if any(size not in _SIGNED or stride not in _SIGNED for size, stride in axis):
            return f"axis {number}: sizes and strides have 32 bits"
    if any(step not in _SIGNED for step in operand.steps):
        return "address steps have 32 bits"
    return None


def patch_problem(patch: Patch) -> str | None:
    """What is wrong with a patch by itself, or None."""
    if patch.shift not in (SEND_FIELD, POINTER_FIELD):
        return (
            f"a patch is of field {SEND_FIELD} (address of a send) or {POINTER_FIELD} (pointer), "
            f"not {patch.shift}"
        )
    return None if patch.delta_words in _SIGNED else "the step of a patch has 32 bits"


def repeat_problem(count: int) -> str | None:
    """What is wrong with the count of a repeat, or None."""
    return None if 0 <= count < 2**32 else f"a repeat cannot run {count} times"


def constant_problem(dtype: str, shape: tuple[int, ...], nbytes: int, padded: bool) -> str | None:
    """What is wrong with a constant of `nbytes`, filled up to whole words if `padded`, or None."""
    if dtype not in DTYPES:
        return f"unknown element type '{dtype}'; known: {', '.join(DTYPES)}"
    if min(shape, default=0) < 0:
        return f"a constant cannot have shape {list(shape)}"
    wanted = prod(shape) * itemsize(dtype)
    if (-(-wanted // 4) * 4 if padded else wanted) != nbytes:
        return f"{nbytes} bytes are given for shape {list(shape)} of {dtype}, which takes {wanted}"
    return None


@lru_cache(maxsize=1024)
def places(layout: str, view: str) -> tuple[Layout, View]:
    """Layout and view of a binding from their texts, remembered: reading takes a millisecond. LayoutError."""
    return Layout.parse(layout), View.parse(view)


def binding_problem(binding: Binding) -> str | None:
    """What is wrong with a binding by itself, whatever the machine, or None."""
    if binding.kind not in BINDING_KINDS:
        return f"binding kind {binding.kind!r} is none of {', '.join(BINDING_KINDS)}"
    if binding.dtype not in DTYPES:
        return f"unknown element type '{binding.dtype}'; known: {', '.join(DTYPES)}"
    if not 0 <= binding.address < 2**32:
        return f"{binding.address:#x} is no address"
    if not 0 <= binding.count < 2**32 or not 0 <= binding.stride < 2**32:
        return f"a binding cannot have {binding.count} members {binding.stride} bytes apart"
    if abs(binding.scale) > MOST_SCALE:
        return f"a scale of 2^{binding.scale} is beyond every element type"
    try:
        layout, view = places(binding.layout, binding.view)
        view.check_inside(layout.shape)
    except LayoutError as error:
        return error.message
    return None


def walk(
    body: tuple[Instruction, ...], enclosing: tuple[Repeat, ...] = ()
) -> Iterator[tuple[Instruction, tuple[Repeat, ...]]]:
    """The instructions of `body` in program order with their enclosing repeats."""
    for instruction in body:
        yield instruction, enclosing
        if isinstance(instruction, Repeat):
            yield from walk(instruction.body, (*enclosing, instruction))
