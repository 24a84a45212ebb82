"""Every node of a lattice under privacy models: classes that fail one are suppressed, the rest decides the loss.

Classes are rolled up with how often each confidential value occurs in them, so that a node costs as many additions as
its classes have values. Passing classes of t-closeness or entropy diversity may fail after a merge with a failing one,
so the number of suppressed records may grow on the way up; only the size of classes lets nodes be skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.class_rollup import RolledClasses, judge_classes, raise_classes, records_below
from crypsis.kernels.contents import ContentRoom
from crypsis.privacy.demands import ClassDemands
from crypsis.searches.lattices.lattice_preparation import NodeLoss, cell_costs
from crypsis.table.attribute import weights
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.lattice import Lattice, Levels
from crypsis.table.table import Table

MOST_COUNTS = 60_000_000
"""Counts (distinct tuples times confidential values) above which nodes are not rolled up."""
UNFIT = (np.inf, np.inf, 0.0, 0.0)
Judged = tuple[list[int], tuple[float, ...]]
"""Levels of a node in the order of raising, and what `NodeContents.one` says of it."""


@dataclass(frozen=True, eq=False)
class NodeContents:
    """The classes of a table's lowest node and all that raises and judges them.

    Attributes
    ----------
    table, lattice : Table, Lattice
        What is generalised.
    demands : ClassDemands
        What every class must hold, over the columns of the lattice.
    allowance : int
        Records that may be suppressed.
    loss : str
        What nodes lose.
    """

    table: Table = field(repr=False)
    lattice: Lattice
    demands: ClassDemands = field(repr=False)
    allowance: int
    loss: NodeLoss = "glm"

    @cached_property
    def total(self) -> int:
        """Kept records."""
        return int(self.table.kept.sum())

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Attributes as they are raised: those with most values first, so that most nodes have few classes."""
        sizes = [hierarchy.size for hierarchy in self.lattice.hierarchies]
        return tuple(sorted(range(len(sizes)), key=lambda a: -sizes[a]))

    @cached_property
    def _groups(self) -> list[list[NDArray[np.int32]]]:
        """Attribute in order → level → group of each leaf, a missing value being a last group of its own."""
        found = []
        for a in self.order:
            groups = self.lattice.hierarchies[a].groups
            found.append([np.append(level, level.max(initial=-1) + 1).astype(np.int32) for level in groups])
        return found

    @cached_property
    def _up(self) -> list[list[NDArray[np.int32]]]:
        """Attribute in order → level → group one level higher of each group."""
        found = []
        for levels in self._groups:
            steps = []
            for low, high in pairwise(levels):
                step = np.zeros(int(low.max()) + 1, dtype=np.int32)
                step[low] = high
                steps.append(step)
            found.append(steps)
        return found

    @cached_property
    def _cells(self) -> list[list[NDArray[np.float64]]]:
        """Attribute in order → level → 1 less what a cell of each group loses more by suppression."""
        found, counts = [], np.ones(self.total, np.int64)
        for a in self.order:
            attribute, leaves = self.lattice.attributes[a], self.table.leaf_codes(self.lattice.names[a])
            given = (self.lattice.hierarchies[a], self._weights[a], self.loss, leaves[self.table.kept], counts)
            found.append(cell_costs(*given, attribute.numeric)[1])
        return found

    @cached_property
    def _weights(self) -> tuple[float, ...]:
        """The importance of each column."""
        return weights(self.lattice.attributes)

    @cached_property
    def _spared(self) -> float:
        """What cells that were missing are counted for beyond what they lose: no information."""
        if self.loss == "glm":
            return 0.0
        missing = [int(self.table.missing(name)[self.table.kept].sum()) for name in self.lattice.names]
        return float(np.dot(missing, self._weights))

    @cached_property
    def lowest(self) -> RolledClasses:
        """The distinct tuples."""
        kept, arrays = self.table.kept, self.demands.arrays
        codes = []
        for place, a in enumerate(self.order):
            leaves = self.table.leaf_codes(self.lattice.names[a])[kept]
            codes.append(np.where(leaves < 0, len(self._groups[place][0]) - 1, leaves))
        code = np.stack(codes, axis=1).astype(np.int32)
        classes = equivalence_classes(code)
        tally = np.zeros((classes.count, arrays.overall.shape[1]), dtype=np.int32)
        for column in arrays.code:
            known = column >= 0
            np.add.at(tally, (classes.of[known], column[known]), 1)
        return RolledClasses(np.ascontiguousarray(code[classes.first]), classes.sizes.astype(np.int64), tally)

    @cached_property
    def _seat(self) -> NDArray[np.int64]:
        return np.empty(1 << max(5, int(4 * len(self.lowest.records)).bit_length()), dtype=np.int64)

    def _raised(self, held: RolledClasses, place: int, level: int) -> RolledClasses:
        count = len(held.records)
        room = RolledClasses(np.empty_like(held.code), np.empty_like(held.records), np.empty_like(held.tally))
        made = raise_classes(held, count, place, self._up[place][level], room, self._seat)
        if made > count // 2:
            return RolledClasses(room.code[:made], room.records[:made], room.tally[:made])
        return RolledClasses(room.code[:made].copy(), room.records[:made].copy(), room.tally[:made].copy())

    def _judged(self, held: RolledClasses, levels: Sequence[int]) -> tuple[float, ...]:
        widest = max(len(self._cells[place][level]) for place, level in enumerate(levels))
        cell, out = np.zeros((len(levels), widest)), np.zeros(4)
        for place, level in enumerate(levels):
            cell[place, : len(self._cells[place][level])] = self._cells[place][level]
        limits = np.array([self.demands.least, self.allowance], dtype=np.int64)
        judge_classes(held, len(held.records), cell, self.demands.arrays, self._room, limits, out)
        out[1] -= self._spared
        return tuple(out.tolist())

    @cached_property
    def _room(self) -> ContentRoom:
        return self.demands.room()

    def one(self, levels: Levels | Sequence[int]) -> tuple[float, ...]:
        """Records suppressed, summed loss, smallest class and number of classes of one node."""
        held = self.lowest
        for place, a in enumerate(self.order):
            for level in range(int(levels[a])):
                held = self._raised(held, place, level)
        return self._judged(held, [int(levels[a]) for a in self.order])

    def everywhere(self) -> NDArray[np.float64]:
        """float64[nodes, 4]: what `one` gives of every node; infinite where too many classes are too small."""
        out = np.tile(np.array(UNFIT), (self.lattice.size, 1))
        for levels, found in self._walk(self.lowest, [0] * len(self.order), 0):
            out[sum(level * self.lattice.places[a] for level, a in zip(levels, self.order, strict=True))] = found
        return out

    def _walk(self, held: RolledClasses, levels: list[int], first: int) -> Iterator[Judged]:
        """Judge a node and all above it that raise attributes from `first` on, each from the one below it."""
        yield levels, self._judged(held, levels)
        spare = RolledClasses(np.empty_like(held.code), np.empty_like(held.records), held.tally)
        for place in range(first, len(levels)):
            if place and self._hopeless(held, place, spare):
                return
            if levels[place] < len(self._up[place]):
                higher = levels.copy()
                higher[place] += 1
                yield from self._walk(self._raised(held, place, levels[place]), higher, place)

    def _hopeless(self, held: RolledClasses, place: int, spare: RolledClasses) -> bool:
        """Whether too many records stay in small classes even if this and all later attributes are hidden."""
        small = records_below(held, len(held.records), place, self.demands.least, spare, self._seat)
        return int(small) > self.allowance
