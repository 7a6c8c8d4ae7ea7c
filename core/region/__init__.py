# SPDX-License-Identifier: GPL-3.0-or-later
"""Where two shapes meet: support features, clipped against each other."""
