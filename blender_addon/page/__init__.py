# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages for browsers: a report, and the player of steps."""
