"""The operators of GOMM: Falkenauer's crossover, five mutations, and two of our own (resize, climb)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.searches.groupings.encoding import Genome, group_count, renumbered, with_k


def with_labels(genome: Genome, labels: NDArray[Any], order: NDArray[np.int32] | None = None) -> Genome:
    """A genome of the same k with other labels; emptied groups vanish, the group part keeps its order."""
    place = np.arange(len(labels) + 1, dtype=np.int32) if order is None else order
    return with_k(renumbered(labels, place), genome[-1])


def inject(giver: Genome, receiver: Genome, low: int, high: int) -> Genome:
    """Groups low … high − 1 of the giver's group part with all their attributes; every other attribute as the receiver
    has it. Group part: the injected groups, then what is left of the receiver's. k is the giver's.
    """
    given, shift = giver[:-1], group_count(giver)
    injected = (given >= low) & (given < high)
    labels = np.where(injected, given, receiver[:-1] + shift)
    order = np.array([*range(low, high), *range(shift, shift + group_count(receiver))], dtype=np.int32)
    return with_labels(giver, labels, order)


@dataclass(frozen=True)
class Crossover:
    """Each parent's crossing site, a random stretch of its group part, is injected into the other parent."""

    name: str = "crossover"
    arity: int = 2

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        first, second = parents
        sites = [np.sort(rng.choice(group_count(parent) + 1, size=2, replace=False)) for parent in parents]
        return [
            inject(first, second, int(sites[0][0]), int(sites[0][1])),
            inject(second, first, int(sites[1][0]), int(sites[1][1])),
        ]


@dataclass(frozen=True)
class GroupCreate:
    """A new group of random attributes (any number of them); the others stay where they were."""

    name: str = "group create"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        labels = parents[0][:-1].copy()
        size = rng.integers(1, len(labels) + 1)
        labels[rng.choice(len(labels), size=size, replace=False)] = group_count(parents[0])
        return [with_labels(parents[0], labels)]


@dataclass(frozen=True)
class GroupEliminate:
    """A random group dissolved, each of its attributes to a random other group; a clone if there is only one group."""

    name: str = "group eliminate"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        groups = group_count(parents[0])
        if groups == 1:
            return [parents[0].copy()]
        labels, gone = parents[0][:-1].copy(), rng.integers(groups)
        homeless = np.flatnonzero(labels == gone)
        drawn = rng.integers(groups - 1, size=len(homeless))
        labels[homeless] = drawn + (drawn >= gone)
        return [with_labels(parents[0], labels)]


@dataclass(frozen=True)
class GroupSplit:
    """A random group split at random into halves; a clone if the group is a single attribute."""

    name: str = "group split"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        groups = group_count(parents[0])
        labels = parents[0][:-1].copy()
        members = np.flatnonzero(labels == rng.integers(groups))
        labels[rng.permutation(members)[: len(members) // 2]] = groups
        return [with_labels(parents[0], labels)]


@dataclass(frozen=True)
class ElementSwap:
    """Two random attributes change groups; a clone if they share one, or if there is a single attribute."""

    name: str = "element swap"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        labels = parents[0][:-1].copy()
        if len(labels) > 1:
            pair = rng.choice(len(labels), size=2, replace=False)
            labels[pair] = labels[pair[::-1]]
        return [with_labels(parents[0], labels)]


@dataclass(frozen=True)
class ElementMove:
    """A random attribute moved to another existing group; a clone if there is only one group."""

    name: str = "element move"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        groups = group_count(parents[0])
        if groups == 1:
            return [parents[0].copy()]
        labels = parents[0][:-1].copy()
        attribute = rng.integers(len(labels))
        drawn = rng.integers(groups - 1)
        labels[attribute] = drawn + (drawn >= labels[attribute])
        return [with_labels(parents[0], labels)]


@dataclass(frozen=True)
class Resize:
    """k multiplied by a random factor between one half and two, within its bounds."""

    smallest: int
    largest: int
    name: str = "resize"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child = parents[0].copy()
        size = round(int(child[-1]) * 2.0 ** rng.uniform(-1.0, 1.0))
        child[-1] = min(max(size, self.smallest), self.largest)
        return [child]


@dataclass(frozen=True)
class Climb:
    """Neighbours of an elite: mostly one or two random steps away, sometimes more, to leave local optima.

    A step moves an attribute to another group or to one of its own, swaps two attributes of different groups, or
    (seldom) merges two groups.
    breadth  neighbours proposed at a time
    """

    breadth: int
    name: str = "climb"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        return [self._neighbour(parents[0], rng) for _ in range(self.breadth)]

    @staticmethod
    def _neighbour(parent: Genome, rng: Generator) -> Genome:
        child = parent
        for _ in range(min(int(rng.geometric(0.6)), 6)):
            child = _stepped(child, rng)
        return child


def _stepped(parent: Genome, rng: Generator) -> Genome:
    labels, groups, kind = parent[:-1].copy(), group_count(parent), rng.random()
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
    return with_labels(parent, labels)
