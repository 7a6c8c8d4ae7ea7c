# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators, and the layout that their dialogs share with the panels."""
