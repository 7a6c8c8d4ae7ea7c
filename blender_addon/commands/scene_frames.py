# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes of the open file that are checked, each read frame by frame as a check needs it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import bpy

from ..clashes import check_settings
from ..data import messages
from ..data.records import Rules
from ..geometry.frame_geometries import FrameGeometries
from ..read.elsewhere import scenes_of_file
from ..read.scene import read_frame
from ..read.scene_objects import CheckInput
from ..terminal.outcome import UsageError

ALL_SCENES = "all"


def chosen_scenes(names: Sequence[str] | None) -> list[bpy.types.Scene]:
    """Return the scenes of the open file that `--scene` names, in that order; all of them by their names for `all`, and
    the active one by default. Raises UsageError where there is none of a name."""
    if not names:
        return [bpy.context.scene]
    return scenes_of_file() if ALL_SCENES in names else [_scene(name) for name in names]


def _scene(name: str) -> bpy.types.Scene:
    scene: bpy.types.Scene | None = bpy.data.scenes.get(name)
    if scene is None:
        raise UsageError(
            f"there is no scene '{name}' in the file, which has "
            f"{messages.quoted([scene.name for scene in bpy.data.scenes], 10)}"
        )
    return scene


class SceneFrames:
    """A scene as the context, while it lasts, with a view layer: the active one where it is the active scene."""

    def __init__(self, name: str | None) -> None:
        """name: of the scene, the active one by default. Raises UsageError when there is none."""
        scene: bpy.types.Scene = bpy.context.scene if name is None else _scene(name)
        self.scene = scene
        self.layer = bpy.context.view_layer if scene == bpy.context.scene else scene.view_layers[0]
        self._until_exit = ExitStack()

    def __enter__(self) -> SceneFrames:
        override = bpy.context.temp_override(scene=self.scene, view_layer=self.layer)
        self._until_exit.enter_context(override)
        self._geometries = self._until_exit.enter_context(FrameGeometries(self.scene, self.layer))
        return self

    def __exit__(self, *_: object) -> None:
        self._until_exit.close()

    def read(self, frame: int | None, rules: Rules) -> CheckInput:
        """Return what the rules name at a frame, by default the current one. Raises ReadError."""
        return read_frame(bpy.context, self._geometries, rules, check_settings.reviewed(self.scene), frame)
