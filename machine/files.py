# SPDX-License-Identifier: Apache-2.0
"""
Machine files: TOML read into a `Machine` and checked, machines by name, path or reference.

The format is in docs/spec/machine-file.md. Whatever later levels rely on is checked here, at the
line of the field.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import tomllib
import typing
from pathlib import Path
from typing import Any

from tilewright.machine import topology as fabric
from tilewright.machine.description import CATEGORIES, DIGEST_DIGITS, MEMORY_CLASSES, Machine, MachineError
from tilewright.suggestions import near

FORMAT = "tilewright-machine"
VERSION = 2
DROPPED = {
    "machine.store_granule": 4,
    "machine.exchange.word_bytes": 4,
    "machine.exchange.bytes_per_cycle": 4,
    "machine.exchange.paired_bytes_per_cycle": 8,
    "machine.exchange.host_source": 0x600,
}
"""Fields of version 1 that had no effect, and the one value that said what was so."""
LIMITS = {
    "send_words_max": 64,
    "sendoff_max": 4096,
    "delay_max": 1 << 19,
    "control_delay_max": 128,
    "select_delay_max": 4096,
    "message_max_words": 1 << 18,
}
"""Most that the count of each exchange instruction can say (docs/spec/rows.md)."""
LARGEST = 1 << 40
"""No number of a machine file is larger."""
ADDRESS_END = 1 << 20
"""First address beyond the 18 bits of a word address in an exchange instruction."""
SOURCES = 1 << 13
"""Source numbers that the 13 bits of a selection can name."""
ELEMENT_GRAIN = 64
"""Memory elements are whole numbers of as many bytes: accesses are traced to elements in such steps."""
_FOLDER = Path(__file__).parent


def _fail(path: Path, message: str, hint: str | None = None, at: str = "") -> typing.NoReturn:
    """Raise MachineError; `at` is the dotted name of the field, whose line is looked up."""
    line = _line_of(path, at)
    raise MachineError(message, location=f"{path}:{line}" if line else str(path), hint=hint)


def _line_of(path: Path, at: str) -> int:
    """The line that writes the field of that dotted name, else that of its table; 0 if there is neither."""
    names = at.removeprefix("machine").removeprefix(".").split(".")
    key = re.sub(r"\[\d+\]$", "", names[-1])
    element = re.fullmatch(r"(\w+)\[(\d+)\]", names[0])
    table, index = (element[1], int(element[2])) if element else (names[0] if len(names) > 1 else "", 0)
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if at else []
    except (OSError, UnicodeDecodeError):
        return 0
    current, seen, best = "", {"": 1}, 0
    for number, line in enumerate(lines, 1):
        header = re.match(r"\s*\[\[?\s*(\w+)", line)
        if header:
            current = header[1]
            seen[current] = seen.get(current, 0) + 1
        if current != table or seen.get(table, 0) != index + 1:
            continue
        if re.match(rf"\s*{re.escape(key)}\s*=", line):
            return number
        if header:
            best = number
    return best


def _too_large(value: Any) -> bool:
    return isinstance(value, int) and value > LARGEST


def _value(path: Path, where: str, kind: Any, value: Any) -> Any:
    """`value` checked against an annotation of the dataclasses above."""
    origin = typing.get_origin(kind)
    if origin is tuple:
        element = typing.get_args(kind)[0]
        if not isinstance(value, list):
            _fail(path, f"{where} must be an array, not {type(value).__name__}", at=where)
        return tuple(_value(path, f"{where}[{i}]", element, v) for i, v in enumerate(value))
    if dataclasses.is_dataclass(kind):
        return _record(path, where, typing.cast(type, kind), value)
    if kind is bool:
        good = isinstance(value, bool)
    elif kind is int:
        good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST
    else:
        good = isinstance(value, kind)
    if not good:
        wanted = {
            int: "an integer from 0 to 2^40" if _too_large(value) else "a non-negative integer",
            bool: "true or false",
            str: "a string",
        }[kind]
        _fail(path, f"{where} must be {wanted}, not {value!r}", at=where)
    return value


def _record(
    path: Path, where: str, kind: type, table: Any, extra: typing.Mapping[str, Any] | None = None
) -> Any:
    """A dataclass from a TOML table; every field named, none left over."""
    if not isinstance(table, dict):
        _fail(path, f"{where} must be a table, not {type(table).__name__}", at=where)
    annotations = typing.get_type_hints(kind)
    given: dict[str, Any] = dict(extra or {})
    fields = [f for f in dataclasses.fields(kind) if f.name not in given]
    known = [f.name for f in fields]
    for name in table:
        if name not in known:
            hint = near(name, known, limit=1) or f"its fields are {', '.join(known)}"
            _fail(path, f"unknown field {name!r} in {where}", hint, f"{where}.{name}")
    for f in fields:
        if f.name not in table:
            _fail(path, f"{where} has no {f.name!r}", at=f"{where}.{f.name}")
        given[f.name] = _value(path, f"{where}.{f.name}", annotations[f.name], table[f.name])
    return kind(**given)


def _within(path: Path, where: str, value: int, low: int, high: int | None = None) -> None:
    """Refuse a number outside of low .. high (inclusive)."""
    if value < low or (high is not None and value > high):
        wanted = f"at least {low:,}" if high is None else f"from {low:,} to {high:,}"
        _fail(path, f"{where} must be {wanted}, not {value:,}", at=where)


def _check(path: Path, machine: Machine) -> None:
    """The consistency that later levels rely on."""
    for name in ("tiles", "clock_hz", "workers"):
        _within(path, f"machine.{name}", getattr(machine, name), 1)
    topology = machine.topology
    if machine.tiles % 2:
        _fail(path, "tiles must be even: two tiles share an exchange bus", at="machine.tiles")
    if topology.rows * len(topology.columns) * fabric.LANES != machine.tiles:
        _fail(
            path,
            f"{topology.rows} rows x {len(topology.columns)} columns x {fabric.LANES} lanes"
            f" are not {machine.tiles} tiles",
            at="machine.tiles",
        )
    if len(dict.fromkeys(topology.columns)) != len(topology.columns) or any(
        c >= fabric.COLUMNS for c in topology.columns
    ):
        _fail(
            path,
            f"topology.columns must be distinct and below {fabric.COLUMNS}",
            at="machine.topology.columns",
        )
    _within(path, "machine.topology.rows", topology.rows, 1, SOURCES // fabric.POSITIONS)
    _check_memory(path, machine)
    exchange = machine.exchange
    for name, most in LIMITS.items():
        _within(path, f"machine.exchange.{name}", getattr(exchange, name), 1, most)
    for name, most in (
        ("phase_overhead", 1 << 32),
        ("lead_in", 1 << 16),
        ("select_lead", 1 << 16),
        ("select_lead_per_row", 1 << 12),
    ):
        _within(path, f"machine.exchange.{name}", getattr(exchange, name), 0, most)
    _within(path, "machine.exchange.paired_min_items", exchange.paired_min_items, 1)
    _within(path, "machine.exchange.neutral_source", exchange.neutral_source, 0, SOURCES - 1)
    if machine.logical(exchange.neutral_source) >= 0:
        _fail(
            path,
            f"machine.exchange.neutral_source {exchange.neutral_source:#x} is the physical id of tile"
            f" {int(machine.logical(exchange.neutral_source))}",
            "give a number that no tile has",
            "machine.exchange.neutral_source",
        )


def _check_memory(path: Path, machine: Machine) -> None:
    """Regions and reservations."""
    if not machine.regions:
        _fail(path, "the machine has no memory region")
    cursor = machine.sram_base
    for i, region in enumerate(machine.regions):
        where = f"machine.regions[{i}]"
        if region.start != cursor:
            _fail(
                path,
                f"region {region.name!r} starts at {region.start:#x}, expected {cursor:#x}",
                at=f"{where}.start",
            )
        if region.end <= region.start or not region.element_bytes:
            _fail(path, f"region {region.name!r} is empty", at=f"{where}.end")
        if region.bytes % region.element_bytes:
            _fail(
                path, f"region {region.name!r} is not a whole number of elements", at=f"{where}.element_bytes"
            )
        if region.element_bytes % ELEMENT_GRAIN or region.start % ELEMENT_GRAIN:
            _fail(
                path,
                f"region {region.name!r}: start and elements must be multiples of {ELEMENT_GRAIN} bytes",
                at=f"{where}.element_bytes",
            )
        _within(path, f"{where}.interleave", region.interleave, 1, 2)
        if region.load_bytes not in (4, 8, 16, 32, 64, 128):
            _fail(
                path,
                f"{where}.load_bytes must be a power of two from 4 to 128, not {region.load_bytes}",
                at=f"{where}.load_bytes",
            )
        if [r.name for r in machine.regions].count(region.name) > 1:
            _fail(path, f"two regions are called {region.name!r}", at=f"{where}.name")
        if region.name not in MEMORY_CLASSES:
            _fail(
                path,
                f"region {region.name!r} is no class of memory",
                f"a region is {' or '.join(MEMORY_CLASSES)}",
                f"{where}.name",
            )
        cursor = region.end
    if cursor != machine.sram_end:
        _fail(
            path,
            f"the regions end at {cursor:#x}, the memory at {machine.sram_end:#x}",
            at="machine.sram_bytes",
        )
    if machine.sram_end > ADDRESS_END:
        _fail(
            path,
            f"the memory ends at {machine.sram_end:#x}; exchange instructions reach {ADDRESS_END:#x}",
            at="machine.sram_bytes",
        )
    if not any(region.executable for region in machine.regions):
        _fail(path, "no region is executable: code has no place", at="machine.regions[0].executable")
    end = machine.sram_base
    for i, taken in sorted(enumerate(machine.reservations), key=lambda item: item[1].start):
        where = f"machine.reservations[{i}]"
        if taken.category not in CATEGORIES:
            _fail(
                path,
                f"reservation {taken.name!r}: {taken.category!r} is no memory category",
                ", ".join(CATEGORIES),
                f"{where}.category",
            )
        if not machine.sram_base <= taken.start < taken.end <= machine.sram_end:
            _fail(path, f"reservation {taken.name!r} is not inside the memory", at=f"{where}.start")
        if taken.start < end:
            _fail(path, f"reservation {taken.name!r} overlaps another one", at=f"{where}.start")
        end = taken.end


def _without_dropped(path: Path, table: dict[str, Any]) -> None:
    """Take the fields that version 2 no longer has from a table of version 1, and add what it did without."""
    if isinstance(table.get("exchange"), dict):
        table["exchange"].setdefault("lead_in", 0)
    for where, value in DROPPED.items():
        *tables, key = where.removeprefix("machine.").split(".")
        holder: Any = table
        for name in tables:
            holder = holder.get(name) if isinstance(holder, dict) else None
        if not isinstance(holder, dict) or key not in holder:
            continue
        if holder.pop(key) != value:
            _fail(
                path,
                f"{where} is not {value:#x}" if value > 64 else f"{where} is not {value}",
                f"it is the only value that version 1 knew, and never had an effect; version {VERSION} has no"
                " such field",
                where,
            )


def read(path: Path) -> Machine:
    """A machine from a TOML file; MachineError says what is wrong with it and where."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        _fail(path, f"cannot read machine file: {error}")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        _fail(path, f"not a TOML file: {error}")
    if table.pop("format", None) != FORMAT:
        _fail(path, f'no machine file: expected format = "{FORMAT}"')
    version = table.pop("version", None)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        _fail(path, f"version must be a positive integer, not {version!r}")
    if version > VERSION:
        _fail(path, f"machine file has version {version}; this reader knows {FORMAT} up to version {VERSION}")
    if version == 1:
        _without_dropped(path, table)
    machine = _record(path, "machine", Machine, table, {"path": str(path)})
    _check(path, machine)
    return machine


