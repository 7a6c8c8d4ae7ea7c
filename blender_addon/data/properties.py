# SPDX-License-Identifier: GPL-3.0-or-later
"""`scene.contact_lens`: pair, settings, what the overlay shows; `object.contact_lens_shape`: what it collides as.

Saved with the file and undone with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from . import collision_kinds
from .objects import object_in_scene, unsupported_reason
from .records import Key, Settings, VolumeSettings

METHODS = (
    ("AUTO", "Automatic", "Use the fastest method, GJK + EPA"),
    ("SAT", "SAT", "Separating axis test, slower on large shapes"),
    ("GJK", "GJK + EPA", "Gilbert-Johnson-Keerthi and expanding polytope algorithms"),
    ("BOTH", "Both", "Run both and show how much they differ"),
)
DEFAULT_CONTACT_TOLERANCE = 1e-5
NO_OPTIONS: set[Any] = set()

VOLUMES_OF = (
    ("OBJECTS", "Objects", "One volume around each selected object"),
    (
        "TRIANGLES",
        "Triangles",
        "Tree over the triangles of each selected object; for two objects, the leaves that overlap",
    ),
    ("SCENE", "Scene", "Tree over all visible objects"),
)
VOLUME_KINDS = (
    ("AABB", "Box", "Axis-aligned bounding box"),
    ("OBB", "Oriented Box", "Bounding box at any angle"),
    ("SPHERE", "Sphere", "Smallest bounding sphere"),
    ("KDOP", "k-DOP", "Discrete oriented polytope with k planes of fixed directions"),
)
VOLUME_PLANES = (
    ("4", "4 Planes, Flat", "k-DOP with 4 planes, of flat objects in their plane", 4),
    ("8", "8 Planes, Flat", "k-DOP with 8 planes, of flat objects in their plane", 5),
    *((k, f"{k} Planes", f"k-DOP with {k} planes", i) for i, k in enumerate(("6", "14", "18", "26"))),
)
"""With the numbers that files store."""
STEP_ALGORITHMS = (
    ("ALL", "All in Order", "SAT, GJK, EPA and the contact region"),
    ("SAT", "SAT", "Separating axis test: the shadows of both objects on one axis after the other"),
    ("GJK", "GJK", "Gilbert-Johnson-Keerthi algorithm: a simplex that approaches the origin"),
    ("EPA", "EPA", "Expanding polytope algorithm: from the simplex around the origin to the nearest face"),
    ("REGION", "Contact Region", "The support features of both objects, one clipped by the other"),
)
TREE_METHODS = (
    ("LINEAR", "Linear", "Sort along a space-filling curve and halve, the fastest to build"),
    ("TOP_DOWN", "Top-Down", "Divide from the root down by the split rule"),
    ("BOTTOM_UP", "Bottom-Up", "Merge nearest neighbors from the leaves up"),
    ("INSERTION", "Insertion", "Insert items one by one where the tree grows least, slow"),
)
TREE_SPLITS = (
    ("SAH", "Surface Area", "Least surface area times number of items, the tightest"),
    ("MEDIAN", "Median", "Half of the items on each side"),
    ("MEAN", "Mean", "At the mean of the centers"),
    ("MIDDLE", "Middle", "At the middle of the bounds"),
)

Update = Callable[[Any, bpy.types.Context], None]

on_pair: list[Callable[[bpy.types.Scene], None]] = []
"""Called when a scene's pair, or a setting of its inspection, has changed."""
on_volumes: list[Callable[[bpy.types.Scene], None]] = []
"""Called when a setting of a scene's bounding volumes has changed."""
on_band: list[Callable[[bpy.types.Scene], None]] = []
"""Called when a setting of a scene's clearance band has changed."""
on_display: list[Callable[[], None]] = []
"""Called when what is drawn has changed."""


def method(options: set[Any] = NO_OPTIONS, update: Update | None = None) -> object:
    return EnumProperty(
        name="Method",
        description="Algorithm that computes the contact",
        items=METHODS,
        default="AUTO",
        options=options,
        update=update,
    )


def clearance(options: set[Any] = NO_OPTIONS, update: Update | None = None) -> object:
    return FloatProperty(
        name="Pair Clearance",
        description="Largest gap between A and B that counts as within clearance",
        subtype="DISTANCE",
        min=0.0,
        precision=4,
        default=0.0,
        options=options,
        update=update,
    )


