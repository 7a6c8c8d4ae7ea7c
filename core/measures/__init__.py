# SPDX-License-Identifier: GPL-3.0-or-later
"""What of two shapes can be measured beyond their contact."""
