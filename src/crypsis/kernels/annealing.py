"""Local search and simulated annealing over k-partitions of points.

Groups fill slots 0 … used − 1 without holes. From centroids c and sizes m a change of SSE is judged in O(p):

    x leaves a for b           m_b / (m_b + 1) · |x − c_b|² − m_a / (m_a − 1) · |x − c_a|²
    x of a ⇄ y of b, D = y − x   2 (c_b − c_a) · D − |D|² (1 / m_a + 1 / m_b)

Only groups of near neighbours are tried; sizes stay within [k, 2k − 1]. Zero columns fill up to a multiple of four.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Flags, Floats, Int32s, Ints, Words
from crypsis.kernels.compile import kernel

_7, _11, _13, _17, _32 = np.uint64(7), np.uint64(11), np.uint64(13), np.uint64(17), np.uint64(32)
_LOW, _UNIT = np.uint64(2**32 - 1), 2.0**-53

ROUNDING = 1e-9
"""A rise of this many temperatures is rounding: what is accepted must not depend on its sign."""
REJECTED_ABOVE = 14.0
"""A rise of this many temperatures is rejected without a draw: it would be accepted once in a million."""


class AnnealingContext(NamedTuple):
    """What simulated annealing over partitions reads, and never changes."""

    # float64[n, p], p a multiple of four;  neighbours  int32[n, m]: the nearest other records, nearest first
    points: Floats
    neighbours: Int32s
    temperature_unit: Floats  # float64[n]: unit of the temperature at each record, its local squared spacing


class AnnealingGroups(NamedTuple):
    """A partition that can be changed in place."""

    labels: Int32s
    # where a record stands in its group's list;  members  int32[slots, 2k − 1];  used  int64[1]: slots in use
    place: Int32s
    members: Int32s
    sizes: Int32s
    centroids: Floats
    used: Ints
    free: Flags  # records whose groups may change, always whole groups
    undo: Int32s  # int32[2, 3k]: records moved and the groups they came from


def _draw(random_state: Words) -> np.uint64:
    """The next 64 bits of a xorshift generator whose state is `random_state[0]`, never zero."""
    bits: np.uint64 = random_state[0]
    bits ^= bits << _13
    bits ^= bits >> _7
    bits ^= bits << _17
    random_state[0] = bits
    return bits


draw = kernel(_draw)


def _integer_below(bits: np.uint64, limit: int) -> int:
    """Thirty-two bits as a whole number in [0, limit)."""
    return int(np.int64((bits * np.uint64(limit)) >> _32))


integer_below = kernel(_integer_below)


def _accept(rise: float, temperature: float, random_state: Words) -> bool:
    """Metropolis acceptance: a change for the better always, else with probability exp(−rise / temperature)."""
    if rise < ROUNDING * temperature:
        return True
    if rise >= REJECTED_ABOVE * temperature:
        return False
    return rise < -temperature * math.log((np.float64(draw(random_state) >> _11) + 0.5) * _UNIT)


accept = kernel(_accept)


def _draw_threshold(temperature: float, random_state: Words) -> float:
    """The rise below which the next change is accepted: the draw of `accept` made first, so that sums may end early."""
    return -temperature * math.log((np.float64(draw(random_state) >> _11) + 0.5) * _UNIT)


draw_threshold = kernel(_draw_threshold)


def _squared_distance(one: Floats, i: int, other: Floats, j: int) -> float:
    """Squared distance of two rows."""
    a = b = c = d = 0.0
    for q in range(0, one.shape[1], 4):
        e, f = one[i, q] - other[j, q], one[i, q + 1] - other[j, q + 1]
        g, h = one[i, q + 2] - other[j, q + 2], one[i, q + 3] - other[j, q + 3]
        a += e * e
        b += f * f
        c += g * g
        d += h * h
    return (a + b) + (c + d)


squared_distance = kernel(_squared_distance)


def _judge_swap(groups: AnnealingGroups, points: Floats, i: int, j: int) -> float:
    """Change of SSE if two records of different groups are swapped."""
    a, b = groups.labels[i], groups.labels[j]
    centroids = groups.centroids
    s = t = u = v = 0.0
    for q in range(0, points.shape[1], 2):
        d, e = points[j, q] - points[i, q], points[j, q + 1] - points[i, q + 1]
        s += (centroids[b, q] - centroids[a, q]) * d
        t += d * d
        u += (centroids[b, q + 1] - centroids[a, q + 1]) * e
        v += e * e
    return 2.0 * (s + u) - (t + v) * (1.0 / float(groups.sizes[a]) + 1.0 / float(groups.sizes[b]))


judge_swap = kernel(_judge_swap)


def _leave(groups: AnnealingGroups, points: Floats, i: int) -> None:
    """Take a record out of its group; its label stays until it enters another."""
    a = groups.labels[i]
    last = groups.sizes[a] - 1
    moved = groups.members[a, last]
    groups.members[a, groups.place[i]] = moved
    groups.place[moved] = groups.place[i]
    groups.sizes[a] = last
    share = 1.0 / max(last, 1)
    for q in range(points.shape[1]):
        groups.centroids[a, q] += (groups.centroids[a, q] - points[i, q]) * share


leave = kernel(_leave)


def _enter(groups: AnnealingGroups, points: Floats, i: int, b: int) -> None:
    """Put a record that left its group into another one."""
    size = groups.sizes[b]
    groups.members[b, size] = i
    groups.place[i] = size
    groups.labels[i] = b
    groups.sizes[b] = size + 1
    share = 1.0 / (size + 1)
    for q in range(points.shape[1]):
        groups.centroids[b, q] += (points[i, q] - groups.centroids[b, q]) * share


enter = kernel(_enter)


def _close(groups: AnnealingGroups, a: int) -> None:
    """Give up an empty slot; the last slot moves into the hole."""
    last = groups.used[0] - 1
    groups.used[0] = last
    if a != last:
        for q in range(groups.sizes[last]):
            i = groups.members[last, q]
            groups.members[a, q] = i
            groups.labels[i] = a
        groups.sizes[a] = groups.sizes[last]
        for q in range(groups.centroids.shape[1]):
            groups.centroids[a, q] = groups.centroids[last, q]
    groups.sizes[last] = 0


close = kernel(_close)


def _recompute_centroids(groups: AnnealingGroups, points: Floats, pool: Int32s) -> float:
    """Recompute the centroids of the pool's groups from their members, so that nothing drifts; their exact SSE."""
    total = 0.0
    for free in range(pool.shape[0]):
        i = pool[free]
        if groups.place[i] != 0:
            continue
        g = groups.labels[i]
        for q in range(points.shape[1]):
            added = 0.0
            for m in range(groups.sizes[g]):
                added += points[groups.members[g, m], q]
            groups.centroids[g, q] = added / groups.sizes[g]
        for m in range(groups.sizes[g]):
            total += squared_distance(points, groups.members[g, m], groups.centroids, g)
    return total


