"""The operators of GOMM: Falkenauer's crossover, five mutations, and our own (resize, climb, refine)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from crypsis.encodings.encoding import Genome
from crypsis.encodings.grouping import group_count
from crypsis.evolution import Operator
from crypsis.evolution.selection import drawn
from crypsis.kernels.groupings import inject, settle

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
        sites = [sorted(drawn(group_count(parent) + 1, 2, rng)) for parent in parents]
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
            first, second = drawn(len(child) - 1, 2, rng)
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


def resizing(smallest: int, largest: int, rungs: tuple[int, ...]) -> Mutation:
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
            child = _stepped(child, rng)
        return child


def _stepped(parent: Genome, rng: Generator) -> Genome:
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
