# SPDX-License-Identifier: GPL-3.0-or-later
"""A picture of the scene with the contact drawn over it, with or without a window."""

from __future__ import annotations

import ctypes
import os
import re
import struct
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, cast

import bpy
import gpu
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...core.types import FloatArray
from ..data import messages
from ..geometry.shape_outline import stand_in
from ..layers.overlay_geometry import NOW, Showing, Style, origin
from ..measure.pair_measures import PairMeasures, with_overlap
from ..pair import session
from ..pair.inspection import Inspection
from ..study.picture import StudyPicture, points_of
from ..study.steps import Steps
from ..study.volumes import VolumesView
from .isolated_pair import draw_isolated
from .label_sheet import Kept, LabelRoom
from .overlay import draw, draw_band, draw_study, draw_volumes, measured, plate_of, style_of
from .step_sheet import NO_PLATE, StepPlate, room_beside

Lens = tuple[FloatArray, FloatArray]
"""View and projection matrix (4, 4) of a camera."""

BACKGROUND = (0.035, 0.036, 0.04)
FROM_THE_FRONT = np.array([0.5, -0.75, 0.45])
"""A direction towards the viewer."""
LENS_HALF_ANGLE = np.radians(18.0)
"""Half the vertical opening of the camera: about 55 mm on a full frame, which bends boxes little."""
ROOM = 1.28
"""How much larger than the objects the picture's frame is: labels need room."""
SHOWN_AROUND = 2.5
"""When one object is much larger, the picture shows this many sizes of the smaller around the contact."""
POINT_SIZE = 1e-4
"""The size that two coinciding points are given, relative to their coordinates: float32 draws that well."""
FROM_BELOW = 3.0
"""What looking from below costs: more than all else together."""
ENOUGH = 0.5
"""The fraction of the smaller object that the larger one must leave free, if there is such a direction."""
LABELS = 2.2
"""Interface scale of a picture for a page, which shows it small first."""
SIGHT_LINES = 64
"""At most about as many corners are examined to find that fraction."""
OF_EGL = re.compile(rb"(?:lib)?EGL |MESA")
"""How lines of EGL and its drivers begin."""


class GpuUnavailable(RuntimeError):  # noqa: N818
    """There is no OpenGL driver; the message says which packages bring one."""


# --- getting a GPU --------------------------------------------------------------------------------------------------

_gpu_is_up = False


_NO_DRIVER = (
    "No OpenGL driver was found, so there are no pictures: on Debian and Ubuntu, install the software driver of the "
    "packages libegl1 and libgl1-mesa-dri"
)


def start_gpu() -> None:
    """Make the `gpu` module usable in background mode. Raises GpuUnavailable without an OpenGL driver.

    Blender ends the process when it finds no driver, so one is looked for before Blender is asked.
    """
    global _gpu_is_up
    if _gpu_is_up or not bpy.app.background:
        return
    with _without_lines_of_egl() if sys.platform.startswith("linux") else nullcontext():
        if sys.platform.startswith("linux") and not _egl_gives_a_context():
            raise GpuUnavailable(_NO_DRIVER)
        try:
            if hasattr(gpu, "init"):  # Blender 5.2
                gpu.init()
            else:
                _render_a_speck()
            gpu.types.GPUOffScreen(8, 8).free()
        except (RuntimeError, SystemError) as error:
            raise GpuUnavailable(f"{_NO_DRIVER} ({error})") from error
    _gpu_is_up = True


@contextmanager
def _without_lines_of_egl() -> Iterator[None]:
    """Leave out of the standard error what EGL says while one version of OpenGL after the other is tried: what is wrong
    in the end is raised."""
    with tempfile.TemporaryFile() as said:
        kept = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            said.seek(0)
            with suppress(OSError):  # nobody reads it
                os.write(2, b"".join(line for line in said if not OF_EGL.match(line)))


def _egl_gives_a_context() -> bool:
    """Whether EGL makes an OpenGL 4.3 context, on a display or without one: what Blender will ask for."""
    default_display, surfaceless = None, 0x31DD
    opengl, opengl_api = 0x30A2, (ctypes.c_int * 5)(0x3098, 4, 0x30FB, 3, 0x3038)
    pointer = ctypes.c_void_p
    try:
        egl = ctypes.CDLL("libEGL.so.1")
        egl.eglGetDisplay.restype = egl.eglGetPlatformDisplay.restype = egl.eglCreateContext.restype = pointer
        egl.eglGetDisplay.argtypes = [pointer]
        egl.eglGetPlatformDisplay.argtypes = [ctypes.c_uint, pointer, pointer]
        egl.eglInitialize.argtypes = [pointer, pointer, pointer]
        egl.eglCreateContext.argtypes = [pointer, pointer, pointer, pointer]
        egl.eglDestroyContext.argtypes = [pointer, pointer]
    except (OSError, AttributeError):  # no such library, or one before EGL 1.5
        return False
    for display in (egl.eglGetDisplay(default_display), egl.eglGetPlatformDisplay(surfaceless, None, None)):
        if display and egl.eglInitialize(display, None, None) and egl.eglBindAPI(opengl):
            made = egl.eglCreateContext(display, None, None, opengl_api)
            if made:
                egl.eglDestroyContext(display, made)
                return True
    return False


