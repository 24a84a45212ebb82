"""Nearest-record links, exactly and with ties, without a matrix of all pairs.

The squared distance of a record to a published one is the squared distance of their points plus one for every
code that differs. Published records are told apart by their codes first; each group of equal codes holds a
tree of boxes over its points. A coordinate may count only beside a code: the rank of a category that is published as
it is, where other records publish a group of it. An intruder's link to the right record is spoilt by a single nearer
one, so a search from the right record's distance ends at the first that is nearer, and has all ties when none is.
CodeGroups whose codes all match are found by bisection; the others are ranked only for a record that must look beyond
them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.arrays import Codes, Flags, Floats, Int32s, Ints
from crypsis.kernels.compile import kernel
from crypsis.kernels.quickselect import select_between

BUCKET = 64
"""Points in a leaf. Measured: small leaves are no faster in few dimensions and half as fast in twenty, where
this keeps pace with blocked matrix products and stays exact."""
SLACK = 1e-12


class CodeGroups(NamedTuple):
    """The distinct codes of published records, sorted by places, then by codes, the last column first in rank."""

    codes: Int32s  # int32[groups, c]
    places: Int32s  # int32[groups, c]: which of a record's ancestors each code is held against
    starts: Ints  # int64[patterns + 1]: where the groups of each distinct row of places begin; the last entry is groups


class Known(NamedTuple):
    """The records an intruder holds."""

    points: Floats  # float64[n, q]
    ancestors: Int32s  # int32[n, w]: the codes a published code is held against
    order: Ints  # int64[n]: rows so that equal ancestors follow each other
    # int32[q, 2]: the column of codes beside which a coordinate counts and the place that code must have; it counts 0
    # beside any other place and beside a missing code; −1: it always counts
    lines: Int32s


class Forest(NamedTuple):
    """Distinct published records, one tree for each group of equal codes."""

    points: Floats  # float64[m, q], in the order of the leaves
    weight: Ints  # int64[m]: how many published records are this one
    first: Ints  # int64[m]: the lowest row among them
    low: Floats  # float64[nodes, q]: the box of a node
    high: Floats
    span: Ints  # int64[nodes, 3]: first point, end, and left child (the right one follows it; −1 for a leaf)
    root: Ints  # int64[groups]: the node each group starts at


def _split(
    points: Floats, starts: Ints, bucket: int, order: Ints, low: Floats, high: Floats, span: Ints, root: Ints
) -> int:
    """Fill order, low, high, span and root of a `Forest` as `grow_linkage_forest` says; → nodes used."""
    q, used, side = points.shape[1], 0, np.empty(points.shape[0])
    for group in range(root.shape[0]):
        root[group] = used
        span[used, 0], span[used, 1] = starts[group], starts[group + 1]
        done = used
        used += 1
        while done < used:
            begin, end = span[done, 0], span[done, 1]
            widest, width = -1, 0.0
            for j in range(q):
                least, most = np.inf, -np.inf
                for i in range(begin, end):
                    least = min(least, points[order[i], j])
                    most = max(most, points[order[i], j])
                low[done, j], high[done, j] = least, most
                if most - least > width:
                    widest, width = j, most - least
            span[done, 2] = -1
            if end - begin > bucket and widest >= 0:
                for i in range(begin, end):
                    side[i] = points[order[i], widest]
                middle = (begin + end) // 2
                select_between(side, order, begin, end, middle)
                span[done, 2] = used
                span[used, 0], span[used, 1] = begin, middle
                span[used + 1, 0], span[used + 1, 1] = middle, end
                used += 2
            done += 1
    return used


split = kernel(_split)


def grow_linkage_forest(points: Floats, starts: Ints, bucket: int) -> tuple[NDArray[Any], ...]:
    """Trees for nearest-record links: each group of points is split at its widest side until `bucket` are left.

    →       order int64[m] of the points, low, high, span, root as in `Forest`

    O(m log m) time, O(m q) memory.

    `points` float64[m, q]; `starts` int64[groups + 1].
    """
    m, q = points.shape
    # A split leaves at least (bucket + 1) // 2 points on either side.
    room = 2 * (m // ((bucket + 1) // 2) + len(starts) - 1)
    low, high, span = np.empty((room, q)), np.empty((room, q)), np.empty((room, 3), dtype=np.int64)
    order, root = np.arange(m), np.empty(len(starts) - 1, dtype=np.int64)
    used = split(points, starts, bucket, order, low, high, span, root)
    return order, low[:used].copy(), high[:used].copy(), span[:used].copy(), root


def _to_box(point: Floats, forest: Forest, node: int) -> float:
    """Squared distance of a point to a node's box."""
    total = 0.0
    for j in range(point.shape[0]):
        at = point[j]
        gap = max(forest.low[node, j] - at, at - forest.high[node, j], 0.0)
        total += gap * gap
    return total


