# SPDX-License-Identifier: GPL-3.0-or-later
"""Look for shorter separating translations of the pairs of meshes and store them beside these, pair by pair.

`python -m benchmarks.corpus.best`, in the environment of the benchmarks; again and again, each time with other
random rays. `--rays N` of each pair, `--only K` one pair; `--starts FILE` takes translations (100, 3) from a .npy file,
such as those of an engine, as further starts. Only what is shorter and found to separate by manifold3d and FCL is kept.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from tests.core.mesh_pairs import BEST_FILE, COUNT, MeshPair, mesh_pairs

from .search import ALIKE, Search, length_of, separates


def stored() -> tuple[np.ndarray, np.ndarray]:
    """The translations (100, 3) stored, infinite where there is none, and the rays (100,) spent on each."""
    if not BEST_FILE.exists():
        return np.full((COUNT, 3), np.inf), np.zeros(COUNT, dtype=np.int64)
    with np.load(BEST_FILE) as data:
        return data["translations"], data["rays"]


def improve(pair: MeshPair, rays: int, before: int, starts: list[np.ndarray]) -> tuple[np.ndarray, int, int]:
    """The shortest translation found for a pair, the rays it took, and how many minima were kept."""
    search = Search(pair.a, pair.b, before)
    search.start_from(starts)
    if not before:
        search.begin(200, 12)
    search.look(rays)
    return search.best, search.rays, len(search.minima)


def main() -> None:
    """Run the search."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rays", type=int, default=1000)
    parser.add_argument("--only", type=int, action="append")
    parser.add_argument("--starts", action="append", default=[])
    options = parser.parse_args()
    more = [np.load(file) for file in options.starts]
    for k in options.only or range(COUNT):
        translations, spent = stored()
        (pair,) = mesh_pairs([k], translations)
        begin = time.process_time()
        starts = [t for t in (translations[k], *(file[k] for file in more)) if np.isfinite(t).all()]
        best, rays, minima = improve(pair, options.rays, int(spent[k]), starts)
        verified = separates(pair.a, pair.b, best)
        old, new = length_of(translations[k]), length_of(best)
        note = "" if verified else "  NOT SEPARATED"
        print(
            f"{pair.name}: {old:.7f} -> {new:.7f}, {minima} minima, {rays} rays, "
            f"{time.process_time() - begin:.1f} s{note}",
            flush=True,
        )
        translations, spent = stored()
        if verified and new < length_of(translations[k]) * (1.0 - ALIKE):
            translations[k] = best
        spent[k] += rays
        temporary = BEST_FILE.with_suffix(".tmp.npz")
        np.savez_compressed(temporary, translations=translations, rays=spent)
        temporary.replace(BEST_FILE)


if __name__ == "__main__":
    main()
