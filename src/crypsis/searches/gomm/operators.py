"""The operators of GOMM: Falkenauer's crossover, five mutations, and our own (mutation of k, local search)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import scipy
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.encoding import Genome
from crypsis.encodings.grouping import (
    Groups,
    correlations_for_grouping,
    count_groups_in_grouping,
    grouping_of_one_group,
)
from crypsis.errors import SearchError
from crypsis.evolution import Operator
from crypsis.evolution.operators import draw_operator_positions
from crypsis.kernels.groupings import inject, renumber, settle


class Mutation(Operator):
    """An operator with one parent."""

    arity = 1


class Crossover(Operator):
    """Each parent's crossing site, a random stretch of its group part, is injected into the other parent."""

    name = "crossover"
    arity = 2

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        first, second = parents
        sites = [sorted(draw_operator_positions(count_groups_in_grouping(parent) + 1, 2, rng)) for parent in parents]
        return [inject(first, second, *sites[0]), inject(second, first, *sites[1])]


class GroupCreate(Mutation):
    """A new group of random attributes (any number of them); the others stay where they were."""

    name = "group create"

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child = parents[0].copy()
        attributes = len(child) - 1
        child[rng.permutation(attributes)[: rng.integers(1, attributes + 1)]] = count_groups_in_grouping(child)
        return [settle(child)]


class Regrouping(Mutation):
    """A mutation that needs two groups; a clone if there is only one."""

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child, groups = parents[0].copy(), count_groups_in_grouping(parents[0])
        if groups == 1:
            return [child]
        self.regroup(child, groups, rng)
        return [settle(child)]

    @abstractmethod
    def regroup(self, child: Genome, groups: int, rng: Generator) -> None:
        """Change the groups of the child in place."""


class GroupEliminate(Regrouping):
    """A random group dissolved, each of its attributes to a random other group."""

    name = "group eliminate"

    def regroup(self, child: Genome, groups: int, rng: Generator) -> None:
        gone = rng.integers(groups)
        homeless = np.flatnonzero(child[:-1] == gone)
        homes = rng.integers(groups - 1, size=len(homeless))
        child[homeless] = homes + (homes >= gone)


