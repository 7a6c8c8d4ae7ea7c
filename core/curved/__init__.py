# SPDX-License-Identifier: GPL-3.0-or-later
"""The exact answer where a shape is curved: bounds from both sides until they meet."""
