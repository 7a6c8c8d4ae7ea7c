# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volumes and hierarchies of the selected objects: what is drawn of them, and the numbers beside.

Three views: one volume around each selected object; a hierarchy over the triangles of each; a hierarchy over all
visible objects of the scene. Nothing here is kept in the file: a view is made anew when what it shows changes.
First everything is read from Blender (`read_volumes`); then the view is made of that (`view_of`), in any thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.bounding.bounding_sphere import Spheres
from ...core.bounding.bounding_volumes import bounding_volumes, volumes_of_shapes, volumes_of_triangles
from ...core.bounding.kdop import KDops
from ...core.bounding.volumes import Volumes
from ...core.hierarchy.bvh import Bvh
from ...core.hierarchy.tree_pairs import TreePairs, VolumeTests
from ...core.meshes.solid_facets import pieces_of
from ...core.progress import Progress, subrange
from ...core.shapes.curved_shape import ConvexShape, CurvedShape
from ...core.shapes.hull import ConvexHull
from ...core.shapes.polytope import Polytope
from ...core.types import FloatArray, IntArray
from ..data import messages
from ..data.collision_kinds import CONVEX_HULL, PRIMITIVES, WORDS
from ..data.messages import counted
from ..data.objects import unsupported_reason
from ..data.properties import DEFAULT_CONTACT_TOLERANCE
from ..data.records import Rules, VolumeSettings
from ..data.units import UnitFormat
from ..geometry import snapshot as read
from ..geometry.collision_shape import RESOLUTION_STEPS, float32_step
from ..geometry.local_geometry import RecentGeometries
from ..geometry.plane import Plane, plane_through, to_2d
from ..geometry.snapshot import EmptyError, ReadError
from ..read.scene_reader import SceneReader
from ..read.world_shape import WorldShape
from .descent import Descent
from .moving_volumes import ClimbedKDop, MovedTree, Moving, SeparatingAxis, climb_rows
from .picture import Canvas, StudyPicture
from .volume_pictures import draw_slabs, edges_of, slabs_of

MOST_DRAWN = 1_500
"""Volumes drawn at a time; more are a grey cloud."""
MOST_POLYTOPES = 300
"""The same for kinds that are drawn as polytopes, each of which is made."""
BUILDS = 0.8
"""Fraction of the work that building trees is, about; the rest is the descent."""

