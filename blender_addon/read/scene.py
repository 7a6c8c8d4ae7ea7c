# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects, instances and rules of a scene check, read from Blender."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

import bpy

from ..data import messages
from ..data.objects import find_named, frame_of
from ..data.records import RENDER, Reviewed, Rules, Skipped
from ..data.units import UnitFormat
from ..geometry.frame_geometries import FrameGeometries
from ..geometry.local_geometry import Geometries
from ..geometry.snapshot import ReadError
from . import faults as scene_faults
from . import visibility as scene_visibility
from .instances import digests_of, renumbered
from .scene_objects import CheckInput, Scope, all_parts
from .scene_reader import SceneReader

Sides = Sequence[tuple[list[bpy.types.Object], list[bpy.types.Object] | None]]
"""Of each scope the objects of the first side, and of the second when not all are checked against all."""


def read_input(
    context: bpy.types.Context,
    rules: Rules,
    reviewed: Reviewed | None = None,
    geometries: Geometries | None = None,
    sides: Sides | None = None,
) -> CheckInput:
    """Read what the rules name, or of it what is on these sides. Raises ReadError, with a sentence for the user, when
    there is nothing to check."""
    reviewed = reviewed or Reviewed()
    depsgraph = context.evaluated_depsgraph_get()
    sides = sides_of(context, rules) if sides is None else sides
    wanted = {obj.session_uid: obj for first, other in sides for obj in [*first, *(other or ())]}
    faults = scene_faults.affected(context)
    reader = SceneReader(depsgraph, geometries or Geometries(), rules, faults=faults)
    reader.read(list(wanted.values()))
    objects = reader.objects

    def of_side(side: Sequence[bpy.types.Object]) -> list[int]:
        """Return the objects of a side, without the parts of a compound parent there."""
        uids = {obj.session_uid for obj in side}  # an instance is where what makes it is
        parts = {part.key for obj in objects if obj.key[0] in uids for part in all_parts(obj)}
        return [k for k, obj in enumerate(objects) if obj.key[0] in uids and obj.key not in parts]

    scopes = [Scope(of_side(first), None if other is None else of_side(other)) for first, other in sides]
    skipped = [*_around(context, rules, faults), *reader.skipped, *_empty(rules, scopes)]
    scene, layer = context.scene, context.view_layer
    left_out = scene_visibility.left_out(scene, layer) if rules.scope in ("visible", "one") else {}
    uids = {uid for obj in objects for uid in (obj.key[0], obj.uid)}
    differences = scene_visibility.differences(scene, [obj for obj in bpy.data.objects if obj.session_uid in uids])
    if rules.visibility == RENDER:  # only those are left that cannot be made as for a render
        skipped += [Skipped(entry["object"], messages.difference(entry), kind="render") for entry in differences]
    instances = digests_of(objects, attrgetter("key"), reviewed.instances, frame_of(context.scene))
    given = CheckInput(
        objects=objects,
        scopes=scopes,
        rules=rules,
        joined=_joined(context.scene) if rules.ignore_joined else frozenset(),
        listed=reviewed.listed if rules.ignore_listed else frozenset(),
        skipped=skipped,
        without_surface=reader.without_surface,
        left_out=left_out,
        differences=differences,
        units=UnitFormat.of_scene(context.scene),
        instances=instances,
        renumbered=renumbered(reviewed.instances, instances),
    )
    approved = {given.now(pair): approval for pair, approval in reviewed.approved.items()}
    return replace(given, approved={pair: approval for pair, approval in approved.items() if pair is not None})


def read_frame(
    context: bpy.types.Context,
    geometries: FrameGeometries,
    rules: Rules,
    reviewed: Reviewed,
    frame: int | None,
    sides: Callable[[], Sides] | None = None,
) -> CheckInput:
    """Return what the rules, or sides that are asked for at the frame, name at it; None: the current one. Raises
    ReadError."""
    scene_visibility.go_to(context.scene, context.view_layer, rules.visibility, frame)
    geometries.next_frame()
    return read_input(context, rules, reviewed, geometries, None if sides is None else sides())


def sides_of(context: bpy.types.Context, rules: Rules) -> Sides:
    """Return what the rules name. Raises ReadError where there is no such thing."""
    layer = context.view_layer
    visible = [obj for obj in layer.objects if obj.visible_get(view_layer=layer)]
    if rules.scope == "visible":
        return [(visible, None)]
    if rules.scope == "selected":
        chosen = [obj for obj in layer.objects if obj.select_get(view_layer=layer)]
        if not chosen:
            raise ReadError("Nothing is selected: select the objects to check")
        return [(chosen, None)]
    if rules.scope == "one":
        ones = [_object(layer, name) for name in rules.all_objects]
        return [([one], [obj for obj in visible if obj != one]) for one in ones]
    in_layer = {obj.session_uid for obj in layer.objects}

    def side(letter: str, name: str | None) -> list[bpy.types.Object]:
        collection = _collection(context.scene, name)
        if collection is None:
            raise ReadError(
                f"There is no collection '{name}' in the scene" if name else f"Pick collection {letter} to check"
            )
        return [obj for obj in collection.all_objects if obj.session_uid in in_layer]

    return [(side("A", a), side("B", b)) for a, b in rules.pairs_of_collections]


