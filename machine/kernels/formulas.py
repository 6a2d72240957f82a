# SPDX-License-Identifier: Apache-2.0
"""
Cycle formulas of the kernels: one call on one tile with all of its workers, call and worker set-up included.
A bundle of each worker takes one turn of the barrel, so a bundle costs as many cycles as there are workers.

Closed forms in the extents, vectorised over calls. The constants come from published measurements on a real
C600 (`measurements.json`, only the points marked `fit`; `tile-kernels` prints predicted and published), from
published formulas, and, where nothing was published, from the bundle counts of the vendor's estimators.

Every formula returns its terms as (name, cycles per call). Sources: IS = documents of osmarks/ipu-stack,
PL = graphcore/poplibs cycle estimators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels.matrix_unit import COLUMNS, Product

if TYPE_CHECKING:
    from tilewright.machine.description import Machine

Scalars = Mapping[str, float | int]
Terms = list[tuple[str, np.ndarray]]
Formula = Callable[["Machine", np.ndarray, tuple[str, ...], Scalars], Terms]
"""(machine; extents int64 (calls, axes), all at least 1; dtypes of ins then outs; scalars) -> terms."""
Form = Callable[["Machine", np.ndarray, tuple[str, ...], Scalars], np.ndarray]
"""The same -> the form of the kernel that each call uses, str (calls,): a measurement is of one form."""

CALL = 129
"""Paid once per call, however many rows follow. IS: layer_norm of 1 row took 7,140 cycles, 3 rows 21,162."""
LOOP = 330
"""Call and one pass of the workers. IS: the constant of the published gelu and cast formulas."""
LOOP_BINARY = 504
"""The same with two input streams. IS: fitted to add f16 at 1152 and 2152 elements."""
LOOP_TERNARY = 678
"""The same with three input streams. Derived: one more stream costs what the second one does."""
LOOPS = {1: LOOP, 2: LOOP_BINARY, 3: LOOP_TERNARY, 4: LOOP_TERNARY + LOOP_BINARY - LOOP}
"""By the number of input streams. Derived from four on, as for the third."""
COPY = 288
"""Set-up of a local copy. IS: published cost 288 + bytes / 8."""
ROW_BUNDLES = 10
"""Bundles in which a worker starts a row that it owns alone. Assumed: pointers, loop entry, one reduction."""
SOFTMAX_BUNDLES = 42
"""Bundles of a worker for 16 keys of its own row. IS: 12,258 cycles for 768 keys; 162 remain for the rest."""
MAXIMUM_BUNDLES = 9
"""Those of them that look for the maximum. IS: the other 33 take exponentials, sum and store."""
SUM_BUNDLES = 9
"""Those of them that add up: what remains of the 33 beside the exponentials with load and store (PL: 4 for 4
halves) and 2 for 4 halves to take the maximum off and scale."""
F8_PROBABILITIES = 5
"""Bundles that the same loop takes longer per 16 keys where it stores 8-bit probabilities. IS."""
WEIGHT_BUNDLES = 12
"""Bundles of a worker for the weights of two partials of a row. PL counts of f32: maximum 1, difference and
scale 2, exponentials 4, sum of the parts' sums 2, product with one over it 1, loads and stores alone 2."""
COPY_RUN = 12
"""Cycles of a local copy for every run of double words after the first. IS: packing rows of 16 halves into
panels takes a cycle an element, 16 a run, of which 4 move the bytes."""


