# SPDX-License-Identifier: Apache-2.0
"""The operations of the middle form of the front ends: definitions, result types, values in numpy."""
