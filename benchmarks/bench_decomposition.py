# SPDX-License-Identifier: GPL-3.0-or-later
"""Approximate convex pieces of meshes against CoACD: `python -m benchmarks --only decomposition`.

Solids made by code come first. Then meshes that the pybullet package ships, bunny and duck among them. CoACD cuts with
its own settings, and we cut into as many pieces. One measure for both, of the union of the pieces: the Hausdorff
distance between its surface and that of the mesh, by samples, over the diagonal of its box; and how much larger its
volume is.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from contact_lens.core import Mesh, mesh_pieces
from contact_lens.core.decomposition.decompose_polygon import triangulated
from contact_lens.core.decomposition.polygon_convexity import outline_of
from tests.core.mesh_shapes import Surface, bumpy, prism, torus

from .table import duration, print_table

SHIPPED = (
    "bunny.obj",
    "torus/torus_textured.obj",
    "laikago/lower_leg3.obj",
    "duck.obj",
    "aliengo/meshes/calf.obj",
    "toys/concave_box.obj",
    "franka_panda/meshes/visual/link1.obj",
    "bicycle/files/frame_scaled.stl",
    "bicycle/files/handlebar_scaled.stl",
    "differential/diff_carrier.stl",
    "differential/diff_stand.stl",
    "laikago/chassis.stl",
    "xarm/xarm_description/meshes/xarm6/visual/base.stl",
)
GOAL = 1.2
"""Our concavity over CoACD's, at most."""
MOST = 32
"""Pieces at most, for both."""
SAMPLES = 60_000
GROWN = 5e-4
"""Times the diagonal: what pieces are grown by, so that no slits between them count as their surface."""


def read_mesh(path: Path) -> Any:
    """A trimesh of a file, points of equal coordinates merged, wound outward."""
    import trimesh

    mesh = trimesh.load(path, force="mesh", process=False)
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    if mesh.volume < 0.0:
        mesh.invert()
    return mesh


def concavity(mesh: Any, pieces: Sequence[np.ndarray]) -> tuple[float, float]:
    """The Hausdorff distance between the surfaces of a mesh and of the union of the hulls of points, over the diagonal
    of its box, and the fraction by which that union is larger."""
    import manifold3d
    import trimesh
    from scipy.spatial import cKDTree

    diagonal = float(np.linalg.norm(mesh.extents))
    grow = GROWN * diagonal * np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
    hulls = [manifold3d.Manifold.hull_points((points[:, None] + grow).reshape(-1, 3)) for points in pieces]
    union = manifold3d.Manifold.batch_boolean(hulls, manifold3d.OpType.Add)
    surface = union.to_mesh64()
    found = trimesh.Trimesh(surface.vert_properties[:, :3], surface.tri_verts, process=False)
    one, two = found.sample(SAMPLES, seed=1), np.concatenate([mesh.sample(SAMPLES, seed=2), mesh.vertices])
    farthest = max(cKDTree(one).query(two)[0].max(), cKDTree(two).query(one)[0].max())
    return float(farthest) / diagonal, union.volume() / mesh.volume - 1.0


def coacd_pieces(points: np.ndarray, triangles: np.ndarray) -> tuple[list[np.ndarray], float]:
    """The points of CoACD's pieces, and the seconds it took."""
    import coacd

    coacd.set_log_level("error")
    start = perf_counter()
    parts = coacd.run_coacd(coacd.Mesh(points, triangles), max_convex_hull=MOST)
    return [np.asarray(part) for part, _ in parts], perf_counter() - start


def in_its_own_process(mesh: Any) -> tuple[list[np.ndarray], float] | None:
    """The same in a process of its own, for CoACD aborts on some meshes; None when it does."""
    tidy = mesh.copy()  # it always aborts where triangles have no area
    tidy.update_faces(tidy.nondegenerate_faces())
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        try:
            return process.submit(coacd_pieces, np.array(tidy.vertices), np.array(tidy.faces)).result()
        except BrokenProcessPool:
            return None


def made() -> dict[str, Surface]:
    """Solids that cut exactly, some that do not, and bumpy balls within the concavity."""
    x = 2.0 * np.arange(30)[:, None]
    teeth = np.stack([np.concatenate([x + 1, x, x, x - 1], axis=1), np.tile([2.0, 2.0, 1.0, 1.0], (30, 1))], axis=2)
    outline = np.concatenate([[[0.0, 0.0], [59.0, 0.0]], teeth[::-1].reshape(-1, 2)[:-2]])
    return {
        "comb of 30 teeth": prism(outline, triangulated(outline_of(outline))),
        "torus 16 x 8": torus(16, 8),
        "torus 48 x 24": torus(48, 24),
        **{f"ball of {4 * n * (n - 1)}": bumpy(np.random.default_rng(3), n, 0.97, 1.0) for n in (12, 50)},
    }


def print_made() -> None:
    """Print the table of solids made by code."""
    lines = [["", "pieces", "exact", "within", "outside", "CPU"]]
    for name, surface in made().items():
        start = process_time()
        found, extent = mesh_pieces(mesh := Mesh(*surface)), mesh.extent
        figures = [f"{100.0 * length / extent:.2f} %" for length in (found.distance, found.outside)]
        lines.append([name, str(len(found.pieces)), str(found.exact), *figures, duration(process_time() - start)])
    print_table(lines)


def main(quick: bool = False) -> None:
    """Print the tables."""
    print_made()
    found = find_spec("pybullet_data")
    missing = [name for name in ("coacd", "manifold3d", "pybullet_data") if find_spec(name) is None]
    if missing or found is None or found.origin is None:
        print(f"Left out: not installed are {', '.join(missing)}.")
        return
    lines = [["", "triangles", "pieces", "ours", "coacd", "ratio", "volume", "coacd", "ours", "coacd", "certified"]]
    ratios = []
    for name in SHIPPED[: 3 if quick else None]:
        mesh = read_mesh(Path(found.origin).parent / name)
        answer = in_its_own_process(mesh)
        if answer is None:
            print(f"CoACD aborts on {Path(name).name}, which is left out.")
            continue
        parts, their_time = answer
        start = perf_counter()
        pieces = mesh_pieces(
            Mesh(mesh.vertices, mesh.faces), most_cuts=0, most_pieces=max(1, len(parts)), concavity=0.0
        )
        our_time = perf_counter() - start
        assert len(pieces.pieces) <= len(parts)
        theirs = concavity(mesh, parts)
        ours = concavity(mesh, [piece.vertices for piece in pieces.pieces])
        ratios.append(ours[0] / theirs[0])
        depths = [f"{100.0 * value[0]:.2f} %" for value in (ours, theirs)]
        volumes = [f"{100.0 * value[1]:+.0f} %" for value in (ours, theirs)]
        certified = f"{100.0 * pieces.distance / float(np.linalg.norm(mesh.extents)):.2f} %"
        times = [duration(our_time), duration(their_time)]
        count = [f"{len(mesh.faces):,}", str(len(parts))]
        lines.append([Path(name).name, *count, *depths, f"{ratios[-1]:.2f}", *volumes, *times, certified])
    print("Concavity and certified distance over the diagonal, volume over that of the mesh, wall time.")
    print_table(lines)
    met = sum(ratio <= GOAL for ratio in ratios)
    print(f"At most {GOAL}x CoACD's concavity: {met} of {len(ratios)}; median {np.median(ratios):.2f}")
