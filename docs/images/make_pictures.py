# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the pictures of the documents.

Run `build.py test --gui` first, which makes `window.png`; then, with a Python that has bpy and numpy, from the
repository's root:

    PYTHONPATH=tests/tooling/checkout BLENDER_USER_RESOURCES=$(mktemp -d) python docs/images/make_pictures.py
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from math import radians
from pathlib import Path

import bpy
import numpy as np

import contact_lens
from contact_lens.blender_addon.draw import picture
from contact_lens.blender_addon.live import follow_steps, follow_volumes

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
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


def two_boxes() -> Pair:
    bpy.ops.mesh.primitive_cube_add(size=1.0, scale=(2.4, 1.6, 0.8))
    box = named("Box")
    bpy.ops.mesh.primitive_cube_add(size=1.2, location=(0.9, -0.5, 0.7), rotation=(0.0, 0.0, radians(30.0)))
    return box, named("Crate")


def hull_and_cube(distance: float) -> Pair:
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=1, radius=1.0)
    stone = named("Stone")
    bpy.ops.mesh.primitive_cube_add(size=1.2, location=(distance, -0.3, 0.35), rotation=(0.5, 0.4, 0.3))
    return stone, named("Cube")


STEPS: tuple[tuple[Callable[[], Pair], str, int], ...] = (
    (two_boxes, "SAT", 2),
    (partial(hull_and_cube, 2.3), "GJK", 2),
    (partial(hull_and_cube, 1.0), "EPA", 3),
    (two_boxes, "REGION", 2),
)
"""The objects, the algorithm and the number of the step of each tile of steps.png."""
VOLUMES: tuple[tuple[int, dict[str, object]], ...] = (
    (1, {"volume_kind": "AABB"}),
    (1, {"volume_kind": "OBB"}),
    (1, {"volume_kind": "SPHERE"}),
    (1, {"volume_kind": "KDOP", "volume_planes": "26"}),
    (1, {"volumes_of": "TRIANGLES", "volume_kind": "AABB", "tree_method": "TOP_DOWN", "tree_level": 5}),
    (2, {"volumes_of": "TRIANGLES", "volume_kind": "AABB", "tree_level": 1}),
)
"""How many Suzannes, and the settings of the view, of each tile of volumes.png."""


def clear() -> None:
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)


def select_all(active: bpy.types.Object) -> None:
    for obj in bpy.context.view_layer.objects:
        obj.select_set(True)
    bpy.context.view_layer.objects.active = active


def draw_contact(build: Callable[[], Pair], path: Path, size: tuple[int, int]) -> None:
    """Write the picture of a pair alone in the scene."""
    clear()
    select_all(build()[0])
    bpy.ops.contact_lens.inspect()  # type: ignore[attr-defined]
    picture.render_contact(bpy.context, str(path), *size)


def draw_volumes(count: int, settings: dict[str, object], path: Path, size: tuple[int, int]) -> None:
    """Write the picture of the bounding volumes of so many Suzannes."""
    clear()
    for k in range(count):
        bpy.ops.mesh.primitive_monkey_add(size=2.0, location=(1.9 * k, 0.3 * k, 0.0))
    for name, value in settings.items():
        setattr(bpy.context.scene.contact_lens, name, value)
    select_all(bpy.context.object)
    bpy.ops.contact_lens.show_volumes()  # type: ignore[attr-defined]
    picture.render_volumes(bpy.context, follow_volumes.current(bpy.context.scene), str(path), *size)


def draw_step(build: Callable[[], Pair], algorithm: str, number: int, path: Path, size: tuple[int, int]) -> None:
    """Write the picture of a step of an algorithm on a pair alone in the scene."""
    clear()
    select_all(build()[0])
    bpy.context.scene.contact_lens.step_algorithm = algorithm
    bpy.ops.contact_lens.inspect()  # type: ignore[attr-defined]
    bpy.ops.contact_lens.show_steps()  # type: ignore[attr-defined]
    found = follow_steps.current(bpy.context.scene)
    assert found is not None, follow_steps.error(bpy.context.scene)
    picture.render_steps(bpy.context, found[0], number, str(path), *size)


def draw_tiles(
    name: str, draw: Sequence[Callable[[Path, tuple[int, int]], None]], columns: int, size: tuple[int, int], edge: int
) -> None:
    """Write a picture of pictures, in rows."""
    tiles = []
    written = FOLDER / "tile.png"
    for draw_tile in draw:
        draw_tile(written, size)
        image = bpy.data.images.load(str(written), check_existing=False)
        pixels = np.empty(4 * size[0] * size[1], dtype=np.float32)
        image.pixels.foreach_get(pixels)
        bpy.data.images.remove(image)
        written.unlink()
        colors = np.round(255.0 * pixels.reshape(size[1], size[0], 4)[::-1, :, :3]).astype(np.uint8)
        tiles.append(np.stack([np.pad(colors[..., k], edge, constant_values=FRAME[k]) for k in range(3)], axis=2))
    rows = [np.concatenate(tiles[k : k + columns], axis=1) for k in range(0, len(tiles), columns)]
    picture.write_png(str(FOLDER / name), np.concatenate(rows))


def copy_made(name: str, made: Path, command: str) -> None:
    """Take over a picture that another program has made, reduced to a palette of 256 colors if ImageMagick is there."""
    if not made.exists():
        print(f"{name} stays as it is: first run {command}.")
    elif convert := shutil.which("convert"):
        subprocess.run([convert, str(made), "+dither", "-colors", "256", f"PNG8:{FOLDER / name}"], check=True)
    else:
        shutil.copyfile(made, FOLDER / name)


def main() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    contact_lens.register()
    draw_contact(crate_on_table, FOLDER / "overlay.png", (1280, 800))
    pairs = (head_and_drum, bracket_and_ball, ring_and_peg, suzanne_and_cube)
    draw_tiles("shapes.png", [partial(draw_contact, build) for build in pairs], 2, (800, 520), 4)
    draw_tiles("volumes.png", [partial(draw_volumes, *row) for row in VOLUMES], 3, (480, 320), 3)
    draw_tiles("steps.png", [partial(draw_step, *row) for row in STEPS], 2, (800, 520), 4)
    copy_made("window.png", ROOT / "build/gui/separate/contact.png", "build.py test --gui")


main()
