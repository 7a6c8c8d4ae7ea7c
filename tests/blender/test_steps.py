# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of SAT, GJK, EPA and the contact region: sentences say the numbers of their step, pictures draw them."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from .scenes import inspection, lens, select, update

ROOT = Path(__file__).resolve().parents[2]
DIGITS = 1e-3
"""Relative: lengths in sentences have four digits, and bounds are rounded outward."""
NAMES = ("Alpha", "Beta")
CORNERS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def turn(rng: np.random.Generator) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(3, 3)))[0]


def clouds(rng: np.random.Generator) -> tuple[Any, Any]:
    """Hulls of points of which many are inside, so that a vertex of the hull has another index than the point."""
    a, b = rng.normal(size=(20, 3)), rng.normal(size=(15, 3))
    return lens.core.ConvexHull(a), lens.core.ConvexHull(b + rng.normal(size=3) * rng.choice([0.5, 2.5]))


def boxes(rng: np.random.Generator) -> tuple[Any, Any]:
    b = CORNERS * rng.uniform(0.3, 2.0, size=3) @ turn(rng).T + rng.normal(size=3) * 1.2
    return lens.core.ConvexHull(CORNERS), lens.core.ConvexHull(b)


def stacks(rng: np.random.Generator) -> tuple[Any, Any]:
    angle = rng.uniform(0.1, 1.4)
    b = CORNERS @ np.array([(np.cos(angle), np.sin(angle), 0), (-np.sin(angle), np.cos(angle), 0), (0, 0, 1)])
    return lens.core.ConvexHull(CORNERS), lens.core.ConvexHull(b + (*rng.uniform(-0.8, 0.8, size=2), 1.9))


def round_ones(rng: np.random.Generator) -> tuple[Any, Any]:
    """A capsule and a sphere, whose cores are apart, or a box, which its segment may run through."""
    start = rng.normal(size=3)
    capsule = lens.core.Capsule(start, start + rng.normal(size=3), rng.uniform(0.2, 0.9))
    if rng.random() < 0.5:
        return capsule, lens.core.Sphere(start + rng.normal(size=3), rng.uniform(0.2, 0.9))
    return lens.core.ConvexHull(CORNERS + rng.uniform(-0.3, 0.3, size=3)), capsule


def polygons(rng: np.random.Generator) -> tuple[Any, Any]:
    a, b = rng.normal(size=(7, 2)), rng.normal(size=(6, 2))
    return lens.core.ConvexHull(a), lens.core.ConvexHull(b + rng.normal(size=2))


KINDS: dict[str, Callable[[np.random.Generator], tuple[Any, Any]]] = {
    "clouds": clouds,
    "boxes": boxes,
    "stacks": stacks,
    "round": round_ones,
    "polygons": polygons,
}


def plane() -> Any:
    """An upright plane, whose frame is not the world's."""
    return lens.geometry.plane.Plane(np.array((1.0, 2.0, 3.0)), np.array(((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))))


def steps_of(a: Any, b: Any, algorithm: str = "all", **more: Any) -> Any:
    steps = lens.study.steps
    settings = steps.StepSettings(algorithm, **more)
    flat = plane() if a.dim == 2 else None
    return steps.steps_of(steps.StepsInput(a, b, *NAMES, lens.data.units.UnitFormat(), settings, flat))


def cases(kind: str, count: int = 25) -> Iterator[Any]:
    """The steps of random pairs; all axes of SAT."""
    for seed in range(count):
        yield steps_of(*KINDS[kind](np.random.default_rng(seed)), all_axes=True)


def lengths(sentence: str) -> list[float]:
    return [float(number) for number in re.findall(r"(\d+(?:\.\d+)?(?:e[-+]\d+)?) m\b(?!²)", sentence)]