def contact_tolerance(options: set[Any] = NO_OPTIONS, update: Update | None = None) -> object:
    return FloatProperty(
        name="Tolerance",
        description="Distance that counts as touching, relative to the smallest ball around the smaller object",
        min=0.0,
        max=0.1,
        precision=6,
        step=0.001,
        default=DEFAULT_CONTACT_TOLERANCE,
        options=options,
        update=update,
    )


def flat(options: set[Any] = NO_OPTIONS, update: Update | None = None) -> object:
    return BoolProperty(
        name="2D",
        description="Inspect two flat meshes in the same plane as 2D shapes",
        default=False,
        options=options,
        update=update,
    )


def as_settings(owner: Any) -> Settings:
    """The settings of a scene or an operator as plain values: float32 properties give back the digits typed."""
    return Settings(
        owner.method.lower(),
        float(f"{owner.clearance:.7g}"),
        float(f"{owner.contact_tolerance:.7g}"),
        owner.flat,
    )


def _settings_changed(self: ContactLensSettings, context: bpy.types.Context) -> None:
    for call in on_pair:
        call(cast(bpy.types.Scene, self.id_data))


def _display_changed(self: ContactLensSettings | bpy.types.WindowManager, context: bpy.types.Context) -> None:
    for call in on_display:
        call()


def _band_changed(self: ContactLensSettings, context: bpy.types.Context) -> None:
    for call in on_band:
        call(cast(bpy.types.Scene, self.id_data))


def _volumes_changed(self: ContactLensSettings, context: bpy.types.Context) -> None:
    for call in on_volumes:
        call(cast(bpy.types.Scene, self.id_data))


def _choice(
    name: str,
    description: str,
    items: Sequence[tuple[Any, ...]],
    default: str = "",
    update: Update = _volumes_changed,
) -> object:
    return EnumProperty(name=name, description=description, items=items, default=default or items[0][0], update=update)


def _volume_switch(name: str, description: str) -> object:
    return BoolProperty(name=name, description=description, default=False, update=_volumes_changed)


def _can_be_picked(self: ContactLensSettings, obj: bpy.types.Object) -> bool:
    return not unsupported_reason(obj) and object_in_scene(cast(bpy.types.Scene, self.id_data), obj) is not None


def _picker(name: str, description: str) -> object:
    letter = name.lower()

    def changed(self: ContactLensSettings, context: bpy.types.Context) -> None:
        # Of an instance the source and number are set after this.
        setattr(self, f"source_{letter}", None)
        setattr(self, f"instance_{letter}", "")
        self.flat = False  # it is about the pair of before
        _settings_changed(self, context)

    return PointerProperty(
        name=name, description=description, type=bpy.types.Object, poll=_can_be_picked, update=changed
    )


def _toggle(name: str, description: str, default: bool = True) -> object:
    return BoolProperty(name=name, description=description, default=default, update=_display_changed)


def _shape_changed(self: bpy.types.Object, context: bpy.types.Context) -> None:
    for scene in bpy.data.scenes:
        if self in picked(scene):
            for call in on_pair:
                call(scene)


