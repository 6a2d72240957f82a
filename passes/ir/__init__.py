# SPDX-License-Identifier: Apache-2.0
"""What passes read from IR for the planning libraries, and write back."""
