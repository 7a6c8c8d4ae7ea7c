# SPDX-License-Identifier: GPL-3.0-or-later
"""Other collision libraries, asked the same questions as ours.

Every question is split in two: what is timed (the library's own call, its answer in its own form) and what makes the
answer comparable (not timed).
"""

from __future__ import annotations

import os
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from contact_lens.core import Box, ConvexHull, Polytope

Answer = tuple[float, np.ndarray] | float | bool
"""Depth and unit normal from A to B; or a distance; or yes or no."""


@dataclass(frozen=True)
class Query:
    """A question about one pair."""

    run: Callable[[], Any]
    """What is timed."""
    read: Callable[[Any], Answer] = lambda answer: answer
    """Makes what `run` returned comparable."""


class Peer(ABC):
    """A library; `None` for a question means that it has no answer."""

    name: str
    slack: float
    """How far off it may be and still count as right: lengths, of shapes of size 2."""

    @abstractmethod
    def shape(self, shape: Polytope) -> Any:
        """Turn one of our shapes into one of its own."""

    def yes_or_no(self, a: Any, b: Any) -> Query | None:
        return None

    def distance(self, a: Any, b: Any) -> Query | None:
        return None

    def depth(self, a: Any, b: Any) -> Query | None:
        return None

    def region(self, a: Any, b: Any) -> Query | None:
        """Depth and normal, and where the two touch; the answer is that of `depth`."""
        return None


class Distance3D(Peer):
    """Python with numba."""

    name = "distance3d"
    slack = 1e-6

    def __init__(self) -> None:
        warnings.filterwarnings("ignore", module="numba")
        warnings.filterwarnings("ignore", module="distance3d")
        self.colliders = import_module("distance3d.colliders")
        self.gjk = import_module("distance3d.gjk")
        self.epa = import_module("distance3d.epa")

    def shape(self, shape: Polytope) -> Any:
        return self.colliders.ConvexHullVertices(shape.vertices.copy())

    def yes_or_no(self, a: Any, b: Any) -> Query:
        return Query(partial(self.gjk.gjk_intersection, a, b), bool)

    def distance(self, a: Any, b: Any) -> Query:
        return Query(partial(self.gjk.gjk, a, b), lambda found: float(found[0]))

    def depth(self, a: Any, b: Any) -> Query:
        gjk, epa = self.gjk.gjk, self.epa.epa

        def run() -> Any:
            return epa(gjk(a, b)[3], a, b)

        def read(found: Any) -> Answer:
            mtv, _, success = found
            if not success:
                raise RuntimeError("EPA gave up")
            depth = float(np.linalg.norm(mtv))
            return depth, mtv / depth

        return Query(run, read)


class Distance3DMesh(Distance3D):
    """The same with its mesh collider, which climbs over the edges; the bare points are faster on small hulls."""

    name = "d3d mesh"

    def shape(self, shape: Polytope) -> Any:
        triangles = [(f[0], f[k], f[k + 1]) for f in shape.facets for k in range(1, len(f) - 1)]
        return self.colliders.MeshGraph(np.eye(4), shape.vertices.copy(), np.array(triangles, dtype=np.int64))


