# SPDX-License-Identifier: GPL-3.0-or-later
"""How the pairs of meshes in tests/data were made, and the offline search for their shortest separating translations.

Needs the environment of the benchmarks. Nothing in this folder imports contact_lens.
"""
