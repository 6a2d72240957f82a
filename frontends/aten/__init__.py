# SPDX-License-Identifier: Apache-2.0
"""The operators of torch's ATen in the middle form: a table by name, and a walk over an exported graph."""
