"""Equivalence classes: sizes, the strictest k and l that suppression allows, and what a class must hold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.annealing import draw
from crypsis.kernels.arrays import Flags, Floats, Int32s, Ints, Words
from crypsis.kernels.compile import kernel

# -- Equivalence classes: the strictest k and l that suppression allows, and how many values a class holds.

_DIRECT = 1024


def _attainable_size(sizes: Ints, allowance: int) -> int:
    """The largest k such that no more than `allowance` records stand in classes smaller than k.

    The largest class always survives. Sizes below `_DIRECT` are tallied, a larger answer is found by bisection; size 0
    is no class.
    """
    tally, largest, whole = np.empty(_DIRECT, dtype=np.int64), 0, 0
    for size in range(_DIRECT):
        tally[size] = 0
    for place in range(sizes.shape[0]):
        size = sizes[place]
        tally[min(size, _DIRECT - 1)] += size
        largest = max(largest, size)
        whole += size
    if whole <= allowance:
        return largest
    spent = 0
    for size in range(1, _DIRECT - 1):
        spent += tally[size]
        if spent > allowance:
            return size
    low, high = _DIRECT - 1, largest
    while low < high:
        middle, spent = (low + high) // 2, 0
        for place in range(sizes.shape[0]):
            spent += sizes[place] if sizes[place] <= middle else 0
        if spent > allowance:
            high = middle
        else:
            low = middle + 1
    return low


attainable_size = kernel(_attainable_size)


def _attainable_diversity(sizes: Ints, distinct: Ints, k: int, allowance: int) -> int:
    """The largest l within `allowance`, records in classes smaller than k being already suppressed."""
    spent, highest = 0, 0
    for place in range(sizes.shape[0]):
        if sizes[place] >= k:
            highest = max(highest, distinct[place])
    tally = np.empty(highest + 1, dtype=np.int64)
    for diversity in range(highest + 1):
        tally[diversity] = 0
    for place in range(sizes.shape[0]):
        if sizes[place] < k:
            spent += sizes[place]
        else:
            tally[distinct[place]] += sizes[place]
    for diversity in range(highest):
        spent += tally[diversity]
        if spent > allowance:
            return diversity
    return highest


attainable_diversity = kernel(_attainable_diversity)


def _bits(word: np.uint64) -> np.uint64:
    """How many bits are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


bits = kernel(_bits)

# -- A hash table of 64-bit keys in open addressing: which slot holds a key.

_STIR = np.uint64(0x9E3779B97F4A7C15)
_ONE, _ALL = np.uint64(1), np.uint64(2**64 - 1)


def _slots_for(count: int) -> int:
    """How many slots so many keys need: a power of two, at least twice as many."""
    size = 16
    while size < 2 * count:
        size *= 2
    return size


slots_for = kernel(_slots_for)


def _clear_slots(held: Ints, count: int) -> np.uint64:
    """Empty the slots that so many keys need; → the shift that brings a stirred key among them."""
    size, shift = slots_for(count), np.uint64(64)
    for slot in range(size):
        held[slot] = 0
    while size > 1:
        size //= 2
        shift -= _ONE
    return shift


clear_slots = kernel(_clear_slots)


def _find_slot(key: np.uint64, keys: Words, held: Ints, shift: np.uint64) -> int:
    """The slot that holds a key, or the empty one where it belongs."""
    slot, last = np.int64((key * _STIR) >> shift), np.int64(_ALL >> shift)
    while held[slot] and keys[slot] != key:
        slot = (slot + 1) & last
    return int(slot)


find_slot = kernel(_find_slot)

# -- Classes by one column more, and classes whose records hold one value.


def _refine_classes(of: Int32s, classes: int, code: Int32s, codes: int, keys: Words, held: Ints, finer: Int32s) -> int:
    """finer int32[n] ← the class of each row by its class so far and one code more, as they occur; → how many.

    `classes`: classes so far; `code` int32[n]: from 0 up to below `codes`; `keys` uint64[slots], `held` int64[slots]:
    room for a hash table of n rows, which is not needed where there is room for every pair of a class and a code.
    """
    n, count = of.shape[0], 0
    if classes * codes <= held.shape[0]:
        for slot in range(classes * codes):
            held[slot] = 0
        for row in range(n):
            slot = of[row] * codes + code[row]
            if held[slot] == 0:
                count += 1
                held[slot] = count
            finer[row] = held[slot] - 1
        return count
    shift = clear_slots(held, n)
    for row in range(n):
        key = (np.uint64(of[row]) << np.uint64(32)) | np.uint64(code[row])
        slot = find_slot(key, keys, held, shift)
        if held[slot] == 0:
            count += 1
            keys[slot], held[slot] = key, count
        finer[row] = held[slot] - 1
    return count


