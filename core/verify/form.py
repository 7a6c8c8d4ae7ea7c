# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a contact has the form that the other checks can read: types, shapes of arrays, indices in range.

Nothing here raises, whatever the fields hold; the first thing that is wrong is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from math import isfinite, isnan
from numbers import Real
from types import UnionType
from typing import Any

import numpy as np

from ..note import Note
from ..region.region import Arc, Region, RegionKind
from ..result import BallCertificate, Certificate, Contact, Relation, Status, SupportCertificate, TieKind
from ..shapes.curved_shape import ConvexShape, CurvedShape
from ..shapes.feature import Feature, FeatureKind
from ..shapes.polytope import Polytope
from .bounds import cores_of
from .check import Check

_METHODS = ("centers", "secular", "newton", "gjk", "gjk+epa", "sat", "sat+gjk", "gjk+sat", "gjk+epa+sat")
_CURVED = ", curved"
_STATUSES = {
    "compound": (
        Status.CERTIFIED,
        Status.UNVERIFIED,
        Status.STALLED,
        Status.BUDGET,
        Status.BRACKET,
        Status.BOUNDS_ONLY,
    ),
    "mesh": (Status.CERTIFIED, Status.NO_DEPTH, Status.BRACKET, Status.BOUNDS_ONLY),
}
_CORNERS = {FeatureKind.VERTEX: (1, 1), FeatureKind.EDGE: (2, 2), FeatureKind.FACE: (3, np.inf)}


def check_form(contact: Contact, a: ConvexShape, b: ConvexShape) -> list[Check]:
    """Return the checks of form. When one fails, the others of `verify` cannot be read off the contact."""
    return [
        first("the contact is well-formed", _contact_faults(contact, a, b)),
        first("the certificate is well-formed", _proof_faults(contact.certificate, a, b)),
        first("the region is well-formed", chain(*(region_faults(r, a, b) for r in (contact.region, contact._facing)))),
    ]


def first(name: str, faults: Iterator[str]) -> Check:
    """Return a check that holds when there are no faults; of these only the first is asked for."""
    fault = next(faults, None)
    return Check(name, fault is None, fault or "types, sizes and indices fit")


Test = Callable[[Any], bool]


def field_faults(record: object, tests: dict[str, Test]) -> Iterator[str]:
    """Yield the fields that fail their test; a key names one or more, separated by spaces."""
    for names, is_valid in tests.items():
        for name in names.split():
            value = getattr(record, name)
            if not is_valid(value):
                yield f"{name} is {value!r}"


def contact_tests(dim: int, has_depth: bool = True) -> dict[str, Test]:
    """Return the tests of the fields that contacts of every kind of shape have; without a depth that is known the
    signed distance is NaN."""
    return {
        "relation": of_kind(Relation),
        "status": of_kind(Status),
        "signed_distance": is_number if has_depth else lambda value: isinstance(value, float) and isnan(value),
        "lower_bound upper_bound": is_number,
        "normal point_on_a point_on_b": vector(dim),
        "ties": lambda ties: is_array(ties, (None, dim)) and len(ties) > 0,
        "clearance contact_tolerance": is_length,
        "notes": lambda notes: isinstance(notes, tuple) and all(isinstance(note, Note) for note in notes),
        "iterations": lambda count: are_indices((count,), np.inf),
    }


def absent_fields(method: str) -> dict[str, Test]:
    """Return the tests of the fields that contacts of compounds and meshes do not have, and of their `method`."""
    return {
        "region _facing feature_a feature_b cross_check": lambda value: value is None,
        "_middle": lambda value: value is None,
        "tie_kind": lambda kind: kind is TieKind.FINITE,
        "method": lambda name: isinstance(name, str) and name == method,
        "status": lambda status: isinstance(status, Status) and status in _STATUSES[method],
    }


