# SPDX-License-Identifier: GPL-3.0-or-later
"""What is published: the zip for Blender, the wheel and the source distribution, with one version."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def build(load_build: Callable[[], ModuleType]) -> ModuleType:
    return load_build()


def test_the_version_is_the_same_in_all_three_places(build: ModuleType) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    package = re.search(r'^__version__ = "(.+)"$', (ROOT / "__init__.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert package is not None
    assert build.version() == project == package[1]


def test_the_zip_has_the_files_that_blenders_builder_takes(build: ModuleType, tmp_path: Path) -> None:
    if importlib.util.find_spec("bpy") is None:
        pytest.skip("Blender's builder comes with Blender")
    tool = build.extension_tool(Path(sys.executable))
    ours, theirs = build.write_zip(tmp_path / "ours.zip"), tmp_path / "theirs.zip"
    build.use_extension_tool(tool, "build", "--source-dir", ROOT, "--output-filepath", theirs)
    build.use_extension_tool(tool, "validate", ROOT)
    build.use_extension_tool(tool, "validate", ours)
    names = [{name for name in zipfile.ZipFile(path).namelist() if name[-1] != "/"} for path in (ours, theirs)]
    assert names[0] == names[1], "the zip and the manifest's paths_exclude_pattern disagree"
    assert ours.stat().st_size <= theirs.stat().st_size


@pytest.mark.slow
def test_the_wheel_is_the_package_without_its_tools(build: ModuleType, distributions: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(distributions[0]) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        metadata = next(archive.read(name).decode() for name in archive.namelist() if name.endswith("/METADATA"))
    pages = {path for path in build.packed_paths() if path.startswith("docs/")}  # Blender opens them
    files = set(build.packed_paths()) - pages - {"LICENSE", "blender_manifest.toml"} | {"__main__.py", "py.typed"}
    assert names == {f"contact_lens/{path}" for path in files}
    assert "License-Expression: GPL-3.0-or-later" in metadata
    assert "License-File: LICENSE" in metadata
    required = re.findall(r"^Requires-Dist: ([^;\n]*)$", metadata, re.MULTILINE)
    assert required == ["numpy>=1.24"]


@pytest.mark.slow
def test_the_wheel_of_the_source_distribution_is_that_of_the_checkout(
    distributions: tuple[Path, Path], tmp_path: Path
) -> None:
    ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info")
    shutil.copytree(ROOT, tmp_path / "source", ignore=ignored)
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(tmp_path)]
    done = subprocess.run([*command, "source"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    wheels = [zipfile.ZipFile(path) for path in (distributions[0], next(tmp_path.glob("*.whl")))]
    first, second = ({name: wheel.read(name) for name in wheel.namelist()} for wheel in wheels)
    assert first == second


@pytest.mark.slow
def test_the_source_distribution_has_tests_and_documents(
    distributions: tuple[Path, Path], files_in_git: list[str]
) -> None:
    with tarfile.open(distributions[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "build.py", "core/__init__.py", "tests/conftest.py", "docs/user-guide.md"} <= names
    tracked = {name for name in files_in_git if name[0] != "." and (ROOT / name).is_file()}
    assert tracked <= names