class GroupSplit(Mutation):
    """A random group split at random into halves; a clone if the group is a single attribute."""

    name = "group split"

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child, groups = parents[0].copy(), count_groups_in_grouping(parents[0])
        members = np.flatnonzero(child[:-1] == rng.integers(groups))
        child[rng.permutation(members)[: len(members) // 2]] = groups
        return [settle(child)]


class ElementSwap(Mutation):
    """Two random attributes change groups; a clone if they share one, or if there is a single attribute."""

    name = "element swap"

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child = parents[0].copy()
        if len(child) > 2:
            first, second = draw_operator_positions(len(child) - 1, 2, rng)
            child[first], child[second] = child[second], child[first]
        return [child]


class ElementMove(Regrouping):
    """A random attribute moved to another existing group."""

    name = "element move"

    def regroup(self, child: Genome, groups: int, rng: Generator) -> None:
        attribute, home = rng.integers(len(child) - 1), rng.integers(groups - 1)
        child[attribute] = home + (home >= child[attribute])


@dataclass(frozen=True)
class KMutation(Mutation):
    """k multiplied by a random factor between one half and two, within its bounds."""

    smallest: int
    largest: int
    name: ClassVar[str] = "k mutation"

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child = parents[0].copy()
        size = round(int(child[-1]) * 2.0 ** rng.uniform(-1.0, 1.0))
        child[-1] = min(max(size, self.smallest), self.largest)
        return [child]


@dataclass(frozen=True)
class LocalSearch(Mutation):
    """Neighbours of an elite: mostly one or two random steps away, sometimes more, to leave local optima.

    A step moves an attribute to another group or to one of its own, swaps two attributes of different groups, or
    (seldom) merges two groups.
    """

    size: int  # neighbours proposed at a time
    name: ClassVar[str] = "local search"

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        return [self._neighbour(parents[0], rng) for _ in range(self.size)]

    @staticmethod
    def _neighbour(parent: Genome, rng: Generator) -> Genome:
        child = parent
        for _ in range(min(int(rng.geometric(0.6)), 6)):
            child = _step(child, rng)
        return child


def _step(parent: Genome, rng: Generator) -> Genome:
    child, groups, kind = parent.copy(), count_groups_in_grouping(parent), rng.random()
    labels = child[:-1]
    if groups > 1 and kind < 0.04:
        kept, gone = rng.choice(groups, size=2, replace=False)
        labels[labels == gone] = kept
    elif groups > 1 and kind < 0.5:
        first = rng.integers(len(labels))
        others = np.flatnonzero(labels != labels[first])
        second = others[rng.integers(len(others))]
        labels[first], labels[second] = labels[second], labels[first]
    else:
        attribute = rng.integers(len(labels))
        labels[attribute] = (labels[attribute] + rng.integers(1, groups + 1)) % (groups + 1)
    return settle(child)


# -- A grouping of attributes as a candidate: Falkenauer's object part and group part in one array.
#
# A candidate is int32[p + 1]. Its first p numbers are the object part: the group of each attribute, where the
# number of a group is its place in the group part; so the group part is 0, 1, … and needs no room of its
# own. The last number is k, the least number of records in a cluster. Two genomes that differ only in the
# order of their groups are clones and share a key.


@dataclass(frozen=True)
class GroupingCandidates:
    """All groupings of p attributes, with k fixed or within bounds."""

    attributes: int  # p
    k: int  # bounds of k; equal where it is fixed
    largest_k: int
    # how random groupings are drawn. "uniform": each attribute into one of p groups, which gives many small groups
    # (as in the paper); "log-uniform": into one of g, with g uniform on a logarithmic scale in 1 … p
    initial_groups: Literal["uniform", "log-uniform"] = "uniform"
    k_grid: tuple[int, ...] = ()  # the values k may have; empty: every one within the bounds

    def draw(self, rng: Generator, size: int) -> list[Genome]:
        """So many random groupings."""
        return [self._draw(rng) for _ in range(size)]

    def _draw(self, rng: Generator) -> Genome:
        groups = self.attributes if self.initial_groups == "uniform" else _draw_log_uniform(1, self.attributes, rng)
        labels = rng.integers(groups, size=self.attributes).astype(np.int32)
        return np.append(renumber(labels), np.int32(self.draw_k(rng)))

    def draw_k(self, rng: Generator) -> int:
        """k uniform on a logarithmic scale within its bounds, or uniform on its grid; nothing is drawn where fixed."""
        if self.k_grid:
            return self.k_grid[int(rng.integers(len(self.k_grid)))]
        return _draw_log_uniform(self.k, self.largest_k, rng) if self.largest_k > self.k else self.k

    def key(self, genome: Genome) -> bytes:
        """Equal for groupings that differ only in the order of their groups."""
        return renumber(genome[:-1]).tobytes() + int(genome[-1]).to_bytes(4, "little")


def _draw_log_uniform(low: int, high: int, rng: Generator) -> int:
    return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))))


# -- Groupings by heuristics, as people choose them: what a search must improve on, and members of its first population.


def isolate_for_gomm_operators(attributes: int) -> Groups:
    """Beside the operators of GOMM: the grouping they may start from in which every attribute is alone.

    >>> isolate_for_gomm_operators(3)
    ((0,), (1,), (2,))
    """
    return tuple((attribute,) for attribute in range(attributes))


def group_correlated_for_gomm(values: NDArray[np.float64], n: int) -> Groups:
    """A grouping for GOMM of n alike attributes each (the last may be smaller): little information is lost.

    Each group starts with the most correlated pair left and takes in, one by one, the attribute with the highest mean
    absolute correlation to its members; ties go to the lower attribute.
    """
    _check_size(n, np.shape(values)[1])
    return _group_alike(correlations_for_grouping(np.asarray(values, dtype=np.float64)), n)


