"""Generalisation hierarchies: which values share a group at which level.

Level 0 is the value itself; every level nests in the next. Codes are small integers, so that lifting a million records
to a level is one array look-up. For locally recoded columns, whose records are at different levels, *nodes* number
every (level, group) pair in one sequence.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError, listing

MISSING = -1
"""Code of a missing value, at every level."""


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """A generalisation hierarchy of one column.

    Parameters
    ----------
    groups : tuple of int32[leaves]
        Group of each leaf at each level; level 0 is 0, 1, …
    labels : tuple of tuples of str
        Label of each group at each level.
    values : float64[leaves]
        The numbers of the leaves of a numeric column, ascending; empty for any other.

    Raises
    ------
    TableError
        If the levels do not nest.

    Examples
    --------
    >>> towns = Hierarchy.from_rows([["Turku", "Finland", "*"], ["Espoo", "Finland", "*"], ["Tartu", "Estonia", "*"]])
    >>> towns
    Hierarchy(3 → 2 → 1)
    >>> towns.height
    2
    """

    groups: tuple[NDArray[np.int32], ...]
    labels: tuple[tuple[str, ...], ...]
    values: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        if not self.groups or len(self.groups) != len(self.labels):
            raise TableError("a hierarchy needs at least level 0, and one list of labels per level")
        leaves = len(self.labels[0])
        if not np.array_equal(self.groups[0], np.arange(leaves)):
            raise TableError("level 0 of a hierarchy must be the values themselves")
        for level in range(1, len(self.groups)):
            self._check_nesting(level, leaves)
        frozen: list[NDArray[np.int32] | NDArray[np.float64]] = [*self.groups, self.values]
        for array in frozen:
            array.setflags(write=False)

    def _check_nesting(self, level: int, leaves: int) -> None:
        upper, lower = self.groups[level], self.groups[level - 1]
        if len(upper) != leaves:
            raise TableError(f"level {level} of a hierarchy names {len(upper)} values, level 0 names {leaves}")
        first = np.full(len(self.labels[level - 1]), MISSING, dtype=np.int32)
        first[lower[::-1]] = upper[::-1]
        torn = np.unique(lower[first[lower] != upper])
        if torn.size:
            names = listing(repr(self.labels[level - 1][code]) for code in torn)
            raise TableError(
                f"levels {level - 1} and {level} do not nest: {names} at level {level - 1} would belong to "
                f"more than one group at level {level}; give every group one parent"
            )

    def __repr__(self) -> str:
        """Number of groups at each level; never a label, which may be a value of a record."""
        return f"Hierarchy({' → '.join(str(len(level)) for level in self.labels)})"

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.groups) - 1

    @property
    def size(self) -> int:
        """Number of leaves."""
        return len(self.labels[0])

    def lift(self, codes: NDArray[np.int32], level: int) -> NDArray[np.int32]:
        """Group codes at a level of leaf codes.

        Parameters
        ----------
        codes : int32[n]
            Leaf codes; −1 is missing and stays missing.
        level : int

        Returns
        -------
        int32[n]
        """
        padded = np.append(self.groups[level], np.int32(MISSING))
        return padded[codes].astype(np.int32, copy=False)

    def leaves(self, level: int) -> NDArray[np.int32]:
        """Number of leaves of each group of a level.

        Parameters
        ----------
        level : int

        Returns
        -------
        int32[groups]
        """
        return np.bincount(self.groups[level], minlength=len(self.labels[level])).astype(np.int32)

    # -- nodes: every (level, group) in one sequence, for locally recoded columns --

    @cached_property
    def offsets(self) -> NDArray[np.int32]:
        """Number of the first node of each level; one more entry holds the number of nodes."""
        return np.cumsum([0, *(len(level) for level in self.labels)]).astype(np.int32)

    @cached_property
    def node_labels(self) -> tuple[str, ...]:
        """Label of each node."""
        return tuple(label for level in self.labels for label in level)

    @cached_property
    def node_leaves(self) -> NDArray[np.int32]:
        """Number of leaves of each node."""
        return np.concatenate([self.leaves(level) for level in range(self.height + 1)])

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[str]], values: NDArray[np.float64] | None = None) -> Hierarchy:
        """Build a hierarchy from one row per value (the convention of ARX).

        Parameters
        ----------
        rows : sequence of sequences of str
            The value, its group at level 1, at level 2, …
        values : float64[leaves], optional
            Numbers of the values of a numeric column, ascending.

        Returns
        -------
        Hierarchy
        """
        height = len(rows[0])
        groups: list[NDArray[np.int32]] = []
        labels: list[tuple[str, ...]] = []
        for level in range(height):
            seen: dict[str, int] = {}
            codes = [seen.setdefault(row[level], len(seen)) for row in rows]
            groups.append(np.array(codes, dtype=np.int32))
            labels.append(tuple(seen))
        return cls(tuple(groups), tuple(labels), np.empty(0) if values is None else values)


# -- what groups tell of the values in them --


def leaf_losses(
    hierarchy: Hierarchy, counts: NDArray[np.float64], numbers: bool, unit: float
) -> list[NDArray[np.float64]]:
    """float64[leaves] for each level: what a record of each leaf loses, generalised to that level.

    counts  float64[leaves]: original records of each leaf
    numbers  whether the leaves are numbers
    unit  variance of the numbers, or 1 − Σp² of the categories
    """
    means = node_means(hierarchy, counts) if numbers else np.zeros(0)
    totals, found = node_totals(hierarchy, counts), list[NDArray[np.float64]]()
    for level, groups in enumerate(hierarchy.groups):
        node = groups + hierarchy.offsets[level]
        if numbers:
            found.append((hierarchy.values - means[node]) ** 2 / unit)
        else:
            found.append((1.0 - counts / np.maximum(totals[node], 1.0)) / unit)
    return found


def group_losses(
    hierarchy: Hierarchy, counts: NDArray[np.float64], numbers: bool
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """What the records of each group of a hierarchy lose on average, at the level of the group.

    counts, numbers  as for `leaf_losses`
    returns  for each level float64[groups]: mean loss of the records published as the group, and what they lose more on
             average if nothing is published of them; 0 and 1 in a column of one value
    """
    total = max(float(counts.sum()), 1.0)
    if numbers:
        centre = float((counts * hierarchy.values).sum()) / total
        blank = (hierarchy.values - centre) ** 2
        unit = float((counts * blank).sum()) / total
    else:
        blank, unit = 1.0 - counts / total, 1.0 - float(((counts / total) ** 2).sum())
    varies = unit > 0.0
    blank = blank / unit if varies else np.ones(hierarchy.size)
    lost, more = list[NDArray[np.float64]](), list[NDArray[np.float64]]()
    for groups, losses in zip(
        hierarchy.groups, leaf_losses(hierarchy, counts, numbers, unit if varies else 1.0), strict=True
    ):
        held = np.maximum(np.bincount(groups, counts), 1.0)
        own = np.bincount(groups, counts * losses) / held
        lost.append(own)
        more.append(np.bincount(groups, counts * blank) / held - own)
    return lost, more


def node_totals(hierarchy: Hierarchy, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[nodes]: amounts of the leaves (float64[leaves]) added up in every node."""
    parts = [
        np.bincount(hierarchy.groups[level], amounts, len(hierarchy.labels[level]))
        for level in range(hierarchy.height + 1)
    ]
    return np.concatenate(parts)


