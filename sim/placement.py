# SPDX-License-Identifier: Apache-2.0
"""
What is checked of an image before it is loaded: where code, tables and bindings lie, and whether the entries
of the manifest go together. Everything is arithmetic on ranges; nothing is expanded before its size is known.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod

import numpy as np

from tilewright.backends.image import Image
from tilewright.backends.program import TABLE_CATEGORIES, Binding, binding_problem, places
from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels import UnknownKernel, kernel
from tilewright.planning.layout import Layout
from tilewright.planning.layout.view import LayoutError, View
from tilewright.sim.illegal import IllegalProgram

MOST_MEMBERS = 1 << 20
"""Members of a sequence."""
_EXECUTED = ("rows", "code")
"""Categories of segments that are executed: exchange rows and the supervisor program."""


def check_image(image: Image, machine: Machine) -> None:
    """Raises IllegalProgram for what no run of the image can be legal with."""
    for segment in image.segments:
        _check_segment(segment.name, segment.address, segment.words, segment.category, machine)
    for code in image.code:
        _check_code(code.kernel, code.address, code.nbytes, machine)
    address, count = image.supervisor
    check_executed("the supervisor program", address, 4 * count, machine)
    _check_apart(image)
    names: set[tuple[str, str]] = set()
    for binding in image.bindings:
        if (binding.kind, binding.name) in names:
            raise _contradiction(binding, "two bindings of one kind have this name")
        names.add((binding.kind, binding.name))
        _check_binding(binding, machine)
    for tap in image.taps:
        if all(name != tap.binding for _, name in names):
            raise IllegalProgram(
                f"the tap of '{tap.value}' names the binding '{tap.binding}', which is not there",
                rule="malformed manifest",
            )


def reserved(machine: Machine, start: int, end: int) -> str | None:
    """The reservation that [start, end) touches, or None."""
    return next((r.name for r in machine.reservations if start < r.end and end > r.start), None)


def check_range(what: str, start: int, end: int, machine: Machine, phase: str | None = None) -> None:
    """Refuse a range that leaves the SRAM or touches a reservation."""
    if not machine.sram_base <= start <= end <= machine.sram_end:
        raise IllegalProgram(
            f"{what} takes {end - start} bytes", rule="address out of range", address=start, phase=phase
        )
    name = reserved(machine, start, end)
    if name is not None:
        raise IllegalProgram(
            f"{what} takes {end - start} bytes and touches the {name}",
            rule="reserved memory",
            address=start,
            phase=phase,
        )


def check_executed(what: str, address: int, nbytes: int, machine: Machine, phase: str | None = None) -> None:
    """Refuse what is executed from where it cannot be, or with too little room for instruction fetch."""
    region = machine.region_of(address)
    if region is None or not region.executable or address + nbytes > region.end:
        raise IllegalProgram(
            f"{what} takes {nbytes} bytes at {address:#x}, outside the executable region",
            rule="code outside the executable region",
            address=address,
            phase=phase,
        )
    room = region.end - address - nbytes
    if room < machine.fetch_guard_bytes:
        raise IllegalProgram(
            f"{what} ends {room} bytes before the end of the executable region at {region.end:#x}, "
            f"instruction fetch reads {machine.fetch_guard_bytes} ahead",
            rule="no room for fetch",
            address=address,
            phase=phase,
        )


def _require_words(what: str, address: int) -> None:
    if address % 4:
        raise IllegalProgram(f"{what} is not at a word", rule="misaligned access", address=address)


def _check_segment(name: str, address: int, words: np.ndarray, category: str, machine: Machine) -> None:
    what = f"'{name}'"
    if category not in (*TABLE_CATEGORIES, "code"):
        raise IllegalProgram(f"{what} is of no category: '{category}'", rule="malformed manifest")
    if words.ndim != 2 or words.shape[0] not in (1, machine.tiles):
        raise IllegalProgram(
            f"table {what} is for {words.shape[0] if words.ndim else 0} tiles, "
            f"the machine has {machine.tiles}",
            rule="malformed manifest",
        )
    nbytes = 4 * words.shape[1]
    if not nbytes:
        return
    _require_words(what, address)
    if category in _EXECUTED:
        check_executed(what, address, nbytes, machine)
    check_range(what, address, address + nbytes, machine)


def _check_code(name: str, address: int, nbytes: int, machine: Machine) -> None:
    what = f"code of {name}"
    try:
        wanted = kernel(name).code_bytes
    except UnknownKernel as error:
        raise IllegalProgram(str(error), rule="code of no kernel", address=address) from None
    if nbytes != wanted:
        raise IllegalProgram(
            f"{what} takes {wanted} bytes, not {nbytes}", rule="code of no kernel", address=address
        )
    _require_words(what, address)
    check_executed(what, address, nbytes, machine)
    check_range(what, address, address + nbytes, machine)


def _check_apart(image: Image) -> None:
    """Code, supervisor program and tables live for the whole run."""
    ranges = [(s.address, s.address + s.nbytes, f"'{s.name}'") for s in image.segments if s.nbytes]
    ranges += [(c.address, c.address + c.nbytes, f"code of {c.kernel}") for c in image.code]
    for (_, end, first), (start, _, second) in pairwise(sorted(ranges)):
        if start < end:
            raise IllegalProgram(
                f"{second} at {start:#x} overlaps {first}, which ends at {end:#x}",
                rule="overlapping placement",
                address=start,
            )


def _contradiction(binding: Binding, text: str) -> IllegalProgram:
    return IllegalProgram(f"binding '{binding.name}': {text}", rule="malformed manifest")


def _check_binding(binding: Binding, machine: Machine) -> None:
    problem = binding_problem(binding)
    if problem is not None:
        raise _contradiction(binding, problem)
    if binding.count > MOST_MEMBERS:
        raise _contradiction(binding, f"it has {binding.count} members")
    size = itemsize(binding.dtype)
    layout, view = places(binding.layout, binding.view)
    _check_size(binding, layout, view, size, machine)
    try:
        nbytes = -(-int(layout.shard_bytes_per_tile(size, machine.tiles).max(initial=0)) // 4) * 4
    except LayoutError as error:
        raise _contradiction(binding, error.message) from None
    shape = view.shape
    lead = binding.shape[: len(binding.shape) - len(shape)]
    members = binding.count if binding.kind in ("input", "output") else 1
    single = binding.kind not in ("input", "output")
    if (*lead, *shape) != tuple(binding.shape) or prod(lead) != members or (single and lead):
        raise _contradiction(
            binding,
            f"shape {list(binding.shape)} are not {binding.count} members of view {list(view.shape)}",
        )
    if binding.kind in ("parameter", "constant"):
        named = len(binding.tensors) or int(binding.count == 1)
        if named != binding.count:
            raise _contradiction(binding, f"it has {binding.count} members but names {named} tensors")
    if not nbytes or not binding.count:
        return
    _require_words(f"'{binding.name}'", binding.address)
    if binding.count > 1 and (binding.stride < nbytes or binding.stride % 4):
        raise _contradiction(binding, f"members of {nbytes} bytes are {binding.stride} bytes apart")
    for member in range(binding.count):
        start = binding.address + member * binding.stride
        check_range(f"'{binding.name}'", start, start + nbytes, machine)


def _check_size(binding: Binding, layout: Layout, view: View, size: int, machine: Machine) -> None:
    """Refuse what the machine could not hold, before tables of its elements are made."""
    total = machine.tiles * machine.sram_bytes
    if prod(layout.shape) * size > total or prod(view.shape) > 4 * total:
        raise _contradiction(binding, "it has more elements than the machine has room for")
    if layout.shard_bytes(size) > machine.sram_bytes:
        raise _contradiction(
            binding, f"a shard of {layout.shard_bytes(size)} bytes is larger than the SRAM of a tile"
        )
    if layout.parts_at_most > 64 * machine.tiles or layout.tile_count() > machine.tiles:
        raise _contradiction(binding, f"its layout uses more tiles than the {machine.tiles} there are")
