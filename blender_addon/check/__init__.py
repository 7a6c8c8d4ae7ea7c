# SPDX-License-Identifier: GPL-3.0-or-later
"""A pair, a scene, an animation: rules and results; no user interface."""
