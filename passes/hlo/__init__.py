# SPDX-License-Identifier: Apache-2.0
"""What the passes of the front ends do to the middle form."""
