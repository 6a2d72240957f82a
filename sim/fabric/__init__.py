# SPDX-License-Identifier: Apache-2.0
"""
The exchange fabric of the machine model: what the rows of all tiles do to memory.

`decode` reads rows as what is sent, heard and pointed to, `match` finds out which words land where and when,
`refuse` holds that against memory, `moving` copies the bytes and keeps the record of defined words. Nothing
tells them what was meant: they follow source selections, pointers and sends by the model of time in
docs/spec/rows.md, on the words of all tiles at once.
"""

from tilewright.sim.fabric.delivery import Delivery
from tilewright.sim.fabric.match import deliver
from tilewright.sim.fabric.moving import by_length, mark_written, move, require_written, touches

__all__ = ["Delivery", "by_length", "deliver", "mark_written", "move", "require_written", "touches"]
