# SPDX-License-Identifier: GPL-3.0-or-later
"""The depth of a pair over frames as a strip: an SVG of which the style of the page has the colors."""

from __future__ import annotations

import numpy as np

from ...core.types import FloatArray
from ..frames.over_frames import OverFrames

WIDTH, HEIGHT = 200, 48
TOP, BASE = 14, 36
"""Between these is what is filled; the worst frame is named above, the first and the last one below."""
LEAST = 3.0
"""The height of what has a gap, or no depth."""


def strip(over: OverFrames) -> str:
    """Return the strip of a pair: contact is filled, gaps are paler, the axis has no line where it was not checked."""
    frames, depths = over.frames, np.where(np.isfinite(over.distances), np.maximum(0.0, -over.distances), 0.0)
    half = 0.5 * np.diff(frames).min()  # nothing is known of wider steps
    edges = np.stack([frames - half, frames + half], axis=1).ravel()
    x = WIDTH * (edges - edges[0]) / (edges[-1] - edges[0])
    heights = LEAST + (BASE - TOP - LEAST) * depths / (max(depths.max(), over.resolution) or 1.0)
    is_gap = over.found & (over.distances > over.resolution)
    kinds = (
        ("axis", over.checked, 0.0 * depths + 1.0),
        ("gap", is_gap, heights),
        ("contact", over.found & ~is_gap, heights),
    )
    paths = "".join(f'<path class="{kind}" d="{_steps(x, of * mask)}"/>' for kind, mask, of in kinds if mask.any())
    worst = over.worst_index
    place, top = 0.5 * (x[2 * worst] + x[2 * worst + 1]), BASE - heights[worst]
    anchor = "start" if place < 20.0 else "end" if place > WIDTH - 20.0 else "middle"
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Depth over frames {frames[0]:g} to '
        f'{frames[-1]:g}, worst at {over.worst}">{paths}'
        f'<path class="worst" d="M{place - 3.0:.4g} {top - 5.0:.4g}h6l-3 4z"/>'
        f'<text x="{place:.4g}" y="{top - 7.0:.4g}" text-anchor="{anchor}">{over.worst}</text>'
        f'<text y="{HEIGHT - 2}">{frames[0]:g}</text>'
        f'<text x="{WIDTH}" y="{HEIGHT - 2}" text-anchor="end">{frames[-1]:g}</text></svg>'
    )


def _steps(x: FloatArray, heights: FloatArray) -> str:
    """Return the outline of bars of heights (n,), each between two of x (2n,), as the data of a path."""
    every = np.stack([heights, 0.0 * heights], axis=1).ravel()[:-1]
    is_wide = np.diff(x) > 1e-6  # bars of successive frames meet
    start, every = x[:-1][is_wide], every[is_wide]
    changes = np.flatnonzero(np.diff(every, prepend=0.0))
    steps = (f"H{start[k]:.4g}V{BASE - every[k]:.4g}" for k in changes.tolist())
    return f"M0 {BASE}{''.join(steps)}H{WIDTH}V{BASE}Z"