class Coal(Peer):
    """C++; the boxes are its own."""

    name = "coal"
    slack = 1e-5

    def __init__(self) -> None:
        self.coal = import_module("coal")
        self.result = self.coal.CollisionResult()
        self.yes, self.deep = self.coal.CollisionRequest(), self.coal.CollisionRequest()
        self.yes.enable_contact, self.deep.enable_contact = False, True
        self.patch_request, self.patches = self.coal.ContactPatchRequest(), self.coal.ContactPatchResult()
        self.distance_request, self.distances = self.coal.DistanceRequest(), self.coal.DistanceResult()

    def shape(self, shape: Polytope) -> Any:
        if isinstance(shape, Box):
            place = self.coal.Transform3s(np.ascontiguousarray(shape.axes.T), shape.center.copy())
            return self.coal.Box(*(2.0 * shape.half)), place
        points, triangles = self.coal.StdVec_Vec3s(), self.coal.StdVec_Triangle()
        for point in shape.vertices:
            points.append(point)
        for triangle in fans(shape):
            triangles.append(self.coal.Triangle(*triangle.tolist()))
        return self.coal.Convex(points, triangles), self.coal.Transform3s.Identity()

    def _collide(self, a: Any, b: Any, request: Any) -> Callable[[], Any]:
        result, collide, arguments = self.result, self.coal.collide, (*a, *b)

        def run() -> Any:
            result.clear()
            collide(*arguments, request, result)
            return result

        return run

    def yes_or_no(self, a: Any, b: Any) -> Query:
        return Query(self._collide(a, b, self.yes), lambda result: bool(result.isCollision()))

    def depth(self, a: Any, b: Any) -> Query:
        return Query(self._collide(a, b, self.deep), self._deepest)

    def _deepest(self, result: Any) -> Answer:
        if not result.isCollision():
            raise RuntimeError("no contact found")
        contact = result.getContact(0)
        return -float(contact.penetration_depth), np.array(contact.normal)

    def region(self, a: Any, b: Any) -> Query:
        collide, find = self._collide(a, b, self.deep), self.coal.computeContactPatch
        request, patches, arguments = self.patch_request, self.patches, (*a, *b)

        def run() -> Any:
            result = collide()
            patches.clear()
            find(*arguments, result, request, patches)
            return result

        return Query(run, self._deepest)

    def distance(self, a: Any, b: Any) -> Query:
        request, distances, find = self.distance_request, self.distances, self.coal.distance
        arguments = (*a, *b)

        def run() -> Any:
            distances.clear()
            return find(*arguments, request, distances)

        return Query(run, float)


class FCL(Peer):
    """C++; the boxes are its own."""

    name = "python-fcl"
    slack = 1e-5

    def __init__(self) -> None:
        self.fcl = import_module("fcl")
        self.yes = self.fcl.CollisionRequest()
        self.deep = self.fcl.CollisionRequest(num_max_contacts=1, enable_contact=True)

    def shape(self, shape: Polytope) -> Any:
        fcl = self.fcl
        if isinstance(shape, Box):
            place = fcl.Transform(np.ascontiguousarray(shape.axes.T), shape.center)
            return fcl.CollisionObject(fcl.Box(*(2.0 * shape.half)), place)
        triangles = fans(shape)
        faces = np.column_stack((np.full(len(triangles), 3), triangles)).ravel()
        return fcl.CollisionObject(fcl.Convex(shape.vertices.copy(), len(triangles), faces), fcl.Transform())

    def _collide(self, a: Any, b: Any, request: Any) -> Callable[[], Any]:
        collide, make = self.fcl.collide, self.fcl.CollisionResult

        def run() -> Any:
            result = make()
            collide(a, b, request, result)
            return result

        return run

    def yes_or_no(self, a: Any, b: Any) -> Query:
        return Query(self._collide(a, b, self.yes), lambda result: bool(result.is_collision))

    def depth(self, a: Any, b: Any) -> Query:
        def read(result: Any) -> Answer:
            if not result.is_collision:
                raise RuntimeError("no contact found")
            contact = result.contacts[0]
            return float(contact.penetration_depth), np.array(contact.normal)

        return Query(self._collide(a, b, self.deep), read)

    def distance(self, a: Any, b: Any) -> Query:
        find, request, make = self.fcl.distance, self.fcl.DistanceRequest(True), self.fcl.DistanceResult
        return Query(lambda: find(a, b, request, make()), float)


class Bullet(Peer):
    """C++. Its hulls have a margin of a thousandth around them; depths and distances are right to a few of these."""

    name = "pybullet"
    slack = 1e-2
    _FAR = 1e13
    """Reach of a query for the distance: more than any pair of the tests is apart."""

    def __init__(self) -> None:
        with quiet():
            self.bullet = import_module("pybullet")
            self.bullet.connect(self.bullet.DIRECT)

    def shape(self, shape: Polytope) -> Any:
        if isinstance(shape, Box):
            kind = self.bullet.createCollisionShape(self.bullet.GEOM_BOX, halfExtents=shape.half.tolist())
            return self.bullet.createMultiBody(
                0.0, kind, basePosition=shape.center.tolist(), baseOrientation=quaternion(shape.axes.T)
            )
        middle = shape.center
        kind = self.bullet.createCollisionShape(
            self.bullet.GEOM_MESH, vertices=(shape.vertices - middle).tolist(), meshScale=[1.0, 1.0, 1.0]
        )
        return self.bullet.createMultiBody(0.0, kind, basePosition=middle.tolist())

    def yes_or_no(self, a: Any, b: Any) -> Query:
        return Query(partial(self.bullet.getClosestPoints, a, b, 0.0), bool)

    def distance(self, a: Any, b: Any) -> Query:
        return Query(partial(self.bullet.getClosestPoints, a, b, self._FAR), lambda found: min(p[8] for p in found))

    def depth(self, a: Any, b: Any) -> Query:
        def read(found: Any) -> Answer:
            if not found:
                raise RuntimeError("no contact found")
            deepest = min(found, key=lambda p: p[8])
            return -float(deepest[8]), -np.array(deepest[7])

        return Query(partial(self.bullet.getClosestPoints, a, b, 0.0), read)


