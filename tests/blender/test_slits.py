# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes from STL files: every triangle has corners of its own, rounded to single precision by itself."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from .scenes import block, inspect, update

pytestmark = pytest.mark.usefixtures("empty_scene")


def soup(name: str, size: float, far: float) -> bpy.types.Object:
    """A turned cube, whose corners are apart by so many steps of their coordinates."""
    source = block("source", [size] * 3)
    turned = np.array(Euler((0.3, 0.5, 0.7)).to_matrix())
    source.data.calc_loop_triangles()
    corners = np.array([[source.data.vertices[k].co for k in t.vertices] for t in source.data.loop_triangles])
    corners = (corners @ turned.T + 3.0).reshape(-1, 3)
    steps = np.random.default_rng(2).choice([-0.5, 0.5], corners.shape) * far * np.spacing(np.float32(4.0))
    data = bpy.data.meshes.new(name)
    data.from_pydata((corners + steps).tolist(), [], np.arange(len(corners)).reshape(-1, 3).tolist())
    bpy.data.objects.remove(source)
    obj = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(obj)
    obj.contact_lens_shape = "MESH"
    return obj


def test_a_slit_of_the_resolution_of_coordinates_closes_a_mesh() -> None:
    inner = block("Inner", [0.1] * 3)
    inner.matrix_world = Matrix.Translation((3.0, 3.0, 3.0))
    near, wide = soup("Near", 1.0, 1.0), soup("Wide", 1.0, 10.0)
    update()
    found = inspect(near, inner).contact
    assert found.relation.value == "b_inside_a"
    assert found.depth > 0.4
    assert any("closed after joining 36 open edges" in note.words() for note in found.notes)
    found = inspect(wide, inner).contact
    assert found.depth == 0.0
    assert any("Mesh.welded" in note.words() for note in found.notes)
