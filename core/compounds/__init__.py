# SPDX-License-Identifier: GPL-3.0-or-later
"""Unions of convex pieces: contact per pair of pieces, and the shortest translation that separates."""
