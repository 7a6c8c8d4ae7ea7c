# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact of two solids, or of a solid and a bare surface, that intersect or touch.

    convex pieces of both solids                         signed distance
    exact, and touch                                     0                                   `_touching`
    their translation separates the meshes               -depth of exact ones, else -length
    exact, and touch after their translation             -depth
    a shorter translation than theirs separates          -length of it                       `_shorter`
    none, or inexact and their translation fails         -length, upper bound -least         `_by_meshes`

Pieces are up to `spare` from the meshes, the sum of both distances. Of exact ones, which are the solids themselves, the
proved least depth is that of the meshes, too, but for `spare`:

    least_depth of the pieces - spare  <=  depth of the meshes  <=  length of what separates the meshes

Inexact pieces prove nothing, as one that fills a gap, however narrow, blocks a direction: their translation is tried,
and the least depth is proved on the meshes (`search_depth`).
"""

from __future__ import annotations

import numpy as np

from ..meshes.body import Body, length_of
from ..meshes.depth_bounds import MOST_SAMPLED, common_ball
from ..meshes.depth_proof import CommonBall, CrossingPair, PointInside
from ..meshes.point_distance import points_to_mesh
from ..meshes.separation import SeparationSearch, contact_directions
from ..meshes.short_steps import are_clear_after
from ..narrow_phase.relation import clear_length
from ..note import NOTCH, Note
from ..progress import Progress, subrange
from ..result import Contact, Relation, Status
from ..tolerance import CLEAR_LONGER, EPS, MESH_DEPTH_STEP
from ..types import FloatArray
from .mesh_pair import MeshPair
from .mesh_regions import deepest
from .mesh_result import MeshDraft, certificate_of
from .pair_pieces import contact_of_pieces, decomposed
from .pair_regions import MOST_NORMALS
from .search_depth import search_depth

_SAMPLED = Note("touching was decided from samples of the surfaces")
_ALONG = 1e-9
"""Less than 1 by this, the cosine of two normals: they are one, and have the same regions."""
_TOGETHER = 0.99
"""Cosine of the angle up to which B leaves two regions along one of their normals."""
_ASKED = 16
"""Corners of a mesh that are tested first for whether it is inside the other."""


def solve_beside(pair: MeshPair, proved: float, normal: FloatArray | None, progress: Progress | None) -> MeshDraft:
    """Return the results for two solids separated by no more than the contact tolerance."""
    draft = pair.apart(Relation.TOUCHING, proved, normal)
    pieces = decomposed(pair, subrange(progress, 0.0, 0.7))
    found = None if pieces is None else contact_of_pieces(pair, pieces, subrange(progress, 0.7, 1.0))
    if found is not None:
        draft.compound, draft.regions = found, found.regions
        if normal is None:
            draft.normal = found.normal
    return draft


def solve_solids(pair: MeshPair, progress: Progress | None) -> MeshDraft:
    """Return the results for two solids that intersect."""
    pieces = decomposed(pair, subrange(progress, 0.0, 0.3))
    found = None if pieces is None else contact_of_pieces(pair, pieces, subrange(progress, 0.3, 0.7))
    proving = subrange(progress, 0.7, 1.0)
    if pieces is None or found is None:
        search = _search(pair)
        return _fitted(pair, search) or _by_meshes(pair, search, _refine(pair, search, proving))
    spare = pieces[0].distance + pieces[1].distance
    exact = pieces[0].exact and pieces[1].exact
    tolerance = certificate_of(found).tolerance
    touch = found.depth <= tolerance + spare and not pair.nested
    if exact and touch:
        return _touching(pair, found, min(0.0, found.lower_bound) - spare - tolerance)
    search = _search(pair)
    translations = [tie * found.depth for tie in found.ties] if found.depth > 0.0 else []
    taken = search.try_all(translations[:8], tolerance, spare)
    if found.status is Status.BUDGET:
        # Cells may prove more than the nodes of a search that ended early.
        least = _refine(pair, search, proving)
        if least > found.least_depth - spare:
            return _by_meshes(pair, search, least)
        pair.depth_proof = None
    if touch and search.length <= pair.band:
        return _touching(pair, found, -search.length)
    if taken is not None and (exact or search.length > found.depth * (1.0 - MESH_DEPTH_STEP)):
        length = length_of(taken)
        if length <= found.depth + 8.0 * (tolerance + spare) + 64.0 * EPS * pair.magnitude:
            least = found.least_depth - spare if exact else _refine(pair, search, proving)
            if search.length < found.depth - tolerance:
                return _shorter(pair, search, least, found)
            upper = -min(max(0.0, least), found.depth)
            lower = min(found.lower_bound - spare, -length)
            chosen = taken / length
            same = float(chosen @ found.normal) > 1.0 - _ALONG
            if (NOTCH in found.notes) if exact and same else not search.stays_clear(taken, _beyond(pair, length)):
                pair.notes.append(NOTCH)
            return pair.draft(
                pair.nested_relation(found.relation),
                found.signed_distance if exact else -length,
                lower,
                upper,
                found.normal if exact and same else chosen,
                found,
                same,
            )
    if exact and found.status is not Status.UNVERIFIED:
        if search.length < found.depth - tolerance:
            return _shorter(pair, search, found.least_depth - spare, found)
        pair.notes += found.notes
        # The pieces are the solids. After the translation they may still touch, as a peg does that fits its slot
        # exactly: that is not an overlap, though meshes cannot decide it.
        return pair.draft(
            pair.nested_relation(found.relation),
            found.signed_distance,
            found.lower_bound - spare,
            min(0.0, found.upper_bound + spare),
            found.normal,
            found,
        )
    return _by_meshes(pair, search, _refine(pair, search, proving))


def _shorter(pair: MeshPair, search: SeparationSearch, least: float, found: Contact) -> MeshDraft:
    """Return the results for pieces that fit, where a shorter translation than theirs separates the meshes."""
    chosen = _clear(pair, search, least)
    length = length_of(chosen)
    relation, upper = pair.nested_relation(found.relation), -min(max(0.0, least), length)
    draft = pair.draft(relation, -length, -length, upper, chosen / length, found, False)
    if float(chosen @ found.normal) > (1.0 - _ALONG) * length:
        draft.regions = found.regions
    return draft


def _touching(pair: MeshPair, found: Contact, lower: float) -> MeshDraft:
    """Return the results for pieces that fit and touch: the signs of the remaining distances are rounding."""
    relation = found.relation if found.relation is Relation.COINCIDENT else Relation.TOUCHING
    return pair.draft(relation, 0.0, lower, 0.0, found.normal, found)


def _by_meshes(pair: MeshPair, search: SeparationSearch, least: float) -> MeshDraft:
    """Return the results for two solids from the meshes themselves; `least` is a lower bound of the depth."""
    best = _clear(pair, search, least)
    length = length_of(best)
    chosen = best / length if length > 0.0 else None
    lower, upper = -length, -min(least, length)
    deep = pair.draft(Relation.PENETRATING, -length, lower, upper, chosen)
    if length <= pair.band:
        deep.relation = Relation.TOUCHING
        if length <= pair.promise:
            deep.signed_distance, deep.upper = 0.0, 0.0
    else:
        _relate(pair, deep, least)
    return deep


def _search(pair: MeshPair) -> SeparationSearch:
    """Return a search that knows how B leaves A from where they face each other within the contact tolerance."""
    search = SeparationSearch(pair.a, pair.b, pair.budget)
    if pair.is_deep():
        return search
    regions = [region for region in pair.touching if region.normal.any()]
    translations: list[FloatArray] = []
    for region in regions[:MOST_NORMALS]:
        together = [other for other in regions if float(other.normal @ region.normal) > _TOGETHER]
        translations.append((max(0.0, *map(deepest, together)) + search.clearance) * region.normal)
    if translations and length_of(translations[0]) < search.length:
        search.separates(translations[0])  # most often it is one
    shorter = [translation for translation in translations[1:] if length_of(translation) < search.length]
    if shorter:
        for k in np.flatnonzero(are_clear_after(pair.a.mesh, pair.b.mesh, np.array(shorter))).tolist():
            if length_of(shorter[k]) < search.length:
                search.separates(shorter[k])
    return search


def _fitted(pair: MeshPair, search: SeparationSearch) -> MeshDraft | None:
    """Return the first answer for two that touch all around, as what fits into a hollow does: no part of one is
    inside the other and no translation within the band separates; also where a part is, if no depth is wanted.
    None where that is not known from their triangles."""
    if (pair.depth and pair.budget.nodes > 0) or pair.nested or search.length <= pair.band or pair.is_deep():
        return None
    are_many = any(len(body.mesh.triangles) > MOST_SAMPLED for body in (pair.a, pair.b))
    if pair.depth and are_many:
        return None
    of_a, of_b = pair.samples
    if max(of_a.deepest, of_b.deepest) > pair.band:
        is_of_a = of_a.deepest >= of_b.deepest
        point = (of_a if is_of_a else of_b).point_inside(is_of_a, pair.magnitude)
        return None if pair.depth or point.least <= pair.band else only_related(pair, point)
    if are_many or pair.coincide(of_a, of_b):
        return None
    translations = [pair.band * direction for direction in contact_directions(pair.a, pair.b, pair.crossings)]
    if are_clear_after(pair.a.mesh, pair.b.mesh, np.array(translations)).any():
        return None
    ball = common_ball(pair.a, pair.b, pair.crossings)
    if ball is not None and ball.least > pair.band:
        return None if pair.depth else only_related(pair, ball)
    pair.notes.append(_SAMPLED)
    return pair.draft(Relation.TOUCHING, lower=-search.length)


def only_related(
    pair: MeshPair, proof: CommonBall | CrossingPair | PointInside | None, proved: float = 0.0
) -> MeshDraft:
    """Return the results for two that are known to be deeper in each other than the contact tolerance, which are
    moved out of each other's box; without crossings, their surfaces are apart by `proved`."""
    length = pair.out_of_box()
    pair.depth_proof = proof
    least = proved if proof is None else proof.least
    draft = pair.draft(Relation.PENETRATING, -length, -length, 0.0, np.eye(3)[0])
    _relate(pair, draft, least)
    return draft


