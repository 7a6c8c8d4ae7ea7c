# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures for study as objects of the scene, for slides: meshes, curves and texts in a collection of their own.

All that is made has the mark `BAKED`, by which it is never checked, and is found to be removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bmesh
import bpy
import numpy as np
from mathutils import Color, Matrix

from ...core.types import FloatArray
from ..data.look import ROLE_FORMS, Look, role_color
from ..data.objects import BAKED, is_baked
from ..study.picture import Fills, Label, Lines, Points, Role, StudyPicture, points_of

TOP = "Contact Lens Steps"
"""Name of the collection of all baked steps of a scene."""
HEAD = 5.0
"""Length of the head of an arrow, in widths of its line; half as much is its width."""
BOLD = 1.8
"""How much larger lines and texts are than in the view: light makes them fainter, and slides are seen from afar."""
TITLE = 1.5
"""Size of the title, in sizes of a label."""
GLYPH, LINE = 0.62, 1.35
"""About the width of a letter and the height of a line, in sizes of a text."""
COLUMN = 46
"""Letters of a line of the sentence, where the picture is no wider."""
ACROSS = 600.0
"""Pixels across the picture where there is no view; in one at least a tenth and at most ten times as many."""

FAR = 1e9
"""Pixels to the eye where lines of sight are parallel."""
_TOWARD = np.array((0.0, 0.0, 1.0))


def bake(
    context: bpy.types.Context,
    picture: StudyPicture,
    texts: tuple[str, str],
    around: FloatArray,
    look: Look,
) -> bpy.types.Collection:
    """Return a new collection of the scene with the objects of a picture: a mesh for the fills of each role, a curve
    for its lines, a mesh for its points, and texts that face the view, with sizes as the view shows them.

    texts: title and sentence, which stand below the picture and the points `around` (n, 3).
    """
    parts: list[Fills | Lines | Points] = [*picture.fills, *picture.lines, *picture.points]
    made = _Bake(context, np.concatenate([points_of(picture), around]), look, texts[0])
    for role in dict.fromkeys(part.role for part in parts):
        made.fills(role, [part for part in picture.fills if part.role == role])
        made.lines(role, [part for part in picture.lines if part.role == role])
        made.points(role, [part for part in picture.points if part.role == role])
    made.labels(picture.labels)
    made.texts(*texts)
    return made.collection


def has_baked() -> bool:
    """Return whether the file has baked steps."""
    return bool(_baked(bpy.data.collections) or _baked(bpy.data.materials))  # objects may be many


def remove_baked() -> int:
    """Remove all baked steps from the file, with what nothing else uses; return how many there were."""
    count = sum(one[BAKED] for one in _baked(bpy.data.collections))
    bpy.data.batch_remove(_baked(bpy.data.objects))
    for is_step in (True, False):
        # What else the user has put there stays.
        empty = [one for one in _baked(bpy.data.collections) if not (one.objects or one.children)]
        bpy.data.batch_remove([one for one in empty if one[BAKED] == is_step])
    for blocks in (bpy.data.meshes, bpy.data.curves, bpy.data.materials):
        bpy.data.batch_remove([block for block in _baked(blocks) if not block.users])
    bpy.data.batch_remove([font for font in bpy.data.fonts if not font.users and font.filepath == "<builtin>"])
    return count


def _baked(blocks: Iterable[Any]) -> list[Any]:
    return [block for block in blocks if is_baked(block) and block.library is None]