def _contact_faults(c: Contact, a: ConvexShape, b: ConvexShape) -> Iterator[str]:
    tests = contact_tests(a.dim) | {
        "feature_a": lambda feature: is_feature(feature, a),
        "feature_b": lambda feature: is_feature(feature, b),
        "method": lambda method: isinstance(method, str) and method.removesuffix(_CURVED) in _METHODS,
        "tie_kind": of_kind(TieKind),
        "cross_check": optional(is_length),
        "regions curves": lambda parts: isinstance(parts, tuple) and not parts,
        "_middle": lambda value: value is None,
    }
    yield from field_faults(c, tests)
    polytopes = isinstance(a, Polytope) and isinstance(b, Polytope)
    if polytopes and c.tie_kind is not TieKind.FINITE:
        yield f"tie_kind is {c.tie_kind!r}, which does not exist for polytopes"
    if c.method.endswith(_CURVED) == polytopes:
        yield f"method is {c.method!r}, which does not exist for such shapes"


def _proof_faults(proof: object, a: ConvexShape, b: ConvexShape) -> Iterator[str]:
    """Yield the faults of the certificate of two convex shapes, and of the contact in it."""
    polytopes = isinstance(a, Polytope) and isinstance(b, Polytope)
    if not isinstance(proof, Certificate if polytopes else SupportCertificate | BallCertificate):
        yield f"it is a {type(proof).__name__}"
    yield from field_faults(proof, {"normal": lambda normal: is_array(normal, (a.dim,)) and bool(normal.any())})
    if isinstance(proof, SupportCertificate | BallCertificate):
        yield from field_faults(proof, {"depth": optional(lambda depth: is_number(depth) and depth > 0.0)})
    if isinstance(proof, Certificate) and isinstance(a, Polytope) and isinstance(b, Polytope):
        yield from _certificate_faults(proof, a, b)
    elif isinstance(proof, BallCertificate):
        yield from field_faults(proof, {"gap": optional(is_number)})
    elif isinstance(proof, SupportCertificate):
        tests: dict[str, Test] = {
            "directions_a directions_b": vectors(a.dim),
            "section": optional(vectors(a.dim)),
        }
        yield from field_faults(proof, tests)
        cores = cores_of(proof, a, b)
        if isinstance(cores, str):
            yield cores
            return
        yield from field_faults(proof, {"inner": of_kind(Contact)})
        yield from _contact_faults(proof.inner, *cores)
        yield from _proof_faults(proof.inner.certificate, *cores)


def _certificate_faults(proof: Certificate, a: Polytope, b: Polytope) -> Iterator[str]:
    yield from field_faults(proof, {"index_a index_b weights pairs facets": of_kind(tuple)})
    for name, shape in (("index_a", a), ("index_b", b)):
        if not are_indices(getattr(proof, name), len(shape.vertices)):
            yield f"{name} has an index that is not one of its shape: {getattr(proof, name)!r}"
    if not 0 < len(proof.weights) == len(proof.index_a) == len(proof.index_b):
        yield f"{len(proof.index_a)} and {len(proof.index_b)} vertices for {len(proof.weights)} weights"
    if not all(map(is_number, proof.weights)):
        yield f"weights are {proof.weights!r}"
    for name, rows, length in (("pairs", proof.pairs, 2), ("facets", proof.facets, a.dim)):
        if not (set(map(type, rows)) <= {tuple} and set(map(len, rows)) <= {length}):
            yield f"{name} are not tuples of {length} indices each"
    for name, shape, side in (("A", a, 0), ("B", b, 1)):
        if not are_indices([pair[side] for pair in proof.pairs], len(shape.vertices)):
            yield f"pairs have an index that is not one of {name}"
    if not are_indices(list(chain.from_iterable(proof.facets)), len(proof.pairs)):
        yield f"facets have an index that is not one of the {len(proof.pairs)} pairs"


