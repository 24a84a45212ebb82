"""Regions of a partition: the groups around a record, freed to be solved again."""

from __future__ import annotations

from crypsis.kernels.annealing import WalkContext, WalkGroups
from crypsis.kernels.arrays import Int32s
from crypsis.kernels.compile import kernel


def _region(groups: WalkGroups, context: WalkContext, seed: int, pool: Int32s) -> int:
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


region = kernel(_region)
