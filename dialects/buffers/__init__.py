# SPDX-License-Identifier: Apache-2.0
"""The types and declarations of the tile dialect."""