class _Bake:
    """A collection that is filled with the objects of a picture."""

    def __init__(self, context: bpy.types.Context, points: FloatArray, look: Look, title: str) -> None:
        self.look = look
        low, high = points.min(axis=0), points.max(axis=0)
        self.base = 0.5 * low + 0.5 * high
        """Where all objects have their origin, so that float32 does far from the world's."""
        self.turn, self.eye, self.pixel = _view(context, self.base, float(np.linalg.norm(high - low)))
        self.front = min(float(((points - self.base) @ self.turn)[:, 2].max()), 0.5 * float(self.eye[2]))
        """How far toward the viewer texts are: nothing hides them in this view."""
        self.size = BOLD * look.label_size * self.pixel * (1.0 - self.front / self.eye[2])
        on_front = self._on_front(points)
        self.low, self.high = on_front.min(axis=0), on_front.max(axis=0)
        self.collection = bpy.data.collections.new(title)
        self.collection[BAKED] = True
        _top(context.scene).children.link(self.collection)

    def fills(self, role: Role, parts: list[Fills]) -> None:
        for opacity in dict.fromkeys(part.opacity for part in parts):
            triangles = np.concatenate([part.triangles for part in parts if part.opacity == opacity])
            corners, faces = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
            material = self._material(role, min(ROLE_FORMS[role].fill * opacity, 1.0))
            self._mesh(f"{role.title()} Faces", corners, faces.reshape(-1, 3), material)

    def points(self, role: Role, parts: list[Points]) -> None:
        if parts:
            points = np.concatenate([part.points for part in parts])
            corners, faces = _ball(0.5 * ROLE_FORMS[role].size * self.look.point_size * self.pixel)
            shift = len(corners) * np.arange(len(points))[:, None, None]
            corners = (points[:, None] + corners).reshape(-1, 3)
            self._mesh(f"{role.title()} Points", corners, (shift + faces).reshape(-1, 3), self._material(role))

    def lines(self, role: Role, parts: list[Lines]) -> None:
        if not parts:
            return
        form, data = ROLE_FORMS[role], bpy.data.curves.new(f"{role.title()} Lines", "CURVE")
        width = BOLD * form.width * self.look.line_width * self.pixel
        data.dimensions, data.bevel_depth, data.bevel_resolution, data.use_fill_caps = "3D", 0.5 * width, 2, True
        for part in parts:
            own = part.width * width
            dash = form.dash(part.is_dashed, own, self.pixel)
            for start, end in part.ends - self.base:
                for points, radii in _strokes(start, end, HEAD * own if part.is_arrow else 0.0, dash):
                    spline = data.splines.new("POLY")
                    spline.points.add(len(points) - 1)
                    spline.points.foreach_set("co", np.c_[points, np.ones(len(points))].astype(np.float32).ravel())
                    spline.points.foreach_set("radius", (part.width * radii).astype(np.float32))
        self._object(data, self._material(role))

    def labels(self, labels: Iterable[Label]) -> None:
        """Write labels beside their points, each below those before where it would cover one."""
        size, taken = self.size, list[tuple[float, float, float]]()
        for label in labels:
            x, y, z = self._on_front(label.point[None])[0] + size * np.array((0.8, 0.8, 0.0))
            width = GLYPH * size * len(label.text)
            while any(x < right and left < x + width and abs(y - line) < LINE * size for left, right, line in taken):
                y -= 0.25 * size
            taken.append((x, x + width, y))
            self._text(f"Label {label.text}", label.text, np.array((x, y, z)), size, label.role)

    def texts(self, title: str, sentence: str) -> None:
        """Write both below the picture, from its left side on."""
        size = self.size
        place = self.low - (0.0, 3.0 * size, 0.0)
        self._text("Title", title, place, TITLE * size, "axis")
        body = self._text("Sentence", sentence, place - (0.0, 2.0 * size, 0.0), size, "axis")
        body.text_boxes[0].width = max(float(self.high[0] - self.low[0]), COLUMN * GLYPH * size)

    def _on_front(self, points: FloatArray) -> FloatArray:
        """Return where the view shows points (n, 3), in its axes."""
        local = (points - self.base) @ self.turn
        depths = np.maximum(self.eye[2] - local[:, 2:], 0.05 * self.eye[2])
        return self.eye + (local - self.eye) * ((self.eye[2] - self.front) / depths)

    def _text(self, name: str, body: str, place: FloatArray, size: float, role: Role) -> Any:
        """place: of the beginning of the line, in the axes of the view."""
        data: Any = bpy.data.curves.new(name, "FONT")
        data.body, data.size = body, size
        obj = self._object(data, self._material(role))
        obj.location, obj.rotation_euler = self.base + self.turn @ place, Matrix(self.turn.tolist()).to_euler()
        obj.show_in_front = True
        return data

    def _mesh(self, name: str, corners: FloatArray, faces: Any, material: bpy.types.Material) -> None:
        data = bpy.data.meshes.new(name)
        data.from_pydata((corners - self.base).tolist(), [], faces.tolist())
        self._object(data, material)

    def _object(self, data: Any, material: bpy.types.Material) -> bpy.types.Object:
        data.materials.append(material)
        obj = bpy.data.objects.new(data.name, data)
        obj.location = self.base
        data[BAKED] = obj[BAKED] = True
        for ray in ("shadow", "diffuse", "glossy"):  # it neither darkens nor lights the objects
            setattr(obj, f"visible_{ray}", False)
        self.collection.objects.link(obj)
        return obj

    def _material(self, role: Role, opacity: float = 1.0) -> bpy.types.Material:
        """Return the material of a role, which all baked steps share: it glows, so it needs no light."""
        name = f"Contact Lens {role.title()}{'' if opacity == 1.0 else f' {100 * opacity:.0f} %'}"
        for known in _baked(bpy.data.materials):
            if known[BAKED] == name:
                return known
        made: Any = bpy.data.materials.new(name)
        made[BAKED] = name
        linear: Any = Color(role_color(role, self.look)[:3]).from_srgb_to_scene_linear()
        color = (*linear, opacity)
        made.diffuse_color, made.surface_render_method = color, "BLENDED"
        if made.node_tree is None:  # before Blender 5
            made.use_nodes = True
        tree = made.node_tree
        tree.nodes.clear()
        glow, clear, mix, output = (
            tree.nodes.new(f"ShaderNode{kind}")
            for kind in ("Emission", "BsdfTransparent", "MixShader", "OutputMaterial")
        )
        glow.inputs["Color"].default_value, mix.inputs[0].default_value = color, opacity
        for shader, socket in ((clear, mix.inputs[1]), (glow, mix.inputs[2]), (mix, output.inputs[0])):
            tree.links.new(shader.outputs[0], socket)
        return made


