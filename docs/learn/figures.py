# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of `engine.md`: what the engine computes of the pairs there, as players of one frame from above."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from players import FROM_ABOVE

from contact_lens.blender_addon.geometry.shape_outline import loop
from contact_lens.blender_addon.study.picture import Canvas, Role, StudyPicture
from contact_lens.blender_addon.study.playable import Frame, Playable, Space
from contact_lens.core import ConvexHull, contact, minkowski_hull
from contact_lens.core.curved.bracket import bracket_cores
from contact_lens.core.curved.curved_core import Core
from contact_lens.core.many.batched.box_axes import double_chunks, near_box_axes
from contact_lens.core.narrow_phase.epa import _Polytope
from contact_lens.core.narrow_phase.polytope_contact import polytope_contact
from contact_lens.core.types import FloatArray

TEXT = Path(__file__).resolve().parents[1] / "engine.md"
TURN = 2.0 * np.pi * np.arange(96) / 96
CIRCLE = np.stack([np.cos(TURN), np.sin(TURN)], axis=1)
UPRIGHT = np.eye(2)


@cache
def pairs() -> list[dict[str, Any]]:
    """Return what the names stand for after each example of the text."""
    found: list[dict[str, Any]] = [{}]
    for block in re.findall(r"```pycon\n(.*?)```", TEXT.read_text(encoding="utf-8"), re.DOTALL):
        found.append(dict(found[-1]))
        with contextlib.redirect_stdout(io.StringIO()):
            exec("".join(example.source for example in doctest.DocTestParser().get_examples(block)), found[-1])
    return found[1:]


def flat(points: ArrayLike, height: float = 0.0) -> FloatArray:
    """Return points (..., 2) in space."""
    array = np.asarray(points, dtype=float)
    return np.concatenate([array, np.full((*array.shape[:-1], 1), height)], axis=-1)


class Panel(Canvas):
    """A canvas whose points are (2,)."""

    def outline(self, role: Role, corners: ArrayLike, opacity: float = 1.0) -> None:
        self.polygon(role, flat(corners), opacity=opacity)

    def arrow(self, role: Role, vector: FloatArray, start: ArrayLike = (0, 0)) -> None:
        self.line(role, flat([start, start + vector]), is_arrow=True)

    def across(self, normal: FloatArray, *points: FloatArray) -> None:
        side = 1.3 * np.array([-normal[1], normal[0]])
        self.line("plane", flat([[point - side, point + side] for point in points]), is_dashed=True)

    def cells(self, role: Role, middles: FloatArray, opacity: float, frame: FloatArray = UPRIGHT) -> None:
        """Add parallelograms with sides as the rows of a frame, below all else, those of one opacity together."""
        x, y = 0.46 * frame
        corners = middles[:, None] + np.array([-x - y, x - y, x + y, -x - y, x + y, y - x])
        self.fill(role, flat(corners, 0.1 * opacity - 1.0), opacity)

    def texts(self, **texts: tuple[str, float, float]) -> None:
        """Add a label, and where it is, for each role."""
        for role, (text, x, y) in texts.items():
            self.label(role, text, flat([x, y]))  # type: ignore[arg-type]


def figure(**panels: Panel) -> Playable:
    """Return a player of one frame, with a space for each panel."""
    spaces = tuple(Space(name.replace("_", " "), StudyPicture()) for name in panels)
    frame = Frame("", "", "", tuple(panel.picture() for panel in panels.values()))
    return Playable("", spaces, (frame,), **FROM_ABOVE)


