# SPDX-License-Identifier: Apache-2.0
"""Remarks for programs: a list as JSON, or as YAML (of which JSON's scalars are a part)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tilewright.dialects.text.sources import Sources
from tilewright.instrumentation import Remark
from tilewright.tools.driver.output import replace_file
from tilewright.tools.driver.render import position_of

FORMAT = {"format": "tilewright-remarks", "version": 1}


def remark_data(remark: Remark, sources: Sources) -> dict[str, object]:
    """A remark as data. `file`, `line` and `column` are left out where it has no place in a text."""
    position, _ = position_of(remark.location, sources)
    data: dict[str, object] = {"pass": remark.step, "category": remark.category, "message": remark.message}
    if position is not None:
        data |= {"file": position.file, "line": position.line, "column": position.column}
    if remark.values:
        data["values"] = dict(remark.values)
    return data


def write_remarks(path: Path, remarks: Sequence[Mapping[str, object]]) -> None:
    """Write `{format, version, remarks}`."""
    if path.suffix in (".yaml", ".yml"):
        lines = [f"{key}: {json.dumps(value)}" for key, value in FORMAT.items()]
        lines.append("remarks:" if remarks else "remarks: []")
        for remark in remarks:
            for number, (key, value) in enumerate(remark.items()):
                lines.append(f"{'- ' if number == 0 else '  '}{key}: {json.dumps(value, default=str)}")
        replace_file(path, "\n".join(lines) + "\n")
        return
    text = json.dumps({**FORMAT, "remarks": list(remarks)}, indent=1, default=str)
    replace_file(path, text + "\n")
