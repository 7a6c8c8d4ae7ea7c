# SPDX-License-Identifier: GPL-3.0-or-later
"""Do many pairs of convex polytopes intersect: all at once, from cheap proofs to dear ones.

Where the shapes begin and end along fixed directions, in single precision, parts most pairs that are apart; how far
they reach toward each other, from a table, settles most that meet; portals (a triangle of the Minkowski difference
A - B that a ray through the origin passes) the rest. An answer is given only with a proof that rounding cannot turn: an
empty slab, a common point on the way between the middles, or a tetrahedron around the origin. Pairs without one are
told, for the single call. Source: S4.2, S4.4; G. Snethen, XenoCollide, Game Programming Gems 7 (2008).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress, report_progress, subrange
from ..shapes.polytope import Polytope
from ..tolerance import BATCH_CORNERS, EPS, GJK_INSIDE, SINGLE_EPS, SUPPORT_ROUNDING
from ..types import BoolArray, FloatArray, IntArray, read_only

_SLAB = 8.0
"""Times SINGLE_EPS and the farthest that a shape reaches: what the slab around it is widened by, on either side. Of
rounded corners, directions and products 2.5 of the shape's own size, of sums and differences 2.5 of all."""
_RAY_ROUNDING = 32.0
"""Times EPS: how far, relatively, a ray through a shape may be computed too long."""

SingleArray = NDArray[np.float32]

AXES = 32
"""Fixed directions along which it is known where every shape begins and ends."""
STEPS = 6
"""Steps of the grid of directions along which it is known how far a shape reaches, from a pole to the equator."""
_TELL = 16
"""Shapes whose gauges are made, in some hundred microseconds each, after which progress is told."""
_CORNERS_READ, _BEFORE_GAUGES = 0.2, 0.4
"""Shares of the work of a table that are done when its corners have been read, and when gauges are to be made."""
_CHUNK = 1_024
"""Pairs whose reaches are looked up in one go."""
_AT_ONCE = 4_096
"""Pairs that are searched at a time: of fewer numpy's calls cost more."""
_CORNERS = 65_536
"""Corners gathered in one go."""
_GATHERED = 65_536
"""Coordinates and heights of corners held at a time: they stay in the second cache until they have been read again."""
_PRODUCTS = 131_072
"""Heights of corners made in one go, in single precision."""
_GROUP = 4
"""Fixed directions along which they are: the more shapes there are in one go, the longer are the rows."""
_SLABS = 512
"""Pairs of which slabs are compared in one go: some two hundred numbers each."""
_PORTALS = 40
"""Steps after which a portal is given up; most pairs take three to five."""
_TURNS = 3
"""Steps to a first portal after which a pair is put off; most need none."""
_WIDTH = 0.7
"""How far aside of the ray, over the way along it, the corners of a first portal are looked for."""
_LATE = 0.1
"""Share of pairs, the slowest of some, that are put off, to go on together with those of others."""
_LAST = 4
"""Pairs so few are slower together than one by one, and left open."""
_TINY = 1e-290
"""Not relative: less than any gauge but 0, with a finite inverse."""
_THINNEST = 1e-36
"""Not relative: radius of balls inside below which gauges overflow, and are not used."""

APART, MEET, OPEN = -1, 1, 0
"""What is known of a pair."""


def _spread(count: int) -> FloatArray:
    """Return unit directions (count, 3), the three axes among them, of which no two are near or opposite."""
    rest = count - 3
    z = 1.0 - (np.arange(rest) + 0.5) / rest
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(rest)
    ring = np.sqrt(1.0 - z * z)
    spiral = np.stack([ring * np.cos(turn), ring * np.sin(turn), z], axis=1)
    return read_only(np.concatenate([np.eye(3), spiral]))


def _octahedron() -> FloatArray:
    """Return the points (nodes, 3) at which gauges are known: on the octahedron |x| + |y| + |z| = 1, or in the plane of
    one of its faces beyond its rim; for z >= 0, then for z <= 0, row by row of the grid of x and y.

    A cell of the grid lies in one plane, so that each of its points is a mean of its four corners.
    """
    x, y = np.meshgrid(*[np.arange(-STEPS, STEPS + 1) / STEPS] * 2, indexing="ij")
    z = 1.0 - np.abs(x) - np.abs(y)
    return read_only(np.concatenate([np.stack([x, y, sign * z], axis=2).reshape(-1, 3) for sign in (1.0, -1.0)]))


_DIRECTIONS = _spread(AXES)
_SINGLE_DIRECTIONS = _DIRECTIONS.astype(np.float32)
_NODES = _octahedron()
_ROW = 2 * STEPS + 1


