# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether findings are still true: their things compared with the scene as it is.

Each finding keeps the state of its two things: a digest of where they were, and one of what they were made of. Handlers
only note which objects Blender reports. When the list is drawn, places are compared at once, of what was reported; what
things are made of is read and compared a moment later by a timer, a few at a time. So drawing takes the same time
however many findings there are, and a change costs what hangs on the changed object.

A finding of another frame is of that frame: it is out of date only when a thing of it is gone, or was changed since at
a frame other than its own, where it cannot be compared.

A list over frames is of many: whatever is changed, at whatever frame, makes its findings out of date, until it is as it
was at the finding's own frame. Of an animation that was changed this proves nothing: only another check does.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, cast

import bpy

from ..data import messages
from ..data.objects import frame_of, matrix_numbers, may_have_surface
from ..data.records import Key, State
from ..geometry import collision_shape
from ..read.scene_objects import place_of
from ..read.scene_reader import states_of
from ..scene.clash_rows import APART, RESOLVED, WITHIN_MARGINS
from .stored_clashes import table_of_frames

Finding = Any
"""`finding.ContactLensFinding`, which is on the floor above."""
Place = tuple[float, ...]
"""The numbers of a world matrix."""

UNNOTICED = 0.3
"""Seconds for which a thing that is to be compared is taken to be as it was."""


on_uncompared: list[Callable[[], None]] = []
"""Called when things wait to be compared, where there is a window: a timer does it, with `compare_some`."""


@dataclass(eq=False)
class _Thing:
    """One side of findings, in the state they were found in."""

    key: Key | None
    """None when it is gone from the file."""
    state: State | None
    """None in a file saved by an earlier version."""
    frame: float
    rows: list[int] = field(default_factory=list)
    """The findings it is a side of."""


class _Row(NamedTuple):
    """The parts of a clash by which it is out of date or not."""

    sides: tuple[int, int]
    """Numbers of things."""
    word: str
    """What it counts as: its relation, unless it is RESOLVED, or APART though it is not, as what is approved."""

    @classmethod
    def of(cls, finding: Finding, sides: tuple[int, int]) -> _Row:
        word = RESOLVED if finding.status == "RESOLVED" else APART if finding.is_apart else finding.relation
        if word == "within_clearance" and finding.margins is not None:
            word = WITHIN_MARGINS
        return cls(sides, word)

    @property
    def is_resolved(self) -> bool:
        return self.word == RESOLVED


class Totals(NamedTuple):
    """How many findings there are, and how many are out of date."""

    words: Counter[str]
    """By relation; those that are resolved or apart by that."""
    changed: Counter[str]
    """How many of these are known to be out of date; the others by the same words."""
    comparing: int
    """How many have not been compared since something was reported of their things."""


_UNKNOWN_STATE = "was checked by an earlier version, which did not store its state"


_UNREADABLE = "is hidden or cannot be read"
_RENEWABLE = (messages.MOVED, messages.EDITED, _UNKNOWN_STATE)
"""The reasons for which things can be looked at again."""