def _top(scene: bpy.types.Scene) -> bpy.types.Collection:
    """Return the collection of all baked steps of a scene, a new one where there is none."""
    found = _baked(scene.collection.children)
    if found:
        return found[0]
    made = bpy.data.collections.new(TOP)
    made[BAKED] = False
    scene.collection.children.link(made)
    return made


def _view(context: bpy.types.Context, base: FloatArray, extent: float) -> tuple[FloatArray, FloatArray, float]:
    """Return the axes of the view as columns (3, 3), the eye (3,) in them, from `base`, and the size of a pixel at that
    point; without a view those of Blender's front view."""
    view, usual = getattr(context.space_data, "region_3d", None), (extent or 1.0) / ACROSS
    if view is None:
        return np.array(((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))), FAR * usual * _TOWARD, usual
    height = next(region.height for region in context.area.regions if region.type == "WINDOW")
    depth = float(np.array(view.perspective_matrix)[3] @ (*base, 1.0))
    pixel = 2.0 * depth * max(1.0, context.preferences.system.ui_scale) / (view.window_matrix[1][1] * max(1, height))
    local = np.array(view.view_matrix)
    eye = -(local[:3, :3] @ base + local[:3, 3])
    if not view.is_perspective or eye[2] <= 0.0:
        eye = FAR * usual * _TOWARD
    return local[:3, :3].T, eye, min(max(pixel, 0.1 * usual), 10.0 * usual)


def _strokes(start: FloatArray, end: FloatArray, head: float, dash: float) -> Iterable[tuple[FloatArray, FloatArray]]:
    """Yield the points (n, 3) and relative radii (n,) of the parts of a line; head: length of that of an arrow, or 0;
    dash: period of dashes, or 0."""
    length = float(np.linalg.norm(end - start))
    if length == 0.0:
        return
    head = min(head, 0.5 * length)
    way = (end - start) / length
    if dash > 0.0:
        for begin in np.arange(0.0, length - head, dash):
            yield start + np.outer((begin, min(begin + 0.5 * dash, length - head)), way), np.ones(2)
    if head > 0.0:
        # A little before the head the line is as thin as it is: the two radii would else be one cone.
        base = length - head
        along, radii = [base * (1.0 - 1e-3), base, length], [1.0, 0.5 * HEAD, 0.0]
        if dash == 0.0:
            along, radii = [0.0, *along], [1.0, *radii]
        yield start + np.outer(along, way), np.array(radii)
    elif dash == 0.0:
        yield np.stack([start, end]), np.ones(2)


def _ball(radius: float) -> tuple[FloatArray, Any]:
    """Return the corners (n, 3) and triangles (m, 3) of a ball."""
    mesh = bmesh.new()
    bmesh.ops.create_icosphere(mesh, subdivisions=2, radius=radius)
    corners = np.array([corner.co[:] for corner in mesh.verts])
    faces = np.array([[corner.index for corner in face.verts] for face in mesh.faces])
    mesh.free()
    return corners, faces
