# SPDX-License-Identifier: GPL-3.0-or-later
"""A clearance band as colours on the surface of A: no Blender, no GPU."""

from __future__ import annotations

import numpy as np

from ...core.measures.clearance_band import ClearanceBand
from ..data.names import elided
from ..pair.inspection import Inspection
from .band_colors import BandScale
from .glyphs import fills
from .overlay_geometry import Layer
from .study_geometry import middle

HIDDEN = 0.7
"""Opacity of what lies behind geometry: a pin in its hole is seen through the wall."""


NAME = 20
"""Characters of a name in the title of a legend."""


def scale_of(band: ClearanceBand, inspection: Inspection) -> BandScale:
    """Return the colours of a band: red below the clearance that the pair is inspected with."""
    return BandScale.reaching(band.greatest, inspection.settings.clearance, inspection.units)


def title_of(band: ClearanceBand, inspection: Inspection) -> str:
    """Return what the legend of a band says: between what, and from which to which length."""
    a, b = inspection.name_a, inspection.name_b
    names = elided(a, NAME, other=b), elided(b, NAME, other=a)
    units = inspection.units.for_table([band.greatest])
    least, most = (units.length(gap) for gap in (band.least, band.greatest))
    lengths = most if least == most else f"{least.partition(' ')[0]} to {most}"
    return f"Gap from {names[0]} to {names[1]}: {lengths}"


def band_layers(band: ClearanceBand, scale: BandScale) -> list[Layer]:
    """Return the triangles of A's surface with the colour of the gap at each corner, relative to the `middle` of the
    points; towards corners without a gap they fade out."""
    triangles = band.triangles[np.isfinite(band.gaps)[band.triangles].any(axis=1)]
    gaps = band.gaps[triangles]
    is_known = np.isfinite(gaps)
    gaps = np.where(is_known, gaps, np.nanmean(gaps, axis=1, keepdims=True))
    colors = scale.colors(gaps.ravel()).reshape(-1, 3, 4)
    colors[..., 3] *= is_known
    glyphs = fills((band.points - middle(band.points))[triangles], colors)
    return [Layer("band", glyphs, HIDDEN, 0.0, is_culled=True)] if len(glyphs) else []
