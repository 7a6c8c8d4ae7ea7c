# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain data, Blender properties, preferences and units: imports nothing else of the add-on."""
