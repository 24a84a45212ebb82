"""What a masking does to a table: the treatment of each column, class sizes, and which records bear loss and risk.

Counts and shares only, never a value of a record.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.arrays import Floats
from crypsis.measures.information_loss import information_losses
from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, check_measured_rows, measures
from crypsis.measures.record_linkage import BoundRecordLinkage, RecordLinkage
from crypsis.table.attribute import UNMASKED, Attribute
from crypsis.table.equivalence_classes import classes_of
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lattice import LevelDescription
from crypsis.table.table import LOCAL, PERTURBATION, Column, Table

HARDEST = 0.1
"""Share of the records that counts as the hardest to protect."""
CLASS_SIZES = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))
"""Ranges by which equivalence classes are counted."""


class Treatment(StrEnum):
    """What a masking does to a column."""

    UNCHANGED = "unchanged"
    GENERALISED = "generalised"
    LOCALLY_RECODED = "locally recoded"
    MOVED = "moved"
    """Numbers replaced by other numbers."""
    REPLACED = "replaced"
    """Categories replaced by other categories."""


@dataclass(frozen=True)
class LevelShare:
    """The share of the published records whose cell stands at one level of a hierarchy."""

    share: float  # per cent of the published records
    level: LevelDescription


@dataclass(frozen=True)
class ColumnDescription:
    """What a masking does to one quasi-identifier."""

    name: str
    treatment: Treatment
    loss: float  # share of its information that is lost, per cent; a suppressed cell is lost
    changed: float  # share of the published cells with a value that are not as collected, per cent
    # mean absolute difference of the published numbers of a moved column, in standard deviations of the original
    shift: float = 0.0
    levels: tuple[LevelShare, ...] = ()  # levels in use, for a generalised or locally recoded column
    blanked: int = 0  # published cells that are missing although the original has a value
    filled: int = 0  # published cells that have a value although the original has none
    replaced: float = 0.0  # share of the published cells of a locally recoded column that hold another value, per cent


@dataclass(frozen=True)
class ClassCount:
    """How many equivalence classes have a size within a range; `high` is None where it is open."""

    low: int
    high: int | None
    classes: int


@dataclass(frozen=True)
class HardestRecords:
    """The records with the greatest loss."""

    records: int  # how many there are
    share: float  # their share of all records, per cent
    loss_share: float  # their share of the whole loss, per cent
    unique: int  # how many of them are unique in the original
    suppressed: int  # how many of them are suppressed


@dataclass(frozen=True)
class Reidentified:
    """How many records an intruder re-identifies who knows every quasi-identifier."""

    columns: int
    certain: int  # records re-identified for certain
    likely: int  # further records re-identified with probability 1/2 or more


@dataclass(frozen=True)
class MaskingDescription:
    """What a masking does to a table."""

    columns: tuple[ColumnDescription, ...]
    suppressed: int
    classes: tuple[ClassCount, ...] = ()  # equivalence classes by size; empty where class sizes have no meaning
    hardest: HardestRecords | None = None  # none if nothing is lost
    reidentified: Reidentified | None = None


def describe_masking(original: Table, masked: Table, family: str) -> MaskingDescription:
    """Describe what a masking does to a table.

    `original`, `masked`: row by row the same records.
    """
    names = original.quasi_identifiers
    losses = {name: information_losses(original, masked, name) for name in names}
    described = bool(names) and len(original) > 0
    coded = {name: information_losses(original, masked, name) for name in _changed_apart(original, masked, names)}
    return MaskingDescription(
        tuple(_column(original, masked, name, loss) for name, loss in (losses | coded).items()),
        int((~masked.kept).sum()),
        _classes(masked, names) if names and family != PERTURBATION else (),
        _hardest(original, masked, losses) if described else None,
        _count_reidentified(original, masked, names) if described else None,
    )


def _changed_apart(original: Table, masked: Table, names: Sequence[str]) -> list[str]:
    """Published columns beside the quasi-identifiers that a masking of their own changed."""
    kept, rest = masked.kept, [name for name in masked.names_by_role(*UNMASKED) if name not in names]
    return [name for name in rest if not _same(original.column(name)[kept], masked.column(name)[kept])]


def _same(before: Column, after: Column) -> bool:
    return np.array_equal(before, after, equal_nan=before.dtype.kind == "f")


def _column(original: Table, masked: Table, name: str, loss: Floats) -> ColumnDescription:
    kept, level, levels, replaced = masked.kept, masked.level(name), tuple[LevelShare, ...](), 0.0
    shift = 0.0
    known = kept & ~original.missing(name)
    changed = 100.0 * float((loss[known] > 0).mean()) if known.any() else 0.0
    if level == LOCAL:
        treatment, (levels, replaced) = Treatment.LOCALLY_RECODED, _levels_in_use(masked, name, loss[kept])
    elif level:
        treatment = Treatment.GENERALISED
        levels = (LevelShare(100.0, describe_masking_level(masked.attribute(name), level)),)
    elif changed == 0.0:
        treatment = Treatment.UNCHANGED
    elif masked.holds_numbers(name):
        treatment, shift = Treatment.MOVED, _shift(original.column(name), masked.column(name), kept)
    else:
        treatment = Treatment.REPLACED
    before, after = original.missing(name)[kept], masked.missing(name)[kept]
    blanked, filled = int((after & ~before).sum()), int((before & ~after).sum())
    lost = 100.0 * float(loss.mean())
    return ColumnDescription(name, treatment, lost, changed, shift, levels, blanked, filled, replaced)


def _shift(before: Floats, after: Floats, kept: NDArray[np.bool_]) -> float:
    """How far the published numbers of a column are from the collected ones, in its standard deviations."""
    moved = np.abs(after - before)[kept]
    spread = float(np.nanstd(before))
    return float(np.nanmean(moved)) / spread if spread > 0 and not np.isnan(moved).all() else 0.0


def _levels_in_use(masked: Table, name: str, loss: Floats) -> tuple[tuple[LevelShare, ...], float]:
    """Levels of a locally recoded column, with the share of the published records at each, and of other values."""
    attribute, codes = masked.attribute(name), masked.column(name)[masked.kept]
    if attribute.hierarchy is None or not len(codes):
        return (), 0.0
    stands = np.searchsorted(attribute.hierarchy.offsets, codes, side="right") - 1
    shares = [
        100.0 * float(((stands == level) & (codes >= 0)).mean()) for level in range(attribute.hierarchy.height + 1)
    ]
    replaced = 100.0 * float(((stands == 0) & (codes >= 0) & (loss > 0)).mean())
    shares[0] -= replaced
    there = ((level, share) for level, share in enumerate(shares) if share > 1e-9)
    return tuple(LevelShare(share, describe_masking_level(attribute, level)) for level, share in there), replaced


def _classes(masked: Table, names: list[str]) -> tuple[ClassCount, ...]:
    sizes = classes_of(masked, names).sizes
    counts = [
        ClassCount(low, high, int(((sizes >= low) & (sizes <= (high or sizes.max(initial=low)))).sum()))
        for low, high in CLASS_SIZES
    ]
    return tuple(count for count in counts if count.classes)


def _hardest(original: Table, masked: Table, losses: Mapping[str, Floats]) -> HardestRecords | None:
    loss = np.mean(list(losses.values()), axis=0)
    total = float(loss.sum())
    if total <= 0:
        return None
    worst = np.argsort(-loss, kind="stable")[: max(1, round(HARDEST * len(loss)))]
    classes = classes_of(original, list(losses))
    unique = classes.spread_out(classes.sizes.astype(np.float64)) == 1
    return HardestRecords(
        len(worst),
        100.0 * HARDEST,
        100.0 * float(loss[worst].sum()) / total,
        int(unique[worst].sum()),
        int((~masked.kept)[worst].sum()),
    )


def _count_reidentified(original: Table, masked: Table, names: list[str]) -> Reidentified:
    bound: BoundRecordLinkage = RecordLinkage(columns=tuple(names)).against(original)
    credit = bound.credits(masked)
    return Reidentified(len(names), int((credit == 1.0).sum()), int(((credit >= 0.5) & (credit < 1.0)).sum()))


# -- Whether every column is published truly and at one level, as one code list per column asks.

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
        return self.measure.make_reading(self.read(masked), self.names, _MISSING, counts)

    def _breaks(self, masked: Table) -> dict[str, int]:
        """Cells of each column that are not true at its level."""
        check_measured_rows(len(self.original), masked)
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
            shown[seen] = _true_levels(hierarchy, self.original.leaf_codes(name)[seen], nodes[seen])
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


def _true_levels(hierarchy: Hierarchy, leaves: NDArray[np.int32], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The level of the node of each cell if it holds the cell's leaf, else `OTHER`."""
    levels = np.searchsorted(np.asarray(hierarchy.offsets), nodes, side="right") - 1
    found = np.full(len(nodes), OTHER, dtype=np.int64)
    for level, groups in enumerate(hierarchy.groups):
        here = levels == level
        found[here & (groups[leaves] + hierarchy.offsets[level] == nodes)] = level
    return found


