# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a contact against its shapes, independently of the solver.

Everything follows from the shapes' vertices and the certificate, most of it in time linear in both: a plane with a gap
proves the lower bound of the signed distance; two points of the shapes, or a closed polytope around the origin whose
corners are differences of vertices, prove the upper bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..compounds.compound import Compound, ConvexPieces, as_compound
from ..narrow_phase.gjk import size_of_difference
from ..narrow_phase.relation import contact_band
from ..result import Certificate, Contact, Status
from ..shapes.ordinary_size import extreme_exponent
from ..shapes.polytope import Polytope
from ..shapes.shape import validate_solids
from ..tolerance import EPS, SUPPORT_ROUNDING, promised
from ..types import FloatArray
from .bounds import rounding_of
from .check import Check, Verification
from .form import check_form
from .polytope import NO_PROOF, are_weights, proven_upper, weighted_mean
from .region import check_region, check_support_features, supports
from .relation import possible_relations
from .ties import check_normals, check_realised, overlaps_of_normals

if TYPE_CHECKING:
    from ..measures.clearance_band import ClearanceBand
    from ..measures.deepest_record import DeepestPoints
    from ..measures.volume_record import OverlapVolume
    from ..meshes.solid_facets import Solid

__all__ = ["Check", "Verification", "verify"]


def verify(answer: Contact | OverlapVolume | DeepestPoints | ClearanceBand, a: Solid, b: Solid) -> Verification:
    """Return, check by check, whether a contact or a measure is a true statement about the shapes A and B.

    The shapes must be those the answer was computed from. A wrong sign, a tilted normal, a moved witness point, a
    scaled depth, a bound that rounding can break, a wrong relation, a torn polytope, a region that is not the
    intersection of the support features: each fails a check. A contact with fields that cannot be read (wrong types,
    sizes, indices) fails the checks of its form, and no others are made.

    Of a curved shape the support points are taken as they are, and containment is looked for among many directions.

    Linear in vertices and certificate, but for three things: "inside" takes vertices times facets when the bounding
    boxes are nested, a region its corners times the features', ties their number times the vertices.

    Curved solids beside a mesh are measured against the triangles near them one by one, up to some hundreds. For these,
    and for pairs of pieces that no plane across the normal parts, the solver is asked for certificates: only what they
    prove is believed.

    Compounds are checked pair of pieces by pair, and that no shorter translation separates by covering all shorter ones
    with differences of pieces made anew; meshes triangle by triangle and by their pieces. What cannot be proved again
    is named in a check that begins with "not checked", and such a check holds. Whether pieces cover a compound is
    decided as the contact decides it.

    Not checked: that `ties` has all equally good normals (of curved shapes: but those of facets); that `regions` of
    meshes and compounds has all, where there are several; that `method`, `iterations` and `cross_check` are what
    happened (only that they can be). The shapes are taken as they are: `vertices` for everything; for "inside" also
    `normals` and `offsets`, and for the band of touching and the rounding bounds the extents.

    Measures, such as what `overlap_volume` returns, are checked by what their docstrings promise.

    Raise ValueError, naming the argument, when one is not an answer or a shape, or the shapes' dimensions differ.

    >>> a, b = Box([0, 0, 0], [1, 1, 1]), Box([0.75, 0, 0], [1, 1, 1])
    >>> bool(verify(contact(a, b), a, b)), bool(verify(contact(a, b), b, a))
    (True, False)
    """
    validate_solids(a, b)
    if not isinstance(answer, Contact):
        return _of_measure(answer, a, b)
    contact = answer
    if not (isinstance(a, ConvexPieces) and isinstance(b, ConvexPieces)):
        from .mesh import check_mesh

        return check_mesh(contact, a, b)
    if isinstance(a, Compound) or isinstance(b, Compound):
        from .compound import check_compound

        return check_compound(contact, as_compound(a), as_compound(b))
    if not (isinstance(a, Polytope) and isinstance(b, Polytope)):
        from .curved import check_curved

        return check_curved(contact, a, b)
    form = check_form(contact, a, b)
    if not all(check.ok for check in form):
        return Verification(tuple(form), float("nan"))
    width = contact.upper_bound - contact.lower_bound
    area = 0.0 if contact._region_or_facing is None else contact._region_or_facing.area
    exponent = extreme_exponent(a, b)
    if exponent:
        contact, a, b = contact.scaled(-exponent), a.scaled(2.0**-exponent), b.scaled(2.0**-exponent)
    size = size_of_difference(a, b)
    # Between the smallest numbers of float64 the widening of the bounds is lost.
    grain = float(np.ldexp(np.finfo(np.float64).smallest_subnormal, -exponent)) if exponent < 0 else 0.0
    tolerance = promised(contact.signed_distance, min(a.extent, b.extent), max(a.magnitude, b.magnitude)) + grain
    own = rounding_of(a, b) if grain == 0.0 else -grain
    rounding = SUPPORT_ROUNDING * EPS * size + grain
    band = contact_band(a, b, contact.contact_tolerance)
    sides = supports(a, b, contact.normal)
    lengths, overlaps = overlaps_of_normals(contact, a, b)
    checks = [
        *form,
        *check_normals(contact, lengths, overlaps, tolerance),
        *_check_witness(contact, a, b, tolerance),
        _check_lower(contact, lengths, overlaps, own),
        _check_upper(contact, a, b, own),
        _check_meeting(contact, tolerance),
        _check_method(contact, tolerance),
        _check_relation(contact, a, b, band, rounding),
        check_support_features(contact, sides, band, rounding),
        *check_region(contact, sides, band, tolerance, grain, exponent, area),
    ]
    return Verification(tuple(checks), width)


