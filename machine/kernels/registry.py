# SPDX-License-Identifier: Apache-2.0
"""
The kernel registry: what each kernel demands of its operands, how big its code is, and what a call costs.

`Kernel.evidence` says where the cycle formula comes from:

- `measured`: it is published, or goes through published points of this kernel;
- `derived`: put together from measured pieces of other kernels or from the vendor's bundle counts;
- `assumed`: no figure exists; a guess that keeps plans comparable.

That is the kernel's best; what one call rests on follows from its types and form as well
(`tilewright.machine.kernels.measurements.evidence`).

The formulas are in `tilewright.machine.kernels.formulas`, the semantics in `tilewright.sim.kernels`. The
table below is the whole registry. Code sizes are assumed throughout: only the sum of a program's kernels is
published
(17.3 to 17.6 KB).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from tilewright.diagnostics import TileError
from tilewright.machine.kernels import formulas as f
from tilewright.machine.kernels.formulas import Form, Formula, Scalars, Terms
from tilewright.machine.kernels.matrix_unit import COLUMNS, PRODUCTS, RESULT_MEMORY, WEIGHT_ALIGNMENT
from tilewright.machine.numerics.pointwise import PL, TABLE
from tilewright.suggestions import near

if TYPE_CHECKING:
    from tilewright.machine.description import Machine


class UnknownKernel(TileError, KeyError):
    """A kernel that the registry does not have."""

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Digit:
    """
    One digit of a fixed element order: `size` consecutive elements of `axis` are one unit of it.

    kind "whole": the axis as it is (size 1); "blocks": counts blocks of `size`; "inside": counts the elements
    of one block of `size`. `free`: the blocks may lie in any order, each contiguous with the digits further
    in.
    """

    axis: str
    kind: str
    size: int
    free: bool


@dataclass(frozen=True)
class OperandRule:
    """
    What a kernel demands of one operand.

    `axes` names kernel axes, outermost first ("..." stands for any rank). `memory` is "any", "standard" or
    "interleaved", `alignment` in bytes, `tail` the bytes beyond the operand that the kernel touches, `step`
    what the distance in bytes between two indices of the first axis is a multiple of.

    `order` is "any" (each axis has its own strides) or the digits from outermost to innermost: `k/32` counts
    blocks of 32 of axis k, `k%32` counts inside a block, a bare name is the whole axis, a `*` before blocks
    lets them lie in any order. An axis that is not named (the batch) loops outside with a stride of its own.
    """

    name: str
    axes: tuple[str, ...]
    memory: Literal["any", "standard", "interleaved"] = "any"
    alignment: int = 8
    tail: int = 0
    order: str = "any"
    step: int = 1

    def digits(self) -> tuple[Digit, ...]:
        """`order` taken apart, outermost first; empty for "any"."""
        if self.order == "any":
            return ()
        found: list[Digit] = []
        for text in self.order.split():
            free, text = text.startswith("*"), text.removeprefix("*")
            for sign, kind in (("/", "blocks"), ("%", "inside")):
                axis, cut, size = text.partition(sign)
                if cut:
                    found.append(Digit(axis, kind, int(size), free))
                    break
            else:
                found.append(Digit(text, "whole", 1, free))
        return tuple(found)


@dataclass(frozen=True)
class Kernel:
    """
    One kernel: operand rules, separations, code size and cycles.

    `separate` holds pairs of operand numbers (ins, then outs) that may not share a memory element. `granule`
    is what each axis is rounded up to: the kernel reads and writes the padding. `scalars` names those it
    understands. `moves`: it only brings elements elsewhere, and its cycles are counted as copies. `sub_word`:
    it may write a part of a word and leave the rest as it is.
    """

    name: str
    axes: tuple[str, ...]
    ins: tuple[OperandRule, ...]
    outs: tuple[OperandRule, ...]
    separate: tuple[tuple[int, int], ...]
    code_bytes: int
    evidence: str
    source: str
    formula: Formula = field(compare=False, repr=False)
    form: Form | None = field(default=None, compare=False, repr=False)
    granule: tuple[int, ...] = ()
    scalars: tuple[str, ...] = ()
    moves: bool = False
    sub_word: bool = False

    def itemise(
        self,
        machine: Machine,
        extents: npt.ArrayLike,
        dtypes: tuple[str, ...],
        scalars: Scalars | None = None,
    ) -> Terms:
        """
        The cost of each call on a tile of `machine` as (term, cycles int64 (calls,)); the terms sum to
        `cycles`.

        `extents` int64 (calls, axes), or (axes,) for one call; `dtypes` those of ins, then outs.
        """
        table = np.atleast_2d(np.asarray(extents, dtype=np.int64))  # (calls, axes)
        rank, given = len(self.axes), table.shape[1]
        if given != rank and ("..." not in self.axes or given < rank - 1):
            raise ValueError(f"{self.name} has axes {', '.join(self.axes)}: got {given} extents")
        busy = (table > 0).all(axis=1)
        terms = self.formula(machine, np.maximum(table, 1), dtypes, scalars or {})
        return [(name, np.where(busy, cycles, 0).astype(np.int64)) for name, cycles in terms]

    def cycles(
        self,
        machine: Machine,
        extents: npt.ArrayLike,
        dtypes: tuple[str, ...],
        scalars: Scalars | None = None,
    ) -> np.ndarray:
        """Cycles of each call, int64 (calls,); 0 where an extent is 0. Arguments as for `itemise`."""
        return np.sum([cycles for _, cycles in self.itemise(machine, extents, dtypes, scalars)], axis=0)

    def padded(self, extents: npt.ArrayLike) -> np.ndarray:
        """Extents rounded up to what the kernel reads and writes; same shape, last axis = kernel axes."""
        given = np.asarray(extents, dtype=np.int64)
        if not self.granule:
            return given
        granule = np.asarray(self.granule, dtype=np.int64)
        return -(-given // granule) * granule

    def form_of(
        self,
        machine: Machine,
        extents: npt.ArrayLike,
        dtypes: tuple[str, ...],
        scalars: Scalars | None = None,
    ) -> np.ndarray:
        """
        The form of the kernel that each call uses, str (calls,); "" for a kernel with one form only.
        Arguments as for `itemise`.
        """
        table = np.maximum(np.atleast_2d(np.asarray(extents, dtype=np.int64)), 1)
        if self.form is None:
            return np.full(len(table), "")
        return self.form(machine, table, dtypes, scalars or {})


_REGISTRY: dict[str, Kernel] = {}


def kernel(name: str) -> Kernel:
    """The kernel of that name; UnknownKernel (a KeyError) names near ones."""
    found = _REGISTRY.get(name)
    if found is None:
        raise UnknownKernel(
            f"unknown kernel {name!r}",
            hint=near(name, _REGISTRY) or "tile-kernels lists the registry",
        )
    return found


def kernel_names() -> tuple[str, ...]:
    """All kernels, in the order of the registry."""
    return tuple(_REGISTRY)


@contextmanager
def substituted(formulas: Mapping[str, Formula]) -> Iterator[None]:
    """The registry with other formulas for some kernels, by name: what-if costs and older models."""
    today = {name: _REGISTRY[name] for name in formulas}
    _REGISTRY.update({name: replace(entry, formula=formulas[name]) for name, entry in today.items()})
    try:
        yield
    finally:
        _REGISTRY.update(today)


def _register(
    name: str,
    evidence: str,
    source: str,
    formula: Formula,
    *,
    axes: tuple[str, ...] = ("...",),
    ins: tuple[OperandRule, ...],
    outs: tuple[OperandRule, ...],
    code: int,
    scalars: tuple[str, ...] = (),
    separate: tuple[tuple[int, int], ...] = (),
    granule: tuple[int, ...] = (),
    form: Form | None = None,
    moves: bool = False,
    sub_word: bool = False,
) -> None:
    if name in _REGISTRY:
        raise ValueError(f"kernel {name} registered twice")
    _REGISTRY[name] = Kernel(
        name,
        axes=axes,
        ins=ins,
        outs=outs,
        separate=separate,
        code_bytes=code,
        evidence=evidence,
        source=source,
        formula=formula,
        form=form,
        granule=granule,
        scalars=scalars,
        moves=moves,
        sub_word=sub_word,
    )


def _operands(text: str, *axes: str, alignment: int = 8) -> tuple[OperandRule, ...]:
    """Rules from "x gamma:c": a name alone has the given axes (any rank when none are given)."""
    rules: list[OperandRule] = []
    for part in text.split():
        name, own, letters = part.partition(":")
        rules.append(
            OperandRule(name, tuple(letters.split(",")) if own else (axes or ("...",)), alignment=alignment)
        )
    return tuple(rules)


# Matrix unit. One instruction loads an input and a partial and stores a partial, so input and result lie in
# different elements; the weights are loaded between panels, by the supervisor, while the workers stand still.

for _product in PRODUCTS:
    _inputs = _product.inputs
    _register(
        _product.kernel,
        _product.evidence,
        _product.source,
        f.gemm(_product),
        axes=("b", "m", "n", "k"),
        ins=(
            OperandRule("a", ("b", "m", "k"), order=f"k/{_inputs} m k%{_inputs}"),
            OperandRule(
                "w",
                ("b", "n", "k"),
                alignment=WEIGHT_ALIGNMENT,
                order=f"*n/{COLUMNS} *k/{_inputs} n%{COLUMNS} k%{_inputs}",
            ),
        ),
        outs=(
            OperandRule(
                "c",
                ("b", "m", "n"),
                RESULT_MEMORY,
                _product.alignment,
                order=f"n/{COLUMNS} m n%{COLUMNS}",
            ),
        ),
        separate=((0, 2),),
        granule=(1, 1, COLUMNS, _inputs),
        scalars=("scale", "saturate", "weights_standard"),
        form=f.gemm_form,
        code=1536,
    )

# Elementwise.

_FORMULAS: dict[str, tuple[Formula, int]] = {"gelu_tanh": (f.gelu, 640)}
"""Cost and code of functions whose cost is not that of a plain loop."""
_SET_UP = {1: (f.LOOP, 384, "x"), 2: (f.LOOP_BINARY, 512, "x y"), 3: (f.LOOP_TERNARY, 640, "x y z")}
"""Cycles of set-up, bytes of code and operands of a loop over so many operands."""

for _entry in TABLE:
    _set_up, _code, _names = _SET_UP[_entry.operands]
    _formula, _code = _FORMULAS.get(_entry.name, (f.pointwise(_entry.half, _entry.single, _set_up), _code))
    _plain = _entry.operands == 1 and _entry.name not in _FORMULAS
    _register(
        _entry.kernel,
        _entry.evidence,
        _entry.source + (f"; set-up {f.LOOP} as gelu" if _plain else ""),
        _formula,
        ins=_operands(_names),
        outs=_operands({1: "y", 2: "z", 3: "w"}[_entry.operands]),
        scalars=("saturate",),
        code=_code,
    )

# Conversions and movement.

_register(
    "cast",
    "measured",
    "IS: 330 + 24 * ceil(n / 48) between f16 and f8; emulated pairs (f32 to f8, f8 to f8, i8) by PL",
    f.cast,
    ins=_operands("x"),
    outs=_operands("y"),
    scalars=("scale", "saturate", "truncate"),
    code=512,
)
_register(
    "copy",
    "measured",
    "IS: 288 + bytes / 8 in one run; a cycle an element from rows into panels of 16 halves, so 12 a run;"
    " 10 per f16 element otherwise; PL: 3 per word, 20 per byte. No element rule"
    " is published, so there is none here",
    f.copy,
    ins=_operands("x", alignment=1),
    outs=_operands("y", alignment=4),
    scalars=("run_bytes", "runs"),
    form=f.copy_form,
    moves=True,
    sub_word=True,
    code=512,
)
_register(
    "cast.panels",
    "derived",
    "IS: 14 bundles of a worker for a row of 32 columns into a panel; other pairs of types by PL, as cast",
    f.cast_panels,
    axes=("b", "m", "c", "d"),
    ins=_operands("x", "b", "m", "c"),
    outs=_operands("y", "b", "m", "d"),
    scalars=("scale", "saturate", "truncate", "group"),
    code=640,
)
for _name, _in, _out in (("widen", 1, 4), ("narrow", 4, 4)):
    _register(
        _name,
        "assumed",
        "set-up of copy and 3 cycles per element (PL charges 3 per aligned word)",
        f.widen,
        ins=_operands("x", alignment=_in),
        outs=_operands("y", alignment=_out),
        moves=True,
        sub_word=_name == "narrow",
        code=256,
    )
_register(
    "fill",
    "derived",
    "copy without the loads",
    f.fill,
    axes=("...",),
    ins=(),
    outs=_operands("y", alignment=4),
    scalars=("value",),
    moves=True,
    code=128,
)
_register(
    "patch_rows",
    "measured",
    "IS VIT_REPEAT: one point, 78 words in 936 cycles by six workers; 234 and 9 bundles a word assumed",
    f.patch_by_workers,
    axes=("n",),
    ins=_operands("positions", "n", alignment=4),
    outs=_operands("rows", "n", alignment=4),
    code=192,
)
_register(
    "gather_rows",
    "assumed",
    "set-up of gelu; a worker an index, 8 bundles to find the row (compare, select, address) and 2 a double"
    " word",
    f.gather_rows,
    axes=("p", "t", "r", "c"),
    ins=(
        OperandRule("table", ("r", "c")),
        OperandRule("indices", ("t",), alignment=4),
        OperandRule("first", ("p",), alignment=4),
    ),
    outs=_operands("y", "p", "t", "c"),
    scalars=("rows",),
    code=512,
)

# Windows at a place that is known when the program runs.

_FIND = (
    "; a window is found in 8 instructions: its start (ld), drawn inside (max, min), from the first row here"
    " (sub), the first and last row of both (max, min), addresses (mul, add)"
)


def _windows(count: int) -> tuple[list[str], list[str]]:
    """Axes of a tensor and of the windows in it, "r", "t", "r2", "t2" and so on."""
    suffixes = ["", *(str(number) for number in range(2, count + 1))]
    return [f"r{suffix}" for suffix in suffixes], [f"t{suffix}" for suffix in suffixes]


for _count in (1, 2, 3, 4):
    _rows, _sizes = _windows(_count)
    _numbers = [f"{name}{row.removeprefix('r')}" for row in _rows for name in ("at", "first")]
    _register(
        "update_window" if _count == 1 else f"update_window{_count}",
        "derived",
        f"set-up of gelu and the price of a copy of the window (no loads ahead: by words or elements){_FIND}",
        f.update_window(_count),
        axes=(*(axis for pair in zip(_rows, _sizes, strict=True) for axis in pair), *_numbers, "..."),
        ins=(
            OperandRule("x", (*_rows, "..."), alignment=4),
            OperandRule("window", (*_sizes, "..."), alignment=4),
            *(OperandRule(name, (name,), alignment=4) for name in _numbers),
        ),
        outs=(OperandRule("y", (*_rows, "..."), alignment=4),),
        scalars=(*(f"rows{row.removeprefix('r')}" for row in _rows), "run_bytes", "apart"),
        sub_word=True,
        moves=True,
        code=640,
    )
_register(
    "read_window",
    "derived",
    f"set-up of gelu and the price of a copy of the window (no loads ahead: by words or elements){_FIND}",
    f.read_window,
    axes=("r", "t", "at", "..."),
    ins=(
        OperandRule("x", ("r", "..."), alignment=4),
        OperandRule("at", ("at",), alignment=4),
    ),
    outs=(OperandRule("y", ("t", "..."), alignment=4),),
    scalars=("run_bytes",),
    sub_word=True,
    moves=True,
    code=512,
)

# Reductions.

_register(
    "reduce_partials",
    "measured",
    "IS: 282 + 6 * ceil(n / 48) * (11 + 2 * (P - 1)) on f16; f32 partials or an f32 result at half the rate",
    f.reduce_partials,
    axes=("p", "..."),
    ins=_operands("x:p,..."),
    outs=_operands("y"),
    scalars=("saturate",),
    code=640,
)
_VECTOR = (
    "a vector (scalar `vector`): a load and a broadcast more a round, 10 bundles to start a panel, assumed"
)
_register(
    "reduce_partials.onto",
    "derived",
    "the measured reduction, which takes its first partial apart from the others (IS reduce_add_f16: initial"
    f" partial, packed remote partials); {_VECTOR}",
    f.reduce_onto,
    axes=("p", "..."),
    ins=_operands("y x:p,..."),
    outs=_operands("z"),
    scalars=("saturate", "vector"),
    code=704,
)
_WIDE = (
    "set-up of the measured reduction; P + 9 bundles a round for partials that load at 16 bytes"
    " (PL reduction of a single input: interleaved, aligned)"
)
_PARTIALS = OperandRule("x", ("p", "..."), memory="interleaved", alignment=16, step=16)
_register(
    "reduce_partials.wide",
    "derived",
    _WIDE,
    f.reduce_wide,
    axes=("p", "..."),
    ins=(_PARTIALS,),
    outs=_operands("y"),
    scalars=("saturate",),
    code=640,
)
_register(
    "reduce_partials.wide_onto",
    "derived",
    f"{_WIDE}; two loads for the first partial, which lies apart in any memory; {_VECTOR}",
    f.reduce_wide_onto,
    axes=("p", "..."),
    ins=(*_operands("y"), _PARTIALS),
    outs=_operands("z"),
    scalars=("saturate", "vector"),
    code=704,
)
for _name in ("sum", "max", "min", "prod"):
    _register(
        f"reduce.{_name}",
        "derived",
        f"{PL}: 4 bundles per 64-bit load; the workers share a row or own rows, whichever is cheaper",
        f.reduce_trailing(4),
        ins=_operands("x"),
        outs=_operands("y"),
        scalars=("reduced", "saturate", "count") if _name == "sum" else ("reduced", "saturate"),
        code=512,
    )

# Scores of attention.

_register(
    "scaled_add",
    "derived",
    "as pointwise.add: axpy takes the place of the addition in the same loop (PL ScaledAddSupervisor)",
    f.pointwise(3, 3, f.LOOP_BINARY),
    ins=_operands("x y"),
    outs=_operands("z"),
    scalars=("scale", "saturate"),
    code=512,
)
_register(
    "mask_scores",
    "derived",
    "as pointwise.max of floats: the mask's load and a select take the place of the second load and the max",
    f.pointwise(4, 4, f.LOOP_BINARY),
    ins=_operands("x mask"),
    outs=_operands("z"),
    scalars=("scale", "saturate"),
    code=512,
)
_BAND = (
    "; a row's first and last key in 12 instructions: its position (add, sub), its first key (sub, max), its"
    " last (add, min), none of them (cmpslt, brnz), where they lie (shl, add), loads that begin or end"
    " inside a double word (2)"
)
for _name in ("max", "min"):
    _register(
        f"band.{_name}",
        "derived",
        f"reduce.{_name} as if every row saw all keys{_BAND}",
        f.band(f.reduce_rows(4), 1),
        axes=("b", "m", "n", "i", "j"),
        ins=(
            *_operands("s", "b", "m", "n"),
            OperandRule("first_query", ("i",), alignment=4),
            OperandRule("first_key", ("j",), alignment=4),
        ),
        outs=_operands("y", "b", "m", alignment=4),
        scalars=("rows", "offset", "before", "after"),
        code=640,
    )

# Order of rows, running sums, sums by index.

for _name, _out, _bundles, _sorts, _told, _source in (
    ("argmax", "y:r", 3, False, (), "a load, a comparison and a selection of value and place an element"),
    ("argmin", "y:r", 3, False, (), "as argmax"),
    ("cumsum", "y:r,c", 4, False, ("saturate",), "a sum waits for the one before it: 4 bundles an element"),
    ("sort", "y:r,c", 8, True, ("descending",), "8 bundles an element and level of a merge in a row's place"),
    ("argsort", "y:r,c", 12, True, ("descending",), "as sort, with the place beside the element"),
):
    _register(
        _name,
        "assumed",
        f"{_source}; a worker a row, {f.ROW_BUNDLES} to start it",
        f.whole_rows(_bundles, _sorts),
        axes=("r", "c"),
        ins=_operands("x", "r", "c"),
        outs=_operands(_out),
        scalars=_told,
        code=768,
    )
_register(
    "scatter_add",
    "assumed",
    "the base copied; one worker after the other adds the rows that it owns: 8 bundles to find a row, 2 a"
    " vector to add it",
    f.scatter_add,
    axes=("p", "t", "r", "c"),
    ins=(
        OperandRule("base", ("r", "c")),
        OperandRule("indices", ("t",), alignment=4),
        OperandRule("updates", ("t", "c")),
        OperandRule("first", ("p",), alignment=4),
    ),
    outs=_operands("y", "r", "c"),
    scalars=("saturate",),
    code=768,
)

# Windows over rows and columns of a picture, channels innermost.

_WINDOW = tuple(f"{name}_{axis}" for name in ("size", "stride", "dilation") for axis in "yx")
for _name in ("sum", "max", "min"):
    _register(
        f"window.{_name}",
        "assumed",
        "an element of the window a load and an operation in one bundle, 2 to convert and store a vector, "
        "10 to start a row",
        f.windows(1),
        axes=("n", "p", "q", "c", "y", "x"),
        ins=_operands("a:n,p,q,c"),
        outs=_operands("b:n,y,x,c"),
        scalars=(*_WINDOW, "saturate", "count") if _name == "sum" else (*_WINDOW, "saturate"),
        code=640,
    )
_register(
    "window.products",
    "assumed",
    "as window.sum with the load of the weights: 2 bundles an element of the window",
    f.windows(2),
    axes=("n", "p", "q", "c", "y", "x", "k"),
    ins=_operands("a:n,p,q,c w:k,c"),
    outs=_operands("b:n,y,x,c"),
    scalars=(*_WINDOW, "saturate"),
    code=768,
)

# Rows: norms, softmax, fused bias and gelu.

_ONE_WIDTH = "1152 columns only: the split into set-up and bundles per 4 columns is assumed"


@dataclass(frozen=True)
class _RowKernel:
    """A kernel of rows and columns; operands as for `_operands`, with axes "r", "c" where none are given."""

    name: str
    evidence: str
    source: str
    formula: Formula
    form: Form
    ins: str
    outs: str
    scalars: tuple[str, ...]
    code: int


for _row in (
    _RowKernel(
        "layer_norm",
        evidence="measured",
        source=f"IS KERNEL_PIPELINES, {_ONE_WIDTH}",
        formula=f.rows(20, 972),
        form=f.rows_form(20, 972),
        ins="x gamma:c beta:c",
        outs="y",
        scalars=("epsilon", "saturate", "scale"),
        code=1280,
    ),
    _RowKernel(
        "rms_norm",
        evidence="derived",
        source="layer_norm less the pass of the mean (336 and 4 bundles)",
        formula=f.rows(16, 636),
        form=f.rows_form(16, 636),
        ins="x gamma:c",
        outs="y",
        scalars=("epsilon", "saturate"),
        code=1024,
    ),
    _RowKernel(
        "norm.statistics",
        evidence="measured",
        source=f"IS KERNEL_PIPELINES, {_ONE_WIDTH}",
        formula=f.rows(8, 672),
        form=f.rows_form(8, 672),
        ins="x",
        outs="mean:r variance:r",
        scalars=(),
        code=768,
    ),
    _RowKernel(
        "norm.apply",
        evidence="measured",
        source=f"IS ATTENTION_AND_STATISTICS, {_ONE_WIDTH}",
        formula=f.rows(15, 324),
        form=f.rows_form(15, 324),
        ins="x mean:r variance:r gamma:c beta:c",
        outs="y",
        scalars=("epsilon", "saturate", "scale"),
        code=768,
    ),
    _RowKernel(
        "norm.mix",
        evidence="derived",
        source="set-up of norm.apply; 3 bundles per 4 columns as pointwise.add (PL: a X + b Y by f16v4mix,"
        " the factors of a row in a register), 2 more for an f8 result as in the flat cast",
        formula=f.norm_mix,
        form=f.norm_mix_form,
        ins="x mean:r variance:r",
        outs="y",
        scalars=("epsilon", "saturate", "scale"),
        code=640,
    ),
    _RowKernel(
        "bias_gelu",
        evidence="measured",
        source="IS BIAS_GELU_MIX: 450 + 90 * ceil(n / 24) through both fitted points; an f8 result"
        " (PRODUCER_OUTPUTS) 528 + 1104 * ceil(n / 192), 528 by its one fitted point",
        formula=f.bias_gelu,
        form=f.bias_gelu_form,
        ins="x bias:c",
        outs="y",
        scalars=("saturate",),
        code=896,
    ),
    _RowKernel(
        "softmax",
        evidence="measured",
        source="IS KERNEL_PIPELINES: 768 keys by one worker, 736 split over six; one point each",
        formula=f.softmax,
        form=f.softmax_form,
        ins="x",
        outs="y",
        scalars=("scale", "split", "saturate", "empty_rows"),
        code=1280,
    ),
):
    _register(
        _row.name,
        _row.evidence,
        _row.source,
        _row.formula,
        axes=("r", "c"),
        ins=_operands(_row.ins, "r", "c"),
        outs=_operands(_row.outs, "r", "c"),
        scalars=_row.scalars,
        code=_row.code,
        form=_row.form,
    )
_register(
    "norm.merge",
    "assumed",
    "set-up of gelu and 8 bundles per partial mean and variance of a row",
    f.norm_merge,
    axes=("p", "r"),
    ins=_operands("mean variance", "p", "r", alignment=4),
    outs=_operands("mean:r variance:r", alignment=4),
    scalars=("count",),
    code=384,
)
_register(
    "softmax.exp",
    "derived",
    "softmax (42 bundles per 16 keys) less its search for the maximum (9); an f8 result 4 more (PL cast)",
    f.softmax_exp,
    axes=("b", "m", "n"),
    ins=(*_operands("s", "b", "m", "n"), *_operands("max", "b", "m", alignment=4)),
    outs=(*_operands("p", "b", "m", "n"), *_operands("sum", "b", "m", alignment=4)),
    scalars=("scale", "saturate", "empty_rows"),
    sub_word=True,
    code=896,
)
_register(
    "band.exp",
    "derived",
    f"softmax.exp as if every row saw all keys{_BAND}",
    f.band(f.softmax_exp, 2),
    axes=("b", "m", "n", "i", "j"),
    ins=(
        *_operands("s", "b", "m", "n"),
        *_operands("max", "b", "m", alignment=4),
        OperandRule("first_query", ("i",), alignment=4),
        OperandRule("first_key", ("j",), alignment=4),
    ),
    outs=(*_operands("p", "b", "m", "n"), *_operands("sum", "b", "m", alignment=4)),
    scalars=("scale", "saturate", "empty_rows", "rows", "offset", "before", "after"),
    sub_word=True,
    code=1024,
)
_register(
    "softmax.part",
    "derived",
    "the published softmax, which does not normalise (42 bundles per 16 keys for maximum, exponentials, sum"
    " and store), on the keys of one tile; an f8 result 5 more (IS)",
    f.softmax_part(f.SOFTMAX_BUNDLES),
    axes=("b", "m", "n"),
    ins=_operands("s", "b", "m", "n"),
    outs=(*_operands("p", "b", "m", "n"), *_operands("max sum", "b", "m", alignment=4)),
    scalars=("scale", "saturate", "empty_rows"),
    sub_word=True,
    code=1280,
)
_register(
    "softmax.raise",
    "derived",
    "softmax.part without the sum of the exponentials: 9 bundles per 16 keys less (PL counts of the rest)",
    f.softmax_part(f.SOFTMAX_BUNDLES - f.SUM_BUNDLES),
    axes=("b", "m", "n"),
    ins=_operands("s", "b", "m", "n"),
    outs=(*_operands("p", "b", "m", "n"), *_operands("max", "b", "m", alignment=4)),
    scalars=("scale", "saturate", "empty_rows"),
    sub_word=True,
    code=1216,
)
_register(
    "softmax.merge_columns",
    "derived",
    "softmax.merge, the sums being a column of the parts",
    f.softmax_merge,
    axes=("p", "b", "m", "n", "c"),
    ins=(*_operands("x", "p", "b", "m", "c"), *_operands("max", "p", "b", "m", alignment=4)),
    outs=_operands("y", "b", "m", "n"),
    scalars=("scale", "saturate", "empty_rows"),
    code=1024,
)
_register(
    "softmax.merge",
    "derived",
    "reduce_partials with a scale: 3 bundles per 8 halves and partial, not 2; weights of a row by PL: 12"
    " bundles for two partials (maximum, difference, exponential, sum, product), 15 for one over the sum",
    f.softmax_merge,
    axes=("p", "b", "m", "n"),
    ins=(*_operands("x", "p", "b", "m", "n"), *_operands("max sum", "p", "b", "m", alignment=4)),
    outs=_operands("y", "b", "m", "n"),
    scalars=("scale", "saturate"),
    code=1024,
)
for _name, _outs, _bundles in (
    ("part", "max sum", f.SOFTMAX_BUNDLES),
    ("raise", "max", f.SOFTMAX_BUNDLES - f.SUM_BUNDLES),
):
    _register(
        f"band.{_name}",
        "derived",
        f"softmax.{_name} as if every row saw all keys{_BAND}",
        f.band(f.softmax_part(_bundles), 1),
        axes=("b", "m", "n", "i", "j"),
        ins=(
            *_operands("s", "b", "m", "n"),
            OperandRule("first_query", ("i",), alignment=4),
            OperandRule("first_key", ("j",), alignment=4),
        ),
        outs=(*_operands("p", "b", "m", "n"), *_operands(_outs, "b", "m", alignment=4)),
        scalars=("scale", "saturate", "empty_rows", "rows", "offset", "before", "after"),
        sub_word=True,
        code=1408,
    )
