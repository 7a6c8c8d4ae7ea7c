# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be run from a terminal: one file a command, and what they share."""
