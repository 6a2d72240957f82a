# SPDX-License-Identifier: Apache-2.0
"""The attributes and operations of the tile_asm dialect."""
