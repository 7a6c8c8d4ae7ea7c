# SPDX-License-Identifier: GPL-3.0-or-later
"""Move All Out: an operator that moves the objects of all clashes, or all that are selected, out of each other."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import bpy
import numpy as np
from bpy.props import EnumProperty

from ...core.progress import Cancelled
from ..clashes import changes, check_settings, move_all
from ..clashes.finding import RELATIONS
from ..clashes.move_all import LISTED, SELECTED, Moves
from ..data import messages
from ..data.units import UnitFormat
from ..geometry.collision_shape import RESOLUTION_STEPS, float32_step
from ..live import follow_clashes
from ..live.background import BackgroundOperator, Steps, Undoable
from ..pair import separate
from ..pair.placing import SHORTEST
from ..pair.separate import SeparateError
from ..read import scene_reader
from . import scene_operators
from .move_operators import ALONG

SCOPES = (
    (LISTED, "List", "Move out the objects of all clashes in the list"),
    (SELECTED, "Selected", "Move the selected objects out of each other and of all others"),
)
MOST_NAMES = 3
"""Objects or pairs that a message names at most."""


class CONTACT_LENS_OT_move_all_out(Undoable, BackgroundOperator, bpy.types.Operator):
    """Move objects out of each other; what is linked, locked or a Passive rigid body stays"""

    bl_idname = "contact_lens.move_all_out"
    bl_label = "Move All Out"
    title = "Move All Out"

    scope: EnumProperty(name="Objects", description="Objects to move", items=SCOPES)  # type: ignore[valid-type]
    along: EnumProperty(  # type: ignore[valid-type]
        name="Along", description="Direction of all moves", items=ALONG, default=SHORTEST, options={"SKIP_SAVE"}
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        reason = idle_reason(context, properties.scope)
        return reason or next(text for name, _, text in SCOPES if name == properties.scope)

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        reasons = [idle_reason(context, scope) for scope in (LISTED, SELECTED)]
        return reasons[0] if all(reasons) else ""

    def steps(self, context: bpy.types.Context) -> Steps:
        if reason := idle_reason(context, self.scope):
            raise SeparateError(reason)
        fixed: set[int] = set()
        reasons: list[str] = []
        while True:
            moves = move_all.read_moves(context, self.scope, self.along, fixed)
            translations, left = yield moves.solve
            if self.is_modal and scene_reader.changed(context.evaluated_depsgraph_get(), moves.given.objects):
                raise SeparateError("An object changed meanwhile, so nothing was moved: try again")
            refused = self._move(context, moves, translations)
            if not refused:
                break
            # It stays: the others may get out of its way.
            fixed |= {obj.session_uid for obj in refused}
            reasons += refused.values()
        checked: set[str] = set()
        with suppress(Cancelled):  # the moves are done
            checked = yield from follow_clashes.neighbours(context, frozenset(translations), most=None)
        if self.scope == LISTED and (checked == {"FINISHED"} or not translations):
            left = _listed_pairs(context.scene)
        self._report_left(left, reasons)
        return {"FINISHED"}

    def _move(
        self, context: bpy.types.Context, moves: Moves, translations: dict[int, Any]
    ) -> dict[bpy.types.Object, str]:
        """Move the objects, unless some of them refuse, which are returned."""
        by_uid = {obj.session_uid: obj for obj in context.view_layer.objects}
        plan = [(by_uid[uid], step) for uid, step in translations.items()]
        largest = max((float(np.abs(obj.translation).max()) for obj in moves.given.objects), default=0.0)
        refused = separate.translate(context, plan, 2.0 * RESOLUTION_STEPS * float32_step(largest))
        if refused or not plan:
            return refused
        undone = [obj.name for obj, step in plan if separate.key_move(context, obj, step)[1]]
        farthest, step = max(plan, key=lambda each: float(np.linalg.norm(each[1])))
        length = UnitFormat.of_scene(context.scene).length(float(np.linalg.norm(step)), rounding="up")
        name = f"'{farthest.name}'"
        text = (
            f"{name} by {length}" if len(plan) == 1 else f"{len(plan):,} objects by at most {length}, {name} farthest"
        )
        self.report({"INFO"}, f"Moved {text}")
        if undone:
            self.report(
                {"WARNING"},
                f"The location of {messages.quoted(undone, MOST_NAMES)} is animated: insert keyframes, or the next "
                "frame change undoes the move",
            )
        return {}

    def _report_left(self, left: list[tuple[str, str]], reasons: list[str]) -> None:
        """Report the pairs that still penetrate, and why objects did not move."""
        for reason in reasons[:MOST_NAMES]:
            self.report({"WARNING"}, reason)
        if left:
            names = messages.quoted([messages.pair_name(*pair) for pair in left], MOST_NAMES)
            self.report({"WARNING"}, f"{messages.clashes(len(left))} left, fixed or without room: {names}")


def _listed_pairs(scene: bpy.types.Scene) -> list[tuple[str, str]]:
    """Return the names of the pairs of the list that are more than a touch, as far as that is known now."""
    outdated = changes.outdated(scene)
    return [
        (clash.label("a"), clash.label("b"))
        for k, clash in move_all.open_clashes(scene)
        if clash.relation != "touching" and k not in outdated
    ]


def idle_reason(context: bpy.types.Context, scope: str) -> str:
    """Return why there is nothing to move out, as a sentence; empty where there may be."""
    if scope == SELECTED:
        return "" if len(context.selected_objects) > 1 else "Select two or more objects"
    if not check_settings.of_scene(context.scene).summary:
        return scene_operators.NO_CHECK
    found = changes.totals(context.scene).words
    return "" if any(found[relation] for relation in RELATIONS if relation != "touching") else move_all.NOTHING_LEFT


CLASSES = (CONTACT_LENS_OT_move_all_out,)
