# SPDX-License-Identifier: GPL-3.0-or-later
"""What a check says about earlier ones: baselines and decisions; and the parts of a run."""
