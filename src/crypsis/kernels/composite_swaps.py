"""Records of neighbouring groups trade what they publish, so that the values nearest to a record are not its own.

What the groups publish stays as it is; a record publishes the values of one of the groups of its near records. All
records cost what their cells lose and a price of being found. Values have a rank for a record: how many others are
nearer to it. An intruder who knows that records trade may take the values of any rank, so that the price is on the
squares of what each rank finds: who leaves the nearest values spreads over many ranks, and none finds more than the
nearest.
"""

from __future__ import annotations

from typing import NamedTuple

from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.compile import kernel
from crypsis.kernels.composite import NONE, CompositeGroups, Surroundings, gather_rows, join_ring, leave_ring
from crypsis.kernels.contents import group_shortfall
from crypsis.kernels.group_cost import Cells, Charges

NEVER = 1e9
"""What a record without a value costs where one is published: nothing is filled in."""
CLOSE = 1e-9
"""Difference of distances that are taken to be equal."""
FAR = 1e18
"""Squared distance of values that are not there."""


class Published(NamedTuple):
    """What each group publishes in each column.

    levels  int32[G, p]: level in the hierarchy, 0 for a value; −1 where nothing is published
    codes   int32[G, p]: the group at that level, or the code of the value
    places  float64[G, p]: of a value, where it lies on the line of `Cells.values`; of a number that is not published,
            where the mean lies
    reach   float64[p]: what a distance on that line counts for an intruder; 0 where the column has no order
    """

    levels: Int32s
    codes: Int32s
    places: Floats
    reach: Floats


class SwapPace(NamedTuple):
    """How records trade.

    least  records that must publish the values of a group
    price  what a record costs, in cells, that is surely found while nobody trades
    passes  how often all records are looked at, at most
    few  it ends once fewer than one record in so many changes
    """

    least: int
    price: float
    passes: int
    few: int


class Swaps(NamedTuple):
    """What is known of each record beside whose values it publishes.

    options  int32[n, c]: groups whose values it loses least with, the best first; −1 where there are fewer
    lost     float64[n, c]: what it loses with them
    near     float64[n, r]: squared distances of the sets of values nearest to it, the nearest first
    share    float64[n]: how surely it is found if it publishes the nearest
    spent    float64[n]: what it loses now
    rank     int32[n]: how many sets of values are nearer than those it publishes now, r at most
    chance   float64[n]: how surely it is found by who takes values of that rank
    found    float64[r + 1]: the sum of these chances by rank; ranks beyond those looked at are together, and free
    stamp    int32[G]: the last record a group was looked at for, −1 at first
    pair     float64[2]: room for a comparison
    """

    options: Int32s
    lost: Floats
    near: Floats
    share: Floats
    spent: Floats
    rank: Int32s
    chance: Floats
    found: Floats
    stamp: Int32s
    pair: Floats


def _compare(cells: Cells, published: Published, i: int, g: int, out: Floats) -> None:
    """Write into `out` what record i loses if it publishes the values of group g, and their squared distance."""
    lost, square = 0.0, 0.0
    for a in range(cells.codes.shape[1]):
        code, level = cells.codes[i, a], published.levels[g, a]
        if level < 0 or code < 0:
            if level >= 0:
                lost += NEVER
            elif code >= 0:
                lost += cells.weights[a]
                square += 1.0 + ((cells.values[i, a] - published.places[g, a]) * published.reach[a]) ** 2
        elif level > 0:
            start = cells.starts[a, level]
            if cells.above[start + code] == published.codes[g, a]:
                lost += cells.weights[a] * cells.widths[start + code]
            else:
                lost += cells.weights[a]
                square += 1.0
        elif cells.ordered[a]:
            apart = abs(cells.values[i, a] - published.places[g, a])
            lost += cells.weights[a] * apart
            square += (apart * published.reach[a]) ** 2
        elif code != published.codes[g, a]:
            lost += cells.weights[a]
            square += 1.0
    out[0], out[1] = lost, square


compare = kernel(_compare)


