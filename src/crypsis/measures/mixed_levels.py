"""Whether every column is published truly and at one level, as one code list per column asks."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, measures
from crypsis.measures.pairing import check_rows
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table

_MISSING = "a cell missing on both sides fits every level, a blanked one none; suppressed records are left out"

OTHER = -1
"""In place of the level of a cell that does not hold its original value at any."""


@measures.add("mixed-levels")
class MixedLevels(Measure):
    """Share of the published cells that do not show their true value at the level of their column.

    The level of a column is the one at which most of its cells show the value of their record. 0 for the file as
    collected and after full-domain generalisation; cells at other levels and false values count.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("levels")
    >>> crypsis.MixedLevels().against(original).read(masked)
    0.0

    Notes
    -----
    - Formula: 100 · Σ over columns of (cells − cells that are true at the column's level) / all cells
    - Paper: own
    - Cost: O(n p)
    - Departures: own measure
    """

    aim: ClassVar[Aim] = "loss"

    def against(self, original: Table) -> BoundMixedLevels:
        return BoundMixedLevels.of(self, original)


class BoundMixedLevels(BoundColumns[MixedLevels]):
    """The measure bound to an original."""

    def read(self, masked: Table) -> float:
        cells = int(masked.kept.sum()) * len(self.names)
        return 100.0 * sum(self._breaks(masked).values()) / max(cells, 1)

    def explain(self, masked: Table) -> Reading:
        counts: dict[str, float] = dict(self._breaks(masked))
        return self.measure.reading(self.read(masked), self.names, _MISSING, counts)

    def _breaks(self, masked: Table) -> dict[str, int]:
        """Cells of each column that are not true at its level."""
        check_rows(len(self.original), masked)
        return {name: self._column(masked, name) for name in self.names}

    def _column(self, masked: Table, name: str) -> int:
        blank, absent = masked.missing(name), self.original.missing(name)
        level = masked.level(name)
        shown = np.full(len(blank), OTHER, dtype=np.int64)
        seen = ~blank & ~absent
        hierarchy = self.original.attribute(name).hierarchy
        if level == 0 or hierarchy is None:
            shown[seen & self._same(masked, name)] = 0
        else:
            nodes = masked.column(name).astype(np.int64) + (0 if level == LOCAL else hierarchy.offsets[level])
            shown[seen] = true_levels(hierarchy, self.original.leaf_codes(name)[seen], nodes[seen])
        held = shown[masked.kept & ~(blank & absent)]
        return int(len(held) - np.bincount(held[held != OTHER], minlength=1).max())

    def _same(self, masked: Table, name: str) -> NDArray[np.bool_]:
        """Whether each cell shows the value it had."""
        before, after = self.original.attribute(name).categories, masked.attribute(name).categories
        if before == after or masked.holds_numbers(name):
            return np.asarray(masked.column(name) == self.original.column(name))
        place = {label: code for code, label in enumerate(before)}
        known = np.array([*(place.get(label, OTHER - 1) for label in after), OTHER - 1], dtype=np.int64)
        return np.asarray(known[masked.column(name)] == self.original.column(name))


def true_levels(hierarchy: Hierarchy, leaves: NDArray[np.int32], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The level of the node of each cell if it holds the cell's leaf, else `OTHER`."""
    levels = np.searchsorted(np.asarray(hierarchy.offsets), nodes, side="right") - 1
    found = np.full(len(nodes), OTHER, dtype=np.int64)
    for level, groups in enumerate(hierarchy.groups):
        here = levels == level
        found[here & (groups[leaves] + hierarchy.offsets[level] == nodes)] = level
    return found
