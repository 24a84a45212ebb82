"""The records of a table as the kernels of composite groups read them, and the near records of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.composite import CompositeGenes
from crypsis.evolution import Genome
from crypsis.kernels import composite
from crypsis.kernels.composite import Cells, Charges, CompositeContext, Workspace, total_cost
from crypsis.kernels.halving import add_neighbours_in_order, add_neighbours_of_neighbours, halve_records
from crypsis.masking.repairing import repair
from crypsis.masking.representatives import Representative, published_by_column
from crypsis.masking.scaling import embed
from crypsis.measures.information_loss import ColumnInformation, information_losses
from crypsis.privacy.demands import ClassDemands
from crypsis.searches.partitions.space import PartitionSpace
from crypsis.table.attribute import Attribute, Kind
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.precision import at_source_precision
from crypsis.table.rules import EditRule
from crypsis.table.table import Table
from crypsis.tasks import Tasks, complete

Labels = NDArray[np.int32]

ORDERS, PART_ORDERS, BESIDE = 16, 6, 8
"""Orders of all records and of a part of them in which near ones are looked for, and how far to either side."""
NEAR = (20, 60)
"""Least and largest number of near records that are listed; between them, twice k."""
NEAREST = 20
"""Near records of each record whose own near records are looked at once all orders were."""
LOOKED_AT = 200_000
"""Cells of the orders that are looked at in one quantum."""
COMPARED = 10_000_000
"""Cells of near records that are compared in one quantum."""
HALVED = 2_000_000
"""Records of all parts that are halved in one task."""
RANDOMNESS = 1.5
"""How much the generator decides which column is cut for these orders."""
PRICE = 1.0
"""What a group that meets no demand is charged: as much as if every cell were lost."""
MADE = ("cells", "points", "_near", "_places")
"""What a worker can work out for itself."""

RULES = {
    Representative.MEDIAN: composite.MEDIAN,
    Representative.MEAN: composite.MEAN,
    Representative.MODE: composite.MODE,
    Representative.COMMON_ANCESTOR: composite.ANCESTOR,
    Representative.CHEAPEST: composite.CHEAPEST,
    Representative.UNANIMOUS: composite.UNANIMOUS,
}
"""What annealing minimises for a representative; the typical value for any other."""


def cells_of_composite_space(
    table: Table, names: Sequence[str], chosen: Sequence[Representative], weights: Sequence[float]
) -> Cells:
    """Kept records of a table as the kernels of composite groups read them."""
    kept = table.take(np.flatnonzero(table.kept))
    columns = [_column(table, kept, name) for name in names]
    contents = [ColumnInformation.of(table, name) for name in names]
    heights = [-1 if tree is None else tree.height for _, _, tree in columns]
    starts = np.zeros((len(names), max(heights, default=0) + 1), dtype=np.int64)
    above, widths, begin = [np.zeros(0, np.int32)], [np.zeros(0)], 0
    for a, (_, _, tree) in enumerate(columns):
        if tree is None:
            continue
        losses = contents[a].leaf_losses(tree)
        for level in range(tree.height + 1):
            starts[a, level], begin = begin, begin + tree.size
            above.append(tree.groups[level])
            widths.append(losses[level])
    kinds = [table.attribute(name).kind for name in names]
    rules = [_rule(representative, kind) for representative, kind in zip(chosen, kinds, strict=True)]
    return Cells(
        codes=np.ascontiguousarray(np.stack([codes for codes, _, _ in columns], axis=1), dtype=np.int32),
        values=np.ascontiguousarray(np.stack([values for _, values, _ in columns], axis=1)),
        blanks=np.ascontiguousarray(np.stack([each.blanks()[table.kept] for each in contents], axis=1)),
        numbers=np.array([kind is Kind.NUMERIC for kind in kinds]),
        wrong=np.array([1.0 / each.spread if each.varies else 1.0 for each in contents]),
        rules=np.array(rules, dtype=np.int64),
        weights=np.array(weights, dtype=np.float64),
        heights=np.array(heights, dtype=np.int64),
        starts=starts,
        above=np.concatenate(above).astype(np.int32),
        widths=np.concatenate(widths),
    )


def _rule(representative: Representative, kind: Kind) -> int:
    """The rule of a kernel for a representative; a calibrated one loses least near the mean or the most frequent."""
    if representative is Representative.CALIBRATED:
        return composite.MEAN if kind is Kind.NUMERIC else composite.MODE
    typical = composite.MEDIAN if kind is Kind.ORDINAL else composite.MODE
    return RULES.get(representative, typical)


def _column(table: Table, kept: Table, name: str) -> tuple[NDArray[np.int32], NDArray[np.float64], Hierarchy | None]:
    """Codes, places on a line and the hierarchy of a column; places of missing values are 0."""
    attribute, column = table.attribute(name), kept.column(name)
    tree = attribute.hierarchy
    codes = kept.codes([name])[:, 0] if tree is None else kept.leaf_codes(name)
    if attribute.numeric:
        values = _in_deviations(table, name, column)
    elif attribute.kind is Kind.ORDINAL:
        values = np.maximum(column, 0).astype(np.float64)
    else:
        values = np.maximum(codes if tree is None else _by_branches(tree)[codes], 0).astype(np.float64)
    return codes, values, tree


def _in_deviations(table: Table, name: str, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far numbers are above the least of a column, in standard deviations; 0 where they are missing."""
    everybody = table.column(name)[~table.missing(name)]
    low, deviation = (float(everybody.min()), float(np.std(everybody))) if everybody.size else (0.0, 0.0)
    return np.asarray((np.nan_to_num(numbers, nan=low) - low) / (deviation if deviation > 0 else 1.0))


