# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects of a scene are left out because they are hidden, and what differs between viewport and render."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import bpy

from ..data.objects import library_name, may_have_surface
from ..data.records import ALL, RENDER, VIEWPORT

LEVELS = frozenset({"SUBSURF", "MULTIRES"})
"""Modifiers whose levels the scene's Simplify limits."""
PAIRS = {
    "SUBSURF": ("levels", "render_levels"),
    "MULTIRES": ("levels", "render_levels"),
    "SCREW": ("steps", "render_steps"),
    "OCEAN": ("viewport_resolution", "resolution"),
}
"""Settings of modifiers for the viewport and for renders, by their type."""
INSTANCING = frozenset({"OBJECT", "COLLECTION"})
"""How particles are rendered that make instances."""


def go_to(scene: bpy.types.Scene, layer: bpy.types.ViewLayer, visibility: str, frame: int | None) -> None:
    """Set the scene's frame, if one is given, with objects and modifiers visible as in a render, or all, in memory.

    VIEWPORT leaves visible what is visible.
    """
    if visibility == VIEWPORT:
        if frame is not None:
            scene.frame_set(frame)
        return
    # Blender does not animate what is hidden, nor does it once that is shown: only a change of the frame does.
    _show(layer, visibility == ALL)
    if frame is None:
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    else:
        scene.frame_set(frame)
    _show(layer, visibility == ALL)  # what is visible may be animated
    if visibility == RENDER:
        _as_in_render(scene)
    layer.update()


def _show(layer: bpy.types.ViewLayer, excluded: bool) -> None:
    """Show all objects; if wanted also those of excluded collections, and instancers beside their instances."""
    for one in _below(layer.layer_collection):
        if excluded:
            _set(one, "exclude", False)
        _set(one, "hide_viewport", False)
    for block in (*bpy.data.collections, *bpy.data.objects):
        _set(block, "hide_viewport", False)
    for obj in filter(None, [*layer.objects]):  # without those removed; hiding makes the layer list its objects anew
        if excluded:
            _set(obj, "show_instancer_for_viewport", True)
        if obj.hide_get(view_layer=layer):
            obj.hide_set(False, view_layer=layer)


def _as_in_render(scene: bpy.types.Scene) -> None:
    """Hide in the viewport what renders hide, and give the viewport the settings of renders."""
    for collection in bpy.data.collections:
        _set(collection, "hide_viewport", collection.hide_render)
    for obj in bpy.data.objects:
        _set(obj, "hide_viewport", obj.hide_render)
        _set(obj, "show_instancer_for_viewport", obj.show_instancer_for_render)
        for block, name, value in _settings(obj):
            _set(block, name, value)
    _set(scene.render, "simplify_subdivision", scene.render.simplify_subdivision_render)
    _set(scene.render, "simplify_child_particles", scene.render.simplify_child_particles_render)


def _set(block: Any, name: str, value: Any) -> None:
    if getattr(block, name) != value:  # else it is evaluated again for nothing
        setattr(block, name, value)


def _below(top: bpy.types.LayerCollection) -> Iterator[bpy.types.LayerCollection]:
    for child in top.children:
        yield child
        yield from _below(child)


def _settings(obj: Any) -> Iterator[tuple[Any, str, Any]]:
    """Which settings of an object are others in renders: what has it, its name for the viewport, the render's value."""
    for modifier in obj.modifiers:
        yield modifier, "show_viewport", modifier.show_render
        if modifier.type in PAIRS:
            name, other = PAIRS[modifier.type]
            yield modifier, name, getattr(modifier, other)
    if isinstance(obj.data, bpy.types.Curve):
        for name in ("resolution_u", "resolution_v"):
            if getattr(obj.data, f"render_{name}") > 0:  # 0: as in the viewport
                yield obj.data, name, getattr(obj.data, f"render_{name}")
    if isinstance(obj.data, bpy.types.MetaBall):
        yield obj.data, "resolution", obj.data.render_resolution
    for system in obj.particle_systems:
        if system.settings is not None and system.settings.render_type in INSTANCING:
            yield system.settings, "display_percentage", 100


def differences(scene: bpy.types.Scene, objects: Iterable[bpy.types.Object]) -> list[dict[str, Any]]:
    """Return the settings of objects that differ between viewport and render, as plain data."""
    simplify = scene.render if scene.render.use_simplify else None
    found = []
    for obj in objects:
        for block, name, render in _settings(obj):
            viewport = getattr(block, name)
            is_modifier = isinstance(block, bpy.types.Modifier)
            if is_modifier and name != "show_viewport" and not (block.show_viewport and block.show_render):
                continue
            if simplify is not None and is_modifier and block.type in LEVELS and name == "levels":
                viewport = min(viewport, simplify.simplify_subdivision)
                render = min(render, simplify.simplify_subdivision_render)
            if viewport != render:
                found.append(
                    {
                        "object": obj.name,
                        "modifier": block.name if is_modifier else None,
                        "setting": name,
                        "viewport": viewport,
                        "render": render,
                    }
                )
        for modifier in _asking(obj):
            entry = {"object": obj.name, "modifier": modifier, "setting": "Is Viewport"}
            found.append({**entry, "viewport": True, "render": False})
    return found


