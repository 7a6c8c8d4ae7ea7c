# SPDX-License-Identifier: GPL-3.0-or-later
"""The package as Blender sees it: zip, manifest, installing, enabling, disabling."""

from __future__ import annotations

import gc
import re
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import addon_utils
import bpy
import pytest

from .scenes import cube, inspect

MODULE = "bl_ext.user_default.contact_lens"
ROOT = Path(__file__).resolve().parents[2]


def text_in(packed: Path, name: str) -> str:
    with zipfile.ZipFile(packed) as archive:
        return archive.read(name).decode("utf-8")


def test_the_zip_holds_the_extension_and_nothing_else(packed: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        names = archive.namelist()
    assert {"__init__.py", "blender_manifest.toml", "LICENSE"} <= set(names)
    assert {"core/__init__.py", "blender_addon/__init__.py"} <= set(names)
    stray = [
        name for name in names if not re.fullmatch(r"(core|blender_addon)/.+|__init__\.py|[^/]+\.toml|LICENSE", name)
    ]
    assert stray == []
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_the_manifest_names_the_extension(packed: Path) -> None:
    manifest = tomllib.loads(text_in(packed, "blender_manifest.toml"))
    assert manifest["id"] == "contact_lens"
    assert manifest["name"] == "Contact Lens"
    assert manifest["blender_version_min"] == "4.2.0"
    assert manifest["license"] == ["SPDX:GPL-3.0-or-later"]
    assert "Physics" in manifest["tags"]
    assert set(manifest["permissions"]) == {"files", "clipboard"}
    assert "wheels" not in manifest


def test_the_installed_files_are_those_of_the_zip(packed: Path, addon: ModuleType) -> None:
    assert addon.__file__ is not None
    folder = Path(addon.__file__).parent
    with zipfile.ZipFile(packed) as archive:
        for name in archive.namelist():
            assert (folder / name).read_bytes() == archive.read(name), name


def test_core_in_the_zip_never_asks_for_blender(packed: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        sources = {name: archive.read(name).decode("utf-8") for name in archive.namelist() if name.startswith("core/")}
    for name, source in sources.items():
        assert not re.search(r"^\s*(import|from) (bpy|mathutils|gpu|bmesh|blf)\b", source, re.MULTILINE), name


class Registered:
    """What an add-on can leave behind in Blender."""

    def __init__(self) -> None:
        self.handlers = {
            name: len(functions)
            for name in dir(bpy.app.handlers)
            if isinstance(functions := getattr(bpy.app.handlers, name), list)
        }
        self.classes = {
            base.__name__: sorted(
                cls.__name__ for cls in base.__subclasses__() if cls.__module__.startswith(MODULE) and cls.is_registered
            )
            for base in (
                bpy.types.AddonPreferences,
                bpy.types.Gizmo,
                bpy.types.GizmoGroup,
                bpy.types.Header,
                bpy.types.Menu,
                bpy.types.Operator,
                bpy.types.Panel,
                bpy.types.PropertyGroup,
                bpy.types.UIList,
            )
        }
        self.properties = {
            owner.__name__: sorted(owner.bl_rna.properties.keys())
            for owner in (bpy.types.Scene, bpy.types.WindowManager, bpy.types.Object, bpy.types.Mesh, bpy.types.Screen)
        }
        self.menu_entries = {
            name: len(drawn)
            for name in dir(bpy.types)
            if (drawn := getattr(getattr(getattr(bpy.types, name), "draw", None), "_draw_funcs", None)) is not None
        }
        self.keymaps = {keymap.name: len(keymap.keymap_items) for keymap in addon_keymaps()}


def addon_keymaps() -> list[bpy.types.KeyMap]:
    configurations = bpy.context.window_manager.keyconfigs
    return list(configurations.addon.keymaps) if configurations.addon else []


@pytest.fixture
def enabled_again() -> Iterator[None]:
    """Whatever the test leaves, the next one finds the add-on enabled."""
    yield
    if MODULE not in bpy.context.preferences.addons:
        addon_utils.enable(MODULE, default_set=True)


@pytest.mark.usefixtures("empty_scene", "enabled_again")
def test_ten_times_on_and_off_leaves_nothing_behind(
    addon: ModuleType, part: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    timers = counted_timers(monkeypatch)
    session, inspection, viewport = map(
        part, ("blender_addon.check.session", "blender_addon.check.inspection", "blender_addon.ui.viewport")
    )
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    inspect(a, b)
    on = vars(Registered())
    assert on["classes"]["Operator"]
    counts, off = [], None
    for _ in range(10):
        addon_utils.disable(MODULE, default_set=True)
        off = off or vars(Registered())
        assert not any(off["classes"].values())
        assert not any(name.startswith("contact_lens") for names in off["properties"].values() for name in names)
        assert vars(Registered()) == off
        assert not any(map(bpy.app.timers.is_registered, timers))
        kept = session._inspections, inspection._geometries._recent._values, inspection._shapes._values
        assert not any((*kept, viewport._handles))
        gc.collect()
        counts.append(len(gc.get_objects()))
        addon_utils.enable(MODULE, default_set=True)
        assert vars(Registered()) == on
        inspect(a, b)
    assert sys.modules[MODULE] is addon
    assert counts[-1] - counts[2] < 200, "the same number of Python objects, but for a few of the interpreter's own"


def counted_timers(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The functions given to bpy.app.timers from now on (Blender has no list of them)."""
    functions: list[object] = []
    register = bpy.app.timers.register

    def remember(function: object, **options: object) -> None:
        functions.append(function)
        register(function, **options)

    monkeypatch.setattr(bpy.app.timers, "register", remember)
    return functions


@pytest.mark.usefixtures("enabled_again")
def test_disabling_removes_the_draw_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[object] = []
    add, remove = bpy.types.SpaceView3D.draw_handler_add, bpy.types.SpaceView3D.draw_handler_remove
    addon_utils.disable(MODULE, default_set=True)

    def add_one(*arguments: object) -> object:
        held.append(handle := add(*arguments))
        return handle

    def remove_one(handle: object, region: str) -> None:
        remove(handle, region)
        held.remove(handle)

    monkeypatch.setattr(bpy.types.SpaceView3D, "draw_handler_add", add_one)
    monkeypatch.setattr(bpy.types.SpaceView3D, "draw_handler_remove", remove_one)
    addon_utils.enable(MODULE, default_set=True)
    assert held, "enabling the add-on registers its drawing"
    addon_utils.disable(MODULE, default_set=True)
    assert held == []


@pytest.mark.usefixtures("empty_scene")
def test_the_operator_is_there() -> None:
    assert "inspect" in dir(bpy.ops.contact_lens)
    assert bpy.ops.contact_lens.inspect.get_rna_type().name == "Inspect Contact"


def test_the_add_on_is_run_from_its_zip(addon: ModuleType) -> None:
    assert addon.__name__ == MODULE
    assert sys.modules[MODULE] is addon
    assert addon.__version__ == tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
