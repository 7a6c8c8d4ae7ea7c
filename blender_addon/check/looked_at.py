# SPDX-License-Identifier: GPL-3.0-or-later
"""Which clashes of an earlier check of a scene another check has looked at, and why it has not looked at the others.

An earlier clash that a check does not find is no more only if everything that its objects can be now was checked
against each other. An object is found by its name, or if that is another one now, by its geometry and place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

import bpy

from ...core.types import IntArray
from ..data import messages
from ..data.objects import TYPES_WITH_SURFACE, library_name
from ..data.records import Key, Pair
from ..read.scene_objects import CheckInput, SceneObject, all_parts
from ..read.visibility import hidden_inside
from .clash_ids import KnownIds
from .decisions import IGNORED
from .scene import Outcome


class EarlierSide(NamedTuple):
    """An object or instance as an earlier report has it."""

    name: str
    identity: str
    """See `identity_of`."""
    owner: tuple[str | None, str | None]
    """Name and library of the object, of an instance those of the instancer."""
    source: tuple[str | None, str | None]
    """Name and library of the object, of an instance those of what is instanced."""
    is_instance: bool
    digests: tuple[str | None, str | None]
    """Of its geometry and place."""


class EarlierClash(NamedTuple):
    """A clash of an earlier report."""

    id: str
    sides: tuple[EarlierSide, EarlierSide]


class LookedAt(NamedTuple):
    """What a check says of the clashes of an earlier one, by their ids."""

    present: dict[str, str]
    """Which sides, "a", "b" or "ab", are still there, by name or by the list of the file: nothing else is renamed to be
    one of them. Clashes without any are not in it."""
    reasons: dict[str, list[str]]
    """Why the check has not looked at a clash; those that it has looked at are not in it."""


def looked_at(
    scene: bpy.types.Scene, given: CheckInput, outcome: Outcome, known: KnownIds, earlier: Iterable[EarlierClash]
) -> LookedAt:
    """Return which of the earlier clashes a check has looked at; known: the ids of the list of the file."""
    clashes = list(earlier)
    search = _Search(scene, given, outcome, known, clashes)
    result = LookedAt({}, {})
    for clash in clashes:
        present, reasons = search.of(clash)
        if present:
            result.present[clash.id] = present
        if reasons:
            result.reasons[clash.id] = reasons
    return result


class _Search:
    """Finds the things of earlier clashes in a check."""

    def __init__(
        self,
        scene: bpy.types.Scene,
        given: CheckInput,
        outcome: Outcome,
        known: KnownIds,
        clashes: Iterable[EarlierClash],
    ) -> None:
        self._given, self._outcome = given, outcome
        self._things = {side.identity: side for clash in clashes for side in clash.sides}
        self._by_uid = {obj.session_uid: obj for obj in scene.objects}
        self._pair_of = {clash: pair for pair, clash in known.of_pairs.items()}
        first, other = given.sides()
        self._sides = tuple({obj.key for obj in side} for side in (first, other))
        self._objects = {obj.key: obj for obj in (*first, *other)}
        self._owners = {key[0] for key in self._objects}
        self._sources = {key[1] for key in self._objects}
        self._parts = {part.key for obj in given.objects for part in all_parts(obj)}
        self._by_identity = {obj.identity: obj.key for obj in self._objects.values()}
        self._rows = {obj.key: k for k, obj in enumerate(given.objects)}
        self._left_out, self._approved = _pairs(outcome.ignored_pairs, given), _pairs(outcome.approved.pairs, given)

    def of(self, clash: EarlierClash) -> tuple[str, list[str]]:
        """Return which sides of a clash are there as they were called, and why it was not looked at."""
        listed = self._pair_of.get(clash.id)
        if listed is not None:
            present, pair, new = "ab", frozenset(listed & self._objects.keys()), {}
            absent = [self._absent_of_list(key) for key in sorted(listed - pair)]
        else:
            present, pair, absent = self._by_names(clash.sides)
            new = self._new
        if self._outcome.partial:
            return present, [messages.CHECK_STOPPED]
        if len(pair) == 2:
            return present, self._reasons(pair)
        if [] in absent and not new:  # that thing can be nowhere
            return present, []
        unread = [reason for reasons in absent for reason in reasons]
        return present, list(dict.fromkeys([*unread, *self._reasons_of_new(new, pair or new.keys())]))

    def _by_names(self, sides: Sequence[EarlierSide]) -> tuple[str, Pair, list[list[str]]]:
        """Return which sides are there as they were called, those of the two that were read, by the name or else by the
        geometry and place, and of each other one why something that was not read may be it."""
        present, keys, absent = "", set(), []
        for letter, side in zip("ab", sides, strict=True):
            if self._is_there(side):
                present += letter
            key = self._by_identity.get(side.identity, self._renamed.get(side.identity))
            if key is None:
                source = self._in_file.get(side.source) if side.is_instance else None
                absent.append(self._absent(side.name, self._named.get(side.owner, []), side.is_instance, source))
            else:
                keys.add(key)
        return present, frozenset(keys), absent

    def _is_there(self, side: EarlierSide) -> bool:
        """Return whether there is something of that name, read or not."""
        owners = self._named.get(side.owner, [])
        return side.identity in self._by_identity or self._are_unread(owners, side.is_instance)

    def _are_unread(self, owners: Sequence[bpy.types.Object], is_instance: bool) -> bool:
        """Return whether objects, or the instances that they make, were not read although they are there."""
        return bool(owners) and not (is_instance and all(obj.session_uid in self._owners for obj in owners))

    def _absent(
        self,
        name: str,
        owners: Sequence[bpy.types.Object],
        is_instance: bool,
        source: bpy.types.Object | None,
    ) -> list[str]:
        """Return why a thing that is not among those that were read may still be there; source: what is instanced, if
        that is in the file."""
        if self._are_unread(owners, is_instance):
            return [messages.was_not_checked(name)]
        hidden = {obj.name for obj in hidden_inside(owners)}
        if is_instance and source is not None and source.session_uid not in self._sources | self._owners:
            hidden.add(source.name)
        elif not owners or source is None:
            hidden |= {obj.name for obj in self._unread.values()}
        others = sorted(hidden | self._unchecked)
        if name in others:
            return [messages.was_not_checked(name)]
        return [messages.may_be_unchecked(name, others)] if others else []

    def _absent_of_list(self, key: Key) -> list[str]:
        """Return the same of a thing of the file's list, of which it is known what it is called now."""
        owner = self._by_uid.get(key[0])
        if owner is None:
            return [messages.was_not_checked(self._unread[key[0]].name)] if key[0] in self._unread else []
        source = next((obj for obj in bpy.data.objects if obj.session_uid == key[1]), None)
        return self._absent(owner.name, [owner], bool(key[2]), source)

    @cached_property
    def _new(self) -> dict[Key, SceneObject]:
        """What was read and has a name that no earlier clash has: a thing that was renamed and moved may be it."""
        known = set(self._renamed.values())
        return {key: obj for key, obj in self._objects.items() if obj.identity not in self._things and key not in known}

    def _reasons_of_new(self, new: Mapping[Key, SceneObject], others: Collection[Key]) -> list[str]:
        """Return why a pair of something new and of one of the others was not checked, each reason by itself: shards of
        a check know different ones."""
        unchecked = {key for key in new if frozenset((key,)) in self._outcome.unchecked}
        found = {messages.was_not_checked(self._objects[key].name) for key in unchecked}
        for pair in self._not_compared:
            a, b = pair
            if (a in new and b in others) or (b in new and a in others):
                found.update(self._reasons(pair))
        if any(key in self._parts for key in (*new, *others)):
            found.add(messages.PART_OF_A_COMPOUND)
        if self._given.other is not None and any(
            a != b and not self._are_on_both_sides(a, b) for a, b in product(new, others)
        ):
            found.add(messages.NOT_IN_SCOPE)
        return sorted(found)

    @cached_property
    def _not_compared(self) -> list[Pair]:
        """The pairs that a rule has left out, or that could not be checked, with something new in them."""
        pairs = self._left_out | {pair for pair in self._outcome.unchecked if len(pair) == 2}
        return [pair for pair in pairs if not pair.isdisjoint(self._new.keys())]

    @cached_property
    def _named(self) -> dict[tuple[str | None, str | None], list[bpy.types.Object]]:
        """The objects of the scene by their names and libraries."""
        found: dict[tuple[str | None, str | None], list[bpy.types.Object]] = {}
        for obj in self._by_uid.values():
            found.setdefault((obj.name, library_name(obj)), []).append(obj)
        return found

    @cached_property
    def _renamed(self) -> dict[str, Key]:
        """By the identities of earlier things whose names are gone what has the geometry and place of each now; nothing
        where fewer have these than before: it is not known which."""
        before: dict[tuple[str | None, str | None], list[str]] = {}
        for side in self._things.values():
            if not self._is_there(side):
                before.setdefault(side.digests, []).append(side.identity)
        now: dict[tuple[str | None, str | None], list[Key]] = {}
        for obj in self._objects.values() if before else ():
            if obj.identity not in self._things:
                now.setdefault((obj.geometry_digest, obj.place_digest), []).append(obj.key)
        return {
            identity: key
            for digests, identities in before.items()
            if len(identities) <= len(now.get(digests, ()))
            for identity, key in zip(identities, now[digests], strict=False)
        }

    @cached_property
    def _in_file(self) -> dict[tuple[str | None, str | None], bpy.types.Object]:
        """All objects of the file by their names and libraries."""
        return {(obj.name, library_name(obj)): obj for obj in bpy.data.objects}

    @cached_property
    def _unread(self) -> dict[int, bpy.types.Object]:
        """The objects of the scene that were not read, and those that are in collections only, where instances show
        them: one of them may have been renamed."""
        without = {entry.name for entry in self._given.skipped if not entry.unchecked and entry.kind == "geometry"}
        in_scenes = {obj.session_uid for scene in bpy.data.scenes for obj in scene.objects}
        found = {
            uid: obj
            for uid, obj in self._by_uid.items()
            if (obj.type in TYPES_WITH_SURFACE or obj.instance_type != "NONE")
            and uid not in self._owners
            and obj.name not in without
        }
        for collection in bpy.data.collections:
            for obj in collection.objects:
                uid = obj.session_uid
                if obj.type in TYPES_WITH_SURFACE and uid not in in_scenes and uid not in self._sources:
                    found[uid] = obj
        return found

    @cached_property
    def _unchecked(self) -> set[str]:
        """The names of what should have been read, such as a library that is missing: anything may be of it."""
        return {
            entry.name for entry in self._given.skipped if entry.unchecked and entry.kind not in ("empty", "render")
        }

    def _reasons(self, pair: Pair) -> list[str]:
        """Return why a pair of things that were read was not checked."""
        a, b = (self._objects[key] for key in sorted(pair))
        if not self._are_on_both_sides(a.key, b.key):
            return [messages.NOT_IN_SCOPE]
        if not self._parts.isdisjoint(pair):
            return [messages.PART_OF_A_COMPOUND]
        rule = self._given.ignoring_rule(self._rows[a.key], self._rows[b.key])
        if not rule and pair in self._left_out:
            rule = "approved" if pair in self._approved else "least_contact"
            decision = self._outcome.decided.get(pair)
            rule = "decisions" if decision is not None and decision.status == IGNORED else rule
        unchecked = self._outcome.unchecked & {pair, frozenset((a.key,)), frozenset((b.key,))}
        # All of them: shards of a check know different ones.
        reasons = [messages.pair_ignored(rule)] if rule else []
        return [*reasons, messages.COULD_NOT_BE_CHECKED] if unchecked else reasons

    def _are_on_both_sides(self, a: Key, b: Key) -> bool:
        """Return whether one is of the first side of the check and the other one of the other side."""
        first, other = self._sides
        return (a in first and b in other) or (b in first and a in other)


def _pairs(pairs: IntArray, given: CheckInput) -> set[Pair]:
    objects = given.objects
    return {frozenset((objects[i].key, objects[j].key)) for i, j in pairs.tolist()}
