# SPDX-License-Identifier: GPL-3.0-or-later
"""No answer depends on what happens to be installed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from contact_lens import core

ALLOWED = (set(sys.stdlib_module_names) - {"importlib", "pkgutil", "runpy"}) | {"numpy"}
"""What looks for modules by name is left out: it would tell what else is there."""


def test_the_engine_imports_numpy_and_the_standard_library_only():
    assert core.__file__ is not None
    files = list(Path(core.__file__).parent.rglob("*.py"))
    assert len(files) > 50
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            late = {"importlib"} if file.name == "__init__.py" else set()  # of the modules it names
            assert {name.split(".")[0] for name in names} <= ALLOWED | late, file.name


def test_the_package_shows_its_exports_and_nothing_else():
    code = """
from contact_lens import core
shown = [name for name in dir(core) if not name.startswith("__")]
assert shown == sorted(core.__all__) == core.__all__, shown
assert len(shown) == 69 and "Mesh" in shown and "Box" in shown and "Progress" not in shown, shown
exec("from contact_lens.core import *")
assert all(name in globals() for name in shown)
assert [name for name in dir(core) if not name.startswith("__")] == shown
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr


def test_importing_the_engine_does_not_import_what_two_convex_shapes_do_not_need():
    late = ("batched.", "broad_phase", "decomposition", "hierarchy", "mesh_contact", "meshes", "compounds.compound_")
    code = f"""
import sys
from contact_lens import core
prefix = "contact_lens.core."
early = [name for name in sys.modules if name.startswith(tuple(prefix + part for part in {late}))]
assert not early, early
square = core.Box([0, 0, 0], [1, 1, 1])
for name in core.__all__:
    assert name in dir(core), name
    assert not isinstance(getattr(core, name), type(sys)), name
triangles = [(f[0], f[k], f[k + 1]) for f in square.facets for k in range(1, len(f) - 1)]
box = core.Mesh(square.vertices, triangles)
for shape in (square, core.Compound([square]), box):
    assert core.verify(core.contact(shape, square), shape, square), shape
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
