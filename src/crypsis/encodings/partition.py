"""A partition of the kept records as a genome: int32[n + 2].

The group of every record, what stands for a group (the code of its `Representatives`), and k.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.encoding import Description, Genome, RememberingEncoding
from crypsis.errors import SearchError
from crypsis.kernels.annealing import sse
from crypsis.masking.microaggregation import Microaggregation
from crypsis.masking.representatives import Representatives, moments_representatives_lose, publish_groups
from crypsis.masking.scaling import cut_scaled_groups, scaling_strata
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.suppression import count_blanked_cells
from crypsis.table.table import Table
from crypsis.text import blanked_text, given_up_text, groups_text, representatives_text

LACKING = "others of their group lack a value"
TAIL = 2
"""Genes after the groups: representatives and k."""


@dataclass(frozen=True, eq=False)
class PartitionEncoding(RememberingEncoding):
    """Groups of similar records that share the values of some columns."""

    table: Table = field(repr=False)
    names: tuple[str, ...]  # columns whose values a group shares
    # how near records are, and whether missing values are filled in; the genome says what stands for a group
    method: Microaggregation

    def apply(self, genome: Genome) -> Table:
        """Give every group one value in each column."""
        chosen = decode_partition_representatives(genome)
        return publish_groups(self.table, self.names, self.groups(genome), chosen, self.method.missing == "aggregate")

    def groups(self, genome: Genome) -> NDArray[np.int32]:
        """The group of every kept record: that of the genome, cut where locked columns differ."""
        labels = compact(genome)
        return labels if self._strata is None else cut_scaled_groups(labels, self._strata, self.points, int(genome[-1]))

    @cached_property
    def _strata(self) -> NDArray[np.int32] | None:
        return scaling_strata(self.table, self.names)

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe the number and sizes of the groups."""
        labels, k = self.groups(genome), int(genome[-1])
        sizes = np.bincount(labels)
        smallest = equivalence_class_sizes(masked, self.table.quasi_identifiers or list(self.names))
        effective = int(np.nanmin(smallest)) if len(smallest) else 0
        message = (
            f"{groups_text(sizes.tolist())} similar records share their {', '.join(self.names)}"
        ) + representatives_text(*self._words(decode_partition_representatives(genome)))
        ways = {name: decode_partition_representatives(genome).of(self.table.attribute(name)) for name in self.names}
        lost = moments_representatives_lose(self.table, ways, len(sizes))
        message += given_up_text(*lost) if lost else ""
        facts = {"k": k, "effective_k": effective, "groups": len(sizes), "SSE": sse(self.points, labels)}
        blanked = count_blanked_cells(self.table, masked, self.names)
        if any(blanked.values()):
            facts["blanked"] = sum(blanked.values())
        because = (
            "their groups differ or lack a value there"
            if decode_partition_representatives(genome).categories.truthful
            else LACKING
        )
        return Description(message + blanked_text(blanked, because), facts)

    def _words(self, chosen: Representatives) -> tuple[str, str]:
        """What stands for numbers and for categories; empty where there are none."""
        numeric = [self.table.attribute(name).numeric for name in self.names]
        return chosen.numbers if any(numeric) else "", "" if all(numeric) else chosen.categories

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """float64[n, q]: the kept records in the space of the distance."""
        kept = self.table.take(np.flatnonzero(self.table.kept))
        return np.ascontiguousarray(self.method.points(kept, self.names))


def compact(genome: Genome) -> NDArray[np.int32]:
    """Labels of the groups of a genome as 0, 1, … without gaps."""
    return np.unique(genome[:-TAIL], return_inverse=True)[1].astype(np.int32)


def partition_genome(labels: NDArray[np.integer[Any]], k: int, chosen: Representatives | None = None) -> Genome:
    """The genome of groups of at least k records."""
    code = 0 if chosen is None else chosen.code
    return np.append(labels, np.array([code, k])).astype(np.int32)


def decode_partition_representatives(genome: Genome) -> Representatives:
    """Decode from a partition's genome, int32[n + 2], which kind of representatives its groups publish."""
    return Representatives.of_code(int(genome[-TAIL]))


def partition_key(genome: Genome) -> bytes:
    """Key of a genome: equal for equal groups, representatives and k, whatever the numbers of the groups."""
    _, first, inverse = np.unique(genome[:-TAIL], return_index=True, return_inverse=True)
    canonical = np.argsort(np.argsort(first))[inverse].astype(np.int32)
    tail = genome[-TAIL:].astype(np.int64)
    return hashlib.blake2b(canonical.tobytes() + tail.tobytes(), digest_size=16).digest()


def genome_of_listed_groups(groups: Iterable[Iterable[int]], attributes: int, k: int) -> Genome:
    """The genome of a partition that is given as listed groups of kept records.

    >>> genome_of_listed_groups([(0, 2), (1,)], 3, k=5)
    array([0, 1, 0, 5], dtype=int32)
    """
    genome = np.full(attributes + 1, -1, dtype=np.int32)
    for number, group in enumerate(groups):
        for attribute in group:
            if not 0 <= attribute < attributes:
                raise SearchError(
                    f"a grouping names attribute {attribute}, but there are {attributes}, numbered from 0 to "
                    f"{attributes - 1}; correct the number"
                )
            if genome[attribute] != -1:
                raise SearchError(f"a grouping names attribute {attribute} twice; every attribute is in one group")
            genome[attribute] = number
    absent = np.flatnonzero(genome[:-1] == -1).tolist()
    if absent:
        raise SearchError(f"a grouping leaves out attributes {absent}; put every attribute into one group")
    genome[-1] = k
    return genome
