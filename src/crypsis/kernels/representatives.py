"""What groups publish: categories that keep their counts, and values that keep moments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Flags, Floats, Ints
from crypsis.kernels.compile import kernel

# -- Choosing one category for every group of records so that each category keeps the records it had.
#
# Groups start with their cheapest category. Then records flow from categories that have too many to those that lack
# some: along the cheapest path, on which one group after the other takes the next category (successive shortest
# paths). Where groups have one size that divides every count, the result is the cheapest of all choices that keep the
# distribution.


class GroupChoices(NamedTuple):
    """What every group may become: the categories its records hold."""

    starts: Ints  # int64[G + 1]: first choice of each group
    category: Ints  # int64[choices]
    cost: Floats  # float64[choices]: what the group's records lose by it
    size: Floats  # float64[G]: records of each group


class Flow(NamedTuple):
    """Room for the work: the cheapest change from category to category, and paths over them.

    before int64[C]: the category before it on that path
    shut   bool[C]: categories to which no path helps
    """

    edge: Floats  # float64[C, C]: least cost per record of moving a group from one category to another
    by: Ints  # int64[C, C]: the choice that does it
    far: Floats  # float64[C]: cost of the cheapest path to a category
    before: Ints
    shut: Flags


def _survey(choices: GroupChoices, taken: Ints, flow: Flow, one: int) -> None:
    """The cheapest changes away from one category."""
    starts, category, cost, size = choices.starts, choices.category, choices.cost, choices.size
    for other in range(flow.edge.shape[0]):
        flow.edge[one, other], flow.by[one, other] = np.inf, -1
    for g in range(len(size)):
        if category[taken[g]] != one:
            continue
        for choice in range(starts[g], starts[g + 1]):
            other = category[choice]
            if other != one:
                change = (cost[choice] - cost[taken[g]]) / size[g]
                if change < flow.edge[one, other]:
                    flow.edge[one, other], flow.by[one, other] = change, choice


survey = kernel(_survey)


def _paths(flow: Flow, surplus: Floats) -> int:
    """Cheapest paths from categories with too many records; the nearest one that lacks some, −1 if none is reached."""
    count = len(surplus)
    for c in range(count):
        flow.far[c], flow.before[c] = 0.0 if surplus[c] > 0 else np.inf, -1
    for _ in range(count):
        changed = False
        for a in range(count):
            for b in range(count):
                if flow.far[a] + flow.edge[a, b] < flow.far[b] - 1e-12:
                    flow.far[b], flow.before[b], changed = flow.far[a] + flow.edge[a, b], a, True
        if not changed:
            break
    nearest = -1
    for c in range(count):
        wanted = surplus[c] < 0 and not flow.shut[c] and flow.far[c] < np.inf
        if wanted and (nearest < 0 or flow.far[c] < flow.far[nearest]):
            nearest = c
    return nearest


paths = kernel(_paths)


def _gain(choices: GroupChoices, group_of: Ints, flow: Flow, surplus: Floats, end: int) -> tuple[float, int]:
    """By how much the path to a category lowers Σ |surplus|, and its length; 0 where it runs in circles."""
    came, lower, steps, c = 0.0, 0.0, 0, end
    while flow.before[c] >= 0:
        steps += 1
        if steps > len(surplus):
            return 0.0, 0
        size = choices.size[group_of[flow.by[flow.before[c], c]]]
        lower += abs(surplus[c]) - abs(surplus[c] + size - came)
        came, c = size, flow.before[c]
    return lower + abs(surplus[c]) - abs(surplus[c] - came), steps


gain = kernel(_gain)


def _polish(choices: GroupChoices, taken: Ints, surplus: Floats) -> None:
    """Single groups change their category as long as Σ |surplus| falls; the greatest fall first, of equal ones the
    cheapest."""
    starts, category, cost, size = choices.starts, choices.category, choices.cost, choices.size
    for _ in range(len(size)):
        best, least, who, whose = 0.0, np.inf, -1, -1
        for g in range(len(size)):
            one = category[taken[g]]
            for choice in range(starts[g], starts[g + 1]):
                other = category[choice]
                if other == one:
                    continue
                fall = (
                    abs(surplus[one])
                    - abs(surplus[one] - size[g])
                    + abs(surplus[other])
                    - abs(surplus[other] + size[g])
                )
                change = cost[choice] - cost[taken[g]]
                if fall > best + 1e-9 or (fall > 1e-9 and fall > best - 1e-9 and change < least):
                    best, least, who, whose = fall, change, choice, g
        if who < 0:
            return
        surplus[category[taken[whose]]] -= size[whose]
        surplus[category[who]] += size[whose]
        taken[whose] = who


polish = kernel(_polish)


def _keep_marginals(choices: GroupChoices, group_of: Ints, taken: Ints, surplus: Floats, flow: Flow) -> None:
    """Change the choice taken by groups until no path lowers Σ |surplus|.

    `group_of` int64[choices]; `taken` int64[G]; `surplus` float64[C].
    """
    category, size = choices.category, choices.size
    for c in range(len(surplus)):
        survey(choices, taken, flow, c)
        flow.shut[c] = False
    for _ in range(8 * len(size)):
        end = paths(flow, surplus)
        if end < 0:
            break
        lower, steps = gain(choices, group_of, flow, surplus, end)
        if lower <= 1e-9:
            flow.shut[end] = True
            continue
        c = end
        for _ in range(steps):
            choice = flow.by[flow.before[c], c]
            g = group_of[choice]
            surplus[category[taken[g]]] -= size[g]
            surplus[c] += size[g]
            taken[g] = choice
            c = flow.before[c]
        c = end
        for _ in range(steps + 1):
            following = flow.before[c]
            survey(choices, taken, flow, c)
            c = following
        for c in range(len(surplus)):
            flow.shut[c] = False
    polish(choices, taken, surplus)


keep_marginals = kernel(_keep_marginals)

# -- What groups publish, changed group by group or pair by pair so that moments come near those of the original.
#
# A moment is the sum over all records of the product of two features of published columns. For each group, `sums` has
# the sum over its records of every feature of the other columns; `gaps` is what the moments are less what they should
# be.


class LabelChoices(NamedTuple):
    """The values that each group may publish: those its records hold."""

    starts: Ints  # int64[G + 1]: first choice of each group
    level: Ints  # int64[choices]: number of the value
    records: Floats  # float64[choices]: records of the group that hold it


class LabelGaps(NamedTuple):
    """Gaps of the moments of one column of labels."""

    levels: Floats  # float64[m, q]: of the indicator of each value with every feature
    weights: Floats  # float64[m]: of the squared gaps of each value
    line: Floats  # float64[q]: of the value as a number with every feature
    scores: Floats  # float64[m]: that number, standardised
    scales: Floats  # float64[q]: by which sums of features are multiplied; 0 for those of the column itself


def _add_label_sums(labels: Ints, sums: Floats, scales: Floats, levels: Floats) -> None:
    """levels float64[m, q] ← plus the sums of the groups that publish each value, scaled.

    `labels` int64[G]; `sums` float64[G, q].
    """
    for g in range(labels.size):
        for j in range(sums.shape[1]):
            levels[labels[g], j] += sums[g, j] * scales[j]


add_label_sums = kernel(_add_label_sums)


def _relabel_groups(
    labels: Ints, choices: LabelChoices, gaps: LabelGaps, sums: Floats, costs: Floats, turns: Ints
) -> int:
    """Let each group in turn take the value that lowers the weighed squared gaps most; how many groups change.

    `labels` int64[G]; `costs` float64[2]; `turns` int64[G]: the groups in the order of their turns.
    """
    changed, q = 0, sums.shape[1]
    for t in range(turns.size):
        g = turns[t]
        first, last = choices.starts[g], choices.starts[g + 1]
        if last - first < 2:
            continue
        own, held, along, line, square = labels[g], 0.0, 0.0, 0.0, 0.0
        for j in range(q):
            x = sums[g, j] * gaps.scales[j]
            along += gaps.levels[own, j] * x
            line += gaps.line[j] * x
            square += x * x
        for c in range(first, last):
            if choices.level[c] == own:
                held = choices.records[c]
        leaving = gaps.weights[own] * (square - 2.0 * along)
        best, taken = -1e-9, -1
        for c in range(first, last):
            other = choices.level[c]
            if other == own:
                continue
            along = 0.0
            for j in range(q):
                along += gaps.levels[other, j] * (sums[g, j] * gaps.scales[j])
            step = gaps.scores[other] - gaps.scores[own]
            change = leaving + gaps.weights[other] * (square + 2.0 * along) + costs[0] * (held - choices.records[c])
            change += costs[1] * step * (2.0 * line + step * square)
            if change < best:
                best, taken = change, other
        if taken >= 0:
            step = gaps.scores[taken] - gaps.scores[own]
            for j in range(q):
                x = sums[g, j] * gaps.scales[j]
                gaps.levels[own, j] -= x
                gaps.levels[taken, j] += x
                gaps.line[j] += step * x
            labels[g] = taken
            changed += 1
    return changed


relabel_groups = kernel(_relabel_groups)


def _exchange_values(values: Floats, features: Floats, sums: Floats, gaps: Floats, one: Ints, other: Ints) -> int:
    """Let pairs of groups exchange their values where that lowers the squared gaps; how many do.

    `values` float64[G]; `features` float64[G, f]; `gaps` float64[f, q]; `one`, `other` int64[pairs].
    """
    exchanged, f, q = 0, features.shape[1], sums.shape[1]
    for t in range(one.size):
        g, h, change = one[t], other[t], 0.0
        for a in range(f):
            step, along, square = features[h, a] - features[g, a], 0.0, 0.0
            if step == 0.0:
                continue
            for j in range(q):
                apart = sums[g, j] - sums[h, j]
                along += gaps[a, j] * apart
                square += apart * apart
            change += step * (2.0 * along + step * square)
        if change < -1e-12:
            for a in range(f):
                step = features[h, a] - features[g, a]
                for j in range(q):
                    gaps[a, j] += step * (sums[g, j] - sums[h, j])
                features[g, a], features[h, a] = features[h, a], features[g, a]
            values[g], values[h] = values[h], values[g]
            exchanged += 1
    return exchanged


exchange_values = kernel(_exchange_values)


def _round_in_order(values: Floats, sizes: Floats, order: Ints, step: float) -> None:
    """Round values to multiples of a step, up or down, so that the sum weighed by sizes stays.

    `order` int64[m].
    """
    owed = 0.0
    for t in range(order.size):
        g = order[t]
        exact = values[g] / step
        low = np.floor(exact + 1e-9)
        wanted = exact + owed / sizes[g]
        rounded = low + 1.0 if wanted - low >= 0.5 and exact - low > 1e-9 else low
        owed += sizes[g] * (exact - rounded)
        values[g] = rounded * step


round_in_order = kernel(_round_in_order)
