# SPDX-License-Identifier: Apache-2.0
"""From text to modules: the parser, its literals, and the sources that locations point into."""