def _by_branches(tree: Hierarchy) -> NDArray[np.int64]:
    """A number for every leaf, so that leaves of one group follow each other at every level."""
    place = np.empty(tree.size, dtype=np.int64)
    place[np.lexsort(tree.groups)] = np.arange(tree.size)
    return place


def make_composite_space_buffers(cells: Cells, least: int) -> Workspace:
    """Buffers of the space of composite groups, made for a least group size k, that the kernels are handed."""
    n, p = cells.codes.shape
    return Workspace(
        rows=np.zeros((2, n + 1), np.int64),
        line=np.zeros(n),
        tally=np.zeros(int(cells.codes.max(initial=0)) + 1, np.int64),
        work=np.zeros(1, np.int64),
        saved=np.zeros((4 * least, p + 2)),
        temperature=np.zeros(2),
    )


@dataclass(frozen=True, eq=False)
class CompositeSpace:
    """Records, the columns they share in groups, and the group sizes that are wanted."""

    table: Table = field(repr=False)  # the original
    names: tuple[str, ...]  # columns in which a group publishes one value
    # ways of publishing that are searched for, each a representative for every column
    profiles: tuple[tuple[Representative, ...], ...]
    k_grid: tuple[int, ...]  # every k groups are wanted for
    weights: tuple[float, ...]  # what a lost cell of each column counts for
    strata: Labels = field(repr=False)  # int32[kept]: only records of one stratum share a group
    demands: ClassDemands = field(repr=False)  # what groups must satisfy beside their size
    rules: tuple[EditRule, ...] = ()  # what records keep: repaired where published values break it
    orders: int = ORDERS
    # the records for the kernels where they are some of a larger space, by profile; None: those of the table
    given_cells: tuple[Cells, ...] | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, object]:
        """Without what is made from the rest."""
        return {name: value for name, value in self.__dict__.items() if name not in MADE}

    def __len__(self) -> int:
        return len(self.strata)

    @cached_property
    def cells(self) -> tuple[Cells, ...]:
        """The records for the kernels, by profile."""
        if self.given_cells is not None:
            return self.given_cells
        return tuple(cells_of_composite_space(self.table, self.names, each, self.weights) for each in self.profiles)

    @cached_property
    def points(self) -> PartitionSpace:
        """The records as points, for annealing on squared distances."""
        kept = self.table.take(np.flatnonzero(self.table.kept))
        return PartitionSpace(np.ascontiguousarray(embed(kept, self.names, "z")), self.k_grid)

    def make_workspace(self, k: int) -> Workspace:
        """Buffers for one annealing run."""
        return make_composite_space_buffers(self.cells[0], k)

    def part(self, rows: NDArray[np.int64]) -> CompositeSpace:
        """Some of the records alone, with a quick search for near records."""
        demands = self.demands
        if not demands.only_size:
            code = np.ascontiguousarray(demands.arrays.code[:, rows])
            demands = replace(demands, arrays=demands.arrays._replace(code=code))
        strata = np.unique(self.strata[rows], return_inverse=True)[1].astype(np.int32)
        cells = tuple(
            each._replace(codes=each.codes[rows], values=each.values[rows], blanks=each.blanks[rows])
            for each in self.cells
        )
        return replace(self, strata=strata, demands=demands, orders=PART_ORDERS, given_cells=cells)

    def place(self, number: int) -> NDArray[np.int64]:
        """Where each record stands in one of two orders in which near records follow each other."""
        if number not in self._places:
            random_state = np.array([number + 1], np.uint64)
            order = halve_composite_space(
                self.cells[0], self.strata, 2, RANDOMNESS * number, random_state, self.make_workspace(2)
            )[1]
            self._places[number] = np.argsort(order)
        return self._places[number]

    @cached_property
    def _places(self) -> dict[int, NDArray[np.int64]]:
        """Places that were worked out."""
        return {}

    def charges(self) -> Charges | None:
        """What groups that miss a demand are charged, with buffers for one run; None where only k is demanded."""
        if self.demands.only_size:
            return None
        return Charges(self.demands.arrays, self.demands.room(), np.array([PRICE]))

    def cost(self, profile: int, labels: Labels) -> float:
        """What groups lose in all, in cells."""
        order, cells, workspace = np.argsort(labels, kind="stable"), self.cells[profile], self.make_workspace(2)
        bounds = np.append(np.flatnonzero(np.diff(labels[order], prepend=-1)), len(labels))
        return float(total_cost(cells, order.astype(np.int64), bounds.astype(np.int64), workspace))

    def repair_costs(self, profile: int, labels: Labels) -> NDArray[np.float64]:
        """What each group loses more, in cells, once the rules that its values break are repaired."""
        groups = int(labels.max()) + 1
        if not self.rules:
            return np.zeros(groups)
        ways = dict(zip(self.names, self.profiles[profile], strict=True))
        masked = at_source_precision(published_by_column(self.table, ways, labels), self.table)
        repaired = repair(masked, self.table, self.rules)
        if repaired is masked:
            return np.zeros(groups)
        more = np.zeros(len(self.table))
        for name, weight in zip(self.names, self.weights, strict=True):
            if repaired.column(name) is not masked.column(name):
                more += weight * (
                    information_losses(self.table, repaired, name) - information_losses(self.table, masked, name)
                )
        return np.bincount(labels, more[self.table.kept], groups).astype(np.float64)

    def halve(self, profile: int, k: int) -> Labels:
        """Groups of k to 2k − 1 records, found by halving the records again and again by the costliest column."""
        return complete(self.halve_tasks(profile, k))

    def halve_tasks(self, profile: int, k: int) -> Tasks[Labels]:
        """`halve` in tasks."""
        [cells] = yield [lambda: self.cells[profile]]
        found = yield from _halve_table_tasks(cells, self.strata, k, 0.0, np.ones(1, np.uint64), self.make_workspace(k))
        return found[0]

    def context(self, k: int) -> CompositeContext:
        """The near records of each, for annealing at one k; what is not known yet is looked for now."""
        while self.find_neighbours():
            pass
        count = min(max(2 * k, NEAR[0]), self._near.near.shape[1])
        return CompositeContext(np.ascontiguousarray(self._near.near[:, :count]), self.strata)

    def whole_context(self, anybody: bool) -> CompositeContext:
        """All near records that are known; none where anybody is near."""
        if anybody:
            return CompositeContext(np.zeros((len(self), 0), np.int32), self.strata)
        self.context(self.k_grid[0])
        return CompositeContext(self._near.near, self.strata)

    @property
    def _tasks(self) -> int:
        """Quanta in which the near records of near records are looked at; none for a part of a table."""
        if self.orders < ORDERS:
            return 0
        return -(-len(self) * NEAREST**2 * len(self.names) // COMPARED)

    @property
    def _together(self) -> int:
        """Orders that are looked at in one quantum."""
        return min(max(1, LOOKED_AT // (len(self) * len(self.names))), self.orders)

    def find_neighbours(self) -> bool:
        """Look for near records in a few more orders, or near those found; whether there is more to look at."""
        found, ended = self._near, self.orders + self._tasks
        passed = int(found.passed[0])
        if passed >= self.orders:
            if passed < ended:
                bounds = np.linspace(0, len(self), self._tasks + 1).astype(np.int64)
                first, last = bounds[passed - self.orders : passed - self.orders + 2].tolist()
                add_neighbours_of_neighbours(self.cells[0], first, last, NEAREST, found.near, found.apart)
                found.passed[0] += 1
        else:
            for _ in range(min(self._together, self.orders - passed)):
                order = halve_composite_space(
                    self.cells[0], self.strata, 2, RANDOMNESS, found.random_state, self.make_workspace(2)
                )[1]
                add_neighbours_in_order(self.cells[0], order, self.strata, BESIDE, found.near, found.apart)
                found.passed[0] += 1
        return bool(found.passed[0] < ended)

    @cached_property
    def _near(self) -> _NearRecords:
        """No record is looked at yet; the orders are always the same."""
        n = len(self)
        count = min(max(2 * max(self.k_grid), NEAR[0]), NEAR[1], max(n - 1, 1))
        near = np.repeat(np.arange(n, dtype=np.int32)[:, None], count, axis=1)
        return _NearRecords(near, np.full((n, count), np.inf), np.array([20061], np.uint64), np.zeros(1, np.int64))


class _NearRecords(NamedTuple):
    """Near records found so far, how much each differs, the generator of the next order, and how many were passed."""

    near: NDArray[np.int32]
    apart: NDArray[np.float64]
    random_state: NDArray[np.uint64]
    passed: NDArray[np.int64]


Halved = tuple[Labels, NDArray[np.int64]]
"""Groups, and the records in their order."""


def halve_composite_space(
    cells: Cells, strata: Labels, k: int, randomness: float, random_state: NDArray[np.uint64], workspace: Workspace
) -> Halved:
    """Composite groups by halving the records of a table, and the records in the order of the groups."""
    return complete(_halve_table_tasks(cells, strata, k, randomness, random_state, workspace))


def _halve_table_tasks(
    cells: Cells, strata: Labels, k: int, randomness: float, random_state: NDArray[np.uint64], workspace: Workspace
) -> Tasks[Halved]:
    """`halve_composite_space` in tasks."""
    n = len(strata)
    order = np.argsort(strata, kind="stable").astype(np.int64)
    bounds = np.cumsum(np.bincount(strata))[::-1]
    ends = np.zeros(n // k + 2 * len(bounds) + 5, np.int64)
    ends[: len(bounds)], ends[-2], ends[-1] = bounds, HALVED, len(bounds)
    labels = np.zeros(n, np.int32)
    while ends[-1] > 0:
        yield [partial(halve_records, cells, k, randomness, workspace, random_state, order, ends, labels)]
    return labels, order


# -- What a column of composite groups may be published as, and which other treatment is tried next.

Profile = tuple[Representative, ...]
"""A representative for every column."""


def true_representative_in_space(attribute: Attribute) -> Representative:
    """Composite space: the representative true of every record, common ancestor or unanimous value, by column."""
    return Representative.UNANIMOUS if attribute.hierarchy is None else Representative.COMMON_ANCESTOR


@dataclass(frozen=True)
class Treatments:
    """The treatments of each column that may take the place of the one that is searched for."""

    choices: tuple[Profile, ...]  # what each column may be published as
    wholes: tuple[Profile, ...]  # profiles tried for all columns at once, in turn

    @classmethod
    def of(cls, attributes: Sequence[Attribute], usual: Profile, truthful_only: bool) -> Treatments:
        """What is true of every record, beside the usual treatment of each column; or nothing else."""
        true = tuple(true_representative_in_space(each) for each in attributes)
        if truthful_only:
            return cls(tuple((each,) for each in usual), ())
        return cls(tuple(tuple(dict.fromkeys((each, other))) for each, other in zip(usual, true, strict=True)), (true,))

    def variants(self, records: int) -> Callable[[Genome], list[Genome]] | None:
        """Groups of so many records, published in the other ways for all columns; None where there are none."""
        return WholeVariants(self.wholes, records) if self.wholes else None

    def another(self, profile: Profile, turn: int, rng: Generator) -> Profile | None:
        """Another treatment of all columns, or of one at random; None where there is none."""
        wholes = [each for each in self.wholes if each != profile]
        place = turn % (len(wholes) + 1)
        if place < len(wholes):
            return wholes[place]
        able = [a for a, choices in enumerate(self.choices) if set(choices) - {profile[a]}]
        if not able:
            return None
        column = able[int(rng.integers(len(able)))]
        others = [each for each in self.choices[column] if each is not profile[column]]
        return (*profile[:column], others[int(rng.integers(len(others)))], *profile[column + 1 :])


@dataclass(frozen=True)
class WholeVariants:
    """The same groups with every column published in another way: what is true of every record."""

    wholes: tuple[Profile, ...]  # profiles
    records: int  # how many records are grouped

    def __call__(self, candidate: Genome) -> list[Genome]:
        genes = CompositeGenes.of(candidate, self.records)
        return [CompositeGenes(genes.labels, genes.k, each).genome for each in self.wholes if each != genes.treatments]
