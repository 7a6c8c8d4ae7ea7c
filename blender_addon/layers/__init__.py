# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn in the world, as layers of glyphs: a function of results, without a view or a GPU."""
