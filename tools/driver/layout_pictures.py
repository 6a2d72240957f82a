# SPDX-License-Identifier: Apache-2.0
"""
`--dump-layouts=DIR`: the layouts of a compilation as SVG files.

Of a module of tensors every value that has a layout is drawn, and every operation that changes one; of a
module of buffers every move of its exchange phases, and if it never had tensors every value that is bound.
What a pass has made last counts: a compilation to the machine program leaves the values as they were planned
and the moves as they were lowered.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.instrumentation import Instrument

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import SSAValue

    from tilewright.machine import Machine
    from tilewright.tools.report.pictures import Value


@dataclass(frozen=True)
class Change:
    """A value that changes its layout, and why."""

    reason: str
    source: Value
    target: Value


class LayoutPictures(Instrument):
    """Looks at the module after every step, and draws what it saw last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._taken: set[str] = set()
        self._forget()

    def _forget(self) -> None:
        self._machine: Machine | None = None
        self._values: list[Value] = []
        self._changes: list[Change] = []

    @contextmanager
    def of(self, module: ModuleOp) -> Generator[None]:
        """The layouts that `module` has before the block or gets in it, also when it fails."""
        self._look(module)
        try:
            yield
        except Exception:
            with suppress(OSError):
                self._draw()
            raise
        else:
            self._draw()
        finally:
            self._forget()

    def after(self, step: str, module: object) -> None:
        from xdsl.dialects.builtin import ModuleOp

        if isinstance(module, ModuleOp):
            self._look(module)

    def _look(self, module: ModuleOp) -> None:
        values, changes = list(_values(module)), list(_changes(module))
        if not values and not self._values:
            values = list(_bound(module))
        if not values and not changes:
            return
        from tilewright.passes.ir.tensors import machine_of

        self._machine = machine_of(module, None)
        self._values = values or self._values
        self._changes = changes or self._changes

    def _draw(self) -> None:
        if self._machine is None:
            return
        from tilewright.planning.layout import LayoutError
        from tilewright.tools.report.pictures import Chip, moved, picture
        from tilewright.tools.report.svg import conversion_svg, value_svg

        chip = Chip.of_machine(self._machine)
        for value in self._values:
            try:
                self._write(value.name, value_svg(picture(value, chip.tiles), chip))
            except LayoutError:
                continue  # of more tiles than there are: the passes say so
        for change in self._changes:
            try:
                one, two = (picture(side, chip.tiles) for side in (change.source, change.target))
                what = moved(change.source, change.target, chip)
            except LayoutError:
                continue
            name = f"{change.source.name}-to-{change.target.name}"
            self._write(name, conversion_svg(change.reason, one, two, what, chip))

    def _write(self, name: str, text: str) -> None:
        from tilewright.tools.driver.output import replace_file

        base = stem = re.sub(r"[^\w.-]+", "_", name)[:120] or "value"
        number = 1
        while stem in self._taken:
            number += 1
            stem = f"{base}_{number}"
        self._taken.add(stem)
        self._folder.mkdir(parents=True, exist_ok=True)
        replace_file(self._folder / f"{stem}.svg", text)


def _values(module: ModuleOp) -> Iterator[Value]:
    """The placed tensors of a module, in program order."""
    from xdsl.dialects.func import FuncOp

    from tilewright.dialects.reference import value_names

    names: dict[SSAValue, str] = {}
    for op in module.walk():
        if isinstance(op, FuncOp):
            names |= value_names(op)
        arguments = [a for region in op.regions for block in region.blocks for a in block.args]
        for value in (*arguments, *op.results):
            what = "argument" if value in arguments else "result"
            placed = _placed(value, names.get(value) or value.name_hint or "value", what)
            if placed is not None:
                yield placed


def _bound(module: ModuleOp) -> Iterator[Value]:
    """What a module of buffers gives to the host."""
    from tilewright.dialects.tile import BindOp, buffer_type
    from tilewright.planning.layout import View
    from tilewright.tools.report.pictures import Value

    for op in module.walk():
        if isinstance(op, BindOp):
            type_ = buffer_type(op.buffer)
            name = op.names[0] if op.names else op.buffer.name_hint or ""
            yield Value(name, op.kind.data, type_.dtype, type_.layout, View.parse(op.view.data))


def _changes(module: ModuleOp) -> Iterator[Change]:
    from tilewright.dialects.tile import ExchangeOp, buffer_type, owner_alloc
    from tilewright.dialects.tile_layout import ConvertOp, MaterializeOp
    from tilewright.tools.report.pictures import Value

    for op in module.walk():
        if isinstance(op, (ConvertOp, MaterializeOp)):
            name, kind = op.input.name_hint or "value", op.name.rpartition(".")[2]
            source, target = _placed(op.input, name, ""), _placed(op.result, op.result.name_hint or name, "")
            if source is not None and target is not None:
                yield Change(f"{kind} {name}", source, target)
        elif isinstance(op, ExchangeOp):
            for source, source_view, target, target_view in op.moves():
                one, two = (
                    Value(
                        owner_alloc(buffer)[0].buffer_name.data,
                        "",
                        buffer_type(buffer).dtype,
                        buffer_type(buffer).layout,
                        view,
                    )
                    for buffer, view in ((source, source_view), (target, target_view))
                )
                yield Change(op.reason.data, one, two)


def _placed(value: SSAValue, name: str, what: str) -> Value | None:
    from tilewright.dialects.tile_layout import placement
    from tilewright.passes.ir.tensors import dtype_of, tensor_of
    from tilewright.tools.report.pictures import Value

    where = placement(value.type)
    if where is None:
        return None
    return Value(name, what, dtype_of(tensor_of(value).element_type), *where)
