# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volumes and hierarchies of the selected objects: what is drawn of them, and the numbers beside.

Three views: one volume around each selected object; a hierarchy over the triangles of each; a hierarchy over all
visible objects of the scene. Nothing here is kept in the file: a view is made anew when what it shows changes.
First everything is read from Blender (`read_volumes`); then the view is made of that (`view_of`), in any thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.bounding.bounding_sphere import Spheres
from ...core.bounding.bounding_volumes import bounding_volumes, volumes_of_triangles
from ...core.bounding.kdop import KDops
from ...core.bounding.volumes import Volumes
from ...core.hierarchy.bvh import Bvh
from ...core.hierarchy.tree_pairs import TreePairs
from ...core.progress import Progress, subrange
from ...core.shapes.hull import ConvexHull
from ...core.types import FloatArray, IntArray
from ..data import messages
from ..data.messages import counted
from ..data.objects import unsupported_reason
from ..data.records import VolumeSettings
from ..data.units import UnitFormat
from ..geometry import snapshot as read
from ..geometry.snapshot import EmptyError, ReadError

MOST_DRAWN = 1_500
"""Volumes drawn at a time; more are a grey cloud."""
MOST_POLYTOPES = 300
"""The same for kinds that are drawn as polytopes, each of which is made."""
BUILDS = 0.8
"""Fraction of the work that building trees is, about; the rest is the descent."""
CIRCLE = 48
"""Sides of the circles that stand for a sphere."""

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


LEFT = 2.0
"""Tint of the volumes that remain of a pair."""


@dataclass(frozen=True, eq=False)
class VolumesInput:
    """What a view is made of, as read from Blender."""

    settings: VolumeSettings
    units: UnitFormat
    names: list[str]
    """The objects'."""
    points: list[FloatArray]
    """(n, 3) for each object: the vertices of its hull, or all, or the two corners of its bounds; world space."""
    triangles: list[NDArray[np.int32]]
    """(t, 3) for each object, if the view is of triangles."""
    contents: list[float]
    """The volume of each object's hull, if the view is of objects."""


def read_volumes(context: bpy.types.Context, settings: VolumeSettings) -> VolumesInput:
    """Read what is selected, or the scene.

    Raises ReadError, with a sentence for the user, when there is nothing to show.
    """
    depsgraph = context.evaluated_depsgraph_get()
    given = VolumesInput(settings, UnitFormat.of_scene(context.scene), [], [], [], [])
    of_scene = settings.of == "scene"
    candidates = context.visible_objects if of_scene else context.selected_objects
    chosen = [obj for obj in candidates if not unsupported_reason(obj)]
    if not chosen and of_scene:
        raise ReadError("No visible object of the scene has a surface")
    if not chosen:
        raise ReadError("Select objects with a surface to see their bounding volumes")
    for obj in chosen:
        if settings.of == "objects":
            hull = ConvexHull(read.points(obj, depsgraph))
            points = hull.vertices
            given.contents.append(hull.volume)
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
    return given


def view_of(given: VolumesInput, progress: Progress | None = None) -> VolumesView:
    """Make the view. `progress` is called with the fraction done; False cancels.

    Raises Cancelled when `progress` says so.
    """
    sketch = _Sketch(given.settings)
    make = {"objects": _objects, "triangles": _triangles, "scene": _scene}[given.settings.of]
    make(sketch, given, progress)
    return sketch.view()


class _Sketch:
    """Collects lines and numbers."""

    def __init__(self, settings: VolumeSettings) -> None:
        self.settings = settings
        self.parts: list[FloatArray] = []
        self.tints: list[FloatArray] = []
        self.lines: Lines = []
        self.warnings: list[str] = []

    def volumes(self, points: FloatArray, starts: IntArray) -> Volumes:
        return bounding_volumes(self.settings.kind, points, starts, k=self._k)  # type: ignore[arg-type]

    def volumes_of_triangles(self, points: FloatArray, triangles: NDArray[np.int32]) -> Volumes:
        return volumes_of_triangles(self.settings.kind, points, triangles, k=self._k)  # type: ignore[arg-type]

    @property
    def _k(self) -> int | None:
        return self.settings.k if self.settings.kind == "kdop" else None

    def tree(self, volumes: Volumes, progress: Progress | None) -> Bvh:
        settings = self.settings
        return Bvh.build(volumes, settings.method, settings.split, progress=progress)  # type: ignore[arg-type]

    def draw(self, volumes: Volumes, tints: FloatArray) -> None:
        """Add the edges of volumes, each with its tint (n,)."""
        boxes = isinstance(volumes, KDops) and volumes.k == 6
        most = MOST_DRAWN if boxes or isinstance(volumes, Spheres) else MOST_POLYTOPES
        if len(volumes) > most:
            self.warnings.append(_volumes_drawn(most, len(volumes)))
            volumes, tints = volumes.take(np.arange(most)), tints[:most]
        segments, owner = edges_of(volumes)
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
        return VolumesView(segments, tints, self.lines, self.warnings, self.settings)


# --- the three views ------------------------------------------------------------------------------------------------


def _volumes_drawn(number: int, total: int) -> str:
    return f"{number:,} of {total:,} volumes {'is' if number == 1 else 'are'} drawn"