recompute_centroids = kernel(_recompute_centroids)


def _load_labels(groups: AnnealingGroups, labels: Int32s) -> None:
    """Load labels 0 … G−1 into the groups; their centroids are left to `recompute_centroids`."""
    used = 0
    for g in range(groups.sizes.shape[0]):
        groups.sizes[g] = 0
    for i in range(labels.shape[0]):
        g = labels[i]
        used = max(used, int(g) + 1)
        groups.labels[i] = g
        groups.place[i] = groups.sizes[g]
        groups.members[g, groups.sizes[g]] = i
        groups.sizes[g] += 1
    groups.used[0] = used


load_labels = kernel(_load_labels)


def _undo_moves(groups: AnnealingGroups, points: Floats, start: int, end: int) -> None:
    """Undo the moves start … end − 1, last first."""
    for q in range(end - 1, start - 1, -1):
        i = groups.undo[0, q]
        leave(groups, points, i)
        enter(groups, points, i, groups.undo[1, q])


undo_moves = kernel(_undo_moves)


def _dissolve_group(groups: AnnealingGroups, context: AnnealingContext, g: int, limit: float) -> float:
    """Send the members of a group one by one to the cheapest neighbouring group of less than 2k − 1; the rise of SSE.

    Leaves slot g empty and the moves in `undo`. Where all neighbouring groups are full, or the rise reaches the limit,
    nothing changes and it returns infinity.
    """
    points, undo = context.points, groups.undo
    most, size = groups.members.shape[1], groups.sizes[g]
    rise = 0.0
    for q in range(size):
        undo[0, q] = groups.members[g, q]
        undo[1, q] = g
        rise -= squared_distance(points, groups.members[g, q], groups.centroids, g)
    for q in range(size):
        i = undo[0, q]
        best, cheapest, seen = -1, np.inf, -1
        for near in range(context.neighbours.shape[1]):
            j = context.neighbours[i, near]
            b = groups.labels[j]
            if b in (g, seen) or groups.sizes[b] == most or not groups.free[j]:
                continue
            seen = b
            cost = squared_distance(points, i, groups.centroids, b) * groups.sizes[b] / (groups.sizes[b] + 1.0)
            if cost < cheapest:
                best, cheapest = b, cost
        rise += cheapest
        if rise >= limit:
            undo_moves(groups, points, 0, q)
            return np.inf
        leave(groups, points, i)
        enter(groups, points, i, best)
    return rise


