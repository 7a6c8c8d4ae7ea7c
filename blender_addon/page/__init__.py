# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a report for browsers."""
