# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender could not evaluate (missing libraries, files and caches, what it does not know, invalid drivers), and
what that affects; what a newer Blender has saved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from ..data import messages
from ..data.records import Skipped
from .visibility import INSTANCING

SOURCES = (
    "objects",
    "meshes",
    "curves",
    "hair_curves",
    "metaballs",
    "lattices",
    "armatures",
    "pointclouds",
    "volumes",
    "shape_keys",
    "node_groups",
    "collections",
    "actions",
    "cache_files",
    "particles",
    "textures",
    "images",
    "fonts",
    "cameras",
    "lights",
    "speakers",
    "scenes",
)
"""The data-blocks that are looked at, as `bpy.data` names them. Materials and worlds move nothing."""
PASS_ON = frozenset(
    {
        "OBJECT",
        "MESH",
        "CURVE",
        "CURVES",
        "META",
        "LATTICE",
        "ARMATURE",
        "POINTCLOUD",
        "VOLUME",
        "KEY",
        "NODETREE",
        "COLLECTION",
        "ACTION",
        "CACHEFILE",
        "PARTICLE",
        "TEXTURE",
        "IMAGE",
        "FONT",
    }
)
"""The types of data-blocks whose users are affected with them. Not scenes, which use all their objects."""
SIMULATIONS = frozenset({"CLOTH", "SOFT_BODY"})
"""Modifiers with a point cache."""
IMPORTS = "GeometryNodeImport"
"""How the types of nodes begin that read a file, whose path is their first input."""
DISPLACING = frozenset({"DISPLACE", "WAVE"})
"""Surfaces of Dynamic Paint that move vertices."""


class Fault(NamedTuple):
    """Why a data-block may not be as its author meant it."""

    kind: str
    """"library", "file", "undefined", "driver" or "cache"."""
    reason: str
    """A sentence that names the data-block."""
    is_own: bool
    """Whether the fault is that of the data-block itself, not of one that it depends on."""


_Words = tuple[str, str]
"""The kind of a fault, and what is to be said of the data-block, without its name."""


def affected(context: bpy.types.Context) -> dict[bpy.types.ID, Fault]:
    """Return all data-blocks that Blender may have evaluated wrong in the scene as it is now, each with one reason."""
    scene = context.scene
    depsgraph = context.evaluated_depsgraph_get()
    own: dict[bpy.types.ID, _Words] = {}
    for name in SOURCES:
        for block in getattr(bpy.data, name, ()):
            found = _library(block) or _file(block) or _driver(block)
            if found is None and name == "objects":
                found = _unknown_parts(block) or _cache(block, scene, depsgraph)
            elif found is None and name == "node_groups":
                found = _unknown_nodes(block)
            if found is not None:
                own[block] = found
    if not own:
        return {}
    faults = {block: Fault(kind, f"{_named(block)} {what}", is_own=True) for block, (kind, what) in own.items()}
    users = bpy.data.user_map()
    reached = [(block, block) for block in own]
    for block, source in reached:  # it grows
        for user in users.get(block, ()):
            if user.id_type in PASS_ON and user not in faults:
                kind, what = own[source]
                reason = f"{_named(user)} depends on {_kind(source)} '{source.name}', which {what}"
                faults[user] = Fault(kind, reason, is_own=False)
                reached.append((user, source))
    return faults


def _named(block: bpy.types.ID) -> str:
    return f"'{block.name}'" if isinstance(block, bpy.types.Object) else f"{_kind(block)} '{block.name}'"


def _kind(block: Any) -> str:
    return "the node group" if isinstance(block, bpy.types.NodeTree) else f"the {block.bl_rna.name.lower()}"


# --- libraries ------------------------------------------------------------------------------------------------------


def _library(block: bpy.types.ID) -> _Words | None:
    """What to say of a linked data-block that is missing, or of an override whose source is."""
    if block.is_missing:
        return "library", f"is missing from {_library_words(block.library)}"
    override = block.override_library
    if override is None or not (override.reference is None or override.reference.is_missing):
        return None
    if override.reference is None:
        return "library", "overrides data that is no longer linked"
    reference = override.reference
    return "library", f"overrides '{reference.name}', which is missing from {_library_words(reference.library)}"


