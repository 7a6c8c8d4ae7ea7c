# SPDX-License-Identifier: GPL-3.0-or-later
"""A check of a scene: its pairs, rules and clashes."""
