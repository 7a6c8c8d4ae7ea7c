# SPDX-License-Identifier: GPL-3.0-or-later
"""The package as Blender sees it: zip, manifest, installing, enabling, disabling."""

from __future__ import annotations

import gc
import re
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import addon_utils
import bpy
import pytest

from .scenes import MODULE, cube, inspect, lens

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def files(packed: Path) -> dict[str, bytes]:
    """The files of the zip."""
    with zipfile.ZipFile(packed) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_zip_holds_the_extension_and_nothing_else(files: dict[str, bytes]) -> None:
    assert {"__init__.py", "blender_manifest.toml", "LICENSE", "core/__init__.py", "blender_addon/__init__.py"} <= {
        *files
    }
    allowed = r"(core|blender_addon|farm)/.+|docs/learn/[\w-]+\.html|__init__\.py|[^/]+\.toml|LICENSE"
    assert [name for name in files if not re.fullmatch(allowed, name)] == []
    assert not [name for name in files if "__pycache__" in name or name.endswith(".pyc")]


def test_the_manifest_names_the_extension(files: dict[str, bytes]) -> None:
    manifest = tomllib.loads(files["blender_manifest.toml"].decode("utf-8"))
    expected = {"id": "contact_lens", "name": "Contact Lens", "blender_version_min": "4.2.0"}
    assert manifest == manifest | expected | {"license": ["SPDX:GPL-3.0-or-later"]}
    assert "Physics" in manifest["tags"]
    assert set(manifest["permissions"]) == {"files", "clipboard"}
    assert "wheels" not in manifest


def test_the_installed_files_are_those_of_the_zip(files: dict[str, bytes], addon: ModuleType) -> None:
    assert addon.__file__ is not None
    folder = Path(addon.__file__).parent
    assert {name: (folder / name).read_bytes() for name in files} == files


def test_core_in_the_zip_never_asks_for_blender(files: dict[str, bytes]) -> None:
    blender = re.compile(rb"^\s*(import|from) (bpy|mathutils|gpu|bmesh|blf)\b", re.MULTILINE)
    assert [name for name, source in files.items() if name.startswith("core/") and blender.search(source)] == []


def registered() -> dict[str, Any]:
    """What an add-on can leave behind in Blender."""
    types = bpy.types
    bases = (
        *(types.AddonPreferences, types.Gizmo, types.GizmoGroup, types.Header, types.Menu),
        *(types.Operator, types.Panel, types.PropertyGroup, types.UIList),
    )

    def is_registered(cls: type) -> bool:
        return getattr(cls, "is_registered", hasattr(types, cls.__name__))  # gizmos do not say it

    owners = types.Scene, types.WindowManager, types.Object, types.Mesh, types.Screen
    handlers = {name: getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)}
    menus = {name: getattr(getattr(getattr(types, name), "draw", None), "_draw_funcs", None) for name in dir(types)}
    keymaps = bpy.context.window_manager.keyconfigs.addon.keymaps if bpy.context.window_manager.keyconfigs.addon else ()
    return {
        "handlers": {name: len(functions) for name, functions in handlers.items() if isinstance(functions, list)},
        "classes": {
            base.__name__: sorted(
                cls.__name__
                for cls in base.__subclasses__()
                if cls.__module__.startswith(MODULE) and is_registered(cls)
            )
            for base in bases
        },
        "properties": {owner.__name__: sorted(owner.bl_rna.properties.keys()) for owner in owners},
        "menu_entries": {name: len(drawn) for name, drawn in menus.items() if drawn is not None},
        "keymaps": {keymap.name: len(keymap.keymap_items) for keymap in keymaps},
    }


@pytest.fixture
def enabled_again() -> Iterator[None]:
    """Whatever the test leaves, the next one finds the add-on enabled."""
    yield
    if MODULE not in bpy.context.preferences.addons:
        addon_utils.enable(MODULE, default_set=True)


@pytest.mark.usefixtures("empty_scene", "enabled_again")
def test_ten_times_on_and_off_leaves_nothing_behind(addon: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    timers = counted_timers(monkeypatch)
    session, inspection = lens.pair.session, lens.pair.inspection
    geometry, viewport = lens.geometry.local_geometry, lens.views.viewport
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    inspect(a, b)
    on = registered()
    assert on["classes"]["Operator"]
    counts, off = [], None
    for _ in range(10):
        addon_utils.disable(MODULE, default_set=True)
        off = off or registered()
        assert not any(off["classes"].values())
        assert not any(name.startswith("contact_lens") for names in off["properties"].values() for name in names)
        assert registered() == off
        assert not any(map(bpy.app.timers.is_registered, timers))
        kept = session._inspections, geometry._recent._values, inspection._shapes._values
        assert not any((*kept, viewport._handles))
        gc.collect()
        counts.append(len(gc.get_objects()))
        addon_utils.enable(MODULE, default_set=True)
        assert registered() == on
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