def _library_words(library: bpy.types.Library | None) -> str:
    if library is None:
        return "its library"
    is_there = _exists(library.filepath, library.parent)
    problem = f", which {'cannot be read' if is_there else 'does not exist'}" if library.is_missing else ""
    return f"the library '{library.filepath}'{problem}"


def _exists(path: str, library: bpy.types.Library | None) -> bool:
    return Path(bpy.path.abspath(path, library=library)).is_file()


def _file(block: Any) -> _Words | None:
    """What to say of an image, a font or a volume whose file is missing, which may shape geometry, or of nodes that
    import one."""
    if isinstance(block, bpy.types.NodeTree):
        return _imported(block)
    is_image = isinstance(block, bpy.types.Image) and block.source == "FILE"
    is_font = isinstance(block, bpy.types.VectorFont) and block.filepath != "<builtin>"
    # Saving a file makes "//../" of no path.
    is_volume = isinstance(block, bpy.types.Volume) and bpy.path.basename(block.filepath) and not block.is_sequence
    is_missing = (is_image or is_font or is_volume) and block.packed_file is None
    if not is_missing or _exists(block.filepath, block.library):
        return None
    return "file", _missing_file(block.filepath)


def _imported(tree: bpy.types.NodeTree) -> _Words | None:
    """What to say of a node group with nodes that import a missing file."""
    paths: list[Any] = [node.inputs[0] for node in tree.nodes if node.bl_idname.startswith(IMPORTS) and not node.mute]
    missing = (path.default_value for path in paths if not path.is_linked and path.default_value)
    return next((("file", _missing_file(path)) for path in missing if not _exists(path, tree.library)), None)


def _missing_file(path: str) -> str:
    """A reason."""
    return f"uses the file '{path}', which does not exist" if path else "has no file"


# --- newer versions of Blender --------------------------------------------------------------------------------------


def _unknown_nodes(tree: bpy.types.NodeTree) -> _Words | None:
    """What to say of a node group with nodes that this Blender does not know: they evaluate to nothing."""
    nodes = [node for node in tree.nodes if node.bl_idname == "NodeUndefined"] if tree.type == "GEOMETRY" else ()
    return _unknown([f"node '{node.name}'" for node in nodes if any(socket.is_linked for socket in node.outputs)])


def _unknown_parts(obj: bpy.types.Object) -> _Words | None:
    """What to say of an object with modifiers or constraints that this Blender does not know: it leaves them out."""
    modifiers = [modifier for modifier in obj.modifiers if modifier.show_viewport and not modifier.type]
    owners: list[Any] = [obj] if obj.pose is None else [obj, *obj.pose.bones]
    constraints = [constraint for owner in owners for constraint in owner.constraints]
    names = [f"modifier '{modifier.name}'" for modifier in modifiers]
    # Blender does not say which constraint it is.
    return _unknown([*names, *("constraint" for of in constraints if not isinstance(of, bpy.types.Constraint))])


def _unknown(names: list[str]) -> _Words | None:
    if not names:
        return None
    return "undefined", (
        f"has a {names[0]}{messages.and_more(len(names) - 1)} that Blender {version_of(bpy.app)} does not know: check "
        "the file with one that does"
    )


def saved_by_newer() -> Iterator[Skipped]:
    """Yield the open file, and the libraries whose data may shape something, that a newer Blender has saved."""
    if _is_newer(bpy.data):
        name = Path(bpy.data.filepath).name or messages.UNSAVED_FILE
        reason = _saved_by_newer(f"'{name}'", version_of(bpy.data), version_of(bpy.app))
        yield Skipped(name, reason, kind="newer")
    for library in filter(_is_newer, bpy.data.libraries):
        if any(block.id_type in PASS_ON for block in library.users_id):
            what = f"The library '{library.filepath}'"
            reason = _saved_by_newer(what, version_of(library), version_of(bpy.app))
            yield Skipped(library.filepath, reason, kind="newer")


def _saved_by_newer(what: str, version: str, own: str) -> str:
    return (
        f"{what} was saved by Blender {version}, and this is {own}, in which geometry may be missing: check it with "
        f"Blender {version} or newer"
    )


