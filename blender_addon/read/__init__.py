# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a scene, read from Blender, and what could not be read."""
