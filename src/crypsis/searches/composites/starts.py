"""First groups of composite searches, and groups put together until they meet what is demanded of them."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from crypsis.masking.blocks import QUICK_BLOCK, Blocks
from crypsis.masking.recoding import LocalRecoding
from crypsis.masking.scaling import embed
from crypsis.pieces import Pieces, completed
from crypsis.searches.composites.space import CompositeSpace, Labels
from crypsis.searches.composites.walk import CompositeWalk
from crypsis.searches.partitions.memetic import Annealing
from crypsis.searches.partitions.space import PartitionSpace
from crypsis.table.attribute import Kind
from crypsis.table.table import Table

Start = Literal["best", "halving", "mdav", "local-recoding"]

NODES = 256
"""Lattice nodes offered to a local recoding that only begins a search."""
LITTLE = 2e8
"""Coordinates that MDAV compares in less than a quarter of a second."""
STEPS = 300
"""Moves of a record while first groups become compact."""
MOVED = 6e7
"""Coordinates of all these moves that take less than a third of a second."""


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
        else:
            [groups] = yield [partial(_other, space, k, way)]
        found += yield [partial(mended, space, profile, k, groups)]
    if len(found) == 1:
        return found[0], found[0]
    return min(found, key=lambda each: space.cost(profile, each)), found[-1]


def compacted(space: CompositeSpace, k: int, labels: Labels, seed: int) -> Labels:
    """Groups of at least k by a short walk on squared distances; as they are where it takes long or more is demanded.

    A walk on cell losses from such groups ends better than one from those that the walk on distances began with.
    """
    if not space.demands.only_size or space.strata.any() or len(space) * _width(space) * STEPS > MOVED:
        return labels
    kept = space.table.take(np.flatnonzero(space.table.kept))
    points = PartitionSpace(np.ascontiguousarray(embed(kept, space.names, "range")), (k,))
    refinement = Annealing(steps=STEPS)
    lineage = refinement.begin(points, k, seed, labels)
    while tasks := refinement.tasks(points, lineage):
        lineage = refinement.absorb(points, lineage, [refinement.work(points, task) for task in tasks])
    return np.unique(lineage.labels, return_inverse=True)[1].astype(np.int32)


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
        points = np.ascontiguousarray(embed(part, space.names, "range"))
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
    walk = CompositeWalk(space, profile, max(int(np.bincount(labels).min()), 1), np.ones(1, np.uint64))
    walk.load(labels)
    walk.merge_short(k)
    joined, other = walk.labels(), first_groups(space, profile, k, "best")[0]
    return joined if space.cost(profile, joined) < space.cost(profile, other) else other
