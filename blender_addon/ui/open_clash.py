# SPDX-License-Identifier: GPL-3.0-or-later
"""What a click on a finding does: select the pair, put it into the pickers, show it, move the views to it.

What was stored of the finding is there at once. How the pair is now is found beside Blender where that takes long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, cast

import bpy
import numpy as np
from mathutils import Vector

from ...core.progress import Cancelled, Progress
from ...core.types import FloatArray
from ..check import changes, session
from ..check import results as scene_results
from ..check.inspection import begun, overtaken
from ..check.session import Inspection
from ..data.units import UnitFormat
from ..draw import isolated_pair
from ..read import scene as scene_check
from ..read.scene_objects import Item, Key
from ..read.snapshot import ReadError
from . import follow_pair, handlers, isolation, update_clash
from .background import Job

if TYPE_CHECKING:
    from ..check.results import ContactLensFinding


PATIENCE = 0.3
"""Seconds Blender waits for the contact of a pair; after that it goes on and shows the progress."""
END = 10.0
"""Seconds that a cancelled look may take to end when the add-on is switched off."""
SIZES = 4.5
"""How many times the size of what is told of a contact the view shows."""
UNKNOWN_SIZE = 1.0
"""Blender units: taken for the size of a pair of which one is gone."""
ELSEWHERE = 0.05
"""Of the size of the smaller one: the views go to the pair again when it meets farther from where it was found."""


def objects_of(finding: ContactLensFinding) -> list[bpy.types.Object]:
    """The objects of a pair that are still there; of an instance what makes it."""
    return [obj for obj in (finding.object_a, finding.object_b) if obj is not None]


def missing(scene: bpy.types.Scene, finding: ContactLensFinding) -> str:
    """Why nothing can be done with a pair: an object of it is gone. Empty when both are there."""
    for letter in "ab":
        if session.object_in_scene(scene, getattr(finding, f"object_{letter}")) is None:
            return f"'{scene_results.label(finding, letter)}' is gone: check the scene again"
    return ""


def is_pair_of_objects(finding: ContactLensFinding) -> bool:
    """Whether the pair are two objects, not instances, that can be inspected and moved."""
    return len(objects_of(finding)) == 2 and not finding.instance_a and not finding.instance_b


class _Seen(NamedTuple):
    """What a look finds."""

    inspection: Inspection | None
    """Of two objects; instances are not inspected."""
    exhibit: isolated_pair.IsolatedPair


@dataclass(frozen=True, eq=False)
class Look:
    """The pair of a finding as it was read when the person went there."""

    scene: int
    """`session_uid` of the scene."""
    keys: tuple[Key, Key]
    items: tuple[Item, Item]
    places: list[tuple[float, ...]]
    """World matrices of the objects, or of what makes the instances."""
    before: Inspection | None
    """The scene's result then."""
    center: FloatArray
    """(3,) contact centre that the views are at."""
    size: float
    """Of the smaller one."""
    deciding: frozenset[int]
    """`session_uid` of what else than these objects decides about the pair."""
    work: Callable[[Progress], _Seen]
    """Finds the contact, in any thread. Raises ValueError, a sentence for the user, and Cancelled."""


_going: tuple[Look, Job[_Seen]] | None = None
"""The look that goes on beside Blender."""


def share_done(scene: bpy.types.Scene) -> float | None:
    """How much of a look in the scene is done, 0 to 1; None when none goes on."""
    return _going[1].share if _going is not None and _going[0].scene == scene.session_uid else None


def going() -> Look | None:
    """The look that goes on."""
    return None if _going is None else _going[0]


def drop(wait: bool = False) -> None:
    """Give up the look that goes on."""
    global _going
    ended, _going = _going, None
    if ended is not None:
        ended[1].cancel()
        if wait:
            ended[1].wait(END)


def show(context: bpy.types.Context, finding: ContactLensFinding) -> None:
    """Select the pair and move the views to it, then look how it is now: at once, or beside Blender with progress."""
    global _going
    drop()
    layer = context.view_layer
    pair = [obj for obj in objects_of(finding) if layer.objects.get(obj.name) == obj]
    if context.mode == "OBJECT" and pair:
        for obj in list(layer.objects.selected):
            obj.select_set(False)
        for obj in pair:
            obj.select_set(True)
        layer.objects.active = pair[0]
    isolation.isolate(context, None)
    row = finding.row()
    center, length = np.array(row["center"], dtype=np.float64), abs(row["signed_distance"] or 0.0)
    try:
        if gone := missing(context.scene, finding):
            raise ReadError(gone)
        look = _look(context, finding, center)
    except ValueError as error:  # a ReadError among them
        _fail(context, error)
        frame(context, center, length, UNKNOWN_SIZE)
        return
    frame(context, center, length, look.size)
    handlers.redraw()
    if not _may_go_on(context):
        _take(context, look, lambda: look.work(lambda share: True))
        return
    job = Job(look.work)
    if job.wait(PATIENCE):
        _take(context, look, job.result)
        return
    _going = look, job
    _watch()


def _may_go_on(context: bpy.types.Context) -> bool:
    """Whether work may go on beside Blender; a script waits for it."""
    return not bpy.app.background and context.window is not None


def _watch() -> None:
    bpy.ops.contact_lens.watch_finding("INVOKE_DEFAULT")  # type: ignore[attr-defined]


def take_over(context: bpy.types.Context) -> None:
    """Take what the look that goes on has found, once it is done. What the person left meanwhile is left alone."""
    global _going
    if _going is None or not _going[1].done:
        return
    (look, job), _going = _going, None
    if context.scene.session_uid == look.scene and _is_current(context, look):
        _take(context, look, job.result, late=True)


