# SPDX-License-Identifier: GPL-3.0-or-later
"""Remarks on a result as text, with the lengths in them as numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """A remark on a result or on one of the two shapes."""

    text: str
    """The text, with {} in place of each length."""
    lengths: tuple[float, ...] = ()
    """World units."""
    about: str = ""
    """"A" or "B" for a remark on one shape; empty for a remark on both or on the result."""

    def words(self, length: Callable[[float], str] = "{:.4g}".format) -> str:
        """Return the text with its lengths formatted by `length`; a remark on one shape begins with "A: " or "B: "."""
        text = self.text.format(*map(length, self.lengths)) if self.lengths else self.text
        return f"{self.about}: {text}" if self.about else text

    def __str__(self) -> str:
        return self.words()


NOTCH = Note("the translation ends in a notch: moved a little farther in the same direction, they intersect again")
"""The note of contacts whose translation separates, but neither it nor one about as short stays clear beyond."""
