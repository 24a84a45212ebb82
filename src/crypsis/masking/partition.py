"""The contract of a partitioner: points in, groups of at least k out."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.registry import Registry, Settings


class Partitioner(Settings):
    """A frozen settings object that groups rows of already scaled points into clusters of at least k."""

    @abstractmethod
    def partition(self, points: NDArray[np.float64], k: int, rng: Generator) -> NDArray[np.int32]:
        """float64[n, p] without missing values → int32[n]: labels 0, 1, …, each used at least k times.

        n < k is refused with a TableError; k ≤ n < 2k gives one group; k = 1 gives every row its own.
        """


partitioners: Registry[Partitioner] = Registry("partitioner", built_in=("crypsis.searches.partitions",))
