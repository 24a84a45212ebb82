"""The fitness of a grouping from its definition: plain loops, the GOMM paper's convention."""

from __future__ import annotations

import numpy as np


def mdav_gomm(points, k):
    """Manhattan MDAV; the last fewer than 2k records are one cluster, however few."""
    left, clusters = list(range(len(points))), []

    def far(centre, rows):
        return max(rows, key=lambda r: (float(np.abs(points[r] - centre).sum()), -r))

    def near(seed, rows):
        rest = sorted((r for r in rows if r != seed), key=lambda r: (float(np.abs(points[r] - points[seed]).sum()), r))
        return [seed, *rest[: k - 1]]

    while len(left) >= 2 * k:
        r = far(points[left].mean(axis=0), left)
        s = far(points[r], left)
        first = near(r, left)
        left = [row for row in left if row not in first]
        s = s if s in left else far(points[r], left)
        second = near(s, left)
        left = [row for row in left if row not in second]
        clusters += [first, second]
    return [*clusters, left] if left else clusters


def range_scaled(values):
    low, high = values.min(axis=0), values.max(axis=0)
    return (values - low) / np.where(high > low, high - low, 1.0)


def masked(points, groups, clusters_of):
    result = points.copy()
    for group in groups:
        for cluster in clusters_of(points[:, list(group)]):
            # Added record by record, as written: a value may lie on the very edge of an interval around the mean.
            result[np.ix_(cluster, list(group))] = sum(points[i, list(group)] for i in cluster) / len(cluster)
    return result


def judged(points, protected):
    """IL, ID, DLD, score of any masked version of range-scaled points."""
    n, p = points.shape
    total = ((points - points.mean(axis=0)) ** 2).sum()
    loss = 100 * ((points - protected) ** 2).sum() / total if total > 0 else 0.0
    inside = sum(
        abs(points[i, j] - protected[i, j]) <= w / 100.0 * protected[i, j]
        for w in range(1, 11)
        for i in range(n)
        for j in range(p)
    )
    interval = 100 * inside / (10 * n * p)
    credit = 0.0
    for i in range(n):
        distances = ((points[i] - protected) ** 2).sum(axis=1)
        nearest = distances <= distances.min() + 1e-12
        if nearest[i]:
            credit += 1 / nearest.sum()
    link = 100 * credit / n
    return loss, interval, link, (loss + (interval + link) / 2) / 2
