# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators, keys and gizmos of the steps of an algorithm: start, go, end, keep; click a bar, drag the difference.

The keys are taken in 3D views while steps are shown: all else that Blender does with keys stays as it is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.props import EnumProperty, StringProperty

from ...core.shapes.curved_shape import ConvexShape
from ..data import messages, preferences, properties
from ..data.collision_kinds import CONVEX_HULL
from ..draw import bake, overlay
from ..geometry import collision_shape
from ..live import background, follow_steps
from ..live.background import Polled, Undoable
from ..page import player_page
from ..pair import session
from ..report import files as report_files
from ..study.playable import playable
from ..views.view_room import room_of
from . import pair_operators

MOVES: tuple[tuple[str, str, str, Any, int], ...] = (
    ("FIRST", "First", "Show the first step (Shift Left Arrow)", "REW", 0),
    ("BACK", "Back", "Show the step before (Left Arrow)", "FRAME_PREV", 1),
    ("PLAY", "Play", "Play the steps, or pause", "PLAY", 2),
    ("FORWARD", "Forward", "Show the next step (Right Arrow)", "FRAME_NEXT", 3),
    ("LAST", "Last", "Show the last step (Shift Right Arrow)", "FF", 4),
)
_KEYS: tuple[tuple[Any, bool, str], ...] = (
    ("LEFT_ARROW", False, "BACK"),
    ("RIGHT_ARROW", False, "FORWARD"),
    ("LEFT_ARROW", True, "FIRST"),
    ("RIGHT_ARROW", True, "LAST"),
)
"""Keys, whether with Shift, and where they go: as Blender's do with frames."""
_items: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []


