# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender objects read as world shapes."""
