# SPDX-License-Identifier: GPL-3.0-or-later
"""Which instances of now are those of before: their numbers shift where one more or one less is made.

An instance is what it was before where its geometry and place are, or alone its place where nothing else has that. The
rest is by number, but not where it is known that numbers have shifted, or that the instancer has not moved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from .scene_objects import SceneObject, place_of

Instance = TypeVar("Instance", bound=tuple[Any, ...])
"""What tells an instance from others; at the end its number, before that what makes it and what is instanced."""


class Digests(NamedTuple):
    """Of an instance: equal where it is the same in the same place."""

    geometry: str | None
    place: str | None
    """Both None in lists saved by an earlier version."""
    instancer: str | None = None
    """Of the place of what makes it; None where that is not known."""


def digests_of(
    objects: Iterable[SceneObject], name: Callable[[SceneObject], Instance], before: Collection[Instance]
) -> dict[Instance, Digests]:
    """Return the digests of the instances among some objects, by their names, that are made as earlier ones were."""
    groups = {instance[:-1] for instance in before}
    named = {name(obj): obj for obj in objects if obj.key[2]} if groups else {}
    return {
        instance: Digests(obj.geometry_digest, obj.place_digest, place_of(obj.owner_matrix))
        for instance, obj in named.items()
        if instance[:-1] in groups
    }


def renumbered(before: Mapping[Instance, Digests], now: Mapping[Instance, Digests]) -> dict[Instance, Instance | None]:
    """Return what earlier instances are now where that has another number; None of those whose number is that of
    another one now, and which are not there any more."""
    found = {one: one for one, then in before.items() if one in now and then[:2] == now[one][:2]}
    for part in (slice(0, 2), slice(1, 2)):  # geometry and place, or the place
        there = _grouped(now, set(found.values()), part)
        for key, ones in _grouped(before, found.keys(), part).items():
            others = there.get(key, [])
            if part.start == 0 or len(ones) == len(others) == 1:
                found |= zip(ones, others, strict=False)
    shifted = {one[:-1] for one, other in found.items() if one != other}
    for one in before.keys() & now.keys() - found.keys() - set(found.values()):
        then = before[one].instancer
        if one[:-1] not in shifted and (then is None or then != now[one].instancer):
            found[one] = one
    return {one: found.get(one) for one in before if found.get(one) != one and (one in found or one in now)}


def _grouped(
    digests: Mapping[Instance, Digests], known: Collection[Instance], part: slice
) -> dict[Hashable, list[Instance]]:
    """Return instances, but those that are known, by what makes them and a part of their digests, in order."""
    groups: dict[Hashable, list[Instance]] = {}
    for one in sorted(digests.keys() - known, key=lambda one: (len(one[-1]), one[-1])):
        groups.setdefault((one[:-1], digests[one][part]), []).append(one)
    return groups