def agree(first: str, second: str) -> Machine:
    """
    The machine that two names, paths or references stand for, loaded from the first of them. MachineError if
    they differ in content, with the fields.
    """
    machine = load(first)
    if first == second:
        return machine
    source, digest = split_reference(second)
    if digest is not None and machine.digest.startswith(digest):
        return machine  # its file may have moved since
    other = load(second)
    if other != machine:
        fields = machine.differences(other)
        more = f" and {len(fields) - 4} more" if len(fields) > 4 else ""
        raise MachineError(
            f"{first} and {source} are different machines",
            notes=(f"they differ in {'; '.join(fields[:4])}{more}",),
        )
    return machine


def split_reference(text: str) -> tuple[str, str | None]:
    """Name or path, and the beginning of the digest where the reference has one."""
    found = re.fullmatch(rf"(.+)@([0-9a-f]{{{DIGEST_DIGITS}}})", text)
    return (found[1], found[2]) if found else (text, None)


def names() -> tuple[str, ...]:
    """Names of the machines that come with the package."""
    return tuple(sorted(p.stem for p in _FOLDER.glob("*.toml")))


@functools.cache
def _shipped(name: str) -> Machine:
    return read(_FOLDER / f"{name}.toml")


def load(name_or_path: str | Path) -> Machine:
    """
    The machine of that name (c600, t4, t16, t64), or the one in a TOML file.

    Anything with a path separator or ending in `.toml` is a path; "@" and the beginning of a digest behind
    it say what the file has to contain (`Machine.reference`). Raises MachineError.
    """
    text, digest = split_reference(str(name_or_path))
    if digest is not None:
        machine = load(text)
        if not machine.digest.startswith(digest):
            raise MachineError(
                "the machine file is not the one that the program was compiled for",
                location=machine.path,
                notes=(f"the program names digest {digest}, the file has {machine.digest[:DIGEST_DIGITS]}",),
                hint="compile again, or give the file as it was with --machine",
            )
        return machine
    if text in names():
        return _shipped(text)
    if isinstance(name_or_path, Path) or text.endswith(".toml") or "/" in text:
        return read(Path(text))
    raise MachineError(
        f"unknown machine {text!r}",
        hint=f"known machines are {', '.join(names())}; or give the path of a TOML file",
    )
