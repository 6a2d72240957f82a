# SPDX-License-Identifier: Apache-2.0
"""The refusal of the machine model: what rule a program breaks, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tilewright.diagnostics import TileError

RULES: Mapping[str, str] = MappingProxyType(
    {
        # placement and manifest, when the image is taken
        "malformed manifest": (
            "an entry of the manifest contradicts itself or the machine: a table for another number of "
            "tiles, a binding whose layout, view, shape, type, members or tiles do not go together"
        ),
        "reserved memory": (
            "code, a table, a binding, an operand, a send or a receive touches a reservation of the machine"
        ),
        "overlapping placement": "code, the supervisor program and the tables share bytes",
        "code outside the executable region": (
            "code of a kernel, the supervisor program or rows lie, in part, where nothing can be executed"
        ),
        "no room for fetch": (
            "code, the supervisor program or rows end closer to the end of the executable region than "
            "instruction fetch reads ahead (`fetch_guard_bytes`)"
        ),
        "code of no kernel": (
            "the manifest has code of a kernel that the registry does not have, or of another size"
        ),
        # any access
        "address out of range": (
            "an access leaves the SRAM, a patch the words of its rows or its address field"
        ),
        "misaligned access": (
            "an address is not a multiple of what the access needs: of the registry's alignment and the "
            "element's size for an operand, of 4 for code, tables and bindings"
        ),
        "read of unwritten memory": (
            "a kernel, a send, a table read or the host reads a byte that nothing wrote in this run"
        ),
        "sub-word store": (
            "the byte read was beside the end of a store: the machine stores whole 32-bit words, so the "
            "rest of a word that an output fills in part is lost (`copy`, `narrow`, `softmax.exp`, "
            "`softmax.part` and `softmax.raise` read, modify and write, and pay for it)"
        ),
        "two writers": (
            "elements of an output share bytes; two outputs of a call overlap, two receives of a phase, or "
            "two bindings that the host writes; anything writes over code, tables or parameters"
        ),
        # the supervisor program
        "supervisor programs differ": "the words of a tile are not those of tile 0",
        "malformed instruction": (
            "supervisor words that the format does not have: opcode, length, numbers without a name, bits "
            "without meaning, digits without sense, a field that patches do not have"
        ),
        "too many steps": "the program executes more instructions than the bound on a run",
        "bad patch": "a patch changes words that no exchange of its repeat executes, or one word twice",
        # calls
        "call of no kernel": (
            "there is no code at the address of a call, or it has another number of operands or axes than "
            "the kernel"
        ),
        "bad extents": "an extent is negative, or an operand has more elements than a call may read",
        "bad scalars": (
            "a scalar that the kernel does not take, one that it needs and that is missing, one of the "
            "wrong kind or out of its range"
        ),
        "bad element types": "operands of types that the kernel does not work on",
        "operand order": (
            "a matrix operand that does not lie in the kernel's element order; a wrong number of axes"
        ),
        "wrong memory class": "an operand lies outside of the region that the registry demands",
        "memory element conflict": (
            "two operands that the kernel accesses in one cycle share a memory element"
        ),
        "output overlaps an input": "other than element by element in place",
        # rows
        "misaligned row": "a row does not start at a multiple of 4 bytes",
        "bad opcode": "a word of a row is no instruction",
        "missing return": "a row runs past its end",
        "misaligned sendpicp": "a `sendpicp` is not at a multiple of 8 bytes",
        "unknown selector": "a control form that docs/spec/rows.md does not describe",
        "misaligned item": "8-byte items sent from or received at an address that is no multiple of 8",
        "bus in use": "a tile sends while its partner sends 8-byte items over both their buses",
        "item size": "a tile that expects words hears 8-byte items, or the other way round",
        "half a pair": (
            "8-byte items that one tile of a pair hears and its partner does not, in the same cycle"
        ),
        "own pair": "8-byte items heard by the sender or its partner",
        "send without a stream": "`sendoff` or `sendpic` with nothing to continue",
        "listening to silence": (
            "a source is selected for a cycle at which none of its words lands, or is no tile (assumed to "
            "be illegal: real hardware may just store nothing)"
        ),
        "never neutral": "the row returns while a source stays selected",
        "return too early": "a word lands after the row has returned",
        "receive without a pointer": "a word lands before a pointer was set in this row",
        "row element in use": (
            "the phase sends from, or receives into, a memory element that holds the tile's row"
        ),
        "element conflict": "a send reads and a receive writes one memory element in one cycle",
        "send after receive": (
            "a word that the phase has received, or receives at that cycle, is sent: nothing is forwarded "
            "within a phase"
        ),
    }
)
"""
Every refusal of the machine model and when it is raised. docs/spec/refusals.md has the same list, and a test
for each holds both to it.
"""


class IllegalProgram(TileError):
    """
    A program that the machine would not execute as meant.

    `rule` is one of `RULES`, `tile` a logical tile, `phase` the name or provenance of the step, `cycle`
    counts from the start of the phase, `address` is an absolute SRAM byte address. What is not known stays
    None.
    """

    def __init__(
        self,
        message: str,
        *,
        rule: str,
        tile: int | None = None,
        phase: str | None = None,
        cycle: int | None = None,
        address: int | None = None,
        location: object | None = None,
        notes: Sequence[str] = (),
        hint: str | None = None,
    ) -> None:
        if rule not in RULES:
            raise KeyError(f"'{rule}' is no refusal of the machine model")
        self.rule = rule
        self.tile = tile
        self.phase = phase
        self.cycle = cycle
        self.address = address
        where = [
            text
            for known, text in (
                (tile, f"tile {tile}"),
                (phase or None, f"phase {phase}"),
                (cycle, f"cycle {cycle}"),
                (address, f"address {address:#x}" if address is not None else ""),
            )
            if known is not None
        ]
        suffix = f" ({', '.join(where)})" if where else ""
        super().__init__(f"{rule}: {message}{suffix}", location=location, notes=notes, hint=hint)
