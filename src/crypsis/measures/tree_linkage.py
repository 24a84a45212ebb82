"""Record linkage of numbers by a tree, where there are too many records to compare them all."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.kernels.arrays import Floats
from crypsis.kernels.groupings import TOLERANCE


def tree_linkage(points: Floats, masked: Floats, first: NDArray[np.int32], sizes: NDArray[np.int32]) -> float:
    """Records that are found by their nearest masked record, each counted by its share among equally near ones.

    first, sizes  a row of `masked` for each distinct protected record, and how many share it
    """
    distinct, place = np.unique(masked[first], axis=0, return_inverse=True)
    records = np.bincount(place.ravel(), weights=sizes, minlength=len(distinct))
    tree = scipy.spatial.cKDTree(distinct)
    least = np.asarray(tree.query(points)[0]) ** 2
    own = ((points - masked) ** 2).sum(axis=1)
    won = np.flatnonzero(own <= least + TOLERANCE)
    reach = np.sqrt(least[won] + TOLERANCE)
    ties = [records[near].sum() for near in tree.query_ball_point(points[won], reach)]
    return float(sum(1.0 / max(1, count) for count in ties))
