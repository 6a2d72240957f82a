# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of the machine, bit for bit."""
