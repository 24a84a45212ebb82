"""Local recoding: records freeze at the cheapest node where their class is already good enough.

Distinct tuples are offered the nodes of a lattice in order of loss. At every node the tuples not yet frozen are
grouped; a class that meets the demand freezes there and the rest goes on. What a class then publishes is the
lowest common ancestor of its own members, so a key may be a hash: a collision could cost loss, never protection.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Floats, Int16s, Int32s, Ints, Words
from crypsis.kernels.class_contents import ContentDemands, ContentRoom, group_shortfall, take_cheapest
from crypsis.kernels.classes import _slots_for, bits, clear_slots, find_slot, slots_for
from crypsis.kernels.compile import kernel


class Tuples(NamedTuple):
    """Distinct tuples over s attributes and their hierarchies.

    leaf     int32[m, s]: leaves
    records  int64[m]: how many records share the tuple
    present  uint64[m, words]: one bit per confidential value among them
    start    int64[s, levels]: where the leaves of an attribute at a level begin in `group`, `cell` and `mark`
    height   int64[s]: the highest level of each attribute, where all leaves are one group
    group    int32[…]: group of the leaf at the level
    cell     float64[…]: loss of one such cell
    mark     uint64[…]: a random word per group
    """

    leaf: Int32s
    records: Ints
    present: Words
    start: Ints
    height: Ints
    group: Int32s
    cell: Floats
    mark: Words


class ClassDemand(NamedTuple):
    """What every class must hold."""

    k: int
    l: int  # noqa: E741 (the letter of l-diversity)


class FreezingRoom(NamedTuple):
    """Room for the tuples not yet frozen and the classes of one node.

    alive, seat  int64[m]: the tuples, and the slot of each
    base         int64[s]: where the leaves of each attribute begin at the node
    keys         uint64[slots], values uint64[slots, words], held and given int64[slots]: the classes
    """

    alive: Ints
    seat: Ints
    base: Ints
    keys: Words
    values: Words
    held: Ints
    given: Ints


def _offer_nodes(tuples: Tuples, nodes: Int16s, demand: ClassDemand, room: FreezingRoom, owner: Ints) -> None:
    """Fill owner as `freeze` says."""
    m, s = tuples.leaf.shape
    words = tuples.present.shape[1]
    alive, seat, base, keys, values, held, given = room
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
            seat[position] = slot
            largest = max(largest, held[slot])
        if largest < demand.k:
            continue
        left = 0
        for position in range(count):
            row, slot = alive[position], seat[position]
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


def freeze(tuples: Tuples, nodes: Int16s, demand: ClassDemand) -> Ints:
    """Group every tuple at the first node that lets its class meet the demand.

    nodes  int16[n, s]: level vectors in the order they are offered
    →      int64[m]: group 0, 1, … of each tuple; −1 where no node was enough
    """
    m, s = tuples.leaf.shape
    slots, owner = _slots_for(m), np.full(m, -1, dtype=np.int64)
    room = FreezingRoom(
        np.arange(m, dtype=np.int64),
        np.empty(m, dtype=np.int64),
        np.empty(s, dtype=np.int64),
        np.empty(slots, dtype=np.uint64),
        np.empty((slots, tuples.present.shape[1]), dtype=np.uint64),
        np.zeros(slots, dtype=np.int64),
        np.empty(slots, dtype=np.int64),
    )
    offer_nodes(tuples, nodes, demand, room, owner)
    return owner


class Homes(NamedTuple):
    """Groups as chains of entries (a tuple and how many of its records live there), with room to grow.

    row        int64[entries]: the tuple
    held       int64[entries]: its records here
    following  int64[entries]: next entry of the same group; −1 ends the chain
    head       int64[groups]: first entry; −1 for a group that was given up
    size       int64[groups]: records
    level      int64[groups, s]: what the group publishes
    loss       float64[groups]: loss of one record there
    used       int64[2]: entries and groups in use
    """

    row: Ints
    held: Ints
    following: Ints
    head: Ints
    size: Ints
    level: Ints
    loss: Floats
    used: Ints


def _widened(tuples: Tuples, homes: Homes, group: int, row: int, limit: float) -> float:
    """Loss per record of the group if it also took the tuple; infinite once it exceeds the limit."""
    anchor, loss = homes.row[homes.head[group]], 0.0
    for a in range(tuples.leaf.shape[1]):
        mine, other, level = tuples.leaf[row, a], tuples.leaf[anchor, a], homes.level[group, a]
        at = tuples.start[a, level]
        while tuples.group[at + mine] != tuples.group[at + other]:
            level += 1
            at = tuples.start[a, level]
        loss += tuples.cell[at + mine]
        if loss > limit:
            return np.inf
    return loss


widened = kernel(_widened)


def _widen(tuples: Tuples, homes: Homes, group: int, row: int) -> None:
    """Let what the group publishes cover the tuple too."""
    anchor, loss = homes.row[homes.head[group]], 0.0
    for a in range(tuples.leaf.shape[1]):
        mine, other = tuples.leaf[row, a], tuples.leaf[anchor, a]
        while (
            tuples.group[tuples.start[a, homes.level[group, a]] + mine]
            != tuples.group[tuples.start[a, homes.level[group, a]] + other]
        ):
            homes.level[group, a] += 1
        loss += tuples.cell[tuples.start[a, homes.level[group, a]] + mine]
    homes.loss[group] = loss


widen = kernel(_widen)


def _tighten(tuples: Tuples, homes: Homes, group: int) -> None:
    """Publish the lowest common ancestor of the members, no more."""
    for a in range(homes.level.shape[1]):
        homes.level[group, a] = 0
    entry = homes.head[group]
    while entry >= 0:
        widen(tuples, homes, group, homes.row[entry])
        entry = homes.following[entry]


tighten = kernel(_tighten)


def _move_in(tuples: Tuples, owner: Ints, homes: Homes) -> None:
    """Fill empty homes with grouped tuples as `settle` says; their numbers are already in use."""
    for row in range(owner.shape[0]):
        homes.row[row], homes.held[row] = row, tuples.records[row]
        group = owner[row]
        if group >= 0:
            homes.following[row] = homes.head[group]
            homes.head[group] = row
            homes.size[group] += tuples.records[row]
    for group in range(homes.used[1]):
        tighten(tuples, homes, group)


move_in = kernel(_move_in)


def settle(tuples: Tuples, owner: Ints) -> Homes:
    """Homes of grouped tuples (owner −1: not yet), with room for as many entries and groups again."""
    m, s = tuples.leaf.shape
    groups, room = int(owner.max(initial=-1)) + 1, 4 * m + 16
    homes = Homes(
        np.zeros(room, dtype=np.int64),
        np.zeros(room, dtype=np.int64),
        np.full(room, -1, dtype=np.int64),
        np.full(m + groups + 1, -1, dtype=np.int64),
        np.zeros(m + groups + 1, dtype=np.int64),
        np.zeros((m + groups + 1, s), dtype=np.int64),
        np.zeros(m + groups + 1),
        np.array([m, groups], dtype=np.int64),
    )
    move_in(tuples, owner, homes)
    return homes


def _best_home(
    tuples: Tuples, homes: Homes, entry: int, own: int, k: int, lending: bool, limit: float
) -> tuple[float, int, bool]:
    """The cheapest other place for an entry: (added loss, group, whether that group only lends records).

    Joining widens the group for all its members. Where the group can spare them, it lends just the records
    the entry lacks to be k, and they make a group of their own. Added loss `limit` or more: group −1.
    """
    row, count = homes.row[entry], homes.held[entry]
    best, found, lends = limit, -1, False
    lack = max(k - count, 0)
    for group in range(homes.used[1]):
        size = homes.size[group]
        if group == own or size == 0:
            continue
        lend = lending and size - lack >= k
        moved = lack if lend else size
        back = moved * homes.loss[group]
        loss = widened(tuples, homes, group, row, (best + back) / (count + moved))
        added = (count + moved) * loss - back
        if added < best:
            best, found, lends = added, group, lend
    return best, found, lends


best_home = kernel(_best_home)


def _attach(tuples: Tuples, homes: Homes, entry: int, group: int) -> None:
    """Add an entry to a group."""
    homes.following[entry] = homes.head[group]
    homes.head[group] = entry
    homes.size[group] += homes.held[entry]
    widen(tuples, homes, group, homes.row[entry if homes.following[entry] < 0 else homes.following[entry]])


attach = kernel(_attach)


def _detach(homes: Homes, entry: int, before: int, group: int) -> None:
    """Take an entry out of its group; `before` is the one that points to it, −1 at the head of the chain."""
    if before < 0:
        homes.head[group] = homes.following[entry]
    else:
        homes.following[before] = homes.following[entry]
    homes.size[group] -= homes.held[entry]


detach = kernel(_detach)


def _lend(tuples: Tuples, homes: Homes, group: int, to: int, wanted: int) -> None:
    """Move records of the nearest members of a group to another group."""
    while wanted > 0:
        entry, before, chosen, chosen_before, nearest = homes.head[group], -1, -1, -1, np.inf
        while entry >= 0:
            loss = widened(tuples, homes, to, homes.row[entry], nearest)
            if chosen < 0 or loss < nearest:
                chosen, chosen_before, nearest = entry, before, loss
            before, entry = entry, homes.following[entry]
        if homes.held[chosen] <= wanted:
            detach(homes, chosen, chosen_before, group)
            moving = chosen
        else:
            moving = homes.used[0]
            homes.used[0] += 1
            homes.row[moving], homes.held[moving] = homes.row[chosen], wanted
            homes.held[chosen] -= wanted
            homes.size[group] -= wanted
        wanted -= homes.held[moving]
        attach(tuples, homes, moving, to)


lend = kernel(_lend)


def _move(tuples: Tuples, homes: Homes, entry: int, home: tuple[float, int, bool], k: int) -> None:
    """Bring a loose entry to the place that was found for it."""
    _, group, lends = home
    if not lends:
        attach(tuples, homes, entry, group)
        return
    new = homes.used[1]
    homes.used[1] += 1
    attach(tuples, homes, entry, new)
    lend(tuples, homes, group, new, k - homes.held[entry])


move = kernel(_move)


def _rehome_group(tuples: Tuples, homes: Homes, group: int, k: int, lending: bool) -> bool:
    """Give a group up if its members are cheaper elsewhere; else let go of those it can spare."""
    bill = homes.size[group] * homes.loss[group]
    elsewhere, entry = 0.0, homes.head[group]
    while entry >= 0 and elsewhere < bill:
        elsewhere += best_home(tuples, homes, entry, group, k, lending, bill - elsewhere)[0]
        entry = homes.following[entry]
    giving_up = elsewhere < bill
    changed, before, entry = False, -1, homes.head[group]
    while entry >= 0:
        following, count = homes.following[entry], homes.held[entry]
        home = (0.0, -1, False)
        if giving_up or homes.size[group] - count >= k:
            limit = np.inf if giving_up else count * homes.loss[group]
            home = best_home(tuples, homes, entry, group, k, lending, limit)
        if home[1] < 0:
            before, entry = entry, following
            continue
        detach(homes, entry, before, group)
        move(tuples, homes, entry, home, k)
        changed, entry = True, following
    if changed and homes.size[group] > 0:
        tighten(tuples, homes, group)
    return changed


rehome_group = kernel(_rehome_group)


def _rehome_in(order: Ints, tuples: Tuples, homes: Homes, k: int, lending: bool, effort: int) -> int:
    """One pass over the groups in the given order; → comparisons left of `effort`, 0 once nothing changes any more."""
    changed = False
    for rank in range(order.shape[0]):
        group = order[rank]
        if homes.size[group] == 0 or homes.loss[group] == 0.0:
            continue
        members, entry = 0, homes.head[group]
        while entry >= 0:
            members += 1
            entry = homes.following[entry]
        effort -= members * homes.used[1]
        room = homes.used[0] + members < len(homes.row) and homes.used[1] + members < len(homes.size)
        if effort <= 0 or not room:
            break
        if rehome_group(tuples, homes, group, k, lending):
            changed = True
    for group in range(homes.used[1]):
        if homes.size[group] > 0:
            tighten(tuples, homes, group)
    return max(effort, 0) if changed else 0


rehome_in = kernel(_rehome_in)


def _house_leftovers(tuples: Tuples, homes: Homes, owner: Ints, k: int, lending: bool) -> None:
    """Bring every tuple that froze nowhere to its cheapest home."""
    for row in range(len(owner)):
        if owner[row] < 0:
            home = best_home(tuples, homes, row, -1, k, lending, np.inf)
            move(tuples, homes, row, home, k)


house_leftovers = kernel(_house_leftovers)

# -- Local recoding under demands on what every class holds: where records freeze, merge and move.
#
# A class is a chain of tuples, a tuple a stretch of records. Only whole tuples move. A class that meets the demands may
# miss them after it took a tuple, so every merge and move is asked first.

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
