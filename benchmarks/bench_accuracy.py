# SPDX-License-Identifier: GPL-3.0-or-later
"""How right the libraries are: `python3 build.py bench --accuracy`.

Every library is asked for the signed distance of the same generated pairs in space (all classes of the tests), and held
against exact integer arithmetic. Each runs in a process of its own: some crash, or never come back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection

import numpy as np

from contact_lens.core import ConvexHull, contact
from tests.core.fuzz import numbered
from tests.core.oracles import exact, tolerance

from .peers import peers, quiet

SEED = 20_260
PAIRS, QUICK_PAIRS = 3_000, 150
PATIENCE = 20.0
"""Seconds a library may think about one pair."""

STARTING = 120.0
"""Seconds until the first answer of a new process: some compile themselves first."""

LOOSE = 1e-6
"""Times the smaller extent (and the rounding of the coordinates): wrong by more is wrong for any use."""

GROSS = 1e-2
"""Times the smaller extent: wrong by more can be seen."""

OURS = "Contact Lens"
NOT_TAKEN, NO_ANSWER, LOST = "not taken", "no answer", "crashed or hung"

Ask = Callable[[np.ndarray, np.ndarray], float | None]
"""Signed distance of two hulls given by points; None when the library does not take such shapes."""


@dataclass
class Score:
    """What became of one library's answers."""

    asked: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)

    def count(self, outcome: str) -> None:
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1


def ask_us(a: np.ndarray, b: np.ndarray) -> float | None:
    """Our own answer."""
    return contact(ConvexHull(a), ConvexHull(b)).signed_distance


def ask_mujoco() -> Ask:
    """MuJoCo's distance of two convex meshes, which it holds in single precision."""
    import mujoco

    def ask(a: np.ndarray, b: np.ndarray) -> float | None:
        words = [" ".join(map(repr, points.ravel().tolist())) for points in (a, b)]
        meshes = "".join(f'<mesh name="m{k}" vertex="{text}"/>' for k, text in enumerate(words))
        geoms = "".join(f'<body><geom name="g{k}" type="mesh" mesh="m{k}" mass="1"/></body>' for k in range(2))
        xml = f"<mujoco><asset>{meshes}</asset><worldbody>{geoms}</worldbody></mujoco>"
        try:
            model = mujoco.MjModel.from_xml_string(xml)
        except ValueError:  # flat, too small, too large
            return None
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        reach = 10.0 * float(np.ptp(np.concatenate([a, b]), axis=0).max())
        return float(mujoco.mj_geomDistance(model, data, 0, 1, reach, None))

    return ask


def ask_peer(name: str) -> Ask:
    """A library of the speed benchmark: its distance, and its depth where that says zero."""
    (peer,) = [peer for peer in peers()[0] if peer.name == name]

    def ask(a: np.ndarray, b: np.ndarray) -> float | None:
        hulls = ConvexHull(a), ConvexHull(b)
        if min(hull.rank for hull in hulls) < 3:
            return None
        first, second = (peer.shape(hull) for hull in hulls)
        distance = peer.distance(first, second)
        gap = distance.read(distance.run()) if distance else 0.0
        assert isinstance(gap, float)
        if gap > 0.0:
            return gap
        depth = peer.depth(first, second)
        assert depth is not None
        found = depth.read(depth.run())
        assert isinstance(found, tuple)
        return -found[0]

    return ask


def asker(name: str) -> Ask:
    """The library with this name."""
    if name == OURS:
        return ask_us
    return ask_mujoco() if name == "mujoco" else ask_peer(name)


def answer(name: str, first: int, last: int, pipe: Connection) -> None:
    """Answer pairs `first` to `last`, one message each: the signed distance, or a word."""
    with quiet():
        ask = asker(name)
        for index in range(first, last):
            _, a, b = numbered(SEED, index)
            said: float | str
            if a.shape[1] == 2:
                said = "plane"
            else:
                try:
                    found = ask(a, b)
                    said = NOT_TAKEN if found is None else found
                except Exception as error:  # whatever a library throws at its user
                    said = f"{NO_ANSWER}: {type(error).__name__}"
            pipe.send(said)
    pipe.close()


def answers(name: str, count: int) -> list[float | str]:
    """What a library says about the first `count` pairs; its process is started again when it is lost."""
    said: list[float | str] = []
    context = get_context("spawn")
    while len(said) < count:
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=answer, args=(name, len(said), count, there), daemon=True)
        process.start()
        there.close()
        patience = STARTING
        try:
            while len(said) < count and here.poll(patience):
                said.append(here.recv())
                patience = PATIENCE
        except EOFError:
            process.join()  # it died
        if len(said) < count:
            said.append(LOST)
        process.kill()
        process.join()
    return said


def judge(said: list[float | str], truths: list[tuple[float, float, float, float]]) -> Score:
    """Compare with the truth: (signed distance, promised tolerance, smaller extent, rounding of the coordinates)."""
    score = Score()
    for word, (truth, tol, extent, rounding) in zip(said, truths, strict=True):
        if word == "plane":
            continue
        score.asked += 1
        if isinstance(word, str):
            score.count(word.split(":")[0])
            continue
        error = abs(word - truth)
        if not np.isfinite(word) or error > GROSS * extent + rounding:
            score.count("gross")
        elif error > LOOSE * extent + rounding:
            score.count("loose")
        elif error > tol:
            score.count("strict")
        else:
            score.count("right")
    return score


def truths(count: int) -> list[tuple[float, float, float, float]]:
    """The right answers, from whole numbers."""
    result = []
    for index in range(count):
        _, a, b = numbered(SEED, index)
        truth = exact(a, b).signed_distance
        extent = min(float(np.linalg.norm(np.ptp(points, axis=0))) for points in (a, b))
        rounding = 64.0 * float(np.spacing(max(np.abs(a).max(), np.abs(b).max())))
        result.append((truth, tolerance(a, b, truth), extent, rounding))
    return result


def installed() -> list[str]:
    """The libraries that are here, with a word about those that are not."""
    found, missing = peers()
    names = [OURS, *(peer.name for peer in found if peer.name != "d3d mesh")]
    try:
        import mujoco  # noqa: F401
    except ImportError as error:
        missing = [*missing, f"mujoco is not here and left out ({error})."]
    else:
        names.append("mujoco")
    for sentence in missing:
        print(sentence)
    return names


def main(quick: bool = False) -> None:
    """Print the table, in the form of docs/accuracy.md."""
    count = QUICK_PAIRS if quick else PAIRS
    right = truths(count)
    words = ("right", "beyond the promise", "beyond 1e-6", "beyond 1 %", NOT_TAKEN, NO_ANSWER, LOST)
    print(f"| library | pairs | {' | '.join(words)} |")
    print("| --- " * (2 + len(words)) + "|")
    for name in installed():
        score = judge(answers(name, count), right)
        columns = [score.outcomes.get(k, 0) for k in ("right", "strict", "loose", "gross", NOT_TAKEN, NO_ANSWER, LOST)]
        print(f"| {name} | {score.asked} | {' | '.join(map(str, columns))} |", flush=True)
