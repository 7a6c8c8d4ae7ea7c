# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person must know to read an answer right, as sentences: the same for one pair and for a whole scene."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .units import UnitFormat, counted

UNKNOWN = frozenset({"bracket", "budget", "stalled"})
"""The statuses of an answer of which both bounds hold and do not meet."""
NO_DEPTH = "a surface is open"
"""Why surfaces that meet have no depth."""


def named(note: str, names: tuple[str, str]) -> str:
    """Return a note of an answer, which may begin with "A: " or "B: ", with the name instead."""
    letter, _, text = note.partition(": ")
    return f"'{names['AB'.index(letter)]}': {text}" if letter in ("A", "B") and text else note


def pieces_words(name: str, count: int, why: str, distance: float, units: UnitFormat) -> str:
    """What to know of pieces that are not exact: what of them is bounded, and in which direction."""
    return (
        f"'{name}' has {counted(count, 'convex piece')} ({why}): its surface is within {units.length(distance)} of "
        "theirs, but hollows that they fill may be deeper"
    )


def sticks_out_words(name: str, words: str, length: float, units: UnitFormat) -> str:
    """That a mesh sticks out of the primitive that it collides as."""
    return f"'{name}' sticks out of its {words} by up to {units.length(length)}"


def between(status: str, depth: float | None, lower: float | None) -> bool:
    """Whether of a depth only is known between which two lengths it is."""
    return bool(status in UNKNOWN and depth and lower is not None)


def is_at_most(row: Mapping[str, Any]) -> bool:
    """Whether the depth of a finding is one that suffices, and a shorter one may do too."""
    return not row.get("of_pieces") and between(row["exactness"], row["depth"], row["lower_bound"])


def reason_words(
    reason: str,
    status: str,
    has_depth: bool,
    of_pieces: bool,
    depth: float | None,
    bounds: tuple[float | None, float | None],
    units: UnitFormat,
) -> str:
    """Why the bounds of an answer do not meet and what is known instead, as a sentence; empty when they do.

    depth and bounds of the signed distance: Blender units; None where there are none.
    """
    if not reason:
        return ""
    lower, upper = bounds
    if not has_depth or of_pieces:
        more = ". Moved by it the meshes share nothing; a shorter way may do too" if of_pieces else ""
        return f"{reason[0].upper()}{reason[1:]}{more}"
    if depth is not None and upper is not None and between(status, depth, lower):
        return (
            f"The depth is not known exactly: {reason}. Moving by {units.length(depth)} parts them, no way "
            f"shorter than {units.length(max(0.0, -upper))} does"
        )
    if lower is None or upper is None:
        return f"Less exact than promised: {reason}"
    return f"Less exact than promised: {reason}; the signed distance is known to {units.rough(upper - lower)}"


def failed_checks(checks: Iterable[tuple[str, bool]], reason: str | None) -> list[str]:
    """The checks, names and whether they hold, that an answer fails.

    That its bounds do not meet is no failure when it says so itself.
    """
    told = {"the bounds meet"} if reason else set()
    return [name for name, ok in checks if not ok and name not in told]
