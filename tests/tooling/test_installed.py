# SPDX-License-Identifier: GPL-3.0-or-later
"""The wheel with nothing but numpy beside it: in clean environments, and in the Python of an installed Blender."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from ..programs import lacks

ROOT = Path(__file__).resolve().parents[2]
README_EXAMPLES = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S))

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def build(load_build: Callable[[], ModuleType]) -> ModuleType:
    return load_build()


@pytest.fixture(scope="module")
def wheel(distributions: tuple[Path, Path]) -> Path:
    return distributions[0]


@pytest.fixture(scope="module", params=["3.11", "3.13"])
def clean(
    build: ModuleType, wheel: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """The programs of an environment in which pip has installed the wheel, and nothing else was asked for."""
    folder = tmp_path_factory.mktemp("clean")
    try:
        python = build.find_python(request.param, "the test of the wheel")
        build.make_environment(python, folder)
        programs = Path(build.python_in(folder)).parent
        build.pip(programs / "python", ["install", str(wheel)], "numpy", folder / "pip.log")
    except build.MissingError as error:
        lacks(str(error))
    return programs


def run(program: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in an empty folder, with nothing of this checkout in its sight."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [str(program), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_wheel_needs_numpy_and_nothing_else(clean: Path, tmp_path: Path) -> None:
    listed = run(clean / "python", "-m", "pip", "list", "--format=freeze", folder=tmp_path).stdout
    names = {line.partition("==")[0] for line in listed.splitlines()}
    assert names - {"pip", "setuptools"} == {"contact_lens", "numpy"}


def test_the_examples_of_the_readme_run_from_the_wheel(clean: Path, tmp_path: Path) -> None:
    done = run(clean / "python", "-W", "error", "-c", README_EXAMPLES, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "penetrating" in done.stdout


def test_the_console_script_names_what_to_install_where_blender_is_missing(clean: Path, tmp_path: Path) -> None:
    for command in ([clean / "contact-lens"], [clean / "python", "-m", "contact_lens"]):
        done = run(*command, "check", "scene.blend", folder=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        (sentence,) = done.stderr.splitlines()
        assert "pip install bpy" in sentence


def test_the_wheel_works_in_the_python_of_an_installed_blender(wheel: Path, tmp_path: Path) -> None:
    blender = shutil.which(os.environ.get("BLENDER", ""))
    if blender is None:
        pytest.skip("BLENDER does not name an installed Blender")
    shutil.unpack_archive(wheel, tmp_path / "unpacked", "zip")
    # Blender may be in another root, which has the temporary folder and not the checkout.
    script = tmp_path / "example.py"
    beginning = f"import sys\nsys.path.insert(0, {str(tmp_path / 'unpacked')!r})\n"
    script.write_text(f"{beginning}{README_EXAMPLES}\nprint('Python', sys.version)\n", encoding="utf-8")
    done = run(
        Path(blender),
        *("-b", "--factory-startup", "--python-exit-code", "1", "-P", str(script)),
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "penetrating" in done.stdout
    assert "Python 3." in done.stdout