to_box = kernel(_to_box)


def _probe(point: Floats, base: float, bounds: Floats, root: int, forest: Forest, found: Ints, stack: Ints) -> bool:
    """Look through one tree for records nearer than bounds[0]; tally those up to bounds[1] in `found`.

    →        True as soon as a nearer record is met; `found` means nothing then

    `bounds` float64[3]; `found` int64[2].
    """
    top = 1
    stack[0] = root
    while top:
        top -= 1
        node = stack[top]
        if base + to_box(point, forest, node) > bounds[1]:
            continue
        child = forest.span[node, 2]
        if child >= 0:  # the nearer half on top
            nearer = to_box(point, forest, child + 1) < to_box(point, forest, child)
            stack[top], stack[top + 1] = (child, child + 1) if nearer else (child + 1, child)
            top += 2
            continue
        for i in range(forest.span[node, 0], forest.span[node, 1]):
            total = base
            for j in range(point.shape[0]):
                gap = point[j] - forest.points[i, j]
                total += gap * gap
                if total > bounds[1]:
                    break
            if total < bounds[0]:
                return True
            if total <= bounds[1]:
                found[0] += forest.weight[i]
                if found[1] < 0 or forest.first[i] < found[1]:
                    found[1] = forest.first[i]
                if bounds[2] != 0.0:
                    bounds[1] = total
    return False


probe = kernel(_probe)


def _matching_groups(ancestors: Int32s, row: int, groups: CodeGroups, matching: Ints) -> int:
    """Write the groups that differ from a record in no code into `matching`, and say how many they are."""
    count = 0
    for pattern in range(len(groups.starts) - 1):
        begin, end = groups.starts[pattern], groups.starts[pattern + 1]
        while begin < end:
            g = (begin + end) // 2
            j = groups.codes.shape[1] - 1
            while j >= 0 and groups.codes[g, j] == ancestors[row, groups.places[g, j]]:
                j -= 1
            if j < 0:
                matching[count] = g
                count += 1
                break
            if groups.codes[g, j] < ancestors[row, groups.places[g, j]]:
                begin = g + 1
            else:
                end = g
    return count


matching_groups = kernel(_matching_groups)


def _rank_groups(ancestors: Int32s, row: int, groups: CodeGroups, cost: Ints, ranking: Ints, tally: Ints) -> None:
    """Fill `cost` with the number of codes by which each group differs from a record, `ranking` by rising cost.

    `tally` int64[c + 2].
    """
    many, c = groups.codes.shape
    for j in range(c + 2):
        tally[j] = 0
    for g in range(many):
        differ = 0
        for j in range(c):
            if ancestors[row, groups.places[g, j]] != groups.codes[g, j]:
                differ += 1
        cost[g] = differ
        tally[differ + 1] += 1
    for j in range(1, c + 2):
        tally[j] += tally[j - 1]
    for g in range(many):
        ranking[tally[cost[g]]] = g
        tally[cost[g]] += 1