dissolve_group = kernel(_dissolve_group)


def _form_group(groups: AnnealingGroups, context: AnnealingContext, seed: int, g: int, start: int) -> float:
    """Fill the empty slot g with a record and its nearest neighbours that their groups can spare; the rise of SSE.

    `undo` is written from position `start`; with too few to spare nothing changes: infinity.
    """
    points, undo, least = context.points, groups.undo, (groups.members.shape[1] + 1) // 2
    for q in range(points.shape[1]):
        groups.centroids[g, q] = 0.0
    rise = 0.0
    end = start
    for q in range(-1, context.neighbours.shape[1]):
        i = seed if q < 0 else context.neighbours[seed, q]
        a = groups.labels[i]
        size = int(groups.sizes[a])
        if size <= least or not groups.free[i]:
            if q < 0:
                return np.inf
            continue
        rise -= squared_distance(points, i, groups.centroids, a) * size / (size - 1.0)
        undo[0, end] = i
        undo[1, end] = a
        end += 1
        leave(groups, points, i)
        enter(groups, points, i, g)
        if end == start + least:
            for m in range(start, end):
                rise += squared_distance(points, undo[0, m], groups.centroids, g)
            return rise
    undo_moves(groups, points, start, end)
    return np.inf


form_group = kernel(_form_group)


def _regroup(
    groups: AnnealingGroups, context: AnnealingContext, seed: int, kind: int, temperature: float, random_state: Words
) -> bool:
    """Dissolve the seed's group (0), form a group around the seed (1) or do both at once (2), if that is accepted."""
    least = (groups.members.shape[1] + 1) // 2
    g = groups.used[0] if kind == 1 else groups.labels[seed]
    moved = groups.sizes[g]
    rise = 0.0
    if kind != 1:
        rise += dissolve_group(groups, context, g, REJECTED_ABOVE * temperature if kind == 0 else np.inf)
        if rise == np.inf:
            return False
    if kind != 0:
        rise += form_group(groups, context, seed, g, moved)
        if groups.sizes[g] > 0:
            moved += least
    if not accept(rise, temperature, random_state):
        undo_moves(groups, context.points, 0, moved)
        return False
    if kind == 0:
        close(groups, g)
    elif kind == 1:
        groups.used[0] = g + 1
    return True


regroup = kernel(_regroup)


def _anneal(
    groups: AnnealingGroups,
    context: AnnealingContext,
    pool: Int32s,
    steps: int,
    hot: float,
    cold: float,
    regroup_rate: float,
    random_state: Words,
) -> None:
    """Simulated annealing: try `steps` random moves while the temperature falls geometrically from hot to cold.

    `pool` int32[m]; `random_state` uint64[1]: state of the generator: the same state gives the same moves.
    """
    points, neighbours, unit = context
    reach = neighbours.shape[1]
    most = groups.members.shape[1]
    least = (most + 1) // 2
    labels, sizes, centroids = groups.labels, groups.sizes, groups.centroids
    rarely = np.uint64(regroup_rate * 2.0**32)
    cooling = (cold / hot) ** (256.0 / max(steps, 256))
    temperature = hot
    for step in range(steps):
        if step & 255 == 255:
            temperature *= cooling
        bits = draw(random_state)
        i = pool[integer_below(bits >> _32, pool.size)]
        if bits & _LOW < rarely:
            kind = integer_below(draw(random_state) >> _32, 3)
            regroup(groups, context, i, kind, temperature * unit[i], random_state)
            continue
        bits = draw(random_state)
        # Near neighbours more often than far ones: a uniform rank below a uniform limit.
        j = neighbours[i, integer_below(bits & _LOW, 1 + integer_below(bits >> _32, reach))]
        a, b = labels[i], labels[j]
        if a == b or not groups.free[j]:
            continue
        size_a, size_b = sizes[a], sizes[b]
        if size_a > least and size_b < most:
            rise = squared_distance(points, i, centroids, b) * size_b / (size_b + 1.0) - squared_distance(
                points, i, centroids, a
            ) * size_a / (size_a - 1.0)
            if accept(rise, temperature * unit[i], random_state):
                leave(groups, points, i)
                enter(groups, points, i, b)
                continue
        j = groups.members[b, integer_below(draw(random_state) >> _32, size_b)]
        if accept(judge_swap(groups, points, i, j), temperature * 0.5 * (unit[i] + unit[j]), random_state):
            leave(groups, points, i)
            leave(groups, points, j)
            enter(groups, points, i, b)
            enter(groups, points, j, a)


