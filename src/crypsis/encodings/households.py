"""Nested groups as a genome: groups of households, and inside each of them groups of records.

int32[2 n + 1 + p]: the group of the household of every kept record, −1 for a record that is left out; the group of the
record; k; and for each column what a group publishes in it, the number of a `Representative`. Columns of households
publish one value for each group of households, columns of persons one for each group of records: members of a household
never contradict each other, and records of a class agree in all columns.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.encoding import Description, Genome, RememberingEncoding
from crypsis.errors import SearchError
from crypsis.masking.representatives import Representative, moments_representatives_lose, published_by_column
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.households import group_alike_households
from crypsis.table.suppression import count_blanked_cells
from crypsis.table.table import Table
from crypsis.text import blanked_text, given_up_text, household_groups_text, treatments_text

WAYS = tuple(Representative)
Labels = NDArray[np.int32]


class HouseholdGenes(NamedTuple):
    """A genome in its parts."""

    homes: Labels  # int32[kept records]: group of the household, −1 for a record that is left out
    classes: Labels  # int32[kept records]: group of the record, inside that of its household; −1 likewise
    k: int
    treatments: tuple[Representative, ...]

    @property
    def genome(self) -> Genome:
        """The parts as one array."""
        tail = np.array([self.k, *(WAYS.index(each) for each in self.treatments)])
        return np.concatenate([self.homes, self.classes, tail]).astype(np.int32)

    @classmethod
    def of(cls, homes: Labels, inside: Labels, k: int, treatments: tuple[Representative, ...]) -> HouseholdGenes:
        """Groups numbered in the order of their first records; `inside` tells those of one group of households apart.

        >>> genes = HouseholdGenes.of(np.array([7, 7, 3, -1]), np.array([0, 1, 1, 5]), 2, ())
        >>> genes.homes.tolist(), genes.classes.tolist()
        ([0, 0, 1, -1], [0, 1, 2, -1])
        """
        pairs = homes.astype(np.int64) * (int(inside.max(initial=0)) + 1) + inside
        out = homes < 0
        return cls(_renumber(homes, out), _renumber(pairs, out), k, treatments)

    @classmethod
    def read(cls, genome: Genome, records: int) -> HouseholdGenes:
        """The parts of a genome for so many kept records."""
        rest = genome[2 * records :]
        treatments = tuple(WAYS[int(code)] for code in rest[1:])
        return cls.of(genome[:records], genome[records : 2 * records], int(rest[0]), treatments)


def _renumber(labels: NDArray[np.integer], out: NDArray[np.bool_]) -> Labels:
    """int32[n]: labels 0, 1, … in the order of their first records; −1 for those that are left out."""
    found = np.full(len(labels), -1, np.int32)
    _, first, inverse = np.unique(labels[~out], return_index=True, return_inverse=True)
    found[~out] = np.argsort(np.argsort(first))[inverse]
    return found


@dataclass(frozen=True, eq=False)
class HouseholdEncoding(RememberingEncoding):
    """Groups of households that publish one value in the columns of households, and groups of records inside them."""

    table: Table = field(repr=False)
    names: tuple[str, ...]  # columns that are masked
    shared: tuple[str, ...]  # those of them that have one value within every household
    home: NDArray[np.int64] = field(repr=False)  # int64[kept]: household of every kept record

    def genes(self, genome: Genome) -> HouseholdGenes:
        """The parts of a genome."""
        records = int(self.table.kept.sum())
        if len(genome) != 2 * records + 1 + len(self.names):
            raise SearchError("a stored solution belongs to another table; start the run again in a new folder")
        return HouseholdGenes.read(genome, records)

    def apply(self, genome: Genome) -> Table:
        """Give every group of households one value in each of their columns, and every group of records in the rest."""
        genes = self.genes(genome)
        out = genes.homes < 0
        left = self._leave_out(out)
        homes, classes = self._ways(genes)
        masked = published_by_column(left, homes, genes.homes[~out])
        return published_by_column(left, classes, genes.classes[~out], onto=masked)

    def _ways(self, genes: HouseholdGenes) -> tuple[dict[str, Representative], dict[str, Representative]]:
        """What is published in the columns of households, and in those of persons."""
        ways = dict(zip(self.names, genes.treatments, strict=True))
        return (
            {name: way for name, way in ways.items() if name in self.shared},
            {name: way for name, way in ways.items() if name not in self.shared},
        )

    def _leave_out(self, out: NDArray[np.bool_]) -> Table:
        """The table without some of its kept records, made once for the same ones."""
        if not out.any():
            return self.table
        key = np.packbits(out).tobytes()
        if key not in self._shorter:
            rows = np.zeros(len(self.table), np.bool_)
            rows[np.flatnonzero(self.table.kept)[out]] = True
            self._shorter[key] = self.table.without(rows)
        return self._shorter[key]

    @cached_property
    def _shorter(self) -> dict[bytes, Table]:
        """Tables without some records."""
        return {}

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in super().__getstate__().items() if name != "_shorter"}

    def key(self, genome: Genome) -> bytes:
        """Equal for equal groups, treatments and k, whatever the numbers of the groups."""
        return hashlib.blake2b(self.genes(genome).genome.tobytes(), digest_size=16).digest()

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe both kinds of groups, what they publish, and who is left out."""
        genes = self.genes(genome)
        out = genes.homes < 0
        households = self._count_households(genes)
        sizes = np.bincount(genes.classes[~out])
        known = self.table.quasi_identifiers or list(self.names)
        effective = equivalence_class_sizes(masked, known)
        by_way: dict[str, list[str]] = defaultdict(list)
        for name, way in zip(self.names, genes.treatments, strict=True):
            by_way[str(way)].append(name)
        alike = group_alike_households(self.home, genes.classes.astype(np.int64)).sizes
        published = treatments_text(by_way)
        message = household_groups_text(households.tolist(), sizes.tolist(), self.shared, int(out.sum()), published)
        for ways, groups in zip(self._ways(genes), (len(households), len(sizes)), strict=True):
            lost = moments_representatives_lose(self.table, ways, groups) if ways else None
            message += given_up_text(*lost) if lost else ""
        facts: dict[str, float | int | str] = {
            "k": genes.k,
            "effective_k": int(np.nanmin(effective)) if len(effective) else 0,
            "household_groups": len(households),
            "household_k": int(alike.min()) if len(alike) else 0,
            "groups": len(sizes),
            "left_out": int(out.sum()),
            "truthful": str(all(way.truthful for way in genes.treatments)).lower(),
        }
        blanked = count_blanked_cells(self.table, masked, self.names)
        if any(blanked.values()):
            facts["blanked"] = sum(blanked.values())
        return Description(message + blanked_text(blanked, "their groups differ or lack a value there"), facts)

    def _count_households(self, genes: HouseholdGenes) -> NDArray[np.int64]:
        """int64[groups of households]: how many households each has."""
        inside = genes.homes >= 0
        pairs = np.unique(np.stack([genes.homes[inside], self.home[inside]]), axis=1)
        return np.bincount(pairs[0])
