# SPDX-License-Identifier: GPL-3.0-or-later
"""Which clashes the list shows, and in which order.

A list is drawn with every redraw of the window. What of it takes long is done once, and again only when something
differs that it depends on, all of which is read anew each time: names of objects, statuses, filters, what has changed.

The active clash is listed as it was when the user went to it: moved out, approved or looked at again it keeps its place
until the user goes to another one or changes a filter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, cast

import bpy
import numpy as np

from ..data.objects import frame_of
from . import changes, check_settings
from .check_settings import ContactLensCheck, Listed
from .finding import RELATIONS, STATUSES, decisions, revision
from .ignored import is_in, listed_now
from .stored_frames import stored_frames

GROUPS = ("PENETRATING", "TOUCHING", "WITHIN_CLEARANCE")
"""What relations are filtered by, unless a clash is resolved."""
RESOLVED, PERMANENT = "RESOLVED", "PERMANENT"
SHOWN = 1 << 30
"""`UIList.bitflag_filter_item`, which Blender only tells of a list that is drawn."""


class Heading(NamedTuple):
    """How a clash is listed below the object that it is grouped by."""

    name: str
    other: str
    size: int
    """How many clashes the group has; 0 unless the clash is its first."""


class ListedClash(NamedTuple):
    """What a clash is filtered by, put in order by and shown in views by, beside its status."""

    names: tuple[str, str]
    searched: str
    relation: str
    group: str
    signed_distance: float
    area: float
    volume: float
    center: tuple[float, float, float]
    frame: float
    """At which it was found."""
    owners: tuple[int, int]
    """`session_uid` of its objects, of an instance of its instancer; 0 where one is gone."""
    is_apart: bool
    is_permanent: bool
    """Whether it is in all frames of a check of frames."""


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
    ignored: frozenset[int] = frozenset()
    """Those that the next check leaves out because the user has listed their pairs as ignored."""
    clashes: list[ListedClash] = field(default_factory=list, repr=False)
    """All of them as they are now, by their numbers."""
    statuses_of: list[str] = field(default_factory=list, repr=False)

    @cached_property
    def places(self) -> dict[int, int]:
        """The places of the clashes in the list, by their numbers."""
        return {k: place for place, k in enumerate(self.rows)}

    @cached_property
    def permanent(self) -> int:
        """How many clashes are in all frames of a check of frames, shown or not."""
        return sum(clash.is_permanent for clash in self.clashes)

    @cached_property
    def filtered(self) -> tuple[list[int], list[int]]:
        """What `UIList.filter_items` returns: the flag of each clash, and its place."""
        flags = np.zeros(self.count, dtype=np.int32)
        flags[self.rows] = SHOWN
        order = np.concatenate((np.array(self.rows, dtype=np.intp), np.flatnonzero(flags == 0)))
        places = np.empty(self.count, dtype=np.intp)
        places[order] = np.arange(self.count)
        return flags.tolist(), places.tolist()


_clashes: dict[int, tuple[object, list[ListedClash]]] = {}
_statuses: dict[int, tuple[object, list[str]]] = {}
_ignored: dict[int, tuple[object, frozenset[int]]] = {}
_lists: dict[int, tuple[object, ClashList]] = {}
"""By the scene's session_uid: what it depends on, and what was made of that."""
_held: set[int] = set()
"""The session_uid of scenes whose lists keep their order though the numbers of clashes change."""


def shown(scene: bpy.types.Scene) -> ClashList:
    """Return the clashes that the list shows now."""
    check, uid = check_settings.of_scene(scene), scene.session_uid
    content = 0 if uid in _held else revision(), len(check.findings), *_names_of_objects()
    if uid not in _clashes or _clashes[uid][0] != content:
        _clashes[uid] = content, _read(check, frame_of(scene))
        _lists.pop(uid, None)
    clashes = _clashes[uid][1]
    decided = content, decisions()
    if uid not in _statuses or _statuses[uid][0] != decided:
        _statuses[uid] = decided, _read_statuses(check)
    listed = listed_now(scene)
    if uid not in _ignored or _ignored[uid][0] != (content, listed):
        pairs = enumerate(finding.pair for finding in check.findings) if listed else ()
        _ignored[uid] = (content, listed), frozenset(k for k, pair in pairs if is_in(listed, pair))
    changed = changes.outdated(scene) if check.only_changed else frozenset()
    opened = _opened(check, clashes, changed, _ignored[uid][1])
    key = decided, check.search, check.sort, hidden(check), changed, _ignored[uid][0], opened
    if uid not in _lists or _lists[uid][0] != key:
        _lists[uid] = key, _arrange(check, clashes, _statuses[uid][1], changed, _ignored[uid][1], opened)
    return _lists[uid][1]


def _opened(
    check: ContactLensCheck, clashes: list[ListedClash], changed: frozenset[int], ignored: frozenset[int]
) -> Listed | None:
    """Return how the active clash is listed where that is not as it is now."""
    then = check_settings.opened(check)
    if then is None or not 0 <= then.number < len(clashes):
        return None
    k, clash = then.number, clashes[then.number]
    is_changed = k in changed if check.only_changed else then.is_out_of_date
    now = Listed(
        k,
        check.findings[k].status,
        clash.relation,
        clash.signed_distance,
        clash.area,
        clash.volume,
        is_changed,
        k in ignored,
    )
    return None if then == now else then


def drawn(scene: bpy.types.Scene) -> ClashList:
    """Return the clashes that the list showed when it was drawn last: for what is drawn in it and below it."""
    entry = _lists.get(scene.session_uid)
    return shown(scene) if entry is None else entry[1]


def hold(scene: bpy.types.Scene) -> None:
    """Keep the clashes of a list in the order that they have by their numbers now, until `release`."""
    _held.add(scene.session_uid)
    _clashes.pop(scene.session_uid, None)