def _look(context: bpy.types.Context, finding: ContactLensFinding, center: FloatArray) -> Look:
    """Read the pair as it is now and put two objects into the pickers. Raises ValueError, a sentence for the user."""
    scene = context.scene
    settings, rules = session.settings_of(scene), scene_results.of_scene(scene).as_rules(context)
    made: Inspection | Callable[[Progress], Inspection] | None = None
    session.set_error(scene, "")
    if is_pair_of_objects(finding):
        settings.object_a, settings.object_b = finding.object_a, finding.object_b
        if finding.relation == "within_clearance":  # or the panel would call it separated
            settings.clearance = max(settings.clearance, scene_results.of_scene(scene).clearance)
        follow_pair.leave(scene)
        depsgraph = context.evaluated_depsgraph_get()
        made = begun(scene, depsgraph, finding.object_a, finding.object_b, settings.as_settings())
    a, b = items = _items(context, _keys(finding))
    units = UnitFormat.of_scene(scene)

    def work(progress: Progress) -> _Seen:
        if made is None:
            return _Seen(None, isolated_pair.isolate(a, b, rules.clearance, rules.contact_tolerance, units, progress))
        inspection = made if isinstance(made, Inspection) else made(progress)
        return _Seen(inspection, isolated_pair.isolate_inspected(inspection, a, b))

    return Look(
        scene=scene.session_uid,
        keys=(a.key, b.key),
        items=items,
        places=[session.matrix_numbers(obj) for obj in objects_of(finding)],
        before=session.stored(scene),
        center=center,
        size=min(float(np.linalg.norm(np.ptp(isolated_pair.surface(item).points, axis=0))) for item in items),
        deciding=frozenset(_deciding(finding)),
        work=work,
    )


def _deciding(finding: ContactLensFinding) -> set[int]:
    owners = objects_of(finding)
    sources = [finding.source_a or owners[0], finding.source_b or owners[1]]
    uids = [changes.watched(owner, source) for owner, source in zip(owners, sources, strict=True)]
    return set().union(*uids) - {owner.session_uid for owner in owners}


def _keys(finding: ContactLensFinding) -> tuple[Key | None, Key | None]:
    return finding.key("a"), finding.key("b")


def _items(context: bpy.types.Context, keys: tuple[Key | None, Key | None]) -> tuple[Item, Item]:
    """Read both things as they are now. Raises ReadError when one is gone."""
    items = scene_check.items_of(context, [key for key in keys if key is not None])
    a, b = (items.get(key) if key is not None else None for key in keys)
    if a is None or b is None:
        raise ReadError("What this finding is about is hidden or gone: check the scene again")
    return a, b


def _is_current(context: bpy.types.Context, look: Look) -> bool:
    """Whether the finding is still the one that the person is at, and its objects those in the pickers."""
    check = scene_results.of_scene(context.scene)
    if not 0 <= check.active < len(check.findings):
        return False
    finding = check.findings[check.active]
    if _keys(finding) != look.keys:
        return False
    return not is_pair_of_objects(finding) or session.pair(context.scene) == (finding.object_a, finding.object_b)


def _is_as_read(context: bpy.types.Context, look: Look) -> bool:
    """Whether the surfaces are still those that were read, wherever they are now. Raises ReadError."""
    pairs = zip(look.items, _items(context, look.keys), strict=True)
    return all(
        np.array_equal(then.geometry.points, now.geometry.points)
        and np.array_equal(then.geometry.triangles, now.geometry.triangles)
        for then, now in pairs
    )


def _take(context: bpy.types.Context, look: Look, result: Callable[[], _Seen], late: bool = False) -> None:
    """Make what a look has found the scene's result and what is shown; late: much may have happened meanwhile."""
    scene = context.scene
    try:
        inspection, made = result()
        is_shown = not late or _is_as_read(context, look)
        if inspection is not None and session.stored(scene) is look.before:  # else someone was faster
            session.store(scene, inspection)
            a, b = session.pair(scene)
            depsgraph = context.evaluated_depsgraph_get()
            if late and a is not None and b is not None and overtaken(depsgraph, a, b, inspection):
                follow_pair.request(scene, reason=follow_pair.OVERTAKEN)
    except Cancelled:
        return
    except ValueError as error:
        _fail(context, error)
        return
    isolation.isolate(context, replace(made, dependencies=look.deciding) if is_shown else None, look.places)
    if inspection is None:
        update_clash.request(scene, frozenset(look.keys))
    contact = made.contact
    if np.abs(contact.center - look.center).max() > ELSEWHERE * look.size:
        frame(context, contact.center, abs(contact.signed_distance), look.size)
    handlers.redraw()


def _fail(context: bpy.types.Context, error: ValueError) -> None:
    session.drop_result(context.scene)
    session.set_error(context.scene, str(error))
    handlers.redraw()


def frame(context: bpy.types.Context, center: FloatArray, length: float, size: float) -> None:
    """Move the 3D views of the window to a contact: its centre (3,), depth or gap, the size of the smaller object."""
    # A contact may be a point: show a good part of the smaller object around it.
    radius = max(length, 0.5 * size, 1e-6)
    for space in views(context):
        view = space.region_3d
        if view.view_perspective == "CAMERA":
            view.view_perspective = "PERSP"
        view.view_location = Vector(center.tolist())
        view.view_distance = SIZES * radius * space.lens / 50.0


def views(context: bpy.types.Context) -> list[bpy.types.SpaceView3D]:
    """The 3D views of the window."""
    if context.screen is None:
        return []
    spaces = [area.spaces.active for area in context.screen.areas if area.type == "VIEW_3D"]
    return [cast(bpy.types.SpaceView3D, space) for space in spaces]
