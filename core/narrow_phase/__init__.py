# SPDX-License-Identifier: GPL-3.0-or-later
"""The exact contact of two convex shapes: GJK, EPA and SAT."""