rank_groups = kernel(_rank_groups)


def _set_aim(known: Known, row: int, groups: CodeGroups, g: int, aim: Floats) -> None:
    """aim float64[q] ← a record's point, with 0 for the coordinates that do not count beside the codes of a group."""
    for j in range(known.points.shape[1]):
        column = known.lines[j, 0]
        counts = column < 0 or (groups.places[g, column] == known.lines[j, 1] and groups.codes[g, column] >= 0)
        aim[j] = known.points[row, j] if counts else 0.0


set_aim = kernel(_set_aim)


def _differs(ancestors: Int32s, row: int, previous: int) -> bool:
    """Whether a record has other codes than the one before it (−1: there was none)."""
    other = previous < 0
    for j in range(ancestors.shape[1]):
        other = other or ancestors[row, j] != ancestors[previous, j]
    return other


differs = kernel(_differs)


class Links(NamedTuple):
    """What `link_all` finds, and room to look for it."""

    ties: Ints  # of each record
    lowest: Ints
    reach: Floats
    matching: Ints  # int64[…]: groups with the codes of a record, and all in order of what their codes cost
    ranking: Ints
    cost: Ints  # int64[…]: of each group; groups of each cost
    tally: Ints
    bounds: Floats  # of `probe`
    found: Ints
    stack: Ints
    aim: Floats  # float64[q]: the point looked for


def _link_records(known: Known, distance: Floats, groups: CodeGroups, forest: Forest, links: Links) -> None:
    """Fill ties, lowest and reach as `link_all` says."""
    ties, lowest, reach, matching, ranking, cost, tally, bounds, found, stack, aim = links
    many, previous, matches, ranked = groups.codes.shape[0], -1, 0, False
    for place in range(known.order.shape[0]):
        row = known.order[place]
        away = distance[row]
        if away != away:
            continue
        if differs(known.ancestors, row, previous):
            matches, ranked = matching_groups(known.ancestors, row, groups, matching), False
            previous = row
        asked = away == np.inf
        slack = 0.0 if asked else SLACK * (1.0 + away)
        nearest = 0.0 if asked else max(away - slack, 0.0)
        bounds[0], bounds[1], bounds[2] = nearest * nearest, (away + slack) * (away + slack), 1.0 if asked else 0.0
        found[0], found[1] = 0, -1
        nearer, at = False, 0
        while at < matches and not nearer:
            set_aim(known, row, groups, matching[at], aim)
            nearer = probe(aim, 0.0, bounds, forest.root[matching[at]], forest, found, stack)
            at += 1
        if not nearer and bounds[1] >= 1.0:
            if not ranked:
                rank_groups(known.ancestors, row, groups, cost, ranking, tally)
                ranked = True
            at = matches
            while at < many and not nearer and cost[ranking[at]] <= bounds[1]:
                g = ranking[at]
                set_aim(known, row, groups, g, aim)
                nearer = probe(aim, float(cost[g]), bounds, forest.root[g], forest, found, stack)
                at += 1
        if asked:
            reach[row] = math.sqrt(bounds[1])
        elif not nearer:
            ties[row], lowest[row] = found[0], found[1]


link_records = kernel(_link_records)


def link(
    known: Known, distance: Floats, groups: CodeGroups, forest: Forest, ties: Ints, lowest: Ints, reach: Floats
) -> None:
    """Kernel: fill ties, lowest and reach as `link_all` says."""
    many = len(groups.codes)
    matching, ranking = np.empty(len(groups.starts), dtype=np.int64), np.empty(many, dtype=np.int64)
    cost, tally = np.empty(many, dtype=np.int64), np.empty(groups.codes.shape[1] + 2, dtype=np.int64)
    bounds, found, stack = np.empty(3), np.empty(2, dtype=np.int64), np.empty(256, dtype=np.int64)
    aim = np.empty(known.points.shape[1])
    links = Links(ties, lowest, reach, matching, ranking, cost, tally, bounds, found, stack, aim)
    link_records(known, distance, groups, forest, links)


