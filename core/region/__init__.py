# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact region of two shapes: support features, clipped against each other."""
