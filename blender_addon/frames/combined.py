# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks of a scene over frames as one check for readers: of a row a pair, and of what was skipped once each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from ..data.lazy_rows import Row, column
from ..data.messages import HIDDEN_AT_FRAMES, UP_TO_FRAME, about
from ..scene.clash_rows import SERIES, WORSE
from .over_frames import HIDDEN, Owner, SceneOverFrames, scenes_over_frames
from .sentences import at_frames


def combined(checks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the checks of a document, those of each scene over frames as one.

    That has `over`, the scene over frames, and `checks`, all of the document. Its findings are the rows of the worst
    frames, each with its `over`, and not `verified` where another row of the pair is not; then those of a list that
    are of no frame of these. What was skipped is there once, and its reason ends with the frames, where these are not
    all.
    """
    found: dict[int, dict[str, Any]] = dict(enumerate(checks))
    for scene in scenes_over_frames(checks):
        of_scene = [found.pop(place) for place in scene.checks]
        found[min(scene.checks)] = _as_one(scene, of_scene, checks)
    return [check for _, check in sorted(found.items())]


def is_folded(row: Row) -> bool:
    """Return whether a clash over frames is only counted at first: a permanent one not worse than in the baseline."""
    return "over" in row and row["over"].over.is_permanent and row["change"] not in WORSE


def _as_one(
    scene: SceneOverFrames, of_scene: Sequence[dict[str, Any]], checks: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    ignored: Counter[str] = Counter()
    for check in of_scene:
        ignored |= Counter(check["ignored_pairs"])  # the most at a frame: mostly they are the same pairs
    rows = ((clash, checks[clash.check]["findings"][clash.row]) for clash in scene.clashes)
    listed = of_scene[0]["findings"] if SERIES in of_scene[0] else []
    known = {clash.row for clash in scene.clashes}
    verified = {place: column(checks[place]["findings"], "verified") for place in scene.checks}
    failed = {(place, k) for place, of in verified.items() for k, is_verified in enumerate(of) if is_verified is False}
    return {
        **of_scene[0],  # which has what of a baseline is gone
        "over": scene,
        "checks": checks,
        "objects": max(check["objects"] for check in of_scene),
        "checked_pairs": sum(check["checked_pairs"] for check in of_scene),
        "ignored_pairs": ignored,
        "left_out": max((check.get("left_out") or {} for check in of_scene), key=lambda of: sum(of.values())),
        "skipped": _skipped(scene, of_scene),
        "differences": list({repr(of): of for check in of_scene for of in check.get("differences", ())}.values()),
        "findings": [
            {**row, "over": clash, **({} if failed.isdisjoint(clash.rows.values()) else {"verified": False})}
            for clash, row in rows
        ]
        + [row for k, row in enumerate(listed) if k not in known],
    }


def _skipped(scene: SceneOverFrames, of_scene: Sequence[dict[str, Any]]) -> list[Row]:
    """Return what was skipped, each once. Of sentences about several objects, which have numbers of their frame, it is
    the first one; of those that say up to which frame something is so, the last."""
    places: dict[tuple[Any, ...], list[int]] = {}
    entries: dict[tuple[Any, ...], Row] = {}
    for place, check in enumerate(of_scene):
        for entry in check["skipped"]:
            reason = entry["reason"].removesuffix(f"{UP_TO_FRAME} {check['frame']}")
            key = entry["name"], entry.get("kind"), entry["unchecked"], *(entry.get("objects") or [reason])
            places.setdefault(key, []).append(place)
            entries[key] = entries[key] if key in entries and "objects" in entry else entry
    for key, found in places.items():
        is_said = entries[key].get("kind") == "fast" and len(found) == 1
        if len(found) < len(of_scene) and not is_said:
            frames = [scene.frames[place] for place in found]
            entries[key] = {**entries[key], "reason": at_frames(entries[key]["reason"], frames, scene.frames)}
    return [*entries.values(), *_hidden(scene, of_scene, {name for name, kind, *_ in entries if kind == HIDDEN})]


def _hidden(scene: SceneOverFrames, of_scene: Sequence[dict[str, Any]], named: AbstractSet[str]) -> Iterator[Row]:
    """Yield what is hidden at some of the frames, as it was checked at the others; named: what is named already."""
    frames: dict[Owner, list[float]] = {}
    for frame, check in zip(scene.frames, of_scene, strict=False):  # of a list, which is of many frames, it is skipped
        for name, library in check.get(HIDDEN) or ():
            frames.setdefault((name, library), []).append(frame)
    for (name, _), found in frames.items():
        if len(found) < len(of_scene) and name not in named:
            reason = at_frames(about(name, HIDDEN_AT_FRAMES), found, scene.frames)
            yield {"name": name, "reason": reason, "unchecked": False, "kind": HIDDEN}
