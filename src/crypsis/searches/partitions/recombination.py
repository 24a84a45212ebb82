"""Two good partitions make a better one: what they share stays, where they differ the cheaper side is taken."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray


def group_costs(points: NDArray[np.float64], labels: NDArray[np.int32]) -> NDArray[np.float64]:
    """SSE of every group."""
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    centroids = np.add.reduceat(points[order], starts, axis=0) / sizes[:, None]
    return np.add.reduceat(np.square(points[order] - centroids[labels[order]]).sum(axis=1), starts)


def recombine(points: NDArray[np.float64], one: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.int32]:
    """The best partition that follows, component by component, one parent or the other.

    one, other  int32[n]: labels 0, 1, … without gaps
    →           int32[n], never worse than the better parent

    Groups of the two parents that share a record are joined by an edge. Within a connected component both parents
    partition the same records, so the cheaper side may be taken there without touching anything else.
    """
    return cheaper_regions(one, other, group_costs(points, one), group_costs(points, other))


def cheaper_regions(
    one: NDArray[np.int32], other: NDArray[np.int32], costs: NDArray[np.float64], other_costs: NDArray[np.float64]
) -> NDArray[np.int32]:
    """The cheapest partition that follows, component by component, one parent or the other; costs are by group."""
    left, right = int(one.max()) + 1, int(other.max()) + 1
    overlap = scipy.sparse.coo_array(
        (np.ones(len(one), np.int8), (one, other + left)), shape=(left + right, left + right)
    )
    count, component = scipy.sparse.csgraph.connected_components(overlap, directed=False)
    cost_one = np.bincount(component[:left], costs, minlength=count)
    cost_other = np.bincount(component[left:], other_costs, minlength=count)
    chosen = np.where((cost_other < cost_one)[component[one]], other + left, one)
    return np.unique(chosen, return_inverse=True)[1].astype(np.int32)
