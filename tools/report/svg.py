# SPDX-License-Identifier: Apache-2.0
"""
Draws layouts as SVG: a value as its elements and as the tiles of the chip, in one colour where the same part
is; a conversion as its two values with what moves in between.
"""

from __future__ import annotations

from html import escape
from textwrap import wrap

import numpy as np

from tilewright.tools.report.pictures import Chip, Ints, Moved, Picture

WIDTH, HEIGHT = 440, 260
"""Room for the elements of a value, and for the chip, in pixels."""
MIDDLE = 300
"""Room for the moves between two values."""
MARGIN, LINE = 20, 18

_FRAME = "#c3c9d1"
_EMPTY = "#e9eef5"
_FAINT = "#5b6570"


def colour(tile: int) -> str:
    """The colour of what a tile holds; the page of tile-report computes the same."""
    return f"hsl({tile * 137.508 % 360:.0f} 55% {58 + tile * 7 % 18}%)"


def value_svg(picture: Picture, chip: Chip) -> str:
    """A value: its elements above, the chip below."""
    body, height = _value(picture, chip)
    return _document(WIDTH + 2 * MARGIN, height + 2 * MARGIN, [_at(MARGIN, MARGIN, body)])


def conversion_svg(title: str, source: Picture, target: Picture, moves: Moved, chip: Chip) -> str:
    """A conversion: the value before on the left, after on the right, what moves in between."""
    left, one = _value(source, chip)
    right, two = _value(target, chip)
    top = MARGIN + LINE + 6
    height = max(one, two)
    width = 2 * WIDTH + MIDDLE + 2 * MARGIN
    parts = [
        _text(MARGIN, MARGIN + 10, title, bold=True, room=width - 2 * MARGIN),
        _at(MARGIN, top, left),
        _at(MARGIN + WIDTH, top, _moves(moves, chip, height)),
        _at(MARGIN + WIDTH + MIDDLE, top, right),
    ]
    return _document(width, top + height + MARGIN, parts)


# ---------------------------------------------------------------------------------------------- a value


def _value(picture: Picture, chip: Chip) -> tuple[str, int]:
    """The drawing of a value, and its height."""
    value = picture.value
    shape = " x ".join(map(str, value.view.shape)) or "one element"
    holders = int((picture.first >= 0).sum())
    copies = f", {picture.copies} copies of each element" if picture.copies > 1 else ""
    spare, total = int(picture.padding.sum()), int(picture.nbytes.sum())
    most = int(picture.nbytes.max(initial=0))
    lines = [
        f"{shape} of {value.dtype} ({value.what})" if value.what else f"{shape} of {value.dtype}",
        f"on {holders:,} of {chip.tiles:,} tiles{copies}; at most {most:,} bytes",
        f"padding: {spare:,} of {total:,} bytes",
        f"layout {value.layout}",
        f"view {value.view}",
    ]
    parts = [_text(0, 10, value.name, bold=True, room=WIDTH)]
    y = 10
    for line in (part for text in lines for part in wrap(text, int(WIDTH / _CHARACTER)) or [""]):
        y += LINE
        parts.append(_text(0, y, line, faint=True))
    y += 12
    parts.append(_at(0, y, _elements(picture)))
    y += HEIGHT + LINE
    parts.append(
        _text(0, y, f"elements: {picture.height:,} rows down, {picture.width:,} columns across", faint=True)
    )
    y += 12
    drawn, below = _chip(picture, chip)
    parts.append(_at(0, y, drawn))
    y += below + LINE
    what = "tiles on the chip; one colour: the same part; dark: padding"
    parts.append(_text(0, y, what, faint=True))
    return "".join(parts), y + 6


def _elements(picture: Picture) -> str:
    rows, columns = picture.owners.shape
    parts = [_rect(0, 0, WIDTH, HEIGHT, "none", stroke=_FRAME)]
    if not rows or not columns:
        return parts[0]
    wide, high = WIDTH / columns, HEIGHT / rows
    for row, column, down, across, tile in _blocks(picture.owners):
        parts.append(
            _rect(column * wide, row * high, across * wide, down * high, colour(tile), f"tile {tile}")
        )
        if across * wide >= 30 and down * high >= 16:
            parts.append(_label((column + across / 2) * wide, (row + down / 2) * high, str(tile)))
    return "".join(parts)


def _blocks(owners: Ints) -> list[tuple[int, int, int, int, int]]:
    """
    Rectangles of one owner that cover the raster: (row, column, rows, columns, tile). Equal stretches of
    successive rows are one.
    """
    found: list[list[int]] = []
    above: dict[tuple[int, int, int], list[int]] = {}
    for row, line in enumerate(owners):
        starts = np.flatnonzero(np.concatenate(([True], line[1:] != line[:-1])))
        here: dict[tuple[int, int, int], list[int]] = {}
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), line.size], strict=True):
            key = (start, end, int(line[start]))
            if key in above:
                above[key][2] += 1
                here[key] = above[key]
            else:
                here[key] = [row, start, 1, end - start, key[2]]
                found.append(here[key])
        above = here
    return [(block[0], block[1], block[2], block[3], block[4]) for block in found]


