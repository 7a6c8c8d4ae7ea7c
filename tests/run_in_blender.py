# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs pytest inside an installed Blender; `build.py test --blender-binary PATH` starts it.

blender -b --factory-startup --python-exit-code 1 -P tests/run_in_blender.py -- PYTEST ARGUMENTS

pytest is found through PYTHONPATH, because Blender's own Python has none. Nothing of the repository is copied or
installed either: `contact_lens` is the checkout this file lies in, whatever its folder is called.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def import_checkout() -> None:
    """Make `import contact_lens` mean this checkout."""
    spec = importlib.util.spec_from_file_location(
        "contact_lens", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{ROOT} is no Python package")
    package = importlib.util.module_from_spec(spec)
    sys.modules["contact_lens"] = package
    spec.loader.exec_module(package)


def main() -> int:
    # Blender runs with -I or -E depending on how it was packaged, and then looks neither at PYTHONPATH ...
    for folder in reversed(os.environ.get("PYTHONPATH", "").split(os.pathsep)):
        if folder and folder not in sys.path:
            sys.path.insert(0, folder)
    import pytest

    # ... nor, started with a script, at the text after `--`.
    arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    os.chdir(ROOT)
    import_checkout()
    return int(pytest.main(["-p", "no:cacheprovider", *arguments]))


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Blender turns sys.exit into 0 or 1; pytest's own code says more (5: no test ran).
    os._exit(code)
