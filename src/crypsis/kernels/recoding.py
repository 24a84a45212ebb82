"""Local recoding: records freeze at the cheapest node where their class is already good enough.

Distinct tuples are offered the nodes of a lattice in order of loss. At every node the tuples not yet frozen are
grouped; a class that meets the demand freezes there and the rest goes on. What a class then publishes is the
lowest common ancestor of its own members, so a key may be a hash: a collision could cost loss, never protection.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Floats, Int16s, Int32s, Ints, Words
from crypsis.kernels.classes import (
    ContentDemands,
    ContentRoom,
    _slots_for,
    bits,
    clear_slots,
    find_slot,
    group_shortfall,
    slots_for,
    take_cheapest,
)
from crypsis.kernels.compile import kernel


class Tuples(NamedTuple):
    """Distinct tuples over s attributes and their hierarchies."""

    leaf: Int32s  # int32[m, s]: leaves
    records: Ints  # int64[m]: how many records share the tuple
    present: Words  # uint64[m, words]: one bit per confidential value among them
    start: Ints  # int64[s, levels]: where the leaves of an attribute at a level begin in `group`, `cell` and `mark`
    height: Ints  # int64[s]: the highest level of each attribute, where all leaves are one group
    group: Int32s  # int32[…]: group of the leaf at the level
    cell: Floats  # float64[…]: loss of one such cell
    mark: Words  # uint64[…]: a random word per group


class ClassDemand(NamedTuple):
    """What every class must hold."""

    k: int
    l: int  # noqa: E741 (the letter of l-diversity)


class FreezingWorkspace(NamedTuple):
    """Buffers for the tuples not yet frozen and the classes of one node."""

    alive: Ints  # int64[m]: the tuples, and the slot of each
    slot_of: Ints
    base: Ints  # int64[s]: where the leaves of each attribute begin at the node
    keys: Words  # uint64[slots], values uint64[slots, words], held and given int64[slots]: the classes
    values: Words
    held: Ints
    given: Ints


def _offer_nodes(tuples: Tuples, nodes: Int16s, demand: ClassDemand, workspace: FreezingWorkspace, owner: Ints) -> None:
    """Fill owner as `freeze_recoded_tuples` says."""
    m, s = tuples.leaf.shape
    words = tuples.present.shape[1]
    alive, slot_of, base, keys, values, held, given = workspace
    groups, count = 0, m
    for node in range(nodes.shape[0]):
        for a in range(s):
            base[a] = tuples.start[a, nodes[node, a]]
        shift, largest = clear_slots(held, count), 0
        for position in range(count):
            row = alive[position]
            key = np.uint64(0)
            for a in range(s):
                key += tuples.mark[base[a] + tuples.leaf[row, a]]
            slot = find_slot(key, keys, held, shift)
            if not held[slot]:
                keys[slot] = key
                given[slot] = -1
                for w in range(words):
                    values[slot, w] = 0
            held[slot] += tuples.records[row]
            for w in range(words):
                values[slot, w] |= tuples.present[row, w]
            slot_of[position] = slot
            largest = max(largest, held[slot])
        if largest < demand.k:
            continue
        left = 0
        for position in range(count):
            row, slot = alive[position], slot_of[position]
            if given[slot] == -1 and held[slot] >= demand.k:
                distinct = 0
                for w in range(words):
                    distinct += int(bits(values[slot, w]))
                given[slot] = -2
                if distinct >= demand.l or words == 0:
                    given[slot] = groups
                    groups += 1
            if given[slot] >= 0:
                owner[row] = given[slot]
            else:
                alive[left] = row
                left += 1
        count = left
        if count == 0:
            break


offer_nodes = kernel(_offer_nodes)


def freeze_recoded_tuples(tuples: Tuples, nodes: Int16s, demand: ClassDemand) -> Ints:
    """Kernel of local recoding: freeze every tuple at the first node that lets its class meet the demand.

    →      int64[m]: group 0, 1, … of each tuple; −1 where no node was enough

    `nodes` int16[n, s]: level vectors in the order they are offered.
    """
    m, s = tuples.leaf.shape
    slots, owner = _slots_for(m), np.full(m, -1, dtype=np.int64)
    workspace = FreezingWorkspace(
        np.arange(m, dtype=np.int64),
        np.empty(m, dtype=np.int64),
        np.empty(s, dtype=np.int64),
        np.empty(slots, dtype=np.uint64),
        np.empty((slots, tuples.present.shape[1]), dtype=np.uint64),
        np.zeros(slots, dtype=np.int64),
        np.empty(slots, dtype=np.int64),
    )
    offer_nodes(tuples, nodes, demand, workspace, owner)
    return owner


class RecodedGroups(NamedTuple):
    """Groups as linked lists of entries (a tuple and how many of its records are there), with space to grow."""

    row: Ints  # int64[entries]: the tuple
    held: Ints  # int64[entries]: its records here
    following: Ints  # int64[entries]: next entry of the same group; −1 ends the list
    head: Ints  # int64[groups]: first entry; −1 for a group that was given up
    size: Ints  # int64[groups]: records
    level: Ints  # int64[groups, s]: what the group publishes
    loss: Floats  # float64[groups]: loss of one record there
    used: Ints  # int64[2]: entries and groups in use


def _widened_loss(tuples: Tuples, recoded: RecodedGroups, group: int, row: int, limit: float) -> float:
    """Loss per record of the group if it also took the tuple; infinite once it exceeds the limit."""
    anchor, loss = recoded.row[recoded.head[group]], 0.0
    for a in range(tuples.leaf.shape[1]):
        mine, other, level = tuples.leaf[row, a], tuples.leaf[anchor, a], recoded.level[group, a]
        at = tuples.start[a, level]
        while tuples.group[at + mine] != tuples.group[at + other]:
            level += 1
            at = tuples.start[a, level]
        loss += tuples.cell[at + mine]
        if loss > limit:
            return np.inf
    return loss


widened_loss = kernel(_widened_loss)


def _widen(tuples: Tuples, recoded: RecodedGroups, group: int, row: int) -> None:
    """Let what the group publishes cover the tuple too."""
    anchor, loss = recoded.row[recoded.head[group]], 0.0
    for a in range(tuples.leaf.shape[1]):
        mine, other = tuples.leaf[row, a], tuples.leaf[anchor, a]
        while (
            tuples.group[tuples.start[a, recoded.level[group, a]] + mine]
            != tuples.group[tuples.start[a, recoded.level[group, a]] + other]
        ):
            recoded.level[group, a] += 1
        loss += tuples.cell[tuples.start[a, recoded.level[group, a]] + mine]
    recoded.loss[group] = loss


widen = kernel(_widen)


def _tighten(tuples: Tuples, recoded: RecodedGroups, group: int) -> None:
    """Publish the lowest common ancestor of the members, no more."""
    for a in range(recoded.level.shape[1]):
        recoded.level[group, a] = 0
    entry = recoded.head[group]
    while entry >= 0:
        widen(tuples, recoded, group, recoded.row[entry])
        entry = recoded.following[entry]


tighten = kernel(_tighten)


def _fill_groups(tuples: Tuples, owner: Ints, recoded: RecodedGroups) -> None:
    """Fill empty groups with grouped tuples as `make_recoding_groups` says; their numbers are already in use."""
    for row in range(owner.shape[0]):
        recoded.row[row], recoded.held[row] = row, tuples.records[row]
        group = owner[row]
        if group >= 0:
            recoded.following[row] = recoded.head[group]
            recoded.head[group] = row
            recoded.size[group] += tuples.records[row]
    for group in range(recoded.used[1]):
        tighten(tuples, recoded, group)


fill_groups = kernel(_fill_groups)


def make_recoding_groups(tuples: Tuples, owner: Ints) -> RecodedGroups:
    """Groups of tuples for the kernels of local recoding (owner −1: in none yet), with space for as many again."""
    m, s = tuples.leaf.shape
    groups, capacity = int(owner.max(initial=-1)) + 1, 4 * m + 16
    recoded = RecodedGroups(
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
        np.full(capacity, -1, dtype=np.int64),
        np.full(m + groups + 1, -1, dtype=np.int64),
        np.zeros(m + groups + 1, dtype=np.int64),
        np.zeros((m + groups + 1, s), dtype=np.int64),
        np.zeros(m + groups + 1),
        np.array([m, groups], dtype=np.int64),
    )
    fill_groups(tuples, owner, recoded)
    return recoded


def _find_best_group(
    tuples: Tuples, recoded: RecodedGroups, entry: int, own: int, k: int, lending: bool, limit: float
) -> tuple[float, int, bool]:
    """The cheapest other place for an entry: (added loss, group, whether that group only lends records).

    Joining widens the group for all its members. Where the group can spare them, it lends just the records
    the entry lacks to be k, and they make a group of their own. Added loss `limit` or more: group −1.
    """
    row, count = recoded.row[entry], recoded.held[entry]
    best, found, lends = limit, -1, False
    lack = max(k - count, 0)
    for group in range(recoded.used[1]):
        size = recoded.size[group]
        if group == own or size == 0:
            continue
        lend = lending and size - lack >= k
        moved = lack if lend else size
        back = moved * recoded.loss[group]
        loss = widened_loss(tuples, recoded, group, row, (best + back) / (count + moved))
        added = (count + moved) * loss - back
        if added < best:
            best, found, lends = added, group, lend
    return best, found, lends


find_best_group = kernel(_find_best_group)


def _attach(tuples: Tuples, recoded: RecodedGroups, entry: int, group: int) -> None:
    """Add an entry to a group."""
    recoded.following[entry] = recoded.head[group]
    recoded.head[group] = entry
    recoded.size[group] += recoded.held[entry]
    widen(tuples, recoded, group, recoded.row[entry if recoded.following[entry] < 0 else recoded.following[entry]])


attach = kernel(_attach)


def _detach(recoded: RecodedGroups, entry: int, before: int, group: int) -> None:
    """Take an entry out of its group; `before` is the one that points to it, −1 at the head of the list."""
    if before < 0:
        recoded.head[group] = recoded.following[entry]
    else:
        recoded.following[before] = recoded.following[entry]
    recoded.size[group] -= recoded.held[entry]


detach = kernel(_detach)


def _lend(tuples: Tuples, recoded: RecodedGroups, group: int, to: int, wanted: int) -> None:
    """Move records of the nearest members of a group to another group."""
    while wanted > 0:
        entry, before, chosen, chosen_before, nearest = recoded.head[group], -1, -1, -1, np.inf
        while entry >= 0:
            loss = widened_loss(tuples, recoded, to, recoded.row[entry], nearest)
            if chosen < 0 or loss < nearest:
                chosen, chosen_before, nearest = entry, before, loss
            before, entry = entry, recoded.following[entry]
        if recoded.held[chosen] <= wanted:
            detach(recoded, chosen, chosen_before, group)
            moving = chosen
        else:
            moving = recoded.used[0]
            recoded.used[0] += 1
            recoded.row[moving], recoded.held[moving] = recoded.row[chosen], wanted
            recoded.held[chosen] -= wanted
            recoded.size[group] -= wanted
        wanted -= recoded.held[moving]
        attach(tuples, recoded, moving, to)


lend = kernel(_lend)


def _move_entry(tuples: Tuples, recoded: RecodedGroups, entry: int, target: tuple[float, int, bool], k: int) -> None:
    """Bring a loose entry to the place that was found for it."""
    _, group, lends = target
    if not lends:
        attach(tuples, recoded, entry, group)
        return
    new = recoded.used[1]
    recoded.used[1] += 1
    attach(tuples, recoded, entry, new)
    lend(tuples, recoded, group, new, k - recoded.held[entry])


move_entry = kernel(_move_entry)


def _relocate_group(tuples: Tuples, recoded: RecodedGroups, group: int, k: int, lending: bool) -> bool:
    """Give a group up if its members are cheaper elsewhere; else let go of those it can spare."""
    bill = recoded.size[group] * recoded.loss[group]
    elsewhere, entry = 0.0, recoded.head[group]
    while entry >= 0 and elsewhere < bill:
        elsewhere += find_best_group(tuples, recoded, entry, group, k, lending, bill - elsewhere)[0]
        entry = recoded.following[entry]
    giving_up = elsewhere < bill
    changed, before, entry = False, -1, recoded.head[group]
    while entry >= 0:
        following, count = recoded.following[entry], recoded.held[entry]
        target = (0.0, -1, False)
        if giving_up or recoded.size[group] - count >= k:
            limit = np.inf if giving_up else count * recoded.loss[group]
            target = find_best_group(tuples, recoded, entry, group, k, lending, limit)
        if target[1] < 0:
            before, entry = entry, following
            continue
        detach(recoded, entry, before, group)
        move_entry(tuples, recoded, entry, target, k)
        changed, entry = True, following
    if changed and recoded.size[group] > 0:
        tighten(tuples, recoded, group)
    return changed


relocate_group = kernel(_relocate_group)


def _relocate_groups(order: Ints, tuples: Tuples, recoded: RecodedGroups, k: int, lending: bool, effort: int) -> int:
    """One pass over the groups in the given order; → comparisons left of `effort`, 0 once nothing changes any more."""
    changed = False
    for rank in range(order.shape[0]):
        group = order[rank]
        if recoded.size[group] == 0 or recoded.loss[group] == 0.0:
            continue
        members, entry = 0, recoded.head[group]
        while entry >= 0:
            members += 1
            entry = recoded.following[entry]
        effort -= members * recoded.used[1]
        fits = recoded.used[0] + members < len(recoded.row) and recoded.used[1] + members < len(recoded.size)
        if effort <= 0 or not fits:
            break
        if relocate_group(tuples, recoded, group, k, lending):
            changed = True
    for group in range(recoded.used[1]):
        if recoded.size[group] > 0:
            tighten(tuples, recoded, group)
    return max(effort, 0) if changed else 0


relocate_groups = kernel(_relocate_groups)


def _assign_leftovers(tuples: Tuples, recoded: RecodedGroups, owner: Ints, k: int, lending: bool) -> None:
    """Bring every tuple that froze nowhere to its cheapest group."""
    for row in range(len(owner)):
        if owner[row] < 0:
            target = find_best_group(tuples, recoded, row, -1, k, lending, np.inf)
            move_entry(tuples, recoded, row, target, k)


assign_leftovers = kernel(_assign_leftovers)

# -- Local recoding under demands on what every class holds: where records freeze, merge and move.
#
# A class is a linked list of tuples, a tuple a stretch of records. Only whole tuples move. A class that meets the
# demands may miss them after it took a tuple, so every merge and move is asked first.

ASKED = 40
"""Merges whose contents are looked at for one class, the cheapest first."""


class ContentClasses(NamedTuple):
    """Classes of tuples that can be changed in place; a class is known by a number below the number of tuples."""

    row: Ints  # int64[n]: records, those of a tuple side by side
    begin: Ints  # int64[m + 1]: where the records of each tuple begin
    head: Ints  # int64[m]: first tuple of each class; −1: no such class
    after: Ints  # int64[m]: next tuple of the same class; −1 ends the list
    size: Ints  # int64[m]: records of each class
    level: Ints  # int64[m, s]: what each class publishes
    loss: Floats  # float64[m]: loss of one record there
    short: Floats  # float64[m]: how far each class falls short
    members: Ints  # int64[n]: buffer for the records of one class


def _gather_members(classes: ContentClasses, group: int, without: int, count: int) -> int:
    """Write the records of a class after the first `count` members, but for one tuple; → how many there are then."""
    tuple_ = classes.head[group]
    while tuple_ >= 0:
        if tuple_ != without:
            for at in range(classes.begin[tuple_], classes.begin[tuple_ + 1]):
                classes.members[count] = classes.row[at]
                count += 1
        tuple_ = classes.after[tuple_]
    return count


gather_members = kernel(_gather_members)


def _freeze_contents(
    tuples: Tuples,
    nodes: Int16s,
    classes: ContentClasses,
    least: int,
    demands: ContentDemands,
    workspace: ContentRoom,
    owner: Ints,
) -> None:
    """Group every tuple at the first node that lets its class meet the demands.

    `nodes` int16[n, s]: level vectors in the order they are offered; `owner` int64[m].
    """
    m, s = tuples.leaf.shape
    capacity = slots_for(m)
    keys = np.empty(capacity, dtype=np.uint64)
    held, first = np.zeros(capacity, dtype=np.int64), np.empty(capacity, dtype=np.int64)
    alive, link, slots = np.arange(m), np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
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
                keys[slot], first[slot], slots[used] = key, -1, slot
                used += 1
            held[slot] += tuples.records[row]
            link[row], first[slot] = first[slot], row
            largest = max(largest, int(held[slot]))
        if largest < least:
            continue
        frozen = False
        for number in range(used):
            slot = slots[number]
            if held[slot] < least:
                continue
            records, row = 0, first[slot]
            while row >= 0:
                for at in range(classes.begin[row], classes.begin[row + 1]):
                    classes.members[records] = classes.row[at]
                    records += 1
                row = link[row]
            if group_shortfall(demands, workspace, classes.members, records) > 0.0:
                continue
            row, frozen = first[slot], True
            while row >= 0:
                owner[row] = groups
                row = link[row]
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


def _load_classes(
    tuples: Tuples, classes: ContentClasses, owner: Ints, demands: ContentDemands, workspace: ContentRoom
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
        count = gather_members(classes, group, -1, 0)
        classes.short[group] = group_shortfall(demands, workspace, classes.members, count)


load_classes = kernel(_load_classes)


def _merge_failing(
    tuples: Tuples, classes: ContentClasses, demands: ContentDemands, workspace: ContentRoom, cost: Floats
) -> None:
    """Merge every class that falls short with the cheapest class such that both pass together.

    Where none of those asked passes, with the one that leaves the least shortfall: it falls with every merge, for the
    whole file is the class that differs least from itself.

    `cost` float64[m].
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
            count = gather_members(classes, near, -1, gather_members(classes, group, -1, 0))
            short = group_shortfall(demands, workspace, classes.members, count)
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
    tuples: Tuples, classes: ContentClasses, demands: ContentDemands, workspace: ContentRoom, effort: int
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
                left = gather_members(classes, group, row, 0)
                fits = group_shortfall(demands, workspace, classes.members, left) == 0.0
                if fits:
                    for at in range(classes.begin[row], classes.begin[row + 1]):
                        classes.members[at - classes.begin[row]] = classes.row[at]
                    total = gather_members(classes, best, -1, count)
                    fits = group_shortfall(demands, workspace, classes.members, total) == 0.0
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
