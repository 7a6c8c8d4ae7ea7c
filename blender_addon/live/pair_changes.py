# SPDX-License-Identifier: GPL-3.0-or-later
"""Which updates of a depsgraph are changes of a scene's pair."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..clashes import changes
from ..data import properties
from ..data.collision_kinds import COMPOUND


def changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> tuple[str, str]:
    """Return the names of an object of the scene's pair that moved, and of one that was edited; empty without one."""
    picked = {obj.session_uid: obj.name for obj in properties.picked(scene)}
    parts = {part.session_uid: obj.name for obj in properties.picked(scene) for part in _possible_parts(obj)}
    parts |= _sources(scene)
    moved = edited = ""
    for update in depsgraph.updates:
        if not isinstance(update.id, (bpy.types.Object, bpy.types.Collection)):
            continue
        uid = update.id.original.session_uid
        if isinstance(update.id, bpy.types.Collection):
            edited = parts.get(uid, edited)
        elif uid in parts and (changes.is_edited(update) or update.is_updated_transform):
            edited = parts[uid]
        elif uid in picked and changes.is_edited(update):
            edited = picked[uid]
        elif uid in picked and update.is_updated_transform:
            moved = picked[uid]
    return moved, edited


def _possible_parts(obj: bpy.types.Object) -> Sequence[bpy.types.Object]:
    """Return the objects that may be parts of a compound parent, those that have just ceased to be one too."""
    body = obj.rigid_body
    return obj.children_recursive if body is not None and body.collision_shape == COMPOUND else ()


def _sources(scene: bpy.types.Scene) -> dict[int, str]:
    """Return the `session_uid` of all that picked instances depend on, with the name of their instancer."""
    settings = properties.settings_of(scene)
    sources: dict[int, str] = {}
    for letter in "ab":
        owner, source = (getattr(settings, f"{name}_{letter}") for name in ("object", "source"))
        if owner is not None and getattr(settings, f"instance_{letter}"):
            sources |= dict.fromkeys(changes.watched(owner, source) - {owner.session_uid}, owner.name)
    return sources