def wanted_lengths(steps: Any, number: int) -> list[float]:
    """The lengths that the sentence of a step has to say, from its fields."""
    place = steps.shown[number]
    step, all_steps = steps.trace.steps[place], steps.trace.steps
    is_last = step.kind not in {later.kind for later in all_steps[place + 1 :]}
    radii = [radius for radius in steps.trace.radii if radius > 0.0]
    found: list[float] = []
    bound = step.lower if step.lower is not None else step.upper
    if step.kind == "sat":
        if getattr(step, "signed_distance", None) is not None:
            found.append(abs(step.signed_distance))
            if step.best != place and not is_last:
                found.append(abs(all_steps[step.best].signed_distance))
        if is_last:
            found.append(abs(all_steps[step.best].signed_distance))
            bound = all_steps[step.best].lower
    elif step.kind == "gjk":
        if step.outcome not in ("inside", "touching"):
            found.append(float(np.linalg.norm(step.nearest)))
        if not step.outcome and step.lower is not None and step.lower > 0.0:
            found.append(step.lower)
    elif step.kind == "epa":
        if step.outcome == "grown":
            found += [abs(step.offset), step.height]
            if step.lower is not None and step.upper is not None:
                found += [-step.upper, -step.lower]
        elif step.outcome not in ("start", "coplanar"):
            found.append(step.height)
        if is_last and step.outcome in ("coplanar", "farther"):
            nearest = [earlier for earlier in all_steps if getattr(earlier, "outcome", "") == "nearest"][-1]
            found.append(nearest.height)
            if radii:
                found += [*radii, abs(nearest.lower - sum(radii))]
    elif step.stage == "result" and len(step.kept) == 2:
        found.append(steps.region.length)
    if radii and ((step.kind == "sat" and is_last) or getattr(step, "outcome", "") in ("converged", "nearest")):
        found += [*radii, abs(bound - sum(radii))]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_each_sentence_says_the_lengths_of_its_step(kind: str) -> None:
    kinds = set()
    for steps in cases(kind):
        for number, place in enumerate(steps.shown):
            sentence = steps.sentence(number)
            assert np.allclose(lengths(sentence), wanted_lengths(steps, number), rtol=DIGITS, atol=1e-9), sentence
            assert sentence[0].isupper() or sentence[0].isdigit()
            assert sentence.endswith("."), sentence
            kinds.add(steps.trace.steps[place].kind)
    assert kinds == {"sat", "gjk", "epa", *(() if kind == "round" else ("region",))}


@pytest.mark.parametrize("kind", ["clouds", "round"])
def test_bounds_are_rounded_outward_and_called_bounds(kind: str) -> None:
    words = set()
    for steps in cases(kind, 40):
        total = sum(steps.trace.radii)
        for number, place in enumerate(steps.shown):
            step, sentence = steps.trace.steps[place], steps.sentence(number)
            if found := re.search(r"The depth is (\S+) m to (\S+) m", sentence):
                assert float(found[1]) <= -step.upper <= -step.lower <= float(found[2]), sentence
            if step.kind != "sat" or (gap := steps.trace.steps[step.best].signed_distance) <= 0.0:
                continue
            if found := re.search(r"the distance is at least (\S+) m", sentence):
                assert float(found[1]) <= gap, sentence
            assert not re.search(r"the (gap|depth) is \d", sentence), "the gap on an axis is a bound only"
            if found := re.search(r"the (gap|depth) is (at \w+) (\S+) m\.$", sentence):
                assert (found[1], found[2]) == (("gap", "at least") if gap > total else ("depth", "at most"))
                assert float(found[3]) <= gap - total if gap > total else float(found[3]) >= total - gap, sentence
                words.add(found[2])
    assert words == ({"at least", "at most"} if kind == "round" else set())


def test_two_spheres_have_the_axis_between_their_centers() -> None:
    steps = steps_of(lens.core.Sphere((0, 0, 0), 1.0), lens.core.Sphere((1.5, 0, 0), 1.0), "sat")
    assert steps.sentence(0).startswith("Axis 1 of 1: from the center of Alpha to that of Beta. Between the shadows of")
    assert steps.sentence(0).endswith("by the radius 1 m of Alpha and 1 m of Beta: the depth is at most 0.5 m.")


