# SPDX-License-Identifier: GPL-3.0-or-later
"""One object: its evaluated geometry, copied from Blender, and its collision shape."""