def make_unlinked(n: int) -> tuple[Ints, Ints, Floats]:
    """Ties, lowest and reach of `link_all` before any of n records is looked for; `link` fills them one by one."""
    return np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64), np.full(n, np.nan)


def link_all(known: Known, distance: Floats, groups: CodeGroups, forest: Forest) -> tuple[Ints, Ints, Floats]:
    """Kernel: for each record, how many published records lie exactly at a given distance, none being nearer.

    →         ties int64[n] (0: a nearer one exists, or none at this distance), lowest tied row int64[n] (−1), and
              float64[n]: the distance of the nearest where it was asked for

    `distance` float64[n]: NaN for a record that cannot be linked, infinite to ask for the nearest.
    """
    ties, lowest, reach = make_unlinked(len(known.points))
    link(known, distance, groups, forest, ties, lowest, reach)
    return ties, lowest, reach


# -- Which masked records look most like an original one, over distinct tuples instead of records.
#
# `tuples` are the distinct originals; `crowd` the distinct masked tuples, sorted, with their counts.
# A table of costs or agreements is flat: the entry of (original o, masked m) in attribute j is
# ``at[j] + m · wide[j] + o``.

FAR = 1 << 60
"""A cost nobody links over: the pair is no candidate at all."""


def _leads(crowd: Codes) -> tuple[Codes, Codes]:
    """For sorted tuples: the first column that differs from the tuple before, and where each prefix ends.

    →  int32[d + 1] (0 for the first and the end), int32[d, p]: first later tuple with another prefix 0…j
    """
    size, attributes = crowd.shape
    lead = np.zeros(size + 1, dtype=np.int32)
    leap = np.empty((size, attributes), dtype=np.int32)
    for place in range(1, size):
        column = 0
        while column < attributes - 1 and crowd[place, column] == crowd[place - 1, column]:
            column += 1
        lead[place] = column
    for column in range(attributes):
        end = size
        for place in range(size - 1, -1, -1):
            leap[place, column] = end
            if lead[place] <= column:
                end = place
    return lead, leap


leads = kernel(_leads)


def _nearest(
    tuples: Codes, crowd: Codes, counts: Ints, first: Ints, cost: Ints, at: Ints, wide: Ints, widest: bool
) -> tuple[Ints, Ints, Ints]:
    """The least cost from every original tuple to a masked one, how many records lie there, and the first of them.

    →              int64[a] each: least cost (FAR if there is no candidate), ties, lowest row (−1 if none)

    Sorted tuples are read like a tree: a prefix already too dear is left behind whole.

    `counts`, `first` int64[d]; `cost`: int64, flat; at least FAR: never a candidate.
    """
    lead, leap = leads(crowd)
    size, attributes = crowd.shape
    best = np.full(len(tuples), FAR, dtype=np.int64)
    ties = np.zeros(len(tuples), dtype=np.int64)
    lowest = np.full(len(tuples), -1, dtype=np.int64)
    partial = np.zeros(attributes + 1, dtype=np.int64)
    for seeker in range(len(tuples)):
        # A bound before the tour: the tuple that stands where the seeker itself would stand.
        low, high = 0, size
        while low < high:
            middle = (low + high) // 2
            column = 0
            while column < attributes - 1 and crowd[middle, column] == tuples[seeker, column]:
                column += 1
            if crowd[middle, column] < tuples[seeker, column]:
                low = middle + 1
            else:
                high = middle
        bound = FAR - 1
        if size:
            guess = min(low, size - 1)
            so_far = 0
            for column in range(attributes):
                step = cost[at[column] + crowd[guess, column] * wide[column] + tuples[seeker, column]]
                so_far = max(so_far, step) if widest else so_far + min(step, FAR)
                if so_far >= FAR:
                    break
            bound = min(bound, so_far)
        place = 0
        while place < size:
            column = lead[place]
            dear = False
            while column < attributes:
                step = cost[at[column] + crowd[place, column] * wide[column] + tuples[seeker, column]]
                partial[column + 1] = max(partial[column], step) if widest else partial[column] + step
                if partial[column + 1] > bound:
                    dear = True
                    break
                column += 1
            if dear:
                place = leap[place, column]
                continue
            if partial[attributes] < best[seeker]:
                bound = int(partial[attributes])
                best[seeker] = bound
                ties[seeker] = counts[place]
                lowest[seeker] = first[place]
            else:
                ties[seeker] += counts[place]
                lowest[seeker] = min(lowest[seeker], first[place])
            place += 1
    return best, ties, lowest


