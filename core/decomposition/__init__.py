# SPDX-License-Identifier: GPL-3.0-or-later
"""What is dented, and the convex pieces it consists of."""
