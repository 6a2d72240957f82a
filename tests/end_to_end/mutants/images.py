# SPDX-License-Identifier: Apache-2.0
"""Changes of the files of an image."""

from __future__ import annotations

import json
import random
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mutants.bases import Base, Mutant
from mutants.bindings import garble
from mutants.choosing import kind, with_program
from tilewright.backends.image import Image


@kind
def file_of_the_image(one: Base, r: random.Random) -> Mutant:
    """A character of the manifest, or of the words."""
    with tempfile.TemporaryDirectory() as folder:
        one.image.save(Path(folder) / "p.json")
        manifest = (Path(folder) / "p.json").read_text(encoding="utf-8")
        blob = (Path(folder) / "p.json.data").read_bytes()
    if r.random() < 0.15:
        at = r.randrange(len(blob))
        blob = blob[:at] + bytes([blob[at] ^ 1 << r.randrange(8)]) + blob[at + 1 :]
        what = f"byte {at} of the words"
    else:
        lines = manifest.split("\n")
        at = r.randrange(len(lines))
        lines[at] = garble(lines[at], r, '0123456789abc"[]{}:,. -')
        manifest, what = "\n".join(lines), f"line {at + 1} of the manifest is {lines[at]!r}"

    def make() -> Image:
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / "p.json").write_text(manifest, encoding="utf-8")
            (Path(place) / "p.json.data").write_bytes(blob)
            return Image.load(Path(place) / "p.json")

    def why() -> str | None:
        old, new = json.loads(manifest_of(one)), json.loads(manifest)
        fields = [name for name in old if old[name] != new.get(name)]
        if not fields:
            return "spaces"
        if fields in (["placed"], ["debug"], ["name"]):
            return f"'{fields[0]}' is for reports"
        return _manifest_reason(one, fields[0], old, new)

    return Mutant(what, make, why)


def _manifest_reason(one: Base, field: str, old: Any, new: Any) -> str | None:
    if field == "segments":
        changed = {k for a, b in zip(old[field], new[field], strict=True) for k in a if a[k] != b[k]}
        return (
            "the name of a segment"
            if changed == {"name"}
            else ("the category of a segment" if changed == {"category"} else None)
        )
    if field == "bindings":
        changed = {k for a, b in zip(old[field], new[field], strict=True) for k in a if a[k] != b[k]}
        if changed <= {"stride", "tensors", "name"}:
            return "the stride of a single member, a name that nobody asks for"
        if changed <= {"layout", "view"}:
            return "a text that puts every element where it was"
    if field == "scalar_names":
        return "the name of a scalar that no call has"
    return None


def manifest_of(one: Base) -> str:
    with tempfile.TemporaryDirectory() as folder:
        one.image.save(Path(folder) / "p.json")
        return (Path(folder) / "p.json").read_text(encoding="utf-8")


@kind
def bit_of_a_constant(one: Base, r: random.Random) -> Mutant | None:
    if not one.program.constants:
        return None
    at = r.randrange(len(one.program.constants))
    constant = one.program.constants[at]
    raw = bytearray(np.ascontiguousarray(constant.data).tobytes())
    if not raw:
        return None
    byte = r.randrange(len(raw))
    raw[byte] ^= 1 << r.randrange(8)
    data = np.frombuffer(bytes(raw), constant.data.dtype).reshape(constant.data.shape)
    constants = (*one.program.constants[:at], replace(constant, data=data), *one.program.constants[at + 1 :])
    return Mutant(f"byte {byte} of constant '{constant.name}'", with_program(one, constants=constants))
