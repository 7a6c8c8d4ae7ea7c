# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a file is not in the scenes and view layers that are checked."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import bpy

from ..data import messages
from ..data.records import Skipped
from .scene_objects import CheckInput
from .visibility import can_be_checked, rendered


def scenes_of_file() -> list[bpy.types.Scene]:
    """Return the scenes of the open file, without linked ones, in the order of their names."""
    return [scene for scene in bpy.data.scenes if scene.library is None]


class Elsewhere:
    """The objects of the open file that are in no checked scene or view layer."""

    def __init__(
        self, checked: Collection[bpy.types.Scene], *, scenes: bool, layers: bool, are_all: bool = False
    ) -> None:
        """scenes, layers: whether those that are not checked should have been; else they are left out on purpose.
        are_all: whether no scene was named, so that one without objects, such as of a menu, is checked and empty."""
        self._scenes, self._layers = scenes, layers
        empty = {scene.name for scene in checked if not any(map(_may_collide, scene.objects))}
        self._empty = empty if are_all and len(empty) < len(checked) else set()
        known = {obj.session_uid for scene in checked for obj in scene.objects}
        others = [scene for scene in scenes_of_file() if scene not in checked]
        self._others = {
            scene.name: {obj.session_uid for obj in filter(_may_collide, scene.objects)} - known for scene in others
        }

    def add(self, given: CheckInput, scene: bpy.types.Scene, layer: bpy.types.ViewLayer) -> None:
        """Add to what a check of a view layer skips what the check does not see. Who names objects misses no others."""
        if scene.name in self._empty:
            given.skipped[:] = [entry for entry in given.skipped if entry.kind != "empty"]
        is_all = given.rules.scope == "visible"
        given.skipped.extend(self._in_scenes(given, self._scenes and is_all))
        if given.left_out:
            given.skipped.extend(_in_layers(scene, layer, self._layers and is_all))

    def _in_scenes(self, given: CheckInput, is_unchecked: bool) -> Iterator[Skipped]:
        sources = {obj.uid for obj in (*given.objects, *given.without_surface)}  # an asset is checked in its instances
        for name, uids in self._others.items():
            if number := len(uids - sources):
                yield Skipped(name, _other_scene(name, number, is_unchecked), is_unchecked, "scene")


def _other_scene(name: str, number: int, is_unchecked: bool) -> str:
    """Return what to know of a scene that is not checked; number: of its objects that are in no checked scene."""
    has = f"has {messages.counted(number, 'object')} that {'is' if number == 1 else 'are'} in no checked scene"
    if is_unchecked:
        return f"The scene '{name}' was not checked and {has}: add --scene all, or --scene with each name"
    return f"The scene '{name}' is left out and {has}"


def _may_collide(obj: bpy.types.Object) -> bool:
    """Return whether an object that is not evaluated is shown or rendered somewhere, and may have a surface."""
    if (obj.hide_viewport and obj.hide_render) or not can_be_checked(obj):
        return False
    return not isinstance(obj.data, bpy.types.Mesh) or len(obj.data.polygons) > 0 or len(obj.modifiers) > 0


def _in_layers(scene: bpy.types.Scene, checked: bpy.types.ViewLayer, is_unchecked: bool) -> Iterator[Skipped]:
    """Yield the view layers that render what is excluded from the one that is checked."""
    if len(scene.view_layers) < 2:
        return
    excluded = {obj.session_uid for obj in filter(can_be_checked, scene.objects)}
    excluded -= {obj.session_uid for obj in checked.objects}
    for layer in scene.view_layers:
        if layer != checked and layer.use and (number := len(excluded & rendered(layer.layer_collection))):
            yield Skipped(layer.name, _other_layer(layer.name, number, is_unchecked), is_unchecked, "layer")


def _other_layer(name: str, number: int, is_unchecked: bool) -> str:
    """Return what to know of a view layer that is not checked; number: of the objects that only it renders."""
    verb, pronoun = ("is", "it") if number == 1 else ("are", "them")
    objects = f"{messages.counted(number, 'object')} that {verb} excluded from the one that is checked"
    hint = ", or add --visibility all" if is_unchecked else ""
    return f"The view layer '{name}' renders {objects}: include {pronoun} there to check {pronoun}{hint}"