Lines = list[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class VolumesView:
    """Lines and numbers to show."""

    segments: FloatArray
    """(n, 2, 3) lines, world space."""
    tints: FloatArray
    """(n,) 0 for the root's level, 1 for the deepest shown; above 1 for what is left of the pair."""
    lines: Lines
    """Numbers for the panel."""
    warnings: list[str]
    settings: VolumeSettings
    picture: StudyPicture
    """Slabs with their numbers, or the walks of extreme vertices."""
    descent: Descent | None
    """Its tests, if they are asked for."""
    moving: Moving
    """What the next view starts from."""

    def picture_of(self, test: int) -> StudyPicture:
        """Return what is drawn beside the volumes, for a volume test of a descent; the first is 1."""
        return self.picture if self.descent is None else self.descent.picture(self.descent.number_of(test))


LEFT = 2.0
"""Tint of the volumes that remain of a pair."""


@dataclass(frozen=True, eq=False)
class _Enclosed:
    """What the volume of an object is around."""

    kind: str
    """Of its collision shape."""
    shape: ConvexShape
    """Its round collision shape or box, else its hull; world space, or in the plane."""
    hull: ConvexHull | None
    """The same in its own frame, where it is the hull of its mesh."""
    matrix: FloatArray
    """(3, 4) from there to the world."""
    pieces: tuple[ConvexShape, ...] = ()
    """Of a compound parent with round children, which stick out of its hull a little: its pieces."""


@dataclass(frozen=True, eq=False)
class VolumesInput:
    """What a view is made of, as read from Blender."""

    settings: VolumeSettings
    units: UnitFormat
    names: list[str]
    """The objects'."""
    points: list[FloatArray]
    """(n, 3) for each object: the vertices of its hull, or all, or the two corners of its bounds; world space. In the
    plane (n, 2)."""
    triangles: list[NDArray[np.int32]]
    """(t, 3) for each object, if the view is of triangles."""
    enclosed: list[_Enclosed]
    """For each object, if the view is of objects."""
    plane: Plane | None = None
    """That of flat objects, if their k-DOPs are flat."""


def read_volumes(context: bpy.types.Context, settings: VolumeSettings) -> VolumesInput:
    """Read what is selected, or the scene.

    Raises ReadError, with a sentence for the user, when there is nothing to show.
    """
    depsgraph = context.evaluated_depsgraph_get()
    given = VolumesInput(settings, UnitFormat.of_scene(context.scene), [], [], [], [])
    of_scene = settings.of == "scene"
    candidates = context.visible_objects if of_scene else context.selected_objects
    chosen = [obj for obj in candidates if not unsupported_reason(obj)]
    chosen.sort(key=lambda obj: obj != context.view_layer.objects.active)  # the active one is A, as in an inspection
    if not chosen and of_scene:
        raise ReadError("No visible object of the scene has a surface")
    if not chosen:
        raise ReadError("Select objects with a surface to see their bounding volumes")
    for obj in chosen:
        if settings.of == "objects":
            enclosed, points = _enclosed(obj, depsgraph)
            given.enclosed.append(enclosed)
        elif settings.of == "triangles":
            points, triangles = read.triangles(obj, depsgraph)
            if len(triangles) == 0:
                raise ReadError(messages.about(obj.name, "has no faces"))
            given.triangles.append(triangles)
        else:
            try:
                # Of an axis-aligned box the corners say all.
                aligned = settings.kind == "aabb"
                points = np.stack(read.bounds(obj, depsgraph)) if aligned else read.points(obj, depsgraph)
            except EmptyError:
                continue
        given.names.append(obj.name)
        given.points.append(points)
    if not given.points:
        raise ReadError("No visible object of the scene has a vertex")
    return _in_one_plane(given) if settings.is_flat else given


def _enclosed(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[_Enclosed, FloatArray]:
    """Return what the volume of an object is around, and the vertices (n, 3) of its hull."""
    reader = SceneReader(depsgraph, RecentGeometries(), Rules())
    found = WorldShape(reader.snapshot(obj, read.evaluated_object(obj, depsgraph)))
    matrix = np.column_stack([found.object.linear, found.object.translation])
    try:
        if found.kind in PRIMITIVES and found.convex_bound is not None:
            return _Enclosed(found.kind, found.convex_bound, None, matrix), found.hull.vertices
        if not found.object.parts:
            return _Enclosed(CONVEX_HULL, found.hull, found.object.geometry.hull, matrix), found.hull.vertices
        pieces = pieces_of(found.solid)  # type: ignore[arg-type]
        pieces = pieces if any(isinstance(piece, CurvedShape) for piece in pieces) else ()
        return _Enclosed(CONVEX_HULL, found.hull, None, matrix, pieces), found.hull.vertices
    except ValueError as error:
        raise ReadError(messages.about(obj.name, str(error))) from error


def _in_one_plane(given: VolumesInput) -> VolumesInput:
    """Return flat objects in the frame of their plane. Raises ReadError, naming one that is not in it."""
    cloud = np.concatenate(given.points)
    size, magnitude = float(np.ptp(cloud, axis=0).max()), float(np.abs(cloud).max())
    slack = max(DEFAULT_CONTACT_TOLERANCE * size, RESOLUTION_STEPS * float32_step(magnitude))
    for name, points in zip(given.names, given.points, strict=True):
        if plane_through(points, slack).off(points) > slack:
            raise ReadError(messages.about(name, "is not flat: choose 6 or more planes"))
    plane = plane_through(cloud, slack)
    enclosed = []
    for name, points, each in zip(given.names, given.points, given.enclosed or [None] * len(given.names), strict=True):
        if plane.off(points) > slack:
            raise ReadError(messages.about(name, "is in another plane: choose 6 or more planes"))
        if each is not None:
            try:
                shape = cast("ConvexShape", to_2d(name, each.kind, each.shape, None, plane, slack))
            except ValueError:
                raise ReadError(
                    messages.about(name, f"is a {WORDS[each.kind]}, not flat: choose 6 or more planes")
                ) from None
            enclosed.append(replace(each, shape=shape, hull=None))
    return replace(given, points=[plane.to_2d(points) for points in given.points], enclosed=enclosed, plane=plane)


def view_of(given: VolumesInput, progress: Progress | None = None, last: Moving | None = None) -> VolumesView:
    """Make the view. `progress` is called with the fraction done; False cancels. last: of the last view.

    Raises Cancelled when `progress` says so.
    """
    sketch = _Sketch(given, last or Moving())
    make = {"objects": _objects, "triangles": _triangles, "scene": _scene}[given.settings.of]
    make(sketch, given, progress)
    return sketch.view()


class _Sketch:
    """Collects lines and numbers."""

    def __init__(self, given: VolumesInput, last: Moving) -> None:
        self.settings, self.units, self.plane = given.settings, given.units, given.plane
        self.last, self.moving = last, Moving()
        self.parts: list[FloatArray] = []
        self.tints: list[FloatArray] = []
        self.lines: Lines = []
        self.warnings: list[str] = []
        self.canvas = Canvas()
        self.descent: Descent | None = None

    def volumes(self, points: FloatArray, starts: IntArray) -> Volumes:
        return bounding_volumes(self.settings.kind, points, starts, k=self._k)  # type: ignore[arg-type]

    def volume_of(self, name: str, enclosed: _Enclosed) -> Volumes:
        """Return the volume around an object: where it is a k-DOP of a hull, updated from the last one."""
        settings = self.settings
        if enclosed.hull is None or settings.kind not in ("aabb", "kdop"):
            found = volumes_of_shapes(settings.kind, enclosed.pieces or [enclosed.shape], k=self._k)  # type: ignore[arg-type]
            return found.reduce_groups([0]) if enclosed.pieces else found
        k = settings.k if settings.kind == "kdop" else 6
        climbed = ClimbedKDop.of(enclosed.hull, enclosed.matrix, k, self.last.kdops.get(name))
        self.moving.kdops[name] = climbed
        if settings.climb:
            climbed.draw(self.canvas)
        return climbed.updated.kdops

    def volumes_of_triangles(self, points: FloatArray, triangles: NDArray[np.int32]) -> Volumes:
        return volumes_of_triangles(self.settings.kind, points, triangles, k=self._k)  # type: ignore[arg-type]

    @property
    def _k(self) -> int | None:
        return self.settings.k if self.settings.kind == "kdop" else None

    def build(self, volumes: Volumes, progress: Progress | None = None) -> Bvh:
        settings = self.settings
        return Bvh.build(volumes, settings.method, settings.split, progress=progress)  # type: ignore[arg-type]

    def tree(
        self, name: str, volumes: Volumes, points: FloatArray, items: bytes, what: str, progress: Progress | None
    ) -> Bvh:
        """Return the tree over items with these points, refitted from the last one; items: what they are."""
        settings = self.settings
        made_of = (settings.of, volumes.kind, settings.method, settings.split, len(points), items)
        moved = self.moving.trees[name] = MovedTree.of(
            volumes, points, made_of, what, lambda volumes: self.build(volumes, progress), self.last.trees.get(name)
        )
        self.lines += [(name, f"{counted(len(moved.tree.items), what)}, {_shape_of(moved.tree)}"), *moved.rows]
        return moved.tree

    def descend(self, names: tuple[str, str], a: Bvh, b: Bvh | None, what: str, progress: Progress | None) -> TreePairs:
        """Find the pairs that two trees leave, or A with itself; list them, and what rebuilt trees would take."""
        tests: list[VolumeTests] | None = [] if self.settings.tests else None
        found = a.overlapping_pairs(b, progress=progress, tests=tests)
        self.lines.append((f"{what.capitalize()} Pairs Left", f"{len(found.pairs):,} of {found.possible:,}"))
        self.lines.append(("Volume Tests", f"{found.tests:,}"))
        if self.settings.compare and any(moved.rows for moved in self.moving.trees.values()):
            rebuilt = self.build(a.item_volumes), None if b is None else self.build(b.item_volumes)
            self.lines.append(("In Rebuilt Trees", f"{rebuilt[0].overlapping_pairs(rebuilt[1]).tests:,} tests"))
        if tests:
            self.descent = Descent(names, (a, b or a), found, tests, what, self.units, self.plane)
        return found

    def draw(self, volumes: Volumes, tints: FloatArray) -> None:
        """Add the edges of volumes, each with its tint (n,)."""
        boxes = isinstance(volumes, KDops) and volumes.k == 6
        most = MOST_DRAWN if boxes or isinstance(volumes, Spheres) else MOST_POLYTOPES
        if len(volumes) > most:
            self.warnings.append(_volumes_drawn(most, len(volumes)))
            volumes, tints = volumes.take(np.arange(most)), tints[:most]
        segments, owner = edges_of(volumes, self.plane)
        self.parts.append(segments)
        self.tints.append(tints[owner])

    def draw_tree(self, tree: Bvh) -> None:
        """Add one level of a tree, or all down to it."""
        level = min(self.settings.level, tree.depth - 1)
        shown = np.flatnonzero(tree.level <= level) if self.settings.above else tree.at_level(level)
        self.draw(tree.volumes.take(shown), tree.level[shown] / max(level, 1))

    def view(self) -> VolumesView:
        segments = np.concatenate(self.parts) if self.parts else np.zeros((0, 2, 3))
        tints = np.concatenate(self.tints) if self.tints else np.zeros(0)
        return VolumesView(
            segments, tints, self.lines, self.warnings, self.settings, self.canvas.picture(), self.descent, self.moving
        )


# --- the three views ------------------------------------------------------------------------------------------------


def _volumes_drawn(number: int, total: int) -> str:
    return f"{number:,} of {total:,} volumes {'is' if number == 1 else 'are'} drawn"


def _objects(sketch: _Sketch, given: VolumesInput, progress: Progress | None) -> None:
    parts = [sketch.volume_of(name, each) for name, each in zip(given.names, given.enclosed, strict=True)]
    volumes = type(parts[0]).concatenate(parts)
    sketch.draw(volumes, np.zeros(len(volumes)))
    for name, each, content in zip(given.names, given.enclosed, volumes.volume.tolist(), strict=True):
        filled = 100.0 * each.shape.volume / content if content > 0.0 else 0.0
        sketch.lines.append((name, f"fills {filled:.0f} % of its volume"))
    if len(volumes) == 1 and isinstance(volumes, KDops) and given.settings.kind == "kdop":
        names = "xyz" if given.plane is None else given.plane.names
        slabs = slabs_of(volumes, names, given.units)
        sketch.lines += [(across, f"{low} to {high}") for across, low, high in slabs]
        if given.plane is not None:
            draw_slabs(sketch.canvas, volumes, given.plane, given.units)
    if len(volumes) == 2:
        a, b = volumes.take([0]), volumes.take([1])
        gap = given.units.length(float(a.gap(b)[0]), rounding="down")
        words = "overlap: the objects may collide" if a.overlaps(b)[0] else f"apart: at least {gap}"
        sketch.lines.append(("Volumes", words))
        first, second = (None if each.pieces else each.shape for each in given.enclosed)
        if isinstance(first, Polytope) and isinstance(second, Polytope):
            pair = (given.names[0], given.names[1])
            moved = sketch.moving.axes[pair] = SeparatingAxis.of(first, second, sketch.last.axes.get(pair))
            sketch.lines += moved.rows
    sketch.lines += climb_rows(sketch.moving.kdops.values())


def _triangles(sketch: _Sketch, given: VolumesInput, progress: Progress | None) -> None:
    trees: list[Bvh] = []
    total = sum(len(triangles) for triangles in given.triangles)
    done = 0
    for name, points, triangles in zip(given.names, given.points, given.triangles, strict=True):
        # The last part of the work is left for the descent.
        begin, end = BUILDS * done / total, BUILDS * (done + len(triangles)) / total
        volumes = sketch.volumes_of_triangles(points, triangles)
        part = subrange(progress, begin, end)
        tree = sketch.tree(name, volumes, points, triangles.tobytes(), "triangle", part)
        done += len(triangles)
        trees.append(tree)
    if len(trees) != 2:
        for tree in trees:
            sketch.draw_tree(tree)
        return
    names = given.names[0], given.names[1]
    found = sketch.descend(names, trees[0], trees[1], "triangle", subrange(progress, BUILDS, 1.0))
    if sketch.descent is not None:
        return
    for side, tree in enumerate(trees):
        sketch.draw_tree(tree)
        left = np.unique(found.pairs[:, side])
        leaf = np.flatnonzero(tree.is_leaf)
        remaining = leaf[np.isin(tree.items[tree.first[leaf]], left)]
        sketch.draw(tree.volumes.take(remaining), np.full(len(remaining), LEFT))


def _scene(sketch: _Sketch, given: VolumesInput, progress: Progress | None) -> None:
    items = repr([(name, len(points)) for name, points in zip(given.names, given.points, strict=True)]).encode()
    volumes, points = _around(sketch, given.points), np.concatenate(given.points)
    tree = sketch.tree("Scene", volumes, points, items, "object", subrange(progress, 0.0, BUILDS))
    sketch.descend(("the scene", "the scene"), tree, None, "object", subrange(progress, BUILDS, 1.0))
    if sketch.descent is None:
        sketch.draw_tree(tree)


def _around(sketch: _Sketch, clouds: list[FloatArray]) -> Volumes:
    counts = np.array([len(cloud) for cloud in clouds], dtype=np.intp)
    starts: IntArray = np.cumsum(counts) - counts
    return sketch.volumes(np.concatenate(clouds), starts)


def _shape_of(tree: Bvh) -> str:
    return f"{counted(tree.depth, 'level')}, balance {100.0 * tree.balance:.0f} %"