def node_means(hierarchy: Hierarchy, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[nodes]: mean of the numbers in every node, records counted; of the leaves alike where it has none."""
    held = node_totals(hierarchy, counts)
    plain = node_totals(hierarchy, hierarchy.values) / node_totals(hierarchy, np.ones(hierarchy.size))
    return np.where(held > 0, node_totals(hierarchy, counts * hierarchy.values) / np.maximum(held, 1.0), plain)


# -- Labels of merged categories that name nobody: a category that few records hold is never part of a label.

RARE = 3
"""A category held by fewer records than this is not named."""


def listed_label(labels: Sequence[str], counts: Sequence[int], taken: Collection[str]) -> str:
    """Name a group of categories by its members.

    taken  labels that stand for something else
    returns  the members that are not rare, and that there are others

    Examples
    --------
    >>> listed_label(["nurse", "cook", "falconer"], [9, 4, 1], ())
    'nurse | cook | other'
    """
    named = [label for label, count in zip(labels, counts, strict=True) if count >= RARE]
    if len(named) == len(labels):
        return " | ".join(named)
    return free_label(" | ".join([*named, "other"]), taken)


def spanning_label(labels: Sequence[str], counts: Sequence[int], taken: Collection[str]) -> str:
    """Name neighbouring ordered categories by their ends.

    labels  the members in order; one alone is its own label
    taken  labels that stand for something else
    returns  the outermost members that are not rare, and whether rarer ones lie beyond

    Examples
    --------
    >>> spanning_label(["none", "basic", "high"], [5, 1, 9], ())
    'none – high'
    >>> spanning_label(["high", "phd"], [9, 1], ())
    'high and rarer'
    """
    if len(labels) == 1:
        return labels[0]
    named = [place for place, count in enumerate(counts) if count >= RARE]
    if not named:
        return free_label("other", taken)
    low, high = named[0], named[-1]
    span = labels[low] if low == high else f"{labels[low]} – {labels[high]}"
    whole = low == 0 and high == len(labels) - 1
    return span if whole else free_label(f"{span} and rarer", taken)


def free_label(label: str, taken: Collection[str]) -> str:
    """A label, or the same with the first number that makes it another one.

    taken  labels that stand for something else

    Examples
    --------
    >>> free_label("other", ["other", "other 1"])
    'other 2'
    """
    number, free = 0, label
    while free in taken:
        number += 1
        free = f"{label} {number}"
    return free
