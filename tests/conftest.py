# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests share, with and without Blender."""

from __future__ import annotations

import importlib.util

if importlib.util.find_spec("hypothesis"):  # an installed Blender has none, and its tests use none
    from hypothesis import HealthCheck, settings

    # The machine may be busy, so no deadline; the same examples in every run, so that a failure can be had again.
    settings.register_profile(
        "contact_lens", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
    )
    settings.load_profile("contact_lens")
