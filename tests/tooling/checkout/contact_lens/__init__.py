# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes `import contact_lens` mean the checkout this file lies in, whatever that checkout's folder is called.

build.py puts the folder above on PYTHONPATH. Its environments are shared by all checkouts, so they must not say which
one is meant; and a link to the repository would need rights that Windows does not give to everybody.
"""

import importlib.util
import sys
from pathlib import Path

_root = Path(__file__).resolve().parents[4]
_spec = importlib.util.spec_from_file_location(
    "contact_lens", _root / "__init__.py", submodule_search_locations=[str(_root)]
)
if _spec is None or _spec.loader is None:
    raise ImportError(f"{_root} is no Python package")
_package = importlib.util.module_from_spec(_spec)
sys.modules["contact_lens"] = _package  # the import system hands out what it finds here when this file has run
_spec.loader.exec_module(_package)