def _render_a_speck() -> None:
    """Before 5.2 a render is what brings the GPU up in background mode: 8 x 8 pixels of an empty scene."""
    scene = bpy.data.scenes.new("Contact Lens")
    camera_data = bpy.data.cameras.new("Contact Lens")
    camera = bpy.data.objects.new("Contact Lens", camera_data)
    try:
        scene.collection.objects.link(camera)
        scene.camera = camera
        scene.render.engine = "BLENDER_WORKBENCH"  # type: ignore[assignment]
        scene.render.resolution_x = scene.render.resolution_y = 8
        scene.render.resolution_percentage = 100
        bpy.ops.render.render(scene=scene.name)
    finally:
        bpy.data.objects.remove(camera)
        bpy.data.cameras.remove(camera_data)
        bpy.data.scenes.remove(scene)


# --- where to look from ---------------------------------------------------------------------------------------------


def camera(
    inspection: Inspection, aspect: float, toward_viewer: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """View and projection matrix (4, 4) that show the contact well in a picture `aspect` times as wide as high.

    The vector is seen from its side, the region at a slant, and neither object stands in front of the other. The eye
    is not inside the larger object, unless the smaller one is too. A unit vector `toward_viewer` (3,) overrides that.
    """
    contact = inspection.contact
    middle = origin(inspection)
    hulls = (stand_in(inspection.shape_a), stand_in(inspection.shape_b))
    a, b = (np.asarray(hull.vertices) for hull in hulls)
    smaller = min(hull.extent for hull in hulls) or max(
        *(hull.extent for hull in hulls),
        abs(contact.signed_distance),
        POINT_SIZE * float(np.abs(middle).max()),
        1e-6,
    )
    reach = SHOWN_AROUND * max(smaller, contact.signed_distance)
    shown = []
    for points in (a, b):
        offset = points - middle
        far = np.linalg.norm(offset, axis=1, keepdims=True)
        shown.append(middle + offset * np.minimum(1.0, reach / np.maximum(far, 1e-300)))
    center_a, center_b = (0.5 * (p.min(axis=0) + p.max(axis=0)) for p in shown)
    between = center_b - center_a
    between /= max(float(np.linalg.norm(between)), 1e-300)

    # All directions around, from a little to well above the horizon, and below it for what hangs under something
    # large; the first of equals wins.
    turns = np.radians(np.arange(0.0, 360.0, 7.5) - 60.0)
    rises = np.radians([18.0, 26.0, 34.0, -18.0, -34.0])
    turn, rise = (grid.ravel() for grid in np.meshgrid(turns, rises))
    directions = np.stack([np.cos(turn) * np.cos(rise), np.sin(turn) * np.cos(rise), np.sin(rise)], axis=1)
    along, depth = np.abs(directions @ contact.normal), np.abs(directions @ between)
    harm = np.abs(along - 0.3) + 0.7 * np.maximum(depth - 0.25, 0.0) + 0.15 * np.abs(np.abs(rise) - rises[1])
    harm += FROM_BELOW * (rise < 0.0)
    harm += 0.12 * directions[:, 1]  # all else equal from the front, which in Blender is -Y
    for shape, hull in zip((inspection.shape_a, inspection.shape_b), hulls, strict=True):
        if shape is hull and len(hull.normals):  # a face seen from straight in front hides the shape
            harm += 0.8 * np.maximum((directions @ np.asarray(hull.normals).T).max(axis=1) - 0.8, 0.0)
    points = np.concatenate(shown)
    best, most = None, -1.0
    best_first = directions[np.argsort(np.round(harm, 6), kind="stable")]
    for direction in best_first if toward_viewer is None else [toward_viewer]:
        turned, eye, distance = _step_back(direction, points, aspect, 0.5 * smaller)
        fraction = _seen_from(eye, inspection, shown)
        if fraction > most:
            best, most = (turned, eye, distance), fraction
        if fraction >= ENOUGH:
            break
    return _lens(*best, points, aspect)


def _lens(
    turned: FloatArray, eye: FloatArray, distance: float, points: FloatArray, aspect: float
) -> tuple[FloatArray, FloatArray]:
    """View and projection matrix (4, 4) of a camera turned (3, 3) at `eye` (3,), for points (n, 3) at a distance."""
    view = np.eye(4)
    view[:3, :3] = turned
    view[:3, 3] = -turned @ eye
    near, far_end = (0.02 * distance, distance + 4.0 * float(np.linalg.norm(np.ptp(points, axis=0))) + 20.0 * distance)
    f = 1.0 / np.tan(LENS_HALF_ANGLE)
    projection = np.zeros((4, 4))
    projection[0, 0], projection[1, 1] = f / aspect, f
    projection[2, 2], projection[2, 3] = (
        -(far_end + near) / (far_end - near),
        -2.0 * far_end * near / (far_end - near),
    )
    projection[3, 2] = -1.0
    return view, projection


def _step_back(
    toward_viewer: FloatArray, points: FloatArray, aspect: float, nearest: float
) -> tuple[FloatArray, FloatArray, float]:
    """How the camera is turned (3, 3), where it is (3,) and its distance, so that the points (n, 3) fill the picture.

    It stays `nearest` away from the nearest point.
    """
    right = np.cross([0.0, 0.0, 1.0], toward_viewer)
    right /= np.linalg.norm(right)
    turned = np.stack([right, np.cross(toward_viewer, right), toward_viewer])
    tangent = np.array([aspect, 1.0]) * np.tan(LENS_HALF_ANGLE) / ROOM
    target = 0.5 * (points.min(axis=0) + points.max(axis=0))
    distance = nearest
    for _ in range(8):  # centre what is seen, then step back until it fits
        seen = (points - target) @ turned.T
        fits = float((np.abs(seen[:, :2]) / tangent + seen[:, 2:]).max())
        distance = max(fits, float(seen[:, 2].max()) + nearest)
        on_screen = seen[:, :2] / (distance - seen[:, 2:])
        shift = 0.5 * (on_screen.min(axis=0) + on_screen.max(axis=0)) * distance
        target = target + shift @ turned[:2]
    return turned, target + distance * toward_viewer, distance


def _seen_from(eye: FloatArray, inspection: Inspection, shown: list[FloatArray]) -> float:
    """The fraction of the smaller hull's corners outside of the larger one that the larger one does not hide from the
    eye (3,). 1 when there are none: what is inside is seen through the wall from anywhere.
    """
    hulls = (stand_in(inspection.shape_a), stand_in(inspection.shape_b))
    small = int(hulls[1].extent < hulls[0].extent)
    larger = hulls[1 - small]
    if larger.rank < 3:
        return 1.0
    corners = shown[small][:: 1 + len(shown[small]) // SIGHT_LINES] - larger.center
    above = corners @ larger.normals.T - larger.offsets
    corners = corners[(above > 1e-6 * hulls[small].extent).any(axis=1)]
    if len(corners) == 0:
        return 1.0
    # The part of each line of sight from the eye (0) to the corner (1) that is in the larger hull.
    start = (eye - larger.center) @ larger.normals.T - larger.offsets
    slope = (corners - (eye - larger.center)) @ larger.normals.T
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = -start / slope
    enter = np.where(slope < 0.0, crossing, np.where((slope == 0.0) & (start > 0.0), np.inf, 0.0)).max(
        axis=1, initial=0.0
    )
    leave = np.where(slope > 0.0, crossing, 1.0).min(axis=1, initial=1.0)
    return float((leave - enter < 1e-6).mean())


# --- the picture ----------------------------------------------------------------------------------------------------


@contextmanager
def _a_3d_view(context: Any, smooth: bool, colors: str) -> Iterator[tuple[bpy.types.SpaceView3D, bpy.types.Region]]:
    """A 3D view to draw with, set up for a clear picture; as it was when done.

    smooth: with as many samples per pixel as the preferences say, instead of one. colors: a color type of the shading.
    """
    window = context.window or next(iter(context.window_manager.windows), None)
    screens = [window.screen, *bpy.data.screens] if window is not None else list(bpy.data.screens)
    areas = [area for screen in screens for area in screen.areas]
    area = next((area for area in areas if area.type == "VIEW_3D"), None) or next(iter(areas), None)
    if area is None:
        raise RuntimeError("The file has no screen to draw with")
    kind = area.type
    if kind != "VIEW_3D":
        area.type = "VIEW_3D"  # which makes the window's scene that of the context, even where it was so before
    space = cast(bpy.types.SpaceView3D, area.spaces.active)
    region = next(region for region in area.regions if region.type == "WINDOW")
    wanted = [
        (space.shading, "type", "SOLID"),
        (space.shading, "light", "STUDIO"),
        (space.shading, "color_type", colors),
        (space.shading, "single_color", (0.62, 0.62, 0.63)),
        (space.shading, "background_type", "VIEWPORT"),
        (space.shading, "background_color", BACKGROUND),
        (space.shading, "show_xray", False),
        (space.shading, "show_cavity", False),
        (space.shading, "show_shadows", False),
        (space.overlay, "show_overlays", False),
        (space, "show_gizmo", False),
    ]
    if not smooth:  # which without a GPU takes longer than all else of a picture
        preferences = context.preferences
        wanted += [(preferences, "is_dirty", preferences.is_dirty), (preferences.system, "viewport_aa", "OFF")]
    before = []
    try:
        for owner, name, value in wanted:
            old = getattr(owner, name)
            before.append((owner, name, tuple(old) if name.endswith("color") else old))
            setattr(owner, name, value)
        yield space, region
    finally:
        for owner, name, value in reversed(before):
            setattr(owner, name, value)
        if kind != "VIEW_3D":
            area.type = kind


def _above(plate: StepPlate, size: tuple[int, int], look: Callable[[float], Lens]) -> Lens:
    """Return view and projection matrix (4, 4) of a camera, which looks at things with a ratio of width to height, into
    the part of a picture above a plate."""
    width, height = size
    left = 1.0 - plate.box[3] / height
    view, projection = look(width / (left * height))
    projection[1] = left * projection[1] + (1.0 - left) * projection[3]
    return view, projection


def _measured(
    inspection: Inspection, measures: PairMeasures, style: Style, size: tuple[int, int]
) -> tuple[StudyPicture, StepPlate]:
    """Return what is drawn of measures beside the contact."""
    return measured(measures, inspection, style, LabelRoom((0.0, 0.0, float(size[0]), float(size[1]))))


def _draw_pair(
    inspection: Inspection,
    measures: PairMeasures,
    study: tuple[StudyPicture, StepPlate],
    style: Style,
    lens: Lens,
    size: tuple[int, int],
    showing: Showing = NOW,
) -> None:
    """Draw the contact of a pair, and what was measured of it; study: see `_measured`."""
    if measures.band is not None:
        draw_band(measures.band, inspection, *lens, size)
    room, kept = LabelRoom((0.0, 0.0, float(size[0]), float(size[1]))), Kept()
    beside = room_beside(*study, lens[1] @ lens[0], size, room)
    draw(inspection, style, *lens, size, room=beside, showing=showing, kept=kept, measures=measures)
    others = kept.notes.boxes if kept.notes is not None else ()
    draw_study(*study, style, *lens, size, room=room, others=others)


def render_isolated(
    context: Any,
    inspection: Inspection,
    filepath: str,
    width: int,
    height: int,
    measures: PairMeasures | None = None,
) -> None:
    """Write a PNG of a pair with its contact drawn over it, the rest of the scene faded, on a transparent background.

    It suits pages of any color, as the pair is opaque. measures: of the pair, drawn too; its overlap always is.

    Raises GpuUnavailable without an OpenGL driver.
    """
    start_gpu()
    size, style = (width, height), replace(style_of(context), scale=LABELS)
    measures = with_overlap(inspection, measures)
    study = _measured(inspection, measures, style, size)
    lens = _above(study[1], size, lambda aspect: camera(inspection, aspect))

    def draw_over() -> None:
        draw_isolated(inspection, style, None, *lens, size)
        _draw_pair(inspection, measures, study, style, lens, size)

    _render(context, filepath, size, *lens, draw_over, for_page=True)


def render_contact(
    context: Any,
    filepath: str,
    width: int,
    height: int,
    toward_viewer: FloatArray | None = None,
    colors: str = "SINGLE",
    measures: PairMeasures | None = None,
) -> None:
    """Write a PNG of the scene with the current contact drawn over it, from where it is seen well.

    `toward_viewer` (3,) is another direction to see it from, `colors` the color type of the shading, `measures` of the
    pair are drawn too; its overlap always is.

    Raises ValueError when nothing is inspected, and GpuUnavailable without an OpenGL driver.
    """
    inspection = session.current(context)
    if inspection is None:
        raise ValueError(messages.NO_RESULT)
    start_gpu()
    size, style, showing = (width, height), style_of(context), Showing(is_stale=session.is_stale(context))
    measures = with_overlap(inspection, measures)
    study = _measured(inspection, measures, style, size)
    lens = _above(study[1], size, lambda aspect: camera(inspection, aspect, toward_viewer))
    _render(
        context,
        filepath,
        size,
        *lens,
        lambda: _draw_pair(inspection, measures, study, style, lens, size, showing),
        colors=colors,
    )


def render_volumes(context: Any, volumes: VolumesView, filepath: str, width: int, height: int) -> None:
    """Write a PNG of the scene with bounding volumes drawn over it, and the first volume test of a descent.

    Raise GpuUnavailable without an OpenGL driver.
    """
    picture, size, style = volumes.picture_of(1), (width, height), style_of(context)
    points = np.concatenate([volumes.segments.reshape(-1, 3), points_of(picture)])
    view, projection = _around(points, width / height)

    def draw_over() -> None:
        draw_volumes(volumes, style, view, projection, size)
        draw_study(picture, NO_PLATE, style, view, projection, size)

    _render(context, filepath, size, view, projection, draw_over)


def render_steps(context: Any, steps: Steps, number: int, filepath: str, width: int, height: int) -> None:
    """Write a PNG of the scene with a step of an algorithm drawn over it: `number` of those that are shown.

    The shapes of `steps.given` need not be objects of the scene. All that is drawn of the step, and both shapes, are in
    the picture, above the plate with the sentence.

    Raise GpuUnavailable without an OpenGL driver.
    """
    start_gpu()
    size, style, picture, given = (width, height), style_of(context), steps.picture(number), steps.given
    plate = plate_of(steps, number, style, LabelRoom((0.0, 0.0, float(width), float(height))))
    corners = [given.in_world(list(product(*np.transpose(shape.bounds)))) for shape in (given.a, given.b)]
    points = np.concatenate([points_of(picture), *corners])
    lens = _above(plate, size, lambda aspect: _around(points, aspect))
    _render(context, filepath, size, *lens, lambda: draw_study(picture, plate, style, *lens, size))


def _around(points: FloatArray, aspect: float) -> tuple[FloatArray, FloatArray]:
    """View and projection matrix (4, 4) of a camera that sees all points (n, 3), from the front."""
    turned, eye, distance = _step_back(FROM_THE_FRONT / np.linalg.norm(FROM_THE_FRONT), points, aspect, 1e-6)
    return _lens(turned, eye, distance, points, aspect)


def _render(
    context: Any,
    filepath: str,
    size: tuple[int, int],
    view: FloatArray,
    projection: FloatArray,
    draw_over: Callable[[], None],
    for_page: bool = False,
    colors: str = "SINGLE",
) -> None:
    """Write a PNG of the scene in solid shading, with something drawn over it.

    for_page: the background is transparent, and the scene not smooth, see `_a_3d_view`: it is faded.
    """
    start_gpu()
    width, height = size
    scene, layer = context.scene, context.view_layer  # before there is a 3D view, which may change the former alone
    offscreen = gpu.types.GPUOffScreen(width, height)
    try:
        with _a_3d_view(context, not for_page, colors) as (space, region):
            offscreen.draw_view3d(
                scene,
                layer,
                space,
                region,
                Matrix(view.tolist()),
                Matrix(projection.tolist()),
                do_color_management=True,
                draw_background=not for_page,
            )
        with offscreen.bind():  # type: ignore[attr-defined]
            draw_over()
            pixels = read_pixels(width, height, with_alpha=for_page)
    finally:
        offscreen.free()
    write_png(filepath, pixels)


def read_pixels(width: int, height: int, with_alpha: bool = False) -> NDArray[np.uint8]:
    """(height, width, 3) colours of the active framebuffer, top row first, with their opacity as a fourth."""
    framebuffer = gpu.state.active_framebuffer_get()
    read = framebuffer.read_color(0, 0, width, height, 4, 0, "UBYTE")
    read.dimensions = width * height * 4  # type: ignore[assignment]
    rgba = np.array(read, dtype=np.uint8).reshape(height, width, 4)
    rgba = rgba[::-1]
    if not with_alpha:
        return np.ascontiguousarray(rgba[:, :, :3])
    # What was drawn is multiplied by its opacity.
    opacity = np.maximum(rgba[:, :, 3:], 1).astype(np.float32)
    color = np.minimum(rgba[:, :, :3] * (255.0 / opacity) + 0.5, 255.0).astype(np.uint8)
    return np.concatenate([color, rgba[:, :, 3:]], axis=2)


def write_png(filepath: str, pixels: NDArray[np.uint8]) -> None:
    """Write (height, width, 3) colours as a PNG file, or (height, width, 4) with opacity."""
    height, width, channels = pixels.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.tobytes() for row in pixels)  # 0: the row is stored as it is
    path = Path(filepath)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 6, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
