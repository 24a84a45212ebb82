"""Composite groups as a genome: int32[n + 1 + p].

The group of every kept record, k, and for each column what a group publishes in it: the number of a `Representative`.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.encoding import Description, Genome, RememberingEncoding
from crypsis.errors import SearchError
from crypsis.masking.representatives import Representative, moments_representatives_lose, published_by_column
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.suppression import count_blanked_cells
from crypsis.table.table import Table
from crypsis.text import blanked_text, given_up_text, groups_text, treatments_text

WAYS = tuple(Representative)


class CompositeGenes(NamedTuple):
    """A genome in its parts."""

    labels: NDArray[np.int32]  # int32[kept records]: groups 0, 1, … without gaps
    k: int
    treatments: tuple[Representative, ...]

    @property
    def genome(self) -> Genome:
        """The parts as one array."""
        tail = np.array([self.k, *(WAYS.index(each) for each in self.treatments)])
        return np.concatenate([self.labels, tail]).astype(np.int32)

    @classmethod
    def of(cls, genome: Genome, records: int) -> CompositeGenes:
        """The parts of a genome for so many kept records, groups numbered in the order of their first records."""
        labels, rest = genome[:records], genome[records:]
        _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        number = np.argsort(np.argsort(first)).astype(np.int32)
        return cls(number[inverse], int(rest[0]), tuple(WAYS[int(code)] for code in rest[1:]))


@dataclass(frozen=True, eq=False)
class CompositeEncoding(RememberingEncoding):
    """Groups of similar records that publish one value in each of some columns, each column in a way of its own."""

    table: Table = field(repr=False)
    names: tuple[str, ...]  # columns whose values a group shares

    def genes(self, genome: Genome) -> CompositeGenes:
        """The parts of a genome."""
        records = int(self.table.kept.sum())
        if len(genome) != records + 1 + len(self.names):
            raise SearchError("a stored solution belongs to another table; start the run again in a new folder")
        return CompositeGenes.of(genome, records)

    def apply(self, genome: Genome) -> Table:
        """Give every group one value in each column."""
        genes = self.genes(genome)
        return published_by_column(self.table, dict(zip(self.names, genes.treatments, strict=True)), genes.labels)

    def key(self, genome: Genome) -> bytes:
        """Equal for equal groups, treatments and k, whatever the numbers of the groups."""
        return hashlib.blake2b(self.genes(genome).genome.tobytes(), digest_size=16).digest()

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe the groups, what they publish in which columns, and how many values are not true of their record."""
        genes = self.genes(genome)
        sizes = np.bincount(genes.labels)
        effective = equivalence_class_sizes(masked, self.table.quasi_identifiers or list(self.names))
        by_way: dict[str, list[str]] = defaultdict(list)
        for name, way in zip(self.names, genes.treatments, strict=True):
            by_way[str(way)].append(name)
        message = f"{groups_text(sizes.tolist())} similar records, each publishing {treatments_text(by_way)}"
        lost = moments_representatives_lose(
            self.table, dict(zip(self.names, genes.treatments, strict=True)), len(sizes)
        )
        message += given_up_text(*lost) if lost else ""
        facts: dict[str, float | int | str] = {
            "k": genes.k,
            "effective_k": int(np.nanmin(effective)) if len(effective) else 0,
            "groups": len(sizes),
            "truthful": str(all(way.truthful for way in genes.treatments)).lower(),
        }
        blanked = count_blanked_cells(self.table, masked, self.names)
        if any(blanked.values()):
            facts["blanked"] = sum(blanked.values())
        return Description(message + blanked_text(blanked, "their groups differ or lack a value there"), facts)
