# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of many pairs at once."""
