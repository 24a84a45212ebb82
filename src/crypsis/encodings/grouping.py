"""A grouping of columns as a genome: which columns are averaged together, and the cluster of every record in each.

int32[p + 1 + groups · n]: the group of each column, k, then for each group the cluster of every kept record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.encoding import Description, Genome, RememberingEncoding, blanked_cells
from crypsis.masking.representatives import Representatives, published
from crypsis.privacy.properties import class_sizes
from crypsis.table.table import Table
from crypsis.text import blanked_text, grouping_text

Groups = tuple[tuple[int, ...], ...]
"""Positions of columns by group: sorted inside a group, groups sorted by their first column."""


@dataclass(frozen=True, eq=False)
class GroupingEncoding(RememberingEncoding):
    """Groups of columns, each microaggregated by itself.

    Parameters
    ----------
    table : Table
        The original. Suppressed records and every other column stay as they are.
    names : tuple of str
        Numeric columns that are grouped.
    values : ndarray of shape (n, p)
        What is averaged: the kept records. A cluster in which a value is missing publishes none in that column.
    """

    table: Table = field(repr=False)
    names: tuple[str, ...]
    values: NDArray[np.float64] = field(repr=False)

    def encode(self, candidate: Genome, clusters: Sequence[NDArray[np.int32]]) -> Genome:
        """Encode a grouping and the clusters of its groups.

        Parameters
        ----------
        candidate : int32[p + 1]
            The group of each column, and k.
        clusters : sequence of int32[n]
            Cluster of every kept record, for each group in the order of `groups_of`.

        Returns
        -------
        Genome
        """
        return np.concatenate([candidate.astype(np.int32), *(labels.astype(np.int32) for labels in clusters)])

    def apply(self, genome: Genome) -> Table:
        """Average each group of columns within its clusters."""
        p, n = len(self.names), len(self.values)
        masked = self._source
        for number, attributes in enumerate(groups_of(genome[: p + 1])):
            labels = np.asarray(genome[p + 1 + number * n : p + 1 + (number + 1) * n], dtype=np.int32)
            masked = published(masked, [self.names[place] for place in attributes], labels, Representatives())
        return masked

    @cached_property
    def _source(self) -> Table:
        """The table with the values that are averaged."""
        columns = {name: self.table.column(name).copy() for name in self.names}
        for name, values in zip(self.names, self.values.T, strict=True):
            columns[name][self.table.kept] = values
        return self.table.with_columns(columns)

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe which columns are grouped, and k over all quasi-identifiers."""
        known = masked.quasi_identifiers or list(self.names)
        sizes = class_sizes(masked, known)[masked.kept]
        candidate = genome[: len(self.names) + 1]
        effective, k = int(sizes.min()), int(candidate[-1])
        unique = 100.0 * float((sizes == 1).sum()) / len(sizes)
        held = "holds" if effective >= k else "does not hold"
        singles = f"{unique:.1f} % of the records are unique" if unique else "no record is unique"
        message = (
            f"{self._grouping(candidate)}; k = {k} {held} over all {len(known)} quasi-identifiers: effective k "
            f"is {effective}, {singles}"
        )
        facts = {"groups": group_count(candidate), "k": k, "effective_k": effective, "unique_percent": unique}
        blanked = blanked_cells(self.table, masked, self.names)
        if any(blanked.values()):
            facts["blanked"] = sum(blanked.values())
        return Description(message + blanked_text(blanked), facts)

    def _grouping(self, candidate: Genome) -> str:
        groups = [[self.names[place] for place in group] for group in groups_of(candidate)]
        return grouping_text(groups, int(candidate[-1]))


def groups_of(candidate: Genome) -> Groups:
    """The groups of a candidate, in canonical order.

    Parameters
    ----------
    candidate : int32[p + 1]
        The group of each column, and k.

    Returns
    -------
    tuple of tuples of int

    Examples
    --------
    >>> groups_of(np.array([0, 1, 0, 5]))
    ((0, 2), (1,))
    """
    members: dict[int, list[int]] = {}
    for attribute, label in enumerate(candidate[:-1].tolist()):
        members.setdefault(label, []).append(attribute)
    return tuple(tuple(group) for group in members.values())


def group_count(candidate: Genome) -> int:
    """Number of groups of a candidate."""
    return int(max(candidate.tolist()[:-1])) + 1
