# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene over a list of frames: clashes over frames, how objects move from one to the next, what that leaves open."""
