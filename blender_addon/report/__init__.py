# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of a pair and of checks: as lines, JSON, CSV and JUnit XML, and their files."""
