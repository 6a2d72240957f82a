# SPDX-License-Identifier: Apache-2.0
"""`python -m tilewright.tools.driver.document`: writes the table of options in `docs/tile-opt.md`."""

from __future__ import annotations

from pathlib import Path

from tilewright.tools.driver.help import option_table

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "tile-opt.md"
BEGIN, END = "<!-- options -->\n", "<!-- end of options -->\n"


def written(text: str) -> str:
    """The document with its table as the code has it."""
    from tilewright.tools.tile_opt import TileOptMain

    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}{option_table(TileOptMain(args=[]).parser)}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    DOCUMENT.write_text(written(DOCUMENT.read_text("utf-8")), "utf-8")
