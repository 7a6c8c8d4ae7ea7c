# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a contact has the form that the other checks can read: types, shapes of arrays, indices in range.

Nothing here raises, whatever the fields hold; the first thing that is wrong is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import isfinite
from numbers import Real

import numpy as np

from ..region.region import Arc, Region, RegionKind
from ..result import BallCertificate, Certificate, Contact, Relation, Status, SupportCertificate, TieKind
from ..shapes.curved_shape import ConvexShape, CurvedShape
from ..shapes.feature import Feature, FeatureKind
from ..shapes.polytope import Polytope
from .bounds import cores_of
from .check import Check

_METHODS = ("secular", "gjk", "gjk+epa", "sat", "sat+gjk", "gjk+sat", "gjk+epa+sat")
_CURVED = ", curved"
_CORNERS = {FeatureKind.VERTEX: (1, 1), FeatureKind.EDGE: (2, 2), FeatureKind.FACE: (3, np.inf)}


def check_form(contact: Contact, a: ConvexShape, b: ConvexShape) -> list[Check]:
    """Return the checks of form. When one fails, the others of `verify` cannot be read off the contact."""
    polytopes = isinstance(a, Polytope) and isinstance(b, Polytope)
    proof = contact.certificate
    return [
        first("the contact is well-formed", _contact_faults(contact, a, b)),
        first(
            "the certificate is well-formed",
            _certificate_faults(proof, a, b) if polytopes else _curved_faults(proof, a, b),
        ),
        first("the region is well-formed", region_faults(contact.region, a, b)),
    ]


def first(name: str, faults: Iterator[str]) -> Check:
    fault = next(faults, None)
    return Check(name, fault is None, fault or "types, sizes and indices fit")


def _contact_faults(c: Contact, a: ConvexShape, b: ConvexShape) -> Iterator[str]:
    if not isinstance(c.relation, Relation):
        yield f"relation is {c.relation!r}"
    if not isinstance(c.status, Status):
        yield f"status is {c.status!r}"
    for name in ("signed_distance", "lower_bound", "upper_bound"):
        if not is_number(getattr(c, name)):
            yield f"{name} is {getattr(c, name)!r}"
    for name in ("normal", "point_on_a", "point_on_b"):
        if not is_array(getattr(c, name), (a.dim,)):
            yield f"{name} is not {a.dim} finite numbers: {getattr(c, name)!r}"
    if not is_array(c.ties, (None, a.dim)) or len(c.ties) == 0:
        yield f"ties is not one finite vector or more: {c.ties!r}"
    for name, shape in (("feature_a", a), ("feature_b", b)):
        if not is_feature(getattr(c, name), shape):
            yield f"{name} names no feature of its shape: {getattr(c, name)!r}"
    for name in ("clearance", "contact_tolerance"):
        if not (is_number(getattr(c, name)) and getattr(c, name) >= 0.0):
            yield f"{name} is {getattr(c, name)!r}"
    if not (isinstance(c.method, str) and c.method.removesuffix(_CURVED) in _METHODS):
        yield f"method is {c.method!r}"
    elif c.method.endswith(_CURVED) == (isinstance(a, Polytope) and isinstance(b, Polytope)):
        yield f"method is {c.method!r}, which is none for such shapes"
    if not isinstance(c.tie_kind, TieKind):
        yield f"tie_kind is {c.tie_kind!r}"
    if not are_indices((c.iterations,), np.inf):
        yield f"iterations is {c.iterations!r}"
    if c.cross_check is not None and not (is_number(c.cross_check) and c.cross_check >= 0.0):
        yield f"cross_check is {c.cross_check!r}"


def _curved_faults(proof: object, a: ConvexShape, b: ConvexShape) -> Iterator[str]:
    """Tell what is wrong with the certificate of curved shapes, and with the contact in it."""
    if isinstance(proof, BallCertificate):
        if not is_array(proof.normal, (a.dim,)) or not proof.normal.any():
            yield f"normal is not {a.dim} finite numbers: {proof.normal!r}"
        if proof.gap is not None and not is_number(proof.gap):
            yield f"gap is {proof.gap!r}"
        return
    if not isinstance(proof, SupportCertificate):
        yield f"it is a {type(proof).__name__}"
        return
    if not is_array(proof.normal, (a.dim,)) or not proof.normal.any():
        yield f"normal is not {a.dim} finite numbers: {proof.normal!r}"
    for name in ("directions_a", "directions_b"):
        if not is_array(getattr(proof, name), (None, a.dim)):
            yield f"{name} are not finite vectors: {getattr(proof, name)!r}"
            return
    if proof.depth is not None and not (is_number(proof.depth) and proof.depth > 0.0):
        yield f"depth is {proof.depth!r}"
        return
    if proof.section is not None and not is_array(proof.section, (None, a.dim)):
        yield f"section is {proof.section!r}"
        return
    cores = cores_of(proof, a, b)
    if isinstance(cores, str):
        yield cores
        return
    if not isinstance(proof.inner, Contact):
        yield f"inner is a {type(proof.inner).__name__}"
        return
    yield from _contact_faults(proof.inner, *cores)
    inner = proof.inner.certificate
    if isinstance(cores[0], Polytope) and isinstance(cores[1], Polytope):
        yield from _certificate_faults(inner, *cores)
    else:
        yield from _curved_faults(inner, *cores)


