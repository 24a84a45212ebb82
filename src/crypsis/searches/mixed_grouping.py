"""Mixed grouping: which columns of any kind are masked together, after GOMM (Balasch-Masoliver et al. 2014).

Columns that one intruder knows, that a rule ties or that are linked to each other are inseparable; their sets are
grouped, so that every grouping keeps what is demanded. The records are clustered by each group of columns with little
effort first and with more where a grouping is good.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.encodings.encoding import Encoding, Genome
from crypsis.encodings.grouping import GroupingEncoding, Groups, correlations_for_grouping, groups_of
from crypsis.encodings.partition import genome_of_listed_groups
from crypsis.engines import Engine, Serial
from crypsis.errors import TableError, listing
from crypsis.evolution import Application, Operator, Problem, Scores
from crypsis.masking.microaggregation import explain_impossible_microaggregation
from crypsis.masking.partitioning import Partitioner, partition_trivially, partitioner_comparisons, partitioners
from crypsis.masking.representatives import Representative
from crypsis.masking.scaling import Embedding, cut_scaled_groups, embed
from crypsis.measures.class_risk import ClassRisk
from crypsis.measures.information_loss import InformationLoss
from crypsis.measures.measure import BoundMeasure, Measure
from crypsis.measures.objective import Objective, columns_objective_reads
from crypsis.measures.one_to_one_linkage import OneToOneLinkage
from crypsis.privacy.demands import class_demands
from crypsis.privacy.model import PrivacyModel
from crypsis.searches.composite.annealing import (
    WHOLE,
    WORK,
    ChainGoal,
    CompositeChain,
    CompositeChains,
    cells_annealing_composites,
    merge_annealed_composites,
)
from crypsis.searches.composite.space import (
    CompositeSpace,
    Labels,
    Profile,
    Treatments,
    true_representative_in_space,
)
from crypsis.searches.gomm.gomm_search import (
    Crossovers,
    ElementMoves,
    ElementSwaps,
    GroupCreates,
    GroupEliminates,
    GroupingSearch,
    GroupSplits,
    KMutations,
    LocalSearches,
    Population,
    Selection,
)
from crypsis.searches.gomm.operators import GroupingCandidates, Mutation, list_gomm_operators_groupings
from crypsis.searches.partitions.chains import EvolvingPartitioner, PartitionChain
from crypsis.searches.partitions.space import START_AT_ONCE, PartitionSpace, first_partition_of_space, partition_k_grid
from crypsis.searches.search import Idle, ObjectiveScores, models_a_search_serves, searches
from crypsis.table.attribute import Attribute, attribute_weights
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.table import Table

SEED = 2014
"""Of the random numbers by which a group of columns is clustered."""
BEGINNING = 20
"""Times that every cell is read until the records are halved into clusters, about."""


@dataclass
class RefinableClusters(ABC):
    """Clusters by effort: the first are quick, later ones lose less."""

    space: CompositeSpace  # the records by the columns of the group, with strata and demands
    k: int  # least size of a cluster
    done: list[Labels] = field(default_factory=list)  # int32[n] each: the clusters after effort 0, 1, …

    @abstractmethod
    def step(self) -> int:
        """One quantum of work; the cells that were read, about."""

    def after(self, effort: int) -> Labels:
        """The clusters after an effort, worked out if they are not yet."""
        while len(self.done) <= effort:
            self.step()
        return self.done[effort]


@dataclass
class AnnealedClusters(RefinableClusters):
    """Annealing of composite groups: effort is the number of its annealing runs."""

    chain: CompositeChain | None = None

    def step(self) -> int:
        """Halve the records; then look for near records; then a quantum of the next run."""
        annealing = CompositeChains(self.space, (ChainGoal(self.k),), Treatments((), ()), brief=True)
        if self.chain is None:
            self.chain = annealing.begin_chain(0, SEED)
            self.done.append(self.chain.best)
            return BEGINNING * len(self.space) * len(self.space.names)
        if not annealing.divisible(self.k):
            self.done.append(self.done[-1])
            return 1
        if len(self.space) <= WHOLE and self.space.find_neighbours():
            return WORK
        cells = min(WORK, cells_annealing_composites(self.space, self.k, int(self.chain.place[0])))
        self.chain = annealing.work(0, self.chain)
        if int(self.chain.place[0]) == len(self.done):
            self.done.append(self.chain.best)
        return cells


@dataclass
class EvolvedClusters(RefinableClusters):
    """A partitioner that searches, on the columns as points: effort e has had half of 2 to the e quanta."""

    partitioner: EvolvingPartitioner = field(kw_only=True)
    points: NDArray[np.float64] = field(kw_only=True)
    quanta: int = 0
    chain: PartitionChain | None = None

    def step(self) -> int:
        """The first groups; then look for near records; then a quantum of the partitioner."""
        refinement, only = self.partitioner.refinement_of(len(self.points)), partition_trivially(self.points, self.k)
        if self.chain is None or only is not None:
            first = None
            if (
                only is None
                and refinement.begins_anywhere
                and partitioner_comparisons(self.points, self.k) > START_AT_ONCE
            ):
                first = first_partition_of_space(self._records, self.k, None)
            begun = (
                refinement.begin(self._records, self.k, SEED, first) if only is None else PartitionChain(self.k, only)
            )
            self.chain = begun
            self.done.append(self._meet_all_demands(begun.labels))
            return WORK
        if refinement.needs_neighbours and not self._records.find_neighbours(Serial()):
            return WORK
        tasks = refinement.tasks(self._records, self.chain)
        found = [refinement.work(self._records, task) for task in tasks]
        self.chain = refinement.absorb(self._records, self.chain, found) if tasks else self.chain
        self.quanta += 1
        if self.quanta == 1 << len(self.done) - 1:
            self.done.append(self._meet_all_demands(self.chain.labels))
        return WORK

    @cached_property
    def _records(self) -> PartitionSpace:
        return PartitionSpace(self.points, (self.k,))

    def _meet_all_demands(self, labels: Labels) -> Labels:
        return _meet_all_demands(self.space, self.points, labels, self.k)


@dataclass
class FixedClusters(RefinableClusters):
    """A partitioner that gives its groups at once, on the columns as points; no effort changes them."""

    partitioner: Partitioner = field(kw_only=True)
    points: NDArray[np.float64] = field(kw_only=True)

    def step(self) -> int:
        """All groups."""
        if self.done:
            self.done.append(self.done[0])
            return 1
        labels = self.partitioner.partition(self.points, self.k, np.random.default_rng(SEED))
        self.done.append(_meet_all_demands(self.space, self.points, labels, self.k))
        return WORK


def _meet_all_demands(space: CompositeSpace, points: NDArray[np.float64], labels: Labels, k: int) -> Labels:
    """Clusters of points, cut so that none crosses a stratum and joined until each meets what is demanded."""
    found = labels if not space.strata.any() else cut_scaled_groups(labels, space.strata, points, k)
    return merge_annealed_composites(space, 0, k, found)


# -- Which columns must share a group: those one intruder knows, those a rule ties, and those linked to each other.
#
# A demand on the classes of some columns holds where these columns are masked together. So a grouping whose groups are
# unions of inseparable sets keeps every demand, and one intruder after the other is answered by the group that holds
# their columns.

ColumnSets = tuple[tuple[int, ...], ...]
"""Positions of columns by set, sorted inside a set, sets sorted by their first column."""


def inseparable_mixed_columns(
    table: Table, names: Sequence[str], models: Sequence[PrivacyModel], ties: Sequence[Sequence[str]] = ()
) -> ColumnSets:
    """Columns of any kind that mixed grouping always masks together.

    >>> from crypsis.privacy.anonymity import KAnonymity
    >>> people = Table.from_columns({"a": [1], "b": [2], "c": [3]}, dict.fromkeys("abc", "quasi"))
    >>> inseparable_mixed_columns(people, ["a", "b", "c"], [KAnonymity(k=2, quasi_identifiers=("a", "c"))])
    ((0, 2), (1,))
    """
    bonds = [{name, table.attribute(name).linked} for name in names]
    bonds += [set(model.known_columns(table)) for model in models] + [set(tie) for tie in ties]
    first = list(range(len(names)))
    for bond in bonds:
        joined = {first[place] for place, name in enumerate(names) if name in bond}
        first = [min(joined) if each in joined else each for each in first]
    return tuple(
        tuple(place for place, each in enumerate(first) if each == lowest) for lowest in dict.fromkeys(sorted(first))
    )


def _models_on(table: Table, columns: Iterable[str], models: Sequence[PrivacyModel]) -> list[PrivacyModel]:
    """Models that look at one of some columns."""
    held = set(columns)
    return [model for model in models if held & set(model.known_columns(table))]


def fixed_columns_beside_grouping(table: Table, columns: Sequence[str], models: Sequence[PrivacyModel]) -> list[str]:
    """Columns known beside those of a mixed grouping that stay as collected: only equal records share a cluster."""
    known = {name for model in _models_on(table, columns, models) for name in model.known_columns(table)}
    return [name for name in table.names if name in known and name not in columns]


def _fixed_obstacle(table: Table, names: Sequence[str], models: Sequence[PrivacyModel], k: int) -> str:
    """Why clusters of k cannot hold beside columns that stay as collected; empty if they can."""
    for places in inseparable_mixed_columns(table, names, models):
        columns = [names[place] for place in places]
        fixed, strata = fixed_columns_beside_grouping(table, columns, models), _strata_of_fixed(table, columns, models)
        sizes = np.bincount(strata)
        thin = int(sizes[sizes < k].sum())
        if thin:
            return (
                f"{listing(map(repr, fixed))} stays as collected and is known beside {listing(map(repr, columns))}, "
                f"and {thin} of {len(strata)} records share its values with fewer than {k} records; mask it too, or "
                f"lower k"
            )
    return ""


def _strata_of_fixed(table: Table, columns: Sequence[str], models: Sequence[PrivacyModel]) -> NDArray[np.int32]:
    """int32[kept]: the class of every kept record by the columns that are known beside masked ones and stay."""
    fixed = fixed_columns_beside_grouping(table, columns, models)
    if not fixed:
        return np.zeros(int(table.kept.sum()), np.int32)
    return equivalence_classes(table.codes(fixed)[table.kept]).of.astype(np.int32)


# -- Groups of columns of any kind, each clustered by itself: worked out quantum by quantum and remembered.

COMPOSITE = "composite"
"""Name of the partitioner that anneals composite groups."""

ClusterRequest = tuple[tuple[int, ...], int, int]
"""Positions of columns that are masked together, k, and effort."""


@dataclass
class ClusterCounts:
    """Work done: groups of columns that were begun, each once for every k, unless they were forgotten in between."""

    begun: int = 0


@dataclass(frozen=True, eq=False)
class ClusterCache:
    """The clusters of every group of columns that was asked for."""

    table: Table = field(repr=False)  # the original
    names: tuple[str, ...]  # columns that are masked
    models: tuple[PrivacyModel, ...]  # what is demanded
    profile: Profile  # what a cluster publishes in each column; composite annealing makes its loss small
    partitioner: str  # "composite" or a registered one
    k_values: tuple[int, ...]  # smallest and largest k
    megabytes: float  # how much the kept clusters may take; those in use are always kept
    counts: ClusterCounts = field(default_factory=ClusterCounts, repr=False)
    _kept: OrderedDict[tuple[tuple[int, ...], int], RefinableClusters] = field(default_factory=OrderedDict, repr=False)
    _spaces: dict[tuple[int, ...], CompositeSpace] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_kept": OrderedDict(), "_spaces": {}}  # a worker works out its own

    def clusters(self, request: ClusterRequest) -> Labels:
        """The clusters of a group of columns, worked out if they are not yet."""
        return self._find(request).after(request[2])

    def prepare(self, requests: Sequence[ClusterRequest], engine: Engine) -> bool:
        """Do a quantum for some groups that are not worked out yet; whether none is left."""
        if not engine.here:
            return True
        read = 0
        while (missing := self._find_unfinished(requests)) and read < WORK:
            read += sum(engine.map(_step, missing[: engine.workers], None)) // min(len(missing), engine.workers)
        self._forget({each[:2] for each in requests})
        return not missing

    def _find_unfinished(self, requests: Sequence[ClusterRequest]) -> list[RefinableClusters]:
        """Clusters that are not worked out far enough, of the same columns one: they share their survey."""
        found: dict[tuple[int, ...], RefinableClusters] = {}
        for each in requests:
            clusters = self._find(each)
            if each[0] not in found and len(clusters.done) <= each[2]:
                found[each[0]] = clusters
        return list(found.values())

    def _find(self, request: ClusterRequest) -> RefinableClusters:
        group, k, _ = request
        if (group, k) not in self._kept:
            self._kept[group, k] = self._begin(group, k)
            self.counts.begun += 1
        self._kept.move_to_end((group, k))
        return self._kept[group, k]

    def _begin(self, group: tuple[int, ...], k: int) -> RefinableClusters:
        space = self._space(group)
        size = min(max(k, space.demands.least), int(np.bincount(space.strata).min(initial=len(space))))
        if self.partitioner == COMPOSITE:
            return AnnealedClusters(space, size)
        method = partitioners.build(self.partitioner)
        kept = self.table.take(np.flatnonzero(self.table.kept))
        points = np.ascontiguousarray(embed(kept, [self.names[place] for place in group], "z"))
        if isinstance(method, EvolvingPartitioner):
            return EvolvedClusters(space, size, partitioner=method, points=points)
        return FixedClusters(space, size, partitioner=method, points=points)

    def _space(self, group: tuple[int, ...]) -> CompositeSpace:
        """The records by the columns of one group."""
        if group not in self._spaces:
            columns = tuple(self.names[place] for place in group)
            asked = _models_on(self.table, columns, self.models)
            known = [
                name for name in self.table.names if any(name in model.known_columns(self.table) for model in asked)
            ]
            self._spaces[group] = CompositeSpace(
                table=self.table,
                names=columns,
                profiles=(tuple(self.profile[place] for place in group),),
                k_grid=self.k_values,
                weights=attribute_weights([self.table.attribute(name) for name in columns]),
                strata=_strata_of_fixed(self.table, columns, asked),
                demands=class_demands(asked, self.table, [*columns, *known]),
            )
        return self._spaces[group]

    def _forget(self, used: set[tuple[tuple[int, ...], int]]) -> None:
        """Drop the clusters longest unused beyond what may be kept."""
        held = sum(4 * len(each.space) * len(each.done) for each in self._kept.values())
        for key in [key for key in self._kept if key not in used]:
            if held <= self.megabytes * 1e6:
                break
            held -= 4 * len(self._kept[key].space) * len(self._kept.pop(key).done)
        if len(self._spaces) > len(self._kept):
            current = {group for group, _ in self._kept}
            for group in [group for group in self._spaces if group not in current]:
                del self._spaces[group]


def _step(_: None, clusters: RefinableClusters) -> int:
    return clusters.step()


# -- Candidates: int32[s + 3], the group of each inseparable set, k, the effort spent on clusters, and the place of a
#    treatment.

OWN_GENES = 2
"""Genes behind groups and k: effort, and the place of a treatment."""
EXPLORING, MOST_EFFORT = 2, 12
"""Effort with which a new grouping is judged at most, and the largest there is."""
SOUGHT_PEOPLE = 1000
"""People an intruder looks for where candidates of a large table are compared."""
CORRELATED_RECORDS = 2000
"""Records by which the correlations of columns are measured."""
BATCH_CELLS = 20_000
"""Cells of all candidates that are decoded and linked in one quantum, unless one has more."""


@dataclass(frozen=True, eq=False)
class MixedCandidates:
    """Groupings of inseparable sets of columns, with the clusters of the records that they need."""

    encoding: GroupingEncoding  # decodes a grouping with its clusters
    column_sets: ColumnSets  # columns that are always masked together
    cache: ClusterCache  # clusters of each group of columns
    groupings: GroupingCandidates  # the groups of the column sets, and k
    treatments: tuple[Profile, ...]  # what a cluster publishes in each column; the first is searched for

    @property
    def counts(self) -> ClusterCounts:
        """Work done."""
        return self.cache.counts

    def key(self, candidate: Genome) -> bytes:
        """Equal for groupings that differ only in the order of their groups."""
        return self.groupings.key(candidate[:-OWN_GENES]) + np.asarray(candidate[-OWN_GENES:], np.int32).tobytes()

    def columns(self, candidate: Genome) -> Genome:
        """int32[p + 1]: the group of each column, and k."""
        grouped = np.empty(len(self.encoding.names) + 1, dtype=np.int32)
        for places, label in zip(self.column_sets, candidate.tolist(), strict=False):
            grouped[list(places)] = label
        grouped[-1] = candidate[-OWN_GENES - 1]
        return grouped

    def requests(self, candidate: Genome) -> list[ClusterRequest]:
        """The groups of columns a candidate needs, in the order of `groups_of`."""
        k, effort = int(candidate[-OWN_GENES - 1]), int(candidate[-OWN_GENES])
        return [(group, k, effort) for group in groups_of(self.columns(candidate))]

    def encode(self, candidate: Genome) -> Genome:
        """The grouping with its clusters and what they publish, so that decoding only applies them."""
        clusters = [self.cache.clusters(each) for each in self.requests(candidate)]
        return self.encoding.encode(self.columns(candidate), clusters, self.treatments[int(candidate[-1])])

    def prepare(self, candidates: Sequence[Genome], engine: Engine) -> bool:
        """Work out a quantum of the clusters that are still missing; whether none were."""
        return self.cache.prepare([each for candidate in candidates for each in self.requests(candidate)], engine)

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
        return {"effort": int(candidate[-OWN_GENES])}

    def first(self, size: int, heuristic: bool, rng: Generator) -> tuple[Genome, ...]:
        """So many groupings: some by heuristics at every value of k, the rest at random; without effort."""
        count, k_grid = self.groupings.attributes, self.groupings.k_grid
        listed: list[Groups] = list_gomm_operators_groupings(self._correlations()) if heuristic else []
        fixed = [genome_of_listed_groups(groups, count, k) for k in k_grid for groups in reversed(listed[:2])]
        fixed += [genome_of_listed_groups(groups, count, self.groupings.draw_k(rng)) for groups in listed[2:]]
        fixed = fixed[: max(2, 2 * size // 3)]
        drawn = self.groupings.draw(rng, max(0, size - len(fixed)))
        tail = np.zeros(OWN_GENES, dtype=np.int32)
        return tuple(np.concatenate([bare, tail]).astype(np.int32) for bare in (*fixed, *drawn))

    def _correlations(self) -> NDArray[np.float64]:
        """float64[s, s]: the greatest absolute correlation between coordinates of two column sets."""
        table, names = self.encoding.table, self.encoding.names
        rows = np.flatnonzero(table.kept)
        some = table.take(rows[:: max(1, len(rows) // CORRELATED_RECORDS)])
        axes = [axis.weigh(some.column(axis.attribute.name)) for axis in Embedding.of(some, names, "z").axes]
        ends, alike = np.cumsum([0, *(axis.shape[1] for axis in axes)]), correlations_for_grouping(np.hstack(axes))
        places = [np.concatenate([np.arange(ends[j], ends[j + 1]) for j in each]) for each in self.column_sets]
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
        found: Measure = ClassRisk() if intruders else OneToOneLinkage(sample=SOUGHT_PEOPLE)
        known = [columns_objective_reads(found, table, each) for each in intruders] or [
            tuple(table.quasi_identifiers or names)
        ]
        bound = [found.model_copy(update={"columns": each}).against(table) for each in dict.fromkeys(known) if each]
        return cls(candidates, InformationLoss(columns=names).against(table), tuple(bound))

    def __call__(self, candidate: Genome) -> Scores:
        encoding: Encoding = self.candidates.encoding
        masked = encoding.decode(self.candidates.encode(candidate))
        return self.loss.read(masked), max(each.read(masked) for each in self.links)


def _batch_size(table: Table, columns: int) -> int:
    """How many candidates are scored in one quantum."""
    return max(1, BATCH_CELLS // max(1, len(table) * columns))


# -- Operators on candidates: those of GOMM with the genes behind them, k on its grid, and more effort.


@dataclass(frozen=True)
class WithOwnGenes(Operator):
    """An operator on groupings for candidates with more genes: effort and treatment follow the child's own parent."""

    operator: Operator  # varies groups and k
    most: int  # effort of a child at most: a new grouping is judged quickly first

    @property
    def name(self) -> str:
        """That of the operator."""
        return self.operator.name

    @property
    def arity(self) -> int:
        """That of the operator."""
        return self.operator.arity

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        made = self.operator.apply([parent[:-OWN_GENES] for parent in parents], rng)
        children = []
        for place, child in enumerate(made):
            effort, treatment = parents[place % len(parents)][-OWN_GENES:].tolist()
            tail = [min(effort, self.most), treatment]
            children.append(np.concatenate([child, np.array(tail, dtype=np.int32)]).astype(np.int32))
        return children