anneal = kernel(_anneal)

# -- Regions of a partition: the groups around a record, freed to be solved again.


def _free_region(groups: AnnealingGroups, context: AnnealingContext, seed: int, pool: Int32s) -> int:
    """Free the groups around a record, nearest first, until the pool cannot take another; returns how many records."""
    for i in range(groups.free.shape[0]):
        groups.free[i] = False
    most = groups.members.shape[1]
    count = 0
    reached = -1
    while count + most <= pool.size and reached < count:
        centre = seed if reached < 0 else pool[reached]
        reached += 1
        for q in range(-1, context.neighbours.shape[1]):
            i = centre if q < 0 else context.neighbours[centre, q]
            if groups.free[i]:
                continue
            g = groups.labels[i]
            for m in range(groups.sizes[g]):
                member = groups.members[g, m]
                groups.free[member] = True
                pool[count] = member
                count += 1
            if count + most > pool.size:
                break
    return count


free_region = kernel(_free_region)

# -- Swaps and moves of records between near groups of a given partition, as long as the SSE falls.


class SwapGroups(NamedTuple):
    """A partition under improvement."""

    points: Floats  # float64[n, p]
    centroids: Floats  # float64[G, p]
    members: Ints  # int64[G, most]: rows of each group, in its first sizes[g] places
    sizes: Ints  # int64[G]


def _near_groups(centroids: Floats, many: int) -> Int32s:
    """float64[G, p] → int32[G, many]: the nearest other groups of each, nearest first; many < G. O(G² p) time."""
    groups, p = centroids.shape
    lines = np.empty((p, groups))
    for j in range(p):
        for i in range(groups):
            lines[j, i] = centroids[i, j]
    near, reach, sums = np.empty((groups, many), dtype=np.int32), np.empty(many), np.empty(groups)
    for g in range(groups):
        for i in range(groups):
            sums[i] = 0.0
        for j in range(p):
            line, at = lines[j], centroids[g, j]
            for i in range(groups):
                gap = line[i] - at
                sums[i] += gap * gap
        sums[g] = np.inf
        for place in range(many):
            reach[place], near[g, place] = np.inf, 0
        for i in range(groups):
            if sums[i] >= reach[many - 1]:
                continue
            place = many - 1
            while place > 0 and sums[i] < reach[place - 1]:
                reach[place], near[g, place] = reach[place - 1], near[g, place - 1]
                place -= 1
            reach[place], near[g, place] = sums[i], i
    return near


def _find_best_change(groups: SwapGroups, near: Int32s, k: int, row: int, own: int) -> tuple[float, int, int]:
    """The change of one row's group that lowers the SSE most → (change, group, place of the partner or −1).

    With d = y − x and w the own centroid less the other, swapping x for y changes the SSE by
    −2 d·w − |d|² (1/a + 1/b); moving x alone, by b/(b+1) |x − c_b|² − a/(a−1) |x − c_a|². a, b are the sizes.
    """
    points, centroids, members, sizes = groups.points, groups.centroids, groups.members, groups.sizes
    p = points.shape[1]
    best, group, partner = -1e-12, -1, -1
    inner = 0.0
    for j in range(p):
        inner += (points[row, j] - centroids[own, j]) ** 2
    for rank in range(near.shape[1]):
        other = near[own, rank]
        outer = 0.0
        for j in range(p):
            outer += (points[row, j] - centroids[other, j]) ** 2
        if sizes[own] > k and sizes[other] < 2 * k - 1:
            change = outer * sizes[other] / (sizes[other] + 1) - inner * sizes[own] / (sizes[own] - 1)
            if change < best:
                best, group, partner = change, other, -1
        share = 1.0 / sizes[own] + 1.0 / sizes[other]
        for place in range(sizes[other]):
            mate, along, square = members[other, place], 0.0, 0.0
            for j in range(p):
                gap = points[mate, j] - points[row, j]
                along += gap * (centroids[own, j] - centroids[other, j])
                square += gap * gap
            change = -2.0 * along - square * share
            if change < best:
                best, group, partner = change, other, place
    return best, group, partner