def exact() -> Playable:
    """Of points that differ by the last digit, those that see a face of EPA's polytope."""
    polytope = _Polytope([(20.4, 8.9, 0.0, 0, 0), (20.4, 8.9, 1.0, 1, 1), (39.9, 27.0, 0.5, 2, 2)], 48.0)
    x, y, z, offset, _ = polytope.grid.plane(0, 1, 2)
    steps, digit = np.stack(np.mgrid[-11:12, -11:12], axis=2).reshape(-1, 2), np.spacing(7.7)
    heights = []
    for p, q in ((np.rint([7.7 / digit, (8.9 - 12.7 * 18.1 / 19.5) / digit]) + steps) * digit).tolist():
        polytope.points.append((p, q, 0.25, 3, 3))
        heights.append((x * p + y * q + z * 0.25 - offset, polytope.grid.height(0, 0, 1, 2, 3)))
        polytope.grid.drop_last()
    panels, sides = (Panel(), Panel()), np.sign(np.array(heights, dtype=float)).T
    for panel, side in zip(panels, sides, strict=True):
        wrong = side != sides[1]
        panel.cells("a", steps[~wrong & (side > 0)], 2.2)
        panel.cells("b", steps[~wrong & (side < 0)], 2.2)
        panel.cells("overlap", steps[wrong], 4.4)
        panel.texts(a=("sees the face", -4, 7), b=("does not", 6, -6))
    panels[0].texts(overlap=("wrong", *steps[sides[0] != sides[1]][30]))
    return figure(Floats=panels[0], Whole_numbers=panels[1])


def certificate() -> Playable:
    """A polygon inside of the Minkowski difference, and a plane that it is not beyond."""
    a, b, c, corners = (pairs()[1][name] for name in ("a", "b", "c", "corners"))
    objects, difference = Panel(), Panel()
    objects.outline("a", a.vertices)
    objects.outline("b", b.vertices)
    objects.across(c.normal, c.point_on_a, c.point_on_b)
    objects.arrow("overlap", c.mtv, c.point_on_b)
    objects.texts(a=("A", -0.5, -0.3), b=("B", 1.2, 0.9))
    difference.outline("hull", minkowski_hull(a, b).shape.vertices, 2.0)
    difference.outline("simplex", ConvexHull(corners).vertices)
    difference.outline("nearest", c.depth * CIRCLE)
    difference.across(c.normal, c.mtv)
    difference.arrow("overlap", c.mtv)
    difference.mark("origin", np.zeros(3))
    difference.texts(hull=("A - B", -2.4, 0.2), simplex=("polygon", -1.1, -0.9), nearest=("ball", -0.5, -0.5))
    difference.texts(plane=("plane", 0.3, 1.3))
    return figure(Objects=objects, Minkowski_difference=difference)


def translations() -> Playable:
    """Translations that overlap for certain, that probably separate, and the others."""
    c, grid, foot = (pairs()[2][name] for name in ("c", "grid", "foot"))
    steps = np.stack(np.mgrid[[slice(-grid._steps, grid._steps + 1)] * 2], axis=2).reshape(-1, 2)
    frame = grid.size * grid.frame[:2, :2]
    moves = steps @ frame
    blocked, near = (of[:, :, grid._steps].ravel() for of in (grid._overlapping, grid._near))
    objects, chosen, shown = Panel(), Panel(), np.linalg.norm(moves, axis=1) <= 1.2
    sides = np.stack([CIRCLE, np.roll(CIRCLE, -1, 0)], axis=1)
    objects.fill("a", flat(np.concatenate([sides, 2.4 * sides], axis=1)[:, [0, 2, 3, 0, 3, 1]]))
    objects.line("a", flat([sides, 2.4 * sides]))
    objects.outline("b", foot)
    objects.outline("added", foot + c.mtv[:2], 0.0)
    objects.arrow("overlap", c.mtv[:2], np.mean(foot, axis=0))
    objects.texts(a=("A", -1.2, 1.2), b=("B", 0.9, 0.7))
    chosen.cells("overlap", moves[shown & blocked], 1.2, frame)
    open_ = moves[shown & near & ~blocked]
    chosen.cells("other", open_, 3.0, frame)
    chosen.cells("region", moves[shown & ~near], 1.2, frame)
    chosen.line("nearest", loop(flat(grid.least * CIRCLE)))
    chosen.arrow("overlap", c.mtv[:2])
    chosen.mark("origin", np.zeros(3))
    chosen.texts(overlap=("overlap for certain", 0.3, 0.7), region=("probably free", -0.7, -0.5))
    chosen.texts(nearest=("nothing shorter separates", 0.2, -0.17), other=("not known", *open_[open_[:, 1].argmin()]))
    return figure(Objects=objects, Translations_of_B=chosen)


