# SPDX-License-Identifier: Apache-2.0
"""The kernel registry: what each kernel demands of its operands, how big its code is, and what a call costs.

Cycle formulas count one call on one tile with its six workers, call and worker set-up included. They are closed forms
in the extents, vectorised over calls, and come from published measurements on a real C600 (`measurements.json`, points
marked `fit` only), from published formulas, and, where nothing was published, from the bundle counts of the vendor's
estimators. `Kernel.evidence` says which:

- `measured`: the formula is published, or goes through published points of this kernel;
- `derived`: put together from measured pieces of other kernels or from the vendor's bundle counts;
- `assumed`: no figure exists; a guess that keeps a plan comparable.

The semantics of the same kernels are in `tilewright.sim.kernels`.

Sources: IS = documents of osmarks/ipu-stack; PL = graphcore/poplibs cycle estimators.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from tilewright.diagnostics import TileError

Scalars = Mapping[str, float | int]
Terms = list[tuple[str, np.ndarray]]
Formula = Callable[[np.ndarray, tuple[str, ...], Scalars], Terms]

WORKERS = 6
"""Workers of a tile. A bundle of each of them takes one turn of the barrel, so a bundle costs 6 cycles."""
CALL = 129
"""Cycles paid once per call however many rows follow. IS: layer_norm of 1 row took 7,140 cycles, of 3 rows 21,162."""
LOOP = 330
"""Call and one worker pass. IS: constant of the published gelu and cast formulas."""
LOOP_BINARY = 504
"""The same with two input streams. IS: fitted to add f16 at 1152 and 2152 elements."""
COPY = 288
"""Set-up of a local copy. IS: published cost 288 + bytes / 8."""
ROW_BUNDLES = 10
"""Bundles a worker spends to start a row when it owns whole rows. Assumed (pointers, loop entry, one reduction)."""

ITEM_BYTES = {
    "f32": 4,
    "i32": 4,
    "u32": 4,
    "f16": 2,
    "bf16": 2,
    "f8E4M3FNUZ": 1,
    "f8E5M2FNUZ": 1,
    "f8E4M3FN": 1,
    "f8E5M2": 1,
    "i8": 1,
    "i1": 1,
}


class UnknownKernel(TileError, KeyError):
    """A kernel that the registry does not have."""

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class OperandRule:
    """What a kernel demands of one operand.

    `axes` names kernel axes, outermost first ("..." = all of them). `memory` is "any", "standard" or "interleaved",
    `alignment` in bytes, `tail` the bytes beyond the operand that the kernel touches. `order` is "any" (every axis
    reached by its own strides) or a fixed element order: the digits from outermost to innermost, where `k/32` counts
    whole blocks of 32 of axis k, `k%32` counts inside a block, a bare name is the whole axis, and `*` in front means
    that the blocks may lie in any order, each contiguous.
    """

    name: str
    axes: tuple[str, ...]
    memory: str = "any"
    alignment: int = 8
    tail: int = 0
    order: str = "any"


@dataclass(frozen=True)
class Kernel:
    """One kernel: operand rules, separations, code size, cycles. `separate` holds pairs of operand numbers (ins, then
    outs) that may not share a memory element. `granule` is what each axis is rounded up to (padding is read and
    written); `code_bytes` is assumed throughout: no per-kernel size is published, only 17.3-17.6 KB in all."""

    name: str
    axes: tuple[str, ...]
    ins: tuple[OperandRule, ...]
    outs: tuple[OperandRule, ...]
    separate: tuple[tuple[int, int], ...]
    code_bytes: int
    evidence: str
    source: str
    formula: Formula = field(compare=False, repr=False)
    granule: tuple[int, ...] = ()
    scalars: tuple[str, ...] = ()

    def itemise(self, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars | None = None) -> Terms:
        """The cost of each call as (term, cycles int64 (calls,)); the terms sum to `cycles`.

        `extents` is (calls, axes) or (axes,), `dtypes` those of ins then outs.
        """
        extents = np.atleast_2d(np.asarray(extents, dtype=np.int64))
        if "..." not in self.axes and extents.shape[1] != len(self.axes):
            raise ValueError(f"{self.name} has axes {self.axes}, got {extents.shape[1]} extents")
        busy = (extents > 0).all(axis=1)
        terms = self.formula(np.maximum(extents, 1), dtypes, scalars or {})
        return [(name, np.where(busy, cycles, 0).astype(np.int64)) for name, cycles in terms]

    def cycles(self, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars | None = None) -> np.ndarray:
        """Cycles of each call, int64 (calls,); 0 where an extent is 0. See `itemise`."""
        terms = self.itemise(extents, dtypes, scalars)
        return functools.reduce(np.add, (cycles for _, cycles in terms))

    def padded(self, extents: np.ndarray) -> np.ndarray:
        """Extents rounded up to what the kernel reads and writes."""
        extents = np.asarray(extents, dtype=np.int64)
        if not self.granule:
            return extents
        granule = np.asarray(self.granule, dtype=np.int64)
        return -(-extents // granule) * granule


def _ceil(n: np.ndarray, d: int) -> np.ndarray:
    return -(-n // d)


def _elements(extents: np.ndarray) -> np.ndarray:
    return extents.prod(axis=1)


def _step(dtypes: tuple[str, ...]) -> int:
    """Elements that one 64-bit access moves; f8 goes through f16 registers, so never more than four."""
    return 4 if all(ITEM_BYTES[d] <= 2 for d in dtypes) else 2


def _loop(n: np.ndarray, per_round: int, cycles: int, setup: int, label: str = "inner loop") -> Terms:
    """Set-up and a loop of rounds: `cycles` for every `per_round` elements, the last round in full."""
    exact = n * cycles // per_round
    return [
        ("set-up", np.full(n.shape, setup)),
        (label, exact),
        ("rounding", _ceil(n, per_round) * cycles - exact),
    ]


def _f8_store(n: np.ndarray, dtypes: tuple[str, ...], outs: int = 1) -> Terms:
    """The extra loop of a kernel whose result is f8: that of the measured flat cast, without a call of its own."""
    if not any(d.startswith("f8") for d in dtypes[-outs:]):
        return []
    return [("f8 store", 24 * _ceil(n, 48))]


def _rows(r: np.ndarray, c: np.ndarray, step: int, bundles: int, once: int) -> Terms:
    """A kernel over r rows of c elements, by the cheaper of two distributions over the workers.

    Columns: all workers share a row and rows follow one another; each row pays the passes' set-up again, the call is
    paid once. Rows: each worker owns whole rows; one set-up, but rows are rounded up to six. `once` is the set-up of
    one row with its call.
    """
    shared = r * (once - CALL)
    shared_loop = r * _ceil(c, step * WORKERS) * WORKERS * bundles
    owned = (once - CALL) + _ceil(r, WORKERS) * WORKERS * ROW_BUNDLES
    owned_loop = _ceil(r, WORKERS) * WORKERS * bundles * _ceil(c, step)
    columns = shared + shared_loop <= owned + owned_loop
    setup, loop = np.where(columns, shared, owned), np.where(columns, shared_loop, owned_loop)
    exact = r * c * bundles // step
    return [
        ("call", np.full(r.shape, CALL)),
        ("rows", setup),
        ("inner loop", np.minimum(exact, loop)),
        ("rounding", loop - np.minimum(exact, loop)),
    ]


_REGISTRY: dict[str, Kernel] = {}


def _register(kernel: Kernel) -> None:
    if kernel.name in _REGISTRY:
        raise ValueError(f"kernel {kernel.name} registered twice")
    _REGISTRY[kernel.name] = kernel


def kernel(name: str) -> Kernel:
    """The kernel of that name; UnknownKernel (a KeyError) names near ones."""
    found = _REGISTRY.get(name)
    if found is None:
        near = difflib.get_close_matches(name, _REGISTRY, 3)
        raise UnknownKernel(
            f"unknown kernel {name!r}",
            hint=f"did you mean {', '.join(near)}?" if near else "tile-kernels lists the registry",
        )
    return found


def kernel_names() -> tuple[str, ...]:
    """All kernels, in the order of registration."""
    return tuple(_REGISTRY)


# Matrix unit


def _gemm(inputs: int, passes: int, row: int, panel: int) -> Formula:
    """`passes` of the unit for each panel of `inputs` k by 16 n, each `row` cycles per row and `panel` to set up."""

    def formula(extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
        b, m, n, k = extents.T
        panels = b * _ceil(k, inputs) * _ceil(n, 16) * passes
        terms = [
            ("set-up", b * 294),
            ("panels", panels * panel),
            ("rows", panels * row * m),
        ]
        # 8 instead of 16 bytes a cycle: a 512 B panel takes 64 cycles instead of 32, one of 256 B 32 instead of 16.
        if scalars.get("weights_standard", 0):
            terms.append(("weights from standard memory", panels * (32 if passes == 1 or inputs == 8 else 16)))
        return terms

    return formula


def _register_gemm(
    name: str, inputs: int, passes: int, row: int, panel: int, out_alignment: int, evidence: str, source: str
) -> None:
    _register(
        Kernel(
            name=name,
            axes=("b", "m", "n", "k"),
            ins=(
                OperandRule("a", ("b", "m", "k"), order=f"k/{inputs} m k%{inputs}"),
                OperandRule("w", ("b", "n", "k"), alignment=16, order=f"*n/16 *k/{inputs} n%16 k%{inputs}"),
            ),
            outs=(
                OperandRule("c", ("b", "m", "n"), memory="interleaved", alignment=out_alignment, order="n/16 m n%16"),
            ),
            # One instruction loads an input and a partial and stores a partial; weights are loaded between passes.
            separate=((0, 2),),
            code_bytes=1536,
            evidence=evidence,
            source=source,
            formula=_gemm(inputs, passes, row, panel),
            granule=(1, 1, 16, inputs),
            scalars=("scale", "weights_standard"),
        )
    )


_GEMM_SOURCE = "IS MLP_LAYOUT_SWEEP: 294 + panels * (4 * M + 160)"
_register_gemm("gemm.f8", 32, 1, 4, 160, 8, "measured", _GEMM_SOURCE + ", panels of 32 k x 16 n")
_register_gemm("gemm.f16.f16", 16, 1, 4, 160, 16, "measured", _GEMM_SOURCE + ", panels of 16 k x 16 n")
_register_gemm(
    "gemm.f16.f32", 16, 2, 4, 144, 16, "derived",
    "the f16 formula with 8 outputs per pass (PL ConvVertexType) and half the weights to load (16 cycles less)",
)  # fmt: skip
_register_gemm(
    "gemm.f32", 8, 1, 8, 160, 16, "derived", "the f16 formula with 8 inputs per pass and 8 cycles per row (PL)"
)
_register_gemm(
    "gemm.bf16", 16, 2, 8, 160, 16, "assumed", "no bf16 unit is documented: costed as f32 passes of 8 inputs"
)
_register_gemm(
    "gemm.i8", 32, 4, 4, 144, 16, "assumed", "no integer unit is documented: costed as f16 passes with f32 partials"
)


# Pointwise


def _pointwise(half: int, single: int, setup: int) -> Formula:
    """`half` bundles for 4 halves per worker, `single` for 2 floats."""

    def formula(extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
        n, step = _elements(extents), _step(dtypes)
        bundles = half if step == 4 else single
        return _loop(n, step * WORKERS, WORKERS * bundles, setup) + _f8_store(n, dtypes)

    return formula


def _gelu(extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    n = _elements(extents)
    if _step(dtypes) == 4:
        return _loop(n, 96, 462, LOOP) + _f8_store(n, dtypes)
    # f32: the same count for half as many elements, as for the other transcendentals in PL.
    return _loop(n, 48, 462, LOOP)


_ANY = ("...",)
_PL = "PL popopsCycleEstimators"
# name: bundles per 4 halves and per 2 floats, load and store included
_UNARY: dict[str, tuple[int, int, str, str]] = {
    "neg": (3, 3, "derived", "as relu"),
    "abs": (3, 3, "derived", "as relu"),
    "exp": (4, 6, "derived", _PL),
    "log": (4, 12, "derived", _PL),
    "sqrt": (23, 10, "derived", _PL),
    "rsqrt": (19, 8, "derived", _PL),
    "tanh": (4, 12, "derived", _PL),
    "erf": (60, 30, "assumed", "PL charges gelu by erf 16 bundles an element; less the multiplication around it"),
    "sigmoid": (6, 12, "derived", _PL),
    "relu": (3, 3, "derived", _PL),
    "square": (3, 3, "derived", "as mul, one load less"),
    "reciprocal": (15, 15, "derived", _PL),
}
_BINARY: dict[str, tuple[int, int, str, str]] = {
    "add": (3, 3, "measured", "IS KERNEL_PIPELINES: 504 + 18 * ceil(n / 24) through both points"),
    "sub": (3, 3, "derived", "as add (PL: same loop)"),
    "mul": (3, 3, "derived", "as add (PL: same loop)"),
    "div": (21, 21, "derived", _PL),
    "max": (4, 4, "derived", _PL),
    "min": (4, 4, "derived", _PL),
}
for _name, (_half, _single, _evidence, _source) in _UNARY.items():
    _register(
        Kernel(
            f"pointwise.{_name}", _ANY, (OperandRule("x", _ANY),), (OperandRule("y", _ANY),), (), 384, _evidence,
            _source + f"; set-up {LOOP} as gelu", _pointwise(_half, _single, LOOP), scalars=("saturate",),
        )
    )  # fmt: skip
_register(
    Kernel(
        "pointwise.gelu_tanh", _ANY, (OperandRule("x", _ANY),), (OperandRule("y", _ANY),), (), 640, "measured",
        "IS NORM_GELU_KERNELS: 330 + 462 * ceil(n / 96); f8 result: derived, with the loop of the flat cast",
        _gelu, scalars=("saturate",),
    )
)  # fmt: skip
_register(
    Kernel(
        "pointwise.gelu_erf", _ANY, (OperandRule("x", _ANY),), (OperandRule("y", _ANY),), (), 640, "derived",
        _PL + ": 16 bundles an element", _pointwise(64, 32, LOOP), scalars=("saturate",),
    )
)  # fmt: skip
for _name, (_half, _single, _evidence, _source) in _BINARY.items():
    _register(
        Kernel(
            f"pointwise.{_name}", _ANY, (OperandRule("x", _ANY), OperandRule("y", _ANY)), (OperandRule("z", _ANY),),
            (), 512, _evidence, _source, _pointwise(_half, _single, LOOP_BINARY), scalars=("saturate",),
        )
    )  # fmt: skip


# Conversions and movement


def _cast(extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    n = _elements(extents)
    source, target = dtypes[0], dtypes[-1]
    f8 = source.startswith("f8"), target.startswith("f8")
    integer = "i8" in (source, target)
    if all(f8) or (integer and any(f8)):
        bundles = 37 if integer else 13  # per 8, PL
    elif "f32" in (source, target) and f8[1]:
        bundles = 26  # 13 per 4, PL
    else:
        bundles = 4  # flat helper, IS: 24 cycles for 48 elements
    return _loop(n, 48, WORKERS * bundles, LOOP)


def _copy(extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    n, item = _elements(extents), ITEM_BYTES[dtypes[0]]
    run = int(scalars.get("run_bytes", 8))
    setup = ("set-up", np.full(n.shape, COPY))
    if run % 8 == 0:
        return [setup, ("double words", _ceil(n * item, 8))]
    if run % 4 == 0:
        return [setup, ("words", 3 * _ceil(n * item, 4))]
    return [setup, ("sub-word elements", n * (10 if item == 2 else 20))]


def _fill(extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    n = _elements(extents)
    return [("set-up", np.full(n.shape, COPY)), ("double words", _ceil(n, 2))]


def _words(extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    n = _elements(extents)
    return [("set-up", np.full(n.shape, COPY)), ("elements", 3 * n)]


def _patch(extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    return _loop(extents[:, 0], WORKERS, 9 * WORKERS, 234, "words")


def _patch_supervisor(extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    n = extents[:, 0]
    return [("set-up", np.full(n.shape, 24)), ("words", 32 * n)]


_register(
    Kernel(
        "cast", _ANY, (OperandRule("x", _ANY),), (OperandRule("y", _ANY),), (), 512, "measured",
        "IS: 330 + 24 * ceil(n / 48) between f16 and f8; other pairs by the bundle counts of PL",
        _cast, scalars=("scale", "saturate"),
    )
)  # fmt: skip
_register(
    Kernel(
        "copy", _ANY, (OperandRule("x", _ANY, alignment=1),), (OperandRule("y", _ANY, alignment=4),), (), 512,
        "measured",
        "IS: 288 + bytes / 8 for runs of double words; sub-word 10 cycles per f16 element (IS), 20 per byte and"
        " 3 per word (PL)",
        _copy, scalars=("run_bytes",),
    )
)  # fmt: skip
_register(
    Kernel(
        "widen", _ANY, (OperandRule("x", _ANY, alignment=1),), (OperandRule("y", _ANY),), (), 256, "assumed",
        "copy set-up and 3 cycles per element (PL charges 3 per aligned word)", _words,
    )
)  # fmt: skip
_register(
    Kernel(
        "narrow", _ANY, (OperandRule("x", _ANY),), (OperandRule("y", _ANY, alignment=4),), (), 256, "assumed",
        "copy set-up and 3 cycles per element (PL charges 3 per aligned word)", _words,
    )
)  # fmt: skip
_register(
    Kernel(
        "fill", ("n",), (), (OperandRule("y", ("n",), alignment=4),), (), 128, "derived",
        "as copy, without the load", _fill, scalars=("value",),
    )
)  # fmt: skip
_register(
    Kernel(
        "patch_rows", ("n",), (OperandRule("positions", ("n",), alignment=4),), (OperandRule("rows", ("n",)),), (), 192,
        "measured",
        "IS VIT_REPEAT: 78 words by six workers 936 cycles; split into 234 and 9 bundles a word assumed", _patch,
    )
)  # fmt: skip
_register(
    Kernel(
        "patch_rows.supervisor", ("n",), (OperandRule("positions", ("n",), alignment=4),),
        (OperandRule("rows", ("n",)),), (), 96, "measured",
        "IS VIT_REPEAT: 78 words by the supervisor 2,520 cycles; split into 24 and 32 a word assumed",
        _patch_supervisor,
    )
)  # fmt: skip


# Reductions


def _partials(extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    p, n = extents[:, 0], extents[:, 1:].prod(axis=1)
    per_round = 48 if ITEM_BYTES[dtypes[0]] <= 2 else 24
    rounds = _ceil(n, per_round)
    return [
        ("set-up", np.full(n.shape, 282)),
        ("rounds", rounds * WORKERS * 11),
        ("partials", rounds * WORKERS * 2 * (p - 1)),
    ] + _f8_store(n, dtypes)


def _partials_bias_gelu(extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    p, m, n = extents.T
    strips = _ceil(n, 16)
    return [
        ("set-up", np.full(n.shape, 288)),
        ("column strips", strips * 222),
        ("rounds", strips * _ceil(m * 4, WORKERS) * WORKERS * (20 + p)),
    ] + _f8_store(m * n, dtypes)


def _reduce(bundles: int) -> Formula:
    def formula(extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
        trailing = int(scalars.get("reduced", 1))
        kept = extents.shape[1] - trailing
        r, c = extents[:, :kept].prod(axis=1), extents[:, kept:].prod(axis=1)
        return _rows(r, c, _step(dtypes[:1]), bundles, LOOP)

    return formula


_register(
    Kernel(
        "reduce_partials", ("p", "..."), (OperandRule("x", ("p", "...")),), (OperandRule("y", _ANY),), (), 640,
        "measured", "IS: 282 + 6 * ceil(n / 48) * (11 + 2 * (P - 1)) for f16; f32 partials: derived, half the rate",
        _partials, scalars=("saturate",),
    )
)  # fmt: skip
_register(
    Kernel(
        "reduce_partials.bias_gelu", ("p", "m", "n"),
        (OperandRule("x", ("p", "m", "n"), order="p n/16 m n%16"), OperandRule("bias", ("n",))),
        (OperandRule("y", ("m", "n"), order="n/16 m n%16"),), (), 1024, "measured",
        "IS REDUCTION_EPILOGUE: 288 + columns / 16 * (222 + ceil(rows * 4 / 6) * 6 * (20 + P))",
        _partials_bias_gelu, scalars=("saturate",), granule=(1, 1, 16),
    )
)  # fmt: skip
for _name, _bundles in (("sum", 4), ("max", 4), ("min", 4), ("prod", 4)):
    _register(
        Kernel(
            f"reduce.{_name}", _ANY, (OperandRule("x", _ANY),), (OperandRule("y", _ANY),), (), 512, "derived",
            f"{_PL}: {_bundles} bundles per 64-bit load; workers share rows or columns", _reduce(_bundles),
            scalars=("reduced",),
        )
    )  # fmt: skip


# Rows: norms, softmax, fused bias and gelu


def _row_kernel(bundles: int, once: int, extra: Formula | None = None) -> Formula:
    def formula(extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
        r, c = extents[:, 0], extents[:, 1]
        terms = _rows(r, c, _step(dtypes[:1]), bundles, once)
        if extra is not None:
            terms = terms + extra(extents, dtypes, scalars)
        return terms + _f8_store(r * c, dtypes)

    return formula


SOFTMAX_BUNDLES = 42
"""Bundles of one worker for 16 keys of its own row. IS: 12,258 cycles for 768 keys leave 162 for everything else."""


def _softmax(extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    """Six rows at a time, a worker each; rows that do not fill a round may be split over all workers instead."""
    r, c = extents.T
    wide = 1 if _step(dtypes) == 4 else 2
    owned = WORKERS * SOFTMAX_BUNDLES * wide * _ceil(c, 16) + 33
    split = 720 - CALL + 564 * wide * _ceil(c, 16 * WORKERS)
    rest = r % WORKERS
    last = np.minimum(np.where(rest > 0, owned, 0), rest * split)
    return [
        ("call", np.full(r.shape, CALL)),
        ("rounds of rows", r // WORKERS * owned),
        ("last rows", last),
    ] + _f8_store(r * c, dtypes)


def _softmax_exp(extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    """Softmax less the normalisation (3 bundles per 4 keys, as mul); the row's maximum is loaded, its sum stored."""
    b, m, n = extents.T
    rounds = _ceil(b * m, WORKERS)
    wide = 1 if _step(dtypes[:1]) == 4 else 2
    return [
        ("call", np.full(n.shape, LOOP)),
        ("rows", rounds * WORKERS * ROW_BUNDLES),
        ("keys", rounds * WORKERS * wide * (SOFTMAX_BUNDLES - 12) * _ceil(n, 16)),
    ] + (
        [("f8 store", rounds * WORKERS * 4 * _ceil(n, 16))] if dtypes[2].startswith("f8") else []
    )


