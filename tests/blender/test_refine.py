# SPDX-License-Identifier: GPL-3.0-or-later
"""Refine Depth: a longer search where only bounds of a depth are known."""

from __future__ import annotations

from math import inf
from typing import Any

import bpy
import pytest

from ..core.mesh_pairs import mesh_pairs
from .scenes import cube, inspect, inspection, lens, mesh_object

pytestmark = pytest.mark.usefixtures("empty_scene")

WHEEL_IN_JAW = 23
"""A pair of meshes whose bounds are far apart after the first search, and nearer after the next one."""


@pytest.fixture
def bounded() -> Any:
    """The inspection of two meshes of which only bounds of the depth are known."""
    (pair,) = mesh_pairs([WHEEL_IN_JAW])
    a, b = (mesh_object(name, *side) for name, side in (("Wheel", pair.a), ("Jaw", pair.b)))
    for obj in (a, b):
        obj.contact_lens_shape = "MESH"
    return inspect(a, b)


@pytest.mark.slow
def test_bounds_get_nearer_until_the_search_ends(bounded: Any) -> None:
    refine, distance = bpy.ops.contact_lens.refine, lens.data.distance.Distance
    assert refine.poll()
    assert bounded.searched == 0.0
    for _ in range(5):
        before = inspection()
        assert refine() == {"FINISHED"}
        after = inspection()
        assert after.verification.ok
        assert before.contact.least_depth <= after.contact.least_depth <= after.contact.depth <= before.contact.depth
        assert lens.pair.session.stale_reason(bpy.context) == ""
        if after.searched == inf:
            break
        assert after.searched > before.searched
    assert after.searched == inf
    assert after.contact.least_depth > 1.2 * bounded.contact.least_depth
    assert distance.of_contact(after.contact).is_at_most
    assert not refine.poll()
    assert lens.operators.pair_operators.CONTACT_LENS_OT_refine.disabled_reason(bpy.context) == (
        "The depth cannot be refined further"
    )


def test_no_bound_gets_worse(bounded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search on a busy machine may come less far than the first one; what it knows better is taken."""
    replace, better = lens.pair.inspection.replace, bounded.contact
    worse = replace(better, signed_distance=1.1 * better.signed_distance, lower_bound=1.1 * better.lower_bound)
    for shorter, proves in (("old", "new"), ("new", "old"), ("old", "old"), ("new", "new")):
        of = {}
        for name in ("old", "new"):
            contact = better if shorter == name else worse
            least = better.upper_bound if proves == name else 0.5 * better.upper_bound
            of[name] = replace(bounded, contact=replace(contact, upper_bound=least))
        monkeypatch.setattr(lens.pair.inspection.Work, "__call__", lambda work, progress=None, of=of: of["new"])
        found = lens.pair.inspection.refined(of["old"]).contact
        assert (found.signed_distance, found.upper_bound) == (better.signed_distance, better.upper_bound)


def test_esc_keeps_the_bounds_that_are_known(bounded: Any) -> None:
    stopped = lens.core.progress.Cancelled
    with pytest.raises(stopped):
        lens.pair.inspection.refined(bounded, lambda fraction: False)
    assert inspection() is bounded


def test_a_depth_that_is_known_is_not_refined() -> None:
    inspect(cube("A"), cube("B", (1.5, 0.0, 0.0)))
    assert not bpy.ops.contact_lens.refine.poll()
