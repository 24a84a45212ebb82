"""Composite groups as a genome: int32[2n + 1 + p].

The group of every kept record, the group whose values it publishes, k, and for each column what a group publishes in
it: the number of a `Representative`.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.encoding import Description, Genome, RememberingEncoding, blanked_cells
from crypsis.errors import SearchError
from crypsis.masking.representatives import Representative, published_by_column
from crypsis.privacy.properties import class_sizes
from crypsis.table.table import Table
from crypsis.text import blanked_text, swapped_text, treatments_text

WAYS = tuple(Representative)


class CompositeGenes(NamedTuple):
    """A genome in its parts.

    labels  int32[kept records]: groups 0, 1, … without gaps
    publishes  int32[kept records]: the group whose values each record publishes; None where each publishes its own
    """

    labels: NDArray[np.int32]
    k: int
    treatments: tuple[Representative, ...]
    publishes: NDArray[np.int32] | None = None

    @property
    def classes(self) -> NDArray[np.int32]:
        """The records that publish the same values, as groups."""
        return self.labels if self.publishes is None else self.publishes

    @property
    def genome(self) -> Genome:
        """The parts as one array."""
        tail = np.array([self.k, *(WAYS.index(each) for each in self.treatments)])
        return np.concatenate([self.labels, self.classes, tail]).astype(np.int32)

    @classmethod
    def of(cls, genome: Genome, records: int) -> CompositeGenes:
        """The parts of a genome for so many kept records, groups numbered in the order of their first records."""
        labels, publishes, rest = genome[:records], genome[records : 2 * records], genome[2 * records :]
        known, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        number = np.argsort(np.argsort(first)).astype(np.int32)
        traded = None if np.array_equal(labels, publishes) else number[np.searchsorted(known, publishes)]
        return cls(number[inverse], int(rest[0]), tuple(WAYS[int(code)] for code in rest[1:]), traded)


@dataclass(frozen=True, eq=False)
class CompositeEncoding(RememberingEncoding):
    """Groups of similar records that publish one value in each of some columns, each column in a way of its own.

    names  columns whose values a group shares
    """

    table: Table = field(repr=False)
    names: tuple[str, ...]

    def genes(self, genome: Genome) -> CompositeGenes:
        """The parts of a genome.

        Raises
        ------
        SearchError
            If the genome belongs to another table.
        """
        records = int(self.table.kept.sum())
        if len(genome) != 2 * records + 1 + len(self.names):
            raise SearchError("a stored solution belongs to another table; start the run again in a new folder")
        return CompositeGenes.of(genome, records)

    def apply(self, genome: Genome) -> Table:
        """Give every group one value in each column, and every record the values of the group it publishes."""
        genes = self.genes(genome)
        masked = published_by_column(self.table, dict(zip(self.names, genes.treatments, strict=True)), genes.labels)
        if genes.publishes is None:
            return masked
        rows = np.flatnonzero(self.table.kept)
        member = np.unique(genes.labels, return_index=True)[1]
        columns = {name: masked.column(name).copy() for name in self.names}
        for column in columns.values():
            column[rows] = column[rows[member[genes.publishes]]]
        return masked.with_columns(columns, {name: masked.level(name) for name in self.names})

    def key(self, genome: Genome) -> bytes:
        """Equal for equal groups, treatments and k, whatever the numbers of the groups."""
        return hashlib.blake2b(self.genes(genome).genome.tobytes(), digest_size=16).digest()

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe the groups, what they publish in which columns, and how many values are not true of their record."""
        genes = self.genes(genome)
        sizes = np.bincount(genes.classes)
        effective = class_sizes(masked, self.table.quasi_identifiers or list(self.names))
        by_way: dict[str, list[str]] = defaultdict(list)
        for name, way in zip(self.names, genes.treatments, strict=True):
            by_way[str(way)].append(name)
        message = (
            f"{len(sizes)} groups of {int(sizes.min())} to {int(sizes.max())} similar records, each publishing "
            f"{treatments_text(by_way)}"
        )
        facts: dict[str, float | int | str] = {
            "k": genes.k,
            "effective_k": int(np.nanmin(effective)) if len(effective) else 0,
            "groups": len(sizes),
            "truthful": str(genes.publishes is None and all(way.truthful for way in genes.treatments)).lower(),
        }
        if genes.publishes is not None:
            swapped = 100.0 * float((genes.publishes != genes.labels).mean())
            facts["swapped"] = swapped
            message += swapped_text(swapped)
        blanked = blanked_cells(self.table, masked, self.names)
        if any(blanked.values()):
            facts["blanked"] = sum(blanked.values())
        return Description(message + blanked_text(blanked, "their groups differ or lack a value there"), facts)
