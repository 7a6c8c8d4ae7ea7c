# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact geometry in pure Python and numpy: no Blender, no files, no printing."""
