# SPDX-License-Identifier: Apache-2.0
"""Choosing plans for whole programs: graphs and demands in, plans out."""
