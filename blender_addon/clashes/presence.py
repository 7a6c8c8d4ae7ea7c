# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a clash that a check did not find is gone: the one rule of *Resolved* in the list and of "gone" in a report.

It is gone only if everything that its objects can be now was checked against each other. The list knows the objects
themselves; a report knows their names, geometry and places (`history/looked_at.py`).

| what has become of A, which overlapped B | list | report |
| --- | --- | --- |
| moved away | resolved | gone |
| deleted | resolved | gone |
| renamed and moved away | resolved | gone |
| deleted, with C hidden | resolved | not compared |
| hidden | kept | not compared |
| renamed and hidden | kept | not compared |
| not readable | kept | not compared |
| ignored with B by a rule | kept | not compared |
| a part of a compound parent with B | kept | not compared |
| an instance that is no longer made | resolved | gone |
| an instance that is no longer made, with B hidden | resolved | not compared |
| an instance of what is hidden | kept | not compared |
| moved away, in a check that was stopped | kept | not compared |
| moved away, in a file of a newer Blender | kept | not compared |
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import bpy

from ...core.types import IntArray
from ..data import messages
from ..data.objects import may_have_surface
from ..data.records import Key, Pair
from ..read.scene_objects import CheckInput
from ..read.visibility import hidden_inside
from ..scene.decisions import IGNORED
from ..scene.scene_check import Outcome

ON_THEIR_CHILDREN = frozenset({"VERTS", "FACES"})
"""Types of instancers that make instances of their children, which are not shown themselves then."""
NOTHING = frozenset({"geometry", "emptied"})
"""The kinds of entries of objects that were read and have no geometry."""


def was_not_checked(name: str) -> str:
    """Return the reason why a thing that is there may still be what an earlier clash was about."""
    return f"'{name}' was not checked"


class Successors(NamedTuple):
    """What an object or instance of an earlier clash can be now."""

    keys: frozenset[Key] = frozenset()
    """Of what was read."""
    unread: Sequence[str] = ()
    """Why it can be something that was not read."""
    unchecked: Sequence[str] = ()
    """Why it can be something new that could not be checked."""

    @property
    def exist(self) -> bool:
        return bool(self.keys or self.unread)


