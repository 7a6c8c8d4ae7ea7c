# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain data, Blender properties, preferences, units and shared sentences: imports nothing else of the add-on."""
