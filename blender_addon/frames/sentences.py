# SPDX-License-Identifier: GPL-3.0-or-later
"""Clashes over frames in words, and as a strip of characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..data.distance import Distance
from ..data.frame_lists import named_list
from ..data.lazy_rows import Row
from ..data.messages import counted
from ..data.units import UnitFormat
from .over_frames import Interval, OverFrames, SceneOverFrames, intervals_of

BLOCKS = "▁▂▃▄▅▆▇█"
"""Of a strip: from touching to the deepest."""
APART, NOT_CHECKED = "·", " "
MOST_INTERVALS = 3
"""So many are named in a sentence."""


def sentence_of(row: Row, units: UnitFormat) -> str:
    """Return the sentence of a clash over frames, with the depth or gap as its row has it: '≤ 0.032 m'."""
    return over_frames_sentence(row["a"]["name"], row["b"]["name"], row["over"].over, units, Distance.of_row(row))


def over_frames_sentence(
    name_a: str, name_b: str, over: OverFrames, units: UnitFormat, worst_distance: Distance | None = None
) -> str:
    """Return in a sentence when a pair meets, how deep, and when it parts: 'Hand meets Table at 32, deepest 0.032 m at
    40, leaves after 47'; worst_distance: that of the row of the worst frame, which knows what touches."""
    distance, intervals = float(over.distances[over.worst_index]), over.intervals
    touches = worst_distance is not None and worst_distance.relation == "touching"
    is_near = distance > over.resolution and not touches
    is_deep = distance < -over.resolution and not touches  # minus infinity is of open surfaces, which cross
    has_number = is_near or (is_deep and distance > -np.inf)
    number = "" if worst_distance is None else worst_distance.text(units)
    number = (number or units.length(abs(distance))) if has_number else ""
    worst = f", {'nearest' if is_near else 'deepest'} {number} at {over.worst}" if number else ""
    depth = f", {number} {'away' if is_near else 'deep'}" if number else ""
    begin = f"{name_a} is {'near' if is_near else 'in contact with'} {name_b}"
    if over.is_permanent:
        which = " that were checked" if over.not_checked else ""
        return f"{begin} at all {over.checked.sum()} frames{which}{depth}"
    verb = "comes near" if is_near else "meets" if is_deep else "touches"
    if over.first == over.last:
        return f"{name_a} {verb} {name_b} at {over.first}{depth}"
    if len(intervals) > MOST_INTERVALS:
        return f"{begin} {len(intervals)} times from {over.first} to {over.last}{worst}"
    if len(intervals) > 1:
        return f"{begin} at {named_frames(intervals)}{worst}"
    is_there, stays = over.found[over.checked][[0, -1]]
    from_first, to_last = _end("first", over.first, over.found[0]), _end("last", over.last, over.found[-1])
    begin = f"{begin} from {from_first}" if is_there else f"{name_a} {verb} {name_b} at {over.first}"
    return f"{begin}{worst}, {f'stays to {to_last}' if stays else f'leaves after {over.last}'}"


def _end(word: str, frame: float, is_end: bool) -> str:
    """Return the first or the last checked frame; is_end: whether that is the one of the list."""
    return f"the {word} frame" if is_end else f"{frame}, the {word} frame that was checked"


def frames_words(intervals: Sequence[Interval]) -> str:
    """Return intervals of frames in words: '32 to 47, 60'."""
    return ", ".join(f"{first} to {last}" if last > first else f"{first}" for first, last in intervals)


def named_frames(intervals: Sequence[Interval]) -> str:
    """Return intervals of frames with the noun: 'frames 32 to 47, 60', 'frame 5'."""
    is_one = len(intervals) == 1 and intervals[0][0] == intervals[0][1]
    return f"{'frame' if is_one else 'frames'} {frames_words(intervals)}"


def at_frames(sentence: str, frames: Sequence[float], checked: Sequence[float]) -> str:
    """Return a sentence with the frames at which it is true; checked: all frames, ascending."""
    every = np.array(checked, dtype=np.float64)
    return f"{sentence} ({named_frames(intervals_of(every, np.isin(every, frames)))})"


def frames_of_check(check: Mapping[str, Any]) -> str:
    """Return the frame of a check, or those of a scene over frames, as `combined` has it."""
    return named_list(check["over"].frames if "over" in check else [check["frame"]])


def quiet_words(scene: SceneOverFrames) -> str:
    """Return how many frames are without clashes, and which."""
    found = intervals_of(np.array(scene.frames), np.isin(scene.frames, scene.quiet))
    return f"{counted(len(scene.quiet), 'frame')} without clashes: {frames_words(found)}"


def counts_words(*scenes: SceneOverFrames) -> str:
    """Return how many clashes of scenes are transient and permanent: '5 transient, 91 permanent'."""
    are_permanent = [clash.over.is_permanent for scene in scenes for clash in scene.clashes]
    permanent = sum(are_permanent)
    return f"{len(are_permanent) - permanent:,} transient, {permanent:,} permanent" if are_permanent else "no clashes"


def spark(over: OverFrames, width: int) -> str:
    """Return the depth over frames as a strip of at most so many characters; frames that share one have that of the
    worst of them."""
    depths = np.where(np.isfinite(over.distances), np.maximum(0.0, -over.distances), 0.0)
    levels = np.ceil(len(BLOCKS) * depths / max(float(depths.max()), over.resolution, np.finfo(float).tiny))
    levels = np.where(over.found, np.maximum(levels, 1.0), np.where(over.checked, 0.0, -1.0)).astype(int)
    columns = np.arange(len(levels)) * min(width, len(levels)) // len(levels)
    starts = np.flatnonzero(np.diff(columns, prepend=-1))
    return "".join([APART, *BLOCKS, NOT_CHECKED][level] for level in np.maximum.reduceat(levels, starts).tolist())