def batches() -> Playable:
    """The overlaps of twenty pairs of boxes along all axes, and the least of each."""
    i, j, columns, left, slabs = (pairs()[3][name] for name in ("i", "j", "columns", "left", "slabs"))
    some = np.sort(np.concatenate([left[:: len(left) // 16], slabs.columns[slabs.lower_bound.argsort()[:4]]]))[:20]
    kept, axes, apart = near_box_axes(columns, i[some], j[some], 0.0)
    ((_, work),) = double_chunks(columns, i[some], j[some])
    work.edges(careful=True)
    work.decisive_axis()
    panel, rows, gap = Panel(), np.arange(15), apart.columns[0]
    y = -rows - 0.5 * np.minimum(rows // 3, 2)
    levels = np.ceil(np.clip(np.abs(work.overlap) / 0.3, 0.1, 8.0)) * np.sign(work.overlap)
    levels[6:, apart.columns] = 0.0
    for level in np.unique(levels[levels != 0.0]):
        row, column = np.nonzero(levels == level)
        opacity = 0.4 * abs(level) + 2.0 * (level < 0)
        panel.cells("a" if level > 0 else "overlap", np.stack([column, y[row]], axis=1), opacity)
    panel.mark("support", flat(np.stack([kept, y[axes.axis]], axis=1)))
    panel.texts(a=("faces of A", -5, -1), b=("faces of B", -5, -4.5), axis=("edges", -5, -11))
    panel.texts(support=("least overlap", kept[-1], y[axes.axis[-1]]))
    panel.texts(overlap=("gap", gap, y[work.overlap[:6, gap].argmin()]))
    return figure(A_column_is_a_pair_of_boxes=panel)


def curved() -> Playable:
    """The polygon inside of an ellipse and the planes outside, in the first round and in the last."""
    a, b = (pairs()[4][name] for name in "ab")
    core_a, core_b = Core.of(a), Core.of(b)
    panels = Panel(), Panel()
    for panel, core in zip(panels, (core_a, bracket_cores(core_a, core_b, 1.0).core_a), strict=True):
        inner = polytope_contact(core.inner, core_b.inner)
        normal, top = inner.normal, core_a.supports(inner.normal[None])[0]
        panel.line("a", loop(flat(CIRCLE * a.semi_axes)))
        panel.outline("simplex", ConvexHull(core.inner.vertices).vertices)
        panel.mark("simplex", flat(core.inner.vertices))
        panel.outline("b", b.vertices)
        panel.across(normal, top, inner.point_on_b)
        panel.line("nearest", flat([inner.point_on_a, inner.point_on_b]))
        lower = float((inner.point_on_b - top) @ normal)
        place = top + 0.5 * lower * normal + [-normal[1], normal[0]]
        panel.texts(nearest=(f"upper {inner.signed_distance:.4f}", *inner.point_on_a), b=("B", 2.7, 1.8))
        panel.texts(plane=(f"lower {lower:.4f}", *place), simplex=("polygon inside A", -0.6, 0))
    return figure(First_round=panels[0], Last_round=panels[1])


def compounds() -> Playable:
    """The union of two Minkowski differences, and the shortest translation out of it."""
    a, b, c = (pairs()[5][name] for name in "abc")
    objects, chosen = Panel(), Panel()
    for piece in a.pieces:
        objects.outline("a", piece.vertices)
        chosen.outline("hull", minkowski_hull(piece, b).shape.vertices, 3.0)
        chosen.arrow("axis", contact(piece, b).mtv)
    objects.outline("b", b.vertices)
    objects.outline("added", b.vertices + c.mtv, 0.0)
    objects.arrow("overlap", c.mtv, b.center)
    chosen.arrow("overlap", c.mtv)
    chosen.mark("origin", np.zeros(3))
    objects.texts(a=("A", 0.5, 2.5), b=("B", 0.8, 0.9), added=("B moved", 1.8, 1.9))
    chosen.texts(hull=("foot - B", 0.9, -1.2), added=("stem - B", -1, 1.7))
    chosen.texts(overlap=("out of both", *c.mtv), axis=("out of one", 0, 0.3))
    return figure(Objects=objects, Translations_of_B=chosen)


FIGURES: dict[str, Callable[[], Playable]] = {
    make.__name__: make for make in (exact, certificate, translations, batches, curved, compounds)
}
