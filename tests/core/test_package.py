# SPDX-License-Identifier: GPL-3.0-or-later
"""The package without Blender."""

from __future__ import annotations

import subprocess
import sys

import contact_lens


def test_importing_core_imports_neither_blender_nor_anything_but_numpy() -> None:
    program = """
import sys, numpy
before = set(sys.modules)
import contact_lens.core
new = {name.partition(".")[0] for name in set(sys.modules) - before}
foreign = {name for name in new - sys.stdlib_module_names - {"contact_lens", "numpy"} if not name.startswith("_")}
print(sorted(foreign))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_package_has_blenders_two_entry_points() -> None:
    assert callable(contact_lens.register)
    assert callable(contact_lens.unregister)