@pytest.mark.parametrize("kind", ["clouds", "boxes", "polygons"])
def test_points_of_the_difference_are_named_by_the_indices_of_the_points_given(kind: str) -> None:
    named = 0
    for seed in range(25):
        a, b = KINDS[kind](np.random.default_rng(seed))
        given = [dict(zip(shape.vertex_ids.tolist(), shape.vertices, strict=True)) for shape in (a, b)]
        steps = steps_of(a, b)
        for number, place in enumerate(steps.shown):
            step, sentence = steps.trace.steps[place], steps.sentence(number)
            found = re.search(r"\((\d+), (\d+)\)\S* vertex (\d+) of Alpha minus vertex (\d+) of Beta", sentence)
            if step.kind in ("gjk", "epa") and step.point is not None and found:
                i, j, *again = map(int, found.groups())
                assert again == [i, j]
                assert np.allclose(given[0][i] - given[1][j], step.point[: a.dim])
                named += 1
    assert named > 25


@pytest.mark.parametrize("kind", KINDS)
def test_axes_are_counted_and_measured_as_their_sentences_say(kind: str) -> None:
    for steps in cases(kind):
        best, count = -np.inf, 0
        points = [core.vertices for core in steps.cores]
        total = sum(getattr(step, "signed_distance", None) is not None for step in steps.trace.of_kind("sat"))
        for number, place in enumerate(steps.shown):
            step, sentence = steps.trace.steps[place], steps.sentence(number)
            if getattr(step, "signed_distance", None) is None:
                continue
            count += 1
            assert sentence.startswith(f"Axis {count:,} of {total:,}: ")
            (low_a, high_a), (low_b, high_b) = [(h.min(), h.max()) for h in (p @ np.array(step.axis) for p in points)]
            gap = max(low_b - high_a, low_a - high_b)
            assert lengths(sentence)[0] == pytest.approx(abs(gap), rel=DIGITS, abs=1e-9)
            assert (" is a gap of " in sentence) == (gap > 0.0)
            if "so far." in sentence and "best" not in sentence:
                assert gap > best - 1e-9
            best = max(best, gap)


def test_the_features_of_an_axis_are_named_and_lit() -> None:
    a, b = boxes(np.random.default_rng(4))
    steps = steps_of(a, b, "sat", all_axes=True)
    for number, place in enumerate(steps.shown):
        step, picture = steps.trace.steps[place], steps.picture(number)
        if getattr(step, "axis", None) is None:
            continue
        drawn = {role: [line for line in picture.lines if line.role == role] for role in "ab"}
        if step.origin == "face_a":
            loop = a.facets[step.index_a]
            assert f"face {'-'.join(map(str, a.vertex_ids[loop]))} of Alpha." in steps.sentence(number)
            assert np.allclose(drawn["a"][0].ends[:, 0], a.vertices[loop])
        elif step.origin == "edges":
            assert np.allclose(drawn["a"][0].ends, a.vertices[a.edges[step.index_a]])
            assert np.allclose(drawn["b"][0].ends, b.vertices[b.edges[step.index_b]])


@pytest.mark.parametrize("kind", KINDS)
def test_shadows_are_drawn_beside_the_objects_as_long_as_they_are(kind: str) -> None:
    gaps = 0
    for steps in cases(kind, 8):
        world = steps.given.in_world
        points = world(np.concatenate([core.vertices for core in steps.cores]))
        for number, place in enumerate(steps.shown):
            step = steps.trace.steps[place]
            if getattr(step, "signed_distance", None) is None:
                continue
            picture = steps.picture(number)
            axis = np.array(step.axis) if steps.given.flat is None else np.array(step.axis) @ steps.given.flat.axes
            start = 0.0 if steps.given.flat is None else steps.given.flat.point @ axis
            arrow = next(line for line in picture.lines if line.is_arrow).ends[0]
            forward = -axis if step.is_flipped else axis
            assert np.allclose(arrow[1] - arrow[0], np.linalg.norm(arrow[1] - arrow[0]) * forward)
            for role, interval in (("a", step.interval_a), ("b", step.interval_b)):
                heights = [
                    line.ends @ axis - start for line in picture.lines if line.role == role and not line.is_dashed
                ]
                assert any(len(h) == 1 and np.allclose(h, [interval], atol=1e-9) for h in heights)
            kind_of = "gap" if step.signed_distance > 0.0 else "overlap"
            between = next(line.ends[0] for line in picture.lines if line.role == kind_of)
            assert np.linalg.norm(between[1] - between[0]) == pytest.approx(abs(step.signed_distance), abs=1e-9)
            (label,) = picture.labels
            assert (label.role, label.text) == (kind_of, steps.given.units.length(abs(step.signed_distance)))
            # Nothing of the objects is where the axis is.
            beside = label.point - points.mean(axis=0)
            beside -= beside @ axis * axis
            assert ((points - label.point) @ beside < 0.0).all()
            planes = [line.ends.reshape(-1, 3) @ axis - start for line in picture.lines if line.role == "plane"]
            assert bool(planes) == (kind_of == "gap")
            for heights in planes:
                inner = sorted((*step.interval_a, *step.interval_b))[1:3]
                assert np.allclose(heights, np.mean(inner))
                gaps += 1
    assert gaps or kind == "stacks"


