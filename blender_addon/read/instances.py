# SPDX-License-Identifier: GPL-3.0-or-later
"""Which instances of now are those of before: their numbers shift where one more or one less is made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import Any, TypeVar

from .scene_objects import SceneObject

Instance = TypeVar("Instance", bound=tuple[Any, ...])
"""What tells an instance from others: what makes it and what is instanced; at the end what has its number."""
Digests = tuple[str | None, str | None, str | None]
"""Of geometry and place, and what moves an instance while it keeps its number: see `moved_by`; None where not known."""


def moved_by(maker: str, frame: float) -> str:
    """Return what moves an instance while it keeps its number; maker: digest of the place of what makes it."""
    return f"{maker} {frame}"


def digests_of(
    objects: Iterable[SceneObject],
    name: Callable[[SceneObject], Instance],
    before: Mapping[Instance, Digests],
    frame: float,
) -> dict[Instance, Digests]:
    """Return the digests of earlier instances as they are now, and where one is not as it was of all that are made as
    it is; name: what tells an instance from others."""
    made = {name(obj): obj for obj in objects if obj.key[2]} if before else {}
    same = {one: _digests(made[one], frame) for one in before if one in made}
    groups = {one[:-1] for one, digests in before.items() if one not in same or same[one][:2] != digests[:2]}
    return same | {one: _digests(obj, frame) for one, obj in made.items() if one[:-1] in groups and one not in same}


def _digests(obj: SceneObject, frame: float) -> Digests:
    return obj.geometry_digest, obj.place_digest, moved_by(obj.state.place, frame)


def _is_elsewhere(before: Digests, now: Digests) -> bool:
    """Return whether an instance of some number is not where that was, though nothing has moved it."""
    return before[1] not in (None, now[1]) and before[2] == now[2]


def renumbered(before: Mapping[Instance, Digests], now: Mapping[Instance, Digests]) -> dict[Instance, Instance | None]:
    """Return what earlier instances are now where that has another number; None of those whose number is that of
    another one now, and which are not there any more.

    An instance is the one of equal geometry and place, or else alone in its place; or else that of its number, unless
    it is known that numbers have shifted, or that one is elsewhere.
    """
    found = {one: one for one, digests in before.items() if one in now and now[one][:2] == digests[:2]}
    for part in (slice(0, 2), slice(1, 2)):  # geometry and place, or the place
        free = _grouped(now, set(found.values()), part)
        for key, ones in _grouped(before, found.keys(), part).items():
            others = free.get(key, [])
            if part.start == 0 or len(ones) == len(others) == 1:
                found |= zip(ones, others, strict=False)
    shifted = {one[:-1] for one, other in found.items() if one != other}
    left = before.keys() & now.keys() - found.keys() - set(found.values())
    found |= {one: one for one in left if one[:-1] not in shifted and not _is_elsewhere(before[one], now[one])}
    return {one: found.get(one) for one in before if found.get(one) != one and (one in found or one in now)}


def _grouped(
    digests: Mapping[Instance, Digests], known: Collection[Instance], part: slice
) -> dict[Hashable, list[Instance]]:
    """Return instances, but those that are known, by what makes them and a part of their digests, in order."""
    groups: dict[Hashable, list[Instance]] = {}
    for one in sorted(digests.keys() - known, key=lambda one: (len(one[-1]), one[-1])):
        groups.setdefault((one[:-1], digests[one][part]), []).append(one)
    return groups
