# SPDX-License-Identifier: GPL-3.0-or-later
"""What was written before, read again: the baseline of a check, decisions about clashes, and the parts of a run."""
