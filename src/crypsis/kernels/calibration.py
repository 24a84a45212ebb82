"""What groups publish, changed group by group or pair by pair so that moments come near those of the original.

A moment is the sum over all records of the product of two features of published columns. For each group, `sums` has the
sum over its records of every feature of the other columns; `gaps` is what the moments are less what they should be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Floats, Ints
from crypsis.kernels.compile import kernel


class LabelChoices(NamedTuple):
    """The values that each group may publish: those its records hold.

    starts   int64[G + 1]: first choice of each group
    level    int64[choices]: number of the value
    records  float64[choices]: records of the group that hold it
    """

    starts: Ints
    level: Ints
    records: Floats


class LabelGaps(NamedTuple):
    """Gaps of the moments of one column of labels.

    levels   float64[m, q]: of the indicator of each value with every feature
    weights  float64[m]: of the squared gaps of each value
    line     float64[q]: of the value as a number with every feature
    scores   float64[m]: that number, standardised
    """

    levels: Floats
    weights: Floats
    line: Floats
    scores: Floats


def _relabel_groups(
    labels: Ints, choices: LabelChoices, gaps: LabelGaps, sums: Floats, costs: Floats, turns: Ints
) -> int:
    """Let each group in turn take the value that lowers the weighed squared gaps most; how many groups change.

    labels  int64[G]: the value of each group, changed in place as the gaps are
    costs   float64[2]: of a record that does not hold the published value; weight of the squared gaps of the line
    turns   int64[G]: the groups in the order of their turns
    """
    changed, q = 0, sums.shape[1]
    for t in range(turns.size):
        g = turns[t]
        first, last = choices.starts[g], choices.starts[g + 1]
        if last - first < 2:
            continue
        own, held, along, line, square = labels[g], 0.0, 0.0, 0.0, 0.0
        for j in range(q):
            along += gaps.levels[own, j] * sums[g, j]
            line += gaps.line[j] * sums[g, j]
            square += sums[g, j] * sums[g, j]
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
                along += gaps.levels[other, j] * sums[g, j]
            step = gaps.scores[other] - gaps.scores[own]
            change = leaving + gaps.weights[other] * (square + 2.0 * along) + costs[0] * (held - choices.records[c])
            change += costs[1] * step * (2.0 * line + step * square)
            if change < best:
                best, taken = change, other
        if taken >= 0:
            step = gaps.scores[taken] - gaps.scores[own]
            for j in range(q):
                gaps.levels[own, j] -= sums[g, j]
                gaps.levels[taken, j] += sums[g, j]
                gaps.line[j] += step * sums[g, j]
            labels[g] = taken
            changed += 1
    return changed


relabel_groups = kernel(_relabel_groups)


def _exchange_values(values: Floats, features: Floats, sums: Floats, gaps: Floats, one: Ints, other: Ints) -> int:
    """Let pairs of groups exchange their values where that lowers the squared gaps; how many do.

    values      float64[G]: what each group publishes in the column, changed in place as its features and the gaps are
    features    float64[G, f]
    gaps        float64[f, q]
    one, other  int64[pairs]: two groups of equal size each
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

    order  int64[m]: the values to round, so that what one gains the next ones give back
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
