# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of one pair beyond its contact: its overlap, and how wide the gap is."""
