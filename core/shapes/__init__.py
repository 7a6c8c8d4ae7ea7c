# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes: what they are made of, and hulls of points."""
