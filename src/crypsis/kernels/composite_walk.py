"""The walk over composite groups: which change is tried next, and when it ends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.annealing import HOPELESS, bears, below, draw
from crypsis.kernels.arrays import Words
from crypsis.kernels.compile import kernel
from crypsis.kernels.composite import (
    NONE,
    CompositeGroups,
    Surroundings,
    appraise,
    gather_rows,
    join_ring,
    leave_ring,
    move_record,
    near_record,
    split_group,
    swap_records,
)
from crypsis.kernels.group_cost import Costing

_32, _LOW = np.uint64(32), np.uint64(2**32 - 1)
TRIES = 8
"""Near records looked at for one of another group."""


class WalkSettings(NamedTuple):
    """How a walk goes.

    least  smallest group;  limit  cells that may be read;  hot, cold  temperatures at its beginning and end, in cells
    dissolving  probability of that change;  anywhere  probability that a far record is looked at
    price  what every group costs beside what it loses, in cells: the dearer, the fewer there are
    """

    least: int
    limit: int
    hot: float
    cold: float
    dissolving: float
    anywhere: float
    price: float


def _neighbouring_group(
    groups: CompositeGroups, around: Surroundings, i: int, anywhere: np.uint64, chance: Words
) -> int:
    """The slot of another group in which a near record of the same stratum is; −1 if a few tries find none."""
    for _ in range(TRIES):
        j = near_record(around, i, anywhere, chance)
        if groups.labels[j] != groups.labels[i] and around.strata[j] == around.strata[i]:
            return int(groups.labels[j])
    return NONE


neighbouring_group = kernel(_neighbouring_group)


def _close_slot(groups: CompositeGroups, g: int) -> None:
    """Give up an empty slot; the last one moves into the hole."""
    last = groups.used[0] - 1
    groups.used[0] = last
    if g != last:
        i = groups.head[last]
        for _ in range(groups.sizes[last]):
            groups.labels[i] = g
            i = groups.after[i]
        groups.head[g], groups.sizes[g] = groups.head[last], groups.sizes[last]
        for a in range(groups.costs.shape[1]):
            groups.costs[g, a] = groups.costs[last, a]


close_slot = kernel(_close_slot)


def _dissolve_group(
    groups: CompositeGroups, costing: Costing, around: Surroundings, seed: int, anywhere: np.uint64, chance: Words
) -> None:
    """Send every member of a record's group to a near group, if the rise is borne; else all is as it was."""
    charges, cells, room = costing
    g, p, rise = groups.labels[seed], cells.codes.shape[1], 0.0
    m = gather_rows(groups, g, NONE, room.rows[0])
    rise -= groups.costs[g, p + 1] + room.heat[1]
    done = 0
    while done < m and rise < HOPELESS * room.heat[0]:
        i = room.rows[0, done]
        h = neighbouring_group(groups, around, i, anywhere, chance)
        if h == NONE:
            rise = np.inf
            break
        many = gather_rows(groups, h, NONE, room.rows[1])
        room.rows[1, many] = i
        appraise(charges, cells, room.rows[1], many + 1, room, groups.fresh[1])
        rise += groups.fresh[1, p + 1] - groups.costs[h, p + 1]
        for a in range(p + 2):
            room.saved[done, a], groups.costs[h, a] = groups.costs[h, a], groups.fresh[1, a]
        leave_ring(groups, i)
        join_ring(groups, i, h)
        done += 1
    if done == m and bears(rise, room.heat[0], chance):
        close_slot(groups, g)
        return
    while done > 0:
        done -= 1
        i = room.rows[0, done]
        h = groups.labels[i]
        leave_ring(groups, i)
        join_ring(groups, i, g)
        for a in range(p + 2):
            groups.costs[h, a] = room.saved[done, a]


dissolve_group = kernel(_dissolve_group)


def _walk_groups(
    groups: CompositeGroups, costing: Costing, around: Surroundings, pace: WalkSettings, chance: Words
) -> float:
    """Try changes until so many cells were read while the temperature falls geometrically; the cost of all groups.

    chance  uint64[1], the generator's state: the same state gives the same walk
    """
    charges, cells, room = costing
    n, p, start, steps = cells.codes.shape[0], cells.codes.shape[1], room.work[0], 0
    room.heat[1] = pace.price
    rarely, anywhere = np.uint64(pace.dissolving * 2.0**32), np.uint64(pace.anywhere * 2.0**32)
    while room.work[0] - start < pace.limit:
        if steps & 63 == 0:
            room.heat[0] = pace.hot * (pace.cold / pace.hot) ** ((room.work[0] - start) / pace.limit)
        steps += 1
        room.work[0] += 1
        bits = draw(chance)
        i = below(bits >> _32, n)
        g = groups.labels[i]
        if bits & _LOW < rarely:
            if groups.sizes[g] <= room.saved.shape[0] and groups.used[0] > 1:
                dissolve_group(groups, costing, around, i, anywhere, chance)
            continue
        bits = draw(chance)
        if groups.sizes[g] >= 2 * pace.least and bits >> _32 < np.uint64(1 << 30):
            split_group(groups, charges, cells, room, i, pace.least, chance)
            continue
        j = near_record(around, i, anywhere, chance)
        h = groups.labels[j]
        if g == h or around.strata[i] != around.strata[j]:
            continue
        if groups.sizes[g] > pace.least and bits & np.uint64(1):
            move_record(groups, charges, cells, room, i, h, chance)
            continue
        if bits & np.uint64(2):
            for _ in range(below(draw(chance) >> _32, groups.sizes[h])):
                j = groups.after[j]
        swap_records(groups, charges, cells, room, i, j, chance)
    total = 0.0
    for g in range(groups.used[0]):
        total += groups.costs[g, p + 1]
    return total


walk_groups = kernel(_walk_groups)
