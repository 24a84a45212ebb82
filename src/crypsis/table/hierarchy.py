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

from crypsis.errors import PlanError, TableError, listing, suggestion

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


def hierarchy_leaf_losses(
    hierarchy: Hierarchy, counts: NDArray[np.float64], numbers: bool, unit: float
) -> list[NDArray[np.float64]]:
    """float64[leaves] by level of one generalisation hierarchy: what each of its leaves loses at that level.

    `counts` float64[leaves]; `numbers`: whether the leaves are numbers.
    """
    means = hierarchy_node_means(hierarchy, counts) if numbers else np.zeros(0)
    totals, found = hierarchy_node_totals(hierarchy, counts), list[NDArray[np.float64]]()
    for level, groups in enumerate(hierarchy.groups):
        node = groups + hierarchy.offsets[level]
        if numbers:
            found.append((hierarchy.values - means[node]) ** 2 / unit)
        else:
            found.append((1.0 - counts / np.maximum(totals[node], 1.0)) / unit)
    return found


def hierarchy_group_losses(
    hierarchy: Hierarchy, counts: NDArray[np.float64], numbers: bool
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """A generalisation hierarchy level by level: what the records in each of its groups lose on average."""
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
        hierarchy.groups, hierarchy_leaf_losses(hierarchy, counts, numbers, unit if varies else 1.0), strict=True
    ):
        held = np.maximum(np.bincount(groups, counts), 1.0)
        own = np.bincount(groups, counts * losses) / held
        lost.append(own)
        more.append(np.bincount(groups, counts * blank) / held - own)
    return lost, more


def hierarchy_node_totals(hierarchy: Hierarchy, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[nodes]: amounts of the leaves (float64[leaves]) added up in every node of a hierarchy."""
    parts = [
        np.bincount(hierarchy.groups[level], amounts, len(hierarchy.labels[level]))
        for level in range(hierarchy.height + 1)
    ]
    return np.concatenate(parts)


def hierarchy_node_means(hierarchy: Hierarchy, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[nodes]: mean number in each node of a generalisation hierarchy; of its leaves without records."""
    held = hierarchy_node_totals(hierarchy, counts)
    plain = hierarchy_node_totals(hierarchy, hierarchy.values) / hierarchy_node_totals(
        hierarchy, np.ones(hierarchy.size)
    )
    return np.where(
        held > 0, hierarchy_node_totals(hierarchy, counts * hierarchy.values) / np.maximum(held, 1.0), plain
    )


# -- Labels of merged categories that name nobody: a category that few records hold is never part of a label.

RARE = 3
"""A category held by fewer records than this is not named."""


def list_hierarchy_group(labels: Sequence[str], counts: Sequence[int], taken: Collection[str]) -> str:
    """The label of a group in a generalisation hierarchy, made by listing the categories that share it.

    >>> list_hierarchy_group(["nurse", "cook", "falconer"], [9, 4, 1], ())
    'nurse | cook | other'
    """
    named = [label for label, count in zip(labels, counts, strict=True) if count >= RARE]
    if len(named) == len(labels):
        return " | ".join(named)
    return free_hierarchy_label(" | ".join([*named, "other"]), taken)


def free_hierarchy_label(label: str, taken: Collection[str]) -> str:
    """A label that no group of a generalisation hierarchy has yet: the label itself or one with a number.

    >>> free_hierarchy_label("other", ["other", "other 1"])
    'other 2'
    """
    number, free = 0, label
    while free in taken:
        number += 1
        free = f"{label} {number}"
    return free


def hierarchy_node_levels(hierarchy: Hierarchy, nodes: NDArray[np.int32]) -> NDArray[np.int64]:
    """The level of each node of a hierarchy, int64[n]; −1 where there is none."""
    return np.asarray(np.searchsorted(hierarchy.offsets, nodes, side="right") - 1)


INDICES = ("k", "l", "information", "glm", "cm", "s_k", "s_l")
"""k and l: the smallest class and the fewest confidential values; s_k and s_l: Σ over records of class size and of how
often their confidential value occurs in their class; information, glm and cm: how far the loss stays below its largest
value."""


def check_hierarchy_indices(names: Sequence[str], confidential: str | None, label: str | None) -> None:
    """Generalisation hierarchies: refuse names of indices that do not exist or that lack a column they need."""
    for name in names:
        if name not in INDICES:
            raise PlanError(f"there is no index {name!r}{suggestion(name, INDICES)}; known: {listing(INDICES)}")
        if name in ("l", "s_l") and not confidential:
            raise PlanError(
                f"index {name!r} needs a confidential column and there is none; give one the role 'confidential'"
            )
        if name == "cm" and not label:
            raise PlanError("index 'cm' needs a label to predict; name a column as label")
    if {"information", "glm"} <= set(names):
        raise PlanError("a front has one loss: choose the index 'information' or 'glm'")


def hierarchy_number_label(value: float, dates: str) -> str:
    """The label of a number in a hierarchy: whole numbers without decimals, dates as dates.

    `dates`: {"", "date", "datetime"}: whether it counts days or seconds since 1970-01-01.

    >>> hierarchy_number_label(3.0, ""), hierarchy_number_label(31.0, "date")
    ('3', '1970-02-01')
    """
    if dates == "date":
        return str(np.datetime64(int(value), "D"))
    if dates == "datetime":
        return str(np.datetime64(round(value * 1e6), "us"))
    return str(int(value)) if value == round(value) and abs(value) < 2**53 else repr(float(value))