class _Table:
    """The findings of a scene and what is known of their things."""

    def __init__(self, scene: bpy.types.Scene, known: Mapping[Key, str]) -> None:
        self.outdated = False
        """Whether the findings are others by now."""
        self.things: list[_Thing] = []
        self.rows: list[_Row] = []
        self.of_pair: dict[frozenset[Key], int] = {}
        """The finding of each pair."""
        self.known = dict(known)
        """What things are made of now, empty of what cannot be read."""
        self.since: dict[Key, float] = {}
        """When a thing of which that is not known was reported first."""
        self.reported = time.monotonic()
        """When something was reported last."""
        self.reasons: dict[int, str] = {}
        """Why things are not as they were; those that are, are not in it."""
        self.pending: set[int] = set()
        """Things to be looked at again."""
        self.uncompared: dict[int, None] = {}
        """Things whose places are the same and of which it is not known what they are made of; those last drawn come
        first."""
        self.edited_elsewhere: set[int] = set()
        self.animated_anew: set[int] = set()
        """Things of which the animation was changed since the frames were checked."""
        self.is_over_frames = bool(table_of_frames(scene).digest)
        self._bodies: dict[int, Place] = {}
        """Where active rigid bodies are, by their `session_uid`: any selection tags them as changed."""
        self.unlisted: dict[int, Place] = {}
        """By their `session_uid`: where objects are now that are in no finding, and have moved since the check."""
        self.frame = frame_of(scene)
        self._hanging: dict[int, set[int]] = {}
        self._at_frame: dict[float, list[int]] = {}
        self._places: dict[int, str] | None = None
        self._there: set[int] | None = None
        self._totals: Totals | None = None
        self._out_of_date: frozenset[int] | None = None
        self._read(_findings(scene))
        self.pending.update(range(len(self.things)))
        self._words = Counter(row.word for row in self.rows)
        if self.is_over_frames:
            self._note_bodies(scene)
            for uid, is_animation in _edited_in(scene).items():
                self._note_edited(uid, is_animation)
        self._others = {
            obj.session_uid: matrix_numbers(obj) for obj in scene.objects if obj.session_uid not in self._hanging
        }

    def _read(self, findings: Sequence[Finding]) -> None:
        numbers: dict[tuple[Key | None, State | None, float], int] = {}
        deciding: dict[tuple[int, int], set[int]] = {}
        for k, finding in enumerate(findings):
            keys, frame = (finding.key("a"), finding.key("b")), finding.frame_of_state(self.frame)
            sides = []
            for letter, key in zip("ab", keys, strict=True):
                identity = key, finding.state(letter), frame
                number = numbers.setdefault(identity, len(self.things))
                if number == len(self.things):
                    self.things.append(_Thing(*identity))
                    self._at_frame.setdefault(frame, []).append(number)
                    if key is not None:
                        if key[:2] not in deciding:
                            parts = (getattr(finding, f"{name}_{letter}") for name in ("object", "source"))
                            deciding[key[:2]] = watched(*parts)
                        for uid in deciding[key[:2]]:
                            self._hanging.setdefault(uid, set()).add(number)
                self.things[number].rows.append(k)
                sides.append(number)
            a, b = keys
            if a is not None and b is not None:
                self.of_pair[frozenset((a, b))] = k
            self.rows.append(_Row.of(finding, (sides[0], sides[1])))

    # what is reported ---------------------------------------------------------------------------------------------

    def note(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, of_frame: bool) -> None:
        """Note what Blender reports. of_frame: that the frame has changed."""
        self._follow_frame(scene)
        if self.is_over_frames and of_frame:
            self._note_bodies(scene)
        elif self.is_over_frames:
            self._note_edits(scene, depsgraph)
        there = cache(lambda: {obj.session_uid for obj in scene.objects})
        for update in depsgraph.updates:
            if isinstance(update.id, bpy.types.Object):
                obj = update.id.original
                uid = obj.session_uid
                if uid not in self._hanging:
                    if update.is_updated_transform and not of_frame and not self.is_over_frames:
                        self._note_unlisted(obj, there)
                    continue
                if self._places is not None and update.is_updated_transform:
                    self._places[uid] = place_of(matrix_numbers(obj))
                self._note(uid, update.is_updated_transform, is_edited(update), of_frame)
            elif isinstance(update.id, bpy.types.Collection):
                self._there = None
                self._note(update.id.original.session_uid, True, True, of_frame)
            elif isinstance(update.id, bpy.types.Scene):  # something may be hidden, shown or gone
                self._there = None
                for key in [key for key, made in self.known.items() if not made]:
                    self._forget(key)
                self.pending.update(i for i, reason in self.reasons.items() if reason == _UNREADABLE)

    def _note_bodies(self, scene: bpy.types.Scene) -> None:
        world = scene.rigidbody_world
        bodies = () if world is None or world.collection is None else world.collection.objects
        self._bodies = {obj.session_uid: matrix_numbers(obj) for obj in bodies if obj.rigid_body.type == "ACTIVE"}

    def _note_edits(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        """Note what was changed at any frame, for a list over frames."""
        datas = {update.id.original for update in depsgraph.updates if not isinstance(update.id, bpy.types.Object)}
        is_animation = any(isinstance(block, bpy.types.Action) for block in datas)
        for update in depsgraph.updates:
            if not isinstance(update.id, bpy.types.Object) or not (update.is_updated_transform or is_edited(update)):
                continue
            obj, edited = update.id.original, _edited_in(scene)
            uid, is_body = obj.session_uid, obj.data not in datas and obj.session_uid in self._bodies
            if is_body and not is_animation and self._bodies[uid] == matrix_numbers(obj):
                continue
            if uid in self._hanging or may_have_surface(obj) or obj.is_instancer:
                edited[uid] = is_animation or edited.get(uid, False)
                self._note_edited(uid, is_animation)

    def _note_edited(self, uid: int, is_animation: bool) -> None:
        if uid not in self._hanging:
            self.unlisted[uid] = ()
            return
        (self.animated_anew if is_animation else self.edited_elsewhere).update(self._hanging[uid])
        self.pending.update(self._hanging[uid])

    def _note_unlisted(self, obj: bpy.types.Object, there: Callable[[], Set[int]]) -> None:
        if not may_have_surface(obj) and not obj.is_instancer:
            return
        # Blender reports far more than has moved: with any selection all active rigid bodies.
        uid, place = obj.session_uid, matrix_numbers(obj)
        if self._others.get(uid) == place:
            self.unlisted.pop(uid, None)
        elif uid in self.unlisted or uid in self._others or uid in there():
            self.unlisted[uid] = place

    def know(self, uid: int) -> None:
        """Take an object as it is now, though it is in no finding, as checked."""
        if uid in self.unlisted:
            self._others[uid] = self.unlisted.pop(uid)

    def _follow_frame(self, scene: bpy.types.Scene) -> None:
        frame = frame_of(scene)
        if frame != self.frame:
            self.pending.update(self._at_frame.get(self.frame, ()), self._at_frame.get(frame, ()))
            self.frame, self._places = frame, None

    def _note(self, uid: int, moved: bool, edited: bool, of_frame: bool) -> None:
        for i in self._hanging.get(uid, ()):
            key, frame = self.things[i].key, self.things[i].frame
            # The state of an object contains the places of its parts, and that of an instance its own.
            if edited or (moved and (key[2] or uid != key[0])):
                self._forget(key)
            if frame != self.frame and not of_frame and (moved or edited) and not self.is_over_frames:
                self.edited_elsewhere.add(i)
            self.pending.add(i)

    def _forget(self, key: Key) -> None:
        self.reported = time.monotonic()
        self.known.pop(key, None)
        self.since.setdefault(key, self.reported)

    # what is known ------------------------------------------------------------------------------------------------

    def look(self, scene: bpy.types.Scene) -> None:
        """Compare the places of what was reported."""
        self._follow_frame(scene)
        if self._there is None:
            self._there = there = {obj.session_uid for obj in scene.objects}
            self.pending.update(i for i, reason in self.reasons.items() if reason == messages.GONE)
            self.pending.update(
                i for i, thing in enumerate(self.things) if thing.key is not None and thing.key[0] not in there
            )
        if self.pending:
            self._totals = self._out_of_date = None
        for i in self.pending:
            reason = self._reason(i)
            self.uncompared.pop(i, None)
            self.reasons.pop(i, None)
            if reason == messages.COMPARING:
                self.uncompared[i] = None
            elif reason:
                self.reasons[i] = reason
        self.pending.clear()

    def _place(self, uid: int) -> str | None:
        if self._places is None:
            self._places = {
                obj.session_uid: place_of(matrix_numbers(obj))
                for obj in bpy.data.objects
                if obj.session_uid in self._hanging
            }
        return self._places.get(uid)

    def _reason(self, i: int) -> str:
        thing = self.things[i]
        if thing.key is None or thing.key[0] not in self._there:
            return messages.GONE
        if i in self.animated_anew:
            return "had its animation edited"
        if thing.frame != self.frame:
            return "was changed at another frame" if i in self.edited_elsewhere else ""
        if not self.is_over_frames:
            self.edited_elsewhere.discard(i)
        if thing.state is None:
            return _UNKNOWN_STATE
        if thing.state.place != self._place(thing.key[0]):
            return messages.MOVED
        made = self.known.get(thing.key)
        if made is None:
            self.since.setdefault(thing.key, self.reported)
            return messages.COMPARING
        if made == thing.state.made:
            self.edited_elsewhere.discard(i)
            return ""
        return messages.EDITED if made else _UNREADABLE

    def take(self, key: Key, made: str) -> None:
        """Take what a thing is made of now."""
        self.known[key] = made
        self.since.pop(key, None)
        self.pending.update(i for i in list(self.uncompared) if self.things[i].key == key)

    def is_overdue(self, i: int) -> bool:
        """Return whether an object waits to be compared for long enough to be noticed."""
        key = self.things[i].key
        return key is not None and time.monotonic() - self.since.get(key, 0.0) > UNNOTICED

    def reason(self, k: int) -> tuple[str, str]:
        """Return which side of a finding, "a" or "b", is not as it was, and why; empty when it is as it was."""
        row = self.rows[k]
        for letter, i in zip("ab", row.sides, strict=True):
            reason = self.reasons.get(i, "")
            if reason in (messages.GONE, _UNREADABLE) and row.is_resolved:
                continue  # that it is no longer there is what the finding says
            if reason:
                return letter, reason
        for letter, i in zip("ab", row.sides, strict=True):
            if i in self.uncompared and self.is_overdue(i):
                return letter, messages.COMPARING
        return "", ""

    def want(self, k: int) -> None:
        """Compare the things of a finding before others."""
        for i in self.rows[k].sides:
            if i in self.uncompared:
                del self.uncompared[i]
                self.uncompared = {i: None, **self.uncompared}

    def decide(self, k: int, finding: Finding) -> None:
        """Take the status that a finding has now."""
        before, now = self.rows[k], _Row.of(finding, self.rows[k].sides)
        self.rows[k] = now
        self._words.subtract([before.word])
        self._words = +self._words + Counter([now.word])  # without those of which there is none
        self._totals = self._out_of_date = None

    def row_reasons(self) -> dict[int, str]:
        """Return why findings are not known to be as they were, by their numbers."""
        overdue = {i for i in self.uncompared if self.is_overdue(i)}
        reasons = {k: self.reason(k)[1] for i in (*self.reasons, *overdue) for k in self.things[i].rows}
        return {k: reason for k, reason in reasons.items() if reason}

    def out_of_date(self) -> frozenset[int]:
        """Return the numbers of the findings that are known to be out of date."""
        if self._out_of_date is None:
            reasons = self.row_reasons()
            self._out_of_date = frozenset(k for k, reason in reasons.items() if reason != messages.COMPARING)
        return self._out_of_date

    def totals(self) -> Totals:
        """Count the findings."""
        if self._totals is not None:
            return self._totals
        reasons = self.row_reasons()
        changed = Counter(self.rows[k].word for k, reason in reasons.items() if reason != messages.COMPARING)
        totals = Totals(self._words, changed, list(reasons.values()).count(messages.COMPARING))
        if not self.uncompared:  # else it changes with time
            self._totals = totals
        return totals


def watched(owner: bpy.types.Object, source: bpy.types.Object | None) -> set[int]:
    """Return the `session_uid` of the objects and collections that decide where a thing is and what it is made of.

    owner: the object, or what makes the instance; source: what is instanced, None of an object.
    """
    source = source or owner
    objects = [owner, source, *collision_shape.parts(owner), *collision_shape.parts(source)]
    collections: list[bpy.types.Collection] = []
    if owner.instance_type == "COLLECTION" and owner.instance_collection is not None:
        collections = [owner.instance_collection, *owner.instance_collection.children_recursive]
    return {each.session_uid for each in (*objects, *collections)}


_tables: dict[int, _Table] = {}
_edited: dict[tuple[int, str], dict[int, bool]] = {}
"""Of lists over frames what was changed since, by its `session_uid`, and whether that was an animation. It outlives an
undo, which does not say what it has not undone, and which brings an earlier list back."""


def _edited_in(scene: bpy.types.Scene) -> dict[int, bool]:
    """Return what was changed in a scene since its frames were checked; of a file that was just loaded what it says."""
    if _list_of(scene) not in _edited:
        names = json.loads(table_of_frames(scene).edited or "{}")
        _edited[_list_of(scene)] = {obj.session_uid: names[obj.name] for obj in scene.objects if obj.name in names}
    return _edited[_list_of(scene)]


def _list_of(scene: bpy.types.Scene) -> tuple[int, str]:
    return scene.session_uid, table_of_frames(scene).digest


def store_edited() -> None:
    """Store by names what was changed in scenes since their frames were checked: a file is to be saved."""
    for scene in bpy.data.scenes:
        if scene.library is None and (edited := _edited.get(_list_of(scene))):
            names = {obj.name: edited[obj.session_uid] for obj in scene.objects if obj.session_uid in edited}
            table_of_frames(scene).edited = json.dumps(names)


def _findings(scene: bpy.types.Scene) -> Sequence[Finding]:
    return scene.contact_lens_check.findings  # type: ignore[attr-defined]


def _table(scene: bpy.types.Scene) -> _Table:
    table = _tables.get(scene.session_uid)
    if table is None or table.outdated or len(table.rows) != len(_findings(scene)):
        table = renew(scene)
    table.look(scene)
    if table.uncompared:
        if not bpy.app.background:
            for call in on_uncompared:
                call()
        elif bpy.context.scene == scene:
            _compare(bpy.context, table, table.uncompared)
            table.look(scene)
    return table


def renew(scene: bpy.types.Scene, states: Mapping[Key, State] | None = None, is_new: bool = False) -> _Table:
    """Begin anew: the findings are others now. states: of things, just read; is_new: whether all were just found."""
    if is_new:
        _edited.pop(_list_of(scene), None)
    before = _tables.get(scene.session_uid)
    known = {} if before is None else before.known
    made = {key: state.made for key, state in (states or {}).items()}
    table = _tables[scene.session_uid] = _Table(scene, {**known, **made})
    if before is not None:
        table.since.update(before.since)
        checked = {key[0]: state.place for key, state in (states or {}).items()}
        table.unlisted = {uid: place for uid, place in before.unlisted.items() if checked.get(uid) != place_of(place)}
    return table


def forget(scene: bpy.types.Scene) -> None:
    """The scene's findings, or what is decided about them, are others now."""
    table = _tables.get(scene.session_uid)
    if table is not None:
        table.outdated = True


def decide(scene: bpy.types.Scene, pair: frozenset[Key] | None, finding: Finding) -> None:
    """Take the status that the finding of a pair has now."""
    table = _tables.get(scene.session_uid)
    if table is None or table.outdated or pair not in table.of_pair or len(table.rows) != len(_findings(scene)):
        forget(scene)
    else:
        table.decide(table.of_pair[pair], finding)


def reason(scene: bpy.types.Scene, k: int) -> tuple[str, str]:
    """Return which side of a finding, "a" or "b", is not as it was found, and why; two empty texts when both are."""
    table = _table(scene)
    table.want(k)
    return table.reason(k)


def totals(scene: bpy.types.Scene) -> Totals:
    """Return how many findings there are, and how many are out of date."""
    return _table(scene).totals()


def outdated(scene: bpy.types.Scene) -> frozenset[int]:
    """Return the numbers of the findings that are known to be out of date."""
    return _table(scene).out_of_date()


def things_of(scene: bpy.types.Scene, rows: Iterable[int]) -> dict[tuple[Key, State], int]:
    """Return the things of findings that are as they were found, each with the first of these rows that it is in."""
    table = _table(scene)
    found: dict[tuple[Key, State], int] = {}
    for k in rows:
        for i in table.rows[k].sides:
            thing = table.things[i]
            if i not in table.reasons and thing.key is not None and thing.state is not None:
                found.setdefault((thing.key, thing.state), k)
    return found


def row_of_pair(scene: bpy.types.Scene, pair: frozenset[Key]) -> int | None:
    """Return the number of the finding of a pair; None without one."""
    return _table(scene).of_pair.get(pair)


def rows_of(scene: bpy.types.Scene, keys: Set[Key]) -> dict[frozenset[Key], int]:
    """Return the numbers of the findings of all pairs of some things."""
    return {pair: k for pair, k in _table(scene).of_pair.items() if pair <= keys}


def partners(scene: bpy.types.Scene, owners: Set[int]) -> frozenset[int]:
    """Return the `session_uid` of what is in findings with some objects, or with instances that they make."""
    of_pairs = ({key[0] for key in pair} for pair in _table(scene).of_pair)
    return frozenset().union(*(uids for uids in of_pairs if not owners.isdisjoint(uids))) - owners


def changed(scene: bpy.types.Scene) -> frozenset[tuple[Key, State | None]]:
    """Return which things of findings have moved or were edited, and can be looked at again, each with the state it was
    found in."""
    table = _table(scene)
    things = [table.things[i] for i, reason in table.reasons.items() if reason in _RENEWABLE]
    return frozenset((thing.key, thing.state) for thing in things if thing.key is not None)


def unlisted(scene: bpy.types.Scene) -> Mapping[int, Place]:
    """Return where objects are now, by their `session_uid`, that have moved since the check and are in no finding."""
    return _table(scene).unlisted


def know(scene: bpy.types.Scene, uids: Iterable[int]) -> None:
    """Forget that objects have moved which the check does not concern."""
    for uid in uids:
        _table(scene).know(uid)


def can_be_renewed(context: bpy.types.Context, k: int) -> bool:
    """Return whether a finding is out of date and its things are there at its frame, to be looked at again."""
    table = _table(context.scene)
    wanted = [i for i in table.rows[k].sides if i in table.uncompared]
    _compare(context, table, wanted)
    table.look(context.scene)
    return table.reason(k)[1] in _RENEWABLE


def settle(context: bpy.types.Context) -> None:
    """Compare all that is to be compared, now: what is written down must be known."""
    table = _table(context.scene)
    while table.uncompared:
        _compare(context, table, table.uncompared)
        table.look(context.scene)


def _compare(context: bpy.types.Context, table: _Table, things: Iterable[int], seconds: float = float("inf")) -> None:
    """Read what things, by their numbers, are made of, for about so long."""
    begin = time.monotonic()
    keys = dict.fromkeys(key for i in things if (key := table.things[i].key) is not None)
    objects, instances = ([key for key in keys if bool(key[2]) == is_instance] for is_instance in (False, True))
    size = 1 if seconds < float("inf") else max(1, len(objects))
    spent = 0.0
    while (objects or instances) and spent < seconds:
        if objects:
            chunk, objects = objects[:size], objects[size:]
        else:  # all together, for each time all of the scene's are walked
            chunk, instances = instances, []
        states = states_of(context.evaluated_depsgraph_get(), chunk)
        for key in chunk:
            state = states.get(key)
            table.take(key, "" if state is None else state.made)
        spent = time.monotonic() - begin
        if spent < 0.25 * seconds:
            size *= 2


def compare_some(context: bpy.types.Context, seconds: float, quiet: float) -> bool:
    """Compare some more of what waits in the scene, for about so long. Return whether any of it is left.

    quiet: seconds since the last change before which nothing is read.
    """
    table = _tables.get(context.scene.session_uid)
    if table is None or not table.uncompared:
        return False
    if time.monotonic() - table.reported >= quiet:
        _compare(context, table, table.uncompared, seconds)
        table.look(context.scene)
    return bool(table.uncompared)


def note(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, of_frame: bool = False) -> bool:
    """Note what Blender reports of a scene; return whether that concerns its list. of_frame: the frame has changed."""
    table = _tables.get(scene.session_uid)
    if table is None or depsgraph.mode != "VIEWPORT":
        return False
    before = dict(table.unlisted)
    table.note(scene, depsgraph, of_frame)
    return bool(table.pending) or table.unlisted != before


def is_edited(update: bpy.types.DepsgraphUpdate) -> bool:
    """Return whether an update of an object may have changed its geometry. Strokes in Sculpt Mode do, unreported."""
    return update.is_updated_geometry or cast(bpy.types.Object, update.id.original).mode == "SCULPT"


def clear() -> None:
    """Drop everything known of findings: a file is loaded, a step is undone, or the add-on is disabled."""
    _tables.clear()
    there = {scene.session_uid for scene in bpy.data.scenes}
    for key in [key for key in _edited if key[0] not in there]:
        del _edited[key]
