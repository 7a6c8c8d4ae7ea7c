# SPDX-License-Identifier: GPL-3.0-or-later
"""The one number of a pair, its depth or its gap, as text: the same in the panel, the overlay, the list and reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from . import messages
from .units import DIGITS, DIGITS_OF_BOUND, UnitFormat

FAR_APART = 0.05
"""Bounds that differ by more, relative to the number, are too far apart for a number between them."""
AT_MOST = "\N{LESS-THAN OR EQUAL TO} "


class HasDistance(Protocol):
    """A contact, or a clash."""

    @property
    def relation(self) -> str: ...
    @property
    def has_depth(self) -> bool: ...
    @property
    def signed_distance(self) -> float: ...
    @property
    def lower_bound(self) -> float: ...
    @property
    def upper_bound(self) -> float: ...


@dataclass(frozen=True)
class Distance:
    """What is known of the depth or gap of a pair, in Blender units."""

    relation: str
    signed_distance: float | None
    """None where there is no depth, as of two open surfaces that meet."""
    lower_bound: float | None = None
    """Of the signed distance; None where there is none."""
    upper_bound: float | None = None

    @classmethod
    def of_contact(cls, contact: HasDistance) -> Distance:
        """Return that of an inspection or of a clash."""
        if not contact.has_depth:
            return cls(contact.relation, None)
        lower = contact.lower_bound if math.isfinite(contact.lower_bound) else None
        return cls(contact.relation, contact.signed_distance, lower, contact.upper_bound)

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Distance:
        """Return that of a clash as plain data; files saved earlier do not have the bounds."""
        return cls(row["relation"], row["signed_distance"], row.get("lower_bound"), row.get("upper_bound"))

    @property
    def no_depth_reason(self) -> str:
        """Why there is no depth; empty where there is one, or it was not searched, as then there are bounds."""
        return messages.no_depth(self.relation) if self.signed_distance is None and self.upper_bound is None else ""

    @property
    def name(self) -> str:
        """What the number is."""
        return "Gap" if self.signed_distance is not None and self.signed_distance > 0.0 else "Depth"

    @property
    def width(self) -> float:
        """How far apart the bounds are; 0.0 where they are not known."""
        if self.lower_bound is None or self.upper_bound is None:
            return 0.0
        return self.upper_bound - self.lower_bound

    @property
    def bounds(self) -> tuple[float, float]:
        """The proved bounds of the depth or gap; infinite where there are none."""
        lower = -math.inf if self.lower_bound is None else self.lower_bound
        upper = math.inf if self.upper_bound is None else self.upper_bound
        return (lower, upper) if self.name == "Gap" else (-upper, -lower)

    @property
    def is_at_most(self) -> bool:
        """Whether only an upper bound of the number is known, of a depth the length of a move that separates."""
        if self.signed_distance is None or self.relation == "touching":
            return False
        return self.width > FAR_APART * abs(self.signed_distance) > 0.0

    def text(self, units: UnitFormat) -> str:
        """Return the number with its unit, such as '2.85 mm'; empty when they touch or there is no depth."""
        if self.signed_distance is None or self.relation == "touching":
            return ""
        number = abs(self.signed_distance)
        return AT_MOST + self.bound_texts(units)[1] if self.is_at_most else units.length(number, self.width)

    def bound_texts(self, units: UnitFormat) -> tuple[str, str]:
        """Return the proved bounds with their units, rounded outward; empty where nothing is proved."""
        least, most = self.bounds
        digits = DIGITS_OF_BOUND if self.is_at_most else DIGITS
        return (
            units.length(least, rounding="down", digits=digits) if least > 0.0 else "",
            units.length(most, rounding="up", digits=digits) if math.isfinite(most) else "",
        )

    def span_text(self, units: UnitFormat) -> str:
        """Return between which lengths the number is proved to lie, such as '1.88 to 2.85 mm'."""
        least, most = self.bound_texts(units.for_table([self.bounds[1]]))
        return f"{least.partition(' ')[0]} to {most}" if least else f"at most {most}"

    def exact_text(self, units: UnitFormat) -> str:
        """Return the number with all its digits and the unit, for the clipboard; a depth rounded up, as one moves by
        it."""
        if self.signed_distance is None:
            return ""
        return units.exact(abs(self.signed_distance), "nearest" if self.signed_distance > 0.0 else "up")
