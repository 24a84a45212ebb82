"""First groups of composite searches, and groups put together until they meet what is demanded of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crypsis.masking.blocks import QUICK_BLOCK, Blocks
from crypsis.masking.datafly import datafly_steps
from crypsis.masking.recoding import LocalRecoding
from crypsis.masking.scaling import embed
from crypsis.pieces import Pieces, completed
from crypsis.searches.composites.space import CompositeSpace, Labels, halved
from crypsis.searches.composites.walk import CompositeWalk
from crypsis.searches.partitions.walk import Walk
from crypsis.table.attribute import Kind
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table

Start = Literal["best", "halving", "mdav", "lattice", "local-recoding"]

NODES = 256
"""Lattice nodes offered to a local recoding that only begins a search."""
LITTLE = 2e8
"""Coordinates that MDAV compares in less than a quarter of a second."""
STEPS = 300
"""Moves of a record while first groups become compact."""
MOVED, QUANTA = 20_000_000, 4
"""Coordinates of the moves of one quantum, and how many quanta are spent at most."""
WARM, COOL = 0.35, 0.06
"""Temperatures of these moves, in the squared distance to the nearest records."""


RARE = 0.1
"""Share of the records that may be in classes of fewer than k at the node from which groups are made."""

FirstGroups = tuple[Labels, Labels]
"""The cheapest groups, and those to walk from."""


def first_groups(space: CompositeSpace, profile: int, k: int, start: Start) -> FirstGroups:
    """Groups of at least k records of one stratum that meet what is demanded: the cheapest, and those to walk from.

    Labels are 0, 1, … without gaps. A walk from the groups of MDAV, which are compact, ends better than one from
    groups of halving, even where those cost less.
    """
    return completed(grouping(space, profile, k, start))


def grouping(space: CompositeSpace, profile: int, k: int, start: Start) -> Pieces[FirstGroups]:
    """`first_groups` in pieces."""
    ways: tuple[Start, ...] = (start,)
    if start == "best":
        ways = ("halving", "mdav") if _compared(space, k) <= LITTLE else ("halving",)
    found = list[Labels]()
    for way in ways:
        if way == "halving":
            groups = yield from space.halving(profile, k)
        elif way == "lattice":
            [groups] = yield [partial(_within_node, space, profile, k)]
        else:
            [groups] = yield [partial(_other, space, k, way)]
        found += yield [partial(mended, space, profile, k, groups)]
    if len(found) == 1:
        return found[0], found[0]
    return min(found, key=lambda each: space.cost(profile, each)), found[-1]


def compactions(space: CompositeSpace) -> int:
    """Quanta in which first groups become compact; none where that takes long or groups must meet more than k."""
    needed = -(-len(space) * _width(space) * STEPS // MOVED)
    return 0 if needed > QUANTA or space.strata.any() or not space.demands.only_size else int(needed)


def compacted(space: CompositeSpace, k: int, labels: Labels, chance: NDArray[np.uint64], quantum: int) -> Labels:
    """Groups of at least k after one quantum of a walk on squared distances.

    A walk on losses from compact groups ends better than one from the groups that this one begins with.

    chance  state of the generator, which goes on
    quantum  0, 1, … of the compactions
    """
    walk = Walk(space.points.context(k), k, chance)
    walk.load(labels)
    quanta = compactions(space)
    fall = (COOL / WARM) ** (1.0 / quanta)
    walk.anneal(STEPS * len(space) // quanta, WARM * fall**quantum, WARM * fall ** (quantum + 1))
    return np.unique(walk.labels(), return_inverse=True)[1].astype(np.int32)


def _within_node(space: CompositeSpace, profile: int, k: int) -> Labels:
    """Records that are alike at the first node of Datafly with few rare ones, halved; too small groups put together."""
    lattice = Lattice.of(space.table, space.names)
    kept = space.table.take(np.flatnonzero(space.table.kept))
    leaves = [kept.leaf_codes(name) for name in space.names]

    def alike(levels: Mapping[str, int]) -> Labels:
        trees = zip(space.names, lattice.hierarchies, leaves, strict=True)
        groups = [np.where(codes < 0, -1, tree.groups[levels[name]][codes]) for name, tree, codes in trees]
        return np.unique(np.stack([space.strata, *groups]), axis=1, return_inverse=True)[1].astype(np.int32)

    def rare(levels: Mapping[str, int]) -> bool:
        classes = alike(levels)
        return bool((np.bincount(classes)[classes] < k).mean() > RARE)

    steps = datafly_steps(lattice)
    node = steps[min(bisect_left(steps, True, key=lambda levels: not rare(levels)), len(steps) - 1)]
    chance = np.ones(1, np.uint64)
    halves = halved(space.cells[profile], alike(node), k, 0.0, chance, space.room(k))[0]
    return _joined(space, profile, k, halves)


def _other(space: CompositeSpace, k: int, start: Start) -> Labels:
    """Groups of at least k records of one stratum, by MDAV or by local recoding."""
    kept = space.table.take(np.flatnonzero(space.table.kept))
    labels = np.zeros(len(space), np.int32)
    for stratum in np.unique(space.strata):
        rows = np.flatnonzero(space.strata == stratum)
        labels[rows] = int(labels.max(initial=-1)) + 1 + _grouped(space, kept.take(rows), k, start)
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def _compared(space: CompositeSpace, k: int) -> float:
    """About how many coordinates MDAV compares."""
    return len(space) * min(len(space), QUICK_BLOCK) * _width(space) / k


def _width(space: CompositeSpace) -> int:
    """Coordinates of a record: a category of a nominal column is one."""
    columns = [space.table.attribute(name) for name in space.names]
    return sum(len(each.categories) if each.kind is Kind.NOMINAL else 1 for each in columns)


def _grouped(space: CompositeSpace, part: Table, k: int, start: Start) -> Labels:
    """Groups of the records of one stratum."""
    rng = np.random.default_rng(0)
    if len(part) < 2 * k:
        return np.zeros(len(part), np.int32)
    if start == "mdav":
        points = np.ascontiguousarray(embed(part, space.names, "z"))
        return Blocks(size=QUICK_BLOCK, mending=0).partition(points, k, rng)
    return LocalRecoding(columns=space.names, k=k, nodes=NODES, effort=0).solve(part, rng).labels


def mended(space: CompositeSpace, profile: int, k: int, labels: Labels) -> Labels:
    """Groups put together with near ones until all meet what is demanded, as far as that is possible."""
    if space.demands.only_size:
        return labels
    walk = CompositeWalk(space, profile, k, np.ones(1, np.uint64))
    walk.load(labels)
    walk.merge_short()
    return walk.labels()


def put_together(space: CompositeSpace, profile: int, k: int, labels: Labels) -> Labels:
    """Groups of at least k, made of near smaller ones, or by another start where that costs less."""
    joined, other = _joined(space, profile, k, labels), first_groups(space, profile, k, "best")[0]
    return joined if space.cost(profile, joined) < space.cost(profile, other) else other


def _joined(space: CompositeSpace, profile: int, k: int, labels: Labels) -> Labels:
    """Groups with those of fewer than k records put together with near ones."""
    walk = CompositeWalk(space, profile, max(int(np.bincount(labels).min()), 1), np.ones(1, np.uint64))
    walk.load(labels)
    walk.merge_short(k)
    return walk.labels()
