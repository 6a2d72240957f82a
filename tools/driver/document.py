# SPDX-License-Identifier: Apache-2.0
"""`python -m tilewright.tools.driver.document`: writes what `docs/tile-opt.md` lists, from the code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tilewright.tools.driver.help import option_table, pass_table, stage_table

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "tile-opt.md"


def _options() -> str:
    from tilewright.tools.tile_opt import TileOptMain

    return option_table(TileOptMain(args=[]).parser)


BLOCKS: Mapping[str, Callable[[], str]] = {"options": _options, "passes": pass_table, "stages": stage_table}
"""What stands between `<!-- NAME -->` and `<!-- end of NAME -->`."""


def written(text: str) -> str:
    """The document with its lists as the code has them. ValueError where it has no place for one."""
    for name, make in BLOCKS.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, found, rest = text.partition(begin)
        if not found or end not in rest:
            raise ValueError(f"{DOCUMENT.name} has no place for its {name}")
        text = f"{before}{begin}{make()}{end}{rest.partition(end)[2]}"
    return text


if __name__ == "__main__":
    DOCUMENT.write_text(written(DOCUMENT.read_text("utf-8")), "utf-8")
