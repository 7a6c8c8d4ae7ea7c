# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain records that more than one floor reads: settings, rules, and the identity of objects and instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Key = tuple[int, int, str]
"""Identity of an object or instance: `session_uid` of the object or instancer; that of the instanced object, else 0;
the number of the instance, else empty."""
Pair = frozenset[Key]
"""Identity of a pair, in any order."""
APPROVAL_SLACK = 0.01
"""Relative to the approved depth or gap: a pair that is deeper or closer by no more is still approved."""
AUTOMATIC_SHAPES, AS_MESH, AS_HULL = "automatic", "mesh", "hull"
"""The collision shapes of a check: those of the objects, or one kind for all of them."""
VIEWPORT, RENDER, ALL = "viewport", "render", "all"
"""Which objects are visible to a check."""

FIRST_ANSWER = 0.0
"""Seconds for refining the depth of a pair with a mesh: none. It is an upper bound then."""


@dataclass(frozen=True)
class Settings:
    """The settings of an inspection."""

    method: str
    """"auto", "sat", "gjk" or "both"."""
    clearance: float
    """Blender units."""
    contact_tolerance: float
    """As set by the user, relative to the smaller shape's diameter."""
    flat: bool = False
    """Whether the two are flat and inspected in their plane."""
    budget: float | None = None
    """Seconds for refining the depth of a pair with a mesh, see `contact`."""


@dataclass(frozen=True)
class VolumeSettings:
    """The settings of the bounding volumes."""

    of: str
    """"objects", "triangles" or "scene"."""
    kind: str
    """"sphere", "aabb", "obb" or "kdop"."""
    k: int
    method: str
    split: str
    level: int
    above: bool
    """Show the levels above too."""
    tests: bool
    """Keep the volume tests of a descent."""
    compare: bool
    """Rebuild trees after a move, too."""
    climb: bool
    """Draw the walks of extreme vertices."""

    @property
    def is_flat(self) -> bool:
        """Whether the volumes are in a plane."""
        return self.kind == "kdop" and self.k in (4, 8)


@dataclass(frozen=True)
class Rules:
    """The settings of a scene check."""

    scope: str = "visible"
    """"visible", "selected", "collections" (A against B) or "one" (an object against all)."""
    collection_a: str | None = None
    collection_b: str | None = None
    object: str | None = None
    more_collections: Sequence[Sequence[str]] | None = None
    """More pairs of collections A and B, each checked against each other."""
    more_objects: Sequence[str] | None = None
    """More objects, each checked against all."""
    clearance: float = 0.0
    contact_tolerance: float = 1e-5
    touching: bool = True
    """Whether pairs that only touch are reported."""
    least_contact: str = "point"
    """Touching pairs that share less are left out: "point" (none are), "edge" or "face"."""
    depth: str = "first"
    """How far depths of compounds and meshes are searched, see `scene.depths`; those of convex ones are known."""
    volume: bool = False
    """Whether the volumes are computed in which clashing solids overlap."""
    least_volume: float = 0.0
    """Cubic Blender units: pairs whose volumes are known to overlap in less are left out."""
    instances: bool = True
    """Whether instances are checked too."""
    shapes: str = AUTOMATIC_SHAPES
    """The collision shapes: those of the objects, their own meshes, or the hulls of these."""
    visibility: str = VIEWPORT
    """Which objects are visible; the scene is set up for it before it is read."""
    ignore_parents: bool = True
    ignore_collections: bool = False
    ignore_joined: bool = True
    ignore_listed: bool = True
    ignore_approved: bool = True

    @property
    def pairs_of_collections(self) -> Sequence[Sequence[str | None]]:
        """All collections A and B."""
        return [(self.collection_a, self.collection_b), *(self.more_collections or ())]

    @property
    def all_objects(self) -> Sequence[str | None]:
        """All objects that are checked against all."""
        return [self.object, *(self.more_objects or ())]


class State(NamedTuple):
    """Where an object or instance was and what it was made of, as digests that are stored in the file."""

    place: str
    """Of the world matrix of the object or instancer: compared at once."""
    made: str
    """Of all else: geometry, collision shape, parts, and the place of an instance in its instancer."""


@dataclass(frozen=True)
class Approval:
    """The signed distance at which the user approved a pair."""

    signed_distance: float | None
    """Blender units; None where there was no depth, as of two open surfaces that crossed."""
    is_known: bool = True
    """False when the file, saved by an earlier version, does not say."""

    def covers(self, signed_distance: float | None, resolution: float) -> bool:
        """Return whether a pair of that signed distance (None: crossing without a depth) is no worse than approved.

        resolution: of the pair's coordinates, Blender units; smaller differences are not known.
        """
        if not self.is_known:
            return False
        if self.signed_distance is None:
            return signed_distance is None or signed_distance >= -resolution
        if signed_distance is None:
            return False
        slack = max(APPROVAL_SLACK * abs(self.signed_distance), resolution)
        return signed_distance >= self.signed_distance - slack


@dataclass(frozen=True)
class Reviewed:
    """The user's earlier decisions about pairs."""

    listed: frozenset[frozenset[int]] = field(default_factory=frozenset)
    """Pairs to ignore, by `session_uid`; a single object is ignored altogether."""
    approved: Mapping[Pair, Approval] = field(default_factory=dict)
    instances: Mapping[Key, tuple[str | None, str | None, str | None]] = field(default_factory=dict)
    """Those of the list, with their digests when they were found: see `read.instances`."""


@dataclass(frozen=True)
class Shard:
    """A part of the candidate pairs of a scene: those along a stretch of a curve that fills space."""

    number: int
    """From 1."""
    count: int
    """How many there are. Each candidate pair is in exactly one."""


@dataclass(frozen=True)
class SimulatedBody:
    """What Blender's simulation makes of the collision shape of a rigid body."""

    kind: str
    """Of the collision shape."""
    margin: float
    """By how much the simulation widens it, Blender units."""
    box_margin: float
    """By how much it widens the boxes that must meet before contacts with a mesh are looked for."""
    is_active: bool
    is_free: bool
    """Whether the simulation moves it."""
    collections: int
    """The collision collections, a bit each."""
    never_meets: frozenset[int] = frozenset()
    """The objects (`session_uid`) that constraints keep it from colliding with."""


class Skipped(NamedTuple):
    """An object, instance or pair that a check leaves out."""

    name: str
    reason: str
    """A sentence."""
    unchecked: bool = True
    """Whether it should have been checked. False where it has no geometry or the rules leave it out."""
    kind: str = "geometry"
    """The category of the reason; docs/report.md lists them."""
    objects: tuple[str, ...] = ()
    """The names of all objects that the sentence is about, where it may be about several."""
    resolution: float | None = None
    """Of their coordinates, Blender units, where that is the reason."""

    def record(self) -> dict[str, Any]:
        """Return it as plain data, without the fields that few have where they are empty."""
        found = {**self._asdict(), "objects": list(self.objects)}
        return {name: value for name, value in found.items() if value not in ([], None)}