@dataclass(frozen=True)
class GridMutation(Mutation):
    """k moved to a neighbouring value of its grid, or sometimes to any."""

    k_grid: tuple[int, ...]  # the values k may have, ascending
    name: ClassVar[str] = "k mutation"

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child, last = parents[0].copy(), len(self.k_grid) - 1
        if rng.random() < 0.25:
            child[-1] = self.k_grid[int(rng.integers(last + 1))]
            return [child]
        place = self.k_grid.index(int(child[-1])) + (1 if rng.random() < 0.5 else -1)
        child[-1] = self.k_grid[min(max(place, 0), last)]
        return [child]


@dataclass(frozen=True)
class EffortMutation(Mutation):
    """The same grouping with more effort spent on its clusters."""

    most: int  # largest effort
    name: ClassVar[str] = "effort mutation"

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child = parents[0].copy()
        child[-OWN_GENES] = min(int(child[-OWN_GENES]) + 1, self.most)
        return [child]


# -- The search as a plan names it.


def _column_obstacle(table: Table, names: Sequence[str]) -> str:
    """Why columns of any kind cannot be masked group by group; empty if they can."""
    for name in names:
        if table.level(name) != 0:
            return f"column {name!r} is already generalised and grouping needs values as collected; leave it out"
        if table.attribute(name).numeric and np.isinf(table.column(name)[table.kept]).any():
            return f"column {name!r} has infinite values, which have no distance; correct them or leave it out"
    if len(names) < 2:
        return explain_impossible_microaggregation(names, "no quasi-identifier is", ", or use the search 'composite'")
    return ""