refine_classes = kernel(_refine_classes)


def _find_alone(of: Int32s, records: Ints, asked: Ints, shown: Flags, held: Ints, alone: Flags) -> None:
    """alone bool[m] ← whether a row asked about, if it shows its values, stands for the only record of its class.

    `of` int32[n]; `records` int64[n]: for how many records a row stands; `asked` int64[m]; `held` int64[≥ classes].
    """
    for row in range(of.shape[0]):
        held[of[row]] = 0
    for row in range(of.shape[0]):
        held[of[row]] += records[row]
    for place in range(asked.shape[0]):
        alone[place] = shown[place] and held[of[asked[place]]] == 1


find_alone = kernel(_find_alone)


class ClassMembers(NamedTuple):
    """The rows of some classes, class after class."""

    rows: Int32s
    starts: Ints  # int64[classes + 1]: where those of each class begin


def _list_members(of: Ints, place: Ints, ends: Ints, rows: Int32s) -> None:
    """rows int32[…] ← the rows of each class in turn, ascending.

    `place` int64[all classes]: which of the wanted classes one is, −1 for one that is not; `ends` int64[classes]: where
    the rows of each begin, and afterwards where they end.
    """
    for row in range(of.shape[0]):
        wanted = place[of[row]]
        if wanted >= 0:
            rows[ends[wanted]] = row
            ends[wanted] += 1


list_members_into = kernel(_list_members)


def list_class_members(of: Ints, sizes: Ints, wanted: Flags) -> ClassMembers:
    """The rows of some equivalence classes, by counting; `sizes` int64[classes], `wanted` bool[classes]."""
    starts = np.concatenate([[0], np.cumsum(sizes[wanted])]).astype(np.int64)
    rows = np.empty(starts[-1], dtype=np.int32)
    list_members_into(of, np.where(wanted, np.cumsum(wanted) - 1, -1), starts[:-1].copy(), rows)
    return ClassMembers(rows, starts)


def _agree_in_classes(members: ClassMembers, values: Int32s, counted: Flags, fewest: int) -> int:
    """How many counted rows stand in a class with so many known values or more, all of which are one value.

    `values` int32[n]: −1 where missing; `fewest`: at least 1.
    """
    agreeing = 0
    for group in range(members.starts.shape[0] - 1):
        one, known, hits = -1, 0, 0
        for place in range(members.starts[group], members.starts[group + 1]):
            row = members.rows[place]
            value = values[row]
            if value != -1:
                if one == -1:
                    one = value
                elif one != value:  # most classes differ within a few rows
                    known = 0
                    break
                known += 1
            hits += counted[row]
        agreeing += hits if known >= fewest else 0
    return agreeing


agree_in_classes = kernel(_agree_in_classes)

# -- What the candidates that several releases leave for a person have in common.


class CandidateSets(NamedTuple):
    """The candidates of each person in each of several releases, as classes of records."""

    keys: Ints  # int64[…]: the key of every record, release after release, those of a class together
    starts: Ints  # int64[classes + 1]: where the records of each class begin
    classes: Ints  # int64[…]: the classes of the candidates of each person, release after release
    begins: Ints  # int64[releases, people + 1]: where those of a person begin


