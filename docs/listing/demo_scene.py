# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the scene of the listing: a small machine in which three pairs collide, one of them in an animation.

python docs/listing/demo_scene.py FILE.blend      (a Python with bpy)
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import cos, pi, radians, sin, tan

import bpy
from mathutils import Matrix, Vector

Color = tuple[float, float, float]
Point = tuple[float, float]

GRAY, STEEL, BLUE, OCHRE, TEAL = (
    (0.165, 0.172, 0.185),
    (0.400, 0.420, 0.450),
    (0.130, 0.230, 0.420),
    (0.600, 0.360, 0.110),
    (0.090, 0.330, 0.330),
)
MODULE = 0.11
"""Of the gears: their pitch diameter for each tooth."""
TEETH = (22, 15)
TOO_CLOSE = 0.055
"""How much nearer the shafts are than the gears need."""
THICKNESS, BORE = 0.34, 0.3
FRAMES = 48
SLOPE = radians(22.0)


def link(name: str, data: bpy.types.ID, color: Color, **place: Sequence[float]) -> bpy.types.Object:
    """Add an object of a color."""
    material = bpy.data.materials.new(name)
    material.diffuse_color = (*color, 1.0)
    data.materials.append(material)  # type: ignore[attr-defined]
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    for attribute, value in place.items():
        setattr(obj, attribute, value)
    return obj


def prism(name: str, outline: Sequence[Point], height: float, hole: Sequence[Point] = ()) -> bpy.types.Mesh:
    """A closed mesh: an outline extruded along Z around its middle; a hole has as many corners as the outline."""
    count, low, high = len(outline), -height / 2, height / 2
    points = [(x, y, z) for ring in (outline, hole) for z in (low, high) for x, y in ring]
    following = [(k, (k + 1) % count) for k in range(count)]
    faces = [(a, b, b + count, a + count) for a, b in following]
    if hole:
        inner = 2 * count
        faces += [(b + inner, a + inner, a + inner + count, b + inner + count) for a, b in following]
        faces += [(b, a, a + inner, b + inner) for a, b in following]
        faces += [(a + count, b + count, b + inner + count, a + inner + count) for a, b in following]
    else:
        faces += [tuple(reversed(range(count))), tuple(range(count, 2 * count))]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    return mesh


def gear(name: str, teeth: int) -> bpy.types.Mesh:
    """A spur gear with straight flanks and a bore."""
    radius = MODULE * teeth / 2
    outline: list[Point] = []
    hole: list[Point] = []
    for k in range(teeth):
        for at, offset in ((-0.36, -1.2), (-0.25, 0.0), (-0.13, 0.95), (0.13, 0.95), (0.25, 0.0), (0.36, -1.2)):
            angle = 2 * pi * (k + at) / teeth
            outline.append(((radius + MODULE * offset) * cos(angle), (radius + MODULE * offset) * sin(angle)))
            hole.append((BORE * cos(angle), BORE * sin(angle)))
    return prism(name, outline, THICKNESS, hole)


def disc(radius: float, corners: int = 48) -> list[Point]:
    return [(radius * cos(2 * pi * k / corners), radius * sin(2 * pi * k / corners)) for k in range(corners)]


def box(x: float, y: float) -> list[Point]:
    return [(-x / 2, -y / 2), (x / 2, -y / 2), (x / 2, y / 2), (-x / 2, y / 2)]


def add_gears() -> None:
    """Two gears whose shafts stand too close: their teeth cross where they should roll."""
    distance = MODULE * sum(TEETH) / 2 - TOO_CLOSE
    middle, z = (-1.9, -0.55), 0.52
    places = [middle, (middle[0] + distance * cos(radians(35)), middle[1] + distance * sin(radians(35)))]
    for name, teeth, (x, y), color in zip(("Wheel", "Pinion"), TEETH, places, (STEEL, OCHRE), strict=True):
        turn = radians(35) if name == "Wheel" else radians(35) + pi / teeth + pi
        link(name, gear(name, teeth), color, location=(x, y, z), rotation_euler=(0.0, 0.0, turn))
        shaft = prism(f"{name} Shaft", disc(BORE - 0.02), 0.9)
        link(f"{name} Shaft", shaft, GRAY, location=(x, y, 0.45))


def add_beam_and_pipe() -> None:
    """A pipe that was routed through the flange of a beam."""
    w, h, t = 0.9, 1.1, 0.13
    outline = [(-w / 2, -h / 2), (w / 2, -h / 2), (w / 2, -h / 2 + t), (t / 2, -h / 2 + t), (t / 2, h / 2 - t)]
    outline += [(w / 2, h / 2 - t), (w / 2, h / 2), (-w / 2, h / 2), (-w / 2, h / 2 - t), (-t / 2, h / 2 - t)]
    outline += [(-t / 2, -h / 2 + t), (-w / 2, -h / 2 + t)]
    link("Beam", prism("Beam", outline, 3.0), BLUE, location=(1.35, 1.1, 1.5))
    curve = bpy.data.curves.new("Pipe", "CURVE")
    curve.dimensions, curve.bevel_depth, curve.bevel_resolution, curve.use_fill_caps = "3D", 0.17, 5, True
    spline = curve.splines.new("POLY")
    bend = [(0.0, -0.45 * (1 - sin(k * pi / 16)), 0.45 * (1 - cos(k * pi / 16))) for k in range(9)]
    path = [(0.0, -3.0, 0.0), *((x, y, z) for x, y, z in bend), (0.0, 0.0, 1.5)]
    spline.points.add(len(path) - 1)
    for point, place in zip(spline.points, path, strict=True):
        point.co = (*place, 1.0)
    pipe = link("Pipe", curve, TEAL, location=(1.62, 1.42, 1.25), rotation_euler=(0.0, 0.0, radians(-90)))
    pipe.modifiers.new("Weld", "WELD").merge_threshold = 1e-5  # the caps are not part of the surface without it


def add_ramp_and_crate() -> None:
    """A crate that is let down onto a ramp: above it at the first frame, deep inside at the middle one."""
    length, width, high = 2.3, 1.5, 2.3 * tan(SLOPE)
    x, y = length / 2, width / 2
    corners = [(-x, -y, 0), (x, -y, 0), (x, -y, high), (-x, y, 0), (x, y, 0), (x, y, high)]
    mesh = bpy.data.meshes.new("Ramp")
    mesh.from_pydata(corners, [], [(0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (0, 2, 5, 3)])
    place = Vector((2.0, -1.3, 0.0))
    link("Ramp", mesh, TEAL, location=place)
    turn = Matrix.Rotation(-SLOPE, 3, "Y") @ Matrix.Rotation(radians(50.0), 3, "Z")
    normal, along = Vector((-sin(SLOPE), 0.0, cos(SLOPE))), Vector((cos(SLOPE), 0.0, sin(SLOPE)))
    crate = link("Crate", prism("Crate", box(0.8, 0.8), 0.8), OCHRE, rotation_euler=turn.to_euler())
    for frame, depth in ((1, -0.9), (FRAMES // 2, 0.25), (FRAMES, -0.5)):
        crate.location = place + Vector((0.0, -0.33, high / 2)) + 0.2 * along + (0.4 - depth) * normal
        crate.keyframe_insert("location", frame=frame)


def main() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    scene.frame_end = FRAMES
    link("Base", prism("Base", box(7.4, 4.8), 0.2), GRAY, location=(0.0, 0.0, -0.1))
    add_gears()
    add_beam_and_pipe()
    add_ramp_and_crate()
    scene.frame_set(FRAMES // 2)
    bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1], compress=True)


if __name__ == "__main__":
    main()
