# SPDX-License-Identifier: Apache-2.0
"""
Placement of buffers in a tile's memory: the problem as data, the allocator, its checker, and answers when it
does not fit.
"""
