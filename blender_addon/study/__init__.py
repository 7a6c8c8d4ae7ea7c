# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn to learn and to debug: bounding volumes and trees, and the steps of algorithms."""
