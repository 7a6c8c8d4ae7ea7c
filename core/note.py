# SPDX-License-Identifier: GPL-3.0-or-later
"""What to know about an answer, in words, with the lengths in them as numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """One thing to know about an answer or about one of the two shapes."""

    text: str
    """In words, with {} where each length belongs."""
    lengths: tuple[float, ...] = ()
    """World units."""
    about: str = ""
    """Either "A" or "B" where it is about one of the two; empty where it is about both or the answer."""

    def words(self, length: Callable[[float], str] = "{:.4g}".format) -> str:
        """Return the text with its lengths as `length` writes them; about one shape it begins with "A: " or "B: "."""
        told = self.text.format(*map(length, self.lengths)) if self.lengths else self.text
        return f"{self.about}: {told}" if self.about else told

    def __str__(self) -> str:
        return self.words()


NOTCH = Note(
    "the translation ends in a notch: moved farther in the same direction, even by less than the contact tolerance, "
    "they intersect again"
)
"""The note of contacts whose translation separates, where no other as short was found that stays clear beyond it."""