@dataclass(frozen=True, eq=False)
class HullTable:
    """Many polytopes in space, ready for tests of pairs. World frame, unit of the coordinates; read-only."""

    centers: FloatArray
    """(6, n) rows 0 to 2 the middle of the bounding box, 3 to 5 the way from there to the mean of the corners, about
    which all else is measured."""
    balls: FloatArray
    """(3, n) radii of balls around and inside, about the mean of the corners; what rounding adds to a height."""
    middles: SingleArray
    """(n, AXES) half way between where the shape begins and ends along the fixed directions, from a point that is the
    same for all."""
    halves: SingleArray
    """(n, AXES) how far it reaches from there, with what rounding may hide."""
    corners: tuple[FloatArray, ...]
    """For each class of sizes, (k, 3, v) the corners of its shapes; the first is repeated where there are fewer."""
    size: IntArray
    """(n,) the class of each shape."""
    place: IntArray
    """(n,) its place in there."""
    gauges: SingleArray
    """(n, nodes) by how much the shape must be enlarged about the mean corner, at most, to reach the nodes of the
    octahedron, in its own axes; of shapes with no inside, nothing. Facets are nearer by what rounding may hide."""
    axes: FloatArray | None = None
    """(n, 3, 3) where the shapes' own axes are, one a row; None when they are those of the world."""

    def __len__(self) -> int:
        """Return the number of shapes."""
        return len(self.size)

    @classmethod
    def of(cls, shapes: Sequence[Polytope], progress: Progress | None = None) -> HullTable:
        """Return a table of polytopes in space, of any rank. Raises Cancelled when `progress` says so."""
        count = len(shapes)
        centers, balls = np.zeros((6, count)), np.zeros((3, count))
        counts = np.array([len(shape.vertices) for shape in shapes], dtype=np.intp)
        size = np.zeros(count, dtype=np.intp)
        place = np.zeros(count, dtype=np.intp)
        corners: list[FloatArray] = []
        rooms = _rooms(counts)
        done = 0
        for number, room in enumerate(np.unique(rooms).tolist()):
            report_progress(progress, _CORNERS_READ * done, count)
            members = np.flatnonzero(rooms == room)
            done += len(members)
            size[members], place[members] = number, np.arange(len(members))
            block = np.empty((len(members), room, 3))
            for row, k in zip(block, members.tolist(), strict=True):
                centred = shapes[k].centred
                row[: len(centred)] = centred
                row[len(centred) :] = centred[0]
            block = np.ascontiguousarray(block.transpose(0, 2, 1))  # (k, 3, v)
            mean = block.mean(axis=2)
            block -= mean[:, :, None]
            centers[3:, members] = mean.T
            balls[0, members] = np.sqrt(np.einsum("kcv,kcv->kv", block, block).max(axis=1))
            corners.append(read_only(block))
        report_progress(progress, _CORNERS_READ)
        for k, shape in enumerate(shapes):
            centers[:3, k] = shape.center
        solid = [k for k, shape in enumerate(shapes) if shape.rank == 3]
        facets = np.array([len(shapes[k].normals) for k in solid], dtype=np.intp)
        owner = np.repeat(np.array(solid, dtype=np.intp), facets)
        normals = np.concatenate([np.empty((0, 3)), *(shapes[k].normals for k in solid)])
        offsets = np.concatenate([np.empty(0), *(shapes[k].offsets for k in solid)])
        offsets -= np.einsum("fc,cf->f", normals, centers[3:].take(owner, axis=1))
        if solid:
            balls[1, solid] = np.minimum.reduceat(offsets, _starts(owner))
        reach = np.abs(centers[:3]).max(axis=0, initial=0.0) + balls[0]
        balls[2] = EPS * (2.0 * SUPPORT_ROUNDING * balls[0] + BATCH_CORNERS * reach)
        balls[1] -= 2.0 * balls[2]
        balls[1, balls[1] < _THINNEST] = 0.0
        return cls(
            read_only(centers),
            read_only(balls),
            *_slabs_around(centers, balls, corners, size),
            tuple(corners),
            read_only(size),
            read_only(place),
            _gauges_of(owner, normals, offsets, balls, subrange(progress, _BEFORE_GAUGES, 1.0)),
        )

    def moved(self, axes: FloatArray, centers: FloatArray) -> HullTable:
        """Return the shapes turned and moved: `axes` (n, 3, 3), row k where axis k of the world goes, unit vectors and
        perpendicular, and `centers` (n, 3), where the origin goes. Radii of balls stay; all else is measured anew.
        """
        middle = np.matmul((self.centers[:3] + self.centers[3:]).T[:, None, :], axes)[:, 0]
        middle += centers
        moved = np.zeros((6, len(self)))
        moved[:3] = middle.T
        corners = []
        turns = np.ascontiguousarray(axes.transpose(0, 2, 1))
        for members, block in zip(_members(self.size, len(self.corners)), self.corners, strict=True):
            corners.append(read_only(np.matmul(turns.take(members, axis=0), block)))
        balls = self.balls.copy()
        reach = np.abs(middle).max(axis=1, initial=0.0) + balls[0]
        balls[2] = EPS * (4.0 * SUPPORT_ROUNDING * balls[0] + BATCH_CORNERS * reach)
        balls[0] += balls[2]
        balls[1] = np.maximum(balls[1] - balls[2], 0.0)
        return HullTable(
            read_only(moved),
            read_only(balls),
            *_slabs_around(moved, balls, corners, self.size),
            tuple(corners),
            self.size,
            self.place,
            self.gauges,
            axes if self.axes is None else np.matmul(self.axes, axes),
        )

    def at(self, numbers: IntArray, corners: IntArray | NDArray[np.int32]) -> FloatArray:
        """Return (3, k, n) the corners (k, n) of shapes `numbers` (n,), from the mean corner."""
        result = np.empty((3, *corners.shape))
        sizes, places = self.size.take(numbers), self.place.take(numbers)
        for kind, block in enumerate(self.corners):
            some = np.flatnonzero(sizes == kind) if len(self.corners) > 1 else slice(None)
            room = block.shape[2]
            place = 3 * room * places[some] + corners[:, some]
            result[:, :, some] = block.ravel().take(place + room * np.arange(3)[:, None, None])
        return result

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return lowest and highest corner (3, n) of the axis-aligned bounding boxes, to rounding."""
        low, high = np.empty((2, 3, len(self)))
        for members, block in zip(_members(self.size, len(self.corners)), self.corners, strict=True):
            step = max(1, _CORNERS // block.shape[2])
            for start in range(0, len(members), step):
                rows = np.ascontiguousarray(block[start : start + step].transpose(1, 2, 0))  # the longest rows
                chosen = members[start : start + step]
                low[:, chosen], high[:, chosen] = rows.min(axis=1), rows.max(axis=1)
        middle = self.centers[:3] + self.centers[3:]
        return middle + low, middle + high


def _members(size: IntArray, classes: int) -> list[IntArray]:
    """Return of each class the shapes that are in it, in order."""
    return [np.flatnonzero(size == number) for number in range(classes)]


def _starts(owner: IntArray) -> IntArray:
    """Return where the facets of each shape begin, of an array in which they are together."""
    return np.flatnonzero(np.diff(owner, prepend=-1))


def _gauges_of(
    owner: IntArray, normals: FloatArray, offsets: FloatArray, balls: FloatArray, progress: Progress | None
) -> SingleArray:
    """Return `gauges` of a table, of the planes (f, 3), (f,) of its shapes' facets as seen from their mean corners."""
    gauges = np.zeros((balls.shape[1], len(_NODES)), dtype=np.float32)
    asked = np.flatnonzero(np.abs(_NODES[:, :2]).sum(axis=1) < 1.0 + 2.5 / STEPS)
    nodes = np.ascontiguousarray(_NODES[asked].T) * (1.0 + SINGLE_EPS)  # rounded up
    thick = np.flatnonzero(balls[1].take(owner) > 0.0)
    owner = owner.take(thick)
    planes = normals.take(thick, axis=0) / (offsets.take(thick) - 2.0 * balls[2].take(owner))[:, None]
    step = _PRODUCTS // (2 * len(asked))
    most = np.zeros((balls.shape[1], len(asked)), dtype=np.float32)
    starts = _starts(owner).tolist()
    for done, (start, end) in enumerate(pairwise([*starts, len(owner)])):
        if done % _TELL == 0:
            report_progress(progress, done, len(starts))
        row = most[owner[start]]
        for some in range(start, end, step):
            np.maximum(row, (planes[some : min(some + step, end)] @ nodes).max(axis=0), out=row)
    gauges[:, asked] = most
    gauges.flags.writeable = False
    return gauges


