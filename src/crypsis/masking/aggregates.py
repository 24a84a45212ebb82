"""One value for many: the mean, median or mode of each group, from the values that are present.

Every function takes values[n] without missing ones, labels int[n] in 0 … groups − 1, and the number of groups;
and gives one value per group and whether the group had any to give.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.table.equivalence_classes import equivalence_classes

Values = NDArray[Any]
Labels = NDArray[np.integer[Any]]
Present = NDArray[np.bool_]


def means(values: Values, labels: Labels, groups: int) -> tuple[Values, Present]:
    """The arithmetic mean, summed from each group's first value: equal values keep every bit, far ones lose none."""
    sizes = np.bincount(labels, minlength=groups)
    origin = np.zeros(groups)
    origin[labels[::-1]] = values[::-1]  # written from the last to the first, so that the first stays
    sums = np.bincount(labels, weights=values - origin[labels], minlength=groups)
    return origin + sums / np.maximum(sizes, 1), sizes > 0


def medians(values: Values, labels: Labels, groups: int, lower: bool) -> tuple[Values, Present]:
    """The middle value; of an even number the lower of the two middle ones, or else their mean."""
    ordered = values[np.lexsort((values, labels))]
    sizes = np.bincount(labels, minlength=groups)
    begins = np.cumsum(sizes) - sizes
    filled = sizes > 0
    middle = np.zeros(groups, dtype=values.dtype)
    low = ordered[(begins + (sizes - 1) // 2)[filled]]
    high = ordered[(begins + sizes // 2)[filled]]
    middle[filled] = low if lower else low + (high - low) / 2
    return middle, filled


def modes(values: Values, labels: Labels, groups: int) -> tuple[Values, Present]:
    """The most frequent value; the first in order (the lowest code, the least number) where several are."""
    pairs = equivalence_classes(np.stack([labels, np.unique(values, return_inverse=True)[1]], axis=1))
    group, value = labels[pairs.first], values[pairs.first]
    # Written from the rarest and last to the commonest and first, so that the latter stays.
    order = np.lexsort((-np.arange(pairs.count), pairs.sizes))
    most, filled = np.zeros(groups, dtype=values.dtype), np.zeros(groups, dtype=np.bool_)
    most[group[order]], filled[group] = value[order], True
    return most, filled


def replace_single_amounts(chosen: Values, collected: Values, values: Values, labels: Labels, groups: int) -> Values:
    """One number per group, the mean of the group in place of an amount that exactly one person has.

    chosen     float64[groups]: the middle or most frequent number of each group
    collected  float64[records]: the column of all people, missing ones too
    """
    amounts, people = np.unique(collected[~np.isnan(collected)], return_counts=True)
    return np.where(np.isin(chosen, amounts[people == 1]), means(values, labels, groups)[0], chosen)
