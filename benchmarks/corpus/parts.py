# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed parts of the meshes that the packages pybullet (folder pybullet_data) and example-robot-data contain.

`pip download --no-deps example-robot-data` and unpacking it is enough. Each is moved to the origin and scaled to 2
across, since the units of the files differ. tests/data/README.md names the licence of each.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import trimesh

from tests.core.mesh_shapes import Surface

PARTS = {
    "hip": ("example_robot_data", "centauro_description/meshes/hip-pitch.stl", 0),
    "calf": ("pybullet_data", "a1/meshes/calf.obj", 2),
    "pedal": ("pybullet_data", "bicycle/files/all_pedal_parts.stl", 0),
    "bicycle frame": ("pybullet_data", "bicycle/files/frame_scaled.stl", 0),
    "handlebar": ("pybullet_data", "bicycle/files/handlebar_scaled.stl", 0),
    "wheel": ("pybullet_data", "bicycle/files/wheel_scaled.stl", 0),
    "palm": ("example_robot_data", "allegro_hand_description/meshes/base_link_left.STL", 0),
    "caster": ("example_robot_data", "pr2_description/meshes/base_v0/caster.stl", 0),
    "hand": ("pybullet_data", "franka_panda/meshes/visual/hand.obj", 2),
    "frame of servo": ("pybullet_data", "quadruped/microtaur/fr12_h101.stl", 0),
    "cooler": ("pybullet_data", "quadruped/microtaur/xavier.stl", 4),
    "inner knuckle": ("pybullet_data", "xarm/xarm_gripper/meshes/left_inner_knuckle.STL", 1),
    "elbow": ("example_robot_data", "centauro_description/meshes/Elbow.STL", 0),
    "finger": ("example_robot_data", "allegro_hand_description/meshes/link_0.0.STL", 0),
    "lower leg": ("example_robot_data", "bolt_description/meshes/stl/lower_leg_200mm_left_side.stl", 0),
    "tarsus": ("example_robot_data", "cassie_description/meshes/tarsus.stl", 0),
    "forearm": ("example_robot_data", "centauro_description/meshes/ForearmYaw.STL", 0),
    "knee": ("example_robot_data", "g1_description/meshes/left_knee_link.STL", 4),
    "thumb": ("example_robot_data", "g1_description/meshes/left_hand_thumb_2_link.STL", 1),
    "waist": ("example_robot_data", "g1_description/meshes/waist_yaw_link_rev_1_0.STL", 0),
    "caster wheel": ("example_robot_data", "pr2_description/meshes/base_v0/pr2_wheel.stl", 0),
    "jaw": ("example_robot_data", "so_arm_description/meshes/so100/Moving_Jaw.stl", 0),
    "arm base": ("example_robot_data", "so_arm_description/meshes/so100/Base.stl", 1),
    "lower link": ("example_robot_data", "finger_edu_description/meshes/lower_link.stl", 0),
    "upper arm": ("example_robot_data", "xarm_description/meshes/xarm7/visual/link4.stl", 0),
    "jaw holder": ("example_robot_data", "so_arm_description/meshes/so100/Fixed_Jaw.stl", 0),
    "pitch bracket": ("example_robot_data", "so_arm_description/meshes/so100/Rotation_Pitch.stl", 0),
    "wrist bracket": ("example_robot_data", "so_arm_description/meshes/so100/Wrist_Pitch_Roll.stl", 0),
    "arm table": ("example_robot_data", "so_arm_description/meshes/so101/base_so101_v2.stl", 0),
    "index finger": ("example_robot_data", "g1_description/meshes/left_hand_index_0_link.STL", 0),
    "ankle": ("example_robot_data", "g1_description/meshes/right_ankle_roll_link.STL", 1),
    "wrist yaw": ("example_robot_data", "g1_description/meshes/left_wrist_yaw_link.STL", 0),
    "solo base": ("example_robot_data", "solo_description/meshes/stl/solo12/solo_12_base.stl", 0),
    "rack": ("pybullet_data", "bicycle/files/bike_rack.stl", 0),
    "body frame": ("pybullet_data", "mini_cheetah/meshes/mini_body.obj", 4),
    "channel": ("pybullet_data", "quadruped/microtaur/channel_4inch.stl", 0),
    "servo frame": ("pybullet_data", "quadruped/microtaur/fr13_s102.stl", 0),
    "solo leg": ("example_robot_data", "solo_description/meshes/obj/without_foot/solo_lower_leg_left_side.obj", 0),
    "big gear": ("pybullet_data", "mini_cheetah/meshes/mini_body.obj", 6),
    "foot": ("example_robot_data", "human_description/meshes/foot_mesh.STL", 0),
}
"""Package, file, and which of its loose parts of at least 500 triangles."""


def part(name: str, folders: dict[str, Path]) -> Surface:
    """The surface of one of `PARTS`, its coordinates float32."""
    package, file, which = PARTS[name]
    path = next(path for path in folders[package].rglob(Path(file).name) if str(path).endswith(file))
    mesh = trimesh.load(path, force="mesh", process=False, skip_materials=True)
    points, place = np.unique(np.asarray(mesh.vertices, dtype=np.float32), axis=0, return_inverse=True)
    triangles = place.ravel()[np.asarray(mesh.faces)]
    sides = triangles != np.roll(triangles, 1, axis=1)
    triangles = triangles[sides.all(axis=1)]
    mesh = trimesh.Trimesh(points.astype(float), triangles, process=False)
    parts = trimesh.graph.connected_components(mesh.face_adjacency, nodes=np.arange(len(triangles)), min_len=500)
    triangles = triangles[np.sort(parts[which])]
    used, local = np.unique(triangles, return_inverse=True)
    points, triangles = points[used].astype(float), local.reshape(-1, 3)
    low, high = points.min(axis=0), points.max(axis=0)
    points = (points - (low + high) / 2) * (2.0 / (high - low).max())
    if trimesh.Trimesh(points, triangles, process=False).volume < 0.0:
        triangles = triangles[:, ::-1]
    return points, triangles