class ContactLensSettings(bpy.types.PropertyGroup):
    object_a: _picker("A", "Object that stays in place")  # type: ignore
    object_b: _picker("B", "Object that is moved out")  # type: ignore
    source_a: PointerProperty(type=bpy.types.Object, options={"HIDDEN"})  # type: ignore[valid-type]
    source_b: PointerProperty(type=bpy.types.Object, options={"HIDDEN"})  # type: ignore[valid-type]
    instance_a: StringProperty(options={"HIDDEN"})  # type: ignore[valid-type]
    instance_b: StringProperty(options={"HIDDEN"})  # type: ignore[valid-type]
    method: method({"ANIMATABLE"}, update=_settings_changed)  # type: ignore[valid-type]
    clearance: clearance({"ANIMATABLE"}, update=_settings_changed)  # type: ignore[valid-type]
    contact_tolerance: contact_tolerance({"ANIMATABLE"}, update=_settings_changed)  # type: ignore[valid-type]
    flat: flat({"ANIMATABLE"}, update=_settings_changed)  # type: ignore[valid-type]
    show_overlay: _toggle("Contact", "Show the contact in the viewport")  # type: ignore[valid-type]
    show_vector: _toggle(  # type: ignore[valid-type]
        "Arrow", "Show the shortest move of B out of A, or the gap between them"
    )
    show_overlap: _toggle("Overlap", "Show the overlap of objects that penetrate, seen through everything")  # type: ignore[valid-type]
    show_region: _toggle("Contact Area", "Show where the surfaces meet, or face each other within the clearance")  # type: ignore[valid-type]
    show_points: _toggle("Contact Points", "Show the center and the corners of the contact area")  # type: ignore[valid-type]
    show_hulls: _toggle(  # type: ignore[valid-type]
        "Outline", "Show the outlines of collision shapes that differ from their mesh, and of hidden parts"
    )
    show_labels: _toggle("Labels", "Show the names of A and B, and the depth or gap")  # type: ignore[valid-type]
    show_ties: _toggle(  # type: ignore[valid-type]
        "Other Directions", "Show other moves of B out of A that are as short", default=False
    )
    show_witness: _toggle(  # type: ignore[valid-type]
        "Witness Points", "Show the points on A and B between which the depth or gap is measured", default=False
    )

    show_deepest: _toggle("Deepest Points", "Show how far each surface is inside the other, once it is measured")  # type: ignore[valid-type]
    band_limit: FloatProperty(  # type: ignore[valid-type]
        name="Limit",
        description="Largest gap that is measured and colored; 0 chooses it by the gap and the size of the objects",
        subtype="DISTANCE",
        min=0.0,
        precision=4,
        default=0.0,
        update=_band_changed,
    )

    show_volumes: BoolProperty(  # type: ignore[valid-type]
        name="Bounding Volumes",
        description="Show bounding volumes and their trees in the viewport",
        default=False,
        update=_volumes_changed,
    )
    volumes_of: _choice("Around", "What the volumes enclose", VOLUMES_OF)  # type: ignore[valid-type]
    volume_kind: _choice("Kind", "Kind of bounding volume", VOLUME_KINDS)  # type: ignore[valid-type]
    volume_planes: _choice("Planes", "Number of planes of a k-DOP", VOLUME_PLANES, "14")  # type: ignore[valid-type]
    tree_method: _choice("Build", "Method to build the tree", TREE_METHODS)  # type: ignore[valid-type]
    tree_split: _choice("Split", "Rule to divide the items of a node", TREE_SPLITS)  # type: ignore[valid-type]
    tree_level: IntProperty(  # type: ignore[valid-type]
        name="Level",
        description="Level of the tree to show, 0 is the root",
        min=0,
        soft_max=20,
        default=3,
        update=_volumes_changed,
    )
    tree_above: _volume_switch("Levels Above", "Also show the levels above")  # type: ignore[valid-type]
    tree_descent: _volume_switch(  # type: ignore[valid-type]
        "Step Through", "Show the volume tests of the descent one by one, instead of a level"
    )
    tree_compare: _volume_switch(  # type: ignore[valid-type]
        "Compare Rebuild", "After a move, also build new trees and count their volume tests"
    )
    volume_climb: _volume_switch(  # type: ignore[valid-type]
        "Climb", "Show the walk of each extreme vertex along the hull when the object is turned"
    )

    step_algorithm: _choice(  # type: ignore[valid-type]
        "Algorithm", "Algorithm whose steps are shown", STEP_ALGORITHMS, "SAT", _display_changed
    )
    step_speed: FloatProperty(  # type: ignore[valid-type]
        name="Speed", description="Steps played per second", min=0.1, max=60.0, soft_max=10.0, default=1.0, precision=1
    )
    step_all_axes: _toggle(  # type: ignore[valid-type]
        "All Axes", "Play all axes, not only those that improve the best so far", default=False
    )
    step_sum: _toggle(  # type: ignore[valid-type]
        "Minkowski Sum", "Show the sum of A and B instead of the difference A - B", default=False
    )
    step_beside: _toggle(  # type: ignore[valid-type]
        "Beside Objects", "Show the Minkowski difference beside the objects, instead of where Origin places it"
    )
    step_place: FloatVectorProperty(  # type: ignore[valid-type]
        name="Origin",
        description="Place in the world at which the origin of the Minkowski difference is shown",
        subtype="TRANSLATION",
        update=_display_changed,
    )

    def as_volume_settings(self) -> VolumeSettings:
        """What the bounding volumes are asked for, as plain values."""
        return VolumeSettings(
            of=self.volumes_of.lower(),
            kind=self.volume_kind.lower(),
            k=int(self.volume_planes),
            method=self.tree_method.lower().replace("_", "-"),
            split=self.tree_split.lower(),
            level=self.tree_level,
            above=self.tree_above,
            tests=self.tree_descent,
            compare=self.tree_compare,
            climb=self.volume_climb,
        )

    def as_settings(self) -> Settings:
        """The settings as plain values."""
        return as_settings(self)


