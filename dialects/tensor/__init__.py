# SPDX-License-Identifier: Apache-2.0
"""The operations of the tile_tensor dialect, by kind."""
