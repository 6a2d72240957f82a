# SPDX-License-Identifier: Apache-2.0
"""A smaller program that still fails: what a failing random program is reported with."""

from __future__ import annotations

import re
from collections.abc import Sequence

import harness
import numpy as np
from random_programs import Program

from tilewright.dialects.parsing import parse_module
from tilewright.dialects.reference import evaluate

_LINE = re.compile(r"  (%\w+) = .* -> (\S+)$|  (%\w+) = .* : (\S+)$")
_NAME = re.compile(r"%\w+")


def note(program: Program, machine: str, error: Exception) -> str:
    """The reduced program and how it fails; or that it could not be made smaller."""
    try:
        small, message = reduced(program, machine)
    except Exception as other:  # the failure as it was found must not be hidden
        return f"not reduced: {other}"
    return f"reduced: {message}\n{small.text}" if small is not program else "not reduced"


def reduced(program: Program, machine: str) -> tuple[Program, str]:
    """
    Drop whatever can be dropped while the program fails with the same kind of error, under default plans:
    first all outputs but one, then operations whose result becomes an input. Programs with repeats stay as
    they are.
    """
    first = failure(program, machine)
    if first is None or "tile_repeat" in program.text:
        return program, first or ""
    kind, best, message = first.partition(":")[0], program, first
    lines = [line for line in program.text.split("\n") if _LINE.match(line)]
    names = [next(n for n in _match(line) if n.startswith("%")) for line in lines]
    values: dict[str, np.ndarray] = {}
    evaluate(parse_module(program.text), program.inputs, program.parameters, keep=values)
    outputs = re.findall(r"  return ([^:]*) :", program.text)[0].split(", ")
    for output in names:
        candidate = _rebuilt(program, lines, [output], (), values)
        if (found := failure(candidate, machine)) is not None and found.startswith(kind):
            best, message, outputs = candidate, found, [output]
            break
    cut: tuple[str, ...] = ()
    for name in names:
        if name in outputs or name[1:] not in values:
            continue
        candidate = _rebuilt(program, lines, outputs, (*cut, name), values)
        if (found := failure(candidate, machine)) is not None and found.startswith(kind):
            best, message, cut = candidate, found, (*cut, name)
    return best, message


def failure(program: Program, machine: str) -> str | None:
    """How a program fails under default plans; None if it does not."""
    try:
        compiled = harness.compile_text(program.text, machine)
        harness.check(compiled, program.inputs, program.parameters, [float("nan")])
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return None


def _match(line: str) -> tuple[str, ...]:
    found = _LINE.match(line)
    assert found is not None
    return tuple(group for group in found.groups() if group is not None)


def _rebuilt(
    program: Program,
    lines: Sequence[str],
    outputs: Sequence[str],
    cut: Sequence[str],
    values: dict[str, np.ndarray],
) -> Program:
    """The program with these outputs alone, and the values `cut` given as inputs."""
    wanted, kept = set(outputs), []
    for line in reversed(lines):
        name, _ = _match(line)
        if name in wanted and name not in cut:
            kept.insert(0, line)
            wanted |= set(_NAME.findall(line))
    header = program.text.split("\n")[0]
    arguments = [
        argument
        for argument in re.findall(r"%\w+: .*?\{tile_tensor\.[^}]*\}", header)
        if argument.partition(":")[0] in wanted
    ]
    types = {name: type_ for name, type_ in map(_match, lines)}
    inputs = dict(program.inputs)
    for name in cut:
        if name in wanted:
            arguments.append(f'{name}: {types[name]} {{tile_tensor.input = "{name[1:]}"}}')
            inputs[name[1:]] = values[name[1:]]
    results = ", ".join(f'{types[v]} {{tile_tensor.output = "{v[1:]}"}}' for v in outputs)
    end = f"  return {', '.join(outputs)} : {', '.join(types[v] for v in outputs)}"
    text = "\n".join([f"func.func @main({', '.join(arguments)}) -> ({results}) {{", *kept, end, "}"])
    return Program(text, inputs, program.parameters)