def _rc(*names: str) -> tuple[OperandRule, ...]:
    axes = {"gamma": ("c",), "beta": ("c",), "bias": ("c",), "mean": ("r",), "variance": ("r",)}
    return tuple(OperandRule(name, axes.get(name, ("r", "c"))) for name in names)


def _register_rows(
    name: str, ins: str, outs: str, formula: Formula, evidence: str, source: str, code: int, scalars: tuple[str, ...]
) -> None:
    _register(
        Kernel(
            name, ("r", "c"), _rc(*ins.split()), _rc(*outs.split()), (), code, evidence, source, formula,
            scalars=scalars,
        )
    )  # fmt: skip


_NORM = "IS KERNEL_PIPELINES, 1152 columns; the split into set-up and bundles per 4 columns is assumed"
_register_rows(
    "layer_norm", "x gamma beta", "y", _row_kernel(20, 972), "measured", _NORM, 1280, ("epsilon",)
)
_register_rows(
    "rms_norm", "x gamma", "y", _row_kernel(16, 972 - 336), "derived",
    "layer_norm less the pass of the mean", 1024, ("epsilon",),
)  # fmt: skip
_register_rows("norm.statistics", "x", "mean variance", _row_kernel(8, 672), "measured", _NORM, 768, ())
_register_rows(
    "norm.apply", "x mean variance gamma beta", "y", _row_kernel(15, 324), "measured",
    "IS ATTENTION_AND_STATISTICS, 1152 columns; the split into set-up and bundles per 4 columns is assumed",
    768, ("epsilon",),
)  # fmt: skip
_register_rows(
    "add_layer_norm", "x residual gamma beta", "y sum", _row_kernel(23, 972 + LOOP_BINARY), "derived",
    "layer_norm and add in one call", 1536, ("epsilon",),
)  # fmt: skip
_register_rows(
    "bias_gelu", "x bias", "y", _row_kernel(15, 450), "measured",
    "IS BIAS_GELU_MIX: 450 + 90 * ceil(n / 24) through both fitted points", 896, ("saturate",),
)  # fmt: skip
_register_rows(
    "softmax", "x", "y", _softmax, "measured",
    "IS KERNEL_PIPELINES: 768 keys by one worker, 729 keys split over six; one point each", 1280, ("scale",),
)  # fmt: skip
_register(
    Kernel(
        "softmax.exp", ("b", "m", "n"),
        (OperandRule("s", ("b", "m", "n")), OperandRule("max", ("b", "m"), alignment=4)),
        (OperandRule("p", ("b", "m", "n")), OperandRule("sum", ("b", "m"), alignment=4)), (), 896, "derived",
        "softmax (42 bundles per 16 keys) less its normalisation (12); f8 result 4 more (PL cast)",
        _softmax_exp, scalars=("scale", "saturate"),
    )
)  # fmt: skip
