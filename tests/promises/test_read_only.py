# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes and answers cannot be changed, nor can those that were pickled or copied."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Iterator

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Bvh,
    Capsule,
    Circle,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Mesh,
    Polygon,
    Rounded,
    Sphere,
    candidate_pairs,
    contact,
    contacts,
    crossing_triangles,
    decompose_mesh,
    mesh_convexity,
    mesh_distance,
    sat,
    verify,
)
from contact_lens.core.bounding.bounding_volumes import volumes_of_triangles

CORNERS = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
SIDES = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip


def things() -> dict[str, object]:
    """Return shapes and answers of every kind, with what they compute once and keep."""
    hull, box = ConvexHull(CORNERS), Box((0.9, 0.2, 0.3), (1.0, 1.0, 1.0), (0.9, 0.1, 0.3, 0.2))
    ball, pill = Sphere((1.2, 0.5, 0.5), 0.5), Capsule((0.5, 0.5, 0.8), (0.5, 0.5, 3.0), 0.25)
    mesh, moved = Mesh(CORNERS, SIDES), Mesh(CORNERS + (0.7, 0.1, 0.2), SIDES)
    pair, other = Compound([hull, box]), Compound([ball, pill])
    volumes = volumes_of_triangles("kdop", CORNERS, SIDES)
    tree = Bvh.build(volumes)
    made: dict[str, object] = {
        "hull": hull,
        "box": box,
        "ball": ball,
        "pill": pill,
        "circle": Circle((0.0, 0.0), 1.0),
        "cylinder": Cylinder((0, 0, 0), (0, 0, 1), 0.5),
        "cone": Cone((0, 0, 0), (0, 0, 1), 0.5),
        "ellipsoid": Ellipsoid((0, 0, 0), (1, 2, 3)),
        "rounded": Rounded(hull, 0.1),
        "polygon": Polygon([(0, 0), (1, 0), (1, 1), (0, 1)]),
        "mesh": mesh,
        "compound": pair,
        "contact": contact(hull, box),
        "curved contact": contact(ball, pill),
        "section contact": contact(Cylinder((0, 0, 0), (0, 0, 1), 0.5), Cone((0.3, 0, 0.5), (0.3, 0, 2), 0.5)),
        "flat contact": contact(Capsule((-1, 0), (1, 0), 0.1), Capsule((0, -1), (0, 1), 0.1)),
        "compound contact": contact(pair, other),
        "mesh contact": contact(mesh, moved),
        "mesh and ball apart": contact(mesh, ball.translated(np.array([5.0, 0.0, 0.0]))),
        "contacts": contacts([hull, box, ball, pill]),
        "volumes": volumes,
        "tree": tree,
        "tree pairs": tree.overlapping_pairs(tree),
        "candidates": candidate_pairs(*(np.stack(ends) for ends in zip(hull.bounds, box.bounds, strict=True))),
        "sat": sat(hull, box),
        "mesh distance": mesh_distance(mesh, mesh.translated([5.0, 0.0, 0.0])),
        "crossings": crossing_triangles(mesh, moved),
        "pieces": decompose_mesh(Mesh(CORNERS, SIDES)),
        "convexity": mesh_convexity(Mesh(CORNERS, SIDES)),
    }
    verify(made["contact"], hull, box)  # type: ignore[arg-type]
    return made


def arrays(value: object, path: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Walk through attributes and tuples, and name every array there is."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif isinstance(value, tuple):
        for k, item in enumerate(value):
            yield from arrays(item, f"{path}[{k}]")
    elif type(value).__module__.startswith("contact_lens") and hasattr(value, "__dict__"):
        for name, item in vars(value).items():
            yield from arrays(item, f"{path}.{name}")


THINGS = things()


@pytest.mark.parametrize("name", THINGS)
@pytest.mark.parametrize(
    "again",
    [lambda thing: pickle.loads(pickle.dumps(thing)), copy.deepcopy, copy.copy],
    ids=["pickled", "deep-copied", "copied"],
)
def test_read_only_arrays_stay_read_only(name, again):
    before = dict(arrays(THINGS[name]))
    after = dict(arrays(again(THINGS[name])))
    assert before
    assert before.keys() == after.keys()
    writeable = [path for path in before if not before[path].flags.writeable and after[path].flags.writeable]
    assert not writeable
    assert all(np.array_equal(before[path], after[path]) for path in before)


@pytest.mark.parametrize("name", [name for name in THINGS if name not in ("sat", "convexity")])
def test_every_array_of_a_shape_or_an_answer_is_read_only(name):
    assert not [path for path, array in arrays(THINGS[name]) if array.flags.writeable and "._" not in path]
    if name.endswith("contact"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            THINGS[name].signed_distance = 1.0


def test_a_copy_of_writeable_arrays_leaves_them_writeable():
    given = np.zeros(3)
    thing = THINGS["sat"]
    shallow = copy.copy(thing)
    object.__setattr__(shallow, "given", given)
    assert not copy.copy(shallow).given.flags.writeable
    assert given.flags.writeable