def _object(layer: bpy.types.ViewLayer, name: str | None) -> bpy.types.Object:
    found = find_named(layer.objects, name)
    if found is None:
        raise ReadError(f"There is no object '{name}' in the view layer" if name else "Pick the object to check")
    return found


def _around(
    context: bpy.types.Context, rules: Rules, faults: Mapping[bpy.types.ID, scene_faults.Fault]
) -> list[Skipped]:
    """Return what no object to be checked shows: what is excluded, missing or of a newer Blender, and scripts that were
    not run."""
    inside: list[bpy.types.Collection] = []
    tops: list[bpy.types.Collection | None] = []
    if rules.scope == "collections":
        tops = [_collection(context.scene, name) for pair in rules.pairs_of_collections for name in pair]
        inside = [one for top in tops if top is not None for one in (top, *top.children_recursive)]
    elif rules.scope != "selected":
        inside = [one.collection for one in _shown(context.view_layer.layer_collection)]
    excluded = {obj.session_uid: obj for top in tops if top is not None for obj in top.all_objects}
    for obj in context.view_layer.objects:
        excluded.pop(obj.session_uid, None)
    found = [
        Skipped(obj.name, f"'{obj.name}' is excluded from the view layer: include it to check it", kind="hidden")
        for obj in excluded.values()
        if scene_visibility.can_be_checked(obj)
    ]
    found += [
        Skipped(collection.name, fault.reason, kind=fault.kind)
        for collection in dict.fromkeys(inside)
        if (fault := faults.get(collection)) is not None and fault.is_own
    ]
    found += scene_faults.saved_by_newer()
    if rules.scope in ("visible", "one"):
        found += _of_background_sets(context.scene)
    for name in scene_faults.texts_not_run():
        found.append(
            Skipped(
                name,
                f"The script '{name}' of the file was not run: {messages.ALLOW_SCRIPTS}",
                unchecked=False,
                kind="script",
            )
        )
    return found


def _of_background_sets(scene: bpy.types.Scene) -> Iterator[Skipped]:
    """The sets that are shown and rendered with a scene."""
    known, given = {obj.session_uid for obj in scene.objects}, scene.background_set
    while given is not None:
        found = {obj.session_uid for obj in filter(scene_visibility.can_be_checked, given.objects)} - known
        if found:
            yield Skipped(given.name, _background_set(given.name, len(found), scene.name), kind="scene")
        known |= found
        given = given.background_set


def _background_set(name: str, number: int, scene: str) -> str:
    verb, pronoun = ("is", "it") if number == 1 else ("are", "them")
    return (
        f"The background set '{name}' has {messages.counted(number, 'object')} that {verb} rendered with the scene "
        f"'{scene}' and not checked against it: link {pronoun} into the scene"
    )


def _shown(top: bpy.types.LayerCollection) -> Iterator[bpy.types.LayerCollection]:
    """The collections of a view layer that are neither excluded nor hidden."""
    if not top.exclude and top.is_visible:
        yield top
        for child in top.children:
            yield from _shown(child)


_EMPTY_SIDES = {
    "visible": ("among the visible objects",),
    "selected": ("among the selected objects",),
    "collections": ("in collection '{0}'", "in collection '{1}'"),
    "one": ("in object '{0}'", "among the objects other than '{0}'"),
}
"""Where there may be no surface, by the scope of a check."""


def _empty(rules: Rules, scopes: Sequence[Scope]) -> list[Skipped]:
    """Return of each scope that there was nothing to check, or nothing to check against, unless there was."""
    named: dict[str, Sequence[Sequence[str | None]]] = {
        "collections": rules.pairs_of_collections,
        "one": [(name,) for name in rules.all_objects],
    }
    found = {}
    for names, scope in zip(named.get(rules.scope, [()]), scopes, strict=True):
        for place, side in zip(_EMPTY_SIDES[rules.scope], scope.sides, strict=False):
            if not side:
                reason = f"Nothing was checked: there is no surface {place.format(*names)}"
                found[reason] = Skipped(rules.scope, reason, kind="empty")
                break
    return list(found.values())


def _collection(scene: bpy.types.Scene, name: str | None) -> bpy.types.Collection | None:
    return find_named([scene.collection, *scene.collection.children_recursive], name)


def _joined(scene: bpy.types.Scene) -> frozenset[frozenset[int]]:
    """Return the pairs of objects that rigid-body constraints join."""
    constraints = [obj.rigid_body_constraint for obj in scene.objects if obj.rigid_body_constraint is not None]
    return frozenset(
        frozenset((joint.object1.session_uid, joint.object2.session_uid))
        for joint in constraints
        if joint.enabled and joint.object1 is not None and joint.object2 is not None
    )
