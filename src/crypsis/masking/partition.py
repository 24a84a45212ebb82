"""The contract of a partitioner: points in, groups of at least k out."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.registry import Registry, Settings


class Partitioner(Settings):
    """A frozen settings object that groups rows of already scaled points into clusters of at least k.

    Examples
    --------
    >>> points = np.array([[1.0], [1.1], [5.0], [5.2]])
    >>> crypsis.partitioners.build("univariate").partition(points, 2, np.random.default_rng(0))
    array([0, 0, 1, 1], dtype=int32)
    """

    @abstractmethod
    def partition(self, points: NDArray[np.float64], k: int, rng: Generator) -> NDArray[np.int32]:
        """Label the rows by their groups.

        Parameters
        ----------
        points : ndarray of shape (n, p)
            Scaled records, float64 without missing values.
        k : int
            Smallest group size; 1 gives every row a group of its own, k ≤ n < 2k one group of all.
        rng : Generator
            Source of chance; a partitioner that draws nothing ignores it.

        Returns
        -------
        ndarray of int32
            Labels 0, 1, …, each used at least ``k`` times.

        Raises
        ------
        TableError
            There are fewer than ``k`` rows, or values that have no distance.
        """


partitioners: Registry[Partitioner] = Registry(
    "partitioner", built_in=("crypsis.masking", "crypsis.searches.partitions")
)
"""Every partitioner by its name, e.g. ``partitioners.build("mdav")``."""
