# SPDX-License-Identifier: Apache-2.0
"""
A plan as one value: the strategy and record of every operator, the homes of parameters and inputs, and the
layouts at the boundaries of repeats. With the program it is all that lowering needs.

As a file it is JSON:

    {"format": "tilewright-plan", "version": 2, "machine": "c600",
     "operators": {"layers.q": {"strategy": "grid", "grid": [1, 10, 24, 6], "swap": false}},
     "homes": {"mlp.up": ["[4304/16@1, 1152] ...", "[1152b, 4304a]"]},
     "layouts": {"layers.x": ["[729/6@12, 1152/96@1|16] ..."]}}

An operator's name is that of its value in the program's text, prefixed by its repeats; a home is named by the
tensor it is loaded from, a layout by the argument of the repeat's body. A layout's second text is the view;
it is left out where it is the identity. A plan that is given to a compilation need not be whole: what it does
not name is chosen by the default rule, or searched where an effort is given with it. Version 1 had neither
strategies, homes nor layouts, and is read too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tilewright.diagnostics import TileError
from tilewright.json_text import read_json, unknown_key
from tilewright.machine import Machine, load, names, split_reference
from tilewright.planning.layout import Layout, View
from tilewright.planning.operators.base import Operator
from tilewright.planning.operators.strategy import Choice, read_choice
from tilewright.planning.stages import PlanError
from tilewright.suggestions import near

FORMAT = "tilewright-plan"
VERSION = 2
_KEYS = ("format", "version", "machine", "operators", "homes", "layouts")

Texts = tuple[str, ...]
"""A placement as text: its layout and, unless it is the identity, its view."""


@dataclass(frozen=True)
class Plan:
    """
    What is decided about a program, or demanded of a compilation, by name. Records are kept as they are
    written, because what a record means depends on its operator: `choice` reads one.
    """

    operators: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    homes: Mapping[str, Texts] = field(default_factory=dict)
    layouts: Mapping[str, Texts] = field(default_factory=dict)
    machine: str | None = None
    path: str = ""

    def choice(self, name: str, operator: Operator) -> Choice | None:
        """The strategy and record of an operator, or None where the plan does not name it."""
        data = self.operators.get(name)
        if data is None:
            return None
        try:
            return read_choice(operator, data, self.path or None)
        except PlanError as error:
            raise PlanError(
                f"{name}: {error.message}", location=self.path or None, notes=error.notes, hint=error.hint
            ) from None

    def placement(self, name: str, shape: Sequence[int], *, home: bool) -> tuple[Layout, View] | None:
        """The home or layout called `name`, for a tensor of this shape; None where the plan names none."""
        texts = (self.homes if home else self.layouts).get(name)
        if texts is None:
            return None
        try:
            layout = Layout.parse(texts[0])
            view = View.parse(texts[1]) if len(texts) > 1 else View.identity(layout.shape)
            view.check_inside(layout.shape)
        except TileError as error:
            raise PlanError(
                f"{name}: {error.message}", location=self.path or None, notes=error.notes, hint=error.hint
            ) from None
        if view.shape != tuple(shape):
            raise PlanError(
                f"{name}: the layout is for shape {list(view.shape)}, the tensor has {list(shape)}",
                location=self.path or None,
            )
        return layout, view

    def check_machine(self, machine: Machine) -> None:
        """Refuse a plan that was made for a machine of another content, unless it is called the same."""
        if self.machine is None or self.machine in (machine.name, machine.reference):
            return
        name, digest = split_reference(self.machine)
        if digest is None and name in names():
            digest = load(name).digest
        if digest is None or not machine.digest.startswith(digest):
            raise PlanError(
                f"the plan is for machine {name}, the program for {machine.name}", location=self.path or None
            )

    def check_used(
        self, operators: Sequence[str], homes: Sequence[str] = (), layouts: Sequence[str] = ()
    ) -> None:
        """Every name in the plan has to be one of the program's."""
        for what, named, known in (
            ("operator", self.operators, operators),
            ("parameter or input", self.homes, homes),
            ("argument of a repeat", self.layouts, layouts),
        ):
            for name in named:
                if name not in known:
                    raise PlanError(
                        f"no {what} is called {name!r}",
                        location=self.path or None,
                        hint=near(name, known),
                    )

    # -- files

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Plan:
        """Read a plan file. Raises PlanError."""
        name = os.fspath(path)
        try:
            data = read_json(Path(name).read_text(encoding="utf-8"))
        except OSError as error:
            raise PlanError(f"cannot read the plan: {error.strerror}", location=name) from None
        except (ValueError, UnicodeDecodeError, RecursionError) as error:
            raise PlanError(f"the plan is not JSON: {error}", location=name) from None
        return Plan.from_json(data, name)

    @staticmethod
    def from_json(data: Any, path: str = "") -> Plan:
        """A plan from its JSON value; `path` is where it was read from, for messages. Raises PlanError."""
        where = path or None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise PlanError(f'a plan file has "format": "{FORMAT}"', location=where)
        version = data.get("version")
        if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= VERSION:
            raise PlanError(
                f"the plan has version {version}; this program reads up to {VERSION}",
                location=where,
                hint="use a newer tilewright",
            )
        fault = unknown_key(data, _KEYS, "the plan")
        if fault is not None:
            raise PlanError(fault[0], location=where, hint=fault[1])
        machine = data.get("machine")
        if machine is not None and not isinstance(machine, str):
            raise PlanError('"machine" is the name of a machine', location=where)
        operators = data.get("operators", {})
        if not isinstance(operators, dict) or not all(isinstance(r, dict) for r in operators.values()):
            raise PlanError('"operators" maps operator names to records', location=where)
        placements: dict[str, dict[str, Texts]] = {}
        for key in ("homes", "layouts"):
            found = data.get(key, {})
            if not isinstance(found, dict) or not all(_is_placement(t) for t in found.values()):
                raise PlanError(
                    f'"{key}" maps names to a list of one or two texts: a layout, a view', location=where
                )
            placements[key] = {name: tuple(texts) for name, texts in found.items()}
        return Plan(operators, placements["homes"], placements["layouts"], machine, path)

    def to_json(self) -> dict[str, Any]:
        """The plan as `from_json` takes it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "machine": self.machine,
            "operators": {name: dict(record) for name, record in self.operators.items()},
            "homes": {name: list(texts) for name, texts in self.homes.items()},
            "layouts": {name: list(texts) for name, texts in self.layouts.items()},
        }

    def text(self) -> str:
        """The file, an entry a line."""
        lines: list[str] = []
        for key, value in self.to_json().items():
            if isinstance(value, dict):
                entries = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items()]
                lines.append(
                    f" {json.dumps(key)}: {{" + ("\n" + ",\n".join(entries) + "\n " if entries else "") + "}"
                )
            else:
                lines.append(f" {json.dumps(key)}: {json.dumps(value)}")
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the plan as `read` takes it. Raises PlanError."""
        try:
            Path(path).write_text(self.text(), encoding="utf-8")
        except OSError as error:
            raise PlanError(f"cannot write the plan: {error.strerror}", location=os.fspath(path)) from None


def placement_texts(layout: Layout, view: View) -> Texts:
    """A placement as a plan writes it."""
    return (str(layout),) if view == View.identity(layout.shape) else (str(layout), str(view))


def _is_placement(texts: Any) -> bool:
    return isinstance(texts, list) and len(texts) in (1, 2) and all(isinstance(text, str) for text in texts)