def _recentre(groups: SwapGroups, group: int) -> None:
    """A group's centroid from its members, afresh."""
    for j in range(groups.points.shape[1]):
        total = 0.0
        for place in range(groups.sizes[group]):
            total += groups.points[groups.members[group, place], j]
        groups.centroids[group, j] = total / groups.sizes[group]


find_best_change, recentre, near_groups = kernel(_find_best_change), kernel(_recentre), kernel(_near_groups)


def _swap_records(points: Floats, labels: Int32s, near: Int32s, k: int, passes: int) -> int:
    """Change labels in place, row after row, by the best swap or move with a near group; → changes made.

    Sizes stay at least k, and at most 2k − 1 where they were. The SSE never rises. O(passes · n c k p) time.

    `points` float64[n, p]: centred near 0;  labels  int32[n] of groups 0 … G − 1 of at least k rows; `near` int32[G,
    c].
    """
    n, p = points.shape
    count = near.shape[0]
    sizes, most = np.empty(count, dtype=np.int64), 2 * k
    for group in range(count):
        sizes[group] = 0
    for row in range(n):
        sizes[labels[row]] += 1
    for group in range(count):
        most = max(most, sizes[group])
        sizes[group] = 0
    members, places = np.empty((count, most), dtype=np.int64), np.empty(n, dtype=np.int64)
    for row in range(n):
        members[labels[row], sizes[labels[row]]], places[row] = row, sizes[labels[row]]
        sizes[labels[row]] += 1
    groups, changes = SwapGroups(points, np.empty((count, p)), members, sizes), 0
    for group in range(count):
        recentre(groups, group)
    for _ in range(passes):
        before = changes
        for row in range(n):
            own = labels[row]
            _change, group, partner = find_best_change(groups, near, k, row, own)
            if group < 0:
                continue
            if partner >= 0:
                mate = members[group, partner]
                members[own, places[row]], members[group, partner] = mate, row
                places[mate], places[row] = places[row], partner
                labels[mate] = own
            else:
                sizes[own] -= 1
                last = members[own, sizes[own]]
                members[own, places[row]], places[last] = last, places[row]
                members[group, sizes[group]], places[row] = row, sizes[group]
                sizes[group] += 1
            labels[row] = group
            recentre(groups, own)
            recentre(groups, group)
            changes += 1
        if changes == before:
            break
    return changes


swap_records = kernel(_swap_records)

# -- The sum of squares within the groups of a partition, and how many rows each group holds.


def _group_sizes(labels: Int32s) -> Ints:
    """How many rows carry each label 0, 1, …, the largest."""
    groups = 0
    for i in range(labels.shape[0]):
        groups = max(groups, int(labels[i]) + 1)
    sizes = np.empty(groups, dtype=np.int64)
    for g in range(groups):
        sizes[g] = 0
    for i in range(labels.shape[0]):
        sizes[labels[i]] += 1
    return sizes


group_sizes = kernel(_group_sizes)


def _sse(points: Floats, labels: Int32s) -> float:
    """Sum of squared distances of the records from their group's mean; exact far from the origin too.

    points float64[n, p], labels int32[n] of 0, 1, … → float. O(n p) time; each group is measured from its first record.
    """
    n, p = points.shape
    sizes = group_sizes(labels)
    first, means = np.empty(sizes.shape[0], dtype=np.int64), np.empty((sizes.shape[0], p))
    for g in range(sizes.shape[0]):
        first[g] = -1
        for j in range(p):
            means[g, j] = 0.0
    for i in range(n):
        g = labels[i]
        if first[g] < 0:
            first[g] = i
        for j in range(p):
            means[g, j] += (points[i, j] - points[first[g], j]) / sizes[g]
    total = 0.0
    for i in range(n):
        g = labels[i]
        for j in range(p):
            gap = points[i, j] - points[first[g], j] - means[g, j]
            total += gap * gap
    return total


sse = kernel(_sse)