def test_a_region_is_drawn_from_its_features_to_its_center() -> None:
    cuts = 0
    for steps in cases("stacks"):
        contact_points = steps.region.vertices
        for number, place in enumerate(steps.shown):
            step = steps.trace.steps[place]
            if step.kind != "region":
                continue
            picture, sentence = steps.picture(number), steps.sentence(number)
            if step.stage == "features":
                for side, feature in enumerate((step.feature_a, step.feature_b)):
                    ids = "-".join(map(str, steps.cores[side].vertex_ids[list(feature)]))
                    assert f"face {ids} of {NAMES[side]}" in sentence
                continue
            kept = next(point.points for point in picture.points if point.role == "region")
            assert np.allclose(kept, step.kept)
            assert np.allclose((kept - step.origin) @ step.normal, 0.0)
            if step.stage == "result":
                assert np.allclose(kept, contact_points)
                (label,) = picture.labels
                assert label.text == f"area {steps.given.units.area(steps.region.area)}"
                assert label.text in sentence
                assert np.allclose(label.point, steps.region.centroid)
            else:
                numbers = [int(number) for number in re.findall(r"(\d+) corner", sentence)]
                assert numbers == [count for count in (len(step.cut),) if count] + [len(step.kept)]
                cuts += len(step.cut)
    assert cuts > 25


def test_bounds_close_on_the_signed_distance() -> None:
    for kind in KINDS:
        for steps in cases(kind, 10):
            true = lens.core.contact(steps.given.a, steps.given.b).signed_distance
            lower, upper = steps.bounds()
            assert lower.shape == upper.shape == (len(steps.shown),)
            is_sat = np.array([steps.trace.steps[k].kind == "sat" for k in steps.shown])
            known = ~np.isnan(lower)
            assert (lower[known] <= true + 1e-9).all()
            assert (upper[~np.isnan(upper) & ~is_sat] >= true - 1e-9).all()


