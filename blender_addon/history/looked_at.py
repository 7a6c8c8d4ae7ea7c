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

from ..clashes.presence import Presence, Successors, was_not_checked
from ..data import messages
from ..data.objects import frame_of, library_name
from ..data.records import Key
from ..read.instances import digests_of, renumbered
from ..read.scene_objects import CheckInput, SceneObject
from ..read.visibility import hidden_inside
from ..scene.clash_ids import KnownIds
from ..scene.scene_check import Outcome

Names = tuple[str | None, str | None]
"""Of an object and its library."""


class EarlierSide(NamedTuple):
    """An object or instance as an earlier report has it."""

    name: str
    identity: str
    """See `identity_of`."""
    owner: Names
    """Name and library of the object, of an instance those of the instancer."""
    source: Names
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
    ids: dict[str, str | None]
    """Those that clashes have now whose instances have other numbers; None of those whose instances are gone, though
    others have their numbers now."""


def looked_at(
    scene: bpy.types.Scene, given: CheckInput, outcome: Outcome, known: KnownIds, earlier: Iterable[EarlierClash]
) -> LookedAt:
    """Return which of the earlier clashes a check has looked at; known: the ids of the list of the file."""
    clashes = list(earlier)
    search = _Search(scene, given, outcome, known, clashes)
    result = LookedAt({}, {}, {})
    for clash in clashes:
        present, reasons = search.of(clash)
        if present:
            result.present[clash.id] = present
        if reasons:
            result.reasons[clash.id] = reasons
        if any(side.identity in search.renumbered for side in clash.sides):
            result.ids[clash.id] = search.id_now(clash)
    return result


def _names(obj: SceneObject) -> tuple[Names, Names, str]:
    """Return the owner, the source and the identity of an instance, as `EarlierSide` has them."""
    return (obj.instancer_name, obj.instancer_library), (obj.object_name, obj.library), obj.identity


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
        self._given = given
        self._things = {side.identity: side for clash in clashes for side in clash.sides}
        self._presence = Presence(scene, given, outcome)
        self._objects = self._presence.objects
        self._pair_of = {clash: pair for pair, clash in known.of_pairs.items() if len(pair) == 2}
        self._by_identity = {obj.identity: obj.key for obj in self._objects.values()}
        self._known = known
        instances = [side for side in self._things.values() if side.is_instance]
        before = {(side.owner, side.source, side.identity): (*side.digests, None) for side in instances}
        found = renumbered(before, digests_of(self._objects.values(), _names, before, frame_of(scene)))
        self.renumbered = {one[-1]: None if now is None else self._by_identity[now[-1]] for one, now in found.items()}
        """By their earlier identities what instances are now that have other numbers."""
        keys = {**self._by_identity, **self.renumbered}
        self._by_identity = {identity: key for identity, key in keys.items() if key is not None}

    def id_now(self, clash: EarlierClash) -> str | None:
        """Return the id that an earlier clash has now; None where an instance of it is gone."""
        a, b = map(self._key, clash.sides)
        if a is None or b is None:
            return None
        first, other = (self._objects[key].identity for key in (a, b))
        return self._known.of_pairs.get(frozenset((a, b))) or self._known.of(first, other)

    def of(self, clash: EarlierClash) -> tuple[str, list[str]]:
        """Return which sides of a clash are there as they were called, and why it was not looked at."""
        listed = self._pair_of.get(clash.id)
        if listed is None or self._presence.is_lost(listed):
            present = "".join(letter for letter, side in zip("ab", clash.sides, strict=True) if self._is_there(side))
            found = [self._by_name(side) for side in clash.sides]
        else:
            present, found = "ab", [self._presence.known(key) for key in sorted(listed)]
        a, b = found
        if a.exist and clash.blender not in (None, bpy.app.version_string):
            a = a._replace(unread=[*a.unread, f"it was within the collision margins of Blender {clash.blender}"])
        return present, self._presence.reasons(a, b)

    def _by_name(self, side: EarlierSide) -> Successors:
        """Return what an earlier thing can be now: what has its name, or else its geometry and place, or else all that
        is like it, and what was not read."""
        key = self._key(side)
        if key is not None:
            return Successors(frozenset((key,)))
        source = self._in_file.get(side.source) if side.is_instance else None
        unread = self._absent(side.name, self._named.get(side.owner, []), side.is_instance, source)
        return Successors(self._new_like(side.digests), unread, self._new_unchecked)

    def _key(self, side: EarlierSide) -> Key | None:
        """Return the key of what an earlier thing is, where that is known."""
        return self._by_identity.get(side.identity, self._renamed.get(side.identity))

    def _is_there(self, side: EarlierSide) -> bool:
        """Return whether there is something of that name, read or not."""
        owners = self._named.get(side.owner, [])
        return side.identity in self._by_identity or self._are_unread(owners, side.is_instance)

    def _are_unread(self, owners: Sequence[bpy.types.Object], is_instance: bool) -> bool:
        """Return whether objects, or the instances that they make, were not read although they are there."""
        return bool(owners) and not (is_instance and all(obj.session_uid in self._presence.owners for obj in owners))

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
            return [was_not_checked(name)]
        hidden = {obj.name for obj in hidden_inside(owners)}
        if source is not None and owners:
            if any(self._presence.is_hidden_in(owner, source) for owner in owners):
                hidden.add(source.name)
        else:
            hidden |= self._presence.unread_names
        others = sorted(hidden | self._unchecked)
        if name in others:
            return [was_not_checked(name)]
        more = messages.and_more(len(others) - 1)
        return [f"'{name}' is gone or renamed, and '{others[0]}'{more} was not checked"] if others else []

    @cached_property
    def _new(self) -> dict[Key, SceneObject]:
        """What was read and has a name that no earlier clash has: a thing that was renamed and moved may be it."""
        known = set(self._renamed.values())
        return {key: obj for key, obj in self._objects.items() if obj.identity not in self._things and key not in known}

    @cached_property
    def _new_unchecked(self) -> list[str]:
        """Why a thing can be something of that which could not be checked."""
        keys = self._presence.unchecked_keys - self._presence.wires
        return [was_not_checked(obj.name) for key, obj in self._new.items() if key in keys]

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
            if key not in self._presence.wires:
                places.setdefault(obj.place_digest, []).append(key)
        by_geometry, by_place = ({k: frozenset(keys) for k, keys in of.items()} for of in (geometries, places))
        return by_geometry, by_place

    @cached_property
    def _named(self) -> dict[tuple[str | None, str | None], list[bpy.types.Object]]:
        """The objects of the scene by their names and libraries."""
        found: dict[tuple[str | None, str | None], list[bpy.types.Object]] = {}
        for obj in self._presence.in_scene.values():
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
    def _unchecked(self) -> set[str]:
        """The names of what should have been read, such as a library that is missing: anything may be of it."""
        return {
            entry.name
            for entry in self._given.skipped
            if entry.unchecked and entry.kind not in ("empty", "render", "scene", "layer")
        }
