# SPDX-License-Identifier: GPL-3.0-or-later
"""Which clashes the list shows, and in which order.

A list is drawn with every redraw of the window. What of it takes long is done once, and again only when something
differs that it depends on, all of which is read anew each time: names of objects, statuses, filters, what has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import bpy
import numpy as np

from . import changes, results
from .results import RELATIONS, STATUSES, ContactLensCheck

GROUPS = ("PENETRATING", "TOUCHING", "WITHIN_CLEARANCE")
"""What relations are filtered by."""
SHOWN = 1 << 30
"""`UIList.bitflag_filter_item`, which Blender only tells of a list that is drawn."""


class Heading(NamedTuple):
    """How a clash is listed below the object that it is grouped by."""

    name: str
    other: str
    size: int
    """How many clashes the group has; 0 unless the clash is its first."""


class _Clash(NamedTuple):
    """What a clash is put in order by."""

    names: tuple[str, str]
    searched: str
    relation: str
    group: str
    signed_distance: float
    area: float


@dataclass(frozen=True)
class ClashList:
    """The clashes that the list shows."""

    rows: list[int]
    """Their numbers, in the order of the list."""
    count: int
    """Of all clashes."""
    headings: dict[int, Heading] = field(default_factory=dict)
    """By number, when they are grouped by object."""
    statuses: dict[str, int] = field(default_factory=dict)
    """How many clashes have each status, shown or not."""

    @cached_property
    def places(self) -> dict[int, int]:
        """The places of the clashes in the list, by their numbers."""
        return {k: place for place, k in enumerate(self.rows)}

    @cached_property
    def filtered(self) -> tuple[list[int], list[int]]:
        """What `UIList.filter_items` returns: the flag of each clash, and its place."""
        flags = np.zeros(self.count, dtype=np.int32)
        flags[self.rows] = SHOWN
        order = np.concatenate((np.array(self.rows, dtype=np.intp), np.flatnonzero(flags == 0)))
        places = np.empty(self.count, dtype=np.intp)
        places[order] = np.arange(self.count)
        return flags.tolist(), places.tolist()


_clashes: dict[int, tuple[object, list[_Clash]]] = {}
_lists: dict[int, tuple[object, ClashList]] = {}
"""By the scene's session_uid: what it depends on, and what was made of that."""


def shown(scene: bpy.types.Scene) -> ClashList:
    """Return the clashes that the list shows now."""
    check, uid = results.of_scene(scene), scene.session_uid
    content = results.revision(), len(check.findings), *_names_of_objects()
    if uid not in _clashes or _clashes[uid][0] != content:
        _clashes[uid] = content, _read(check)
        _lists.pop(uid, None)
    changed = frozenset(changes.outdated(scene)) if check.only_changed else None
    key = results.decisions(), check.search, check.sort, _hidden(check), changed
    if uid not in _lists or _lists[uid][0] != key:
        _lists[uid] = key, _arrange(check, _clashes[uid][1], changed)
    return _lists[uid][1]


def drawn(scene: bpy.types.Scene) -> ClashList:
    """Return the clashes that the list showed when it was drawn last: for what is drawn in it and below it."""
    entry = _lists.get(scene.session_uid)
    return shown(scene) if entry is None else entry[1]


def drop() -> None:
    """Drop all lists."""
    _clashes.clear()
    _lists.clear()


def group_of(relation: str) -> str:
    """Which of three a relation counts as: PENETRATING, TOUCHING or WITHIN_CLEARANCE."""
    return relation.upper() if relation in ("touching", "within_clearance") else "PENETRATING"


def _names_of_objects() -> tuple[list[str], bytes]:
    """Return what tells the names of all objects, at a fraction of what reading them one by one takes."""
    names = bpy.data.objects.keys()
    uids = np.empty(len(names), dtype=np.int32)
    bpy.data.objects.foreach_get("session_uid", uids)
    return names, uids.tobytes()


def _read(check: ContactLensCheck) -> list[_Clash]:
    result = []
    for finding in check.findings:
        names = results.label(finding, "a"), results.label(finding, "b")
        relation = finding.relation
        group = group_of(relation)
        searched = "\n".join(names).casefold()
        result.append(_Clash(names, searched, relation, group, finding.signed_distance, finding.area))
    return result


def _hidden(check: ContactLensCheck) -> frozenset[str]:
    """Return the relations and statuses that the user has filtered out."""
    words = (*GROUPS, *(status[0] for status in STATUSES))
    return frozenset(word for word in words if not getattr(check, f"show_{word.lower()}"))


def _arrange(check: ContactLensCheck, clashes: list[_Clash], changed: frozenset[int] | None) -> ClashList:
    """Return the list of clashes; changed: those that are shown, None for all."""
    statuses = [finding.status for finding in check.findings]
    urgencies = {status[0]: urgency for urgency, status in enumerate(STATUSES)}
    wanted, hidden = check.search.casefold(), _hidden(check)
    rows = [
        k
        for k, clash in enumerate(clashes)
        if wanted in clash.searched and clash.group not in hidden and statuses[k] not in hidden
    ]
    if changed is not None:
        rows = [k for k in rows if k in changed]
    counts = Counter(name for k in rows for name in set(clashes[k].names))
    leaders = {k: min(clashes[k].names, key=lambda name: (-counts[name], name)) for k in rows}
    weights = {relation: weight for weight, relation in enumerate(RELATIONS)}
    first: Callable[[int], tuple[Any, ...]] = {
        "NAME": lambda k: clashes[k].names,
        "OBJECT": lambda k: (-counts[leaders[k]], leaders[k]),
        "AREA": lambda k: (-clashes[k].area,),
        "RELATION": lambda k: (weights[clashes[k].relation],),
        "STATUS": lambda k: (urgencies[statuses[k]],),
        "DEPTH": lambda k: (statuses[k] == "RESOLVED",),
    }[check.sort]
    rows.sort(key=lambda k: (*first(k), clashes[k].signed_distance, *clashes[k].names))
    headings: dict[int, Heading] = {}
    if check.sort == "OBJECT":
        sizes, before = Counter(leaders.values()), ""
        for k in rows:
            leader, (a, b) = leaders[k], clashes[k].names
            headings[k] = Heading(leader, b if a == leader else a, sizes[leader] if leader != before else 0)
            before = leader
    found = Counter(statuses)
    by_urgency = {status[0]: found[status[0]] for status in STATUSES if status[0] in found}
    return ClashList(rows, len(clashes), headings, by_urgency)
