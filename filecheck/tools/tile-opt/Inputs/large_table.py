# SPDX-License-Identifier: Apache-2.0
"""Prints a module with one table of N different words on one tile."""

import sys

words = b"".join(number.to_bytes(4, "little") for number in range(int(sys.argv[1])))
print(f'tile_asm.table "counting" rows at 0x72000 <[1, {sys.argv[1]}], "{words.hex()}">')
