"""Groupings of columns of any kind: candidates, what they lose and reveal, and the problem for the loop.

A candidate is int32[u + 3]: the group of each unit of columns, k, the effort spent on clusters, and the place of a
treatment. Groups of units keep what is demanded of the columns that intruders know together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.encoding import Encoding, Genome
from crypsis.encodings.grouping import GroupingEncoding, Groups, groups_of
from crypsis.engines import Engine
from crypsis.evolution import Scores
from crypsis.masking.scaling import Embedding
from crypsis.measures.all_knowing import readable
from crypsis.measures.class_risk import ClassRisk
from crypsis.measures.information_loss import InformationLoss
from crypsis.measures.measure import BoundMeasure, Measure
from crypsis.measures.one_to_one_linkage import OneToOneLinkage
from crypsis.searches.composites.treatments import Profile
from crypsis.searches.groupings.adhoc import customary_by, likeness
from crypsis.searches.groupings.candidates import GroupingCandidates, genome_of
from crypsis.searches.groupings.operators import CARRIED
from crypsis.searches.groupings.parts import PartCounts, Parts, Wanted
from crypsis.table.table import Table

LOOKED_FOR = 1000
"""People an intruder looks for where candidates of a large table are compared."""
ALIKE_BY = 2000
"""Records by which columns are alike or not."""
RUNGS = 8
"""Sizes that k may have: clusters of a size are worked out once for all groupings that hold the columns together."""
TOGETHER = 20_000
"""Cells of all candidates that are decoded and linked in one quantum, unless one has more."""


@dataclass(frozen=True, eq=False)
class MixedCandidates:
    """Groupings of units of columns, expressed as clusters of the records.

    encoding  decodes what is expressed
    parts  clusters of each group of columns
    groupings  the groups of units, and k
    treatments  what a cluster publishes in each column; the first is searched for
    """

    encoding: GroupingEncoding
    parts: Parts
    groupings: GroupingCandidates
    treatments: tuple[Profile, ...]

    @property
    def counts(self) -> PartCounts:
        """Work done."""
        return self.parts.counts

    def key(self, candidate: Genome) -> bytes:
        """Equal for groupings that differ only in the order of their groups."""
        return self.groupings.key(candidate[:-CARRIED]) + np.asarray(candidate[-CARRIED:], np.int32).tobytes()

    def columns(self, candidate: Genome) -> Genome:
        """int32[p + 1]: the group of each column, and k."""
        grouped = np.empty(len(self.encoding.names) + 1, dtype=np.int32)
        for unit, label in zip(self.parts.units, candidate.tolist(), strict=False):
            grouped[list(unit)] = label
        grouped[-1] = candidate[-CARRIED - 1]
        return grouped

    def wanted(self, candidate: Genome) -> list[Wanted]:
        """The groups of columns a candidate needs, in the order of `groups_of`."""
        k, effort = int(candidate[-CARRIED - 1]), int(candidate[-CARRIED])
        return [(group, k, effort) for group in groups_of(self.columns(candidate))]

    def express(self, candidate: Genome) -> Genome:
        """The grouping with its clusters and what they publish, so that decoding only applies them."""
        clusters = [self.parts.clusters(each) for each in self.wanted(candidate)]
        return self.encoding.encode(self.columns(candidate), clusters, self.treatments[int(candidate[-1])])

    def ready(self, candidates: Sequence[Genome], engine: Engine) -> bool:
        """Work out a quantum of the clusters that are still missing; whether none were."""
        return self.parts.ready([each for candidate in candidates for each in self.wanted(candidate)], engine)

    def variants(self, candidate: Genome) -> list[Genome]:
        """The same clusters, published in every other way."""
        found = []
        for place in range(len(self.treatments)):
            if place != int(candidate[-1]):
                found.append(candidate.copy())
                found[-1][-1] = place
        return found

    def facts(self, candidate: Genome) -> dict[str, float | int | str]:
        """The effort spent on the clusters."""
        return {"effort": int(candidate[-CARRIED])}

    def first(self, size: int, customary: bool, rng: Generator) -> tuple[Genome, ...]:
        """So many groupings: some customary ones at every rung of k, the rest at random; without effort."""
        u, rungs = self.groupings.attributes, self.groupings.rungs
        listed: list[Groups] = customary_by(self._alike()) if customary else []
        fixed = [genome_of(groups, u, k) for k in rungs for groups in reversed(listed[:2])]
        fixed += [genome_of(groups, u, self.groupings.draw_k(rng)) for groups in listed[2:]]
        fixed = fixed[: max(2, 2 * size // 3)]
        drawn = self.groupings.draw(rng, max(0, size - len(fixed)))
        tail = np.zeros(CARRIED, dtype=np.int32)
        return tuple(np.concatenate([bare, tail]).astype(np.int32) for bare in (*fixed, *drawn))

    def _alike(self) -> NDArray[np.float64]:
        """float64[u, u]: the greatest absolute correlation between coordinates of two units."""
        table, names = self.encoding.table, self.encoding.names
        rows = np.flatnonzero(table.kept)
        some = table.take(rows[:: max(1, len(rows) // ALIKE_BY)])
        axes = [axis.weighed(some.column(axis.attribute.name)) for axis in Embedding.of(some, names, "z").axes]
        ends, alike = np.cumsum([0, *(axis.shape[1] for axis in axes)]), likeness(np.hstack(axes))
        places = [np.concatenate([np.arange(ends[j], ends[j + 1]) for j in unit]) for unit in self.parts.units]
        return np.array([[alike[np.ix_(a, b)].max(initial=0.0) for b in places] for a in places])


@dataclass(frozen=True)
class LossAndLinkage:
    """(information loss, risk by the worst intruder), per cent: what the search minimises by itself."""

    candidates: MixedCandidates
    loss: BoundMeasure
    links: tuple[BoundMeasure, ...] = field(repr=False)

    @classmethod
    def of(cls, candidates: MixedCandidates, intruders: Sequence[Sequence[str]]) -> LossAndLinkage:
        """The scores of candidates against intruders, each with the columns they know.

        Who knows some columns meets the classes over these; without such intruders columns are masked apart, no class
        is promised, and people are assigned one-to-one, of many people some.
        """
        table, names = candidates.encoding.table, candidates.encoding.names
        found: Measure = ClassRisk() if intruders else OneToOneLinkage(sample=LOOKED_FOR)
        known = [readable(found, table, each) for each in intruders] or [tuple(table.quasi_identifiers or names)]
        bound = [found.model_copy(update={"columns": each}).against(table) for each in dict.fromkeys(known) if each]
        return cls(candidates, InformationLoss(columns=names).against(table), tuple(bound))

    def __call__(self, candidate: Genome) -> Scores:
        encoding: Encoding = self.candidates.encoding
        masked = encoding.decode(self.candidates.express(candidate))
        return self.loss.read(masked), max(each.read(masked) for each in self.links)


def rungs(k: int, largest: int) -> tuple[int, ...]:
    """The sizes that k may have, each about the same factor larger.

    Examples
    --------
    >>> rungs(5, 5), rungs(5, 50)
    ((5,), (5, 7, 10, 13, 19, 26, 36, 50))
    """
    sizes = np.geomspace(k, max(k, largest), RUNGS if largest > k else 1)
    return tuple(dict.fromkeys(round(float(size)) for size in sizes))


def together(table: Table, columns: int) -> int:
    """How many candidates are scored in one quantum."""
    return max(1, TOGETHER // max(1, len(table) * columns))
