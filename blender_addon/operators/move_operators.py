# SPDX-License-Identifier: GPL-3.0-or-later
"""Move Out: operators that move one object of a pair out of the other, and the buttons and menus that name it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty

from ...core.progress import Cancelled
from ..clashes import check_settings
from ..data import messages, properties
from ..data.distance import Distance
from ..data.names import elided
from ..data.units import UnitFormat
from ..geometry.snapshot import ReadError
from ..live import follow_clashes
from ..live.background import BackgroundOperator, Steps, Undoable
from ..pair import mover, placing, separate, session
from ..pair.inspection import is_outdated
from ..pair.placing import SHORTEST
from ..pair.separate import SeparateError
from ..report import pair_lines
from . import pair_operators, scene_operators
from .pair_operators import Pair

AUTOMATIC = "AUTO"
MOVES = (
    (AUTOMATIC, "Automatic", "Move the object that is not fixed, not a Passive rigid body and not far larger, else B"),
    ("B", "Move B", "Move B out of A"),
    ("A", "Move A", "Move A out of B"),
    ("HALF", "Move Both by Half", "Move A and B apart, each by half of the distance"),
)
"""What Move Out can move."""
ALONG = (
    (SHORTEST, "Shortest", "Move in the direction in which the distance is shortest"),
    *((axis, axis, f"Move along the world {axis} axis, in the shorter direction") for axis in "XYZ"),
)
"""In which direction."""
AN_INSTANCE = "An instance cannot be moved: make it real first"
AROUND_NAME = 14
"""Characters of a button beside the name: the other words and its edges."""
LONGEST_NAME = 30
"""Characters of a name in a menu."""


def separate_steps(
    operator: Any, context: bpy.types.Context, margin: float | None = None, clearance: float = 0.0
) -> Steps:
    """Inspect the pair in the pickers, move it apart as the properties of the operator say, and inspect it again.

    margin: the gap that is left; None: the clearance that it is inspected with, or `clearance` if that is larger. Raise
    ReadError and SeparateError.
    """
    keys, (a, b) = pair_operators.picked_keys(context), properties.pair(context.scene)
    if keys[0][2] or keys[1][2] or a is None or b is None:
        raise SeparateError(AN_INSTANCE)
    if operator.moves == AUTOMATIC:
        chosen = mover.choose(a, b)
        if not chosen:
            raise SeparateError(mover.both_fixed_reason(a, b))
        operator.moves = chosen  # as the redo panel shows it
    before = yield from pair_operators.inspect(pair_operators.read_pair(context, keys))
    if margin is None:
        margin = max(before.settings.clearance, clearance)
        reason = placing.idle_reason(before, margin)
    else:
        reason = placing.no_depth_reason(before.contact)
    if reason:
        raise SeparateError(reason)
    operator.margin = margin
    translation = before.contact.mtv
    if operator.along != SHORTEST or margin != 0.0 or not translation.any():
        translation = yield partial(placing.translation_to, before, operator.along, margin)
    if operator.is_modal and is_outdated(context.evaluated_depsgraph_get(), before):
        raise SeparateError("An object changed during the inspection, so nothing was moved: try again")
    session.store(context.scene, before)
    moved, warnings = separate.separate(context, a, b, operator.moves, before, translation)
    try:
        after = yield from pair_operators.inspect(pair_operators.read_pair(context, keys))
        session.store(context.scene, after)
        outlook = pair_lines.one_line(after)
        warnings += filter(None, [placing.off_margin(after, margin)])
    except Cancelled:
        session.mark_stale(context.scene, messages.INSPECTION_CANCELLED)
        outlook = "The inspection afterwards was cancelled"
    except (ReadError, SeparateError) as error:
        outlook = str(error)
    # The move is done, so whatever else happened it is a step that can be undone.
    operator.report({"INFO"}, f"Moved {moved}. {outlook}")
    for warning in warnings:
        operator.report({"WARNING"}, warning)
    return {"FINISHED"}


class MoveOutOperator(Undoable, BackgroundOperator):
    """An operator that moves one object of a pair out of the other."""

    title = "Inspection"

    moves: EnumProperty(  # type: ignore[valid-type]
        name="Object", description="Object to move", items=MOVES, default=AUTOMATIC, options={"SKIP_SAVE"}
    )
    along: EnumProperty(  # type: ignore[valid-type]
        name="Along", description="Direction of the move", items=ALONG, default=SHORTEST, options={"SKIP_SAVE"}
    )
    margin: FloatProperty(  # type: ignore[valid-type]
        name="Margin",
        description="Gap that is left between the objects, the clearance unless you set it; below 0 an overlap",
        subtype="DISTANCE",
        precision=4,
        default=0.0,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def pair(cls, context: bpy.types.Context) -> Pair | None:
        """Return the objects A and B, of an instance its instancer; None where there are none."""
        raise NotImplementedError

    @classmethod
    def is_of_instance(cls, context: bpy.types.Context) -> bool:
        """Return whether A or B is an instance."""
        raise NotImplementedError

    @classmethod
    def length(cls, context: bpy.types.Context) -> str:
        """Return how far the shortest move goes, as the end of a sentence; empty where that is not known."""
        raise NotImplementedError

    @classmethod
    def idle_reason(cls, context: bpy.types.Context) -> str:
        """Return why there is nothing to move, as a sentence; empty where there is.

        Not in `poll`: after the move Blender would take away the panel in which it is adjusted.
        """
        raise NotImplementedError

    @classmethod
    def chosen(cls, context: bpy.types.Context) -> tuple[str, str]:
        """Return which object moves unless the user picks one, and if it is empty why none does, as a sentence."""
        pair = cls.pair(context)
        if pair is None:
            return "", ""
        if cls.is_of_instance(context):
            return "", AN_INSTANCE
        moves = mover.choose(*pair)
        return moves, "" if moves else mover.both_fixed_reason(*pair)

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        pair, moves = cls.pair(context), properties.moves
        if pair is None:
            return ""
        if reason := cls.idle_reason(context):
            return reason
        if moves == AUTOMATIC:
            moves, reason = cls.chosen(context)
            if not moves:
                return reason
        a, b = (obj.name for obj in pair)
        what = f"'{a}' and '{b}' apart" if moves == "HALF" else f"'{b}' out of '{a}'"
        if moves == "A":
            what = f"'{a}' out of '{b}'"
        if properties.along != SHORTEST:
            return f"Move {what} along the world {properties.along} axis, in the shorter direction"
        length = cls.length(context) or "by the shortest distance"
        return f"Move {what} {length}{', each by half of it' if moves == 'HALF' else ''}"

    @property
    def given_margin(self) -> float | None:
        """The margin that was asked for, to the seven digits that were typed; None where it was not."""
        return float(f"{self.margin:.7g}") if self.properties.is_property_set("margin") else None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        pair = type(self).pair(context)
        movers = layout.column(align=True)
        movers.use_property_split = False
        for moves, text, _ in MOVES[1:]:
            if pair is not None and moves != "HALF":
                text = f"Move '{elided(pair['AB'.index(moves)].name, LONGEST_NAME)}'"
            movers.prop_enum(self, "moves", moves, text=text)
        layout.prop(self, "along")
        layout.prop(self, "margin")


class CONTACT_LENS_OT_separate(MoveOutOperator, bpy.types.Operator):
    """Move one of the objects out of the other by the shortest distance"""

    bl_idname = "contact_lens.separate"
    bl_label = "Move Out"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        inspection = session.current(context)
        if inspection is None or session.is_stale(context) or inspection.is_depth_pending:
            return pair_operators.no_result(context)
        return placing.no_depth_reason(inspection.contact)

    @classmethod
    def idle_reason(cls, context: bpy.types.Context) -> str:
        inspection = session.current(context)
        if inspection is None or session.is_stale(context) or inspection.is_depth_pending:
            return ""
        return placing.idle_reason(inspection, inspection.settings.clearance)

    @classmethod
    def pair(cls, context: bpy.types.Context) -> Pair | None:
        a, b = properties.pair(context.scene)
        return None if a is None or b is None else (a, b)

    @classmethod
    def is_of_instance(cls, context: bpy.types.Context) -> bool:
        return any(key[2] for key in properties.pair_keys(context.scene) or ())

    @classmethod
    def length(cls, context: bpy.types.Context) -> str:
        inspection = session.current(context)
        if inspection is None or session.is_stale(context):
            return ""
        return _length(inspection.units, Distance.of_contact(inspection.contact), inspection.settings.clearance)

    def steps(self, context: bpy.types.Context) -> Steps:
        return separate_steps(self, context, self.given_margin)


class CONTACT_LENS_OT_separate_finding(MoveOutOperator, bpy.types.Operator):
    """Move one of the objects of the clash out of the other by the shortest distance"""

    bl_idname = "contact_lens.separate_finding"
    bl_label = "Move Clash Out"

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        return scene_operators.no_clash(context)

    @classmethod
    def idle_reason(cls, context: bpy.types.Context) -> str:
        clash = check_settings.active_clash(context.scene)
        if clash is None or clash.why_out_of_date(check_settings.of_scene(context.scene).active):
            return ""
        is_apart = clash.is_apart or (clash.relation == "touching" and cls.margin_of(context) == 0.0)
        return placing.NOTHING_TO_MOVE if is_apart else ""

    @classmethod
    def pair(cls, context: bpy.types.Context) -> Pair | None:
        clash = check_settings.active_clash(context.scene)
        return None if clash is None or None in (clash.object_a, clash.object_b) else (clash.object_a, clash.object_b)

    @classmethod
    def is_of_instance(cls, context: bpy.types.Context) -> bool:
        clash = check_settings.active_clash(context.scene)
        return clash is not None and bool(clash.instance_a or clash.instance_b)

    @classmethod
    def length(cls, context: bpy.types.Context) -> str:
        scene, clash = context.scene, check_settings.active_clash(context.scene)
        if clash is None or clash.why_out_of_date(check_settings.of_scene(scene).active):
            return ""
        return _length(UnitFormat.of_scene(scene), Distance.of_row(clash.row()), cls.margin_of(context))

    @classmethod
    def margin_of(cls, context: bpy.types.Context) -> float:
        """Return the margin unless the user sets one: a clash ends beyond the clearance of the check that found it."""
        clearance = check_settings.of_scene(context.scene).as_rules(context).clearance
        return max(clearance, properties.settings_of(context.scene).as_settings().clearance)

    def steps(self, context: bpy.types.Context) -> Steps:
        if reason := scene_operators.no_clash(context):
            raise SeparateError(reason)
        clash = check_settings.active_clash(context.scene)
        keys = clash.key("a"), clash.key("b")
        properties.pick(context.scene, keys)
        result = yield from separate_steps(self, context, self.given_margin, type(self).margin_of(context))
        moved = {"A": keys[:1], "B": keys[1:]}.get(self.moves, keys)
        with suppress(Cancelled):  # the move is done
            yield from follow_clashes.renewal(context, frozenset(keys), is_forced=True)
            yield from follow_clashes.neighbours(context, {key[0] for key in moved})
        return result


def _length(units: UnitFormat, distance: Distance, margin: float) -> str:
    """Return how far the shortest move goes to a margin of 0 or more, as the end of a sentence."""
    if distance.signed_distance is None or distance.is_at_most or margin == 0.0:
        length = distance.text(units)
        return f"by {length}" if length else ""
    return f"by {units.length(margin - distance.signed_distance)}, to a gap of {units.length(margin)}"


# --- buttons and menus ----------------------------------------------------------------------------------------------


def draw_button(
    row: bpy.types.UILayout, context: bpy.types.Context, operator: type[MoveOutOperator], menu: str, room: int
) -> None:
    """Draw the button that moves an object out, by its name, and the menu of the other moves.

    room: how many characters fit.
    """
    pair, idle, (moves, reason) = operator.pair(context), operator.idle_reason(context), operator.chosen(context)
    button = row.row(align=True)
    button.enabled = not reason and not idle
    text = "Move Out"
    if moves and pair is not None:
        name, other = (obj.name for obj in (pair if moves == "A" else pair[::-1]))
        text = f"Move '{elided(name, max(5, room - AROUND_NAME), other=other)}' Out"
    button.operator(operator.bl_idname, text=text).moves = moves or AUTOMATIC
    others = row.row(align=True)
    others.enabled = not operator.disabled_reason(context) and not idle
    others.menu(menu, text="", icon="DOWNARROW_HLT")


def draw_menu(menu: bpy.types.UILayout, context: bpy.types.Context, operator: type[MoveOutOperator]) -> None:
    """Draw the moves other than that of the button."""
    pair, moves = operator.pair(context), operator.chosen(context)[0]
    if pair is None:
        return
    names = {letter: f"'{elided(obj.name, LONGEST_NAME)}'" for letter, obj in zip("AB", pair, strict=True)}
    for letter, name in names.items():
        if letter != moves:
            menu.operator(operator.bl_idname, text=f"Move {name} Out").moves = letter
    menu.operator(operator.bl_idname, text=MOVES[-1][1]).moves = "HALF"
    menu.separator()
    for axis in "XYZ":
        along = menu.operator(operator.bl_idname, text=f"Move {names[moves or 'B']} Along {axis}")
        along.moves, along.along = moves or "B", axis


class CONTACT_LENS_MT_move_out(bpy.types.Menu):
    """Move the other or both objects instead, or along an axis"""

    bl_label = "Move Out"

    def draw(self, context: bpy.types.Context) -> None:
        draw_menu(self.layout, context, CONTACT_LENS_OT_separate)


class CONTACT_LENS_MT_move_out_of_clash(bpy.types.Menu):
    """Move the other or both objects instead, or along an axis"""

    bl_label = "Move Out of Clash"

    def draw(self, context: bpy.types.Context) -> None:
        draw_menu(self.layout, context, CONTACT_LENS_OT_separate_finding)


IN_MENU = (CONTACT_LENS_OT_separate, CONTACT_LENS_OT_separate_finding)
CLASSES = (*IN_MENU, CONTACT_LENS_MT_move_out, CONTACT_LENS_MT_move_out_of_clash)
