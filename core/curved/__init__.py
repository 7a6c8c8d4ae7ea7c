# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact of curved shapes, by bounds from both sides until they meet."""
