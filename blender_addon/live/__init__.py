# SPDX-License-Identifier: GPL-3.0-or-later
"""What is running while Blender is open: handlers, background tasks, and what follows changes of the scene."""
