# SPDX-License-Identifier: GPL-3.0-or-later
"""One pair: its contact, its inspection, and moving it apart."""
