# SPDX-License-Identifier: GPL-3.0-or-later
"""Several poses of each shape in one call: the rows of one call for each pose, one after the other."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Capsule,
    ConvexHull,
    Mesh,
    Relation,
    ShapeSet,
    Sphere,
    Status,
    combine,
    contacts,
    pairs_intersect,
)

from ..assertions import ROW_ARRAYS
from ..generators import CUBE
from ..mesh_shapes import sheet
from .test_poses import local_shapes, poses_of

COUNT = 3
"""Poses."""


def stacked(kind: str, count: int, poses: int = COUNT, seed: int = 3) -> np.ndarray:
    """(poses, count, 4, 4) matrices of a kind."""
    return poses_of(kind, poses * count, seed=seed, room=1.5).reshape(poses, count, 4, 4)


def assert_are_calls(found, calls) -> None:
    """Assert that the rows of stacked poses are those of calls, to the last bit."""
    assert found.pose_index.tolist() == np.repeat(np.arange(len(calls)), [len(call) for call in calls]).tolist()
    assert found.pairs.tolist() == [pair for call in calls for pair in call.pairs.tolist()]
    for name in (*ROW_ARRAYS, "_relations", "_statuses"):
        together = np.concatenate([getattr(call, name) for call in calls])
        assert getattr(found, name).tobytes() == together.tobytes(), name
    regions = [region for call in calls for region in call.region or ()]
    assert repr(regions) == repr(list(found.region or ()))


@pytest.mark.parametrize(
    ("kind", "poses"),
    [
        ("polytopes", "sheared"),
        pytest.param("polytopes", "rigid", marks=pytest.mark.slow),
        pytest.param("all", "even", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    "sets",
    ["one", pytest.param("two", marks=pytest.mark.slow), "two, both stacked", "two, the first in one pose"],
)
def test_stacked_poses_are_one_call_for_each_pose(kind, poses, sets):
    first = ShapeSet(local_shapes(kind)[::2] if kind == "polytopes" else local_shapes(kind)[-4:])
    second = None if sets == "one" else local_shapes("hulls")[:6]
    own, other = stacked(poses, len(first)), None
    if sets == "two, the first in one pose":
        own, other = own[0], stacked("rigid", 6)
    elif sets == "two, both stacked":
        other = stacked("rigid", 6)
    rng = np.random.default_rng(4)
    given = np.stack([rng.integers(0, len(of), 12) for of in (first, first if second is None else second)], axis=1)
    given[:, 1] += (given[:, 1] == given[:, 0]) * np.where(given[:, 1] > 0, -1, 1)
    tolerances = rng.uniform(0.0, 1e-3, 12)

    def of_pose(k: int) -> dict:
        return {
            "poses": own[k] if own.ndim == 4 else own,
            "others": second,
            "other_poses": other[k] if other is not None and other.ndim == 4 else other,
        }

    for pairs, options in (
        (given, {"contact_tolerance": tolerances}),
        (None, {"clearance": 0.2, "distances": False}),
        (None, {"regions": False}),
    ):
        options = {"budget": 0.0, "reproducible": True, **options}
        found = contacts(first, pairs, poses=own, others=second, other_poses=other, **options)
        calls = [contacts(first, pairs, **of_pose(k), **options) for k in range(COUNT)]
        assert_are_calls(found, calls)
        row = len(found) - 1 - len(calls[-1]) // 2
        k = int(found.pose_index[row])
        assert found.contact(row).to_dict() == calls[k].contact(row - found.pose_index.searchsorted(k)).to_dict()
        meet = pairs_intersect(first, pairs, poses=own, others=second, other_poses=other)
        each = [pairs_intersect(first, pairs, **of_pose(k)) for k in range(COUNT)]
        if pairs is None:
            assert meet.tolist() == [[k, *pair] for k in range(COUNT) for pair in each[k].tolist()]
        else:
            assert np.array_equal(meet, each)


@pytest.mark.parametrize("count", [2, 60, 200])
def test_the_pairs_of_each_pose_are_found_however_many_shapes_there_are(count):
    """Many poses at once where shapes are few, pose by pose where they are many."""
    shapes = ShapeSet([Box((0, 0, 0), (1, 1, 1))] * count)
    poses = poses_of("rigid", 3 * count, room=1.2 * count ** (1 / 3)).reshape(3, count, 4, 4)
    calls = [contacts(shapes, poses=matrices, reproducible=True, regions=False) for matrices in poses]
    assert_are_calls(contacts(shapes, poses=poses, reproducible=True, regions=False), calls)
    world = [Box(place, (0.5, 0.5, 0.5)) for place in np.ndindex(4, 4, 4)]
    calls = [contacts(shapes, poses=matrices, others=world, reproducible=True) for matrices in poses]
    found = contacts(shapes, poses=poses, others=ShapeSet(world), reproducible=True)
    assert_are_calls(found, calls)
    assert len(pickle.loads(pickle.dumps(found)).region) == len(found)


def test_stacked_poses_of_the_plane_of_none_and_of_one_shape():
    flat = [ConvexHull(CUBE[:, :2]), ConvexHull(CUBE[:, :2] * 0.5)]
    poses = np.tile(np.eye(3), (4, 2, 1, 1))
    poses[:, 1, 0, 2] = [0.0, 0.5, 0.74, 3.0]
    calls = [contacts(flat, poses=matrices) for matrices in poses]
    assert_are_calls(contacts(flat, poses=poses), calls)
    assert len(contacts(flat[:1], poses=poses[:, :1])) == len(contacts(flat, poses=poses[:0])) == 0
    assert contacts(flat, [[0, 1]], poses=poses[:0]).pose_index.shape == (0,)
    assert pairs_intersect(flat, [[0, 1]] * 3, poses=poses[:0]).shape == (0, 3)
    assert pairs_intersect(flat, [], poses=poses).shape == (4, 0)
    assert pairs_intersect(flat, [[0, 1]], poses=poses).tolist() == [[True], [True], [True], [False]]
    assert pairs_intersect(flat, poses=poses).tolist() == [[0, 0, 1], [1, 0, 1], [2, 0, 1]]


def test_parts_of_stacked_poses_are_joined_pose_by_pose():
    shapes = ShapeSet(local_shapes("hulls")[:6])
    poses, pairs = stacked("rigid", 6), [[0, 1], [2, 3], [4, 5], [0, 5]]
    whole = contacts(shapes, [[0, 1], [0, 5], [2, 3], [4, 5]], poses=poses, reproducible=True)
    parts = [contacts(shapes, part, poses=poses, reproducible=True) for part in (pairs[:1], pairs[1:])]
    joined = combine([parts[1], parts[0]])
    assert joined.pose_index.tobytes() == whole.pose_index.tobytes()
    assert joined.signed_distance.tobytes() == whole.signed_distance.tobytes()
    assert joined.contact(7).to_dict() == whole.contact(7).to_dict()
    with pytest.raises(ValueError, match=r"results: the pair \[0, 1\] is in numbers 0 and 1"):
        combine([parts[0], parts[0]])
    with pytest.raises(ValueError, match="results: number 1 has the poses one of each shape"):
        combine([parts[0], contacts(shapes, pairs[1:], poses=poses[0], reproducible=True)])


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (r"poses: an array \(2, 4, 4\) or \(k, 2, 4, 4\)", {"poses": np.tile(np.eye(4), (3, 1, 1, 1))}),
        (r"poses: an array \(2, 4, 4\) or \(k, 2, 4, 4\) expected; rows of", {"poses": [[np.eye(4)], None]}),
        (
            "poses: pose 2, row 1: the last row",
            {"poses": np.where(np.arange(8).reshape(4, 2, 1, 1) == 5, 1.0, np.eye(4))},
        ),
        ("poses: pose 1, row 1: ", {"poses": np.tile(np.eye(4), (3, 2, 1, 1)) * np.ones((3, 2, 4, 4))}),
        (
            "other_poses: as many",
            {
                "poses": np.tile(np.eye(4), (3, 2, 1, 1)),
                "others": [Box((0, 0, 0), (1, 1, 1))],
                "other_poses": np.tile(np.eye(4), (2, 1, 1, 1)),
            },
        ),
        (
            "other_poses: pose 1, row 0: ",
            {"others": [Capsule((0, 0, 0), (1, 0, 0), 1.0)], "other_poses": [[np.eye(4)], [np.diag([1.0, 1, 3, 1])]]},
        ),
        ("start: one pose", {"poses": np.tile(np.eye(4), (3, 2, 1, 1)), "start": "last"}),
        ("start: one pose", {"start": "stacked"}),
    ],
)
def test_wrong_stacks_are_named(words, options):
    shapes = [ConvexHull(CUBE), Capsule((0, 0, 0), (1, 0, 0), 1.0)]
    if words.startswith("poses: pose 1, row 1"):
        options["poses"][1, 1, 2, 2] = 3.0
    if "start" in options:
        poses = None if options["start"] == "last" else np.tile(np.eye(4), (2, 2, 1, 1))
        options = {**options, "start": contacts(shapes, poses=poses)}
    for call in (contacts, pairs_intersect):
        with pytest.raises(ValueError, match=rf"^{words}"):
            call(shapes, **options)


# ---------------------------------------------------------------------------------------------------------------------
# Sets that grow, two sets, and plain numbers


def test_an_extended_set_is_that_of_all_shapes_and_keeps_what_was_made():
    local = local_shapes("all")
    begin, others = ShapeSet(local[:4]), poses_of("rigid", len(local))
    cold = contacts(local, poses=others, reproducible=True)
    contacts(begin, reproducible=True)
    begin.diameters()
    table = begin._tables._hulls
    grown = begin.extended(local[4:]).extended([]).extended(local[:2])
    assert list(grown) == [*local, *local[:2]]
    assert repr(grown) == f"ShapeSet({len(local) + 2} shapes, {len(local)} different)"
    assert list(begin) == local[:4]
    assert begin._tables._hulls is table
    assert len(begin._index) == 4
    assert grown._tables._hulls[0] is table[0]
    for name in ("is_box", "is_polytope", "is_convex", "radii", "sizes", "boxes"):
        begin._tables.__dict__[name], fresh = getattr(begin._tables, name), getattr(ShapeSet(local)._tables, name)
        made = begin.extended(local[4:])._tables.__dict__[name]
        arrays = (
            [(made, fresh)]
            if isinstance(made, np.ndarray)
            else zip(vars(made).values(), vars(fresh).values(), strict=True)
        )
        assert all(np.array_equal(one, other) for one, other in arrays), name
    pairs = cold.pairs
    found = contacts(grown, pairs, poses=[*others, *others[:2]], reproducible=True)
    assert found.signed_distance.tobytes() == cold.signed_distance.tobytes()
    assert ShapeSet([]).extended([ConvexHull(CUBE[:, :2])]).dim == 2
    with pytest.raises(ValueError, match="shapes: number 0 has dimension 2"):
        begin.extended([ConvexHull(CUBE[:, :2])])


@pytest.mark.parametrize("count", [3, 60])
def test_which_pairs_intersect_is_what_their_contacts_say(count):
    """Of one set and of two, of few pairs and of many, in poses and not."""
    rng = np.random.default_rng(count)
    local = (
        [*local_shapes("all")[:3], Mesh(*sheet(2)), Sphere((0, 0, 0), 0.6)] if count == 3 else local_shapes("polytopes")
    )
    first, second = ([local[k] for k in rng.integers(0, len(local), count)] for _ in range(2))
    posed = [s.transformed(m) for s, m in zip(second, poses_of("even", count, room=2.0), strict=True)]
    for options in (
        {},
        {"others": posed},
        {"others": ShapeSet(posed), "poses": poses_of("rigid", count)},
        {"others": second, "other_poses": poses_of("even", count, room=2.0)},
    ):
        found = contacts(first, budget=0.0, regions=False, **options)
        wanted = found.pairs[found.intersects]
        assert pairs_intersect(first, **options).tolist() == wanted.tolist()
        assert pairs_intersect(first, found.pairs, **options).tolist() == found.intersects.tolist()
        few = found.pairs[:7]
        assert pairs_intersect(first, few, **options).tolist() == found.intersects[:7].tolist()


def test_contacts_as_plain_numbers():
    upright = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0.5], [0, -1, 0, 0.5], [0, 0, 0, 1]])
    shapes = [*local_shapes("all")[:4], Mesh(*sheet(2)), Mesh(*sheet(2)).transformed(upright)]
    poses = np.tile(np.eye(4), (2, len(shapes), 1, 1))
    poses[1, :4, 0, 3] = np.arange(4) * 4.0
    pairs = [[0, 1], [1, 2], [2, 4], [4, 5]]
    found = contacts(shapes, pairs, poses=poses, budget=0.0, reproducible=True, distances=False)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["version"] == 1
    assert plain["pairs"] == found.pairs.tolist()
    assert plain["reproducible"] is True
    assert plain["pose_index"] == found.pose_index.tolist()
    assert plain["relation"] == [str(relation) for relation in found.relation]
    without, bounded = found.status == Status.NO_DEPTH, found.status == Status.BOUNDS_ONLY
    assert without.any()
    assert bounded.any()
    assert (found.relation == Relation.PENETRATING).any()
    for row, region in enumerate(found.region):
        assert plain["signed_distance"][row] == (None if without[row] else found.signed_distance[row])
        assert plain["region"][row] == (region and {**plain["region"][row], "centroid": region.centroid.tolist()})
        if without[row]:
            assert plain["normal"][row] is plain["mtv"][row] is plain["upper_bound"][row] is None
            assert plain["status"][row] == found.contact(row).to_dict()["status"]
        if bounded[row]:
            assert plain["point_on_a"][row] == [None, None, None]
    assert contacts(shapes[:2], regions=False).to_dict()["region"] is None
