"""The operators of GOMM: Falkenauer's crossover, five mutations, and our own (resize, climb, refine)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import scipy
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.encoding import Genome
from crypsis.encodings.grouping import Groups, group_count
from crypsis.errors import SearchError
from crypsis.evolution import Operator
from crypsis.evolution.selection import draw_positions
from crypsis.kernels.groupings import inject, renumber, settle

CARRIED = 2
"""Genes behind groups and k in a candidate of columns of any kind: effort, and the place of a treatment."""


class Mutation(Operator):
    """An operator with one parent."""

    arity = 1


class Crossover(Operator):
    """Each parent's crossing site, a random stretch of its group part, is injected into the other parent."""

    name = "crossover"
    arity = 2

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        first, second = parents
        sites = [sorted(draw_positions(group_count(parent) + 1, 2, rng)) for parent in parents]
        return [inject(first, second, *sites[0]), inject(second, first, *sites[1])]


class GroupCreate(Mutation):
    """A new group of random attributes (any number of them); the others stay where they were."""

    name = "group create"

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child = parents[0].copy()
        attributes = len(child) - 1
        child[rng.permutation(attributes)[: rng.integers(1, attributes + 1)]] = group_count(child)
        return [settle(child)]


class Regrouping(Mutation):
    """A mutation that needs two groups; a clone if there is only one."""

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child, groups = parents[0].copy(), group_count(parents[0])
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
        child, groups = parents[0].copy(), group_count(parents[0])
        members = np.flatnonzero(child[:-1] == rng.integers(groups))
        child[rng.permutation(members)[: len(members) // 2]] = groups
        return [settle(child)]


class ElementSwap(Mutation):
    """Two random attributes change groups; a clone if they share one, or if there is a single attribute."""

    name = "element swap"

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child = parents[0].copy()
        if len(child) > 2:
            first, second = draw_positions(len(child) - 1, 2, rng)
            child[first], child[second] = child[second], child[first]
        return [child]


class ElementMove(Regrouping):
    """A random attribute moved to another existing group."""

    name = "element move"

    def regroup(self, child: Genome, groups: int, rng: Generator) -> None:
        attribute, home = rng.integers(len(child) - 1), rng.integers(groups - 1)
        child[attribute] = home + (home >= child[attribute])


@dataclass(frozen=True)
class Resize(Mutation):
    """k multiplied by a random factor between one half and two, within its bounds."""

    smallest: int
    largest: int
    name: ClassVar[str] = "resize"

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child = parents[0].copy()
        size = round(int(child[-1]) * 2.0 ** rng.uniform(-1.0, 1.0))
        child[-1] = min(max(size, self.smallest), self.largest)
        return [child]


@dataclass(frozen=True)
class Rung(Mutation):
    """k moved to a neighbouring size, or sometimes to any.

    Parameters
    ----------
    rungs : tuple of int
        The sizes k may have, ascending.
    """

    rungs: tuple[int, ...]
    name: ClassVar[str] = "resize"

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child, last = parents[0].copy(), len(self.rungs) - 1
        if rng.random() < 0.25:
            child[-1] = self.rungs[int(rng.integers(last + 1))]
            return [child]
        place = self.rungs.index(int(child[-1])) + (1 if rng.random() < 0.5 else -1)
        child[-1] = self.rungs[min(max(place, 0), last)]
        return [child]


def resize_operator(smallest: int, largest: int, rungs: tuple[int, ...]) -> Mutation:
    """The operator that changes k: between rungs where there are any, else freely within its bounds."""
    return Rung(rungs) if rungs else Resize(smallest, largest)


@dataclass(frozen=True)
class Climb(Mutation):
    """Neighbours of an elite: mostly one or two random steps away, sometimes more, to leave local optima.

    A step moves an attribute to another group or to one of its own, swaps two attributes of different groups, or
    (seldom) merges two groups.

    Parameters
    ----------
    breadth : int
        Neighbours proposed at a time.
    """

    breadth: int
    name: ClassVar[str] = "climb"

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        return [self._neighbour(parents[0], rng) for _ in range(self.breadth)]

    @staticmethod
    def _neighbour(parent: Genome, rng: Generator) -> Genome:
        child = parent
        for _ in range(min(int(rng.geometric(0.6)), 6)):
            child = _step(child, rng)
        return child


def _step(parent: Genome, rng: Generator) -> Genome:
    child, groups, kind = parent.copy(), group_count(parent), rng.random()
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


@dataclass(frozen=True)
class Carried(Operator):
    """An operator on groupings whose candidates carry more genes: effort and treatment follow the child's own parent.

    Parameters
    ----------
    operator : Operator
        Varies groups and k.
    most : int
        Effort of a child at most: a new grouping is judged quickly first.
    """

    operator: Operator
    most: int

    @property
    def name(self) -> str:
        """That of the operator."""
        return self.operator.name

    @property
    def arity(self) -> int:
        """That of the operator."""
        return self.operator.arity

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        made = self.operator.apply([parent[:-CARRIED] for parent in parents], rng)
        children = []
        for place, child in enumerate(made):
            effort, treatment = parents[place % len(parents)][-CARRIED:].tolist()
            tail = [min(effort, self.most), treatment]
            children.append(np.concatenate([child, np.array(tail, dtype=np.int32)]).astype(np.int32))
        return children


@dataclass(frozen=True)
class Refine(Mutation):
    """The same grouping with more effort spent on its clusters.

    Parameters
    ----------
    most : int
        Largest effort.
    """

    most: int
    name: ClassVar[str] = "refine"

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child = parents[0].copy()
        child[-CARRIED] = min(int(child[-CARRIED]) + 1, self.most)
        return [child]


# -- A grouping of attributes as a candidate: Falkenauer's object part and group part in one array.
#
# A candidate is int32[p + 1]. Its first p numbers are the object part: the group of each attribute, where the
# number of a group is its place in the group part; so the group part is 0, 1, … and needs no room of its
# own. The last number is k, the least number of records in a cluster. Two genomes that differ only in the
# order of their groups are clones and share a key.


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


# -- Groupings people choose by hand: what a search must improve on, and members of its first population.


def all_together(attributes: int) -> Groups:
    """One group: the only choice that keeps k-anonymity over all attributes.

    attributes  how many there are

    Examples
    --------
    >>> all_together(3)
    ((0, 1, 2),)
    """
    return (tuple(range(attributes)),)


def univariate(attributes: int) -> Groups:
    """Every attribute alone.

    attributes  how many there are

    Examples
    --------
    >>> univariate(3)
    ((0,), (1,), (2,))
    """
    return tuple((attribute,) for attribute in range(attributes))


def likeness(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[p, p]: absolute correlations; a constant attribute is like no other."""
    centred = values - values.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    scaled = centred / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.abs(scaled.T @ scaled))


def correlated_together(values: NDArray[np.float64], n: int) -> Groups:
    """Groups of n attributes that are alike (the last may be smaller): little information is lost.

    values  ndarray of shape (n, p): complete and numeric
    n  attributes of a group

    Notes
    -----
    Each group starts with the most correlated pair left and takes in, one by one, the attribute with the highest mean
    absolute correlation to its members; ties go to the lower attribute.
    """
    _check(n, np.shape(values)[1])
    return _together(likeness(np.asarray(values, dtype=np.float64)), n)


def _together(alike: NDArray[np.float64], n: int) -> Groups:
    left, groups = list(range(len(alike))), []
    while left:
        group = _most_alike_pair(alike, left) if n > 1 and len(left) > 1 else [left[0]]
        while len(group) < min(n, len(left)):
            rest = [a for a in left if a not in group]
            group.append(rest[int(np.argmax(alike[np.ix_(rest, group)].mean(axis=1)))])
        left = [a for a in left if a not in group]
        groups.append(group)
    return _canonical(groups)


def correlated_apart(values: NDArray[np.float64], n: int) -> Groups:
    """Groups of about n attributes that are unlike, so that the groups are like each other: little is linked.

    values  ndarray of shape (n, p): complete and numeric
    n  attributes of a group

    Notes
    -----
    Attributes alike are distributed, one to each of the ⌈p / n⌉ groups.
    """
    _check(n, np.shape(values)[1])
    return _apart(likeness(np.asarray(values, dtype=np.float64)), n)


def _apart(alike: NDArray[np.float64], n: int) -> Groups:
    hands = -(-len(alike) // n)
    groups: list[list[int]] = [[] for _ in range(hands)]
    for family in _together(alike, hands):
        # The fullest group waits, so that short families do not always feed the same groups.
        order = sorted(range(hands), key=lambda hand: (len(groups[hand]), hand))
        for hand, attribute in zip(order, family, strict=False):
            groups[hand].append(attribute)
    return _canonical([group for group in groups if group])


def families(values: NDArray[np.float64], most: int = 10) -> list[Groups]:
    """Natural families of attributes: hierarchical clusters of 1 − |correlation|, cut into 2 … `most` groups.

    Parameters
    ----------
    values : ndarray of shape (n, p)
        Complete and numeric.
    most : int
        Most groups.

    Returns
    -------
    list of Groups
    """
    return _families(likeness(np.asarray(values, dtype=np.float64)), most)


def _families(alike: NDArray[np.float64], most: int) -> list[Groups]:
    attributes = len(alike)
    pairs = np.maximum(1.0 - alike[np.triu_indices(attributes, 1)], 0.0)
    found: dict[Groups, None] = {}
    for method in ("average", "complete", "ward") if attributes > 1 else ():
        tree = scipy.cluster.hierarchy.linkage(pairs, method)
        for count in range(2, min(most, attributes - 1) + 1):
            labels = scipy.cluster.hierarchy.fcluster(tree, count, "maxclust")
            found[_canonical([np.flatnonzero(labels == label).tolist() for label in np.unique(labels)])] = None
    return list(found)


def customary(values: NDArray[np.float64]) -> list[Groups]:
    """All groupings of this module for one table, each once, beginning with all together and univariate.

    Parameters
    ----------
    values : ndarray of shape (n, p)
        Complete and numeric.

    Returns
    -------
    list of Groups
    """
    return customary_by(likeness(np.asarray(values, dtype=np.float64)))


def customary_by(alike: NDArray[np.float64]) -> list[Groups]:
    """As `customary`, by a likeness of attributes in 0 … 1: float64[p, p]."""
    listed = [all_together(len(alike)), univariate(len(alike)), *_families(alike, 10)]
    for n in range(2, len(alike) // 2 + 1):
        listed += [_together(alike, n), _apart(alike, n)]
    return list(dict.fromkeys(listed))


def _most_alike_pair(alike: NDArray[np.float64], left: list[int]) -> list[int]:
    among = np.triu(alike[np.ix_(left, left)], 1) - np.tril(np.ones((len(left), len(left))))
    first, second = np.unravel_index(int(np.argmax(among)), among.shape)
    return [left[int(first)], left[int(second)]]


def _canonical(groups: list[list[int]]) -> Groups:
    return tuple(sorted(tuple(sorted(group)) for group in groups))


def _check(n: int, attributes: int) -> None:
    if not 1 <= n <= attributes:
        raise SearchError(
            f"groups of {n} attributes were asked for, but there are {attributes}; give 1 to {attributes}"
        )
