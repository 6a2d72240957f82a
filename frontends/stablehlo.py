# SPDX-License-Identifier: Apache-2.0
"""
Models as text of StableHLO: what `jax.jit(f).lower(...).as_text()` prints, exported modules, generic text,
with locations or without. jaxlib is not needed.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, NameLoc, StringAttr
from xdsl.ir import Attribute

from tilewright.dialects.entry import INPUT_ATTRIBUTE
from tilewright.dialects.hlo.source_text import parse_stablehlo
from tilewright.dialects.text.sources import Sources
from tilewright.frontends.middle import Model
from tilewright.passes.hlo.from_stablehlo import convert_module


def read_stablehlo(text: str, name: str = "<text>", sources: Sources | None = None) -> Model:
    """The model in a text of StableHLO. Raises `ParseError` or `TileError` at the place of the fault."""
    module = parse_stablehlo(text, name, sources)
    convert_module(module)
    model = Model(module, name=name)
    _name_inputs(model)
    return model


def _name_inputs(model: Model) -> None:
    """Inputs are called what the source calls them, where its locations say so."""
    function = model.function
    before = function.arg_attrs or [DictionaryAttr({}) for _ in function.args]
    taken: set[str] = set()
    entries: list[DictionaryAttr] = []
    for argument, attributes in zip(function.args, before, strict=True):
        found: dict[str, Attribute] = {
            k: v for k, v in attributes.data.items() if k.startswith("tile_tensor.")
        }
        location = argument.location
        if isinstance(location, NameLoc) and not found and location.desc.data not in taken:
            found[INPUT_ATTRIBUTE] = StringAttr(location.desc.data)
            taken.add(location.desc.data)
        entries.append(DictionaryAttr(found))
    function.arg_attrs = ArrayAttr(entries)
