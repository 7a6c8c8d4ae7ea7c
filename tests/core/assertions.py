# SPDX-License-Identifier: GPL-3.0-or-later
"""The promises of every contact, measured without the engine's own code; and `verify` has to agree."""

from __future__ import annotations

import dataclasses
import sys
import tracemalloc
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from contact_lens.core import Cancelled, Contact, Contacts, Polytope, Relation, Status, verify
from contact_lens.core.shapes.feature import Feature

from .oracles import (
    EPS,
    Answer,
    exact,
    exact_distance_to_point,
    gap_along,
    sign_tolerance,
    tolerance,
)

FACE_TILT = 1e-10
"""Times the larger shape's extent: how far a point of its support feature may be below its support plane."""

HULL_SLACK = 16.0
"""Times EPS M: both hulls together may leave out so much of their input, 8 each by the promise of `ConvexHull`."""


def promise_failures(
    contact: Contact, a: Polytope, b: Polytope, points_a, points_b, expected: Answer | None = None
) -> list[str]:
    """Return every promise that `contact` breaks, in words; empty when it keeps all.

    `points_a` and `points_b` are the vertex arrays the shapes were made from; the truth is theirs, not the hulls'.
    """
    pa, pb = np.asarray(points_a, float), np.asarray(points_b, float)
    truth = exact(pa, pb) if expected is None else expected
    true_sd = truth.signed_distance
    tol, sign_tol = tolerance(pa, pb, true_sd), sign_tolerance(pa, pb)
    failures: list[str] = []

    def check(ok, words: str) -> None:
        if not ok:
            failures.append(words)

    sd, normal = contact.signed_distance, contact.normal
    numbers = [sd, contact.lower_bound, contact.upper_bound, *normal, *contact.point_on_a, *contact.point_on_b]
    check(np.isfinite(numbers).all(), f"finite: {numbers}")
    if failures:
        return failures

    check(abs(sd - true_sd) <= tol, f"signed distance: expected {true_sd!r}, got {sd!r}, tol {tol:.1e}")
    if abs(true_sd) > sign_tol:
        check(contact.intersects == (true_sd <= 0), f"intersects: expected {true_sd <= 0}, got {contact.intersects}")
    check(contact.depth == max(0.0, -sd), f"depth: {contact.depth!r} of signed distance {sd!r}")
    check(np.array_equal(contact.mtv, contact.depth * normal), "mtv: not depth * normal")

    check(abs(np.linalg.norm(normal) - 1) <= 32 * EPS, f"normal length {np.linalg.norm(normal)!r}")
    gap = gap_along(pa, pb, normal)
    check(gap >= true_sd - tol, f"normal: slab of {gap!r}, optimal {true_sd!r}, tol {tol:.1e}, normal {normal!r}")

    for name, point, points in (("A", contact.point_on_a, pa), ("B", contact.point_on_b, pb)):
        off = exact_distance_to_point(points, point)
        check(off <= tol, f"witness point on {name}: off by {off:.3e}, tol {tol:.1e}")
    miss = float(np.linalg.norm((contact.point_on_b - contact.point_on_a) - sd * normal))
    check(miss <= tol, f"witness points: point_on_b - point_on_a misses sd * normal by {miss:.3e}, tol {tol:.1e}")

    low, high = contact.lower_bound, contact.upper_bound
    check(low <= sd <= high, f"bounds {low!r} .. {high!r} do not enclose the answer {sd!r}")
    if truth.exact is not None:
        # The bounds are of the shapes; a hull may leave out input points within HULL_SLACK of it.
        slack = HULL_SLACK * EPS * max(float(np.abs(pa).max()), float(np.abs(pb).max()))
        true = truth.exact
        if not low <= true <= high and low - slack <= true <= high + slack:
            true = exact(a.vertices, b.vertices).exact
        check(low <= true, f"lower bound {low!r} above the truth {true_sd!r} by {float(low - true):.3e}")
        check(true <= high, f"upper bound {high!r} below the truth {true_sd!r} by {float(true - high):.3e}")
    check(
        high - low <= tol * (1 + 1e-6) or contact.status != Status.CERTIFIED,
        f"bounds are {high - low:.3e} apart, tol {tol:.1e}, and the status is certified",
    )

    ties = contact.ties
    check(ties.ndim == 2 and len(ties) >= 1 and ties.shape[1] == pa.shape[1], f"ties: shape {ties.shape}")
    check(np.array_equal(ties[0], normal), "ties: the first is not the normal")
    check(np.abs(np.linalg.norm(ties, axis=1) - 1).max() <= 32 * EPS, "ties: not unit vectors")
    worst = min(gap_along(pa, pb, tie) for tie in ties)
    check(worst >= true_sd - 2 * tol, f"ties: one has slab {worst!r}, optimal {true_sd!r}, tol {tol:.1e}")

    band = contact_band(a, b, contact.contact_tolerance)
    failures += _relation_failures(contact, true_sd, tol, band)
    failures += _region_failures(contact, pa, pb, tol, band)
    # A status of bounds that do not meet is an honest answer, not a wrong one: `verify` may repeat that, no more.
    honest = contact.status != Status.CERTIFIED
    failed = [c for c in verify(contact, a, b).checks if not c.ok and not (honest and c.name == "the bounds meet")]
    check(not failed, f"verify: {[str(c) for c in failed]}")
    return failures


