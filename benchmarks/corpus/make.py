# SPDX-License-Identifier: GPL-3.0-or-later
"""Make tests/data/mesh_pairs.npz: `python -m benchmarks.corpus.make FOLDER`, in the benchmarks' environment.

FOLDER is where the wheel of example-robot-data was unpacked; pybullet is installed with the peers. The file is the same
but for the versions of manifold3d and of these packages.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pybullet_data

from tests.core.mesh_pairs import PAIRS_FILE
from tests.core.mesh_shapes import Surface

from .parts import PARTS, part
from .poses import PAIRS, poses_of
from .solids import generated

LEAST, MOST = 500, 12_000
"""Triangles of a mesh."""


def main(folder: str) -> None:
    """Make the meshes and the poses and store them."""
    folders = {"pybullet_data": Path(pybullet_data.getDataPath()), "example_robot_data": Path(folder)}
    meshes: dict[str, Surface] = {}
    for name in dict.fromkeys(name for *names, _ in PAIRS for name in names):
        points, triangles = part(name, folders) if name in PARTS else generated(name)
        assert LEAST <= len(triangles) <= MOST, (name, len(triangles))
        meshes[name] = points.astype(np.float32).astype(float), triangles
    names = list(meshes)
    poses = []
    for seed, (a, b, place) in enumerate(PAIRS):
        poses.append(poses_of(a, b, place, seed, meshes[a], meshes[b]))
        print(seed, a, "-", b, flush=True)
    np.savez_compressed(
        PAIRS_FILE,
        names=np.array(names),
        points=np.concatenate([points for points, _ in meshes.values()]).astype(np.float32).T,
        triangles=np.concatenate([triangles for _, triangles in meshes.values()]).astype(np.uint16).T,
        point_counts=np.array([len(points) for points, _ in meshes.values()]),
        triangle_counts=np.array([len(triangles) for _, triangles in meshes.values()]),
        pairs=np.array([[names.index(a), names.index(b)] for a, b, _ in PAIRS]),
        poses=np.array(poses),
    )
    print(f"{len(names)} meshes, {len(PAIRS)} pairs, {PAIRS_FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