nearest = kernel(_nearest)


def _own_hits(
    tuples: Codes, members: Ints, masked: Codes, kept: Flags, best: Ints, cost: Ints, at: Ints, wide: Ints
) -> tuple[Ints, Ints]:
    """How many records of each original tuple have their own masked record at the least cost (sum; maximum).

    →        int64[a] for costs combined by their sum, int64[a] by their maximum

    `members` int64[n].
    """
    summed = np.zeros(len(tuples), dtype=np.int64)
    widest = np.zeros(len(tuples), dtype=np.int64)
    for row in range(len(members)):
        if not kept[row]:
            continue
        mine = members[row]
        total, largest = 0, 0
        for column in range(masked.shape[1]):
            step = cost[at[column] + masked[row, column] * wide[column] + tuples[mine, column]]
            total = min(FAR, total + step)
            largest = max(largest, step)
        if best[mine] < FAR:
            summed[mine] += total == best[mine]
            widest[mine] += largest == best[mine]
    return summed, widest


own_hits = kernel(_own_hits)


TUPLES_AT_A_TIME = 2048
"""Tuples of the masked file to which each original one is compared before the next ones."""


def _patterns(tuples: Codes, crowd: Codes, counts: Ints, agree: Ints, at: Ints, wide: Ints) -> Codes:
    """How many masked records agree with each original tuple in exactly which attributes.

    →      int32[a, 2^p]: bit j of a pattern is set where attribute j agrees
    """
    attributes = tuples.shape[1]
    seen = np.zeros((len(tuples), 1 << attributes), dtype=np.int32)
    for seeker in range(len(tuples)):
        for place in range(len(crowd)):
            pattern = 0
            for column in range(attributes):
                same = agree[at[column] + crowd[place, column] * wide[column] + tuples[seeker, column]]
                pattern |= same << column
            seen[seeker, pattern] += counts[place]
    return seen


patterns = kernel(_patterns)


def _equal_patterns(tuples: Codes, crowd: Codes, counts: Ints, room: NDArray[np.int16], seen: Codes) -> None:
    """The same where categories agree that are equal.

    `crowd` int32[p, b]: columns first; `room` int16[at a time]; `seen` int32[a, 2^p]: added to.
    """
    width = room.shape[0]
    for begin in range(0, crowd.shape[1], width):  # as many tuples as stay in the cache
        count = min(width, crowd.shape[1] - begin)
        for seeker in range(tuples.shape[0]):
            for place in range(count):
                room[place] = 0
            for column in range(tuples.shape[1]):
                own, bit, codes = tuples[seeker, column], 1 << column, crowd[column, begin:]
                for place in range(count):
                    room[place] += bit if codes[place] == own else 0
            for place in range(count):
                seen[seeker, room[place]] += counts[begin + place]


equal_patterns_into = kernel(_equal_patterns)


def equal_patterns(tuples: Codes, crowd: Codes, counts: Ints) -> Codes:
    """Kernel of linkage: `patterns` where categories agree that are equal, in a third of the time."""
    seen = np.zeros((len(tuples), 1 << tuples.shape[1]), dtype=np.int32)
    room = np.empty(TUPLES_AT_A_TIME, dtype=np.int16)
    equal_patterns_into(tuples, np.ascontiguousarray(crowd.T), counts, room, seen)
    return seen


