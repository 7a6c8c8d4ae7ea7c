# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of the extension platform: self-contained, reviewable, and nothing written beside the code."""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
NETWORK = {"asyncio", "ftplib", "http", "requests", "smtplib", "socket", "socketserver", "ssl", "urllib", "xmlrpc"}
INSTALLERS = {"ensurepip", "pip", "venv"}
READS_ITS_OWN_FILES = {"blender_addon/commands/farm.py", "blender_addon/page/player_page.py"}
"""The files that may ask where they are: to read what is packed with them, never to write or import."""
STARTS_ITSELF = {"blender_addon/commands/jobs.py"}
"""The files that may start processes: the same command, for a part of the work."""


@pytest.fixture(scope="module")
def build(load_build: Callable[[], ModuleType]) -> ModuleType:
    return load_build()


@pytest.fixture(scope="module")
def sources(build: ModuleType) -> dict[str, ast.Module]:
    """The code in the zip by its path."""
    paths = [path for path in build.packed_paths() if path.endswith(".py")]
    return {path: ast.parse((ROOT / path).read_text(encoding="utf-8")) for path in paths}


def imported(tree: ast.Module) -> Iterator[str]:
    """Yield the modules outside the package that a file imports, by their first names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).partition(".")[0]


def names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a file uses, `a.b` as one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


def files_that(
    sources: dict[str, ast.Module], found: Callable[[ast.Module], Iterator[str]], wanted: set[str]
) -> set[str]:
    return {path for path, tree in sources.items() if wanted & set(found(tree))}


def test_the_code_needs_numpy_and_blender_only(sources: dict[str, ast.Module]) -> None:
    blender = {"bpy", "bpy_extras", "blf", "bmesh", "gpu", "gpu_extras", "mathutils", "numpy"}
    blender |= {
        "zstandard",
        "compression",
    }  # by which Blender's own scripts read its files; the latter from Python 3.14 on
    outside = {name for tree in sources.values() for name in imported(tree)}
    assert outside - blender <= sys.stdlib_module_names


def test_the_code_reaches_no_network_and_installs_nothing(sources: dict[str, ast.Module]) -> None:
    assert not files_that(sources, imported, NETWORK | INSTALLERS)
    assert "network" not in MANIFEST["permissions"]


def test_the_code_is_reviewable(sources: dict[str, ast.Module]) -> None:
    assert not files_that(
        sources, names, {"exec", "eval", "compile", "__import__", "sys.path", "sys.meta_path", "bl_info"}
    )
    assert not files_that(sources, names, {"os.system", "os.popen", "ctypes.pythonapi"})
    assert files_that(sources, names, {"__file__"}) <= READS_ITS_OWN_FILES
    assert files_that(sources, imported, {"subprocess", "multiprocessing"}) <= STARTS_ITSELF


def test_the_zip_has_text_only(build: ModuleType) -> None:
    suffixes = {Path(path).suffix for path in build.packed_paths() if path != "LICENSE"}
    assert suffixes <= {".py", ".toml", ".json", ".js", ".css", ".html", ".sh", ".yaml", ".yml", ".md"}


def test_the_permissions_are_those_that_are_used_with_a_reason(sources: dict[str, ast.Module]) -> None:
    assert set(MANIFEST["permissions"]) == {"files", "clipboard"}
    used = {node.attr for tree in sources.values() for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert "clipboard" in used
    for reason in MANIFEST["permissions"].values():
        assert 0 < len(reason) <= 64
        assert reason[-1] != "."


def test_what_the_owner_has_to_fill_in_is_named(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    said = " ".join(build.unpublishable())
    assert ("`website`" in said) == ("website" not in MANIFEST)
    complete = {
        "blender_manifest.toml": {"website": "https://example.org/lens", "maintainer": "A. Person <a@example.org>"},
        "pyproject.toml": {"project": {"urls": {"Homepage": "https://example.org", "Issues": "https://example.org/i"}}},
    }
    monkeypatch.setattr(build, "toml", complete.get)
    assert build.unpublishable() == []
    complete["blender_manifest.toml"]["website"] = "example.org"
    assert len(build.unpublishable()) == 1


@pytest.mark.slow
def test_a_check_writes_nothing_beside_the_code(distributions: tuple[Path, Path], tmp_path: Path) -> None:
    if importlib.util.find_spec("bpy") is None:
        pytest.skip("a check needs Blender as a module")
    code = tmp_path / "code"
    shutil.unpack_archive(distributions[0], code, "zip")
    demo = tmp_path / "demo.blend"
    subprocess.run(
        [sys.executable, str(ROOT / "docs/listing/demo_scene.py"), str(demo)], check=True, capture_output=True
    )
    before = {path: path.read_bytes() for path in code.rglob("*") if path.is_file()}
    environment = {**os.environ, "PYTHONPATH": str(code), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [
        sys.executable,
        "-m",
        "contact_lens",
        "check",
        str(demo),
        "--json",
        "report.json",
        "--html",
        "report.html",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert {path: path.read_bytes() for path in code.rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["code", "demo.blend", "report.html", "report.json"]
