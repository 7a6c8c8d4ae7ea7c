# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact of a mesh and another solid."""
