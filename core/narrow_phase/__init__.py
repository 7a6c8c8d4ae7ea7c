# SPDX-License-Identifier: GPL-3.0-or-later
"""The exact answer for two convex shapes: GJK, EPA, SAT, and the Contact they end in."""
