# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages, and reports as JSON, CSV and HTML."""
