"""Local recoding under demands on what every class holds: where records freeze, merge and move.

A class is a chain of tuples, a tuple a stretch of records. Only whole tuples move. A class that meets the demands may
miss them after it took a tuple, so every merge and move is asked first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Floats, Int16s, Ints
from crypsis.kernels.compile import kernel
from crypsis.kernels.contents import ContentDemands, ContentRoom, group_shortfall, take_cheapest
from crypsis.kernels.recoding import Tuples
from crypsis.kernels.slots import clear_slots, find_slot, slots_for

ASKED = 40
"""Merges whose contents are looked at for one class, the cheapest first."""


class ContentClasses(NamedTuple):
    """Classes of tuples that can be changed in place; a class is known by a number below the number of tuples.

    row      int64[n]: records, those of a tuple side by side
    begin    int64[m + 1]: where the records of each tuple begin
    head     int64[m]: first tuple of each class; −1: no such class
    after    int64[m]: next tuple of the same class; −1 ends the chain
    size     int64[m]: records of each class
    level    int64[m, s]: what each class publishes
    loss     float64[m]: loss of one record there
    short    float64[m]: how far each class falls short
    members  int64[n]: room for the records of one class
    """

    row: Ints
    begin: Ints
    head: Ints
    after: Ints
    size: Ints
    level: Ints
    loss: Floats
    short: Floats
    members: Ints


def _gather(classes: ContentClasses, group: int, without: int, count: int) -> int:
    """Write the records of a class after the first `count` members, but for one tuple; → how many there are then."""
    tuple_ = classes.head[group]
    while tuple_ >= 0:
        if tuple_ != without:
            for at in range(classes.begin[tuple_], classes.begin[tuple_ + 1]):
                classes.members[count] = classes.row[at]
                count += 1
        tuple_ = classes.after[tuple_]
    return count


gather = kernel(_gather)


def _freeze_contents(
    tuples: Tuples,
    nodes: Int16s,
    classes: ContentClasses,
    least: int,
    demands: ContentDemands,
    room: ContentRoom,
    owner: Ints,
) -> None:
    """Group every tuple at the first node that lets its class meet the demands.

    nodes  int16[n, s]: level vectors in the order they are offered
    least  no smaller class can pass
    owner  int64[m]: told the group of each tuple; −1 where no node was enough
    """
    m, s = tuples.leaf.shape
    capacity = slots_for(m)
    keys = np.empty(capacity, dtype=np.uint64)
    held, first = np.zeros(capacity, dtype=np.int64), np.empty(capacity, dtype=np.int64)
    alive, chain, seats = np.arange(m), np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    groups, count = 0, m
    for row in range(m):
        owner[row] = -1
    for node in range(len(nodes)):
        shift, used, largest = clear_slots(held, count), 0, 0
        for position in range(count):
            row = alive[position]
            key = np.uint64(0)
            for a in range(s):
                key += tuples.mark[tuples.start[a, nodes[node, a]] + tuples.leaf[row, a]]
            slot = find_slot(key, keys, held, shift)
            if not held[slot]:
                keys[slot], first[slot], seats[used] = key, -1, slot
                used += 1
            held[slot] += tuples.records[row]
            chain[row], first[slot] = first[slot], row
            largest = max(largest, int(held[slot]))
        if largest < least:
            continue
        frozen = False
        for seat in range(used):
            slot = seats[seat]
            if held[slot] < least:
                continue
            records, row = 0, first[slot]
            while row >= 0:
                for at in range(classes.begin[row], classes.begin[row + 1]):
                    classes.members[records] = classes.row[at]
                    records += 1
                row = chain[row]
            if group_shortfall(demands, room, classes.members, records) > 0.0:
                continue
            row, frozen = first[slot], True
            while row >= 0:
                owner[row] = groups
                row = chain[row]
            groups += 1
        if frozen:
            left = 0
            for position in range(count):
                if owner[alive[position]] < 0:
                    alive[left] = alive[position]
                    left += 1
            count = left
            if count == 0:
                break


freeze_contents = kernel(_freeze_contents)


def _tighten_class(tuples: Tuples, classes: ContentClasses, group: int) -> None:
    """Publish the lowest common ancestors of the members, no more."""
    anchor = classes.head[group]
    loss = 0.0
    for a in range(tuples.leaf.shape[1]):
        level, row = 0, classes.after[anchor]
        while row >= 0:
            while (
                tuples.group[tuples.start[a, level] + tuples.leaf[row, a]]
                != tuples.group[tuples.start[a, level] + tuples.leaf[anchor, a]]
            ):
                level += 1
            row = classes.after[row]
        classes.level[group, a] = level
        loss += tuples.cell[tuples.start[a, level] + tuples.leaf[anchor, a]]
    classes.loss[group] = loss


tighten_class = kernel(_tighten_class)


def _joint_loss(tuples: Tuples, classes: ContentClasses, group: int, anchor: int, levels: Ints) -> float:
    """Loss per record of a class that also covers a tuple generalised to some levels."""
    mine, loss = classes.head[group], 0.0
    for a in range(tuples.leaf.shape[1]):
        level = max(classes.level[group, a], levels[a])
        while (
            tuples.group[tuples.start[a, level] + tuples.leaf[mine, a]]
            != tuples.group[tuples.start[a, level] + tuples.leaf[anchor, a]]
        ):
            level += 1
        loss += tuples.cell[tuples.start[a, level] + tuples.leaf[anchor, a]]
    return loss


joint_loss = kernel(_joint_loss)


def _settle_classes(
    tuples: Tuples, classes: ContentClasses, owner: Ints, demands: ContentDemands, room: ContentRoom
) -> None:
    """Classes of grouped tuples; a tuple without a group is a class of its own."""
    m = len(owner)
    taken = 0
    for row in range(m):
        taken = max(taken, owner[row] + 1)
        classes.head[row], classes.after[row], classes.size[row] = -1, -1, 0
    for row in range(m - 1, -1, -1):
        if owner[row] < 0:
            owner[row] = taken
            taken += 1
        group = owner[row]
        classes.after[row], classes.head[group] = classes.head[group], row
        classes.size[group] += tuples.records[row]
    for group in range(taken):
        tighten_class(tuples, classes, group)
        count = gather(classes, group, -1, 0)
        classes.short[group] = group_shortfall(demands, room, classes.members, count)


settle_classes = kernel(_settle_classes)


def _merge_failing(
    tuples: Tuples, classes: ContentClasses, demands: ContentDemands, room: ContentRoom, cost: Floats
) -> None:
    """Merge every class that falls short with the cheapest class such that both pass together.

    Where none of those asked passes, with the one that leaves the least shortfall: it falls with every merge, for the
    whole file is the class that differs least from itself.

    cost  float64[m]: room
    """
    m = len(classes.head)
    while True:
        worst, group, living = 0.0, -1, 0
        for g in range(m):
            if classes.head[g] >= 0:
                living += 1
                if classes.short[g] > worst:
                    worst, group = classes.short[g], g
        if group < 0 or living < 2:
            return
        for g in range(m):
            cost[g] = np.inf
            if g != group and classes.head[g] >= 0:
                loss = joint_loss(tuples, classes, g, classes.head[group], classes.level[group])
                both = classes.size[g] + classes.size[group]
                cost[g] = both * loss - classes.size[g] * classes.loss[g] - classes.size[group] * classes.loss[group]
        best, least = -1, np.inf
        for _ in range(ASKED):
            near = take_cheapest(cost, m)
            if near < 0:
                break
            count = gather(classes, near, -1, gather(classes, group, -1, 0))
            short = group_shortfall(demands, room, classes.members, count)
            if short < least:
                best, least = near, short
            if short == 0.0:
                break
        last = classes.head[group]
        while classes.after[last] >= 0:
            last = classes.after[last]
        classes.after[last], classes.head[best] = classes.head[best], classes.head[group]
        classes.size[best] += classes.size[group]
        classes.head[group], classes.size[group] = -1, 0
        classes.short[best] = least
        tighten_class(tuples, classes, best)


merge_failing = kernel(_merge_failing)


def _move_tuples(
    tuples: Tuples, classes: ContentClasses, demands: ContentDemands, room: ContentRoom, effort: int
) -> int:
    """Move tuples to classes where they cost less and both classes still pass; → comparisons left, 0 if none moved."""
    m, moved = len(classes.head), False
    for group in range(m):
        if classes.head[group] < 0 or classes.loss[group] == 0.0 or effort <= 0:
            continue
        before, row = -1, classes.head[group]
        while row >= 0:
            following, count = classes.after[row], tuples.records[row]
            effort -= m
            best, added = -1, count * classes.loss[group]
            if classes.size[group] > count and effort > 0:
                for g in range(m):
                    if g != group and classes.head[g] >= 0:
                        loss = joint_loss(tuples, classes, g, row, classes.level[g])
                        extra = (classes.size[g] + count) * loss - classes.size[g] * classes.loss[g]
                        if extra < added - 1e-12:
                            best, added = g, extra
            if best >= 0:
                left = gather(classes, group, row, 0)
                fits = group_shortfall(demands, room, classes.members, left) == 0.0
                if fits:
                    for at in range(classes.begin[row], classes.begin[row + 1]):
                        classes.members[at - classes.begin[row]] = classes.row[at]
                    total = gather(classes, best, -1, count)
                    fits = group_shortfall(demands, room, classes.members, total) == 0.0
                if fits:
                    if before < 0:
                        classes.head[group] = following
                    else:
                        classes.after[before] = following
                    classes.size[group] -= count
                    classes.after[row], classes.head[best] = classes.head[best], row
                    classes.size[best] += count
                    tighten_class(tuples, classes, best)
                    moved, row = True, following
                    continue
            before, row = row, following
        tighten_class(tuples, classes, group)
    return effort if moved and effort > 0 else 0


move_tuples = kernel(_move_tuples)
