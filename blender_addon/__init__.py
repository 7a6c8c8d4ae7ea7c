# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that knows Blender. Importing this imports none of it: `registration` has all of its parts."""
