# SPDX-License-Identifier: Apache-2.0
"""
Gives sequences, of which every member is resident, their strides and places; everything else follows later.

A sequence is one unit: its members stay at the alignment and stride that kernels demand, in either region.
Where something must be kept apart from it (an exchange sends from it while it receives into something else),
whole memory elements around the unit are reserved, not an element for each member. Code, tables and rows of
the function are in the problem, so a sequence never takes what they need. The complete set of members counts,
not the share of one iteration.

`tile-allocate-memory` places sequences itself; this pass is for those who want them fixed first: addresses in
the IR are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from tilewright.dialects.entry import entry_function
from tilewright.dialects.tile import buffer_type
from tilewright.options import MACHINE_OPTION, option
from tilewright.passes.ir.memory import Requests, memory_requests
from tilewright.passes.ir.programs import ProgramPass
from tilewright.passes.ir.support import check_row_cap
from tilewright.passes.ir.tensors import machine_of
from tilewright.passes.tile_allocate_memory import place


@dataclass(frozen=True)
class TileAllocateSequencesPass(ProgramPass):
    """Place the sequences of repeats."""

    name = "tile-allocate-sequences"
    machine: str | None = option(None, MACHINE_OPTION)

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op, self.machine)
        function = entry_function(op)
        check_row_cap(function, machine)

        def sequences(strict: bool) -> Requests:
            requests = memory_requests(function, machine, strict=strict)
            singles = {n for n, alloc in requests.allocs.items() if buffer_type(alloc.result).count == 1}
            return replace(
                requests,
                problem=requests.problem.without(singles),
                allocs={n: alloc for n, alloc in requests.allocs.items() if n not in singles},
            )

        requests, solution = place(sequences, "sequences")
        for buffer, address in zip(requests.problem.buffers, solution.addresses, strict=True):
            alloc = requests.allocs.get(buffer.name)
            if alloc is not None and address is not None:
                alloc.properties["address"] = IntegerAttr(address, i64)
                alloc.properties["stride"] = IntegerAttr(buffer.stride, i64)
