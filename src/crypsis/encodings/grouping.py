"""A grouping of columns as a genome: which columns are masked together, and the cluster of every record in each group.

int32[p + 1 + groups · n], or p more: the group of each column, k, then for each group the cluster of every kept record,
and last what a cluster publishes in each column, the number of a `Representative`; without these numbers, means.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.encoding import Description, Genome, RememberingEncoding
from crypsis.errors import SearchError
from crypsis.masking.representatives import Representative, moments_representatives_lose, published_by_column
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.suppression import count_blanked_cells
from crypsis.table.table import Table
from crypsis.text import blanked_text, given_up_text, grouping_text, treatments_text

Groups = tuple[tuple[int, ...], ...]
"""Positions of columns by group: sorted inside a group, groups sorted by their first column."""
REPRESENTATIVES = tuple(Representative)


@dataclass(frozen=True, eq=False)
class GroupingEncoding(RememberingEncoding):
    """Groups of columns, each microaggregated by itself."""

    table: Table = field(repr=False)  # the original. Suppressed records and every other column stay as they are
    names: tuple[str, ...]  # columns that are grouped
    # numbers of the kept records that are averaged in place of those of the table, e.g. with missing ones filled in.
    # A cluster in which a value is missing publishes none in that column
    values: NDArray[np.float64] | None = field(default=None, repr=False)

    def encode(
        self,
        candidate: Genome,
        clusters: Sequence[NDArray[np.int32]],
        representatives: Sequence[Representative] = (),
    ) -> Genome:
        """Encode a grouping and the clusters of its groups.

        `candidate` int32[p + 1]; `clusters` int32[n]: cluster of every kept record, for each group in the order of
        `groups_of`.
        """
        tail = np.array([REPRESENTATIVES.index(way) for way in representatives], dtype=np.int32)
        return np.concatenate([candidate.astype(np.int32), *(labels.astype(np.int32) for labels in clusters), tail])

    def representatives(self, genome: Genome) -> tuple[Representative, ...]:
        """What a cluster publishes in each column."""
        p, n = len(self.names), int(self.table.kept.sum())
        whole = p + 1 + len(groups_of(genome[: p + 1])) * n if len(genome) > p else -1
        if len(genome) == whole:
            return (Representative.MEAN,) * p
        if len(genome) != whole + p:
            raise SearchError("a stored solution belongs to another table; start the run again in a new folder")
        return tuple(REPRESENTATIVES[int(code)] for code in genome[whole:])

    def together(self, genome: Genome) -> tuple[tuple[str, ...], ...]:
        """The columns that are masked together, group by group."""
        groups = groups_of(genome[: len(self.names) + 1])
        return tuple(tuple(self.names[place] for place in group) for group in groups)

    def apply(self, genome: Genome) -> Table:
        """Give every cluster of each group of columns one value in each of them."""
        p, n, chosen_values = len(self.names), int(self.table.kept.sum()), self.representatives(genome)
        masked = self._source
        for number, columns in enumerate(groups_of(genome[: p + 1])):
            found = genome[p + 1 + number * n : p + 1 + (number + 1) * n]
            labels = np.unique(found, return_inverse=True)[1].astype(np.int32)
            chosen = {self.names[place]: chosen_values[place] for place in columns}
            masked = published_by_column(self._source, chosen, labels, onto=masked)
        return masked

    @cached_property
    def _source(self) -> Table:
        """The table with the values that are averaged."""
        if self.values is None:
            return self.table
        columns = {name: self.table.column(name).copy() for name in self.names}
        for name, values in zip(self.names, self.values.T, strict=True):
            columns[name][self.table.kept] = values
        return self.table.with_columns(columns)

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe which columns are grouped, and k over all quasi-identifiers."""
        known = masked.quasi_identifiers or list(self.names)
        sizes = equivalence_class_sizes(masked, known)[masked.kept]
        candidate = genome[: len(self.names) + 1]
        effective, k = int(sizes.min()), int(candidate[-1])
        unique = 100.0 * float((sizes == 1).sum()) / len(sizes)
        held = "holds" if effective >= k else "does not hold"
        singles = f"{unique:.1f} % of the records are unique" if unique else "no record is unique"
        message = (
            f"{self._grouping_text(genome)}; k = {k} {held} over all {len(known)} quasi-identifiers: effective k "
            f"is {effective}, {singles}"
        )
        facts = {
            "groups": count_groups_in_grouping(candidate),
            "k": k,
            "effective_k": effective,
            "unique_percent": unique,
        }
        blanked = count_blanked_cells(self.table, masked, self.names)
        if any(blanked.values()):
            facts["blanked"] = sum(blanked.values())
        return Description(message + blanked_text(blanked), facts)

    def _grouping_text(self, genome: Genome) -> str:
        candidate, chosen_values = genome[: len(self.names) + 1], self.representatives(genome)
        groups = [[self.names[place] for place in group] for group in groups_of(candidate)]
        averaged = all(way is Representative.MEAN for way in chosen_values)
        text = grouping_text(groups, int(candidate[-1]), "averaged" if averaged else "masked")
        if averaged:
            return text
        by_way: dict[str, list[str]] = defaultdict(list)
        for name, way in zip(self.names, chosen_values, strict=True):
            by_way[str(way)].append(name)
        return f"{text}, each publishing {treatments_text(by_way)}{self._lost_moments_text(genome)}"

    def _lost_moments_text(self, genome: Genome) -> str:
        """Which moments the calibrated columns do not keep."""
        p, n, chosen_values = len(self.names), int(self.table.kept.sum()), self.representatives(genome)
        values, dominated, few = dict[str, int](), dict[str, None](), False
        for number, columns in enumerate(groups_of(genome[: p + 1])):
            clusters = len(np.unique(genome[p + 1 + number * n : p + 1 + (number + 1) * n]))
            lost = moments_representatives_lose(
                self._source, {self.names[place]: chosen_values[place] for place in columns}, clusters
            )
            if lost is not None:
                values |= lost.values
                dominated |= dict.fromkeys(lost.dominated)
                few = few or lost.everything
        return given_up_text(values, list(dominated), few)


def groups_of(candidate: Genome) -> Groups:
    """The groups of a candidate, in canonical order.

    `candidate` int32[p + 1].

    >>> groups_of(np.array([0, 1, 0, 5]))
    ((0, 2), (1,))
    """
    members: dict[int, list[int]] = {}
    for attribute, label in enumerate(candidate[:-1].tolist()):
        members.setdefault(label, []).append(attribute)
    return tuple(tuple(group) for group in members.values())


def count_groups_in_grouping(candidate: Genome) -> int:
    """Count the groups of columns in the genome of a grouping."""
    return int(max(candidate.tolist()[:-1])) + 1


def grouping_of_one_group(attributes: int) -> Groups:
    """The grouping with all columns in one group, the only choice that keeps k-anonymity over all of them.

    >>> grouping_of_one_group(3)
    ((0, 1, 2),)
    """
    return (tuple(range(attributes)),)


def correlations_for_grouping(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[p, p]: absolute correlations of columns for a genome of their grouping; a constant one is like none."""
    centred = values - values.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    scaled = centred / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.abs(scaled.T @ scaled))