def _certificate_faults(proof: object, a: ConvexShape, b: ConvexShape) -> Iterator[str]:
    assert isinstance(a, Polytope)
    assert isinstance(b, Polytope)
    if not isinstance(proof, Certificate):
        yield f"it is a {type(proof).__name__}"
        return
    if not is_array(proof.normal, (a.dim,)) or not proof.normal.any():
        yield f"normal is not {a.dim} finite numbers: {proof.normal!r}"
    for name in ("index_a", "index_b", "weights", "pairs", "facets"):
        if not isinstance(getattr(proof, name), tuple):
            yield f"{name} is a {type(getattr(proof, name)).__name__}"
            return
    for name, shape in (("index_a", a), ("index_b", b)):
        if not are_indices(getattr(proof, name), len(shape.vertices)):
            yield f"{name} has an index that is none of its shape: {getattr(proof, name)!r}"
    if not 0 < len(proof.weights) == len(proof.index_a) == len(proof.index_b):
        yield f"{len(proof.index_a)} and {len(proof.index_b)} vertices for {len(proof.weights)} weights"
    if not all(map(is_number, proof.weights)):
        yield f"weights are {proof.weights!r}"
    for name, rows, length in (("pairs", proof.pairs, 2), ("facets", proof.facets, a.dim)):
        if not all(isinstance(row, tuple) and len(row) == length for row in rows):
            yield f"{name} are not tuples of {length} indices each"
            return
    for name, shape, side in (("A", a, 0), ("B", b, 1)):
        if not are_indices([pair[side] for pair in proof.pairs], len(shape.vertices)):
            yield f"pairs have an index that is none of {name}"
    if not are_indices(list(chain.from_iterable(proof.facets)), len(proof.pairs)):
        yield f"facets have an index that is none of the {len(proof.pairs)} pairs"


def region_faults(region: Region | None, a: ConvexShape, b: ConvexShape) -> Iterator[str]:
    """Tell what is wrong with the form of a contact region of two shapes."""
    if region is None:
        return
    if not isinstance(region, Region):
        yield f"it is a {type(region).__name__}"
        return
    if not (is_array(region.vertices, (None, a.dim)) and is_array(region.centroid, (a.dim,))):
        yield f"vertices or centroid are not finite points: {region.vertices!r}, {region.centroid!r}"
        return
    count = len(region.vertices)
    most = a.dim if a.dim == 2 else np.inf  # in the plane the contact plane is a line
    limits = {RegionKind.POINT: (1, 1), RegionKind.SEGMENT: (2, 2), RegionKind.POLYGON: (3, most)}
    least, most = limits[region.kind] if isinstance(region.kind, RegionKind) else (1, 0)
    if not isinstance(region.arcs, tuple) or not all(_is_arc(arc, count, a.dim) for arc in region.arcs):
        yield f"arcs are {region.arcs!r}"
        return
    if region.arcs:
        if isinstance(a, Polytope) and isinstance(b, Polytope):
            yield "polytopes have no arcs"
        least = 2  # of a lens
    if not least <= count <= most:
        yield f"{count} vertices for a {region.kind!r}"
    if not is_array(region.depths, (count,)):
        yield f"{count} vertices, but depths are {region.depths!r}"
    # The area of a huge region is beyond float64 and then infinite.
    if not (is_number(region.length) and (is_number(region.area) or is_infinite(region.area))):
        yield f"area is {region.area!r}, length {region.length!r}"
    if not is_tuple(region.features, count):
        yield f"{count} vertices, but features are {region.features!r}"
        return
    seen: set[tuple[int, int]] = set()  # a face is named at many vertices
    for pair in region.features:
        if not is_tuple(pair, 2):
            yield f"a pair of features is {pair!r}"
            return
        for side, shape in enumerate((a, b)):
            key = (side, id(pair[side]))
            if key not in seen and not is_feature(pair[side], shape):
                yield f"a feature of {'AB'[side]} is {pair[side]!r}"
            seen.add(key)


def is_number(value: object) -> bool:
    if not isinstance(value, float | Real) or isinstance(value, bool):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # a whole number beyond float64
        return False


def is_infinite(value: object) -> bool:
    return isinstance(value, float) and value == np.inf


def are_indices(values: Sequence[object], limit: float) -> bool:
    types = set(map(type, values))
    if not all(issubclass(kind, int | np.integer) and kind is not bool for kind in types):
        return False
    return not values or (min(values) >= 0 and max(values) < limit)  # type: ignore[type-var, operator]


def is_tuple(value: object, length: int) -> bool:
    return isinstance(value, tuple) and len(value) == length


def is_array(value: object, shape: tuple[int | None, ...]) -> bool:
    return (
        isinstance(value, np.ndarray)
        and value.dtype == np.float64
        and value.ndim == len(shape)
        and all(size in (None, length) for size, length in zip(shape, value.shape, strict=True))
        and bool(np.isfinite(value).all())
    )


def _is_arc(value: object, count: int, dim: int) -> bool:
    return (
        isinstance(value, Arc)
        and are_indices((value.side,), count)
        and is_array(value.center, (dim,))
        and is_number(value.radius)
        and value.radius > 0.0
    )


def is_feature(value: object, shape: ConvexShape) -> bool:
    """Tell whether a value is a feature of a shape; one of a curved part of it names no vertices."""
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