@pytest.mark.parametrize("algorithm", ["all", "sat", "gjk"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_trace_leads_to_the_contact_again(kind: str, algorithm: str) -> None:
    for seed in range(6):
        a, b = KINDS[kind](np.random.default_rng(seed))
        again = lens.core.replay(steps_of(a, b, algorithm).trace, a, b)
        assert again.signed_distance == pytest.approx(lens.core.contact(a, b).signed_distance, abs=1e-9)


def test_the_strip_has_a_bar_for_each_axis() -> None:
    steps = steps_of(*clouds(np.random.default_rng(2)), "sat")
    number = len(steps.shown) - 2
    bars = steps.bars(number)
    found = [step.signed_distance for step in steps.trace.steps if getattr(step, "signed_distance", None) is not None]
    assert [bar.signed_distance for bar in bars] == found
    assert [bar.step for bar in bars if bar.is_current] == [steps.shown[number]]
    assert len(bars) > len(steps.shown)
    assert sum(bar.is_best for bar in bars) == 1

    hidden = next(bar.step for bar in bars if bar.step not in steps.shown)
    before = list(steps.shown)
    place = steps.show_axis(hidden)
    assert steps.shown[place] == hidden
    assert sorted([*before, hidden]) == steps.shown
    assert steps.show_axis(hidden) == place
    assert f"{NAMES[0]}" in steps.sentence(place) or f"{NAMES[1]}" in steps.sentence(place)
    assert not steps_of(*boxes(np.random.default_rng(0)), "gjk").bars(0)


def test_titles_count_the_steps_of_each_algorithm() -> None:
    steps = steps_of(*stacks(np.random.default_rng(0)))
    titles = [steps.title(number) for number in range(len(steps.shown))]
    for name in ("SAT", "GJK", "EPA", "Contact Region"):
        of_name = [title for title in titles if title.startswith(f"{name}, ")]
        assert of_name == [f"{name}, Step {k} of {len(of_name)}" for k in range(1, len(of_name) + 1)]
    assert not steps.with_settings(lens.study.steps.StepSettings("region")).title(0).startswith("SAT")


def test_many_axes_are_played_as_far_as_they_improve_the_best(empty_scene: bpy.types.Scene) -> None:
    demo = runpy.run_path(str(ROOT / "demo" / "run.py"))
    crate = runpy.run_path(str(ROOT / "tests" / "gui" / "scenarios" / "separate.py"))["ramp_and_crate"]
    listing = runpy.run_path(str(ROOT / "docs" / "listing" / "demo_scene.py"))
    colors = ((1.0, 1.0, 1.0, 1.0),) * 2
    makers = [lambda: demo["suzanne_and_cube"](colors), crate]
    makers += [listing[name] for name in ("add_gears", "add_beam_and_pipe", "add_ramp_and_crate")]
    counts = []
    for make in makers:
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)
        make()
        update()
        for obj in bpy.data.objects:
            obj.contact_lens_shape = "CONVEX_HULL"
        for a, b in combinations([obj for obj in bpy.data.objects if obj.type in ("MESH", "CURVE")], 2):
            select(a, b)
            bpy.ops.contact_lens.inspect()
            found = inspection()
            steps = steps_of(found.shape_a, found.shape_b, "sat")
            assert len(steps.shown) <= 40
            for number, place in enumerate(steps.shown[1:-1], 1):
                assert steps.trace.steps[place].best == place or len(steps.bars(number)) <= 15
            counts.append(len(steps.bars(0)))
    assert max(counts) > 100


def test_the_region_has_steps_where_the_pair_has_a_region() -> None:
    a, b = lens.core.Box((0, 0, 0), (2, 2, 2)), lens.core.Box((2.1, 0.3, 0), (2, 2, 2))
    with pytest.raises(ValueError, match=r"'Alpha' and 'Beta' are apart, so they have no region"):
        steps_of(a, b, "region")
    every = steps_of(a, b)
    assert {every.trace.steps[place].kind for place in every.shown} == {"sat", "gjk"}
    steps = lens.study.steps
    given = steps.StepsInput(
        a, b, *NAMES, lens.data.units.UnitFormat(), steps.StepSettings("region"), clearance=0.2, contact_tolerance=1e-3
    )
    facing = steps.steps_of(given)
    assert (
        facing.sentence(5)
        == "The contact region is a polygon of 4 corners, area 3.4 m²; its centroid is the contact center."
    )
    assert (facing.trace.clearance, facing.trace.contact_tolerance) == (0.2, 1e-3)


def test_shapes_without_steps_are_refused_by_name() -> None:
    core = lens.core
    hull, box = core.ConvexHull(CORNERS), core.Box((0, 0, 0), (1, 1, 1))
    compound = core.Compound([hull, box])
    with pytest.raises(ValueError, match="'Beta' is not convex: choose Convex Hull as its collision shape"):
        steps_of(hull, compound)
    with pytest.raises(ValueError, match="'Alpha' has a curved shape"):
        steps_of(core.Cylinder((0, 0, 0), (0, 0, 1), 1.0), hull)
    apart = core.ConvexHull(CORNERS + 10.0)
    with pytest.raises(ValueError, match="'Alpha' and 'Beta' do not intersect, so EPA has nothing to do"):
        steps_of(hull, apart, "epa")
    with pytest.raises(ValueError, match="'Alpha' and 'Beta' are apart, so they have no region"):
        steps_of(hull, apart, "region")