def _is_newer(saved: Any) -> bool:
    return tuple(saved.version[:2]) > bpy.app.version[:2]


def version_of(saved: Any) -> str:
    """Return the version of Blender that has saved the open file or a library, or that runs, as in '4.5'."""
    return ".".join(map(str, saved.version[:2]))


# --- drivers --------------------------------------------------------------------------------------------------------


def _driver(block: bpy.types.ID) -> _Words | None:
    """What to say of a data-block with drivers that Blender could not evaluate."""
    animation = getattr(block, "animation_data", None)
    if animation is None:
        return None
    invalid = [
        curve for curve in animation.drivers if not curve.mute and not (curve.driver.is_valid and curve.is_valid)
    ]
    if not invalid:
        return None
    place, reason = _place(block, invalid[0]), _driver_reason(block, invalid[0])
    return "driver", f"has a driver on {place} that {reason}{messages.and_more(len(invalid) - 1)}"


def _place(block: bpy.types.ID, curve: bpy.types.FCurve) -> str:
    value = _value(block, curve)
    is_array = hasattr(value, "__len__") and not isinstance(value, str)
    return f"{curve.data_path}[{curve.array_index}]" if is_array else curve.data_path


def _driver_reason(block: bpy.types.ID, curve: bpy.types.FCurve) -> str:
    driver = curve.driver
    if _value(block, curve) is None:
        return "drives a property that does not exist"
    if driver.type != "SCRIPTED":
        return "has an invalid variable"
    if bpy.app.autoexec_fail and not driver.is_simple_expression:
        return (
            f"was not run ('{driver.expression}'), because Blender runs no scripts of this file: "
            f"{messages.ALLOW_SCRIPTS}"
        )
    return f"has an invalid expression ('{driver.expression}')"


def _value(block: bpy.types.ID, curve: bpy.types.FCurve) -> Any:
    """The value that is driven; None where there is none."""
    try:
        return block.path_resolve(curve.data_path)
    except ValueError:
        return None


# --- caches ---------------------------------------------------------------------------------------------------------