def _objects(sketch: _Sketch, given: VolumesInput, progress: Progress | None) -> None:
    volumes = _around(sketch, given.points)
    sketch.draw(volumes, np.zeros(len(volumes)))
    for name, solid, content in zip(given.names, given.contents, volumes.volume.tolist(), strict=True):
        filled = 100.0 * solid / content if content > 0.0 else 0.0
        sketch.lines.append((name, f"fills {filled:.0f} % of its volume"))
    if len(volumes) == 2:
        a, b = volumes.take([0]), volumes.take([1])
        gap = given.units.length(float(a.gap(b)[0]), rounding="down")
        words = "overlap: the objects may collide" if a.overlaps(b)[0] else f"apart: at least {gap}"
        sketch.lines.append(("Volumes", words))


def _triangles(sketch: _Sketch, given: VolumesInput, progress: Progress | None) -> None:
    trees: list[Bvh] = []
    total = sum(len(triangles) for triangles in given.triangles)
    done = 0
    for name, points, triangles in zip(given.names, given.points, given.triangles, strict=True):
        # The last part of the work is left for the descent.
        begin, end = BUILDS * done / total, BUILDS * (done + len(triangles)) / total
        tree = sketch.tree(sketch.volumes_of_triangles(points, triangles), subrange(progress, begin, end))
        done += len(triangles)
        trees.append(tree)
        sketch.lines.append((name, f"{counted(len(triangles), 'triangle')}, {_shape_of(tree)}"))
    if len(trees) != 2:
        for tree in trees:
            sketch.draw_tree(tree)
        return
    found = trees[0].overlapping_pairs(trees[1], progress=subrange(progress, BUILDS, 1.0))
    for side, tree in enumerate(trees):
        sketch.draw_tree(tree)
        left = np.unique(found.pairs[:, side])
        leaf = np.flatnonzero(tree.is_leaf)
        remaining = leaf[np.isin(tree.items[tree.first[leaf]], left)]
        sketch.draw(tree.volumes.take(remaining), np.full(len(remaining), LEFT))
    _list_pairs(sketch, found, "Triangle")


def _scene(sketch: _Sketch, given: VolumesInput, progress: Progress | None) -> None:
    tree = sketch.tree(_around(sketch, given.points), subrange(progress, 0.0, BUILDS))
    sketch.draw_tree(tree)
    sketch.lines.append(("Scene", f"{counted(len(given.names), 'object')}, {_shape_of(tree)}"))
    _list_pairs(sketch, tree.overlapping_pairs(progress=subrange(progress, BUILDS, 1.0)), "Object")


def _around(sketch: _Sketch, clouds: list[FloatArray]) -> Volumes:
    counts = np.array([len(cloud) for cloud in clouds], dtype=np.intp)
    starts: IntArray = np.cumsum(counts) - counts
    return sketch.volumes(np.concatenate(clouds), starts)


def _shape_of(tree: Bvh) -> str:
    return f"{counted(tree.depth, 'level')}, balance {100.0 * tree.balance:.0f} %"


def _list_pairs(sketch: _Sketch, found: TreePairs, what: str) -> None:
    sketch.lines.append((f"{what} Pairs Left", f"{len(found.pairs):,} of {found.possible:,}"))
    sketch.lines.append(("Volume Tests", f"{found.tests:,}"))


# --- edges ----------------------------------------------------------------------------------------------------------

_BOX_CORNERS = np.array(list(product((0, 1), repeat=3)))
_BOX_EDGES = np.array([(i, i | bit) for i in range(8) for bit in (1, 2, 4) if not i & bit])


def edges_of(volumes: Volumes) -> tuple[FloatArray, IntArray]:
    """Return the edges (n, 2, 3) of volumes, and the volume (n,) each belongs to. Spheres are three circles."""
    count = len(volumes)
    if isinstance(volumes, KDops) and volumes.k == 6:
        bounds = np.stack([volumes.low.T, volumes.high.T])  # (2, 3, n)
        corners = np.stack([bounds[_BOX_CORNERS[:, axis], axis] for axis in range(3)], axis=2)  # (8, n, 3)
        segments = corners[_BOX_EDGES].transpose(2, 0, 1, 3).reshape(-1, 2, 3)
        return segments, np.repeat(np.arange(count), len(_BOX_EDGES))
    if isinstance(volumes, Spheres):
        turn = 2.0 * np.pi * np.arange(CIRCLE + 1) / CIRCLE
        flat = np.stack([np.cos(turn), np.sin(turn), np.zeros(CIRCLE + 1)], axis=1)
        rings = np.concatenate(
            [np.stack([ring[:-1], ring[1:]], axis=1) for ring in (flat, flat[:, [0, 2, 1]], flat[:, [2, 0, 1]])]
        )
        segments = volumes.center[:, None, None] + volumes.radius[:, None, None, None] * rings
        return segments.reshape(-1, 2, 3), np.repeat(np.arange(count), len(rings))
    parts, owners = [np.zeros((0, 2, 3))], [np.zeros(0, dtype=np.intp)]
    for index in range(count):
        hull = volumes.polytope(index)
        parts.append(hull.vertices[hull.edges])
        owners.append(np.full(len(hull.edges), index))
    return np.concatenate(parts), np.concatenate(owners)