def not_convex(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Return the objects of the pair whose collision shape is not convex and can be set."""
    inspection = session.current(context)
    if inspection is None:
        return []
    solids = inspection.shape_a, inspection.shape_b
    shaped = zip(properties.shaped_pair(context.scene), solids, strict=True)
    found = [obj for obj, solid in shaped if obj is not None and not isinstance(solid, ConvexShape)]
    return [obj for obj in found if not collision_shape.readonly_reason(obj)]


class CONTACT_LENS_OT_show_steps(bpy.types.Operator):
    """Show the steps of an algorithm on the inspected pair, or on the two selected objects"""

    bl_idname = "contact_lens.show_steps"
    bl_label = "Show Steps"

    def execute(self, context: bpy.types.Context) -> set[str]:
        if properties.pair_keys(context.scene) is None:
            chosen = pair_operators.chosen_pair(context)
            if isinstance(chosen, str):
                self.report({"ERROR"}, chosen)
                return {"CANCELLED"}
            where: Any = "INVOKE_DEFAULT" if background.has_windows() else "EXEC_DEFAULT"
            bpy.ops.contact_lens.inspect(where, True)  # type: ignore[attr-defined]
        follow_steps.begin(context.scene)
        if problem := follow_steps.error(context.scene):
            self.report({"WARNING"}, problem)
        else:
            self.report({"INFO"}, "The arrow keys left and right show other steps, Esc ends them")
        return {"FINISHED"}


class CONTACT_LENS_OT_show_steps_of_hulls(Undoable, bpy.types.Operator):
    """Set the collision shape of what is not convex to Convex Hull, and show the steps"""

    bl_idname = "contact_lens.show_steps_of_hulls"
    bl_label = "Use Convex Hull"

    def execute(self, context: bpy.types.Context) -> set[str]:
        for obj in not_convex(context):
            obj.contact_lens_shape = CONVEX_HULL  # type: ignore[attr-defined]
        follow_steps.begin(context.scene)
        return {"FINISHED"}


class OfSteps(Polled):
    """An operator that is there while steps are shown, in 3D views: its keys are Blender's own otherwise."""

    bl_options: Any = {"INTERNAL"}

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        if context.area is not None and context.area.type != "VIEW_3D":
            return "Steps are shown in 3D views: move the mouse into one"
        return "" if follow_steps.is_on(context.scene) else "No steps are shown: choose Show Steps"


class CONTACT_LENS_OT_go_to_step(OfSteps, bpy.types.Operator):
    """Show another step"""

    bl_idname = "contact_lens.go_to_step"
    bl_label = "Go to Step"

    to: EnumProperty(items=MOVES, options={"HIDDEN"})  # type: ignore[valid-type]

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        return pair_operators.tooltip(MOVES, properties.to)

    def execute(self, context: bpy.types.Context) -> set[str]:
        found = follow_steps.current(context.scene)
        if self.to == "PLAY":
            follow_steps.play(context.scene)
        elif found is not None:
            steps, number = found
            places = {"FIRST": 0, "BACK": number - 1, "FORWARD": number + 1, "LAST": len(steps.shown) - 1}
            follow_steps.go(context.scene, places[self.to])
        return {"FINISHED"}


class CONTACT_LENS_OT_end_steps(OfSteps, bpy.types.Operator):
    """Stop showing the steps, as Esc in a 3D view does"""

    bl_idname = "contact_lens.end_steps"
    bl_label = "End Steps"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        # Esc stops an animation that is played first, as ever.
        is_played = event.type == "ESC" and context.screen is not None and context.screen.is_animation_playing
        return {"PASS_THROUGH"} if is_played else self.execute(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        follow_steps.end(context.scene)
        return {"FINISHED"}


# --- steps to keep --------------------------------------------------------------------------------------------------


class OfStep(Polled):
    """An operator on the step that is shown."""

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        return "" if follow_steps.current(context.scene) else "No step is shown: choose Show Steps"


class CONTACT_LENS_OT_bake_step(Undoable, OfStep, bpy.types.Operator):
    """Add the step that is shown to the scene as meshes, curves and texts, for slides; it is never checked"""

    bl_idname = "contact_lens.bake_step"
    bl_label = "Bake Step"

    def execute(self, context: bpy.types.Context) -> set[str]:
        found, inspection = follow_steps.current(context.scene), session.current(context)
        if found is None or inspection is None:
            return {"CANCELLED"}
        steps, number = found
        texts = steps.title(number), steps.sentence(number)
        around = np.concatenate([obj.points for obj in inspection.objects])
        made = bake.bake(context, steps.picture(number), texts, around, preferences.look(context))
        self.report({"INFO"}, f"Baked {texts[0]} as the collection '{made.name}'")
        return {"FINISHED"}


class CONTACT_LENS_OT_remove_baked_steps(Undoable, Polled, bpy.types.Operator):
    """Remove all baked steps from the file"""

    bl_idname = "contact_lens.remove_baked_steps"
    bl_label = "Remove Baked Steps"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        return "" if bake.has_baked() else "The file has no baked steps"

    def execute(self, context: bpy.types.Context) -> set[str]:
        self.report({"INFO"}, f"{messages.counted(bake.remove_baked(), 'baked step')} removed")
        return {"FINISHED"}


class CONTACT_LENS_OT_copy_trace(OfStep, bpy.types.Operator):
    """Copy all steps of the trace, also those that are not played, to the clipboard as JSON"""

    bl_idname = "contact_lens.copy_trace"
    bl_label = "Copy Trace"

    def execute(self, context: bpy.types.Context) -> set[str]:
        found = follow_steps.current(context.scene)
        if found is None:
            return {"CANCELLED"}
        trace = found[0].trace
        context.window_manager.clipboard = json.dumps(trace.to_dict(), allow_nan=False)
        self.report({"INFO"}, f"{messages.counted(len(trace.steps), 'step')} copied as JSON")
        return {"FINISHED"}


class CONTACT_LENS_OT_save_steps_page(pair_operators.SaveOperator, OfStep, bpy.types.Operator):
    """Save the steps as one web page that plays them in 3D and asks what comes next, without network"""

    bl_idname = "contact_lens.save_steps_page"
    bl_label = "Save as Web Page"
    what = "page"

    filename_ext = ".html"
    check_extension = True
    filter_glob: StringProperty(default="*.html", options={"HIDDEN"})  # type: ignore[valid-type]

    def default_path(self, context: bpy.types.Context) -> str:
        inspection = session.current(context)
        names = () if inspection is None else (inspection.name_a, inspection.name_b)
        return pair_operators.path_beside_file(*names, "steps.html") if names else ""

    def save(self, context: bpy.types.Context, path: Path) -> str | None:
        found = follow_steps.current(context.scene)
        if found is None:
            return None
        text = player_page.player_page(playable(found[0]), preferences.look(context))
        report_files.write(report_files.place_of(str(path)), text)
        return messages.counted(len(found[0].shown), "step")


class CONTACT_LENS_OT_open_learn(Polled, bpy.types.Operator):
    """Open seven short chapters about these algorithms in the browser, with players; no network is needed"""

    bl_idname = "contact_lens.open_learn"
    bl_label = "Learn How It Works"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        return "" if player_page.CHAPTERS.is_file() else "The chapters are missing: install the extension from its zip"

    def execute(self, context: bpy.types.Context) -> set[str]:
        bpy.ops.wm.url_open(url=player_page.CHAPTERS.as_uri())
        return {"FINISHED"}


# --- gizmos: what gets the clicks of a view before its tools --------------------------------------------------------


def _axis_at(context: Any, pixel: Any) -> int | None:
    """Return the step of SAT whose bar is at a pixel of the context's region."""
    found = follow_steps.current(context.scene)
    if found is None:
        return None
    return overlay.plate_of(*found, overlay.style_of(context), room_of(context)).bar_at(*pixel)


class InView:
    """A group of gizmos of the 3D view."""

    bl_space_type: Any = "VIEW_3D"
    bl_region_type: Any = "WINDOW"


class CONTACT_LENS_GT_axis(bpy.types.Gizmo):
    """The bars of the axes: a click shows one"""

    def draw(self, context: bpy.types.Context) -> None:
        """The overlay draws them."""

    def test_select(self, context: bpy.types.Context, location: Any) -> int:
        return -1 if _axis_at(context, location) is None else 0

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        step = _axis_at(context, (event.mouse_region_x, event.mouse_region_y))
        if step is not None:
            follow_steps.show_axis(context.scene, step)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event, tweak: set[str]) -> set[str]:
        """Wait for the button to come up: else the press is one on what is behind, too."""
        return {"FINISHED"} if event.value == "RELEASE" else {"RUNNING_MODAL"}


class CONTACT_LENS_GGT_axes(InView, bpy.types.GizmoGroup):
    bl_label = "Axes of SAT"
    bl_options = {"PERSISTENT"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        found = follow_steps.current(context.scene)
        return found is not None and found[0].trace.steps[found[0].shown[found[1]]].kind == "sat"

    def setup(self, context: bpy.types.Context) -> None:
        self.gizmos.new(CONTACT_LENS_GT_axis.__name__)


class CONTACT_LENS_GGT_place(InView, bpy.types.GizmoGroup):
    bl_label = "Origin of the Minkowski Difference"
    bl_options = {"3D", "PERSISTENT"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return follow_steps.place(context.scene) is not None

    def setup(self, context: bpy.types.Context) -> None:
        gizmo: Any = self.gizmos.new("GIZMO_GT_move_3d")
        gizmo.target_set_handler("offset", get=_place, set=_move_place)
        gizmo.draw_options = {"ALIGN_VIEW"}
        gizmo.scale_basis = 0.2
        gizmo.color, gizmo.alpha = (1.0, 1.0, 1.0), 0.6
        gizmo.color_highlight, gizmo.alpha_highlight = (1.0, 1.0, 1.0), 1.0


def _place() -> tuple[float, ...]:
    return follow_steps.place(bpy.context.scene) or (0.0, 0.0, 0.0)


def _move_place(place: tuple[float, float, float]) -> None:
    settings = properties.settings_of(bpy.context.scene)
    settings.step_place, settings.step_beside = place, False


IN_MENU = (
    CONTACT_LENS_OT_show_steps,
    CONTACT_LENS_OT_bake_step,
    CONTACT_LENS_OT_remove_baked_steps,
    CONTACT_LENS_OT_copy_trace,
    CONTACT_LENS_OT_save_steps_page,
    CONTACT_LENS_OT_open_learn,
)
CLASSES = (
    *IN_MENU,
    CONTACT_LENS_OT_show_steps_of_hulls,
    CONTACT_LENS_OT_go_to_step,
    CONTACT_LENS_OT_end_steps,
    CONTACT_LENS_GT_axis,
    CONTACT_LENS_GGT_axes,
    CONTACT_LENS_GGT_place,
)


def register() -> None:
    config = bpy.context.window_manager.keyconfigs.addon
    if config is None:  # in background mode
        return
    keymap = config.keymaps.new("Frames")  # Blender's keys for frames come before others of a 3D view
    for key, shift, to in _KEYS:
        item = keymap.keymap_items.new("contact_lens.go_to_step", key, "PRESS", shift=shift, repeat=True)
        item.properties.to = to
        _items.append((keymap, item))
    _items.append((keymap, keymap.keymap_items.new("contact_lens.end_steps", "ESC", "PRESS")))


def unregister() -> None:
    for keymap, item in _items:
        keymap.keymap_items.remove(item)
    _items.clear()