def release(scene: bpy.types.Scene) -> None:
    """Put the clashes of a list in order by their numbers again."""
    _held.discard(scene.session_uid)


def drop() -> None:
    """Drop all lists."""
    _clashes.clear()
    _statuses.clear()
    _ignored.clear()
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


def _read(check: ContactLensCheck, frame: float) -> list[ListedClash]:
    """frame: for files saved by an earlier version, which do not say of which one a clash is."""
    result, frames = [], stored_frames(cast(bpy.types.Scene, check.id_data))
    permanent = frozenset() if frames is None else frames.permanent
    for finding in check.findings:
        names = finding.label("a"), finding.label("b")
        relation = finding.relation
        group = group_of(relation)
        searched = "\n".join(names).casefold()
        numbers = finding.signed_distance, finding.area, finding.volume, finding.center, finding.frame_of_state(frame)
        owners = [0 if obj is None else obj.session_uid for obj in (finding.object_a, finding.object_b)]
        is_permanent = bool(permanent) and finding.clash_id in permanent
        found = *numbers, (owners[0], owners[1]), finding.is_apart, is_permanent
        result.append(ListedClash(names, searched, relation, group, *found))
    return result


def _read_statuses(check: ContactLensCheck) -> list[str]:
    numbers = np.empty(len(check.findings), dtype=np.int32)
    check.findings.foreach_get("status", numbers)
    words = {status[-1]: status[0] for status in STATUSES}
    return [words[number] for number in numbers.tolist()]


def is_filtered(check: ContactLensCheck) -> bool:
    """Return whether the user has set a filter."""
    return bool(check.search or check.only_changed or hidden(check))


def why_empty(scene: bpy.types.Scene) -> str:
    """Return why the list shows none of its clashes."""
    check = check_settings.of_scene(scene)
    counts = {"TOUCHING": changes.totals(scene).words["touching"], PERMANENT: drawn(scene).permanent}
    words = [word for word in hidden(check) - {RESOLVED} if counts.get(word, 1)]
    if check.search or check.only_changed or len(words) != 1 or words[0] not in counts:
        return "No clash passes the filters"
    count = counts[words[0]]
    verb, them = ("is", "it") if count == 1 else ("are", "them")
    return f"{count:,} {words[0].lower()} {verb} hidden: click the number above the list to show {them}"


def hidden(check: ContactLensCheck) -> frozenset[str]:
    """Return the relations and statuses that the user has filtered out."""
    of_frames = (PERMANENT,) if stored_frames(cast(bpy.types.Scene, check.id_data)) is not None else ()
    words = (*GROUPS, *(status[0] for status in STATUSES), *of_frames)
    return frozenset(word for word in words if not getattr(check, f"show_{word.lower()}"))


def _arrange(
    check: ContactLensCheck,
    clashes: list[ListedClash],
    statuses: list[str],
    changed: frozenset[int],
    ignored: frozenset[int],
    opened: Listed | None,
) -> ClashList:
    """Return the list of clashes; changed: those alone are shown, unless there are none."""
    found, now = Counter(statuses), (clashes, statuses)
    by_urgency = {status[0]: found[status[0]] for status in STATUSES if status[0] in found}
    last = ignored
    if opened is not None:
        k, group = opened.number, group_of(opened.relation)
        numbers = {name: getattr(opened, name) for name in ("signed_distance", "area", "volume")}
        then = clashes[k]._replace(relation=opened.relation, group=group, **numbers)
        clashes = [*clashes[:k], then, *clashes[k + 1 :]]
        statuses = [*statuses[:k], opened.status, *statuses[k + 1 :]]
        changed = changed | {k} if changed and opened.is_out_of_date else changed
        last = last | {k} if opened.is_ignored else last - {k}
    urgencies = {status[0]: urgency for urgency, status in enumerate(STATUSES)}
    wanted, left_out = check.search.casefold(), hidden(check)
    rows = [
        k
        for k, (clash, status) in enumerate(zip(clashes, statuses, strict=True))
        if wanted in clash.searched
        and status not in left_out
        and (status == RESOLVED or clash.group not in left_out)
        and (not changed or k in changed)
        and not (clash.is_permanent and PERMANENT in left_out)
    ]
    counts: Counter[str] = Counter()
    leaders: dict[int, str] = {}
    if check.sort == "OBJECT":
        counts.update(name for k in rows for name in set(clashes[k].names))
        leaders = {k: min(clashes[k].names, key=lambda name: (-counts[name], name)) for k in rows}
    weights = {relation: weight for weight, relation in enumerate(RELATIONS)}
    first: Callable[[int], tuple[Any, ...]] = {
        "NAME": lambda k: clashes[k].names,
        "OBJECT": lambda k: (-counts[leaders[k]], leaders[k]),
        "AREA": lambda k: (clashes[k].relation == "within_clearance", -clashes[k].area),
        "VOLUME": lambda k: (-clashes[k].volume,),
        "RELATION": lambda k: (weights[clashes[k].relation],),
        "STATUS": lambda k: (urgencies[statuses[k]],),
        "DEPTH": lambda k: (statuses[k] == RESOLVED or k in last, clashes[k].is_permanent),
    }[check.sort]
    rows.sort(key=lambda k: (*first(k), clashes[k].signed_distance, *clashes[k].names))
    headings: dict[int, Heading] = {}
    if check.sort == "OBJECT":
        sizes, before = Counter(leaders.values()), ""
        for k in rows:
            leader, (a, b) = leaders[k], clashes[k].names
            headings[k] = Heading(leader, b if a == leader else a, sizes[leader] if leader != before else 0)
            before = leader
    return ClashList(rows, len(clashes), headings, by_urgency, ignored, *now)