class Parry:
    """Rust, in arrays of poses; hulls go through trimesh. The first one of a process says how many threads it has."""

    def __init__(self, threads: int) -> None:
        os.environ["RAYON_NUM_THREADS"] = str(threads)
        self.parry, self.trimesh = import_module("py_parry3d"), import_module("trimesh")

    def shape(self, shape: Polytope) -> Any:
        if isinstance(shape, Box):
            return self.parry.Box(half_extents=shape.half.tolist())
        return self.parry.ConvexHull_from_trimesh(self.trimesh.Trimesh(shape.vertices, fans(shape), process=False))

    def in_poses(self, a: Polytope, b: Polytope, first: np.ndarray, second: np.ndarray) -> Callable[[], np.ndarray]:
        """Return what finds (n,) whether A in its poses (n, 4, 4) and B in its own intersect."""
        groups = [self.parry.CollisionGroup(name, [self.shape(shape)]) for name, shape in (("a", a), ("b", b))]
        world, poses, pairs = self.parry.CollisionWorld(groups), {"a": first, "b": second}, [("a", "b", 0.0)]

        def check() -> np.ndarray:
            found: np.ndarray = world.check(poses, pairs)[:, 0]
            return found

        return check


def peers() -> tuple[list[Peer], list[str]]:
    """Return the libraries that can be imported here, and a sentence about each that cannot."""
    found: list[Peer] = []
    missing = []
    for kind in (Distance3DMesh, Distance3D, Coal, FCL, Bullet):
        try:
            found.append(kind())
        except ImportError as error:
            missing.append(f"{kind.name} is not here and left out ({error}).")
    return found, missing


def fans(shape: Polytope) -> np.ndarray:
    """(n, 3) the facets of a hull cut into triangles."""
    assert isinstance(shape, ConvexHull)
    assert shape.rank == 3
    return np.array([(loop[0], loop[k], loop[k + 1]) for loop in shape.facets for k in range(1, len(loop) - 1)])


def fcl_mesh(points: np.ndarray, triangles: np.ndarray) -> Any:
    """FCL's model of a mesh, its tree made."""
    fcl = import_module("fcl")
    model = fcl.BVHModel()
    model.beginModel(len(points), len(triangles))
    model.addSubModel(points, triangles)
    model.endModel()
    return fcl.CollisionObject(model)


def fcl_mesh_pairs(a: Any, b: Any, most: int) -> Any:
    """FCL's contacts of two meshes, up to `most`."""
    fcl = import_module("fcl")
    result = fcl.CollisionResult()
    fcl.collide(a, b, fcl.CollisionRequest(num_max_contacts=most, enable_contact=True), result)
    return result


def quaternion(matrix: np.ndarray) -> list[float]:
    """Return x, y, z, w of a rotation matrix: the eigenvector of its largest eigenvalue (Bar-Itzhack)."""
    (a, b, c), (d, e, f), (g, h, i) = matrix
    k = np.array(
        [
            [a - e - i, b + d, c + g, h - f],
            [b + d, e - a - i, f + h, c - g],
            [c + g, f + h, i - a - e, d - b],
            [h - f, c - g, d - b, a + e + i],
        ]
    )
    result: list[float] = np.linalg.eigh(k)[1][:, -1].tolist()
    return result


@contextmanager
def quiet() -> Iterator[None]:
    """Keep back what C code prints: pybullet prints its date of birth and complains about every newer numpy."""
    sys.stdout.flush()
    sys.stderr.flush()
    before = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os.dup2(before[0], 1)
        os.dup2(before[1], 2)
        for descriptor in (*before, nowhere):
            os.close(descriptor)