def _own_patterns(tuples: Codes, members: Ints, masked: Codes, kept: Flags, agree: Ints, at: Ints, wide: Ints) -> Codes:
    """int32[a, 2^p]: how many records of each original tuple meet their own masked record in each pattern."""
    attributes = tuples.shape[1]
    own = np.zeros((len(tuples), 1 << attributes), dtype=np.int32)
    for row in range(len(members)):
        if kept[row]:
            pattern = 0
            for column in range(attributes):
                same = agree[at[column] + masked[row, column] * wide[column] + tuples[members[row], column]]
                pattern |= same << column
            own[members[row], pattern] += 1
    return own


own_patterns = kernel(_own_patterns)

# -- Assigning people to published classes one-to-one: the nearest classes of each person, and shares that fill them.

EXCLUDED = 50.0
"""What a column adds to the log-volume of a class that cannot hold the person."""
CLASSES_AT_A_TIME = 1024
"""Classes to which each person is compared before the next ones."""
TIED = 1e-7
"""Weights that differ by this share at most are equal."""


class ShownClasses(NamedTuple):
    """What published classes show in each column, on the line on which a person has one place."""

    low: Floats  # float64[classes, p]: the places a class covers; NaN where it shows a blank
    high: Floats
    wide: Floats  # float64[classes, p]: cell loss of a person inside, 0 to 1
    moves: Flags  # bool[classes, p]: whether a person outside loses the distance, at most 1; else 1
    covered: Floats  # float64[classes, p]: logarithm of the number of original values a class covers
    blank: Floats  # float64[p]: log-volume of a blank to a person with a value


def _insert(costs: Floats, classes: Ints, cost: float, at: int) -> None:
    """Insert a class into the ascending list of the nearest, behind those of equal cost; the last one leaves."""
    place = costs.shape[0]
    while place > 0 and cost < costs[place - 1]:
        place -= 1
        if place + 1 < costs.shape[0]:
            costs[place + 1] = costs[place]
            classes[place + 1] = classes[place]
    if place < costs.shape[0]:
        costs[place] = cost
        classes[place] = at


insert = kernel(_insert)


class _ClassColumns(NamedTuple):
    """What published classes show, column by column: float64[p, classes] as in `ShownClasses`, and blank float64[p]."""

    low: Floats
    high: Floats
    wide: Floats
    whole: Floats  # the least that a person outside loses: 1 where the distance does not count, else 0
    covered: Floats
    blank: Floats


def _list_classes(known: Floats, shown: _ClassColumns, room: Floats, costs: Floats, classes: Ints) -> None:
    """List the nearest classes of each person by cell loss and by log-volume; ties go to the lower number.

    Every column is added to the costs of all classes at once, by a loop without branches. `known` float64[m, p]: places
    of the people, NaN where a value is missing; `room` float64[2, classes at a time];
    `costs` float64[2, m, nearest].
    """
    last, width = costs.shape[2] - 1, room.shape[1]
    cell, volume = room[0], room[1]
    for begin in range(0, shown.low.shape[1], width):  # as many classes as stay in the cache
        count = min(width, shown.low.shape[1] - begin)
        for i in range(known.shape[0]):
            for g in range(count):
                cell[g], volume[g] = 0.0, 0.0
            for j in range(known.shape[1]):
                x, blank = known[i, j], shown.blank[j]
                low, high, wide = shown.low[j, begin:], shown.high[j, begin:], shown.wide[j, begin:]
                whole, covered = shown.whole[j, begin:], shown.covered[j, begin:]
                for g in range(count):
                    away = low[g] - x if low[g] - x > x - high[g] else x - high[g]
                    away = away if away < 1.0 else 1.0
                    away = away if away > whole[g] else whole[g]
                    inside, shows, misses = (x >= low[g]) & (x <= high[g]), low[g] == low[g], x != x
                    loss = wide[g] if inside else away if shows else 1.0
                    size = covered[g] if inside else covered[g] + EXCLUDED if shows else blank
                    cell[g] += loss if not misses else 1.0 if shows else 0.0
                    volume[g] += size if not misses else EXCLUDED if shows else 0.0
            for g in range(count):
                if cell[g] < costs[0, i, last]:
                    insert(costs[0, i], classes[0, i], cell[g], begin + g)
                if volume[g] < costs[1, i, last]:
                    insert(costs[1, i], classes[1, i], volume[g], begin + g)


