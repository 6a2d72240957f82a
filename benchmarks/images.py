# SPDX-License-Identifier: Apache-2.0
"""
Digests of the images of eleven programs, for changes that are to leave every image as it is: run it before
and after, the second time with `--against` the file of the first.

A digest is of one field of an image (words, addresses, bindings, names of words ...); the line of a program
says how many words it has and what all its fields come to. `--workloads NAME ...` takes some of them;
`--programs FOLDER` keeps the programs' texts (default: build/images) and takes those that are there, so that
two commits compile the same texts. Fails where a field differs from `--against`.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import tilewright

ROOT = Path(__file__).parents[1]

WORKLOADS: dict[str, tuple[str, tuple[str, ...]]] = {
    "digits_t16": ("t16", ("digits", "--precision", "f16")),
    "digits_t64": ("t64", ("digits", "--precision", "f8")),
    "vit_t16": ("t16", ("vit", "--layers", "2", "--precision", "f16")),
    "vit_t64": ("t64", ("vit", "--layers", "4", "--precision", "f8", "--attention", "f8")),
    "dinov2": ("c600", ("dinov2", "--precision", "f8")),
    "minilm": ("c600", ("minilm", "--precision", "f16")),
    "siglip": ("c600", ("siglip", "--layers", "1", "--precision", "f8")),
    "random_1": ("t4", ("1",)),
    "random_2": ("t16", ("2",)),
    "random_3": ("t16", ("3",)),
    "random_4": ("t64", ("4",)),
}
"""Machine, and what `tile-workload` is told; of random programs (tests/end_to_end) the seed."""

Fields = dict[str, str]


def text_of(name: str, folder: Path) -> Path:
    """The file of a program, which is written where it does not exist yet."""
    path = folder / name / "program.mlir"
    if path.exists():
        return path
    _, told = WORKLOADS[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    if name.startswith("random"):
        sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
        import random_programs

        path.write_text(random_programs.program(int(told[0])).text, "utf-8")
    else:
        command = [str(Path(sys.executable).parent / "tile-workload"), *told, "-o", str(path.parent)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return path


def digest(value: Any) -> str:
    """Of plain values, dataclasses and arrays within one another: arrays by type, shape and bytes."""
    found = hashlib.sha256()

    def put(item: Any) -> None:
        if isinstance(item, np.ndarray):
            found.update(f"{item.dtype} {item.shape} ".encode())
            found.update(np.ascontiguousarray(item).tobytes())
        elif dataclasses.is_dataclass(item):
            for field in dataclasses.fields(item):
                found.update(f"{field.name}: ".encode())
                put(getattr(item, field.name))
        elif isinstance(item, Mapping):
            put([part for pair in item.items() for part in pair])
        elif isinstance(item, (tuple, list)):
            found.update(f"{len(item)} of ".encode())
            for part in item:
                put(part)
        else:
            found.update(f"{item!r}, ".encode())

    put(value)
    return found.hexdigest()[:16]


def measure(name: str, folder: Path) -> tuple[int, Fields]:
    """Words of the image of a program, and the digest of each of its fields."""
    image = tilewright.compile(text_of(name, folder), WORKLOADS[name][0]).image
    words = sum(segment.words.size for segment in image.segments)
    return words, {field.name: digest(getattr(image, field.name)) for field in dataclasses.fields(image)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", nargs="+", choices=tuple(WORKLOADS), default=tuple(WORKLOADS))
    parser.add_argument("--programs", type=Path, default=ROOT / "build" / "images", metavar="FOLDER")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the digests of all fields")
    parser.add_argument("--against", type=Path, metavar="FILE", help="what --json wrote earlier")
    options = parser.parse_args()
    before: dict[str, Fields] = json.loads(options.against.read_text("utf-8")) if options.against else {}
    found: dict[str, Fields] = {}
    changed = 0
    print("program          words  digest")
    for name in options.workloads:
        words, fields = measure(name, options.programs)
        found[name] = fields
        other = [field for field, value in fields.items() if before.get(name, fields).get(field) != value]
        changed += bool(other)
        print(f"{name:12s} {words:9,}  {digest(fields)}  {', '.join(other)}".rstrip(), flush=True)
        if options.json:
            options.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
