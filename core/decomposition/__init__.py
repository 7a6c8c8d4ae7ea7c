# SPDX-License-Identifier: GPL-3.0-or-later
"""Convexity of polygons and meshes, and their convex pieces."""
