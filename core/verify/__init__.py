# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers checked against their shapes, independently of the solver that found them."""