def _cross_candidates(
    sets: CandidateSets, own: Ints, values: Ints, k: int, held: Ints, few: Flags, fixed: Flags
) -> None:
    """Cross the candidates of each person: few bool[m] ← whether fewer than k are left though every release alone
    leaves at least k; fixed bool[m, c] ← whether a value is certain from all releases and from none alone.

    A key is left as often as the release with the fewest such candidates holds it; nothing is disclosed where the key
    of the person is not left. `own` int64[m]: keys of the people; `values` int64[c, keys]: the value under each key;
    `held` int64[2, keys]: room, all zero before and after.
    """
    left, now = held[0], held[1]
    for person in range(own.shape[0]):
        enough = True
        for column in range(values.shape[0]):
            fixed[person, column] = True
        for release in range(sets.begins.shape[0]):
            size, first = 0, -1
            for at in range(sets.begins[release, person], sets.begins[release, person + 1]):
                for place in range(sets.starts[sets.classes[at]], sets.starts[sets.classes[at] + 1]):
                    now[sets.keys[place]] += 1
                    first = sets.keys[place] if first < 0 else first
                    size += 1
            enough = enough and size >= k
            for column in range(values.shape[0]):
                alone = fixed[person, column]
                for at in range(sets.begins[release, person], sets.begins[release, person + 1]):
                    for place in range(sets.starts[sets.classes[at]], sets.starts[sets.classes[at] + 1]):
                        alone = alone and values[column, sets.keys[place]] == values[column, first]
                fixed[person, column] = fixed[person, column] and not alone
            # The first release names the keys that may be left; each further one lowers how often they are.
            for at in range(sets.begins[0, person], sets.begins[0, person + 1]):
                for place in range(sets.starts[sets.classes[at]], sets.starts[sets.classes[at] + 1]):
                    key = sets.keys[place]
                    left[key] = now[key] if release == 0 or now[key] < left[key] else left[key]
            for at in range(sets.begins[release, person], sets.begins[release, person + 1]):
                for place in range(sets.starts[sets.classes[at]], sets.starts[sets.classes[at] + 1]):
                    now[sets.keys[place]] = 0
        there, total = left[own[person]] > 0, 0
        for at in range(sets.begins[0, person], sets.begins[0, person + 1]):
            for place in range(sets.starts[sets.classes[at]], sets.starts[sets.classes[at] + 1]):
                key = sets.keys[place]
                if left[key] > 0:
                    total += left[key]
                    for column in range(values.shape[0]):
                        if values[column, key] != values[column, own[person]]:
                            fixed[person, column] = False
                    left[key] = 0
        few[person] = there and enough and total < k
        for column in range(values.shape[0]):
            fixed[person, column] = fixed[person, column] and there


cross_candidates = kernel(_cross_candidates)

# -- What a class holds against what it must hold: sizes, confidential values and their spread.
#
# A class is a list of records. Its confidential values are counted into a buffer that is empty again afterwards, so
# that a class of s records costs O(s), however many values the column has; sorting what it holds adds O(m log m) for m
# values.

SIZE, DISTINCT, ENTROPY, RECURSIVE, EQUAL, ORDERED, HIERARCHICAL, ALPHA, BETA, PRESENCE = range(10)
"""Kinds of demands."""
_TOLERANCE = 1e-9


class ContentDemands(NamedTuple):
    """What every class must hold, over the values of c columns that are numbered in one sequence."""

    code: Int32s  # int32[c, n]: value of each record, in its own column's stretch; −1: missing
    column: Ints  # int64[d]: row of `code` that a demand reads
    kind: Ints  # int64[d]: SIZE, …
    bound: Floats  # float64[d, 3]: the threshold, then what the kind needs besides
    first: Ints  # int64[c + 1]: where the values of each column begin
    # float64[3, values]: share of each value among all records that have one; cumulated in the order of the values of
    # a column; and the sums of those
    overall: Floats
    up: Int32s  # int32[levels, values]: group of each value, then of each group, one level higher; in the same stretch
    mass: Floats  # float64[levels + 1, values]: share of each value, then of each group at every level
    height: Ints  # int64[c]: levels of the hierarchy of each column


class ContentRoom(NamedTuple):
    """Buffers of one caller, all zero between two calls but for the lists."""

    times: Ints  # int64[values]: how often each value occurs
    held: Ints  # int64[3, values]: which values occur; groups of two levels of a hierarchy
    share: Floats  # float64[4, values]: share, surplus, deficit and mass seen of each group


def make_class_content_room(demands: ContentDemands) -> ContentRoom:
    """Kernel: empty buffers for the kernels that count what an equivalence class holds."""
    values = max(demands.overall.shape[1], 1)
    return ContentRoom(np.zeros(values, np.int64), np.zeros((3, values), np.int64), np.zeros((4, values)))


