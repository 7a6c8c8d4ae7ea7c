# SPDX-License-Identifier: GPL-3.0-or-later
"""All classes and parts of the add-on: `register` puts them into Blender, `unregister` takes them out again."""

from __future__ import annotations

import bpy

from . import command_line
from .clashes import check_settings
from .data import preferences, properties
from .live import (
    background,
    follow_clashes,
    follow_measures,
    follow_outlines,
    follow_pair,
    follow_steps,
    follow_volumes,
    steady_warnings,
)
from .operators import (
    clash_dots_operators,
    frames_operators,
    measure_operators,
    move_all_operator,
    move_operators,
    overlap_object,
    pair_operators,
    scene_operators,
    section_operators,
    select_faces,
    steps_operators,
)
from .ui import menu, panels, scene_panel, status_icons, steps_panel
from .views import section, sidebar_plot, viewport

_CLASSES = (
    *preferences.CLASSES,
    *properties.CLASSES,
    *background.CLASSES,
    *check_settings.CLASSES,
    *pair_operators.CLASSES,
    *measure_operators.CLASSES,
    *select_faces.CLASSES,
    *scene_operators.CLASSES,
    *move_operators.CLASSES,
    *move_all_operator.CLASSES,
    *steps_operators.CLASSES,
    *clash_dots_operators.CLASSES,
    *section_operators.CLASSES,
    *frames_operators.CLASSES,
    *overlap_object.CLASSES,
    *menu.CLASSES,
    *panels.CLASSES,
    *steps_panel.CLASSES,
    *scene_panel.CLASSES,
)
_PARTS = (
    status_icons,
    properties,
    check_settings,
    menu,
    scene_operators,
    follow_clashes,
    follow_pair,
    follow_measures,
    follow_outlines,
    follow_volumes,
    follow_steps,
    measure_operators,
    steps_operators,
    frames_operators,
    steady_warnings,
    section,
    sidebar_plot,
    viewport,
    command_line,
)


def register() -> None:
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    for part in _PARTS:
        part.register()


def unregister() -> None:
    for part in reversed(_PARTS):
        part.unregister()
    background.end_all()
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
