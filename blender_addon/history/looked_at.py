# SPDX-License-Identifier: GPL-3.0-or-later
"""Which clashes of an earlier check of a scene another check has looked at, and why it has not looked at the others.

An earlier clash that a check does not find is gone only if everything that its objects can be now was checked against
each other. An object is found by its name, or if that is another one now, by its geometry and place. If neither is
there, it can be what has one of the two under a new name, and what was not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import bpy

from ...core.types import IntArray
from ..clashes.unread import Unread
from ..data import messages
from ..data.objects import library_name
from ..data.records import Key, Pair
from ..read.scene_objects import CheckInput, SceneObject
from ..read.visibility import hidden_inside
from ..scene.clash_ids import KnownIds
from ..scene.decisions import IGNORED
from ..scene.scene_check import Outcome


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
    blender: str | None = None
    """The version of Blender in which it is a clash, where it is one by collision margins, which differ."""


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


class _Candidates(NamedTuple):
    """What an earlier object or instance can be now."""

    keys: frozenset[Key] = frozenset()
    """Of what was read."""
    unread: Sequence[str] = ()
    """Why it can be something that was not read."""
    is_absent: bool = False
    """Whether nothing is known to be it: it can also be anything new that could not be checked."""

    @property
    def exist(self) -> bool:
        return bool(self.keys or self.unread)


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
        self._unread = Unread(scene, given)
        self._pair_of = {clash: pair for pair, clash in known.of_pairs.items() if len(pair) == 2}
        sides = [[given.with_parts(side) for side in scope.sides] for scope in given.scopes]
        self._sides = [[{obj.key for obj in side} for side in both] for both in sides]
        self._compared = [[{given.objects[k].key for k in side} for side in scope.sides] for scope in given.scopes]
        """Of each side of each scope what is checked by itself, and not as a part of a compound parent."""
        read = [obj for both in sides for side in both for obj in side]
        self._objects = {obj.key: obj for obj in (*read, *given.without_surface)}
        self._wires = {obj.key for obj in given.without_surface}
        """What has no faces: an earlier thing can be it only if that was made of the same edges and points."""
        self._by_identity = {obj.identity: obj.key for obj in self._objects.values()}
        self._rows = {obj.key: k for k, obj in enumerate(given.objects)}
        self._left_out, self._approved = _pairs(outcome.ignored_pairs, given), _pairs(outcome.approved.pairs, given)

    def of(self, clash: EarlierClash) -> tuple[str, list[str]]:
        """Return which sides of a clash are there as they were called, and why it was not looked at."""
        listed = self._pair_of.get(clash.id)
        # Instances of the list may have other numbers now.
        if listed is None or any(key[2] and key not in self._objects for key in listed):
            present = "".join(letter for letter, side in zip("ab", clash.sides, strict=True) if self._is_there(side))
            found = [self._by_name(side) for side in clash.sides]
        else:
            present, found = "ab", [self._by_list(key) for key in sorted(listed)]
        if self._outcome.partial:
            return present, [messages.CHECK_STOPPED]
        if self._newer:  # geometry may be missing, of whatever object
            return present, self._newer
        a, b = found
        reasons = set()
        if (a.is_absent and (b.exist or b.is_absent)) or (b.is_absent and (a.exist or a.is_absent)):
            reasons = {
                _was_not_checked(obj.name)
                for key, obj in self._new.items()
                if key in self._unchecked_keys - self._wires
            }
        if a.exist and b.exist:
            reasons |= {*a.unread, *b.unread, *self._reasons(a.keys, b.keys)}
            if clash.blender is not None and clash.blender != bpy.app.version_string:
                reasons.add(f"it was within the collision margins of Blender {clash.blender}")
        return present, sorted(reasons)

    def _by_name(self, side: EarlierSide) -> _Candidates:
        """Return what an earlier thing can be now: what has its name, or else its geometry and place, or else all that
        is like it, and what was not read."""
        key = self._by_identity.get(side.identity, self._renamed.get(side.identity))
        if key is not None:
            return _Candidates(frozenset((key,)))
        source = self._in_file.get(side.source) if side.is_instance else None
        unread = self._absent(side.name, self._named.get(side.owner, []), side.is_instance, source)
        return _Candidates(self._new_like(side.digests), unread, is_absent=True)

    def _by_list(self, key: Key) -> _Candidates:
        """Return the same of a thing of the file's list, of which it is known what it is called now."""
        if key in self._objects:
            return _Candidates(frozenset((key,)))
        is_there = self._unread.is_there(key[0])
        return _Candidates(unread=[_was_not_checked(self._unread.by_uid[key[0]].name)] if is_there else [])

    def _is_there(self, side: EarlierSide) -> bool:
        """Return whether there is something of that name, read or not."""
        owners = self._named.get(side.owner, [])
        return side.identity in self._by_identity or self._are_unread(owners, side.is_instance)

    def _are_unread(self, owners: Sequence[bpy.types.Object], is_instance: bool) -> bool:
        """Return whether objects, or the instances that they make, were not read although they are there."""
        return bool(owners) and not (is_instance and all(obj.session_uid in self._unread.owners for obj in owners))

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
            return [_was_not_checked(name)]
        hidden = {obj.name for obj in hidden_inside(owners)}
        if source is not None and owners:
            if any(self._unread.is_hidden_in(owner, source) for owner in owners):
                hidden.add(source.name)
        else:
            hidden |= self._unread.names
        others = sorted(hidden | self._unchecked)
        if name in others:
            return [_was_not_checked(name)]
        return (
            [f"'{name}' is gone or renamed, and '{others[0]}'{messages.and_more(len(others) - 1)} was not checked"]
            if others
            else []
        )

    @cached_property
    def _new(self) -> dict[Key, SceneObject]:
        """What was read and has a name that no earlier clash has: a thing that was renamed and moved may be it."""
        known = set(self._renamed.values())
        return {key: obj for key, obj in self._objects.items() if obj.identity not in self._things and key not in known}

    def _new_like(self, digests: tuple[str | None, str | None]) -> frozenset[Key]:
        """Return what of that has the geometry of a thing, or alone has its place."""
        if None in digests:
            return frozenset(self._new)
        (geometry, place), (geometries, places) = digests, self._new_by_digest
        like, there = geometries.get(geometry, frozenset()), places.get(place, frozenset())
        return like if len(there) != 1 or there <= like else like | there

    @cached_property
    def _new_by_digest(self) -> tuple[dict[str | None, frozenset[Key]], dict[str | None, frozenset[Key]]]:
        """What is new by its geometry, and by its place."""
        geometries: dict[str | None, list[Key]] = {}
        places: dict[str | None, list[Key]] = {}
        for key, obj in self._new.items():
            geometries.setdefault(obj.geometry_digest, []).append(key)
            if key not in self._wires:
                places.setdefault(obj.place_digest, []).append(key)
        by_geometry, by_place = ({k: frozenset(keys) for k, keys in of.items()} for of in (geometries, places))
        return by_geometry, by_place

    @cached_property
    def _unchecked_keys(self) -> frozenset[Key]:
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
    def _named(self) -> dict[tuple[str | None, str | None], list[bpy.types.Object]]:
        """The objects of the scene by their names and libraries."""
        found: dict[tuple[str | None, str | None], list[bpy.types.Object]] = {}
        for obj in self._unread.in_scene.values():
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
    def _newer(self) -> list[str]:
        """What a newer Blender has saved, in sentences."""
        return [entry.reason for entry in self._given.skipped if entry.kind == "newer"]

    @cached_property
    def _unchecked(self) -> set[str]:
        """The names of what should have been read, such as a library that is missing: anything may be of it."""
        return {
            entry.name
            for entry in self._given.skipped
            if entry.unchecked and entry.kind not in ("empty", "render", "scene", "layer")
        }

    def _reasons(self, keys: frozenset[Key], others: frozenset[Key]) -> list[str]:
        """Return why a pair of one of some things that were read and one of others was not checked. Each reason is of
        one thing or pair, and all are there: shards of a check know different ones."""
        small, large = sorted((keys, others), key=len)
        if not small:
            return []
        unchecked = (self._unchecked_keys & small) | (self._unchecked_keys & large)
        found = {_was_not_checked(self._objects[key].name) for key in unchecked}
        for a in self._not_compared.keys() & small:
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
                    else "the check is of other objects"
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


def _was_not_checked(name: str) -> str:
    return f"'{name}' was not checked"


def _pairs(pairs: IntArray, given: CheckInput) -> set[Pair]:
    objects = given.objects
    return {frozenset((objects[i].key, objects[j].key)) for i, j in pairs.tolist()}
