"""A walk over partitions whose groups must hold what models demand: moves, swaps and splits at the price of shortfall.

The walk minimises SSE + price · Σ size · shortfall; with a high price every change that breaks a group is undone or
paid for soon. Groups are chains of records, of any size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.annealing import draw
from crypsis.kernels.arrays import Floats, Int32s, Ints, Words
from crypsis.kernels.compile import kernel
from crypsis.kernels.contents import ContentDemands, ContentRoom, group_shortfall, take_cheapest

_11, _UNIT = np.uint64(11), 2.0**-53


class ContentGroups(NamedTuple):
    """A partition that can be changed in place; room for as many groups as there are records.

    label   int64[n]: group of each record
    after   int64[n], before int64[n]: neighbours in the chain of the group; −1 at its ends
    head    int64[n]: first record of each group; −1: no such group
    size    int64[n]: records of each group
    total   float64[n, p]: sum of the points of each group
    short   float64[n]: how far each group falls short
    members int64[n]: room for the records of a group
    """

    label: Ints
    after: Ints
    before: Ints
    head: Ints
    size: Ints
    total: Floats
    short: Floats
    members: Ints


def _unlink(groups: ContentGroups, points: Floats, row: int) -> None:
    """Take a record out of its group."""
    group = groups.label[row]
    if groups.before[row] >= 0:
        groups.after[groups.before[row]] = groups.after[row]
    else:
        groups.head[group] = groups.after[row]
    if groups.after[row] >= 0:
        groups.before[groups.after[row]] = groups.before[row]
    groups.size[group] -= 1
    for j in range(points.shape[1]):
        groups.total[group, j] -= points[row, j]


unlink = kernel(_unlink)


def _link(groups: ContentGroups, points: Floats, row: int, group: int) -> None:
    """Put a record into a group."""
    groups.label[row], groups.before[row], groups.after[row] = group, -1, groups.head[group]
    if groups.head[group] >= 0:
        groups.before[groups.head[group]] = row
    groups.head[group] = row
    groups.size[group] += 1
    for j in range(points.shape[1]):
        groups.total[group, j] += points[row, j]


link = kernel(_link)


def _short_of(groups: ContentGroups, group: int, demands: ContentDemands, room: ContentRoom) -> float:
    """How far a group falls short, counted afresh."""
    count, row = 0, groups.head[group]
    while row >= 0:
        groups.members[count] = row
        count += 1
        row = groups.after[row]
    return group_shortfall(demands, room, groups.members, count) if count else 0.0


short_of = kernel(_short_of)


def _between(groups: ContentGroups, points: Floats, row: int, group: int) -> float:
    """Squared distance of a record from the mean of a group."""
    found, size = 0.0, groups.size[group]
    for j in range(points.shape[1]):
        apart = points[row, j] - groups.total[group, j] / size
        found += apart * apart
    return found


between = kernel(_between)


def _apart(groups: ContentGroups, points: Floats, a: int, b: int) -> float:
    """What the SSE grows by where two groups become one."""
    found = 0.0
    for j in range(points.shape[1]):
        gap = groups.total[a, j] / groups.size[a] - groups.total[b, j] / groups.size[b]
        found += gap * gap
    return float(found * groups.size[a] * groups.size[b] / (groups.size[a] + groups.size[b]))


apart = kernel(_apart)


def _load_groups(
    groups: ContentGroups, points: Floats, labels: Int32s, demands: ContentDemands, room: ContentRoom
) -> None:
    """Start from a partition."""
    n = len(labels)
    for g in range(n):
        groups.head[g], groups.size[g], groups.short[g] = -1, 0, 0.0
        for j in range(points.shape[1]):
            groups.total[g, j] = 0.0
    for row in range(n - 1, -1, -1):
        link(groups, points, row, labels[row])
    for g in range(n):
        if groups.size[g] > 0:
            groups.short[g] = short_of(groups, g, demands, room)


load_groups = kernel(_load_groups)


def _merge_short(
    groups: ContentGroups, points: Floats, asked: int, demands: ContentDemands, room: ContentRoom, cost: Floats
) -> None:
    """Merge every group that falls short with the nearest group such that both pass together.

    Where none of those asked passes, with the one that leaves the least shortfall.

    asked  groups whose contents are looked at for one merge
    cost   float64[n]: room
    """
    n = 0
    for row in range(len(groups.label)):
        n = max(n, int(groups.label[row]) + 1)
    while True:
        group, worst, living = -1, 0.0, 0
        for g in range(n):
            if groups.size[g] > 0:
                living += 1
                if groups.short[g] > worst:
                    group, worst = g, groups.short[g]
        if group < 0 or living < 2:
            return
        for g in range(n):
            cost[g] = apart(groups, points, group, g) if g != group and groups.size[g] > 0 else np.inf
        best, least = -1, np.inf
        for _ in range(asked):
            near = take_cheapest(cost, n)
            if near < 0:
                break
            count = 0
            for g in (group, near):
                row = groups.head[g]
                while row >= 0:
                    groups.members[count] = row
                    count += 1
                    row = groups.after[row]
            short = group_shortfall(demands, room, groups.members, count)
            if short < least:
                best, least = near, short
            if short == 0.0:
                break
        row = groups.head[group]
        while row >= 0:
            following = groups.after[row]
            unlink(groups, points, row)
            link(groups, points, row, best)
            row = following
        groups.short[group], groups.short[best] = 0.0, least


merge_short = kernel(_merge_short)


def _split(
    groups: ContentGroups, points: Floats, row: int, k: int, demands: ContentDemands, room: ContentRoom, near: Ints
) -> bool:
    """Part a group into the k records nearest to one of them and the rest, if both pass; → whether it was parted."""
    old, new = groups.label[row], -1
    for g in range(len(groups.label)):
        if groups.size[g] == 0:
            new = g
            break
    if new < 0:
        return False
    for place in range(k):
        best, closest, at = -1, np.inf, groups.head[old]
        while at >= 0:
            distance = 0.0
            for j in range(points.shape[1]):
                gap = points[at, j] - points[row, j]
                distance += gap * gap
            if at == row:
                distance = -1.0
            if distance < closest:
                best, closest = at, distance
            at = groups.after[at]
        near[place] = best
        unlink(groups, points, best)
        link(groups, points, best, new)
    if short_of(groups, old, demands, room) == 0.0 and short_of(groups, new, demands, room) == 0.0:
        groups.short[old], groups.short[new] = 0.0, 0.0
        return True
    for place in range(k):
        unlink(groups, points, near[place])
        link(groups, points, near[place], old)
    return False


split = kernel(_split)


def _walk_contents(
    groups: ContentGroups,
    points: Floats,
    neighbours: Int32s,
    settings: Floats,
    demands: ContentDemands,
    room: ContentRoom,
    chance: Words,
    near: Ints,
) -> None:
    """Try moves, swaps and splits among the groups of near records while the temperature falls.

    settings  float64[5]: k, steps, hot, cold, price of shortfall per record
    near      int64[k]: room
    """
    n, k, steps = len(points), int(settings[0]), int(settings[1])
    hot, cold, price = settings[2], settings[3], settings[4]
    for step in range(steps):
        heat = hot * (cold / hot) ** (step / steps) if hot > 0 else 0.0
        bits = draw(chance)
        row = int((bits >> np.uint64(33)) % np.uint64(n))
        other = int(neighbours[row, int((bits & np.uint64(0xFFFF)) % np.uint64(neighbours.shape[1]))])
        luck = float((bits * np.uint64(0x2545F4914F6CDD1D)) >> _11) * _UNIT
        a, b = groups.label[row], groups.label[other]
        if a == b:
            if groups.size[a] >= 2 * k and groups.short[a] == 0.0 and step % 4 == 0:
                split(groups, points, row, k, demands, room, near)
            continue
        swap = groups.size[a] <= k or (bits >> np.uint64(20)) & np.uint64(1) == np.uint64(1)
        change = 0.0
        if swap:
            inner, spread = 0.0, 0.0
            for j in range(points.shape[1]):
                gap = points[other, j] - points[row, j]
                inner += (groups.total[b, j] / groups.size[b] - groups.total[a, j] / groups.size[a]) * gap
                spread += gap * gap
            change = 2.0 * inner - spread * (1.0 / groups.size[a] + 1.0 / groups.size[b])
        else:
            change = groups.size[b] / (groups.size[b] + 1.0) * between(groups, points, row, b)
            change -= groups.size[a] / (groups.size[a] - 1.0) * between(groups, points, row, a)
        paid = price * (groups.size[a] * groups.short[a] + groups.size[b] * groups.short[b])
        if change - paid > 0.0 and (heat == 0.0 or luck >= np.exp(-(change - paid) / heat)):
            continue  # refused whatever the groups would hold
        unlink(groups, points, row)
        link(groups, points, row, b)
        if swap:
            unlink(groups, points, other)
            link(groups, points, other, a)
        left, right = short_of(groups, a, demands, room), short_of(groups, b, demands, room)
        change += price * (groups.size[a] * left + groups.size[b] * right) - paid
        if change <= 0.0 or (heat > 0.0 and luck < np.exp(-change / heat)):
            groups.short[a], groups.short[b] = left, right
            continue
        unlink(groups, points, row)
        link(groups, points, row, a)
        if swap:
            unlink(groups, points, other)
            link(groups, points, other, b)


walk_contents = kernel(_walk_contents)
