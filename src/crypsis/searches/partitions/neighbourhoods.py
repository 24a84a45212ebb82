"""Who is near whom: exact for tables of ordinary size, nearly so for large ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

EXACT_UP_TO = 12_000
"""Records up to which a walk gets exact neighbour lists; above, a kd-tree in ten dimensions would eat the budget."""
LEAF, SPLITS = 800, 3

Near = tuple[NDArray[np.float64], NDArray[np.int32]]


def nearest(points: NDArray[np.float64], count: int) -> Near:
    """Squared distances to the nearest other records, and which these are: [n, count] each, nearest first."""
    n = len(points)
    found = cKDTree(points).query(points, count + 1)
    distances, rows = np.asarray(found[0]), np.asarray(found[1])
    own = rows == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True
    keep = (~own).nonzero()
    return np.square(distances[keep].reshape(n, count)), rows[keep].reshape(n, count).astype(np.int32)


def nearly_nearest(points: NDArray[np.float64], count: int) -> Near:
    """As `nearest`, but only among records that share a leaf of one of a few random splittings.

    Each splitting halves the records again and again along a random direction; O(n) memory, O(n log n) time. The
    directions are always the same ones, so that the same points have the same neighbours.
    """
    rng = np.random.default_rng(20061)
    found = [_among_leaves(points, count, rng) for _ in range(SPLITS)]
    squares = np.concatenate([one[0] for one in found], axis=1)
    rows = np.concatenate([one[1] for one in found], axis=1)
    by_row = np.argsort(rows, axis=1, kind="stable")
    squares, rows = np.take_along_axis(squares, by_row, 1), np.take_along_axis(rows, by_row, 1)
    squares[:, 1:][rows[:, 1:] == rows[:, :-1]] = np.inf
    by_distance = np.argsort(squares, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(squares, by_distance, 1), np.take_along_axis(rows, by_distance, 1)


def _among_leaves(points: NDArray[np.float64], count: int, rng: np.random.Generator) -> Near:
    n, p = points.shape
    squares, rows = np.empty((n, count)), np.empty((n, count), np.int32)
    waiting = [np.arange(n)]
    while waiting:
        part = waiting.pop()
        if len(part) > max(LEAF, 3 * (count + 1)):
            order = part[np.argsort(np.einsum("ij,j", points[part], rng.standard_normal(p)), kind="stable")]
            waiting += [order[: len(part) // 2], order[len(part) // 2 :]]
            continue
        # Not by a matrix product: its threads would wait for each other on a busy machine.
        apart = cdist(points[part], points[part], "sqeuclidean")
        np.fill_diagonal(apart, np.inf)
        near = np.argpartition(apart, count - 1, axis=1)[:, :count]
        rows[part] = part[near]
        squares[part] = np.take_along_axis(apart, near, 1)
    return squares, rows