def _group_alike(alike: NDArray[np.float64], n: int) -> Groups:
    left, groups = list(range(len(alike))), []
    while left:
        group = _most_alike_pair(alike, left) if n > 1 and len(left) > 1 else [left[0]]
        while len(group) < min(n, len(left)):
            rest = [a for a in left if a not in group]
            group.append(rest[int(np.argmax(alike[np.ix_(rest, group)].mean(axis=1)))])
        left = [a for a in left if a not in group]
        groups.append(group)
    return _canonical(groups)


def separate_for_gomm_operators(values: NDArray[np.float64], n: int) -> Groups:
    """Beside the operators of GOMM: a grouping that puts about n unlike attributes into each group.

    Attributes alike are distributed, one to each of the ⌈p / n⌉ groups.
    """
    _check_size(n, np.shape(values)[1])
    return _separate_alike(correlations_for_grouping(np.asarray(values, dtype=np.float64)), n)


def _separate_alike(alike: NDArray[np.float64], n: int) -> Groups:
    count = -(-len(alike) // n)
    groups: list[list[int]] = [[] for _ in range(count)]
    for similar in _group_alike(alike, count):
        # The fullest group waits, so that short lists do not always feed the same groups.
        order = sorted(range(count), key=lambda place: (len(groups[place]), place))
        for place, attribute in zip(order, similar, strict=False):
            groups[place].append(attribute)
    return _canonical([group for group in groups if group])


def cluster_gomm_attributes(values: NDArray[np.float64], most: int = 10) -> list[Groups]:
    """Groupings for GOMM: hierarchical clusters of 1 − |correlation| of attributes, cut into 2 … `most` groups."""
    return _cluster_alike(correlations_for_grouping(np.asarray(values, dtype=np.float64)), most)


def _cluster_alike(alike: NDArray[np.float64], most: int) -> list[Groups]:
    attributes = len(alike)
    pairs = np.maximum(1.0 - alike[np.triu_indices(attributes, 1)], 0.0)
    found: dict[Groups, None] = {}
    for method in ("average", "complete", "ward") if attributes > 1 else ():
        tree = scipy.cluster.hierarchy.linkage(pairs, method)
        for count in range(2, min(most, attributes - 1) + 1):
            labels = scipy.cluster.hierarchy.fcluster(tree, count, "maxclust")
            found[_canonical([np.flatnonzero(labels == label).tolist() for label in np.unique(labels)])] = None
    return list(found)


def heuristic_gomm_groupings(values: NDArray[np.float64]) -> list[Groups]:
    """All groupings that the operators of GOMM start from, each once, beginning with one group and univariate."""
    return list_gomm_operators_groupings(correlations_for_grouping(np.asarray(values, dtype=np.float64)))


def list_gomm_operators_groupings(alike: NDArray[np.float64]) -> list[Groups]:
    """Beside the operators of GOMM: first groupings they work on, by absolute correlations float64[p, p]."""
    listed = [grouping_of_one_group(len(alike)), isolate_for_gomm_operators(len(alike)), *_cluster_alike(alike, 10)]
    for n in range(2, len(alike) // 2 + 1):
        listed += [_group_alike(alike, n), _separate_alike(alike, n)]
    return list(dict.fromkeys(listed))


def _most_alike_pair(alike: NDArray[np.float64], left: list[int]) -> list[int]:
    among = np.triu(alike[np.ix_(left, left)], 1) - np.tril(np.ones((len(left), len(left))))
    first, second = np.unravel_index(int(np.argmax(among)), among.shape)
    return [left[int(first)], left[int(second)]]


def _canonical(groups: list[list[int]]) -> Groups:
    return tuple(sorted(tuple(sorted(group)) for group in groups))


def _check_size(n: int, attributes: int) -> None:
    if not 1 <= n <= attributes:
        raise SearchError(
            f"groups of {n} attributes were asked for, but there are {attributes}; give 1 to {attributes}"
        )