def _find_options(
    cells: Cells, published: Published, around: Surroundings, labels: Int32s, groups: CompositeGroups, swaps: Swaps
) -> float:
    """Let every record publish the values of its own group, and find those it loses least with and the nearest.

    around  groups of near records are looked at; all of its stratum where no near records are given
    groups  empty rings; their labels become whose values each record publishes
    returns  what all records lose for each that is found: where the price of being found begins to matter
    """
    n, r, c, ranks = labels.size, around.near.shape[1], swaps.options.shape[1], swaps.near.shape[1]
    looked = r if r > 0 else swaps.stamp.size
    for i in range(n):
        join_ring(groups, i, labels[i])
    all_lost, found = 0.0, 0.0
    for i in range(n):
        square, many, own = FAR, 0, 0.0
        for u in range(-1, looked):
            g = labels[i] if u < 0 else (labels[around.near[i, u]] if r > 0 else u)
            if swaps.stamp[g] == i or around.strata[groups.head[g]] != around.strata[i]:
                continue
            swaps.stamp[g] = i
            compare(cells, published, i, g, swaps.pair)
            lost = swaps.pair[0]
            if u < 0:
                all_lost, own = all_lost + lost, swaps.pair[1]
            if swaps.pair[1] < square - CLOSE:
                square, many = swaps.pair[1], 0
            if swaps.pair[1] <= square + CLOSE:
                many += groups.sizes[g]
            place = ranks
            while place > 0 and swaps.pair[1] < swaps.near[i, place - 1]:
                place -= 1
                if place + 1 < ranks:
                    swaps.near[i, place + 1] = swaps.near[i, place]
            if place < ranks:
                swaps.near[i, place] = swaps.pair[1]
            place = c
            while place > 0 and (swaps.options[i, place - 1] == NONE or lost < swaps.lost[i, place - 1]):
                place -= 1
                if place + 1 < c:
                    swaps.options[i, place + 1], swaps.lost[i, place + 1] = (
                        swaps.options[i, place],
                        swaps.lost[i, place],
                    )
            if place < c and lost < NEVER:
                swaps.options[i, place], swaps.lost[i, place] = g, lost
        swaps.share[i] = 1.0 / many
        if own <= square + CLOSE:
            found += swaps.share[i]
    return all_lost / found if found > 0.0 else 0.0


find_options = kernel(_find_options)


def _meet(cells: Cells, published: Published, swaps: Swaps, i: int, g: int, least: int) -> int:
    """Write into `pair` what record i loses with the values of group g and how surely it is found; return their rank.

    Who takes values that are not the nearest has one chance in `least`.
    """
    compare(cells, published, i, g, swaps.pair)
    rank, ranks = 0, swaps.near.shape[1]
    while rank < ranks and swaps.near[i, rank] < swaps.pair[1] - CLOSE:
        rank += 1
    swaps.pair[1] = swaps.share[i] if rank == 0 else 1.0 / least
    return rank


meet = kernel(_meet)


def _moved(found: Floats, rank: int, by: float) -> float:
    """Change what a rank finds, and return by how much its square grows; the last rank is free."""
    if rank == found.size - 1:
        return 0.0
    grown = by * (2.0 * found[rank] + by)
    found[rank] += by
    return float(grown)


moved = kernel(_moved)


def _nearest_finds_most(found: Floats) -> bool:
    """Whether no other rank finds more than the nearest."""
    most = 0.0
    for rank in range(1, found.size - 1):
        most = max(most, found[rank])
    return bool(most <= found[0] + CLOSE)


nearest_finds_most = kernel(_nearest_finds_most)


def _falls_short(charges: Charges | None, groups: CompositeGroups, rows: Ints, g: int, i: int, j: int) -> bool:
    """Whether the records that publish the values of a group miss a demand once i has left them and j has come.

    Without demands nothing of them is compiled: the type None decides, not a value.
    """
    if charges is None:
        return False
    m = gather_rows(groups, g, i, rows)
    if j != NONE:
        rows[m] = j
        m += 1
    return bool(group_shortfall(charges.demands, charges.contents, rows, m) > 0.0)


