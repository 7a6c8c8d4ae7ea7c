# SPDX-License-Identifier: GPL-3.0-or-later
"""What a check has not read although it is there: hidden, out of scope, of a missing library, or in an instance that
leaves it out. A clash of such an object is not gone."""

from __future__ import annotations

from functools import cached_property

import bpy

from ..data.objects import TYPES_WITH_SURFACE
from ..read.scene_objects import CheckInput
from ..read.visibility import hidden_inside

ON_THEIR_CHILDREN = frozenset({"VERTS", "FACES"})
"""Types of instancers that make instances of their children, which are not shown themselves then."""


NOTHING = frozenset({"geometry", "emptied"})
"""The kinds of entries of objects that were read and have no geometry."""


class Unread:
    """The objects of a file that a check of a scene has not read."""

    def __init__(self, scene: bpy.types.Scene, given: CheckInput) -> None:
        keys = {obj.key for scope in given.scopes for side in scope.sides for obj in given.with_parts(side)}
        keys |= {obj.key for obj in given.without_surface}
        self.owners = {key[0] for key in keys}
        """`session_uid` of the objects that were read, and of those that make the instances that were."""
        self.in_scene = {obj.session_uid: obj for obj in scene.objects}
        self._sources, self._made = {key[1] for key in keys}, {key[:2] for key in keys}
        self._without = {entry.name for entry in given.skipped if not entry.unchecked and entry.kind in NOTHING}
        self._hidden: dict[int, set[int]] = {}

    @cached_property
    def by_uid(self) -> dict[int, bpy.types.Object]:
        """All objects of the file by their `session_uid`."""
        return {obj.session_uid: obj for obj in bpy.data.objects}

    @cached_property
    def objects(self) -> dict[int, bpy.types.Object]:
        """The objects that were not read, of the scene and of collections that instances may show, by their
        `session_uid`: one of them may have been renamed."""
        found = {
            uid: obj
            for uid, obj in self.in_scene.items()
            if (obj.type in TYPES_WITH_SURFACE or obj.instance_type != "NONE")
            and uid not in self.owners
            and not (obj.parent is not None and (obj.parent.session_uid, uid) in self._made)
        }
        found |= {
            uid: obj
            for uid, obj in self._in_collections.items()
            if obj.type in TYPES_WITH_SURFACE and uid not in self._sources
        }
        return {uid: obj for uid, obj in found.items() if obj.name not in self._without}

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of these objects."""
        return frozenset(obj.name for obj in self.objects.values())

    def is_there(self, uid: int) -> bool:
        """Return whether an object is in the scene, or may be in an instance although none was read, or is of a library
        that is missing."""
        obj = self.by_uid.get(uid)
        return obj is not None and (uid in self.in_scene or uid in self.objects or obj.is_missing)

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
