"""Composite groups that are too small or miss a demand are put together with near ones, as far as that is possible."""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Int32s
from crypsis.kernels.compile import kernel
from crypsis.kernels.composite import (
    NONE,
    CompositeGroups,
    Surroundings,
    appraise,
    gather_rows,
    join_ring,
    leave_ring,
)
from crypsis.kernels.composite_walk import close_slot
from crypsis.kernels.group_cost import Costing


def _best_partner(
    groups: CompositeGroups, costing: Costing, around: Surroundings, g: int, stamp: Int32s, anybody: bool
) -> int:
    """The group with which another one costs least more, its costs in `fresh[1]`; −1 if there is none.

    stamp  int32[slots]: the last group a slot was looked at for, by a number that grows
    anybody  whether all groups are looked at, else those of records near the members
    """
    charges, cells, room = costing
    p, best, least = cells.codes.shape[1], NONE, np.inf
    m = gather_rows(groups, g, NONE, room.rows[0])
    for t in range(m):
        room.rows[1, t] = room.rows[0, t]
    stamp[-1] += 1
    stamp[g] = stamp[-1]
    stratum = around.strata[room.rows[0, 0]]
    for t in range(1 if anybody else m):
        for r in range(groups.used[0] if anybody else around.near.shape[1]):
            j = groups.head[r] if anybody else around.near[room.rows[0, t], r]
            h = groups.labels[j]
            if stamp[h] == stamp[-1] or around.strata[j] != stratum:
                continue
            stamp[h] = stamp[-1]
            many, i = m, groups.head[h]
            for _ in range(groups.sizes[h]):
                room.rows[1, many] = i
                many += 1
                i = groups.after[i]
            appraise(charges, cells, room.rows[1], many, room, groups.fresh[0])
            rise = groups.fresh[0, p + 1] - groups.costs[h, p + 1]
            if rise < least:
                best, least = h, rise
                for a in range(p + 2):
                    groups.fresh[1, a] = groups.fresh[0, a]
    return int(best)


best_partner = kernel(_best_partner)


def _merge_short_groups(
    groups: CompositeGroups, costing: Costing, around: Surroundings, least: int, stamp: Int32s
) -> None:
    """Every group that is charged or smaller than `least` joins the one near it with which both cost least.

    stamp  int32[slots + 1], zero
    """
    room, p, g, passed = costing.room, costing.cells.codes.shape[1], 0, 0
    while passed < groups.used[0]:
        g = g + 1 if g + 1 < groups.used[0] else 0
        passed += 1
        if groups.costs[g, p] == 0.0 and groups.sizes[g] >= least:
            continue
        h = best_partner(groups, costing, around, g, stamp, False)
        if h == NONE:
            h = best_partner(groups, costing, around, g, stamp, True)
        if h == NONE:
            continue
        m = gather_rows(groups, g, NONE, room.rows[0])
        for t in range(m):
            leave_ring(groups, room.rows[0, t])
            join_ring(groups, room.rows[0, t], h)
        for a in range(p + 2):
            groups.costs[h, a] = groups.fresh[1, a]
        close_slot(groups, g)
        passed = 0


merge_short_groups = kernel(_merge_short_groups)