list_classes_into = kernel(_list_classes)


def class_columns(shown: ShownClasses) -> _ClassColumns:
    """What classes show, column by column, as the kernel of linkage adds it up."""
    columns = (shown.low, shown.high, shown.wide, np.where(shown.moves, 0.0, 1.0), shown.covered)
    low, high, wide, whole, covered = (np.array(each.T, dtype=np.float64, order="C") for each in columns)
    return _ClassColumns(low, high, wide, whole, covered, shown.blank)


def link_nearest_classes(known: Floats, shown: ShownClasses, nearest: int) -> tuple[Floats, Ints]:
    """Kernel: link each person to the nearest classes by cell loss and log-volume, without all pairs.

    →  float64[2, m, nearest]: costs, ascending;  int64[2, m, nearest]: classes, −1 where there are no more
    """
    nearest = max(min(nearest, len(shown.low)), 1)
    costs, classes = np.full((2, len(known), nearest), np.inf), np.full((2, len(known), nearest), -1)
    list_classes_into(known, class_columns(shown), np.empty((2, CLASSES_AT_A_TIME)), costs, classes)
    return costs, classes


class Likeness(NamedTuple):
    """What makes records alike: places on lines float64[r, n], and categories float64[c, n]."""

    lines: Floats
    codes: Floats


def _list_alike(asked: Likeness, shown: Likeness, room: Floats, squares: Floats, rows: Ints) -> None:
    """List the records most alike to each asked one, nearest first; ties go to the lower row.

    `room` float64[n]; `squares` float64[m, nearest]: squared distances, 2 for two different categories.
    """
    last, count = squares.shape[1] - 1, room.shape[0]
    for i in range(squares.shape[0]):
        for g in range(count):
            room[g] = 0.0
        for j in range(shown.lines.shape[0]):
            x, line = asked.lines[j, i], shown.lines[j]
            for g in range(count):
                room[g] += (line[g] - x) * (line[g] - x)
        for j in range(shown.codes.shape[0]):
            own, codes = asked.codes[j, i], shown.codes[j]
            for g in range(count):
                room[g] += 0.0 if codes[g] == own else 2.0
        for g in range(count):
            if room[g] < squares[i, last]:
                insert(squares[i], rows[i], room[g], g)


list_alike_into = kernel(_list_alike)


def link_most_alike(asked: Likeness, shown: Likeness, nearest: int) -> Ints:
    """Kernel of linkage: int64[m, nearest], the records most alike to each asked one; ties go to the lower row."""
    people, count = asked.lines.shape[1], shown.lines.shape[1]
    squares, rows = np.full((people, nearest), np.inf), np.zeros((people, nearest), dtype=np.int64)
    list_alike_into(asked, shown, np.empty(count), squares, rows)
    return rows


class Sought(NamedTuple):
    """People that an attack looks for: float64[m, q] places on lines, int32[m, w] what a code is held against."""

    points: Floats
    ancestors: Int32s


