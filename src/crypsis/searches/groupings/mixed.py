"""Groupings of columns of any kind: candidates, what they lose and reveal, and the problem for the loop.

A candidate is int32[u + 3]: the group of each unit of columns, k, the effort spent on clusters, and the place of a
treatment. Groups of units keep what is demanded of the columns that intruders know together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.encoding import Encoding, Genome
from crypsis.encodings.grouping import GroupingEncoding, Groups, groups_of
from crypsis.engines import Engine, Serial
from crypsis.errors import listing
from crypsis.evolution import Scores
from crypsis.masking.locking import within_strata
from crypsis.masking.partitioning import Partitioner, partitioners, trivial
from crypsis.masking.scaling import Embedding, embed
from crypsis.measures.class_risk import ClassRisk
from crypsis.measures.information_loss import InformationLoss
from crypsis.measures.measure import BoundMeasure, Measure
from crypsis.measures.objective import readable
from crypsis.measures.one_to_one_linkage import OneToOneLinkage
from crypsis.privacy.demands import class_demands
from crypsis.privacy.model import PrivacyModel
from crypsis.searches.composites.annealing import (
    WHOLE,
    WORK,
    CompositeLineage,
    CompositeLineages,
    Seat,
    meet_demands,
    run_cells,
)
from crypsis.searches.composites.space import CompositeSpace, Labels, Profile, Treatments
from crypsis.searches.groupings.operators import CARRIED, GroupingCandidates, customary_by, genome_of, likeness
from crypsis.searches.partitions.chains import EvolvingPartitioner, Lineage
from crypsis.searches.partitions.space import START_AT_ONCE, PartitionSpace, comparisons, first_partition
from crypsis.table.attribute import weights
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.table import Table

SEED = 2014
"""Of the chance inside a chain."""
BEGINNING = 20
"""Times that every cell is read until the records are halved into clusters, about."""


@dataclass
class Chain(ABC):
    """Clusters by effort: the first are quick, later ones lose less.

    space  the records by the columns of the group, with strata and demands
    k  least size of a cluster
    done  int32[n] each: the clusters after effort 0, 1, …
    """

    space: CompositeSpace
    k: int
    done: list[Labels] = field(default_factory=list)

    @abstractmethod
    def step(self) -> int:
        """One quantum of work; the cells that were read, about."""

    def after(self, effort: int) -> Labels:
        """The clusters after an effort, worked out if they are not yet."""
        while len(self.done) <= effort:
            self.step()
        return self.done[effort]


@dataclass
class CompositeChain(Chain):
    """The walk over composite groups: effort is the number of its annealing runs."""

    lineage: CompositeLineage | None = None

    def step(self) -> int:
        """Halve the records; then look for near records; then a quantum of the next run."""
        walk = CompositeLineages(self.space, (Seat(self.k),), Treatments((), ()), brief=True)
        if self.lineage is None:
            self.lineage = walk.begun(0, SEED)
            self.done.append(self.lineage.best)
            return BEGINNING * len(self.space) * len(self.space.names)
        if not walk.divisible(self.k):
            self.done.append(self.done[-1])
            return 1
        if len(self.space) <= WHOLE and self.space.survey():
            return WORK
        cells = min(WORK, run_cells(self.space, self.k, int(self.lineage.place[0])))
        self.lineage = walk.work(0, self.lineage)
        if int(self.lineage.place[0]) == len(self.done):
            self.done.append(self.lineage.best)
        return cells


@dataclass
class EvolvingChain(Chain):
    """A partitioner that searches, on the columns as points: effort e has had half of 2 to the e quanta."""

    partitioner: EvolvingPartitioner = field(kw_only=True)
    points: NDArray[np.float64] = field(kw_only=True)
    quanta: int = 0
    lineage: Lineage | None = None

    def step(self) -> int:
        """The first groups; then look for near records; then a quantum of the partitioner."""
        refinement, only = self.partitioner.refinement_of(len(self.points)), trivial(self.points, self.k)
        if self.lineage is None or only is not None:
            first = None
            if only is None and refinement.begins_anywhere and comparisons(self.points, self.k) > START_AT_ONCE:
                first = first_partition(self._records, self.k, None)
            begun = refinement.begin(self._records, self.k, SEED, first) if only is None else Lineage(self.k, only)
            self.lineage = begun
            self.done.append(self._legal(begun.labels))
            return WORK
        if refinement.walks and not self._records.surveyed(Serial()):
            return WORK
        tasks = refinement.tasks(self._records, self.lineage)
        found = [refinement.work(self._records, task) for task in tasks]
        self.lineage = refinement.absorb(self._records, self.lineage, found) if tasks else self.lineage
        self.quanta += 1
        if self.quanta == 1 << len(self.done) - 1:
            self.done.append(self._legal(self.lineage.labels))
        return WORK

    @cached_property
    def _records(self) -> PartitionSpace:
        return PartitionSpace(self.points, (self.k,))

    def _legal(self, labels: Labels) -> Labels:
        return legal(self.space, self.points, labels, self.k)


@dataclass
class OnceChain(Chain):
    """A partitioner that gives its groups at once, on the columns as points; no effort changes them."""

    partitioner: Partitioner = field(kw_only=True)
    points: NDArray[np.float64] = field(kw_only=True)

    def step(self) -> int:
        """All groups."""
        if self.done:
            self.done.append(self.done[0])
            return 1
        labels = self.partitioner.partition(self.points, self.k, np.random.default_rng(SEED))
        self.done.append(legal(self.space, self.points, labels, self.k))
        return WORK


def legal(space: CompositeSpace, points: NDArray[np.float64], labels: Labels, k: int) -> Labels:
    """Clusters of points, cut so that none crosses a stratum and joined until each meets what is demanded."""
    found = labels if not space.strata.any() else within_strata(labels, space.strata, points, k)
    return meet_demands(space, 0, k, found)


# -- Which columns must share a group: those one intruder knows, those a rule ties, and those linked to each other.
#
# A demand on the classes of some columns holds where these columns are masked together. So a grouping whose groups are
# unions of units keeps every demand, and one intruder after the other is answered by the group that holds their
# columns.

Units = tuple[tuple[int, ...], ...]
"""Positions of columns by unit, sorted inside a unit, units sorted by their first column."""


def units(
    table: Table, names: Sequence[str], models: Sequence[PrivacyModel], ties: Sequence[Sequence[str]] = ()
) -> Units:
    """Columns that are always masked together.

    Parameters
    ----------
    table : Table
        The original, with its roles and links.
    names : sequence of str
        Columns that are masked.
    models : sequence of PrivacyModel
        What is demanded; the columns one of them looks at become one unit, and so do units that share a column.
    ties : sequence of sequences of str
        Columns that a rule ties together: masked apart, they would break it.

    Returns
    -------
    tuple of tuples of int

    Examples
    --------
    >>> from crypsis.privacy.anonymity import KAnonymity
    >>> people = Table.from_columns({"a": [1], "b": [2], "c": [3]}, dict.fromkeys("abc", "quasi"))
    >>> units(people, ["a", "b", "c"], [KAnonymity(k=2, quasi_identifiers=("a", "c"))])
    ((0, 2), (1,))
    """
    bonds = [{name, table.attribute(name).linked} for name in names]
    bonds += [set(model.known(table)) for model in models] + [set(tie) for tie in ties]
    unit = list(range(len(names)))
    for bond in bonds:
        joined = {unit[place] for place, name in enumerate(names) if name in bond}
        unit = [min(joined) if each in joined else each for each in unit]
    return tuple(
        tuple(place for place, each in enumerate(unit) if each == first) for first in dict.fromkeys(sorted(unit))
    )


def models_touching(table: Table, columns: Iterable[str], models: Sequence[PrivacyModel]) -> list[PrivacyModel]:
    """Models that look at one of some columns."""
    held = set(columns)
    return [model for model in models if held & set(model.known(table))]


def fixed_columns(table: Table, columns: Sequence[str], models: Sequence[PrivacyModel]) -> list[str]:
    """Columns known beside masked ones that stay as collected: only records equal in them may share a cluster.

    columns  masked together
    models  what is demanded
    """
    known = {name for model in models_touching(table, columns, models) for name in model.known(table)}
    return [name for name in table.names if name in known and name not in columns]


def fixed_obstacle(table: Table, names: Sequence[str], models: Sequence[PrivacyModel], k: int) -> str:
    """Why clusters of k cannot hold beside columns that stay as collected; empty if they can.

    names  columns that are masked
    """
    for unit in units(table, names, models):
        columns = [names[place] for place in unit]
        fixed, strata = fixed_columns(table, columns, models), fixed_strata(table, columns, models)
        sizes = np.bincount(strata)
        thin = int(sizes[sizes < k].sum())
        if thin:
            return (
                f"{listing(map(repr, fixed))} stays as collected and is known beside {listing(map(repr, columns))}, "
                f"and {thin} of {len(strata)} records share its values with fewer than {k} records; mask it too, or "
                f"lower k"
            )
    return ""


def fixed_strata(table: Table, columns: Sequence[str], models: Sequence[PrivacyModel]) -> NDArray[np.int32]:
    """int32[kept]: the class of every kept record by the columns that are known beside masked ones and stay."""
    fixed = fixed_columns(table, columns, models)
    if not fixed:
        return np.zeros(int(table.kept.sum()), np.int32)
    return equivalence_classes(table.codes(fixed)[table.kept]).of.astype(np.int32)


# -- Groups of columns of any kind, each clustered by itself: worked out quantum by quantum and remembered.

COMPOSITE = "composite"
"""Name of the partitioner that walks over composite groups."""

Wanted = tuple[tuple[int, ...], int, int]
"""Positions of columns that are masked together, k, and effort."""


@dataclass
class PartCounts:
    """Work done: groups of columns that were begun, each once for every k, unless they were forgotten in between."""

    begun: int = 0


@dataclass(frozen=True, eq=False)
class Parts:
    """The clusters of every group of columns that was asked for.

    Parameters
    ----------
    table : Table
        The original.
    names : tuple of str
        Columns that are masked.
    units : tuple of tuples of int
        Columns that are always together.
    models : tuple of PrivacyModel
        What is demanded.
    profile : tuple of Representative
        What a cluster publishes in each column; the composite walk makes its loss small.
    partitioner : str
        "composite" or a registered one.
    ladder : tuple of int
        Smallest and largest k.
    megabytes : float
        How much the kept clusters may take; those in use are always kept.
    """

    table: Table = field(repr=False)
    names: tuple[str, ...]
    units: Units
    models: tuple[PrivacyModel, ...]
    profile: Profile
    partitioner: str
    ladder: tuple[int, ...]
    megabytes: float
    counts: PartCounts = field(default_factory=PartCounts, repr=False)
    _chains: OrderedDict[tuple[tuple[int, ...], int], Chain] = field(default_factory=OrderedDict, repr=False)
    _spaces: dict[tuple[int, ...], CompositeSpace] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_chains": OrderedDict(), "_spaces": {}}  # a worker works out its own

    def clusters(self, wanted: Wanted) -> Labels:
        """The clusters of a group of columns, worked out if they are not yet."""
        return self._chain(wanted).after(wanted[2])

    def ready(self, wanted: Sequence[Wanted], engine: Engine) -> bool:
        """Do a quantum for some groups that are not worked out yet; whether none is left.

        engine  in other processes they are worked out as they are scored
        """
        if not engine.here:
            return True
        read = 0
        while (missing := self._missing(wanted)) and read < WORK:
            read += sum(engine.map(_step, missing[: engine.workers], None)) // min(len(missing), engine.workers)
        self._forget({each[:2] for each in wanted})
        return not missing

    def _missing(self, wanted: Sequence[Wanted]) -> list[Chain]:
        """Chains that are not worked out far enough, of the same columns one: they share their survey."""
        found: dict[tuple[int, ...], Chain] = {}
        for each in wanted:
            chain = self._chain(each)
            if each[0] not in found and len(chain.done) <= each[2]:
                found[each[0]] = chain
        return list(found.values())

    def _chain(self, wanted: Wanted) -> Chain:
        group, k, _ = wanted
        if (group, k) not in self._chains:
            self._chains[group, k] = self._begun(group, k)
            self.counts.begun += 1
        self._chains.move_to_end((group, k))
        return self._chains[group, k]

    def _begun(self, group: tuple[int, ...], k: int) -> Chain:
        space = self._space(group)
        size = min(max(k, space.demands.least), int(np.bincount(space.strata).min(initial=len(space))))
        if self.partitioner == COMPOSITE:
            return CompositeChain(space, size)
        method = partitioners.build(self.partitioner)
        kept = self.table.take(np.flatnonzero(self.table.kept))
        points = np.ascontiguousarray(embed(kept, [self.names[place] for place in group], "z"))
        if isinstance(method, EvolvingPartitioner):
            return EvolvingChain(space, size, partitioner=method, points=points)
        return OnceChain(space, size, partitioner=method, points=points)

    def _space(self, group: tuple[int, ...]) -> CompositeSpace:
        """The records by the columns of one group."""
        if group not in self._spaces:
            columns = tuple(self.names[place] for place in group)
            asked = models_touching(self.table, columns, self.models)
            known = [name for name in self.table.names if any(name in model.known(self.table) for model in asked)]
            self._spaces[group] = CompositeSpace(
                table=self.table,
                names=columns,
                profiles=(tuple(self.profile[place] for place in group),),
                ladder=self.ladder,
                weights=weights([self.table.attribute(name) for name in columns]),
                strata=fixed_strata(self.table, columns, asked),
                demands=class_demands(asked, self.table, [*columns, *known]),
            )
        return self._spaces[group]

    def _forget(self, used: set[tuple[tuple[int, ...], int]]) -> None:
        """Drop the chains longest unused beyond what may be kept."""
        held = sum(4 * len(chain.space) * len(chain.done) for chain in self._chains.values())
        for key in [key for key in self._chains if key not in used]:
            if held <= self.megabytes * 1e6:
                break
            held -= 4 * len(self._chains[key].space) * len(self._chains.pop(key).done)
        if len(self._spaces) > len(self._chains):
            current = {group for group, _ in self._chains}
            for group in [group for group in self._spaces if group not in current]:
                del self._spaces[group]


def _step(_: None, chain: Chain) -> int:
    return chain.step()


# -- Groupings of columns of any kind: candidates, what they lose and reveal, and the problem for the loop.
#
# A candidate is int32[u + 3]: the group of each unit of columns, k, the effort spent on clusters, and the place of a
# treatment. Groups of units keep what is demanded of the columns that intruders know together.

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