@searches.add("mixed-grouping")
class MixedGroupingSearch(GroupingSearch):
    """Which columns should be masked together? Groups of columns of any kind, each clustered by itself.

    Columns that one intruder knows stay in one group, so that every grouping keeps what a plan demands of them; the
    fewer columns one intruder knows, the less is lost.

    Notes
    -----
    - Formula: chromosome: the group of every inseparable set of columns, k, effort, treatment; front of information
      loss and of class risk, without known intruders one-to-one linkage
    - Paper: own, after GOMM of Balasch-Masoliver, Muntés-Mulero and Nin (2014)
    - Cost: one clustering per group of columns, k and effort, in quanta
    - Departures: columns of any kind, demands of scenarios, composite annealing instead of MDAV, selection by dominance

    Examples
    --------
    >>> table = crypsis.example(60)
    >>> search = crypsis.MixedGroupingSearch(k=3, population=6)
    >>> search.names(table)
    ('age', 'sex', 'district', 'education', 'marital', 'occupation', 'hours')
    >>> run = crypsis.evolve(table, search=search, budget="2 generations", seed=1)
    >>> {solution.title for solution in run.front if not solution.baseline}
    {'mixed-grouping'}
    """

    purpose: ClassVar[str] = "which columns are masked together"
    pace: ClassVar[int] = 4

    population: Population = 30
    crossovers: Crossovers = 2
    group_creates: GroupCreates = 1
    group_eliminates: GroupEliminates = 1
    group_splits: GroupSplits = 1
    element_swaps: ElementSwaps = 1
    element_moves: ElementMoves = 2
    k_mutations: KMutations = 3
    local_searches: LocalSearches = 0
    select: Selection = "dominance"
    columns: tuple[str, ...] = Field(default=(), description="columns to group; empty means every quasi-identifier")
    partitioner: str = Field(
        default=COMPOSITE,
        description="what clusters the records: composite, which anneals on cell loss itself, or a registered "
        "partitioner",
    )
    truthful: bool = Field(default=False, description="publish nothing that is false of a record")
    numbers: Literal["calibrated", "mean", "median"] = Field(
        default="calibrated",
        description="what the numbers of a cluster become; calibrated keeps distributions, totals and covariances",
    )
    categories: Literal["calibrated", "cheapest", "typical", "marginal"] = Field(
        default="calibrated",
        description="what the categories of a cluster become: a value of the cluster that keeps counts and how columns "
        "go together; the common ancestor or the most frequent value, whichever loses less; the typical value; or one "
        "that keeps the distribution",
    )
    refinements: int = Field(
        default=6, ge=0, le=10_000, description="groupings whose clusters are made better, per generation"
    )

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        found = dict(super().idle(guided))
        if self.truthful:
            found |= dict.fromkeys(("numbers", "categories"), Idle("with truthful", "set truthful to false"))
        return found

    @classmethod
    def first_settings(cls, table: Table, k: int) -> dict[str, Any]:
        records = int(table.kept.sum())
        return {"k": k} | ({"largest_k": min(10 * k, records // 2)} if records >= 4 * k else {})

    @classmethod
    def drawback(cls, table: Table) -> str:
        return (
            "k over all quasi-identifiers leaves all columns in one group; see the two forms above that let it mask "
            "columns apart"
        )

    def names(self, table: Table) -> tuple[str, ...]:
        """The columns to be grouped.

        Parameters
        ----------
        table : Table
            The table, with columns of any kind.

        Returns
        -------
        tuple of str
            Without those that are locked.
        """
        locked = [name for name in table.names if table.attribute(name).locked]
        return tuple(name for name in self.columns or table.quasi_identifiers if name not in locked)

    def obstacle(self, table: Table) -> str:
        try:
            names = self.names(table)
            found = _column_obstacle(table, names) or self._k_obstacle(table)
        except TableError as error:
            return str(error)
        least = max((model.least_class_size for model in self.demanded_models), default=self.k)
        return found or _fixed_obstacle(table, names, self.demanded_models, max(self.k, least))

    def encoding(self, table: Table) -> GroupingEncoding:
        return GroupingEncoding(table, self.names(table))

    def problem(self, encoding: GroupingEncoding, objective: Objective | None, rng: Generator) -> Problem:
        table, names = encoding.table, encoding.names
        attributes = [table.attribute(name) for name in names]
        models = self.demanded_models or (() if objective is None else models_a_search_serves(objective))
        column_sets = inseparable_mixed_columns(table, names, models, [rule.columns for rule in self.rules])
        profile = self._profile(attributes)
        treatments = tuple(dict.fromkeys((profile, *Treatments.of(attributes, profile, self.truthful).wholes)))
        grid = partition_k_grid(self.k, self.largest_k)
        candidates = MixedCandidates(
            encoding,
            column_sets,
            ClusterCache(table, names, tuple(models), treatments[0], self.partitioner, grid, self.memory),
            GroupingCandidates(len(column_sets), self.k, grid[-1], self.initial_groups, grid),
            treatments,
        )
        refinement = [Application(EffortMutation(MOST_EFFORT), self.refinements)] if self.refinements else []
        size = max(self.initial_population, self.population)
        own = LossAndLinkage.of(candidates, self.intruders)
        return Problem(
            key=candidates.key,
            strategy=self._strategy(GridMutation(grid) if grid[-1] > self.k else None, *refinement),
            start=candidates.first(size, self.start == "heuristic", rng),
            evaluate=own if objective is None else ObjectiveScores(encoding, objective, candidates.encode),
            objectives=("loss", "risk"),
            express=candidates.encode,
            variants=candidates.variants if len(treatments) > 1 else None,
            ready=candidates.prepare,
            facts=candidates.facts,
            together=_batch_size(table, len(names)),
            notes={
                "columns": list(names),
                "column_sets": [[names[place] for place in places] for places in column_sets],
            },
        )

    def _profile(self, attributes: Sequence[Attribute]) -> Profile:
        """What a cluster publishes in each column."""
        if self.truthful:
            return tuple(true_representative_in_space(each) for each in attributes)
        return tuple(Representative(self.numbers if each.numeric else self.categories) for each in attributes)

    def _adapt(self, operator: Operator) -> Operator:
        return WithOwnGenes(operator, EXPLORING)
