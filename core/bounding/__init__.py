# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volumes, many of one kind at a time."""
