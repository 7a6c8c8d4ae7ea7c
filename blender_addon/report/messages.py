# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person must know to read an answer right, as sentences: the same for one pair and for a whole scene."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ...core.meshes.decomposition import Decomposition
from ...core.result import Contact
from ..check.scene import Clash
from ..data.units import UnitFormat, counted

UNKNOWN = frozenset({"bracket", "budget", "stalled"})
"""The statuses of an answer of which both bounds hold and do not meet."""
VISIBILITY = {
    "viewport": "as in the viewport",
    "render": "as in a render",
    "all": "all, hidden and excluded objects too",
}
"""Which objects are visible to a check."""
NO_DEPTH = "a surface is open"
"""Why surfaces that meet have no depth."""
STOPPED_EARLY = "Stopped early: pairs that were not reached are not in this report."


def named(note: str, names: tuple[str, str]) -> str:
    """Return a note of an answer, which may begin with "A: " or "B: ", with the name instead."""
    letter, _, text = note.partition(": ")
    return f"'{names['AB'.index(letter)]}': {text}" if letter in ("A", "B") and text else note


def pieces_words(name: str, pieces: Decomposition, units: UnitFormat) -> str:
    """Return what to know of pieces that are not exact: what of them is bounded, and in which direction."""
    return (
        f"'{name}' has {counted(len(pieces.pieces), 'convex piece')} ({pieces.reason or pieces.message}): its surface "
        f"is within {units.length(pieces.distance)} of theirs, but hollows that they fill may be deeper"
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


def reason_words(contact: Contact | Clash, units: UnitFormat) -> str:
    """Return why the bounds of a contact do not meet and what is known instead, as a sentence; empty when they do."""
    reason, upper = contact.reason, contact.upper_bound
    lower = contact.lower_bound if math.isfinite(contact.lower_bound) else None
    if not reason:
        return ""
    of_pieces = contact.status == "of_pieces"
    if not contact.has_depth or of_pieces:
        more = ". Moved by it the meshes share nothing; a shorter way may do too" if of_pieces else ""
        return f"{reason[0].upper()}{reason[1:]}{more}"
    if between(contact.status, contact.depth, lower):
        return (
            f"The depth is not known exactly: {reason}. Moving by {units.length(contact.depth)} parts them, no way "
            f"shorter than {units.length(max(0.0, -upper))} does"
        )
    if lower is None:
        return f"Less exact than promised: {reason}"
    return f"Less exact than promised: {reason}; the signed distance is known to {units.rough(upper - lower)}"


def failed_checks(checks: Iterable[tuple[str, bool]], reason: str | None) -> list[str]:
    """The checks, names and whether they hold, that an answer fails.

    That its bounds do not meet is no failure when it says so itself.
    """
    told = {"the bounds meet"} if reason else set()
    return [name for name, ok in checks if not ok and name not in told]


# --- of a scene -----------------------------------------------------------------------------------------------------


def left_out(check: Mapping[str, Any]) -> list[str]:
    """How many things of a check were not checked, and why: '2 not checked', '3 hidden'; nothing where all were."""
    skipped = check["skipped"]
    unchecked = sum(entry["unchecked"] for entry in skipped)
    without = sum(entry.get("kind") == "no_surface" for entry in skipped)  # files saved earlier do not say
    counts = [
        (unchecked, "not checked"),
        (without, "without a surface"),
        (len(skipped) - unchecked - without, "left out"),
    ]
    return [f"{count:,} {what}" for count, what in counts if count] + hidden(check)


def hidden(check: Mapping[str, Any]) -> list[str]:
    """How many objects were not visible: '3 hidden (2 of them rendered)', '1 excluded'; nothing where all were."""
    counts = check.get("left_out")  # files saved earlier do not say
    if not counts:
        return []
    told = []
    if counts["hidden"]:
        what = "not rendered" if check["settings"]["visibility"] == "render" else "hidden"
        rendered = f" ({counts['rendered']:,} of them rendered)" if counts["rendered"] else ""
        told.append(f"{counts['hidden']:,} {what}{rendered}")
    if counts["excluded"]:
        told.append(f"{counts['excluded']:,} excluded")
    return told