def fingerprint(value: object) -> object:
    """Return all values of a contact, to the last bit."""
    if isinstance(value, Feature):
        return value.kind, value.vertices
    if dataclasses.is_dataclass(value):
        return tuple(fingerprint(getattr(value, field.name)) for field in dataclasses.fields(value))
    if isinstance(value, tuple):
        return tuple(map(fingerprint, value))
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return value.hex() if isinstance(value, float) else value


ROW_ARRAYS = (
    *("pairs", "signed_distance", "normal", "point_on_a", "point_on_b", "center", "lower_bound", "upper_bound"),
    *("_relations", "_statuses"),
)
"""Arrays of `Contacts`, one row a pair."""


def assert_same_rows(found: Contacts, wanted: Contacts, rows: Any = slice(None)) -> None:
    """Assert that the rows of a result are those `rows` of another, to the last bit, the regions too."""
    for name in ROW_ARRAYS:
        own, other = getattr(found, name), getattr(wanted, name)[rows]
        assert own.tobytes() == other.tobytes(), (
            name,
            np.flatnonzero((own != other).reshape(len(own), -1).any(axis=1)),
        )
    assert (found.region is None) == (wanted.region is None)
    if found.region is not None and wanted.region is not None:
        of_others = np.arange(len(wanted))[rows].tolist()
        for row, other in enumerate(of_others):
            assert fingerprint(found.region[row]) == fingerprint(wanted.region[other]), ("region", row)


def assert_promises(contact: Contact, a: Polytope, b: Polytope, points_a, points_b, expected: Answer | None = None):
    """Assert that a contact keeps every promise."""
    failures = promise_failures(contact, a, b, points_a, points_b, expected)
    assert not failures, "\n".join(failures)


def contact_band(a: Polytope, b: Polytope, contact_tolerance: float) -> float:
    """The band of TOUCHING: relative to the smaller non-zero diameter, at least where the sign may be wrong."""
    diameters = [diameter for shape in (a, b) if (diameter := shape.diameter) > 0.0]
    return max(contact_tolerance * min(diameters, default=0.0), sign_tolerance(a.vertices, b.vertices))


def _relation_failures(contact: Contact, true_sd: float, tol: float, band: float) -> list[str]:
    """The relation agrees with the signed distance, where it is clear of the band's edges."""
    apart = contact.relation in (Relation.SEPARATED, Relation.WITHIN_CLEARANCE)
    touching = contact.relation in (Relation.TOUCHING, Relation.COINCIDENT)
    wrong = (
        (true_sd > band + tol and not apart)
        or (true_sd < band - tol and apart)
        or (true_sd < -band - tol and contact.relation == Relation.TOUCHING)
        or (abs(true_sd) < band - tol and not touching)
    )
    return [f"relation: {contact.relation} at signed distance {true_sd!r}, band {band!r}"] if wrong else []


