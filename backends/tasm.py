# SPDX-License-Identifier: Apache-2.0
"""
Programs as listings (`.tasm`): a line for an instruction, operands below it, exchange rows decoded as
comments.

The listing says the same as the `tile_asm` dialect, without IR, for people and for tools that do not have
xDSL. `parse_tasm` reads back what `format_tasm` writes; the grammar is tasm.lark. Words of tables are
hexadecimal, one row for a range of tiles that share it; those that a sidecar file holds
(`backends.sidecar`) are named instead.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
from lark import Lark, LarkError, Token, Tree

from tilewright.backends import sidecar
from tilewright.backends.program import (
    DEEPEST,
    Axis,
    Binding,
    BindingKind,
    Call,
    Code,
    Constant,
    Exchange,
    Instruction,
    Operand,
    Patch,
    Placed,
    Program,
    ProgramError,
    Repeat,
    Table,
    TableCategory,
    Tap,
    binding_problem,
    constant_problem,
    operand_problem,
    patch_problem,
    repeat_problem,
    scalar_text,
    table_problem,
)
from tilewright.backends.rows import NAMES, decode
from tilewright.machine.dtypes import name_of, numpy_dtype

Node = Tree[Token]


# ------------------------------------------------------------------------------------------------ writing


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _number(value: float) -> str:
    return scalar_text(value) if math.isfinite(value) else str(value)


def _origin(provenance: str) -> str:
    return f" @ {_quote(provenance)}" if provenance else ""


def _instructions(body: tuple[Instruction, ...], indent: str) -> Iterator[str]:
    for instruction in body:
        match instruction:
            case Call():
                scalars = "".join(f" {name}={_number(value)}" for name, value in instruction.scalars)
                what = f"call {_quote(instruction.kernel)} extents {_quote(instruction.extents)}"
                yield f"{indent}{what}{scalars}{_origin(instruction.provenance)}"
                for side, operands in (("in ", instruction.ins), ("out", instruction.outs)):
                    for operand in operands:
                        yield f"{indent}    {side} {operand.text}"
            case Exchange():
                yield (
                    f"{indent}exchange {_quote(instruction.name)} rows {_quote(instruction.rows)}"
                    f"{_origin(instruction.provenance)}"
                )
            case Repeat():
                yield f"{indent}repeat {_quote(instruction.name)} {instruction.count}"
                for patch in instruction.patches:
                    yield (
                        f"{indent}  patch {_quote(patch.rows)} at {_quote(patch.positions)} "
                        f"by {patch.delta_words} field {patch.shift}"
                    )
                yield from _instructions(instruction.body, indent + "  ")
                yield f"{indent}end"
            case Tap():
                yield f"{indent}tap {_quote(instruction.value)} in {_quote(instruction.binding)}"


def _table(table: Table, rows: int) -> Iterator[str]:
    tiles, count = table.words.shape
    yield f".table {_quote(table.name)} {_quote(table.category)} {table.address:#x} {tiles} x {count}"
    if (place := sidecar.place_of(table.words.astype("<u4").tobytes())) is not None:
        yield f"    file {_quote(place.file)} {place.offset} {_quote(place.sha256)}"
    elif tiles:
        changes = np.flatnonzero((table.words[1:] != table.words[:-1]).any(axis=1)) + 1
        bounds = [0, *changes.tolist(), tiles]
        for first, end in pairwise(bounds):
            span = f"{first}" if end == first + 1 else f"{first}-{end - 1}"
            yield f"    tiles {span}: #" + "_".join(f"{word:08x}" for word in table.words[first].tolist())
    if table.category == "rows" and rows:
        yield from _decoded(table.words[:rows])


def _decoded(words: npt.NDArray[np.uint32]) -> Iterator[str]:
    """Rows of the first tiles as comments: what each instruction does and when."""
    events = decode(words)
    for i in range(len(events.tile)):
        facts = [f"{NAMES[events.kind[i]]}, {events.events[i]} cycles"]
        if events.items[i]:
            facts.append(f"sends {events.items[i]} words")
        if events.absolute[i]:
            facts.append(f"from {events.address[i]:#x}")
        if events.select[i] >= 0:
            facts.append(f"listens to {events.select[i]:#x} from cycle {events.control[i]}")
        if events.point[i] >= 0:
            facts.append(f"receives to {events.point[i]:#x}")
        where = f"tile {events.tile[i]}, word {events.word[i]}, cycle {events.start[i]}"
        yield f"    ; {where}: {', '.join(facts)}"


def format_tasm(program: Program, rows: int = 0) -> str:
    """The listing of a program; exchange rows of the first `rows` tiles are also decoded, as comments."""
    lines = [
        f".program {_quote(program.name)} machine {_quote(program.machine)} "
        f"supervisor {program.supervisor_address:#x}"
    ]
    lines += [f".code {_quote(c.kernel)} {c.address:#x} {c.nbytes}" for c in program.code]
    for table in program.tables:
        lines += _table(table, rows)
    for constant in program.constants:
        raw = np.ascontiguousarray(constant.data).tobytes()
        dtype = name_of(constant.data.dtype)
        lines.append(f".constant {_quote(constant.name)} {dtype} {list(constant.data.shape)} #{raw.hex()}")
    for b in program.bindings:
        names = ", ".join(_quote(name) for name in b.tensors)
        lines.append(
            f".binding {_quote(b.name)} {b.kind} {b.address:#x} {b.dtype} layout {_quote(b.layout)} "
            f"view {_quote(b.view)} shape {list(b.shape)} tensors [{names}] "
            f"count {b.count} stride {b.stride} scale {b.scale}"
        )
    for p in program.placed:
        lines.append(
            f".placed {_quote(p.name)} {_quote(p.category)} {p.address:#x} {p.nbytes} {p.first} {p.last}"
            + (f" {_quote(p.layout)}" if p.layout else "")
        )
    lines.append(".text")
    lines += _instructions(program.body, "  ")
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------------------------ reading


@cache
def _grammar() -> Lark:
    source = Path(__file__).with_name("tasm.lark").read_text(encoding="utf-8")
    return Lark(source, parser="lalr", maybe_placeholders=False, propagate_positions=True)


def parse_tasm(text: str) -> Program:
    """The program of a listing; ProgramError names the line that cannot be read, or contradicts another."""
    try:
        tree = _grammar().parse(text)
    except LarkError as error:
        line = getattr(error, "line", None)
        where = f"line {line}" if isinstance(line, int) and line > 0 else "the end"
        raise ProgramError(f"the listing cannot be read at {where}: {str(error).splitlines()[0]}") from None
    nodes = [node for node in tree.children if isinstance(node, Tree)]
    name, machine, supervisor = _tokens(nodes[0])

    def every(kind: str) -> list[Node]:
        return [node for node in nodes if node.data == kind]

    _require_names(every("table"), "tables")
    _require_names(every("binding"), "bindings")
    lines: list[tuple[Instruction, Node]] = []
    program = Program(
        machine=_string(machine),
        name=_string(name),
        code=tuple(_read_code(node) for node in every("code")),
        supervisor_address=_int(supervisor, 0, 2**32 - 1),
        tables=tuple(_read_table(node) for node in every("table")),
        bindings=tuple(_read_binding(node) for node in every("binding")),
        placed=tuple(_read_placed(node) for node in every("placed")),
        body=_read_body(nodes, lines, 0),
        constants=tuple(_read_constant(node) for node in every("constant")),
    )
    for instruction, node in lines:
        absent = program.missing_reference(instruction)
        if absent is not None:
            raise _fail(node, absent)
    return program


def _fail(at: Node | Token, text: str) -> ProgramError:
    line = at.line if isinstance(at, Token) else at.meta.line
    return ProgramError(f"the listing cannot be read at line {line}: {text}")


def _require(at: Node | Token, problem: str | None) -> None:
    if problem is not None:
        raise _fail(at, problem)


def _require_names(nodes: list[Node], what: str) -> None:
    known: dict[str, int] = {}
    for node in nodes:
        name = _tokens(node)[0]
        if name in known:
            raise _fail(node, f"two {what} are named {name}, the first in line {known[name]}")
        known[name] = node.meta.line


def _string(token: Token) -> str:
    try:
        return cast(str, json.loads(token))
    except ValueError as error:
        raise _fail(token, f"{token} is no string: {error}") from None


def _int(token: Token, low: int = -(2**63), high: int = 2**63 - 1) -> int:
    """A number of the text, in decimal or hexadecimal."""
    try:
        value = int(token, 0)
    except ValueError:
        raise _fail(token, f"{token[:40]} is no number") from None
    if not low <= value <= high:
        raise _fail(token, f"{token[:40]} is not a number from {low} to {high}")
    return value


def _tokens(node: Node) -> list[Token]:
    return [child for child in node.children if isinstance(child, Token)]


def _trees(node: Node, *kinds: str) -> list[Node]:
    return [child for child in node.children if isinstance(child, Tree) and child.data in kinds]


def _ints(node: Node) -> tuple[int, ...]:
    return tuple(_int(token) for token in _tokens(node))


def _read_code(node: Node) -> Code:
    name, address, nbytes = _tokens(node)
    return Code(_string(name), _int(address, 0, 2**32 - 1), _int(nbytes, 0, 2**32 - 1))


def _read_table(node: Node) -> Table:
    name, kind, at, tiles, count = _tokens(node)
    category, address, shape = _string(kind), _int(at), (_int(tiles), _int(count))
    _require(node, table_problem(category, address, *shape))
    files = _trees(node, "file")
    if files:
        file, offset, digest = _tokens(files[0])
        size = shape[0] * shape[1] * 4
        raw = sidecar.fetch(sidecar.Reference(_string(file), _int(offset, 0), size, _string(digest)))
        words = np.frombuffer(raw, "<u4").astype(np.uint32).reshape(shape)
        return Table(_string(name), address, words, cast(TableCategory, category))
    words = np.zeros(shape, np.uint32)
    covered = 0
    for row in _trees(node, "row"):
        span, text = _tokens(row)
        first, _, last = span.removeprefix("tiles ").partition("-")
        given = text[1:].split("_") if len(text) > 1 else []
        wrong = next((word for word in given if len(word) != 8), None)
        if wrong is not None:
            raise _fail(row, f"'{wrong[:40]}' is no word: 8 hexadecimal digits")
        start, end = int(first[:20]), int((last or first)[:20]) + 1
        if start != covered or not start < end <= shape[0]:
            raise _fail(row, f"table {name}: '{span[:60]}' does not continue {covered} of {shape[0]} tiles")
        if len(given) != shape[1]:
            raise _fail(row, f"table {name}: {len(given)} words are given for rows of {shape[1]}")
        words[start:end] = np.array([int(word, 16) for word in given], np.uint32)
        covered = end
    if covered != shape[0]:
        raise _fail(node, f"table {name} has rows for {covered} of {shape[0]} tiles")
    return Table(_string(name), address, words, cast(TableCategory, category))


def _read_constant(node: Node) -> Constant:
    name, dtype, text = _tokens(node)
    shape = _ints(_trees(node, "ints")[0])
    if len(text) % 2 == 0 or "_" in text:
        raise _fail(text, "the bytes of a constant are two hexadecimal digits each")
    raw = bytes.fromhex(text[1:])
    _require(node, constant_problem(dtype, shape, len(raw), False))
    return Constant(_string(name), np.frombuffer(raw, numpy_dtype(dtype)).reshape(shape))


def _read_binding(node: Node) -> Binding:
    name, kind, address, dtype, layout, view, count, stride, scale = _tokens(node)
    binding = Binding(
        _string(name),
        cast(BindingKind, str(kind)),
        _int(address),
        str(dtype),
        _string(layout),
        _string(view),
        _ints(_trees(node, "ints")[0]),
        tuple(_string(token) for token in _tokens(_trees(node, "names")[0])),
        _int(count),
        _int(stride),
        _int(scale),
    )
    _require(node, binding_problem(binding))
    return binding


def _read_placed(node: Node) -> Placed:
    name, category, *rest = _tokens(node)
    address, nbytes, first, last = (_int(number) for number in rest[:4])
    layout = _string(rest[4]) if len(rest) > 4 else ""
    return Placed(_string(name), address, nbytes, _string(category), first, last, layout)


Lines = list[tuple[Instruction, Node]]


def _read_body(nodes: list[Node], lines: Lines, depth: int) -> tuple[Instruction, ...]:
    """The instructions among `nodes`; `lines` collects each with its node."""
    found: list[Instruction] = []
    for node in nodes:
        match node.data:
            case "call":
                instruction = _read_call(node)
            case "exchange":
                instruction = _read_exchange(node)
            case "repeat":
                instruction = _read_repeat(node, lines, depth)
            case "tap":
                instruction = _read_tap(node)
            case _:
                continue
        lines.append((instruction, node))
        found.append(instruction)
    return tuple(found)


def _read_origin(node: Node) -> str:
    found = _trees(node, "origin")
    return _string(_tokens(found[0])[0]) if found else ""


def _read_call(node: Node) -> Instruction:
    kernel, extents = _tokens(node)
    scalars = tuple(_read_scalar(scalar) for scalar in _trees(node, "scalar"))

    def operands(kind: str) -> tuple[Operand, ...]:
        return tuple(_read_operand(_trees(side, "operand")[0]) for side in _trees(node, kind))

    return Call(
        _string(kernel), operands("in_"), operands("out"), scalars, _string(extents), _read_origin(node)
    )


def _read_scalar(node: Node) -> tuple[str, int | float]:
    name, text = _tokens(node)
    if text.lstrip("-").isdigit():
        return str(name), _int(text)  # 64 bits
    try:
        return str(name), float(text)
    except ValueError:
        raise _fail(text, f"{text[:40]} is no number") from None


def _read_operand(node: Node) -> Operand:
    address, dtype = _tokens(node)
    axes: list[Axis] = []
    for axis in _trees(node, "axis"):
        digits = [_ints(digit) for digit in _trees(axis, "digit")]
        axes.append(tuple((size, stride) for size, stride in digits))
    steps = _trees(node, "ints")
    operand = Operand(_int(address), str(dtype), tuple(axes), _ints(steps[0]) if steps else ())
    _require(node, operand_problem(operand))
    return operand


def _read_exchange(node: Node) -> Instruction:
    name, rows = _tokens(node)
    return Exchange(_string(rows), _read_origin(node), _string(name))


def _read_repeat(node: Node, lines: Lines, depth: int) -> Instruction:
    name, count = _tokens(node)
    _require(node, repeat_problem(_int(count)))
    if depth >= DEEPEST:
        raise _fail(node, f"repeats are nested deeper than {DEEPEST}")
    patches: list[Patch] = []
    for child in _trees(node, "patch"):
        rows, positions, delta, shift = _tokens(child)
        patches.append(Patch(_string(rows), _string(positions), _int(delta), _int(shift)))
        _require(child, patch_problem(patches[-1]))
    inner = [child for child in node.children if isinstance(child, Tree)]
    return Repeat(_string(name), _int(count), _read_body(inner, lines, depth + 1), tuple(patches))


def _read_tap(node: Node) -> Instruction:
    value, binding = _tokens(node)
    return Tap(_string(value), _string(binding))