class Presence:
    """What a check says of clashes that it did not find: which pairs it has looked at."""

    def __init__(self, scene: bpy.types.Scene, given: CheckInput, outcome: Outcome) -> None:
        self._given, self._outcome = given, outcome
        sides = [[given.with_parts(side) for side in scope.sides] for scope in given.scopes]
        self._sides = [[{obj.key for obj in side} for side in both] for both in sides]
        self._compared = [[{given.objects[k].key for k in side} for side in scope.sides] for scope in given.scopes]
        """Of each side of each scope what is checked by itself, and not as a part of a compound parent."""
        read = [obj for both in sides for side in both for obj in side]
        self.objects = {obj.key: obj for obj in (*read, *given.without_surface)}
        """What was read."""
        self.wires = {obj.key for obj in given.without_surface}
        """What has no faces: an earlier thing can be it only if that was made of the same edges and points."""
        self.owners = {key[0] for key in self.objects}
        """`session_uid` of the objects that were read, and of those that make the instances that were."""
        self.in_scene = {obj.session_uid: obj for obj in scene.objects}
        self._sources = {key[1] for key in self.objects}
        self._without = {entry.name for entry in given.skipped if not entry.unchecked and entry.kind in NOTHING}
        self._hidden: dict[int, set[int]] = {}
        self._rows = {obj.key: k for k, obj in enumerate(given.objects)}

    def is_lost(self, pair: Pair) -> bool:
        """Return whether an instance of a pair was not read under its number: instances may have others now."""
        return any(key[2] and key not in self.objects for key in pair)

    def known(self, key: Key, by_source: bool = False) -> Successors:
        """Return what a thing can be now of which its key is known; by_source: its number can be another."""
        same = self._made.get(key[:2], frozenset()) if by_source and key[2] else frozenset()
        if key in self.objects or (key[2] and self._is_no_longer_made(key)):
            return Successors(same or frozenset(self.objects.keys() & {key}))
        is_there = self.is_there(key[0])
        return Successors(unread=[was_not_checked(self.by_uid[key[0]].name)] if is_there else [])

    def reasons_of_pair(self, pair: Pair) -> list[str]:
        """Return why a pair of the list was not looked at; nothing where it was."""
        is_lost = self.is_lost(pair)
        a, b = (self.known(key, is_lost) for key in sorted(pair))
        return self.reasons(a, b)

    def reasons(self, a: Successors, b: Successors) -> list[str]:
        """Return why not everything that two things can be was looked at; nothing where the clash of them is gone."""
        if self._outcome.partial:
            return [messages.CHECK_STOPPED]
        if self._newer:  # geometry may be missing, of whatever object
            return self._newer
        reasons: set[str] = set()
        if (a.exist or a.unchecked) and (b.exist or b.unchecked):
            reasons = {*a.unchecked, *b.unchecked}
        if a.exist and b.exist:
            reasons |= {*a.unread, *b.unread, *self._reasons(a.keys, b.keys)}
        return sorted(reasons)

    @cached_property
    def unchecked_keys(self) -> frozenset[Key]:
        """What was read and could not be checked at all."""
        return frozenset(key for pair in self._outcome.unchecked if len(pair) == 1 for key in pair)

    @cached_property
    def _not_compared(self) -> dict[Key, set[Key]]:
        """The pairs that a rule has left out, or that could not be checked, from both sides."""
        found: dict[Key, set[Key]] = {}
        for a, b in self._left_out | {pair for pair in self._outcome.unchecked if len(pair) == 2}:
            found.setdefault(a, set()).add(b)
            found.setdefault(b, set()).add(a)
        return found

    @cached_property
    def _not_compared_keys(self) -> frozenset[Key]:
        """The keys of these: a set, of which an intersection takes as long as the smaller of both."""
        return frozenset(self._not_compared)

    @cached_property
    def _newer(self) -> list[str]:
        """What a newer Blender has saved, in sentences."""
        return [entry.reason for entry in self._given.skipped if entry.kind == "newer"]

    def _reasons(self, keys: frozenset[Key], others: frozenset[Key]) -> list[str]:
        """Return why a pair of one of some things that were read and one of others was not checked. Each reason is of
        one thing or pair, and all are there: shards of a check know different ones."""
        small, large = sorted((keys, others), key=len)
        if not small:
            return []
        unchecked = (self.unchecked_keys & small) | (self.unchecked_keys & large)
        found = {was_not_checked(self.objects[key].name) for key in unchecked}
        for a in self._not_compared_keys & small:
            for b in large & self._not_compared[a]:
                rule = self._rule(a, b)
                found.add(
                    f"it is ignored: {messages.IGNORED_PAIRS.get(rule, rule)}" if rule else "it could not be checked"
                )
        if self._given.scopes[0].other is not None or self._compared != self._sides:  # else all are compared
            for a in small:
                unpaired = large - self._partners(a) - {a}
                found.update(
                    "it is checked as a part of a compound parent"
                    if self._is_part(a, b)
                    else "the check covers other objects"
                    for b in unpaired
                )
        return sorted(found)

    def _partners(self, key: Key) -> set[Key]:
        """Return what a thing is checked with, by itself."""
        found: set[Key] = set()
        for first, other in self._compared:
            found |= (other if key in first else set()) | (first if key in other else set())
        return found

    def _is_part(self, a: Key, b: Key) -> bool:
        """Return whether two things that are not compared would be if they were not parts of compound parents."""
        return any((a in first and b in other) or (b in first and a in other) for first, other in self._sides)

    def _rule(self, a: Key, b: Key) -> str:
        """Return the rule by which a pair of things that are on both sides of the check is left out; empty without."""
        rule, pair = self._given.ignoring_rule(self._rows[a], self._rows[b]), frozenset((a, b))
        if rule or pair not in self._left_out:
            return rule
        decision = self._outcome.decided.get(pair)
        if decision is not None and decision.status == IGNORED:
            return "decisions"
        return "approved" if pair in self._approved else "least_contact"

    @cached_property
    def _left_out(self) -> set[Pair]:
        return self.pairs(self._outcome.ignored_pairs)

    @cached_property
    def _approved(self) -> set[Pair]:
        return self.pairs(self._outcome.approved.pairs)

    def pairs(self, rows: IntArray) -> set[Pair]:
        """Return pairs (n, 2) of objects of the check by their keys."""
        objects = self._given.objects
        return {frozenset((objects[i].key, objects[j].key)) for i, j in rows.tolist()}

    @cached_property
    def _made(self) -> dict[tuple[int, int], frozenset[Key]]:
        """What was read by the object, or the instancer and what is instanced."""
        found: dict[tuple[int, int], list[Key]] = {}
        for key in self.objects:
            found.setdefault(key[:2], []).append(key)
        return {source: frozenset(keys) for source, keys in found.items()}

    def _is_no_longer_made(self, instance: Key) -> bool:
        """Return whether what was read makes no such instance any more: not one of something that is hidden."""
        maker, source, _ = instance
        return maker in self._makers and not self.is_hidden_in(self.in_scene[maker], self.by_uid.get(source))

    @cached_property
    def _makers(self) -> set[int]:
        """What makes no more instances than were read. Blender may have made too few of a faulty object."""
        if not self._given.rules.instances:
            return set()
        unsure = {key[0] for key in self.unchecked_keys & self._rows.keys()}
        parts = [entry.name.split(" of ") for entry in self._given.skipped if entry.unchecked]
        names = {" of ".join(words[k:]) for words in parts for k in range(len(words))}
        found = {key[0] for both in self._sides for side in both for key in side} - unsure
        return {uid for uid in found & self.in_scene.keys() if self.in_scene[uid].name not in names}

    @cached_property
    def by_uid(self) -> dict[int, bpy.types.Object]:
        """All objects of the file by their `session_uid`."""
        return {obj.session_uid: obj for obj in bpy.data.objects}

    @cached_property
    def unread(self) -> dict[int, bpy.types.Object]:
        """The objects that were not read, of the scene and of collections that instances may show, by their
        `session_uid`: one of them may have been renamed."""
        found = {
            uid: obj
            for uid, obj in self.in_scene.items()
            if (may_have_surface(obj) or obj.instance_type != "NONE")
            and uid not in self.owners
            and not (obj.parent is not None and (obj.parent.session_uid, uid) in self._made)
        }
        found |= {
            uid: obj for uid, obj in self._in_collections.items() if may_have_surface(obj) and uid not in self._sources
        }
        return {uid: obj for uid, obj in found.items() if obj.name not in self._without}

    @cached_property
    def unread_names(self) -> frozenset[str]:
        """The names of these objects."""
        return frozenset(obj.name for obj in self.unread.values())

    def is_there(self, uid: int) -> bool:
        """Return whether an object is in the scene, or may be in an instance although none was read, or is of a library
        that is missing."""
        obj = self.by_uid.get(uid)
        return obj is not None and (uid in self.in_scene or uid in self.unread or obj.is_missing)

    def is_hidden_in(self, owner: bpy.types.Object, source: bpy.types.Object | None) -> bool:
        """Return whether an object that was read may make instances of a source that are not shown; None: its own
        geometry."""
        if source is None:
            return False
        maker, uid = owner.session_uid, source.session_uid
        if uid not in self._sources | self.owners:
            return uid in self.in_scene or uid in self._in_collections
        if maker not in self._hidden:
            self._hidden[maker] = {obj.session_uid for obj in hidden_inside([owner])}
        is_child = source.parent == owner and owner.instance_type in ON_THEIR_CHILDREN
        return uid in self._hidden[maker] or (is_child and (maker, uid) not in self._made)

    @cached_property
    def _in_collections(self) -> dict[int, bpy.types.Object]:
        """The objects that are in no scene, but in collections that something uses."""
        in_scenes = {obj.session_uid for scene in bpy.data.scenes for obj in scene.objects}
        return {
            obj.session_uid: obj
            for collection in bpy.data.collections
            if collection.users > collection.use_fake_user
            for obj in collection.objects
            if obj.session_uid not in in_scenes
        }
