# SPDX-License-Identifier: GPL-3.0-or-later
"""No answer depends on what happens to be installed."""

from __future__ import annotations

import ast
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