def _chip(picture: Picture, chip: Chip) -> tuple[str, int]:
    """The chip's tiles, and the height of the drawing."""
    side = min(WIDTH / chip.columns, HEIGHT / chip.rows)
    wide, high = WIDTH / chip.columns, min(HEIGHT / chip.rows, max(side, 10.0))
    gap = 1.0 if min(wide, high) > 5 else 0.3
    most = max(int(picture.nbytes.max(initial=0)), 1)
    parts: list[str] = []
    for tile in range(chip.tiles):
        x, y = int(chip.column[tile]) * wide, int(chip.row[tile]) * high
        first, held = int(picture.first[tile]), int(picture.nbytes[tile])
        if first < 0:
            parts.append(_rect(x, y, wide - gap, high - gap, _EMPTY))
            continue
        spare = int(picture.padding[tile])
        copy = f", as tile {first}" if first != tile else ""
        about = f"tile {tile}{copy}: {held:,} bytes" + (f", {spare:,} padding" if spare else "")
        parts.append(_rect(x, y, wide - gap, high - gap, colour(first), about))
        if spare:
            part = max((high - gap) * spare / most, 0.8)
            parts.append(_rect(x, y + high - gap - part, wide - gap, part, "#00000088"))
        if wide >= 24 and high >= 14:
            parts.append(_label(x + (wide - gap) / 2, y + (high - gap) / 2, str(tile)))
    return "".join(parts), round(high * chip.rows)


# -------------------------------------------------------------------------------------------- the moves


def _moves(moves: Moved, chip: Chip, height: int) -> str:
    """Ends of the chip on both sides, and a line from sender to receiver, as thick as its bytes are many."""
    lines = [
        f"{moves.total:,} bytes move",
        f"{moves.stays:,} stay on their tile",
        f"at most {moves.most:,} to one tile",
        f"{moves.spans:,} spans",
    ]
    parts = [_text(MIDDLE / 2, 10 + k * LINE, line, middle=True) for k, line in enumerate(lines)]
    top = 10 + len(lines) * LINE + LINE
    what = "tiles" if chip.tiles == len(chip.labels) else "columns of the chip"
    parts.append(_text(MIDDLE / 2, top, f"from {what} to {what}", middle=True, faint=True))
    top += 14
    count = len(chip.labels)
    pitch = (height - top - MARGIN) / count
    left, right = 58.0, MIDDLE - 58.0
    most = max(int(moves.between.max(initial=0)), 1)
    pairs = np.argwhere(moves.between > 0)
    order = np.argsort(moves.between[pairs[:, 0], pairs[:, 1]], kind="stable")
    for source, target in pairs[order].tolist():
        nbytes = int(moves.between[source, target])
        share = nbytes / most
        a, b = top + (source + 0.5) * pitch, top + (target + 0.5) * pitch
        about = f"{chip.labels[source]} to {chip.labels[target]}: {nbytes:,} bytes"
        parts.append(
            f'<line x1="{left:.0f}" y1="{a:.1f}" x2="{right:.0f}" y2="{b:.1f}" stroke="#08408a"'
            f' stroke-width="{max(0.5, 3 * share):.1f}" stroke-opacity="{0.15 + 0.65 * share:.2f}">'
            f"<title>{escape(about)}</title></line>"
        )
    every = max(1, int(np.ceil(13 / pitch)))
    for end in range(0, count, every):
        y = top + (end + 0.5) * pitch + 4
        parts.append(_text(left - 6, y, chip.labels[end], end=True, faint=True))
        parts.append(_text(right + 6, y, chip.labels[end], faint=True))
    return "".join(parts)


# ------------------------------------------------------------------------------------------------- marks


def _document(width: float, height: float, parts: list[str]) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="DejaVu Sans, sans-serif">'
    return f"{head}\n{_rect(0, 0, width, height, '#ffffff')}\n{''.join(parts)}\n</svg>\n"


def _at(x: float, y: float, body: str) -> str:
    return f'<g transform="translate({x:.0f} {y:.0f})">{body}</g>\n'


def _rect(
    x: float, y: float, width: float, height: float, fill: str, title: str = "", stroke: str = ""
) -> str:
    line = f' stroke="{stroke}"' if stroke else ""
    mark = f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"{line}'
    return f"{mark}><title>{escape(title)}</title></rect>" if title else f"{mark}/>"


def _label(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y + 4:.1f}" font-size="11" text-anchor="middle">{text}</text>'


_CHARACTER = 6.9
"""Width of a character at 12 pixels, rather too much than too little."""


def _text(
    x: float,
    y: float,
    text: str,
    *,
    bold: bool = False,
    faint: bool = False,
    middle: bool = False,
    end: bool = False,
    room: float = 0,
) -> str:
    """Text at 12 pixels; what has no room is cut, and whole in the title."""
    title = ""
    most = int(room / _CHARACTER) if room else len(text)
    if len(text) > most:
        title, text = f"<title>{escape(text)}</title>", text[: most - 3] + "..."
    marks = ' font-weight="bold"' if bold else ""
    marks += f' fill="{_FAINT}"' if faint else ""
    marks += ' text-anchor="middle"' if middle else ' text-anchor="end"' if end else ""
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="12"{marks}>{escape(text)}{title}</text>'
