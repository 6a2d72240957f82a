# SPDX-License-Identifier: Apache-2.0
"""
Exchange phases: messages, their schedule, and a checker of both. Addresses and encoding are in
`tilewright.backends.rows`.
"""

from tilewright.planning.exchange.messages import ExchangeError, Messages
from tilewright.planning.exchange.schedule import Schedule, Summary, schedule

__all__ = ["ExchangeError", "Messages", "Schedule", "Summary", "schedule"]
