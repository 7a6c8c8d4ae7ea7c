# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of frames as text, and how long they may be."""

from __future__ import annotations

from collections.abc import Sequence

MOST_FRAMES = 100_000
"""Of a run: more than an hour."""
LAST_FRAME = 1_048_574
"""Blender goes to no later frame, nor to one before its negative."""


def named_list(numbers: Sequence[float]) -> str:
    """Return frames as a list with the noun: 'frames 1-100', 'frame 5'."""
    return f"frame{'s' if len(numbers) > 1 else ''} {frames_text(numbers)}"


def frames_text(numbers: Sequence[float]) -> str:
    """Return frames as a list such as '1-100' or '1,5,9-19:2', in their order."""
    spans: list[str] = []
    left = list(numbers)
    while left:
        step = left[1] - left[0] if len(left) > 1 else 0
        count = 1
        while step > 0 and count < len(left) and left[count] - left[count - 1] == step:
            count += 1
        if count < 3 and step != 1:
            count = 1
        span = str(left[0]) if count == 1 else f"{left[0]}-{left[count - 1]}"
        spans.append(f"{span}:{step}" if count > 1 and step > 1 else span)
        del left[:count]
    return ",".join(spans)
