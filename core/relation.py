# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person would call the state of two shapes."""

from __future__ import annotations

from enum import StrEnum


class Relation(StrEnum):
    """State of a pair, in the order in which the cases are tried; the first that fits is taken."""

    COINCIDENT = "coincident"
    TOUCHING = "touching"
    A_INSIDE_B = "a_inside_b"
    B_INSIDE_A = "b_inside_a"
    PENETRATING = "penetrating"
    WITHIN_CLEARANCE = "within_clearance"
    SEPARATED = "separated"