def _cache(obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> _Words | None:
    """What to say of an object with a cache that is missing or ends before the scene's frame."""
    return next((("cache", words) for words in _caches(obj, scene, depsgraph)), None)


def _caches(obj: Any, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Iterator[str]:
    modifiers = [modifier for modifier in obj.modifiers if modifier.show_viewport]
    for modifier in modifiers:
        if modifier.type == "MESH_SEQUENCE_CACHE":
            yield from _of_cache_file(modifier.cache_file, modifier.name, depsgraph, modifier.object_path)
        elif modifier.type == "MESH_CACHE" and not _exists(modifier.filepath, obj.library):
            yield _missing_cache(modifier.filepath, modifier.name)
        elif modifier.type in SIMULATIONS:
            yield from _of_points(modifier.point_cache, modifier.name, obj, scene)
        elif modifier.type == "FLUID" and modifier.fluid_type == "DOMAIN":
            yield from _of_fluid(modifier, obj, scene)
        elif modifier.type == "DYNAMIC_PAINT" and modifier.canvas_settings is not None:
            for surface in modifier.canvas_settings.canvas_surfaces:
                if surface.is_active and surface.surface_type in DISPLACING:
                    yield from _of_points(surface.point_cache, modifier.name, obj, scene)
        elif modifier.type == "PARTICLE_INSTANCE" and modifier.particle_system is not None:
            yield from _of_particles(modifier.particle_system, modifier.object, scene)
        elif modifier.type == "NODES":
            yield from _of_nodes(modifier, obj, scene)
    for constraint in obj.constraints:
        if isinstance(constraint, bpy.types.TransformCacheConstraint) and not constraint.mute:
            yield from _of_cache_file(constraint.cache_file, constraint.name, depsgraph)
    explodes = any(modifier.type == "EXPLODE" for modifier in modifiers)
    for system in obj.particle_systems:
        if system.settings is not None and (explodes or system.settings.render_type in INSTANCING):
            yield from _of_particles(system, obj, scene)
    world, body = scene.rigidbody_world, obj.rigid_body
    if world is not None and world.enabled and body is not None and body.type == "ACTIVE" and not body.kinematic:
        yield from _of_points(world.point_cache, "Rigid Body World", obj, scene)


def _of_cache_file(
    file: bpy.types.CacheFile | None, name: str, depsgraph: bpy.types.Depsgraph, place: str = ""
) -> Iterator[str]:
    if file is None:
        return
    paths = {path.path for path in file.evaluated_get(depsgraph).object_paths}
    if not paths:
        is_there = _exists(file.filepath, file.library) or file.is_sequence
        yield _missing_cache(file.filepath, name, is_there)
    elif place and place not in paths:
        yield f"uses the cache '{file.filepath}' ({name}), which does not contain '{place}'"


def _missing_cache(path: str, user: str, is_there: bool = False) -> str:
    """A reason."""
    if not path:
        return f"has no cache file ({user})"
    return f"uses the cache '{path}' ({user}), which {'cannot be read' if is_there else 'does not exist'}"


def _of_points(cache: Any, name: str, obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[str]:
    """Without all frames until now Blender shows some other state."""
    frame = min(scene.frame_current, cache.frame_end)
    if frame <= cache.frame_start:
        return
    if cache.is_baked and (cache.use_disk_cache or cache.use_external):
        if not _has_files(cache, obj):
            yield f"has a simulation ({name}) whose baked files are missing"
        return
    # Blender reports the number of frames in a sentence only.
    count = re.search(r"\d+", cache.info)
    needed = (frame - cache.frame_start) // max(1, cache.frame_step) + 1
    if cache.is_frame_skip or count is None or int(count[0]) < needed:
        yield _not_baked("simulation", name, frame)


def _of_particles(system: Any, obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[str]:
    if system.settings.type != "HAIR" or system.use_hair_dynamics:  # else they stay on their surface
        yield from _of_points(system.point_cache, system.name, obj, scene)


def _of_nodes(modifier: Any, obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[str]:
    """Of an unbaked simulation zone Blender does not report which frames it has simulated, nor of a packed bake."""
    for bake in modifier.bakes:
        own_range = bake.use_custom_simulation_frame_range
        start, end = (bake.frame_start, bake.frame_end) if own_range else (scene.frame_start, scene.frame_end)
        frame = min(scene.frame_current, end)
        if frame <= start or getattr(bake.node, "bl_idname", "") != "GeometryNodeSimulationOutput":
            continue
        folder = bake.directory if bake.use_custom_path else f"{modifier.bake_directory}/{bake.bake_id}"
        if not _exists(f"{folder}/meta/{frame:05}_00000.json", obj.library):
            yield _not_baked("simulation zone", modifier.name, frame, " to disk")


def _has_files(cache: Any, obj: bpy.types.Object) -> bool:
    # As `ptcache_filename` in Blender's pointcache.cc names them.
    prefix = cache.name or "".join(f"{byte:02X}" for byte in obj.name.encode())
    own = f"//blendcache_{Path(bpy.data.filepath).stem}"
    folder = Path(bpy.path.abspath(cache.filepath if cache.use_external else own))
    return folder.is_dir() and any(path.name.startswith(f"{prefix}_") for path in folder.glob("*.bphys"))


def _of_fluid(modifier: Any, obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[str]:
    domain = modifier.domain_settings
    if domain is None or domain.domain_type != "LIQUID" or not domain.use_mesh:
        return
    frame = min(scene.frame_current, domain.cache_frame_end)
    folder = Path(bpy.path.abspath(domain.cache_directory, library=obj.library)) / "mesh"
    if frame >= domain.cache_frame_start and not any(folder.glob(f"fluid_mesh_{frame:04d}.*")):
        yield _not_baked("liquid", modifier.name, frame)


def _not_baked(simulation: str, user: str, frame: float, medium: str = "") -> str:
    """A reason."""
    return f"has a {simulation} ({user}) that is not baked{medium}{messages.UP_TO_FRAME} {frame}"


# --- scripts --------------------------------------------------------------------------------------------------------


def texts_not_run() -> Iterable[str]:
    """Return the names of the file's scripts that Blender would have run when it opened the file, and did not."""
    if not bpy.app.autoexec_fail:
        return []
    return [text.name for text in bpy.data.texts if text.use_module and text.name.endswith(".py")]