def _ceil(n: np.ndarray, d: int) -> np.ndarray:
    return -(-n // d)


def _constant(n: np.ndarray, cycles: int) -> np.ndarray:
    return np.full(n.shape, cycles, dtype=np.int64)


def _step(dtypes: tuple[str, ...]) -> int:
    """Elements that one 64-bit access moves; f8 goes through f16 registers, so never more than four."""
    return 4 if all(itemsize(d) <= 2 for d in dtypes) else 2


def _loop(n: np.ndarray, per_round: int, cycles: int, setup: int, label: str = "inner loop") -> Terms:
    """Set-up and rounds of `cycles` for every `per_round` elements, the last round in full."""
    exact = n * cycles // per_round
    return [
        ("set-up", _constant(n, setup)),
        (label, exact),
        ("rounding", _ceil(n, per_round) * cycles - exact),
    ]


def _f8_store(machine: Machine, n: np.ndarray, dtype: str) -> Terms:
    """The extra loop of a kernel whose result is f8: that of the measured flat cast, less its call."""
    return (
        [("f8 store", 4 * machine.workers * _ceil(n, 8 * machine.workers))] if dtype.startswith("f8") else []
    )


def _rows(machine: Machine, r: np.ndarray, c: np.ndarray, step: int, bundles: int, once: int) -> Terms:
    """
    A kernel over r rows of c elements, by the cheaper of two distributions over the workers.

    Columns: all workers share a row and rows follow one another; the call is paid once, each row pays the
    set-up of its passes. Rows: each worker owns whole rows; one set-up, but rows are rounded up to six.
    `once` is call and set-up of one row, `bundles` are spent by a worker for `step` elements.
    """
    columns, shared, shared_loop, owned, owned_loop = _distributions(machine, r, c, step, bundles, once)
    loop = np.where(columns, shared_loop, owned_loop)
    exact = np.minimum(r * c * bundles // step, loop)
    return [
        ("call", _constant(r, CALL)),
        ("rows", np.where(columns, shared, owned)),
        ("inner loop", exact),
        ("rounding", loop - exact),
    ]


def _distributions(
    machine: Machine, r: np.ndarray, c: np.ndarray, step: int, bundles: int, once: int
) -> tuple[np.ndarray, ...]:
    """Whether the workers share rows; cycles outside and inside the loop if they do, and if they own rows."""
    shared = r * (once - CALL)
    shared_loop = r * _ceil(c, step * machine.workers) * machine.workers * bundles
    owned = (once - CALL) + _ceil(r, machine.workers) * machine.workers * ROW_BUNDLES
    owned_loop = _ceil(r, machine.workers) * machine.workers * bundles * _ceil(c, step)
    columns = shared + shared_loop <= owned + owned_loop
    return columns, shared, shared_loop, owned, owned_loop


ROW_AFTER_ROW, WHOLE_ROWS, SPLIT_ROW = "row after row", "whole rows", "split row"
"""All workers share a row and rows follow each other; a worker owns whole rows; the last rows are shared."""


def _row_form(
    machine: Machine, r: np.ndarray, c: np.ndarray, step: int, bundles: int, once: int
) -> np.ndarray:
    columns = _distributions(machine, r, c, step, bundles, once)[0]
    return np.where(columns, ROW_AFTER_ROW, WHOLE_ROWS)


# Matrix unit

MEASURED_LOAD_BYTES = 16
"""Bytes of weights that a load brought in the published sweep of products: they lay in interleaved memory."""


def gemm(product: Product) -> Formula:
    """
    Panels of the inputs of a pass by the columns of the unit, each so many passes.

    `panel_cycles` was measured with weights that load at 16 bytes a cycle, 512 B for a pass of 16 outputs and
    256 B for one of 8; what memory loads more slowly or faster is added or taken off.
    """
    weights, row, panel = product.weight_bytes, product.row_cycles, product.panel_cycles

    def formula(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
        b, m, n, k = extents.T
        panels = b * _ceil(k, product.inputs) * _ceil(n, COLUMNS) * product.passes
        load = weights // machine.load_bytes("interleaved") - weights // MEASURED_LOAD_BYTES
        terms: Terms = [("set-up", b * 294), ("panels", panels * (panel + load)), ("rows", panels * row * m)]
        if scalars.get("weights_standard", 0):
            slower = weights // machine.load_bytes("standard") - weights // machine.load_bytes("interleaved")
            terms.append(("weights from standard memory", panels * slower))
        return terms

    return formula


STANDARD_WEIGHTS = "weights in standard memory"


def gemm_form(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> np.ndarray:
    return np.full(len(extents), STANDARD_WEIGHTS if scalars.get("weights_standard", 0) else "")


# Elementwise


def pointwise(half: int, single: int, setup: int) -> Formula:
    """`half` bundles of a worker for 4 halves, `single` for 2 floats, load and store included."""

    def formula(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
        n, step = extents.prod(axis=1), _step(dtypes)
        bundles = half if step == 4 else single
        return _loop(n, step * machine.workers, machine.workers * bundles, setup) + _f8_store(
            machine, n, dtypes[-1]
        )

    return formula


def gelu(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    """77 bundles per 16 halves (IS). Floats: the same for 8, as PL charges the other transcendentals."""
    n = extents.prod(axis=1)
    return _loop(
        n, machine.workers * (16 if _step(dtypes) == 4 else 8), 77 * machine.workers, LOOP
    ) + _f8_store(machine, n, dtypes[-1])


def cast(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    """4 bundles per 8 elements (IS, flat f16 and f8); where PL needs an emulated conversion, PL's count."""
    bundles = cast_bundles(dtypes[0], dtypes[-1])
    return _loop(extents.prod(axis=1), 8 * machine.workers, machine.workers * bundles, LOOP)


def cast_bundles(source: str, target: str) -> int:
    """Bundles of a worker per 8 elements of a cast that is flat."""
    from_f8, to_f8 = source.startswith("f8"), target.startswith("f8")
    if "i8" in (source, target) and (from_f8 or to_f8):
        return 37
    if source in ("f32", "bf16") and to_f8:
        return 26
    return 13 if from_f8 and to_f8 else 4


PANEL_LANES = 32
"""8-bit columns of a panel of the matrix unit."""


def cast_panels(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    """Rows of a panel, whole, whatever of it is zeros. IS: 14 bundles for one of halves."""
    b, m, _, d = extents.T
    bundles = 14 + 4 * (cast_bundles(dtypes[0], dtypes[-1]) - 4)
    rows = b * m * _ceil(d, PANEL_LANES)
    return _loop(rows, machine.workers, machine.workers * bundles, LOOP, "panel rows")


def copy(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    """
    By the runs that are contiguous on both sides: 8 bytes a cycle and `COPY_RUN` a run after the first where
    all are double words, 3 cycles a word, 10 a half, 20 a byte.

    Scalar `run_bytes` divides the length and the place of every run, `runs` is how many there are (default:
    as many as `run_bytes` makes; one, if neither is given).
    """
    n, item = extents.prod(axis=1), itemsize(dtypes[0])
    run = int(scalars.get("run_bytes", 0))
    setup = ("set-up", _constant(n, COPY))
    if run % 8 == 0:
        runs = np.maximum(n * item // run, 1) if run else np.ones_like(n)
        if "runs" in scalars:
            runs = np.full_like(n, int(scalars["runs"]))
        moved = _ceil(n * item, 8)
        by_word = np.maximum(3 * _ceil(n * item, 4) - moved, 0)
        return [setup, ("double words", moved), ("runs", np.minimum(COPY_RUN * (runs - 1), by_word))]
    if run % 4 == 0:
        return [setup, ("words", 3 * _ceil(n * item, 4))]
    return [setup, ("sub-word elements", n * (10 if item > 1 else 20))]


ONE_RUN, RUNS, WORDS, ELEMENTS = "one run", "runs", "words", "elements"


def copy_form(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> np.ndarray:
    terms = dict(copy(machine, extents, dtypes, scalars))
    if "double words" not in terms:
        return np.full(len(extents), WORDS if "words" in terms else ELEMENTS)
    by_word = 3 * _ceil(extents.prod(axis=1) * itemsize(dtypes[0]), 4)
    dearer = terms["double words"] + terms["runs"] >= by_word
    return np.where(terms["runs"] == 0, ONE_RUN, np.where(dearer, WORDS, RUNS))


def fill(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    n = extents.prod(axis=1)
    return [("set-up", _constant(n, COPY)), ("double words", _ceil(n, 2))]


def widen(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    n = extents.prod(axis=1)
    return [("set-up", _constant(n, COPY)), ("elements", 3 * n)]


def patch_by_workers(
    machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars
) -> Terms:
    return _loop(extents[:, 0], machine.workers, 9 * machine.workers, 234, "words")


def gather_rows(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    p, t, _, c = extents.T
    rounds = p * _ceil(t, machine.workers) * machine.workers
    return [
        ("set-up", _constant(t, LOOP)),
        ("indices", rounds * 8),
        ("double words", rounds * 2 * _ceil(c * itemsize(dtypes[0]), 8)),
    ]


WINDOW_BUNDLES = 8
"""Bundles of a worker that find a window: the registry lists them."""


def _moved(n: np.ndarray, item: int, scalars: Scalars) -> np.ndarray:
    """Cycles to bring n elements elsewhere, by words or, where runs are no whole words, by elements."""
    if int(scalars.get("run_bytes", item)) % 4 == 0:
        return 3 * _ceil(n * item, 4)
    return n * (10 if item > 1 else 20)


def update_window(count: int) -> Formula:
    """
    Axes r, t of each of `count` windows, a start and a first row of each, then what they do not move along.

    Scalar `run_bytes` divides the length and the place of every run of the window. `apart`: the result lies
    elsewhere, so that everything is copied.
    """

    def formula(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
        inner = extents[:, 4 * count :].prod(axis=1)
        rows, sizes = extents[:, 0 : 2 * count : 2], extents[:, 1 : 2 * count : 2]
        item = itemsize(dtypes[0])
        terms = [
            ("set-up", _constant(inner, LOOP)),
            ("windows", _constant(inner, WINDOW_BUNDLES * count * machine.workers)),
            ("rows", _moved(np.minimum(rows, sizes).prod(axis=1) * inner, item, scalars)),
        ]
        if scalars.get("apart", 0):
            terms.append(("copy", _moved(rows.prod(axis=1) * inner, item, scalars)))
        return terms

    return formula


def read_window(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    """Axes r, t, the start, then what the window does not move along."""
    n = extents[:, 1] * extents[:, 3:].prod(axis=1)
    return [
        ("set-up", _constant(n, LOOP)),
        ("windows", _constant(n, WINDOW_BUNDLES * machine.workers)),
        ("rows", _moved(n, itemsize(dtypes[0]), scalars)),
    ]


# Reductions


def reduce_partials(
    machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars
) -> Terms:
    p, n = extents[:, 0], extents[:, 1:].prod(axis=1)
    return _reduction(machine, p, n, dtypes, 11 - 2, 2)


def reduce_onto(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    """The same with one term more, which lies apart."""
    p, n = extents[:, 0] + 1, extents[:, 1:].prod(axis=1)
    return _reduction(machine, p, n, dtypes, 11 - 2, 2) + _vector(machine, extents, dtypes, scalars)


def reduce_wide(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    """Partials that load at 16 bytes."""
    p, n = extents[:, 0], extents[:, 1:].prod(axis=1)
    return _reduction(machine, p, n, dtypes, 9, 1)


def reduce_wide_onto(
    machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars
) -> Terms:
    """The same with one term more, which lies apart and loads at 8 bytes."""
    p, n = extents[:, 0] + 2, extents[:, 1:].prod(axis=1)
    return _reduction(machine, p, n, dtypes, 9, 1) + _vector(machine, extents, dtypes, scalars)


def _reduction(
    machine: Machine, p: np.ndarray, n: np.ndarray, dtypes: tuple[str, ...], bundles: int, each: int
) -> Terms:
    # a round: two double words of partials or, if that is wider, of the result, of each worker
    rounds = _ceil(n, 2 * machine.workers * _step(dtypes))
    return [
        ("set-up", _constant(n, 282)),
        ("rounds", rounds * machine.workers * bundles),
        ("partials", rounds * machine.workers * each * p),
        *_f8_store(machine, n, dtypes[-1]),
    ]


def _vector(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    """What a first term that is one vector for all rows takes more: a broadcast a round, and panels begin."""
    if not scalars.get("vector", 0):
        return []
    rounds = _ceil(extents[:, 1:].prod(axis=1), 2 * machine.workers * _step(dtypes))
    panels = _ceil(extents[:, -1], COLUMNS)
    return [("vector", machine.workers * (2 * rounds + ROW_BUNDLES * panels))]


def reduce_trailing(bundles: int) -> Formula:
    """Reduction of the last `reduced` axes, `bundles` of a worker per 64-bit load."""

    def formula(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
        kept = extents.shape[1] - int(scalars.get("reduced", 1))
        r, c = extents[:, :kept].prod(axis=1), extents[:, kept:].prod(axis=1)
        return _rows(machine, r, c, _step(dtypes[:1]), bundles, LOOP)

    return formula


def reduce_rows(bundles: int) -> Formula:
    """Reduction of the last of three axes (b, m, n)."""
    whole = reduce_trailing(bundles)

    def formula(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
        return whole(machine, extents, dtypes, {"reduced": 1})

    return formula


BAND_BUNDLES = 12
"""Bundles of a worker that find the keys that a row of scores sees: the registry lists them."""


def band(whole: Formula, number: int) -> Formula:
    """
    A kernel over scores (b, m, n) whose rows see a part of the keys: as if it were all, and to find it.
    `number`: of the first of the two operands that say where the tile's rows and keys begin.
    """

    def formula(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
        b, m = extents[:, 0], extents[:, 1]
        found = _ceil(b * m, machine.workers) * machine.workers * BAND_BUNDLES
        own = (*dtypes[:number], *dtypes[number + 2 :])
        return [*whole(machine, extents[:, :3], own, scalars), ("keys of the rows", found)]

    return formula


# Order


def whole_rows(bundles: int, sorts: bool) -> Formula:
    """Kernels over (r, c), a worker a row: `bundles` an element, in a sort for each level of a merge."""

    def formula(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
        r, c = extents.T
        levels = np.ceil(np.log2(np.maximum(c, 2))).astype(np.int64) if sorts else np.ones_like(c)
        rounds = _ceil(r, machine.workers) * machine.workers
        return [
            ("set-up", _constant(r, LOOP)),
            ("rows", rounds * ROW_BUNDLES),
            ("elements", rounds * c * levels * bundles),
            *_f8_store(machine, r * c, dtypes[-1]),
        ]

    return formula


def scatter_add(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    p, t, r, c = extents.T
    width = 2 * _ceil(c, _step(dtypes[:1]))
    return [
        ("set-up", _constant(t, LOOP_BINARY)),
        ("base", _ceil(r * width, machine.workers) * machine.workers * 2),
        ("updates", p * t * machine.workers * (8 + 2 * width)),
    ]


# Windows


def windows(bundles: int) -> Formula:
    """
    `bundles` of a worker for an element of the window and four halves (two floats) of channels; a worker
    takes a row of windows at a time.
    """

    def formula(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
        n, _, _, c, high, wide = extents[:, :6].T
        taps = int(scalars.get("size_y", 1)) * int(scalars.get("size_x", 1))
        rounds = _ceil(n * high, machine.workers) * machine.workers
        vectors = wide * _ceil(c, _step(dtypes[:1]))
        return [
            ("set-up", _constant(n, LOOP_BINARY)),
            ("rows", rounds * ROW_BUNDLES),
            ("windows", rounds * vectors * (taps * bundles + 2)),
            *_f8_store(machine, n * c * high * wide, dtypes[-1]),
        ]

    return formula


# Rows


def rows(bundles: int, once: int) -> Formula:
    """Kernels over (r, c) with `once` cycles of call and set-up for a row, `bundles` of a worker per step."""

    def formula(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
        r, c = extents.T
        return _rows(machine, r, c, _step(dtypes[:1]), bundles, once) + _f8_store(machine, r * c, dtypes[-1])

    return formula


def rows_form(bundles: int, once: int) -> Form:
    """The form that a call of `rows(bundles, once)` uses."""

    def form(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> np.ndarray:
        r, c = extents.T
        return _row_form(machine, r, c, _step(dtypes[:1]), bundles, once)

    return form


MIX, MIX_F8 = (3, 324), (5, 324)
"""Bundles per step of columns, and call and set-up of a row, of a norm that is one product and one sum."""


def norm_mix(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    r, c = extents.T
    return _rows(machine, r, c, _step(dtypes[:1]), *(MIX_F8 if dtypes[-1].startswith("f8") else MIX))


def norm_mix_form(
    machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars
) -> np.ndarray:
    r, c = extents.T
    return _row_form(machine, r, c, _step(dtypes[:1]), *(MIX_F8 if dtypes[-1].startswith("f8") else MIX))


BIAS_GELU = 15, 450
"""Bundles per 4 columns, and cycles of call and set-up of a row. IS: through both fitted points."""
BIAS_GELU_PANEL = 32, 184, 528
"""The same with an f8 result, behind the columns of a panel."""


def bias_gelu(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    """
    15 bundles per 4 columns. With an f8 result, panels of 32 columns: 154 of gelu, 16 of the bias, 14 of the
    panel cast (all IS), and the 528 that one published point leaves.
    """
    r, c = extents.T
    if dtypes[-1].startswith("f8") and _step(dtypes) == 4:
        return _rows(machine, r, c, *BIAS_GELU_PANEL)
    return _rows(machine, r, c, _step(dtypes[:1]), *BIAS_GELU) + _f8_store(machine, r * c, dtypes[-1])


def bias_gelu_form(
    machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars
) -> np.ndarray:
    r, c = extents.T
    panels = dtypes[-1].startswith("f8") and _step(dtypes) == 4
    return _row_form(machine, r, c, *(BIAS_GELU_PANEL if panels else (_step(dtypes[:1]), *BIAS_GELU)))


def _merged_partials(machine: Machine, p: np.ndarray, r: np.ndarray) -> np.ndarray:
    """8 bundles of a worker for each partial mean and variance of its row."""
    return _ceil(r, machine.workers) * machine.workers * 8 * p


APPLY = (15, 324)
"""Bundles per step of columns, and call and set-up of a row, of a norm with gamma and beta."""


def norm_merge_apply(plain: bool) -> Formula:
    """
    Kernels over (p, r, c): statistics of p parts merged, a row by one worker, and the norm of r rows of c
    columns behind it, by the workers that merged their rows or, after another pass, by all.

    `plain`: without gamma and beta, with an f8 store of its own.
    """

    def formula(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
        p, r, c = extents.T
        f8 = dtypes[-1].startswith("f8")
        bundles, once = (MIX_F8 if f8 else MIX) if plain else APPLY
        _, shared, shared_loop, owned, owned_loop = _distributions(
            machine, r, c, _step(dtypes[:1]), bundles, once
        )
        shared = shared + (LOOP - CALL)
        columns = shared + shared_loop <= owned + owned_loop
        return [
            ("call", _constant(r, CALL)),
            ("rows", np.where(columns, shared, owned)),
            ("inner loop", np.where(columns, shared_loop, owned_loop)),
            ("partials", _merged_partials(machine, p, r)),
            *([] if plain else _f8_store(machine, r * c, dtypes[-1])),
        ]

    return formula


def softmax(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    """
    Six rows at a time, each by one worker; rows that do not fill a round may be split over all workers.

    Scalar `split` forces the form of the last rows (0 whole rows, 1 split), as the measurements name one
    each.
    """
    owned, whole, shared = _softmax_rows(machine, extents, dtypes)
    r, c = extents.T
    forced = scalars.get("split")
    last = np.minimum(whole, shared) if forced is None else (shared if forced else whole)
    return [
        ("call", _constant(r, CALL)),
        ("rounds of rows", r // machine.workers * owned),
        ("last rows", last),
        *_f8_store(machine, r * c, dtypes[-1]),
    ]


def softmax_form(
    machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars
) -> np.ndarray:
    """That of the last rows; those before them are always whole rows of the workers."""
    _, whole, shared = _softmax_rows(machine, extents, dtypes)
    forced = scalars.get("split")
    split = (shared < whole) if forced is None else np.full(len(extents), bool(forced))
    return np.where(split, SPLIT_ROW, WHOLE_ROWS)


def _softmax_rows(
    machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cycles of a round of whole rows; of the last rows as whole rows, and split over the workers."""
    r, c = extents.T
    wide = 1 if _step(dtypes) == 4 else 2
    owned = machine.workers * SOFTMAX_BUNDLES * wide * _ceil(c, 16) + 33
    split = 720 - CALL + 94 * machine.workers * wide * _ceil(c, 16 * machine.workers)
    rest = r % machine.workers
    return owned, np.where(rest > 0, owned, 0), rest * split


def softmax_exp(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    """The published softmax less its search for the maximum: exponentials, their sum, and the store."""
    b, m, n = extents.T
    rounds, keys = _ceil(b * m, machine.workers), _ceil(n, 16)
    wide = 1 if _step(dtypes[:1]) == 4 else 2
    bundles = (SOFTMAX_BUNDLES - MAXIMUM_BUNDLES) * wide
    terms: Terms = [
        ("set-up", _constant(n, LOOP)),
        ("rows", rounds * machine.workers * ROW_BUNDLES),
        ("keys", rounds * machine.workers * bundles * keys),
    ]
    if dtypes[2].startswith("f8"):
        terms.append(
            ("f8 store", rounds * machine.workers * 4 * keys)
        )  # PL: 2 bundles per 8, inside the same loop
    return terms


def softmax_part(bundles: int) -> Formula:
    """The published softmax, row by row of the workers, of which `bundles` are kept per 16 halves."""

    def formula(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
        b, m, n = extents.T
        rounds, keys = _ceil(b * m, machine.workers), _ceil(n, 16)
        wide = 1 if _step(dtypes[:1]) == 4 else 2
        terms: Terms = [
            ("call", _constant(n, CALL)),
            ("rows", rounds * 33),  # what the one published point leaves beside the keys and the call
            ("keys", rounds * machine.workers * bundles * wide * keys),
        ]
        if dtypes[1].startswith("f8"):
            terms.append(("f8 store", rounds * machine.workers * F8_PROBABILITIES * keys))
        return terms

    return formula


def softmax_merge(machine: Machine, extents: np.ndarray, dtypes: tuple[str, ...], scalars: Scalars) -> Terms:
    """Weights of the parts row by row, a worker a row; then sums as `reduce_partials` takes them, scaled."""
    p, b, m, n = extents[:, :4].T
    rows = _ceil(b * m, machine.workers) * machine.workers
    rounds = _ceil(b * m * n, 2 * machine.workers * _step((dtypes[0], dtypes[-1])))
    return [
        ("set-up", _constant(n, 282)),
        ("weights", rows * (ROW_BUNDLES + 15 + WEIGHT_BUNDLES * _ceil(p, 2))),
        ("rounds", rounds * machine.workers * 12),
        ("partials", rounds * machine.workers * 3 * (p - 1)),
        *_f8_store(machine, b * m * n, dtypes[-1]),
    ]
