# SPDX-License-Identifier: GPL-3.0-or-later
"""Make `overlay.png` and `shapes.png` beside this file anew.

Run it with a Python that has bpy and numpy, from the repository's root:

    PYTHONPATH=tests/tooling/checkout BLENDER_USER_RESOURCES=$(mktemp -d) python docs/images/make_pictures.py

`viewport.png` is the picture that `build.py demo` writes, `window.png` the one of tests/gui/test_separate.py.
"""

from __future__ import annotations

from collections.abc import Callable
from math import radians
from pathlib import Path

import bpy
import numpy as np

import contact_lens
from contact_lens.blender_addon.draw import picture as snapshot

FOLDER = Path(__file__).parent
TILE, EDGE = (800, 520), 4
FRAME = (30, 30, 30)

Pair = tuple[bpy.types.Object, bpy.types.Object]


def named(name: str, shape: str = "AUTOMATIC") -> bpy.types.Object:
    """Name the object that was just added, and choose what it collides as."""
    obj = bpy.context.object
    assert obj is not None
    obj.name, obj.contact_lens_shape = name, shape  # type: ignore[attr-defined]
    return obj


def crate_on_table() -> Pair:
    bpy.ops.mesh.primitive_cube_add(size=1.0, scale=(3.4, 2.0, 0.8))
    table = named("Table")
    bpy.ops.mesh.primitive_cube_add(
        size=1.2, location=(1.05, -0.55, 0.4 + 0.6 - 0.3), rotation=(0.0, 0.0, radians(25.0))
    )
    return table, named("Crate")


def head_and_drum() -> Pair:
    bpy.ops.mesh.primitive_monkey_add(size=2.0)
    head = named("Head", "CAPSULE")
    bpy.ops.mesh.primitive_cylinder_add(
        radius=0.5, depth=1.6, location=(1.45, -0.35, 0.45), rotation=(0.2, radians(70.0), 0.0)
    )
    return head, named("Drum", "CYLINDER")


def bracket_and_ball() -> Pair:
    outline = [(2.0, 0.0), (2.0, 2.0), (0.0, 2.0), (0.0, 1.2), (1.2, 1.2), (1.2, 0.0)]
    count = len(outline)
    mesh = bpy.data.meshes.new("Bracket")
    sides = [(k, (k + 1) % count, (k + 1) % count + count, k + count) for k in range(count)]
    mesh.from_pydata(
        [(x, y, z) for y in (0.9, 0.0) for x, z in outline],
        [],
        [tuple(reversed(range(count))), tuple(range(count, 2 * count)), *sides],
    )
    bracket = bpy.data.objects.new("Bracket", mesh)
    bpy.context.scene.collection.objects.link(bracket)
    bracket.contact_lens_shape = "COMPOUND"  # type: ignore[attr-defined]
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.6, location=(0.7, 0.35, 0.75))
    return bracket, named("Ball", "SPHERE")


def ring_and_peg() -> Pair:
    bpy.ops.mesh.primitive_torus_add(major_segments=32, minor_segments=14, major_radius=1.2, minor_radius=0.32)
    ring = named("Ring", "MESH")
    bpy.ops.mesh.primitive_cube_add(
        size=1.0, location=(1.05, -0.5, 0.2), rotation=(0.2, radians(25.0), 0.3), scale=(0.45, 0.35, 1.5)
    )
    return ring, named("Peg", "MESH")


def suzanne_and_cube() -> Pair:
    bpy.ops.mesh.primitive_monkey_add(size=2.0)
    suzanne = named("Suzanne")
    bpy.ops.mesh.primitive_cube_add(size=1.2, location=(0.9, -0.9, 0.7), rotation=(0.6, 0.4, 0.3))
    return suzanne, named("Cube")


def picture(build: Callable[[], Pair], path: Path, size: tuple[int, int]) -> None:
    """Write the picture of a pair alone in the scene."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    a, b = build()
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in (a, b))
    bpy.context.view_layer.objects.active = a
    bpy.ops.contact_lens.inspect()  # type: ignore[attr-defined]
    snapshot.render_contact(bpy.context, str(path), *size)


def main() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    contact_lens.register()
    picture(crate_on_table, FOLDER / "overlay.png", (1280, 800))
    tiles = []
    written = FOLDER / "tile.png"
    for build in (head_and_drum, bracket_and_ball, ring_and_peg, suzanne_and_cube):
        picture(build, written, TILE)
        image = bpy.data.images.load(str(written), check_existing=False)
        pixels = np.empty(4 * TILE[0] * TILE[1], dtype=np.float32)
        image.pixels.foreach_get(pixels)
        bpy.data.images.remove(image)
        written.unlink()
        colors = np.round(255.0 * pixels.reshape(TILE[1], TILE[0], 4)[::-1, :, :3]).astype(np.uint8)
        edges = ((EDGE, EDGE), (EDGE, EDGE))
        tiles.append(np.stack([np.pad(colors[..., k], edges, constant_values=FRAME[k]) for k in range(3)], axis=2))
    rows = [np.concatenate(tiles[:2], axis=1), np.concatenate(tiles[2:], axis=1)]
    snapshot.write_png(str(FOLDER / "shapes.png"), np.concatenate(rows))


main()
