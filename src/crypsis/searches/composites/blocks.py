"""Composite groups of large tables: blocks of near groups walk one after another, cut anew in every round.

A quantum looks at one block alone, so that its time does not grow with the table.
"""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Ints, Words
from crypsis.searches.composites.space import CompositeSpace, Labels
from crypsis.searches.composites.walk import CompositeWalk

WHOLE = 50_000
"""Records up to which groups walk over the whole table."""
BLOCK = 4_000
"""Records of a block, about."""


def block_count(space: CompositeSpace) -> int:
    """How many blocks a round has."""
    return -(-len(space) // BLOCK) + 1


def block_rows(space: CompositeSpace, labels: Labels, turn: int, block: int) -> Ints:
    """Records of the groups whose middle lies in a block: stretches of two orders in turn, shifted every other time."""
    place = space.place(turn % 2)
    sizes = np.bincount(labels)
    middle = np.bincount(labels, weights=place) / np.maximum(sizes, 1)
    shift = turn // 2 % 2 * BLOCK // 2
    inside = ((middle + shift) // BLOCK).astype(np.int64) == block
    return np.flatnonzero(inside[labels])


def walked_block(
    space: CompositeSpace,
    profile: int,
    k: int,
    labels: Labels,
    rows: Ints,
    chance: Words,
    pace: tuple[int, float, float],
) -> Labels:
    """The labels after some records have walked for so many cells from hot to cold, if they lose less afterwards.

    rows  whole groups
    pace  cells read, temperatures at the beginning and the end in costs of a record
    """
    held, local = np.unique(labels[rows], return_inverse=True)
    if len(held) < 2:
        return labels
    part = space.part(rows)
    walk = CompositeWalk(part, profile, k, chance)
    before = walk.load(local.astype(np.int32))
    (work, hot, cold), warmth = pace, walk.record_cost()
    if before == 0.0 or walk.anneal(work, hot * warmth, cold * warmth) >= before:
        return labels
    found = walk.labels()
    if not part.demands.only_size and (part.demands.shortfalls(found) > 0.0).any():
        return labels
    many = int(found.max()) + 1
    fresh = np.arange(int(labels.max()) + 1, int(labels.max()) + 1 + max(0, many - len(held)))
    after = labels.copy()
    after[rows] = np.concatenate([held, fresh])[found]
    return after
