# SPDX-License-Identifier: GPL-3.0-or-later
"""Which clashes of an earlier check of a scene another check has looked at, and why it has not looked at the others.

An earlier clash that a check does not find is no more only if everything that its objects can be now was checked
against each other. An object is found by its name, or if that is another one now, by its geometry and place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import bpy

from ...core.types import IntArray
from ..data import messages
from ..data.objects import TYPES_WITH_SURFACE, library_name
from ..data.records import Key, Pair
from ..read.scene_objects import CheckInput
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
    is_instance: bool
    digests: tuple[str | None, str | None]
    """Of its geometry and place."""


class EarlierClash(NamedTuple):
    """A clash of an earlier report."""

    id: str
    sides: tuple[EarlierSide, EarlierSide]


class LookedAt(NamedTuple):
    """What a check says of the clashes of an earlier one, by their ids."""

    present: list[str]
    """Those of which both things are still there, by name or by the list of the file: nothing else is renamed to be
    one of them."""
    reasons: dict[str, list[str]]
    """Why the check has not looked at a clash; those that it has looked at are not in it."""


def looked_at(
    scene: bpy.types.Scene, given: CheckInput, outcome: Outcome, known: KnownIds, earlier: Iterable[EarlierClash]
) -> LookedAt:
    """Return which of the earlier clashes a check has looked at; known: the ids of the list of the file."""
    search = _Search(scene, given, outcome, known)
    result = LookedAt([], {})
    for clash in earlier:
        keys, reasons = search.of(clash)
        if keys is not None:
            result.present.append(clash.id)
        if reasons:
            result.reasons[clash.id] = reasons
    return result


class _Search:
    """Finds the things of earlier clashes in a check."""

    def __init__(self, scene: bpy.types.Scene, given: CheckInput, outcome: Outcome, known: KnownIds) -> None:
        self._given, self._outcome = given, outcome
        self._by_uid = {obj.session_uid: obj for obj in scene.objects}
        self._pair_of = {clash: pair for pair, clash in known.of_pairs.items()}
        first, other = given.sides()
        self._sides = tuple({obj.key for obj in side} for side in (first, other))
        self._objects = {obj.key: obj for obj in (*first, *other)}
        self._owners = {key[0] for key in self._objects}
        self._by_identity = {obj.identity: obj.key for obj in self._objects.values()}
        self._rows = {obj.key: k for k, obj in enumerate(given.objects)}
        self._left_out, self._approved = _pairs(outcome.ignored_pairs, given), _pairs(outcome.approved.pairs, given)
        self._by_digests: dict[tuple[str | None, str | None], list[Key]] | None = None
        self._not_read: list[str] | None = None

    def of(self, clash: EarlierClash) -> tuple[Pair | None, list[str]]:
        """Return the pair of a clash, if both things are there as they were called, and why it was not looked at."""
        if self._outcome.partial:
            return None, [messages.CHECK_STOPPED]
        listed = self._pair_of.get(clash.id)
        if listed is not None:
            owners = [self._by_uid[key[0]] for key in listed if key not in self._objects and key[0] in self._by_uid]
            if listed <= self._objects.keys():
                return listed, self._reasons(listed)
            return listed, [messages.was_not_checked(obj.name) for obj in owners if obj.session_uid not in self._owners]
        named = [self._by_identity.get(side.identity) for side in clash.sides]
        keys = list(named)
        for place, side in enumerate(clash.sides):
            keys[place] = keys[place] or self._renamed(side, keys)
        pair = frozenset(key for key in keys if key is not None)
        if len(pair) == 2:
            return (pair if None not in named else None), self._reasons(pair)
        absent = [self._absent(side) for key, side in zip(keys, clash.sides, strict=True) if key is None]
        return None, [] if "" in absent else absent

    def _renamed(self, side: EarlierSide, taken: Sequence[Key | None]) -> Key | None:
        """Return what has the geometry and the place of a thing, of which there is no such name, and is not taken."""
        if self._by_digests is None:
            self._by_digests = {}
            for obj in self._objects.values():
                self._by_digests.setdefault((obj.geometry_digest, obj.place_digest), []).append(obj.key)
        return next((key for key in self._by_digests.get(side.digests, ()) if key not in taken), None)

    def _absent(self, side: EarlierSide) -> str:
        """Return why a thing that is not among those that were checked may still be there; empty where it cannot."""
        found = [obj for obj in self._by_uid.values() if (obj.name, library_name(obj)) == side.owner]
        if found:  # an instancer that was looked at has no such instance now
            is_known = side.is_instance and all(obj.session_uid in self._owners for obj in found)
            return "" if is_known else messages.was_not_checked(side.name)
        return messages.may_be_unchecked(side.name, self._unread()) if self._unread() else ""

    def _unread(self) -> list[str]:
        """Return the names of the objects of the scene that were not read: one of them may have been renamed."""
        if self._not_read is None:
            without = {
                entry.name for entry in self._outcome.skipped if not entry.unchecked and entry.kind == "geometry"
            }
            self._not_read = sorted(
                obj.name
                for obj in self._by_uid.values()
                if (obj.type in TYPES_WITH_SURFACE or obj.instance_type != "NONE")
                and obj.session_uid not in self._owners
                and obj.name not in without
            )
        return self._not_read

    def _reasons(self, pair: Pair) -> list[str]:
        """Return why a pair of things that were read was not checked."""
        a, b = (self._objects[key] for key in sorted(pair))
        first, other = self._sides
        if not ((a.key in first and b.key in other) or (b.key in first and a.key in other)):
            return [messages.NOT_IN_SCOPE]
        rows = [self._rows.get(obj.key) for obj in (a, b)]
        rule = self._given.ignoring_rule(*rows) if None not in rows else ""
        if not rule and pair in self._left_out:
            rule = "approved" if pair in self._approved else "least_contact"
            decision = self._outcome.decided.get(pair)
            rule = "decisions" if decision is not None and decision.status == IGNORED else rule
        unchecked = self._outcome.unchecked & {pair, frozenset((a.key,)), frozenset((b.key,))}
        # All of them: shards of a check know different ones.
        reasons = [messages.pair_ignored(rule)] if rule else []
        return [*reasons, messages.COULD_NOT_BE_CHECKED] if unchecked else reasons


def _pairs(pairs: IntArray, given: CheckInput) -> set[Pair]:
    objects = given.objects
    return {frozenset((objects[i].key, objects[j].key)) for i, j in pairs.tolist()}
