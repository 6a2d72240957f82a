# SPDX-License-Identifier: Apache-2.0
"""What `tile-report` shows of a profile: tables, a trace, a comparison, one page."""