_INTERVAL = re.compile(r"^\s*[\[(]?\s*(-?\d+(?:\.\d+)?)\s*(?:-|–|,|\.\.|to)\s*(-?\d+(?:\.\d+)?)\s*([\])]?)\s*$")


def describe_masking_level(attribute: Attribute, level: int) -> LevelDescription:
    """The treatment of a column in the description of a masking: what it publishes at a level of its hierarchy."""
    hierarchy = attribute.hierarchy
    if level == 0 or hierarchy is None:
        return LevelDescription(attribute.name, level, 0 if hierarchy is None else hierarchy.size)
    labels = hierarchy.labels[level]
    unchanged = len(labels) > 1 and set(labels) == set(hierarchy.labels[0])
    years = re.search(r"(^|[^a-z])(age|years?)([^a-z]|$)", attribute.name.lower())
    return LevelDescription(
        attribute.name, level, len(labels), _band(labels), "year" if years else "", unchanged=unchanged
    )


def _band(labels: Sequence[str]) -> float:
    """The common width of labels that are intervals, open ends aside; 0 if there is none."""
    widths = []
    for label in labels:
        found = _INTERVAL.match(label)
        if found:
            low, high, close = found.groups()
            whole = "." not in low + high and close != ")"
            widths.append(float(high) - float(low) + (1 if whole else 0))
    interior = len(labels) - len(widths) <= 2
    return widths[0] if len(widths) > 1 and interior and len(set(widths)) == 1 else 0.0