def _clear(pair: MeshPair, search: SeparationSearch, least: float) -> FloatArray:
    """Return the translation to report: the best, or one little longer that stays clear beyond. No shorter one than
    `least` separates."""
    if search.length <= pair.band:
        return search.best
    is_shortest = least >= search.length * (1.0 - MESH_DEPTH_STEP)
    longest = search.length * (1.0 + MESH_DEPTH_STEP if is_shortest else CLEAR_LONGER)
    clear = search.find_clear(_beyond(pair, search.length), longest)
    if clear is None:
        pair.notes.append(NOTCH)
        return search.best
    return clear


def _beyond(pair: MeshPair, length: float) -> float:
    """Return the length beyond a translation of `length` for which the solids must stay separated."""
    return clear_length(pair.a.mesh, pair.b.mesh, pair.contact_tolerance, length)


def _refine(pair: MeshPair, search: SeparationSearch, progress: Progress | None) -> float:
    """Look for shorter translations; return a certified lower bound of the depth and keep its proof."""
    pair.depth_proof = search_depth(search, pair.crossings, pair.deep_proof or pair.deepest_pair, pair.band, progress)
    return 0.0 if pair.depth_proof is None else pair.depth_proof.least


def _relate(pair: MeshPair, deep: MeshDraft, least: float) -> None:
    """Find the relation of two solids that intersect by more than the contact tolerance, by samples of the surfaces
    where the meshes do not decide."""
    a, b = pair.a, pair.b
    a_within = pair.is_within_box(a, b) and not _sticks_out(pair, a, b)
    b_within = pair.is_within_box(b, a) and not _sticks_out(pair, b, a)
    if pair.nested and not (a_within and b_within):
        deep.relation = pair.nested_relation(deep.relation)
        return
    if not (a_within or b_within or least <= pair.band):
        return
    of_a, of_b = pair.samples
    if pair.coincide(of_a, of_b):
        deep.relation = Relation.COINCIDENT
    elif pair.nested:
        deep.relation = pair.nested_relation(deep.relation)
    elif least <= pair.band and max(of_a.deepest, of_b.deepest) <= pair.band:
        # No part is known to be inside: for example, a shape that fits into a hollow.
        deep.relation, deep.signed_distance, deep.normal = Relation.TOUCHING, 0.0, None
        pair.notes.append(_SAMPLED)
    elif of_a.farthest <= pair.band and of_b.deepest <= pair.band:
        deep.relation = Relation.A_INSIDE_B
        pair.notes.append(Note("A inside B was decided from samples of its surface"))
    elif of_b.farthest <= pair.band and of_a.deepest <= pair.band:
        deep.relation = Relation.B_INSIDE_A
        pair.notes.append(Note("B inside A was decided from samples of its surface"))


def _sticks_out(pair: MeshPair, inner: Body, outer: Body) -> bool:
    """Return whether one of a few corners of `inner` is outside of `outer` by more than the contact tolerance."""
    corners = inner.mesh.triangles.ravel()
    points = inner.mesh.points.take(corners[:: max(1, len(corners) // _ASKED)], axis=0)
    outside = points[~outer.contains(points)]
    return bool((points_to_mesh(outside, outer.mesh).distance > pair.band).any()) if len(outside) else False
