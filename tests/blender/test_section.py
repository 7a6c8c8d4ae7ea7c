# SPDX-License-Identifier: GPL-3.0-or-later
"""The section of a pair without a window: which plane it takes, what that cuts, how it follows and how it ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from .scenes import cube, inspect, inspection, lens, torus, update

pytestmark = pytest.mark.usefixtures("empty_scene")

X, Y, Z = np.eye(3)


def unit(*vector: float) -> Any:
    return np.array(vector) / np.linalg.norm(vector)


def section(toward: Any) -> Any:
    """The section of the inspected pair for a viewer in this direction."""
    found, module = inspection(), lens.views.section
    normal = module.facing(found.contact.normal, toward, [*np.eye(3)])
    scene = bpy.context.scene.session_uid
    return module.Section(scene, frozenset(found.keys), found.contact.center, normal)


def test_the_plane_is_along_the_direction_and_faces_the_viewer() -> None:
    facing = lens.views.section.facing
    for toward, expected in ((unit(1, -3, 1), -Y), (unit(-1, 1, 3), Z), (unit(3, 1, 0.5), Y)):
        assert np.allclose(facing(X, toward, [*np.eye(3)]), expected), "one that goes along an axis of the objects"
    toward, direction = unit(1, -1, 1), unit(1, 2, 3)
    across = facing(direction, toward)
    assert across @ direction == pytest.approx(0.0, abs=1e-12)
    assert across @ toward == pytest.approx(np.linalg.norm(np.cross(direction, toward)))
    assert np.allclose(facing(X, unit(10, 1, 1), [*np.eye(3)]), unit(10, 1, 1)), "seen along the direction"
    assert np.allclose(facing(np.zeros(3), unit(1, -3, 1), [*np.eye(3)]), -Y), "of a pair without a direction"


def test_what_the_plane_cuts_is_of_both_objects_and_it_is_seen_through() -> None:
    a, b = cube("A"), cube("B", (1.5, 0.2, 0.1))
    inspect(a, b)
    made = section(unit(1, -3, 1))
    *normal, offset = made.plane
    assert np.dot(normal, (0.0, 50.0, 0.0)) + offset > 0.0, "what is behind the plane is on the side that is seen"
    assert np.dot(normal, made.point) + offset == pytest.approx(0.0, abs=1e-6)
    overlap = lens.live.follow_measures.current(bpy.context.scene).surface
    cut = made.cut(inspection(), overlap)
    parts = (cut.of_a, (-1, -1), (1, 1)), (cut.of_b, (0.5, -0.9), (2.5, 1.1)), (cut.of_overlap, (0.5, -0.9), (1, 1))
    for part, low, high in parts:
        assert np.allclose(part.segments[..., 1], made.point[1])
        assert np.allclose(part.segments[..., [0, 2]].reshape(-1, 2).min(axis=0), low)
        assert np.allclose(part.segments[..., [0, 2]].reshape(-1, 2).max(axis=0), high)
    drawn = lens.layers.section_geometry.section_layers(cut, lens.data.look.DEFAULT_LOOK, 1.0)
    assert [layer.name for layer in drawn] == ["section", "section outline"]
    assert all(np.isfinite(layer.glyphs["start"]).all() for layer in drawn)


def area(part: Any) -> float:
    """The area that a section fills."""
    sides = part.triangles[:, 1:] - part.triangles[:, :1]
    return float(np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1).sum()) / 2.0


@pytest.mark.parametrize("kind", ["AUTOMATIC", "MESH"])
def test_the_section_of_the_overlap_is_filled(kind: str) -> None:
    """Corners of its triangles lie on edges of others."""
    inspect(cube("A", kind=kind), cube("B", (1.5, 0.2, 0.1), kind=kind))
    overlap = lens.measure.pair_measures.overlap_of(inspection())
    cut = section(unit(1, -3, 1)).cut(inspection(), overlap)
    assert area(cut.of_overlap) == pytest.approx(0.5 * 1.9, rel=1e-5)


def test_it_follows_the_contact() -> None:
    a, b = torus("A"), cube("B", (1.0, 0.0, 0.0), 0.5)
    inspect(a, b)
    made = section(unit(1, -3, 1))
    b.location = (0.9, 0.4, 0.1)
    update()
    bpy.ops.contact_lens.refresh()
    contact = inspection().contact
    after = made.followed(inspection())
    assert np.allclose(after.point, contact.center)
    assert after.normal @ contact.normal == pytest.approx(0.0, abs=1e-9)
    assert after.normal @ made.normal > 0.5


def test_views_are_restored_and_nothing_is_saved(tmp_path: Any) -> None:
    """Here no region can be clipped, so the planes of views are set as if one was."""
    module = lens.views.section
    inspect(cube("A"), cube("B", (1.5, 0.2, 0.1)))
    views = list(module._all_views())
    assert views
    own, other = views[0], views[-1]
    before = [[0.0, 0.0, 1.0, 2.0]] * 4 + [[0.0] * 4] * 2
    own.use_clip_planes, own.clip_planes = True, before
    made = section(unit(1, -3, 1))
    module._section, module._before = made, {own.as_pointer(): [tuple(plane) for plane in own.clip_planes]}
    for view in (own, other):
        view.use_clip_planes = True
        module._set(view, made.plane)
    own.id_data[module.MARK] = made.plane.tolist()
    assert module.of_view(own) is made
    bpy.context.window_manager.contact_lens_section_offset = 0.5
    assert np.allclose(own.clip_planes[5], made.plane + (0.0, 0.0, 0.0, 0.5))
    assert [list(plane) for plane in own.clip_planes][:4] == before[:4]
    saving: list[Any] = []
    bpy.app.handlers.save_pre.append(
        lambda *_: saving.append(([list(plane) for plane in own.clip_planes], other.use_clip_planes, module._marked()))
    )
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "cut.blend"), copy=True)
    bpy.app.handlers.save_pre.pop()
    assert saving == [(before, own == other, [])]
    assert module.of_view(own) is not None
    own.id_data[module.MARK] = module._section.plane.tolist()
    module.end()
    assert [list(plane) for plane in own.clip_planes] == before
    assert module._marked() == []
    assert module.of_view(own) is None


def test_it_ends_where_another_scene_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    module, scene, shown = lens.views.section, bpy.context.scene, [bpy.context.scene]
    inspect(cube("A"), cube("B", (1.5, 0.2, 0.1)))
    woken: list[Any] = []
    monkeypatch.setattr(module.handlers, "wake", lambda timer, seconds: woken.append(timer))
    monkeypatch.setattr(module.handlers, "window_contexts", lambda: [SimpleNamespace(scene=each) for each in shown])
    module._section = section(unit(1, -3, 1))
    module.follow(scene)
    module._check()
    assert (woken, module._section is None) == ([], False)
    shown[:] = [bpy.data.scenes.new("Other")]
    module.follow(shown[0])
    assert woken == [module._check]
    module._check()
    assert module._section is None