def _of_measure(answer: object, a: Solid, b: Solid) -> Verification:
    from ..measures.clearance_band import ClearanceBand
    from ..measures.deepest_record import DeepestPoints
    from ..measures.volume_record import OverlapVolume

    if isinstance(answer, OverlapVolume):
        from .overlap_volume import check_overlap_volume

        return check_overlap_volume(answer, a, b)
    if isinstance(answer, ClearanceBand):
        from .clearance_band import check_clearance_band

        return check_clearance_band(answer, a, b)
    if isinstance(answer, DeepestPoints):
        from .deepest_point import check_deepest_points

        return check_deepest_points(answer, a, b)
    raise ValueError(f"answer must be what contact() or a measure returns, not {type(answer).__name__}")


def _check_witness(contact: Contact, a: Polytope, b: Polytope, tolerance: float) -> list[Check]:
    proof = contact.certificate
    assert isinstance(proof, Certificate)
    off = max(
        np.abs(weighted_mean(shape.vertices.take(indices, axis=0), proof.weights) - point).max()
        for shape, indices, point in ((a, proof.index_a, contact.point_on_a), (b, proof.index_b, contact.point_on_b))
    )
    ok = are_weights(proof.weights) and bool(off <= tolerance)
    return [Check("witness points lie on their shapes", ok, f"off by {off:.3g}"), check_realised(contact, tolerance)]


def _check_lower(contact: Contact, lengths: FloatArray, overlaps: FloatArray, rounding: float) -> Check:
    proven = -min((overlaps[1:] / lengths[1:]).tolist()) - rounding
    return Check(
        "a plane proves the lower bound",
        # mutant: verify-believes-the-lower-bound
        contact.lower_bound <= proven and contact.lower_bound <= contact.signed_distance,
        f"bound {contact.lower_bound:.17g}, plane {proven:.17g}",
    )


def _check_upper(contact: Contact, a: Polytope, b: Polytope, rounding: float) -> Check:
    assert isinstance(contact.certificate, Certificate)
    found = proven_upper(contact.certificate, a, b, 1.5 * abs(rounding) - contact.upper_bound)
    if found is None:
        return Check("points or a polytope prove the upper bound", False, NO_PROOF)
    proven, by = found
    proven += rounding
    return Check(
        "points or a polytope prove the upper bound",
        # mutant: verify-believes-the-upper-bound
        contact.upper_bound >= proven and contact.upper_bound >= contact.signed_distance,
        f"bound {contact.upper_bound:.17g}, {by} {proven:.17g}",
    )


def _check_meeting(contact: Contact, tolerance: float) -> Check:
    width = contact.upper_bound - contact.lower_bound
    return Check(
        "the bounds meet",
        contact.status is Status.CERTIFIED and 0.0 <= width <= tolerance,
        f"status {contact.status}, width {width:.3g}, tolerance {tolerance:.3g}",
    )


def _check_method(contact: Contact, tolerance: float) -> Check:
    compared = contact.method in ("gjk+sat", "gjk+epa+sat")
    agree = contact.cross_check is None or contact.cross_check <= tolerance
    return Check(
        "the methods agree when two were compared",
        (contact.cross_check is not None) == compared and agree,
        f"method {contact.method}, difference {contact.cross_check}",
    )


def _check_relation(contact: Contact, a: Polytope, b: Polytope, band: float, rounding: float) -> Check:
    """Derive the relation from the signed distance and from how far the shapes stick out of each other."""
    possible, detail = possible_relations(a, b, contact.signed_distance, band, contact.clearance, rounding)
    found = " or ".join(sorted(possible))
    # mutant: verify-believes-the-relation
    return Check("the relation fits", contact.relation in possible, f"{contact.relation}, found {found}; {detail}")