def _region_failures(contact: Contact, pa, pb, tol: float, band: float) -> list[str]:
    """A region unless separated, never empty, in the contact plane, on both shapes within the tolerance."""
    region, normal, at = contact.region, contact.normal, f"at {contact.signed_distance!r}, band {band!r}"
    if region is None:
        return [f"region: none {at}"] if contact.signed_distance <= max(band, contact.clearance) else []
    vertices, count = region.vertices, len(region.vertices)
    if vertices.shape != (count, pa.shape[1]) or not count or not np.isfinite(vertices).all():
        return [f"region: vertices {vertices!r}"]
    middle = pa[0]
    plane = 0.5 * (((pa - middle) @ normal).max() + ((pb - middle) @ normal).min())
    off = np.abs((vertices - middle) @ normal - plane).max()
    # The region is the overlap of both features, pushed into the plane half-way: no further from either shape than
    # half the distance of the support planes and the width of the features. The tilt of the face of a much larger
    # shape by rounding counts as its width.
    larger = max(float(np.linalg.norm(np.ptp(points, axis=0))) for points in (pa, pb))
    slack = 0.5 * abs(contact.signed_distance) + 2 * band + tol + FACE_TILT * larger
    worst = {name: max(exact_distance_to_point(p, v) for v in vertices) for name, p in (("A", pa), ("B", pb))}
    measures = f"{region.kind} of area {region.area!r} and length {region.length!r}"
    rules = {
        f"present {at}": contact.signed_distance <= max(band, contact.clearance),
        f"{region.kind} of {count} vertices": region.kind == ("point", "segment", "polygon")[min(count, 3) - 1],
        measures: (region.area > 0) == (region.kind == "polygon") and (region.length > 0) == (region.kind != "point"),
        "depths or features do not match the vertices": len(region.depths) == len(region.features) == count,
        f"{off:.3e} off the plane half-way between the support planes, tol {tol:.1e}": off <= tol,
        **{f"a vertex is {far:.3e} from {name}, allowed {slack:.1e}": far <= slack for name, far in worst.items()},
    }
    return [f"region: {words}" for words, kept in rules.items() if not kept]


def changed(result: Contact, /, **changes) -> Contact:
    """Return a contact with other fields; those that it does not have are of its certificate."""
    own = {field.name for field in dataclasses.fields(result)}
    proof = {name: value for name, value in changes.items() if name not in own}
    if proof:
        changes["certificate"] = dataclasses.replace(result.certificate, **proof)
    return dataclasses.replace(result, **{name: value for name, value in changes.items() if name in own})


def failed_checks(result: Contact, a: Any, b: Any, /, **changes: Any) -> list[str]:
    """Return the names of the checks that fail of a contact with these fields changed."""
    return [check.name for check in verify(changed(result, **changes), a, b).failures]


def assert_lies_found(result: Contact, a: Any, b: Any, lies: Iterable[tuple[str, dict[str, Any]]]) -> None:
    """Assert that each lie, fields changed, fails a check whose name has one of these parts, given as "part|part"."""
    for expected, changes in lies:
        failed = failed_checks(result, a, b, **changes)
        assert any(part in name for name in failed for part in expected.split("|")), (expected, changes, failed)


def assert_verified(result: Contact, a: Any, b: Any) -> None:
    """Assert that `verify` finds nothing wrong with a contact."""
    verification = verify(result, a, b)
    assert verification.ok, str(verification)


def assert_progress(
    call: Callable[[Callable[[float], Any]], object], least: int = 2, start: float = 0.0, stops: Any = (0.0, 0.5, 1.0)
) -> list[float]:
    """Assert that a call reports rising fractions and ends as soon as one is answered False. Return the fractions.

    They begin at `start` at most and end at 1, and at least so many of them differ. `stops` are the places among them,
    from the first (0) to the last (1), at which the call is ended.
    """
    fractions: list[float] = []
    call(fractions.append)  # no return value cancels nothing
    assert fractions == sorted(fractions)
    assert 0.0 <= fractions[0] <= start
    assert fractions[-1] == 1.0
    assert len(set(fractions)) >= least
    for stop in stops:
        last, seen = 1 + round(stop * (len(fractions) - 1)), []
        with pytest.raises(Cancelled):
            call(lambda fraction, seen=seen, last=last: seen.append(fraction) is None and len(seen) < last)
        assert seen == fractions[:last], "not asked again"
    return fractions


def longest_silence(call: Callable[[Callable[[float], Any]], object]) -> float:
    """The most work between two reports of a call, counted in calls of functions, as a fraction of all."""
    count, reports = 0, [0]

    def profile(*_: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        call(lambda fraction: reports.append(count))
    finally:
        sys.setprofile(before)
    return max(np.diff([*reports, count])) / count


def calls_of(call: Callable[[], object]) -> int:
    """How many functions a call calls, Python's own too: a measure of work that a busy machine does not change."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return calls


def peak_memory(work: Callable[[], Any]) -> tuple[Any, int]:
    """Return the result of the work and the most bytes in use at once during it, beyond those in use before."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
