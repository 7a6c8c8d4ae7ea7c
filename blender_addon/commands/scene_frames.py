# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene of the open file, read frame by frame as a check needs it."""

from __future__ import annotations

from contextlib import ExitStack

import bpy

from ..check import results as scene_results
from ..data import messages
from ..data.records import Rules
from ..read import visibility as scene_visibility
from ..read.frame_geometries import FrameGeometries
from ..read.scene import read_input
from ..read.scene_objects import CheckInput
from .outcome import UsageError


class SceneFrames:
    """A scene as the context, while it lasts, with a view layer: the active one where it is the active scene."""

    def __init__(self, name: str | None) -> None:
        """name: of the scene, the active one by default. Raises UsageError when there is none."""
        scene = bpy.context.scene if name is None else bpy.data.scenes.get(name)
        if scene is None:
            raise UsageError(messages.no_scene(str(name)))
        self.scene: bpy.types.Scene = scene
        self._layer = bpy.context.view_layer if scene == bpy.context.scene else scene.view_layers[0]
        self._until_exit = ExitStack()

    def __enter__(self) -> SceneFrames:
        override = bpy.context.temp_override(scene=self.scene, view_layer=self._layer)
        self._until_exit.enter_context(override)
        self._geometries = self._until_exit.enter_context(FrameGeometries(self.scene, self._layer))
        return self

    def __exit__(self, *_: object) -> None:
        self._until_exit.close()

    def read(self, frame: int | None, rules: Rules) -> CheckInput:
        """Return what the rules name at a frame, by default the current one. Raises ReadError."""
        scene_visibility.go_to(self.scene, self._layer, rules.visibility, frame)
        self._geometries.next_frame()
        return read_input(bpy.context, rules, scene_results.reviewed(self.scene), self._geometries)
