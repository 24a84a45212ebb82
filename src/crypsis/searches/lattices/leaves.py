"""A table made ready for the roll-up: distinct tuples in tree order, their hierarchies as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.kernels.classes import Classes, Demand, Leaves, Readings, roll_up
from crypsis.table.counts import Counts, count_distinct, distinct_rows
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table

MOST_CELLS = 400_000_000
"""Tallies larger than this many cells are refused rather than left to exhaust the memory."""


@dataclass(frozen=True, eq=False)
class Ground:
    """The lowest node of a lattice and all that never changes above it."""

    lattice: Lattice
    total: int
    classes: Classes
    leaves: Leaves
    places: NDArray[np.int64]
    values: int
    """Columns of the tally that belong to the confidential attribute."""

    def readings(self, rule: int, allowance: int, k: int = 1, l: int = 1, prune: int = 0) -> Readings:  # noqa: E741
        """Judge every node; a pruned one has −1 classes."""
        size = self.lattice.size
        whole = [np.zeros(size, dtype=np.int64) for _ in range(6)]
        out = Readings(*whole, classes=np.full(size, -1, dtype=np.int64), loss=np.zeros(size))
        roll_up(self.classes, self.leaves, self.places, Demand(rule, allowance, k, l, self.values, prune), out)
        return out


def prepare(
    table: Table | Counts, lattice: Lattice, confidential: str | None, label: str | None, value_spread: bool
) -> Ground:
    """Reduce a table to its distinct tuples, once.

    value_spread  keep how often every confidential value occurs in a class (for S_l), not only whether it does
    """
    extra = [name for name in dict.fromkeys((confidential, label)) if name and name not in lattice.names]
    counts = table if isinstance(table, Counts) else count_distinct(table, [*lattice.names, *extra])
    order = sorted(range(len(lattice.names)), key=lambda a: -lattice.hierarchies[a].size)
    trees = [_tree_order(lattice.hierarchies[a]) for a in order]
    columns = [counts.codes[:, counts.place(lattice.names[a])] for a in order]
    leaf = np.stack([tree.rank[column] for tree, column in zip(trees, columns, strict=True)], axis=1)
    first, inverse, _ = distinct_rows(leaf)
    leaf = leaf[first]
    size = np.bincount(inverse, weights=counts.records, minlength=len(first)).astype(np.int64)
    parts = [_tally(counts, name, inverse, len(first)) for name in (confidential if value_spread else None, label)]
    differs = np.zeros(len(first), dtype=np.int32)
    differs[1:] = (leaf[1:] != leaf[:-1]).argmax(axis=1)
    classes = Classes(
        np.arange(len(first), dtype=np.int32),
        differs,
        size,
        _presence(counts, None if value_spread else confidential, inverse, len(first)),
        np.ascontiguousarray(np.concatenate(parts, axis=1)),
    )
    places = np.array([lattice.places[a] for a in order], dtype=np.int64)
    return Ground(lattice, counts.total, classes, _leaves(leaf, size, trees), places, parts[0].shape[1])


@dataclass(frozen=True, eq=False)
class _Tree:
    """A hierarchy with its leaves in tree order; a missing value is a last leaf of its own, at every level."""

    rank: NDArray[np.int32]
    """Position of each leaf code; the last entry is that of a missing value."""
    groups: list[NDArray[np.int32]]
    cells: list[NDArray[np.float64]]


def _tree_order(hierarchy: Hierarchy) -> _Tree:
    order = np.lexsort(hierarchy.groups)
    rank = np.empty(hierarchy.size + 1, dtype=np.int32)
    rank[order], rank[-1] = np.arange(hierarchy.size), hierarchy.size
    groups, cells = [], []
    for level, codes in enumerate(hierarchy.groups):
        ordered = codes[order]
        changes = np.concatenate([[0], ordered[1:] != ordered[:-1], [1]])
        groups.append(np.cumsum(changes).astype(np.int32))
        held = hierarchy.leaves(level)[ordered]
        cells.append(np.append((held - 1) / max(hierarchy.size - 1, 1), 0.0))
    return _Tree(rank, groups, cells)


def _leaves(leaf: NDArray[np.int32], size: NDArray[np.int64], trees: list[_Tree]) -> Leaves:
    heights = [len(tree.groups) - 1 for tree in trees]
    start = np.zeros((len(trees), max(heights) + 1), dtype=np.int64)
    marginal = np.zeros(start.shape)
    position = 0
    for place, tree in enumerate(trees):
        for level, cell in enumerate(tree.cells):
            start[place, level] = position
            position += len(cell)
            marginal[place, level] = float(np.dot(cell[leaf[:, place]], size))
    suffix = np.zeros((len(trees), len(leaf)), dtype=np.int32)
    for place in range(len(trees) - 2, -1, -1):
        later = suffix[place + 1]
        key = leaf[:, place + 1].astype(np.int64) * (int(later.max(initial=0)) + 1) + later
        suffix[place] = np.unique(key, return_inverse=True)[1]
    return Leaves(
        np.ascontiguousarray(leaf.T),
        suffix,
        np.array(heights, dtype=np.int64),
        start,
        np.concatenate([group for tree in trees for group in tree.groups]),
        np.concatenate([cell for tree in trees for cell in tree.cells]),
        marginal,
    )


def _tally(counts: Counts, name: str | None, inverse: NDArray[np.int64], tuples: int) -> NDArray[np.int32]:
    """int32[tuples, values]: records per value of a column; a missing value is one value more."""
    if name is None:
        return np.zeros((tuples, 0), dtype=np.int32)
    codes = counts.codes[:, counts.place(name)].astype(np.int64)
    width = int(codes.max(initial=0)) + 1
    codes, width = np.where(codes < 0, width, codes), width + int(codes.min(initial=0) < 0)
    if tuples * width > MOST_CELLS:
        raise TableError(
            f"column {name!r} has {width} values over {tuples} distinct tuples, too many to tally per class; "
            f"choose a column with fewer values or group them first"
        )
    flat = np.bincount(inverse * width + codes, weights=counts.records, minlength=tuples * width)
    return flat.reshape(tuples, width).astype(np.int32)


def _presence(counts: Counts, name: str | None, inverse: NDArray[np.int64], tuples: int) -> NDArray[np.uint64]:
    """uint64[tuples, words]: one bit per value of a column that occurs; a missing value is one value more."""
    if name is None:
        return np.zeros((tuples, 0), dtype=np.uint64)
    codes = counts.codes[:, counts.place(name)].astype(np.int64)
    width = int(codes.max(initial=0)) + 1
    codes, width = np.where(codes < 0, width, codes), width + int(codes.min(initial=0) < 0)
    words = (width + 63) // 64
    present = np.zeros((tuples, words), dtype=np.uint64)
    bits = np.left_shift(np.uint64(1), (codes % 64).astype(np.uint64))
    np.bitwise_or.at(present, (inverse, codes // 64), bits)
    return present