CLASSES = (ContactLensSettings,)


# --- typed access ---------------------------------------------------------------------------------------------------


def settings_of(scene: bpy.types.Scene) -> ContactLensSettings:
    """Return `scene.contact_lens`, with its type."""
    return cast("ContactLensSettings", scene.contact_lens)  # type: ignore[attr-defined]


def picked(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return the objects in the pickers, deleted ones too."""
    settings = settings_of(scene)
    return [obj for obj in (settings.object_a, settings.object_b) if obj is not None]


def pair(scene: bpy.types.Scene) -> tuple[bpy.types.Object | None, bpy.types.Object | None]:
    """Return the objects A and B in the pickers, of an instance its instancer; None if not set, or deleted."""
    settings = settings_of(scene)
    return object_in_scene(scene, settings.object_a), object_in_scene(scene, settings.object_b)


def shaped_pair(scene: bpy.types.Scene) -> tuple[bpy.types.Object | None, bpy.types.Object | None]:
    """Return the objects whose collision shapes A and B have: of an instance the instanced one."""
    settings, (a, b) = settings_of(scene), pair(scene)
    return a and (settings.source_a or a), b and (settings.source_b or b)


def pair_keys(scene: bpy.types.Scene) -> tuple[Key, Key] | None:
    """Return the identity of A and B; None when one is not set, or deleted."""
    settings, (a, b) = settings_of(scene), pair(scene)
    if a is None or b is None:
        return None
    return key_of(a, settings.source_a, settings.instance_a), key_of(b, settings.source_b, settings.instance_b)


def key_of(obj: bpy.types.Object, source: bpy.types.Object | None = None, instance: str = "") -> Key:
    """Return the identity of an object, or of an instance of `source` (None: the object) with a number."""
    return obj.session_uid, 0 if source is None or not instance else source.session_uid, instance


def pick(scene: bpy.types.Scene, keys: tuple[Key, Key]) -> None:
    """Put two objects or instances into the pickers; the same pair stays in its plane."""
    settings = settings_of(scene)
    flat = settings.flat and set(keys) == set(pair_keys(scene) or ())
    by_uid = {obj.session_uid: obj for obj in bpy.data.objects}
    for letter, (owner, source, number) in zip("ab", keys, strict=True):
        setattr(settings, f"object_{letter}", by_uid.get(owner))  # which empties the others
        setattr(settings, f"source_{letter}", by_uid.get(source))
        setattr(settings, f"instance_{letter}", number)
    settings.flat = flat


def register() -> None:
    bpy.types.Scene.contact_lens = PointerProperty(type=ContactLensSettings)  # type: ignore[attr-defined]
    # Not in a group: Blender 5 does not load library overrides of what is in a group of its own.
    bpy.types.Object.contact_lens_shape = EnumProperty(  # type: ignore[attr-defined]
        name="Collision Shape",
        description="Shape that the object collides as",
        items=collision_kinds.ITEMS,
        default=collision_kinds.AUTOMATIC,
        options=set(),
        override={"LIBRARY_OVERRIDABLE"},
        update=_shape_changed,
    )
    # Of the window manager: what is set in a scene changes it, and its volumes would be computed again.
    bpy.types.WindowManager.contact_lens_test = IntProperty(  # type: ignore[attr-defined]
        name="Test", description="Volume test to show", min=1, soft_max=500, default=1, update=_display_changed
    )


def unregister() -> None:
    del bpy.types.WindowManager.contact_lens_test  # type: ignore[attr-defined]
    del bpy.types.Object.contact_lens_shape  # type: ignore[attr-defined]
    del bpy.types.Scene.contact_lens  # type: ignore[attr-defined]
