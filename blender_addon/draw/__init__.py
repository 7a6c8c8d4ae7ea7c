# SPDX-License-Identifier: GPL-3.0-or-later
"""What the viewport shows, a function of results; pictures of it, and steps as objects of the scene."""
