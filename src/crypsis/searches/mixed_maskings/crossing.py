"""Crossover of two exchanges of values: a stretch of records publishes what it does in the other file.

Marés and Torra (2012) exchange a stretch of two files. Where every value of a column is published by as many records as
hold it, a stretch alone would break that: whoever published these values in the first file would do so twice. So the
cycles that the stretch belongs to are exchanged whole.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.random import Generator
from numpy.typing import NDArray

Donors = NDArray[np.int32]
ENOUGH = 2.0
"""A cycle that would exchange this many times the stretch is left out."""


def crossed(one: Donors, other: Donors, codes: NDArray[np.int32], share: float, rng: Generator) -> Donors:
    """A file with the values of another one in a stretch of the records and the cycles it belongs to.

    one, other  int32[n, u]: whose values records publish
    codes  int32[n, u]: equal for equal values
    share  of the records, about
    """
    n, child = len(one), one.copy()
    long = max(1, round(share * n))
    start = int(rng.integers(n))
    stretch = np.zeros(n, np.bool_)
    stretch[(start + np.arange(long)) % n] = True
    for unit in range(one.shape[1]):
        mine, theirs = codes[one[:, unit], unit], codes[other[:, unit], unit]
        if np.array_equal(np.sort(mine), np.sort(theirs)):
            cycle = cycles(mine, theirs)
            touched = np.bincount(cycle[stretch & (mine != theirs)], minlength=cycle.max() + 1) > 0
            small = np.bincount(cycle[mine != theirs], minlength=len(touched)) <= ENOUGH * long
            taken = (touched & small)[cycle]
        else:
            taken = stretch
        child[taken, unit] = other[taken, unit]
    return child


def cycles(mine: NDArray[np.int32], theirs: NDArray[np.int32]) -> NDArray[np.int32]:
    """int32[n]: the cycle of each record: exchanged whole, it leaves every value published as often as before.

    mine, theirs  int32[n]: two orders of the same values

    Examples
    --------
    >>> cycles(np.array([0, 1, 2, 3]), np.array([1, 0, 2, 3])).tolist()
    [0, 0, 1, 2]
    """
    n = len(mine)
    partner = np.empty(n, np.int64)
    partner[np.argsort(theirs, kind="stable")] = np.argsort(mine, kind="stable")
    links = scipy.sparse.coo_matrix((np.ones(n), (np.arange(n), partner)), shape=(n, n))
    return np.asarray(scipy.sparse.csgraph.connected_components(links, directed=False)[1])
