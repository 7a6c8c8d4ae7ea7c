# SPDX-License-Identifier: GPL-3.0-or-later
"""The players of the chapters: what the engine does with small pairs, in the add-on's sentences and pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from contact_lens.blender_addon.data.units import UnitFormat
from contact_lens.blender_addon.geometry.plane import Plane
from contact_lens.blender_addon.geometry.shape_outline import fan, loop
from contact_lens.blender_addon.study.descent import Descent
from contact_lens.blender_addon.study.picture import SIDES, Canvas, StudyPicture
from contact_lens.blender_addon.study.playable import Frame, Guess, Playable, Space, playable
from contact_lens.blender_addon.study.steps import Steps, steps_of
from contact_lens.blender_addon.study.traced_pair import StepSettings, StepsInput
from contact_lens.blender_addon.study.volume_pictures import CIRCLE, draw_slabs, edges_of, slabs_of
from contact_lens.core import (
    Box,
    Bvh,
    Circle,
    Compound,
    ConvexHull,
    Polygon,
    bounding_volumes,
    contact,
    decompose_polygon,
    minkowski_hull,
)
from contact_lens.core.bounding.bounding_sphere import Spheres
from contact_lens.core.bounding.kdop import KDops
from contact_lens.core.hierarchy.tree_pairs import VolumeTests
from contact_lens.core.shapes.curved_shape import ConvexShape
from contact_lens.core.trace import RegionStep
from contact_lens.core.types import FloatArray

UNITS = UnitFormat("NONE")
"""Numbers without a unit, as those of the chapters."""
PLANE = Plane(np.zeros(3), np.eye(3)[:2])
"""Where shapes of dimension 2 are."""
FROM_ABOVE = {"toward_viewer": (0.0, 0.0, 1.0), "up": (0.0, 1.0, 0.0)}
"""How a player sees that plane."""


# --- helpers


def pair_steps(
    a: ConvexShape, b: ConvexShape, algorithm: str = "all", names: tuple[str, str] = ("A", "B"), all_axes: bool = False
) -> Steps:
    """Return the steps of an algorithm ("sat", "gjk", "epa", "region" or "all") on two shapes of one dimension."""
    settings = StepSettings(algorithm, all_axes=all_axes)
    return steps_of(StepsInput(a, b, *names, UNITS, settings, PLANE if a.dim == 2 else None))


def pair(title: str, a: ConvexShape, b: ConvexShape, algorithm: str = "all", **options: object) -> Playable:
    """Return the player of those steps; options: of `pair_steps`."""
    return playable(pair_steps(a, b, algorithm, **options), title)  # type: ignore[arg-type]


def _numbered(shown: Playable, *shapes: ConvexHull) -> Playable:
    """Return a player with the numbers of the vertices at the objects."""
    objects, *others = shown.spaces
    canvas = Canvas(objects.behind)
    for role, shape in zip(SIDES, shapes, strict=True):
        for number, vertex in enumerate(shape.vertices):
            canvas.label(role, str(number), vertex)
    return replace(shown, spaces=(replace(objects, behind=canvas.picture()), *others))


# --- separating axes


def two_boxes() -> Playable:
    """Two boxes on their edges, which cross: of 15 axes a product of edges is the best."""
    a = Box((0, 0, 0), (2, 2, 2), (3, 1, 0, 0))
    b = Box((0, 0, 2.6), (2, 2, 2), (3, 0, 1, 0))
    return pair("15 axes and their shadows", a, b, "sat", all_axes=True)


def containment() -> Playable:
    """A triangle in a rectangle, nearest to the side below it."""
    a = Polygon([(0, 0), (6, 0), (6, 4), (0, 4)])
    b = Polygon([(2, 0.5), (4, 0.5), (2, 2.5)])
    return pair("A triangle inside a rectangle", a, b, "sat", names=("Rectangle", "Triangle"))


def l_shape() -> Playable:
    """A square in the corner of an L: the best axis of each piece, and the translations out of both and of the hull."""
    corners = [(0, 0), (4, 0), (4, 1), (1, 1), (1, 4), (0, 4)]
    square = Polygon([(0.8, 0.7), (2.8, 0.7), (2.8, 2.7), (0.8, 2.7)])
    pieces, middle = [Polygon(piece) for piece in decompose_polygon(corners)], square.vertices.mean(axis=0)
    behind, frames = Canvas(), []
    for number, piece in enumerate(pieces, 1):
        name = f"Piece {number}"
        behind.polygon("a", PLANE.to_3d(piece.vertices))
        behind.label("a", name, PLANE.to_3d(piece.vertices.mean(axis=0)))
        played = pair(name, piece, square, "sat", names=(name, "Square")).frames
        best = next(frame for frame in reversed(played) if any(bar.is_best and bar.is_current for bar in frame.bars))
        bars = tuple(replace(bar, step=len(frames) if bar.is_current else -1) for bar in best.bars)
        frames.append(replace(best, title=f"SAT of {name}", bars=bars, guess=played[0].guess))
    behind.polygon("b", PLANE.to_3d(square.vertices))
    behind.label("b", "Square", PLANE.to_3d(middle))
    hull = ConvexHull(corners)
    for title, a, what in (
        ("Both Pieces", Compound(pieces), "both pieces"),
        ("The Hull", hull, "the convex hull, which fills the corner of the L"),
    ):
        found, drawn = contact(a, square), Canvas()
        if a is hull:
            drawn.line("hull", loop(PLANE.to_3d(hull.vertices)), is_dashed=True)
        drawn.line("b", loop(PLANE.to_3d(square.vertices + found.mtv)), is_dashed=True)
        drawn.line("overlap", PLANE.to_3d(np.array([middle, middle + found.mtv])), is_arrow=True)
        text = f"The shortest translation out of {what}: {_at(found.mtv)}, which is {_number(found.depth)} long."
        frames.append(Frame("compound", title, text, (drawn.picture(),)))
    return Playable(
        "A square in the corner of an L", (Space("Objects", behind.picture()),), tuple(frames), **FROM_ABOVE
    )


# --- Minkowski difference


TURNS = (0, 80, 140, 200, 250, 300)
"""Directions in degrees, each with another support point."""


def minkowski() -> Playable:
    """Two triangles in the plane: the direction turns, and the support points are the corners of A - B."""
    a, b = Polygon([(0, 0), (4, 0), (0, 3)]), Polygon([(1, 1), (5, 2), (3, 4)])
    whole, differences = minkowski_hull(a, b), (a.vertices[:, None] - b.vertices).reshape(-1, 2)
    objects, difference, frames, found = Canvas(), Canvas(), [], []
    for role, shape, name in zip(SIDES, (a, b), "AB", strict=True):
        objects.polygon(role, PLANE.to_3d(shape.vertices))
        for k, vertex in enumerate(PLANE.to_3d(shape.vertices)):
            objects.label(role, f"Vertex {k} of {name}", vertex)
    difference.mark("origin", np.zeros(3))
    difference.label("origin", "Origin", np.zeros(3))
    difference.mark("other", PLANE.to_3d(differences))
    for degrees in TURNS:
        n = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
        i, j = a.support_index(n), b.support_index(-n)
        point, before = a.vertices[i] - b.vertices[j], found[-1] if found else None
        text = f"Direction {degrees}°: vertex {i} of A is farthest along it and vertex {j} of B farthest against it. "
        text += f"{_at(a.vertices[i])} - {_at(b.vertices[j])} = {_at(point)} is the support point ({i}, {j}) of A - B."
        if before is not None:
            side = "A" if before[0] != i else "B"
            text += f" Only the vertex of {side} is another one, so this side of A - B is a side of {side}."
        drawn, known, asked = Canvas(), Canvas(), Canvas()
        for shape, k, sign in ((a, i, 1.0), (b, j, -1.0)):
            _support(drawn, shape.vertices[k], sign * n)
        corners = PLANE.to_3d(np.array([a.vertices[p] - b.vertices[q] for p, q in found] or np.zeros((0, 2))))
        for canvas in (known, asked):
            canvas.line("simplex", [*pairwise(corners)])
            canvas.mark("simplex", corners)
            for pair_of, corner in zip(found, corners, strict=True):
                canvas.label("simplex", f"({pair_of[0]}, {pair_of[1]})", corner)
            canvas.line("direction", PLANE.to_3d(np.array([0.0 * n, 2.0 * n])), is_arrow=True)
        known.line("nearest", [corners[-1], PLANE.to_3d(point)] if found else [])
        _support(known, point, 0.0 * n, n)
        known.label("support", f"({i}, {j})", PLANE.to_3d(point))
        labels = [f"({p}, {q})" for p in range(3) for q in range(3)]
        choices = tuple(zip(labels, PLANE.to_3d(differences), strict=True))
        question, answer = "Which point of A - B is farthest along the arrow?", f"The support point is ({i}, {j})."
        guess = Guess(question, 1, asked.picture(), choices, (3 * i + j,), answer)
        found.append((i, j))
        pictures = drawn.picture(), known.picture()
        frames.append(Frame("support", f"Support Point {len(found)} of {len(TURNS)}", text, pictures, guess=guess))
    closed, moved, mtv = Canvas(), Canvas(), contact(a, b).mtv
    closed.polygon("simplex", PLANE.to_3d(whole.hull.vertices))
    closed.line("overlap", PLANE.to_3d(np.array([0.0 * mtv, mtv])), is_arrow=True)
    closed.label("overlap", _number(np.hypot(*mtv)), PLANE.to_3d(0.5 * mtv))
    moved.line("overlap", PLANE.to_3d(b.vertices.mean(axis=0) + np.array([0.0 * mtv, mtv])), is_arrow=True)
    moved.line("b", loop(PLANE.to_3d(b.vertices + mtv)), is_dashed=True)
    text = f"All {len(found)} together are the corners of A - B. The origin is inside, so the triangles intersect. The "
    text += f"point of its surface nearest to the origin is {_at(mtv)}, {_number(np.hypot(*mtv))} away: moving B by "
    text += "this vector separates them."
    frames.append(Frame("support", "The Minkowski Difference", text, (moved.picture(), closed.picture())))
    spaces = Space("Objects", objects.picture()), Space("Minkowski Difference A - B", difference.picture())
    return Playable("Two triangles and their Minkowski difference", spaces, tuple(frames), **FROM_ABOVE)


def _support(canvas: Canvas, point: FloatArray, direction: FloatArray, normal: FloatArray | None = None) -> None:
    """Add a support point with the direction from it, and the line beyond which nothing is."""
    n = direction if normal is None else normal
    across = 1.2 * np.array([-n[1], n[0]])
    canvas.line("plane", PLANE.to_3d(np.array([point - across, point + across])), is_dashed=True)
    if direction.any():
        canvas.line("direction", PLANE.to_3d(np.array([point, point + direction])), is_arrow=True)
    canvas.mark("support", PLANE.to_3d(point))


def _number(value: float) -> str:
    return UNITS.length(value)


def _at(point: FloatArray) -> str:
    return f"({', '.join(map(_number, point.tolist()))})"


# --- GJK


def gjk() -> Playable:
    """Two tetrahedra that are apart, a corner of B over a face of A."""
    a = ConvexHull([(1, 2, -1), (0, -2, 2), (1, 0, 0), (0, 2, -2)])
    b = ConvexHull([(2, 1, 1), (3, 1, 0), (5, 3, -2), (6, -1, -1)])
    return _numbered(pair("GJK on two tetrahedra", a, b, "gjk"), a, b)


def circle_and_polygon() -> Playable:
    """A circle beside a corner of a polygon."""
    a, b = Polygon([(0, 1), (3, 3), (6, 6), (3, 7), (2, 6)]), Circle((-2, 9), 2)
    return pair("GJK on a circle beside a corner", a, b, "gjk", names=("Polygon", "Circle"))


# --- EPA


def epa() -> Playable:
    """Two tetrahedra that intersect, in two edges that cross."""
    a = ConvexHull([(-1, -1, -2), (1, 0, -2), (-2, 1, 2), (2, -2, 1)])
    b = ConvexHull([(3, 1, 1), (2, 3, 0), (0, -1, -1), (1, 2, 2)])
    return _numbered(pair("EPA on two tetrahedra", a, b, "epa"), a, b)


# --- contact region


def face_on_face() -> Playable:
    """One box on another, turned: the sides of a face of A cut a face of B to a polygon of five corners."""
    a, b = Box((0, 0, 0), (4, 4, 2)), Box((1, 1, 1.9), (4, 4, 2), (2, 0, 0, 1))
    steps = pair_steps(a, b, "region")
    features = steps.trace.steps[steps.shown[0]]
    assert isinstance(features, RegionStep)
    assert steps.region is not None
    names = [f"Vertex {k} of A" for k in features.feature_a] + [f"Vertex {k} of B" for k in features.feature_b]
    points = np.concatenate([a.vertices[list(features.feature_a)], b.vertices[list(features.feature_b)]])
    points[:, 2] = steps.region.centroid[2]
    off = np.linalg.norm(points[:, None] - steps.region.vertices, axis=2).min(axis=1)
    right = tuple(np.flatnonzero(off < 1e-6).tolist())
    *most, last = (names[k].lower()[:-1] + names[k][-1] for k in right)
    answer = f"Inside the other face are {', '.join(most)} and {last}."
    shown = playable(steps, "One box on another, turned")
    first, cut, *others = shown.frames
    question = "Which vertex is a corner of the region too?"
    guess = Guess(question, 0, first.pictures[0], tuple(zip(names, points, strict=True)), right, answer)
    return replace(shown, frames=(first, replace(cut, guess=guess), *others), toward_viewer=(0.5, -1.0, 1.2))


def edges_crossing() -> Playable:
    """Two boxes edge to edge: the edges cross at one point of the contact plane."""
    a = Box((0, 0, 0), (2, 2, 2), (3, 1, 0, 0))
    return pair("Two boxes, edge across edge", a, Box((0, 0, 2.6), (2, 2, 2), (3, 0, 1, 0)), "region")


# --- bounding volumes


def eight_dop() -> Playable:
    """A triangle in four kinds of volumes, then the slabs of its 8-DOP against those of another triangle."""
    a, b = (np.array(corners, dtype=float) for corners in (((3, 1), (5, 4), (1, 5)), ((4, 1), (7, 2), (6, 3))))
    behind, frames = Canvas(), []
    behind.polygon("a", PLANE.to_3d(a))
    behind.label("a", "A", PLANE.to_3d(a.mean(axis=0)))
    own, other = (bounding_volumes("kdop", corners, k=8) for corners in (a, b))
    assert isinstance(own, KDops)
    assert isinstance(other, KDops)
    ball = bounding_volumes("sphere", a)
    assert isinstance(ball, Spheres)
    turn = np.linspace(0.0, 2.0 * np.pi, CIRCLE + 1)[:-1]
    circle = ball.center[0] + ball.radius[0] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    box = bounding_volumes("obb", a)
    sides = np.linalg.norm(np.diff(box.polytope(0).vertices[[0, 1, 2]], axis=0), axis=1).tolist()
    for name, volumes, corners, why in (
        (
            "Bounding Sphere",
            ball,
            circle,
            f"In the plane a circle, here of radius {_number(ball.radius[0])}. It looks the "
            "same however A is turned, and two are tested with one distance.",
        ),
        (
            "AABB",
            bounding_volumes("aabb", a),
            None,
            "Two slabs, each between the least and the greatest value of a "
            f"coordinate: {_slabs(own, 2)}. Two are tested with comparisons only.",
        ),
        (
            "OBB",
            box,
            None,
            f"A box that is turned so that it is small: {_number(sides[0])} by {_number(sides[1])}. A test "
            "of two is one of separating axes.",
        ),
        (
            "8-DOP",
            own,
            None,
            f"Four slabs, with two numbers each: {_slabs(own, 4)}. The other two cut off corners of "
            "the AABB, and two are still tested with comparisons only.",
        ),
    ):
        drawn = Canvas()
        if volumes is own:
            draw_slabs(drawn, own, PLANE, UNITS)
        drawn.polygon("region", PLANE.to_3d(volumes.polytope(0).vertices if corners is None else corners), 1.0, 0.4)
        frames.append((name, f"{why} Area {_number(volumes.volume[0])}.", drawn))
    for number, (direction, name) in enumerate(zip(own.directions, _names(own), strict=True)):
        (low, high), (from_, to) = ((each.low[0, number], each.high[0, number]) for each in (own, other))
        is_apart, corner, n = from_ > high or low > to, b[0], direction / (direction @ direction)
        text = f"Slab {name} of A is from {_number(low)} to {_number(high)}, that of B from {_number(from_)} to "
        text += f"{_number(to)}: "
        if is_apart:
            gap = UNITS.length(float(own.gap(other)[0]), rounding="down")
            text += f"they have nothing in common, so the triangles are apart, by at least {gap}."
        else:
            text += "they overlap, so the next slab is compared."
        frames.append((f"Against B: {name}", text, _bands(direction, (low, high), (from_, to), b, name)))
        if is_apart:
            start, end = (
                corner + (value - corner @ direction) * n for value in ((high, from_) if from_ > high else (low, to))
            )
            frames[-1][2].line("gap", PLANE.to_3d(np.array([start, end])), is_arrow=True)
            frames[-1][2].label("gap", gap, PLANE.to_3d(end))
    made = tuple(Frame("volumes", name, text, (drawn.picture(),)) for name, text, drawn in frames)
    return Playable("A triangle in bounding volumes", (Space("Objects", behind.picture()),), made, **FROM_ABOVE)


def _names(dop: KDops) -> list[str]:
    return [name for name, *_ in slabs_of(dop, PLANE.names, UNITS)]


def _slabs(dop: KDops, count: int) -> str:
    parts = [f"{name} from {low} to {high}" for name, low, high in slabs_of(dop, PLANE.names, UNITS)[:count]]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


REACH = 3.0
"""How far bands go, to both sides of the middle of both triangles."""


def _bands(
    direction: FloatArray, of_a: tuple[float, float], of_b: tuple[float, float], b: FloatArray, name: str
) -> Canvas:
    """Return the triangle B, and the slabs of both across a direction as bands."""
    drawn, middle = Canvas(), np.array([4.0, 3.0])
    drawn.polygon("b", PLANE.to_3d(b))
    drawn.label("b", "B", PLANE.to_3d(b.mean(axis=0)))
    n = direction / (direction @ direction)
    along = REACH * np.array([-n[1], n[0]]) / np.linalg.norm(n)
    for role, slab in zip(SIDES, (of_a, of_b), strict=True):
        first, second = (middle + (value - middle @ direction) * n for value in slab)
        drawn.fill(
            role, fan(PLANE.to_3d(np.array([first - along, first + along, second + along, second - along]))), 0.6
        )
        for foot, value in zip((first, second), slab, strict=True):
            line = PLANE.to_3d(np.array([foot - along, foot + along]))
            drawn.line(role, line, 0.6)
            drawn.label(role, f"{name} = {_number(value)}", line[int(role == "b")])
    return drawn


# --- trees


COAST = np.array([(0, 0), (1, 1.2), (2, 0.8), (3, 1.9), (4, 1.3), (5, 2.2), (6, 1.4), (7, 2.0), (8, 1.1)])
ROAD = np.array(
    [(0.4, 4.0), (1.3, 3.2), (2.4, 3.6), (3.5, 2.7), (4.6, 3.1), (5.2, 1.9), (6.3, 2.6), (7.2, 3.5), (8, 3.0)]
)


def descent() -> Playable:
    """Two lines of eight segments that cross at one place: their trees are descended test by test."""
    lines, names = (COAST, ROAD), ("A", "B")
    ends = [np.stack([line[:-1], line[1:]], axis=1).reshape(-1, 2) for line in lines]
    items = [bounding_volumes("aabb", points, np.arange(0, len(points), 2)) for points in ends]
    trees = Bvh.build(items[0], "top-down"), Bvh.build(items[1], "top-down")
    tests: list[VolumeTests] = []
    found = trees[0].overlapping_pairs(trees[1], tests=tests)
    played = Descent(names, trees, found, tests, "segment", UNITS, PLANE)
    objects, diagram, shown = Canvas(), Canvas(), Canvas()
    places = [_places(tree, 9.0 * side) for side, tree in enumerate(trees)]
    for role, line, tree, place, name in zip(SIDES, lines, trees, places, names, strict=True):
        objects.line(role, [*pairwise(PLANE.to_3d(line))], 1.5)
        objects.label(role, name, PLANE.to_3d(line[-1]))
        diagram.line(
            "other",
            [
                [place[k], place[child]]
                for k in np.flatnonzero(tree.left >= 0)
                for child in (tree.left[k], tree.left[k] + 1)
            ],
        )
        diagram.mark(role, place)
        diagram.label(role, f"Tree of {name}", place[0] + (0.0, 0.5, 0.0))
        for level in range(tree.depth):
            shown.line(
                role,
                edges_of(tree.volumes.take(np.flatnonzero(tree.level == level)), PLANE)[0],
                0.4 + 0.3 * (3 - level),
            )
    text = (
        f"Each node has the AABB of the segments below it, down to leaves of one segment. Of {found.possible} pairs of "
    )
    text += f"segments {found.tests} tests of two AABBs leave {len(found.pairs)}."
    frames = [Frame("descent", "Two Trees", text, (shown.picture(), StudyPicture()))]
    nodes = np.concatenate([np.stack([each.a, each.b], axis=1) for each in tests])
    leaves: list[list[FloatArray]] = [[], []]
    for number, (test, overlap) in enumerate(zip(nodes, np.concatenate([each.overlap for each in tests]), strict=True)):
        drawn, is_leaf = Canvas(), all(tree.is_leaf[k] for tree, k in zip(trees, test, strict=True))
        for side, (tree, place, k) in enumerate(zip(trees, places, test, strict=True)):
            below = np.flatnonzero(
                (tree.first >= tree.first[k]) & (tree.first + tree.count <= tree.first[k] + tree.count[k])
            )
            if overlap and is_leaf:
                leaves[side].append(place[k])
            if not overlap:
                drawn.mark("removed", place[below])
            drawn.mark("region", leaves[side])
            drawn.mark("support", place[k])
            drawn.label("support", f"Node {k}", place[k])
        sentence = played.sentence(number).partition(": ")[2]
        cut, left = (f"{name}: {value}" for name, value in played.rows(number))
        words = f"{sentence[0].upper()}{sentence[1:]}. {cut}. {left}."
        frames.append(
            Frame("descent", f"Test {number + 1} of {found.tests}", words, (played.picture(number), drawn.picture()))
        )
    spaces = Space("Objects", objects.picture()), Space("Trees", diagram.picture())
    return Playable("Two lines of eight segments and their trees", spaces, tuple(frames), **FROM_ABOVE)


def _places(tree: Bvh, shift: float) -> FloatArray:
    """Return where the nodes (n, 3) of a tree are drawn: each in the middle of the leaves below."""
    across = tree.first + 0.5 * (tree.count - 1) + shift
    return PLANE.to_3d(np.stack([across, -3.0 * tree.level], axis=1))


PLAYERS: dict[str, Callable[[], Playable]] = {
    make.__name__: make
    for make in (
        *(two_boxes, containment, l_shape, minkowski, gjk, circle_and_polygon, epa),
        *(face_on_face, edges_crossing, eight_dop, descent),
    )
}
"""By the name that a chapter calls them."""
STILLS = {"two_boxes": 7, "containment": 0, "l_shape": 2, "epa": 3, "eight_dop": 3}
"""The step that is on the picture of a player, from 0, where it is not that in the middle."""
