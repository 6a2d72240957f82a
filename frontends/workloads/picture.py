# SPDX-License-Identifier: Apache-2.0
"""
The picture that vision workloads look at, and a reader for PNG files as simple as it is: 8-bit RGB, not
interlaced.

Pillow would be the only dependency of its kind for one picture of the project's own.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

import tilewright.frontends
from tilewright.diagnostics import TileError

ASTRONAUT = Path(tilewright.frontends.__file__).parent / "data" / "astronaut_224.png"
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def read_png(path: Path) -> np.ndarray:
    """Pixels u8 (height, width, 3) of an 8-bit RGB file. Raises `TileError` for any other file."""
    data = path.read_bytes()
    if not data.startswith(_SIGNATURE):
        raise TileError(f"'{path}' is not a PNG file")
    at, packed, header = len(_SIGNATURE), b"", b""
    while at + 8 <= len(data):
        (length,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            packed += body
        at += length + 12
    if len(header) != 13:
        raise TileError(f"'{path}' has no header")
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", header)
    if (depth, colour, interlace) != (8, 2, 0):
        raise TileError(f"'{path}' is not 8-bit RGB without interlace")
    try:
        raw = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + 3 * width)
    except (zlib.error, ValueError) as error:
        raise TileError(f"'{path}' is damaged: {error}") from None
    rows = np.zeros((height + 1, width + 1, 3), np.uint8)  # a row above and a pixel to the left are zero
    for y in range(height):
        _unfilter(int(raw[y, 0]), raw[y, 1:].reshape(width, 3), rows[y], rows[y + 1])
    return rows[1:, 1:]


def _unfilter(kind: int, line: np.ndarray, above: np.ndarray, out: np.ndarray) -> None:
    """One row of pixels from its differences (PNG's five filters); bytes wrap."""
    if kind == 0:
        out[1:] = line
    elif kind == 1:
        out[1:] = np.cumsum(line, axis=0, dtype=np.uint8)
    elif kind == 2:
        out[1:] = line + above[1:]
    else:
        for x in range(1, len(out)):
            left, up, corner = (a.astype(np.int16) for a in (out[x - 1], above[x], above[x - 1]))
            if kind == 3:
                guess = (left + up) // 2
            else:  # Paeth: the neighbour nearest to left + up - corner, ties in the order left, up, corner
                p, q, r = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
                guess = np.where((p <= q) & (p <= r), left, np.where(q <= r, up, corner))
            out[x] = (line[x - 1] + guess).astype(np.uint8)


MEAN, DEVIATION = np.array([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]], np.float32)
"""Of ImageNet's channels (red, green, blue): what most image models were trained to be given."""


def normalised(pixels: np.ndarray) -> np.ndarray:
    """Pixels u8 (height, width, 3) -> f32 (3, height, width), zero mean and unit deviation over ImageNet."""
    scaled = (pixels.astype(np.float32) / np.float32(255) - MEAN) / DEVIATION
    return np.ascontiguousarray(scaled.transpose(2, 0, 1))
