# SPDX-License-Identifier: GPL-3.0-or-later
"""The 3D views: what they draw and where they look."""
