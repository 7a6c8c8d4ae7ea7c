# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of clashes that a file keeps: its order, what is out of date, and the list after another check."""