def _asking(obj: Any) -> Iterator[str]:
    """The Geometry Nodes modifiers whose result may depend on the node Is Viewport."""
    for modifier in obj.modifiers:
        if modifier.type == "NODES" and modifier.show_viewport and modifier.node_group is not None:
            groups = [modifier.node_group]
            for group in groups:  # it grows
                inside = [node.node_tree for node in group.nodes if getattr(node, "node_tree", None) is not None]
                groups += [tree for tree in dict.fromkeys(inside) if tree not in groups]
            if any(node.bl_idname == "GeometryNodeIsViewport" for group in groups for node in group.nodes):
                yield modifier.name


# --- what is left out -----------------------------------------------------------------------------------------------


def left_out(scene: bpy.types.Scene, layer: bpy.types.ViewLayer) -> dict[str, int]:
    """Return how many objects that could be checked are not visible: `hidden`, `excluded` from the view layer, and how
    many of the hidden ones are `rendered`. What instances of collections leave out counts once, as hidden."""
    inside, in_renders = {obj.session_uid for obj in layer.objects}, rendered(layer.layer_collection)
    counts = {"hidden": 0, "excluded": 0, "rendered": 0}
    known = {obj.session_uid for obj in scene.objects}
    for obj in filter(can_be_checked, scene.objects):
        is_rendered = obj.session_uid in in_renders
        if obj.session_uid not in inside:
            counts["excluded"] += 1
        elif not obj.visible_get(view_layer=layer):
            counts["hidden"] += 1
            counts["rendered"] += is_rendered
        elif obj.is_instancer and not obj.show_instancer_for_viewport and may_have_surface(obj):
            counts["hidden"] += 1  # itself, not its instances
            counts["rendered"] += is_rendered and obj.show_instancer_for_render
    for obj, is_rendered in hidden_inside(obj for obj in layer.objects if obj.visible_get(view_layer=layer)).items():
        if obj.session_uid not in known:
            counts["hidden"] += 1
            counts["rendered"] += is_rendered
    return counts


def hidden(layer: bpy.types.ViewLayer) -> list[list[str | None]]:
    """Return the objects of a view layer that could be checked and are not visible, each its name and library."""
    found = (obj for obj in layer.objects if not obj.visible_get(view_layer=layer) and can_be_checked(obj))
    return [[obj.name, library_name(obj)] for obj in found]


def hidden_inside(makers: Iterable[bpy.types.Object]) -> dict[bpy.types.Object, bool]:
    """Return the objects that instances of collections, and those within them, leave out, each with whether renders
    show it."""
    found: dict[bpy.types.Object, bool] = {}
    collections = list(dict.fromkeys(_instanced(makers)))
    for collection in collections:  # it grows
        shown, shown_in_renders = _shown(collection, "hide_viewport"), _shown(collection, "hide_render")
        for obj in set(filter(can_be_checked, collection.all_objects)) - shown:
            found.setdefault(obj, obj in shown_in_renders)
        collections += [nested for nested in dict.fromkeys(_instanced(shown)) if nested not in collections]
    return found


def can_be_checked(obj: bpy.types.Object) -> bool:
    """Return whether an object may have a surface, or instances that have one."""
    return may_have_surface(obj) or obj.instance_type == "COLLECTION"


def _instanced(objects: Iterable[bpy.types.Object]) -> Iterator[bpy.types.Collection]:
    """The collections that objects make instances of."""
    for obj in objects:
        if obj.instance_type == "COLLECTION" and obj.instance_collection is not None:
            yield obj.instance_collection


def _shown(collection: bpy.types.Collection, hide: str) -> set[bpy.types.Object]:
    """The objects of a collection that its instances show; hide: "hide_viewport" or "hide_render"."""
    if getattr(collection, hide):
        return set()
    own = {obj for obj in collection.objects if not getattr(obj, hide)}
    return own.union(*(_shown(child, hide) for child in collection.children))


def rendered(top: bpy.types.LayerCollection) -> set[int]:
    """The objects of a view layer that are rendered, by `session_uid`."""
    if top.exclude or top.collection.hide_render:
        return set()
    own = {obj.session_uid for obj in top.collection.objects if not obj.hide_render}
    return own.union(*map(rendered, top.children))
