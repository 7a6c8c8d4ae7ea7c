# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of what a check reports: it follows from what the report says alone, however the check was made."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from ..data.lazy_rows import Row, columns, taken
from ..scene import coarse
from ..scene.clash_rows import unit_format
from .json_report import row_text


def ordered(check: dict[str, Any]) -> dict[str, Any]:
    """Return a check in its scene's units with its findings and the entries of what was skipped in order."""
    skipped = sorted(_with_one_of_coarse(check), key=_place)
    return {**check, "skipped": [entry for entry, _ in groupby(skipped)], "findings": _in_order(check["findings"])}


def _with_one_of_coarse(check: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of what was skipped: of coordinates that are too coarse one, of the objects of all shards."""
    found = [entry for entry in check["skipped"] if "resolution" in entry]
    if not found:
        return list(check["skipped"])
    names = sorted({name for entry in found for name in entry["objects"]})
    coarsest = max(entry["resolution"] for entry in found)
    one = coarse.entry(names, coarsest, unit_format(check).rough).record()
    return [*(entry for entry in check["skipped"] if "resolution" not in entry), one]


def _place(entry: dict[str, Any]) -> tuple[bool, str, str, str]:
    """Return by what an entry is in its place: what should have been checked is on top."""
    return not entry["unchecked"], entry.get("kind", ""), entry["name"], entry["reason"]


def _in_order(findings: Sequence[Row]) -> Sequence[Row]:
    """Return findings the deepest first, those whose depth was not searched by its bound, others without a depth among
    those that touch; then by name, then by all else that they say."""
    distances, bounds, *sides = columns(findings, "signed_distance", "upper_bound", "a", "b")
    names = [[side["name"] for side in of] for of in sides]
    numbers = [
        (bound if distance is None else distance) or 0.0 for distance, bound in zip(distances, bounds, strict=True)
    ]
    keys = list(zip(numbers, *names, strict=True))
    order: list[int] = []
    for _, group in groupby(sorted(range(len(keys)), key=keys.__getitem__), key=keys.__getitem__):
        alike = list(group)
        order += sorted(alike, key=lambda k: row_text(findings[k])) if len(alike) > 1 else alike
    return taken(findings, order)
