"""One category for every group of records, so that the column keeps its distribution."""

from __future__ import annotations

import numpy as np

from crypsis.kernels.marginals import Flow, GroupChoices, keep_marginals
from crypsis.masking.aggregates import Labels, Present, Values
from crypsis.table.equivalence_classes import equivalence_classes

BLOCK = 2000
"""Groups that are given their categories together; more are cut into blocks, each of which keeps its own records'
distribution, so that the time grows as the table does."""


def marginals(codes: Values, labels: Labels, groups: int, count: int, ordered: bool) -> tuple[Values, Present]:
    """A category for every group, one that some of its records hold, so that categories keep their records.

    Parameters
    ----------
    codes : int32[n]
        Categories 0 … count − 1, none missing.
    labels : int[n]
        The group of each.
    groups, count : int
        How many groups and categories there are.
    ordered : bool
        Whether a category costs its distance in ranks; otherwise any other one costs the same.

    Returns
    -------
    chosen : int32[groups]
    filled : bool[groups]
    """
    chosen, filled = np.zeros(groups, dtype=np.int32), np.bincount(labels, minlength=groups) > 0
    order = np.argsort(labels, kind="stable")
    there = np.flatnonzero(filled)
    bounds = np.searchsorted(labels[order], there)
    for first in range(0, len(there), BLOCK):
        block = there[first : first + BLOCK]
        end = bounds[first + BLOCK] if first + BLOCK < len(there) else len(order)
        rows = order[bounds[first] : end]
        renumbered = np.searchsorted(block, labels[rows])
        chosen[block] = _assigned(codes[rows], renumbered, len(block), count, ordered)
    return chosen, filled


def _assigned(codes: Values, labels: Labels, groups: int, count: int, ordered: bool) -> Values:
    """The categories of the groups of one block, each of which has records."""
    pairs = equivalence_classes(np.stack([labels, codes], axis=1))
    group, category = labels[pairs.first].astype(np.int64), codes[pairs.first].astype(np.int64)
    order = np.lexsort((category, group))
    group, category, held = group[order], category[order], pairs.sizes[order].astype(np.float64)
    starts = np.searchsorted(group, np.arange(groups + 1))
    size = np.bincount(labels, minlength=groups).astype(np.float64)
    cost = _rank_costs(starts, category, held, count) if ordered else size[group] - held
    # The cheapest choice of each group, the first where several are.
    by_cost = np.lexsort((category, cost, group))
    taken = by_cost[starts[:-1]]
    surplus = np.bincount(category[taken], weights=size, minlength=count).astype(np.float64)
    surplus -= np.bincount(codes, minlength=count)
    flow = Flow(
        np.empty((count, count)), np.empty((count, count), np.int64), np.empty(count), np.empty(count, np.int64),
        np.empty(count, np.bool_),
    )  # fmt: skip
    keep_marginals(GroupChoices(starts, category, cost, size), group, taken, surplus, flow)
    return category[taken].astype(np.int32)


def _rank_costs(starts: Values, category: Values, held: Values, count: int) -> Values:
    """What a group loses by each of its categories: the ranks its records move, over the number of steps."""
    cost = np.empty(len(category))
    for first, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        own = category[first:end]
        cost[first:end] = np.abs(own[:, None] - own[None, :]) @ held[first:end]
    return cost / max(count - 1, 1)
