"""A grouping of attributes as a candidate: Falkenauer's object part and group part in one array.

A candidate is int32[p + 1]. Its first p numbers are the object part: the group of each attribute, where the
number of a group is its place in the group part; so the group part is 0, 1, … and needs no room of its
own. The last number is k, the least number of records in a cluster. Two genomes that differ only in the
order of their groups are clones and share a key.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.errors import SearchError
from crypsis.kernels.groupings import renumber

Genome = NDArray[Any]


def genome_of(groups: Iterable[Iterable[int]], attributes: int, k: int) -> Genome:
    """The genome of listed groups.

    Parameters
    ----------
    groups : iterable of iterables of int
        Attributes, numbered from 0, group by group; each occurs exactly once.
    attributes : int
        How many attributes there are.
    k : int
        Least number of records in a cluster.

    Returns
    -------
    Genome

    Raises
    ------
    SearchError
        If an attribute is missing, named twice, or does not exist.

    Examples
    --------
    >>> genome_of([(0, 2), (1,)], 3, k=5)
    array([0, 1, 0, 5], dtype=int32)
    """
    genome = np.full(attributes + 1, -1, dtype=np.int32)
    for number, group in enumerate(groups):
        for attribute in group:
            if not 0 <= attribute < attributes:
                raise SearchError(
                    f"a grouping names attribute {attribute}, but there are {attributes}, numbered from 0 to "
                    f"{attributes - 1}; correct the number"
                )
            if genome[attribute] != -1:
                raise SearchError(f"a grouping names attribute {attribute} twice; every attribute is in one group")
            genome[attribute] = number
    absent = np.flatnonzero(genome[:-1] == -1).tolist()
    if absent:
        raise SearchError(f"a grouping leaves out attributes {absent}; put every attribute into one group")
    genome[-1] = k
    return genome


@dataclass(frozen=True)
class GroupingCandidates:
    """All groupings of p attributes, with k fixed or within bounds.

    Parameters
    ----------
    attributes : int
        p.
    k, largest_k : int
        Bounds of k; equal where it is fixed.
    spread : str
        How random groupings are drawn. "uniform": each attribute into one of p groups, which gives many small groups
        (as in the paper); "wide": into one of g, with g uniform on a logarithmic scale in 1 … p.
    rungs : tuple of int
        The sizes k may have; empty: every size within the bounds.
    """

    attributes: int
    k: int
    largest_k: int
    spread: Literal["uniform", "wide"] = "uniform"
    rungs: tuple[int, ...] = ()

    def draw(self, rng: Generator, size: int) -> list[Genome]:
        """So many random groupings."""
        return [self._draw(rng) for _ in range(size)]

    def _draw(self, rng: Generator) -> Genome:
        groups = self.attributes if self.spread == "uniform" else _between(1, self.attributes, rng)
        labels = rng.integers(groups, size=self.attributes).astype(np.int32)
        return np.append(renumber(labels), np.int32(self.draw_k(rng)))

    def draw_k(self, rng: Generator) -> int:
        """k uniform on a logarithmic scale within its bounds, or a rung; nothing is drawn where it is fixed."""
        if self.rungs:
            return self.rungs[int(rng.integers(len(self.rungs)))]
        return _between(self.k, self.largest_k, rng) if self.largest_k > self.k else self.k

    def key(self, genome: Genome) -> bytes:
        """Equal for groupings that differ only in the order of their groups."""
        return renumber(genome[:-1]).tobytes() + int(genome[-1]).to_bytes(4, "little")


def _between(low: int, high: int, rng: Generator) -> int:
    return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))))
