# SPDX-License-Identifier: Apache-2.0
"""
Plan files: JSON that forces the plan records of named operators.

    {"format": "tilewright-plan", "version": 1, "machine": "c600",
     "operators": {"layers.q": {"grid": [1, 10, 24, 6], "swap": false}}}

An operator's name is that of its value in the program text, prefixed by its repeats. Operators that are not
named are planned by the default rule; a name that no operator has is an error.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tilewright.planning.operators.base import Record
from tilewright.planning.stages import PlanError

FORMAT = "tilewright-plan"
VERSION = 1


@dataclass(frozen=True)
class PlanFile:
    """Records by operator name, as read."""

    operators: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    machine: str | None = None
    path: str = ""

    @staticmethod
    def read(path: str | os.PathLike[str]) -> PlanFile:
        name = os.fspath(path)
        try:
            data = json.loads(Path(name).read_text(encoding="utf-8"))
        except OSError as error:
            raise PlanError(f"cannot read the plan: {error.strerror}", location=name) from None
        except (ValueError, UnicodeDecodeError) as error:
            raise PlanError(f"the plan is not JSON: {error}", location=name) from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise PlanError(f'a plan file has "format": "{FORMAT}"', location=name)
        version = data.get("version")
        if not isinstance(version, int) or version > VERSION:
            raise PlanError(
                f"the plan has version {version}; this program reads up to {VERSION}",
                location=name,
                hint="use a newer tilewright",
            )
        operators = data.get("operators", {})
        if not isinstance(operators, dict) or not all(isinstance(r, dict) for r in operators.values()):
            raise PlanError('"operators" maps operator names to records', location=name)
        return PlanFile(operators, data.get("machine"), name)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the plan as `read` takes it, an operator a line."""
        head = {"format": FORMAT, "version": VERSION, "machine": self.machine}
        lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
        records = [f"  {json.dumps(name)}: {json.dumps(record)}" for name, record in self.operators.items()]
        operators = ' "operators": {' + ("\n" + ",\n".join(records) + "\n " if records else "") + "}"
        try:
            Path(path).write_text("\n".join(["{", *lines, operators, "}"]) + "\n", encoding="utf-8")
        except OSError as error:
            raise PlanError(f"cannot write the plan: {error.strerror}", location=os.fspath(path)) from None

    def check_machine(self, machine: str) -> None:
        if self.machine is not None and self.machine != machine:
            raise PlanError(
                f"the plan is for machine {self.machine}, the program for {machine}", location=self.path
            )

    def record(self, name: str, kind: type[Record], where: object) -> Record | None:
        """The record of an operator, or None where the plan does not name it."""
        data = self.operators.get(name)
        if data is None:
            return None
        try:
            return kind.from_json(data)
        except PlanError as error:
            raise PlanError(f"{name}: {error.message}", location=self.path, notes=error.notes) from None

    def check_used(self, names: Sequence[str]) -> None:
        """Every name in the plan has to be an operator's."""
        for name in self.operators:
            if name not in names:
                near = difflib.get_close_matches(name, names, 3)
                raise PlanError(
                    f"no operator is called {name!r}",
                    location=self.path,
                    hint=f"did you mean {', '.join(near)}?" if near else None,
                )