def _slabs_around(
    centers: FloatArray, balls: FloatArray, corners: Sequence[FloatArray], size: IntArray
) -> tuple[SingleArray, SingleArray]:
    """Return `middles` and `halves` of a table."""
    count = centers.shape[1]
    low, high = np.empty((2, AXES, count), dtype=np.float32)
    memory = np.empty(max([_PRODUCTS, *(_GROUP * block.shape[2] for block in corners)]), dtype=np.float32)
    for members, block in zip(_members(size, len(corners)), corners, strict=True):
        room = block.shape[2]
        step = max(1, _PRODUCTS // (_GROUP * room))
        for start in range(0, len(members), step):
            chosen = members[start : start + step]
            some = block[start : start + step].transpose(1, 2, 0).astype(np.float32, order="C")  # the longest rows
            products = memory[: _GROUP * some[0].size].reshape(_GROUP, room, -1)
            for axis in range(0, AXES, _GROUP):
                group = slice(axis, axis + _GROUP)
                np.matmul(_SINGLE_DIRECTIONS[group], some.reshape(3, -1), out=products.reshape(_GROUP, -1))
                low[group, chosen], high[group, chosen] = products.min(axis=1), products.max(axis=1)
    places = centers[:3] + centers[3:]
    if count:
        places -= 0.5 * (places.min(axis=1) + places.max(axis=1))[:, None]
    middles, halves = _DIRECTIONS @ places, 0.5 * (high - low)
    middles += 0.5 * (low + high)
    reach = np.sqrt(np.einsum("cn,cn->n", places, places)) + balls[0]
    halves += (_SLAB * SINGLE_EPS * reach + balls[2]).astype(np.float32)
    result = middles.T.astype(np.float32, order="C"), np.ascontiguousarray(halves.T, dtype=np.float32)
    for array in result:
        array.flags.writeable = False
    return result


def _rooms(counts: IntArray) -> IntArray:
    """Return for how many corners or facets there is to be room: 8, 12, 16, 24, 32 and so on."""
    steps = np.array([k << n for n in range(3, 40) for k in (2, 3)]) >> 1
    return steps[np.searchsorted(steps, counts)]


@dataclass(frozen=True, eq=False)
class HullAnswers:
    """What is known of many pairs of polytopes A and B."""

    state: NDArray[np.int8]
    """(n,) APART, MEET or OPEN: unknown."""
    gap: FloatArray
    """(n,) where APART, the width of an empty slab, less than the distance, with rounding taken off; where MEET, 0 or
    minus the radius of a ball around the origin inside the difference, less than the depth; where OPEN, 0."""
    normal: FloatArray
    """(3, n) where APART, unit vectors from A to B across the slab; else 0."""
    around: FloatArray | None = None
    """(3, 3, n) of portals: coordinate, corner, pair; where MEET, three points of A - B that are around the origin,
    together with the difference of the mean corners."""
    corners: NDArray[np.int32] | None = None
    """(2, 3, n) of portals, if asked for: which corner of A, and of B, made each corner of the last one, which are
    those `around` where MEET; -1 where there was no portal."""


def hulls_by_slabs(table: HullTable, i: IntArray, j: IntArray, progress: Progress | None = None) -> HullAnswers:
    """Return what balls and the fixed directions tell of shapes i (n,) and j (n,), with the widest slab of them.

    Raises Cancelled when `progress` says so.
    """
    total = len(i)
    state, gap, normal = np.zeros(total, dtype=np.int8), np.zeros(total), np.zeros((3, total))
    way = _ways(table, i, j)
    both = table.balls.take(i, axis=1)
    both += table.balls.take(j, axis=1)
    length = np.sqrt(np.einsum("cn,cn->n", way, way))
    state[length <= both[1]] = MEET
    by_balls = length - both[0] - both[2]
    apart = np.flatnonzero(by_balls > 0.0)
    state[apart] = APART
    gap[apart] = by_balls[apart]
    normal[:, apart] = way[:, apart] / length[apart]
    left = np.flatnonzero(state != MEET)
    for some, ways, gaps in _slabs(table, i.take(left), j.take(left), progress):
        best = gaps.argmax(axis=1)
        rows = np.arange(len(best))
        widest = gaps[rows, best].astype(np.float64)
        at = left[some]
        better = np.flatnonzero(widest > gap.take(at))
        at, chosen = at.take(better), best.take(better)
        state[at] = APART
        gap[at] = widest.take(better)
        normal[:, at] = np.where(ways[better, chosen] > 0.0, 1.0, -1.0) * _DIRECTIONS.take(chosen, axis=0).T
    return HullAnswers(state, gap, normal)


def hulls_parted(table: HullTable, i: IntArray, j: IntArray, progress: Progress | None = None) -> BoolArray:
    """Return (n,) between which of shapes i (n,) and j (n,) there is an empty slab across a fixed direction, for sure.

    Raises Cancelled when `progress` says so.
    """
    result = np.zeros(len(i), dtype=bool)
    words = np.zeros((_SLABS, AXES), dtype=bool)  # eight truths are looked at as one number
    for some, _, gaps in _slabs(table, i, j, progress):
        np.greater(gaps, 0.0, out=words[: len(gaps)])
        np.logical_or.reduce(words[: len(gaps)].view(np.uint64).T, axis=0, out=result[some])
    return result


def _slabs(
    table: HullTable, i: IntArray, j: IntArray, progress: Progress | None
) -> Iterator[tuple[slice, SingleArray, SingleArray]]:
    """Yield of some pairs of shapes how far the middle of B is beyond that of A along the fixed directions (m, AXES),
    and the least width of the slab between them, below 0 where they overlap; both hold until the next are asked for."""
    shape = (min(_SLABS, len(i)), AXES)
    ways, others, gaps = (np.empty(shape, dtype=np.float32) for _ in range(3))
    for start in range(0, len(i), _SLABS):
        if start % (64 * _SLABS) == 0:
            report_progress(progress, start, len(i))
        part = slice(start, start + _SLABS)
        one, two = i[part], j[part]
        if len(one) < len(ways):
            ways, others, gaps = ways[: len(one)], others[: len(one)], gaps[: len(one)]
        table.middles.take(two, axis=0, out=ways, mode="clip")
        ways -= table.middles.take(one, axis=0, out=others, mode="clip")
        np.abs(ways, out=gaps)
        gaps -= table.halves.take(one, axis=0, out=others, mode="clip")
        gaps -= table.halves.take(two, axis=0, out=others, mode="clip")
        yield part, ways, gaps


def hulls_intersect(table: HullTable, i: IntArray, j: IntArray, progress: Progress | None = None) -> NDArray[np.int8]:
    """Return (n,) APART, MEET or, where nothing could be proved, OPEN of shapes i (n,) and j (n,). Raises Cancelled."""
    parted = hulls_parted(table, i, j, subrange(progress, 0.0, 0.2))
    state = np.where(parted, np.int8(APART), np.int8(OPEN))
    left = np.flatnonzero(~parted)
    meet = hulls_by_rays(table, i.take(left), j.take(left))
    state[left[meet]] = MEET
    left = left[~meet]
    if len(left):
        state[left] = hulls_by_portals(table, i.take(left), j.take(left), subrange(progress, 0.2, 1.0)).state
    return state


def hulls_by_rays(table: HullTable, i: IntArray, j: IntArray) -> BoolArray:
    """Return (n,) which of shapes i (n,) and j (n,) have a common point between their mean corners, for sure."""
    return _reaches(table, i, j) >= 1.0


def hulls_by_balls(table: HullTable, i: IntArray, j: IntArray) -> FloatArray:
    """Return (n,) the radius of a ball around the origin in the difference of shapes i (n,) and j (n,), 0 where none is
    sure to be there: the depth is more.

    What a shape reaches along the ray to the other's mean corner, and the ball inside it, have a cone between them that
    is inside too: the balls about a common point in both cones add up.
    """
    # The common point divides the way as the reaches do.
    share = np.maximum(1.0 - 1.0 / np.maximum(_reaches(table, i, j), 1.0), 0.0)
    balls = table.balls
    result: FloatArray = (balls[1].take(i) + balls[1].take(j)) * share - (balls[2].take(i) + balls[2].take(j))
    return np.maximum(result, 0.0, out=result)


def _reaches(table: HullTable, i: IntArray, j: IntArray) -> FloatArray:
    """Return (n,) how far shapes i (n,) and j (n,) reach toward each other's mean corners, at least, both together and
    over the way between these; 0 where one has no inside."""
    result = np.empty(len(i))
    for start in range(0, len(i), _CHUNK):
        part = slice(start, start + _CHUNK)
        one, two = i[part], j[part]
        ways = _ways(table, one, two)
        solid = (table.balls[1].take(one) > 0.0) & (table.balls[1].take(two) > 0.0)
        gauges = _gauges(table, np.concatenate([one, two]), np.concatenate([ways, -ways], axis=1))
        # Mean corners that coincide are a common point, however far the shapes reach.
        gauges = np.maximum(gauges, _TINY).reshape(2, -1)
        reach = (1.0 / gauges).sum(axis=0)
        reach *= 1.0 - _RAY_ROUNDING * EPS
        result[part] = np.where(solid, reach, 0.0)
    return result


def _gauges(table: HullTable, numbers: IntArray, ways: FloatArray) -> FloatArray:
    """Return (m,) by how much shapes `numbers` (m,) must be enlarged about their mean corners, at most, to reach as far
    as the vectors (3, m) from there.

    That is a convex function: between the nodes of the octahedron it is not more than the mean of theirs.
    """
    if table.axes is not None:
        ways = np.einsum("mkc,cm->km", table.axes.take(numbers, axis=0), ways)
    x, y, z = ways
    length = np.abs(x) + np.abs(y)
    length += np.abs(z)
    scale = STEPS / np.where(length > 0.0, length, 1.0)
    u, v = x * scale, y * scale
    u += STEPS
    v += STEPS
    column, row = v.astype(np.intp), u.astype(np.intp)
    np.minimum(column, _ROW - 2, out=column)
    np.minimum(row, _ROW - 2, out=row)
    u -= row
    v -= column
    at = 2 * numbers
    at += z < 0.0
    at *= _ROW
    at += row
    at *= _ROW
    at += column
    flat = table.gauges.reshape(-1)
    low, high = (flat.take(at + k) * (1.0 - v) + flat.take(at + (k + 1)) * v for k in (0, _ROW))
    high -= low
    high *= u
    low += high
    return low * length


def _ways(table: HullTable, i: IntArray, j: IntArray) -> FloatArray:
    """Return (3, n) the ways from the mean corner of A to that of B."""
    ways = table.centers.take(j, axis=1)
    ways -= table.centers.take(i, axis=1)
    ways[:3] += ways[3:]
    return ways[:3]


def hulls_along(table: HullTable, i: IntArray, j: IntArray, normals: FloatArray) -> FloatArray:
    """Return (n,) how wide the slab across unit vectors (3, n), from A to B, between shapes i (n,) and j (n,) is at
    least; <= 0 where none is sure.

    What rounding may add is taken off.
    """
    result = np.empty(len(i))
    memory = room_for(table)
    for start in range(0, len(i), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        search = HullPairs(table, i[part], j[part], memory)
        ways = np.ascontiguousarray(normals[:, part])
        points = search.supports(ways)
        result[part] = -np.einsum("cm,cm->m", ways, points) - search.limit
    return result


def room_for(table: HullTable) -> FloatArray:
    """Return room for the corners of a few hundred shapes, and for their heights in up to six directions."""
    most = max((block.shape[2] for block in table.corners), default=1)
    return np.empty(max(_GATHERED, 9 * most))


def hulls_around(table: HullTable, i: IntArray, j: IntArray, corners: NDArray[np.int32]) -> FloatArray:
    """Return (n,) the radius of a ball around the origin in the difference of shapes i (n,) and j (n,), 0 where none is
    sure: in the tetrahedron of `corners` (2, 3, n), as `HullAnswers` has them, which may be of before a move."""
    result = np.zeros(len(i))
    for start in range(0, len(i), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        one, other = i[part], j[part]
        inner = -_ways(table, one, other)
        points = table.at(one, corners[0, :, part]) - table.at(other, corners[1, :, part]) + inner[:, None]
        balls = table.balls.take(one, axis=1) + table.balls.take(other, axis=1)
        spread = balls[0] + np.abs(inner).max(axis=0)
        sure, radius = _enclosing(inner, points[:, 0], points[:, 1], points[:, 2], spread, balls[2])
        result[start + sure] = radius
    return result


def _enclosing(
    p: FloatArray, a: FloatArray, b: FloatArray, c: FloatArray, spread: FloatArray, rounding: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return which of the tetrahedra with the corners p, a, b, c (3, m) hold the origin for sure, and of these (k,) the
    radius of a ball around it that is inside."""
    limit = GJK_INSIDE * EPS * spread**3
    first, second = np.concatenate([a, b, c, a], axis=1), np.concatenate([b, a, b, c], axis=1)
    third = np.concatenate([c, p, p, p], axis=1)
    parts = np.einsum("cm,cm->m", cross_rows(first, second), third).reshape(4, -1)
    least, most = parts.min(axis=0), parts.max(axis=0)
    sure = np.flatnonzero((least > limit) | (most < -limit))
    # Heights of the origin over the four faces, which rounding makes less by no more than the limit.
    faces = cross_rows(second - first, third - first).reshape(3, 4, -1).take(sure, axis=2)
    areas = np.sqrt(np.einsum("cfm,cfm->fm", faces, faces))
    volumes = np.abs(parts.take(sure, axis=1)) - limit.take(sure)
    return sure, np.maximum((volumes / areas).min(axis=0) - rounding.take(sure), 0.0)


def hulls_by_portals(
    table: HullTable,
    i: IntArray,
    j: IntArray,
    progress: Progress | None = None,
    *,
    start: NDArray[np.int32] | None = None,
) -> HullAnswers:
    """Return whether shapes i (n,) and j (n,) intersect, by portals; for pairs that cheaper tests leave open.

    `start` are the corners (2, 3, n) of portals to begin with, as `HullAnswers` has them, which may be of before a
    move; -1 for none. With it the answer has corners too.

    Source: XenoCollide. Raises Cancelled when `progress` says so.
    """
    total = len(i)
    state, gap, normal = np.zeros(total, dtype=np.int8), np.zeros(total), np.zeros((3, total))
    around = np.zeros((3, 3, total))
    corners = None if start is None else np.full((2, 3, total), -1, dtype=np.int32)
    # Pairs with equally many corners side by side are answered from fewer arrays.
    order = np.lexsort((table.size.take(j), table.size.take(i)))
    memory = room_for(table)
    begun: _Begun | None = None
    for final in (False, True):
        if final and len(order) <= _LAST:
            break
        late: list[IntArray] = []
        left: list[_Begun] = []
        for begin in range(0, len(order), _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            some = order[part]
            report_progress(progress, (0.9 if final else 0.0) + (0.1 if final else 0.9) * begin / len(order))
            first = None if start is None else start.take(some, axis=2)
            search = _Portals(table, i.take(some), j.take(some), memory, first)
            # Each step has its price, however few pairs are left: the slow ones go on together in the end.
            few = 0.0 if final or total <= _AT_ONCE else _LATE * len(some)
            left.append(search.run(few, None if begun is None else begun.part(part)))
            state[some], gap[some], normal[:, some] = search.state, search.gap, search.normal
            around[:, :, some] = search.around
            if corners is not None:
                corners[:, :, some] = search.settled_names
            late.append(some.take(left[-1].rows))
        if late:
            order = np.concatenate(late)
            begun = _Begun(order, *(np.concatenate([getattr(b, n) for b in left], axis=2) for n in ("points", "names")))
    return HullAnswers(state, gap, normal, around, corners)


class HullPairs:
    """Some pairs of a table, in columns, of which fewer and fewer are active, and their support points."""

    def __init__(self, table: HullTable, i: IntArray, j: IntArray, memory: FloatArray) -> None:
        # A new array of this size would be given back to the system and cleared by it each time.
        self.memory = memory
        balls = table.balls.take(i, axis=1)
        balls += table.balls.take(j, axis=1)
        inner = -_ways(table, i, j)  # a point of A - B, inside it if that has an inside
        self._lengths = np.concatenate([inner, balls[2:], balls[:1] + np.abs(inner).max(axis=0)])
        self._numbers = np.stack(
            [np.arange(len(i)), table.size.take(i), table.size.take(j), table.place.take(i), table.place.take(j)]
        )
        self.all_lengths, self.all_numbers = self._lengths, self._numbers
        self.corners = table.corners
        self.named: list[NDArray[np.int32]] | None = None
        """If asked for, which corners of A, and of B, the last ones farthest were: (m,) or (k, m) each."""
        self._share_out()

    def _share_out(self) -> None:
        self.inner, (self.limit, self.spread) = self._lengths[:3], self._lengths[3:]
        self.rows, self.sizes, self.places = self._numbers[0], self._numbers[1:3], self._numbers[3:]

    def supports(self, ways: FloatArray, some: IntArray | None = None) -> FloatArray:
        """Return the support points of A - B of the active pairs, or of some, for ways of any length: (3, m) as these
        are, or (3, k, m) where k of them are asked for each pair."""
        inner = self.inner if some is None else self.inner.take(some, axis=1)
        result = self.farthest(ways, False, some)
        result += inner if ways.ndim == 2 else inner[:, None]
        result -= self.farthest(ways, True, some)
        return result

    def farthest(self, ways: FloatArray, of_b: bool, some: IntArray | None = None) -> FloatArray:
        """Return, from the mean corner, the corners of A farthest along the ways, or of B farthest against them: (3, m)
        as these are, or (3, k, m); of all active pairs, or of some."""
        each = ways if ways.ndim == 3 else ways[:, None]
        result = np.empty(each.shape)
        named = None if self.named is None else np.empty(each.shape[1:], dtype=np.int32)
        shape: tuple[int, ...] = ()
        for part, block, heights in self.gathered(each, of_b, some):
            at = (heights.argmin(axis=2) if of_b else heights.argmax(axis=2)).T  # (k, n)
            if named is not None:
                named[:, part] = at
            if block.shape != shape:
                shape = block.shape
                places = shape[2] * (3 * np.arange(shape[0]) + np.arange(3)[:, None, None])
            result[:, :, part] = block.take(places + at, mode="clip")
        if self.named is not None and named is not None:
            self.named[int(of_b)] = named if ways.ndim == 3 else named[0]
        return result if ways.ndim == 3 else result[:, 0]

    def gathered(
        self, ways: FloatArray, of_b: bool, some: IntArray | None = None
    ) -> Iterator[tuple[slice | IntArray, FloatArray, FloatArray]]:
        """Yield of a few hundred of the active pairs, or of some, which they are, the corners (n, 3, v) of A, or of B,
        from the mean corner, and how far these are (n, k, v) along the ways (3, k, m) of any length.

        Both hold until the next are asked for; of smaller shapes the first corner is there more than once.
        """
        turned = np.ascontiguousarray(ways.transpose(2, 1, 0))
        sizes, places = self.sizes[int(of_b)], self.places[int(of_b)]
        if some is not None:
            sizes, places = sizes.take(some), places.take(some)
        one = len(self.corners) == 1
        low, high = (0, 0) if one else (int(sizes.min(initial=0)), int(sizes.max(initial=-1)))
        for kind in range(low, high + 1):
            members = None if low == high else np.flatnonzero(sizes == kind)
            corners = self.corners[kind]
            room, many = corners.shape[2], turned.shape[1]
            step = max(1, _GATHERED // (room * (3 + many)))
            total, count = len(sizes) if members is None else len(members), 0
            for start in range(0, total, step):
                if start + count > total or not count:
                    count = min(step, total - start)
                    split, end = 3 * room * count, (3 + many) * room * count
                    block = self.memory[:split].reshape(count, 3, room)
                    heights = self.memory[split:end].reshape(count, many, room)
                part = slice(start, start + count) if members is None else members[start : start + count]
                corners.take(places[part], axis=0, out=block, mode="clip")
                np.matmul(turned[part], block, out=heights)
                yield part, block, heights

    def replace(self, at: IntArray, pairs: IntArray | slice) -> None:
        """Go on with some of the pairs that there were in the beginning, in the places `at` of others."""
        self._lengths[:, at], self._numbers[:, at] = self.all_lengths[:, pairs], self.all_numbers[:, pairs]

    def restart(self, pairs: IntArray) -> None:
        """Go on with these of the pairs that there were in the beginning."""
        self._lengths, self._numbers = self.all_lengths.take(pairs, axis=1), self.all_numbers.take(pairs, axis=1)
        self._share_out()

    def keep(self, kept: IntArray) -> None:
        """Go on with these of the active pairs only."""
        self._lengths, self._numbers = self._lengths.take(kept, axis=1), self._numbers.take(kept, axis=1)
        self._share_out()


@dataclass(frozen=True, eq=False)
class _Begun:
    """Portals of some pairs, which the ray may pass or not."""

    rows: IntArray
    """(m,) which pairs they are of."""
    points: FloatArray
    """(coordinate, corner, m)."""
    names: NDArray[np.int32]
    """(shape, corner, m) which corners of A and B make them, if asked for."""

    def part(self, part: slice) -> _Begun:
        """Return those of some pairs only."""
        return _Begun(self.rows[part], self.points[:, :, part], self.names[:, :, part])


class _Portals(HullPairs):
    """The search of some pairs, in rows (3, m) of the pairs that are still active."""

    def __init__(
        self,
        table: HullTable,
        i: IntArray,
        j: IntArray,
        memory: FloatArray,
        start: NDArray[np.int32] | None,
    ) -> None:
        super().__init__(table, i, j, memory)
        count = len(i)
        self.table, self.pair, self.start = table, (i, j), start
        self.names = np.zeros((2, 3, count), dtype=np.int32)
        """Which corners of A and B make those of the portals of active pairs, if asked for."""
        if start is not None:
            self.named = [self.names[0], self.names[1]]
        self.settled_names = np.full((2, 3, count), -1, dtype=np.int32)
        """The same of all pairs in the end."""
        self.points = np.empty((3, 3, 0))
        """(coordinate, corner, m) the portals of active pairs, counter-clockwise seen from outside."""
        self.state, self.gap, self.normal = np.zeros(count, dtype=np.int8), np.zeros(count), np.zeros((3, count))
        self.around = np.zeros((3, 3, count))
        self.passed = np.zeros(count, dtype=bool)
        """(n,) of which pairs the origin is on the inner side of the portal."""

    def run(self, few: float, begun: _Begun | None) -> _Begun:
        """Search until no more than `few` pairs are left, and return their portals; others that are not settled in the
        end stay OPEN. `begun` are the portals to go on with, if there are any."""
        if begun is None:
            self.begin()
        else:
            self.points, self.names = begun.points.copy(), begun.names.copy()
        waiting = self.discover(_TURNS if few else _PORTALS)
        way = self.outward()
        plane = np.einsum("cm,cm->m", way, self.points[:, 0])
        done = np.zeros(len(plane), dtype=bool)
        for _ in range(_PORTALS):
            inside = np.flatnonzero(~done & (plane > 0.0))
            if len(inside):
                rows = self.rows.take(inside)
                self.passed[rows] = True
                self.around[:, :, rows] = self.points.take(inside, axis=2)
                done[inside] = True
            kept = np.flatnonzero(~done)
            if len(kept) < len(done):
                self.settle_names(np.flatnonzero(done))
                self.keep(kept)
                way, plane = way.take(kept, axis=1), plane.take(kept)
            if len(kept) <= max(few, _LAST):
                break
            point = self.supports(way)
            done, height, length = self.parted(way, point)
            # No farther than the portal: that is on the surface, or rounding cannot tell.
            done |= height - plane <= self.limit * length
            self.refine(point)
            way = self.outward()
            plane = np.einsum("cm,cm->m", way, self.points[:, 0])
        self.settle_names(np.arange(len(self.rows)))
        self.prove()
        return _Begun(
            np.concatenate([self.rows, waiting.rows]),
            np.concatenate([self.points, waiting.points], axis=2),
            np.concatenate([self.names, waiting.names], axis=2),
        )

    def begin(self) -> None:
        """Look for the corners of first portals around the ray, or put those there that are given."""
        self.keep(np.flatnonzero(self.inner.any(axis=0)))
        ways = fans(-self.inner, 3, _WIDTH)
        self.points = self.supports(ways)
        if self.named is not None:
            self.names = np.stack(self.named)
        heights = np.einsum("ckm,ckm->km", ways, self.points)
        lowest = heights.argmin(axis=0)
        columns = np.arange(len(lowest))
        way, point = ways[:, lowest, columns], self.points[:, lowest, columns]
        apart, _, _ = self.parted(way, point)
        self.keep(np.flatnonzero(~apart))
        if self.start is None:
            return
        start = self.start.take(self.rows, axis=2)
        some = np.flatnonzero(start[0, 0] >= 0)
        rows, start = self.rows.take(some), start.take(some, axis=2)
        points = self.table.at(self.pair[0].take(rows), start[0]) - self.table.at(self.pair[1].take(rows), start[1])
        points += self.inner.take(some, axis=1)[:, None]
        self.points[:, :, some] = points
        self.names[:, :, some] = start

    def discover(self, turns: int) -> _Begun:
        """Let the ray pass all portals; go on with the pairs of which it does, and return those for which it would take
        more turns."""
        some, sides = self.missed(np.arange(len(self.rows)))
        out = np.zeros(len(self.rows), dtype=bool)  # of the search
        for _ in range(turns):
            if not len(some):
                break
            # The ray passes outside of this side: the portal goes on from there.
            side, inner = sides.argmax(axis=0), self.inner.take(some, axis=1)
            first, second, last = side, (side + 1) % 3, (side + 2) % 3
            v1, v2 = self.points[:, first, some], self.points[:, second, some]
            way = cross_rows(v2 - inner, v1 - inner)
            # Or the portal has no width: a corner beside it is wanted.
            thin = np.flatnonzero(~sides.any(axis=0))
            way[:, thin] = cross_rows(v1, inner)[:, thin]
            point = self.supports(way, some)
            self.points[:, last, some] = point
            if self.named is not None:
                self.names[:, last, some] = np.stack(self.named)
            apart, height, length = self.parted(way, point, some)
            # With nothing beyond the side, the inner point is on the surface.
            flat = height - np.einsum("cm,cm->m", way, inner) <= self.limit.take(some) * length
            out[some] = apart | flat
            some, sides = self.missed(some[~(apart | flat)])
        out[some] = True
        waiting = _Begun(self.rows.take(some), self.points.take(some, axis=2), self.names.take(some, axis=2))
        self.keep(np.flatnonzero(~out))
        return waiting

    def missed(self, some: IntArray) -> tuple[IntArray, FloatArray]:
        """Turn the portals of active pairs `some` counter-clockwise seen from outside; return of which pairs the ray
        misses them, and for these (3, k) volumes that are above 0 where it is outside of the side from a corner to the
        next, or all 0."""
        points, inner = self.points.take(some, axis=2), self.inner.take(some, axis=1)
        v1, v2, v3 = points.transpose(1, 0, 2)
        way = cross_rows(v1 - v3, v2 - v3)
        inward = np.flatnonzero(np.einsum("cm,cm->m", way, inner - v3) > 0.0)
        at = some.take(inward)
        self.points[:, :2, at] = self.points[:, 1::-1, at]
        self.names[:, :2, at] = self.names[:, 1::-1, at]
        points[:, :2, inward] = points[:, 1::-1, inward]
        following = points.take([1, 2, 0], axis=1)
        volumes = np.einsum("ckm,cm->km", cross_rows(points, following), inner)
        at = np.flatnonzero((volumes > 0.0).any(axis=0) | ~volumes.any(axis=0))
        return some.take(at), volumes.take(at, axis=1)

    def outward(self) -> FloatArray:
        """Return the normals (3, m) of the portals of active pairs, of any length."""
        v1, v2, v3 = self.points.transpose(1, 0, 2)
        return cross_rows(v1 - v3, v2 - v3)

    def parted(
        self, ways: FloatArray, points: FloatArray, some: IntArray | None = None
    ) -> tuple[BoolArray, FloatArray, FloatArray]:
        """Tell which active pairs, or of some, the support points for these ways show to be apart, and keep what they
        show; return the heights of the points too, and the lengths of the ways."""
        rows, limit = (self.rows, self.limit) if some is None else (self.rows.take(some), self.limit.take(some))
        heights = np.einsum("cm,cm->m", ways, points)
        lengths = np.sqrt(np.einsum("cm,cm->m", ways, ways))
        apart: BoolArray = heights < -limit * lengths
        found = np.flatnonzero(apart)
        if len(found):
            rows, length = rows.take(found), lengths.take(found)
            self.state[rows] = APART
            self.gap[rows] = -heights.take(found) / length - limit.take(found)
            self.normal[:, rows] = ways.take(found, axis=1) / length
        return apart, heights, lengths

    def refine(self, point: FloatArray) -> None:
        """Put new points (3, m) in the place of that corner of each portal without which the ray still passes it."""
        one, two, three = np.einsum("cm,ckm->km", cross_rows(point, self.inner), self.points) >= 0.0
        slot = np.where(one, np.where(two, 0, 2), three)
        columns = np.arange(len(slot))
        self.points[:, slot, columns] = point
        if self.named is not None:
            self.names[:, slot, columns] = np.stack(self.named)

    def prove(self) -> None:
        """Settle which tetrahedra of portal and inner point hold the origin for sure: beyond these portals there is
        nothing more to find, and what is not sure stays open."""
        rows = np.flatnonzero(self.passed)
        lengths = self.all_lengths.take(rows, axis=1)
        a, b, c = self.around.take(rows, axis=2).transpose(1, 0, 2)
        sure, radius = _enclosing(lengths[:3], a, b, c, lengths[4], lengths[3])
        self.state[rows.take(sure)] = MEET
        self.gap[rows.take(sure)] = -radius
        self.around[:, :, self.state != MEET] = 0.0

    def settle_names(self, at: IntArray) -> None:
        """Keep which corners make the portals of active pairs `at`."""
        if self.named is not None:
            self.settled_names[:, :, self.rows.take(at)] = self.names.take(at, axis=2)

    def keep(self, kept: IntArray) -> None:
        """Go on with these of the active pairs only."""
        if len(kept) == len(self.rows):
            return
        super().keep(kept)
        self.points = self.points.take(kept, axis=2) if self.points.shape[2] else self.points
        self.names = self.names.take(kept, axis=2)


def fans(ways: FloatArray, count: int, width: float | FloatArray) -> FloatArray:
    """Return `count` ways (3, count, m) around each of ways (3, m), coordinate first, counter-clockwise seen from
    ahead: `width` aside of 1 along it, one for all or (m,). Around a way of no length they are around the first axis.

    Source: T. Duff and others, Building an Orthonormal Basis, Revisited, 2017.
    """
    length = np.sqrt(np.einsum("cm,cm->m", ways, ways))
    unit = ways / np.where(length > 0.0, length, 1.0)
    unit[0, length == 0.0] = 1.0
    x, y, z = unit
    sign = np.copysign(1.0, z)
    scale = -1.0 / (sign + z)
    both = x * y * scale
    right = np.stack([1.0 + sign * x * x * scale, sign * both, -sign * x])
    up = np.stack([both, sign + y * y * scale, -y])
    result = np.empty((3, count, ways.shape[1]))
    for k in range(count):
        angle = 2.0 * np.pi * k / count
        result[:, k] = unit + width * (np.cos(angle) * right + np.sin(angle) * up)
    return result


def cross_rows(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return the cross products of vectors whose coordinates are rows (3, ...)."""
    result = np.empty(u.shape if u.shape == v.shape else np.broadcast_shapes(u.shape, v.shape))
    a, b, c = u
    d, e, f = v
    x, y, z = result  # views
    np.multiply(b, f, out=x)
    x -= c * e
    np.multiply(c, d, out=y)
    y -= a * f
    np.multiply(a, e, out=z)
    z -= b * d
    return result