def _sort_held(held: Ints, m: int, by: NDArray[Any], falling: bool) -> None:
    """Sort the first m values by their number, or by how often they occur, the most frequent first."""
    gap = 1
    while gap < m // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, m):
            moving = held[i]
            j = i
            while j >= gap and (by[held[j - gap]] < by[moving] if falling else held[j - gap] > moving):
                held[j] = held[j - gap]
                j -= gap
            held[j] = moving
        gap //= 3


sort_held = kernel(_sort_held)


def _ordered_level(demands: ContentDemands, room: ContentRoom, c: int, m: int, total: int) -> float:
    """Σ |P − Q| / (values − 1) over the cumulated shares of a column."""
    first, last = demands.first[c], demands.first[c + 1]
    if last - first < 2:
        return 0.0
    sort_held(room.held[0], m, room.times, False)
    whole, sums, held = demands.overall[1], demands.overall[2], room.held[0]
    gaps = sums[held[0] - 1] if held[0] > first else 0.0  # nothing is cumulated before the first value held
    seen = 0
    for i in range(m):
        seen += room.times[held[i]]
        height, left, right = seen / total, held[i], held[i + 1] if i + 1 < m else last
        low, high = left, right
        while low < high:  # Q never falls, so that it crosses the height once
            middle = (low + high) // 2
            if whole[middle] < height:
                low = middle + 1
            else:
                high = middle
        below = sums[low - 1] if low > first else 0.0
        gaps += height * (low - left) - (below - (sums[left - 1] if left > first else 0.0))
        gaps += (sums[right - 1] - below) - height * (right - low)
    return float(max(gaps, 0.0) / (last - first - 1))


ordered_level = kernel(_ordered_level)


def _hierarchical_level(demands: ContentDemands, room: ContentRoom, c: int, m: int, total: int) -> float:
    """Σ over groups of the hierarchy of their relative height times what their parts exchange."""
    height, here = demands.height[c], 0
    share, surplus, deficit, seen = room.share[0], room.share[1], room.share[2], room.share[3]
    for i in range(m):
        share[room.held[0, i]] = room.times[room.held[0, i]] / total
    cost, count = 0.0, m
    for level in range(height):
        groups, there = 0, 1 if here != 1 else 2
        for i in range(count):
            part = room.held[here, i]
            group, apart = demands.up[level, part], share[part] - demands.mass[level, part]
            if seen[group] == 0.0:
                room.held[there, groups] = group
                groups += 1
            seen[group] += demands.mass[level, part]
            surplus[group] += max(apart, 0.0)
            deficit[group] += max(-apart, 0.0)
        for i in range(count):  # shares of a level are no longer needed once those above are known
            share[room.held[here, i]] = 0.0
        for i in range(groups):
            group = room.held[there, i]
            lacking = demands.mass[level + 1, group] - seen[group] + deficit[group]
            cost += (level + 1) / height * min(surplus[group], lacking)
            share[group] = surplus[group] - deficit[group] + seen[group]
            surplus[group], deficit[group], seen[group] = 0.0, 0.0, 0.0
        here, count = there, groups
    for i in range(count):
        share[room.held[here, i]] = 0.0
    return cost


hierarchical_level = kernel(_hierarchical_level)


