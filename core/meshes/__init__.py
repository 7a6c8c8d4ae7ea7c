# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles: which cross, where, how far apart, what is inside, and the shortest way out."""
