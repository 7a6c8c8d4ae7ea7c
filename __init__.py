# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact Lens: where, how deep and in which direction two objects collide.

The same folder is a Blender extension and the Python package `contact_lens`. `contact_lens.core` needs numpy only:
importing this package, or anything below `core`, never imports `bpy`.
"""

from __future__ import annotations

__version__ = "0.2.0"


def register() -> None:
    """Add the operators, panels, properties and handlers to Blender. Blender calls this when the add-on is enabled."""
    from .blender_addon import registration

    registration.register()


def unregister() -> None:
    """Take out everything `register` put in. Blender calls this when the add-on is disabled."""
    from .blender_addon import registration

    registration.unregister()