def _content_level(demands: ContentDemands, room: ContentRoom, d: int, m: int, total: int, size: int) -> float:
    """The level of a class under a demand that looks at its values."""
    kind, c = demands.kind[d], demands.column[d]
    level, largest = 0.0, 0
    if kind == ALPHA and size < demands.bound[d, 1]:
        return 1.0
    if total == 0:
        return 0.0
    if kind == DISTINCT:
        return float(m)
    if kind == ORDERED:
        return ordered_level(demands, room, c, m, total)
    if kind == HIERARCHICAL:
        return hierarchical_level(demands, room, c, m, total)
    if kind == RECURSIVE:
        sort_held(room.held[0], m, room.times, True)
        largest, tail = room.times[room.held[0, 0]], total
        for i in range(m):
            if largest < demands.bound[d, 1] * tail:
                level += 1.0
            tail -= room.times[room.held[0, i]]
        return level
    here = 0.0
    for i in range(m):
        value = room.held[0, i]
        share, whole = room.times[value] / total, demands.overall[0, value]
        largest = max(largest, room.times[value])
        if kind == ENTROPY:
            level -= share * np.log(share)
        elif kind == EQUAL:
            level += abs(share - whole)
            here += whole
        elif kind == BETA:
            gain = share / whole - 1.0
            if demands.bound[d, 1] > 0.0 and gain > -np.log(whole) + _TOLERANCE:
                gain = np.inf
            level = max(level, gain)
        elif kind == PRESENCE and value == demands.first[c] + 1:
            here = share
    if kind == ENTROPY:
        return float(np.exp(level))
    if kind == EQUAL:
        return (level + max(1.0 - here, 0.0)) / 2.0
    if kind == ALPHA:
        return float(largest / total)
    if kind == PRESENCE:
        return float(max(max(here - demands.bound[d, 2], demands.bound[d, 1] - here), 0.0))
    return level


content_level = kernel(_content_level)


def _group_shortfall(demands: ContentDemands, room: ContentRoom, members: Ints, size: int) -> float:
    """How far a class of records falls short, 0 … 1: the mean over the demands; 0 exactly where it meets them all.

    `members` int64[…].
    """
    short, before, m, total = 0.0, -1, 0, 0
    for d in range(len(demands.kind)):
        kind, c, bound = demands.kind[d], demands.column[d], demands.bound[d, 0]
        if kind != SIZE and c != before:  # demands on one column stand side by side
            for i in range(m):
                room.times[room.held[0, i]] = 0
            m, total, before = 0, 0, c
            for i in range(size):
                value = demands.code[c, members[i]]
                if value >= 0:
                    if room.times[value] == 0:
                        room.held[0, m] = value
                        m += 1
                    room.times[value] += 1
                    total += 1
        level = float(size) if kind == SIZE else content_level(demands, room, d, m, total, size)
        allowed = _TOLERANCE * max(1.0, abs(bound))
        if kind <= RECURSIVE:
            if level < bound - allowed:
                short += (bound - level) / bound
        elif level > bound + allowed:
            excess = level - bound
            short += 1.0 if excess == np.inf else excess / (excess + (bound if bound > 0.0 else 1.0))
    for i in range(m):
        room.times[room.held[0, i]] = 0
    return short / max(len(demands.kind), 1)


group_shortfall = kernel(_group_shortfall)


def _group_shortfalls(demands: ContentDemands, room: ContentRoom, members: Ints, start: Ints, out: Floats) -> None:
    """`group_shortfall` of many classes, the records of class g being members[start[g] : start[g + 1]]."""
    for g in range(len(start) - 1):
        out[g] = group_shortfall(demands, room, members[start[g] : start[g + 1]], start[g + 1] - start[g])


group_shortfalls = kernel(_group_shortfalls)


def _take_cheapest(cost: Floats, n: int) -> int:
    """The first of n with the least finite cost, which is made infinite; −1 if there is none."""
    near = -1
    for g in range(n):
        if cost[g] < np.inf and (near < 0 or cost[g] < cost[near]):
            near = g
    if near >= 0:
        cost[near] = np.inf
    return near


take_cheapest = kernel(_take_cheapest)

# -- A walk over partitions whose groups must hold what models demand: moves, swaps and splits at the price of
#    shortfall.
#
# The walk minimises SSE + price · Σ size · shortfall; with a high price every change that breaks a group is undone or
# paid for soon. Groups are chains of records, of any size.

_11, _UNIT = np.uint64(11), 2.0**-53


class ContentGroups(NamedTuple):
    """A partition that can be changed in place; room for as many groups as there are records.

    members int64[n]: room for the records of a group
    """

    label: Ints  # int64[n]: group of each record
    after: Ints  # int64[n], before int64[n]: neighbours in the chain of the group; −1 at its ends
    before: Ints
    head: Ints  # int64[n]: first record of each group; −1: no such group
    size: Ints  # int64[n]: records of each group
    total: Floats  # float64[n, p]: sum of the points of each group
    short: Floats  # float64[n]: how far each group falls short
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

    `cost` float64[n].
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

    `settings` float64[5]; `near` int64[k].
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