class PublishedRecords(NamedTuple):
    """Published records that an attack links to, column by column."""

    points: Floats  # float64[q, n]
    codes: Int32s  # int32[c, n]
    places: Int32s  # int32[c, n]: which of a person's ancestors each code is held against
    place: Ints  # int64[c]: the one of all records, −1 where they differ
    counted: Flags  # bool[q, n]: whether a coordinate counts
    always: Flags  # bool[q]: whether it counts for every record
    kept: Flags  # bool[n]


def _mark_nearest(sought: Sought, shown: PublishedRecords, same: float, room: Floats, near: Flags) -> None:
    """near bool[m, n] ← whether no published record lies nearer to a person, up to a difference that is a tie.

    `room` float64[n]: squared distances of one person.
    """
    count = room.shape[0]
    for i in range(near.shape[0]):
        for g in range(count):
            room[g] = 0.0 if shown.kept[g] else np.inf
        for j in range(shown.points.shape[0]):
            x, line, counted = sought.points[i, j], shown.points[j], shown.counted[j]
            if shown.always[j]:
                for g in range(count):
                    room[g] += (x - line[g]) * (x - line[g])
            else:
                for g in range(count):
                    room[g] += (x - line[g]) * (x - line[g]) if counted[g] else 0.0
        for j in range(shown.codes.shape[0]):
            codes, places = shown.codes[j], shown.places[j]
            if shown.place[j] >= 0:
                own = sought.ancestors[i, shown.place[j]]
                for g in range(count):
                    room[g] += 1.0 if codes[g] != own else 0.0
            else:
                for g in range(count):
                    room[g] += 1.0 if codes[g] != sought.ancestors[i, places[g]] else 0.0
        least = np.inf
        for g in range(count):
            least = room[g] if room[g] < least else least
        reach = (math.sqrt(least) + same) * (math.sqrt(least) + same)
        for g in range(count):
            near[i, g] = room[g] <= reach


mark_nearest = kernel(_mark_nearest)


def _fill_classes(weights: Floats, classes: Ints, room: Floats, rounds: int) -> None:
    """Scale the weights of each person to 1 and those of each class to its room, in turns (Sinkhorn and Knopp 1967).

    `weights` float64[m, nearest].
    """
    m, nearest = weights.shape
    filled = np.empty(room.shape[0])
    for _ in range(rounds):
        for g in range(room.shape[0]):
            filled[g] = 0.0
        for i in range(m):
            total = 0.0
            for t in range(nearest):
                if classes[i, t] >= 0:
                    total += weights[i, t]
            if total <= 0.0:
                continue
            for t in range(nearest):
                if classes[i, t] >= 0:
                    weights[i, t] /= total
                    filled[classes[i, t]] += weights[i, t]
        for i in range(m):
            for t in range(nearest):
                g = classes[i, t]
                if g >= 0 and filled[g] > 1e-300:
                    weights[i, t] *= room[g] / filled[g]


fill_classes = kernel(_fill_classes)


def _score_guesses(weights: Floats, classes: Ints, sizes: Ints, own: Ints, found: Floats) -> None:
    """What guessing a record of the class with the largest weight per record earns, split among ties.

    `weights` float64[m, nearest]; `own` int64[m].
    """
    for i in range(weights.shape[0]):
        best, records, right = -1.0, 0, False
        for t in range(weights.shape[1]):
            g = classes[i, t]
            if g < 0:
                continue
            weight = weights[i, t] / sizes[g]
            if weight > best * (1.0 + TIED) or best < 0.0:
                best, records, right = weight, sizes[g], g == own[i]
            elif weight >= best * (1.0 - TIED):
                records += sizes[g]
                right = right or g == own[i]
        found[i] = 1.0 / records if right else 0.0


score_guesses_into = kernel(_score_guesses)


def score_linkage_guesses(weights: Floats, classes: Ints, sizes: Ints, own: Ints) -> Floats:
    """float64[m]: kernel of linkage that scores, per person, a link to the near class of most weight."""
    found = np.empty(len(weights))
    score_guesses_into(weights, classes, sizes, own, found)
    return found
