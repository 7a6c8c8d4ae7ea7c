# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks of a scene over frames as one check for readers: of a row a pair, and of what was skipped once each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.lazy_rows import Row, column
from .over_frames import SceneOverFrames, intervals_of, scenes_over_frames


def combined(checks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the checks of a document, those of each scene over frames as one.

    That has `over`, the scene over frames, and its findings are the rows of the worst frames, each with its `over`, and
    not `verified` where another row of the pair is not. What was skipped has the intervals of `frames` at which it was,
    where these are not all.
    """
    found: dict[int, dict[str, Any]] = dict(enumerate(checks))
    for scene in scenes_over_frames(checks):
        of_scene = [found.pop(place) for place in scene.checks]
        found[min(scene.checks)] = _as_one(scene, of_scene, checks)
    return [check for _, check in sorted(found.items())]


def _as_one(
    scene: SceneOverFrames, of_scene: Sequence[dict[str, Any]], checks: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    ignored: Counter[str] = Counter()
    for check in of_scene:
        ignored |= Counter(check["ignored_pairs"])  # the most at a frame: mostly they are the same pairs
    differences = {repr(entry): entry for check in of_scene for entry in check.get("differences", ())}
    rows = ((clash, checks[clash.check]["findings"][clash.row]) for clash in scene.clashes)
    verified = {place: column(checks[place]["findings"], "verified") for place in scene.checks}
    failed = {(place, k) for place, of in verified.items() for k, is_verified in enumerate(of) if is_verified is False}
    return {
        **of_scene[0],
        "over": scene,
        "partial": any(check["partial"] for check in of_scene),
        "objects": max(check["objects"] for check in of_scene),
        "checked_pairs": sum(check["checked_pairs"] for check in of_scene),
        "ignored_pairs": ignored,
        "skipped": _skipped(scene, of_scene),
        "differences": list(differences.values()),
        **{name: _joined(of_scene, name) for name in ("gone", "not_compared")},
        "findings": [
            {**row, "over": clash, **({} if failed.isdisjoint(clash.rows.values()) else {"verified": False})}
            for clash, row in rows
        ],
    }


def _joined(of_scene: Sequence[dict[str, Any]], name: str) -> list[Row] | None:
    """Return all entries of the baseline; None without one."""
    known = [check[name] for check in of_scene if check[name] is not None]
    return [entry for entries in known for entry in entries] if known else None


def _skipped(scene: SceneOverFrames, of_scene: Sequence[dict[str, Any]]) -> list[Row]:
    """Return what was skipped, each once. Of sentences about several objects, which have numbers of their frame, it is
    the first one."""
    entries: dict[tuple[Any, ...], Row] = {}
    places: dict[tuple[Any, ...], list[int]] = {}
    for place, check in enumerate(of_scene):
        for entry in check["skipped"]:
            about = entry.get("objects")
            key = entry["name"], entry.get("kind"), entry["unchecked"], *(about or [entry["reason"]])
            entries.setdefault(key, entry)
            places.setdefault(key, []).append(place)
    every, frames = np.arange(len(of_scene)), np.array(scene.frames, dtype=np.float64)
    return [
        {**entry, "frames": intervals_of(frames, np.isin(every, places[key]))}
        if len(places[key]) < len(of_scene)
        else entry
        for key, entry in entries.items()
    ]
