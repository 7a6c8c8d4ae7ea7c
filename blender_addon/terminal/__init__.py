# SPDX-License-Identifier: GPL-3.0-or-later
"""What a terminal gives and gets: options, signals, progress, lines and exit codes."""
