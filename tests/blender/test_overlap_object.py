# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Overlap Object: what is made, that it is right, that nothing else is, and that it is never checked."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from .scenes import (
    block,
    collection_of,
    cube,
    inspect,
    inspection,
    instance_of,
    lens,
    pane,
    refresh,
    sheet,
    torus,
    update,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

KINDS = ("objects", "meshes", "collections", "scenes")


def everything() -> dict[str, list[str]]:
    return {kind: sorted(block.name for block in getattr(bpy.data, kind)) for kind in KINDS}


def make(*pair: bpy.types.Object) -> bpy.types.Object:
    """Inspect the pair and make its overlap an object."""
    inspect(*pair)
    assert bpy.ops.contact_lens.overlap_object() == {"FINISHED"}
    update()
    return bpy.context.view_layer.objects.active


def solid(obj: bpy.types.Object) -> Any:
    """The mesh of an object in world space, of core."""
    read = lens.geometry.snapshot.triangles
    del obj["contact_lens_overlap"]
    points, triangles = read(obj, bpy.context.evaluated_depsgraph_get())
    return lens.core.Mesh(points, triangles)


def test_one_object_is_added_and_selected_and_nothing_else_changes() -> None:
    a, b = cube("A"), cube("B", (1.5, 0.2, 0.1))
    inspect(a, b)
    before, found = everything(), inspection()
    assert bpy.ops.contact_lens.overlap_object() == {"FINISHED"}
    update()
    made = bpy.context.view_layer.objects.active
    added = {kind: sorted(set(names) - set(before[kind])) for kind, names in everything().items()}
    assert added == {
        "objects": ["Overlap A x B"],
        "meshes": ["Overlap A x B"],
        "collections": ["Overlaps"],
        "scenes": [],
    }
    assert list(bpy.context.view_layer.objects.selected) == [made]
    assert not made.modifiers
    assert inspection() is found
    assert not lens.pair.session.is_stale(bpy.context)
    assert [obj.name for obj in bpy.data.collections["Overlaps"].objects] == [made.name]
    mesh = solid(made)
    assert mesh.is_closed
    assert mesh.volume == pytest.approx(0.5 * 1.8 * 1.9)
    assert np.allclose(mesh.bounds, [(0.5, -0.8, -0.9), (1.0, 1.0, 1.0)], atol=1e-6)
    assert bpy.ops.contact_lens.overlap_object() == {"FINISHED"}
    assert [obj.name for obj in bpy.data.collections["Overlaps"].objects] == [made.name, f"{made.name}.001"]


def test_one_undo_step_takes_it_back() -> None:
    inspect(cube("A"), cube("B", (1.5, 0.2, 0.1)))
    before = everything()
    bpy.ops.ed.undo_push(message="Inspect Contact")
    assert bpy.ops.contact_lens.overlap_object("EXEC_DEFAULT", True) == {"FINISHED"}
    bpy.ops.ed.undo()
    assert everything() == before
    assert bpy.ops.contact_lens.overlap_object() == {"FINISHED"}, "as the redo panel does"


def test_it_is_never_checked_and_makes_no_clash_outdated() -> None:
    make(cube("A"), cube("B", (1.5, 0.2, 0.1)))
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    check, changes = bpy.context.scene.contact_lens_check, lens.clashes.changes
    assert len(check.findings) == 1
    bpy.context.scene.contact_lens_check.active = 0
    refresh()
    assert bpy.ops.contact_lens.overlap_object() == {"FINISHED"}
    update()
    assert not changes.outdated(bpy.context.scene)
    assert not changes.unlisted(bpy.context.scene)
    made = bpy.context.view_layer.objects.active
    with pytest.raises(RuntimeError, match="is the overlap of a pair, which is never checked"):
        inspect(made, bpy.data.objects["A"])


def test_meshes_mirrored_far_away_and_instanced() -> None:
    ring = torus("Ring", (1000.0, 0.0, 0.0))
    ring.scale.x = -1.0
    crate = cube("Crate", (1001.0, 0.1, 0.2), 1.0)
    mesh = solid(make(ring, crate))
    assert mesh.is_closed
    assert 0.05 < mesh.volume < 0.3
    assert np.allclose(mesh.bounds[0][0], 1000.5, atol=1e-3)
    shared = collection_of("Parts", block("Part", (1.0, 1.0, 1.0)), is_only=True)
    instance_of(shared, "Maker", (1000.0, 5.0, 0.0))
    cube("Other", (1000.75, 5.0, 0.0), 1.0)
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    findings = bpy.context.scene.contact_lens_check.findings
    k = next(k for k, clash in enumerate(findings) if clash.instance_a or clash.instance_b)
    bpy.context.scene.contact_lens_check.active = k
    refresh()
    assert bpy.ops.contact_lens.overlap_object() == {"FINISHED"}
    update()
    assert solid(bpy.context.view_layer.objects.active).volume == pytest.approx(0.25, rel=1e-4)


def test_collision_shapes_are_what_overlaps() -> None:
    """Two balls of radius 1, one apart: the lens of analytic volume, of polytopes inside of them."""
    lens_volume = 5.0 * np.pi / 12.0
    mesh = solid(make(cube("A", kind="SPHERE"), cube("B", (1.0, 0.0, 0.0), kind="SPHERE")))
    assert mesh.is_closed
    assert mesh.volume == pytest.approx(lens_volume, rel=0.01)


@pytest.mark.parametrize(
    ("make_b", "settings", "reason"),
    [
        (lambda: cube("B", (5.0, 0.0, 0.0)), {}, "Nothing overlaps: the objects are apart, or only touch"),
        (lambda: cube("B", (2.0, 0.0, 0.0)), {}, "Nothing overlaps: the objects are apart, or only touch"),
        (lambda: pane("B"), {}, "'B' is open, so nothing is inside it: close its holes"),
    ],
)
def test_what_has_no_overlap_says_why_and_leaves_nothing(make_b: Any, settings: Any, reason: str) -> None:
    inspect(cube("A"), make_b(), **settings)
    before = everything()
    with pytest.raises(RuntimeError, match=reason):
        bpy.ops.contact_lens.overlap_object()
    assert everything() == before


def test_a_pair_in_its_plane_has_no_solid() -> None:
    inspect(sheet("A"), sheet("B", location=(0.5, 0.0, 0.0)), flat=True)
    with pytest.raises(RuntimeError, match="overlaps in an area, which is not a solid: turn off Inspect in 2D"):
        bpy.ops.contact_lens.overlap_object()


def test_a_boolean_that_fails_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    module = lens.operators.overlap_object
    inspect(cube("A"), cube("B", (1.5, 0.2, 0.1)))
    before, real = everything(), module.solid_facets

    def elsewhere(shape: Any) -> Any:
        return real(shape.translated((10.0 * shape.center[0], 0.0, 0.0)))

    monkeypatch.setattr(module, "solid_facets", elsewhere)
    with pytest.raises(RuntimeError, match="Blender's Boolean found no overlap, so nothing was made"):
        bpy.ops.contact_lens.overlap_object()
    assert everything() == before


def test_a_volume_that_differs_is_reported(monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    module = lens.operators.overlap_object
    inspect(cube("A"), cube("B", (1.5, 0.2, 0.1)))
    real = module.solid_facets
    monkeypatch.setattr(
        module, "solid_facets", lambda shape: real(shape.translated((-1e-3 * shape.center[0], 0.0, 0.0)))
    )
    assert bpy.ops.contact_lens.overlap_object() == {"FINISHED"}
    assert "The object's volume is not that of the overlap, 1.71 m³" in capfd.readouterr().out