falls_short = kernel(_falls_short)


def _settle(cells: Cells, published: Published, groups: CompositeGroups, swaps: Swaps, i: int, least: int) -> None:
    """Note what record i loses and where it is found, as the member of a group that it has become."""
    swaps.rank[i] = meet(cells, published, swaps, i, groups.labels[i], least)
    swaps.spent[i], swaps.chance[i] = swaps.pair[0], swaps.pair[1]
    moved(swaps.found, swaps.rank[i], swaps.chance[i])


settle = kernel(_settle)


def _change(
    cells: Cells, published: Published, groups: CompositeGroups, swaps: Swaps, i: int, partner: int, h: int, least: int
) -> None:
    """Let record i publish the values of group h, and its partner, if there is one, those that i leaves."""
    g = groups.labels[i]
    moved(swaps.found, swaps.rank[i], -swaps.chance[i])
    leave_ring(groups, i)
    if partner != NONE:
        moved(swaps.found, swaps.rank[partner], -swaps.chance[partner])
        leave_ring(groups, partner)
        join_ring(groups, partner, g)
        settle(cells, published, groups, swaps, partner, least)
    join_ring(groups, i, h)
    settle(cells, published, groups, swaps, i, least)


change = kernel(_change)


def _trade_values(
    charges: Charges | None,
    cells: Cells,
    published: Published,
    groups: CompositeGroups,
    swaps: Swaps,
    rows: Ints,
    pace: SwapPace,
) -> int:
    """Let records publish the values of another group, or two records trade theirs, wherever that costs less in all.

    The cost of all is what they lose and price / (2 · found at first) times the squares of what the ranks find.

    charges  what must hold of the records that publish the same; None where only their number matters
    groups  whose values each record publishes
    rows  int64[n + 1]: room for the members of a group
    returns  how many records changed
    """
    n, c = swaps.options.shape
    for i in range(n):
        settle(cells, published, groups, swaps, i, pace.least)
    if swaps.found[0] <= 0.0 or not nearest_finds_most(swaps.found):
        return 0
    half = pace.price / (2.0 * swaps.found[0])
    every = 0
    for _ in range(pace.passes):
        changed = 0
        for i in range(n):
            g, best, target, partner = groups.labels[i], CLOSE, NONE, NONE
            now = swaps.spent[i] - half * moved(swaps.found, swaps.rank[i], -swaps.chance[i])
            for u in range(c):
                h = swaps.options[i, u]
                if h == NONE or now - swaps.lost[i, u] <= CLOSE:
                    break
                if h == g:
                    continue
                rank = meet(cells, published, swaps, i, h, pace.least)
                lost, chance = swaps.pair[0], swaps.pair[1]
                less = now - lost - half * moved(swaps.found, rank, chance)
                if less > CLOSE:
                    if groups.sizes[g] > pace.least and less > best:
                        best, target, partner = less, h, NONE
                    j = groups.head[h]
                    for _ in range(groups.sizes[h]):
                        saved = less + swaps.spent[j] - half * moved(swaps.found, swaps.rank[j], -swaps.chance[j])
                        other = meet(cells, published, swaps, j, g, pace.least)
                        saved -= swaps.pair[0] + half * moved(swaps.found, other, swaps.pair[1])
                        moved(swaps.found, other, -swaps.pair[1])
                        moved(swaps.found, swaps.rank[j], swaps.chance[j])
                        if saved > best:
                            best, target, partner = saved, h, j
                        j = groups.after[j]
                moved(swaps.found, rank, -chance)
            moved(swaps.found, swaps.rank[i], swaps.chance[i])
            if target == NONE or falls_short(charges, groups, rows, g, i, partner):
                continue
            if falls_short(charges, groups, rows, target, partner, i):
                continue
            change(cells, published, groups, swaps, i, partner, target, pace.least)
            if nearest_finds_most(swaps.found):
                changed += 1
            else:
                change(cells, published, groups, swaps, i, partner, g, pace.least)
        every += changed
        if changed * pace.few < n:
            break
    return every


trade_values = kernel(_trade_values)
