# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job from end to end, as `build.py demo` runs it: two objects in, contact out.

Runs in a Python with the `bpy` module. Installs the zip into the Blender profile of BLENDER_USER_RESOURCES, makes two
objects that penetrate (or opens a file with two), selects them, runs Inspect Contact and shows what came out; then the
same with two others.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import runpy
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import radians
from pathlib import Path

import bpy
import numpy as np
from mathutils import Euler

MODULE = "bl_ext.user_default.contact_lens"
PICTURE_SIZE = (1280, 800)
README_SCENE = Path(__file__).resolve().parents[1] / "tests" / "gui" / "scenarios" / "separate.py"
"""What makes the objects in the picture of the README, and how they are seen."""
NAMES_TOLD = 10
"""How many objects of the file are named when the one asked for is not there."""


class DemoError(Exception):
    """Why there is nothing to show, in one sentence."""


def main() -> int:
    options = arguments()
    if "BLENDER_USER_RESOURCES" not in os.environ:
        raise DemoError(
            "Set BLENDER_USER_RESOURCES to an empty folder, so that your own Blender profile stays as it is."
        )
    if options.objects and options.objects[0] == options.objects[1]:
        raise DemoError(f"--objects names {options.objects[0]!r} twice: name two different objects.")
    install(options.zip)
    print(f"\nContact Lens on Blender {bpy.app.version_string}")
    if options.blend:
        open_file(options.blend)
        a, b = (object_named(name) for name in options.objects)
        inspect(a, b)
        show(options.output, "contact")
        return 0
    readme = runpy.run_path(str(README_SCENE))
    inspect(*readme["ramp_and_crate"]())
    toward_viewer = Euler([radians(angle) for angle in readme["VIEW"]]).to_matrix().col[2]
    show(options.output, "contact", np.array(toward_viewer, dtype=np.float64))
    bpy.data.batch_remove(bpy.data.objects)
    inspect(*suzanne_and_cube(readme["COLORS"].values()))
    show(options.output, "suzanne")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zip", required=True, type=Path, help="the built extension")
    parser.add_argument("--output", required=True, type=Path, help="folder for the pictures and numbers")
    parser.add_argument("--blend", help="a .blend file with the objects")
    parser.add_argument(
        "--objects", nargs=2, metavar=("A", "B"), help="names of two objects in it; A is the active one"
    )
    return parser.parse_args()


def install(packed: Path) -> None:
    """Install and enable the zip the way a person's Blender does."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    try:
        bpy.ops.extensions.package_install_files(filepath=str(packed), repo="user_default", enable_on_install=True)
    except RuntimeError as error:
        raise DemoError(f"Blender cannot install {packed.name}: {plain(error)}") from error
    if MODULE not in bpy.context.preferences.addons:
        raise DemoError(f"Blender did not enable {packed.name}.")


def open_file(path: str) -> None:
    try:
        bpy.ops.wm.open_mainfile(filepath=path, load_ui=False, use_scripts=False)
    except RuntimeError as error:
        raise DemoError(f"Blender cannot open {path}: {plain(error)}") from error


def plain(error: RuntimeError) -> str:
    """What Blender said, without how it says it."""
    return re.sub(r"^(Error: |Operator bpy\.ops\.\S+ )+", "", str(error).strip())


def object_named(name: str) -> bpy.types.Object:
    objects = bpy.context.view_layer.objects
    if name not in objects:
        names = sorted(obj.name for obj in objects)
        there = ", ".join(names[:NAMES_TOLD]) or "nothing"
        if len(names) > NAMES_TOLD:
            there += f" and {len(names) - NAMES_TOLD} more"
        raise DemoError(f"The file's view layer has no object {name!r}; it has: {there}.")
    return objects[name]


def suzanne_and_cube(colors: Iterable[Sequence[float]]) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Suzanne with a tilted cube pushed into her brow."""
    bpy.ops.mesh.primitive_monkey_add(size=2.0)
    suzanne = bpy.context.object
    bpy.ops.object.shade_smooth()
    bpy.ops.mesh.primitive_cube_add(size=1.2, location=(0.9, -0.9, 0.7), rotation=(0.6, 0.4, 0.3))
    cube = bpy.context.object
    for obj, color in zip((suzanne, cube), colors, strict=True):
        material = bpy.data.materials.new(obj.name)
        material.diffuse_color = color
        obj.data.materials.append(material)
    return suzanne, cube


def inspect(a: bpy.types.Object, b: bpy.types.Object) -> None:
    """Run Inspect Contact on the two."""
    select(a, b)
    try:
        bpy.ops.contact_lens.inspect()
    except RuntimeError as error:  # how Blender passes on what an operator reports
        raise DemoError(plain(error)) from error


def select(a: bpy.types.Object, b: bpy.types.Object) -> None:
    """Select the two, A as the active one."""
    bpy.ops.object.select_all(action="DESELECT")
    for obj in (a, b):
        try:
            obj.hide_set(False)
            obj.select_set(True)
        except RuntimeError as error:
            raise DemoError(f"{obj.name!r} cannot be selected: {error}") from error
        if not obj.select_get():
            raise DemoError(f"{obj.name!r} cannot be selected: it or its collection is not selectable.")
    bpy.context.view_layer.objects.active = a


def show(folder: Path, name: str, toward_viewer: np.ndarray | None = None) -> None:
    """Print the report, write it as NAME.json, and write NAME.png when there is a GL driver.

    The picture is taken from this direction, or else from where the contact is seen well.
    """
    report = importlib.import_module(f"{MODULE}.blender_addon.report.pair")
    snapshot = importlib.import_module(f"{MODULE}.blender_addon.draw.picture")
    data = report.report(bpy.context)
    rows = importlib.import_module(f"{MODULE}.blender_addon.report.pair_lines").report_lines(
        report.inspected(bpy.context)
    )
    width = max(len(label) for label, _ in rows)
    print()
    for label, text in rows:
        print(f"  {label:<{width}}  {text}")
    print()
    document = folder / f"{name}.json"
    document.write_text(report.to_json(data), encoding="utf-8")
    print(f"Numbers: {shown(document)}")
    picture = folder / f"{name}.png"
    outcome = f"Picture: {shown(picture)}"
    with quiet_driver():
        try:
            snapshot.render_contact(bpy.context, str(picture), *PICTURE_SIZE, toward_viewer, colors="MATERIAL")
        except snapshot.GpuUnavailable as error:
            outcome = f"No picture: {error}"
    print(outcome)


@contextmanager
def quiet_driver() -> Iterator[None]:
    """Keep back what Blender and the driver print while they try one OpenGL version after another.

    It comes from C, so the file descriptor is turned aside. When the picture fails, all of it is printed.
    """
    sys.stderr.flush()
    console = os.dup(2)
    with tempfile.TemporaryFile() as aside:
        os.dup2(aside.fileno(), 2)
        try:
            yield
        except Exception:
            aside.seek(0)
            os.write(console, aside.read())
            raise
        finally:
            os.dup2(console, 2)
            os.close(console)


def shown(path: Path) -> str:
    """The path as short as it can be told here."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


if __name__ == "__main__":
    try:
        code = main()
    except DemoError as error:
        print(error, file=sys.stderr)
        code = 1
    except OSError as error:
        print(f"Cannot write {error.filename or 'the results'}: {error.strerror or error}.", file=sys.stderr)
        code = 2
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # the bpy module has nothing to save, and some drivers crash when the process winds down