def region_faults(region: Region | None, a: ConvexShape, b: ConvexShape) -> Iterator[str]:
    """Yield the faults in the form of a contact region of two shapes."""
    if region is None:
        return
    if not isinstance(region, Region):
        yield f"it is a {type(region).__name__}"
    yield from field_faults(
        region, {"kind": of_kind(RegionKind), "vertices": vectors(a.dim), "centroid": vector(a.dim)} | MEASURES
    )
    count = len(region.vertices)
    most = a.dim if a.dim == 2 else np.inf  # in the plane the contact plane is a line
    limits = {RegionKind.POINT: (1, 1), RegionKind.SEGMENT: (2, 2), RegionKind.POLYGON: (3, most)}
    least, most = limits[region.kind]
    if not isinstance(region.arcs, tuple) or not all(is_arc(arc, count, a.dim) for arc in region.arcs):
        yield f"arcs are {region.arcs!r}"
    if region.arcs:
        if isinstance(a, Polytope) and isinstance(b, Polytope):
            yield "polytopes have no arcs"
        least = 2  # of a lens
    if not least <= count <= most:
        yield f"{count} vertices for a {region.kind!r}"
    if not is_array(region.depths, (count,)):
        yield f"{count} vertices, but depths are {region.depths!r}"
    if not (is_tuple(region.features, count) and all(is_tuple(pair, 2) for pair in region.features)):
        yield f"{count} vertices, but features are {region.features!r}"
    for side, shape in enumerate((a, b)):
        for feature in {id(pair[side]): pair[side] for pair in region.features}.values():  # a face is at many vertices
            if not is_feature(feature, shape):
                yield f"a feature of {'AB'[side]} is {feature!r}"


def of_kind(kind: type | UnionType) -> Test:
    return lambda value: isinstance(value, kind)


def optional(is_valid: Test) -> Test:
    return lambda value: value is None or is_valid(value)


def vector(dim: int) -> Test:
    return lambda value: is_array(value, (dim,))


def vectors(dim: int) -> Test:
    return lambda value: is_array(value, (None, dim))


def is_number(value: object) -> bool:
    if not isinstance(value, float | Real) or isinstance(value, bool):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # a whole number beyond float64
        return False


def is_length(value: object) -> bool:
    return is_number(value) and value >= 0.0  # type: ignore[operator]


MEASURES: dict[str, Test] = {
    "length": is_number,
    "area": lambda area: is_number(area) or (isinstance(area, float) and area == np.inf),
}
"""Of a region: the area of a huge one is beyond float64 and then infinite."""


def are_indices(values: Sequence[object], limit: float) -> bool:
    types = set(map(type, values))
    if types - {int} and not all(issubclass(kind, int | np.integer) and kind is not bool for kind in types):
        return False
    return not values or (min(values) >= 0 and max(values) < limit)  # type: ignore[type-var, operator]


def are_pairs(value: object, count_a: int, count_b: int) -> bool:
    """Return whether a value is (p, 2) indices below these counts."""
    return (
        isinstance(value, np.ndarray)
        and value.dtype == np.intp
        and value.ndim == 2
        and value.shape[1] == 2
        and bool(((value >= 0) & (value < [count_a, count_b])).all())
    )


def is_tuple(value: object, length: int) -> bool:
    return isinstance(value, tuple) and len(value) == length


def is_array(value: object, shape: tuple[int | None, ...]) -> bool:
    return (
        isinstance(value, np.ndarray)
        and value.dtype == np.float64
        and value.ndim == len(shape)
        and all(map(_is_size, shape, value.shape))
        and bool(np.isfinite(value).all())
    )


def _is_size(wanted: int | None, size: int) -> bool:
    return wanted is None or wanted == size


def is_arc(value: object, count: int, dim: int) -> bool:
    """Return whether a value is an arc of a region with so many vertices."""
    return (
        isinstance(value, Arc)
        and are_indices((value.side,), count)
        and is_array(value.center, (dim,))
        and is_number(value.radius)
        and value.radius > 0.0
    )


def is_feature(value: object, shape: ConvexShape) -> bool:
    """Return whether a value is a feature of a shape; one of a curved part of it names no vertices."""
    if not (isinstance(value, Feature) and isinstance(value.vertices, tuple)):
        return False
    if not isinstance(value.kind, FeatureKind):
        return False
    if isinstance(shape, CurvedShape):
        if not value.vertices:
            return True
        if shape.skeleton is None:
            return False
        shape = shape.skeleton
    least, most = _CORNERS[value.kind]
    return (
        least <= len(value.vertices) <= most
        and are_indices(value.vertices, len(shape.vertices))
        and len(set(value.vertices)) == len(value.vertices)
    )
